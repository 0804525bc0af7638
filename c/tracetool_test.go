package c

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/trace"
)

// traceTool has what kudzu trace is tried with: the CLI beside the libraries, and testdata/apps/trace_tool.c.
type traceTool struct {
	kudzu, exe string
}

// TestKudzuTrace: programs under kudzu trace, with the fronts as they are built.
func TestKudzuTrace(t *testing.T) {
	libs := dist(t)
	dir := t.TempDir()
	x := traceTool{filepath.Join(dir, "bin/kudzu"), compile(t, "trace_tool", "-L"+libs, "-lcuda", "-lcudart", "-lcublas", "-lpthread")}
	if out, err := exec.Command("go", "build", "-C", root(t), "-o", x.kudzu, "./cmd/kudzu").CombinedOutput(); err != nil {
		t.Fatalf("kudzu: %v\n%s", err, out)
	}
	if err := os.Symlink(libs, filepath.Join(dir, "lib")); err != nil {
		t.Fatal(err)
	}
	t.Run("driver", x.testDriver)
	t.Run("blas", x.testBLAS)
	t.Run("ends", x.testEnds)
	t.Run("signal", x.testSignal)
	t.Run("threads", x.testThreads)
	t.Run("fork", x.testFork)
	t.Run("real", x.testReal)
	t.Run("H200", x.testH200)
}

// record runs one part of the program under kudzu trace and gives the trace's folder, what was written and the exit code.
func (x traceTool) record(t *testing.T, what string, options ...string) (dir, stderr string, code int) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(x.kudzu, append(append([]string{"trace", "-o", dir}, options...), "--", x.exe, what)...)
	var e bytes.Buffer
	cmd.Stderr = &e
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		return dir, e.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, e.String(), 0
}

// names are the functions that the program called, in order.
func names(t *testing.T, dir string) []string {
	t.Helper()
	tr, err := trace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var all []string
	err = tr.Each(func(r *trace.Record) bool {
		if r.Call != nil && r.Call.Depth == 0 {
			all = append(all, r.Call.Name)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func mustHave(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in\n%s", w, text)
		}
	}
}

// testDriver: text as it runs, the module with its PTX, JSON afterwards, and no difference between two executors.
func (x traceTool) testDriver(t *testing.T) {
	cpu, text, code := x.record(t, "driver", "--backend", "cpu")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	mustHave(t, text,
		"cuCtxCreate_v2(*pctx=context#1, flags=CU_CTX_SCHED_YIELD, dev=0) = CUDA_SUCCESS",
		`cuModuleGetFunction(*hfunc=scale, hmod=module#1, name="scale") = CUDA_SUCCESS`,
		"cuStreamCreate(*phStream=stream#1, Flags=CU_STREAM_NON_BLOCKING)",
		"(scale, grid=4x1x1, block=256x1x1, shared=0, stream=stream#1, params=(p=0x",
		", n=1000, by=1.5)) = CUDA_SUCCESS", "scale.cu:7",
		"bytesize=1152921504606846976) = CUDA_ERROR_OUT_OF_MEMORY", "1 module with 1 text of PTX")
	modules, err := filepath.Glob(filepath.Join(cpu, trace.ModulesDir, "*.ptx"))
	if err != nil || len(modules) != 1 {
		t.Errorf("modules: %v, %v", modules, err)
	}
	m, err := trace.ReadMeta(cpu)
	if err != nil || m.Command[1] != "driver" || m.Backend != "cpu" || m.ExitCode == nil || *m.ExitCode != 0 || m.End.IsZero() {
		t.Errorf("meta.json: %+v, %v", m, err)
	}
	interp, quiet, code := x.record(t, "driver", "--backend=interp", "--format=binary")
	if code != 0 || strings.Count(quiet, "\n") != 1 {
		t.Errorf("exit code %d\n%s", code, quiet)
	}
	out, err := exec.Command(x.kudzu, "trace", "diff", cpu, interp).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "no difference in ") {
		t.Errorf("two executors: %v\n%s", err, out)
	}
	blas, _, _ := x.record(t, "blas", "--log", filepath.Join(t.TempDir(), "log"))
	if out, err := exec.Command(x.kudzu, "trace", "diff", cpu, blas).CombinedOutput(); err == nil || !strings.Contains(string(out), "first difference at call 1") {
		t.Errorf("two programs: %v\n%s", err, out)
	}
}

// testBLAS: runtime API and cuBLAS, with what pointers lead to.
func (x traceTool) testBLAS(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	_, text, code := x.record(t, "blas", "--log", log, "--only", "gemm|Malloc")
	b, err := os.ReadFile(log)
	if err != nil || code != 0 || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v, exit code %d\n%s", err, code, text)
	}
	mustHave(t, string(b), "cudaMalloc(*devPtr=0x", "transa=CUBLAS_OP_N, transb=CUBLAS_OP_T, m=8, n=8, k=8, alpha=1, A=0x", "= CUBLAS_STATUS_INVALID_VALUE")
	if strings.Contains(string(b), "cudaFree") {
		t.Errorf("what was not asked for:\n%s", b)
	}
}

