package cublaslt

import (
	"os"
	"sync"
	"testing"

	"kudzu/internal/shim/again"
	"kudzu/internal/shim/cublas"
)

// TestChecked: products with all that may follow them are done again and found to be near enough; with a bit turned in D, each is found to
// differ.
func TestChecked(t *testing.T) {
	x := newBench(t)
	defer again.Use(nil)
	rounds := 60
	if os.Getenv(interpreted) != "" {
		rounds = 14
	}
	for _, plant := range []func(*again.Call, []again.Span) func(){nil, again.Fault} {
		var mu sync.Mutex
		same, differs, skipped := 0, 0, 0
		var one again.Result
		again.Use(&again.Checker{Plant: plant, Tell: func(r *again.Result) {
			mu.Lock()
			defer mu.Unlock()
			if r.Library != "cuBLASLt" {
				return // the product alone, which cuBLAS's tests have
			}
			switch {
			case r.Skipped != "":
				skipped++
			case r.Differs():
				differs++
			default:
				same++
			}
			if r.Skipped != "" || r.Differs() == (plant == nil) {
				one = *r
			}
		}})
		for i := range rounds {
			x.round(i)
		}
		if want := [2]bool{plant == nil, plant != nil}; [2]bool{same > 0, differs > 0} != want || skipped > 0 {
			t.Errorf("fault %v: %d are the same, %d differ, %d were skipped: %+v", plant != nil, same, differs, skipped, one)
		}
	}
}

// TestMask: a bit that the order of sums decides says nothing of the others in its byte.
func TestMask(t *testing.T) {
	p := &plan{m: 20}
	before := func(_, i, _ int64) cublas.Number {
		return cublas.Number{V: complex(float64(i%3-1), 0), Size: 1, N: 4} // -1, 0, 1, ...
	}
	for i, want := range []cublas.Number{{V: 36, Open: 0x92}, {V: 73, Open: 0x24}, {V: 2, Open: 9}, {}} {
		if got := p.mask(0, int64(i), 0, before); got != want {
			t.Errorf("byte %d: %+v, want %+v", i, got, want)
		}
	}
}
