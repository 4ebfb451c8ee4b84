// The verdict on a run that was started here. Everything in it comes from the
// snippet and is shown as text, or as a picture that cannot act.

import { badge, el } from "./dom.js";
import { bytes, count, ms, NONE } from "./format.js";

/** As <img> these neither run scripts nor load anything, SVG included. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/svg+xml"]);

let links = []; // to contents that the browser keeps until told otherwise

export function verdict(result) {
  links.forEach((link) => URL.revokeObjectURL(link));
  links = [];
  return [
    el("h3", null, badge(result.outcome), " ", result.reason),
    result.hint ? el("p", { class: "hint" }, result.hint) : null,
    facts(result),
    result.value === null ? null : block("Value", result.value),
    stream("Standard output", result.stdout, result.stdout_bytes, result.stdout_truncated),
    stream("Standard error", result.stderr, result.stderr_bytes, result.stderr_truncated),
    failure(result.error),
    refusals(result),
    artifacts(result),
  ].filter((part) => part !== null);
}

function facts(r) {
  const fact = (name, value) => el("div", null, el("dt", null, name), el("dd", null, value));
  return el(
    "dl", { class: "facts" },
    fact("Duration", ms(r.duration_ms)),
    fact("CPU time", ms(r.cpu_ms)),
    fact("Peak memory", bytes(r.peak_memory_bytes)),
    fact("Exit code", r.exit_code === null ? NONE : String(r.exit_code)),
    r.signal ? fact("Signal", r.signal) : null,
    fact("Run", r.id),
  );
}

/** It can be scrolled, so it can be reached by the keyboard. */
const block = (title, text) => el("div", { class: "block" }, el("h4", null, title), el("pre", { tabindex: 0, role: "region", "aria-label": title }, text));

function stream(title, text, written, truncated) {
  if (written === 0 && text === "") return null;
  return block(`${title}, ${bytes(written)}${truncated ? ", the middle left out" : ""}`, text);
}

function failure(error) {
  if (error === null) return null;
  const where = error.line === null ? "" : `, line ${count(error.line)}`;
  const whole = error.traceback.includes(error.message); // it is cut where it is long
  return block(`${error.type}${where}`, whole ? error.traceback : `${error.message}\n\n${error.traceback}`);
}

function refusals(r) {
  if (r.blocked_count === 0) return null;
  const line = (b) => el("li", null, `${b.rule}: `, el("bdi", null, b.target), b.line === null ? null : ` (line ${count(b.line)})`);
  return el("div", { class: "block" }, el("h4", null, `Refused, ${count(r.blocked_count)}`), el("ul", null, ...r.blocked.map(line)));
}

function artifacts(r) {
  if (r.files.length === 0) return null;
  const rest = r.files_omitted > 0 ? el("p", null, `${count(r.files_omitted)} more are not listed.`) : null;
  return el("div", { class: "block" }, el("h4", null, `Files, ${count(r.files.length)}`), el("ul", { class: "files" }, ...r.files.map(artifact)), rest);
}

function artifact(file) {
  const about = ` ${bytes(file.size)}, ${file.media_type}`;
  const name = el("bdi", { class: "name" }, file.path);
  if (file.content === null) return el("li", null, name, `${about}. Not here: ${file.omitted}`);
  const type = file.media_type.split(";", 1)[0].trim().toLowerCase();
  return el("li", null, name, about, " ", download(file), PICTURES.has(type) ? picture(file, type) : null);
}

const picture = (file, type) => el("img", { src: dataURL(file, type), alt: `Picture ${file.path}` });

const dataURL = (file, type) => (file.encoding === "base64"
  ? `data:${type};base64,${file.content}`
  : `data:${type};charset=utf-8,${encodeURIComponent(file.content)}`);

/**
 * A link that saves the file. Its type is always that of mere bytes: a page of
 * the snippet's making, opened in a tab, would count as one of ours.
 */
function download(file) {
  const link = URL.createObjectURL(new Blob([contentOf(file)], { type: "application/octet-stream" }));
  links.push(link);
  return el("a", { href: link, download: file.path.split("/").pop(), "aria-label": `Save ${file.path}` }, "Save");
}

const contentOf = (file) => (file.encoding === "base64" ? Uint8Array.from(atob(file.content), (c) => c.charCodeAt(0)) : file.content);