// testEnds: what a program did is there however it ends, and its exit code is passed on.
func (x traceTool) testEnds(t *testing.T) {
	for _, c := range []struct {
		what string
		code int
	}{{"crash", 128 + int(syscall.SIGSEGV)}, {"kill", 128 + int(syscall.SIGKILL)}, {"exit", 7}} {
		dir, text, code := x.record(t, c.what)
		got := names(t, dir)
		if c.what != "exit" && (len(got) != 107 || got[106] != "cuCtxSynchronize" || !strings.Contains(text, "cuCtxSynchronize() = CUDA_SUCCESS")) {
			t.Errorf("%s: %d calls, %q\n%s", c.what, len(got), got, text)
		}
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.what, code, c.code)
		}
	}
}

// testSignal: a signal for kudzu is the program's, and what it did until then is there.
func (x traceTool) testSignal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "term")
	cmd := exec.Command(x.kudzu, "trace", "-o", dir, "--format=binary", "--", x.exe, "term")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	line := make([]byte, 8)
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("%v", err)
	}
	if got := names(t, dir); len(got) != 107 {
		t.Errorf("%d calls", len(got))
	}
}

// testThreads: threads are told apart, and two runs have no difference although threads race.
func (x traceTool) testThreads(t *testing.T) {
	var dirs []string
	for range 2 {
		dir, text, code := x.record(t, "threads", "--format=binary")
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, text)
		}
		dirs = append(dirs, dir)
		tr, err := trace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := tr.Stats(nil)
		if err != nil {
			t.Fatal(err)
		}
		var counts []string
		for _, c := range s.Threads {
			counts = append(counts, fmt.Sprint(c.Calls))
		}
		if len(counts) != 5 || s.Failed != 0 {
			t.Errorf("calls by thread: %v, %d failed", counts, s.Failed)
		}
		tr.Close()
	}
	out, err := exec.Command(x.kudzu, "trace", "diff", dirs[0], dirs[1]).CombinedOutput()
	if err != nil || string(out) != "no difference in 178 calls\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// testFork: parent and child have a file each.
func (x traceTool) testFork(t *testing.T) {
	dir, text, code := x.record(t, "fork")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	tr, err := trace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if len(tr.Processes) != 2 || !strings.Contains(text, "[2:1] cuInit(Flags=0)") || !strings.Contains(text, "in 2 processes") {
		t.Errorf("%d processes\n%s", len(tr.Processes), text)
	}
}

// testReal: calls go to the libraries that were named, and nothing of ours but fronts and the base is in the process.
func (x traceTool) testReal(t *testing.T) {
	real := double(t)
	dir, text, code := x.record(t, "exit", "--real="+real)
	if code != 7 || !strings.Contains(text, "cuDriverGetVersion(*driverVersion=7) = CUDA_SUCCESS") { // what the double answers
		t.Errorf("exit code %d\n%s", code, text)
	}
	tr, err := trace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if !tr.Processes[0].Real || len(tr.Meta.Real) != 1 || tr.Meta.Real[0] != real {
		t.Errorf("%+v, meta.json %+v", tr.Processes[0], tr.Meta)
	}
	for name, want := range map[string]bool{"libcuda.so.1": true, "libkudzu-base.so": true, "libkudzu.so": false, "libcublasLt.so.13": false} {
		if _, err := os.Lstat(filepath.Join(dir, "fronts", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	cmd := exec.Command(x.kudzu, "trace", "--real=/nonexistent", "--", x.exe)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `"/nonexistent" is no folder`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// testH200: 28 kinds of launches on Kudzu make the calls, with the results, that they made on an H200 with NVIDIA's driver
// (testdata/traces/kinds-h200.kzt.gz, recorded with kudzu trace --real -- ./kinds kinds.ptx).
func (x traceTool) testH200(t *testing.T) {
	apps := filepath.Join(root(t), "testdata/apps")
	kinds := traceTool{x.kudzu, compile(t, "kinds", "-L"+filepath.Join(root(t), "dist/lib"), "-lcuda", "-lm")}
	dir, text, code := kinds.record(t, filepath.Join(apps, "kinds.ptx"), "--format=binary")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	modules, err := filepath.Glob(filepath.Join(dir, trace.ModulesDir, "*.ptx"))
	if err != nil || len(modules) != 1 {
		t.Fatalf("modules: %v, %v", modules, err)
	}
	if filepath.Base(modules[0]) != "61c8793fe16ce2e380a1398b811c1186.ptx" {
		t.Fatalf("kinds.ptx is %s, and an H200 ran another: record it again there (kudzu trace --real --format=binary -- ./kinds kinds.ptx), "+
			"put the .kzt, compressed, in the place of testdata/traces/kinds-h200.kzt.gz, and the new name here", filepath.Base(modules[0]))
	}
	card := t.TempDir()
	write(t, filepath.Join(card, "1-0.kzt"), unpacked(t, "testdata/traces/kinds-h200.kzt.gz"))
	if err := os.Symlink(filepath.Join(dir, trace.ModulesDir), filepath.Join(card, trace.ModulesDir)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(x.kudzu, "trace", "diff", card, dir).CombinedOutput()
	if err != nil || string(out) != "no difference in 207 calls\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
