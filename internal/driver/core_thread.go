package driver

import (
	"structs"
	"sync"

	"kudzu/internal/spec/cu"
)

// MaxContextStack is how many contexts of a host thread's stack lie in its block; those below are in spilled.
const MaxContextStack = 126

// Thread is the driver's view of one host thread: the Go mirror of struct kz_thread in c/base/thread.h.
// The block is C memory owned by libkudzu-base, one per host thread, shared by all fronts, so that a
// program which mixes the driver and the runtime API sees one current context. It is only ever touched
// by its own thread, inside a call, and therefore needs no lock. Tests make their own with new(Thread).
type Thread struct {
	_ structs.HostLayout

	ID        uint64                  // unique in the process, never reused
	Flags     uint32                  // ThreadPerThread while a _ptsz/_ptds entry point is running, ThreadKept
	LastError int32                   // the runtime API's last error
	Depth     uint32                  // contexts on Stack
	Device    int32                   // the runtime API's device, plus one; 0 before a choice
	Stack     [MaxContextStack]uint64 // CUcontext values; Stack[Depth-1] is current
	Tickets   uint64                  // the backend's, see core_fastpath.go
	Passed    uint64                  // their generation, as seen last
	AnswerKey uint64                  // where the key of NVRTC's answer to this call is, or 0
	Compiler  uint64                  // the compiler process that was started for this call (c/base/early.h), or 0
	Call      uint64                  // where this call of a library is (core_fastlibrary.go), or 0
}

// ThreadPerThread says the call came in through a per-thread-default-stream entry point.
const ThreadPerThread = 1 << 0

// ThreadKept asks for a call of ThreadEnded when the thread ends.
const ThreadKept = 1 << 1

// ThreadSpilled says that contexts lie below those in the block.
const ThreadSpilled = 1 << 4

// maxSpilled bounds what a thread may push: far more than a program needs that pops what it pushes.
const maxSpilled = 1 << 20

// spilled is the lower part of deep stacks, by Thread.ID: []uint64, the bottom first. Only its own thread touches a value.
var spilled sync.Map

func (t *Thread) below() []uint64 {
	if t.Flags&ThreadSpilled == 0 {
		return nil
	}
	v, _ := spilled.Load(t.ID)
	list, _ := v.([]uint64)
	return list
}

// room reports whether a context may be pushed.
func (t *Thread) room() bool { return t.Depth < MaxContextStack || len(t.below()) < maxSpilled }

// push makes a context current. A full block gives its lower half away.
//
// Preconditions: room.
func (t *Thread) push(h cu.CUcontext) {
	if t.Depth >= MaxContextStack {
		const half = MaxContextStack / 2
		spilled.Store(t.ID, append(t.below(), t.Stack[:half]...))
		t.Flags |= ThreadSpilled | ThreadKept
		copy(t.Stack[:], t.Stack[half:])
		t.Depth = MaxContextStack - half
	}
	t.Stack[t.Depth] = uint64(h)
	t.Depth++
}

// pop takes the current context off. An empty block takes back what it gave away.
//
// Preconditions: t.Depth > 0.
func (t *Thread) pop() {
	t.Depth--
	if t.Depth > 0 || t.Flags&ThreadSpilled == 0 {
		return
	}
	list := t.below()
	n := min(len(list), MaxContextStack/2)
	copy(t.Stack[:], list[len(list)-n:])
	t.Depth = uint32(n)
	if list = list[:len(list)-n]; len(list) > 0 {
		spilled.Store(t.ID, list)
		return
	}
	spilled.Delete(t.ID)
	t.Flags &^= ThreadSpilled
}
