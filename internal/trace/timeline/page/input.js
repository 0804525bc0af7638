// Mouse and keys; then the page is drawn for the first time.

let drag = null;
const where = (e) => { const box = canvas.getBoundingClientRect(); return { x: e.clientX - box.left, y: e.clientY - box.top }; };
canvas.addEventListener("pointerdown", (e) => {
  if (e.button > 1) return;
  const p = where(e);
  canvas.focus();
  canvas.setPointerCapture(e.pointerId);
  const kind = p.y < OVERVIEW && p.x >= LABELS ? "overview" : p.x > W - 12 && p.y > TOP && height > H - TOP ? "scroll" :
    p.x >= LABELS && (e.shiftKey || p.y < TOP) ? "select" : "move";
  drag = { kind, from: p, last: p, moved: false, t: T(p.x) };
  if (kind === "overview") slide(p);
});
function slide(p) { const n = view.t1 - view.t0, t = (p.x - LABELS) / (W - LABELS) * d.end; view.t0 = t - n / 2; view.t1 = t + n / 2; clamp(); redraw(); }
canvas.addEventListener("pointermove", (e) => {
  const p = where(e);
  hover = p;
  if (!drag) { tip(p); redraw(); return; }
  if (Math.abs(p.x - drag.from.x) + Math.abs(p.y - drag.from.y) > 3) drag.moved = true;
  if (!drag.moved) return;
  $("tip").hidden = true;
  if (drag.kind === "select") { choose(drag.t, T(p.x)); pick("statistics"); }
  else if (drag.kind === "overview") slide(p);
  else if (drag.kind === "scroll") { view.y += (p.y - drag.last.y) * (height + 12) / (H - TOP); clamp(); redraw(); }
  else {
    if (drag.from.x >= LABELS) { const n = (drag.last.x - p.x) * per(); view.t0 += n; view.t1 += n; }
    view.y += drag.last.y - p.y;
    clamp();
    redraw();
  }
  drag.last = p;
});
canvas.addEventListener("pointerup", (e) => {
  const p = where(e), was = drag;
  drag = null;
  if (!was || was.moved) { redraw(); return; }
  const it = rowAt(p.y);
  if (was.kind === "select") choose(null);
  else if (it && (p.x < LABELS || it.r.shape === GROUP)) { it.r.open = !it.r.open; arrange(); redraw(); }
  else if (p.y >= TOP) select(spanAt(p.x, p.y));
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("pointerleave", () => { hover = null; $("tip").hidden = true; redraw(); });
canvas.addEventListener("dblclick", (e) => { const p = where(e), i = spanAt(p.x, p.y); if (i >= 0) { select(i); fitSelected(); } });
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  const p = where(e), unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
  if (p.x < LABELS) { view.y += e.deltaY * unit; clamp(); redraw(); return; }
  if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) { pan((e.deltaX || e.deltaY) * unit / (W - LABELS)); return; }
  zoom(Math.exp(Math.max(-400, Math.min(400, e.deltaY * unit)) * .0022), p.x);
}, { passive: false });

