package truth

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"kudzu/internal/compile"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/compiled"
)

const sweepsFile = isaDir + "sweeps.gz"

var sweepKind = flag.String("sweepkind", "", "compare only sweeps of all inputs (all), or only those of a sample (sample)")

// TestSweepRecord wants an answer of the card for every sweep, and a sweep for every answer.
func TestSweepRecord(t *testing.T) {
	recorded, answers, err := ReadSweeps(sweepsFile)
	if err != nil {
		t.Fatal(err)
	}
	all := Sweeps()
	for _, s := range all {
		if _, ok := answers[s.Text]; !ok {
			t.Errorf("%s: the card was not asked, or refused it", s.Text)
		}
	}
	if len(all) != len(recorded) || len(all) < 4000 {
		t.Errorf("%d sweeps, %d recorded", len(all), len(recorded))
	}
}

// TestSweepCPU compares compiled kernels with the hashes that a card gave, and the interpreter with both: chunks around edge
// values of half of the forms with one operand, and of a sixteenth of the others. KUDZU_FULL=1 takes all chunks of all forms, which
// is 2^32 inputs for many; -lines and -sweepkind choose.
func TestSweepCPU(t *testing.T) {
	c := sweepComparison{full: os.Getenv("KUDZU_FULL") != "", every: 2, oracle: interpRunner}
	c.run(t, compile.Target{})
}

// TestSweepAVX2 does the same with code for a processor without AVX-512.
func TestSweepAVX2(t *testing.T) {
	if runtime.GOARCH != "amd64" || !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C) {
		t.Skip("this machine does not run x86-64-v3")
	}
	c := sweepComparison{full: os.Getenv("KUDZU_FULL") != "", every: 4}
	c.run(t, compile.Target{Triple: "x86_64-linux-gnu", CPU: "x86-64-v3"})
}

// TestSweepBaseline does it with the baseline compiler's code for both widths of vectors.
func TestSweepBaseline(t *testing.T) {
	sparse := func(t *testing.T, target compile.Target) {
		c := sweepComparison{full: os.Getenv("KUDZU_FULL") != "", every: 16}
		c.run(t, target)
	}
	t.Run("AVX-512", func(t *testing.T) {
		compiled.Baseline(t)
		sparse(t, compile.Target{})
	})
	t.Run("AVX2", func(t *testing.T) { sparse(t, compiled.BaselineAVX2(t)) })
}

// sweepComparison is the compiler for a target against the recorded sweeps.
type sweepComparison struct {
	full   bool
	every  int                        // of the kernels of forms with one operand, without full
	oracle func(t *testing.T) *Runner // an executor that is too slow for chunks, compared row by row
	answer map[string]SweepAnswer     // what the card said
	open   openList                   // known differences
	mine   *claims

	mu     sync.Mutex
	lines  []string // of the report
	inputs atomic.Int64
	forms  atomic.Int64
}

