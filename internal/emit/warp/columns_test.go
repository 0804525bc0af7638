package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// counting is a kernel of 64 threads, each of which counts the low bits of four numbers in a column of its own of `rows` rows, which are
// `pitch` elements of `size` bytes long; `spare` bytes lie behind the last. It writes what it found before it counted, and the counts.
func counting(rows, pitch, size, spare int) string {
	var zero, count, show strings.Builder
	place := fmt.Sprintf("and.b32 %%d, %%k, %d; mul.lo.u32 %%d, %%d, %d; cvt.u64.u32 %%p2, %%d; add.u64 %%p2, %%p2, %%c;\n", rows-1, pitch*size)
	for i := range rows {
		fmt.Fprintf(&zero, "st.shared.b%d [%%c+%d], %%z;\n", 8*size, i*pitch*size)
	}
	for i := range 4 {
		fmt.Fprintf(&count, "ld.global.u32 %%k, [%%p0+%[1]d];\n%[2]s ld.shared.u%[3]d %%v, [%%p2]; add.u32 %%w, %%v, 1; st.shared.b%[3]d [%%p2], %%w; st.global.u32 [%%p1+%[1]d], %%v;\n", 256*i, place, 8*size)
		fmt.Fprintf(&show, "ld.global.u32 %%k, [%%p0+%[1]d];\n%[2]s ld.shared.u%[3]d %%v, [%%p2]; st.global.u32 [%%p1+%[4]d], %%v;\n", 256*i, place, 8*size, 1024+256*i)
	}
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.shared .align 16 .b8 a[%d];
.reg .b32 %%t, %%k, %%d, %%v, %%w, %%z; .reg .b64 %%p<4>, %%c;
ld.param.u64 %%p0, [in]; ld.param.u64 %%p1, [out]; mov.u32 %%t, %%tid.x; mov.u64 %%c, a; mov.u32 %%z, 0;
mul.wide.u32 %%p3, %%t, %d; add.u64 %%c, %%c, %%p3; mul.wide.u32 %%p3, %%t, 4; add.u64 %%p0, %%p0, %%p3; add.u64 %%p1, %%p1, %%p3;
%s
%s
bar.sync 0;
%s
ret; }`, (rows-1)*pitch*size+64*size+spare, size, zero.String(), count.String(), show.String())
}

// TestColumnsOfLanes: rows of a table in which each thread has its own column are vectors, halves and words, and nothing is gathered.
// Tables of too many rows, of rows that overlap or that end behind the variable are gathered and scattered.
func TestColumnsOfLanes(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	for _, c := range []struct {
		rows, pitch, size, spare int
		vectors                  bool
	}{
		{16, 64, 2, 0, true}, {16, 128, 2, 0, true}, {4, 64, 2, 0, true}, {16, 64, 4, 0, true}, {8, 64, 4, 64, true},
		{32, 64, 2, 0, false}, {16, 64, 2, -2, false},
	} {
		t.Run(fmt.Sprint(c.rows, c.pitch, c.size, c.spare), func(t *testing.T) {
			for _, cpu := range cpus {
				k := compile(t, fromPTX(t, counting(c.rows, c.pitch, c.size, c.spare), "k"), block, cpu)
				in, out, want := make([]uint32, 256), make([]uint32, 512), make([]uint32, 512)
				for i := range in {
					in[i] = uint32(i*i*7+i/5) * 0x01000193 >> (i % 9)
				}
				for l := range 64 {
					had := map[uint32]uint32{}
					for i := range 4 {
						d := in[64*i+l] % uint32(c.rows)
						want[64*i+l] = had[d]
						had[d]++
					}
					for i := range 4 {
						want[256+64*i+l] = had[in[64*i+l]%uint32(c.rows)]
					}
				}
				dynamic := uint32(max(0, -c.spare))
				k.launch(t, [3]uint32{1, 1, 1}, block, dynamic, in, out)
				for i := range want {
					if out[i] != want[i] {
						t.Fatalf("%s word %d: %d, want %d", cpu, i, out[i], want[i])
					}
				}
				gathered := strings.Contains(k.text, "mask.gather") || strings.Contains(k.text, "masked.gather")
				if avx512 := strings.Contains(k.text, `"prefer-vector-width"="512"`); avx512 && gathered == c.vectors {
					t.Errorf("%s: gathered: %v", cpu, gathered)
				}
			}
		})
	}
}

// TestTablesOfWords: up to 32 words that all lanes have in common are looked up by permutations. What is stored between two lookups is seen.
func TestTablesOfWords(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.shared .align 16 .b8 a[%[1]d];
.reg .pred %%p; .reg .b32 %%t, %%k<4>, %%v, %%w; .reg .b64 %%p<5>, %%c;
ld.param.u64 %%p0, [in]; ld.param.u64 %%p1, [out]; mov.u32 %%t, %%tid.x; mov.u64 %%c, a;
mul.wide.u32 %%p3, %%t, 4; add.u64 %%p0, %%p0, %%p3; add.u64 %%p1, %%p1, %%p3;
mul.lo.u32 %%v, %%t, %%t; xor.b32 %%v, %%v, 77; setp.lt.u32 %%p, %%t, %[2]d; add.u64 %%p2, %%c, %%p3; @%%p st.shared.u32 [%%p2], %%v;
bar.sync 0;
ld.global.u32 %%k0, [%%p0]; and.b32 %%k1, %%k0, %[3]d; mul.wide.u32 %%p2, %%k1, 4; add.u64 %%p2, %%c, %%p2; ld.shared.u32 %%v, [%%p2]; st.global.u32 [%%p1], %%v;
shr.u32 %%k0, %%k0, 8; and.b32 %%k1, %%k0, %[3]d; mul.wide.u32 %%p4, %%k1, 4; add.u64 %%p4, %%c, %%p4; ld.shared.u32 %%w, [%%p4]; st.global.u32 [%%p1+256], %%w;
mov.u32 %%w, 5; st.shared.u32 [a], %%w;
ld.shared.u32 %%w, [%%p4]; st.global.u32 [%%p1+512], %%w;
ret; }`
	block := [3]uint32{32, 1, 1}
	for _, n := range []int{4, 16, 32, 64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, cpu := range cpus {
				k := compile(t, fromPTX(t, fmt.Sprintf(text, 4*n, n, n-1), "k"), block, cpu)
				in, out := make([]uint32, 64), make([]uint32, 192)
				for i := range in {
					in[i] = uint32(i*i*7+i/5) * 0x01000193 &^ 0x2020 // the upper half of 64 words is not written
				}
				k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out)
				at := func(i uint32) uint32 { i %= uint32(n); return i*i ^ 77 }
				for l, x := range in[:32] {
					third := at(x >> 8)
					if x>>8%uint32(n) == 0 {
						third = 5
					}
					if out[l] != at(x) || out[64+l] != at(x>>8) || out[128+l] != third {
						t.Fatalf("%s thread %d: %d %d %d, want %d %d %d", cpu, l, out[l], out[64+l], out[128+l], at(x), at(x>>8), third)
					}
				}
				gathered := strings.Contains(k.text, "mask.gather") || strings.Contains(k.text, "masked.gather")
				if avx512 := strings.Contains(k.text, `"prefer-vector-width"="512"`); avx512 && gathered == (n <= 32) {
					t.Errorf("%s: gathered: %v", cpu, gathered)
				}
			}
		})
	}
}
