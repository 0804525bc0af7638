package onednn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/cu"
)

// realLibrary names a oneDNN to test with, where none is installed.
const realLibrary = "KUDZU_ONEDNN_LIBRARY"

var start = sync.OnceFunc(func() { driver.Start([]backend.Backend{interp.New(interp.Config{})}) })

// rig is a device without a compiler: what runs on our kernels is interpreted.
type rig struct {
	*nn.Run
	t   *testing.T
	rng *rand.Rand
}

func newRig(t *testing.T, l nn.Library) *rig {
	t.Helper()
	start()
	d := new(driver.Thread)
	r := &rig{Run: &nn.Run{D: d, Spaces: new(nn.Spaces)}, t: t, rng: rand.New(rand.NewPCG(22, 3))}
	r.ok(d.Init(0))
	ctx, err := d.DevicePrimaryCtxRetain(0)
	r.ok(err)
	r.ok(d.CtxSetCurrent(ctx))
	nn.UseLibrary(l)
	t.Cleanup(func() {
		nn.UseLibrary(nil)
		r.Spaces.Drop(d)
	})
	return r
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// double builds the double, once for a test.
func double(t *testing.T, flags ...string) (path string, ask func(name string, args ...uintptr) int) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: ", err)
	}
	path = filepath.Join(t.TempDir(), "libdouble.so")
	args := append([]string{"-std=gnu11", "-O1", "-shared", "-fPIC", "-o", path, "testdata/double.c", "-lm"}, flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	so, err := dl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, func(name string, args ...uintptr) int {
		f, err := so.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return int(int32(f.Call(args...)))
	}
}

// array is a tensor on the device, and its values as they were given.
type array struct {
	nn.Tensor
	v []float64 // in the order of indices
}

// gap is in the strides of a tensor that has room between its rows.
const gap = 3

// put makes a tensor: packed, channels last or with gaps.
func (r *rig) put(e nn.Elem, layout int, fill bool, dim ...int64) array {
	r.t.Helper()
	t := nn.Tensor{Type: e, Dim: dim}
	switch layout {
	case 0:
		t.Stride = nn.Packed(dim...)
	case 1:
		t.Stride = nn.ChannelsLast(dim...)
	default:
		wide := append([]int64(nil), dim...)
		wide[len(dim)-1] += gap
		t.Stride = nn.Packed(wide...)
	}
	p, err := r.D.MemAlloc(uint64(t.Span() * e.Size()))
	r.ok(err)
	r.t.Cleanup(func() { _ = r.D.MemFree(p) })
	t.Addr = uint64(p)
	a := array{t, make([]float64, t.Count())}
	for i := range a.v {
		a.v[i] = math.NaN() // nobody may look at what is overwritten
		if fill {
			a.v[i] = e.Value(e.Bytes(r.rng.Float64()*2 - 1))
		}
		copy(a.bytes(i), e.Bytes(a.v[i]))
	}
	return a
}

// bytes are those of an element.
func (a array) bytes(i int) []byte {
	at, n := int64(0), int64(i)
	for d := len(a.Dim) - 1; d >= 0; d-- {
		at += n % a.Dim[d] * a.Stride[d]
		n /= a.Dim[d]
	}
	return hostmem.Bytes(hostmem.Ptr(a.Addr).Index(int(at), int(a.Type.Size())), uint64(a.Type.Size()))
}

// check compares a result with sums in f64, whose terms have the sizes given. f32 sums of n terms are off by n roundings at most.
func (r *rig) check(what string, got array, want, size []float64, terms int64) {
	r.t.Helper()
	r.ok(r.D.CtxSynchronize())
	rounding := map[nn.Elem]float64{nn.F32: 0x1p-24, nn.F16: 0x1p-11, nn.BF16: 0x1p-8}[got.Type]
	for i := range want {
		v := got.Type.Value(got.bytes(i))
		if bound := size[i]*float64(terms+4)*0x1p-24 + math.Abs(want[i])*rounding + 0x1p-25; !(math.Abs(v-want[i]) <= bound) {
			r.t.Fatalf("%s: element %d is %v, want %v within %v", what, i, v, want[i], bound)
		}
	}
}

