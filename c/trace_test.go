package c

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// traced runs a program with the recorder on and returns the files that it left.
func traced(t *testing.T, libs string, env []string, exe string, args ...string) []*recording {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trace")
	stdout, stderr, err := run(t, libs, append([]string{"KUDZU_TRACE=" + dir}, env...), exe, args...)
	if err != nil || stdout != "ok\n" || stderr != "" {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	return traces(t, dir)
}

// low keeps the lower half of words: what is above a 32-bit argument is nobody's.
func low(words []uint64) []uint64 {
	out := slices.Clone(words)
	for i := range out {
		out[i] &= 0xffffffff
	}
	return out
}

// TestTraceCalls: arguments from every place that the ABI has for them, and results.
func TestTraceCalls(t *testing.T) {
	libs := dist(t)
	files := traced(t, libs, nil, compile(t, "trace_calls", "-L"+libs, "-lcuda", "-lcudart", "-lcublas", "-lpthread"))
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	r := files[0]
	for _, c := range r.calls {
		if c.t0 == 0 || c.t1 < c.t0 {
			t.Errorf("%s from %d to %d", c.name, c.t0, c.t1)
		}
	}
	want := []struct {
		lib, name string
		result    uint64
		args      []uint64
	}{
		{"libcuda.so.1", "cuInit", 0, []uint64{0}},
		{"libcuda.so.1", "cuDeviceGetName", 101, []uint64{0, 0, 99}},
		{"libcuda.so.1", "cuLaunchKernel", 201, []uint64{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb}},
		{"libcudart.so.13", "cudaCreateChannelDesc", 0, []uint64{8, 16, 24, 32, 2}},
		{"libcudart.so.13", "cudaLaunchKernel", 400, []uint64{0x12345, 1, 3, 4, 6, 0, 7, 0}},
		{"libcudart.so.13", "cudaMemset3D", 0, []uint64{0x1000, 64, 32, 16, 0x5a, 0, 8, 9}},
		{"libcublas.so.13", "cublasSgeam", 1, []uint64{0, 0, 1, 1, 2, 0, 0, 3, 0, 0, 4, 0, 5}},
	}
	for _, w := range want {
		c := r.one(t, w.name)
		if c.lib != w.lib || !slices.Equal(low(c.args), w.args) || c.result != w.result {
			t.Errorf("%s %s%v = %d, want %s %v = %d", c.lib, c.name, low(c.args), c.result, w.lib, w.args, w.result)
		}
	}
	if c := r.one(t, "cublasSrot"); !slices.Equal(low(c.args[:5]), []uint64{0xfffffff6, 0x10, 1, 0x20, 2}) || !slices.Equal(float32s(c.args[5:]...), []float32{0.5, -2}) {
		t.Errorf("cublasSrot%x", c.args)
	}
	if c := r.one(t, "cublasZscal"); !slices.Equal(c.args[1:3], []uint64{0x3ff8000000000000, 0x4004000000000000}) || !slices.Equal(low(c.args[3:]), []uint64{0x30, 3}) {
		t.Errorf("cublasZscal%x", c.args)
	}
	main, other := r.one(t, "cuInit"), r.one(t, "cuDeviceGetCount")
	if main.tid != r.pid || other.tid == main.tid || other.id>>40 == main.id>>40 {
		t.Errorf("threads %d and %d of process %d, ids %x and %x", main.tid, other.tid, r.pid, main.id, other.id)
	}
}

// behind is the one blob of a parameter, "-" where there is none.
func (c call) behind(arg byte) string {
	found := "-"
	for _, b := range c.blobs {
		if b.arg == arg {
			found = b.data
		}
	}
	return found
}

// TestTraceMemory: strings, structures, results, parameters of kernels, images; a bad address is shown as such and harms nobody.
func TestTraceMemory(t *testing.T) {
	libs := dist(t)
	dir := filepath.Join(t.TempDir(), "trace")
	exe := compile(t, "trace_memory", "-L"+libs, "-lcuda", "-lcudart")
	stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + dir, "KUDZU_BACKEND=interp"}, exe)
	if err != nil || stdout != "ok\n" { // standard error has the bad addresses
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	r := traces(t, dir)[0]
	load := r.one(t, "cuModuleLoadDataEx")
	if load.behind(3) != "\x00\x00\x00\x00\x07\x00\x00\x00" || load.behind(4) != "\x20\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00" || load.blobs[0].what != 2 || load.blobs[0].flags != 2 || load.blobs[1].what != 4 {
		t.Errorf("cuModuleLoadDataEx has %+v", load.blobs)
	}
	var names []string
	for _, c := range r.of("cuModuleGetFunction") {
		names = append(names, c.behind(2))
		if filled := c.blobs[0].flags&2 != 0; filled != (c.result == 0) {
			t.Errorf("cuModuleGetFunction = %d, a result was noted: %v", c.result, filled)
		}
	}
	if want := []string{"kernel", "none", "kernel", "-", "kernel"}; !slices.Equal(names, want) {
		t.Errorf("cuModuleGetFunction of %q, want %q", names, want)
	}
	head := "\x88\x77\x66\x55\x44\x33\x22\x11\xbb\xaa\x00\x00\xef\xbe\xad\xde"
	params := head + "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00"
	launches := r.of("cuLaunchKernel")
	for i, want := range []string{params, params, "-", "-", "-"} {
		if got := launches[i].behind(9); got != want {
			t.Errorf("launch %d has parameters % x, want % x", i, got, want)
		}
	}
	if got, want := launches[2].behind(10), head+"\x04\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00"; got != want {
		t.Errorf("packed parameters are % x, want % x", got, want)
	}
	ex := r.one(t, "cuLaunchKernelEx")
	if got := ex.behind(2); got != params || ex.behind(0)[:4] != "\x04\x00\x00\x00" || len(ex.behind(0)) != 56 {
		t.Errorf("cuLaunchKernelEx has %+v", ex.blobs)
	}
	if got := r.of("cudaLaunchKernel"); got[0].behind(3) != params || got[1].behind(3) != "-" {
		t.Errorf("cudaLaunchKernel has %+v and %+v", got[0].blobs, got[1].blobs)
	}
	if c := r.one(t, "cudaMalloc"); len(c.behind(0)) != 8 || c.behind(0) == "\x00\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("cudaMalloc has %+v", c.blobs)
	}
	if name, _, _ := strings.Cut(r.one(t, "cuDeviceGetName").behind(0), "\x00"); !strings.Contains(name, "Kudzu") {
		t.Errorf("cuDeviceGetName has %q", name)
	}
	if c := r.one(t, "cuGraphGetNodes"); c.result != 0 || c.blobs[0].arg != 1 || c.blobs[0].flags&2 != 0 {
		t.Errorf("cuGraphGetNodes = %d has %+v: nothing was written", c.result, c.blobs)
	}
	if c := r.one(t, "cuMemGetAddressRange_v2"); len(c.blobs) != 1 || c.blobs[0].flags&2 == 0 || c.behind(1) != "d\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("cuMemGetAddressRange_v2 has %+v", c.blobs)
	}
	var modules []string
	for _, e := range r.events {
		if e.kind == 4 {
			data, err := os.ReadFile(filepath.Join(dir, "modules", e.text))
			if err != nil || uint64(len(data)) != e.values[0] {
				t.Errorf("module of %d bytes: file of %d, %v", e.values[0], len(data), err)
			}
			modules = append(modules, fmt.Sprintf("%s %d %t", filepath.Ext(e.text), len(data), strings.Contains(string(data), ".entry kernel(")))
		}
	}
	if want := []string{".ptx 149 true", ".fatbin 230 true"}; !slices.Equal(modules, want) {
		t.Errorf("modules %q, want %q", modules, want)
	}
}
