package testkit

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
)

// TestVectorsWhole runs the cases in which two blocks share vectors for long enough that vectors in parts would be seen: on the
// interpreter with two blocks at a time, and on code for this processor and for one without AVX-512.
func TestVectorsWhole(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	compiled := func(target compile.Target) backend.Backend {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir}), Target: target, Strict: true})
	}
	executors := []struct {
		name   string
		b      backend.Backend
		rounds uint64
	}{
		{"interp", interp.New(interp.Config{Threads: 2}), 10_000},
		{"cpu", compiled(compile.Target{}), 500_000},
	}
	if runtime.GOARCH == "amd64" && cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C) {
		executors = append(executors, executors[1])
		executors[2].name, executors[2].b = "avx2", compiled(compile.Target{Triple: "x86_64-linux-gnu", CPU: "x86-64-v3"})
	}
	for _, x := range executors {
		t.Run(x.name, func(t *testing.T) {
			devs, err := x.b.Open()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"memory/vectors_whole", "sync/data_with_flags"} {
				c, err := Parse(filepath.Join(*casesDir, name+".txtar"))
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range c.Runs { // the last argument is the number of rounds
					r.Args[len(r.Args)-1].Values[0] = x.rounds
				}
				out, err := c.Execute(devs[0], func(ptx string) (*backend.Module, error) { return driver.Describe(name, ptx, capability(ptx)) })
				if err != nil {
					t.Fatal(err)
				}
				compareAll(t, c, out)
			}
		})
	}
}
