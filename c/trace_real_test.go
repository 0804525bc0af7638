package c

import (
	"os"
	"path/filepath"
	"testing"
)

// double builds the libraries that stand in for NVIDIA's, and returns their folder.
func double(t *testing.T) string {
	t.Helper()
	dir, src := t.TempDir(), filepath.Join(root(t), "testdata/apps/trace_double.c")
	for soname, define := range map[string]string{"libcuda.so.1": "-DCUDA", "libcublas.so.13": "-DCUBLAS"} {
		cc(t, "-O1", "-Wall", "-fPIC", "-fexceptions", "-shared", "-Wl,-Bsymbolic", "-Wl,-soname,"+soname, define, src, "-o", filepath.Join(dir, soname))
	}
	return dir
}

// TestTraceReal: calls reach the library that was named, with all arguments, and their results come back; the Go image is not
// there at all.
func TestTraceReal(t *testing.T) {
	libs, real := dist(t), double(t)
	exe := compile(t, "trace_real", "-L"+libs, "-lcuda", "-lcublas")
	// Fronts are passed over, and copies of them.
	copies := t.TempDir()
	data, err := os.ReadFile(filepath.Join(libs, "libcuda.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(copies, "libcuda.so.1"), data)
	files := traced(t, libs, []string{"KUDZU_TRACE_REAL=/nonexistent:" + libs + ":" + copies + ":" + real}, exe)
	r := files[0]
	if r.flags != 1 {
		t.Errorf("flags are %d", r.flags)
	}
	if c := r.one(t, "cuInit"); c.result != 3 {
		t.Errorf("cuInit = %d", c.result)
	}
	if c := r.of("cuLaunchKernel")[1]; c.behind(9) != "\x2a\x00\x00\x00" {
		t.Errorf("cuLaunchKernel has %+v", c.blobs)
	}
	if c := r.one(t, "cuMemAlloc_v2"); c.result != 801 {
		t.Errorf("cuMemAlloc_v2, which the library lacks, = %d", c.result)
	}
	left := 0
	for _, c := range r.of("cuLaunchHostFunc") {
		if c.depth != 0 {
			t.Errorf("cuLaunchHostFunc at depth %d", c.depth)
		}
		if c.t1 == 0 {
			left++
		}
	}
	if left != 100 {
		t.Errorf("%d calls did not return, want 100", left)
	}
	depths := map[uint32]int{}
	for _, c := range r.of("cuDriverGetVersion") {
		depths[c.depth]++
	}
	if depths[0] != 3 || depths[1] != 101 {
		t.Errorf("cuDriverGetVersion at depths %v", depths)
	}
	for _, name := range []string{"cublasSdot", "cublasDdot", "cublasZdotu", "cublasSrot", "cublasZscal", "cublasZherk"} {
		if c := r.one(t, name); c.result != 0 || c.t1 == 0 {
			t.Errorf("%s = %x", name, c.result)
		}
	}
}

// TestTraceMissing: a library of NVIDIA's that is not there is said once; its functions answer that they are not supported.
func TestTraceMissing(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "abi_query", "-L"+libs, "-lcuda")
	stdout, stderr, err := run(t, libs, []string{"KUDZU_TRACE=" + filepath.Join(t.TempDir(), "trace"), "KUDZU_TRACE_REAL=" + libs}, exe)
	want := "kudzu: trace: NVIDIA's libcuda.so.1 was not found, neither in the system's folders nor in " + libs + "\n"
	if err == nil && stderr == "" {
		t.Skip("the machine has NVIDIA's driver")
	}
	if err == nil || stderr != want || stdout == "" {
		t.Errorf("%v, stdout %q, stderr %q, want %q", err, stdout, stderr, want)
	}
}

// TestTraceThrow: exceptions and back traces pass through thunks.
func TestTraceThrow(t *testing.T) {
	libs, real := dist(t), double(t)
	exe := filepath.Join(t.TempDir(), "trace_throw")
	cxx(t, "-O1", "-Wall", filepath.Join(root(t), "testdata/apps/trace_throw.cc"), "-o", exe, "-L"+libs, "-lcuda", "-lstdc++")
	r := traced(t, libs, []string{"KUDZU_TRACE_REAL=" + real}, exe)[0]
	for _, c := range r.of("cuLaunchHostFunc") {
		if c.depth != 0 || c.t1 != 0 {
			t.Errorf("a call that threw: depth %d, end %d", c.depth, c.t1)
		}
	}
	if n := len(r.of("cuDriverGetVersion")); n != 201 || r.lost != 0 {
		t.Errorf("%d calls, %d lost", n, r.lost)
	}
}
