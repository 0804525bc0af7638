package main

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"kudzu/internal/backend/cpu"
	"kudzu/internal/config"
)

// runStats is what --stats tells of a run.
type runStats struct {
	Seconds   float64 `json:"seconds"`
	Processes uint64  `json:"processes"` // that used the cpu backend
	Compiled  uint64  `json:"compiled"`
	CompileMs float64 `json:"compile_ms"`
	// Compiled while launches ran on baseline code.
	Background   uint64  `json:"background"`
	BackgroundMs float64 `json:"background_ms"`
	Waiting      uint64  `json:"waiting"` // still on baseline code when their process ended
	CacheHits    uint64  `json:"cache_hits"`
	// Kernels that ran on the interpreter, and why.
	Interpreted         []kernelNote `json:"interpreted"`
	Kept                []kernelNote `json:"kept"`  // on baseline code, and why
	Plain               []kernelNote `json:"plain"` // compiled without optional passes, and for which mistake of the compiler
	Launches            uint64       `json:"launches"`
	InterpretedLaunches uint64       `json:"interpreted_launches"`
	KernelMs            float64      `json:"kernel_ms"` // of all threads together
	Copies              uint64       `json:"copies"`
	CopyBytes           uint64       `json:"copy_bytes"`
	Fills               uint64       `json:"fills"`
	FillBytes           uint64       `json:"fill_bytes"`
	Collectives         uint64       `json:"collectives"`      // NCCL's operations on one host
	FastCollectives     uint64       `json:"fast_collectives"` // of them, those that C put into a queue without Go
	Kernels             []kernelNote `json:"kernels"`          // compiled in this run
	Times               []kernelTime `json:"times"`            // of kernels that ran, the longest first
	Packs               []packUse    `json:"packs,omitempty"`  // PTX packs that modules were taken from
}

type kernelTime struct {
	Name     string  `json:"name"`
	Block    string  `json:"block"` // the shape of blocks that this variant is for; 0x0x0: any
	Tier     string  `json:"tier"`
	Launches uint64  `json:"launches"`
	Ms       float64 `json:"ms"` // of all threads together

	CompileMs float64   `json:"compile_ms"` // 0 from the cache
	TookOver  *takeOver `json:"took_over,omitempty"`
}

// takeOver is when optimised code took the place of baseline code.
type takeOver struct {
	Launches uint64  `json:"launches"` // so many had begun
	Ms       float64 `json:"ms"`       // so long after the baseline code was there
}

// String is for the line of the kernel.
func (t *kernelTime) String() string {
	s := fmt.Sprintf("%9.1f ms %8d × %s (%s, %s", t.Ms, t.Launches, t.Name, t.Block, t.Tier)
	if t.CompileMs > 0 {
		s += fmt.Sprintf(", compiled in %.1f ms", t.CompileMs)
	}
	if o := t.TookOver; o != nil {
		s += fmt.Sprintf(", took over after %d launches, %.1f ms", o.Launches, o.Ms)
	}
	return s + ")"
}

type kernelNote struct {
	Name string `json:"name"`
	Note string `json:"note"`
}

// runCounted runs the program as a child, then says what it did. The counts are in a file that the program's processes
// share, so they are there however it ends.
func runCounted(p child, out string) error {
	f, err := countsFile()
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	p.env = setEnv(p.env, config.Stats, f.Name())
	start := time.Now()
	wait, err := p.begin()
	if err != nil {
		return err
	}
	waited := wait()
	s, err := readStats(f, time.Since(start))
	if err != nil {
		return err
	}
	if out == "" {
		s.print(os.Stderr)
	} else if err := s.write(out); err != nil {
		return err
	}
	return waited
}

// countsFile is a file for the counts of a program's processes; the caller removes it.
func countsFile() (*os.File, error) {
	f, err := os.CreateTemp("", "kudzu-stats-*")
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(cpu.ReportSize); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

func readStats(f io.ReaderAt, took time.Duration) (*runStats, error) {
	b := make([]byte, cpu.ReportSize)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	s := &runStats{
		Seconds: took.Seconds(), Processes: n(cpu.ReportProcesses), Compiled: n(cpu.ReportCompiled), CompileMs: float64(n(cpu.ReportCompileNs)) / 1e6,
		Background: n(cpu.ReportBehind), BackgroundMs: float64(n(cpu.ReportBehindNs)) / 1e6, Waiting: n(cpu.ReportWaiting),
		CacheHits: n(cpu.ReportCached), Launches: n(cpu.ReportLaunches), InterpretedLaunches: n(cpu.ReportInterpreted), KernelMs: float64(n(cpu.ReportKernelNs)) / 1e6,
		Copies: n(cpu.ReportCopies), CopyBytes: n(cpu.ReportCopyBytes), Fills: n(cpu.ReportFills), FillBytes: n(cpu.ReportFillBytes),
		Collectives: n(cpu.ReportCollectives) + n(cpu.ReportFastCollectives), FastCollectives: n(cpu.ReportFastCollectives),
		Interpreted: []kernelNote{}, Kept: []kernelNote{}, Plain: []kernelNote{}, Kernels: []kernelNote{}, Times: []kernelTime{},
	}
	text := b[cpu.ReportLines:]
	text = text[:min(n(cpu.ReportText), uint64(len(text)))]
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, "\t", 3)
		if len(parts) != 3 {
			continue
		}
		note := kernelNote{parts[1], parts[2]}
		switch parts[0] {
		case "interpreted":
			s.Interpreted = append(s.Interpreted, note)
		case "kept":
			s.Kept = append(s.Kept, note)
		case "plain":
			s.Plain = append(s.Plain, note)
		case "pack":
			s.pack(note)
		case "compiled":
			s.Kernels = append(s.Kernels, note)
		case "ran":
			var slot int
			k := kernelTime{Name: note.Name}
			if _, err := fmt.Sscan(note.Note, &slot, &k.Block, &k.Tier, &k.CompileMs); err != nil || slot < 0 || slot >= cpu.ReportSlots {
				continue
			}
			at := cpu.ReportCounters + 2*slot
			k.Launches, k.Ms = n(at+1), float64(n(at))/1e6
			s.Times = append(s.Times, k)
		case "replaced":
			s.tookOver(note)
		}
	}
	s.Times = slices.DeleteFunc(s.Times, func(k kernelTime) bool { return k.Ms == 0 })
	slices.SortStableFunc(s.Times, func(x, y kernelTime) int { return cmp.Compare(y.Ms, x.Ms) })
	return s, nil
}

