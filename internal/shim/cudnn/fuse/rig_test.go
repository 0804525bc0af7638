package fuse

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
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
	return nil
})

// rig is a place to run on, and a program's memory.
type rig struct {
	t testing.TB
	nn.Run
	rng *rand.Rand
}

func onDevice(t testing.TB) *rig {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	d := new(driver.Thread)
	r := &rig{t, nn.Run{D: d, Spaces: new(nn.Spaces)}, rand.New(rand.NewPCG(7, 22))}
	r.ok(d.Init(0))
	ctx, err := d.DevicePrimaryCtxRetain(0)
	r.ok(err)
	r.ok(d.CtxSetCurrent(ctx))
	t.Cleanup(func() { r.Spaces.Drop(d) })
	return r
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// array is a tensor and what its memory holds, as seen from the host.
type array struct {
	nn.Tensor
	bytes []byte
}

// array makes a tensor; f gives its elements, which are rounded to the type. What lies between them stays 0x5a.
func (r *rig) array(e nn.Elem, dim, stride []int64, f func() float64) *array {
	r.t.Helper()
	a := &array{Tensor: nn.Tensor{Type: e, Dim: dim, Stride: stride}}
	a.bytes = slices.Repeat([]byte{0x5a}, int(max(a.Span(), 1)*e.Size()))
	if !a.Empty() {
		a.each(func(index []int64) { copy(a.bytes[a.at(index)*e.Size():], e.Bytes(f())) })
	}
	at, err := r.D.MemAlloc(uint64(len(a.bytes)))
	r.ok(err)
	r.t.Cleanup(func() { _ = r.D.MemFree(at) })
	a.Addr = uint64(at)
	r.ok(r.D.MemcpyHtoD(at, hostmem.Of(&a.bytes[0]), uint64(len(a.bytes))))
	return a
}

// back reads the tensor from the device. What lies between its elements must be as it was.
func (r *rig) back(a *array) {
	r.t.Helper()
	r.ok(r.D.CtxSynchronize())
	r.ok(r.D.MemcpyDtoH(hostmem.Of(&a.bytes[0]), driver.DevPtr(a.Addr), uint64(len(a.bytes))))
	used := make([]bool, len(a.bytes))
	a.each(func(index []int64) {
		for i := range a.Type.Size() {
			used[a.at(index)*a.Type.Size()+i] = true
		}
	})
	for i, b := range a.bytes {
		if !used[i] && b != 0x5a {
			r.t.Fatalf("byte %d between elements was written", i)
		}
	}
}

// at is the place of an element; an axis of one element has any index.
func (a *array) at(index []int64) int64 {
	n := int64(0)
	for d, i := range index {
		if a.Dim[d] != 1 {
			n += i * a.Stride[d]
		}
	}
	return n
}

func (a *array) value(index []int64) float64 {
	return a.Type.Value(a.bytes[a.at(index)*a.Type.Size():])
}

func (a *array) each(f func(index []int64)) { every(a.Dim, f) }

// every calls f with all indices.
func every(dim []int64, f func(index []int64)) {
	if slices.Contains(dim, 0) {
		return
	}
	index := make([]int64, len(dim))
	for {
		f(index)
		d := len(dim) - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < dim[d] {
				break
			}
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// layouts are strides of sizes in several orders, the last with gaps.
func layouts(dim []int64) [][]int64 {
	gaps := make([]int64, len(dim))
	for i, n := len(dim)-1, int64(2); i >= 0; i-- {
		gaps[i] = n
		n = n*max(dim[i], 1) + 3
	}
	return [][]int64{nn.Packed(dim...), nn.ChannelsLast(dim...), gaps}
}

// normal are numbers of both signs.
func (r *rig) normal() float64 { return r.rng.NormFloat64() * 2 }

// epsilon is the relative error of a type and of what is computed in f32.
func epsilon(e nn.Elem) float64 {
	return map[nn.Elem]float64{nn.F32: 3e-6, nn.F64: 1e-14, nn.F16: 1e-3, nn.BF16: 8e-3, nn.E4M3: 0.13, nn.E5M2: 0.26}[e]
}

// near compares, with what a type makes of a number: the largest it has at most, and whole numbers.
func near(e nn.Elem, got, want, scale float64) bool {
	rounded := e.Value(e.Bytes(want))
	if math.IsNaN(want) && e.Float() {
		return math.IsNaN(got)
	}
	if got == rounded {
		return true
	}
	if !e.Float() {
		return math.Abs(got-want) <= 0.5+1e-5*math.Abs(want) && e != nn.Bool
	}
	return math.Abs(got-rounded) <= epsilon(e)*math.Max(scale, math.Abs(rounded))+smallest(e)
}

func smallest(e nn.Elem) float64 {
	return map[nn.Elem]float64{nn.F16: 6e-8, nn.E4M3: 2e-3, nn.E5M2: 1.6e-5}[e]
}
