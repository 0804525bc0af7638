// Draws the rows on one canvas. Nothing in the document is made for a span.

let wanted = false;
function redraw() {
  if (wanted) return;
  wanted = true;
  requestAnimationFrame(() => { wanted = false; draw(); });
}

function draw() {
  const t = performance.now(), ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(W * ratio) || canvas.height !== Math.round(H * ratio)) { canvas.width = Math.round(W * ratio); canvas.height = Math.round(H * ratio); }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = theme.back;
  ctx.fillRect(0, 0, W, H);
  ctx.textBaseline = "middle";
  const ticks = ruler();
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, TOP, W, H - TOP);
  ctx.clip();
  grid(ticks);
  for (const it of layout) {
    const y = TOP + it.y - view.y;
    if (y > H) break;
    if (y + it.h < TOP) continue;
    drawRow(it.r, y, it.h);
  }
  arrows();
  ctx.restore();
  if (span) {
    const a = Math.max(LABELS, X(span.a)), b = X(span.b);
    if (b > LABELS) {
      ctx.fillStyle = theme.select;
      ctx.fillRect(a, OVERVIEW, Math.max(1, b - a), H);
      ctx.fillStyle = theme.accent;
      for (const x of [X(span.a), b]) if (x >= LABELS) ctx.fillRect(Math.round(x), OVERVIEW, 1, H);
      label(C.time(span.b - span.a), (a + Math.min(b, W)) / 2, OVERVIEW + RULER / 2);
    }
  }
  if (hover && hover.x > LABELS && !drag) { ctx.fillStyle = theme.soft; ctx.globalAlpha = .5; ctx.fillRect(Math.round(hover.x), OVERVIEW, 1, H); ctx.globalAlpha = 1; }
  drawOverview();
  scrollbar();
  me.lastDraw = performance.now() - t;
  me.draws++;
  if (!me.ready) { me.ready = true; me.firstDraw = performance.now(); me.decoded = decoded - began; me.firstTook = me.lastDraw; }
}

function label(text, x, y) {
  ctx.font = "600 11px system-ui, sans-serif";
  const w = ctx.measureText(text).width + 12;
  ctx.fillStyle = theme.accent;
  ctx.beginPath();
  ctx.roundRect(x - w / 2, y - 8, w, 16, 4);
  ctx.fill();
  ctx.fillStyle = theme.back;
  ctx.textAlign = "center";
  ctx.fillText(text, x, y + 1);
  ctx.textAlign = "left";
}

function ruler() {
  ctx.fillStyle = theme.side;
  ctx.fillRect(0, OVERVIEW, W, RULER);
  ctx.fillStyle = theme.line;
  ctx.fillRect(0, TOP - 1, W, 1);
  const step = C.step(per() * 110), ticks = [];
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = theme.soft;
  for (let t = Math.ceil(Math.max(view.t0, 0) / step) * step; t <= view.t1; t += step) {
    const x = X(t);
    ticks.push(x);
    if (x < LABELS) continue;
    ctx.fillRect(Math.round(x), TOP - 7, 1, 6);
    ctx.fillText(tick(t, step), x + 4, OVERVIEW + RULER / 2);
  }
  ctx.fillStyle = theme.side;
  ctx.fillRect(0, OVERVIEW, LABELS, RULER - 1);
  ctx.fillStyle = theme.soft;
  ctx.fillText(C.time(view.t1 - view.t0) + " shown of " + C.time(d.end), 12, OVERVIEW + RULER / 2);
  return ticks;
}
function tick(t, step) {
  const [n, unit] = t >= 1e9 ? [1e9, " s"] : t >= 1e6 ? [1e6, " ms"] : t >= 1e3 ? [1e3, " µs"] : [1, " ns"];
  const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / n) - 1e-9)));
  return (t / n).toFixed(places) + unit;
}
function grid(ticks) {
  ctx.fillStyle = theme.grid;
  for (const x of ticks) if (x > LABELS) ctx.fillRect(Math.round(x), TOP, 1, H);
}

