package engine

/*
#include "engine.h"
#include "fastpath.h"
#include <stdlib.h>

#cgo nocallback kz_fast_changed
#cgo nocallback kz_counters_new
#cgo noescape kz_ticket_put
#cgo nocallback kz_ticket_put
#cgo noescape kz_wait_put
#cgo nocallback kz_wait_put

#cgo noescape kz_library_put
#cgo nocallback kz_library_put

#cgo noescape kz_answer_put
#cgo nocallback kz_answer_put

static uint64_t fast_calls(void) { return (uint64_t)&kz_fast; }
static int fast_library(struct kz_tickets *t, uint64_t context, const struct kz_library_call *c) { return kz_fast_library(t, context, c); }
*/
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Calls that C makes without Go: fastpath.c says how, and when a ticket is good.

// Most parameters of a launch that C makes, and their bytes.
const (
	MaxPassParams = C.KZ_TICKET_PARAMS
	MaxPassBytes  = C.KZ_TICKET_BYTES
)

// FastPathCalls is the address of kz_fast, the list of the functions that C calls without Go.
func FastPathCalls() uint64 { return uint64(C.fast_calls()) }

var generation = (*atomic.Uint64)(unsafe.Pointer(C.kz_generation()))

// Generation is that of tickets made now. It is read before the checks that a ticket stands for.
func Generation() uint64 { return generation.Load() }

// Changed begins a new generation: what tickets were checked against has changed. When it returns, no call with an older ticket is under
// way.
func Changed() { C.kz_fast_changed() }

// Counters are words that C sees, and what frees them, when no ticket that names them is good.
func Counters(n int) (words []atomic.Uint64, free func()) {
	p := unsafe.Pointer(C.kz_counters_new(C.uint64_t(n)))
	if p == nil {
		panic(ErrNoMemory) // a few words: nothing else would go on for long
	}
	return unsafe.Slice((*atomic.Uint64)(p), n), func() { C.free(p) }
}

// TicketKey is what a call must name to be made with a ticket.
type TicketKey struct {
	Generation            uint64
	Func, Stream, Context uint64
}

// AllStreams is the stream of a TicketKey for waiting for a context.
const AllStreams = uint64(C.KZ_ALL_STREAMS)

// Ticket is for launches of a kernel with one block shape.
type Ticket struct {
	TicketKey
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
	TicketKey
	Put, Synced *atomic.Uint64    // of Counters: work put in, and how much of it was waited for
	Quiet       [2]*atomic.Uint64 // of Counters: while one is not zero C does not make the call; may be nil
}

// tickets is the place of a thread's tickets, which it keeps as a number: the memory is C's, and freed with the thread.
func tickets(thread *uint64) *C.struct_kz_tickets {
	p := (**C.struct_kz_tickets)(unsafe.Pointer(thread))
	if *p == nil {
		*p = C.kz_tickets_new()
	}
	return *p
}

// Ask is enum kz_ask: a question that C answers as Go did, as long as nothing has changed.
type Ask uint32

// The questions.
const (
	AskDevice  = Ask(C.KZ_ASK_DEVICE)
	AskChosen  = Ask(C.KZ_ASK_CHOSEN)
	AskPrimary = Ask(C.KZ_ASK_PRIMARY)
	AskCapture = Ask(C.KZ_ASK_CAPTURE)
)

// Answered leaves an answer with a thread: to ask about of, in the key's context.
func Answered(thread *uint64, key TicketKey, ask Ask, of uint64, value [2]uint32) {
	t := tickets(thread)
	if t == nil {
		return
	}
	a := C.struct_kz_answer{
		generation: C.uint64_t(key.Generation), context: C.uint64_t(key.Context), of: C.uint64_t(of), ask: C.uint32_t(ask),
		value: [2]C.uint32_t{C.uint32_t(value[0]), C.uint32_t(value[1])},
	}
	C.kz_answer_put(t, &a)
}

func address(w *atomic.Uint64) C.uint64_t { return C.uint64_t(uintptr(unsafe.Pointer(w))) }

