package cuda

import (
	"errors"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/testkit/libdouble"
)

// TestFenceEnds: an event that a fence is made of is destroyed once, and not used afterwards.
func TestFenceEnds(t *testing.T) {
	double := libdouble.Build(t, "cuda", "libcuda.so.1", map[string]string{"cuEventCreate": "*(uint64_t *)p_phEvent = 0x77;"},
		"cuIpcOpenEventHandle", "cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle", "cuEGLStreamProducerPresentFrame") // which take structures
	lib, err := dl.Open(double.Path)
	if err != nil {
		t.Fatal(err)
	}
	q := &queue{dev: &device{api: &api{lib: lib}}, stream: 5}
	f, err := q.Mark()
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Wait(f); err != nil {
		t.Error(err)
	}
	f.(backend.Releaser).Release()
	f.(backend.Releaser).Release()
	if err := q.Wait(f); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("wait for a fence that was given back: %v", err)
	}
	if _, err := f.Done(); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("query of a fence that was given back: %v", err)
	}
	var events []string
	for _, c := range double.Calls(t) {
		if strings.Contains(c, "Event") {
			events = append(events, strings.Fields(c)[0])
		}
	}
	if got, want := strings.Join(events, " "), "cuEventCreate cuEventRecord cuStreamWaitEvent cuEventDestroy_v2"; got != want {
		t.Errorf("calls %q, expected %q", got, want)
	}
}
