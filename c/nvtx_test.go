package c

import (
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
		tl, err := timeline.Build(tr)
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
