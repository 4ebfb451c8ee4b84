// The editor: a snippet goes to the server, and what came of it is shown.

import { announce, byId, el, isBusy, setBusy } from "./dom.js";
import { post, Refusal } from "./server.js";
import { verdict } from "./verdict.js";

const PICTURE = `import struct, zlib

def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

width, height = 160, 90
rows = b"".join(
    b"\\0" + bytes(v for x in range(width) for v in (40 + x, 90 + y, 200 - x))
    for y in range(height)
)
png = (
    b"\\x89PNG\\r\\n\\x1a\\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(rows))
    + chunk(b"IEND", b"")
)
open("picture.png", "wb").write(png)`;

const EXAMPLES = [
  ["a sum", 'print("Hello from under the glass")\nsum(n * n for n in range(10))'],
  ["a picture", PICTURE],
  ["a refused import", 'import socket\nsocket.create_connection(("192.0.2.1", 80))'],
  ["a loop without end", "while True:\n    pass"],
  ["an exception", 'prices = {"tea": 3}\nprices["coffee"]'],
];

/** ran is called after each run, also one that was refused. */
export function startEditor(ran) {
  const choice = byId("example");
  choice.append(...EXAMPLES.map(([name], i) => el("option", { value: i }, name)));
  const take = () => {
    byId("code").value = EXAMPLES[choice.value][1];
  };
  choice.addEventListener("change", take);
  if (byId("code").value === "") take(); // some browsers keep a text over a reload

  const form = byId("editor");
  form.noValidate = true; // the server says it better, and for all fields at once
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(ran);
  });
  byId("code").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
}

function request() {
  const timeout = byId("timeout").valueAsNumber;
  const stdin = byId("stdin").value;
  return {
    code: byId("code").value,
    ...(Number.isNaN(timeout) ? {} : { timeout_ms: timeout }),
    ...(stdin === "" ? {} : { stdin }),
  };
}

async function run(ran) {
  const button = byId("run");
  if (isBusy(button)) return;
  setBusy(button, true);
  show([el("p", null, "Running…")], "Running.");
  try {
    const result = await post("execute", request());
    show(verdict(result), `Verdict: ${result.outcome}, ${result.reason}. ${result.hint}`);
  } catch (fault) {
    show(refused(fault), fault.message);
  }
  setBusy(button, false);
  ran();
}

function show(parts, words) {
  byId("verdict").replaceChildren(...parts);
  announce(words);
}

/** Why nothing ran, field by field if the server says so. */
export function refused(fault) {
  const status = fault instanceof Refusal ? `${fault.status} ${fault.title}` : "No answer";
  const later = fault.retryAfter ? ` Try again in ${fault.retryAfter} s.` : "";
  const fields = (fault.fields ?? []).map((f) => el("li", null, `${f.field}: ${f.problem}`));
  return [
    el("h3", null, el("span", { class: "badge refused" }, status.trim())),
    el("p", { class: "hint" }, fault.message + later),
    fields.length > 0 ? el("ul", null, ...fields) : null,
  ].filter((part) => part !== null);
}
