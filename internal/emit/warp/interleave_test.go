package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// arrays is a kernel whose threads fill an array of eight elements of their own in an order of their own, odd threads only its first
// half again, and write it out: element j of thread i to out[8 i + j]. Its address gets out where escapes is set.
func arrays(bytes int, escapes bool) string {
	out := ""
	if escapes {
		out = "cvta.local.u64 %p6, %p1; st.global.u64 [%p0], %p6;"
	}
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
.local .align 16 .b8 a[%[1]d];
.reg .pred %%p, %%odd; .reg .b32 %%t<9>; .reg .b64 %%p<7>; .reg .b%[4]d %%v, %%w;
ld.param.u64 %%p0, [out]; mov.u64 %%p1, a; mov.u32 %%t0, %%tid.x; %[3]s
mov.u32 %%t1, 0;
fill: mad.lo.u32 %%t2, %%t1, 5, %%t0; and.b32 %%t2, %%t2, 7; mul.lo.u32 %%t3, %%t0, 3; add.u32 %%t3, %%t3, %%t2;
cvt.u%[5]d.u32 %%v, %%t3; mad.wide.u32 %%p2, %%t2, %[2]d, %%p1; st.local.u%[6]d [%%p2], %%v;
add.u32 %%t1, %%t1, 1; setp.lt.u32 %%p, %%t1, 8; @%%p bra fill;
and.b32 %%t4, %%t0, 1; setp.eq.u32 %%odd, %%t4, 1; @!%%odd bra show;
and.b32 %%t5, %%t0, 3; mad.wide.u32 %%p2, %%t5, %[2]d, %%p1; ld.local.u%[6]d %%v, [%%p2]; add.u%[5]d %%v, %%v, 1; st.local.u%[6]d [%%p2], %%v;
st.local.v2.u%[6]d [%%p1+%[7]d], {%%v, %%v}; ld.local.v2.u%[6]d {%%v, %%w}, [%%p1]; st.local.u%[6]d [%%p1+%[2]d], %%v;
show: mov.u32 %%t1, 0; mul.wide.u32 %%p3, %%t0, %[1]d; add.u64 %%p3, %%p3, %%p0;
more: mad.wide.u32 %%p2, %%t1, %[2]d, %%p1; mad.wide.u32 %%p4, %%t1, %[2]d, %%p3; ld.local.u%[6]d %%v, [%%p2]; st.global.u%[6]d [%%p4], %%v;
add.u32 %%t1, %%t1, 1; setp.lt.u32 %%p, %%t1, 8; @%%p bra more;
ret; }`, 8*bytes, bytes, out, max(8*bytes, 16), max(8*bytes, 16), 8*bytes, 2*bytes)
}

// arrayOf is what thread i of arrays writes.
func arrayOf(i uint64) (a [8]uint64) {
	for j := range a {
		a[j] = 3*i + uint64(j)
	}
	if i&1 == 1 {
		v := a[i&3] + 1
		a[i&3], a[2], a[3] = v, v, v
		a[1] = a[0]
	}
	return a
}

// TestLocalArrays: arrays of threads hold what is stored, elements of all lanes side by side or, where the address gets out or warps
// are not full, each thread's in one piece.
func TestLocalArrays(t *testing.T) {
	for _, bytes := range []int{1, 2, 4, 8} {
		for _, threads := range []uint32{64, 48} {
			for _, cpu := range cpus {
				t.Run(fmt.Sprint(bytes, threads, cpu), func(t *testing.T) {
					block := [3]uint32{threads, 1, 1}
					k := compile(t, fromPTX(t, arrays(bytes, false), "k"), block, cpu)
					out := make([]byte, int(threads)*8*bytes)
					k.launch(t, [3]uint32{1, 1, 1}, block, 0, out)
					for i := range uint64(threads) {
						for j, want := range arrayOf(i) {
							var got uint64
							for b := range bytes {
								got |= uint64(out[(int(i)*8+j)*bytes+b]) << (8 * b)
							}
							if want &= 1<<(8*bytes) - 1; got != want {
								t.Fatalf("thread %d, element %d: %d, want %d", i, j, got, want)
							}
						}
					}
				})
			}
		}
	}
}

// TestInterleaved: an index that all lanes have in common is a load of neighbours, unless the address gets out or a warp is not full.
func TestInterleaved(t *testing.T) {
	for _, c := range []struct {
		escapes bool
		threads uint32
		want    bool
	}{{false, 64, true}, {true, 64, false}, {false, 48, false}, {false, 0, false}} {
		code := emit(t, fromPTX(t, arrays(4, c.escapes), "k"), [3]uint32{c.threads, min(c.threads, 1), min(c.threads, 1)}, "avx512").LLVM
		if got := strings.Contains(code, "load <32 x i32>, ptr"); got != c.want {
			t.Errorf("%+v: neighbours are loaded: %v", c, got)
		}
	}
}
