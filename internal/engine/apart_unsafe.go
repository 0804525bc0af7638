package engine

/*
#include "engine.h"

#cgo noescape kz_apart_next
#cgo nocallback kz_apart_next
#cgo nocallback kz_apart_new
#cgo nocallback kz_apart_close
#cgo nocallback kz_apart_free
#cgo nocallback kz_apart_put
#cgo nocallback kz_kernel_apart
*/
import "C"

import (
	"sync"
	"unsafe"
)

// Apart is the functions that a kernel calls and that are compiled by themselves, when they are first called.
type Apart struct {
	c     *C.struct_kz_apart
	made  sync.WaitGroup // calls of make
	serve chan struct{}  // closed when no more are asked for
}

// Function is one of them.
type Function struct{ c *C.struct_kz_function }

// NewApart makes an empty list. make is called for each function, on a goroutine of its own, when a block that calls it waits: it
// must Put the code, or nil.
func NewApart(make func(f Function, id uint64)) (*Apart, error) {
	c := C.kz_apart_new()
	if c == nil {
		return nil, ErrNoMemory
	}
	a := newApart(c)
	go func() {
		defer close(a.serve)
		for {
			var id C.uint64_t
			f := C.kz_apart_next(a.c, &id)
			if f == nil {
				return
			}
			a.made.Go(func() { make(Function{f}, uint64(id)) })
		}
	}()
	return a, nil
}

func newApart(c *C.struct_kz_apart) *Apart { return &Apart{c: c, serve: make(chan struct{})} }

// Put gives a function's code, nil where there is none; again, code that takes the place of the last. It must live as long as the list.
func (f Function) Put(k *Kernel) {
	if k == nil {
		C.kz_apart_put(f.c, nil)
		return
	}
	C.kz_apart_put(f.c, k.c)
}

// Free gives the list back. No kernel that has it runs, nobody calls Put.
func (a *Apart) Free() {
	C.kz_apart_close(a.c)
	<-a.serve
	a.made.Wait()
	C.kz_apart_free(a.c)
}

// Calls says which list the kernel's calls go through, nil if it makes none; vars are its variables if it is itself such a function. Once, before its first launch.
func (k *Kernel) Calls(a *Apart, vars *Words) {
	var at C.uint64_t
	if vars != nil {
		at = C.uint64_t(uintptr(unsafe.Pointer(vars.p)))
	}
	var list *C.struct_kz_apart
	if a != nil {
		list = a.c
	}
	C.kz_kernel_apart(k.c, list, at)
}
