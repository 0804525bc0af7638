package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// raking is a kernel whose threads go over words of shared memory, `words` neighbours each and `step` apart: the first loop sums them up, the
// second puts the sum so far in place of each. Behind it thread i writes every 64th word from i on. The words may be halves.
func raking(words, step, size int) string {
	var sum, scan strings.Builder
	for i := range words {
		fmt.Fprintf(&sum, "ld.shared.u%d %%v, [%%r+%d]; add.u32 %%s, %%s, %%v;\n", 8*size, size*i)
		fmt.Fprintf(&scan, "ld.shared.u%[1]d %%v, [%%r+%[2]d]; st.shared.b%[1]d [%%r+%[2]d], %%s; add.u32 %%s, %%s, %%v;\n", 8*size, size*i)
	}
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.shared .align 16 .b8 a[%[1]d];
.reg .pred %%p; .reg .b32 %%t<4>, %%r, %%s, %%v, %%b; .reg .b64 %%p<6>;
ld.param.u64 %%p0, [in]; ld.param.u64 %%p1, [out]; mov.u32 %%t0, %%tid.x; mov.u32 %%b, a;
mov.u32 %%t1, %%t0;
fill: mul.wide.u32 %%p2, %%t1, 4; add.u64 %%p3, %%p0, %%p2; ld.global.u32 %%v, [%%p3]; shl.b32 %%t2, %%t1, 2; add.u32 %%t2, %%t2, %%b; st.shared.u32 [%%t2], %%v;
add.u32 %%t1, %%t1, 64; setp.lt.u32 %%p, %%t1, %[2]d; @%%p bra fill;
bar.sync 0;
mad.lo.u32 %%r, %%t0, %[3]d, %%b; mov.u32 %%s, 0;
%[4]s
%[5]s
bar.sync 0;
mov.u32 %%t1, %%t0;
show: mul.wide.u32 %%p2, %%t1, 4; add.u64 %%p3, %%p1, %%p2; shl.b32 %%t2, %%t1, 2; add.u32 %%t2, %%t2, %%b; ld.shared.u32 %%v, [%%t2]; st.global.u32 [%%p3], %%v;
add.u32 %%t1, %%t1, 64; setp.lt.u32 %%p, %%t1, %[2]d; @%%p bra show;
ret; }`, 64*step, 16*step, step, sum.String(), scan.String())
}

// TestRowsOfLanes: neighbouring words of a thread are whole vectors, read and written.
func TestRowsOfLanes(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	for _, c := range []struct {
		words, step int
		rows        bool
	}{{16, 64, true}, {15, 68, true}, {8, 32, true}, {20, 80, true}, {7, 64, false}} {
		t.Run(fmt.Sprint(c.words, c.step), func(t *testing.T) {
			k := compile(t, fromPTX(t, raking(c.words, c.step, 4), "k"), block, "")
			in, out, want := make([]uint32, 16*c.step), make([]uint32, 16*c.step), make([]uint32, 16*c.step)
			for i := range in {
				in[i] = uint32(i*i%977) + 1
			}
			copy(want, in)
			for i := range 64 {
				var s uint32
				at := want[i*c.step/4:][:c.words]
				for _, x := range at {
					s += x
				}
				for j, x := range at {
					at[j] = s
					s += x
				}
			}
			k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out)
			for i := range want {
				if out[i] != want[i] {
					t.Fatalf("word %d: %d, want %d", i, out[i], want[i])
				}
			}
			alone := strings.Count(k.text, "store i32 %") // words that are stored one by one
			if avx512 := strings.Contains(k.text, `"prefer-vector-width"="512"`); avx512 && (alone < 300) != c.rows {
				t.Errorf("%d words are stored one by one", alone)
			}
		})
	}
}

// TestRowsOfHalves: neighbouring halves of a thread are whole vectors too, of words in pairs.
func TestRowsOfHalves(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	for _, c := range []struct {
		halves, step int
		rows         bool
	}{{16, 32, true}, {17, 36, true}, {14, 64, false}} {
		t.Run(fmt.Sprint(c.halves, c.step), func(t *testing.T) {
			k := compile(t, fromPTX(t, raking(c.halves, c.step, 2), "k"), block, "")
			in, out, want := make([]uint32, 16*c.step), make([]uint32, 16*c.step), make([]uint16, 32*c.step)
			for i := range in {
				in[i] = uint32(i*i%977)*65539 + 1
				want[2*i], want[2*i+1] = uint16(in[i]), uint16(in[i]>>16)
			}
			for i := range 64 {
				var s uint16
				at := want[i*c.step/2:][:c.halves]
				for _, x := range at {
					s += x
				}
				for j, x := range at {
					at[j] = s
					s += x
				}
			}
			k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out)
			for i, x := range out {
				if x != uint32(want[2*i])|uint32(want[2*i+1])<<16 {
					t.Fatalf("word %d: %#x, want %#x %#x", i, x, want[2*i], want[2*i+1])
				}
			}
			alone := strings.Count(k.text, "store i16 %") // halves that are stored one by one
			if avx512 := strings.Contains(k.text, `"prefer-vector-width"="512"`); avx512 && (alone < 300) != c.rows {
				t.Errorf("%d halves are stored one by one", alone)
			}
		})
	}
}

// TestScatter: of lanes at one address the last one's value stays, in global and in shared memory, with all lanes or some.
func TestScatter(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 at, .param .u64 out) {
.shared .align 16 .b8 a[512];
.reg .pred %p; .reg .b32 %t<6>, %b; .reg .b64 %p<8>;
ld.param.u64 %p0, [at]; ld.param.u64 %p1, [out]; mov.u32 %t0, %tid.x; mov.u32 %b, a;
mul.wide.u32 %p2, %t0, 4; add.u64 %p3, %p0, %p2; ld.global.u32 %t1, [%p3];
shl.b32 %t2, %t0, 2; add.u32 %t2, %t2, %b; mov.u32 %t3, 0; st.shared.u32 [%t2], %t3; st.shared.u32 [%t2+256], %t3; bar.sync 0;
mul.wide.u32 %p4, %t1, 4; add.u64 %p5, %p1, %p4; add.u32 %t4, %t0, 1000; st.global.u32 [%p5], %t4;
mad.lo.u32 %t5, %t1, 4, %b; st.shared.u32 [%t5], %t4;
setp.gt.u32 %p, %t1, 20; @!%p bra done; add.u32 %t4, %t4, 1000; st.shared.u32 [%t5+256], %t4; st.global.u32 [%p5+256], %t4;
done: bar.sync 0;
ld.shared.u32 %t3, [%t2]; add.u64 %p6, %p1, %p2; st.global.u32 [%p6+512], %t3; ld.shared.u32 %t3, [%t2+256]; st.global.u32 [%p6+768], %t3;
ret; }`
	block := [3]uint32{64, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, text, "k"), block, cpu)
		at, out, want := make([]uint32, 64), make([]uint32, 256), make([]uint32, 256)
		for i := range at {
			at[i] = uint32(i * i % 37)
			want[at[i]], want[128+at[i]] = uint32(i+1000), uint32(i+1000)
			if at[i] > 20 {
				want[64+at[i]], want[192+at[i]] = uint32(i+2000), uint32(i+2000)
			}
		}
		k.launch(t, [3]uint32{1, 1, 1}, block, 0, at, out)
		for i := range want {
			if out[i] != want[i] {
				t.Fatalf("%s word %d: %d, want %d", cpu, i, out[i], want[i])
			}
		}
	}
}

