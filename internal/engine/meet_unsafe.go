package engine

/*
#include "engine.h"

#cgo noescape kz_arena_share
#cgo nocallback kz_arena_share
#cgo nocallback kz_arena_moved
#cgo noescape kz_meet_new
#cgo nocallback kz_meet_new
#cgo nocallback kz_meet_unref
#cgo nocallback kz_meet_enter
#cgo nocallback kz_meet_leave
#cgo nocallback kz_meet_shut
#cgo nocallback kz_meet_idle
#cgo noescape kz_meet_run
#cgo nocallback kz_meet_run
#cgo nocallback kz_meet_kill
#cgo nocallback kz_meet_quit
*/
import "C"

import (
	"unsafe"
)

// ArenaFile is the file that device memory lies in.
type ArenaFile struct {
	Base, Size uint64 // of the addresses: what is at Base + x is at x in the file
	Dev, Ino   uint64 // which file it is
	FD         int    // the engine's, or of the program, if it has closed it
}

// ShareArena puts device memory that is given out from now on into a file that other processes may map. Memory of before stays where it is.
func ShareArena() (ArenaFile, error) {
	if _, err := arena(); err != nil {
		return ArenaFile{}, err
	}
	var f C.struct_kz_arena_file
	if rc := C.kz_arena_share(&f); rc != C.KZ_OK {
		return ArenaFile{}, result(rc)
	}
	return ArenaFile{uint64(f.base), uint64(f.size), uint64(f.dev), uint64(f.ino), int(f.fd)}, nil
}

func arenaMoved(addr, n uint64) { C.kz_arena_moved(C.uint64_t(addr), C.uint64_t(n)) }

// MaxMeet is how many ranks may meet.
const MaxMeet = C.KZ_MEET_RANKS

// MeetBytes is the size of the segment in which so many ranks meet. It is all zero at first.
func MeetBytes(ranks int) int { return int(C.kz_meet_bytes(C.uint32_t(ranks))) }

// Meet is one rank's end of the segment.
type Meet struct{ c *C.struct_kz_meet }

// NewMeet makes one. peers says where the arenas of all ranks are mapped, that of this process with its own base; here says that all ranks
// are of this process.
func NewMeet(segment []byte, rank int, here bool, base uint64, peers []uint64) (*Meet, error) {
	if len(segment) < MeetBytes(len(peers)) || len(peers) > MaxMeet {
		return nil, ErrInvalid
	}
	c := C.kz_meet_new(unsafe.Pointer(unsafe.SliceData(segment)), C.uint32_t(len(peers)), C.uint32_t(rank), C.int(flag(here)), C.uint64_t(base), (*C.uint64_t)(unsafe.SliceData(peers)))
	if c == nil {
		return nil, ErrNoMemory
	}
	return &Meet{c}, nil
}

// Close frees it, once no operation of a queue names it.
func (m *Meet) Close() { C.kz_meet_unref(m.c) }

// Enter keeps the segment and the mappings from being taken away until Leave; false after Shut.
func (m *Meet) Enter() bool { return C.kz_meet_enter(m.c) != 0 }

// Leave is Enter's end.
func (m *Meet) Leave() { C.kz_meet_leave(m.c) }

// Shut lets nobody enter any more. It reports whether nobody is inside.
func (m *Meet) Shut() bool { return C.kz_meet_shut(m.c) != 0 }

// Idle reports whether nobody is inside.
func (m *Meet) Idle() bool { return C.kz_meet_idle(m.c) != 0 }

// Kill has the operations of this rank end.
func (m *Meet) Kill() { C.kz_meet_kill(m.c) }

// Quit keeps other ranks from this one's buffers. It gives a rank that may be writing to them, or -1.
func (m *Meet) Quit() int { return int(C.kz_meet_quit(m.c)) }

// Meeting is one collective operation of a rank. Kind is 1 to 8: ncclAllReduce, ReduceScatter, Reduce, Broadcast, AllGather, AlltoAll, Gather,
// Scatter. Type and Op are kz_collect's.
type Meeting struct {
	Call, Scale          uint64 // what must be the same on all ranks; the factor of a reduction
	Send, Recv           uint64
	Bytes                uint64 // of the elements that the call names
	SendBytes, RecvBytes uint64 // that this rank has
	Kind, Type, Op, Root int
	Size                 uint64 // of an element
	Other                bool   // it is done in another way, unless it is small
}

// Met is how far an operation is.
type Met int

// What Run answers.
const (
	MetDone   Met = C.KZ_MEET_DONE
	MetLate   Met = C.KZ_MEET_LATE   // a rank has not come, for some time
	MetDiffer Met = C.KZ_MEET_DIFFER // a rank does something else
	MetOther  Met = C.KZ_MEET_OTHER  // all ranks are to do it in another way
	MetDead   Met = C.KZ_MEET_DEAD   // Kill was called, or another rank has quit
)

// Run does an operation. As long as a rank has not come, late is called now and then with its number; false ends the operation.
func (m *Meet) Run(x *Meeting, late func(rank int) bool) (how Met, rank int, theirs uint64) {
	o := x.c()
	return m.run(&o, late)
}

func (x *Meeting) c() C.struct_kz_meeting {
	return C.struct_kz_meeting{call: C.uint64_t(x.Call), scale: C.uint64_t(x.Scale), send: C.uint64_t(x.Send), recv: C.uint64_t(x.Recv), bytes: C.uint64_t(x.Bytes),
		send_bytes: C.uint64_t(x.SendBytes), recv_bytes: C.uint64_t(x.RecvBytes), kind: C.uint32_t(x.Kind), _type: C.uint32_t(x.Type), op: C.uint32_t(x.Op), root: C.uint32_t(x.Root),
		size: C.uint32_t(x.Size), other: flag(x.Other)}
}

func (m *Meet) run(o *C.struct_kz_meeting, late func(rank int) bool) (how Met, rank int, theirs uint64) {
	for {
		how = Met(C.kz_meet_run(m.c, o, C.KZ_MEET_SLEEP))
		if how != MetLate || !late(int(o.who)) {
			return how, int(o.who), uint64(o.theirs)
		}
	}
}
