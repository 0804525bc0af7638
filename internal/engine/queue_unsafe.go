package engine

/*
#include "engine.h"

#cgo noescape kz_kernel_new
#cgo nocallback kz_kernel_new
#cgo nocallback kz_kernel_free
#cgo nocallback kz_kernel_retire
#cgo nocallback kz_kernel_supersede
#cgo nocallback kz_queue_new
#cgo nocallback kz_queue_unref
#cgo noescape kz_queue_launch
#cgo nocallback kz_queue_launch
#cgo noescape kz_queue_later
#cgo nocallback kz_queue_later
#cgo noescape kz_launch_fill
#cgo nocallback kz_launch_fill
#cgo nocallback kz_queue_copy
#cgo nocallback kz_queue_copy2d
#cgo nocallback kz_queue_fill
#cgo nocallback kz_queue_task
#cgo noescape kz_queue_mark
#cgo nocallback kz_queue_mark
#cgo nocallback kz_queue_wait
#cgo noescape kz_queue_sync
#cgo nocallback kz_queue_sync
#cgo nocallback kz_queue_done
#cgo noescape kz_fence_sync
#cgo nocallback kz_fence_sync
#cgo nocallback kz_fence_nanos
#cgo nocallback kz_fence_unref
*/
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"kudzu/internal/lockrank"
)

// KernelConfig describes compiled code; the numbers are those of the image's metadata.
type KernelConfig struct {
	Entry            uintptr // of the mapped code
	Image, ImageSize uintptr // mapped range
	Cookie           uint64  // comes back in a Fault
	Times            uintptr // two words that stay: nanoseconds in this kernel and its launches are added there; 0: not wanted
	SharedStatic     uint32
	SharedAlign      uint32
	FrameWarp        uint32
	FrameBlock       uint32
	LocalThread      uint32
	FTZ, Spins       bool
	Resumable        bool // a block that waits may be left and taken up again
	Reserved         bool // shared memory ends with what is the system's
}

// Kernel is code that queues can run.
type Kernel struct {
	c      *C.struct_kz_kernel
	better *Kernel // keeps it
}

// NewKernel registers code. The mapping must outlive the Kernel.
func NewKernel(k *KernelConfig) (*Kernel, error) {
	info := C.struct_kz_kernel_info{
		entry: C.uint64_t(k.Entry), image: C.uint64_t(k.Image), image_size: C.uint64_t(k.ImageSize), cookie: C.uint64_t(k.Cookie), times: C.uint64_t(k.Times),
		shared_static: C.uint32_t(k.SharedStatic), shared_align: C.uint32_t(k.SharedAlign),
		frame_warp: C.uint32_t(k.FrameWarp), frame_block: C.uint32_t(k.FrameBlock), local_thread: C.uint32_t(k.LocalThread),
		ftz: flag(k.FTZ), spins: flag(k.Spins), resumable: flag(k.Resumable), reserved: flag(k.Reserved),
	}
	c := C.kz_kernel_new(&info)
	if c == nil {
		return nil, ErrNoMemory
	}
	return &Kernel{c: c}, nil
}

// Supersede has launches of k, those under way too, go on with better code from their next chunk of blocks on. It does the same with the
// same variables and parameters, and is freed with k. It says no where a block that is begun could not end as it began.
func (k *Kernel) Supersede(better *Kernel) bool {
	k.better = better
	return C.kz_kernel_supersede(k.c, better.c) != 0
}

// Free forgets the code. Work that uses it must be done; a launch that comes all the same, or is under way on another thread, gets
// ErrClosed. What such a call looks at to find out stays as long as anybody has k.
func (k *Kernel) Free() {
	k.retire()
	runtime.AddCleanup(k, func(c *C.struct_kz_kernel) { C.kz_kernel_free(c) }, k.c)
}

// retire refuses the code's launches from now on.
func (k *Kernel) retire() { C.kz_kernel_retire(k.c) }

func flag(b bool) C.uint32_t {
	if b {
		return 1
	}
	return 0
}

// Launch is what one launch adds to its kernel.
type Launch struct {
	Grid, Block, Cluster [3]uint32
	DynamicShared        uint32
	Cooperative          bool
	Clustered            bool      // the kernel is compiled for clusters: the blocks of one run together
	Vars                 *Words    // addresses of the variables the image names; nil: none. Must live until the kernel ends.
	Params               []byte    // copied
	Children             *Children // where what it launches is kept; nil: it launches nothing. Must live until the kernel ends.
}

// Queue is an ordered list of work. Its methods may be called from any thread and only enqueue unless they say otherwise.
// Once the domain has a fault, enqueuing fails with it, and what was enqueued before is skipped.
type Queue struct {
	c    *C.struct_kz_queue
	d    *Domain
	gone atomic.Bool // Close has been called
	uses gate        // calls under way
}

// enter says whether the queue is open, and keeps it until leave.
func (q *Queue) enter() bool {
	if q.uses.enter() {
		return true
	}
	q.leave()
	return false
}

func (q *Queue) leave() {
	if q.uses.leave() {
		C.kz_queue_unref(q.c)
	}
}

