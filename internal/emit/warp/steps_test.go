package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSteps: a lane's four words stored in steps of one, of none, of more and backwards, with lanes missing, and up to the largest signed
// index.
func TestSteps(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 how) {
.reg .pred %%p; .reg .b32 %%t<9>; .reg .b64 %%p<9>;
ld.param.u64 %%p0, [out]; ld.param.u64 %%p1, [how];
ld.global.u32 %%t0, [%%p1]; ld.global.u32 %%t1, [%%p1+4]; ld.global.u32 %%t2, [%%p1+8]; ld.global.u32 %%t8, [%%p1+12]; mov.u32 %%t3, %%tid.x;
mul.wide.u32 %%p8, %%t8, 4; sub.u64 %%p0, %%p0, %%p8;
shl.b32 %%t4, %%t3, 2; mad.lo.u32 %%t5, %%t4, %%t0, %%t1; add.u32 %%t4, %%t4, 100; setp.eq.u32 %%p, %%t3, %%t2; @%%p bra done;
mul.wide.%[1]s %%p3, %%t5, 4; add.u64 %%p4, %%p0, %%p3; st.global.u32 [%%p4], %%t4; add.u32 %%t4, %%t4, 1;
add.u32 %%t6, %%t5, %%t0; mul.wide.%[1]s %%p3, %%t6, 4; add.u64 %%p5, %%p0, %%p3; st.global.u32 [%%p5], %%t4; add.u32 %%t4, %%t4, 1;
add.u32 %%t7, %%t6, %%t0; mul.wide.%[1]s %%p3, %%t7, 4; add.u64 %%p6, %%p0, %%p3; st.global.u32 [%%p6], %%t4; add.u32 %%t4, %%t4, 1;
add.u32 %%t8, %%t7, %%t0; mul.wide.%[1]s %%p3, %%t8, 4; add.u64 %%p7, %%p0, %%p3; st.global.u32 [%%p7], %%t4;
done: ret; }`
	const all = 99
	block := [3]uint32{32, 1, 1}
	for _, typ := range []string{"u32", "s32"} {
		for _, cpu := range cpus {
			k := compile(t, fromPTX(t, fmt.Sprintf(text, typ), "k"), block, cpu)
			if !strings.Contains(k.text, "steps") {
				t.Errorf("%s %s: steps of one are not looked for", typ, cpu)
			}
			// Step, first index, lane that is missing, index of the first word of out.
			for _, how := range [][]uint32{{1, 0, all, 0}, {1, 3, all, 0}, {1, 0, 0, 0}, {1, 0, 17, 0}, {2, 0, all, 0}, {0, 9, all, 0}, {^uint32(0), 300, all, 0}, {1, 1<<31 - 128, all, 1<<31 - 200}} {
				out, want := make([]uint32, 512), make([]uint32, 512)
				for i := range uint32(128) {
					if i/4 != how[2] {
						want[i*how[0]+how[1]-how[3]] = i + 100
					}
				}
				k.launch(t, [3]uint32{1, 1, 1}, block, 0, out, how)
				for i := range want {
					if out[i] != want[i] {
						t.Fatalf("%s %s %d: word %d is %d, want %d", typ, cpu, how, i, out[i], want[i])
					}
				}
			}
		}
	}
}
