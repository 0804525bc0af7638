package warp_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// mmaKind is one shape of mma.sync for tests and benchmarks: registers of its operands and its accumulator.
type mmaKind struct {
	name, text string
	na, nb, nc int
	float      bool // accumulators are f32
	m, n, k    int
}

var mmaKinds = []mmaKind{
	{"f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, true, 16, 8, 16},
	{"bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, true, 16, 8, 16},
	{"tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, true, 16, 8, 8},
	{"f16acc", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, false, 16, 8, 16},
	{"s8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, false, 16, 8, 32},
	{"u8", "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 4, 2, 4, false, 16, 8, 32},
	{"s4", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 4, 2, 4, false, 16, 8, 64},
}

// mmaLoop is a kernel whose warp multiplies mt × nt tiles, iters times, with operands read in every turn.
func mmaLoop(kd mmaKind, mt, nt int) string {
	var b strings.Builder
	reg := func(t string, n int) string { return fmt.Sprintf("%%%s%d", t, n) }
	list := func(t string, from, n int) string {
		var s []string
		for i := range n {
			s = append(s, reg(t, from+i))
		}
		return "{" + strings.Join(s, ", ") + "}"
	}
	acc, ty := "c", "b32"
	if kd.float {
		ty = "f32"
	}
	fmt.Fprintf(&b, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 ab, .param .u64 out, .param .u32 iters) {\n")
	fmt.Fprintf(&b, ".reg .b32 %%a<%d>; .reg .b32 %%b<%d>; .reg .%s %%c<%d>; .reg .b32 %%r<8>; .reg .b64 %%d<8>; .reg .pred %%p;\n", mt*kd.na, nt*kd.nb, ty, mt*nt*kd.nc)
	fmt.Fprintf(&b, "ld.param.u64 %%d0, [ab]; ld.param.u64 %%d1, [out]; ld.param.u32 %%r0, [iters]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d2, %%r1, 4; add.u64 %%d0, %%d0, %%d2; add.u64 %%d1, %%d1, %%d2;\n")
	for i := range mt * nt * kd.nc {
		fmt.Fprintf(&b, "mov.b32 %s, 0;\n", reg(acc, i))
	}
	fmt.Fprintf(&b, "loop:\n")
	off := 0
	for i := range mt * kd.na {
		fmt.Fprintf(&b, "ld.global.b32 %%a%d, [%%d0+%d];\n", i, off)
		off += 128
	}
	for i := range nt * kd.nb {
		fmt.Fprintf(&b, "ld.global.b32 %%b%d, [%%d0+%d];\n", i, off)
		off += 128
	}
	for i := range mt {
		for j := range nt {
			at := (i*nt + j) * kd.nc
			fmt.Fprintf(&b, "%s %s, %s, %s, %s;\n", kd.text, list(acc, at, kd.nc), list("a", i*kd.na, kd.na), list("b", j*kd.nb, kd.nb), list(acc, at, kd.nc))
		}
	}
	fmt.Fprintf(&b, "sub.u32 %%r0, %%r0, 1; setp.ne.u32 %%p, %%r0, 0; @%%p bra loop;\n")
	for i := range mt * nt * kd.nc {
		fmt.Fprintf(&b, "st.global.%s [%%d1+%d], %s;\n", ty, 128*i, reg(acc, i))
	}
	fmt.Fprintf(&b, "ret;\n}\n")
	return b.String()
}

// BenchmarkMma reports billions of multiplications and additions a second on one core; the peak of f32 arithmetic is 64 a
// cycle with two 512-bit units, of bytes with VNNI 256.
func BenchmarkMma(b *testing.B) {
	for _, kd := range mmaKinds {
		for _, tile := range [][2]int{{1, 1}, {2, 4}, {4, 8}} {
			b.Run(fmt.Sprintf("%s/%dx%d", kd.name, tile[0], tile[1]), func(b *testing.B) {
				const iters = 200
				mt, nt := tile[0], tile[1]
				ab := make([]uint32, 32*(mt*kd.na+nt*kd.nb))
				out := make([]uint32, 32*mt*nt*kd.nc)
				k := compile(b, fromPTX(b, mmaLoop(kd, mt, nt), "k"), [3]uint32{32, 1, 1}, "")
				run := k.prepare([3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, ab, out, uint32(iters))
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				run()
				start := threadTime()
				for range b.N {
					run()
				}
				ns := float64(threadTime()-start) / float64(b.N)
				b.ReportMetric(2*float64(kd.m*kd.n*kd.k*mt*nt*iters)/ns, "GOPS")
				b.ReportMetric(ns/float64(mt*nt*iters), "ns/mma")
			})
		}
	}
}
