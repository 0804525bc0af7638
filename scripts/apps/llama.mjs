// llama.cpp's CUDA builds through node-llama-cpp's own API, as its users call it.
//
//   node llama.mjs logits cuda|cpu OUT MODEL...   teacher-forced logits, with and without flash attention, into OUT
//   node llama.mjs speed cuda|cpu MODEL [N]       tokens a second: a prompt of 512, then N (32) one by one
//   node llama.mjs first cuda|cpu MODEL [P] [N]   seconds from the start of the process: a prompt of P (128), then N (4) tokens
//   node llama.mjs text cuda|cpu MODEL            sixteen tokens
//   node llama.mjs sizes cuda|cpu MODEL...        batches of every size that has a kernel of its own
//   node llama.mjs record REF OUT                 how far a GPU's OUT is from the CPU backend's REF: the lines of llama.h200.txt
//   node llama.mjs near REF OUT                   a line a file: right if OUT is not farther from REF than rounding takes it
//   node llama.mjs page REF RECORD NAME=OUT...    the page of how far each OUT is from REF; exit 1 if beyond twice the record
//
// The script runs in a folder whose node_modules has node-llama-cpp. scripts/apps/llama.sh does all of it.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const promptLength = 512;
const promptAt = [0, 1, 31, 32, 127, 255, 400, 511]; // positions of the prompt whose logits are compared
const singles = 8; // tokens one by one after it

// threads of the CPU backend for speed and first, THREADS if set. 0, the package's own choice, was tens of times slower on busy
// processors (docs/apps/llama.cpp.md).
const threads = +(process.env.THREADS || os.availableParallelism());

async function start(gpu) {
    const resolve = createRequire(path.join(process.cwd(), "x.js")).resolve;
    const {getLlama, LlamaLogLevel} = await import(pathToFileURL(resolve("node-llama-cpp")));
    const llama = await getLlama({gpu: gpu === "cpu" ? false : "cuda", build: "never", skipDownload: true, logLevel: LlamaLogLevel.warn});
    if (gpu !== "cpu" && llama.gpu !== "cuda") throw new Error("the CUDA build did not load");
    // LIBRARY is the package that must have been taken: it falls back on another without a word.
    const want = process.env.LIBRARY, got = mapped("libggml-cuda");
    if (gpu !== "cpu" && want && !got.includes(want)) throw new Error(`${got} was loaded, not the one of ${want}`);
    return llama;
}

// mapped is the path of a library of this process.
function mapped(name) {
    const line = fs.readFileSync("/proc/self/maps", "utf8").split("\n").find((l) => l.includes(name));
    return line ? line.slice(line.indexOf("/")) : "";
}

// text is the same tokens for every model: no sentence is needed, only something to predict.
function text(n, vocabulary) {
    const out = [];
    for (let i = 0, x = 12345; i < n; i++) {
        x = (x * 1103515245 + 12345) % 2147483648;
        out.push(300 + (x >> 8) % (vocabulary - 300));
    }
    return out;
}

// A row is the logits of every 16th token, then the top token and how far it is from the second: all 32,000 through
// JavaScript take longer than computing them.
const every = 16;

function asking(vocabulary) {
    const tokens = [];
    for (let t = 0; t < vocabulary; t += every) tokens.push(t);
    return {generateNext: {token: true, logits: {filter: {tokens, includeTop: 2}}, options: {temperature: 0}}};
}

function row(result, vocabulary) {
    const n = Math.ceil(vocabulary / every);
    const v = new Float32Array(n + 2).fill(NaN);
    let best = -1, first = -Infinity, second = -Infinity;
    for (const [token, logit] of result.next.logits) {
        if (token % every === 0) v[token / every] = logit;
        if (logit > first) { second = first; first = logit; best = token; } else if (logit > second) second = logit;
    }
    v[n] = best;
    v[n + 1] = first - second;
    return v;
}

