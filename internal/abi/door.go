// Package abi is the door between C and Go: generated C stubs pack the arguments of a
// call, the one exported function here finds the handler, and no panic leaves through it.
package abi

/*
#cgo CFLAGS: -I${SRCDIR} -I${SRCDIR}/../../c/base -I${SRCDIR}/../engine -I${SRCDIR}/../../include -O2 -Wall
#cgo LDFLAGS: -Wl,--wrap=sigaction -Wl,--wrap=pthread_key_create
#cgo noescape kz_call_out
#cgo noescape kz_call_back
#cgo noescape kz_call_quiet
#cgo noescape kz_host_take
#cgo nocallback kz_host_take
#cgo nocallback kz_host_noted
#cgo noescape kz_host_say
#cgo nocallback kz_host_say
#cgo noescape kz_host_complained
#cgo nocallback kz_host_complained
#cgo nocallback kz_host_complain
#cgo nocallback kz_fast_set
#include "door.h"
*/
import "C"

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"kudzu/internal/spec/cu"
)

// Handler serves one row: it unpacks arguments, calls a method and answers with a result code.
type Handler struct {
	Name string
	Call func(thread, args unsafe.Pointer) int32
}

// The answers the door gives by itself, as the driver and runtime APIs both number them.
const (
	invalidValue    = int32(cu.CUDA_ERROR_INVALID_VALUE)
	unknown         = int32(cu.CUDA_ERROR_UNKNOWN)
	notSupported    = int32(cu.CUDA_ERROR_NOT_SUPPORTED)
	initializeError = int32(cu.CUDA_ERROR_NOT_INITIALIZED)
)

// House is what the door opens to.
type House struct {
	Start    func() error // runs at the first call, on its thread
	Handlers [][]Handler  // by interface, KZ_API_* in ztable.h
	// ThreadEnded is told of the end of a thread for which something is kept, on it.
	ThreadEnded func(thread unsafe.Pointer)
	// Report is told of a call that could not be served; stack is nil where the program
	// gave us a bad address.
	Report func(call string, cause any, stack []byte)
}

var house House

// Serve says what the door opens to. The wiring calls it once, while the image is being
// loaded and before any call can come in.
func Serve(h House) { house = h }

// kzDoor is the one function C calls. The thread block and the arguments are C memory
// that stays in place for the time of the call.
//
//export kzDoor
func kzDoor(thread unsafe.Pointer, id C.uint32_t, args unsafe.Pointer) (rc C.int32_t) {
	defer func() {
		if r := recover(); r != nil {
			rc = C.int32_t(recovered(uint32(id), r))
		}
	}()
	// A bad pointer from the program becomes a panic here instead of the end of it.
	debug.SetPanicOnFault(true)
	switch id {
	case C.KZ_START:
		return C.int32_t(begin())
	case C.KZ_ROOM:
		room(never)
		return 0
	case C.KZ_THREAD_END:
		house.ThreadEnded(thread)
		return 0
	}
	h := handler(uint32(id))
	if h == nil {
		return C.int32_t(notSupported)
	}
	return C.int32_t(h.Call(thread, args))
}

// handler finds what serves a number: the interface is in its upper half, the place among its handlers in the lower.
func handler(id uint32) *Handler {
	api, row := id>>16, id&0xffff
	if int(api) >= len(house.Handlers) || int(row) >= len(house.Handlers[api]) {
		return nil
	}
	return &house.Handlers[api][row]
}

// handlerRoom is the stack that a signal handler of the program finds in the middle of our calls. A handler without SA_ONSTACK runs on
// whatever stack its thread is on, which is a goroutine's then: a few kilobytes, less than the processor's state that the kernel puts
// there first, and nothing but other memory of ours below. With this much a goroutine's stack has 128 KiB. It is asked for at a
// thread's first call: the goroutine stays the thread's, and no stack is made smaller (scripts/dist.sh).
const handlerRoom = 112 << 10

var never bool // nobody sets it, which the compiler does not know

// room makes sure of handlerRoom: a function looks whether its frame fits before it begins, and has the stack grown if not. The
// frame's memory is not touched.
//
//go:noinline
func room(use bool) {
	if use {
		var frame [handlerRoom]byte
		touch(&frame)
	}
}

//go:noinline
func touch(frame *[handlerRoom]byte) {
	for i := range frame {
		frame[i]++
	}
}

func begin() int32 {
	if err := house.Start(); err != nil {
		house.Report("start", err, nil)
		return initializeError
	}
	return 0
}

var panics atomic.Uint64

