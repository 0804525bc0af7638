package dl

/*
#include <stdlib.h>
#include "dl.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Meeting is a host function for a foreign library's stream that does its work in Go: the stream calls C, which tells us
// and waits. So no Go runs on the library's threads, and a goroutine that waits costs no thread.
type Meeting struct {
	ready *os.File
	done  int
	data  *C.struct_kz_meeting
}

// NewMeeting makes one, for one call.
func NewMeeting() (*Meeting, error) {
	ready, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	done, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(ready) // the first error is the one to report
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	d := (*C.struct_kz_meeting)(C.calloc(1, C.size_t(unsafe.Sizeof(C.struct_kz_meeting{}))))
	d.ready, d.done = C.int(ready), C.int(done)
	return &Meeting{os.NewFile(uintptr(ready), "meeting"), done, d}, nil
}

// Func is the C function to hand to the library, of one argument.
func (m *Meeting) Func() uintptr { return uintptr(C.kz_dl_meet) }

// Func3 is the same for callbacks of three arguments: stream, status, data.
func (m *Meeting) Func3() uintptr { return uintptr(C.kz_dl_meet3) }

// Data is the argument for it.
func (m *Meeting) Data() uintptr { return uintptr(unsafe.Pointer(m.data)) }

// Wait blocks until the stream has called.
func (m *Meeting) Wait() error {
	var b [8]byte
	if _, err := m.ready.Read(b[:]); err != nil {
		return fmt.Errorf("meeting: %w", err)
	}
	return nil
}

// Release lets the stream go on. Only after Wait, and once.
func (m *Meeting) Release() {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], 1)
	_, _ = unix.Write(m.done, b[:]) // an eventfd takes it; C closes that end
	_ = m.ready.Close()
}

// Abandon gives everything back when the library refused to take the call: nobody will come.
func (m *Meeting) Abandon() {
	_ = m.ready.Close()
	_ = unix.Close(m.done)
	C.free(unsafe.Pointer(m.data))
}
