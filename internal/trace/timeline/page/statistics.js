// Count, total and times of what lies in a span of time.

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
