package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend/cpu"
)

// What processes left in the report is what --stats says.
func TestStats(t *testing.T) {
	b := make([]byte, cpu.ReportSize)
	put := func(i int, n uint64) { binary.LittleEndian.PutUint64(b[8*i:], n) }
	text := "compiled\tk1\t12.0 ms for blocks of 32x1x1\ninterpreted\tk2\ttex at line 7\nnonsense\nran\tk3\t0 64x1x1 baseline 1.5\nran\tk3\t1 64x1x1 optimised 20.0\nreplaced\tk3\t64x1x1 3 25.5\nran\tk5\t-9 x\nran\tk6\t7 1x1x1 optimised 1\nkept\tk7\tno libLLVM\nplain\tk8\tBUG: a pass\n"
	copy(b[cpu.ReportLines:], text)
	put(cpu.ReportText, uint64(len(text)))
	put(cpu.ReportProcesses, 1)
	put(cpu.ReportCompiled, 1)
	put(cpu.ReportBehind, 1)
	put(cpu.ReportBehindNs, 20_000_000)
	put(cpu.ReportWaiting, 2)
	put(cpu.ReportLaunches, 5)
	put(cpu.ReportKernelNs, 2_500_000)
	put(cpu.ReportCopies, 3)
	put(cpu.ReportCopyBytes, 2048)
	put(cpu.ReportCollectives, 2)
	put(cpu.ReportFastCollectives, 7)
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
	want := []kernelTime{
		{Name: "k3", Block: "64x1x1", Tier: "optimised", Launches: 4, Ms: 2, CompileMs: 20, TookOver: &takeOver{3, 25.5}},
		{Name: "k3", Block: "64x1x1", Tier: "baseline", Launches: 1, Ms: 0.5, CompileMs: 1.5},
	}
	if !reflect.DeepEqual(s.Times, want) {
		t.Errorf("times %+v, want %+v", s.Times, want)
	}
	var out strings.Builder
	s.print(&out)
	for _, want := range []string{"1 compiled", "interpreted: k2: tex at line 7", "launches  5, 2.5 ms", "2.0 ms        4 × k3 (64x1x1, optimised, compiled in 20.0 ms, took over after 3 launches, 25.5 ms)",
		"0.5 ms        1 × k3 (64x1x1, baseline, compiled in 1.5 ms)", "1 in the background (20 ms), 2 not done", "stays baseline: k7: no libLLVM", "without optional passes: k8: BUG: a pass", "copies    3, 2.0 KB", "NCCL      9 collectives on this host, 7 of them without Go"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	waiting := runStats{Processes: 1, Compiled: 1, Waiting: 3}
	out.Reset()
	waiting.print(&out)
	if !strings.Contains(out.String(), "0 in the background (0 ms), 3 not done") {
		t.Errorf("kernels that wait for optimised code are not there:\n%s", out.String())
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

// The programs of scripts/apps read these words while they run.
func TestStatsWords(t *testing.T) {
	b, err := os.ReadFile("../../scripts/apps/rows.py")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("LAUNCHES, INTERPRETED, WAITING = %d, %d, %d ", cpu.ReportLaunches, cpu.ReportInterpreted, cpu.ReportWaiting); !bytes.Contains(b, []byte(want)) {
		t.Errorf("scripts/apps/rows.py does not say %q", want)
	}
}
