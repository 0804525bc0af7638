package orderlock

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Readers and writers never meet, and none is left waiting.
func TestOrderLock(t *testing.T) {
	var o RWLock
	var readers, writers atomic.Int32
	var total [2]int // written by writers only
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				if (g+i)%4 == 0 {
					o.Lock()
					if writers.Add(1) != 1 || readers.Load() != 0 {
						t.Error("a writer is not alone")
					}
					total[i%2]++
					writers.Add(-1)
					o.Unlock()
					continue
				}
				o.RLock()
				readers.Add(1)
				if writers.Load() != 0 {
					t.Error("a reader meets a writer")
				}
				readers.Add(-1)
				o.RUnlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("somebody waits for ever")
	}
	if total[0]+total[1] != 8*2000/4 || o.state.Load() != 0 || o.waiting.Load() != 0 {
		t.Error(total, o.state.Load(), o.waiting.Load())
	}
}

// A writer gets its turn among readers that never all leave, and readers get theirs among writers.
func TestOrderLockFair(t *testing.T) {
	var o RWLock
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				o.RLock()
				time.Sleep(50 * time.Microsecond)
				o.RUnlock()
			}
		})
	}
	turn := make(chan struct{})
	go func() {
		for range 20 {
			o.Lock()
			//lint:ignore SA2001 the turn is all that is wanted
			o.Unlock()
		}
		close(turn)
	}()
	select {
	case <-turn:
	case <-time.After(2 * time.Minute):
		t.Error("the writer waits for ever")
	}
	stop.Store(true)
	wg.Wait()
}