// shape is a convolution of the tests: images, channels and filters of a group, groups, then of each dimension the size, taps, padding,
// stride, dilation, and the result.
type shape struct {
	n, c, k, g int64
	axes       [][6]int64
}

var shapes = []shape{
	{2, 3, 5, 1, [][6]int64{{9, 3, 1, 1, 1, 9}}},
	{2, 16, 32, 1, [][6]int64{{9, 3, 1, 1, 1, 9}, {7, 3, 1, 1, 1, 7}}},
	{1, 17, 13, 1, [][6]int64{{8, 1, 0, 1, 1, 8}, {8, 1, 0, 1, 1, 8}}},
	{3, 4, 6, 2, [][6]int64{{10, 3, 1, 2, 1, 5}, {11, 3, 0, 2, 2, 4}}},
	{1, 1, 1, 8, [][6]int64{{12, 3, 1, 1, 1, 12}, {12, 5, 2, 2, 1, 6}}},
	{1, 5, 4, 1, [][6]int64{{6, 2, 1, 1, 1, 6}, {6, 2, 0, 3, 1, 2}}}, // padding before alone; a row that no tap reaches
	{1, 3, 4, 1, [][6]int64{{5, 3, 1, 1, 1, 5}, {6, 2, 0, 2, 1, 3}, {7, 3, 2, 1, 2, 7}}},
}

// convolutions are all shapes, ways and layouts.
func (r *rig) convolutions(e, to nn.Elem, shapes ...shape) {
	r.t.Helper()
	for _, s := range shapes {
		for layout := range 3 {
			conv := nn.Conv{Groups: s.g}
			xd, wd, yd := []int64{s.n, s.c * s.g}, []int64{s.k * s.g, s.c}, []int64{s.n, s.k * s.g}
			taps := int64(1)
			for _, a := range s.axes {
				xd, wd, yd = append(xd, a[0]), append(wd, a[1]), append(yd, a[5])
				conv.Pad, conv.Stride, conv.Dilation = append(conv.Pad, a[2]), append(conv.Stride, a[3]), append(conv.Dilation, a[4])
				taps *= a[1]
			}
			what := fmt.Sprintf("%v %v %v layout %d", e, xd, wd, layout)
			x, w, y := r.put(e, layout, true, xd...), r.put(e, layout, true, wd...), r.put(to, layout, false, yd...)
			want, size := r.sums(s, x, w, y, 2)
			r.ok(r.ConvForward(conv, x.Tensor, w.Tensor, y.Tensor, nn.Plain, nn.Epilogue{}))
			r.check("forward "+what, y, want, size, s.c*taps)
			dy, dx, dw := r.put(e, layout, true, yd...), r.put(to, layout, false, xd...), r.put(to, layout, false, wd...)
			want, size = r.sums(s, dx, w, dy, 0)
			r.ok(r.ConvData(conv, w.Tensor, dy.Tensor, dx.Tensor, nn.Plain))
			r.check("data "+what, dx, want, size, s.k*taps)
			want, size = r.sums(s, x, dw, dy, 1)
			r.ok(r.ConvFilter(conv, x.Tensor, dy.Tensor, dw.Tensor, nn.Plain))
			r.check("filter "+what, dw, want, size, dy.Count())
		}
	}
}

// sums is the result of a convolution or a gradient: which of x, w and y.
func (r *rig) sums(s shape, x, w, y array, which int) (sum, size []float64) {
	all := []array{x, w, y}
	sum, size = make([]float64, len(all[which].v)), make([]float64, len(all[which].v))
	var axis func(d int, xi, wi, yi int64)
	axis = func(d int, xi, wi, yi int64) {
		if d == len(s.axes) {
			at := []int64{xi, wi, yi}
			p := 1.0
			for i, a := range all {
				if i != which {
					p *= a.v[at[i]]
				}
			}
			sum[at[which]] += p
			size[at[which]] += math.Abs(p)
			return
		}
		a := s.axes[d]
		for o := range a[5] {
			for f := range a[1] {
				if i := o*a[3] - a[2] + f*a[4]; i >= 0 && i < a[0] {
					axis(d+1, xi*a[0]+i, wi*a[1]+f, yi*a[5]+o)
				}
			}
		}
	}
	for n := range s.n {
		for k := range s.k * s.g {
			for c := range s.c {
				axis(0, n*s.c*s.g+k/s.k*s.c+c, k*s.c+c, n*s.k*s.g+k)
			}
		}
	}
	return sum, size
}