async function logits(gpu, out, models) {
    const llama = await start(gpu);
    fs.mkdirSync(out, {recursive: true});
    if (gpu !== "cpu") console.log("library", mapped("libggml-cuda"));
    for (const file of models) {
        const name = path.basename(file, ".gguf");
        const model = await llama.loadModel({modelPath: file, gpuLayers: gpu === "cpu" ? 0 : "max"});
        const vocabulary = model.fileInfo.metadata.llama.vocab_size;
        const tokens = text(promptLength + singles, vocabulary);
        const next = asking(vocabulary);
        for (const flash of [true, false]) {
            const to = path.join(out, `${name}-fa${flash ? 1 : 0}.f32`);
            if (fs.existsSync(to)) continue;
            const t0 = performance.now();
            const context = await model.createContext({contextSize: 1024, batchSize: promptLength, flashAttention: flash, threads: 1});
            const sequence = context.getSequence();
            const rows = [];
            const first = tokens.slice(0, promptLength).map((t, i) => promptAt.includes(i) ? [t, next] : t);
            for (const r of await sequence.controlledEvaluate(first)) if (r?.next) rows.push(row(r, vocabulary));
            const t1 = performance.now();
            for (const t of tokens.slice(promptLength)) rows.push(row((await sequence.controlledEvaluate([[t, next]]))[0], vocabulary));
            if (rows.length !== promptAt.length + singles) throw new Error(`${rows.length} rows`);
            fs.writeFileSync(to + ".part", Buffer.concat(rows.map((r) => Buffer.from(r.buffer))));
            fs.renameSync(to + ".part", to);
            console.log(name, `flash attention ${flash ? "on" : "off"}:`, `prompt ${(t1 - t0).toFixed(0)} ms,`, `${singles} tokens ${(performance.now() - t1).toFixed(0)} ms`);
            await context.dispose();
        }
        await model.dispose();
    }
    process.exit(0); // node-llama-cpp keeps handles open
}

async function speed(gpu, file, n) {
    const llama = await start(gpu);
    const model = await llama.loadModel({modelPath: file, gpuLayers: gpu === "cpu" ? 0 : "max"});
    const tokens = text(2 * promptLength, model.fileInfo.metadata.llama.vocab_size);
    const context = await model.createContext({contextSize: 1024, batchSize: promptLength, flashAttention: true, threads});
    const sequence = context.getSequence();
    const only = {generateNext: {token: true, options: {temperature: 0}}};
    const run = async () => {
        await sequence.clearHistory();
        const c0 = process.cpuUsage(), t0 = performance.now();
        await sequence.controlledEvaluate(tokens.slice(0, promptLength).map((t, i) => i === promptLength - 1 ? [t, only] : t));
        const c1 = process.cpuUsage(c0), t1 = performance.now();
        for (let i = 0; i < n; i++) await sequence.controlledEvaluate([[tokens[promptLength + i], only]]);
        const c2 = process.cpuUsage(c0), t2 = performance.now();
        return [promptLength * 1e3 / (t1 - t0), n * 1e3 / (t2 - t1), (c1.user + c1.system) / 1e3 / promptLength, (c2.user + c2.system - c1.user - c1.system) / 1e3 / n];
    };
    await run(); // compiles, warms caches
    const best = [0, 0, Infinity, Infinity];
    for (let i = 0; i < 3; i++) (await run()).forEach((v, k) => { best[k] = k < 2 ? Math.max(best[k], v) : Math.min(best[k], v); });
    console.log(`${path.basename(file, ".gguf")} ${gpu}: prompt ${best[0].toFixed(1)} tokens/s (${best[2].toFixed(3)} ms of processor a token), ` +
        `generation ${best[1].toFixed(1)} tokens/s (${best[3].toFixed(2)} ms of processor a token)`);
    process.exit(0);
}

async function first(gpu, file, prompt, n) {
    const seconds = () => (performance.now() / 1e3).toFixed(2), at = [];
    const llama = await start(gpu);
    const model = await llama.loadModel({modelPath: file, gpuLayers: gpu === "cpu" ? 0 : "max"});
    const tokens = text(prompt + n, model.fileInfo.metadata.llama.vocab_size);
    const context = await model.createContext({contextSize: 1024, batchSize: 512, flashAttention: true, threads});
    const sequence = context.getSequence();
    const only = {generateNext: {token: true, options: {temperature: 0}}};
    at.push(seconds());
    await sequence.controlledEvaluate(tokens.slice(0, prompt).map((t, i) => i === prompt - 1 ? [t, only] : t));
    at.push(seconds());
    for (const t of tokens.slice(prompt)) await sequence.controlledEvaluate([[t, only]]);
    console.log(`${path.basename(file, ".gguf")} ${gpu}: loaded after ${at[0]} s, prompt of ${prompt} after ${at[1]} s, ${n} tokens after ${seconds()} s`);
    process.exit(0);
}

