// The table of recent runs, its filter and the view of a single one.

import { announce, badge, byId, el, setText } from "./dom.js";
import { bytes, clock, count, moment, ms, NONE } from "./format.js";
import { get } from "./server.js";

/** The outcome that is chosen, or nothing for all. */
export const chosen = () => byId("filter").querySelector("input:checked").value;

/** Runs with the chosen outcome. Of all runs the snapshot has the last ones. */
export async function recentRuns(outcome, snapshot) {
  if (outcome === "") return (await snapshot).recent;
  return (await get(`events?outcome=${outcome}`)).events;
}

/** Calls back when another outcome is chosen. */
export function watchFilter(changed) {
  byId("filter").addEventListener("change", changed);
}

const rows = new Map(); // by the run's id
let asked = null; // the outcome that the table shows

/**
 * Shows runs. A row that stays is not touched, so that whoever has the focus in
 * it keeps it.
 */
export function showEvents(events, outcome) {
  const body = byId("events").tBodies[0];
  const ids = new Set(events.map((e) => e.id));
  for (const [id, row] of rows) {
    if (!ids.has(id)) {
      row.remove();
      rows.delete(id);
    }
  }
  let next = body.firstChild;
  for (const event of events) {
    const row = rows.get(event.id) ?? newRow(event);
    if (row === next) next = next.nextSibling;
    else body.insertBefore(row, next);
  }
  tellCount(events.length, outcome);
}

function tellCount(n, outcome) {
  const what = outcome === "" ? "The last runs of any outcome" : `The last runs that were ${outcome}`;
  const words = n === 0 ? `${what}: none.` : `${what}: ${count(n)}.`;
  setText(byId("events-count"), words);
  if (asked !== null && asked !== outcome) announce(words);
  asked = outcome;
}

function newRow(event) {
  const more = el("button", { type: "button", "aria-label": `Details of run ${event.id}` }, "Details");
  more.addEventListener("click", () => openDetail(event));
  const row = el(
    "tr", { "data-id": event.id },
    el("td", null, el("time", { datetime: event.time }, clock(event.time))),
    el("td", null, badge(event.outcome)),
    el("td", null, ...foldable(event.reason), event.demo ? el("span", { class: "demo" }, " (demo)") : null),
    el("td", { class: "number" }, ms(event.duration_ms)),
    el("td", { class: "wide" }, el("bdi", null, event.tenant)),
    el("td", { class: "wide" }, el("bdi", null, event.blocked || NONE)),
    el("td", null, more),
  );
  rows.set(event.id, row);
  return row;
}

/** A word that may go on in the next line after each of its underscores. */
const foldable = (word) => word.split(/(?<=_)/).flatMap((part, i) => (i === 0 ? [part] : [el("wbr"), part]));

const FIELDS = [
  ["Run", (e) => e.id],
  ["Outcome", (e) => e.outcome],
  ["Reason", (e) => e.reason],
  ["Ended", (e) => moment(e.time)],
  ["Tenant", (e) => e.tenant],
  ["Request", (e) => e.request_id || NONE],
  ["Demo", (e) => (e.demo ? "yes" : "no")],
  ["Duration", (e) => ms(e.duration_ms)],
  ["CPU time", (e) => ms(e.cpu_ms)],
  ["Peak memory", (e) => bytes(e.peak_memory)],
  ["Wait for a slot", (e) => ms(e.queue_ms)],
  ["Source", (e) => bytes(e.code_bytes)],
  ["Source, SHA-256", (e) => e.code_sha256],
  ["Standard output", (e) => bytes(e.stdout_bytes)],
  ["Standard error", (e) => bytes(e.stderr_bytes)],
  ["Files in", (e) => count(e.files_in)],
  ["Files out", (e) => count(e.files_out)],
  ["Refusals", (e) => count(e.blocked_count)],
  ["First refusal", (e) => e.blocked || NONE],
];

function openDetail(event) {
  setText(byId("detail-title"), `Run that was ${event.outcome}`);
  const fields = FIELDS.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, el("bdi", null, value(event)))));
  byId("detail-fields").replaceChildren(...fields);
  const dialog = byId("detail");
  const opener = document.activeElement;
  dialog.addEventListener("close", () => giveBack(opener), { once: true });
  dialog.showModal();
}

/** The row may be gone by now; then the focus goes to the table's heading. */
function giveBack(opener) {
  if (opener?.isConnected) opener.focus();
  else byId("events-title").focus();
}
