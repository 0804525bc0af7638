package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// matrix is a kernel that multiplies rows of a matrix, a row a block, with one of several vectors, a vector a row of blocks, which is
// turned into other numbers first: NC is how it is loaded.
const matrix = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 pm, .param .u64 pv, .param .u64 pd, .param .u32 pn)
{
	.reg .b32 %t, %x, %y, %g, %n, %i, %a, %b, %c, %s, %o;
	.reg .b64 %pm, %pv, %pd, %w;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	mov.u32 %x, %ctaid.x;
	mov.u32 %y, %ctaid.y;
	mov.u32 %g, %nctaid.x;
	ld.param.u64 %pm, [pm];
	ld.param.u64 %pv, [pv];
	ld.param.u64 %pd, [pd];
	ld.param.u32 %n, [pn];
	mad.lo.u32 %i, %x, %n, %t;
	mul.wide.u32 %w, %i, 4;
	add.u64 %pm, %pm, %w;
	mul.lo.u32 %i, %n, 3;
	mul.lo.u32 %i, %i, %y;
	mad.lo.u32 %i, %t, 3, %i;
	mul.wide.u32 %w, %i, 4;
	add.u64 %pv, %pv, %w;
	mad.lo.u32 %o, %y, %g, %x;
	mov.u32 %s, 0;
	mov.u32 %i, 0;
loop:
	ld.global.b32 %a, [%pm];
	ld.globalNC.b32 %b, [%pv];
	ld.globalNC.b32 %c, [%pv+8];
	and.b32 %b, %b, 252645135;
	shr.u32 %c, %c, 4;
	xor.b32 %b, %b, %c;
	and.b32 %c, %b, 63;
	mad.lo.u32 %b, %c, 5, %b;
	mul.lo.u32 %a, %a, %b;
	add.u32 %s, %s, %a;
	add.u64 %pm, %pm, 1152;
	add.u64 %pv, %pv, 3456;
	add.u32 %i, %i, 288;
	setp.lt.u32 %p, %i, %n;
	@%p bra loop;
	mad.lo.u32 %o, %o, 288, %t;
	mul.wide.u32 %w, %o, 4;
	add.u64 %pd, %pd, %w;
	st.global.b32 [%pd], %s;
	ret;
}
`

// TestKeep is more iters than are kept, and rows of blocks that read different vectors.
func TestKeep(t *testing.T) {
	for _, nc := range []string{".nc", ""} {
		for _, iters := range []int{1, 3, 7} {
			for _, cpu := range cpus {
				t.Run(fmt.Sprint(nc, iters, cpu), func(t *testing.T) {
					keepRounds(t, nc, iters, cpu)
				})
			}
		}
	}
}

func keepRounds(t *testing.T, nc string, iters int, cpu string) {
	const threads = 288 // nine warps are never jammed
	block := [3]uint32{threads, 1, 1}
	k := compile(t, fromPTX(t, strings.ReplaceAll(matrix, "NC", nc), "k"), block, cpu)
	if !strings.Contains(k.text, "keep.make") {
		t.Fatal("nothing is kept")
	}
	const gx, gy = 5, 3
	n := threads * iters
	x := uint32(1)
	random := func(n int) []uint32 {
		r := make([]uint32, n)
		for i := range r {
			x = x*1664525 + 1013904223
			r[i] = x ^ x>>15
		}
		return r
	}
	m, v, d := random(gx*n), random(gy*n*3+3), make([]uint32, threads*gx*gy)
	if r := k.launch(t, [3]uint32{gx, gy, 1}, block, 0, m, v, d, int32(n)); r != 0 {
		t.Fatal("stopped:", r)
	}
	for i := range d {
		row, col, lane := i/threads%gx, i/threads/gx, i%threads
		want := uint32(0)
		for j := lane; j < n; j += threads {
			at := col*n*3 + 3*j
			b := v[at]&0x0f0f0f0f ^ v[at+2]>>4
			want += m[row*n+j] * (b&63*5 + b)
		}
		if d[i] != want {
			t.Fatalf("d[%d] = %#x, not %#x", i, d[i], want)
		}
	}
}
