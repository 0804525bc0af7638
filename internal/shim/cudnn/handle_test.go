package cudnn

import (
	"os"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/dnn"
	"kudzu/internal/spec/rt"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// start opens the device once: a process has one driver.
var start = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})})
	return nil
})

// open is a handle on the first device.
func open(t *testing.T) (*Thread, Handle) {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	th := new(Thread)
	h, err := th.Create(Nine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Destroy(Handle(h)) })
	return th, Handle(h)
}

func TestHandle(t *testing.T) {
	th, h := open(t)
	s, err := th.driver().StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	if err != nil {
		t.Fatal(err)
	}
	if err := th.SetStream(h, rt.CudaStream_t(s)); err != nil {
		t.Fatal(err)
	}
	if got, err := th.GetStream(h); err != nil || got != rt.CudaStream_t(s) {
		t.Errorf("stream %#x, %v, not %#x", got, err, s)
	}
	if _, err := th.GetStream(h + 32); Code(err) != int32(dnn.CUDNN_STATUS_BAD_PARAM) {
		t.Errorf("the stream of no handle: %v", err)
	}
	code := int32(7)
	at := hostmem.Of(&code)
	if err := th.QueryRuntimeError(h, at, dnn.CUDNN_ERRQUERY_BLOCKING, hostmem.Nil); err != nil || code != 0 {
		t.Errorf("runtime error %d, %v", code, err)
	}
	if err := th.QueryRuntimeError(h, at, 9, hostmem.Nil); Code(err) != int32(dnn.CUDNN_STATUS_BAD_PARAM) {
		t.Errorf("a mode that is none: %v", err)
	}
}

// TestDestroyDuringCapture: a handle goes while another thread captures a stream, and the capture goes on.
func TestDestroyDuringCapture(t *testing.T) {
	th, _ := open(t)
	d := th.driver()
	s, err := d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); err != nil {
		t.Fatal(err)
	}
	other := new(Thread)
	h, err := other.Create(Nine)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Destroy(Handle(h)); err != nil {
		t.Errorf("a handle ends: %v", err)
	}
	var graph cu.CUgraph
	if err := d.StreamEndCapture(s, hostmem.Of(&graph)); err != nil {
		t.Errorf("the capture: %v", err)
	}
}

// TestCodes: the codes of the release that a program calls, and the text of the last failure.
func TestCodes(t *testing.T) {
	var text string
	Say(func(s string) { text = s })
	defer said.Store(nil)
	err := because(notSupported, "mode %d", 3)
	if c := Code(err); c != 3000 || text != "not supported: mode 3" {
		t.Errorf("code %d, %q", c, text)
	}
	called.Store(int32(Eight))
	defer called.Store(int32(Nine))
	for _, c := range []struct {
		err  error
		want int32
	}{{err, 9}, {badParam, 3}, {nullPointer, 3}, {deviceAlloc, 2}, {notInitialized, 1}, {driver.Result(cu.CUDA_ERROR_OUT_OF_MEMORY), 2}, {executionFailed, 8}} {
		if got := Code(c.err); got != c.want {
			t.Errorf("%v is %d in cuDNN 8, not %d", c.err, got, c.want)
		}
	}
}
