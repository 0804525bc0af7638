package devicemath

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/libdevice"
	"kudzu/internal/nvvmir"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/compiled"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// manyNumbers is how many numbers each function is called on with KUDZU_FULL=1.
const manyNumbers = 40 * threads

// TestInterp: functions as programs call them, in NVVM IR that does not bring libdevice, on the interpreter: some of them, or
// with KUDZU_FULL=1 all.
func TestInterp(t *testing.T) {
	list := append(every(5), functions["remquo"], functions["remquof"])
	if full() {
		list = every(1)
	}
	path(t, interp.New(interp.Config{}), list, threads)
}

// TestCPU does the same with compiled kernels. With KUDZU_FULL=1 it calls them on many numbers, and what it measures goes to the page.
func TestCPU(t *testing.T) {
	b := devices.CPU(compiled.Config(t))
	if !full() {
		path(t, b, every(37), threads)
		return
	}
	measured := path(t, b, every(1), manyNumbers)
	native, err := sweep(program(t), manyNumbers)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range native {
		measured.merge(name, w)
	}
	page(t, measured)
}

// every is each n-th function.
func every(n int) []*libdevice.Function {
	var list []*libdevice.Function
	for i := 0; i < len(libdevice.Functions); i += n {
		list = append(list, &libdevice.Functions[i])
	}
	return list
}

// ptxOf compiles NVVM IR as libNVVM does.
func ptxOf(t *testing.T, text string) string {
	t.Helper()
	p, err := worker.New("")
	if err != nil {
		t.Skip(err) // no libLLVM on this machine
	}
	o, err := nvvmir.Parse([]string{"-arch=compute_80"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(&compile.Request{PTX: text, NVVM: &compile.NVVM{Options: *o, Units: []compile.NVVMUnit{{Name: "k.ll", Bytes: len(text)}}},
		Target: compile.Target{Triple: "nvptx64-nvidia-cuda", CPU: "sm_80"}})
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Image)
}

// path calls functions on a backend with n numbers each, and judges what they give.
func path(t *testing.T, b backend.Backend, list []*libdevice.Function, n int) errorsOf {
	sweeper := program(t)
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := driver.Describe("libdevice", ptxOf(t, module(list)), 80)
	if err != nil {
		t.Fatal(err)
	}
	p, err := devs[0].Load(m)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Unload()
	j := &judge{t: t, worst: errorsOf{}, wrong: map[string]int{}}
	page := testkit.NewHostPage(t, 8*n*(inWords+outWords))
	for _, f := range list {
		k, err := p.Kernel("k_" + f.Name)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		in := inputs(f, n)
		out, err := run(devs[0], k, page, in)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		for i := range n {
			j.thread(f.Name, f, in[inWords*i:][:inWords], out[outWords*i:][:outWords])
		}
	}
	j.ask(sweeper)
	return j.worst
}

// run launches a kernel on the words of all threads.
func run(dev backend.Device, k backend.Kernel, page testkit.HostPage, in []uint64) ([]uint64, error) {
	q, err := dev.NewQueue(0)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	n := len(in) / inWords
	nIn, nOut := uint64(8*len(in)), uint64(8*n*outWords)
	a, err := dev.Memory().Alloc(nIn+nOut, 256)
	if err != nil {
		return nil, err
	}
	defer dev.Memory().Free(a)
	for i, w := range in {
		binary.LittleEndian.PutUint64(page.Bytes()[8*i:], w)
	}
	out := a + backend.Addr(nIn)
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(a)), uint64(out))
	for _, step := range []func() error{
		func() error { return q.Copy(a, page.Addr(), nIn) },
		func() error { return q.Fill(out, 0, 1, nOut, 0, 1) },
		func() error {
			return q.Launch(k, &backend.Launch{Grid: [3]uint32{uint32(n / threads), 1, 1}, Block: [3]uint32{threads, 1, 1}, Params: params})
		},
		func() error { return q.Copy(page.Addr(), out, nOut) },
		q.Sync,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	words := make([]uint64, n*outWords)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(page.Bytes()[8*i:])
	}
	return words, nil
}

// judge compares results: with references of this package, or, for what is not exact, with the sweeping program.
type judge struct {
	t     *testing.T
	lines strings.Builder // for the program
	asked []string        // their functions
	worst errorsOf
	wrong map[string]int
}

