package warp_test

import (
	"testing"
	clock "time"
)

// TestMasksAcrossBarriers: LLVM 19 went round for ever on masks that came out of the frame as numbers.
func TestMasksAcrossBarriers(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	for _, b := range variants(block) {
		for _, cpu := range cpus {
			text := emit(t, fromPTX(t, source(t, "masks.ptx"), "masks"), b, cpu).LLVM
			l, done := lib(t), make(chan error, 1)
			go func() { _, err := l.Compile(text, options(l, cpu)); done <- err }()
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
			case <-clock.After(clock.Minute): // it takes a few milliseconds, on a machine with nothing else to do
				t.Fatalf("LLVM does not come to an end for block %v, processor %q", b, cpu)
			}
		}
	}
	each(t, "masks.ptx", "masks", block, func(t *testing.T, k *kernel) {
		in := ints(64, func(i int) int32 { return int32(i * 7 % 32) })
		want := ints(64, func(i int) (r int32) {
			p, q, n := in[i]&1 != 0, in[i]&2 != 0, in[i]>>2
			if q && !p {
				r += 5 * n
			}
			if p || q {
				r += 100 * n
			}
			if p {
				r += 10000
			}
			if q {
				r += 30000
			}
			return r
		})
		out := make([]int32, 64)
		ok(t, k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out))
		compare(t, "out", out, want)
	})
}
