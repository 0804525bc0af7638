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

// Part says what of a reduction is done: the zero value is all of it.
type Part struct {
	From  []byte // accumulators of the sources before these
	Total int    // sources of all parts
	Open  bool   // more come: the result is accumulators
}

// Collect reduces what the sources hold at each place, in their order, into dst. Type and op are NCCL's numbers, see kz_collect; scale has a
// factor for each source. All have room for count elements; dst may be one of the sources, or what the part goes on from.
func Collect(dst []byte, sources [][]byte, scale []uint64, count uint64, kind, op int, part Part) {
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
	c := C.struct_kz_collection{dst: unsafe.Pointer(unsafe.SliceData(dst)), from: unsafe.Pointer(unsafe.SliceData(part.From)),
		src: unsafe.SliceData(list), scale: (*C.uint64_t)(unsafe.SliceData(scale)), sources: C.uint32_t(len(sources)), total: C.uint32_t(max(part.Total, len(sources)))}
	if part.Open {
		c.open = 1
	}
	pin.Pin(c.dst)
	if c.from != nil {
		pin.Pin(c.from)
	}
	pin.Pin(c.src)
	pin.Pin(c.scale)
	C.kz_collect(&c, C.uint64_t(count), C.int(kind), C.int(op))
}
