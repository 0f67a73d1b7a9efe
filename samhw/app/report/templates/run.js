// The page of a run. `DATA` is what samhw/report/run_page.py gives; nothing is loaded from elsewhere.
// A thing that is picked is {region, node}, {region, channel}, {region, cell} or {region}, by numbers.

const REGIONS = DATA.regions;
const CAUSES = [
  ["firing", "busy", (s) => s.busy],
  ["starved", "waits for a token", (s) => s.starved],
  ["blocked", "waits for a slot", (s) => s.blocked],
  ["memory", "waits for memory or spacing", (s) => s.memory + s.spaced + s.stalled],
  ["resting", "done", (s) => s.done],
];
const opened = new Set(DATA.opened);
const drawn = { nodes: new Map(), channels: new Map(), cells: new Map(), boxes: [] };
let picked = null;
let shown = DATA.longest; // The region of the table and the timeline.

const key = (region, number) => `${region}/${number}`;

const link = (text, what) => make("button", { type: "button", class: "link", click: () => pick(what, true) }, text);

// What a node spent its cycles on

function causes(node, region) {
  const all = Math.max(REGIONS[region].cycles, 1);
  return CAUSES.map(([name, words, of]) => ({ name, words, cycles: of(node.spent), share: of(node.spent) / all }));
}

function spentBar(node, region) {
  const parts = causes(node, region).map((c) => make("i", { class: c.name, style: `width:${100 * c.share}%`, title: `${c.words}: ${count(c.cycles)} cycles` }));
  return make("div", { class: "spent" }, ...parts);
}

// The graph: regions in rows, a box for each; those that are opened show their nodes

const scene = $("scene");
const view = { x: 0, y: 0, scale: 1 };
const PAD = 26, HEAD = 46, GAP_X = 60, GAP_Y = 74;

const isOpen = (region) => opened.has(region);

// So many layers of regions that only large names can be read when all are seen.
const crowded = () => !opened.size && new Set(REGIONS.map((region) => region.layer)).size > 12;

function boxSize(number) {
  const region = REGIONS[number];
  if (!isOpen(number)) return { w: crowded() ? 340 : 270, h: 62 };
  return { w: Math.max(region.width + 2 * PAD, 320), h: region.height + HEAD + 2 * PAD };
}

function placeBoxes() {
  const layers = new Map();
  REGIONS.forEach((region, number) => {
    if (!layers.has(region.layer)) layers.set(region.layer, []);
    layers.get(region.layer).push(number);
  });
  const boxes = [];
  let y = 0;
  for (const layer of [...layers.keys()].sort((a, b) => a - b)) {
    const row = layers.get(layer).sort((a, b) => REGIONS[a].column - REGIONS[b].column);
    const sizes = row.map(boxSize);
    const width = sizes.reduce((sum, size) => sum + size.w + GAP_X, -GAP_X);
    let x = -width / 2;
    row.forEach((number, place) => {
      boxes[number] = { x, y, ...sizes[place] };
      x += sizes[place].w + GAP_X;
    });
    y += Math.max(...sizes.map((size) => size.h)) + (opened.size ? GAP_Y : 24);
  }
  return boxes;
}

function drawGraph() {
  drawn.nodes.clear();
  drawn.channels.clear();
  drawn.boxes = placeBoxes();
  const passed = draw("g"), regions = draw("g"), names = draw("g");
  for (const edge of DATA.passed) drawPassed(edge, passed, names);
  REGIONS.forEach((_, number) => regions.append(drawRegion(number)));
  scene.replaceChildren(passed, regions, names);
  mark();
}

function drawPassed(edge, lines, names) {
  const a = drawn.boxes[edge.from], b = drawn.boxes[edge.to];
  const [x1, y1, x2, y2] = [a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y];
  const between = drawn.boxes.filter((box) => box.y > a.y && box.y < b.y);
  let d, x, y;
  if (between.length) { // Around what lies between, a lane for each such edge.
    edge.lane ??= DATA.passed.filter((other) => other.lane !== undefined).length;
    x = Math.max(a.x + a.w, b.x + b.w, ...between.map((box) => box.x + box.w)) + 34 + 22 * edge.lane;
    y = (y1 + y2) / 2;
    d = `M${x1},${y1} C${x1},${y1 + 44} ${x},${y1} ${x},${y1 + 60} V${y2 - 60} C${x},${y2} ${x2},${y2 - 44} ${x2},${y2 - 2}`;
  } else {
    const bend = Math.max(26, (y2 - y1) / 2);
    [x, y] = [0.35 * x1 + 0.65 * x2, 0.4 * y1 + 0.6 * y2 + 3];
    d = `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2 - 2}`;
  }
  lines.append(draw("path", { class: "passed", "marker-end": "url(#tip)", d }));
  const label = edge.tensors.length > 3 ? `${edge.tensors.slice(0, 3).join(", ")} …` : edge.tensors.join(", ");
  names.append(draw("text", { class: "passed-name", x, y, "text-anchor": "middle" }, label));
}

