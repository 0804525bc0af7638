package ptx

import (
	"sync"
	"testing"
)

// Modules are parsed and asked about by many goroutines at once; run with -race.
func TestConcurrent(t *testing.T) {
	x, err := IndexModule(sliceModule)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, k := range x.Kernels() {
				m, err := x.Check(k.Name)
				if err != nil {
					t.Error(err)
					return
				}
				m.Position(m.Func(k.Name).Pos)
			}
			if _, err := x.Vars(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
