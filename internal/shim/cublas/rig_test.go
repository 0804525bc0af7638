package cublas

import (
	"math/cmplx"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// rig is a handle on a device, and a program's memory.
type rig struct {
	t    *testing.T
	th   *Thread
	h    blas.CublasHandle_t
	rng  *rand.Rand
	tiny bool // the interpreter: shapes as small as say something
}

// interpreted, in the environment, makes the tests run on the interpreter.
const interpreted = "KUDZU_BLAS_TEST_INTERP"

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

// onDevice runs a test with a handle.
func onDevice(t *testing.T, f func(r *rig)) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, th: new(Thread), rng: rand.New(rand.NewPCG(7, 11)), tiny: os.Getenv(interpreted) != ""}
	h, err := r.th.Create()
	if err != nil {
		t.Fatal(err)
	}
	r.h = blas.CublasHandle_t(h)
	f(r)
	if err := r.th.Destroy(r.h); err != nil {
		t.Fatal(err)
	}
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

func (r *rig) is(err error, want Status) {
	r.t.Helper()
	if StatusOf(err) != want {
		r.t.Fatalf("got %v, want %v", err, want)
	}
}

func (r *rig) sync() {
	r.t.Helper()
	r.ok(r.th.driver().CtxSynchronize())
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

func (r *rig) number(e Elem) complex128 {
	switch e {
	case S8, S32:
		return complex(float64(r.rng.IntN(15)-7), 0)
	case C8:
		return complex(float64(r.rng.IntN(15)-7), float64(r.rng.IntN(15)-7))
	case C32, C64:
		return Decode(e, Encode(e, complex(r.rng.NormFloat64(), r.rng.NormFloat64())))
	case F32, F64, F16, BF16:
	}
	return Decode(e, Encode(e, complex(r.rng.NormFloat64(), 0)))
}

// array is device memory with a type. On these devices the program can look into it.
type array struct {
	e Elem
	p hostmem.Ptr
	n int
}

func (r *rig) empty(e Elem, n int) array {
	r.t.Helper()
	p, err := r.th.driver().MemAlloc(uint64(max(1, n) * e.Size()))
	r.ok(err)
	r.t.Cleanup(func() { _ = r.th.driver().MemFree(p) })
	return array{e, hostmem.Ptr(p), n}
}

func (r *rig) random(e Elem, n int) array {
	a := r.empty(e, n)
	for i := range n {
		a.set(i, r.number(e))
	}
	return a
}

// nan is an array that must not be looked at.
func (r *rig) nan(e Elem, n int) array {
	a := r.empty(e, n)
	for i := range n {
		a.set(i, cmplx.NaN())
	}
	return a
}

func (a array) set(i int, v complex128) {
	copy(hostmem.Bytes(a.p.Index(i, a.e.Size()), uint64(a.e.Size())), Encode(a.e, v))
}

func (a array) get(i int) complex128 {
	return Decode(a.e, hostmem.Bytes(a.p.Index(i, a.e.Size()), uint64(a.e.Size())))
}

func (a array) values() []complex128 {
	v := make([]complex128, a.n)
	for i := range v {
		v[i] = a.get(i)
	}
	return v
}

// kept are values of the program whose addresses the device knows: on the heap, where nothing moves.
var kept [][]byte

// scalar is alpha or beta where the pointer mode wants it.
func (r *rig) scalar(e Elem, v complex128, device bool) hostmem.Ptr {
	if device {
		a := r.empty(e, 1)
		a.set(0, v)
		return a.p
	}
	b := make([]byte, 16)
	copy(b, Encode(e, v))
	kept = append(kept, b)
	return hostmem.Of(&b[0])
}

func (r *rig) mode(device bool) {
	m := blas.CublasPointerMode_t(blas.CUBLAS_POINTER_MODE_HOST)
	if device {
		m = blas.CUBLAS_POINTER_MODE_DEVICE
	}
	r.ok(r.th.SetPointerMode(r.h, m))
}

var eps = map[Elem]float64{F32: 0x1p-24, C32: 0x1p-23, F64: 0x1p-53, C64: 0x1p-52, F16: 0x1p-11, BF16: 0x1p-8, S8: 0, S32: 0}

// least is the step between the smallest numbers of a type, below which rounding is no longer relative.
var least = map[Elem]float64{F32: 0x1p-149, C32: 0x1p-149, F64: 0x1p-1074, C64: 0x1p-1074, F16: 0x1p-24, BF16: 0x1p-133}

// near compares with the exact result: within the rounding of `steps` operations in sum on numbers of the given size,
// and one in the type of the result.
func (r *rig) near(what string, got array, want []complex128, size []float64, sum Elem, steps int) {
	r.t.Helper()
	for i, w := range want {
		g := got.get(i)
		if cmplx.IsNaN(w) && cmplx.IsNaN(g) {
			continue
		}
		limit := (float64(steps)+8)*eps[sum]*size[i] + 2*eps[got.e]*cmplx.Abs(w) + least[got.e]
		if d := cmplx.Abs(g - w); !(d <= limit) {
			r.t.Fatalf("%s: element %d is %v, want %v: off by %.3g, allowed %.3g", what, i, g, w, d, limit)
		}
	}
}

// mat is a matrix of the reference.
type mat = ref.Matrix

func matrix(v []complex128, ld int64, op Op, base int64) mat {
	return mat{V: v, LD: ld, Op: op, Base: base}
}