function drawRow(r, y, h) {
  const group = r.shape === GROUP;
  if (group) { ctx.fillStyle = r.level ? theme.side : theme.head; ctx.fillRect(0, y, W, h); }
  ctx.save();
  ctx.beginPath();
  ctx.rect(LABELS, Math.max(y, TOP), W - LABELS, h);
  ctx.clip();
  if (group) { if (!r.open) below(r, (k) => k.lanes.length && drawLane(k.lanes[0], y + 6, h - 13, false)); }
  else if (r.shape === CURVES) drawCurve(r, y, h);
  else if (r.open) r.lanes.forEach((l, k) => drawLane(l, y + 3 + k * LANE, LANE - 1, true));
  else if (r.lanes.length) drawLane(r.lanes[0], y + 6, THIN, false);
  ctx.restore();
  ctx.fillStyle = group ? r.level ? theme.side : theme.head : theme.side;
  ctx.fillRect(0, y, LABELS, h);
  ctx.fillStyle = theme.line;
  ctx.fillRect(0, Math.round(y + h) - 1, W, 1);
  ctx.fillRect(LABELS - 1, y, 1, h);
  const x = 10 + r.level * 13, my = group ? y + h / 2 : y + Math.min(h / 2, 12);
  if (r.children.length || r.lanes.length > 1 || !r.open) {
    ctx.fillStyle = theme.soft;
    ctx.beginPath();
    if (r.open) { ctx.moveTo(x, my - 3); ctx.lineTo(x + 8, my - 3); ctx.lineTo(x + 4, my + 3); }
    else { ctx.moveTo(x + 1, my - 4); ctx.lineTo(x + 7, my); ctx.lineTo(x + 1, my + 4); }
    ctx.fill();
  }
  ctx.font = (group ? "600 " : "") + "12px system-ui, sans-serif";
  ctx.fillStyle = theme.text;
  const [, ...rest] = fit(r.label, LABELS - x - 24);
  ctx.fillText(rest[0], x + 14, my);
  if (r.shape === CURVES && r.open) {
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = theme.soft;
    ctx.fillText("peak " + amount(r, r.peak), x + 14, my + 16);
  }
}
const amount = (r, v) => r.unit === "bytes" ? C.bytes(v) : v.toLocaleString("en");
function below(r, f) { r.children.forEach((k) => { f(d.rows[k]); below(d.rows[k], f); }); }

function drawLane(l, y, h, text) {
  const p = per();
  let last = -1e9; // right end of what was drawn: several marks in one pixel are one
  C.walk(d, l, view.t0, view.t1, p, (i) => {
    if (hidden[d.kind[i]]) return;
    const x0 = X(d.start[i]), a = Math.max(x0, LABELS - 4), b = Math.min(X(d.start[i] + d.dur[i]), W + 4);
    const w = Math.max(b - a - (b - a > 4 ? 1 : 0), 1);
    if (d.dur[i] === 0 && d.kind[i] >= 8) { pin(i, x0, y, h); return; }
    ctx.globalAlpha = match && !match[i] ? .2 : 1;
    ctx.fillStyle = color(i);
    ctx.fillRect(a, y, w, h);
    if (i === selected) { ctx.globalAlpha = 1; ctx.strokeStyle = theme.text; ctx.lineWidth = 2; ctx.strokeRect(a - 1, y, Math.max(w, 3) + 1, h); }
    if (text && w > 26) {
      ctx.font = "11px system-ui, sans-serif";
      ctx.fillStyle = ink(i);
      const s = short(d.name[i], w - 8);
      if (s) ctx.fillText(s, a + 4, y + h / 2 + .5);
    }
    ctx.globalAlpha = 1;
    last = a + w;
  }, (from, to, share) => {
    const i = l.index[from];
    if (hidden[d.kind[i]]) return;
    const x = Math.max(last - 1, X(d.start[i]));
    let a = .3 + .7 * share;
    if (match) {
      let any = false;
      for (let k = from; k < to && !any; k++) any = match[l.index[k]] === 1;
      a = any ? 1 : a * .25;
    }
    ctx.globalAlpha = a;
    ctx.fillStyle = match && a === 1 ? theme.mark : shade(d.kind[i], -1);
    ctx.fillRect(x, y, 1.2, h);
    ctx.globalAlpha = 1;
  });
  if (selected >= 0 && d.row[selected] >= 0 && l.index.length && l === d.rows[d.row[selected]].lanes[d.lane[selected]] && d.dur[selected] < p) {
    const x = X(d.start[selected]);
    ctx.strokeStyle = theme.text;
    ctx.lineWidth = 2;
    ctx.strokeRect(x - 2, y, 4, h);
  }
}
function pin(i, x, y, h) {
  ctx.globalAlpha = match && !match[i] ? .25 : 1;
  ctx.fillStyle = color(i);
  ctx.beginPath();
  ctx.moveTo(x, y); ctx.lineTo(x + 5, y + h / 2); ctx.lineTo(x, y + h); ctx.lineTo(x - 5, y + h / 2);
  ctx.fill();
  if (i === selected) { ctx.strokeStyle = theme.text; ctx.lineWidth = 2; ctx.stroke(); }
  ctx.globalAlpha = 1;
}

function drawCurve(r, y, h) {
  if (!r.points) return;
  const base = y + h - 3, scale = (h - 8) / r.peak;
  ctx.beginPath();
  ctx.moveTo(LABELS, base);
  let before = base;
  C.curve(r, view.t0, view.t1, per(), (t, low, high, value) => {
    const x = X(t);
    ctx.lineTo(x, before);
    ctx.lineTo(x, base - high * scale);
    ctx.lineTo(x, base - low * scale);
    before = base - value * scale;
    ctx.lineTo(x, before);
  });
  ctx.lineTo(W, base);
  ctx.closePath();
  ctx.fillStyle = dark ? "hsl(200 50% 42%)" : "hsl(200 68% 72%)";
  ctx.globalAlpha = .75;
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.strokeStyle = dark ? "hsl(200 70% 62%)" : "hsl(200 75% 42%)";
  ctx.lineWidth = 1;
  ctx.stroke();
}

