package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// rowsKernel has lanes (a power of two) read a row of vectors that follow each other, with a pitch from row to row that nobody knows,
// and store them at places of no order.
func rowsKernel(lanes, n int) string {
	regs := strings.TrimSuffix(strings.Repeat("%a?, ", n), ", ")
	for i := range n {
		regs = strings.Replace(regs, "?", fmt.Sprint(i), 1)
	}
	shift := len(fmt.Sprintf("%b", lanes)) - 1
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 pitch)
{
	.reg .b32 %%t, %%r, %%c, %%p, %%a<4>, %%x;
	.reg .b64 %%in, %%out, %%o;
	ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.param.u32 %%p, [pitch];
	mov.u32 %%t, %%tid.x;
	shr.u32 %%r, %%t, %[1]d; and.b32 %%c, %%t, %[2]d;
	mul.lo.s32 %%x, %%r, %%p; add.s32 %%x, %%x, %%c;
	mul.wide.s32 %%o, %%x, %[3]d; add.s64 %%in, %%in, %%o;
	ld.global.v%[4]d.b32 {%[5]s}, [%%in];
	xor.b32 %%x, %%t, 21; mul.wide.u32 %%o, %%x, %[3]d; add.s64 %%out, %%out, %%o;
	st.global.v%[4]d.b32 [%%out], {%[5]s};
	ret;
}
`, shift, lanes-1, 4*n, n, regs)
}

// TestRowsOfVectors: rows of 64 bytes or more are loaded whole, however many lanes share one; shorter ones are gathered.
func TestRowsOfVectors(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	for _, row := range []struct {
		lanes, n int
		gathers  bool
	}{{4, 4, false}, {8, 4, false}, {8, 2, false}, {16, 2, false}, {2, 4, true}} {
		const pitch = 19 // in vectors
		in := ints(64*pitch*4, func(i int) int32 { return int32(i * 2654435) })
		want := make([]int32, 64*row.n)
		for l := range 64 {
			copy(want[(l^21)*row.n:], in[(l/row.lanes*pitch+l%row.lanes)*row.n:][:row.n])
		}
		for _, cpu := range cpus {
			t.Run(fmt.Sprint(row.lanes, " lanes of ", row.n, cpu), func(t *testing.T) {
				k := compile(t, fromPTX(t, rowsKernel(row.lanes, row.n), "k"), block, cpu)
				got := make([]int32, len(want))
				if r := k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, got, int32(pitch)); r != 0 {
					t.Fatal("stopped:", r)
				}
				compare(t, "rows", got, want)
				if gathers := strings.Contains(k.text, "@llvm.masked.gather"); gathers != row.gathers {
					t.Errorf("gathers: %v", gathers)
				}
			})
		}
	}
}

// TestStoreOver: lanes that store to one row of 8 or 16 places, where only some act: the last one of a place stays. Nothing goes lane by lane.
func TestStoreOver(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 mask) {
.reg .pred %%p; .reg .b32 %%t, %%l, %%c, %%m, %%x, %%w; .reg .b64 %%o, %%d, %%v; .reg .b16 %%h;
ld.param.u64 %%o, [out]; ld.param.u32 %%m, [mask]; mov.u32 %%t, %%tid.x; and.b32 %%l, %%t, 31; shr.u32 %%w, %%t, 5; and.b32 %%c, %%t, %[1]d;
mul.wide.u32 %%d, %%c, %[2]d; add.u64 %%o, %%o, %%d; mul.wide.u32 %%d, %%w, 256; add.u64 %%o, %%o, %%d; add.u32 %%x, %%t, 100; cvt.u16.u32 %%h, %%x; cvt.u64.u32 %%v, %%x;
shr.u32 %%m, %%m, %%l; and.b32 %%m, %%m, 1; setp.eq.u32 %%p, %%m, 0; %[5]s
st.global.u%[3]d [%%o], %[4]s;
done: ret; }`
	block := [3]uint32{64, 1, 1}
	for _, row := range []int{8, 16} {
		for size, value := range map[int]string{1: "%h", 2: "%h", 4: "%x", 8: "%v"} {
			for _, guard := range []string{"@%p bra done;", ""} {
				for _, cpu := range cpus {
					k := compile(t, fromPTX(t, fmt.Sprintf(text, row-1, size, 8*size, value, guard), "k"), block, cpu)
					if guard != "" && !strings.Contains(k.text, "@llvm.masked.store") || strings.Contains(k.text, "lane.") {
						t.Errorf("%d places of %d bytes %s%s: lane by lane", row, size, guard, cpu)
					}
					for _, mask := range []uint32{^uint32(0), 0, 1, 0x80000000, 0x00ff00ff, 0xff00ff00, 0x0f0f0f0f, 0x12345678, 0x00000f00} {
						got, want := make([]byte, 512), make([]byte, 512)
						for i := range 64 {
							if guard == "" || mask>>(i%32)&1 != 0 {
								want[i/32*256+i%row*size] = byte(100 + i)
							}
						}
						ok(t, k.launch(t, [3]uint32{1, 1, 1}, block, 0, got, int32(mask)))
						compare(t, fmt.Sprintf("%d places of %d bytes, mask %x%s", row, size, mask, cpu), got, want)
					}
				}
			}
		}
	}
}
