// What is under the mouse, what is selected, and which part of the time is in sight.

function rowAt(y) { return y < TOP ? null : layout.find((it) => y >= TOP + it.y - view.y && y < TOP + it.y - view.y + it.h) || null; }
function spanAt(x, y) {
  const it = rowAt(y);
  if (!it || x < LABELS) return -1;
  const near = per() * 3;
  const take = (i) => i >= 0 && hidden[d.kind[i]] ? -1 : i;
  if (it.r.shape === GROUP) {
    let best = -1;
    if (!it.r.open) below(it.r, (k) => { if (best < 0 && k.lanes.length) best = take(C.hit(d, k.lanes[0], T(x), near)); });
    return best;
  }
  if (!it.r.lanes.length) return -1;
  const k = it.r.open ? Math.floor((y - (TOP + it.y - view.y) - 3) / LANE) : 0;
  return k >= 0 && k < it.r.lanes.length ? take(C.hit(d, it.r.lanes[k], T(x), near)) : -1;
}

function tip(e) {
  const box = $("tip"), i = spanAt(e.x, e.y), it = rowAt(e.y);
  let head = "", rest = "";
  if (i >= 0) {
    head = d.names[d.name[i]];
    rest = C.time(d.dur[i]) + " · " + d.kinds[d.kind[i]] + " · at " + C.time(d.start[i]);
    const lines = d.text(i).split("\n").slice(0, 14).join("\n");
    if (lines) rest += "\n" + lines;
  } else if (it && e.x < LABELS) head = it.r.label;
  else if (it && it.r.shape === CURVES && it.r.points && e.x >= LABELS) {
    head = amount(it.r, C.valueAt(it.r, T(e.x)));
    rest = it.r.label + " at " + C.time(T(e.x));
  }
  canvas.style.cursor = i >= 0 || e.x < LABELS && it ? "pointer" : e.y < TOP ? "crosshair" : "default";
  box.hidden = !head;
  if (!head) return;
  box.replaceChildren(Object.assign(document.createElement("b"), { textContent: head }), Object.assign(document.createElement("span"), { textContent: rest }));
  const w = box.offsetWidth, h = box.offsetHeight;
  box.style.left = Math.max(4, e.x + 16 + w > W ? e.x - w - 12 : e.x + 16) + "px";
  box.style.top = Math.max(4, e.y + 18 + h > H ? e.y - h - 10 : e.y + 18) + "px";
}

// --- selecting ---

function element(tag, text, cls) { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (cls) e.className = cls; return e; }
function path(i) { const list = []; for (let r = d.rows[d.row[i]]; r; r = d.rows[r.parent]) list.unshift(r.label); return list.join(" › "); }

function select(i, show) {
  selected = i;
  if (i >= 0 && show) reveal(i);
  const box = $("details");
  box.replaceChildren();
  if (i < 0) box.append(element("p", "Click a span for its arguments and times. Drag to move, wheel to zoom, Shift and drag (or drag in the ruler) to select a span of time and see its statistics. ? shows all keys."));
  else {
    const h = element("h2", d.names[d.name[i]]);
    h.append(element("small", d.kinds[d.kind[i]]));
    const columns = element("div", undefined, "columns"), left = element("dl"), right = element("dl"), links = element("div");
    const add = (dl, k, v) => dl.append(element("dt", k), element("dd", v));
    add(left, "start", C.time(d.start[i]));
    add(left, "duration", C.time(d.dur[i]));
    add(left, "end", C.time(d.start[i] + d.dur[i]));
    add(left, "where", path(i));
    for (const line of d.text(i).split("\n")) {
      const k = line.indexOf(": ");
      if (k > 0) add(right, line.slice(0, k), line.slice(k + 2)); else if (line) add(right, "", line);
    }
    const link = (text, to) => { const b = element("button", text, "go"); b.onclick = () => select(to, true); links.append(b); };
    const why = d.cause[i] - 1;
    if (why >= 0) {
      link("← " + d.names[d.name[why]] + ", " + C.time(d.start[i] - d.start[why]) + " earlier", why);
    }
    const work = d.work(i);
    for (const k of work.subarray(0, 40)) link("→ " + d.kinds[d.kind[k]] + " " + d.names[d.name[k]] + " after " + C.time(d.start[k] - d.start[i]) + ", " + C.time(d.dur[k]), k);
    if (work.length > 40) links.append(element("p", (work.length - 40) + " more"));
    columns.append(left, right, links);
    box.append(h, columns);
    show !== false && pick("details");
  }
  redraw();
}

function reveal(i) {
  for (let r = d.rows[d.rows[d.row[i]].parent]; r; r = d.rows[r.parent]) r.open = true;
  if (d.lane[i] > 0) d.rows[d.row[i]].open = true;
  arrange();
  const a = d.start[i], b = a + d.dur[i], n = view.t1 - view.t0;
  if (b < view.t0 || a > view.t1 - n * .003) { const mid = Math.min(a + d.dur[i] / 2, a + n / 2); view.t0 = mid - n / 2; view.t1 = mid + n / 2; }
  const y = place(i) - TOP;
  if (y < 20 || y > H - TOP - 30) view.y += y - (H - TOP) / 2;
  clamp();
}
function zoomTo(a, b) { const pad = (b - a) * .08 + 5; view.t0 = a - pad; view.t1 = b + pad; clamp(); redraw(); }
function fitSelected() {
  if (selected >= 0) { const s = Math.max(d.dur[selected], 20); zoomTo(d.start[selected] - s, d.start[selected] + s * 2); reveal(selected); }
  else if (span) zoomTo(span.a, span.b);
  else showAll();
}
function showAll() { zoomTo(0, d.end); }
function zoom(factor, x) {
  const t = T(x === undefined ? (LABELS + W) / 2 : x);
  view.t0 = t - (t - view.t0) * factor;
  view.t1 = t + (view.t1 - t) * factor;
  clamp();
  redraw();
}
function pan(part) { const n = (view.t1 - view.t0) * part; view.t0 += n; view.t1 += n; clamp(); redraw(); }
