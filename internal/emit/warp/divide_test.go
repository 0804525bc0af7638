package warp_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// divides is a kernel that divides two integers a thread, 256 threads a block; by names the divisor where it is a constant.
func divides(op, typ, by string) string {
	bytes := 8
	if typ[1:] == "32" {
		bytes = 4
	}
	if by == "" {
		by = "%b"
	}
	return fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {
.reg .b%[1]d %%a, %%b, %%c; .reg .b32 %%t<4>; .reg .b64 %%p<8>;
ld.param.u64 %%p0, [x]; ld.param.u64 %%p1, [y]; ld.param.u64 %%p2, [z];
mov.u32 %%t0, %%tid.x; mov.u32 %%t1, %%ctaid.x; mad.lo.u32 %%t2, %%t1, 256, %%t0; mul.wide.u32 %%p3, %%t2, %[2]d;
add.u64 %%p0, %%p0, %%p3; add.u64 %%p1, %%p1, %%p3; add.u64 %%p2, %%p2, %%p3;
ld.global.b%[1]d %%a, [%%p0]; ld.global.b%[1]d %%b, [%%p1];
%[3]s.%[4]s %%c, %%a, %[5]s;
st.global.b%[1]d [%%p2], %%c;
ret; }`, 8*bytes, bytes, op, typ, by)
}

// quotient is what the hardware gives: all ones by zero, and the least number by -1 wraps.
func quotient(op, typ string, x, y uint64) uint64 {
	signed, rem := typ[0] == 's', op == "rem"
	switch {
	case y == 0:
		return ^uint64(0)
	case signed && int64(y) == -1 && rem:
		return 0
	case signed && int64(y) == -1:
		return -x
	case signed && rem:
		return uint64(int64(x) % int64(y))
	case signed:
		return uint64(int64(x) / int64(y))
	case rem:
		return x % y
	}
	return x / y
}

// numbers are integers of all sizes, near powers of two and their negatives, and at random.
func numbers(n int, seed uint64) []uint64 {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]uint64, n)
	for i := range list {
		x := r.Uint64() >> r.IntN(64)
		switch r.IntN(4) {
		case 0:
			x = 1<<r.IntN(64) + uint64(r.IntN(3)) - 1
		case 1:
			x = -x
		}
		list[i] = x
	}
	return list
}

func TestDivide(t *testing.T) {
	const n = 16384
	x, y := numbers(n, 1), numbers(n, 2)
	for i := 0; i < n; i += 3 { // products and what is next to them, where a quotient changes
		x[i] = y[i]*(x[i]>>32) + uint64(i%5) - 2
	}
	copy(x, []uint64{1<<64 - 1, 1 << 63, 1 << 63, 1<<64 - 1, 0, 1<<63 - 1, 1<<64 - 1})
	copy(y, []uint64{1, 1<<64 - 1, 1, 1<<64 - 1, 0, 1<<63 - 1, 1 << 63})
	block := [3]uint32{256, 1, 1}
	for _, op := range []string{"div", "rem"} {
		for _, typ := range []string{"u64", "s64", "u32", "s32"} {
			for _, by := range []string{"", "10", "1000000007", "64", "-7"} {
				if by == "-7" && typ[0] == 'u' {
					continue
				}
				for _, cpu := range cpus {
					t.Run(op+typ+by+cpu, func(t *testing.T) {
						checkDivide(t, compile(t, fromPTX(t, divides(op, typ, by), "k"), block, cpu), op, typ, by, x, y)
					})
				}
			}
		}
	}
}

// checkDivide runs the kernel on pairs of numbers and compares.
func checkDivide(t *testing.T, k *kernel, op, typ, by string, x, y []uint64) {
	n := len(x)
	grid, block := [3]uint32{uint32(n / 256), 1, 1}, [3]uint32{256, 1, 1}
	var divisor int64
	fmt.Sscanf(by, "%d", &divisor)
	check := func(i int, x, y, got uint64) {
		if by != "" {
			y = uint64(divisor)
		}
		want := quotient(op, typ, x, y)
		if typ[1:] == "32" {
			want = uint64(uint32(want))
		}
		if got != want {
			t.Fatalf("%d: %#x by %#x: %#x, want %#x", i, x, y, got, want)
		}
	}
	if typ[1:] == "64" {
		z := make([]uint64, n)
		k.launch(t, grid, block, 0, x, y, z)
		for i := range z {
			check(i, x[i], y[i], z[i])
		}
		return
	}
	a, b, c := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for i := range a {
		a[i], b[i] = uint32(x[i]), uint32(y[i])
	}
	k.launch(t, grid, block, 0, a, b, c)
	for i := range c {
		x, y := uint64(a[i]), uint64(b[i])
		if typ[0] == 's' {
			x, y = uint64(int32(a[i])), uint64(int32(b[i]))
		}
		check(i, x, y, uint64(c[i]))
	}
}

func BenchmarkDivide(b *testing.B) {
	const n = 4096
	x, y, z := numbers(n, 1), numbers(n, 2), make([]uint64, n)
	block := [3]uint32{256, 1, 1}
	for _, form := range []string{"div.u64", "rem.s64", "div.u64 10", "div.u32", "rem.s32"} {
		for _, cpu := range cpus {
			b.Run(form+cpu, func(b *testing.B) {
				var by string
				fmt.Sscanf(form[7:], "%s", &by)
				k := compile(b, fromPTX(b, divides(form[:3], form[4:7], by), "k"), block, cpu)
				time(b, k.prepare([3]uint32{n / 256, 1, 1}, block, 0, x, y, z), n)
			})
		}
	}
}

// TestRowDivide: indices divided by the length of a row, whole warps in one row and not, at the ends of the numbers, by zero and by
// negative numbers; what is loaded at a quotient, and at a row's number that was loaded, with neighbours inside of the row.
func TestRowDivide(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 how, .param .u64 table, .param .u64 out) {
.reg .b32 %%t<9>; .reg .b64 %%p<9>;
ld.param.u64 %%p0, [how]; ld.param.u64 %%p1, [table]; ld.param.u64 %%p2, [out];
ld.global.u32 %%t0, [%%p0]; ld.global.u32 %%t1, [%%p0+4]; ld.global.u32 %%t2, [%%p0+8]; mov.u32 %%t3, %%tid.x;
mad.lo.u32 %%t4, %%t3, %%t1, %%t0; div.%[1]s %%t5, %%t4, %%t2; rem.%[1]s %%t6, %%t4, %%t2;
mul.wide.u32 %%p3, %%t3, 16; add.u64 %%p2, %%p2, %%p3; st.global.v2.u32 [%%p2], {%%t5, %%t6};
and.b32 %%t7, %%t5, 63; mul.wide.u32 %%p4, %%t7, 4; add.u64 %%p4, %%p1, %%p4; ld.global.u32 %%t7, [%%p4];
div.u32 %%t5, %%t3, 40; mul.wide.u32 %%p4, %%t5, 4; add.u64 %%p4, %%p1, %%p4; ld.global.u32 %%t5, [%%p4];
rem.u32 %%t8, %%t3, 40; mad.lo.u32 %%t5, %%t5, 4, %%t8; mul.wide.u32 %%p4, %%t5, 4; add.u64 %%p4, %%p1, %%p4; ld.global.u32 %%t5, [%%p4];
st.global.v2.u32 [%%p2+8], {%%t7, %%t5};
ret; }`
	const n = 256
	block := [3]uint32{n, 1, 1}
	table := make([]uint32, 512)
	for i := range table {
		table[i] = uint32(i*37+11) % 64
	}
	for _, typ := range []string{"u32", "s32"} {
		for _, cpu := range cpus {
			k := compile(t, fromPTX(t, fmt.Sprintf(text, typ), "k"), block, cpu)
			if !strings.Contains(k.text, "row") {
				t.Errorf("%s %s: quotients of one row are not looked for", typ, cpu)
			}
			for _, from := range []uint32{0, 5, 1 << 20, 1<<31 - 128, 1<<31 - 31, 1 << 31, ^uint32(0) - 255, ^uint32(0) - 40} {
				for _, step := range []uint32{0, 1, 3, ^uint32(0)} {
					for _, d := range []uint32{0, 1, 7, 32, 64, 1000, 1<<31 - 1, 1 << 31, 1<<31 + 1, ^uint32(0), ^uint32(0) - 6} {
						out := make([]uint32, 4*n)
						k.launch(t, [3]uint32{1, 1, 1}, block, 0, []uint32{from, step, d}, table, out)
						for i := range uint32(n) {
							x, y := uint64(from+i*step), uint64(d)
							if typ == "s32" {
								x, y = uint64(int32(x)), uint64(int32(y))
							}
							q := uint32(quotient("div", typ, x, y))
							want := [4]uint32{q, uint32(quotient("rem", typ, x, y)), table[q&63], table[4*table[i/40]+i%40]}
							if got := [4]uint32(out[4*i:]); got != want {
								t.Fatalf("%s %s, lane %d of %d + %d × lane by %d: %d, want %d", typ, cpu, i, from, step, d, got, want)
							}
						}
					}
				}
			}
		}
	}
}
