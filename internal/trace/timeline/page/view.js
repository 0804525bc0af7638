// The page: draws the rows on one canvas and answers to mouse and keys. Nothing in the document is made for a span.
"use strict";
(async () => {
  const C = KudzuCore, $ = (id) => document.getElementById(id);
  const LABELS = 236, OVERVIEW = 36, RULER = 24, TOP = OVERVIEW + RULER, LANE = 17, THIN = 9, HEADING = 23, CURVE = 46;
  const GROUP = 0, CURVES = 3;
  const began = performance.now();

  async function read() {
    if (typeof DecompressionStream === "undefined") throw new Error("This browser cannot unpack the page's data (DecompressionStream).");
    const text = atob($("data").textContent.trim());
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
    $("data").remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return C.decode(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  let d;
  try { d = await read(); } catch (e) { $("details").textContent = String(e.message || e); return; }

  const canvas = $("canvas"), ctx = canvas.getContext("2d", { alpha: false });
  const view = { t0: -d.end * .01, t1: d.end * 1.01, y: 0 };
  const hidden = new Uint8Array(d.kinds.length);
  let W = 0, H = 0, layout = [], height = 0, selected = -1, span = null, hover = null, found = null, match = null, at = -1;
  let stats = null, order = { by: "total", down: true }, tab = "details", dark = matchMedia("(prefers-color-scheme: dark)").matches, overview = null;
  const me = window.kudzu = { data: d, core: C, ready: false, draws: 0, lastDraw: 0, firstDraw: 0, began, view };

  // --- colours: a hue a kind, shades of it by name ---

  const hues = [214, 220, 148, 28, 50, 276, 334, 186, 45, 2], grey = [false, true];
  let shades = new Map(), theme = {};
  function shade(kind, name) {
    const key = kind * 4294967296 + name;
    let c = shades.get(key);
    if (c) return c;
    let h = 2166136261;
    if (name >= 0) for (const ch of d.names[name]) h = Math.imul(h ^ ch.codePointAt(0), 16777619);
    h >>>= 0;
    const turn = name < 0 ? 0 : (h % 25) - 12, lift = name < 0 ? 0 : ((h >>> 8) % 15) - 7;
    c = `hsl(${hues[kind] + turn} ${grey[kind] ? 14 : dark ? 48 : 62}% ${(dark ? 44 : 68) + lift}%)`;
    shades.set(key, c);
    return c;
  }
  const color = (i) => d.color[i] ? "#" + (d.color[i] & 0xffffff).toString(16).padStart(6, "0") : shade(d.kind[i], d.name[i]);
  function ink(i) {
    const c = d.color[i];
    if (!c) return dark ? "#ffffff" : "#10151d";
    return ((c >> 16 & 255) * 3 + (c >> 8 & 255) * 6 + (c & 255)) > 1400 ? "#10151d" : "#ffffff";
  }
  function paint() {
    document.documentElement.classList.toggle("dark", dark);
    const css = getComputedStyle(document.documentElement);
    theme = Object.fromEntries(["back", "side", "head", "line", "grid", "text", "soft", "accent", "select", "mark"].map((k) => [k, css.getPropertyValue("--" + k).trim()]));
    shades = new Map();
    overview = null;
    legend();
    redraw();
  }

  // --- rows ---

  function arrange() {
    layout = [];
    let y = 0;
    const put = (r) => {
      let h;
      if (r.shape === GROUP) h = r.open ? HEADING : HEADING + 4;
      else if (r.shape === CURVES) h = r.open ? CURVE : HEADING;
      else h = r.open ? Math.max(1, r.lanes.length) * LANE + 7 : THIN + 12;
      layout.push({ r, y, h });
      r.at = layout.length - 1;
      y += h;
      if (r.shape !== GROUP || r.open) r.children.forEach((k) => put(d.rows[k]));
      else hide(r, r.at);
    };
    const hide = (r, at) => r.children.forEach((k) => { d.rows[k].at = at; hide(d.rows[k], at); });
    d.rows.forEach((r) => { if (r.parent < 0) put(r); });
    height = y;
    clamp();
  }
  function clamp() {
    const most = d.end * 1.04 + 1, min = 20;
    let n = Math.min(Math.max(view.t1 - view.t0, min), most * 1.04);
    const mid = (view.t0 + view.t1) / 2;
    if (Math.abs(n - (view.t1 - view.t0)) > 1e-9) { view.t0 = mid - n / 2; view.t1 = mid + n / 2; }
    const edge = n * .5;
    if (view.t0 < -edge) { view.t0 = -edge; view.t1 = view.t0 + n; }
    if (view.t1 > d.end + edge) { view.t1 = d.end + edge; view.t0 = view.t1 - n; }
    view.y = Math.max(0, Math.min(view.y, height - (H - TOP) + 12));
  }
  const X = (t) => LABELS + (t - view.t0) / (view.t1 - view.t0) * (W - LABELS);
  const T = (x) => view.t0 + (x - LABELS) / (W - LABELS) * (view.t1 - view.t0);
  const per = () => (view.t1 - view.t0) / (W - LABELS);

  // --- drawing ---

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

  // --- what is under the mouse ---

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

  function choose(a, b) {
    span = a === null ? null : { a: Math.max(0, Math.min(a, b)), b: Math.min(d.end, Math.max(a, b)) };
    if (span && span.b <= span.a) span = null;
    measure();
    redraw();
  }
  function measure() {
    const s = span || { a: 0, b: d.end };
    stats = C.statistics(d, s.a, s.b, hidden);
    const queues = stats.queues.filter((q) => q.busy > 0).sort((a, b) => b.busy - a.busy).slice(0, 4);
    $("summary").textContent = (span ? "selected " + C.time(s.b - s.a) : "everything, " + C.time(d.end)) + ": " + stats.count.toLocaleString("en") + " spans" +
      queues.map((q) => " · " + d.rows[q.row].label + " busy " + (q.busy / (s.b - s.a) * 100).toFixed(1) + " %").join("");
    if (tab === "statistics") table();
  }
  const columns = [["name", "name"], ["kind", "kind"], ["count", "count"], ["total", "total"], ["share", "of span"], ["mean", "mean"], ["min", "shortest"], ["max", "longest"]];
  function table() {
    const s = span || { a: 0, b: d.end }, box = $("statistics"), t = element("table"), hr = element("tr"), body = element("tbody");
    for (const [key, title] of columns) {
      const th = element("th", title + (order.by === key ? order.down ? " ▾" : " ▴" : ""), (order.by === key ? "on " : "") + key);
      th.onclick = () => { order = { by: key, down: order.by === key ? !order.down : key !== "name" && key !== "kind" }; table(); };
      hr.append(th);
    }
    const value = (g) => order.by === "name" ? d.names[g.name] : order.by === "share" ? g.total : g[order.by];
    const list = stats.groups.slice().sort((a, b) => { const x = value(a), y = value(b); return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1); });
    for (const g of list.slice(0, 500)) {
      const tr = element("tr"), name = element("td"), dot = element("b");
      dot.style.background = shade(g.kind, g.name);
      name.append(dot, d.names[g.name]);
      name.title = d.names[g.name];
      tr.append(name, element("td", d.kinds[g.kind], "kind"));
      for (const text of [g.count.toLocaleString("en"), C.time(g.total), (g.total / (s.b - s.a) * 100).toFixed(1) + " %", C.time(g.mean), C.time(g.min), C.time(g.max)]) tr.append(element("td", text));
      tr.onclick = () => { select(g.first, true); pick("statistics"); };
      body.append(tr);
    }
    const head = element("thead");
    head.append(hr);
    t.append(head, body);
    box.replaceChildren(t);
    if (list.length > 500) box.append(element("p", (list.length - 500) + " more names"));
  }
  function pick(name) {
    tab = name;
    for (const k of ["details", "statistics"]) { $(k).hidden = k !== name; $("tab-" + k).classList.toggle("on", k === name); }
    if (name === "statistics") table();
  }

  // --- searching ---

  function look() {
    const words = $("words").value;
    if (!words.trim()) { found = match = null; at = -1; $("found").textContent = ""; redraw(); return; }
    found = C.search(d, words, $("deep").checked);
    match = new Uint8Array(d.n);
    for (const i of found) match[i] = 1;
    at = -1;
    $("found").textContent = found.length ? found.length.toLocaleString("en") + " found" : "none";
    redraw();
  }
  function jump(by) {
    if (!found || !found.length) return;
    if (at < 0) { // the first one in sight
      let k = 0;
      while (k < found.length && d.start[found[k]] < view.t0) k++;
      at = by > 0 ? k % found.length : (k - 1 + found.length) % found.length;
    } else at = (at + by + found.length) % found.length;
    $("found").textContent = (at + 1).toLocaleString("en") + " of " + found.length.toLocaleString("en");
    select(found[at], true);
  }

  function legend() {
    const counts = new Float64Array(d.kinds.length);
    for (let i = 0; i < d.n; i++) counts[d.kind[i]]++;
    $("legend").replaceChildren(...d.kinds.map((k, i) => [k, i]).filter(([, i]) => counts[i]).map(([k, i]) => {
      const b = element("button", undefined, hidden[i] ? "off" : ""), dot = element("b");
      dot.style.background = shade(i, -1);
      b.append(dot, k, element("i", counts[i].toLocaleString("en")));
      b.title = "show or hide";
      b.onclick = () => { hidden[i] ^= 1; legend(); measure(); redraw(); };
      return b;
    }));
  }

  // --- mouse and keys ---

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
})();
