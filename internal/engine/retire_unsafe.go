package engine

/*
#include "engine.h"

#cgo noescape kz_grace_begin
#cgo nocallback kz_grace_begin
#cgo nocallback kz_grace_end
*/
import "C"

import "kudzu/internal/lockrank"

// retirements are what waits for work that was there when kernels were retired, the first one first.
type retirements struct {
	mu      lockrank.Mutex[lockrank.EngineRetired]
	waiting []retirement // guarded by mu
	busy    bool         // guarded by mu: a goroutine works on them
}

type retirement struct {
	grace *C.struct_kz_grace
	then  func() error
}

// Retire ends kernels that other threads may be launching: from now on queues refuse them. When all work that the queues have by
// then is done, then is called: before Retire returns if there is none, else on a goroutine.
func (e *Engine) Retire(kernels []*Kernel, then func() error) error {
	for _, k := range kernels {
		C.kz_kernel_retire(k.c)
	}
	var g *C.struct_kz_grace
	if rc := C.kz_grace_begin(e.c, &g); rc != C.KZ_OK {
		return result(rc) // then is never called: what it frees is lost, and nothing is freed under its users
	}
	if g == nil {
		return then()
	}
	r := &e.retired
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, retirement{g, then})
	if !r.busy {
		r.busy = true
		e.done.Go(e.retire)
	}
	return nil
}

// retire works on what waits until there is nothing. One goroutine does: who waits in C has a thread to itself.
func (e *Engine) retire() {
	r := &e.retired
	for {
		r.mu.Lock()
		if len(r.waiting) == 0 {
			r.waiting, r.busy = nil, false
			r.mu.Unlock()
			return
		}
		next := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.mu.Unlock()
		C.kz_grace_end(next.grace)
		_ = call(next.then) // nobody is left to hear of it
	}
}
