package c

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/trace"
	"kudzu/internal/trace/timeline"
)

// TestNVTX: ranges, marks and names of programs that link libnvToolsExt, and of those with the headers of NVTX 3, are in the trace and
// on the timeline; where nobody records nothing is called.
func TestNVTX(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "trace_nvtx", "-I"+filepath.Join(root(t), "include"), "-L"+libs, "-lcuda", "-lpthread", "-ldl")
	tool := "NVTX_INJECTION64_PATH=" + filepath.Join(libs, "libkudzu-nvtx.so")
	for _, way := range []string{"linked", "injected"} {
		for _, env := range [][]string{nil, {tool}} {
			if stdout, stderr, err := run(t, libs, env, exe, way); err != nil || stdout != "ok\n" {
				t.Errorf("%s %v, not traced: %v\n%s%s", way, env, err, stdout, stderr)
			}
		}
		dir := filepath.Join(t.TempDir(), "trace")
		if stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir, tool}, exe, way); err != nil || stdout != "ok\n" {
			t.Fatalf("%s: %v\n%s%s", way, err, stdout, stderr)
		}
		tr, err := trace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		tl, err := timeline.Build(tr, timeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range tl.Rows {
			label := r.Label
			for _, s := range r.Spans {
				switch s.Kind {
				case timeline.Range, timeline.Mark, timeline.Fill:
					got = append(got, label+"/"+s.Kind.String()+"/"+s.Name)
					if s.Kind == timeline.Range && s.Dur <= 0 {
						t.Errorf("%s takes %d ns", s.Name, s.Dur)
					}
				}
			}
			if r.TID != 0 && !strings.HasSuffix(r.Label, " boss") {
				t.Errorf("a thread is called %s", r.Label)
			}
		}
		slices.Sort(got)
		want := []string{"ranges (physics)/mark/", "ranges (physics)/mark/tick", "ranges (physics)/range/registered text", "ranges of the process/range/across",
			"ranges/range/innér → 😀", "ranges/range/outer", "uploads/fill/fill"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", way, got, want)
		}
	}
}

// TestTraceStart: threads that come first, by NVTX or by a front, at the same time.
func TestTraceStart(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "trace_start", "-L"+libs, "-lnvToolsExt", "-lpthread", "-ldl")
	files := traced(t, libs, nil, exe)
	if len(files) != 40 {
		t.Errorf("%d files, want 40", len(files))
	}
	for _, r := range files {
		marks := 0
		for _, e := range r.events {
			if e.text == "first" {
				marks++
			}
		}
		if marks != 4 || len(r.calls) != 8 {
			t.Errorf("process %d has %d marks and %d calls, want 4 and 8", r.pid, marks, len(r.calls))
		}
	}
}

// TestTimelineOfProgram: a program with two streams and a graph on the CPU; each piece of work is there once, when it was put in, by
// which call, and when it ran. Launches that C makes without Go have the call itself for their enqueue.
func TestTimelineOfProgram(t *testing.T) {
	libs := dist(t)
	dir := filepath.Join(t.TempDir(), "trace")
	exe := compile(t, "trace_pipeline", "-I"+filepath.Join(root(t), "include"), "-L"+libs, "-lcuda", "-lnvToolsExt")
	if stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir}, exe); err != nil || stdout != "ok\n" {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	tr, err := trace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	calls, ran, enqueued, inside := map[uint64]*trace.Call{}, map[string]int{}, map[string]int{}, 0
	var events []trace.Event
	if err := tr.Each(func(r *trace.Record) bool {
		if c := r.Call; c != nil {
			calls[c.ID] = c
		}
		if e := r.Event; e != nil {
			events = append(events, *e)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		c := calls[e.Call]
		switch e.Type {
		case trace.Kernel, trace.Copy, trace.Fill, trace.HostFunction:
			if c == nil || e.Begin < c.Begin || e.End < e.Begin {
				t.Errorf("%+v of %+v", e, c)
				continue
			}
			ran[c.Name+" "+e.Type.String()]++
		case trace.Enqueue:
			if c == nil || e.Begin < c.Begin || e.End > c.End {
				t.Errorf("%+v of %+v", e, c)
				continue
			}
			enqueued[c.Name]++
		case trace.Compile, trace.Memory, trace.Queue:
			inside++
		}
	}
	want := map[string]int{"cuLaunchKernel kernel": 20, "cuGraphLaunch kernel": 2, "cuMemcpyHtoDAsync_v2 copy": 4, "cuMemcpyDtoHAsync_v2 copy": 4, "cuMemsetD32Async fill": 4, "cuLaunchHostFunc host function": 4}
	if !maps.Equal(ran, want) {
		t.Errorf("%v, want %v", ran, want)
	}
	if n := enqueued["cuLaunchKernel"]; n == 0 || n > 20 {
		t.Errorf("%d enqueues of 20 launches", n)
	}
	delete(enqueued, "cuLaunchKernel")
	if want := map[string]int{"cuGraphLaunch": 2, "cuMemcpyHtoDAsync_v2": 4, "cuMemcpyDtoHAsync_v2": 4, "cuMemsetD32Async": 4, "cuLaunchHostFunc": 4}; !maps.Equal(enqueued, want) {
		t.Errorf("%v, want %v", enqueued, want)
	}
	if inside < 2+6+3 { // two kernels compiled or found, three allocations and as many frees, three streams
		t.Errorf("%d other events", inside)
	}
}
