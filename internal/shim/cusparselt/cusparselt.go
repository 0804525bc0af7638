// Package cusparselt answers cuSPARSELt: programs are linked with it for products of matrices with two zeros in four, which are
// not done here. Every function says that it is not supported; versions and texts are base's.
package cusparselt

import (
	"errors"
	"fmt"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/spec/sparse"
)

// Thread is the calling thread; its methods are the functions of cuSPARSELt.
type Thread driver.Thread

// Status is a result code as an error.
type Status sparse.CusparseStatus_t

func (s Status) Error() string { return fmt.Sprintf("cuSPARSELt error %d", int32(s)) }

// Code is the number C gets for an error.
func Code(err error) int32 {
	var s Status
	if errors.As(err, &s) {
		return int32(s)
	}
	return int32(sparse.CUSPARSE_STATUS_INTERNAL_ERROR)
}

// Init would begin every use of the library: here it ends it.
func (t *Thread) Init(handle hostmem.Ptr) error {
	if handle == hostmem.Nil {
		return Status(sparse.CUSPARSE_STATUS_INVALID_VALUE)
	}
	logx.Once("cuSPARSELt", "cuSPARSELt is not supported: products of matrices with two zeros in four are not done here")
	return Status(sparse.CUSPARSE_STATUS_NOT_SUPPORTED)
}
