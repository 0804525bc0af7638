package cufft

import (
	"sync"
	"testing"

	"kudzu/internal/shim/again"
)

// TestChecked: transforms of all kinds, types and layouts are done again and found to be near enough; with a bit turned in what they wrote,
// each is found to differ.
func TestChecked(t *testing.T) {
	defer again.Use(nil)
	for _, plant := range []func(*again.Call, []again.Span) func(){nil, again.Fault} {
		var mu sync.Mutex
		same, differs := 0, 0
		var one again.Result
		again.Use(&again.Checker{Plant: plant, Tell: func(r *again.Result) {
			mu.Lock()
			defer mu.Unlock()
			if bad := r.Skipped != "" || r.Differs(); bad {
				differs++
			} else {
				same++
			}
			if r.Skipped != "" || r.Differs() == (plant == nil) {
				one = *r
			}
		}})
		TestShapes(t)
		TestHalves(t)
		TestLayouts(t)
		if found := [2]bool{same > 100, differs > 100}; found != [2]bool{plant == nil, plant != nil} || plant == nil && differs > 0 || plant != nil && same > 0 {
			t.Errorf("fault %v: %d are the same, %d differ: %+v", plant != nil, same, differs, one)
		}
	}
}
