package curand

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rand"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// start opens the device once: a process has one driver.
var start = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})})
	return (*driver.Thread)(new(Thread)).Init(0)
})

// recordedCall is one call of a recorded case.
type recordedCall struct {
	words  []string // name and arguments
	status int32
	hash   string
	values []uint64
}

// recordedCase is a generator and what was asked of it.
type recordedCase struct {
	name    string
	host    bool
	kind    rand.CurandRngType_t
	order   rand.CurandOrdering_t
	seed    uint64
	offset  uint64
	dims    uint32
	setters []int32 // create, seed, order, dimensions, offset; -1: not called
	calls   []recordedCall
}

func number(t *testing.T, s string, base int) uint64 {
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readRecorded(t *testing.T) (all []*recordedCase) {
	f, err := os.Open("testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		left, right, ok := strings.Cut(line, " | ")
		if !ok {
			continue
		}
		l, r := strings.Fields(left), strings.Fields(right)
		if l[0] == "case" {
			c := &recordedCase{name: left, host: l[1] == "1", kind: rand.CurandRngType_t(number(t, l[2], 10)), order: rand.CurandOrdering_t(number(t, l[3], 10)),
				seed: number(t, l[4], 10), offset: number(t, l[5], 10), dims: uint32(number(t, l[6], 10))}
			for _, s := range r {
				v, _ := strconv.Atoi(s)
				c.setters = append(c.setters, int32(v))
			}
			all = append(all, c)
			continue
		}
		call := recordedCall{words: l, status: int32(number(t, r[0], 10)), hash: r[1]}
		for _, s := range r[2:] {
			call.values = append(call.values, number(t, s, 16))
		}
		c := all[len(all)-1]
		c.calls = append(c.calls, call)
	}
	return all
}

// TestRecorded makes every call that an H200 answered, and compares: integers and uniform numbers bit for bit, normal numbers within
// what the H200's approximations of sine and cosine may be off.
func TestRecorded(t *testing.T) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	cases := readRecorded(t)
	if len(cases) < 500 {
		t.Fatalf("%d recorded cases", len(cases))
	}
	for _, c := range cases {
		switch {
		case c.kind == rand.CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || c.kind == rand.CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: // constants of our own
		case c.order == rand.CURAND_ORDERING_PSEUDO_DYNAMIC: // a device's own
		default:
			c.run(t)
		}
	}
}

func (c *recordedCase) run(t *testing.T) {
	th := new(Thread)
	create := th.CreateGenerator
	if c.host {
		create = th.CreateGeneratorHost
	}
	v, err := create(c.kind)
	h := rand.CurandGenerator_t(v)
	results := []error{err, nil, nil, nil, nil}
	set := func(i int, on bool, f func() error) {
		if on {
			results[i] = f()
		}
	}
	set(1, c.seed != 0, func() error { return th.SetPseudoRandomGeneratorSeed(h, c.seed) })
	set(2, c.order != 0, func() error { return th.SetGeneratorOrdering(h, c.order) })
	set(3, c.dims != 0, func() error { return th.SetQuasiRandomGeneratorDimensions(h, c.dims) })
	set(4, c.offset != 0, func() error { return th.SetGeneratorOffset(h, c.offset) })
	for i, want := range c.setters {
		if want >= 0 && status(results[i]) != want {
			t.Errorf("%s: setter %d gives %d, a GPU %d", c.name, i, status(results[i]), want)
			return
		}
	}
	for i, call := range c.calls {
		if msg := c.call(th, h, call); msg != "" {
			t.Errorf("%s: call %d, %s: %s", c.name, i, strings.Join(call.words, " "), msg)
			break
		}
	}
	if err := th.DestroyGenerator(h); err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
}

func status(err error) int32 {
	if err == nil {
		return 0
	}
	return Code(err)
}

// call makes one call and says what is wrong with its answer.
func (c *recordedCase) call(th *Thread, h rand.CurandGenerator_t, call recordedCall) string {
	arg := func(i int) float64 {
		if i >= len(call.words) {
			return 0
		}
		v, _ := strconv.ParseFloat(call.words[i], 64)
		return v
	}
	n, a, b := uint64(arg(1)), arg(2), arg(3)
	size := uint64(4)
	if strings.Contains("u64 ud nd ld", call.words[0]) {
		size = 8
	}
	d := th.driver()
	host := make([]byte, n*size+8)
	out := hostmem.Of(&host[0])
	if !c.host {
		at, err := d.TakeMemory(n*size + 8)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = d.GiveMemory(at) }()
		out = hostmem.Ptr(at)
	}
	numbers := true
	var err error
	switch call.words[0] {
	case "u32":
		err = th.Generate(h, out, n)
	case "u64":
		err = th.GenerateLongLong(h, out, n)
	case "uf":
		err = th.GenerateUniform(h, out, n)
	case "ud":
		err = th.GenerateUniformDouble(h, out, n)
	case "nf":
		err = th.GenerateNormal(h, out, n, float32(a), float32(b))
	case "nd":
		err = th.GenerateNormalDouble(h, out, n, a, b)
	case "lf":
		err = th.GenerateLogNormal(h, out, n, float32(a), float32(b))
	case "ld":
		err = th.GenerateLogNormalDouble(h, out, n, a, b)
	case "po":
		err = th.GeneratePoisson(h, out, n, a)
	default:
		numbers = false
		switch call.words[0] {
		case "seeds":
			err = th.GenerateSeeds(h)
		case "setoff":
			err = th.SetGeneratorOffset(h, n)
		case "setseed":
			err = th.SetPseudoRandomGeneratorSeed(h, n)
		case "setord":
			err = th.SetGeneratorOrdering(h, rand.CurandOrdering_t(n))
		default:
			return "a call this test does not know"
		}
	}
	if status(err) != call.status {
		return fmt.Sprintf("status %d, a GPU %d", status(err), call.status)
	}
	if !numbers || err != nil || n == 0 {
		return ""
	}
	if !c.host {
		if err := d.MemcpyDtoH(hostmem.Of(&host[0]), driver.DevPtr(out), n*size); err != nil {
			return err.Error()
		}
	}
	return c.compare(call, host[:n*size], int(size), a, b)
}

