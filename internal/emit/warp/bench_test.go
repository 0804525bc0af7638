package warp_test

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// The benchmarks run on one thread; compare them with native loops compiled for the same machine.

func bench(b *testing.B, name string, block, grid [3]uint32, bytes int64, args ...any) {
	k := compile(b, fromPTX(b, source(b, "basic.ptx"), name), block, "")
	time(b, k.prepare(grid, block, 0, args...), bytes)
}

func time(b *testing.B, run func() uint32, bytes int64) {
	run()
	b.SetBytes(bytes)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ResetTimer()
	start := threadTime()
	for i := 0; i < b.N; i++ {
		run()
	}
	b.ReportMetric(float64(threadTime()-start)/float64(b.N), "cpu-ns/op")
}

// threadTime is this thread's processor time: other work on the machine does not count.
func threadTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

func BenchmarkSaxpyCache(b *testing.B) {
	const n = 8192
	x, y := make([]float32, n), make([]float32, n)
	bench(b, "saxpy", [3]uint32{256, 1, 1}, [3]uint32{n / 256, 1, 1}, 12*n, int32(n), float32(0.5), x, y)
}

// BenchmarkSaxpyGeneric is the variant for blocks of any shape.
func BenchmarkSaxpyGeneric(b *testing.B) {
	const n = 8192
	x, y := make([]float32, n), make([]float32, n)
	k := compile(b, fromPTX(b, source(b, "basic.ptx"), "saxpy"), [3]uint32{}, "")
	time(b, k.prepare([3]uint32{n / 256, 1, 1}, [3]uint32{256, 1, 1}, 0, int32(n), float32(0.5), x, y), 12*n)
}

func BenchmarkSaxpyMemory(b *testing.B) {
	const n = 1 << 24
	x, y := make([]float32, n), make([]float32, n)
	bench(b, "saxpy", [3]uint32{256, 1, 1}, [3]uint32{n / 256, 1, 1}, 12*n, int32(n), float32(0.5), x, y)
}

func BenchmarkMatmul32(b *testing.B) {
	const n = 512
	x, y, z := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	bench(b, "matmul32", [3]uint32{32, 32, 1}, [3]uint32{n / 32, n / 32, 1}, 2*n*n*n, int32(n), x, y, z)
}

func BenchmarkMatmul16(b *testing.B) {
	const n = 512
	x, y, z := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	bench(b, "matmul16", [3]uint32{16, 16, 1}, [3]uint32{n / 16, n / 16, 1}, 2*n*n*n, int32(n), x, y, z)
}

func BenchmarkMandel(b *testing.B) {
	const w = 512
	out := make([]int32, w*w)
	bench(b, "mandel", [3]uint32{256, 1, 1}, [3]uint32{w / 256, w, 1}, w*w, int32(w), int32(w), int32(256), out)
}

func BenchmarkReduce(b *testing.B) {
	const n = 1 << 20
	x, out := make([]float32, n), make([]float32, n/256)
	bench(b, "reduce", [3]uint32{256, 1, 1}, [3]uint32{256, 1, 1}, 4*n, int32(n), x, out)
}

func BenchmarkTree(b *testing.B) {
	const n = 1 << 20
	x, out := make([]float32, n), make([]float32, n/256)
	bench(b, "tree", [3]uint32{256, 1, 1}, [3]uint32{n / 256, 1, 1}, 4*n, int32(n), x, out)
}

func BenchmarkHistogram(b *testing.B) {
	const n = 1 << 20
	x, out := make([]byte, n), make([]uint32, 256)
	for i := range x {
		x[i] = byte(uint32(i) * 2654435761 >> 24)
	}
	bench(b, "histogram", [3]uint32{256, 1, 1}, [3]uint32{64, 1, 1}, n, int32(n), x, out)
}

func BenchmarkStencil(b *testing.B) {
	const w = 1024
	x, y := make([]float32, w*w), make([]float32, w*w)
	bench(b, "stencil", [3]uint32{256, 1, 1}, [3]uint32{w / 256, w, 1}, 8*w*w, int32(w), int32(w), x, y)
}

func BenchmarkNbody(b *testing.B) {
	const n = 4096
	p, out := make([]float32, 4*n), make([]float32, 4*n)
	for i := range p {
		p[i] = float32(i*i%97) / 97
	}
	bench(b, "nbody", [3]uint32{256, 1, 1}, [3]uint32{n / 256, 1, 1}, n*n, int32(n), p, out)
}

func BenchmarkSpmv(b *testing.B) {
	const n, per = 1 << 16, 16
	row := make([]int32, n+1)
	col := make([]int32, n*per)
	val, x, y := make([]float32, n*per), make([]float32, n), make([]float32, n)
	for i := range col {
		col[i] = int32(uint32(i) * 2654435761 >> 16)
	}
	for i := range row {
		row[i] = int32(i * per)
	}
	bench(b, "spmv", [3]uint32{128, 1, 1}, [3]uint32{n / 128, 1, 1}, n*per*8, int32(n), row, col, val, x, y)
}
