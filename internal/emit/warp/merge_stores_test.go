package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// copyKernel copies rows of 64 bytes, 4 lanes each, from memory with a pitch to shared memory, element by element from the last on,
// reads 8 x 8 tiles of it and stores these at places of no order. Threads from n on copy nothing.
const copyKernel = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 pitch, .param .u32 n)
{
	.shared .align 16 .b8 s[2048];
	.reg .b32 %t, %r, %c, %p, %n, %a<4>, %x, %sh, %l;
	.reg .b64 %in, %out, %o;
	.reg .pred %q;
	ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %p, [pitch]; ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	mov.u32 %sh, s;
	shr.u32 %r, %t, 2; and.b32 %c, %t, 3;
	mul.lo.s32 %x, %r, %p; add.s32 %x, %x, %c;
	mul.wide.s32 %o, %x, 16; add.s64 %in, %in, %o;
	mul.lo.s32 %x, %r, 80; shl.b32 %c, %c, 4; add.s32 %x, %x, %c; add.s32 %x, %x, %sh;
	setp.ge.u32 %q, %t, %n;
	@%q bra skip;
	ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%in];
	st.shared.b32 [%x+12], %a3;
	st.shared.b32 [%x+8], %a2;
	st.shared.b32 [%x+4], %a1;
	st.shared.b32 [%x], %a0;
skip:
	bar.sync 0;
	and.b32 %l, %t, 15; mul.lo.s32 %x, %l, 80; and.b32 %c, %t, 48; add.s32 %x, %x, %c; add.s32 %x, %x, %sh;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%x];
	mul.lo.s32 %x, %t, 7; and.b32 %x, %x, 63; xor.b32 %x, %x, 5; mul.wide.u32 %o, %x, 4; add.s64 %out, %out, %o;
	st.global.b32 [%out], %a0; st.global.b32 [%out+256], %a1; st.global.b32 [%out+512], %a2; st.global.b32 [%out+768], %a3;
	ret;
}
// orders: lanes overlap, so the second store of a lane's neighbour counts.
.visible .entry orders(.param .u64 out)
{
	.shared .align 16 .b8 s[512];
	.reg .b32 %t, %x, %y;
	.reg .b64 %out, %o;
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %x, s; shl.b32 %y, %t, 2; add.s32 %x, %x, %y;
	mul.wide.u32 %o, %t, 4; add.s64 %out, %out, %o;
	add.s32 %y, %t, 1000;
	st.shared.b32 [%x], %t;
	st.shared.b32 [%x+4], %y;
	bar.sync 0;
	ld.shared.b32 %y, [%x];
	st.global.b32 [%out], %y;
	ret;
}
`

// TestMergedStores: what compilers store word by word is one store of a vector, and tiles whose places are known are loaded whole.
func TestMergedStores(t *testing.T) {
	const pitch = 7 // in vectors
	block := [3]uint32{64, 1, 1}
	in := ints(16*pitch*4, func(i int) int32 { return int32(i * 2654435) })
	for v, shape := range variants(block) {
		for _, cpu := range cpus {
			for _, n := range []int32{64, 50} {
				t.Run(fmt.Sprint(v, cpu, n), func(t *testing.T) {
					k := compile(t, fromPTX(t, copyKernel, "k"), shape, cpu)
					got := make([]int32, 256)
					if r := k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, got, int32(pitch), n); r != 0 {
						t.Fatal("stopped:", r)
					}
					want := copied(in, pitch, int(n))
					if n == 64 || v == "specialised" { // shared memory that nobody wrote is anything
						compareWritten(t, got, want)
					}
				})
			}
			t.Run("orders "+v+cpu, func(t *testing.T) {
				k := compile(t, fromPTX(t, copyKernel, "orders"), shape, cpu)
				got := make([]int32, 64)
				if r := k.launch(t, [3]uint32{1, 1, 1}, block, 0, got); r != 0 {
					t.Fatal("stopped:", r)
				}
				want := ints(64, func(i int) int32 {
					if i%32 == 0 {
						return int32(i)
					}
					return int32(i + 999)
				})
				compare(t, "order", got, want)
			})
		}
	}
}

// copied is what copyKernel stores.
func copied(in []int32, pitch, n int) []int32 {
	shared := make([]int32, 512)
	for l := range n {
		copy(shared[(l/4*80+l%4*16)/4:], in[(l/4*pitch+l%4)*4:][:4])
	}
	want := make([]int32, 256)
	for w := range 2 {
		for l := range 32 {
			at := 32*w + l
			for i := range 4 {
				row := 32*w + 8*i + l/4 // the thread that has the row's address
				word := (row&15*80+row&48)/4 + l%4
				want[(at*7&63^5)+64*i] = shared[word]
			}
		}
	}
	return want
}

// compareWritten compares where want is not zero.
func compareWritten(t *testing.T, got, want []int32) {
	t.Helper()
	for i, w := range want {
		if w != 0 && got[i] != w {
			t.Fatalf("element %d is %d, not %d", i, got[i], w)
		}
	}
}

// TestMergedText: the copy of each of the two jammed warps is 8 loads and 8 stores of 64 bytes, the tiles need no gather, and scattered
// stores no extraction of each lane: only of the rows' addresses, and of the first lane's, which may be all that counts.
func TestMergedText(t *testing.T) {
	m := fromPTX(t, strings.ReplaceAll(copyKernel, "@%q bra skip;", ""), "k")
	text := emit(t, m, [3]uint32{64, 1, 1}, "").LLVM
	if n := strings.Count(text, "store <16 x i32>"); n != 16 {
		t.Errorf("%d stores of rows, not 16", n)
	}
	if n := strings.Count(text, "extractelement"); n > 16+16 {
		t.Errorf("%d elements are taken out of vectors", n)
	}
	if strings.Contains(text, "gather") {
		t.Error("something is gathered")
	}
}
