package engine

/*
#include "engine.h"
#include "express.h"
#include <stdlib.h>

#cgo nocallback kz_express_changed
#cgo nocallback kz_counters_new
#cgo noescape kz_pass_put
#cgo nocallback kz_pass_put
#cgo noescape kz_wait_put
#cgo nocallback kz_wait_put

static uint64_t express_launch(void) { return (uint64_t)kz_express_launch; }
static uint64_t express_wait(void) { return (uint64_t)kz_express_wait; }
*/
import "C"

import (
	"sync/atomic"
	"unsafe"
)

// Calls that C makes without Go: express.c says how, and when a pass is good.

// Most parameters of a launch that C makes, and their bytes.
const (
	MaxPassParams = C.KZ_PASS_PARAMS
	MaxPassBytes  = C.KZ_PASS_BYTES
)

// ExpressCalls are the addresses of kz_express_launch and kz_express_wait.
func ExpressCalls() (launch, wait uint64) {
	return uint64(C.express_launch()), uint64(C.express_wait())
}

var generation = (*atomic.Uint64)(unsafe.Pointer(C.kz_generation()))

// Generation is that of passes made now. It is read before the checks that a pass stands for.
func Generation() uint64 { return generation.Load() }

// Changed begins a new generation: what passes were checked against has changed. When it returns, no call with an older pass is under
// way.
func Changed() { C.kz_express_changed() }

// Counters are words that C sees, and what frees them, when no pass that names them is good.
func Counters(n int) (words []atomic.Uint64, free func()) {
	p := unsafe.Pointer(C.kz_counters_new(C.uint64_t(n)))
	if p == nil {
		panic(ErrNoMemory) // a few words: nothing else would go on for long
	}
	return unsafe.Slice((*atomic.Uint64)(p), n), func() { C.free(p) }
}

// PassKey is what a call must name to be made with a pass.
type PassKey struct {
	Generation            uint64
	Func, Stream, Context uint64
}

// AllStreams is the stream of a PassKey for waiting for a context.
const AllStreams = uint64(C.KZ_ALL_STREAMS)

// Pass is for launches of a kernel with one block shape.
type Pass struct {
	PassKey
	Block, MaxGrid [3]uint32
	MaxShared      uint32
	ParamBytes     int
	Params         [][2]uint16 // offset and size
	Vars           *Words
	Put            *atomic.Uint64 // of Counters: counts the launches
	Launches       *atomic.Uint64 // C memory, too, or nil
}

// Wait is for waiting for a queue.
type Wait struct {
	PassKey
	Put, Synced *atomic.Uint64    // of Counters: work put in, and how much of it was waited for
	Quiet       [2]*atomic.Uint64 // of Counters: while one is not zero C does not make the call; may be nil
}

// passes is the place of a thread's passes, which it keeps as a number: the memory is C's, and freed with the thread.
func passes(thread *uint64) *C.struct_kz_passes {
	p := (**C.struct_kz_passes)(unsafe.Pointer(thread))
	if *p == nil {
		*p = C.kz_passes_new()
	}
	return *p
}

func address(w *atomic.Uint64) C.uint64_t { return C.uint64_t(uintptr(unsafe.Pointer(w))) }

// Pass leaves a pass for launches of k in q with a thread.
func (q *Queue) Pass(thread *uint64, k *Kernel, p *Pass) {
	t := passes(thread)
	if t == nil || len(p.Params) > MaxPassParams || p.ParamBytes > MaxPassBytes {
		return
	}
	c := C.struct_kz_pass{
		generation: C.uint64_t(p.Generation), _func: C.uint64_t(p.Func), stream: C.uint64_t(p.Stream), context: C.uint64_t(p.Context),
		shared_max: C.uint32_t(p.MaxShared), nparams: C.uint32_t(len(p.Params)), params_bytes: C.uint32_t(p.ParamBytes),
		q: q.c, k: k.c, put: address(p.Put), launches: address(p.Launches),
	}
	for i := range 3 {
		c.block[i], c.grid_max[i] = C.uint32_t(p.Block[i]), C.uint32_t(p.MaxGrid[i])
	}
	if p.Vars != nil {
		c.vars = C.uint64_t(p.Vars.addr())
	}
	for i, at := range p.Params {
		c.params[i].offset, c.params[i].size = C.uint16_t(at[0]), C.uint16_t(at[1])
	}
	C.kz_pass_put(t, &c)
}

// PassWait leaves a pass for waiting for q with a thread.
func (q *Queue) PassWait(thread *uint64, w *Wait) {
	t := passes(thread)
	if t == nil {
		return
	}
	c := C.struct_kz_wait{
		generation: C.uint64_t(w.Generation), stream: C.uint64_t(w.Stream), context: C.uint64_t(w.Context),
		q: q.c, put: address(w.Put), synced: address(w.Synced),
		quiet: [2]C.uint64_t{address(w.Quiet[0]), address(w.Quiet[1])},
	}
	C.kz_wait_put(t, &c)
}
