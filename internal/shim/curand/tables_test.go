package curand

import (
	"math"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rand"
)

// TestPoissonTable checks that a histogram and its sums give every value its probability. The last value to fill others takes the error
// of the sum of all.
func TestPoissonTable(t *testing.T) {
	for _, lambda := range []float64{0.001, 0.5, 10, 64, 745, 1999.5} {
		h, s := poisson(lambda), sums(lambda)
		n := float64(len(h.bound))
		got := make([]float64, len(h.bound))
		for j, b := range h.bound {
			own := b - float64(j)/n
			got[j] += own
			got[h.other[j]] += 1/n - own
		}
		first, want := probabilities(lambda)
		if int(h.shift) != first || h.shift != s.shift || len(want) != len(got) {
			t.Fatalf("lambda %g: shifts %d, %d, want %d", lambda, h.shift, s.shift, first)
		}
		total := 0.0
		for j, p := range want {
			if math.Abs(got[j]-p) > 1e-8 {
				t.Errorf("lambda %g: value %d has %g, want %g", lambda, first+j, got[j], p)
			}
			if total += p; math.Abs(s.bound[j]-total) > 1e-12 {
				t.Errorf("lambda %g: the sum at %d is %g, want %g", lambda, first+j, s.bound[j], total)
			}
		}
	}
}

// TestScrambled checks that points in two dimensions stay spread: of 2^10 points of any dimension one lies in each of 2^10 intervals.
func TestScrambled(t *testing.T) {
	for _, width := range []int{32, 64} {
		vectors := scrambled(width)
		for dim := range 50 {
			seen := make([]bool, 1024)
			x := constants(width)[dim]
			for i := range 1024 {
				if i > 0 {
					low := 0
					for i>>low&1 == 0 {
						low++
					}
					x ^= vectors[dim*width+low]
				}
				cell := x >> (width - 10)
				if seen[cell] {
					t.Fatalf("width %d, dimension %d: two points in interval %d", width, dim, cell)
				}
				seen[cell] = true
			}
		}
	}
}

// TestDistribution reads a distribution as a kernel of the device headers does.
func TestDistribution(t *testing.T) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	th := new(Thread)
	v, err := th.CreatePoissonDistribution(10)
	if err != nil {
		t.Fatal(err)
	}
	read := func(at uint64, n int) []uint64 {
		out := make([]uint64, n)
		if err := th.driver().MemcpyDtoH(hostmem.Of(&out[0]), driver.DevPtr(at), uint64(8*n)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	head := read(v, 6)
	shifted := read(head[1], 4)
	histogram := read(shifted[0], 5)
	want := poisson(10)
	if shifted[2] != uint64(want.shift)|uint64(len(want.bound))<<32 || math.Float64frombits(head[4]) != 10 {
		t.Errorf("head %x, shifted %x", head, shifted)
	}
	bounds := read(histogram[0], len(want.bound))
	for j, b := range bounds {
		if math.Float64frombits(b) != want.bound[j] {
			t.Fatalf("bound %d is %g, want %g", j, math.Float64frombits(b), want.bound[j])
		}
	}
	h := rand.CurandDiscreteDistribution_t(v)
	if err := th.DestroyDistribution(h); err != nil {
		t.Error(err)
	}
	if err := th.DestroyDistribution(h); err != notInitialized {
		t.Errorf("destroyed twice: %v", err)
	}
}
