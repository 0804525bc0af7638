package bind

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/abi"
	"kudzu/internal/driver"
	"kudzu/internal/spec/cu"
)

func handler(t *testing.T, name string) abi.Handler {
	t.Helper()
	for _, list := range Handlers {
		for _, h := range list {
			if h.Name == name {
				return h
			}
		}
	}
	t.Fatalf("%s is not bound", name)
	return abi.Handler{}
}

// TestHandlers: numbers and names of handlers are unique, and the first calls of every
// program are there.
func TestHandlers(t *testing.T) {
	seen := map[string]bool{}
	for api, list := range Handlers {
		for i, h := range list {
			if h.Call == nil || seen[h.Name] {
				t.Errorf("handler %d of interface %d, %s", i, api, h.Name)
			}
			seen[h.Name] = true
		}
	}
	for _, name := range strings.Fields("cuInit cuDeviceGetCount cuDeviceGet cuCtxCreate_v2 cuMemAlloc_v2 cuModuleLoadData cuLaunchKernel") {
		handler(t, name)
	}
}

func TestCode(t *testing.T) {
	for err, want := range map[error]int32{
		driver.Result(cu.CUDA_ERROR_INVALID_PTX):                     218,
		fmt.Errorf("module m: %w", driver.Result(400)):               400,
		errors.New("something else"):                                 unknown,
		fmt.Errorf("two: %w, %w", errors.New("x"), driver.Result(7)): 7,
	} {
		if got := code(err); got != want {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}
