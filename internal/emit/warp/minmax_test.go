package warp_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// warpMax is a kernel that takes the maximum of two numbers, then over pairs of lanes, and the minimum with a third number.
const warpMax = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {
.reg .f32 %f<6>; .reg .b32 %t; .reg .b64 %p<5>;
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; ld.param.u64 %p2, [z]; mov.u32 %t, %tid.x; mul.wide.u32 %p3, %t, 4;
add.u64 %p0, %p0, %p3; add.u64 %p1, %p1, %p3; add.u64 %p2, %p2, %p3;
ld.global.f32 %f0, [%p0]; ld.global.f32 %f1, [%p1]; max.f32 %f2, %f0, %f1;
shfl.sync.bfly.b32 %f3, %f2, 1, 31, -1; max.f32 %f4, %f2, %f3; min.f32 %f4, %f4, %f1;
st.global.f32 [%p2], %f4; ret; }`

// extreme is the larger or smaller of two numbers as PTX has it: a NaN loses, two are the canonical one, and -0 is less than +0.
func extreme(x, y uint32, larger bool) uint32 {
	a, b := math.Float32frombits(x), math.Float32frombits(y)
	switch {
	case a != a && b != b:
		return 0x7fffffff
	case a != a:
		return y
	case b != b:
		return x
	case a == b && larger:
		return x & y
	case a == b:
		return x | y
	case (a > b) == larger:
		return x
	}
	return y
}

// TestMinMax: maxima of all pairs of edges, and numbers that only pass between lanes are not made canonical on the way.
func TestMinMax(t *testing.T) {
	list := []uint32{0, 1 << 31, 1, 1<<31 | 1, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x00800000, 0x7f7fffff}
	const n = 256
	x, y, z := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for i := range x {
		x[i], y[i] = list[i%len(list)], list[i/len(list)%len(list)]
	}
	block := [3]uint32{n, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, warpMax, "k"), block, cpu)
		k.launch(t, [3]uint32{1, 1, 1}, block, 0, x, y, z)
		for i := range z {
			a, b := extreme(x[i], y[i], true), extreme(x[i^1], y[i^1], true)
			if want := extreme(extreme(a, b, true), y[i], false); z[i] != want {
				t.Fatalf("%s %d: %#x %#x: %#x, want %#x", cpu, i, x[i], y[i], z[i], want)
			}
		}
		if jam := strings.Count(k.text, "fcmp uno") / 4; strings.Count(k.text, "fcmp uno") != 4*jam || strings.Count(k.text, "fcmp oeq") != 3*jam {
			t.Errorf("%s: %d tests for NaN, %d minima and maxima", cpu, strings.Count(k.text, "fcmp uno"), strings.Count(k.text, "fcmp oeq"))
		}
	}
}

// TestMinMaxOfConstants: what is known of a constant, or of a number within bounds, saves tests for NaNs and zeros, and nothing else
// changes.
func TestMinMaxOfConstants(t *testing.T) {
	list := []uint32{0, 1 << 31, 1, 1<<31 | 1, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x00800000, 0x7f7fffff}
	const n = 32
	block := [3]uint32{n, 1, 1}
	x := make([]uint32, n)
	for i := range x {
		x[i] = list[i%len(list)]
	}
	for _, cpu := range cpus {
		for _, c := range []uint32{0, 1 << 31, 1, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00001} {
			text := fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 z) {
.reg .f32 %%f<6>; .reg .b32 %%t; .reg .b64 %%p<5>;
ld.param.u64 %%p0, [x]; ld.param.u64 %%p1, [z]; mov.u32 %%t, %%tid.x; mul.wide.u32 %%p3, %%t, 4;
add.u64 %%p0, %%p0, %%p3; add.u64 %%p1, %%p1, %%p3;
ld.global.f32 %%f0, [%%p0]; min.f32 %%f1, %%f0, 0f%08x; st.global.f32 [%%p1], %%f1;
max.f32 %%f1, %%f0, 0f%08x; st.global.f32 [%%p1+128], %%f1; min.f32 %%f1, 0f%08x, %%f0; st.global.f32 [%%p1+256], %%f1;
max.f32 %%f2, 0f%08x, %%f0; st.global.f32 [%%p1+384], %%f2;
max.f32 %%f3, %%f0, 0fBF800000; min.f32 %%f3, %%f3, 0f3F800000; min.f32 %%f4, %%f3, %%f2; st.global.f32 [%%p1+512], %%f4;
add.f32 %%f3, %%f3, 0f3F800000; st.global.f32 [%%p1+640], %%f3; ret; }`, c, c, c, c)
			k := compile(t, fromPTX(t, text, "k"), block, cpu)
			z := make([]uint32, 6*n)
			k.launch(t, [3]uint32{1, 1, 1}, block, 0, x, z)
			for i, a := range x {
				least, most := extreme(a, c, false), extreme(a, c, true)
				bounded := extreme(extreme(a, 0xbf800000, true), 0x3f800000, false)
				sum := math.Float32bits(math.Float32frombits(bounded) + 1)
				for part, want := range []uint32{least, most, least, most, extreme(bounded, most, false), sum} {
					if got := z[part*n+i]; got != want {
						t.Fatalf("%s: %#x and %#x, part %d: %#x, want %#x", cpu, a, c, part, got, want)
					}
				}
			}
		}
	}
}

// TestBoundedIsNumber: a number between constants is no NaN, nor a zero's rival, nor is what is computed of it.
func TestBoundedIsNumber(t *testing.T) {
	text := `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {
.reg .f32 %f<4>; .reg .b32 %t; .reg .b64 %p<3>;
ld.param.u64 %p0, [x]; mov.u32 %t, %tid.x; mul.wide.u32 %p1, %t, 4; add.u64 %p0, %p0, %p1; ld.global.f32 %f0, [%p0];
max.f32 %f1, %f0, 0f00000000; min.f32 %f1, %f1, 0f3F800000; fma.rm.f32 %f2, %f1, 0f437C0000, 0f4B400001; st.global.f32 [%p0], %f2; ret; }`
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, text, "k"), [3]uint32{32, 1, 1}, cpu)
		if strings.Contains(k.text, "fcmp uno") || strings.Contains(k.text, "fcmp oeq") {
			t.Errorf("%s: tests for NaNs or zeros", cpu)
		}
	}
}
