package warp_test

import (
	"regexp"
	"testing"
)

// TestFrameOnce: what lives across several barriers is stored into the warp's frame before the first of them only, and loaded where it is used.
func TestFrameOnce(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 s[1280];
.visible .entry k(.param .u64 out, .param .u64 in) {
.reg .b32 %r<30>; .reg .b64 %d<9>;
ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.u64 %d3, %d1, %d2; add.u64 %d4, %d0, %d2;
ld.global.u32 %r1, [%d3]; mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3; xor.b32 %r4, %r0, 45; shl.b32 %r4, %r4, 2; mov.u32 %r5, s; add.u32 %r5, %r5, %r4;
st.shared.u32 [%r2], %r1; bar.sync 0;
ld.shared.u32 %r6, [%r5]; bar.sync 0; mul.lo.u32 %r7, %r6, 3; st.shared.u32 [%r2], %r7; bar.sync 0;
ld.shared.u32 %r8, [%r5]; bar.sync 0; mul.lo.u32 %r9, %r8, 5; st.shared.u32 [%r2], %r9; bar.sync 0;
ld.shared.u32 %r10, [%r5]; add.u32 %r10, %r10, %r1; st.global.u32 [%d4], %r10; ret; }`
	block := [3]uint32{320, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, text, "k"), block, cpu)
		// One store for each of the vectors that live across barriers: what was loaded from in, and what was read between two barriers (twice).
		if n := len(regexp.MustCompile(`store <32 x i32> %v\d+, ptr %v\d+, align 64`).FindAllString(k.text, -1)); n != 3 {
			t.Errorf("%s: %d stores into the frame\n%s", cpu, n, k.text)
		}
		in, out, want := make([]uint32, 320), make([]uint32, 320), make([]uint32, 320)
		for i := range in {
			in[i] = uint32(i*i + 7)
		}
		for i := range want {
			want[i] = 15*in[i^45] + in[i]
		}
		ok(t, k.launch(t, [3]uint32{1, 1, 1}, block, 0, out, in))
		compare(t, "out", out, want)
	}
}
