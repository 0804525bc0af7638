package bind

import (
	"strings"
	"testing"

	"kudzu/internal/abi"
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
