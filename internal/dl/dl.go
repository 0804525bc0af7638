// Package dl opens foreign shared libraries and calls functions in them: the one way out of the Go image into code
// we did not write (a real NVIDIA driver, ROCm, BLAS libraries). Calls pass integers and pointers only, which is what
// the C APIs we call out to take.
package dl

/*
#cgo LDFLAGS: -ldl
#include <stdint.h>
#include <stdlib.h>
#include "dl.h"
#cgo noescape kz_dl_call
#cgo noescape kz_dl_call32
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"kudzu/internal/lockrank"
)

// Library is an open shared library. It is never closed: foreign drivers do not survive it.
type Library struct {
	path   string
	handle unsafe.Pointer

	mu   lockrank.Mutex[lockrank.ForeignLibrary]
	syms map[string]*Func // guarded by mu
}

// Func is a function of a library.
type Func struct {
	name string
	addr unsafe.Pointer
}

// MaxArgs is how many arguments a call may have; most have fewer than fewArgs, and a cheaper way.
const (
	MaxArgs = 32
	fewArgs = 16
)

// ErrMissing reports a name that a library does not have.
var ErrMissing = errors.New("symbol missing")

// Open loads a library by path or soname, with local binding.
func Open(path string) (*Library, error) {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	h := C.kz_dl_open(p)
	if h == nil {
		return nil, fmt.Errorf("library %s: %s", path, C.GoString(C.kz_dl_error()))
	}
	return &Library{path: path, handle: h, syms: map[string]*Func{}}, nil
}

// Path is what Open was given.
func (l *Library) Path() string { return l.path }

// Find looks a function up; the answer is kept.
func (l *Library) Find(name string) (*Func, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.syms[name]; ok {
		if f == nil {
			return nil, fmt.Errorf("library %s: %s: %w", l.path, name, ErrMissing)
		}
		return f, nil
	}
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	a := C.kz_dl_sym(l.handle, n)
	if a == nil {
		l.syms[name] = nil
		return nil, fmt.Errorf("library %s: %s: %w", l.path, name, ErrMissing)
	}
	f := &Func{name: name, addr: a}
	l.syms[name] = f
	return f, nil
}

// At is a function of the program, by its address.
func At(addr uint64) *Func {
	return &Func{name: "a function of the program", addr: *(*unsafe.Pointer)(unsafe.Pointer(&addr))}
}

// Count says how many functions of a table the library has, and which it lacks: releases differ.
func (l *Library) Count(names []string) string {
	var lacks []string
	for _, n := range names {
		if _, err := l.Find(n); err != nil {
			lacks = append(lacks, n)
		}
	}
	s := fmt.Sprintf("%d of %d functions", len(names)-len(lacks), len(names))
	if len(lacks) > 0 {
		s += ", without " + strings.Join(lacks, ", ")
	}
	return s
}

// Status calls a function that a table gives so many parameters, and that answers a number of 32 bits. Who passes another number of
// arguments has a row wrong, or itself.
func (l *Library) Status(name string, params int, args ...uintptr) (int32, error) {
	if len(args) != params {
		panic(fmt.Sprintf("BUG: %s takes %d arguments, not %d", name, params, len(args)))
	}
	f, err := l.Find(name)
	if err != nil {
		return 0, err
	}
	return int32(f.Call(args...)), nil
}

// File is the file that holds the function, as the loader sees it: an audit library or a preload may have put another
// file in place of the one asked for.
func (f *Func) File() string {
	p := C.kz_dl_file(f.addr)
	if p == nil {
		return ""
	}
	return C.GoString(p)
}

// Call calls the function. Go memory passed by address must be pinned by the caller and not kept by the callee.
func (f *Func) Call(args ...uintptr) uintptr {
	if len(args) > MaxArgs {
		panic("BUG: dl: too many arguments for " + f.name)
	}
	var a [MaxArgs]C.uint64_t
	for i, v := range args {
		a[i] = C.uint64_t(v)
	}
	if len(args) > fewArgs {
		return uintptr(C.kz_dl_call32(f.addr, &a[0]))
	}
	return uintptr(C.kz_dl_call(f.addr, &a[0]))
}

// Ignore is a C function that does nothing, for libraries that want a callback. It answers nothing, whatever its arguments.
func Ignore() uintptr { return uintptr(C.kz_dl_ignore) }

// Alloc gives n bytes of C memory, cleared, for results and buffers that a callee writes or keeps.
func Alloc(n int) *Buffer {
	p := C.calloc(1, C.size_t(max(n, 1)))
	if p == nil {
		panic("BUG: dl: out of host memory")
	}
	return &Buffer{p: p, n: n}
}

// Buffer is C memory.
type Buffer struct {
	p unsafe.Pointer
	n int
}

// Addr is where the buffer lies.
func (b *Buffer) Addr() uintptr { return uintptr(b.p) }

// Bytes is the buffer as a slice, valid until Free.
func (b *Buffer) Bytes() []byte { return unsafe.Slice((*byte)(b.p), b.n) }

// Free gives the memory back.
func (b *Buffer) Free() {
	C.free(b.p)
	b.p, b.n = nil, 0
}