// compare gives the error of rows b against a. Logits are compared as they are, a constant offset included.
function compare(a, b, width) {
    let error = 0, power = 0, sure = 0, same = 0, wrong = 0;
    const n = a.length / width, count = width - 2;
    for (let i = 0; i < n; i++) {
        const x = a.subarray(i * width, (i + 1) * width), y = b.subarray(i * width, (i + 1) * width);
        let mean = 0, e = 0, p = 0;
        for (let k = 0; k < count; k++) mean += x[k] / count;
        for (let k = 0; k < count; k++) { e += (x[k] - y[k]) ** 2; p += (x[k] - mean) ** 2; }
        error += e;
        power += p;
        if (x[count] === y[count]) same++;
        if (!(x[count + 1] <= 4 * Math.sqrt(e / count))) { sure++; if (x[count] !== y[count]) wrong++; } // a NaN is sure
    }
    return {nmse: error / power, n, same, sure, wrong};
}

const read = (f) => { const b = fs.readFileSync(f); return new Float32Array(b.buffer.slice(b.byteOffset, b.byteOffset + b.length)); };

const head = `<!-- Code generated by scripts/apps/llama.sh from measurements; DO NOT EDIT. -->

# llama.cpp's CUDA builds on Kudzu: logits against the CPU backend

[llama.cpp.md](llama.cpp.md) says what is compared, and what the columns mean. **Bold** numbers exceed their bound.

| model | build | flash attention | batch | NMSE | NMSE of an H200 | same top token | where sure |
|---|---|---|---|---|---|---|---|`;

const rowsOf = promptAt.length + singles;
const batches = [[promptLength, 0, promptAt.length], [1, promptAt.length, rowsOf]]; // size, and which rows are of it

// compareFile gives one comparison a batch size.
function compareFile(ref, mine) {
    const a = read(ref), b = read(mine), width = a.length / rowsOf;
    if (a.length !== b.length) throw new Error(`${mine} has ${b.length} numbers, ${ref} ${a.length}`);
    return batches.map(([batch, from, to]) => ({batch, ...compare(a.subarray(from * width, to * width), b.subarray(from * width, to * width), width)}));
}

const model = (f) => f.replace(/-fa.*/, ""), flash = (f) => f.includes("-fa1") ? "on" : "off";

// files are the results in a folder, types in the order of llama.sh, flash attention first.
function files(dir) {
    const words = (v) => (process.env[v] ?? "").split(" ").filter(Boolean);
    const order = words("ORDER"), only = words("ONLY"), shape = process.env.SHAPE ?? "15M";
    const type = (f) => model(f).replace(/^[^-]*-/, "");
    const rank = (f) => (order.indexOf(type(f)) + 100) % 100;
    const all = fs.readdirSync(dir).filter((f) => f.endsWith(".f32") && f.startsWith(shape + "-") && (!only.length || only.includes(type(f))));
    return all.sort((a, b) => rank(a) - rank(b) || (a < b ? 1 : -1));
}

function record(ref, out) {
    for (const f of files(ref))
        for (const c of compareFile(path.join(ref, f), path.join(out, f))) {
            if (c.wrong) throw new Error(`${f}: another top token where it is sure`);
            console.log(model(f), flash(f), c.batch, c.nmse.toExponential(3));
        }
}

// near tells logits that differ by rounding (the quantisations' normalised errors are 1e-6 to 3e-2) from those of another product (about 1).
function near(ref, out) {
    for (const f of files(ref)) {
        const mine = path.join(out, f), name = `llama/${model(f).replace(/^[^-]*-/, "")}-logits-${flash(f)}`;
        if (!fs.existsSync(mine)) { console.log(name, "failed - not run"); continue; }
        const worst = Math.max(...compareFile(path.join(ref, f), mine).map((c) => c.nmse));
        console.log(name, worst < 0.1 ? "right" : "wrong", 0, `NMSE ${worst.toExponential(1)}`);
    }
}