// Priorities is the number of queue priorities: 0 the lowest.
const Priorities = 8

// NewQueue makes an empty queue of the domain.
func (d *Domain) NewQueue(priority int) (*Queue, error) {
	if !d.enter() {
		return nil, ErrClosed
	}
	defer d.leave()
	c := C.kz_queue_new(d.c, C.int(priority))
	if c == nil {
		return nil, ErrNoMemory
	}
	return &Queue{c: c, d: d}, nil
}

// Domain is the queue's domain.
func (q *Queue) Domain() *Domain { return q.d }

// result ends a call that enter began.
func (q *Queue) result(rc C.int) error {
	q.leave()
	if rc == C.KZ_OK {
		return nil
	}
	return q.d.result(rc)
}

// args says the launch in C's words, all but the parameters. It writes in place: a copy of what was just written in smaller
// pieces waits for them.
func (l *Launch) args(a *C.struct_kz_launch_args) {
	a.grid[0], a.grid[1], a.grid[2] = C.uint32_t(l.Grid[0]), C.uint32_t(l.Grid[1]), C.uint32_t(l.Grid[2])
	a.block[0], a.block[1], a.block[2] = C.uint32_t(l.Block[0]), C.uint32_t(l.Block[1]), C.uint32_t(l.Block[2])
	a.cluster[0], a.cluster[1], a.cluster[2] = C.uint32_t(l.Cluster[0]), C.uint32_t(l.Cluster[1]), C.uint32_t(l.Cluster[2])
	a.dynamic_shared, a.params_bytes = C.uint32_t(l.DynamicShared), C.uint32_t(len(l.Params))
	a.cooperative, a.clustered, a.vars = flag(l.Cooperative), flag(l.Clustered), 0
	if l.Vars != nil {
		a.vars = C.uint64_t(l.Vars.addr())
	}
	a.children = nil
	if l.Children != nil {
		a.children = l.Children.c
	}
}

// Launch runs the kernel over the grid. It does not allocate.
func (q *Queue) Launch(k *Kernel, l *Launch) error {
	if !q.enter() {
		return ErrClosed
	}
	var a C.struct_kz_launch_args
	l.args(&a)
	// Typed, because what an unsafe.Pointer points to is looked at before every call.
	rc := C.kz_queue_launch(q.c, k.c, &a, (*C.uint8_t)(unsafe.SliceData(l.Params)))
	runtime.KeepAlive(k)
	return q.result(rc)
}

// Later is Launch for a kernel that is not there yet: find is called on a goroutine when earlier work is done, and what it
// gives is launched with these parameters, before later work. A nil Kernel: find has done the work in another way. An error is
// the domain's fault.
func (q *Queue) Later(params []byte, find func() (*Kernel, *Launch, error)) error {
	if !q.enter() {
		return ErrClosed
	}
	var launch unsafe.Pointer
	put := make(chan struct{})
	fill := func() error {
		<-put
		k, l, err := find()
		if k == nil || err != nil {
			return err
		}
		var a C.struct_kz_launch_args
		l.args(&a)
		rc := C.kz_launch_fill(launch, k.c, &a)
		runtime.KeepAlive(k)
		if rc == C.KZ_GONE { // freed on another thread: nothing is launched
			return nil
		}
		return result(rc)
	}
	e := q.d.e
	e.pump.Do(e.startPump)
	id := e.tasks.put(task{fill, q.d, false})
	rc := C.kz_queue_later(q.c, C.uint64_t(id), C.uint32_t(len(params)), (*C.uint8_t)(unsafe.SliceData(params)), &launch)
	close(put)
	if rc != C.KZ_OK {
		e.tasks.take(id)
	}
	return q.result(rc)
}

// Copy moves n bytes. An address may be any of this process; one that is not mapped is a fault of the domain.
func (q *Queue) Copy(dst, src, n uint64) error {
	if !q.enter() {
		return ErrClosed
	}
	return q.result(C.kz_queue_copy(q.c, C.uint64_t(dst), C.uint64_t(src), C.uint64_t(n)))
}

// Copy2D moves height rows of width bytes.
func (q *Queue) Copy2D(dst, dstPitch, src, srcPitch, width, height uint64) error {
	if !q.enter() {
		return ErrClosed
	}
	return q.result(C.kz_queue_copy2d(q.c, C.uint64_t(dst), C.uint64_t(dstPitch), C.uint64_t(src), C.uint64_t(srcPitch), C.uint64_t(width), C.uint64_t(height)))
}

// Fill writes count elements of size 1, 2 or 4 bytes in each of rows rows, pitch bytes apart.
func (q *Queue) Fill(dst uint64, value uint32, size int, count, pitch, rows uint64) error {
	if !q.enter() {
		return ErrClosed
	}
	if size != 1 && size != 2 && size != 4 {
		q.leave()
		return ErrInvalid
	}
	return q.result(C.kz_queue_fill(q.c, C.uint64_t(dst), C.uint32_t(value), C.uint32_t(size), C.uint64_t(count), C.uint64_t(pitch), C.uint64_t(rows)))
}

