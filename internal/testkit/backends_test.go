package testkit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/compiled"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	if len(os.Args) == 5 && os.Args[1] == "hip-runner" {
		if err := hipRunner(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	cleanApps()
	os.Exit(code)
}

// TestCases runs every case on every executor and compares with the written values and the recorded hardware.
func TestCases(t *testing.T) {
	for _, b := range []backend.Backend{interp.New(interp.Config{}), devices.CPU(compiled.Config(t))} {
		t.Run(b.Name(), func(t *testing.T) { runCases(t, b) })
	}
}

// TestBaselineCases runs every case on the baseline compiler's code.
func TestBaselineCases(t *testing.T) {
	t.Run("AVX-512", func(t *testing.T) {
		compiled.Baseline(t)
		runCases(t, devices.CPU(compiled.Config(t)))
	})
	t.Run("AVX2", func(t *testing.T) {
		target := compiled.BaselineAVX2(t)
		cfg := compiled.Config(t)
		cfg.Target = target
		runCases(t, devices.CPU(cfg))
	})
}

// capability is the device to load a case for: 90, which the record is of, unless the case says it is for a later one.
func capability(ptx string) int {
	if strings.Contains(ptx, ".target sm_100a") {
		return 100
	}
	return 90
}

func runCases(t *testing.T, b backend.Backend) {
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	const leastCases = 60
	if len(cases) < leastCases {
		t.Fatalf("%d cases below %s, expected at least %d", len(cases), *casesDir, leastCases)
	}
	for _, c := range cases {
		name := caseName(c)
		if *onlyCase != "" && name != *onlyCase {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out, err := c.Execute(devs[0], func(ptx string) (*backend.Module, error) { return driver.Describe(name, ptx, capability(ptx)) })
			if err != nil {
				t.Fatal(err)
			}
			compareAll(t, c, out)
		})
	}
}
