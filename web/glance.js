// Whether policy, capacity, code or the service itself needs somebody: the one
// question for which an operator opens the page. It is about the last hour, the
// last minutes and the last runs, since sums since the beginning hide a change.

import { byId, setText } from "./dom.js";
import { count, counted, share } from "./format.js";

const NOTABLE = 0.1; // share of the last hour's runs from which on it is worth a look
const WINDOW = 5 * 60_000; // ms for which a refusal for want of a slot counts as now

const STATES = { calm: ["✓", "calm"], look: ["!", "look"], act: ["✕", "act"], idle: ["·", "idle"], none: ["·", "not known"] };

export function glanceBoard() {
  const turnedAway = refusals();
  return (snapshot, health) => {
    const hour = lastHour(snapshot.minutes);
    show("policy", policy(hour));
    show("capacity", capacity(snapshot.load, turnedAway(snapshot.load?.refused)));
    show("code", code(hour));
    show("service", service(snapshot.recent, health));
  };
}

/** The server does not answer as it should: all else here is of before that. */
export const glanceAway = (words) => show("service", ["act", words]);

function show(area, [state, words]) {
  const item = byId("glance").querySelector(`[data-area="${area}"]`);
  const [sign, name] = STATES[state];
  item.dataset.state = state;
  setText(item.querySelector(".state"), `${sign} ${name}`);
  setText(item.querySelector(".said"), words);
}

/** Sums of the series: all runs, and each outcome. */
export function lastHour(minutes) {
  const sums = { all: 0 };
  for (const m of minutes) {
    sums.all += m.executions;
    for (const [outcome, n] of Object.entries(m.outcomes)) sums[outcome] = (sums[outcome] ?? 0) + n;
  }
  return sums;
}

const QUIET = ["idle", "No runs in the last hour."]; // which proves nothing

const part = (n, hour) => n / Math.max(1, hour.all);
const weigh = (n, hour) => (part(n, hour) >= NOTABLE ? "look" : "calm");

function policy(hour) {
  if (hour.all === 0) return QUIET;
  const n = hour.BLOCKED ?? 0;
  if (n === 0) return ["calm", "Nothing was blocked in the last hour."];
  return [weigh(n, hour), `Blocked in the last hour: ${count(n)} of ${counted(hour.all, "run")} (${share(part(n, hour))}).`];
}

function code(hour) {
  if (hour.all === 0) return QUIET;
  const errors = hour.ERROR ?? 0;
  const timeouts = hour.TIMEOUT ?? 0;
  if (errors + timeouts === 0) return ["calm", "No error and no timeout in the last hour."];
  const bad = part(errors + timeouts, hour);
  return [weigh(errors + timeouts, hour), `In the last hour ${counted(errors, "error")} and ${counted(timeouts, "timeout")} in ${counted(hour.all, "run")} (${share(bad)}).`];
}

function capacity(load, refused) {
  if (!load || typeof load.in_flight !== "number") return ["none", "Not measured here: many processes share the runs."];
  const now = `${count(load.in_flight)} in flight, ${count(load.waiting)} waiting`;
  if (refused > 0) return ["act", `${now}; ${count(refused)} turned away with 429 in the last 5 minutes.`];
  return [load.waiting > 0 ? "look" : "calm", `${now}; none turned away in the last 5 minutes.`];
}

function service(recent, health) {
  if (health?.recording === "failing") return ["act", "Runs are not recorded: the last one is in the log only."];
  const failures = recent.filter((e) => e.reason === "sandbox_failure").length;
  if (failures > 0) return ["act", `${counted(failures, "fault")} of the sandbox in the last ${counted(recent.length, "run")}.`];
  if (!health) return ["none", "How it is isolated is not known yet."];
  if (recent.length === 0) return ["idle", "No recent runs."];
  const recorded = { off: "runs are not recorded here", ok: "every run is recorded" }[health.recording] ?? "the functions' logs tell whether runs are recorded";
  return ["calm", `No fault of the sandbox in the last runs; ${recorded}.`];
}

/**
 * How many requests were refused lately, from a sum that starts again at zero
 * with each start of the server.
 */
function refusals() {
  let last = null;
  let steps = [];
  return (sum) => {
    const now = Date.now();
    const known = typeof sum === "number";
    if (known && last !== null && sum !== last) steps.push([now, sum > last ? sum - last : sum]);
    if (known) last = sum;
    steps = steps.filter(([time]) => now - time < WINDOW);
    return steps.reduce((n, [, more]) => n + more, 0);
  };
}
