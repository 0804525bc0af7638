// node logic.cjs DATA WANT: the questions of page/core.js, answered from what encode.go wrote and compared with plain loops.
"use strict";
const assert = require("assert"), fs = require("fs"), path = require("path");
const C = require(path.join(__dirname, "../page/core.js"));
const d = C.decode(new Uint8Array(fs.readFileSync(process.argv[2])));
const want = JSON.parse(process.argv[3]);

assert.equal(d.n, want.N);
const launches = C.search(d, "LAUNCHkernel");
assert.equal(launches.length, want.Launches);
assert.deepEqual([...launches.slice(0, 5)].map((i) => d.start[i]), want.First);
assert.equal(C.search(d, "  ").length, 0);
assert.equal(C.search(d, "cudaMemcpyHostToDevice").length, 0);
assert(C.search(d, "cudaMemcpyHostToDevice", true).length > 100);

const all = C.statistics(d, 0, d.end);
assert.equal(all.count, d.n);
const kernel = d.kinds.indexOf("kernel");
const sum = (s) => s.groups.filter((g) => g.kind === kernel).reduce((n, g) => n + g.total, 0);
assert.equal(sum(all), want.Time);
const part = C.statistics(d, 3e6, 9e6);
assert.equal(sum(part), want.Inside);
assert.equal(part.queues.find((q) => d.rows[q.row].label === "default stream").busy, want.Inside);
// Lanes that overlap count once.
const over = d.rows.find((r) => r.label === "overlapping"), first = d.start[over.first];
assert(over.lanes.length > 1);
assert.equal(all.queues.find((q) => q.row === over.index).busy, want.Overlap);
assert.equal(C.busy(d, over, first + 140, first + 305), 80 + 5);
assert.equal(C.busy(d, over, first + 220, first + 300), 0);
assert.equal(C.statistics(d, 3e6, 9e6, d.kinds.map((k) => k === "kernel")).groups.filter((g) => g.kind === kernel).length, 0);

// Whatever the scale, every span is drawn once, and not more often than there are pixels.
const queue = d.rows.find((r) => r.label === "default stream"), main = d.rows.find((r) => r.label === "thread 4711 main");
for (const l of [...queue.lanes, ...main.lanes]) {
  for (const pixels of [10, 1500, 1e6]) {
    const per = d.end / pixels;
    let seen = 0, calls = 0, before = -1;
    const see = (i) => { assert(i > before); before = i; };
    C.walk(d, l, 0, d.end + 1, per, (i) => { seen++; calls++; see(i); },
      (a, b, share) => { calls++; seen += b - a; see(l.index[a]); assert(share >= 0 && share <= 1); });
    assert.equal(seen, l.index.length);
    assert(calls <= 3 * pixels + 2, calls + " for " + pixels);
  }
}
for (const t of [0, 1e6, 3.5e6, d.end / 2, d.end]) {
  let plain = 0;
  for (const i of queue.lanes[0].index) plain += Math.max(0, Math.min(t + 1e6, d.start[i] + d.dur[i]) - Math.max(t, d.start[i]));
  assert(Math.abs(C.busy(d, queue, t, t + 1e6) - plain) < 1, "busy at " + t);
}
const some = queue.lanes[0].index[100];
assert.equal(C.hit(d, queue.lanes[0], d.start[some] + d.dur[some] / 2, 0), some);
assert.equal(C.hit(d, queue.lanes[0], d.end * 2, 10), -1);

// A kernel names its launch, and the launch its kernel.
const why = d.cause[some] - 1;
assert.equal(d.names[d.name[why]], "cudaLaunchKernel");
assert([...d.work(why)].includes(some));
assert(d.text(why).includes("blockDim: (256, 1, 1)"));

const memory = d.rows.find((r) => r.points);
let last = -1, high = 0;
C.curve(memory, 0, d.end + 1, d.end / 700, (t, lo, hi) => { assert(t >= last && lo <= hi); last = t; high = Math.max(high, hi); });
assert.equal(high, memory.peak);
assert.equal(C.valueAt(memory, memory.time[3]), memory.value[3]);

assert.equal(C.time(999), "999 ns");
assert.equal(C.time(1234567), "1.235 ms");
assert.equal(C.bytes(3 << 20), "3.000 MiB");
assert.equal(C.step(30), 50);
assert.throws(() => C.decode(new Uint8Array(fs.readFileSync(process.argv[2])).subarray(0, 5000)));
