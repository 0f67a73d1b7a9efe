// The page of results. `DATA` is what samhw/app/report/page.py gives: charts, and what there is to say of each row.
// A mark stands for a row of the first table; both light up together.

const marks = new Map(); // Elements by row.
const SHAPES = [
  "M-5,0 A5,5 0 1 0 5,0 A5,5 0 1 0 -5,0 z", "M-4.5,-4.5 H4.5 V4.5 H-4.5 z", "M0,-6 L6,0 L0,6 L-6,0 z", "M0,-5.5 L5.5,4.5 H-5.5 z",
];
const colour = (number) => `var(--c${number % 7})`;
const shape = (number) => SHAPES[number % 4];

function marked(row, element) {
  marks.set(row, [...(marks.get(row) || []), element]);
  element.setAttribute("tabindex", 0);
  element.addEventListener("pointermove", (event) => hint(row, event.clientX, event.clientY));
  element.addEventListener("pointerleave", () => { $("hint").hidden = true; });
  element.addEventListener("focus", () => {
    const box = element.getBoundingClientRect();
    hint(row, box.left + box.width / 2, box.bottom);
  });
  element.addEventListener("blur", () => { $("hint").hidden = true; });
  element.addEventListener("click", () => pick(row, true));
  element.addEventListener("keydown", (event) => event.key === "Enter" && pick(row, true));
  return element;
}

function hint(row, x, y) {
  const box = $("hint");
  box.replaceChildren(make("dl", { class: "facts" }, ...DATA.details[row].flatMap(([name, words]) => [make("dt", {}, name), make("dd", {}, words)])));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, x + 16 + width > innerWidth ? x - 12 - width : x + 16)}px`;
  box.style.top = `${Math.max(4, y + 16 + height > innerHeight ? y - 12 - height : y + 16)}px`;
}

function pick(row, go = false) {
  for (const element of document.querySelectorAll(".picked")) element.classList.remove("picked");
  for (const element of marks.get(row) || []) element.classList.add("picked");
  const line = document.querySelector(`#rows tr[data-row="${row}"]`);
  line?.classList.add("picked");
  if (go) line?.scrollIntoView({ block: "nearest" });
}

// Charts

function panel(chart, body, legend) {
  const keys = legend.length ? make("div", { class: "legend" }, ...legend) : null;
  return make("div", { class: "panel chart" }, make("div", { class: "bar" }, make("h2", {}, chart.title)), body, keys);
}

// The colour of a series: those of what is read and written are the same as on the page of a run.
const series = (chart, number) => colour(chart.series.length > 1 ? [4, 1, 2, 3][number % 4] : 0);

function bars(chart) {
  const most = Math.max(1, ...chart.bars.map((bar) => bar.values.reduce((a, b) => a + b, 0)));
  const lines = chart.bars.flatMap((bar) => {
    const parts = bar.values.map((v, s) => ({ share: v / most, style: `background:${series(chart, s)}` }));
    const [name, track, text] = barLine(bar.name, parts, bar.text);
    if (bar.bad) track.classList.add("bad");
    return [name, bar.row < 0 ? track : marked(bar.row, track), text];
  });
  const keys = chart.series.length > 1 ? chart.series.map((name, s) => make("span", {}, make("i", { class: "key", style: `background:${series(chart, s)}` }), name)) : [];
  return panel(chart, make("div", { class: "bars" }, ...lines), keys);
}

// What an axis spans: its numbers, and some room.
function span(axis, numbers) {
  if (axis.words.length) return { ...axis, lo: -0.6, hi: axis.words.length - 0.4 };
  const [lo, hi] = [Math.min(...numbers), Math.max(...numbers)];
  if (axis.log) return { ...axis, words: null, lo: lo / 1.4, hi: hi * 1.4 };
  const room = 0.12 * (hi - lo) || 0.1 * hi || 1;
  return { ...axis, words: null, lo: lo - room < 0 || lo < 0.4 * hi ? Math.min(0, lo) : lo - room, hi: hi + room };
}

