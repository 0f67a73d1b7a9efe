"use strict";
// What the scripts of all pages share. Nothing is loaded from elsewhere.

const DATA = JSON.parse(document.getElementById("data").textContent);

const $ = (id) => document.getElementById(id);
const count = (n) => Math.round(n).toLocaleString("en-US");
const share = (n) => `${(100 * n).toFixed(n && n < 0.01 ? 2 : 1)} %`;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  return fill(element, attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(element, attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "click") element.addEventListener("click", value);
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}


// A number with few digits, 950, 12.5k, 3.2M, but so many that it differs from one that is `step` greater.
function brief(n, step) {
  const [size, letter] = Math.abs(n) >= 1e9 ? [1e9, "G"] : Math.abs(n) >= 1e6 ? [1e6, "M"] : Math.abs(n) >= 1e4 ? [1e3, "k"] : [1, ""];
  const digits = step ? Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)) : 0;
  return `${step ? (n / size).toFixed(digits) : +(n / size).toPrecision(3)}${letter}`;
}

// Bars from top to bottom: for each a name, parts one after the other ({class, style, share} of the whole width), and a text.

function barLine(name, parts, text) {
  const drawn = parts.map((part) => make("i", { class: part.class, style: `width:${100 * part.share}%;${part.style || ""}` }));
  return [make("span", { class: "name" }, name), make("span", { class: "track" }, ...drawn), make("span", { class: "number" }, text)];
}

// Plots: a plane with an axis each way, {lo, hi, log, name, words}. Instead of numbers, an axis may have `words` at 0, 1, 2, ...

function plane(x, y, { W = 620, H = 330, left = 58, bottom = 40 } = {}) {
  const T = 14, R = 16;
  const along = ({ lo, hi, log }, a, b) => (v) => a + (b - a) * (log ? Math.log(v / lo) / Math.log(hi / lo) : (v - lo) / (hi - lo));
  const X = along(x, left, W - R), Y = along(y, H - bottom, T);
  const svg = draw("svg", { class: "plot", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${y.name} over ${x.name}` });
  for (const [v, text] of ticks(x)) {
    if (!x.words) svg.append(draw("line", { class: "grid", x1: X(v), y1: T, x2: X(v), y2: H - bottom }));
    svg.append(draw("text", { x: X(v), y: H - bottom + 16, "text-anchor": "middle" }, text));
  }
  for (const [v, text] of ticks(y)) {
    if (!y.words) svg.append(draw("line", { class: "grid", x1: left, y1: Y(v), x2: W - R, y2: Y(v) }));
    svg.append(draw("text", { x: left - 7, y: Y(v) + 4, "text-anchor": "end" }, text));
  }
  svg.append(draw("path", { class: "axis", fill: "none", d: `M${left},${T} V${H - bottom} H${W - R}` }));
  svg.append(draw("text", { x: (left + W) / 2, y: H - 5, "text-anchor": "middle" }, x.name));
  if (!y.words) svg.append(draw("text", { x: 13, y: (H - bottom + T) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(H - bottom + T) / 2})` }, y.name));
  return { svg, X, Y, W, H, left, bottom, right: R };
}

function ticks({ lo, hi, log, words }) {
  if (words) return words.map((word, place) => [place, word]);
  const found = log ? decades(lo, hi) : steps(lo, hi);
  return found.map((v) => [v, brief(v, log ? 0 : found[1] - found[0])]);
}

function steps(lo, hi) {
  const raw = (hi - lo) / 5, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
  const found = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi * (1 + 1e-9); k++) found.push(k * step);
  return found;
}

function decades(lo, hi) {
  const found = [];
  const each = hi / lo > 2000 ? [1] : [1, 2, 5];
  for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi); e++) for (const s of each) if (s * 10 ** e >= lo && s * 10 ** e <= hi) found.push(s * 10 ** e);
  return found;
}
