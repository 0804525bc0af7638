// Package cusparse answers cuSPARSE: handles, descriptors and argument checks here, the work in kernels of our own (kernels/*.cu) on
// the handle's stream. There are kernels for the common types (fast.cu), and general ones for every format, type and index width,
// which compute in f64. No sum depends on the order in which threads run.
package cusparse

import (
	"errors"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
)

// Thread is the calling thread; its methods are the functions of cuSPARSE.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Short names for types of the interface. Handles and descriptors are numbers to us.
type (
	operation = sparse.CusparseOperation_t
	dataType  = rt.CudaDataType
	indexType = sparse.CusparseIndexType_t
	indexBase = sparse.CusparseIndexBase_t
	order     = sparse.CusparseOrder_t
	direction = sparse.CusparseDirection_t
	action    = sparse.CusparseAction_t
	policy    = sparse.CusparseSolvePolicy_t
)

// Elem is the type of elements, in the numbers that kernels share with cuBLAS.
type Elem = cublas.Elem

// The types there are kernels for.
const (
	F32  = cublas.F32
	F64  = cublas.F64
	F16  = cublas.F16
	BF16 = cublas.BF16
	C32  = cublas.C32
	C64  = cublas.C64
	S8   = cublas.S8
	S32  = cublas.S32
)

// isComplex says which of a kernel's two forms computes with an element.
func isComplex(es ...Elem) bool {
	for _, e := range es {
		if e == C32 || e == C64 {
			return true
		}
	}
	return false
}

// Status is a result code as an error.
type Status sparse.CusparseStatus_t

func (s Status) Error() string { return names[s] }

// The codes this package gives.
const (
	notInitialized  = Status(sparse.CUSPARSE_STATUS_NOT_INITIALIZED)
	allocFailed     = Status(sparse.CUSPARSE_STATUS_ALLOC_FAILED)
	invalidValue    = Status(sparse.CUSPARSE_STATUS_INVALID_VALUE)
	executionFailed = Status(sparse.CUSPARSE_STATUS_EXECUTION_FAILED)
	internalError   = Status(sparse.CUSPARSE_STATUS_INTERNAL_ERROR)
	wrongMatrixType = Status(sparse.CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED)
	zeroPivot       = Status(sparse.CUSPARSE_STATUS_ZERO_PIVOT)
	notSupported    = Status(sparse.CUSPARSE_STATUS_NOT_SUPPORTED)
)

var names = map[Status]string{
	notInitialized: "cuSPARSE is not initialized", allocFailed: "out of memory", invalidValue: "invalid value", executionFailed: "execution failed",
	internalError: "internal error", wrongMatrixType: "matrix type not supported", zeroPivot: "zero pivot", notSupported: "not supported",
}

// Code is the number C gets for an error. The driver's reasons are folded into the few cuSPARSE knows.
func Code(err error) int32 {
	var s Status
	if errors.As(err, &s) {
		return int32(s)
	}
	var r driver.Result
	if !errors.As(err, &r) {
		return int32(internalError)
	}
	switch cu.CUresult(r) {
	case cu.CUDA_ERROR_NOT_INITIALIZED, cu.CUDA_ERROR_NO_DEVICE, cu.CUDA_ERROR_INVALID_CONTEXT, cu.CUDA_ERROR_DEINITIALIZED:
		return int32(notInitialized)
	case cu.CUDA_ERROR_OUT_OF_MEMORY:
		return int32(allocFailed)
	}
	return int32(executionFailed)
}

// The version presented: cuSPARSE 12.6.3, of CUDA 13.0.
const major, minor, patch = 12, 6, 3

// GetVersion is the version as one number.
func (t *Thread) GetVersion(h uint64, to hostmem.Ptr) error {
	if _, err := find(h); err != nil {
		return err
	}
	return store(to, int32(major*1000+minor*100+patch))
}

// GetProperty is one part of it.
func (t *Thread) GetProperty(which rt.LibraryPropertyType, to hostmem.Ptr) error {
	parts := []int32{major, minor, patch}
	if which < 0 || int(which) >= len(parts) {
		return invalidValue
	}
	return store(to, parts[which])
}

// store writes a result for the caller.
func store[T any](to hostmem.Ptr, v T) error {
	if to == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(to, v)
	return nil
}

// result is one thing that a getter gives.
type result func() (at hostmem.Ptr, write func())

func give[T any](at hostmem.Ptr, v T) result {
	return func() (hostmem.Ptr, func()) { return at, func() { hostmem.Store(at, v) } }
}

// giveAll writes all results, or none if there is no place for one.
func giveAll(rs ...result) error {
	var writes []func()
	for _, r := range rs {
		at, write := r()
		if at == hostmem.Nil {
			return invalidValue
		}
		writes = append(writes, write)
	}
	for _, w := range writes {
		w()
	}
	return nil
}