function drawRegion(number) {
  const region = REGIONS[number], box = drawn.boxes[number], open = isOpen(number);
  const hot = number === DATA.longest && REGIONS.length > 1 ? " hot" : "";
  const group = draw("g", { class: `region ${open ? "open" : "closed"}${hot}`, transform: `translate(${box.x},${box.y})` });
  group.append(draw("rect", { class: "region-box", width: box.w, height: box.h, rx: 12 }));
  const head = draw("g", { class: "region-head", click: () => toggle(number) });
  head.append(draw("rect", { width: box.w, height: open ? HEAD : box.h, fill: "transparent" }));
  if (open) {
    head.append(draw("text", { class: "region-name", x: 14, y: 21 }, `▾ ${region.label}`));
    head.append(draw("text", { class: "region-note", x: 14, y: 38 }, `${times(region)}, order ${region.order.join(", ") || "(none)"}`));
  } else {
    const far = crowded();
    head.append(draw("text", { class: `region-name ${far ? "huge" : "large"}`, x: 10, y: far ? 41 : 27 }, far ? shorten(region.label, 15) : `▸ ${shorten(region.label, 18)}`));
    if (!far) head.append(draw("text", { class: "region-note large", x: 10, y: 48 }, `${times(region)}, ${region.nodes.length} nodes`));
  }
  head.append(draw("title", {}, `${region.statements.join("\n")}\n\nClick to ${open ? "close" : "open"}`));
  group.append(head);
  if (!open) {
    const part = region.total / Math.max(1, ...REGIONS.map((r) => r.total));
    group.append(draw("rect", { class: "fill-resting", x: 10, y: 54, width: box.w - 20, height: 5, rx: 2 }));
    group.append(draw("rect", { x: 10, y: 54, width: (box.w - 20) * part, height: 5, rx: 2, fill: `var(--${hot ? "hot" : "pick"})` }));
    return group;
  }
  const inner = draw("g", { transform: `translate(${(box.w - region.width) / 2},${HEAD + PAD})` });
  region.channels.forEach((channel, c) => inner.append(drawChannel(number, c, channel)));
  region.nodes.forEach((node, n) => inner.append(drawNode(number, n, node)));
  // What is hot lies on top of other lines.
  for (const c of region.hot.path) inner.insertBefore(drawn.channels.get(key(number, c)), drawn.nodes.get(key(number, 0)));
  group.append(inner);
  return group;
}

const isAlike = (region) => region.runs.length > 1;

// Of equal layers, all that they take.
const times = (region) => `${count(region.total)} cycles${isAlike(region) ? ` in ${region.runs.length} runs` : ""}`;

const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function drawNode(r, n, node) {
  const hot = REGIONS[r].hot.node === n ? " hot" : "";
  const group = draw("g", { class: `node${hot}`, transform: `translate(${node.x - node.w / 2},${node.y - node.h / 2})`, click: () => pick({ region: r, node: n }) });
  const parts = causes(node, r);
  const most = parts.slice(0, 4).reduce((a, b) => (b.share > a.share ? b : a));
  group.append(draw("rect", { class: "back", width: node.w, height: node.h, rx: 7 }));
  group.append(draw("rect", { class: `heat fill-${most.name}`, "fill-opacity": (0.06 + 0.5 * Math.min(1, most.share)).toFixed(2), width: node.w, height: node.h, rx: 7 }));
  group.append(draw("text", { x: node.w / 2, y: 17, "text-anchor": "middle" }, node.label));
  let x = 8;
  for (const part of parts) {
    const width = Math.max(0, part.share * (node.w - 16));
    group.append(draw("rect", { class: `fill-${part.name}`, x, y: 25, width, height: 5 }));
    x += width;
  }
  group.append(draw("title", {}, `${node.cell || node.kind}\nbusy ${share(node.busy)}`));
  drawn.nodes.set(key(r, n), group);
  return group;
}