function scatter(chart) {
  const places = [...chart.points.map((p) => [p.x, p.y]), ...chart.line];
  if (!places.length) return panel(chart, make("p", { class: "faint" }, "There is nothing to draw."), []);
  const { svg, X, Y } = plane(span(chart.x, places.map((p) => p[0])), span(chart.y, places.map((p) => p[1])));
  const groups = [...new Set(chart.points.map((p) => p.group))];
  if (chart.line.length > 1) svg.append(line(chart, X, Y));
  const drawn = groups.map(() => []);
  const looks = groups.map((name, g) => look(chart.points.find((p) => p.group === name).look, g));
  const there = new Map(); // Marks of one place stand side by side.
  for (const p of chart.points) {
    const g = groups.indexOf(p.group);
    const place = `${Math.round(X(p.x) / 4)},${Math.round(Y(p.y) / 4)}`, beside = there.get(place) || 0;
    there.set(place, beside + 1);
    const mark = draw("path", { class: "mark", ...looks[g], transform: `translate(${(X(p.x) + 11 * beside).toFixed(1)},${Y(p.y).toFixed(1)})`, role: "img", "aria-label": DATA.details[p.row].map((pair) => pair.join(" ")).join(", ") });
    drawn[g].push(mark);
    svg.append(marked(p.row, mark));
  }
  const keys = groups.length > 1 || groups[0] ? groups.map((name, g) => key(name, looks[g], drawn[g])) : [];
  if (chart.line.length > 1) keys.push(make("span", {}, make("i", { class: `line${chart.stepped ? "" : " even"}` }), chart.line_name));
  return panel(chart, svg, keys);
}

// A third choice decides how a mark is filled.
function look(numbers, g) {
  const [c, s, f] = numbers.length ? [numbers[0], numbers[1] || 0, numbers[2] || 0] : [g, g, 0];
  const outline = { d: shape(s), style: `stroke:${colour(c)};stroke-width:2` };
  return f % 2 ? { ...outline, fill: "var(--panel)" } : f ? { ...outline, fill: colour(c), "stroke-dasharray": "2 2" } : { d: shape(s), fill: colour(c) };
}

function line(chart, X, Y) {
  const points = chart.line.map(([x, y]) => [X(x).toFixed(1), Y(y).toFixed(1)]);
  const d = points.map(([x, y], n) => (n === 0 ? `M${x},${y}` : chart.stepped ? `H${x} V${y}` : `L${x},${y}`)).join(" ");
  return draw("path", { class: `front${chart.stepped ? "" : " even"}`, d });
}

// An entry of a legend, which hides and shows its points.
function key(name, looks, drawn) {
  const button = make("button", { type: "button", "aria-pressed": "true", click: () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    for (const mark of drawn) mark.classList.toggle("hidden", !on);
  } }, draw("svg", { viewBox: "-7 -7 14 14" }, draw("path", looks)), name || "all");
  return button;
}

// Tables

const text = (line, column) => line.children[column].textContent;
const number = (words) => (words ? Number.parseFloat(words.replaceAll(",", "")) : 1e300);

for (const table of document.querySelectorAll("table.sorted")) {
  [...table.querySelectorAll("thead button")].forEach((button, column) => button.addEventListener("click", () => {
    const down = button.dataset.order === "up";
    for (const other of table.querySelectorAll("thead button")) delete other.dataset.order;
    button.dataset.order = down ? "down" : "up";
    const numeric = button.parentElement.classList.contains("number");
    const lines = [...table.tBodies[0].rows].sort((a, b) => (numeric ? number(text(a, column)) - number(text(b, column)) : text(a, column).localeCompare(text(b, column))));
    table.tBodies[0].append(...(down ? lines.reverse() : lines));
  }));
}
for (const row of document.querySelectorAll("#rows tbody tr")) row.addEventListener("click", () => pick(Number(row.dataset.row)));
$("filter")?.addEventListener("input", () => {
  const words = $("filter").value.trim().toLowerCase();
  let found = 0;
  for (const row of document.querySelectorAll("#rows tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(words);
    found += !row.hidden;
  }
  $("found").textContent = words ? `${found} rows` : "";
});

$("charts").append(...DATA.charts.map((chart) => (chart.kind === "bars" ? bars(chart) : scatter(chart))));
