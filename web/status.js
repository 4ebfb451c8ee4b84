// What is shown of the sums, the load and the isolation.

import { byId, el, setText } from "./dom.js";
import { count, decimal, ms, NONE, OUTCOMES, runs, share } from "./format.js";
import { lastHour } from "./glance.js";

function tile(list, name, texts) {
  const item = byId(list).querySelector(`[data-tile="${name}"]`);
  for (const [part, text] of Object.entries(texts)) setText(item.querySelector(`.${part}`), text);
}

export function showOutcomes(snapshot) {
  const { executions, demo, outcomes, rates } = snapshot;
  const hour = lastHour(snapshot.minutes);
  tile("outcomes", "executions", { count: count(executions), rate: `${decimal(rates.per_minute)} a minute`, hour: `${count(hour.all)} in the last hour` });
  const ofAll = (part) => (executions > 0 ? `${share(part)} of all` : "no runs yet"); // of nothing there is no share
  for (const o of OUTCOMES) {
    tile("outcomes", o, { count: count(outcomes[o]), rate: ofAll(rates.outcomes[o]), hour: `${count(hour[o] ?? 0)} in the last hour` });
  }
  tile("outcomes", "demo", { count: count(demo), rate: ofAll(demo / executions), hour: "part of all runs" });
}

const UNKNOWN = "not measured here";
const LOAD = {
  in_flight: "runs that have a slot now",
  waiting: "requests in the queue now",
  refused: "with 429 for want of a slot, since the start",
  invalid: "any other 4xx, since the start; nothing ran",
};

/** A server that is many processes does not know this, or not all of it. */
export function showLoad(load, recent) {
  for (const [name, words] of Object.entries(LOAD)) {
    const n = count(load?.[name]);
    tile("load", name, { count: n, rate: n === NONE ? UNKNOWN : words });
  }
  tile("load", "queue", load ? queueWait(load, recent) : { count: NONE, rate: UNKNOWN, hour: "" });
}

function queueWait(load, recent) {
  const waits = recent.map((e) => e.queue_ms).filter((n) => typeof n === "number");
  const sum = ms(load.queue_wait_ms);
  const all = sum === NONE ? "" : `${sum} in all since the start`;
  if (waits.length === 0) return { count: NONE, rate: "no recent runs", hour: all };
  const mean = waits.reduce((a, b) => a + b, 0) / waits.length;
  return { count: ms(mean), rate: `mean of the last ${runs(waits.length)}; longest ${ms(Math.max(...waits))}`, hour: all };
}

export function showDurations(durations) {
  for (const value of byId("duration").querySelectorAll("[data-value]")) {
    setText(value, durations.count > 0 ? ms(durations[value.dataset.value]) : NONE);
  }
}

/** The reasons that occurred, the most frequent first. */
export function showReasons(reasons) {
  const seen = Object.entries(reasons).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  const row = ([reason, n]) => el("tr", null, el("th", { scope: "row" }, reason), el("td", { class: "number" }, count(n)));
  const none = el("tr", null, el("td", { colspan: 2 }, "No runs yet."));
  byId("reasons").tBodies[0].replaceChildren(...(seen.length > 0 ? seen.map(row) : [none]));
}

export function showHealth(health) {
  const python = health.python ? `Python ${health.python}` : "no Python yet";
  setText(byId("about"), `${health.version} · ${python}`);
  const layers = health.layers ?? [];
  const active = layers.filter((l) => l.active).length;
  setText(byId("layers-sum"), `${count(active)} of ${count(layers.length)} layers hold for every run. Recording: ${health.recording ?? NONE}.`);
  byId("layers").replaceChildren(...layers.map(layer));
}

const layer = (l) => el(
  "li", { "data-active": String(Boolean(l.active)) },
  el("span", { class: "state" }, l.active ? "✓ active" : "✕ not active"),
  el("strong", null, l.name),
  el("span", { class: "said" }, l.means),
  l.detail ? el("span", { class: "said" }, `Here: ${l.detail}`) : null,
);