function drawChannel(r, c, channel) {
  const region = REGIONS[r];
  const points = channel.route.map(([x, y]) => [x, y]);
  const from = region.nodes[channel.from], to = region.nodes[channel.to];
  points[0] = [leave(region, c, channel, from), from.y + from.h / 2];
  points[points.length - 1] = [enter(region, c, channel, to), to.y - to.h / 2 - 1];
  const d = points.slice(1).reduce((path, [x, y], i) => {
    const [px, py] = points[i];
    return `${path} C${px},${(py + y) / 2} ${x},${(py + y) / 2} ${x},${y}`;
  }, `M${points[0]}`);
  const hot = region.hot.path.includes(c);
  const full = channel.mean > 0.8 * channel.depth && channel.tokens > 8 && !hot;
  const classes = `channel ${channel.kind}${hot ? " hot" : full ? " full" : ""}`;
  const group = draw("g", { class: classes, click: () => pick({ region: r, channel: c }) });
  group.append(draw("path", { class: "wire", d, "marker-end": `url(#tip${hot ? "-hot" : ""})` }), draw("path", { class: "reach", d }));
  group.append(draw("title", {}, `${channel.name}\n${channel.depth} slots, ${channel.mean.toFixed(1)} taken on average`));
  drawn.channels.set(key(r, c), group);
  return group;
}

// Channels leave and enter a node side by side, in the order of what they lead to.
function leave(region, c, channel, node) {
  return beside(region, node, c, "from", channel.from, (other) => region.channels[other].route[1][0], (other) => region.channels[other].ports[0]);
}

function enter(region, c, channel, node) {
  return beside(region, node, c, "to", channel.to, (other) => region.channels[other].route.at(-2)[0], (other) => other);
}

function beside(region, node, c, end, number, order, group) {
  region.ends ||= {};
  const ends = (region.ends[end] ||= endsOf(region, end));
  const all = ends.get(number);
  all.sorted ||= sortGroups(all, order, group);
  const place = all.sorted.findIndex((same) => same.includes(c));
  const step = Math.min(22, (node.w - 24) / Math.max(all.sorted.length, 1));
  return node.x + (place - (all.sorted.length - 1) / 2) * step;
}

function endsOf(region, end) {
  const ends = new Map();
  region.channels.forEach((channel, c) => {
    if (!ends.has(channel[end])) ends.set(channel[end], []);
    ends.get(channel[end]).push(c);
  });
  return ends;
}

function sortGroups(channels, order, group) {
  const groups = new Map();
  for (const c of channels) groups.set(group(c), [...(groups.get(group(c)) || []), c]);
  const middle = (same) => same.reduce((sum, c) => sum + order(c), 0) / same.length;
  return [...groups.values()].sort((a, b) => middle(a) - middle(b));
}

function toggle(number) {
  const before = drawn.boxes[number];
  const y = before.y * view.scale + view.y, x = (before.x + before.w / 2) * view.scale + view.x;
  if (!opened.delete(number)) opened.add(number);
  drawGraph();
  const box = drawn.boxes[number]; // Its head stays where it was.
  move(x - (box.x + box.w / 2) * view.scale, y - box.y * view.scale, view.scale);
  pick({ region: number });
}

// Zoom and pan

const graph = $("graph");

function move(x, y, scale) {
  Object.assign(view, { x, y, scale });
  scene.setAttribute("transform", `translate(${x},${y}) scale(${scale})`);
  graph.classList.toggle("far", scale < 0.45);
  scene.style.setProperty("--far", Math.max(1, 0.9 / scale)); // Names of regions stay large.
}

function zoom(factor, cx = graph.clientWidth / 2, cy = graph.clientHeight / 2) {
  const scale = Math.min(3, Math.max(0.02, view.scale * factor));
  move(cx - ((cx - view.x) * scale) / view.scale, cy - ((cy - view.y) * scale) / view.scale, scale);
}

