// The page: it looks at the server again and again and shows what it saw.

import { histogramChart, seriesChart } from "./charts.js";
import { startDemo } from "./demo.js";
import { announce, byId, setText } from "./dom.js";
import { startEditor } from "./editor.js";
import { chosen, recentRuns, showEvents, watchFilter } from "./events.js";
import { clock } from "./format.js";
import { glanceAway, glanceBoard } from "./glance.js";
import { Away, get, keepLooking, Refusal } from "./server.js";
import { showDurations, showHealth, showLoad, showOutcomes, showReasons } from "./status.js";

const HEALTH_EVERY = 15_000; // ms; it changes with a restart only, or when recording fails

const drawSeries = seriesChart();
const drawHistogram = histogramChart();
const glance = glanceBoard();

let health = null;
let healthAsked = -Infinity;
let seen = ""; // what was shown last, to tell whether anything happens

/** One look at the server. It says whether it saw anything new. */
async function look() {
  const outcome = chosen();
  const metrics = get("metrics");
  const [snapshot, events] = await Promise.all([metrics, recentRuns(outcome, metrics), refreshHealth()]);
  show(snapshot);
  if (outcome === chosen()) showEvents(events, outcome);
  linkUp(snapshot.time);
  const now = JSON.stringify([snapshot.executions, snapshot.load]);
  const news = now !== seen;
  seen = now;
  return news;
}

async function refreshHealth() {
  if (performance.now() - healthAsked < HEALTH_EVERY) return;
  health = await get("health");
  healthAsked = performance.now();
  showHealth(health);
}

function show(snapshot) {
  glance(snapshot, health);
  showOutcomes(snapshot);
  showLoad(snapshot.load, snapshot.recent);
  showDurations(snapshot.duration);
  showReasons(snapshot.reasons);
  drawSeries(snapshot.minutes);
  drawHistogram(snapshot.duration);
}

// ---- The link to the server

const TITLE = document.title;
let asOf = ""; // of what time the numbers are

function linkUp(time) {
  asOf = `Numbers of ${clock(time)}.`;
  setLink("up", `Live, as of ${clock(time)}`, "");
}

function linkDown(fault, wait) {
  healthAsked = -Infinity; // another version may come back
  const words = wordsFor(fault);
  setLink("down", words, `${asOf} Next try in ${Math.ceil(wait / 1000)} s.`.trim());
  glanceAway(words);
}

function wordsFor(fault) {
  if (fault instanceof Away || fault instanceof Refusal) return fault.message;
  console.error(fault); // the page's own, or the server's answer has another shape
  return "The page cannot show what the server answered.";
}

function setLink(state, words, wait) {
  const link = byId("link");
  const before = link.dataset.state;
  link.dataset.state = state;
  document.body.dataset.link = state;
  setText(byId("link-text"), words);
  setText(byId("link-wait"), wait);
  const retry = byId("retry");
  if (state === "up" && document.activeElement === retry) byId("main").focus(); // before the button goes
  retry.hidden = state !== "down";
  document.title = state === "down" ? `(away) ${TITLE}` : TITLE;
  if (state === "down" && before !== "down") announce(`${words} The numbers are old. The page goes on trying.`);
  if (state === "up" && before === "down") announce("The server is back.");
}

const now = keepLooking(look, linkDown);
byId("retry").addEventListener("click", now);
watchFilter(now);
startDemo(now);
startEditor(now);
