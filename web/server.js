// All talk with the server. Paths are relative to the page, which may lie below
// any prefix.

const READ_TIME = 10_000; // ms, of an answer that needs no run
const RUN_TIME = 60_000; // ms: longer than the queue and the longest timeout together

/** The server answered, and not with what was asked for. */
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(text(problem.detail) || `The server answered with status ${status}.`);
    this.status = status;
    this.title = text(problem.title);
    this.fields = Array.isArray(problem.errors) ? problem.errors : [];
    this.retryAfter = retryAfter;
  }
}

/** There was no answer, or only part of one. */
export class Away extends Error {}

const text = (value) => (typeof value === "string" ? value : "");

export const get = (path) => ask(path, { method: "GET" }, READ_TIME);

/** Sends JSON, or nothing if there is nothing to say. */
export function post(path, body) {
  const json = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return ask(path, { method: "POST", ...json }, RUN_TIME);
}

async function ask(path, options, time) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { Accept: "application/json", ...options.headers }, signal: AbortSignal.timeout(time) });
  } catch {
    throw new Away("The server does not answer.");
  }
  if (!response.ok) throw await refusal(response);
  return response.json().catch(() => {
    throw new Away("The server's answer broke off.");
  });
}

/** What stands between page and server may refuse too, and in other words. */
async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  return new Refusal(response.status, problem ?? {}, response.headers.get("Retry-After"));
}

const LIVELY = 2_000; // ms between two looks while something happens
const QUIET = 10_000; // ms after nothing has happened for a while
const QUIET_AFTER = 60; // looks
const SOONEST = 1_000; // ms to the first try after a fault
const LATEST = 15_000; // ms between tries at most

/**
 * Asks again and again. look returns what it saw and whether that was new;
 * away is told of a fault and how long it is until the next try. The function
 * that is returned looks at once.
 *
 * A page that nobody sees does not ask.
 */
export function keepLooking(look, away) {
  let timer = 0;
  let faults = 0;
  let same = 0;
  let looking = false;
  let again = false;

  async function once() {
    try {
      same = (await look()) ? 0 : same + 1;
      faults = 0;
      return same > QUIET_AFTER ? QUIET : LIVELY;
    } catch (fault) {
      const wait = backOff(++faults);
      away(fault, wait);
      return wait;
    }
  }

  async function now() {
    again = looking;
    if (looking) return;
    clearTimeout(timer);
    looking = true;
    let wait;
    do {
      again = false;
      wait = await once();
    } while (again);
    looking = false;
    if (!document.hidden) timer = setTimeout(now, wait);
  }

  document.addEventListener("visibilitychange", () => document.hidden || now());
  window.addEventListener("online", now);
  now();
  return now;
}

/** Doubles, with some chance in it, so that many pages do not come back as one. */
function backOff(faults) {
  return Math.min(LATEST, SOONEST * 2 ** (faults - 1)) * (0.8 + 0.2 * Math.random());
}
