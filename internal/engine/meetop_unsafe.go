package engine

/*
#include "engine.h"
#include "fastpath.h"

#cgo nocallback kz_sequence_new
#cgo nocallback kz_sequence_unref
#cgo nocallback kz_sequence_take
#cgo nocallback kz_sequence_next
#cgo nocallback kz_sequence_wait
#cgo nocallback kz_sequence_end
#cgo nocallback kz_sequence_kill
#cgo nocallback kz_sequence_skipped
#cgo noescape kz_queue_meet
#cgo nocallback kz_queue_meet
#cgo noescape kz_task_meeting
#cgo nocallback kz_task_meeting
#cgo nocallback kz_task_met
#cgo noescape kz_collective_put
#cgo nocallback kz_collective_put
#cgo nocallback kz_tickets_group
*/
import "C"

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Collective operations in queues: meetop.c says how they run.

const taskMeeting = uint64(C.KZ_TASK_MEETING)

// Sequence is the order of a communicator's operations: each takes a number, and begins when those before it have ended.
type Sequence struct {
	c  *C.struct_kz_sequence
	id uint64
}

var (
	sequences sync.Map // of func(*Begun), by id
	sequenced atomic.Uint64
)

// NewSequence makes one. Operations of queues that do not get on by themselves are handed to goOn, until Forget.
func NewSequence(goOn func(*Begun)) (*Sequence, error) {
	id := sequenced.Add(1)
	c := C.kz_sequence_new(C.uint64_t(id))
	if c == nil {
		return nil, ErrNoMemory
	}
	s := &Sequence{c, id}
	sequences.Store(id, goOn)
	runtime.AddCleanup(s, func(c *C.struct_kz_sequence) { C.kz_sequence_unref(c) }, c)
	return s, nil
}

// Take is the next number.
func (s *Sequence) Take() uint32 { return uint32(C.kz_sequence_take(s.c)) }

// Wait waits for a while until an operation may begin, and reports whether it may.
func (s *Sequence) Wait(turn uint32, d time.Duration) bool {
	ok := C.kz_sequence_wait(s.c, C.uint32_t(turn), C.int64_t(d)) != 0
	runtime.KeepAlive(s)
	return ok
}

// Drained waits for a while until every operation that took a number has ended, and reports whether that is so.
func (s *Sequence) Drained(d time.Duration) bool { return s.Wait(uint32(C.kz_sequence_next(s.c)), d) }

// End says that an operation has ended.
func (s *Sequence) End() {
	C.kz_sequence_end(s.c)
	runtime.KeepAlive(s)
}

// Kill has operations that have not begun end without being done, and wakes those that wait.
func (s *Sequence) Kill() {
	C.kz_sequence_kill(s.c)
	runtime.KeepAlive(s)
}

// Skipped reports whether an operation was not done because its context has a fault.
func (s *Sequence) Skipped() bool { return C.kz_sequence_skipped(s.c) != 0 }

// Forget lets go of what NewSequence was given. Operations that are still to come must have been ended with Kill.
func (s *Sequence) Forget() { sequences.Delete(s.id) }

// Begun is an operation of a queue that C has left to Go, begun or not.
type Begun struct {
	task    unsafe.Pointer
	o       *C.struct_kz_meeting
	Turn    uint32
	Entered bool // Meet.Enter was called for it: Run goes on with it, and must
}

func goOn(id uint64, t unsafe.Pointer) {
	var turn C.uint32_t
	var entered C.int
	b := &Begun{task: t}
	b.o = C.kz_task_meeting(t, &turn, &entered)
	b.Turn, b.Entered = uint32(turn), entered != 0
	fn, ok := sequences.Load(id)
	if !ok { // its communicator has ended, and it has not begun
		C.kz_task_met(t)
		return
	}
	fn.(func(*Begun))(b)
}

// Meeting is what the operation is.
func (b *Begun) Meeting() Meeting {
	o := b.o
	return Meeting{Call: uint64(o.call), Scale: uint64(o.scale), Send: uint64(o.send), Recv: uint64(o.recv), Bytes: uint64(o.bytes),
		SendBytes: uint64(o.send_bytes), RecvBytes: uint64(o.recv_bytes), Kind: int(o.kind), Type: int(o._type), Op: int(o.op), Root: int(o.root), Size: uint64(o.size), Other: o.other != 0}
}

// Resume is Run from where the operation is.
func (m *Meet) Resume(b *Begun, late func(rank int) bool) (how Met, rank int, theirs uint64) {
	return m.run(b.o, late)
}

// End says that the operation is over.
func (b *Begun) End() { C.kz_task_met(b.task) }

// Meet puts an operation into a queue.
func (q *Queue) Meet(s *Sequence, m *Meet, x *Meeting) error {
	if !q.enter() {
		return ErrClosed
	}
	q.d.e.pump.Do(q.d.e.startPump)
	o := x.c()
	rc := C.kz_queue_meet(q.c, s.c, m.c, &o, 1)
	runtime.KeepAlive(s)
	return q.result(rc)
}

// TicketCollective lets C put in operations of a communicator, as Meet did: those of the five collectives that name comm and the
// key's stream.
func (q *Queue) TicketCollective(thread *uint64, key TicketKey, comm uint64, ranks, rank int, s *Sequence, m *Meet, put *atomic.Uint64) {
	t := tickets(thread)
	if t == nil {
		return
	}
	c := C.struct_kz_collective_ticket{
		generation: C.uint64_t(key.Generation), comm: C.uint64_t(comm), stream: C.uint64_t(key.Stream), context: C.uint64_t(key.Context),
		q: q.c, s: s.c, m: m.c, put: address(put), n: C.uint32_t(ranks), rank: C.uint32_t(rank),
	}
	C.kz_collective_put(t, &c)
}

// TicketGroup says whether a thread is in a group of calls, which Go collects.
func TicketGroup(thread *uint64, in bool) {
	if t := tickets(thread); t != nil {
		C.kz_tickets_group(t, C.int(flag(in)))
	}
}
