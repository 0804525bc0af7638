// Package cusolver answers cuSOLVER: handles, parameters, argument checks and result codes here, the arithmetic in kernels of our own
// (kernels/*.cu) and in those of cuBLAS. A factorization is a sequence of launches that depends on sizes alone: panels by one
// kernel, the rest by products and triangular systems. What a matrix turns out to be is written to devInfo by the kernels, so
// that nothing waits, and everything can be captured.
package cusolver

import (
	"errors"

	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// Status is a result code as an error.
type Status solver.CusolverStatus_t

func (s Status) Error() string { return names[s] }

// The codes this package gives.
const (
	notInitialized  = Status(solver.CUSOLVER_STATUS_NOT_INITIALIZED)
	allocFailed     = Status(solver.CUSOLVER_STATUS_ALLOC_FAILED)
	invalidValue    = Status(solver.CUSOLVER_STATUS_INVALID_VALUE)
	executionFailed = Status(solver.CUSOLVER_STATUS_EXECUTION_FAILED)
	internalError   = Status(solver.CUSOLVER_STATUS_INTERNAL_ERROR)
	notSupported    = Status(solver.CUSOLVER_STATUS_NOT_SUPPORTED)
	noParams        = Status(solver.CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED)
	badParams       = Status(solver.CUSOLVER_STATUS_IRS_PARAMS_INVALID)
	badWorkspace    = Status(solver.CUSOLVER_STATUS_INVALID_WORKSPACE)
	wrongType       = Status(solver.CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED)
	zeroPivot       = Status(solver.CUSOLVER_STATUS_ZERO_PIVOT)
	noInfos         = Status(solver.CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED)
	noRefinement    = Status(solver.CUSOLVER_STATUS_IRS_NOT_SUPPORTED)
	oneRightSide    = Status(solver.CUSOLVER_STATUS_IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES)
)

var names = map[Status]string{
	notInitialized: "cuSOLVER is not initialized", allocFailed: "cuSOLVER could not allocate", invalidValue: "invalid value",
	executionFailed: "execution failed", internalError: "internal error", notSupported: "not supported",
	noParams: "no such parameters", badParams: "invalid parameters", badWorkspace: "invalid workspace",
	noRefinement: "refinement does not do this", oneRightSide: "GMRES takes one right-hand side",
	noInfos: "no such infos", zeroPivot: "a pivot is zero", wrongType: "the matrix is described as another type",
}

// folded are cuBLAS's codes as cuSOLVER's.
var folded = map[cublas.Status]Status{
	cublas.Status(blas.CUBLAS_STATUS_NOT_INITIALIZED):  notInitialized,
	cublas.Status(blas.CUBLAS_STATUS_ALLOC_FAILED):     allocFailed,
	cublas.Status(blas.CUBLAS_STATUS_INVALID_VALUE):    invalidValue,
	cublas.Status(blas.CUBLAS_STATUS_EXECUTION_FAILED): executionFailed,
	cublas.Status(blas.CUBLAS_STATUS_NOT_SUPPORTED):    notSupported,
}

// Code is the number C gets for an error.
func Code(err error) int32 {
	var s Status
	if errors.As(err, &s) {
		return int32(s)
	}
	if s, ok := folded[cublas.StatusOf(err)]; ok {
		return int32(s)
	}
	return int32(internalError)
}

// The version presented: cuSOLVER 12.0.4, of CUDA 13.0.
const major, minor, patch = 12, 0, 4

// GetVersion is the version as one number.
func (t *Thread) GetVersion() (int32, error) { return major*1000 + minor*100 + patch, nil }

// GetProperty is one part of it.
func (t *Thread) GetProperty(which rt.LibraryPropertyType) (int32, error) {
	parts := []int32{major, minor, patch}
	if which < 0 || int(which) >= len(parts) {
		return 0, invalidValue
	}
	return parts[which], nil
}