func (c *recordedCase) compare(call recordedCall, got []byte, size int, mean, deviation float64) string {
	value := func(i int) (v uint64) {
		for k := range size {
			v |= uint64(got[i*size+k]) << (8 * k)
		}
		return v
	}
	switch call.words[0] {
	case "nf", "nd", "lf", "ld":
		for i, want := range call.values {
			if msg := closeEnough(value(i), want, call.words[0], deviation); msg != "" {
				return fmt.Sprintf("number %d: %s", i, msg)
			}
		}
		return ""
	case "po":
		if mean >= 2000 { // a rounded normal number: one off where an H200's sine is
			for i, want := range call.values {
				if d := int64(value(i)) - int64(want); d < -1 || d > 1 {
					return fmt.Sprintf("number %d: %d, a GPU %d", i, value(i), want)
				}
			}
			return ""
		}
	}
	for i, want := range call.values {
		if value(i) != want {
			return fmt.Sprintf("number %d: %#x, a GPU %#x", i, value(i), want)
		}
	}
	f := fnv.New64a()
	f.Write(got)
	if sum := fmt.Sprintf("%016x", f.Sum64()); sum != call.hash {
		return "the first numbers agree, a later one does not"
	}
	return ""
}

// TestTwisterCycle goes past the first words of all MT19937 generators. The sum is of the numbers that the host generator of
// cuRAND 10.4.4 made.
func TestTwisterCycle(t *testing.T) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	c := recordedCase{name: "90 rows", host: true, kind: rand.CURAND_RNG_PSEUDO_MT19937, seed: 42, setters: []int32{0, 0}}
	c.calls = []recordedCall{{words: []string{"u32", strconv.Itoa(90 * twisterRow)}, hash: "35627d22f35ddc34"}}
	c.run(t)
}

// TestOrderBegins changes the ordering of an MTGP32 generator: it begins again with the other one.
func TestOrderBegins(t *testing.T) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	c := recordedCase{name: "order", host: true, kind: rand.CURAND_RNG_PSEUDO_MTGP32, seed: 42, setters: []int32{0, 0}}
	c.calls = []recordedCall{
		{words: []string{"u32", "5"}, hash: "47d5e9d8e33b09a4"},
		{words: []string{"setord", "103"}},
		{words: []string{"u32", "300000"}, hash: "752ba90787c6abd4"},
	}
	c.run(t)
}

// TestPoissonMethod has the codes of cuRAND 10.4.
func TestPoissonMethod(t *testing.T) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	th := new(Thread)
	v, err := th.CreateGeneratorHost(rand.CURAND_RNG_PSEUDO_XORWOW)
	if err != nil {
		t.Fatal(err)
	}
	h := rand.CurandGenerator_t(v)
	for method, want := range map[rand.CurandMethod_t]error{rand.CURAND_CHOOSE_BEST: internalError, rand.CURAND_POISSON: internalError, rand.CURAND_3RD: earlierFailure} {
		if err := th.GeneratePoissonMethod(h, hostmem.Nil, 4, 10, method); err != want {
			t.Errorf("method %d: %v, want %v", method, err, want)
		}
	}
	if err := th.GeneratePoissonMethod(h, hostmem.Nil, 4, -1, rand.CURAND_POISSON); err != outOfRange {
		t.Errorf("a negative expected value: %v", err)
	}
	if err := th.GeneratePoissonMethod(0, hostmem.Nil, 4, 1, rand.CURAND_POISSON); err != notInitialized {
		t.Errorf("no generator: %v", err)
	}
	if err := th.DestroyGenerator(h); err != nil {
		t.Error(err)
	}
}

// closeEnough allows normal numbers 2^-20 of the deviation times a radius of up to 7, doubles 2^-48.
func closeEnough(got, want uint64, op string, deviation float64) string {
	g, w, bound := math.Float64frombits(got), math.Float64frombits(want), 0x1p-48
	if op == "nf" || op == "lf" {
		g, w, bound = float64(math.Float32frombits(uint32(got))), float64(math.Float32frombits(uint32(want))), 0x1p-18
	}
	if op[0] == 'l' {
		g, w = math.Log(g), math.Log(w)
		bound *= 1 + math.Abs(w)
	}
	if !(math.Abs(g-w) <= bound*max(1, deviation)*(1+math.Abs(w))) {
		return fmt.Sprintf("%g, a GPU %g", g, w)
	}
	return ""
}
