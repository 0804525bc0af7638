// Searching, and the legend, which hides kinds.

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