// recovered turns a panic into an answer. One that carries an address comes from memory
// the program gave us; anything else is a fault of ours.
func recovered(id uint32, r any) int32 {
	name := "start"
	if h := handler(id); h != nil {
		name = h.Name
	}
	if f, ok := r.(interface{ Addr() uintptr }); ok {
		house.Report(name, fmt.Sprintf("bad address %#x", f.Addr()), nil)
		return invalidValue
	}
	panics.Add(1)
	house.Report(name, r, debug.Stack())
	return unknown
}

// Panics counts the calls that ended in a fault of ours.
func Panics() uint64 { return panics.Load() }

// Secure reports a process with more rights than the user who started it, who must not choose its code or files.
func Secure() bool { return C.kz_host_secure() != 0 }

// Image is the path of libkudzu.so, without links; "" if it is not known.
func Image() string { return C.GoString(C.kz_host_image()) }

// Noted counts what __cudaRegister* was told since the process began. It is C memory.
func Noted() *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(C.kz_host_noted())) }

// TakeNotes moves up to room records, laid out as struct kz_note, from the base to out.
func TakeNotes(out unsafe.Pointer, room int) int {
	return int(C.kz_host_take(out, C.uint64_t(room)))
}

// SayNCCL leaves the text that ncclGetLastError answers, where a text is asked for without Go.
func SayNCCL(text string) { leave(C.KZ_LAST_ERROR_NCCL, text) }

// SayDNN leaves the text that cudnnGetLastErrorString answers.
func SayDNN(text string) { leave(C.KZ_LAST_ERROR_CUDNN, text) }

// Lasting is the error that cudaGetLastError of every thread answers where the thread has no other, 0 for none. It is C memory.
func Lasting() *atomic.Int32 { return (*atomic.Int32)(unsafe.Pointer(C.kz_host_lasting())) }

// Say writes to standard error, if that still is what it was when the program began. Nobody's SIGPIPE comes of it.
func Say(text []byte) {
	if len(text) > 0 {
		C.kz_host_say((*C.char)(unsafe.Pointer(&text[0])), C.uint64_t(len(text)))
	}
}

// Complain writes what the program asked for, an assertion that failed or a library's log, to its standard error, if it began with one.
// Nobody's SIGPIPE comes of it.
func Complain(text []byte) {
	if len(text) > 0 {
		C.kz_host_complained((*C.char)(unsafe.Pointer(&text[0])), C.uint64_t(len(text)))
	}
}

// Complainer is the address of the C function that Complain calls.
func Complainer() uint64 { return uint64(C.kz_host_complain()) }

// leave writes a text where C finds it; the last byte stays 0.
func leave(of uint32, text string) {
	to := unsafe.Slice((*byte)(unsafe.Pointer(C.kz_host_last_error(of))), C.KZ_LAST_ERROR_SIZE-1)
	n := copy(to, text)
	if n < len(to) {
		to[n] = 0
	}
}

// kzPermitted reports whether a function of the program that we are calling may call us with this number.
//
//export kzPermitted
func kzPermitted(id, quiet C.uint32_t) C.int {
	if h := handler(uint32(id)); quiet == 0 && h != nil && inCallback[h.Name] {
		return 1
	}
	return 0
}

// inCallback is what a function that a stream calls may call. The real driver was seen to take cuStreamQuery and
// cuMemsetD8Async; the others are of the same kind: the stream waits for the function,
// so questions that do not wait and work put into a stream are safe, and all else is not permitted.
var inCallback = map[string]bool{
	"cuStreamQuery": true, "cuEventQuery": true,
	"cuMemsetD8Async": true, "cuMemsetD16Async": true, "cuMemsetD32Async": true,
	"cuMemsetD2D8Async": true, "cuMemsetD2D16Async": true, "cuMemsetD2D32Async": true,
}

// CallBack is CallOut for functions that streams call. Of ours they may call what inCallback lists.
func CallBack(fn, a, b, c, d uint64) uint64 {
	return uint64(C.kz_call_back(C.uint64_t(fn), C.uint64_t(a), C.uint64_t(b), C.uint64_t(c), C.uint64_t(d)))
}

// CallQuiet is CallOut for functions that may call nothing of ours: locks may be held.
func CallQuiet(fn, a, b, c, d uint64) uint64 {
	return uint64(C.kz_call_quiet(C.uint64_t(fn), C.uint64_t(a), C.uint64_t(b), C.uint64_t(c), C.uint64_t(d)))
}

// FastPath gives the door the engine's functions for calls that need no Go.
func FastPath(calls uint64) { C.kz_fast_set(C.uint64_t(calls)) }

// CallOut calls a C function of the program with up to four arguments.
func CallOut(fn, a, b, c, d uint64) uint64 {
	return uint64(C.kz_call_out(C.uint64_t(fn), C.uint64_t(a), C.uint64_t(b), C.uint64_t(c), C.uint64_t(d)))
}