// TestGatherHalves: halves and bytes that lanes choose in shared and in global memory, by an index and by an address.
func TestGatherHalves(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 at, .param .u64 out) {
.shared .align 16 .b8 a[512];
.reg .b32 %t<9>, %b; .reg .b64 %p<8>;
ld.param.u64 %p0, [at]; ld.param.u64 %p1, [out]; mov.u32 %t0, %tid.x; mov.u32 %b, a;
mul.wide.u32 %p2, %t0, 4; add.u64 %p3, %p0, %p2; add.u64 %p1, %p1, %p2; ld.global.u32 %t1, [%p3];
shl.b32 %t2, %t0, 2; add.u32 %t2, %t2, %b; st.shared.u32 [%t2], %t1; bar.sync 0;
and.b32 %t3, %t1, 63; mad.lo.u32 %t4, %t3, 2, %b; ld.shared.u16 %t5, [%t4]; ld.shared.u16 %t6, [%t4+6];
mul.wide.s32 %p4, %t3, 2; add.u64 %p5, %p0, %p4; ld.global.u16 %t7, [%p5+2]; add.u32 %t4, %t4, %t3; ld.shared.u8 %t8, [%t4+3];
st.global.u32 [%p1], %t5; st.global.u32 [%p1+256], %t6; st.global.u32 [%p1+512], %t7; st.global.u32 [%p1+768], %t8;
ret; }`
	block := [3]uint32{64, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, text, "k"), block, cpu)
		in, out := make([]uint32, 64), make([]uint32, 256)
		for i := range in {
			in[i] = uint32(i*i+3*i) * 0x01030507
		}
		k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out)
		part := func(byte, bits uint32) uint32 { return in[byte/4] >> (byte % 4 * 8) & (1<<bits - 1) }
		for i, x := range in {
			n := x & 63
			for row, want := range []uint32{part(2*n, 16), part(2*n+6, 16), part(2*n+2, 16), part(3*n+3, 8)} {
				if got := out[64*row+i]; got != want {
					t.Fatalf("%s lane %d row %d: %#x, want %#x", cpu, i, row, got, want)
				}
			}
		}
		if avx512 := strings.Contains(k.text, `"prefer-vector-width"="512"`); avx512 && strings.Contains(k.text, "@llvm.masked.gather") {
			t.Errorf("%s: gathers by pointers", cpu)
		}
	}
}
