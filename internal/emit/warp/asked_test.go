package warp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// sumsDown adds a warp's floats up by shuffles downwards, merges its means and counts in the same way, and stores what one lane has
// of both, and of all lanes the sum before the last.
func sumsDown(lane int, all bool) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
.reg .f32 %f<16>; .reg .b32 %r<8>; .reg .b64 %p<6>; .reg .pred %q, %c;
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; mov.u32 %r0, %tid.x; mul.wide.u32 %p2, %r0, 4; mul.wide.u32 %p3, %r0, 16;
add.u64 %p0, %p0, %p2; add.u64 %p1, %p1, %p3; ld.global.f32 %f0, [%p0]; mov.f32 %f1, %f0; abs.f32 %f2, %f0; and.b32 %r1, %r0, 31;
mov.u32 %r3, %r1;
`)
	for _, bit := range []int{16, 8, 4, 2, 1} {
		if bit == 1 && all {
			b.WriteString("st.global.f32 [%p1+12], %f0;\n")
		}
		fmt.Fprintf(&b, `shfl.sync.down.b32 %%f3, %%f0, %[1]d, 31, -1; add.f32 %%f0, %%f0, %%f3;
shfl.sync.down.b32 %%f4, %%f1, %[1]d, 31, -1; shfl.sync.down.b32 %%f5, %%f2, %[1]d, 31, -1; add.f32 %%f6, %%f2, %%f5;
setp.gt.f32 %%c, %%f6, 0f00000000; div.rn.f32 %%f7, %%f5, %%f6; selp.f32 %%f7, %%f7, 0f00000000, %%c;
sub.f32 %%f8, %%f4, %%f1; fma.rn.f32 %%f1, %%f8, %%f7, %%f1; mov.f32 %%f2, %%f6;
shfl.sync.up.b32 %%r4, %%r3, %[1]d, 0, -1; max.s32 %%r3, %%r3, %%r4;
`, bit)
	}
	fmt.Fprintf(&b, "setp.eq.u32 %%q, %%r1, %d;\n@%%q st.global.f32 [%%p1], %%f0; @%%q st.global.f32 [%%p1+4], %%f1; @%%q st.global.u32 [%%p1+8], %%r3; ret; }\n", lane)
	return b.String()
}

// TestAskedLanes: what only some lanes are asked for is in these, to the bit, what it would be if all were.
func TestAskedLanes(t *testing.T) {
	const n = 128
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]uint32, n)
	for i := range x {
		x[i] = math.Float32bits(float32(r.NormFloat64()))
		if i >= 96 && i%5 == 0 {
			x[i] = []uint32{0x7fc01234, 0xff800000, 1, 1 << 31, 0x7f7fffff}[i/5%5]
		}
	}
	for _, lane := range []int{0, 1, 3, 6, 12, 31} {
		for _, all := range []bool{false, true} {
			for _, cpu := range cpus {
				k := compile(t, fromPTX(t, sumsDown(lane, all), "k"), [3]uint32{n, 1, 1}, cpu)
				y := make([]uint32, 4*n)
				k.launch(t, [3]uint32{1, 1, 1}, [3]uint32{n, 1, 1}, 0, x, y)
				for w := 0; w < n; w += 32 {
					sum, mean, before := sumDown(x[w : w+32])
					for l := range 32 {
						want := [4]uint32{}
						if l == lane {
							want = [4]uint32{sum[l], mean[l], uint32(l)}
						}
						if all {
							want[3] = before[l]
						}
						if got := [4]uint32(y[4*(w+l):]); got != want {
							t.Fatalf("%s, lane %d asked, all %v: lane %d of warp %d: %#x, want %#x", cpu, lane, all, l, w/32, got, want)
						}
					}
				}
			}
		}
	}
}

// sumDown is what sumsDown's lanes have at the end, and their sums before the last step.
func sumDown(x []uint32) (sum, mean, before []uint32) {
	var s, m, c [32]float32
	for l := range s {
		s[l] = math.Float32frombits(x[l])
		m[l], c[l] = s[l], float32(math.Abs(float64(s[l])))
	}
	bits := func(v [32]float32) []uint32 {
		b := make([]uint32, 32)
		for l := range b {
			if b[l] = math.Float32bits(v[l]); v[l] != v[l] {
				b[l] = 0x7fffffff
			}
		}
		return b
	}
	for _, bit := range []int{16, 8, 4, 2, 1} {
		if bit == 1 {
			before = bits(s)
		}
		os, om, oc := s, m, c
		for l := range s {
			from := l + bit
			if from > 31 {
				from = l
			}
			s[l] = os[l] + os[from]
			total, part := oc[l]+oc[from], float32(0)
			if total > 0 {
				part = oc[from] / total
			}
			m[l], c[l] = float32(math.FMA(float64(om[from]-om[l]), float64(part), float64(om[l]))), total
		}
	}
	return bits(s), bits(m), before
}