// Ticket leaves a ticket for launches of k in q with a thread.
func (q *Queue) Ticket(thread *uint64, k *Kernel, p *Ticket) {
	t := tickets(thread)
	if t == nil || len(p.Params) > MaxPassParams || p.ParamBytes > MaxPassBytes {
		return
	}
	c := C.struct_kz_ticket{
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
	C.kz_ticket_put(t, &c)
}

// TicketWait leaves a ticket for waiting for q with a thread.
func (q *Queue) TicketWait(thread *uint64, w *Wait) {
	t := tickets(thread)
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

// PatchKind is enum kz_patch_kind.
type PatchKind uint8

// What becomes of an address among a call's arguments.
const (
	PatchAddress = PatchKind(C.KZ_PATCH_ADDRESS)
	PatchUnused  = PatchKind(C.KZ_PATCH_UNUSED)
	PatchF32     = PatchKind(C.KZ_PATCH_F32)
	PatchF64     = PatchKind(C.KZ_PATCH_F64)
	PatchC32     = PatchKind(C.KZ_PATCH_C32)
	PatchC64     = PatchKind(C.KZ_PATCH_C64)
)

// Patch is struct kz_patch.
type Patch struct {
	Kind         PatchKind
	Word, Offset int
	NotZero      bool
}

// LibraryTicket is for calls of a library that are one launch.
type LibraryTicket struct {
	TicketKey
	ID            uint32
	Args          []uint64
	Handle        []atomic.Uint64 // two, of Counters
	Modes         [2]uint64
	Patches       []Patch
	Grid, Block   [3]uint32
	Shared        uint32
	Params        []byte
	Vars          *Words
	Put, Launches *atomic.Uint64 // as in Ticket
}

// TicketLibrary leaves a ticket for calls that launch k in q with a thread. Calls that are too large get none.
func (q *Queue) TicketLibrary(thread *uint64, k *Kernel, p *LibraryTicket) {
	t := tickets(thread)
	if t == nil || len(p.Args) > C.KZ_CALL_WORDS || len(p.Patches) > C.KZ_CALL_PATCHES || len(p.Params) > C.KZ_CALL_BYTES {
		return
	}
	c := C.struct_kz_library_ticket{
		generation: C.uint64_t(p.Generation), context: C.uint64_t(p.Context), handle: address(&p.Handle[0]),
		modes: [2]C.uint64_t{C.uint64_t(p.Modes[0]), C.uint64_t(p.Modes[1])},
		id:    C.uint32_t(p.ID), words: C.uint32_t(len(p.Args)), fixed: 1<<len(p.Args) - 1, npatches: C.uint32_t(len(p.Patches)),
		shared: C.uint32_t(p.Shared), params_bytes: C.uint32_t(len(p.Params)), q: q.c, k: k.c, put: address(p.Put), launches: address(p.Launches),
	}
	for i, v := range p.Args {
		c.args[i] = C.uint64_t(v)
	}
	for i, a := range p.Patches {
		if a.Kind != PatchUnused && a.Offset+16 > len(p.Params) && (a.Kind != PatchAddress || a.Offset+8 > len(p.Params)) {
			panic("BUG: a parameter behind the last one")
		}
		c.fixed &^= 1 << a.Word
		c.patches[i] = C.struct_kz_patch{word: C.uint8_t(a.Word), kind: C.uint8_t(a.Kind), not_zero: C.uint8_t(flag(a.NotZero)), offset: C.uint16_t(a.Offset)}
	}
	for i := range 3 {
		c.grid[i], c.block[i] = C.uint32_t(p.Grid[i]), C.uint32_t(p.Block[i])
	}
	if p.Vars != nil {
		c.vars = C.uint64_t(p.Vars.addr())
	}
	for i, b := range p.Params {
		c.params[i] = C.uint8_t(b)
	}
	C.kz_library_put(t, &c)
}

// CallLibrary makes a call of a library with a ticket of a thread's, as the door does: for tests. False: Go must make it.
func CallLibrary(thread *uint64, context uint64, id uint32, args []uint64) bool {
	if *thread == 0 {
		return false
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&args[0])
	c := C.struct_kz_library_call{id: C.uint32_t(id), words: C.uint32_t(len(args)), args: (*C.uint64_t)(unsafe.Pointer(&args[0]))}
	return C.fast_library(tickets(thread), C.uint64_t(context), &c) != 0
}
