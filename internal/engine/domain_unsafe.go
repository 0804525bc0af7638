package engine

/*
#include <stdlib.h>
#include "engine.h"

#cgo nocallback kz_hold
#cgo nocallback kz_complain_to
#cgo nocallback kz_domain_new
#cgo nocallback kz_domain_unref
#cgo noescape kz_domain_fault
#cgo nocallback kz_domain_fault
#cgo nocallback kz_domain_poison_task
#cgo nocallback kz_domain_limits
#cgo nocallback kz_domain_flush
#cgo noescape kz_task_next
#cgo nocallback kz_task_next
#cgo noescape kz_task_done
#cgo nocallback kz_task_done
*/
import "C"

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"kudzu/internal/lockrank"
)

// FaultKind tells what ended a kernel.
type FaultKind uint32

// The kinds.
const (
	FaultAddress     FaultKind = C.KZ_FAULT_ADDRESS
	FaultMisaligned  FaultKind = C.KZ_FAULT_MISALIGNED
	FaultInstruction FaultKind = C.KZ_FAULT_INSTRUCTION
	FaultStack       FaultKind = C.KZ_FAULT_STACK
	FaultStop        FaultKind = C.KZ_FAULT_STOP    // the kernel returned Stop
	FaultMemory      FaultKind = C.KZ_FAULT_MEMORY  // no memory for the kernel's frame or local area
	FaultCopy        FaultKind = C.KZ_FAULT_COPY    // a copy or fill touched a bad address
	FaultTimeout     FaultKind = C.KZ_FAULT_TIMEOUT // the launch ran longer than Limit
)

// NoOffset is a PCOffset outside the image: in a runtime entry point, or unknown.
const NoOffset = ^uint64(0)

// Fault is how a kernel or copy ended its domain.
type Fault struct {
	Kind        FaultKind
	Stop        uint32 // FaultStop: the code
	Signal      int
	Line        uint32 // FaultStop: line of the kernel's slice, 0 if unknown
	Lanes, Warp uint32
	Cookie      uint64 // of the kernel; 0 for a copy
	Block       uint64 // linear
	Addr        uint64
	PCOffset    uint64
	Grid, Shape [3]uint32
	Text        string // an assertion's
}

func (f *Fault) Error() string {
	return fmt.Sprintf("engine fault %d: stop %d, signal %d, address %#x, block %d, warp %d, code offset %#x %s", f.Kind, f.Stop, f.Signal, f.Addr, f.Block, f.Warp, f.PCOffset, f.Text)
}

// Domain is what one fault poisons, and where its queues' kernels print to.
type Domain struct {
	c    *C.struct_kz_domain
	e    *Engine
	uses gate // calls that read c
	err  atomic.Pointer[error]
}

// enter says whether the domain is open, and keeps it until leave: a fence, and a call on a queue that was closed meanwhile, may
// ask for the fault while another thread closes the domain.
func (d *Domain) enter() bool {
	if d.uses.enter() {
		return true
	}
	d.leave()
	return false
}

func (d *Domain) leave() {
	if d.uses.leave() {
		C.kz_domain_unref(d.c)
	}
}

// NewDomain makes a domain whose device heap is in m (nil: device malloc returns null).
func (e *Engine) NewDomain(m *Memory) (*Domain, error) {
	var heap *C.struct_kz_mem
	if m != nil {
		heap = m.c
	}
	return e.domain(C.kz_domain_new(e.c, heap, nil))
}

// NewSibling makes a domain that shares d's device heap, and nothing else.
func (d *Domain) NewSibling() (*Domain, error) {
	if !d.enter() {
		return nil, ErrClosed
	}
	defer d.leave()
	return d.e.domain(C.kz_domain_new(d.e.c, nil, d.c))
}

func (e *Engine) domain(c *C.struct_kz_domain) (*Domain, error) {
	if c == nil {
		return nil, ErrNoMemory
	}
	return &Domain{c: c, e: e}, nil
}

// Close drops the domain; it goes when its last queue is closed. Its Memory must live until then.
func (d *Domain) Close() {
	d.Err() // kept for fences that outlive the domain
	d.uses.shut()
	d.leave()
}

// Err is the domain's fault: a *Fault, or the error of a task; nil while there is none.
func (d *Domain) Err() error {
	if p := d.err.Load(); p != nil {
		return *p
	}
	if !d.enter() {
		return nil
	}
	var f C.struct_kz_fault
	bad := C.kz_domain_fault(d.c, &f)
	d.leave()
	if bad == 0 {
		return nil
	}
	if f.kind == C.KZ_FAULT_TASK { // fail stores the error before it poisons
		if p := d.err.Load(); p != nil {
			return *p
		}
	}
	var err error = &Fault{
		Kind: FaultKind(f.kind), Stop: uint32(f.stop), Signal: int(f.signal), Line: uint32(f.line), Lanes: uint32(f.lanes), Warp: uint32(f.warp),
		Cookie: uint64(f.cookie), Block: uint64(f.block), Addr: uint64(f.addr), PCOffset: uint64(f.pc_offset),
		Grid: *(*[3]uint32)(unsafe.Pointer(&f.grid)), Shape: *(*[3]uint32)(unsafe.Pointer(&f.shape)), Text: C.GoString(&f.text[0]),
	}
	d.err.CompareAndSwap(nil, &err)
	return *d.err.Load()
}

