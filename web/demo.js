// The button that runs the demo set, and what came of it.

import { announce, badge, byId, el, isBusy, setBusy, table } from "./dom.js";
import { refused } from "./editor.js";
import { count, counted, ms } from "./format.js";
import { post } from "./server.js";

/** ran is called after each run of the set, also one that was refused. */
export function startDemo(ran) {
  byId("demo").addEventListener("click", () => run(ran));
}

async function run(ran) {
  const button = byId("demo");
  if (isBusy(button)) return;
  setBusy(button, true);
  show([el("p", null, "The demo is running…")], "The demo is running.");
  try {
    const report = await post("demo");
    show([el("p", null, words(report)), cases(report)], words(report));
  } catch (fault) {
    show(refused(fault), fault.message);
  }
  setBusy(button, false);
  ran();
}

function show(parts, said) {
  byId("demo-result").replaceChildren(...parts);
  announce(said);
}

function words(report) {
  const good = report.cases.filter((c) => c.as_expected).length;
  return `Demo: ${count(good)} of ${counted(report.cases.length, "case")} came out as expected.`;
}

function cases(report) {
  const reason = (c) => (c.as_expected ? `✓ ${c.reason}` : `✕ ${c.reason}, not ${c.expected_reason}`);
  const row = (c) => [`${c.name}: ${c.shows}`, badge(c.outcome), reason(c), ms(c.duration_ms)];
  const list = table("What came of the demo", ["Case", "Outcome", "Reason", "Duration"], report.cases.map(row));
  const place = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Cases of the demo" }, list);
  return el("details", null, el("summary", null, "The cases"), place);
}
