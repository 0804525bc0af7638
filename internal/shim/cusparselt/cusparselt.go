// Package cusparselt answers cuSPARSELt: products with a matrix of which two in four numbers are zeros (of 32-bit numbers one in two).
// What such a matrix leaves out is put back before the product, which is cuBLAS's. Objects are all in the program's memory, so that
// they may be copied and forgotten; only a handle has memory of its own.
package cusparselt

import (
	"errors"
	"fmt"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// Thread is the calling thread; its methods are the functions of cuSPARSELt.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Status is a result code as an error.
type Status sparse.CusparseStatus_t

func (s Status) Error() string { return fmt.Sprintf("cuSPARSELt error %d", int32(s)) }

const (
	notInitialized = Status(sparse.CUSPARSE_STATUS_NOT_INITIALIZED)
	allocFailed    = Status(sparse.CUSPARSE_STATUS_ALLOC_FAILED)
	invalidValue   = Status(sparse.CUSPARSE_STATUS_INVALID_VALUE)
	notSupported   = Status(sparse.CUSPARSE_STATUS_NOT_SUPPORTED)
)

// Code is the number C gets for an error.
func Code(err error) int32 {
	var s Status
	if errors.As(err, &s) {
		return int32(s)
	}
	if c := cublas.Code(err); c == int32(3) { // memory
		return int32(allocFailed)
	}
	return int32(sparse.CUSPARSE_STATUS_EXECUTION_FAILED)
}

// state is what a handle keeps: memory of products that are under way.
type state struct{ space shim.Workspace }

var handles = handle.NewTable[state](handle.CusparseLtHandle, "cuSPARSELt handles")

// Marks of the objects, in their first eight bytes.
const (
	markMatrix = 0x6b7a6c744d617400 + iota
	markMatmul
	markSelection
	markPlan
	markHandle
)

// handleText is what lies in a handle.
type handleText struct {
	mark  uint64
	value handle.Value
}

// Init makes a handle.
func (t *Thread) Init(at hostmem.Ptr) error {
	if at == hostmem.Nil {
		return invalidValue
	}
	if err := cudart.Ready(t.driver()); err != nil {
		return notInitialized
	}
	v := handles.New(&state{})
	if v == 0 {
		return allocFailed
	}
	hostmem.Store(at, handleText{markHandle, v})
	return nil
}

// Destroy ends it.
func (t *Thread) Destroy(at hostmem.Ptr) error {
	if at == hostmem.Nil {
		return invalidValue
	}
	text := hostmem.Load[handleText](at)
	if text.mark != markHandle {
		return notInitialized
	}
	s := handles.Delete(text.value)
	if s == nil {
		return notInitialized
	}
	s.space.Drop(t.driver())
	return nil
}

func find(at hostmem.Ptr) (*state, error) {
	if at == hostmem.Nil {
		return nil, invalidValue
	}
	text := hostmem.Load[handleText](at)
	if text.mark != markHandle {
		return nil, notInitialized
	}
	if s := handles.Get(text.value); s != nil {
		return s, nil
	}
	return nil, notInitialized
}

// object reads one of the program's.
func object[T any](at hostmem.Ptr, mark uint64) (*T, error) {
	if at == hostmem.Nil || hostmem.Load[uint64](at) != mark {
		return nil, invalidValue
	}
	return hostmem.At[T](at), nil
}

// forget ends an object: the next use is refused.
func forget(at hostmem.Ptr, mark uint64) error {
	if _, err := object[uint64](at, mark); err != nil {
		return err
	}
	hostmem.Store(at, uint64(0))
	return nil
}
