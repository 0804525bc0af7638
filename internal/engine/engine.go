// Package engine runs compiled kernels on threads of this process: device memory, queues, workers, faults.
//
// The engine itself is C (the .c files here) and never calls Go: its threads are plain pthreads, a fault in a kernel is
// caught there, and a thread that synchronizes runs what it waits for without a wake-up. This package is the thin Go face
// of it. Nothing here knows of PTX, modules or CUDA.
//
//	Engine   worker threads, shared by all devices
//	Memory   one device's part of the reserved address range, with a limit
//	Domain   what one fault poisons: a context
//	Queue    ordered work of a domain: kernels, copies, fills, Go tasks, marks and waits
//	Fence    a point in a queue, with the time it was reached
package engine

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -fno-strict-aliasing -fvisibility=hidden -pthread
#cgo LDFLAGS: -pthread
#include "engine.h"

#cgo noescape kz_engine_start
#cgo nocallback kz_engine_start
#cgo nocallback kz_engine_halt
#cgo nocallback kz_engine_stop
#cgo nocallback kz_engine_threads
#cgo nocallback kz_engine_narrow
#cgo nocallback kz_engine_limit
#cgo nocallback kz_engine_limited
#cgo noescape kz_engine_stats
#cgo nocallback kz_engine_stats
#cgo nocallback kz_fault_assert
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"kudzu/internal/config"
	"kudzu/internal/quota"
)

// What the engine answers beside faults.
var (
	ErrNoMemory = errors.New("out of memory")
	ErrInvalid  = errors.New("invalid address")
	ErrClosed   = errors.New("closed")
	ErrLimit    = errors.New("kernel needs more frame, local or shared memory than a worker may have")
	ErrSystem   = errors.New("the system refused threads or address space")
)

// NumRt is the number of runtime entry points kernels find in kz_launch.rt.
const NumRt = C.KZ_NUM_RT

// MaxThreads is the most workers an engine has.
const MaxThreads = 1024

// Engine is a set of worker threads.
type Engine struct {
	c     *C.struct_kz_engine
	tasks taskTable
	pump  sync.Once
	done  sync.WaitGroup // the pump and the tasks it runs

	retired retirements
}

// Start makes an engine with its own workers. A process normally has one: see Default.
func Start(threads int) (*Engine, error) {
	if threads < 1 || threads > MaxThreads {
		return nil, fmt.Errorf("engine: %d threads: must be 1 to %d", threads, MaxThreads)
	}
	e := &Engine{}
	if rc := C.kz_engine_start(C.int(threads), &e.c); rc != C.KZ_OK {
		return nil, result(rc)
	}
	return e, nil
}

// Default is the process's engine, started at the first call with DefaultThreads workers.
var Default = sync.OnceValues(func() (*Engine, error) {
	n, err := DefaultThreads()
	if err != nil {
		return nil, err
	}
	limit, err := DefaultLimit()
	if err != nil {
		return nil, err
	}
	e, err := Start(n)
	if err != nil {
		return nil, err
	}
	return e, e.SetLimit(limit)
})

// Order is the order in which the blocks of kernels begin, or their clusters. With several workers they overlap.
type Order int

// The orders; Random has a seed.
const (
	Forward Order = C.KZ_ORDER_FORWARD
	Reverse Order = C.KZ_ORDER_REVERSE
	Random  Order = C.KZ_ORDER_RANDOM
)

// SetOrder sets it, once, before the first launch.
func (e *Engine) SetOrder(o Order, seed uint64) { C.kz_engine_order(e.c, C.int(o), C.uint64_t(seed)) }

// DefaultThreads is KUDZU_THREADS, or the processors that affinity and control groups allow.
func DefaultThreads() (int, error) {
	if s := config.Get(config.Threads); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > MaxThreads {
			return 0, fmt.Errorf(config.Threads+"=%s: must be a number from 1 to %d", s, MaxThreads)
		}
		return n, nil
	}
	n := runtime.NumCPU()
	if q := quota.Own.Processors(); q > 0 && q < n {
		n = q
	}
	return min(n, MaxThreads), nil
}

