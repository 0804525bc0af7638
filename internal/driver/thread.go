package driver

import "structs"

// MaxContextStack is how many contexts one host thread may have pushed.
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
}

// ThreadPerThread says the call came in through a per-thread-default-stream entry point.
const ThreadPerThread = 1 << 0

// ThreadKept asks for a call of ThreadEnded when the thread ends.
const ThreadKept = 1 << 1
