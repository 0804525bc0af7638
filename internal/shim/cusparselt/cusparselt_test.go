package cusparselt

import (
	"testing"
	"unsafe"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/sparse"
)

// TestInit: the beginning of every use says that there is none.
func TestInit(t *testing.T) {
	var handle [64]byte
	if got := Code((*Thread)(nil).Init(hostmem.Ptr(uintptr(unsafe.Pointer(&handle))))); got != int32(sparse.CUSPARSE_STATUS_NOT_SUPPORTED) {
		t.Errorf("Init: %d", got)
	}
	if got := Code((*Thread)(nil).Init(hostmem.Nil)); got != int32(sparse.CUSPARSE_STATUS_INVALID_VALUE) {
		t.Errorf("Init of NULL: %d", got)
	}
}