// packUse is what a program took from a PTX pack.
type packUse struct {
	Name    string `json:"name"`
	Modules int    `json:"modules"`
	Found   int    `json:"found"`   // kernels of these modules that the pack has
	Kernels int    `json:"kernels"` // of these modules
}

// pack adds a module that a pack has.
func (s *runStats) pack(note kernelNote) {
	var found, all int
	if _, err := fmt.Sscanf(note.Note, "%d of %d kernels", &found, &all); err != nil {
		return
	}
	i := slices.IndexFunc(s.Packs, func(p packUse) bool { return p.Name == note.Name })
	if i < 0 {
		s.Packs = append(s.Packs, packUse{Name: note.Name})
		i = len(s.Packs) - 1
	}
	p := &s.Packs[i]
	p.Modules, p.Found, p.Kernels = p.Modules+1, p.Found+found, p.Kernels+all
}

// tookOver notes a take-over at the optimised code, which is in the list before it.
func (s *runStats) tookOver(note kernelNote) {
	var block string
	var over takeOver
	if _, err := fmt.Sscan(note.Note, &block, &over.Launches, &over.Ms); err != nil {
		return
	}
	for i := range slices.Backward(s.Times) {
		if k := &s.Times[i]; k.Name == note.Name && k.Block == block && k.Tier == "optimised" {
			k.TookOver = &over
			return
		}
	}
}

func (s *runStats) write(path string) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// longest is how many kernels are listed with their times.
const longest = 12

func (s *runStats) print(w io.Writer) {
	fmt.Fprintf(w, "kudzu: %.2f s\n", s.Seconds)
	if s.Processes == 0 {
		fmt.Fprintln(w, "  the program did not use the cpu backend")
		return
	}
	fmt.Fprintf(w, "  kernels   %d compiled (%.0f ms), %d from the cache, %d interpreted", s.Compiled, s.CompileMs, s.CacheHits, len(s.Interpreted))
	if s.Background > 0 || s.Waiting > 0 {
		fmt.Fprintf(w, "; %d in the background (%.0f ms)", s.Background, s.BackgroundMs)
		if s.Waiting > 0 {
			fmt.Fprintf(w, ", %d not done", s.Waiting)
		}
	}
	fmt.Fprintln(w)
	for _, k := range s.Interpreted {
		fmt.Fprintf(w, "            interpreted: %s: %s\n", k.Name, k.Note)
	}
	for _, k := range s.Kept {
		fmt.Fprintf(w, "            stays baseline: %s: %s\n", k.Name, k.Note)
	}
	for _, k := range s.Plain {
		fmt.Fprintf(w, "            without optional passes: %s: %s\n", k.Name, k.Note)
	}
	for _, p := range s.Packs {
		fmt.Fprintf(w, "  pack      %s: %d modules, %d of their %d kernels\n", p.Name, p.Modules, p.Found, p.Kernels)
	}
	fmt.Fprintf(w, "  launches  %d, %.1f ms in kernels (all threads); %d interpreted\n", s.Launches, s.KernelMs, s.InterpretedLaunches)
	for i, k := range s.Times {
		if i == longest {
			fmt.Fprintf(w, "            … and %d more kernels; --stats=file.json has all\n", len(s.Times)-i)
			break
		}
		fmt.Fprintf(w, "            %s\n", &k)
	}
	fmt.Fprintf(w, "  copies    %d, %s; fills %d, %s\n", s.Copies, size(int64(s.CopyBytes)), s.Fills, size(int64(s.FillBytes)))
	if s.Collectives > 0 {
		fmt.Fprintf(w, "  NCCL      %d collectives on this host, %d of them without Go\n", s.Collectives, s.FastCollectives)
	}
}
