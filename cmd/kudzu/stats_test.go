package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend/cpu"
)

// What processes left in the report is what --stats says.
func TestStats(t *testing.T) {
	b := make([]byte, cpu.ReportSize)
	put := func(i int, n uint64) { binary.LittleEndian.PutUint64(b[8*i:], n) }
	text := "compiled\tk1\t12.0 ms for blocks of 32x1x1\ninterpreted\tk2\ttex at line 7\nnonsense\n"
	copy(b[8*cpu.ReportCounters:], text)
	put(cpu.ReportText, uint64(len(text)))
	put(cpu.ReportProcesses, 1)
	put(cpu.ReportCompiled, 1)
	put(cpu.ReportLaunches, 5)
	put(cpu.ReportKernelNs, 2_500_000)
	put(cpu.ReportCopies, 3)
	put(cpu.ReportCopyBytes, 2048)
	s, err := readStats(bytes.NewReader(b), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Interpreted) != 1 || s.Interpreted[0] != (kernelNote{"k2", "tex at line 7"}) || len(s.Kernels) != 1 || s.Launches != 5 || s.KernelMs != 2.5 {
		t.Errorf("read %+v", s)
	}
	var out strings.Builder
	s.print(&out)
	for _, want := range []string{"1 compiled", "interpreted: k2: tex at line 7", "launches  5, 2.5 ms", "copies    3, 2.0 KB"} {
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
