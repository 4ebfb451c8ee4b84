// Numbers and times as people read them. What a server does not know is null or
// missing, and is shown as a dash: never as NaN, undefined or a made-up zero.

export const NONE = "–";

const JOIN = "\u00a0"; // a number and its unit stay in one line

/** In the order in which they are stacked and listed everywhere. */
export const OUTCOMES = ["OK", "BLOCKED", "TIMEOUT", "ERROR"];

const known = (n) => typeof n === "number" && Number.isFinite(n);
const format = (digits) => new Intl.NumberFormat("en", { maximumFractionDigits: digits });
const whole = format(0);
const tenths = format(1);
const hundredths = format(2);

export const count = (n) => (known(n) ? whole.format(n) : NONE);
export const decimal = (n) => (known(n) ? hundredths.format(n) : NONE);

/** A share from 0 to 1. One that is not nothing is never shown as 0. */
export function share(part) {
  if (!known(part)) return NONE;
  return part > 0 && part < 0.001 ? `<${JOIN}0.1${JOIN}%` : `${tenths.format(part * 100)}${JOIN}%`;
}

export function ms(n) {
  if (!known(n)) return NONE;
  if (n >= 1000) return `${hundredths.format(n / 1000)}${JOIN}s`;
  return `${(n < 10 ? hundredths : n < 100 ? tenths : whole).format(n)}${JOIN}ms`;
}

export function bytes(n) {
  if (!known(n)) return NONE;
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${tenths.format(n)}${JOIN}${units[unit]}`;
}

/** A number with its noun, of a kind that takes an s. */
export const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

export const runs = (n) => counted(n, "run");

function timeOf(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time;
}

const two = (n) => String(n).padStart(2, "0");

/** Hours and minutes, of the reader's own clock. */
export function minute(text) {
  const t = timeOf(text);
  return t ? `${two(t.getHours())}:${two(t.getMinutes())}` : NONE;
}

export function clock(text) {
  const t = timeOf(text);
  return t ? `${minute(text)}:${two(t.getSeconds())}` : NONE;
}

/** Date and time, of the reader's own clock and as recorded. */
export function moment(text) {
  const t = timeOf(text);
  if (!t) return NONE;
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${clock(text)} here, ${t.toISOString()}`;
}
