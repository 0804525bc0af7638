// Package compiled is how tests configure the cpu backend and its compiler.
package compiled

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/devices"
)

// Config configures the cpu backend for a test: the test program itself is the compiler process (its TestMain sees to
// that), the cache goes with the test, nothing is interpreted, and the code is for Target.
func Config(t testing.TB) devices.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "kudzu-test-*") // not t.TempDir: what is compiled in the background may still come
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 10 {
			if os.RemoveAll(dir) == nil {
				return
			}
		}
	})
	return devices.Config{Compiler: Compiler(t), Cache: cache.Open(cache.Config{Dir: dir}), Target: Target(), Strict: true}
}

// Compiler is the command of the compiler process: this program, or the one that KUDZU_TEST_COMPILER names. A test program
// that is emulated must name one of the machine's own: the machine does not start emulated programs by itself.
func Compiler(t testing.TB) []string {
	t.Helper()
	if p := os.Getenv("KUDZU_TEST_COMPILER"); p != "" {
		return []string{p, "compiler"}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "compiler"}
}

// Target is the processor that tests compile for: this one, or what KUDZU_TEST_TARGET says as TRIPLE,CPU in LLVM's words.
func Target() compile.Target {
	triple, cpu, _ := strings.Cut(os.Getenv("KUDZU_TEST_TARGET"), ",")
	return compile.Target{Triple: triple, CPU: cpu}
}

// Baseline makes the test's compiler the baseline one alone: libLLVM is where none is, so nothing else can make code.
func Baseline(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" || !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL) {
		t.Skip("this machine has no AVX-512")
	}
	alone(t)
}

// BaselineAVX2 does the same for a processor without AVX-512, which is the target.
func BaselineAVX2(t *testing.T) compile.Target {
	t.Helper()
	if runtime.GOARCH != "amd64" || !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C, cpuid.BMI1, cpuid.LZCNT, cpuid.POPCNT) {
		t.Skip("this machine does not run x86-64-v3")
	}
	alone(t)
	return compile.Target{Triple: "x86_64-linux-gnu", CPU: "x86-64-v3"}
}

// alone leaves the baseline compiler without libLLVM.
func alone(t *testing.T) {
	t.Setenv(config.Tier, compile.Baseline.String())
	t.Setenv(config.LLVM, filepath.Join(t.TempDir(), "libLLVM.so"))
}