// others are products and softmax.
func (r *rig) others(e, to nn.Elem) {
	r.t.Helper()
	for _, n := range []int64{8, 3} {
		for layout := range 3 {
			const batch, rows, deep = 2, 6, 10
			a, b, c := r.put(e, layout, true, batch, rows, deep), r.put(e, layout, true, 1, deep, n), r.put(to, 0, false, batch, rows, n)
			want, size := make([]float64, len(c.v)), make([]float64, len(c.v))
			for i := range want {
				for k := range deep {
					p := a.v[i/int(n)*deep+k] * b.v[int64(k)*n+int64(i)%n]
					want[i] += p
					size[i] += math.Abs(p)
				}
			}
			r.ok(r.Matmul(a.Tensor, b.Tensor, c.Tensor, nn.Plain))
			r.check(fmt.Sprintf("product of %d columns, layout %d", n, layout), c, want, size, deep)
		}
	}
	for _, mode := range []nn.SoftmaxMode{nn.SoftmaxAccurate, nn.SoftmaxLog} {
		const rows, wide = 5, 33
		x, y := r.put(e, 0, true, rows, wide, 1, 1), r.put(e, 0, false, rows, wide, 1, 1)
		want, size := make([]float64, len(y.v)), make([]float64, len(y.v))
		for i := range want {
			sum := 0.0
			for j := range wide {
				sum += math.Exp(x.v[i/wide*wide+j])
			}
			want[i], size[i] = math.Exp(x.v[i])/sum, 1
			if mode == nn.SoftmaxLog {
				want[i], size[i] = x.v[i]-math.Log(sum), 4
			}
		}
		r.ok(r.Softmax(mode, nn.Plain, 1, 3, x.Tensor, y.Tensor))
		r.check(fmt.Sprintf("softmax %d", mode), y, want, size, wide)
	}
}

func TestDouble(t *testing.T) {
	for _, version := range []struct {
		name  string
		flags []string
	}{{"version 3", nil}, {"version 2", []string{"-DOLDER"}}} {
		t.Run(version.name, func(t *testing.T) {
			path, ask := double(t, version.flags...)
			r := newRig(t, New(Config{Library: path, Threads: 3}))
			r.convolutions(nn.F32, nn.F32, shapes...)
			r.others(nn.F32, nn.F32)
			for kind, want := range []int{21, 21, 21, 3, 2} { // of the products those of three columns are ours
				if n := ask("double_calls", uintptr(kind)); n != want {
					t.Errorf("the library did %d of kind %d, want %d", n, kind, want)
				}
			}
			if ask("double_calls", 5) == 0 {
				t.Error("nothing was laid out anew")
			}
			if n, now := ask("double_threads"), ask("omp_get_max_threads"); n != 3 || now != 7 {
				t.Errorf("%d threads, and %d afterwards", n, now)
			}
			if ask("double_deterministic") != 1 {
				t.Error("results may differ from run to run")
			}
			r.convolutions(nn.BF16, nn.BF16, shapes[0]) // the double does not: interpreted
			if n := ask("double_calls", 0); n != 21 {
				t.Errorf("%d, want 21", n)
			}
		})
	}
}

