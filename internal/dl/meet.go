package dl

/*
#include <stdlib.h>
#include "dl.h"
*/
import "C"

import (
	"runtime/cgo"
	"sync"
	"unsafe"
)

// Meeting is a host function for a foreign library's stream that does its work in Go: the stream calls C, which tells us
// and waits. So no Go runs on the library's threads, and a goroutine that waits costs no thread: one thread hears of all
// streams that come.
type Meeting struct {
	arrived chan struct{}
	handle  cgo.Handle
	data    *C.struct_kz_meeting
}

// listen starts the thread that hears of the streams, at the first meeting of the process.
var listen = sync.OnceFunc(func() {
	go func() {
		for {
			h := cgo.Handle(C.kz_dl_next_arrival())
			m := h.Value().(*Meeting)
			h.Delete()
			close(m.arrived)
		}
	}()
})

// NewMeeting makes one, for one call.
func NewMeeting() *Meeting {
	listen()
	m := &Meeting{arrived: make(chan struct{}), data: (*C.struct_kz_meeting)(C.calloc(1, C.size_t(unsafe.Sizeof(C.struct_kz_meeting{}))))}
	m.handle = cgo.NewHandle(m)
	m.data.handle = C.uintptr_t(m.handle)
	return m
}

// Func is the C function to hand to the library, of one argument.
func (m *Meeting) Func() uintptr { return uintptr(C.kz_dl_meet) }

// Func3 is the same for callbacks of three arguments: stream, status, data.
func (m *Meeting) Func3() uintptr { return uintptr(C.kz_dl_meet3) }

// Data is the argument for it.
func (m *Meeting) Data() uintptr { return uintptr(unsafe.Pointer(m.data)) }

// Wait blocks until the stream has called.
func (m *Meeting) Wait() { <-m.arrived }

// Release lets the stream go on. Only after Wait, and once.
func (m *Meeting) Release() { C.kz_dl_release(m.data) }

// Abandon gives everything back when the library refused to take the call: nobody will come.
func (m *Meeting) Abandon() {
	m.handle.Delete()
	C.free(unsafe.Pointer(m.data))
}
