package warp_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// warpFolds folds floats and integers over a warp in one order of the bits, and over eighths of it.
func warpFolds(order []int) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
.reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %p<6>;
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; mov.u32 %r0, %tid.x; mul.wide.u32 %p2, %r0, 4; mul.wide.u32 %p3, %r0, 24;
add.u64 %p0, %p0, %p2; add.u64 %p1, %p1, %p3;
ld.global.f32 %f0, [%p0]; abs.f32 %f1, %f0; mov.b32 %r1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
`)
	for i, bit := range order {
		fmt.Fprintf(&b, "shfl.sync.bfly.b32 %%f4, %%f1, %d, 31, -1; max.f32 %%f1, %%f1, %%f4;\n", bit)
		fmt.Fprintf(&b, "shfl.sync.bfly.b32 %%r2, %%r1, %d, 31, -1; add.u32 %%r1, %%r2, %%r1;\n", bit)
		fmt.Fprintf(&b, "shfl.sync.bfly.b32 %%f4, %%f2, %d, 31, -1; add.rn.f32 %%f2, %%f2, %%f4;\n", bit)
		fmt.Fprintf(&b, "mov.b32 %%r3, %%f3; shfl.sync.bfly.b32 %%r4, %%r3, %d, 31, -1; mov.b32 %%f4, %%r4; min.f32 %%f3, %%f4, %%f3;\n", bit)
		if i == 2 {
			b.WriteString("st.global.f32 [%p1], %f1; st.global.f32 [%p1+4], %f2;\n")
		}
	}
	b.WriteString("st.global.f32 [%p1+8], %f1; st.global.u32 [%p1+12], %r1; st.global.f32 [%p1+16], %f2; st.global.f32 [%p1+20], %f3; ret; }\n")
	return b.String()
}

// TestFolds: what lanes agree on is computed once, and is to the bit what each lane would compute.
func TestFolds(t *testing.T) {
	const n = 128
	block := [3]uint32{n, 1, 1}
	x := make([]uint32, n)
	for i := range x {
		x[i] = uint32(i*2654435761)>>4 | uint32(i)<<31
	}
	for i, v := range []uint32{0, 1 << 31, 0x7f800001, 0xffc00000, 0x7f800000, 1, 1<<31 | 1} {
		x[64+5*i%32] = v
	}
	for i := range 32 {
		x[96+i] = uint32(i%2) << 31 // zeros of both signs
	}
	float := func(f func(a, b float32) float32) func(a, b uint32) uint32 {
		return func(a, b uint32) uint32 {
			r := f(math.Float32frombits(a), math.Float32frombits(b))
			if r != r {
				return 0x7fffffff
			}
			return math.Float32bits(r)
		}
	}
	sum := float(func(a, b float32) float32 { return a + b })
	larger := func(a, b uint32) uint32 { return extreme(a, b, true) }
	smaller := func(a, b uint32) uint32 { return extreme(a, b, false) }
	for _, order := range [][]int{{16, 8, 4, 2, 1}, {1, 2, 4, 8, 16}, {4, 16, 1, 8, 2}} {
		for _, cpu := range cpus {
			k := compile(t, fromPTX(t, warpFolds(order), "k"), block, cpu)
			y := make([]uint32, 6*n)
			k.launch(t, [3]uint32{1, 1, 1}, block, 0, x, y)
			want := func(steps int, first func(uint32) uint32, f func(a, b uint32) uint32) []uint32 {
				v := make([]uint32, n)
				for i := range v {
					v[i] = first(x[i])
				}
				for _, bit := range order[:steps] {
					next := make([]uint32, n)
					for i := range v {
						next[i] = f(v[i], v[i^bit])
					}
					v = next
				}
				return v
			}
			as := func(x uint32) uint32 { return x }
			abs := func(x uint32) uint32 { return x &^ (1 << 31) }
			for at, w := range [][]uint32{want(3, abs, larger), want(3, as, sum), want(5, abs, larger), want(5, as, func(a, b uint32) uint32 { return a + b }), want(5, as, sum), want(5, as, smaller)} {
				for i := range w {
					if y[6*i+at] != w[i] {
						t.Fatalf("%s %v: number %d of thread %d: %#x, want %#x", cpu, order, at, i, y[6*i+at], w[i])
					}
				}
			}
			// Sums of 16, 8, 4 and 2 lanes, and one of one.
			for _, of := range []string{"<16 x float>", "<8 x float>", "<4 x float>", "<2 x float>", "float"} {
				if !strings.Contains(k.text, "fadd "+of) {
					t.Errorf("%s %v: no sum of %s", cpu, order, of)
				}
			}
			if strings.Contains(k.text, "fadd <32 x float>") {
				t.Errorf("%s %v: a sum of all lanes", cpu, order)
			}
			// Magnitudes have no -0: of the two kinds only minima look for zeros.
			if c := strings.Count(k.text, "fcmp oeq <16 x float>"); c != strings.Count(k.text, "fcmp olt <16 x float>") {
				t.Errorf("%s %v: %d tests for zeros", cpu, order, c)
			}
		}
	}
}
