package c

import (
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTraceLaunches: launches that C makes without Go have their parameters, what is between them is zero, and each runs once. Such a
// launch has no enqueue: the call is it. The file is long enough that a thread prepares its parts.
func TestTraceLaunches(t *testing.T) {
	const launches, kernel, enqueue = 5000, 1, 13
	libs := dist(t)
	dir := filepath.Join(t.TempDir(), "trace")
	exe := compile(t, "trace_launches", "-L"+libs, "-lcuda")
	stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir, "KUDZU_BACKEND=cpu"}, exe)
	if err != nil || stdout != "ok\n" {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	r := traces(t, dir)[0]
	calls := r.of("cuLaunchKernel")
	if len(calls) != launches+1 || r.lost != 0 {
		t.Fatalf("%d launches, %d records were lost", len(calls), r.lost)
	}
	wrong := 0
	for i, c := range calls[:launches] {
		le := binary.LittleEndian
		want := le.AppendUint64(nil, 0x1122334400000000+uint64(i))
		want = le.AppendUint32(want, uint32(uint16(i)))
		want = le.AppendUint32(want, ^uint32(i))
		if got := c.behind(9); got != string(want) || c.t1 < c.t0 || c.result != 0 {
			if wrong++; wrong < 4 {
				t.Errorf("launch %d has parameters % x, want % x", i, got, want)
			}
		}
	}
	if got := calls[launches].behind(9); got != "-" {
		t.Errorf("the launch with a bad address has % x", got)
	}
	queued, ran := map[uint64]int{}, map[uint64]int{}
	for _, e := range r.events {
		switch {
		case e.kind == 3 && e.what == enqueue:
			queued[e.call]++
		case e.kind == 3 && e.what == kernel:
			ran[e.call]++
		}
	}
	for i, c := range calls[:launches] {
		if queued[c.id] > 1 || ran[c.id] != 1 {
			t.Fatalf("launch %d has %d enqueues, and ran %d times", i, queued[c.id], ran[c.id])
		}
	}
	if len(queued) == 0 { // the first goes through Go; how many more do is a matter of when its code is there
		t.Error("no launch has an enqueue")
	}
}

// TestTraceKernels: any number of kernels is launched with its parameters in the trace. The layouts of these take 10 MiB.
func TestTraceKernels(t *testing.T) {
	const kernels, parameters = 2600, 1000
	libs := dist(t)
	files := traced(t, libs, []string{"KUDZU_BACKEND=interp"}, compile(t, "trace_kernels", "-L"+libs, "-lcuda"))
	calls := files[0].of("cuLaunchKernel")
	if len(calls) != kernels || files[0].lost != 0 {
		t.Fatalf("%d launches, %d records were lost", len(calls), files[0].lost)
	}
	for i, c := range calls {
		got := c.behind(9)
		if len(got) != 4*parameters || binary.LittleEndian.Uint32([]byte(got)) != uint32(i) { // the first 128 are read
			t.Fatalf("launch %d has %d bytes of parameters", i, len(got))
		}
	}
}

// TestTraceLayouts: a layout that is found is that of the kernel, whatever other threads learn meanwhile.
func TestTraceLayouts(t *testing.T) {
	exe := compile(t, "trace_layouts", "-I"+filepath.Join(root(t), "c/base"), "-I"+filepath.Join(root(t), "internal/abi"), "-lpthread")
	if out, err := exec.Command(exe).Output(); err != nil || string(out) != "0 wrong\n" {
		t.Errorf("%v, %q", err, out)
	}
}
