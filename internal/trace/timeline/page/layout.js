// What the page shows and where: its data, colours, and the place of rows.

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
