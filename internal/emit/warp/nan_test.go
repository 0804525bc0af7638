package warp_test

import (
	"math"
	"strings"
	"testing"
)

// TestLoadedSums is sums that begin with numbers from memory, of which some are NaNs of any bits: what arithmetic made is canonical, also
// behind another loop, and what nothing was added to is as it was.
func TestLoadedSums(t *testing.T) {
	const begin = "mov.b32 %f, %a; and.b32 %x, %b, 3; "
	const add = "add.f32 %f, %f, %f; sub.u32 %x, %x, 1; "
	lines := []string{
		begin + "A0: " + add + "setp.gt.s32 %p, %x, 0; @%p bra A0; mov.b32 %d, %f;",                                                                              // one and more
		begin + "B0: setp.le.s32 %p, %x, 0; @%p bra B1; " + add + "bra B0; B1: mov.b32 %d, %f;",                                                                  // none and more
		begin + "C0: and.b32 %y, %b, 1; C1: " + add + "sub.u32 %y, %y, 1; setp.ge.s32 %p, %y, 0; @%p bra C1; setp.gt.s32 %p, %x, 0; @%p bra C0; mov.b32 %d, %f;", // two loops
	}
	runBytes(t, lines, func(l int, a, b uint32) uint32 {
		f, x, any := math.Float32frombits(a), int32(b&3), false
		for n := 0; l != 1 && n == 0 || x > 0; n++ {
			turns := 1
			if l == 2 {
				turns = int(b&1) + 1
			}
			for range turns {
				f, any = f+f, true
				x--
			}
		}
		if any && f != f {
			return 0x7fffffff
		}
		if !any {
			return a
		}
		return math.Float32bits(f)
	})
	text := bytesKernel([]string{"mov.b32 %f, %a; mov.u32 %x, 9; A0: " + add + "setp.gt.s32 %p, %x, 0; @%p bra A0; mov.b32 %d, %f;"})
	for _, cpu := range cpus {
		k := compile(t, fromPTX(t, text, "k"), [3]uint32{64, 1, 1}, cpu)
		if n := strings.Count(k.text, "fcmp uno"); n != 1 {
			t.Errorf("%s: %d tests for NaN", cpu, n)
		}
	}
}