function whole() {
  const lanes = DATA.passed.filter((edge) => edge.lane !== undefined).length; // Edges around boxes need room.
  const left = Math.min(...drawn.boxes.map((b) => b.x)), right = Math.max(...drawn.boxes.map((b) => b.x + b.w)) + (lanes && 50 + 22 * lanes);
  return { x: left, y: 0, w: right - left, h: Math.max(...drawn.boxes.map((b) => b.y + b.h)) };
}

function fit() {
  const box = whole();
  const scale = Math.min(1.1, (graph.clientWidth - 24) / box.w, (graph.clientHeight - 24) / box.h);
  move((graph.clientWidth - box.w * scale) / 2 - box.x * scale, (graph.clientHeight - box.h * scale) / 2, scale);
}

function placeOf(what) {
  const box = drawn.boxes[what.region];
  if (!isOpen(what.region)) return [box.x + box.w / 2, box.y + box.h / 2];
  const region = REGIONS[what.region];
  const [left, top] = [box.x + (box.w - region.width) / 2, box.y + HEAD + PAD];
  if (what.node !== undefined) return [left + region.nodes[what.node].x, top + region.nodes[what.node].y];
  if (what.channel !== undefined) {
    const route = region.channels[what.channel].route;
    const [a, b] = [route[Math.floor((route.length - 1) / 2)], route[Math.ceil((route.length - 1) / 2)]];
    return [left + (a[0] + b[0]) / 2, top + (a[1] + b[1]) / 2];
  }
  return [box.x + box.w / 2, box.y + Math.min(box.h, graph.clientHeight / view.scale) / 2];
}

function centre(what, scale = Math.max(view.scale, 0.7)) {
  const [x, y] = placeOf(what);
  const box = whole();
  // No more is empty than must be.
  const along = (place, begin, size, room) =>
    size * scale <= room ? (room - size * scale) / 2 - begin * scale
      : Math.min(12 - begin * scale, Math.max(room - 12 - (begin + size) * scale, room / 2 - place * scale));
  move(along(x, box.x, box.w, graph.clientWidth), along(y, box.y, box.h, graph.clientHeight), scale);
}

function start() {
  fit(); // The whole comes first; a button leads to the bottleneck.
}

graph.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== graph) return;
  event.preventDefault();
  const box = graph.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

let drag = null;
graph.addEventListener("pointerdown", (event) => { drag = { x: event.clientX - view.x, y: event.clientY - view.y, moved: false }; });
graph.addEventListener("pointermove", (event) => {
  if (!drag || !event.buttons) return;
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.moved && Math.hypot(x - view.x, y - view.y) < 4) return;
  if (!drag.moved) graph.setPointerCapture(event.pointerId);
  drag.moved = true;
  graph.classList.add("moving");
  move(x, y, view.scale);
});
graph.addEventListener("pointerup", () => graph.classList.remove("moving"));
graph.addEventListener("click", (event) => {
  if (drag && drag.moved) event.stopPropagation();
  drag = null;
}, true);
graph.addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (steps[event.key]) move(view.x + steps[event.key][0], view.y + steps[event.key][1], view.scale);
  else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fit();
  else return;
  event.preventDefault();
});
$("zoom-in").addEventListener("click", () => zoom(1.3));
$("zoom-out").addEventListener("click", () => zoom(1 / 1.3));
$("fit").addEventListener("click", fit);
$("to-limit").addEventListener("click", () => pick(limit(), true));

// Picking: graph, table, timeline and detail show the same

function limit() {
  const { node, channel } = REGIONS[DATA.longest].hot;
  return channel === null ? { region: DATA.longest, node } : { region: DATA.longest, channel };
}

function pick(what, go = false) {
  picked = what;
  if ((go || what.cell) && !isOpen(what.region) && (what.node ?? what.channel ?? what.cell) !== undefined) {
    opened.add(what.region);
    drawGraph();
  }
  if (what.region !== shown) {
    shown = what.region;
    showRegion();
  }
  mark();
  detail();
  if (go) centre(what);
}

// The nodes that are lit: that which is picked, those of a cell, those at the ends of a channel.
function litNodes() {
  if (!picked) return [];
  if (picked.node !== undefined) return [picked.node];
  if (picked.cell) return picked.cell.nodes;
  if (picked.channel === undefined) return [];
  const channel = REGIONS[picked.region].channels[picked.channel];
  return [channel.from, channel.to];
}

