package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend/cpu"
)

// What processes left in the report is what --stats says.
func TestStats(t *testing.T) {
	b := make([]byte, cpu.ReportSize)
	put := func(i int, n uint64) { binary.LittleEndian.PutUint64(b[8*i:], n) }
	text := "compiled\tk1\t12.0 ms for blocks of 32x1x1\ninterpreted\tk2\ttex at line 7\nnonsense\nran\tk3\t1 64x1x1\nran\tk4\t0 0x0x0\nran\tk5\t-9 x\nran\tk6\t7 1x1x1\n"
	copy(b[cpu.ReportLines:], text)
	put(cpu.ReportText, uint64(len(text)))
	put(cpu.ReportProcesses, 1)
	put(cpu.ReportCompiled, 1)
	put(cpu.ReportLaunches, 5)
	put(cpu.ReportKernelNs, 2_500_000)
	put(cpu.ReportCopies, 3)
	put(cpu.ReportCopyBytes, 2048)
	put(cpu.ReportCounters, 500_000)
	put(cpu.ReportCounters+1, 1)
	put(cpu.ReportCounters+2, 2_000_000)
	put(cpu.ReportCounters+3, 4)
	s, err := readStats(bytes.NewReader(b), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Interpreted) != 1 || s.Interpreted[0] != (kernelNote{"k2", "tex at line 7"}) || len(s.Kernels) != 1 || s.Launches != 5 || s.KernelMs != 2.5 {
		t.Errorf("read %+v", s)
	}
	if want := []kernelTime{{"k3", "64x1x1", 4, 2}, {"k4", "0x0x0", 1, 0.5}}; !slices.Equal(s.Times, want) {
		t.Errorf("times %+v, want %+v", s.Times, want)
	}
	var out strings.Builder
	s.print(&out)
	for _, want := range []string{"1 compiled", "interpreted: k2: tex at line 7", "launches  5, 2.5 ms", "2.0 ms        4 × k3 (64x1x1)", "copies    3, 2.0 KB"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	// A text longer than the file holds is cut.
	put(cpu.ReportText, 1<<40)
	if _, err := readStats(bytes.NewReader(b), 0); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "s.json")
	if err := s.write(file); err != nil {
		t.Fatal(err)
	}
	if j, err := os.ReadFile(file); err != nil || !strings.Contains(string(j), `"kernel_ms": 2.5`) {
		t.Errorf("%v: %s", err, j)
	}
}
