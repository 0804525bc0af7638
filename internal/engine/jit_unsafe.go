package engine

/*
#cgo noescape kz_code_add
#cgo nocallback kz_code_add
#cgo nocallback kz_code_remove
#include "engine.h"
*/
import "C"

import "unsafe"

// ShowCode tells a debugger of code: object is an ELF file that describes it. It is copied. The function it gives takes that back;
// nil where there is no memory.
func ShowCode(object []byte) (forget func()) {
	if len(object) == 0 {
		return nil
	}
	e := C.kz_code_add(unsafe.Pointer(&object[0]), C.uint64_t(len(object)))
	if e == nil {
		return nil
	}
	return func() { C.kz_code_remove(e) }
}
