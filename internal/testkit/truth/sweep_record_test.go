package truth

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cuda"
	"kudzu/internal/backend/interp"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
	"kudzu/internal/testkit"
)

var (
	sweepLog   = flag.String("sweeplog", "", "run the sweeps of -shard on the real driver and append their hashes to this file; begun again, it goes on behind what is there")
	sweepProbe = flag.Duration("sweepprobe", 0, "compare the interpreter with the real driver around edge values, for so long")
	sweepJoin  = flag.String("sweepjoin", "", "a list of such files, with commas, to make -sweepout of")
	sweepOut   = flag.String("sweepout", sweepsFile, "see -sweepjoin")
	sweepDump  = flag.String("sweepdump", "", "write what a real GPU makes of all inputs of the 16-bit forms that -lines chooses, 8 bytes each, into this folder")
)

// sweepBatch lines share a kernel.
const sweepBatch = 8

func cudaRunner(t *testing.T) *Runner {
	devs, err := cuda.New(cuda.Config{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	return &Runner{Device: devs[0], Host: testkit.NewHostPage(t, HostBytes), Module: func(s string) (*backend.Module, error) {
		return &backend.Module{Name: "sweep", Text: s}, nil
	}}
}

func interpRunner(t *testing.T) *Runner {
	devs, err := interp.New(interp.Config{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	return &Runner{Device: devs[0], Host: testkit.NewHostPage(t, HostBytes), Module: describe}
}

// shardOf gives the batches of -shard.
func shardOf(t *testing.T) [][]*Sweep {
	var part, parts int
	if _, err := fmt.Sscanf(*shard, "%d/%d", &part, &parts); err != nil || parts < 1 {
		t.Fatalf("shard %q", *shard)
	}
	var mine [][]*Sweep
	for i, b := range SweepBatches(Sweeps(), sweepBatch) {
		if i%parts == part {
			mine = append(mine, b)
		}
	}
	return mine
}

// TestRecordSweeps runs sweeps on a real GPU. Its log has a line "begin" before each kernel, so that what makes the vendor's
// compiler die is run line by line the next time, and left out after that.
func TestRecordSweeps(t *testing.T) {
	if *sweepLog == "" {
		t.Skip("-sweeplog is not given")
	}
	begun, done := map[string]int{}, map[string]bool{}
	if b, err := os.ReadFile(*sweepLog); err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			part := strings.Split(line, "\t")
			switch part[0] {
			case "begin":
				begun[part[1]]++
			case "sums", "refused":
				done[part[1]] = true
			}
		}
	}
	f, err := os.OpenFile(*sweepLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec := &sweepRecorder{t: t, log: f, r: cudaRunner(t)}
	for _, batch := range shardOf(t) {
		batch = slices.DeleteFunc(batch, func(s *Sweep) bool { return done[s.Text] })
		switch {
		case len(batch) == 0:
		case begun[name(batch)] == 0:
			rec.record(batch)
		default:
			for _, s := range batch {
				if one := []*Sweep{s}; begun[name(one)] == 0 {
					rec.record(one)
				}
			}
		}
	}
	fmt.Fprintln(f, "end")
}

func name(batch []*Sweep) string { return fmt.Sprintf("%d %s", len(batch), batch[0].Text) }

type sweepRecorder struct {
	t   *testing.T
	log *os.File
	r   *Runner
}

func (rec *sweepRecorder) record(batch []*Sweep) {
	fmt.Fprintf(rec.log, "begin\t%s\n", name(batch))
	sums, err := allHashes(rec.r, batch)
	var jit *cuda.JITError
	switch {
	case err == nil:
		for i, s := range batch {
			fmt.Fprintf(rec.log, "sums\t%s\t%08x\n", s.Text, sums[i])
		}
	case !errors.As(err, &jit):
		rec.t.Fatalf("%s: %v", batch[0].Text, err)
	case len(batch) == 1:
		fmt.Fprintf(rec.log, "refused\t%s\t%s\n", batch[0].Text, strings.ReplaceAll(err.Error(), "\n", " "))
	default:
		rec.record(batch[:len(batch)/2])
		rec.record(batch[len(batch)/2:])
	}
}

// allHashes gives the hashes of all chunks of sweeps of one shape.
func allHashes(r *Runner, batch []*Sweep) ([][]uint32, error) {
	k, err := r.LoadSweeps(batch, false)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	return k.Hashes(0, batch[0].Chunks(), batch[0].Chunk())
}

// TestProbeSweeps compares the interpreter with a real GPU on the rows around edge values, and prints inputs that differ.
func TestProbeSweeps(t *testing.T) {
	if *sweepProbe == 0 {
		t.Skip("-sweepprobe is not given")
	}
	end := time.Now().Add(*sweepProbe)
	card := cudaRunner(t)
	ours := interpRunner(t)
	rows, skipped := 0, 0
	for _, batch := range shardOf(t) {
		if time.Now().After(end) {
			skipped++
			continue
		}
		n, err := probe(card, ours, batch)
		rows += n
		if err != nil {
			fmt.Printf("ERROR\t%s\t%s\n", batch[0].Text, strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
	fmt.Printf("PROBED\t%d rows\t%d batches left out\n", rows, skipped)
}

// probe compares hashes of rows, and shows the results of those that differ.
func probe(card, ours *Runner, batch []*Sweep) (rows int, err error) {
	var k [2]*SweepKernel
	for i, r := range []*Runner{card, ours} {
		if k[i], err = r.LoadSweeps(batch, false); err != nil {
			return 0, err
		}
		defer k[i].Close()
	}
	bad := make([][]int, len(batch)) // rows that differ
	for _, row := range batch[0].Rows() {
		var h [2][][]uint32
		for i := range k {
			if h[i], err = k[i].Hashes(row, 1, sweepThreads); err != nil {
				return rows, err
			}
		}
		rows++
		for s := range batch {
			if h[0][s][0] != h[1][s][0] {
				bad[s] = append(bad[s], row)
			}
		}
	}
	for s, list := range bad {
		if len(list) == 0 {
			continue
		}
		fmt.Printf("ROWS\t%s\t%d rows\n", batch[s].Text, len(list))
		if err := showDifferences(card, ours, batch[s], list); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// showDifferences prints inputs of rows on which two devices differ.
func showDifferences(card, ours *Runner, s *Sweep, rows []int) error {
	var k [2]*SweepKernel
	var err error
	for i, r := range []*Runner{card, ours} {
		if k[i], err = r.LoadSweeps([]*Sweep{s}, true); err != nil {
			return err
		}
		defer k[i].Close()
	}
	for n, row := range rows {
		if n == 12 {
			break
		}
		var v [2][][]uint64
		for i := range k {
			if v[i], err = k[i].Results(row); err != nil {
				return err
			}
		}
		shown := 0
		for i := range sweepThreads {
			if a, b := v[0][0][i], v[1][0][i]; a != b && shown < 4 {
				shown++
				fmt.Printf("DIFFERS\t%s\tinput %#x\tcard %#x\tours %#x\n", s.Text, row*sweepThreads+i, a, b)
			}
		}
	}
	return nil
}

// TestJoinSweeps makes the record of logs.
func TestJoinSweeps(t *testing.T) {
	if *sweepJoin == "" {
		t.Skip("-sweepjoin is not given")
	}
	answers := map[string]SweepAnswer{}
	for _, file := range strings.Split(*sweepJoin, ",") {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			part := strings.Split(s.Text(), "\t")
			if part[0] != "sums" {
				continue
			}
			var hashes []uint32
			for _, h := range strings.Fields(strings.Trim(part[2], "[]")) {
				var v uint32
				if _, err := fmt.Sscanf(h, "%x", &v); err != nil {
					t.Fatal(err)
				}
				hashes = append(hashes, v)
			}
			answers[part[1]] = answer(hashes)
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
	}
	sweeps := Sweeps()
	f, err := os.Create(*sweepOut)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteSweeps(f, sweeps, answers); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range sweeps {
		if _, ok := answers[s.Text]; !ok {
			t.Logf("not answered: %s", s.Text)
		}
	}
	t.Logf("%d sweeps, %d answered", len(sweeps), len(answers))
}

// approximations are the lines of one f32 operand whose results may be off by some units.
func approximations() []*Sweep {
	var all []*Sweep
	for _, c := range isa.Chapters() {
		if c.Name != "float" {
			continue
		}
		for _, f := range c.Forms {
			for _, mods := range spell.Product(f) {
				if s := newPlain(c.Name, spell.Line(f, mods, false, -1)); s != nil && s.approximate() && s.All && f.SM <= targetSM && f.Arch == "" {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// TestProbeApproximations prints how far the interpreter's approximations are from a real GPU's: on 2^18 inputs over all bits.
func TestProbeApproximations(t *testing.T) {
	if *sweepProbe == 0 {
		t.Skip("-sweepprobe is not given")
	}
	runners := [2]*Runner{cudaRunner(t), interpRunner(t)}
	for _, s := range approximations() {
		var d Deviation
		where := uint32(0)
		var k [2]*SweepKernel
		var err error
		for i, r := range runners {
			if k[i], err = r.LoadSweeps([]*Sweep{s}, true); err != nil {
				t.Fatal(err)
			}
			defer k[i].Close()
		}
		for row := 0; row < 1<<24; row += 0x4000 + 0x1b {
			var v [2][][]uint64
			for i := range k {
				if v[i], err = k[i].Results(row); err != nil {
					t.Fatal(err)
				}
			}
			for i := range sweepThreads {
				a, b := v[0][0][i], v[1][0][i]
				d.Values++
				ulp, abs := distance(isa.F32, a, b)
				switch {
				case a == b:
					d.Same++
				case math.IsInf(abs, 1) || math.IsNaN(abs):
					if d.Far++; d.Far < 4 {
						fmt.Printf("FAR\t%s\tinput %#x\tcard %#x\tours %#x\n", s.Text, row*sweepThreads+i, a, b)
					}
				default:
					if ulp > d.Ulp {
						where = uint32(row*sweepThreads + i)
					}
					d.Ulp, d.Abs = max(d.Ulp, ulp), max(d.Abs, abs)
				}
			}
		}
		fmt.Printf("APPROX\t%s\t%d values\t%d same\t%d far\t%g ulp at %#x\t%g abs\n", s.Text, d.Values, d.Same, d.Far, d.Ulp, where, d.Abs)
	}
}

// TestDumpSweeps writes all results of forms with few inputs, to find the rule behind a difference.
func TestDumpSweeps(t *testing.T) {
	if *sweepDump == "" {
		t.Skip("-sweepdump is not given")
	}
	r := cudaRunner(t)
	rx := regexp.MustCompile(*onlyLines)
	for _, s := range Sweeps() {
		if !rx.MatchString(s.Text) || !s.All || s.Bits > 16 {
			continue
		}
		k, err := r.LoadSweeps([]*Sweep{s}, true)
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		for row := range 1 << s.Bits / sweepThreads {
			v, err := k.Results(row)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range v[0] {
				out = binary.LittleEndian.AppendUint64(out, x)
			}
		}
		k.Close()
		name, _, _ := strings.Cut(s.Text, " ")
		if err := os.WriteFile(filepath.Join(*sweepDump, name), out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