// place of a span on the canvas: its row, or the closed group that hides it.
function place(i) {
  const r = d.rows[d.row[i]], it = layout[r.at];
  const y = TOP + it.y - view.y;
  return it.r === r && r.open ? y + 3 + d.lane[i] * LANE + LANE / 2 : y + it.h / 2;
}
function arrows() {
  if (selected < 0) return;
  const pairs = [];
  const why = d.cause[selected];
  if (why) pairs.push([why - 1, selected]);
  for (const i of d.work(selected).subarray(0, 300)) if (d.kind[i] !== 1) pairs.push([selected, i]);
  ctx.save();
  ctx.beginPath();
  ctx.rect(LABELS, TOP, W - LABELS, H - TOP);
  ctx.clip();
  ctx.strokeStyle = ctx.fillStyle = theme.accent;
  ctx.lineWidth = 1.3;
  for (const [a, b] of pairs) {
    const x0 = X(d.start[a] + (d.start[b] >= d.start[a] + d.dur[a] ? d.dur[a] : Math.max(0, d.start[b] - d.start[a]) * .5)), y0 = place(a), x1 = X(d.start[b]), y1 = place(b);
    const bend = Math.max(18, Math.abs(x1 - x0) * .35);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 4, y1);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x1, y1); ctx.lineTo(x1 - 6, y1 - 3.5); ctx.lineTo(x1 - 6, y1 + 3.5);
    ctx.fill();
  }
  ctx.restore();
}

// The whole trace, small: how busy threads and devices are.
function drawOverview() {
  const w = Math.max(1, Math.floor(W - LABELS));
  if (!overview || overview.w !== w) {
    overview = { w, strips: [] };
    for (const device of [false, true]) {
      const rows = d.rows.filter((r) => r.lanes.length && !!r.device === device && (device || r.shape === 1));
      const share = new Float32Array(w), unit = d.end / w;
      for (const r of rows) for (let x = 0; x < w; x++) share[x] = Math.max(share[x], C.busy(d, r, x * unit, (x + 1) * unit) / unit);
      overview.strips.push(share);
    }
  }
  ctx.fillStyle = theme.back;
  ctx.fillRect(0, 0, W, OVERVIEW);
  const half = (OVERVIEW - 8) / 2;
  [0, 2].forEach((kind, s) => {
    ctx.fillStyle = shade(kind, -1);
    const base = 3 + (s + 1) * half + s * 2;
    overview.strips[s].forEach((v, x) => { if (v > 0) { const h = Math.max(1.5, v * half); ctx.fillRect(LABELS + x, base - h, 1, h); } });
  });
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = theme.soft;
  ctx.fillText("calls", 12, 3 + half / 2);
  ctx.fillText("devices", 12, 5 + half * 1.5);
  const full = (t) => LABELS + Math.max(0, Math.min(1, t / d.end)) * w;
  const a = full(view.t0), b = Math.max(a + 2, full(view.t1));
  ctx.fillStyle = theme.back;
  ctx.globalAlpha = .66;
  ctx.fillRect(LABELS, 0, a - LABELS, OVERVIEW);
  ctx.fillRect(b, 0, W - b, OVERVIEW);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 1;
  ctx.strokeRect(a + .5, .5, b - a - 1, OVERVIEW - 2);
  if (match) {
    ctx.fillStyle = theme.mark;
    const seen = new Uint8Array(w + 1);
    for (const i of found) seen[Math.floor(d.start[i] / d.end * w)] = 1;
    seen.forEach((v, x) => { if (v) ctx.fillRect(LABELS + x, OVERVIEW - 4, 1.5, 4); });
  }
  if (selected >= 0) { ctx.fillStyle = theme.text; ctx.fillRect(full(d.start[selected]) - 1, 0, 2, OVERVIEW); }
  ctx.fillStyle = theme.line;
  ctx.fillRect(0, OVERVIEW - 1, W, 1);
}
function scrollbar() {
  const room = H - TOP;
  if (height <= room) return;
  const h = Math.max(24, room * room / (height + 12)), y = TOP + (room - h) * view.y / (height + 12 - room);
  ctx.fillStyle = theme.soft;
  ctx.globalAlpha = .45;
  ctx.beginPath();
  ctx.roundRect(W - 8, y + 2, 6, h - 4, 3);
  ctx.fill();
  ctx.globalAlpha = 1;
}

// --- text that must fit ---

const widths = new Map();
function short(name, room) {
  let w = widths.get(name);
  const s = d.names[name];
  if (w === undefined) widths.set(name, w = ctx.measureText(s.length > 200 ? s.slice(0, 200) : s).width);
  if (w <= room) return s;
  const n = Math.floor(Math.min(s.length, 200) * room / w) - 1;
  return n > 1 ? s.slice(0, n) + "…" : "";
}
function fit(s, room) {
  const w = ctx.measureText(s).width;
  if (w <= room) return [true, s];
  return [false, s.slice(0, Math.max(1, Math.floor(s.length * room / w) - 1)) + "…"];
}