// Fail poisons the domain with err, unless it has a fault already.
func (d *Domain) Fail(err error) {
	if d.Err() != nil || !d.enter() {
		return
	}
	defer d.leave()
	if d.err.CompareAndSwap(nil, &err) {
		C.kz_domain_poison_task(d.c)
	}
}

// SetLimits sets the size of the printf FIFO and of the device heap; 0 leaves one unchanged.
func (d *Domain) SetLimits(fifo, heap uint64) {
	if d.enter() {
		C.kz_domain_limits(d.c, C.uint64_t(fifo), C.uint64_t(heap))
		d.leave()
	}
}

// Flush writes what kernels have printed to stdout. Sync does so, too.
func (d *Domain) Flush() {
	if d.enter() {
		C.kz_domain_flush(d.c)
		d.leave()
	}
}

func (d *Domain) result(rc C.int) error {
	if rc != C.KZ_POISONED {
		return result(rc)
	}
	if err := d.Err(); err != nil {
		return err
	}
	return ErrClosed // and with it went the fault
}

// Words is an array of 64-bit words in C memory, for kz_launch.vars.
type Words struct {
	p *C.uint64_t
	n int
}

// ComplainTo names the C function, void f(const char *text, size_t n), that writes failed assertions; without it they go to stderr as it
// is. Once, before the first launch.
func ComplainTo(function uint64) { C.kz_complain_to(C.uint64_t(function)) }

// NewWords makes an array of values.
func NewWords(values []uint64) *Words {
	w := &Words{n: len(values)}
	w.p = (*C.uint64_t)(C.calloc(C.size_t(max(1, w.n)), 8)) // cgo's calloc does not return without memory
	C.kz_hold(unsafe.Pointer(w.p))                          // until a launch names it, and when code has taken over that no launch has had
	copy(unsafe.Slice((*uint64)(unsafe.Pointer(w.p)), w.n), values)
	return w
}

// Pointer is the first of them, until Free.
func (w *Words) Pointer() unsafe.Pointer { return unsafe.Pointer(w.p) }

func (w *Words) addr() uintptr { return uintptr(unsafe.Pointer(w.p)) }

// Free gives the array back.
func (w *Words) Free() {
	C.free(unsafe.Pointer(w.p)) // the address stays: a launch that is being refused may name it
}

// task is one Go function of a queue.
type task struct {
	fn     func() error
	d      *Domain
	always bool
}

// taskTable gives tasks numbers that C can hold.
type taskTable struct {
	mu   lockrank.Mutex[lockrank.EngineTasks]
	all  []task   // guarded by mu
	free []uint64 // guarded by mu
}

func (t *taskTable) put(x task) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		t.all[id] = x
		return id
	}
	t.all = append(t.all, x)
	return uint64(len(t.all) - 1)
}

func (t *taskTable) take(id uint64) task {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.all[id]
	t.all[id] = task{}
	t.free = append(t.free, id)
	return x
}

// startPump begins to take tasks from C. Each runs on its own goroutine, as one may wait for another queue's.
func (e *Engine) startPump() {
	c := e.c
	e.done.Go(func() {
		for {
			var id C.uint64_t
			var t unsafe.Pointer
			if C.kz_task_next(c, &id, &t) != 0 {
				return
			}
			e.done.Go(func() { e.runTasks(uint64(id), t) })
		}
	})
}

// runTask runs one for a thread that synchronizes.
func (e *Engine) runTask(id uint64, t unsafe.Pointer) {
	e.callTask(id, t)
	C.kz_task_done(t, nil, nil)
}

// runTasks runs one, and those that follow it in its queue.
func (e *Engine) runTasks(id uint64, t unsafe.Pointer) {
	for {
		e.callTask(id, t)
		var next C.uint64_t
		if C.kz_task_done(t, &next, &t) == 0 {
			return
		}
		id = uint64(next)
	}
}

func (e *Engine) callTask(id uint64, t unsafe.Pointer) {
	if id&taskMeeting != 0 {
		goOn(id&^taskMeeting, t)
		return
	}
	x := e.tasks.take(id)
	if x.always || x.d.Err() == nil {
		if err := call(x.fn); err != nil {
			x.d.Fail(err)
		}
	}
}

// call turns a panic into an error: it must not end the host's process. Nor must a fault: what a task reads may be the
// program's memory, which the program may take away.
func call(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("BUG: task: %v\n%s", r, debug.Stack())
		}
	}()
	return fn()
}
