package driver

import (
	"testing"
	"time"

	"kudzu/internal/spec/cu"
)

// TestExportHoldsNobodyUp: memory that is made visible to other processes waits for the device's work. What that work waits for may
// come from a thread that frees memory first.
func TestExportHoldsNobodyUp(t *testing.T) {
	th, _, _ := onInterp(t)
	gate := make(chan struct{})
	current.Load().callBack = func(_, _, _, _, _ uint64) uint64 {
		<-gate
		return 0
	}
	var d [2]DevPtr
	for i := range d {
		var err error
		d[i], err = th.MemAlloc(1 << 21)
		want(t, "alloc", err, 0)
	}
	shared, other := d[0], d[1]
	busy, err := th.StreamCreate(1)
	want(t, "stream", err, 0)
	free, err := th.StreamCreate(1)
	want(t, "stream", err, 0)
	want(t, "host function", th.LaunchHostFunc(busy, 1, 0), 0)
	exported := make(chan error, 1)
	go func() {
		mine := &Thread{ID: threadIDs.Add(1)}
		err := mine.CtxSetCurrent(cu.CUcontext(th.Stack[th.Depth-1]))
		if err == nil {
			_, err = mine.IpcGetMemHandle(shared)
		}
		exported <- err
	}()
	time.Sleep(20 * time.Millisecond) // for it to wait
	freed := make(chan error, 1)
	go func() { freed <- th.MemFreeAsync(other, free) }()
	select {
	case err := <-freed:
		want(t, "free", err, 0)
	case <-time.After(10 * time.Second):
		t.Error("a free waits for the export")
	}
	close(gate)
	want(t, "export", <-exported, 0)
}
