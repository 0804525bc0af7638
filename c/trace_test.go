package c

import (
	"path/filepath"
	"slices"
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
	if c := r.one(t, "cublasSrot"); !slices.Equal(low(c.args[:5]), []uint64{10, 0x10, 1, 0x20, 2}) || !slices.Equal(float32s(c.args[5:]...), []float32{0.5, -2}) {
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
