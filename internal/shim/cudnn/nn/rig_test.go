package nn

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// rig is a place to run on, and a program's memory.
type rig struct {
	t testing.TB
	*Run
	rng  *rand.Rand
	tiny bool // the interpreter: shapes as small as say something
}

// interpreted, in the environment, makes the tests run on the interpreter.
const interpreted = "KUDZU_NN_TEST_INTERP"

// start opens the device once: a process has one driver.
var start = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})
	if os.Getenv(interpreted) != "" {
		b = interp.New(interp.Config{})
	}
	driver.Start([]backend.Backend{b})
	return nil
})

// context makes the device ready, with its first context current.
func context(t testing.TB) *driver.Thread {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	d := new(driver.Thread)
	if err := d.Init(0); err != nil {
		t.Fatal(err)
	}
	ctx, err := d.DevicePrimaryCtxRetain(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CtxSetCurrent(ctx); err != nil {
		t.Fatal(err)
	}
	return d
}

// onDevice is a rig for a test.
func onDevice(t testing.TB) *rig {
	t.Helper()
	d := context(t)
	s := new(Spaces)
	t.Cleanup(func() { s.Drop(d) })
	return &rig{t: t, Run: &Run{D: d, Spaces: s}, rng: rand.New(rand.NewPCG(5, 22)), tiny: os.Getenv(interpreted) != ""}
}

// TestInterpreter runs every other test on the interpreter.
func TestInterpreter(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.timeout=10m", "-test.skip=^TestInterpreter$")
	cmd.Env = append(os.Environ(), interpreted+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// pick is one of the given numbers; the interpreter gets the small half.
func (r *rig) pick(vs ...int64) int64 {
	if r.tiny {
		vs = vs[:(len(vs)+1)/2]
	}
	return vs[r.rng.IntN(len(vs))]
}

func (r *rig) coin() bool { return r.rng.IntN(2) == 0 }

// times is how often a random case is tried.
func (r *rig) times(n int) int {
	if r.tiny {
		return max(2, n/8)
	}
	return n
}

// array is a tensor of the host in f64, without gaps.
type array struct {
	dim []int64
	v   []float64
}

func newArray(dim ...int64) array {
	n := int64(1)
	for _, d := range dim {
		n *= d
	}
	return array{slices.Clone(dim), make([]float64, n)}
}

// at is where an element lies.
func (a array) at(index ...int64) *float64 {
	i := int64(0)
	for d, x := range index {
		i = i*a.dim[d] + x
	}
	return &a.v[i]
}

// each calls f with every index.
func (a array) each(f func(index []int64, v *float64)) {
	index := make([]int64, len(a.dim))
	for i := range a.v {
		f(index, &a.v[i])
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < a.dim[d] {
				break
			}
			index[d] = 0
		}
	}
}

// random has values of a type: small whole numbers for whole ones, normal numbers otherwise.
func (r *rig) random(e Elem, dim ...int64) array {
	a := newArray(dim...)
	for i := range a.v {
		v := r.rng.NormFloat64()
		switch {
		case e == Bool || e == U8:
			v = float64(r.rng.IntN(9))
		case !e.Float():
			v = float64(r.rng.IntN(15) - 7)
		}
		a.v[i] = e.Value(e.Bytes(v))
	}
	return a
}

// strides are ways for a tensor to lie in memory.
func (r *rig) strides(dim []int64) []int64 {
	switch r.rng.IntN(4) {
	case 0:
		return Packed(dim...)
	case 1:
		return ChannelsLast(dim...)
	}
	order := r.rng.Perm(len(dim))
	s, n := make([]int64, len(dim)), int64(1+r.rng.IntN(2))
	for _, d := range order {
		s[d] = n
		n = n*max(dim[d], 1) + int64(r.rng.IntN(3))
	}
	return s
}

const gapByte = 0x7b // what lies between elements and must stay: no number of a test has it in all bytes

// empty is a tensor of gaps.
func (r *rig) empty(e Elem, dim, stride []int64) Tensor {
	r.t.Helper()
	t := Tensor{Type: e, Dim: slices.Clone(dim), Stride: slices.Clone(stride)}
	n := uint64((t.Span() + 8) * e.Size())
	p, err := r.D.MemAlloc(n)
	r.ok(err)
	r.t.Cleanup(func() { _ = r.D.MemFree(p) })
	b := hostmem.Bytes(hostmem.Ptr(p), n)
	for i := range b {
		b[i] = gapByte
	}
	t.Addr = uint64(p)
	return t
}

// bytesAt is an element in memory; on these devices the program can look into it.
func bytesAt(t Tensor, index []int64) []byte {
	off := int64(0)
	for d, i := range index {
		off += i * t.Stride[d]
	}
	return hostmem.Bytes(hostmem.Ptr(t.Addr+uint64(off*t.Type.Size())), uint64(t.Type.Size()))
}

// put is a tensor with values, lying as its strides say.
func (r *rig) put(e Elem, a array, stride []int64) Tensor {
	r.t.Helper()
	t := r.empty(e, a.dim, stride)
	a.each(func(index []int64, v *float64) { copy(bytesAt(t, index), e.Bytes(*v)) })
	return t
}

// get waits, reads a tensor, and checks that what lies between its elements is as it was.
func (r *rig) get(t Tensor) array {
	r.t.Helper()
	r.ok(r.D.CtxSynchronize())
	a := newArray(t.Dim...)
	size := t.Type.Size()
	whole := hostmem.Bytes(hostmem.Ptr(t.Addr), uint64((t.Span()+8)*size))
	rest := slices.Clone(whole)
	a.each(func(index []int64, v *float64) {
		b := bytesAt(t, index)
		*v = t.Type.Value(b)
		off := int64(0)
		for d, i := range index {
			off += i * t.Stride[d] * size
		}
		for i := range size {
			rest[off+i] = gapByte
		}
	})
	for i, b := range rest {
		if b != gapByte {
			r.t.Fatalf("byte %d, between elements of %v at %v, was written", i, t.Dim, t.Stride)
		}
	}
	return a
}

// eps is half the distance of 1 and the next number; least the distance of the smallest.
var (
	eps   = map[Elem]float64{F32: 0x1p-24, F64: 0x1p-53, F16: 0x1p-11, BF16: 0x1p-8, E4M3: 0x1p-4, E5M2: 0x1p-3}
	least = map[Elem]float64{F32: 0x1p-149, F64: 0x1p-1074, F16: 0x1p-24, BF16: 0x1p-133, E4M3: 0x1p-9, E5M2: 0x1p-16}
)

// near compares with the exact result: within steps roundings in the type of the sums, on numbers of the given size, and one in the
// type of the result.
func (r *rig) near(what string, got Tensor, want, size array, steps int) {
	r.t.Helper()
	have := r.get(got)
	sum := got.Type.Sum()
	if sum == S32 {
		sum = F32
	}
	for i, w := range want.v {
		g := have.v[i]
		if math.IsNaN(w) && math.IsNaN(g) || w == g {
			continue
		}
		limit := (float64(steps)+8)*eps[sum]*size.v[i] + 2*eps[got.Type]*math.Abs(w) + least[got.Type]
		if d := math.Abs(g - w); !(d <= limit) {
			r.t.Fatalf("%s: element %d of %v is %v, want %v: off by %.3g, allowed %.3g", what, i, want.dim, g, w, d, limit)
		}
	}
}
