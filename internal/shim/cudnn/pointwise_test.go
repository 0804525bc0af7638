package cudnn

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// strided describes a tensor with strides.
func (d *desk) strided(dim, stride []int32) tensorDesc {
	d.t.Helper()
	h := made(d.t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	d.ok(d.th.SetTensorNdDescriptor(h, f32, int32(len(dim)), hostmem.Of(&dim[0]), hostmem.Of(&stride[0])))
	return h
}

// activations are the functions and their derivatives, with a parameter of 1.5.
var activations = []struct {
	mode dnn.CudnnActivationMode_t
	f    func(x float64) float64
}{
	{dnn.CUDNN_ACTIVATION_SIGMOID, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{dnn.CUDNN_ACTIVATION_RELU, func(x float64) float64 { return max(x, 0) }},
	{dnn.CUDNN_ACTIVATION_TANH, math.Tanh},
	{dnn.CUDNN_ACTIVATION_CLIPPED_RELU, func(x float64) float64 { return min(max(x, 0), 1.5) }},
	{dnn.CUDNN_ACTIVATION_ELU, func(x float64) float64 {
		if x > 0 {
			return x
		}
		return 1.5 * math.Expm1(x)
	}},
	{dnn.CUDNN_ACTIVATION_IDENTITY, func(x float64) float64 { return x }},
	{dnn.CUDNN_ACTIVATION_SWISH, func(x float64) float64 { return x / (1 + math.Exp(-2.5*x)) }},
}

func TestActivationCalls(t *testing.T) {
	d := onDesk(t)
	a := made(t, d.th.CreateActivationDescriptor, d.th.DestroyActivationDescriptor)
	const n = 2 * 3 * 7
	xd := d.tensor(2, 3, 7)
	x, g, old := d.random(n), d.random(n), d.random(n)
	in, dy := put(d, x), put(d, g)
	for _, c := range activations {
		d.ok(d.th.SetActivationDescriptor(a, c.mode, dnn.CUDNN_NOT_PROPAGATE_NAN, 1.5))
		d.ok(d.th.SetActivationDescriptorSwishBeta(a, 2.5))
		want, grad := make([]float64, n), make([]float64, n)
		for i, v := range x {
			v := float64(v)
			want[i] = 2*c.f(v) + 0.5*float64(old[i])
			grad[i] = float64(g[i]) * (c.f(v+1e-6) - c.f(v-1e-6)) / 2e-6
		}
		y, plain, dx := put(d, old), d.memory(4*n), d.memory(4*n)
		d.ok(d.th.ActivationForward(d.h, a, f(2), xd, in, f(0.5), xd, y))
		d.same("activation", y, want, 1e-6)
		d.ok(d.th.ActivationForward(d.h, a, f(1), xd, in, f(0), xd, plain))
		d.ok(d.th.ActivationBackward(d.h, a, f(1), xd, plain, xd, dy, xd, in, f(0), xd, dx))
		d.same("gradient", dx, grad, 1e-5)
	}
	nan := float32(math.NaN())
	for _, opt := range []nanOpt{dnn.CUDNN_NOT_PROPAGATE_NAN, dnn.CUDNN_PROPAGATE_NAN} {
		d.ok(d.th.SetActivationDescriptor(a, dnn.CUDNN_ACTIVATION_RELU, opt, 0))
		one, y := d.tensor(1, 1, 1), d.memory(4)
		d.ok(d.th.ActivationForward(d.h, a, f(1), one, put(d, []float32{nan}), f(0), one, y))
		if got := read[float32](d, y, 1)[0]; (got != got) != (opt == dnn.CUDNN_PROPAGATE_NAN) {
			t.Errorf("NaN option %d: %g", opt, got)
		}
	}
	wants(t, "shapes", d.th.ActivationForward(d.h, a, f(1), xd, in, f(0), d.tensor(2, 3, 6), in), bad)
}

func TestOpTensorCalls(t *testing.T) {
	d := onDesk(t)
	o := made(t, d.th.CreateOpTensorDescriptor, d.th.DestroyOpTensorDescriptor)
	ad, bd := d.tensor(2, 3, 4), d.tensor(1, 3, 1)
	a, b, old := d.random(24), d.random(3), d.random(24)
	for i := range a {
		a[i] = max(a[i], -a[i])
	}
	ops := []func(x, y float64) float64{
		func(x, y float64) float64 { return x + y }, func(x, y float64) float64 { return x * y },
		func(x, y float64) float64 { return min(x, y) }, func(x, y float64) float64 { return max(x, y) },
		func(x, _ float64) float64 { return math.Sqrt(x) }, func(x, _ float64) float64 { return 1 - x },
	}
	for op, do := range ops {
		d.ok(d.th.SetOpTensorDescriptor(o, dnn.CudnnOpTensorOp_t(op), f32, 0))
		want := make([]float64, 24)
		for i := range want {
			want[i] = do(2*float64(a[i]), -3*float64(b[i/4%3])) + 0.5*float64(old[i])
		}
		c := put(d, old)
		d.ok(d.th.OpTensor(d.h, o, f(2), ad, put(d, a), f(-3), bd, put(d, b), f(0.5), ad, c))
		d.same("operation", c, want, 1e-6)
	}
	c := put(d, old)
	d.ok(d.th.AddTensor(d.h, f(2), bd, put(d, b), f(3), ad, c))
	want := make([]float64, 24)
	for i := range want {
		want[i] = 2*float64(b[i/4%3]) + 3*float64(old[i])
	}
	d.same("sum", c, want, 1e-6)
	d.ok(d.th.ScaleTensor(d.h, ad, c, f(-2)))
	for i := range want {
		want[i] *= -2
	}
	d.same("scaled", c, want, 1e-6)
	d.ok(d.th.SetTensor(d.h, ad, c, f(7.25)))
	d.same("filled", c, slices.Repeat([]float64{7.25}, 24), 0)
	wants(t, "a B of another size", d.th.AddTensor(d.h, f(1), d.tensor(1, 2, 1), c, f(1), ad, c), bad)
}

func TestTransformCalls(t *testing.T) {
	d := onDesk(t)
	xd, yd := d.tensor(2, 4, 3), d.strided([]int32{2, 4, 3}, []int32{40, 1, 5})
	x := d.random(24)
	in, y := put(d, x), put(d, slices.Repeat([]float32{9}, 80))
	d.ok(d.th.TransformTensor(d.h, f(2), xd, in, f(1), yd, y))
	want := slices.Repeat([]float64{9}, 80)
	for i, v := range x {
		want[i/12*40+i/3%4+i%3*5] += 2 * float64(v)
	}
	d.same("transformed", y, want, 1e-6)

	tr := made(t, d.th.CreateTensorTransformDescriptor, d.th.DestroyTensorTransformDescriptor)
	d.ok(d.th.SetTensorTransformDescriptor(tr, 3, nchw, array(0, 1, 0), array(0, 0, 2), hostmem.Nil, dnn.CUDNN_TRANSFORM_FOLD))
	for _, beta := range []float32{0, 0.5} {
		old := d.random(50)
		want := make([]float64, 50)
		for i := range want {
			want[i] = float64(beta * old[i])
			if c, w := i/5%5, i%5; c >= 1 && w < 3 {
				want[i] += 2 * float64(x[i/25*12+(c-1)*3+w])
			}
		}
		to := put(d, old)
		d.ok(d.th.TransformTensorEx(d.h, tr, f(2), xd, in, f(beta), d.tensor(2, 5, 5), to))
		d.same("padded", to, want, 1e-6)
	}
	fd := made(t, d.th.CreateFilterDescriptor, d.th.DestroyFilterDescriptor)
	gd := made(t, d.th.CreateFilterDescriptor, d.th.DestroyFilterDescriptor)
	d.ok(d.th.SetFilterNdDescriptor(fd, f32, nchw, 3, array(2, 4, 3)))
	d.ok(d.th.SetFilterNdDescriptor(gd, f32, nhwc, 3, array(2, 4, 3)))
	d.ok(d.th.SetTensorTransformDescriptor(tr, 3, nhwc, hostmem.Nil, hostmem.Nil, hostmem.Nil, dnn.CUDNN_TRANSFORM_FOLD))
	d.ok(d.th.TransformFilter(d.h, tr, f(1), fd, in, f(0), gd, y))
	want = make([]float64, 24)
	for i, v := range x {
		want[i/12*12+i%3*4+i/3%4] = float64(v)
	}
	d.same("filter", y, want, 0)

	// Bytes to vectors of four channels.
	bytes := make([]uint8, 8*3)
	for i := range bytes {
		bytes[i] = uint8(i)
	}
	plain := made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	vect := made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	d.ok(d.th.SetTensor4dDescriptor(plain, nchw, dnn.CUDNN_DATA_INT8, 1, 8, 1, 3))
	d.ok(d.th.SetTensor4dDescriptor(vect, dnn.CUDNN_TENSOR_NCHW_VECT_C, dnn.CUDNN_DATA_INT8x4, 1, 8, 1, 3))
	v := d.memory(24)
	d.ok(d.th.TransformTensor(d.h, f(1), plain, put(d, bytes), f(0), vect, v))
	for i, got := range read[uint8](d, v, 24) {
		if c, w := i/12*4+i%4, i/4%3; got != uint8(c*3+w) {
			t.Fatalf("byte %d is %d, not %d", i, got, c*3+w)
		}
	}
}

func TestReduceCalls(t *testing.T) {
	d := onDesk(t)
	r := made(t, d.th.CreateReduceTensorDescriptor, d.th.DestroyReduceTensorDescriptor)
	ad, cd := d.tensor(2, 3, 5), d.tensor(2, 1, 1)
	a, old := d.random(30), d.random(2)
	a[4], a[20] = 0, 0
	in := put(d, a)
	for op := dnn.CUDNN_REDUCE_TENSOR_ADD; op <= dnn.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS; op++ {
		d.ok(d.th.SetReduceTensorDescriptor(r, op, f32, 0, dnn.CUDNN_REDUCE_TENSOR_FLATTENED_INDICES, 0))
		size, err := d.th.GetReductionIndicesSize(d.h, r, ad, cd)
		d.ok(err)
		work, err := d.th.GetReductionWorkspaceSize(d.h, r, ad, cd)
		d.ok(err)
		c, ind := put(d, old), d.memory(size)
		d.ok(d.th.ReduceTensor(d.h, r, ind, size, d.memory(work), work, f(2), ad, in, f(0.5), cd, c))
		want, where := make([]float64, 2), make([]uint32, 2)
		for k := range want {
			value, at := reduceRef(op, a[15*k:15*k+15])
			want[k], where[k] = 2*value+0.5*float64(old[k]), at
		}
		d.same("reduction", c, want, 1e-6)
		if op == dnn.CUDNN_REDUCE_TENSOR_MIN || op == dnn.CUDNN_REDUCE_TENSOR_MAX || op == dnn.CUDNN_REDUCE_TENSOR_AMAX {
			if got := read[uint32](d, ind, 2); !slices.Equal(got, where) {
				t.Errorf("operation %d: indices %d, not %d", op, got, where)
			}
		} else if size != 0 {
			t.Errorf("operation %d has %d bytes of indices", op, size)
		}
	}
	wants(t, "a result that is larger", d.th.ReduceTensor(d.h, r, 0, 0, 0, 0, f(1), cd, in, f(0), ad, in), bad)
}

// reduceRef is a reduction in f64, and the first element that is it.
func reduceRef(op dnn.CudnnReduceTensorOp_t, a []float32) (float64, uint32) {
	sum, product, filled, least, most, large, norm, squares := 0.0, 1.0, 1.0, math.Inf(1), math.Inf(-1), 0.0, 0.0, 0.0
	var at [3]int
	for i, f := range a {
		v := float64(f)
		sum, product, norm, squares = sum+v, product*v, norm+math.Abs(v), squares+v*v
		if v != 0 {
			filled *= v
		}
		if v < least {
			least, at[0] = v, i
		}
		if v > most {
			most, at[1] = v, i
		}
		if math.Abs(v) > large {
			large, at[2] = math.Abs(v), i
		}
	}
	all := []float64{sum, product, least, most, large, sum / float64(len(a)), norm, math.Sqrt(squares), filled}
	if op >= dnn.CUDNN_REDUCE_TENSOR_MIN && op <= dnn.CUDNN_REDUCE_TENSOR_AMAX {
		return all[op], uint32(at[op-dnn.CUDNN_REDUCE_TENSOR_MIN])
	}
	return all[op], 0
}
