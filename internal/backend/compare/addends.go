package compare

import (
	"math"

	"kudzu/internal/backend/tap"
	"kudzu/internal/lockrank"
)

// addends counts by address the atomics of a launch that added to a float or changed a value there.
type addends struct {
	mu lockrank.Mutex[lockrank.CompareAddends]
	at map[cell]int // guarded by mu
}

type cell struct{ addr, size uint64 }

// counts is how many atomics changed a value of so many bytes at an offset of a difference.
type counts func(d *tap.Delta, offset, size int) int

func newAddends() *addends { return &addends{at: map[cell]int{}} }

// counter is what a reference calls; nil for nobody.
func (a *addends) counter() func(addr, size uint64) {
	if a == nil {
		return nil
	}
	return func(addr, size uint64) {
		a.mu.Lock()
		a.at[cell{addr, size}]++
		a.mu.Unlock()
	}
}

// in is the counts for differences of an image. An atomic may be of a word that a value is a part of: a pair of f16, or a
// compare-and-swap around one.
func (a *addends) in(im tap.Image) counts {
	if a == nil {
		return nil
	}
	return func(d *tap.Delta, offset, size int) int {
		addr := im[d.At.Region].Base + uint64(d.At.Offset+offset)
		a.mu.Lock()
		defer a.mu.Unlock()
		n := 0
		for s := uint64(size); s <= 8; s *= 2 {
			n += a.at[cell{addr &^ (s - 1), s}]
		}
		return n
	}
}

// summed is how far apart two sums of as many addends may be, in parts of their size. Each addition rounds once, so that n of them are
// at most n units off in either order; errors of many are as often up as down, and grow with the square root.
func (f *format) summed(count counts, d *tap.Delta, at int) float64 {
	if count == nil {
		return 0
	}
	n := float64(count(d, at, f.size))
	return f.unit * min(2*n, 4*math.Sqrt(n))
}
