package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/trace"
)

func TestTraceTimeline(t *testing.T) {
	dir := t.TempDir()
	w := trace.NewWriter(9, 1, false, "app")
	w.Thread(9).Call(trace.Call{Library: "libcuda.so.1", Name: "cuInit", Begin: 5, End: 50, Words: []uint64{0}})
	if err := w.Save(filepath.Join(dir, "app.trace")); err != nil {
		t.Fatal(err)
	}
	page, js := filepath.Join(dir, "page.html"), filepath.Join(dir, "out.json")
	var said strings.Builder
	if err := runTraceTimeline([]string{"-o", page, "--perfetto", js, filepath.Join(dir, "app.trace")}, &said); err != nil {
		t.Fatal(err)
	}
	html, _ := os.ReadFile(page)
	text, _ := os.ReadFile(js)
	if !strings.Contains(string(html), "<canvas") || !strings.Contains(string(text), `"name":"cuInit"`) || strings.Count(said.String(), ": 1 events") != 2 {
		t.Errorf("%d bytes of page, %s, %s", len(html), text, said.String())
	}
	for _, args := range [][]string{{}, {"-x"}, {"a", "b"}, {filepath.Join(dir, "none")}, {"-o", filepath.Join(dir, "no", "such"), filepath.Join(dir, "app.trace")}} {
		if err := runTraceTimeline(args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
