package warp_test

import (
	"strings"
	"testing"
)

// TestAskForLines: the lines of lanes that write where an index says are asked for, with lanes missing too; those of a place that was computed
// are not. Locked operations ask wherever they go, but not for one place.
func TestAskForLines(t *testing.T) {
	const head = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 index, .param .u32 n) {
.reg .pred %p<3>; .reg .b32 %r<30>; .reg .b64 %d<12>;
ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; ld.param.u64 %d5, [index]; ld.param.u32 %r9, [n]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;
setp.ge.u32 %p0, %r0, %r9; @%p0 bra done; add.u64 %d3, %d1, %d2; add.u64 %d6, %d5, %d2; ld.global.u32 %r1, [%d3]; ld.global.u32 %r2, [%d6];
`
	const tail = "\ndone: ret; }"
	block := [3]uint32{64, 1, 1}
	for _, c := range []struct {
		name, body string
		ask        bool
	}{
		{"store", "mul.wide.u32 %d7, %r2, 4; add.u64 %d8, %d0, %d7; st.global.u32 [%d8], %r1;", true},
		{"store of bytes", "mul.wide.u32 %d7, %r2, 4; add.u64 %d8, %d0, %d7; st.global.u8 [%d8], %r1;", true},
		{"computed", "xor.b32 %r3, %r0, 37; mul.lo.u32 %r3, %r3, %r9; and.b32 %r3, %r3, 63; mul.wide.u32 %d7, %r3, 4; add.u64 %d8, %d0, %d7; st.global.u32 [%d8], %r1;", false},
		{"atomic", "mul.wide.u32 %d7, %r2, 4; add.u64 %d8, %d0, %d7; red.global.add.u32 [%d8], %r1;", true},
		{"compare and swap", "mul.wide.u32 %d7, %r2, 4; add.u64 %d8, %d0, %d7; atom.global.cas.b32 %r4, [%d8], 0, %r1;", true},
		{"one place", "red.global.add.u32 [%d0], %r1;", false},
	} {
		for _, cpu := range cpus {
			k := compile(t, fromPTX(t, head+c.body+tail, "k"), block, cpu)
			if got := strings.Contains(k.text, "i32 1, i32 3, i32 1)"); got != c.ask {
				t.Errorf("%s %s: lines are asked for: %v", c.name, cpu, got)
			}
			for _, n := range []uint32{64, 50, 7, 0} {
				out, in, index := make([]uint32, 80), make([]uint32, 64), make([]uint32, 64)
				for i := range in {
					in[i], index[i] = uint32(i+1), uint32(i*29%64)
				}
				ok(t, k.launch(t, [3]uint32{1, 1, 1}, block, 0, out, in, index, int32(n)))
				if !c.ask {
					continue
				}
				want := make([]uint32, 80)
				for i := range n {
					want[index[i]] = in[i]
				}
				compare(t, c.name, out, want)
			}
		}
	}
}
