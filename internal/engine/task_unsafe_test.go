package engine

import (
	"strings"
	"testing"
	"unsafe"
)

// A task that touches memory which is gone fails its domain, and not the process.
func TestTaskFault(t *testing.T) {
	r := newRig(t, 1)
	a, err := r.m.Alloc(4<<20, 0)
	r.ok(err)
	r.ok(r.m.Free(a)) // its pages are no longer readable
	sum := byte(0)
	at := *(*unsafe.Pointer)(unsafe.Pointer(&a)) // device memory is not Go's to move
	r.ok(r.q.Task(func() error { sum += *(*byte)(at); return nil }, 0))
	if err := r.q.Sync(); err == nil || !strings.Contains(err.Error(), "invalid memory address") {
		t.Errorf("got %v (%d)", err, sum)
	}
}
