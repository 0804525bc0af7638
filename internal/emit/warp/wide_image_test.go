package warp_test

import (
	"math"
	"strings"
	"testing"
)

// fours computes with vectors of four floats, of which one kernel treats an element as no other, and with pairs of integers.
const fours = `.version 8.0
.target sm_80
.address_size 64
.visible .entry FLOATS(.param .u64 x, .param .u64 y, .param .u64 z, .param .f32 a) {
.reg .f32 %f<20>; .reg .b32 %t<4>; .reg .b64 %p<5>;
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; ld.param.u64 %p2, [z]; ld.param.f32 %f0, [a]; mov.u32 %t0, %tid.x; mul.wide.u32 %p3, %t0, 16;
add.u64 %p0, %p0, %p3; add.u64 %p1, %p1, %p3; add.u64 %p2, %p2, %p3;
ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%p0]; ld.global.v4.f32 {%f5,%f6,%f7,%f8}, [%p1];
sub.f32 %f9, %f1, %f0; sub.f32 %f10, %f2, %f0; sub.f32 %f11, %f3, %f0; sub.f32 %f12, %f4, %f0;
fma.rn.f32 %f13, %f9, %f5, %f1; fma.rn.f32 %f14, %f10, %f6, %f2; fma.rn.f32 %f15, %f11, %f7, %f3; fma.rn.f32 %f16, %f12, %f8, LAST;
max.f32 %f13, %f13, %f5; max.f32 %f14, %f14, %f6; max.f32 %f15, %f15, %f7; max.f32 %f16, %f16, %f8;
st.global.v4.f32 [%p2], {%f13,%f14,%f15,%f16}; ret; }`

const pairs = `.version 8.0
.target sm_80
.address_size 64
.visible .entry PAIRS(.param .u64 x, .param .u64 z) {
.reg .b32 %r<8>; .reg .b32 %t; .reg .b64 %p<5>;
ld.param.u64 %p0, [x]; ld.param.u64 %p2, [z]; mov.u32 %t, %tid.x; mul.wide.u32 %p3, %t, 8; add.u64 %p0, %p0, %p3; add.u64 %p2, %p2, %p3;
ld.global.v2.u32 {%r0,%r1}, [%p0]; mul.lo.u32 %r2, %r0, %r0; mul.lo.u32 %r3, %r1, %r1; xor.b32 %r4, %r2, 77; xor.b32 %r5, %r3, 77;
st.global.v2.u32 [%p2], {%r4,%r5}; ret; }`

// TestWideImage: elements of a lane that all have the same done to them stay where they are in memory's vectors, and are what they would
// be one by one, to a NaN's bits.
func TestWideImage(t *testing.T) {
	const n = 64
	block := [3]uint32{n, 1, 1}
	odd := []uint32{0, 1 << 31, 1, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 0x7fc00000, 0xffc00001, 0x7f800001, 0x00800000, 0x7f7fffff}
	x, y := make([]uint32, 4*n), make([]uint32, 4*n)
	for i := range x {
		x[i], y[i] = math.Float32bits(float32(i*i)/7-99), math.Float32bits(float32(i%13)-5)
		if i%3 == 0 {
			x[i], y[i] = odd[i%len(odd)], odd[i/7%len(odd)]
		}
	}
	const a = 1.25
	for _, cpu := range cpus {
		for last, same := range map[string]bool{"%f4": true, "%f3": false} {
			k := compile(t, fromPTX(t, strings.ReplaceAll(fours, "LAST", last), "FLOATS"), block, cpu)
			z := make([]uint32, 4*n)
			k.launch(t, [3]uint32{1, 1, 1}, block, 0, x, y, z, float32(a))
			for i := range z {
				c := x[i]
				if !same && i%4 == 3 {
					c = x[i-1]
				}
				f := math.Float32frombits
				d := f(x[i]) - a
				v := math.Float32bits(float32(math.FMA(float64(d), float64(f(y[i])), float64(f(c)))))
				if want := extreme(v, y[i], true); z[i] != want {
					t.Fatalf("%s %s: z[%d] = %#x, not %#x", cpu, last, i, z[i], want)
				}
			}
			if inPlace := strings.Count(k.text, "fsub <32 x float>") > 4; inPlace != same {
				t.Errorf("%s %s: images: %v", cpu, last, inPlace)
			}
		}
		k := compile(t, fromPTX(t, pairs, "PAIRS"), block, cpu)
		z := make([]uint32, 2*n)
		k.launch(t, [3]uint32{1, 1, 1}, block, 0, x[:2*n], z)
		for i := range z {
			if want := x[i]*x[i] ^ 77; z[i] != want {
				t.Fatalf("%s: pair %d: %#x, not %#x", cpu, i, z[i], want)
			}
		}
	}
}
