package truth

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"kudzu/internal/emit/warp"
	"kudzu/internal/image"
	"kudzu/internal/llvm"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
)

// arm64 compiles lines for arm64 and runs them in an emulator.
type arm64 struct {
	lib      *llvm.Lib
	cc, qemu string
	dir      string
}

// TestARM64 compares code for arm64, run by qemu, with a sample of the record. It is asked for by KUDZU_ARM64=1, and
// wants qemu-aarch64 and aarch64-linux-gnu-gcc.
func TestARM64(t *testing.T) {
	if os.Getenv("KUDZU_ARM64") == "" {
		t.Skip("KUDZU_ARM64 is not set")
	}
	a := &arm64{dir: t.TempDir()}
	var err error
	if a.qemu, err = exec.LookPath("qemu-aarch64"); err != nil {
		t.Skip(err)
	}
	if a.cc, err = exec.LookPath("aarch64-linux-gnu-gcc"); err != nil {
		t.Skip(err)
	}
	if a.lib, err = llvm.Open(""); err != nil {
		t.Skip(err)
	}
	record, err := Read(*rowsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := Recorded(record)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for _, r := range record {
		want[r.Text] = r.Bytes
	}
	open := readOpen(t, isaDir+"rows-open-cpu.txt")
	lines = slices.DeleteFunc(lines, func(l *Line) bool { return open.allows(l.Text) })
	if *onlyLines != "" {
		rx := regexp.MustCompile(*onlyLines)
		lines = slices.DeleteFunc(lines, func(l *Line) bool { return !rx.MatchString(l.Text) })
	}
	if os.Getenv("KUDZU_FULL") == "" {
		lines = sample(lines, 1)
	}
	agree, total := 0, 0
	for _, part := range batches(lines, 16) {
		a.judge(t, part, want, &agree)
		total += Lanes * len(part)
	}
	t.Logf("arm64: %d of %d rows agree", agree, total)
}

// judge runs lines together, or in halves where that fails.
func (a *arm64) judge(t *testing.T, lines []*Line, want map[string][]byte, agree *int) {
	got, err := a.run(lines)
	if err != nil {
		if len(lines) > 1 {
			a.judge(t, lines[:len(lines)/2], want, agree)
			a.judge(t, lines[len(lines)/2:], want, agree)
			return
		}
		t.Errorf("%s: %v", lines[0].Text, err)
		return
	}
	for i, l := range lines {
		d := l.Diff(got[i], want[l.Text])
		if *agree += Lanes - min(len(d), Lanes); len(d) > 0 {
			t.Errorf("%s: %d differences, lane %d %s = %#x, hardware %#x", l.Text, len(d), d[0].Lane, d[0].What, d[0].Got, d[0].Want)
		}
	}
}

func (a *arm64) run(lines []*Line) ([][]byte, error) {
	m, err := ptx.ParseModule(Header() + Batch("k", lines))
	if err != nil {
		return nil, err
	}
	k, err := lower.Kernel(m, "k", lower.Options{})
	if err != nil {
		return nil, err
	}
	block := [3]uint32{Lanes, 1, 1}
	if err := pass.Run(k, pass.Config{Block: block}); err != nil {
		return nil, err
	}
	o := llvm.Options{Triple: "aarch64-linux-gnu", CPU: "cortex-a76", OptLevel: 2,
		Passes: "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg),rel-lookup-table-converter"}
	code, err := warp.Emit(k, warp.Config{Block: block, Triple: o.Triple, CPU: o.CPU})
	if err != nil {
		return nil, err
	}
	obj, err := a.lib.Compile(code.LLVM, o)
	if err != nil {
		return nil, err
	}
	var in []byte
	out := 0
	for _, l := range lines {
		in, out = append(in, l.Inputs()...), out+Lanes*l.OutBytes()
	}
	path := func(name string) string { return filepath.Join(a.dir, name) }
	if err := os.WriteFile(path("k.o"), obj, 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path("in"), append(slices.Clone(in), Params()...), 0o644); err != nil {
		return nil, err
	}
	args := []string{"-O1", "-static", "-o", path("k"), "testdata/driver.c", path("k.o"), "-lm"}
	for name, v := range map[string]int{
		"IN_BYTES": len(in), "OUT_BYTES": out, "PARAM_BYTES": 16 + len(Params()), "SHARED_STATIC": int(code.Meta.SharedStatic),
		"FRAME_BYTES": int(code.Meta.FrameBlock) + Lanes*int(code.Meta.FrameWarp) + 64, "LOCAL_BYTES": Lanes*int(code.Meta.LocalThread) + 64,
		"LAUNCH_SIZE": image.LaunchSize, "LAUNCH_PARAMS": image.LaunchParams, "LAUNCH_VARS": image.LaunchVars, "LAUNCH_RT": image.LaunchRT,
		"LAUNCH_GRID": image.LaunchGrid, "LAUNCH_BLOCK": image.LaunchBlock, "LAUNCH_SHARED_TOTAL": image.LaunchSharedTotal,
		"LAUNCH_WARPS": image.LaunchWarps, "LAUNCH_THREADS": image.LaunchThreads, "WORKER_SIZE": image.WorkerSize,
		"WORKER_SHARED": image.WorkerShared, "WORKER_SHARED_WINDOW": image.WorkerSharedWindow, "WORKER_FRAME": image.WorkerFrame,
		"WORKER_LOCAL": image.WorkerLocal, "FTZ": map[bool]int{true: 1}[code.Meta.FTZ],
	} {
		args = append(args, fmt.Sprintf("-D%s=%d", name, v))
	}
	if text, err := exec.Command(a.cc, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	if text, err := exec.Command(a.qemu, path("k"), path("in"), path("out")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	b, err := os.ReadFile(path("out"))
	if err != nil || len(b) != out {
		return nil, fmt.Errorf("%d bytes of output, %d are wanted: %w", len(b), out, err)
	}
	var results [][]byte
	for _, l := range lines {
		n := Lanes * l.OutBytes()
		results = append(results, bytes.Clone(b[:n]))
		b = b[n:]
	}
	return results, nil
}
