package progen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"kudzu/internal/testkit"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
)

var (
	firstSeed = flag.Uint64("seed", 1, "the first seed")
	seedStep  = flag.Uint64("step", 1, "how far seeds are apart; from 3 by 3: regular programs only")
	seeds     = flag.Int("seeds", 24, "how many programs TestCPU compares")
	goOn      = flag.Duration("for", 0, "how long TestCPU goes on after its seeds; go test -fuzz gives a program ten seconds, which a busy machine does not keep")
	reduce    = flag.Int("reduce", 150, "how many smaller programs to try of one that fails")
)

const hostBytes = 4 << 20

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// catalog leaves out what is known to differ from hardware on one of the two.
var catalog = sync.OnceValue(func() *Catalog { return catalogWithout() })

// catalogWithout leaves out lines that begin with one of some more words, too.
func catalogWithout(more ...string) *Catalog {
	var without []string
	for _, f := range []string{"rows-open.txt", "rows-open-cpu.txt"} {
		b, err := os.ReadFile("../../../testdata/isa/" + f)
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(b)) {
			if p, _, ok := strings.Cut(line, "\t"); ok && p[0] != '#' {
				without = append(without, p)
			}
		}
	}
	return NewCatalog(append(without, more...))
}

// pair is the two executors.
type pair struct {
	interp, other *runner
	name          string // the other's
	catalog       *Catalog
	after         func() // what brings the other back after an error; nil: nothing need
	refuses       bool   // programs that are not supported are counted, and no failure
	unsupported   int    // how many
}

// config is a compiler process that is this program, and a cache that goes with the test.
func config(t testing.TB) devices.Config {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir}), Strict: true}
}

func newPair(t testing.TB) *pair {
	t.Setenv("KUDZU_NAN", "exact") // the one difference that speed is worth: docs/numerics.md, Not reproduced
	return &pair{interp: newRunner(t, interp.New(interp.Config{})), other: newRunner(t, devices.CPU(config(t))), name: "cpu", catalog: catalog()}
}

type runner struct {
	dev  backend.Device
	host testkit.HostPage
}

func newRunner(t testing.TB, b backend.Backend) *runner {
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	return &runner{devs[0], testkit.NewHostPage(t, hostBytes)}
}

