package engine

/*
#include "engine.h"

#cgo nocallback kz_record_to
#cgo nocallback kz_queue_tag
#cgo noescape kz_kernel_name
#cgo nocallback kz_kernel_name
*/
import "C"

import "unsafe"

// Record has queues tell a recorder of their work: the address of a C structure kz_trace_host (c/base/host.h). Once, before the first
// queue is made.
func Record(recorder uint64) { C.kz_record_to(C.uint64_t(recorder)) }

// Tag says whose queue it is, to the recorder.
func (q *Queue) Tag(device uint32, stream uint64) {
	if !q.enter() {
		return
	}
	C.kz_queue_tag(q.c, C.uint32_t(device), C.uint64_t(stream))
	q.leave()
}

// Name says what the kernel is called and what made its code, to the recorder. Before its first launch.
func (k *Kernel) Name(name string, code int) error {
	if name == "" {
		return nil
	}
	return result(C.kz_kernel_name(k.c, (*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.uint64_t(len(name)), C.uint32_t(code)))
}
