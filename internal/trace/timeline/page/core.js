// The data of the page and questions about them, without a document: node runs this file in tests.
"use strict";
var KudzuCore = (() => {
  // ../encode.go writes what this reads.
  function decode(bytes) {
    const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
    let at = 4 + size;
    const cols = head.columns.map((n) => { const c = bytes.subarray(at, at + n); at += n; return c; });
    if (at !== bytes.length) throw new Error("the data of the page end at " + bytes.length + ", not at " + at);
    const [cStart, cDur, cName, cKind, cLane, cColor, cDetail, cCause, cTime, cValue, cText, texts] = cols;
    let n = 0, points = 0;
    for (const r of head.rows) { n += r.spans; points += r.points; }
    const d = {
      title: head.title, notes: head.notes || [], kinds: head.kinds, names: head.names, n, rows: [],
      start: new Float64Array(n), dur: numbers(cDur, n, Float64Array), name: numbers(cName, n, Uint32Array),
      kind: numbers(cKind, n, Uint8Array), lane: numbers(cLane, n, Uint8Array), color: numbers(cColor, n, Uint32Array),
      detail: numbers(cDetail, n, Uint32Array), cause: numbers(cCause, n, Uint32Array), row: new Uint32Array(n), end: 1,
    };
    const starts = numbers(cStart, n, Float64Array), times = numbers(cTime, points, Float64Array);
    const values = numbers(cValue, points, Float64Array), lengths = all(cText);
    const offsets = new Float64Array(lengths.length + 1);
    for (let i = 0; i < lengths.length; i++) offsets[i + 1] = offsets[i] + lengths[i];
    d.text = (i) => new TextDecoder().decode(texts.subarray(offsets[d.detail[i]], offsets[d.detail[i] + 1]));
    let first = 0, p = 0;
    head.rows.forEach((r, i) => {
      const row = { ...r, index: i, first, lanes: [], children: [], parent: -1, open: true };
      for (let k = i - 1; k >= 0; k--) if (head.rows[k].level < r.level) { row.parent = k; d.rows[k].children.push(i); break; }
      let t = 0;
      const lanes = Array.from({ length: r.lanes }, () => []);
      for (let k = first; k < first + r.spans; k++) {
        t += starts[k];
        d.start[k] = t;
        d.row[k] = i;
        lanes[d.lane[k]].push(k);
        if (t + d.dur[k] > d.end) d.end = t + d.dur[k];
      }
      first += r.spans;
      row.lanes = lanes.map((list) => lane(d, list));
      if (r.points) {
        row.time = times.subarray(p, p + r.points);
        row.value = values.subarray(p, p + r.points);
        p += r.points;
        row.peak = 1;
        for (let k = 0; k < r.points; k++) {
          if (k) row.time[k] += row.time[k - 1];
          if (row.value[k] > row.peak) row.peak = row.value[k];
        }
        if (row.time[r.points - 1] > d.end) d.end = row.time[r.points - 1];
      }
      d.rows.push(row);
    });
    d.work = effects(d);
    return d;
  }

  // lane adds what drawing needs: the spans in order, and the time that they took up to each.
  function lane(d, list) {
    const index = Uint32Array.from(list), busy = new Float64Array(list.length + 1);
    for (let k = 0; k < list.length; k++) busy[k + 1] = busy[k] + d.dur[index[k]];
    return { index, busy };
  }

  // effects turns causes around: from.subarray(at[i], at[i + 1]) is the work of span i.
  function effects(d) {
    const at = new Uint32Array(d.n + 2);
    for (let i = 0; i < d.n; i++) if (d.cause[i]) at[d.cause[i] + 1]++;
    for (let i = 0; i <= d.n; i++) at[i + 1] += at[i];
    const list = new Uint32Array(at[d.n + 1]), next = at.slice();
    for (let i = 0; i < d.n; i++) if (d.cause[i]) list[next[d.cause[i]]++] = i;
    return (i) => list.subarray(at[i + 1], at[i + 2]);
  }

  function numbers(col, n, Type) {
    const out = new Type(n);
    let at = 0;
    for (let i = 0; i < n; i++) {
      let v = 0, scale = 1, b;
      do { b = col[at++]; v += (b & 127) * scale; scale *= 128; } while (b & 128);
      out[i] = v;
    }
    if (at !== col.length) throw new Error("a column of the page has " + col.length + " bytes, not " + at);
    return out;
  }

  function all(col) {
    let n = 0;
    for (const b of col) if (b < 128) n++;
    return numbers(col, n, Float64Array);
  }

  // firstEnding gives the place in a lane of the first span that ends after t. Spans of a lane do not overlap, so ends ascend too.
  function firstEnding(d, l, t) {
    let a = 0, b = l.index.length;
    while (a < b) {
      const m = (a + b) >> 1, i = l.index[m];
      if (d.start[i] + d.dur[i] > t || d.start[i] >= t) b = m; else a = m + 1;
    }
    return a;
  }

  function firstStarting(d, l, t, from) {
    let a = from, b = l.index.length;
    for (let step = 1; a + step < b; step *= 2) if (d.start[l.index[a + step]] >= t) { b = a + step + 1; break; }
    while (a < b) {
      const m = (a + b) >> 1;
      if (d.start[l.index[m]] >= t) b = m; else a = m + 1;
    }
    return a;
  }

  // walk calls back for what is to be drawn of a lane between t0 and t1 with `per` nanoseconds a pixel: span(i) for one that has a
  // pixel of its own, many(from, to, share) for spans index[from..to) that share the pixels from the first one's start on, and the
  // share of that time that they take. Work is bounded by pixels, not by spans.
  function walk(d, l, t0, t1, per, span, many) {
    let k = firstEnding(d, l, t0);
    while (k < l.index.length) {
      const i = l.index[k];
      if (d.start[i] >= t1) return;
      if (d.dur[i] >= per) { span(i); k++; continue; }
      const pixel = (Math.floor(Math.max(d.start[i], t0) / per) + 1) * per;
      let to = firstStarting(d, l, pixel, k + 1);
      while (to > k + 1 && d.dur[l.index[to - 1]] >= per) to--; // it begins in this pixel, and has others of its own
      if (to === k + 1) span(i); else many(k, to, Math.min(1, (l.busy[to] - l.busy[k]) / per));
      k = to;
    }
  }

  // hit gives the span of a lane at t, or the nearest within `near` nanoseconds; -1: none.
  function hit(d, l, t, near) {
    const k = firstEnding(d, l, t - near);
    let best = -1, least = Infinity;
    for (let j = k; j < l.index.length && j < k + 3; j++) {
      const i = l.index[j];
      const away = t < d.start[i] ? d.start[i] - t : Math.max(0, t - d.start[i] - d.dur[i]);
      if (away <= near && away < least) { best = i; least = away; }
    }
    return best;
  }

  // search gives the spans whose name has the words, in order of time; with details, also those whose arguments have them.
  function search(d, words, details) {
    const want = words.toLowerCase().split(/\s+/).filter((w) => w);
    if (!want.length) return new Uint32Array(0);
    const named = d.names.map((s) => { const low = s.toLowerCase(); return want.every((w) => low.includes(w)); });
    const list = [], known = new Map();
    for (let i = 0; i < d.n; i++) {
      let yes = named[d.name[i]];
      if (!yes && details) {
        const key = d.detail[i] + "/" + d.name[i];
        yes = known.get(key);
        if (yes === undefined) {
          const low = (d.names[d.name[i]] + "\n" + d.text(i)).toLowerCase();
          yes = want.every((w) => low.includes(w));
          known.set(key, yes);
        }
      }
      if (yes) list.push(i);
    }
    list.sort((a, b) => d.start[a] - d.start[b] || a - b);
    return Uint32Array.from(list);
  }

  // statistics of what lies between t0 and t1, by kind and name: how many, their time inside, and shortest, mean and longest as a
  // whole. Kinds that are in `hidden` do not count.
  function statistics(d, t0, t1, hidden) {
    const groups = new Map();
    const queues = [];
    for (const r of d.rows) {
      if (!r.spans) continue;
      for (const l of r.lanes) {
        for (let k = firstEnding(d, l, t0); k < l.index.length; k++) {
          const i = l.index[k];
          if (d.start[i] >= t1) break;
          if (hidden && hidden[d.kind[i]]) continue;
          const key = d.kind[i] * 4294967296 + d.name[i];
          let g = groups.get(key);
          if (!g) groups.set(key, g = { kind: d.kind[i], name: d.name[i], count: 0, total: 0, sum: 0, min: Infinity, max: 0, first: i });
          g.count++;
          g.total += Math.min(t1, d.start[i] + d.dur[i]) - Math.max(t0, d.start[i]);
          g.sum += d.dur[i];
          if (d.dur[i] < g.min) g.min = d.dur[i];
          if (d.dur[i] > g.max) g.max = d.dur[i];
        }
      }
      if (r.device && r.lanes.length) queues.push({ row: r.index, busy: busy(d, r, t0, t1) });
    }
    const list = [...groups.values()];
    for (const g of list) g.mean = g.sum / g.count;
    list.sort((a, b) => b.total - a.total || b.count - a.count || a.name - b.name);
    return { groups: list, queues, count: list.reduce((n, g) => n + g.count, 0) };
  }

  // busy is the time between t0 and t1 in which a row has a span, in whatever lane.
  function busy(d, r, t0, t1) {
    if (!r.union) r.union = union(d, r);
    return busyBefore(r.union, t1) - busyBefore(r.union, t0);
  }

  // union has the times from and to which a row is busy, and how long it was before each. Spans of a row come in order of their start.
  function union(d, r) {
    const from = new Float64Array(r.spans), to = new Float64Array(r.spans), sum = new Float64Array(r.spans + 1);
    let n = 0;
    for (let k = r.first; k < r.first + r.spans; k++) {
      const a = d.start[k], b = a + d.dur[k];
      if (n && a <= to[n - 1]) { if (b > to[n - 1]) to[n - 1] = b; continue; }
      from[n] = a;
      to[n++] = b;
    }
    for (let k = 0; k < n; k++) sum[k + 1] = sum[k] + to[k] - from[k];
    return { from: from.slice(0, n), to: to.slice(0, n), sum: sum.slice(0, n + 1) };
  }

  function busyBefore(u, t) {
    let a = 0, b = u.from.length;
    while (a < b) { const m = (a + b) >> 1; if (u.from[m] >= t) b = m; else a = m + 1; }
    return a ? u.sum[a - 1] + Math.min(t, u.to[a - 1]) - u.from[a - 1] : 0;
  }

  // curve calls back with time, lowest and highest value for each pixel of a row of points, from left to right.
  function curve(r, t0, t1, per, point) {
    let a = 0, b = r.time.length;
    while (a < b) { const m = (a + b) >> 1; if (r.time[m] > t0) b = m; else a = m + 1; }
    let k = a, value = a > 0 ? r.value[a - 1] : 0;
    point(t0, value, value, value);
    while (k < r.time.length && r.time[k] < t1) {
      const t = r.time[k], until = (Math.floor(t / per) + 1) * per;
      let low = value, high = value;
      while (k < r.time.length && r.time[k] < until) {
        value = r.value[k++];
        if (value < low) low = value;
        if (value > high) high = value;
      }
      point(t, low, high, value);
    }
    point(Math.min(t1, Infinity), value, value, value);
  }

  function valueAt(r, t) {
    let a = 0, b = r.time.length;
    while (a < b) { const m = (a + b) >> 1; if (r.time[m] > t) b = m; else a = m + 1; }
    return a > 0 ? r.value[a - 1] : 0;
  }

  // time in words, with four digits.
  function time(ns) {
    const a = Math.abs(ns);
    if (a < 1e3) return (Number.isInteger(ns) ? ns : ns.toFixed(1)) + " ns";
    if (a < 1e6) return digits(ns / 1e3) + " µs";
    if (a < 1e9) return digits(ns / 1e6) + " ms";
    return digits(ns / 1e9) + " s";
  }

  function digits(x) { const a = Math.abs(x); return x.toFixed(a < 10 ? 3 : a < 100 ? 2 : 1); }

  function bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let u = 0;
    while (n >= 1024 && u < 4) { n /= 1024; u++; }
    return (u ? digits(n) : n) + " " + units[u];
  }

  // step of a ruler: 1, 2 or 5 times a power of ten, at least `least`.
  function step(least) {
    let s = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
    while (s < least) { if (s * 2 >= least) return s * 2; if (s * 5 >= least) return s * 5; s *= 10; }
    return s;
  }

  return { decode, firstEnding, firstStarting, walk, hit, search, statistics, busy, curve, valueAt, time, bytes, step };
})();
if (typeof module !== "undefined") module.exports = KudzuCore;