function mark() {
  for (const element of document.querySelectorAll(".picked, .lit")) element.classList.remove("picked", "lit");
  if (!picked) return;
  const word = picked.channel === undefined ? "picked" : "lit";
  for (const n of litNodes()) {
    drawn.nodes.get(key(picked.region, n))?.classList.add(word);
    if (picked.region === shown) document.querySelector(`#nodes tr[data-node="${n}"]`)?.classList.add("picked");
    if (picked.region === shown && !picked.cell) for (const cell of drawn.cells.get(n) || []) cell.classList.add("lit");
  }
  picked.cell?.element.classList.add("lit");
  if (!picked.cell) reveal($("table"), $("table").querySelector("td.lit"));
  drawn.channels.get(key(picked.region, picked.channel))?.classList.add("picked");
}

// Scrolls what is inside of a panel, and never the page.
function reveal(panel, element) {
  if (!element) return;
  const [outer, inner] = [panel.getBoundingClientRect(), element.getBoundingClientRect()];
  const [head, top] = [panel.querySelector("tbody th").offsetWidth, panel.querySelector("thead").offsetHeight];
  // What is under the first column, or the headings, is not seen.
  const right = Math.max(0, inner.right - outer.right), left = inner.left - right - outer.left - head;
  panel.scrollLeft += right + Math.min(0, left);
  const starts = [...panel.querySelectorAll("thead th")].slice(1).map((th) => th.offsetLeft - head);
  panel.scrollLeft = starts.find((start) => start >= panel.scrollLeft - 1) ?? panel.scrollLeft; // No cell is cut there.
  const down = Math.max(0, inner.bottom - outer.bottom), up = inner.top - down - outer.top - top;
  panel.scrollTop += down + Math.min(0, up);
}

function detail() {
  const region = REGIONS[picked.region];
  const body = picked.cell ? cellDetail(region)
    : picked.node !== undefined ? nodeDetail(region, region.nodes[picked.node])
      : picked.channel !== undefined ? channelDetail(region, region.channels[picked.channel]) : regionDetail(region);
  $("detail").replaceChildren(...body.filter((part) => part !== null));
}

const facts = (pairs) => make("dl", { class: "facts" }, ...pairs.filter((pair) => pair && pair[1] !== "").flatMap(([name, what]) => [make("dt", {}, name), make("dd", {}, what)]));

function nodeDetail(region, node) {
  const params = Object.entries(node.params).map(([name, value]) => `${name}=${value}`).join(", ");
  const waits = node.waits.slice(0, 6).map((wait) => make("li", {}, link(wait.text, { region: picked.region, channel: wait.channel })));
  const shares = causes(node, picked.region).filter((c) => c.cycles).map((c) => make("span", {}, make("i", { class: `key ${c.name}` }), `${c.words} ${share(c.share)}`));
  return [
    make("h3", {}, node.label),
    make("p", {}, node.rule),
    facts([
      ["cell", node.cell],
      ["kind", make("span", { class: "mono" }, `${node.kind}(${params})`)],
      ["firings", `${count(node.firings)} in ${count(region.cycles)} cycles, ${share(node.busy)}${node.copies > 1 ? `; the busiest of ${node.copies} lanes` : ""}`],
      node.operations ? ["operations", count(node.operations)] : null,
      node.luts ? ["area", `about ${count(node.luts)} LUTs of an ${DATA.area}, with the channels at its inputs`] : null,
    ]),
    spentBar(node, picked.region),
    make("div", { class: "shares" }, ...shares),
    waits.length ? make("ul", { class: "waits" }, ...waits) : make("p", { class: "faint" }, "It waited for nothing."),
  ];
}

function channelDetail(region, channel) {
  const end = (number, port) => make("span", {}, link(region.nodes[number].label, { region: picked.region, node: number }), port ? `.${port}` : "");
  const kinds = { crd: "coordinates", ref: "references", val: "values" };
  const why = channel.reason || `as full rate needs, with a latency of ${channel.latency}`;
  return [
    make("h3", {}, `${channel.name}${channel.copies > 1 ? ` and ${channel.copies - 1} more` : ""}`),
    facts([
      ["from", end(channel.from, channel.ports[0])],
      ["to", end(channel.to, channel.ports[1])],
      ["carries", `${kinds[channel.kind] || channel.kind}, ${channel.levels} level${channel.levels === 1 ? "" : "s"}; ${count(channel.tokens)} tokens`],
      ["slots", `${count(channel.depth)}; at most ${count(channel.high_water)} taken, ${channel.mean.toFixed(2)} on average`],
      ["so deep", why],
    ]),
    ...(channel.fill.length
      ? [curve(channel.fill, Math.max(channel.depth, 1), "slots"), make("p", { class: "faint" }, `slots taken over ${count(region.cycles)} cycles; the dashed line is the depth`)]
      : [make("p", { class: "faint" }, "How full it was over time was not recorded: the run is long.")]),
  ];
}