// run gives the bytes that a program leaves: each thread's registers and slot, then the cells.
func (r *runner) run(p *Program) ([]byte, error) {
	m, err := driver.Describe("progen", p.Text(), 90)
	if err != nil {
		return nil, err
	}
	prog, err := r.dev.Load(m)
	if err != nil {
		return nil, err
	}
	defer prog.Unload()
	k, err := prog.Kernel("k")
	if err != nil {
		return nil, err
	}
	q, err := r.dev.NewQueue(0)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	in, out, cells := p.Sizes()
	mem, err := r.dev.Memory().Alloc(uint64(in+out+cells), 256)
	if err != nil {
		return nil, err
	}
	defer r.dev.Memory().Free(mem)
	copy(r.host, p.Input())
	params := binary.LittleEndian.AppendUint64(nil, uint64(mem))
	params = binary.LittleEndian.AppendUint64(params, uint64(mem)+uint64(in))
	params = binary.LittleEndian.AppendUint64(params, uint64(mem)+uint64(in+out))
	params = binary.LittleEndian.AppendUint32(params, p.Uniform)
	for _, step := range []func() error{
		func() error { return q.Copy(mem, r.host.Addr(), uint64(in)) },
		func() error { return q.Fill(mem+backend.Addr(in), 0, 1, uint64(out+cells), 0, 1) },
		func() error { return q.Launch(k, &backend.Launch{Grid: p.Grid, Block: p.Block, Params: params}) },
		func() error { return q.Copy(r.host.Addr(), mem+backend.Addr(in), uint64(out+cells)) },
		q.Sync,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(r.host[:out+cells]), nil
}

// differ says what is different between the executors, "" if nothing is.
func (x *pair) differ(p *Program) string {
	want, err := x.interp.run(p)
	if err != nil {
		return "interpreter: " + err.Error()
	}
	got, err := x.other.run(p)
	if err != nil && x.after != nil {
		x.after()
	}
	var unsupported *backend.Unsupported
	switch {
	case errors.As(err, &unsupported) && x.refuses:
		x.unsupported++
		return ""
	case err != nil:
		return ran(x.name, err)
	}
	return p.firstDifference(got, want, "interpreter")
}

// firstDifference says where what a program left is not what it left elsewhere, "" if it is: the first place, and how many there are.
func (p *Program) firstDifference(got, want []byte, elsewhere string) string {
	first, more := "", 0
	for i := 0; i < len(got); i += 4 {
		g, w := binary.LittleEndian.Uint32(got[i:]), binary.LittleEndian.Uint32(want[i:])
		switch {
		case g == w:
			continue
		case first != "":
			more++
			continue
		}
		where := fmt.Sprintf("cells+%d", i-p.Threads()*outBytes)
		if thread := i / outBytes; thread < p.Threads() {
			where = fmt.Sprintf("thread %d %s", thread, place(i%outBytes))
		}
		first = fmt.Sprintf("%s = %#x, %s %#x", where, g, elsewhere, w)
	}
	if more > 0 {
		first += fmt.Sprintf(", and %d more words", more)
	}
	return first
}

// place is the register at an offset of a thread's output.
func place(off int) string {
	for _, f := range families {
		if off < 8*f.count {
			return fmt.Sprintf("%s+%d", name(f.prefix, off/8), off%8)
		}
		off -= 8 * f.count
	}
	return "its slot"
}

// check reports a program on which the executors differ, as small as it can be made.
func (x *pair) check(t *testing.T, seed uint64) {
	t.Helper()
	p := New(x.catalog, seed)
	problem := x.differ(p)
	if problem == "" {
		return
	}
	class := problemClass(x.name, problem)
	Reduce(p, func(p *Program) bool { return problemClass(x.name, x.differ(p)) == class }, *reduce)
	final := x.differ(p)
	t.Errorf("seed %d: %s; reduced: %s\n%s%s", seed, problem, final, p.Text(), begins(p, final))
}

// begins are the registers that the thread in question began with.
func begins(p *Program, problem string) string {
	var thread int
	if _, err := fmt.Sscanf(problem, "thread %d ", &thread); err != nil {
		return ""
	}
	in := p.Input()[thread*inBytes:]
	var b strings.Builder
	fmt.Fprintf(&b, "// thread %d begins with", thread)
	for _, f := range families {
		for i := range f.count {
			fmt.Fprintf(&b, " %s=%#x", name(f.prefix, i), binary.LittleEndian.Uint64(in)&(1<<(8*f.bytes)-1))
			in = in[8:]
		}
	}
	return b.String() + "\n"
}

// notCompiled begins the problem of a program that would be interpreted.
const notCompiled = "not compiled"

// ran is what a problem is called when an executor failed.
func ran(name string, err error) string {
	var unsupported *backend.Unsupported
	var failed *compile.Failed
	if errors.As(err, &unsupported) || errors.As(err, &failed) {
		return notCompiled + ": " + name + ": " + err.Error()
	}
	return name + ": " + err.Error()
}

// problemClass keeps the reducer from walking from one fault to another; name is that of the executor that is compared.
func problemClass(name, s string) string {
	switch {
	case s == "":
		return ""
	case strings.HasPrefix(s, notCompiled):
		return notCompiled + s[strings.LastIndex(s, ": "):] // the same symbol or instruction, on any line
	case strings.HasPrefix(s, "interpreter:"):
		return "interpreter"
	case strings.HasPrefix(s, name+":"):
		return name
	}
	var thread int
	var where string
	if _, err := fmt.Sscanf(s, "thread %d %s", &thread, &where); err == nil {
		return where // the same register, of any thread
	}
	return "cells"
}

// TestCPU compares the compiler with the interpreter on random programs.
func TestCPU(t *testing.T) {
	newPair(t).compare(t)
}

// compare goes through the seeds.
func (x *pair) compare(t *testing.T) {
	begun, n := time.Now(), 0
	for ; n < *seeds || time.Since(begun) < *goOn; n++ {
		x.check(t, *firstSeed+uint64(n)**seedStep)
	}
	t.Logf("%d programs of %d operations, %d of them not supported", n, x.catalog.Len(), x.unsupported)
	if x.unsupported > n/4 {
		t.Errorf("%d of %d programs are not supported: the comparison has become empty", x.unsupported, n)
	}
}

// FuzzCPU does the same for as long as one likes.
func FuzzCPU(f *testing.F) {
	for i := range uint64(4) {
		f.Add(i)
	}
	x := newPair(f)
	f.Fuzz(func(t *testing.T, seed uint64) { x.check(t, seed) })
}

// TestSame: a seed is a program, and its text is valid PTX.
func TestSame(t *testing.T) {
	for seed := range uint64(50) {
		a, b := New(catalog(), seed).Text(), New(catalog(), seed).Text()
		if a != b {
			t.Fatalf("seed %d gives two programs", seed)
		}
		if _, err := driver.Describe("progen", a, 90); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, a)
		}
	}
}

// TestReduce: the reducer keeps what matters and nothing else.
func TestReduce(t *testing.T) {
	p := New(catalog(), 7)
	marked := lines("trap;")
	p.body[len(p.body)/2].kind, p.body[len(p.body)/2].a = choice, []*node{lines("mov.u32 r0, r1;"), marked}
	p.body[len(p.body)/2].pred = "p0"
	Reduce(p, func(p *Program) bool { return strings.Contains(p.Text(), "trap;") }, 1000)
	if len(p.body) != 1 || p.body[0] != marked {
		t.Errorf("not reduced:\n%s", p.Text())
	}
}
