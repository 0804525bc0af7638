package miopen_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn"
	"kudzu/internal/shim/cudnn/miopen"
	"kudzu/internal/spec/dnn"
	"kudzu/internal/spec/rt"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// solutions are two of MIOpen's: the faster wants 1 MiB, the other 4 KiB.
const solutions = `struct { float time; size_t work; uint64_t id; int algorithm; } *s = p_solutions;
    s[0].work = 1 << 20; s[0].id = 0x51; s[1].work = 4096; s[1].id = 0x52; *(size_t *)p_solutionCount = 2;`

// bodies: handles are numbers in the order they are made; arrays and scalars are written down.
func bodies() map[string]string {
	list := func(what, at, n string) string {
		return fmt.Sprintf("{ uint64_t v[8] = {0}; for (int i = 0; i < %s; i++) v[i] = ((uint32_t *)%s)[i]; note(\"%s\", %s, v); }", n, at, what, n)
	}
	scalars := `{ uint64_t v[2] = {*(uint32_t *)p_alpha, *(uint32_t *)p_beta}; note("scale", 2, v); }`
	b := map[string]string{
		"miopenSetTensorDescriptor":         list("dims", "p_dimsA", "p_nbDims") + list("strides", "p_stridesA", "p_nbDims"),
		"miopenInitConvolutionNdDescriptor": list("pad", "p_padA", "p_spatialDim") + list("stride", "p_strideA", "p_spatialDim") + list("dilation", "p_dilationA", "p_spatialDim"),
		"miopenSetNdPoolingDescriptor":      list("window", "p_windowDimA", "p_nbDims") + list("pad", "p_padA", "p_nbDims") + list("stride", "p_stridesA", "p_nbDims"),
		"miopenPoolingForward":              scalars, "miopenPoolingBackward": scalars, "miopenSoftmaxForward_V2": scalars, "miopenSoftmaxBackward_V2": scalars,
	}
	for name, first := range map[string][2]string{"miopenCreate": {"handle", "0x100"}, "miopenCreateTensorDescriptor": {"tensorDesc", "0x1000"},
		"miopenCreateConvolutionDescriptor": {"convDesc", "0x2000"}, "miopenCreatePoolingDescriptor": {"poolDesc", "0x3000"}} {
		b[name] = "static uintptr_t n; *(uintptr_t *)p_" + first[0] + " = " + first[1] + " + n++;"
	}
	for _, d := range []string{"Forward", "BackwardData", "BackwardWeights"} {
		b["miopenConvolution"+d+"GetSolution"] = solutions
	}
	return b
}

type rig struct {
	t   *testing.T
	lib *libdouble.Double
	hip *hipdouble.Interpreted
	th  *cudnn.Thread
	d   *driver.Thread
	h   cudnn.Handle
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

var ran atomic.Bool

// TestProvider runs all tests in one process: a process has one driver.
func TestProvider(t *testing.T) {
	if ran.Swap(true) {
		t.Skip("once a process: -count starts no second driver")
	}
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx1201")
	t.Setenv("KUDZU_BACKEND", "hip")
	lib := hipdouble.Build(t)
	c := hipdouble.NewInterpreted(t, lib)
	driver.Start([]backend.Backend{hip.New(hip.Config{Compiler: c, Library: lib})})
	th := new(cudnn.Thread)
	for _, test := range []struct {
		name string
		run  func(*rig)
	}{{"calls", calls}, {"refusals", refusals}} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{t: t, lib: libdouble.Build(t, "miopen", "libMIOpen.so.1", bodies()), hip: c, th: th, d: (*driver.Thread)(th)}
			r.use(r.lib.Path)
			defer cudnn.Unuse()
			h, err := th.Create(cudnn.Nine)
			r.ok(err)
			r.h = cudnn.Handle(h)
			test.run(r)
		})
	}
}

func (r *rig) use(path string) {
	cudnn.Unuse()
	cudnn.Use(miopen.New(miopen.Config{Library: path}))
}

func (r *rig) tensor(kind dnn.CudnnDataType_t, n, c, h, w int32) dnn.CudnnTensorDescriptor_t {
	r.t.Helper()
	d, err := r.th.CreateTensorDescriptor()
	r.ok(err)
	r.ok(r.th.SetTensor4dDescriptor(dnn.CudnnTensorDescriptor_t(d), dnn.CUDNN_TENSOR_NCHW, kind, n, c, h, w))
	return dnn.CudnnTensorDescriptor_t(d)
}

