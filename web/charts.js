// The two charts, as SVG in the size of the place that they have, so that text
// in them is as large on a phone as on a desk. Beside each there is a table for
// those who do not see it.

import { byId, el, svg, table } from "./dom.js";
import { count, minute, ms, OUTCOMES, runs } from "./format.js";

const LEFT = 40;
const RIGHT = 12;
const BOTTOM = 26;
const MARKS = 5; // what the x axis says, from below

/**
 * Draws into a place now and whenever its width changes. The function that is
 * returned takes new data.
 */
function drawnIn(place, draw) {
  let data = null;
  const redraw = () => {
    if (data !== null && place.clientWidth > 0) place.replaceChildren(draw(data, place.clientWidth));
  };
  new ResizeObserver(redraw).observe(place);
  return (next) => {
    data = next;
    redraw();
  };
}

/** Fills a table while its fold is open; nobody reads it while it is not. */
function folded(fold, place, make) {
  let data = null;
  const refill = () => {
    if (data !== null && fold.open) place.replaceChildren(make(data));
  };
  fold.addEventListener("toggle", refill);
  return (next) => {
    data = next;
    refill();
  };
}

/** A round number at or above n that can be halved. */
function roundUp(n) {
  let power = 1;
  while (n > power * 10) power *= 10;
  return [2, 4, 6, 8, 10].map((k) => k * power).find((k) => k >= n) ?? 2;
}

/** The frame: what the y axis says, in three lines. */
function frame(width, height, top, highest) {
  const floor = height - BOTTOM;
  const lines = [0, 0.5, 1].flatMap((part) => {
    const y = floor - part * (floor - top);
    return [
      svg("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "grid" }),
      svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, count(part * highest)),
    ];
  });
  return { floor, span: floor - top, lines };
}

const picture = (width, height, label, ...parts) =>
  svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...parts);

const nothing = (width, height, words) => svg("text", { x: (LEFT + width - RIGHT) / 2, y: height / 2, "text-anchor": "middle", class: "nothing" }, words);

// ---- Runs a minute

const SERIES_HEIGHT = 244; // ends level with the histogram beside it

export function seriesChart() {
  const draw = drawnIn(byId("series"), drawSeries);
  const list = folded(byId("series-details"), byId("series-table"), seriesTable);
  return (minutes) => {
    draw(minutes);
    list(minutes);
  };
}

function drawSeries(minutes, width) {
  const most = Math.max(0, ...minutes.map((m) => m.executions));
  const highest = roundUp(most);
  const { floor, span, lines } = frame(width, SERIES_HEIGHT, 10, highest);
  const step = (width - LEFT - RIGHT) / Math.max(1, minutes.length);
  const columns = minutes.map((m, i) => column(m, LEFT + i * step, step, floor, span / highest));
  const marks = minutes.flatMap((m, i) => (i % 15 === 0 || i === minutes.length - 1 ? [timeMark(m, LEFT + (i + 0.5) * step, i, minutes.length)] : []));
  const empty = most === 0 ? nothing(width, SERIES_HEIGHT - BOTTOM, "No runs in the last hour") : null;
  return picture(width, SERIES_HEIGHT, seriesSummary(minutes, most), ...lines, ...columns, ...marks, empty);
}

/** One minute: its outcomes on top of each other, and a tip over all of it. */
function column(m, x, step, floor, unit) {
  let y = floor;
  const parts = OUTCOMES.map((outcome) => {
    const height = (m.outcomes[outcome] ?? 0) * unit;
    y -= height;
    return height > 0 ? svg("rect", { x: x + step * 0.1, y, width: step * 0.8, height, class: `fill ${outcome}` }) : null;
  });
  const reach = svg("rect", { x, y: 0, width: step, height: floor, class: "reach" }, svg("title", null, minuteWords(m)));
  return svg("g", null, ...parts, reach);
}

function timeMark(m, x, i, all) {
  return svg("text", { x, y: SERIES_HEIGHT - MARKS, "text-anchor": i === all - 1 ? "end" : "middle" }, i === all - 1 ? "now" : minute(m.time));
}

function minuteWords(m) {
  const parts = OUTCOMES.filter((o) => m.outcomes[o] > 0).map((o) => `${count(m.outcomes[o])} ${o}`);
  return [`${minute(m.time)}: ${runs(m.executions)}`, ...parts].join(", ");
}

function seriesSummary(minutes, most) {
  if (most === 0) return "Runs a minute: none in the last hour.";
  const sum = minutes.reduce((n, m) => n + m.executions, 0);
  const busiest = minutes.find((m) => m.executions === most);
  return `Runs a minute, the last ${minutes.length} minutes: ${runs(sum)}. The busiest minute was ${minuteWords(busiest)}.`;
}