// TaskFlags say how a task is run.
type TaskFlags uint8

// The flags.
const (
	TaskInline TaskFlags = 1 << iota // a synchronizing goroutine may run it
	TaskAlways                       // also when the domain has a fault
)

// Task calls fn on a goroutine when earlier work is done, and delays later work until it returns.
// An error of fn is the domain's fault.
func (q *Queue) Task(fn func() error, flags TaskFlags) error {
	if !q.enter() {
		return ErrClosed
	}
	e := q.d.e
	e.pump.Do(e.startPump)
	id := e.tasks.put(task{fn, q.d, flags&TaskAlways != 0})
	rc := C.kz_queue_task(q.c, C.uint64_t(id), C.int(flags&TaskInline), C.int(flags&TaskAlways))
	if rc != C.KZ_OK {
		e.tasks.take(id)
	}
	return q.result(rc)
}

// Wait delays later work of q until f is reached.
func (q *Queue) Wait(f *Fence) error {
	if !q.enter() {
		return ErrClosed
	}
	rc := C.kz_queue_wait(q.c, f.c)
	runtime.KeepAlive(f)
	return q.result(rc)
}

// Sync blocks until all work enqueued so far is done; the calling thread runs it where it can. The error is the domain's fault.
func (q *Queue) Sync() error {
	lockrank.Wait()
	return q.drain()
}

func (q *Queue) drain() error {
	if !q.enter() {
		return ErrClosed
	}
	rc := q.sync()
	return q.result(rc)
}

func (q *Queue) sync() C.int {
	for {
		var id C.uint64_t
		var t unsafe.Pointer
		rc := C.kz_queue_sync(q.c, &id, &t)
		if rc != C.KZ_TASK {
			return rc
		}
		q.d.e.runTask(uint64(id), t)
	}
}

// Done says whether the queue is empty.
func (q *Queue) Done() (bool, error) {
	if !q.enter() {
		return true, ErrClosed
	}
	defer q.leave()
	return C.kz_queue_done(q.c) != 0, q.d.Err()
}

// Close waits for the queue's work and frees it. Calls on other threads may be under way; later ones get ErrClosed.
func (q *Queue) Close() error {
	if q.gone.Swap(true) {
		return ErrClosed
	}
	err := q.drain()
	q.uses.shut()
	q.uses.alone()
	rc := q.sync() // what calls put in that were under way
	if e := q.result(rc); err == nil {
		err = e
	}
	return err
}

// Fence is a point in a queue.
type Fence struct {
	c    *C.struct_kz_fence
	d    *Domain
	next *Fence
}

// fences keeps Fence objects for reuse, because the finalizer that returns a dropped one to C costs more than the mark itself.
var fences struct {
	mu   lockrank.Mutex[lockrank.EngineFences]
	free *Fence // guarded by mu
	n    int    // guarded by mu
}

const maxFreeFences = 1024

// Mark returns a fence that is reached when all work enqueued so far is done.
func (q *Queue) Mark() (*Fence, error) {
	if !q.enter() {
		return nil, ErrClosed
	}
	defer q.leave()
	var c *C.struct_kz_fence
	if rc := C.kz_queue_mark(q.c, &c); rc != C.KZ_OK {
		return nil, q.d.result(rc)
	}
	fences.mu.Lock()
	f := fences.free
	if f != nil {
		fences.free = f.next
		fences.n--
	}
	fences.mu.Unlock()
	if f == nil {
		f = &Fence{}
		runtime.SetFinalizer(f, (*Fence).drop)
	}
	f.c, f.d, f.next = c, q.d, nil
	return f, nil
}

func (f *Fence) drop() {
	if f.c != nil {
		C.kz_fence_unref(f.c)
		f.c = nil
	}
}

// Release gives the fence back early. It is optional, and nobody may use f afterwards.
func (f *Fence) Release() {
	f.drop()
	f.d = nil
	fences.mu.Lock()
	if fences.n < maxFreeFences {
		f.next, fences.free = fences.free, f
		fences.n++
	}
	fences.mu.Unlock()
}

// Done says whether the fence is reached; the error is its domain's fault.
func (f *Fence) Done() (bool, error) {
	return f.Nanos() != 0, f.d.Err()
}

// Nanos is when the fence was reached, in nanoseconds of CLOCK_MONOTONIC; 0 before that.
func (f *Fence) Nanos() int64 {
	n := int64(C.kz_fence_nanos(f.c))
	runtime.KeepAlive(f)
	return n
}

// Sync blocks until the fence is reached, as Queue.Sync.
func (f *Fence) Sync() error {
	lockrank.Wait()
	defer runtime.KeepAlive(f)
	for {
		var id C.uint64_t
		var t unsafe.Pointer
		rc := C.kz_fence_sync(f.c, &id, &t)
		switch rc {
		case C.KZ_OK:
			return f.d.Err()
		case C.KZ_TASK:
			f.d.e.runTask(uint64(id), t)
		default:
			return f.d.result(rc)
		}
	}
}