// scalars are alpha and beta of the program's.
func (r *rig) scalars(alpha, beta float32) (hostmem.Ptr, hostmem.Ptr) {
	p := &[2]float32{alpha, beta}
	var pin runtime.Pinner
	pin.Pin(p)
	r.t.Cleanup(pin.Unpin)
	return hostmem.Of(&p[0]), hostmem.Of(&p[1])
}

// convolution is one of 2 x 4 x 9 x 8 with 6 filters of 2 x 3 x 3 in two groups.
type convolution struct {
	x, y dnn.CudnnTensorDescriptor_t
	w    dnn.CudnnFilterDescriptor_t
	conv dnn.CudnnConvolutionDescriptor_t
}

func (r *rig) convolution(mode dnn.CudnnConvolutionMode_t) *convolution {
	r.t.Helper()
	c := &convolution{x: r.tensor(dnn.CUDNN_DATA_FLOAT, 2, 4, 9, 8), y: r.tensor(dnn.CUDNN_DATA_FLOAT, 2, 6, 5, 10)}
	w, err := r.th.CreateFilterDescriptor()
	r.ok(err)
	c.w = dnn.CudnnFilterDescriptor_t(w)
	r.ok(r.th.SetFilter4dDescriptor(c.w, dnn.CUDNN_DATA_FLOAT, dnn.CUDNN_TENSOR_NCHW, 6, 2, 3, 3))
	v, err := r.th.CreateConvolutionDescriptor()
	r.ok(err)
	c.conv = dnn.CudnnConvolutionDescriptor_t(v)
	r.ok(r.th.SetConvolution2dDescriptor(c.conv, 1, 3, 2, 1, 1, 2, mode, dnn.CUDNN_DATA_FLOAT))
	r.ok(r.th.SetConvolutionGroupCount(c.conv, 2))
	return c
}

const (
	atX, atW, atY, space = 0x7000_0000_1000, 0x7000_0000_2000, 0x7000_0000_3000, 0x7000_0000_4000
	xs, ws, ys           = "dims 2 4 9 8,strides 120 48 8 1", "dims 6 2 3 3,strides 12 9 3 1", "dims 2 6 5 a,strides 12c 32 a 1"
)

// described are the calls that describe tensors, the n-th of this double first.
func described(first int, kind string, shapes ...string) (lines []string) {
	for i, s := range shapes {
		lines = append(lines, "miopenCreateTensorDescriptor out", fmt.Sprintf("miopenSetTensorDescriptor %x %s 4 list list", 0x1000+first+i, kind))
		lines = append(lines, strings.Split(s, ",")...)
	}
	return lines
}

