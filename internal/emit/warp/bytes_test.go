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
