package warp_test

import (
	"fmt"
	"strings"
	"testing"
)

// bytesKernel stores, for each line of code that makes %d from %a and %b, a row of 64 results.
func bytesKernel(lines []string) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pd)
{
	.reg .b32 %t, %a, %b, %d, %x, %y, %z;
	.reg .b16 %h, %g;
	.reg .f32 %f, %e;
	.reg .b64 %pa, %pb, %pd, %o;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	mul.wide.u32 %o, %t, 4;
	ld.param.u64 %pa, [pa];
	ld.param.u64 %pb, [pb];
	ld.param.u64 %pd, [pd];
	add.u64 %pa, %pa, %o;
	add.u64 %pb, %pb, %o;
	add.u64 %pd, %pd, %o;
	ld.global.b32 %a, [%pa];
	ld.global.b32 %b, [%pb];
`)
	for i, l := range lines {
		fmt.Fprintf(&b, "\t%s\n\tst.global.b32 [%%pd+%d], %%d;\n", l, 256*i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// runBytes compares every line with what it should give.
func runBytes(t *testing.T, lines []string, want func(line int, a, b uint32) uint32) {
	t.Helper()
	block := [3]uint32{64, 1, 1}
	text := bytesKernel(lines)
	for v, shape := range variants(block) {
		for _, cpu := range cpus {
			t.Run(v+cpu, func(t *testing.T) {
				k := compile(t, fromPTX(t, text, "k"), shape, cpu)
				a, b := make([]uint32, 64), make([]uint32, 64)
				x := uint32(12345)
				for i := range a {
					x = x*1664525 + 1013904223
					a[i] = x ^ x>>13
					x = x*1664525 + 1013904223
					b[i] = x ^ x>>11
				}
				a[0], b[0], a[1], b[1], a[2], b[2] = 0, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x00800080
				d := make([]uint32, 64*len(lines))
				if r := k.launch(t, [3]uint32{1, 1, 1}, block, 0, a, b, d); r != 0 {
					t.Fatal("stopped:", r)
				}
				for l := range lines {
					for i := range a {
						if got, w := d[64*l+i], want(l, a[i], b[i]); got != w {
							t.Fatalf("%s of %#x, %#x = %#x, not %#x", lines[l], a[i], b[i], got, w)
						}
					}
				}
			})
		}
	}
}

// TestPrmtKnown is prmt with selectors that are known when the kernel is compiled.
func TestPrmtKnown(t *testing.T) {
	sels := []uint32{0x3210, 0x7654, 0xba98, 0xfedc, 0x5410, 0x7632, 0x0123, 0x3b1a, 0x8888, 0x4f30, 0x9009, 0x6420, 0x1234ba98}
	var lines []string
	for _, s := range sels {
		lines = append(lines, fmt.Sprintf("prmt.b32 %%d, %%a, %%b, %d;", s))
	}
	lines = append(lines, "and.b32 %x, %a, 252645135; prmt.b32 %d, %x, %b, 47768;") // signs of nibbles
	runBytes(t, lines, func(l int, a, b uint32) uint32 {
		if l == len(sels) {
			return 0
		}
		var d uint32
		for i := range 4 {
			s := sels[l] >> (4 * i) & 15
			x := uint32((uint64(b)<<32 | uint64(a)) >> (8 * (s & 7)) & 0xff)
			if s&8 != 0 {
				x = x >> 7 * 0xff
			}
			d |= x << (8 * i)
		}
		return d
	})
}

// TestSmallProducts is products whose factors are known to have 16 bits or a little more.
func TestSmallProducts(t *testing.T) {
	s16 := func(x uint32) uint32 { return uint32(int32(int16(x))) }
	dot := func(a, b uint32) (sum uint32) {
		for i := range 4 {
			sum += uint32(int32(int8(a>>(8*i))) * int32(int8(b>>(8*i))))
		}
		return sum
	}
	rows := []struct {
		code string
		want func(a, b uint32) uint32
	}{
		{"and.b32 %x, %a, 252645135; dp4a.s32.s32 %x, %x, %b, 0; and.b32 %y, %b, 63; mul.lo.s32 %d, %x, %y;",
			func(a, b uint32) uint32 { return dot(a&0x0f0f0f0f, b) * (b & 63) }},
		{"cvt.u16.u32 %h, %a; cvt.s32.s16 %x, %h; and.b32 %y, %b, 32767; mul.lo.s32 %d, %x, %y;", func(a, b uint32) uint32 { return s16(a) * (b & 32767) }},
		{"cvt.u16.u32 %h, %a; cvt.s32.s16 %x, %h; cvt.u16.u32 %g, %b; cvt.s32.s16 %y, %g; mul.lo.s32 %d, %x, %y;", func(a, b uint32) uint32 { return s16(a) * s16(b) }},
		{"and.b32 %x, %a, 65535; and.b32 %y, %b, 32767; mul.lo.s32 %d, %x, %y;", func(a, b uint32) uint32 { return (a & 65535) * (b & 32767) }},
		{"dp4a.s32.s32 %x, %a, %b, 0; and.b32 %y, %b, 255; mul.lo.s32 %d, %x, %y;", func(a, b uint32) uint32 { return dot(a, b) * (b & 255) }},
		{"and.b32 %x, %a, 32767; sub.s32 %x, %x, %b; and.b32 %y, %b, 255; mul.lo.s32 %d, %x, %y;", func(a, b uint32) uint32 { return (a&32767 - b) * (b & 255) }},
		{"and.b32 %x, %a, 255; and.b32 %z, %b, 255; sub.s32 %x, %x, %z; and.b32 %y, %b, 255; mul.lo.s32 %d, %x, %y;",
			func(a, b uint32) uint32 { return (a&255 - b&255) * (b & 255) }},
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, r.code)
	}
	runBytes(t, lines, func(l int, a, b uint32) uint32 { return rows[l].want(a, b) })
}

// TestHalfWords is what is done on numbers of 16 bits from memory.
func TestHalfWords(t *testing.T) {
	const load = "ld.global.u16 %h, [%pa]; cvt.u32.u16 %x, %h; ld.global.u16 %g, [%pb+2]; cvt.u32.u16 %y, %g; "
	rows := []struct {
		code string
		want func(x, y uint32) uint32
	}{
		{"and.b32 %z, %x, 49344; shr.u32 %z, %z, 2; and.b32 %y, %y, 3855; or.b32 %d, %y, %z;", func(x, y uint32) uint32 { return x&49344>>2 | y&3855 }},
		{"xor.b32 %d, %x, 305419896;", func(x, y uint32) uint32 { return x ^ 0x12345678 }},
		{"and.b32 %d, %x, -256;", func(x, y uint32) uint32 { return x &^ 255 }},
		{"shr.u32 %d, %x, 16;", func(x, y uint32) uint32 { return 0 }},
		{"shr.s32 %d, %x, 3;", func(x, y uint32) uint32 { return x >> 3 }},
		{"setp.gt.u32 %p, %a, %b; selp.b32 %z, %x, %y, %p; shr.u32 %z, %z, 4; xor.b32 %d, %z, %y;", nil}, // below, with all bits
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, load+r.code)
	}
	runBytes(t, lines, func(l int, a, b uint32) uint32 {
		x, y := a&0xffff, b>>16
		switch {
		case rows[l].want != nil:
			return rows[l].want(x, y)
		case a > b:
			return x>>4 ^ y
		}
		return y>>4 ^ y
	})
}

// TestExchangedNaNs is numbers that lanes give each other as bits: canonical where they are seen, untouched where they come from memory.
func TestExchangedNaNs(t *testing.T) {
	const swap = "mov.b32 %x, %f; shfl.sync.bfly.b32 %x, %x, 1, 31, -1; "
	lines := []string{
		"or.b32 %x, %a, 2143289344; mov.b32 %f, %x; add.f32 %f, %f, %f; " + swap + "mov.b32 %f, %x; mov.b32 %d, %f;",                     // seen behind the exchange
		"or.b32 %x, %a, 2143289344; mov.b32 %f, %x; add.f32 %f, %f, %f; " + swap + "mov.b32 %f, %x; add.f32 %f, %f, %f; mov.b32 %d, %f;", // and behind a sum
		"or.b32 %x, %a, 2143289344; mov.b32 %f, %x; add.f32 %f, %f, %f; " + swap + "mov.b32 %d, %x;",                                     // bits
		"or.b32 %x, %a, 2143289345; mov.b32 %f, %x; " + swap + "mov.b32 %f, %x; mov.b32 %x, %f; and.b32 %d, %x, 2143289345;",             // from memory
	}
	runBytes(t, lines, func(l int, a, b uint32) uint32 {
		if l < 3 {
			return 0x7fffffff
		}
		return 0x7fc00001
	})
}
