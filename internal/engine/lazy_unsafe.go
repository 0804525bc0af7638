package engine

/*
#include "engine.h"

#cgo noescape kz_lazy_next
#cgo nocallback kz_lazy_next
#cgo nocallback kz_lazy_new
#cgo nocallback kz_lazy_close
#cgo nocallback kz_lazy_free
#cgo nocallback kz_lazy_put
#cgo nocallback kz_kernel_lazy
*/
import "C"

import (
	"sync"
	"unsafe"
)

// Lazy is the functions that a kernel calls and that are compiled by themselves, when they are first called.
type Lazy struct {
	c     *C.struct_kz_lazy
	made  sync.WaitGroup // calls of make
	serve chan struct{}  // closed when no more are asked for
}

// Function is one of them.
type Function struct{ c *C.struct_kz_function }

// NewLazy makes an empty list. make is called for each function, on a goroutine of its own, when a block that calls it waits: it
// must Put the code, or nil.
func NewLazy(make func(f Function, id uint64)) (*Lazy, error) {
	c := C.kz_lazy_new()
	if c == nil {
		return nil, ErrNoMemory
	}
	a := newLazy(c)
	go func() {
		defer close(a.serve)
		for {
			var id C.uint64_t
			f := C.kz_lazy_next(a.c, &id)
			if f == nil {
				return
			}
			a.made.Go(func() { make(Function{f}, uint64(id)) })
		}
	}()
	return a, nil
}

func newLazy(c *C.struct_kz_lazy) *Lazy { return &Lazy{c: c, serve: make(chan struct{})} }

// Put gives a function's code, nil where there is none; again, code that takes the place of the last. It must live as long as the list.
func (f Function) Put(k *Kernel) {
	if k == nil {
		C.kz_lazy_put(f.c, nil)
		return
	}
	C.kz_lazy_put(f.c, k.c)
}

// Free gives the list back. No kernel that has it runs, nobody calls Put.
func (a *Lazy) Free() {
	C.kz_lazy_close(a.c)
	<-a.serve
	a.made.Wait()
	C.kz_lazy_free(a.c)
}

// Calls says which list the kernel's calls go through, nil if it makes none; vars are its variables if it is itself such a function. Once, before its first launch.
func (k *Kernel) Calls(a *Lazy, vars *Words) {
	var at C.uint64_t
	if vars != nil {
		at = C.uint64_t(uintptr(unsafe.Pointer(vars.p)))
	}
	var list *C.struct_kz_lazy
	if a != nil {
		list = a.c
	}
	C.kz_kernel_lazy(k.c, list, at)
}
