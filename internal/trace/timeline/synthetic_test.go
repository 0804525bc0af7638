package timeline

import (
	"fmt"
	"math/rand/v2"
)

// synthetic is a timeline as a program that trains a small network on two streams would leave it, with about n spans.
func synthetic(n int) *Timeline {
	rng := rand.New(rand.NewPCG(1, 2))
	t := &Timeline{Title: "train --epochs 4", Notes: []string{"synthetic", "cpu backend"}}
	row := func(label string, level int, shape Shape) *Row {
		t.Rows = append(t.Rows, Row{Label: label, Level: level, Shape: shape, PID: 4711})
		return &t.Rows[len(t.Rows)-1]
	}
	row("train (4711)", 0, Group)
	row("memory in use, device 0", 1, Curve).Unit = "bytes"
	row("thread 4711 main", 1, Thread).TID = 4711
	row("ranges", 2, Thread)
	row("thread 4712 loader", 1, Thread).TID = 4712
	row("device 0", 1, Group)
	row("default stream", 2, Queue).Device = true
	row("stream copy", 2, Queue).Device = true
	row("compile", 1, Queue)
	memory, main, nvtx, loader := &t.Rows[1], &t.Rows[2], &t.Rows[3], &t.Rows[4]
	queue, copies, compile := &t.Rows[6], &t.Rows[7], &t.Rows[8]
	kernels := []string{"gemm_128x64_nn<float>", "softmax_forward", "layer_norm", "bias_gelu", "adam_step", "reduce_rows"}
	now, device, copier, id, used := int64(1e6), int64(1e6), int64(0), uint64(0), int64(64<<20)
	for i, k := range kernels {
		compile.Spans = append(compile.Spans, Span{Start: now + int64(i)*2e6, Dur: 18e5, Kind: Compile, Name: k, Detail: "tier: baseline"})
	}
	step, began := 0, now
	for t.Len() < n {
		for _, k := range kernels {
			id++
			dur := 2000 + rng.Int64N(3000)
			main.Spans = append(main.Spans,
				Span{Start: now, Dur: dur, Kind: Call, Name: "cudaLaunchKernel", ID: id, Detail: fmt.Sprintf("func: %s\ngridDim: (%d, 1, 1)\nblockDim: (256, 1, 1)\nargs: %#x\nsharedMem: 0\nstream: 0x0\nresult: cudaSuccess", k, 64+step%64, 0x7f0000000000+id*64)},
				Span{Start: now + 500, Dur: dur - 900, Kind: Enqueue, Name: k, Cause: id})
			work := 8000 + rng.Int64N(30000)
			if k[0] == 'g' {
				work *= 4
			}
			device = max(device+200, now+dur+800)
			queue.Spans = append(queue.Spans, Span{Start: device, Dur: work, Kind: Kernel, Name: k, Cause: id, Detail: fmt.Sprintf("grid: (%d, 1, 1)\nblock: (256, 1, 1)\ndynamic shared memory: 0\ntier: optimised", 64+step%64)})
			device += work
			now += dur + 300
		}
		id++
		loader.Spans = append(loader.Spans, Span{Start: now - 4000, Dur: 3500, Kind: Call, Name: "cudaMemcpyAsync", ID: id, Detail: "count: 262144\nkind: cudaMemcpyHostToDevice\nresult: cudaSuccess"})
		copier = max(copier+300, now)
		copies.Spans = append(copies.Spans, Span{Start: copier, Dur: 42000, Kind: Copy, Name: "host → device", Cause: id, Detail: "bytes: 262144"})
		copier += 42000
		if step%16 == 0 {
			id++
			main.Spans = append(main.Spans, Span{Start: now, Dur: max(device-now, 900), Kind: Call, Name: "cudaStreamSynchronize", ID: id, Detail: "stream: 0x0\nresult: cudaSuccess"})
			now = max(now, device) + 2000
			nvtx.Spans = append(nvtx.Spans, Span{Start: began, Dur: now - began, Kind: Range, Name: fmt.Sprintf("step %d", step/16), Color: 1<<24 | 0x7fb069})
			began = now
			used += (rng.Int64N(64) - 28) << 20
			used = max(used, 32<<20)
			memory.Points = append(memory.Points, Point{Time: now, Value: used})
			nvtx.Spans = append(nvtx.Spans, Span{Start: now, Kind: Mark, Name: "loss"})
		}
		step++
	}
	return t
}
