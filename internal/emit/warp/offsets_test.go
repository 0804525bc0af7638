package warp_test

import (
	"strings"
	"testing"
)

// turnedOver puts words and halves into shared memory at addresses that the words choose, reads them back, and counts there; and moves
// words between places whose indices, without a sign, lie on both sides of 2^31.
const turnedOver = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 far, .param .u64 z) {
.shared .align 4 .b8 words[512];
.shared .align 4 .b8 halves[256];
.reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %p<12>;
ld.param.u64 %p0, [x]; ld.param.u64 %p1, [y]; ld.param.u64 %p2, [far]; ld.param.u64 %p3, [z]; mov.u32 %r0, %tid.x; mul.wide.u32 %p4, %r0, 4;
add.u64 %p0, %p0, %p4; add.u64 %p1, %p1, %p4;
ld.global.u32 %r1, [%p0]; and.b32 %r2, %r1, 127;
mov.u64 %p5, words; mul.wide.u32 %p6, %r2, 4; add.s64 %p7, %p5, %p6; st.shared.u32 [%p7], %r0;
mov.u64 %p8, halves; mul.wide.u32 %p9, %r2, 2; add.s64 %p10, %p8, %p9; cvt.u16.u32 %h0, %r1; st.shared.u16 [%p10], %h0;
bar.sync 0;
ld.shared.u32 %r3, [%p7]; add.u32 %r3, %r3, %r1; st.shared.u32 [%p7], %r3;
ld.shared.u16 %h1, [%p10]; add.u16 %h1, %h1, 3; st.shared.u16 [%p10], %h1;
bar.sync 0;
xor.b32 %r4, %r2, 1; mul.wide.u32 %p6, %r4, 4; add.s64 %p7, %p5, %p6; ld.shared.u32 %r5, [%p7];
mul.wide.u32 %p9, %r4, 2; add.s64 %p10, %p8, %p9; ld.shared.u16 %h2, [%p10]; cvt.u32.u16 %r6, %h2; shl.b32 %r6, %r6, 16; xor.b32 %r5, %r5, %r6;
st.global.u32 [%p1], %r5;
add.u32 %r7, %r2, 0x7fffffc0; mul.wide.u32 %p6, %r7, 4; add.s64 %p7, %p2, %p6; ld.global.u32 %r8, [%p7];
xor.b32 %r7, %r2, 5; add.u32 %r7, %r7, 0x7fffffc0; mul.wide.u32 %p6, %r7, 4; add.s64 %p7, %p3, %p6; st.global.u32 [%p7], %r8;
ret; }`

// TestOffsets: the low halves of offsets are all that gathers and scatters need, and an index without a sign is one with a sign.
func TestOffsets(t *testing.T) {
	const n = 128
	block := [3]uint32{n, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, turnedOver, "k"), block, cpu)
		x, y, far, z := make([]uint32, n), make([]uint32, n), make([]uint32, n), make([]uint32, n)
		for i := range x {
			x[i] = uint32(i*77+13)&127 | uint32(i*i)<<8
			far[i] = uint32(i) * 2654435761
		}
		const below = 4 * 0x7fffffc0
		k.launch(t, [3]uint32{1, 1, 1}, block, 0, x, y, address(far)-below, address(z)-below)
		words, halves := make([]uint32, n), make([]uint16, n)
		for i, v := range x {
			words[v&127], halves[v&127] = uint32(i)+v, uint16(v)+3
		}
		for i, v := range x {
			at := v & 127
			if want := words[at^1] ^ uint32(halves[at^1])<<16; y[i] != want {
				t.Fatalf("%s: y[%d] = %#x, not %#x", cpu, i, y[i], want)
			}
			if z[at^5] != far[at] {
				t.Fatalf("%s: z[%d] = %#x, not %#x", cpu, at^5, z[at^5], far[at])
			}
		}
		if cpu == "" && (strings.Contains(k.text, "masked.scatter") || strings.Contains(k.text, "masked.gather")) {
			t.Error("64-bit addresses of words")
		}
	}
}