func (j *judge) errorf(name, format string, args ...any) {
	if j.wrong[name]++; j.wrong[name] <= 3 {
		j.t.Errorf(name+": "+format, args...)
	}
}

// both are functions that give two numbers, and which.
var both = map[string][2]string{"sincos": {"sin", "cos"}, "sincosf": {"sinf", "cosf"}, "sincospi": {"sinpi", "cospi"}, "sincospif": {"sinpif", "cospif"}, "fast_sincosf": {"fast_sinf", "fast_cosf"}}

// lengths are functions of arrays, and those of as many numbers as the arrays have at most.
var lengths = map[string]string{"norm": "norm3d", "rnorm": "rnorm3d", "normf": "norm4df", "rnormf": "rnorm4df"}

// thread judges what one thread wrote, by f's reference; name is the function that it called.
func (j *judge) thread(name string, f *libdevice.Function, in, out []uint64) {
	if pair, ok := both[f.Name]; ok {
		for i, one := range pair {
			j.thread(name, functions[one], in, out[i:])
		}
		return
	}
	if as, ok := lengths[f.Name]; ok {
		j.add(name, as, elements(f.Name, in), out[0])
		return
	}
	s := signatureOf(f)
	if near := approximations[f.Name]; near != nil {
		x, y, got := number(s.result, in[0]), number(s.result, in[1]), number(s.result, out[0])
		want, tol := near(x, y)
		if math.IsInf(tol, 1) || got == want || math.IsNaN(got) && math.IsNaN(want) {
			return
		}
		part := math.Abs(got-want) / tol
		if !(part <= 1) {
			j.errorf(name, "%g, %g: %g, want %g within %g", x, y, got, want, tol)
		}
		j.worst.merge(name, Worst{Part: part})
		return
	}
	if exact := exactly(f.Name); exact != nil {
		for i, want := range exact(in) {
			t := s.result
			if i > 0 {
				t = s.params[len(s.params)-1][1:]
			}
			if got := out[i]; got != want && !(math.IsNaN(number(t, got)) && math.IsNaN(number(t, want))) {
				j.errorf(name, "%#x: %#x, want %#x", in, got, want)
			}
		}
		j.worst.merge(name, Worst{})
		return
	}
	args := in[:len(s.params)]
	switch f.Name {
	case "powi", "powif", "ldexp", "ldexpf":
		args = []uint64{in[1], in[0]} // the program has integers first
	}
	j.add(name, f.Name, args, out[0])
}

// elements are the numbers of an array, with zeros for those that it does not have.
func elements(name string, in []uint64) []uint64 {
	n, words := int(in[0]), in[1:]
	if name == "norm" || name == "rnorm" {
		return append(append([]uint64{}, words[:n]...), make([]uint64, 3-n)...)
	}
	var all []uint64
	for i := range 4 {
		w := words[i/2] >> (32 * (i % 2)) & 0xffffffff
		if i >= n {
			w = 0
		}
		all = append(all, w)
	}
	return all
}

// number reads a word; integers are numbers, too, and never NaN.
func number(t string, w uint64) float64 {
	switch t {
	case "f64":
		return math.Float64frombits(w)
	case "f32":
		return single(w)
	}
	return 0
}

// add has the program look at a result.
func (j *judge) add(name, as string, args []uint64, got uint64) {
	j.asked = append(j.asked, name)
	j.lines.WriteString(as)
	for _, a := range append(append([]uint64{}, args...), got) {
		fmt.Fprintf(&j.lines, " %x", a)
	}
	j.lines.WriteByte('\n')
}

// ask runs the program. What it finds must be as close as stated.
func (j *judge) ask(sweeper string) {
	cmd := exec.Command(sweeper, "check")
	text := j.lines.String()
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		j.t.Fatal(err)
	}
	answers, lines := strings.Split(strings.TrimSpace(string(out)), "\n"), strings.Split(text, "\n")
	if len(answers) != len(j.asked) {
		j.t.Fatalf("%d answers to %d lines", len(answers), len(j.asked))
	}
	for i, a := range answers {
		var units, part float64
		if _, err := fmt.Sscan(a, &units, &part); err != nil {
			j.t.Fatal(err)
		}
		name := j.asked[i]
		j.worst.merge(name, Worst{Units: units, Part: part})
		if !(units <= limit(functions[name])) || !(part <= 1) { // nor NaN
			j.errorf(name, "%s: %g units, %g of the absolute bound", lines[i], units, part)
		}
	}
}