// calls: what the library is told, parameter by parameter, by every function that is called.
func calls(r *rig) {
	t := r.t
	one, zero := r.scalars(1, 0)
	two, half := r.scalars(2, 0.5)
	c := r.convolution(dnn.CUDNN_CROSS_CORRELATION)
	conv := func(n int) []string {
		d := fmt.Sprintf("%x", 0x2000+n)
		return []string{"miopenCreateConvolutionDescriptor out", "miopenInitConvolutionNdDescriptor " + d + " 2 list list list 0", "pad 1 3", "stride 2 1", "dilation 1 2",
			"miopenSetConvolutionGroupCount " + d + " 2", "miopenSetConvolutionAttribute " + d + " 1 1"}
	}
	p, err := r.th.CreatePoolingDescriptor()
	r.ok(err)
	pool := dnn.CudnnPoolingDescriptor_t(p)
	small, large := r.tensor(dnn.CUDNN_DATA_HALF, 2, 4, 4, 4), r.tensor(dnn.CUDNN_DATA_HALF, 2, 4, 8, 8)
	const smalls, larges = "dims 2 4 4 4,strides 40 10 4 1", "dims 2 4 8 8,strides 100 40 8 1"
	const scale = "scale 40000000 3f000000"
	window := func(n, mode int) []string {
		return []string{"miopenCreatePoolingDescriptor out", fmt.Sprintf("miopenSetNdPoolingDescriptor %x %d 2 list list list", 0x3000+n, mode), "window 2 3", "pad 0 1", "stride 2 2"}
	}
	describe := func(mode dnn.CudnnPoolingMode_t) {
		r.ok(r.th.SetPooling2dDescriptor(pool, mode, dnn.CUDNN_NOT_PROPAGATE_NAN, 2, 3, 0, 1, 2, 2))
	}
	for i, test := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"forward", func() error {
			return r.th.ConvolutionForward(r.h, one, c.x, atX, c.w, atW, c.conv, dnn.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, space, 8192, zero, c.y, atY)
		}, slices.Concat([]string{"miopenCreate out", "miopenSetStream 100 stream"}, described(0, "1", xs, ws, ys), conv(0), []string{
			"miopenConvolutionForwardGetSolution 100 1001 1000 2000 1002 10 out out", "miopenConvolutionForwardCompileSolution 100 1001 1000 2000 1002 52",
			"miopenConvolutionForwardImmediate 100 1001 700000002000 1000 700000001000 2000 1002 700000003000 700000004000 2000 52"})},
		{"data", func() error {
			return r.th.ConvolutionBackwardData(r.h, one, c.w, atW, c.y, atY, c.conv, dnn.CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, space, 1<<20, zero, c.x, atX)
		}, slices.Concat(described(3, "1", xs, ws, ys), conv(1), []string{
			"miopenConvolutionBackwardDataGetSolution 100 1005 1004 2001 1003 10 out out", "miopenConvolutionBackwardDataCompileSolution 100 1005 1004 2001 1003 51",
			"miopenConvolutionBackwardDataImmediate 100 1005 700000003000 1004 700000002000 2001 1003 700000001000 700000004000 100000 51"})},
		{"filter", func() error {
			return r.th.ConvolutionBackwardFilter(r.h, one, c.x, atX, c.y, atY, c.conv, dnn.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, space, 8192, zero, c.w, atW)
		}, slices.Concat(described(6, "1", xs, ws, ys), conv(2), []string{
			"miopenConvolutionBackwardWeightsGetSolution 100 1008 1006 2002 1007 10 out out", "miopenConvolutionBackwardWeightsCompileSolution 100 1008 1006 2002 1007 52",
			"miopenConvolutionBackwardWeightsImmediate 100 1008 700000003000 1006 700000001000 2002 1007 700000002000 700000004000 2000 52"})},
		{"largest", func() error {
			describe(dnn.CUDNN_POOLING_MAX)
			return r.th.PoolingForward(r.h, pool, two, large, atX, half, small, atY)
		}, slices.Concat(described(9, "0", larges, smalls), window(0, 0), []string{"miopenPoolingForward 100 3000 scale 1009 700000001000 scale 100a 700000003000 0 0 0", scale})},
		{"average", func() error {
			describe(dnn.CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING)
			return r.th.PoolingForward(r.h, pool, two, large, atX, half, small, atY)
		}, slices.Concat(described(11, "0", larges, smalls), window(1, 2), []string{"miopenPoolingForward 100 3001 scale 100b 700000001000 scale 100c 700000003000 0 0 0", scale})},
		{"average back", func() error {
			describe(dnn.CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING)
			return r.th.PoolingBackward(r.h, pool, two, small, atW, small, atY, large, atW, half, large, atX)
		}, slices.Concat(described(13, "0", smalls, larges), window(2, 1), []string{
			"miopenPoolingBackward 100 3002 scale 100d 700000003000 100d 700000003000 100e 700000001000 scale 100e 700000001000 0", scale})},
		{"softmax", func() error {
			return r.th.SoftmaxForward(r.h, dnn.CUDNN_SOFTMAX_LOG, dnn.CUDNN_SOFTMAX_MODE_CHANNEL, two, large, atX, half, large, atY)
		}, slices.Concat(described(15, "0", larges, larges), []string{"miopenSoftmaxForward_V2 100 scale 100f 700000001000 scale 1010 700000003000 2 1", scale})},
		{"softmax back", func() error {
			return r.th.SoftmaxBackward(r.h, dnn.CUDNN_SOFTMAX_ACCURATE, dnn.CUDNN_SOFTMAX_MODE_INSTANCE, two, large, atX, large, atW, half, large, atY)
		}, slices.Concat(described(17, "0", larges, larges, larges), []string{"miopenSoftmaxBackward_V2 100 scale 1011 700000001000 1012 700000002000 scale 1013 700000003000 1 0", scale})},
	} {
		r.lib.Calls(t)
		if err := test.do(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		made, ended := 0, 0
		got := slices.DeleteFunc(named(r.lib.Calls(t)), func(s string) bool {
			if strings.HasPrefix(s, "miopenCreate") && strings.Contains(s, "Descriptor") {
				made++
			}
			if strings.HasPrefix(s, "miopenDestroy") {
				ended++
			}
			return strings.HasPrefix(s, "miopenDestroy")
		})
		if made != ended {
			t.Errorf("%s: %d descriptors were made, %d ended", test.name, made, ended)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d %s: got\n%s\nwant\n%s", i, test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
	s, err := r.d.StreamCreate(0)
	r.ok(err)
	r.ok(r.th.SetStream(r.h, rt.CudaStream_t(s)))
	r.ok(r.th.SoftmaxForward(r.h, dnn.CUDNN_SOFTMAX_LOG, dnn.CUDNN_SOFTMAX_MODE_CHANNEL, two, large, atX, half, large, atY))
	if got := r.lib.Calls(t); !strings.HasPrefix(got[0], "miopenSetStream 100 ") {
		t.Errorf("another stream made %q", got)
	}
	r.ok(r.th.Destroy(r.h))
	if got := r.lib.Calls(t); !slices.Equal(got, []string{"miopenDestroy 100"}) {
		t.Errorf("the end made %q", got)
	}
	about, err := miopen.New(miopen.Config{Library: r.lib.Path}).Library()
	if err != nil || !strings.Contains(about, "27 of 27 functions") {
		t.Errorf("%q, %v", about, err)
	}
}

// named puts words for the addresses that are the provider's own.
func named(lines []string) []string {
	for i, line := range lines {
		w := strings.Fields(line)
		put := func(what string, at ...int) {
			for _, j := range at {
				w[j] = what
			}
		}
		switch {
		case strings.HasPrefix(w[0], "miopenCreate"):
			put("out", 1)
		case w[0] == "miopenSetStream":
			put("stream", 2)
		case w[0] == "miopenSetTensorDescriptor":
			put("list", 4, 5)
		case w[0] == "miopenInitConvolutionNdDescriptor":
			put("list", 3, 4, 5)
		case w[0] == "miopenSetNdPoolingDescriptor":
			put("list", 4, 5, 6)
		case strings.HasSuffix(w[0], "GetSolution"):
			put("out", 7, 8)
		case w[0] == "miopenPoolingForward":
			put("scale", 3, 6)
		case w[0] == "miopenPoolingBackward":
			put("scale", 3, 10)
		case w[0] == "miopenSoftmaxForward_V2":
			put("scale", 2, 5)
		case w[0] == "miopenSoftmaxBackward_V2":
			put("scale", 2, 7)
		}
		lines[i] = strings.Join(w, " ")
	}
	return lines
}

// refusals: what MIOpen does not do, our kernels do; real errors are cuDNN's.
func refusals(r *rig) {
	t := r.t
	one, zero := r.scalars(1, 0)
	x := r.tensor(dnn.CUDNN_DATA_FLOAT, 1, 2, 1, 1)
	buf, err := r.d.MemAlloc(16)
	r.ok(err)
	softmax := func() error {
		r.ok(r.d.MemsetD32(buf, math.Float32bits(3), 2))
		err := r.th.SoftmaxForward(r.h, dnn.CUDNN_SOFTMAX_ACCURATE, dnn.CUDNN_SOFTMAX_MODE_CHANNEL, one, x, hostmem.Ptr(buf), zero, x, hostmem.Ptr(buf))
		r.ok(r.d.CtxSynchronize())
		return err
	}
	own := func(what string) {
		t.Helper()
		_, before := r.hip.Counts()
		if err := softmax(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		_, after := r.hip.Counts()
		var got [2]float32
		r.ok(r.d.MemcpyDtoH(hostmem.Of(&got[0]), buf, 8))
		if after == before || got != [2]float32{0.5, 0.5} {
			t.Errorf("%s: %d launches of ours, %v", what, after-before, got)
		}
	}
	for _, refused := range []int{2, 3, 6, 8, 10} {
		r.lib.Answer(t, "miopenSoftmaxForward_V2", refused)
		own(fmt.Sprint("answer ", refused))
	}
	for answer, want := range map[int]int32{1: 1001, 4: 4004, 5: 4000, 7: 5000, 77: 4000} {
		r.lib.Answer(t, "miopenSoftmaxForward_V2", answer)
		if rc := cudnn.Code(softmax()); rc != want {
			t.Errorf("MIOpen's %d became %d, want %d", answer, rc, want)
		}
	}
	r.lib.Answer(t, "miopenSoftmaxForward_V2", 0)
	r.lib.Answer(t, "miopenSetTensorDescriptor", 3)
	own("no such tensor")
	r.lib.Answer(t, "miopenSetTensorDescriptor", 0)
	for _, path := range []string{"/nonexistent/libMIOpen.so.1", "libc.so.6", "none"} {
		r.use(path)
		own(path)
	}
}
