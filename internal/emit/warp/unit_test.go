package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNarrowUnit: neighbours whose index was divided into coordinates are found by sums of 32 bits; rows that lie apart, negative numbers and
// numbers that wrap are not taken for neighbours.
func TestNarrowUnit(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 how) {
.reg .pred %p; .reg .b32 %t<9>; .reg .b64 %p<9>;
ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out]; ld.param.u64 %p2, [how];
ld.global.u32 %t0, [%p2]; ld.global.u32 %t1, [%p2+4]; ld.global.u32 %t2, [%p2+8]; mov.u32 %t3, %tid.x;
div.u32 %t4, %t3, %t0; rem.u32 %t5, %t3, %t0; mad.lo.s32 %t4, %t4, %t1, %t2;
mul.wide.s32 %p3, %t4, 4; mul.wide.u32 %p4, %t5, 4; add.u64 %p5, %p0, %p3; add.u64 %p5, %p5, %p4; add.u64 %p6, %p1, %p3; add.u64 %p6, %p6, %p4;
setp.eq.u32 %p, %t5, 2; @%p bra done; ld.global.u32 %t6, [%p5+512]; add.u32 %t6, %t6, 1; st.global.u32 [%p6+512], %t6;
done: ret; }`
	block := [3]uint32{64, 1, 1}
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, text, "k"), block, cpu)
		for _, how := range [][]uint32{{64, 0, 0}, {20, 20, 0}, {20, 23, 0}, {7, 7, ^uint32(99)}, {16, 16, ^uint32(15)}, {1, 1, 3}, {20, ^uint32(4), 50}} {
			t.Run(fmt.Sprint(cpu, how), func(t *testing.T) {
				in, out, want := make([]uint32, 512), make([]uint32, 512), make([]uint32, 512)
				for i := range in {
					in[i] = uint32(i*i + 7)
				}
				for i := range uint32(64) {
					if at := int32(i/how[0]*how[1]+how[2]) + int32(i%how[0]) + 128; i%how[0] != 2 {
						want[at] = in[at] + 1
					}
				}
				k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out, how)
				for i := range want {
					if out[i] != want[i] {
						t.Fatalf("word %d: %d, want %d", i, out[i], want[i])
					}
				}
			})
		}
		if strings.Contains(k.text, "icmp eq <32 x i64>") {
			t.Errorf("%s: addresses are compared", cpu)
		}
	}
}

// TestWideUnit: vectors of four words a lane whose distance only the launch knows are right where they are contiguous, apart, backwards
// or all the same, and where lanes are missing.
func TestWideUnit(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 how) {
.reg .pred %p; .reg .b32 %t<9>; .reg .b64 %p<9>;
ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out]; ld.param.u64 %p2, [how];
ld.global.u32 %t0, [%p2]; ld.global.u32 %t1, [%p2+4]; ld.global.u32 %t2, [%p2+8]; mov.u32 %t3, %tid.x;
mad.lo.s32 %t4, %t3, %t0, %t1; mul.wide.s32 %p3, %t4, 16; add.u64 %p4, %p0, %p3; add.u64 %p5, %p1, %p3;
setp.eq.u32 %p, %t3, %t2; @%p bra done;
ld.global.v4.u32 {%t5, %t6, %t7, %t8}, [%p4]; add.u32 %t5, %t5, 1; add.u32 %t7, %t7, 2;
st.global.v4.u32 [%p5], {%t7, %t6, %t5, %t8};
done: ret; }`
	block := [3]uint32{64, 1, 1}
	const all = 99
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, text, "k"), block, cpu)
		if !strings.Contains(k.text, "wide") {
			t.Errorf("%s: contiguous vectors are not looked for", cpu)
		}
		for _, how := range [][]uint32{{1, 0, all}, {1, 5, all}, {1, 0, 3}, {1, 0, 32}, {3, 0, all}, {^uint32(0), 63, all}, {0, 7, all}} {
			t.Run(fmt.Sprint(cpu, how), func(t *testing.T) {
				in, out, want := make([]uint32, 1024), make([]uint32, 1024), make([]uint32, 1024)
				for i := range in {
					in[i] = uint32(i*i + 7)
				}
				for i := range uint32(64) {
					if at := 4 * (i*how[0] + how[1]); i != how[2] {
						want[at], want[at+1], want[at+2], want[at+3] = in[at+2]+2, in[at+1], in[at]+1, in[at+3]
					}
				}
				k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out, how)
				for i := range want {
					if out[i] != want[i] {
						t.Fatalf("word %d: %d, want %d", i, out[i], want[i])
					}
				}
			})
		}
	}
}

// TestMaskedPairs: pairs that lie behind each other are right where lanes are missing, and with AVX-512 are not gathered.
func TestMaskedPairs(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 how) {
.reg .pred %%p; .reg .b32 %%t<9>; .reg .b64 %%p<9>; .reg .%[1]s %%v<3>;
ld.param.u64 %%p0, [in]; ld.param.u64 %%p1, [out]; ld.param.u64 %%p2, [how];
ld.global.u32 %%t0, [%%p2]; mov.u32 %%t3, %%tid.x;
mul.wide.u32 %%p3, %%t3, %[2]d; add.u64 %%p4, %%p0, %%p3; add.u64 %%p5, %%p1, %%p3;
shr.u32 %%t4, %%t0, %%t3; and.b32 %%t4, %%t4, 1; setp.eq.u32 %%p, %%t4, 0; @%%p bra done;
ld.global.v2.%[1]s {%%v0, %%v1}, [%%p4]; add.%[1]s %%v0, %%v0, 1;
st.global.v2.%[1]s [%%p5], {%%v1, %%v0};
done: ret; }`
	block := [3]uint32{32, 1, 1}
	for _, cpu := range cpus {
		for _, size := range []int{4, 8} {
			k := compile(t, fromPTX(t, fmt.Sprintf(text, fmt.Sprint("u", size*8), 2*size), "k"), block, cpu)
			if avx512 := strings.Contains(k.text, `"prefer-vector-width"="512"`); avx512 && strings.Contains(k.text, "gather") {
				t.Errorf("%s: pairs of %d bytes are gathered", cpu, size)
			}
			for _, mask := range []uint32{0, 1, 1 << 31, 0xfff0, 0x80000001, 0x5a5a5a5a, ^uint32(1), ^uint32(0)} {
				t.Run(fmt.Sprintf("%v/%d/%#x", cpu, size, mask), func(t *testing.T) {
					n := size / 4
					in, out, want := make([]uint32, 64*n), make([]uint32, 64*n), make([]uint32, 64*n)
					for i := range in {
						in[i], out[i], want[i] = uint32(i*i+7), 5, 5
					}
					for l := range 32 {
						if mask>>l&1 == 0 {
							continue
						}
						copy(want[2*l*n:], in[(2*l+1)*n:(2*l+2)*n])
						copy(want[(2*l+1)*n:], in[2*l*n:(2*l+1)*n])
						want[(2*l+1)*n]++
					}
					k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out, []uint32{mask})
					for i := range want {
						if out[i] != want[i] {
							t.Fatalf("word %d: %d, want %d", i, out[i], want[i])
						}
					}
				})
			}
		}
	}
}