func (c *sweepComparison) run(t *testing.T, target compile.Target) {
	sweeps, answers, err := ReadSweeps(sweepsFile)
	if err != nil {
		t.Fatal(err)
	}
	c.answer, c.open, c.mine = answers, readOpen(t, isaDir+"sweeps-open.txt"), newClaims(t)
	if *onlyLines != "" {
		rx := regexp.MustCompile(*onlyLines)
		sweeps = slices.DeleteFunc(sweeps, func(s *Sweep) bool { return !rx.MatchString(s.Text) })
	}
	if *sweepKind != "" {
		sweeps = slices.DeleteFunc(sweeps, func(s *Sweep) bool { return s.All != (*sweepKind == "all") })
	}
	devs, err := compiledFor(t, target).backend.Open()
	if err != nil {
		t.Fatal(err)
	}
	pieces := c.pieces(sweeps)
	work := make(chan int)
	var wg sync.WaitGroup
	for range c.mine.workers(2) {
		r := &Runner{Device: devs[0], Host: testkit.NewHostPage(t, HostBytes), Module: describe}
		var oracle *Runner
		if c.oracle != nil && !c.mine.shared() {
			oracle = c.oracle(t)
		}
		wg.Go(func() {
			for i := range work {
				if c.mine.take(i) {
					c.judge(r, oracle, pieces[i])
				}
			}
		})
	}
	for i := range pieces {
		work <- i
	}
	close(work)
	wg.Wait()
	slices.Sort(c.lines)
	if dump := os.Getenv("KUDZU_TRUTH"); dump != "" { // a file for every difference
		if err := os.WriteFile(dump, []byte(strings.Join(c.lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range c.lines[:min(len(c.lines), 60)] {
		t.Error(line)
	}
	total := 0
	for _, p := range pieces {
		total += len(p.batch) * len(p.chunks) * p.batch[0].Chunk()
	}
	t.Logf("%d forms on %d of %d inputs, %d differences that are not listed", c.forms.Load(), c.inputs.Load(), total, len(c.lines))
	for p, n := range c.open {
		if n == 0 && c.full && *onlyLines == "" && !c.mine.shared() {
			t.Errorf("sweeps-open.txt: nothing that begins with %q differs any more: take it off the list", p)
		}
	}
}

// piece is what one launch after the other compares of a kernel.
type piece struct {
	batch  []*Sweep
	chunks []int
}

// parts is how many pieces the chunks of a sweep of 2^32 inputs are for several processes: all kernels' first parts come first.
const parts = 4

// pieces are the kernels to run and their chunks: one piece each, unless processes share them.
func (c *sweepComparison) pieces(sweeps []*Sweep) []piece {
	var first, later []piece
	for _, batch := range c.batches(sweeps) {
		chunks := c.chunks(batch[0])
		if !c.mine.shared() || len(chunks) < 1024 {
			later = append(later, piece{batch, chunks})
			continue
		}
		for i := range parts {
			p := piece{batch: batch}
			for _, chunk := range chunks {
				if chunk/16%parts == i {
					p.chunks = append(p.chunks, chunk)
				}
			}
			first = append(first, p)
		}
	}
	slices.SortStableFunc(first, func(a, b piece) int { return a.chunks[0] - b.chunks[0] })
	return append(first, later...)
}

// batches are the kernels to run. Forms with .ftz are in kernels of their own, which run with the processor's flush mode, and once
// more beside one without it, which do not.
func (c *sweepComparison) batches(sweeps []*Sweep) [][]*Sweep {
	var out [][]*Sweep
	plain := map[string]*Sweep{}
	n := [2]int{}
	take := func(batch []*Sweep, every int) {
		i := 0
		if batch[0].All {
			i = 1
		}
		if n[i]++; c.full || n[i]%every == 1 {
			out = append(out, batch)
		}
	}
	for _, batch := range SweepBatches(sweeps, sweepBatch) {
		every := 8 * c.every
		if batch[0].All {
			every = c.every
		}
		take(batch, every)
		if !slices.Contains(batch[0].Mods, isa.ModFtz) {
			if i := slices.IndexFunc(batch, (*Sweep).minds); i >= 0 {
				plain[batch[0].shape()] = batch[i]
			}
		} else if p := plain[batch[0].shape()]; p != nil {
			take(append([]*Sweep{p}, batch...), 2*every)
		}
	}
	return out
}

// minds reports a form without .ftz that keeps the flush mode away from its kernel.
func (s *Sweep) minds() bool {
	switch s.Form.Op {
	case isa.Add, isa.Mul, isa.Fma, isa.Sqrt, isa.Rcp, isa.Set, isa.Setp:
		return true
	case isa.Cvt:
		return !s.regs[0].typ.IsFloat()
	}
	return false
}

// chunks are those of a sweep that are compared.
func (c *sweepComparison) chunks(s *Sweep) []int {
	var list []int
	switch {
	case c.full || s.Chunks() <= sampleChunks && s.All:
		for i := range s.Chunks() {
			list = append(list, i)
		}
	case !s.All:
		list = []int{0, 1 + int(s.seed()%(sampleChunks-1))}
	default:
		for _, v := range append(slices.Clone(bitsF32), edgeList(s.sources()[0].typ, 4)...) {
			list = append(list, int(uint32(v)>>20))
		}
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list
}

func (c *sweepComparison) differs(s *Sweep, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open.allows(s.Text) {
		c.lines = append(c.lines, fmt.Sprintf("%s: %s: ", s.Chapter, s.Text)+fmt.Sprintf(format, args...))
	}
}

// judge compares one kernel.
func (c *sweepComparison) judge(r, oracle *Runner, p piece) {
	batch := p.batch
	k, err := r.LoadSweeps(batch, false)
	if err != nil {
		c.differs(batch[0], "%d lines: %v", len(batch), err)
		return
	}
	defer k.Close()
	got, chunks, err := c.hashesOf(k, p.chunks, batch[0].Chunk())
	if err != nil {
		c.differs(batch[0], "%d lines: %v", len(batch), err)
		return
	}
	for i, s := range batch {
		c.forms.Add(1)
		c.inputs.Add(int64(len(chunks) * s.Chunk()))
		c.compare(s, "compiled", chunks, got[i])
	}
	if oracle != nil {
		c.interpreted(k, oracle, batch)
	}
}

// hashesOf gives the hashes of some chunks, neighbours in one launch, and which there was time for.
func (c *sweepComparison) hashesOf(k *SweepKernel, chunks []int, size int) ([][]uint32, []int, error) {
	out := make([][]uint32, len(k.Sweeps))
	done := 0
	for done < len(chunks) && !c.mine.over() {
		rest := chunks[done:]
		n := 1
		for n < len(rest) && rest[n] == rest[0]+n {
			n++
		}
		h, err := k.Hashes(rest[0], n, size)
		if err != nil {
			return nil, nil, err
		}
		for i := range out {
			out[i] = append(out[i], h[i]...)
		}
		done += n
	}
	return out, chunks[:done], nil
}

func (c *sweepComparison) compare(s *Sweep, who string, chunks []int, got []uint32) {
	want := c.answer[s.Text]
	var bad []string
	total := uint32(0)
	for i, chunk := range chunks {
		total += got[i]
		if uint16(got[i]) != want.Chunks[chunk] {
			bad = append(bad, fmt.Sprintf("%#x", chunk*s.Chunk()))
		}
	}
	switch {
	case len(bad) > 0:
		c.differs(s, "%s: %d of %d chunks of %d differ from the card's: from %s", who, len(bad), len(chunks), s.Chunk(), strings.Join(bad[:min(len(bad), 12)], " "))
	case len(chunks) == s.Chunks() && total != want.Total:
		c.differs(s, "%s: the sum of all inputs differs from the card's", who)
	}
}

// interpreted compares the interpreter: with the card where chunks are small, else with compiled code around edge values.
func (c *sweepComparison) interpreted(k *SweepKernel, oracle *Runner, batch []*Sweep) {
	o, err := oracle.LoadSweeps(batch, false)
	if err != nil {
		c.differs(batch[0], "%d lines: interpreter: %v", len(batch), err)
		return
	}
	defer o.Close()
	s := batch[0]
	if s.All && s.Bits < 32 {
		chunks := c.chunks(s)
		if len(chunks) > 4 && !c.full {
			chunks = []int{0, 7, 8, 15} // zeros, subnormals, infinities, NaNs
		}
		h, _, err := c.hashesOf(o, chunks, s.Chunk())
		if err != nil {
			c.differs(s, "interpreter: %v", err)
			return
		}
		for i, s := range batch {
			c.compare(s, "interpreter", chunks, h[i])
		}
		return
	}
	for n, row := range s.Rows() {
		if !c.full && n%4 != 0 {
			continue
		}
		a, err := k.Hashes(row, 1, sweepThreads)
		if err != nil {
			c.differs(s, "row %#x: %v", row*sweepThreads, err)
			return
		}
		b, err := o.Hashes(row, 1, sweepThreads)
		if err != nil {
			c.differs(s, "interpreter: row %#x: %v", row*sweepThreads, err)
			return
		}
		for i, s := range batch {
			if a[i][0] != b[i][0] {
				c.differs(s, "interpreter and compiled code differ in the row from %#x", row*sweepThreads)
			}
		}
	}
}