const keys = [
  ["W S, + −", "zoom in, out", { w: () => zoom(.66, hover && hover.x > LABELS ? hover.x : undefined), s: () => zoom(1.5, hover && hover.x > LABELS ? hover.x : undefined), "+": () => zoom(.66), "=": () => zoom(.66), "-": () => zoom(1.5) }],
  ["A D, ← →", "left, right", { a: () => pan(-.15), d: () => pan(.15), ArrowLeft: () => pan(-.15), ArrowRight: () => pan(.15) }],
  ["↑ ↓, Page", "up, down", { ArrowUp: () => down(-40), ArrowDown: () => down(40), PageUp: () => down(-H / 2), PageDown: () => down(H / 2) }],
  ["0, Home", "show everything", { 0: showAll, Home: showAll }],
  ["F", "zoom to the selected span, or to the selected time", { f: fitSelected }],
  ["M", "select the time of the selected span", { m: () => { if (selected >= 0) { choose(d.start[selected], d.start[selected] + Math.max(1, d.dur[selected])); pick("statistics"); } } }],
  ["[ ]", "the span before, after in the same lane", { "[": () => near(-1), "]": () => near(1) }],
  ["/", "search", { "/": () => $("words").focus() }],
  ["N, Shift+N", "next found, previous", { n: () => jump(1), N: () => jump(-1) }],
  ["E, C", "open, close all rows", { e: () => openAll(true), c: () => openAll(false) }],
  ["T", "light, dark", { t: () => { dark = !dark; paint(); } }],
  ["Esc", "select nothing", { Escape: () => { choose(null); select(-1); $("words").value = ""; look(); } }],
  ["?", "this list", { "?": () => $("keys").showModal() }],
];
const action = Object.assign({}, ...keys.map((k) => k[2]));
function down(n) { view.y += n; clamp(); redraw(); }
function near(by) {
  if (selected < 0) return;
  const l = d.rows[d.row[selected]].lanes[d.lane[selected]], k = l.index.indexOf(selected) + by;
  if (k >= 0 && k < l.index.length) select(l.index[k], true);
}
function openAll(open) { d.rows.forEach((r) => { r.open = open || r.level === 0; }); arrange(); redraw(); }
document.addEventListener("keydown", (e) => {
  if (e.target === $("words")) {
    if (e.key === "Escape") { $("words").value = ""; look(); canvas.focus(); }
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
  const f = action[e.key] || action[e.key.toLowerCase()];
  if (f) { e.preventDefault(); f(); }
});

$("find").addEventListener("submit", (e) => e.preventDefault());
$("words").addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); jump(e.shiftKey ? -1 : 1); } });
$("words").addEventListener("input", look);
$("deep").addEventListener("change", look);
$("next").onclick = () => jump(1);
$("previous").onclick = () => jump(-1);
$("all").onclick = showAll;
$("fit").onclick = fitSelected;
$("theme").onclick = action.t;
$("help").onclick = action["?"];
$("tab-details").onclick = () => pick("details");
$("tab-statistics").onclick = () => pick("statistics");
$("keys").onclick = () => $("keys").close();
const list = element("table");
for (const [k, what] of keys) { const tr = element("tr"), td = element("td"); td.append(element("kbd", k)); tr.append(td, element("td", what)); list.append(tr); }
for (const [k, what] of [["wheel", "zoom; with Shift left and right; over the labels up and down"], ["drag", "move"], ["Shift+drag, drag in ruler", "select a span of time"], ["double click", "zoom to the span"]]) {
  const tr = element("tr"), td = element("td");
  td.append(element("kbd", k));
  tr.append(td, element("td", what));
  list.append(tr);
}
$("keys").append(list);

$("bar").addEventListener("pointerdown", (e) => {
  const from = e.clientY, was = $("panel").offsetHeight;
  const move = (m) => { $("panel").style.height = Math.max(60, Math.min(innerHeight - 260, was + from - m.clientY)) + "px"; };
  const up = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", up); };
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
});

$("notes").textContent = d.notes.join(" · ");
$("notes").title = d.notes.join("\n");
Object.assign(me, { select, choose, zoomTo, showAll, look, jump, statistics: () => stats, selected: () => selected, span: () => span, found: () => found, draw, place, X, arrange });
const decoded = performance.now();
function resize() {
  const box = $("canvas").parentElement.getBoundingClientRect();
  if (box.width === W && box.height === H) return;
  W = box.width;
  H = box.height;
  arrange();
  draw();
}
paint();
resize();
new ResizeObserver(resize).observe($("canvas").parentElement);
measure();
select(-1);
canvas.focus();
requestAnimationFrame(() => requestAnimationFrame(() => { me.shown = performance.now(); }));