// TestLeft: what must not reach the library is done by our kernels.
func TestLeft(t *testing.T) {
	path, ask := double(t)
	r := newRig(t, New(Config{Library: path}))
	a, b, c := r.put(nn.F32, 0, true, 4, 4), r.put(nn.F32, 0, true, 4, 4), r.put(nn.F32, 0, true, 4, 4)
	r.ok(r.Matmul(a.Tensor, b.Tensor, c.Tensor, nn.Scale{Alpha: 2}))
	r.ok(r.Matmul(a.Tensor, b.Tensor, c.Tensor, nn.Scale{Alpha: 1, Beta: 1}))
	stream, err := r.D.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	r.ok(err)
	r.Stream = stream
	r.ok(r.D.StreamBeginCapture(stream, cu.CU_STREAM_CAPTURE_MODE_RELAXED))
	r.ok(r.Matmul(a.Tensor, b.Tensor, c.Tensor, nn.Plain))
	var g cu.CUgraph
	r.ok(r.D.StreamEndCapture(stream, hostmem.Of(&g)))
	r.ok(r.D.GraphDestroy(g))
	r.Stream = 0
	x, f, y := r.put(nn.F32, 0, true, 1, 2, 4), r.put(nn.F32, 0, true, 2, 2, 3), r.put(nn.F32, 0, false, 1, 2, 2)
	turned := nn.Conv{Pad: []int64{0}, Stride: []int64{1}, Dilation: []int64{1}, Groups: 1, Flip: true}
	r.ok(r.ConvForward(turned, x.Tensor, f.Tensor, y.Tensor, nn.Plain, nn.Epilogue{}))
	turned.Flip = false
	r.ok(r.ConvForward(turned, x.Tensor, f.Tensor, y.Tensor, nn.Plain, nn.Epilogue{Act: nn.ActReLU}))
	r.ok(r.D.CtxSynchronize())
	for kind := range 6 {
		if n := ask("double_calls", uintptr(kind)); n != 0 {
			t.Errorf("%d of kind %d reached the library", n, kind)
		}
	}
	r.ok(r.Matmul(a.Tensor, b.Tensor, c.Tensor, nn.Plain))
	r.ok(r.D.CtxSynchronize())
	if ask("double_calls", 3) != 1 {
		t.Error("a plain product did not reach the library")
	}
	short := c.Tensor
	short.Addr += 4 // the last element lies behind its memory
	if inside, _ := r.D.OnHost(0, func() {}); inside {
		before := ask("double_calls", 3)
		_ = r.Matmul(a.Tensor, b.Tensor, nn.Tensor{Addr: short.Addr, Type: nn.F32, Dim: short.Dim, Stride: []int64{1 << 40, 1}}, nn.Plain)
		if ask("double_calls", 3) != before {
			t.Error("a result behind its memory reached the library")
		}
	}
	t.Cleanup(func() { r.ok(r.D.DevicePrimaryCtxReset(0)) }) // our kernels failed, as they should
}

// TestForgotten: operations that were forgotten end.
func TestForgotten(t *testing.T) {
	path, ask := double(t)
	r := newRig(t, New(Config{Library: path}))
	a, b, c := r.put(nn.F32, 0, true, 1, 2*most+8), r.put(nn.F32, 0, true, 2*most+8, 1), r.put(nn.F32, 0, false, 1, 1)
	var one int
	for n := int64(1); n <= 2*most; n++ {
		r.ok(r.Matmul(a.At(1, 0, n), b.At(0, 0, n), c.Tensor, nn.Plain))
		r.ok(r.D.CtxSynchronize())
		if n == 1 {
			one = ask("double_alive")
		}
	}
	for range 100 {
		if runtime.GC(); ask("double_alive") <= one*(most+1) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := ask("double_alive"); n > one*(most+1) {
		t.Errorf("%d things are alive, %d of one operation", n, one)
	}
	if n := ask("double_calls", 3); n != 2*most {
		t.Errorf("%d products of %d", n, 2*most)
	}
}

func TestMissing(t *testing.T) {
	r := newRig(t, New(Config{Library: "/nowhere/libdnnl.so"}))
	r.others(nn.F32, nn.F32)
}

// TestReal computes with the oneDNN of this machine.
func TestReal(t *testing.T) {
	path := os.Getenv(realLibrary)
	if path == "" {
		if _, err := (&dl.Look{What: "oneDNN", Names: Names, Symbol: "dnnl_primitive_execute"}).Open(); err != nil {
			t.Skip("no oneDNN here: ", err)
		}
	}
	r := newRig(t, New(Config{Library: path, Threads: 2}))
	for _, e := range []nn.Elem{nn.F32, nn.BF16, nn.F16} {
		r.convolutions(e, e, shapes...)
		r.others(e, e)
		r.convolutions(e, nn.F32, shapes...)
	}
}
