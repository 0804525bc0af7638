package driver

import (
	"errors"
	"fmt"
	"testing"

	"kudzu/internal/spec/cu"
)

func TestCode(t *testing.T) {
	for err, want := range map[error]int32{
		Result(cu.CUDA_ERROR_INVALID_PTX):                     218,
		fmt.Errorf("module m: %w", Result(400)):               400,
		errors.New("something else"):                          int32(errUnknown),
		fmt.Errorf("two: %w, %w", errors.New("x"), Result(7)): 7,
	} {
		if got := Code(err); got != want {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}
