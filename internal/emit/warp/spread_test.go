package warp_test

import (
	"strings"
	"testing"
)

// TestSpreadStores: words of 16 bits, bytes and numbers of 64 bits that lanes store at known distances, with all lanes there and with some
// missing, are where they belong, and where all are there no lane's address is made.
func TestSpreadStores(t *testing.T) {
	const head = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n) {
.reg .pred %p<3>; .reg .b16 %h; .reg .b32 %r<30>; .reg .b64 %d<12>;
ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; ld.param.u32 %r9, [n]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;
setp.ge.u32 %p0, %r0, %r9; @%p0 bra done; add.u64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; mul.wide.u32 %d4, %r0, 32; add.u64 %d5, %d0, %d4;
`
	const tail = "\ndone: ret; }"
	block := [3]uint32{64, 1, 1}
	for _, c := range []struct {
		name, body string
		mask       uint32
	}{
		{"halves", "cvt.u16.u32 %h, %r1; st.global.u16 [%d5], %h;", 0xffff},
		{"bytes", "st.global.u8 [%d5], %r1;", 0xff},
		{"doubles", "cvt.u64.u32 %d6, %r1; st.global.u64 [%d5], %d6;", ^uint32(0)},
		{"words", "st.global.u32 [%d5], %r1;", ^uint32(0)},
	} {
		for _, cpu := range cpus {
			k := compile(t, fromPTX(t, head+c.body+tail, "k"), block, cpu)
			if !strings.Contains(k.text, "every") {
				t.Errorf("%s %s: the lanes are always one by one", c.name, cpu)
			}
			for _, n := range []uint32{64, 50, 32, 7, 0} {
				out, in, want := make([]uint32, 64*8), make([]uint32, 64), make([]uint32, 64*8)
				for i := range in {
					in[i] = uint32(i+1) * 0x01030507
				}
				for i := range n {
					want[i*8] = in[i] & c.mask
				}
				ok(t, k.launch(t, [3]uint32{1, 1, 1}, block, 0, out, in, int32(n)))
				compare(t, c.name, out, want)
			}
		}
	}
}
