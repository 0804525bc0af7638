package texels

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/backend/interp"
	"kudzu/internal/cache"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/compiled"
	"kudzu/internal/testkit/hipdouble"
)

const (
	recording = "../../../testdata/isa/textures.gz"
	openFile  = "../../../testdata/isa/textures-open.txt"
)

var (
	packFile = flag.String("pack", "", "make the recording of this file, which record.c wrote")
	only     = flag.String("job", "", "only jobs whose name begins so")
	whole    = flag.Bool("whole", false, "compile every job's kernel, not one of twelve")
	every    = flag.Int("every", 1, "on HIP, one job of so many")
	list     = flag.String("list", "", "write what differs to this file, in the form of textures-open.txt")
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func TestPack(t *testing.T) {
	if *packFile == "" {
		t.Skip("no -pack")
	}
	b, err := os.ReadFile(*packFile)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = Pack(Jobs(), b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recording, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestInterp compares the interpreter with the recording, bit for bit.
func TestInterp(t *testing.T) {
	compareAll(t, interp.New(interp.Config{Out: io.Discard, Err: io.Discard}), func(*Job) bool { return true })
}

// TestCPU compares compiled code with the recording. It runs the jobs of one instruction of twelve, because compiling takes
// longest; -whole runs them all. Nothing else compares the engine's sampler with the recording.
func TestCPU(t *testing.T) {
	codes := map[string]int{}
	compareAll(t, devices.CPU(compiled.Config(t)), func(j *Job) bool {
		if _, ok := codes[j.Code]; !ok {
			codes[j.Code] = len(codes)
		}
		return *whole || codes[j.Code]%12 == 0 || strings.Contains(j.Code, "f16x2") // pairs are packed by the lowering
	})
}

// TestHIP compares the functions that sample on AMD's GPUs with the recording: through backend/hip and its double, the PTX executed
// by the interpreter. What a GPU's own code makes of that PTX is another question (docs/amd.md).
func TestHIP(t *testing.T) {
	lib := hipdouble.Build(t)
	runner := hipdouble.NewInterpreted(t, lib)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100")
	compareAll(t, hip.New(hip.Config{Compiler: runner, Library: lib}), func(*Job) bool { return true })
}

// TestRealHIP does that on AMD's instructions: on a GPU, or on what answers for the double (docs/amd.md). KUDZU_HIP_CASES=1 asks for it;
// -job picks jobs, -every takes one of so many.
func TestRealHIP(t *testing.T) {
	b := realHIP(t)
	n := 0
	compareAll(t, b, func(*Job) bool {
		n++
		return n%*every == 0
	})
}

// realHIP compiles for AMD's processors.
func realHIP(t *testing.T) backend.Backend {
	t.Helper()
	if os.Getenv("KUDZU_HIP_CASES") == "" {
		t.Skip("KUDZU_HIP_CASES is not set")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir})}
	if os.Getenv("KUDZU_DOUBLE_RUNNER") != "" {
		return hip.New(hip.Config{Compiler: devices.Client(cfg), Library: hipdouble.Build(t)})
	}
	return devices.HIP(cfg)
}

// openJobs are how many threads of a job may differ, by its name; -1: the whole answer does.
func openJobs(t *testing.T) map[string]int {
	b, err := os.ReadFile(openFile)
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]int{}
	for _, line := range strings.Split(string(b), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		n := 0
		num, name, ok := strings.Cut(line, "\t")
		if _, err := fmt.Sscan(num, &n); err != nil || !ok {
			t.Fatalf("%s: %q", openFile, line)
		}
		open[name] = n
	}
	return open
}

func compareAll(t *testing.T, b backend.Backend, want func(*Job) bool) {
	f, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	jobs := Jobs()
	rec, err := Unpack(jobs, f)
	if err != nil {
		t.Fatal(err)
	}
	driver.Start([]backend.Backend{b})
	th := &driver.Thread{ID: 1}
	if err := th.Init(0); err != nil {
		t.Fatal(err)
	}
	r, err := NewRunner(th)
	if err != nil {
		t.Fatal(err)
	}
	open := openJobs(t)
	var lines []string
	ran := 0
	for _, j := range jobs {
		hw, ok := rec[j]
		if !ok || !strings.HasPrefix(j.Name, *only) || !want(j) {
			continue
		}
		ran++
		got := r.Run(j)
		if binary.LittleEndian.Uint32(got[4:]) == 4 { // the launch failed: the context may be lost
			if err := r.Reset(); err != nil {
				t.Fatal(err)
			}
		}
		n, what := j.diff(got, hw)
		if n != 0 {
			lines = append(lines, fmt.Sprintf("%d\t%s", n, j.Name))
		}
		if n != open[j.Name] && *list == "" {
			t.Errorf("%s: %d threads differ, %d are known to: %s", j.Name, n, open[j.Name], what)
		}
	}
	t.Logf("%d jobs of %d, %d differ from the hardware", ran, len(rec), len(lines))
	if *list != "" {
		slices.Sort(lines)
		if err := os.WriteFile(*list, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := th.DevicePrimaryCtxReset(0); err != nil {
		t.Error(err)
	}
}

// diff is how many threads differ, -1 for the status or a surface's memory, and what the first of them is.
func (j *Job) diff(got, hw []byte) (int, string) {
	if bytes.Equal(got, hw) {
		return 0, ""
	}
	if g, h := binary.LittleEndian.Uint32(got), binary.LittleEndian.Uint32(hw); g != h {
		return -1, fmt.Sprintf("status %d, hardware %d", g, h)
	}
	n, first := 0, ""
	for k := range j.Threads() {
		a, b := got[8+4*j.Out*k:][:4*j.Out], hw[8+4*j.Out*k:][:4*j.Out]
		if !bytes.Equal(a, b) {
			if n++; n == 1 {
				first = fmt.Sprintf("thread %d %08x: %08x, hardware %08x", k, j.Words[k*j.In:(k+1)*j.In], words(a), words(b))
			}
		}
	}
	if n == 0 {
		return -1, "memory differs"
	}
	return n, first
}

func words(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}
