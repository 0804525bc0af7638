package cusparse

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/shim/again"
	"kudzu/internal/spec/sparse"
)

// TestChecked: products are done again and found to be near enough; with a bit turned in what they wrote, each is found to differ.
// TestProducts has CSR, random sequences have CSC and COO, too, and other types.
func TestChecked(t *testing.T) {
	defer again.Use(nil)
	for _, plant := range []func(*again.Call, []again.Span) func(){nil, again.Fault} {
		var mu sync.Mutex
		same, differs := map[string]int{}, map[string]int{}
		var one again.Result
		again.Use(&again.Checker{Plant: plant, Tell: func(r *again.Result) {
			mu.Lock()
			defer mu.Unlock()
			name, _, _ := strings.Cut(r.What, " ")
			count := same
			if r.Skipped != "" || r.Differs() {
				count = differs
			}
			if count[name]++; r.Skipped != "" || r.Differs() == (plant == nil) {
				one = *r
			}
		}})
		r := newRig(t)
		rng := rand.New(rand.NewPCG(1, 2))
		for i, size := range [][3]int{{1, 1, 2}, {5, 7, 3}, {33, 40, 32}, {100, 64, 5}, {40, 50, 13}} {
			a := random(rng, size[0], size[1])
			for op := range operation(2) {
				for _, n := range []int{1, size[2]} {
					r.multiply(rng, a, op, n, i%2 == 0, i%2 == 1)
				}
			}
		}
		part := random(rng, 40, 30) // lines of a larger matrix: entries before them and behind them are not theirs
		part.indices, part.values = append([]int32{3, 4}, append(part.indices, 5)...), append([]float32{1e6, 1e6}, append(part.values, 1e6)...)
		for i := range part.offsets {
			part.offsets[i] += 2
		}
		r.multiply(rng, part, sparse.CUSPARSE_OPERATION_NON_TRANSPOSE, 1, false, false)
		r.multiply(rng, part, sparse.CUSPARSE_OPERATION_NON_TRANSPOSE, 3, false, false)
		for seed := range uint64(12) {
			sequence(t, seed)
		}
		found, other := same, differs
		if plant != nil {
			found, other = differs, same
		}
		if found["SpMV"] < 5 || found["SpMM"] < 5 || len(other) > 0 {
			t.Errorf("fault %v: same %v, different %v: %+v", plant != nil, same, differs, one)
		}
	}
}
