package warp_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// converts is a kernel that converts one float a thread, 256 threads a block.
func converts(cvt, from, to string) string {
	size := map[string]int{"f32": 4, "f64": 8, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "s32": 4, "u32": 4, "s64": 8, "u64": 8}
	reg := map[int]string{1: "b32", 2: "b16", 4: "b32", 8: "b64"}
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
.reg .%[1]s %%f; .reg .%[2]s %%r; .reg .b32 %%t<4>; .reg .b64 %%p<6>;
ld.param.u64 %%p0, [x]; ld.param.u64 %%p1, [y];
mov.u32 %%t0, %%tid.x; mov.u32 %%t1, %%ctaid.x; mad.lo.u32 %%t2, %%t1, 256, %%t0;
mad.wide.u32 %%p2, %%t2, %[3]d, %%p0; mad.wide.u32 %%p3, %%t2, %[4]d, %%p1;
ld.global.%[1]s %%f, [%%p2];
%[5]s.%[6]s.%[1]s %%r, %%f;
st.global.b%[7]d [%%p3], %%r;
ret; }`, from, reg[size[to]], size[from], size[to], cvt, to, 8*size[to])
}

// edges are floats around the ends of all integer types, and what is none.
func edges() []float64 {
	list := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 0.999, -0.999, 1, -1, 2.5, -2.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e-40, -1e-40, 1e-310, 1e30, -1e30, 1e300, -1e300}
	for _, n := range []int{7, 8, 15, 16, 31, 32, 63, 64} {
		p := math.Ldexp(1, n)
		for _, x := range []float64{p, p - 1, p - 0.5, p + 1, math.Nextafter(p, 0), float64(math.Nextafter32(float32(p), 0)), float64(math.Nextafter32(float32(p), 1e30))} {
			list = append(list, x, -x)
		}
	}
	return list
}

// saturated is x towards zero as an integer of so many bits; NaN is none, as hardware has it.
func saturated(x float64, bits int, signed, double bool) uint64 {
	if x != x {
		if double || bits == 64 {
			return 1 << (bits - 1)
		}
		return 0
	}
	x = math.Trunc(x)
	switch end := math.Ldexp(1, bits); {
	case signed && x >= end/2:
		return 1<<(bits-1) - 1
	case signed && x < -end/2:
		return 1 << (bits - 1)
	case signed:
		return uint64(int64(x)) & (1<<bits - 1)
	case x >= end:
		return 1<<bits - 1
	case x <= 0:
		return 0
	}
	return uint64(x)
}

// TestFloatToInteger: conversions saturate, and are written as vectors where the processor has them.
func TestFloatToInteger(t *testing.T) {
	list := edges()
	single, double := make([]float32, 256), make([]float64, 256)
	for i := range single {
		single[i], double[i] = float32(list[i%len(list)]), list[i%len(list)]
	}
	for _, to := range []string{"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"} {
		for _, cpu := range cpus {
			t.Run("f32"+to+cpu, func(t *testing.T) {
				convertsAll(t, "f32", to, cpu, single, func(i int) float64 { return float64(single[i]) })
			})
			t.Run("f64"+to+cpu, func(t *testing.T) {
				convertsAll(t, "f64", to, cpu, double, func(i int) float64 { return double[i] })
			})
		}
	}
}

// convertsAll converts 256 floats, of which x gives the values.
func convertsAll(t *testing.T, from, to, cpu string, in any, x func(i int) float64) {
	k := compile(t, fromPTX(t, converts("cvt.rzi", from, to), "k"), [3]uint32{256, 1, 1}, cpu)
	var bits int
	fmt.Sscanf(to[1:], "%d", &bits)
	out := make([]byte, 256*8)
	k.launch(t, [3]uint32{1, 1, 1}, [3]uint32{256, 1, 1}, 0, in, out)
	for i := range 256 {
		var got uint64
		for b := range bits / 8 {
			got |= uint64(out[i*bits/8+b]) << (8 * b)
		}
		if want := saturated(x(i), bits, to[0] == 's', from == "f64"); got != want {
			t.Fatalf("%g: %#x, want %#x", x(i), got, want)
		}
	}
	if strings.Contains(k.text, "fptosi.sat") || strings.Contains(k.text, "fptoui.sat") {
		t.Error("not written as vectors")
	}
}

func BenchmarkFloatToInteger(b *testing.B) {
	const n = 4096
	x, y := make([]float64, n), make([]uint64, n)
	for _, from := range []string{"f32", "f64"} {
		for _, to := range []string{"u8", "s32", "u32", "s64", "u64"} {
			for _, cpu := range cpus {
				b.Run(from+to+cpu, func(b *testing.B) {
					block := [3]uint32{256, 1, 1}
					k := compile(b, fromPTX(b, converts("cvt.rzi", from, to), "k"), block, cpu)
					time(b, k.prepare([3]uint32{n / 256, 1, 1}, block, 0, x, y), n)
				})
			}
		}
	}
}
