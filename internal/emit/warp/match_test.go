package warp_test

import (
	"strings"
	"testing"
)

// warpMatch stores the lanes with the same digit, of those whose word is not negative, and with the same word.
const warpMatch = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {
.reg .pred %c; .reg .b32 %r<6>; .reg .b64 %p<5>;
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; ld.param.u64 %p2, [z]; mov.u32 %r0, %tid.x; mul.wide.u32 %p3, %r0, 4;
add.u64 %p0, %p0, %p3; add.u64 %p1, %p1, %p3; add.u64 %p2, %p2, %p3;
ld.global.u32 %r1, [%p0]; match.any.sync.b32 %r4, %r1, -1; st.global.u32 [%p2], %r4;
setp.lt.s32 %c, %r1, 0; @%c bra out;
and.b32 %r2, %r1, 0xf0; activemask.b32 %r5; match.any.sync.b32 %r3, %r2, %r5; st.global.u32 [%p1], %r3;
out: ret; }`

// TestMatch: lanes are compared bit by bit where values have few, else one after the other.
func TestMatch(t *testing.T) {
	const n = 64
	x, y, z := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for i := range x {
		x[i] = uint32(i*i*7) & 0xff
		if i%5 == 3 {
			x[i] |= 1 << 31
		}
	}
	block := [3]uint32{n, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, warpMatch, "k"), block, cpu)
		k.launch(t, [3]uint32{1, 1, 1}, block, 0, x, y, z)
		for i := range x {
			var digit, word uint32
			for lane := range 32 {
				other := x[i&^31+lane]
				if x[i]>>31 == 0 && other>>31 == 0 && other&0xf0 == x[i]&0xf0 {
					digit |= 1 << lane
				}
				if other == x[i] {
					word |= 1 << lane
				}
			}
			if y[i] != digit || z[i] != word {
				t.Fatalf("%s %d: %#x, %#x, want %#x, %#x", cpu, i, y[i], z[i], digit, word)
			}
		}
		if loops := strings.Count(k.text, "\nmatch.out"); loops != 1 {
			t.Errorf("%s: %d loops over lanes, want one", cpu, loops)
		}
		clear(y)
		clear(z)
	}
}
