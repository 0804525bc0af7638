package c

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend/cpu"
)

// TestPrograms builds the self-checking programs and runs each against the fronts.
func TestPrograms(t *testing.T) {
	libs := dist(t)
	integrity := []string{"-I" + filepath.Join(root(t), "c/base"), filepath.Join(root(t), "c/base/integrity.c")}
	rows := []struct {
		name string
		args []string
	}{
		{"abi_load", []string{"-ldl"}},
		{"abi_fork", []string{"-L" + libs, "-lcuda", "-lpthread"}},
		{"abi_threads", []string{"-L" + libs, "-lcuda", "-lpthread"}},
		{"abi_callback", []string{"-L" + libs, "-lcuda"}},
		{"abi_thread_end", []string{"-L" + libs, "-lcuda", "-lpthread"}},
		{"abi_tls", []string{"-L" + libs, "-lcuda"}},
		{"abi_proc", []string{"-L" + libs, "-lcuda", "-ldl"}},
		{"abi_tables", append([]string{"-L" + libs, "-lcuda", "-lpthread"}, integrity...)},
		{"abi_signals", []string{"-L" + libs, "-lcuda"}},
		{"abi_altstack", []string{"-L" + libs, "-lcuda", "-lpthread"}},
		{"abi_handles", []string{"-L" + libs, "-lcuda"}},
		{"abi_streams", []string{"-L" + libs, "-lcuda"}},
		{"abi_nccl", []string{"-L" + libs, "-lnccl", "-lcudart"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			exe := compile(t, r.name, r.args...)
			// A program does not notice that its calls are recorded.
			for _, trace := range []string{"", filepath.Join(t.TempDir(), "trace")} {
				stdout, stderr, err := run(t, libs, []string{"KUDZU_LOG=error", "KUDZU_TRACE=" + trace}, exe)
				if err != nil || stdout != "ok\n" || stderr != "" {
					t.Errorf("KUDZU_TRACE=%s: %v\n%s%s", trace, err, stdout, stderr)
				}
				if trace != "" && len(traces(t, trace)) == 0 {
					t.Error("no trace")
				}
			}
		})
	}
}

// TestCollectivesWithoutGo: the five collectives of NCCL are put into queues by C (door= in nccl.api) once Go has made a call like them, which
// only their cost would tell otherwise. abi_nccl makes some 600 on each rank that may go so, and a dozen that may not.
func TestCollectivesWithoutGo(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "abi_nccl", "-L"+libs, "-lnccl", "-lcudart")
	file := filepath.Join(t.TempDir(), "stats")
	if err := os.WriteFile(file, make([]byte, cpu.ReportSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, err := run(t, libs, []string{"KUDZU_STATS=" + file}, exe); err != nil || stdout != "ok\n" {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	slow, fast := word(cpu.ReportCollectives), word(cpu.ReportFastCollectives)
	t.Logf("%d by C, %d by Go", fast, slow)
	if fast < 9*slow || fast < 200 {
		t.Errorf("C put in %d operations and Go %d", fast, slow)
	}
}

// TestRuntime holds for both runtime libraries, each with its own header.
func TestRuntime(t *testing.T) {
	libs := dist(t)
	for _, major := range []string{"12", "13"} {
		exe := compile(t, "abi_runtime", "-DCUDART_VERSION="+major+"000", "-L"+libs, "-l:libcudart.so."+major)
		stdout, stderr, err := run(t, libs, nil, exe)
		if err != nil || stdout != "ok\n" || stderr != "" {
			t.Errorf("libcudart.so.%s: %v\n%s%s", major, err, stdout, stderr)
		}
		// What was missing is counted and can be asked for.
		_, stderr, _ = run(t, libs, []string{"KUDZU_LOG=debug"}, exe)
		if want := "kudzu: libcudart.so." + major + ": __cudaRegisterUnifiedTable is not implemented, called 2 times\n"; stderr != want {
			t.Errorf("report is %q, want %q", stderr, want)
		}
	}
}

func TestQuery(t *testing.T) {
	libs := dist(t)
	stdout, stderr, err := run(t, libs, nil, compile(t, "abi_query", "-L"+libs, "-lcuda"))
	want := "version 13040\nname ok\nbad flags 1\nbad device 101\nnull out 1\n"
	if err != nil || stdout != want || stderr != "" {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
}

// TestExit: as recorded on a real driver (580).
func TestExit(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "abi_exit", "-L"+libs, "-lcuda", "-ldl")
	late := compile(t, "abi_exit", "-DLATE", "-shared", "-fPIC")
	stdout, stderr, err := run(t, libs, nil, exe, late)
	if want := "after 0\natexit 4\ndestructor 4\nlate 4\n"; err != nil || stdout != want || stderr != "" {
		t.Errorf("%v\n%s%swant %q", err, stdout, stderr, want)
	}
}

// TestConstructor: a call from a static constructor starts the Go image without a deadlock, also while another thread is
// starting it.
func TestConstructor(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "abi_constructor", "-ldl", "-lpthread")
	lib := compile(t, "abi_constructor", "-DLIBRARY", "-shared", "-fPIC", "-L"+libs, "-lcuda", "-lpthread")
	for _, env := range [][]string{nil, {"KUDZU_TEST_RACE=1"}} {
		stdout, stderr, err := run(t, libs, env, exe, lib)
		if err != nil || stdout != "ok\n" || stderr != "" {
			t.Errorf("%v: %v\n%s%s", env, err, stdout, stderr)
		}
	}
}

// TestVendorRuntime runs the vendor's runtime libraries, where they are, over our driver.
func TestVendorRuntime(t *testing.T) {
	list := os.Getenv("KUDZU_VENDOR_RUNTIME")
	if list == "" {
		t.Skip("KUDZU_VENDOR_RUNTIME does not name the vendor's libcudart.so files")
	}
	libs := dist(t)
	for _, lib := range filepath.SplitList(list) {
		_, major, _ := strings.Cut(filepath.Base(lib), ".so.")
		exe := compile(t, "abi_vendor", "-DCUDART_VERSION="+major+"000", lib)
		stdout, stderr, err := run(t, filepath.Dir(lib)+":"+libs, nil, exe)
		if err != nil || stdout != "ok\n" || stderr != "" {
			t.Errorf("%s: %v\n%s%s", lib, err, stdout, stderr)
		}
	}
}

// TestMissingImage: without libkudzu.so every call fails, and one line says why.
func TestMissingImage(t *testing.T) {
	libs := dist(t)
	exe := compile(t, "abi_query", "-L"+libs, "-lcuda")
	for name, image := range map[string]string{"absent": "", "no library": "nonsense"} {
		bare := t.TempDir()
		for _, f := range []string{"libcuda.so.1", "libkudzu-base.so"} {
			data, err := os.ReadFile(filepath.Join(libs, f))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(bare, f), data)
		}
		if image != "" {
			write(t, filepath.Join(bare, "libkudzu.so"), []byte(image))
		}
		stdout, stderr, err := run(t, bare, nil, exe)
		if err == nil || stdout != "cuInit(0): CUDA_ERROR_SHARED_OBJECT_INIT_FAILED\n" {
			t.Errorf("%s: %v, stdout %q", name, err, stdout)
		}
		if !strings.HasPrefix(stderr, "kudzu: libkudzu.so cannot be used: ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: stderr %q", name, stderr)
		}
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
}
