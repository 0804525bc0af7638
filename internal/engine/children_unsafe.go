package engine

/*
#include "engine.h"

#cgo noescape kz_children_new
#cgo nocallback kz_children_new
#cgo nocallback kz_children_take
#cgo nocallback kz_child_free
#cgo nocallback kz_children_free
#cgo noescape kz_queue_launch_then
#cgo nocallback kz_queue_launch_then
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// ChildRules are what the launches of a grid are checked against.
type ChildRules struct {
	MaxGrid, MaxBlock     [3]uint32
	MaxThreads, MaxShared uint32
	Depth                 int    // of the grid that launches: 0 if the host launched it
	Kernels               *Words // sorted pairs: what a device pointer to a kernel is, and the bytes of its parameters. It must outlive the grid.
}

// Children is what a grid launches. The kernel adds to it while it runs.
type Children struct{ c *C.struct_kz_children }

// NewChildren makes an empty list for one launch.
func NewChildren(r *ChildRules) (*Children, error) {
	rules := C.struct_kz_child_rules{
		max_threads: C.uint32_t(r.MaxThreads), max_shared: C.uint32_t(r.MaxShared), depth: C.uint32_t(r.Depth),
		nkernels: C.uint64_t(r.Kernels.n / 2), kernels: r.Kernels.p,
	}
	for i := range 3 {
		rules.max_grid[i], rules.max_block[i] = C.uint32_t(r.MaxGrid[i]), C.uint32_t(r.MaxBlock[i])
	}
	c := C.kz_children_new(&rules)
	if c == nil {
		return nil, ErrNoMemory
	}
	return &Children{c}, nil
}

// Child is a launch that a grid asked for.
type Child struct {
	Function      uint64 // what the device's pointer to the kernel is
	Grid, Block   [3]uint32
	DynamicShared uint32
	Params        []byte
}

// Take gives what was launched so far, in the order in which it runs.
func (c *Children) Take() []Child {
	var list []Child
	for x := C.kz_children_take(c.c); x != nil; {
		p := unsafe.Pointer(uintptr(unsafe.Pointer(x)) + unsafe.Offsetof(x.bytes) + unsafe.Sizeof(x.bytes)) // params, which cgo has no name for
		child := Child{Function: uint64(x.function), DynamicShared: uint32(x.dynamic_shared), Params: C.GoBytes(p, C.int(x.bytes))}
		for i := range 3 {
			child.Grid[i], child.Block[i] = uint32(x.grid[i]), uint32(x.block[i])
		}
		list = append(list, child)
		next := x.next
		C.kz_child_free(x)
		x = next
	}
	return list
}

// Free gives the list back. The grid is over.
func (c *Children) Free() { C.kz_children_free(c.c) }

// LaunchThen is Launch with a task directly behind it, which is called also when the domain has a fault. A synchronizing goroutine may
// run it.
func (q *Queue) LaunchThen(k *Kernel, l *Launch, then func() error) error {
	if !q.enter() {
		return ErrClosed
	}
	var a C.struct_kz_launch_args
	l.args(&a)
	e := q.d.e
	e.pump.Do(e.startPump)
	id := e.tasks.put(task{then, q.d, true})
	rc := C.kz_queue_launch_then(q.c, k.c, &a, (*C.uint8_t)(unsafe.SliceData(l.Params)), C.uint64_t(id))
	runtime.KeepAlive(k)
	if rc != C.KZ_OK {
		e.tasks.take(id)
	}
	return q.result(rc)
}
