package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/fatbin"
	"kudzu/internal/trace"
)

// traceOf saves a trace of a program that allocates so much.
func traceOf(t *testing.T, size uint64) string {
	t.Helper()
	dir := t.TempDir()
	w := trace.NewWriter(7, 1, false, "app")
	a, b := w.Thread(7), w.Thread(8)
	call := func(th *trace.ThreadWriter, lib, name string, at int64, res uint64, words []uint64, blobs ...trace.Blob) {
		th.Call(trace.Call{Library: lib, Name: name, Begin: at * 1e6, End: at*1e6 + 2500, Result: res, Words: words, Blobs: blobs})
	}
	call(a, "libcuda.so.1", "cuInit", 1, 0, []uint64{0})
	call(a, "libcuda.so.1", "cuMemAlloc_v2", 2, 0, []uint64{0x7ffe00001000, size}, trace.Blob{Arg: 0, What: trace.Out, Filled: true, Data: binary.LittleEndian.AppendUint64(nil, 0x700000000000)})
	call(b, "libcudart.so.12", "cudaGetDevice", 3, 100, []uint64{0x7ffe00001000})
	call(b, "libcuda.so.1", "cuEventQuery", 4, 600, []uint64{0x7ffe00002000})
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func kudzu(args ...string) (string, error) {
	var b bytes.Buffer
	err := dispatch(args, &b)
	return b.String(), err
}

func TestTraceShow(t *testing.T) {
	dir := traceOf(t, 4096)
	const whole = `    0.001000 [1] cuInit(Flags=0) = CUDA_SUCCESS <2.5 us>
    0.002000 [1] cuMemAlloc_v2(*dptr=0x700000000000, bytesize=4096) = CUDA_SUCCESS <2.5 us>
    0.003000 [2] cudaGetDevice(device=0x7ffe00001000) = cudaErrorNoDevice <2.5 us>
    0.004000 [2] cuEventQuery(hEvent=event#1) = CUDA_ERROR_NOT_READY <2.5 us>
`
	lines := strings.SplitAfter(whole, "\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"show", dir}, whole},
		{[]string{"show", filepath.Join(dir, "7-0.kzt")}, whole},
		{[]string{"show", "-n", "2", dir}, lines[0] + lines[1]},
		{[]string{"show", dir, "--thread=2"}, lines[2] + lines[3]},
		{[]string{"show", "--thread=8", dir}, lines[2] + lines[3]},
		{[]string{"show", "--time", "2ms,3ms", dir}, lines[1] + lines[2]},
		{[]string{"show", "--time", "0.0025", dir}, lines[2] + lines[3]},
		{[]string{"show", "--only", "^cuMem", dir}, lines[1]},
		{[]string{"show", "--lib", "cudart", dir}, lines[2]},
		{[]string{"show", "--failed", dir}, lines[2]},
		{[]string{"show", "--no-time", "-n", "1", dir}, "[1] cuInit(Flags=0) = CUDA_SUCCESS\n"},
		{[]string{"grep", "bytesize=4|NoDevice", dir}, lines[1] + lines[2]},
		{[]string{"grep", "-n", "1", "cu", dir}, lines[0]},
	} {
		got, err := kudzu(append([]string{"trace"}, c.args...)...)
		if err != nil || got != c.want {
			t.Errorf("%v: %v\n%s", c.args, err, got)
		}
	}
	var code exitCode
	if _, err := kudzu("trace", "grep", "nothing of this kind", dir); !errors.As(err, &code) || code != 1 {
		t.Errorf("grep without a match: %v", err)
	}
	for _, args := range [][]string{{"show"}, {"show", "--thread", "x", dir}, {"show", "--time", "3ms,2ms", dir}, {"show", "--wrong", dir}, {"grep", "(", dir}, {"show", "--only"}} {
		if _, err := kudzu(append([]string{"trace"}, args...)...); err == nil || !strings.Contains(err.Error(), "usage: kudzu trace "+args[0]) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := kudzu("trace", "show", t.TempDir()); !errors.Is(err, trace.ErrFormat) {
		t.Errorf("a folder without a trace: %v", err)
	}
}

func TestTraceStats(t *testing.T) {
	dir := traceOf(t, 4096)
	got, err := kudzu("trace", "stats", dir)
	if err != nil || !strings.HasPrefix(got, "4 calls (1 failed) in 4.00 ms\n") || !strings.Contains(got, "1       1  2.5 us  2.5 us  2.5 us  2.5 us  cudaGetDevice\n") {
		t.Errorf("%v\n%s", err, got)
	}
	got, err = kudzu("trace", "stats", "--json", dir)
	var s trace.Stats
	if err != nil || json.Unmarshal([]byte(got), &s) != nil || s.Calls != 4 || len(s.Functions) != 4 {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestTraceDiff(t *testing.T) {
	a, b, c := traceOf(t, 4096), traceOf(t, 4096), traceOf(t, 8192)
	got, err := kudzu("trace", "diff", a, b)
	if err != nil || got != "no difference in 3 calls\n" {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := kudzu("trace", "diff", "--polls", a, b); err != nil || got != "no difference in 4 calls\n" {
		t.Errorf("with polls: %v\n%s", err, got)
	}
	got, err = kudzu("trace", "diff", a, c)
	want := "--- " + a + " thread 1\n+++ " + c + ` thread 1
first difference at call 2: cuMemAlloc has bytesize=4096 and bytesize=8192
  cuInit(Flags=0) = CUDA_SUCCESS
- cuMemAlloc(dptr=mem#1, bytesize=4096) = CUDA_SUCCESS
+ cuMemAlloc(dptr=mem#1, bytesize=8192) = CUDA_SUCCESS
`
	var code exitCode
	if !errors.As(err, &code) || code != 1 || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := kudzu("trace", "diff", "--ignore", "cuMemAlloc", a, c); err != nil {
		t.Errorf("ignoring it: %v\n%s", err, got)
	}
	if _, err := kudzu("trace", "diff", a, t.TempDir()); !errors.As(err, &code) || code != 2 {
		t.Errorf("trouble: %v", err)
	}
}

// TestTraceNames: kernels have the names that C++ gives them, or with --mangled those of modules, and are found by both.
func TestTraceNames(t *testing.T) {
	dir := t.TempDir()
	w := trace.NewWriter(7, 1, false, "app")
	th := w.Thread(7)
	th.Call(trace.Call{Library: "libcuda.so.1", Name: "cuInit", Begin: 0, End: 10, Words: []uint64{0}})
	th.Event(trace.Event{Type: trace.Kernel, Begin: 1000, End: 3000, Text: "_Z5scaleIfLi4EEvPT_i"})
	th.Event(trace.Event{Type: trace.Mark, Begin: 4000, End: 4000, Text: "done"})
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args     []string
		has, not string
	}{
		{[]string{"show", dir}, "-- kernel scale<float, 4> grid", "_Z5"},
		{[]string{"show", "--mangled", dir}, "-- kernel _Z5scaleIfLi4EEvPT_i grid", "scale<"},
		{[]string{"grep", "PT_i", dir}, "-- kernel scale<float, 4> grid", "cuInit"},
		{[]string{"grep", `float\*, int`, dir}, "-- kernel scale<float, 4> grid", "done"},
		{[]string{"grep", "scale<", "--mangled", dir}, "-- kernel _Z5scale", "cuInit"},
		{[]string{"show", "--only", "scale<float", dir}, "-- kernel scale<float, 4> grid", "done"},
		{[]string{"show", "--only", "^_Z5scale", dir}, "-- kernel scale<float, 4> grid", "done"},
		{[]string{"stats", dir}, "  scale<float, 4>\n", "_Z5"},
		{[]string{"stats", "--mangled", dir}, "  _Z5scaleIfLi4EEvPT_i\n", "scale<"},
		{[]string{"stats", "--json", dir}, "_Z5scaleIfLi4EEvPT_i", "scale<"},
	} {
		got, err := kudzu(append([]string{"trace"}, c.args...)...)
		if err != nil || !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
			t.Errorf("%v: %v\n%s", c.args, err, got)
		}
	}
}

// TestTraceModules: PTX is taken out of few modules at once, and out of many when it is asked for.
func TestTraceModules(t *testing.T) {
	w := traceWith{dir: traceOf(t, 1)}
	modules := filepath.Join(w.dir, trace.ModulesDir)
	if err := os.Mkdir(modules, 0o700); err != nil {
		t.Fatal(err)
	}
	const text = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() {\n\tret;\n}\n"
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 50, Major: 7, Data: []byte(text + "\x00")}})
	if err != nil {
		t.Fatal(err)
	}
	save := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(modules, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("a0.fatbin", fat)
	save("b0.other", make([]byte, soon))
	if s, err := w.modules("x"); err != nil || s != "2 modules (kudzu trace ptx x takes PTX out of them)" {
		t.Errorf("%q, %v", s, err)
	}
	if _, err := os.Stat(filepath.Join(modules, "a0.sm_50.ptx")); err == nil {
		t.Error("it was taken out")
	}
	if s, err := kudzu("trace", "ptx", w.dir); err != nil || !strings.HasSuffix(s, "2 modules with 1 text of PTX\n") {
		t.Errorf("%q, %v", s, err)
	}
	if b, err := os.ReadFile(filepath.Join(modules, "a0.sm_50.ptx")); err != nil || string(b) != text {
		t.Errorf("%q, %v", b, err)
	}
	save("b0.other", nil)
	if s, err := w.modules("x"); err != nil || s != "2 modules with 1 text of PTX" {
		t.Errorf("%q, %v", s, err)
	}
	if _, err := kudzu("trace", "ptx", filepath.Join(w.dir, "7-0.kzt")); err == nil {
		t.Error("a file is no folder")
	}
}

func TestTraceUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"--format", "xml", "true"}, {"--only", "(", "true"}, {"-o"}} {
		if _, err := kudzu(append([]string{"trace"}, args...)...); err == nil || !strings.Contains(err.Error(), "usage: kudzu trace") {
			t.Errorf("%v: %v", args, err)
		}
	}
	help, err := kudzu("trace", "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range traceVerbs() {
		if !strings.Contains(help, "kudzu trace "+v.name) {
			t.Errorf("help has no %s", v.name)
		}
		one, err := kudzu("trace", v.name, "--help")
		if err != nil || !strings.Contains(one, v.about) {
			t.Errorf("%s: %v", v.name, err)
		}
	}
}

// TestFrontLinks: in front of NVIDIA's libraries are those fronts that nobody needs by private names.
func TestFrontLinks(t *testing.T) {
	lib, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"libcuda.so.1", "libcuda.so", "libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcudnn.so.9", "libcudnn_ops.so.9", "libcupti.so.12", "libkudzu.so", baseName, "libkudzu-audit.so"} {
		if err := os.WriteFile(filepath.Join(lib, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := frontLinks(dir, lib); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{"libcublas.so.12", "libcuda.so.1", "libcudart.so.12", baseName}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
