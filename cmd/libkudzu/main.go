// Command libkudzu is the one Go image: a shared library that libkudzu-base.so loads at
// the first CUDA call that needs it. Only wiring lives here.
package main

import "C" // relocate.c

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"kudzu/internal/abi"
	"kudzu/internal/bind"
	"kudzu/internal/config"
	"kudzu/internal/cudart"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/engine"
	"kudzu/internal/libraries"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cudnn"
	"kudzu/internal/shim/nccl"
	"kudzu/internal/trace/emit"
)

// A c-shared library has no main, so this is the only place that can hand the door its handlers.
func init() {
	ended := func(t unsafe.Pointer) { driver.ThreadEnded((*driver.Thread)(t).ID) }
	abi.Serve(abi.House{Start: start, Handlers: bind.Handlers[:], ThreadEnded: ended, Report: bind.Report})
}

// start runs at the first call, on its thread: no work is done while the loader holds its lock.
func start() error {
	if abi.Secure() {
		config.Restrict()
	}
	abi.HostEnv()
	logx.Lines(abi.Say)
	logx.Complaints(abi.Complain)
	engine.ComplainTo(abi.Complainer())
	// The host's GOGC, GOMEMLIMIT and GOMAXPROCS are meant for the host. Kernels run on the
	// engine's own threads; Go needs few.
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	runtime.GOMAXPROCS(min(runtime.NumCPU(), 8))
	abi.FastPath(engine.FastPathCalls())
	record()
	client := devices.Client(devices.Config{Image: abi.Image()}) // one compiler process serves devices and libraries
	driver.Start(devices.All(devices.Config{Shared: client}), abi.CallOut, abi.CallBack, abi.CallQuiet)
	if f := config.Get(config.Tell); strings.HasPrefix(f, "/proc/") {
		driver.OnUse(func() { noteUse(f) })
	}
	libraries.Start(client)
	nccl.Say(abi.SayNCCL)
	cudnn.Say(abi.SayDNN)
	cudnn.Listen(abi.CallQuiet)
	cudart.Start(abi.Noted(), abi.Lasting(), func(buf []cudart.Note) int { return abi.TakeNotes(unsafe.Pointer(&buf[0]), len(buf)) })
	return nil
}

// record has the house tell the recorder of `kudzu trace` what it does, if there is one.
func record() {
	r := abi.Trace()
	if r == nil {
		return
	}
	engine.Record(r.Address())
	emit.Start(&emit.Recorder{Now: r.Now, Current: r.Current, Write: func(e *emit.Event) {
		r.Event(&abi.Event{Type: uint16(e.Type), Call: e.Call, T0: e.T0, T1: e.T1, Device: e.Device, Stream: e.Stream, Values: e.Values, Text: e.Text})
	}})
}

func main() {}