// maxLimit is the longest time that a launch can be limited to.
const maxLimit = 24 * time.Hour

// DefaultLimit is KUDZU_LAUNCH_TIMEOUT, 0 where it is not set.
func DefaultLimit() (time.Duration, error) {
	s := config.Get(config.LaunchTimeout)
	if s == "" {
		return 0, nil
	}
	d, err := ParseLimit(s)
	if err != nil {
		err = fmt.Errorf(config.LaunchTimeout+"=%s: %w", s, err)
	}
	return d, err
}

// ParseLimit reads a limit in seconds.
func ParseLimit(s string) (time.Duration, error) {
	n, err := strconv.ParseFloat(s, 64)
	d := time.Duration(n * float64(time.Second))
	if err != nil || !(n >= 0 && n <= maxLimit.Seconds()) || n > 0 && d < time.Millisecond {
		return 0, fmt.Errorf("must be seconds, from 0.001 to %.0f, or 0 for no limit", maxLimit.Seconds())
	}
	return d, nil
}

// TooLong says of a launch that it was stopped after d.
func TooLong(d time.Duration) string {
	return fmt.Sprintf("ran longer than %v ("+config.LaunchTimeout+")", d)
}

// SetLimit has launches that run longer than d stopped, with a FaultTimeout that ends their domain; 0: none is. Once, before the first.
func (e *Engine) SetLimit(d time.Duration) error {
	return result(C.kz_engine_limit(e.c, C.uint32_t(d.Milliseconds())))
}

// Limit is what SetLimit set.
func (e *Engine) Limit() time.Duration {
	return time.Duration(C.kz_engine_limited(e.c)) * time.Millisecond
}

// Threads is the number of workers.
func (e *Engine) Threads() int { return int(C.kz_engine_threads(e.c)) }

// Narrow reports that address space is short: kernels must be compiled to test their offsets in shared memory (compile.Options.Bounds).
func (e *Engine) Narrow() bool { return C.kz_engine_narrow(e.c) != 0 }

// Stop ends the workers. Every queue must be closed. For tests: a process's engine lives until exit, which need not wait for it.
func (e *Engine) Stop() {
	C.kz_engine_halt(e.c)
	e.done.Wait()
	C.kz_engine_stop(e.c)
	e.c = nil
}

// Stats are counts since the engine started.
type Stats struct {
	Kernels, Chunks, Helped, Wakes, Extra, Yields uint64
	Contexts, Threads                             int
}

// Stats reads the counts.
func (e *Engine) Stats() Stats {
	var s C.struct_kz_stats
	C.kz_engine_stats(e.c, &s)
	return Stats{uint64(s.kernels), uint64(s.chunks), uint64(s.helped), uint64(s.wakes), uint64(s.extra), uint64(s.yields), int(s.contexts), int(s.threads)}
}

// CountKernels has the time in kernels, in nanoseconds of all threads, added to the 64-bit word at an address that stays
// valid until the process ends, or until it is called with 0.
func CountKernels(counter uintptr) { C.kz_count_kernels(C.uint64_t(counter)) }

// CountMeets has the operations that queues get by Meet counted in two words at such an address: those that Go put in, then those of C.
func CountMeets(counters uintptr) { C.kz_count_meets(C.uint64_t(counters)) }

// ListKernels is CountKernels for a second word: the one that other processes read.
func ListKernels(counter uintptr) { C.kz_list_kernels(C.uint64_t(counter)) }

// AssertHandlers puts the engine's fault handlers back on top if a library has installed its own since.
// The engine does so by itself once a millisecond while kernels run.
func AssertHandlers() { C.kz_fault_assert() }

func result(rc C.int) error {
	switch rc {
	case C.KZ_OK:
		return nil
	case C.KZ_NOMEM:
		return ErrNoMemory
	case C.KZ_INVALID:
		return ErrInvalid
	case C.KZ_LIMIT:
		return ErrLimit
	case C.KZ_SYSTEM:
		return ErrSystem
	case C.KZ_GONE:
		return ErrClosed
	}
	panic(fmt.Sprintf("BUG: engine result %d", int(rc)))
}
