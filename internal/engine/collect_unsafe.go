package engine

/*
#include <stdlib.h>
#include "engine.h"

#cgo noescape kz_collect
#cgo nocallback kz_collect
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Collect reduces what the sources hold at each place, in their order, into dst. Type and op are NCCL's numbers, see kz_collect; scale has a
// factor for each source. All have room for count elements; dst may be one of the sources.
func Collect(dst []byte, sources [][]byte, scale []uint64, count uint64, kind, op int) {
	if count == 0 {
		return
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	list := make([]unsafe.Pointer, len(sources))
	for i, s := range sources {
		list[i] = unsafe.Pointer(unsafe.SliceData(s))
		pin.Pin(list[i])
	}
	C.kz_collect(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.SliceData(list), (*C.uint64_t)(unsafe.SliceData(scale)), C.uint32_t(len(sources)), C.uint64_t(count), C.int(kind), C.int(op))
}
