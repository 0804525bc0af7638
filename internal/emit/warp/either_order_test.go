package warp_test

import (
	"math"
	"strings"
	"testing"
)

// orderEither chooses the smaller of two numbers or the larger by the lane: by bits as compilers write it, with a complement and with
// the opposite comparison, and by predicates of integers.
const orderEither = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {
.reg .pred %c<9>; .reg .f32 %f<4>; .reg .b32 %r<8>; .reg .b64 %p<6>;
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; ld.param.u64 %p2, [z]; mov.u32 %r0, %tid.x; mul.wide.u32 %p3, %r0, 4; mul.wide.u32 %p4, %r0, 12;
add.u64 %p0, %p0, %p3; add.u64 %p1, %p1, %p3; add.u64 %p2, %p2, %p4;
ld.global.f32 %f0, [%p0]; ld.global.f32 %f1, [%p1]; mov.b32 %r1, %f0; mov.b32 %r2, %f1;
and.b32 %r3, %r0, 4; setp.eq.s32 %c0, %r3, 0; setp.ne.s32 %c1, %r3, 0;
setp.gt.f32 %c2, %f0, %f1; setp.lt.f32 %c3, %f0, %f1;
and.pred %c4, %c0, %c3; and.pred %c5, %c1, %c2; or.pred %c6, %c5, %c4; selp.f32 %f2, %f0, %f1, %c6; st.global.f32 [%p2], %f2;
setp.ge.f32 %c2, %f0, %f1; setp.ge.f32 %c3, %f1, %f0;
xor.pred %c1, %c0, %c6; not.pred %c4, %c1; and.pred %c5, %c4, %c2; and.pred %c4, %c3, %c1; or.pred %c6, %c5, %c4; selp.f32 %f2, %f0, %f1, %c6; st.global.f32 [%p2+4], %f2;
setp.hi.u32 %c2, %r1, %r2; setp.hi.u32 %c3, %r2, %r1;
not.pred %c4, %c0; and.pred %c5, %c4, %c2; and.pred %c4, %c0, %c3; or.pred %c6, %c4, %c5; selp.b32 %r4, %r1, %r2, %c6; st.global.u32 [%p2+8], %r4;
ret; }`

// TestEitherOrder: one comparison of numbers that are turned over in some lanes is what two comparisons and a choice are.
func TestEitherOrder(t *testing.T) {
	list := []uint32{0, 1 << 31, 1, 1<<31 | 1, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x00800000, 0x7f7fffff}
	const n = 256
	x, y := make([]uint32, n), make([]uint32, n)
	for i := range x {
		x[i], y[i] = list[i%len(list)], list[i/len(list)%len(list)]
	}
	choose := func(c bool, a, b uint32) uint32 {
		if c {
			return a
		}
		return b
	}
	block := [3]uint32{n, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, orderEither, "k"), block, cpu)
		z := make([]uint32, 3*n)
		k.launch(t, [3]uint32{1, 1, 1}, block, 0, x, y, z)
		for i := range x {
			a, b := math.Float32frombits(x[i]), math.Float32frombits(y[i])
			less := i&4 == 0
			first := less && a < b || !less && a > b
			swap := less != first
			want := [3]uint32{choose(first, x[i], y[i]), choose(swap && b >= a || !swap && a >= b, x[i], y[i]), choose(less && y[i] > x[i] || !less && x[i] > y[i], x[i], y[i])}
			if got := [3]uint32(z[3*i : 3*i+3]); got != want {
				t.Fatalf("%s %d: %#x and %#x: %#x, want %#x", cpu, i, x[i], y[i], got, want)
			}
		}
		if strings.Count(k.text, "xor <32 x i32>") < 6 {
			t.Errorf("%s: numbers are not turned over", cpu)
		}
	}
}