// bounds are what a GPU was recorded to be off, by model, flash attention and batch size.
function bounds(file) {
    const lines = fs.readFileSync(file, "utf8").split("\n").filter((l) => l && !l.startsWith("#")).map((l) => l.split(" "));
    return new Map(lines.map((w) => [w.slice(0, 3).join(" "), +w[3]]));
}

function page(ref, recorded, columns) {
    const gpu = bounds(recorded), lines = [head];
    let bad = 0;
    for (const f of files(ref))
        for (const [name, dir] of columns) {
            const mine = path.join(dir, f);
            if (!fs.existsSync(mine)) { lines.push(`| ${model(f)} | ${name} | ${flash(f)} | | **not run** | | | |`); bad++; continue; }
            for (const c of compareFile(path.join(ref, f), mine)) {
                const yard = gpu.get(`${model(f)} ${flash(f)} ${c.batch}`) ?? NaN; // not recorded: no bound is kept
                const good = c.wrong === 0 && c.nmse <= Math.max(1e-6, 2 * yard);
                if (!good) bad++;
                const mark = good ? "" : "**";
                lines.push(`| ${model(f)} | ${name} | ${flash(f)} | ${c.batch} | ${mark}${c.nmse.toExponential(1)}${mark} | ${yard.toExponential(1)} | ${c.same}/${c.n} | ${c.sure - c.wrong}/${c.sure} |`);
            }
        }
    console.log(lines.join("\n"));
    process.exit(bad ? 1 : 0);
}

async function generate(gpu, file) {
    const llama = await start(gpu);
    console.log("device", (await llama.getGpuDeviceNames()).join(", ") || "none", "library", path.relative(process.cwd(), mapped("libggml-cuda")));
    const t0 = performance.now();
    const model = await llama.loadModel({modelPath: file, gpuLayers: gpu === "cpu" ? 0 : "max"});
    const context = await model.createContext({contextSize: 512, flashAttention: true});
    const out = [];
    for await (const t of context.getSequence().evaluate(model.tokenize("bada fega kilo mano"), {temperature: 0})) {
        if (!out.length) console.log("first token after", (performance.now() - t0).toFixed(0), "ms");
        out.push(t);
        if (out.length === 16) break;
    }
    console.log(model.detokenize(out));
    if (out.length !== 16) throw new Error(`${out.length} tokens, not 16`);
    process.exit(0);
}

// The sizes of batches at which llama.cpp takes another kernel: products with a vector have one for each of 1 to 8 columns, products of
// matrices one for each width of a tile.
const sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128];

async function everySize(gpu, models) {
    const llama = await start(gpu);
    for (const file of models) {
        const model = await llama.loadModel({modelPath: file, gpuLayers: gpu === "cpu" ? 0 : "max"});
        const tokens = text(128, model.fileInfo.metadata.llama.vocab_size);
        for (const flash of [true, false]) {
            const context = await model.createContext({contextSize: 256, batchSize: 128, flashAttention: flash, threads: 1});
            const sequence = context.getSequence();
            for (const n of sizes) {
                await sequence.clearHistory();
                await sequence.controlledEvaluate(tokens.slice(0, n).map((t, i) => i === n - 1 ? [t, {generateNext: {token: true, options: {temperature: 0}}}] : t));
            }
            await context.dispose();
        }
        console.log(path.basename(file, ".gguf"), `${sizes.length} sizes of batches, with and without flash attention`);
        await model.dispose();
    }
    process.exit(0);
}

const [mode, ...rest] = process.argv.slice(2);
if (mode === "logits") await logits(rest[0], rest[1], rest.slice(2));
else if (mode === "speed") await speed(rest[0], rest[1], +(rest[2] ?? 32));
else if (mode === "first") await first(rest[0], rest[1], +(rest[2] ?? 128), +(rest[3] ?? 4));
else if (mode === "record") record(rest[0], rest[1]);
else if (mode === "near") near(rest[0], rest[1]);
else if (mode === "page") page(rest[0], rest[1], rest.slice(2).map((a) => a.split("=")));
else if (mode === "text") await generate(rest[0], rest[1]);
else if (mode === "sizes") await everySize(rest[0], rest.slice(1));
else { console.error("usage: node llama.mjs logits|speed|first|text|sizes|record|near|page …"); process.exit(2); }