function cellDetail(region) {
  const nodes = picked.cell.nodes.map((n) => make("li", {}, link(region.nodes[n].label, { region: picked.region, node: n }), ` ${region.nodes[n].rule}`));
  return [make("h3", {}, picked.cell.text), make("p", { class: "faint" }, `row ${picked.cell.row}, column ${picked.cell.column}, of ${region.name}`), nodes.length ? make("ul", {}, ...nodes) : make("p", {}, "No node comes from this cell: nothing reads it.")];
}

function regionDetail(region) {
  return [
    make("h3", {}, region.label),
    facts([
      isAlike(region) ? ["runs", `${times(region)}; below, the longest: ${region.name}`] : null,
      ["computes", make("span", { class: "mono" }, region.statements.join("; "))],
      ["order", region.order.join(", ") || "(none)"],
      ["cycles", `${count(region.cycles)}, from cycle ${count(region.start)} on`],
      ["operations", `${count(region.operations)}, ${(region.operations / Math.max(region.cycles, 1)).toFixed(2)} a cycle`],
      ["bytes", count(region.bytes)],
      ["note", region.note],
    ]),
    make("p", {}, ...withLinks(region.limit, picked.region)),
  ];
}

function curve(values, top, kind) {
  const n = values.length, h = 20;
  const points = values.flatMap((v, i) => [`${i},${(h - (h * v) / top).toFixed(2)}`, `${i + 1},${(h - (h * v) / top).toFixed(2)}`]);
  const svg = draw("svg", { class: `curve ${kind}`, viewBox: `0 0 ${n} ${h}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(draw("path", { class: "area", d: `M0,${h} L${points.join(" L")} L${n},${h} z` }));
  svg.append(draw("line", { class: "ground", x1: 0, x2: n, y1: h, y2: h, "vector-effect": "non-scaling-stroke" }));
  if (kind === "slots") svg.append(draw("line", { class: "top", x1: 0, x2: n, y1: 0, y2: 0, "vector-effect": "non-scaling-stroke" }));
  return svg;
}

// A text with the names in it of nodes and channels of a region as links
function withLinks(text, r) {
  const names = new Map();
  REGIONS[r].nodes.forEach((node, n) => names.set(node.name, { region: r, node: n }));
  REGIONS[r].channels.forEach((channel, c) => names.set(channel.name, { region: r, channel: c }));
  REGIONS.forEach((region, n) => REGIONS.length > 1 && names.set(region.name, { region: n }));
  return text.split(/((?:[\w.]+->[\w.]+\w)|\w+)/).map((word) => (names.has(word) ? link(word, names.get(word)) : word));
}

// The region that is shown: its table, its timeline, its traffic

function showRegion() {
  $("region").value = shown;
  showTable();
  showTimeline();
  showTraffic();
  showRoofline();
}

function showTable() {
  const { heads, rows } = REGIONS[shown].table, nodes = REGIONS[shown].nodes, hot = REGIONS[shown].hot;
  drawn.cells.clear();
  const body = rows.map(({ row, cells }) => make("tr", {}, make("th", { scope: "row" }, row), ...cells.map((cell, place) => {
    if (!cell.text) return make("td");
    const busy = Math.max(0, ...cell.nodes.map((n) => nodes[n].busy));
    const element = make("td", { class: `cell${cell.nodes.includes(hot.node) ? " hot" : ""}`, style: `--busy:${busy}`, tabindex: 0, title: cell.nodes.map((n) => nodes[n].label).join(", ") }, cell.text);
    const what = { region: shown, cell: { ...cell, row, column: heads[place], element } };
    const choose = () => {
      pick(what);
      if (cell.nodes.length && isOpen(shown)) centre({ region: shown, node: cell.nodes[0] }, view.scale);
    };
    element.addEventListener("click", choose);
    element.addEventListener("keydown", (event) => event.key === "Enter" && choose());
    for (const n of cell.nodes) drawn.cells.set(n, [...(drawn.cells.get(n) || []), element]);
    return element;
  })));
  $("table").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, make("th"), ...heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, ...body)));
}

let sorting = null;

function showTimeline() {
  showRegions();
  const region = REGIONS[shown];
  const recorded = region.nodes.some((node) => node.activity.length);
  $("timeline-note").textContent = `${region.name}${isAlike(region) ? `, the longest of ${region.runs.length}` : ""}: ${count(region.cycles)} cycles${recorded ? "" : "; too long to record when nodes fired"}`;
  const heads = [["node", null], ...(recorded ? [["fires over time", null]] : []), ["where its cycles went", "busy"], ["firings", "firings"], ["longest wait", "wait"]];
  const head = heads.map(([name, by]) => make("th", { class: by === "firings" ? "number" : "" }, by ? make("button", { type: "button", title: "Sort", click: () => { sorting = sorting === by ? null : by; showTimeline(); mark(); } }, `${name}${sorting === by ? " ▾" : ""}`) : name));
  const order = region.nodes.map((_, n) => n);
  const by = { busy: (n) => region.nodes[n].busy, firings: (n) => region.nodes[n].firings, wait: (n) => region.nodes[n].waits[0]?.cycles || 0 }[sorting];
  if (by) order.sort((a, b) => by(b) - by(a));
  const rows = order.slice(0, 1000).map((n) => timelineRow(region, n, recorded));
  $("nodes").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

// A row for each region: when it ran, and the mean of its nodes' firings over that time

function showRegions() {
  const total = DATA.run.model_cycles;
  if (REGIONS.length < 2) return $("regions-line").replaceChildren();
  const rows = REGIONS.map((region, r) => make("button", { type: "button", class: `row${r === shown ? " chosen" : ""}${r === DATA.longest ? " hot" : ""}`, title: isAlike(region) ? `${region.label}: ${times(region)}` : `${region.name}: ${count(region.cycles)} cycles from ${count(region.start)} on`, click: () => pick({ region: r }) },
    make("span", { class: "name" }, region.label),
    make("span", { class: "when" }, ...region.runs.map((run) => make("span", { class: "span", style: `left:${(100 * run.start) / total}%;width:${(100 * run.cycles) / total}%` }, firings(region)))),
    make("span", { class: "number" }, `${count(region.total)}, ${share(region.total / total)}`)));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => make("span", { class: `tick${part === 1 ? " end" : ""}`, style: `left:${100 * part}%` }, count(total * part)));
  $("regions-line").replaceChildren(...rows, make("div", { class: "row ticks" }, make("span", { class: "name" }), make("span", { class: "when" }, ...ticks), make("span", { class: "number" })));
}

function firings(region) {
  const known = region.nodes.filter((node) => node.activity.length);
  if (!known.length) return make("i", { class: "whole" });
  region.means ||= known[0].activity.map((_, at) => known.reduce((sum, node) => sum + (node.activity[at] || 0), 0) / known.length);
  return curve(region.means, Math.max(...region.means, 0.01), "activity");
}

function timelineRow(region, n, recorded) {
  const node = region.nodes[n];
  return make("tr", { "data-node": n, class: region.hot.node === n ? "hot" : "", click: () => pick({ region: shown, node: n }, true) },
    make("th", { scope: "row" }, node.label),
    recorded ? make("td", { class: "wide" }, curve(node.activity.length ? node.activity : [0], 1, "activity")) : null,
    make("td", { class: recorded ? "" : "wide" }, spentBar(node, shown)),
    make("td", { class: "number" }, count(node.firings)),
    make("td", { class: "wait" }, node.waits[0]?.text || ""));
}

function showTraffic() {
  const found = REGIONS[shown].traffic.filter((row) => row.words);
  const tensors = new Map();
  for (const row of found) {
    const name = `${row.tensor}.${row.array}`;
    const known = tensors.get(name) || { name, bytes: 0, written: row.role === "output" };
    known.bytes += row.bytes;
    tensors.set(name, known);
  }
  const rows = [...tensors.values()].sort((a, b) => b.bytes - a.bytes), most = Math.max(1, ...rows.map((row) => row.bytes));
  $("traffic").replaceChildren(...rows.flatMap((row) => barLine(row.name, [{ class: row.written ? "written" : "read", share: row.bytes / most }], `${count(row.bytes)} ${row.written ? "written" : "read"}`)));
}

// Each region against its own roof: what its nodes and ports permit

function showRoofline() {
  const points = REGIONS.filter((r) => r.roof.reached !== null).map((r) => {
    const rate = r.operations / Math.max(r.cycles, 1), intensity = r.operations / r.bytes;
    return { region: REGIONS.indexOf(r), rate, intensity, x: (intensity * r.roof.bytes) / r.roof.operations, y: rate / r.roof.operations, roof: r.roof };
  });
  if (!points.length) return $("roofline").replaceChildren(make("p", { class: "faint" }, "This run does no operation on values."));
  const [x0, x1] = [Math.min(0.5, ...points.map((p) => p.x)) / 2, Math.max(2, ...points.map((p) => p.x)) * 2];
  const y0 = Math.min(x0, ...points.map((p) => p.y)) / 2;
  const { svg, X, Y, W, right } = plane({ lo: x0, hi: x1, log: true, name: "operations a byte, over those at which a region's two limits meet" }, { lo: y0, hi: 2, log: true, name: "share of its operations a cycle" });
  svg.append(draw("path", { class: "roof chosen", d: `M${X(x0)},${Y(x0)} L${X(1)},${Y(1)} H${W - right}` }));
  svg.append(draw("text", { x: X(x0) + 6, y: Y(x0) - 8 }, "ports to memories"));
  svg.append(draw("text", { x: W - right - 4, y: Y(1) - 7, "text-anchor": "end" }, "nodes that compute"));
  const chosen = points.find((p) => p.region === shown) || points[0];
  for (const p of points.sort((a, b) => (a === chosen) - (b === chosen))) {
    const dot = draw("circle", { class: `dot${p === chosen ? " chosen" : ""}`, cx: X(p.x), cy: Y(p.y), r: p === chosen ? 7 : 5.5, click: () => pick({ region: p.region }) });
    dot.append(draw("title", {}, `${REGIONS[p.region].name}: ${p.rate.toFixed(3)} of ${count(p.roof.operations)} operations a cycle, ${p.intensity.toFixed(3)} a byte at up to ${+p.roof.bytes.toPrecision(3)} bytes a cycle; ${share(p.roof.reached)} of its roof`));
    svg.append(dot);
  }
  const words = `${REGIONS[chosen.region].name}: ${chosen.rate.toFixed(2)} of ${count(chosen.roof.operations)} operations a cycle, ${chosen.intensity.toFixed(2)} a byte at up to ${+chosen.roof.bytes.toPrecision(3)} bytes a cycle: ${share(chosen.roof.reached)} of its roof`;
  $("roofline").replaceChildren(svg, make("p", {}, words));
}

// Search and clock

let matches = [], match = -1;

function search() {
  const words = $("search").value.trim().toLowerCase();
  matches = [];
  if (words) REGIONS.forEach((region, r) => region.nodes.forEach((node, n) => {
    const text = [node.name, node.kind, node.cell, ...Object.values(node.params)].join(" ").toLowerCase();
    if (text.includes(words)) matches.push({ region: r, node: n });
  }));
  match = -1;
  if (matches.length) next();
  else $("found").textContent = words ? "nothing found" : "";
}

function next() {
  match = (match + 1) % matches.length;
  pick(matches[match], true);
  $("found").textContent = `${match + 1} of ${matches.length}`;
}

$("search").addEventListener("input", search);
$("search").addEventListener("keydown", (event) => event.key === "Enter" && matches.length && next());
const beyond = () => { $("beyond").hidden = Number($("clock").value) <= DATA.greatest_clock; };
beyond();
$("clock").addEventListener("input", () => {
  beyond();
  const megahertz = Number($("clock").value);
  const time = DATA.run.cycles / megahertz;
  const digits = time < 1000 ? 2 : 0;
  $("microseconds").textContent = megahertz > 0 ? time.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }) : "–";
});
$("region").replaceChildren(...REGIONS.map((region, r) => make("option", { value: r }, region.label)));
$("region").addEventListener("change", () => pick({ region: Number($("region").value) }, true));
if (REGIONS.length < 2) $("region").hidden = true;

$("limit").querySelector("p").replaceChildren(...withLinks(DATA.run.limit, DATA.longest));
drawGraph();
showRegion();
pick(limit());
start();