function seriesTable(minutes) {
  const busy = minutes.filter((m) => m.executions > 0).reverse();
  if (busy.length === 0) return el("p", null, "No runs in the last hour.");
  const row = (m) => [minute(m.time), count(m.executions), ...OUTCOMES.map((o) => count(m.outcomes[o]))];
  return table("Minutes with runs, the newest first", ["Minute", "All", ...OUTCOMES], busy.map(row));
}

// ---- Durations

const HISTOGRAM_HEIGHT = 220;
const QUANTILES = [["p50", "p50_ms"], ["p95", "p95_ms"], ["p99", "p99_ms"]];
const LABELS = new Set([1, 10, 100, 1000, 10_000]); // bounds that the axis names

export function histogramChart() {
  const draw = drawnIn(byId("histogram"), drawHistogram);
  const list = folded(byId("histogram-details"), byId("histogram-table"), histogramTable);
  return (durations) => {
    draw(durations);
    list(durations);
  };
}

/** The single buckets of a cumulative histogram; high is Infinity in the last. */
function single(durations) {
  let low = 0;
  let below = 0;
  return durations.buckets.map((b) => {
    const high = b.le_ms === "+Inf" ? Infinity : Number(b.le_ms);
    const bucket = { low, high, count: b.count - below };
    low = high;
    below = b.count;
    return bucket;
  });
}

function drawHistogram(durations, width) {
  const buckets = single(durations);
  const highest = roundUp(Math.max(0, ...buckets.map((b) => b.count)));
  const { floor, span, lines } = frame(width, HISTOGRAM_HEIGHT, 54, highest); // above: three rows of names
  const step = (width - LEFT - RIGHT) / Math.max(1, buckets.length);
  const bars = buckets.map((b, i) => bar(b, LEFT + i * step, step, floor, span / highest));
  const marks = buckets.flatMap((b, i) => (LABELS.has(b.high) ? [svg("text", { x: LEFT + (i + 1) * step, y: HISTOGRAM_HEIGHT - MARKS, "text-anchor": "middle" }, ms(b.high))] : []));
  if (durations.count === 0) return picture(width, HISTOGRAM_HEIGHT, "Durations: no runs yet.", ...lines, ...marks, nothing(width, HISTOGRAM_HEIGHT, "No runs yet"));
  const quantiles = QUANTILES.map(([name, key], row) => quantile(name, durations[key], LEFT + place(durations[key], buckets) * step, row, floor, width));
  const drawn = [...quantiles.map((q) => q.line), ...quantiles.map((q) => q.name)]; // no line through a name
  return picture(width, HISTOGRAM_HEIGHT, durationSummary(durations), ...lines, ...bars, ...marks, svg("g", { class: "quantile" }, ...drawn));
}

function bar(b, x, step, floor, unit) {
  const height = b.count * unit;
  return svg(
    "g", null,
    height > 0 ? svg("rect", { x: x + step * 0.1, y: floor - height, width: step * 0.8, height, class: "fill bar" }) : null,
    svg("rect", { x, y: 54, width: step, height: floor - 54, class: "reach" }, svg("title", null, `${range(b)}: ${runs(b.count)}`)),
  );
}

const range = (b) => (b.high === Infinity ? `over ${ms(b.low)}` : `${ms(b.low)} to ${ms(b.high)}`);

/** Where a duration lies, counted in buckets from the left. */
function place(value, buckets) {
  const i = buckets.findIndex((b) => value <= b.high);
  const b = buckets[i];
  if (!b || b.high === Infinity) return buckets.length - 1;
  return i + (value - b.low) / (b.high - b.low);
}

function quantile(name, value, x, row, floor, width) {
  const y = 12 + row * 16;
  const right = x > width * 0.7;
  return {
    line: svg("line", { x1: x, x2: x, y1: y - 8, y2: floor }),
    name: svg("text", { x: x + (right ? -5 : 5), y, "text-anchor": right ? "end" : "start" }, `${name} ${ms(value)}`),
  };
}

function durationSummary(d) {
  const parts = QUANTILES.map(([name, key]) => `${name} ${ms(d[key])}`);
  return `Durations of ${runs(d.count)}: ${parts.join(", ")}.`;
}

function histogramTable(durations) {
  const used = single(durations).filter((b) => b.count > 0);
  if (used.length === 0) return el("p", null, "No runs yet.");
  return table("Runs by duration", ["Duration", "Runs"], used.map((b) => [range(b), count(b.count)]));
}
