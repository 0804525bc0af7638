package cudnn

import (
	"math"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// fusing is a fused operation while its plan is made, or executed: what it needs is checked and counted in both, its steps run in one.
type fusing struct {
	*call
	has   map[constLabel]any
	given map[variantLabel]uint64 // nil while a plan is made
	base  uint64                  // of the workspace
	need  uint64
	steps []func() error
}

// MakeFusedOpsPlan fixes the constants of an operation, and tells the workspace.
func (t *Thread) MakeFusedOpsPlan(h Handle, p fusedPlan, pack constPack, size hostmem.Ptr) error {
	c := t.on(h)
	made, of := take[plan](c, p), take[constants](c, pack)
	c.need(c.err != nil || made.op == of.op, badParam, "constants of operation %d for a plan of %d", of.op, made.op)
	c.need(size != hostmem.Nil, badParam, "nowhere to put the size of a workspace")
	if c.err != nil {
		return c.err
	}
	f := &fusing{call: c, has: of.has, base: uint64(nowhere)}
	fusedRows[of.op].plan(f)
	return c.run(func() error {
		hostmem.Store(size, f.need)
		return replace(p, plan{op: of.op, has: of.has, need: f.need})
	})
}

// FusedOpsExecute runs a plan.
func (t *Thread) FusedOpsExecute(h Handle, p fusedPlan, pack variantPack) error {
	c := t.on(h)
	made, of := take[plan](c, p), take[variants](c, pack)
	c.need(c.err != nil || made.op == of.op, badParam, "parameters of operation %d for a plan of %d", of.op, made.op)
	c.need(c.err != nil || made.has != nil, badParam, "a plan that was not made")
	if c.err != nil {
		return c.err
	}
	f := &fusing{call: c, has: made.has, given: of.has, base: of.has[dnn.CUDNN_PTR_WORKSPACE]}
	if f.given == nil {
		f.given = map[variantLabel]uint64{}
	}
	c.need(made.need == 0 || f.base != 0 && of.has[dnn.CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES] >= made.need, badParam, "a workspace of less than %d bytes", made.need)
	fusedRows[made.op].plan(f)
	return c.run(func() error {
		for _, step := range f.steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// address is where a tensor lies; Nil where its placeholder says that there is none. While a plan is made it is nowhere.
func (f *fusing) address(holder constLabel) hostmem.Ptr {
	how, _ := f.has[holder].(int32)
	switch dnn.CudnnFusedOpsPointerPlaceHolder_t(how) {
	case dnn.CUDNN_PTR_NULL:
		return hostmem.Nil
	case dnn.CUDNN_PTR_16B_ALIGNED:
		f.need16(f.given[placeholders[holder]])
	case dnn.CUDNN_PTR_ELEM_ALIGNED:
	}
	if f.given == nil {
		return nowhere
	}
	p := hostmem.Ptr(f.given[placeholders[holder]])
	f.call.need(p != hostmem.Nil, badParam, "no address %d", placeholders[holder])
	return p
}

func (f *fusing) need16(at uint64) {
	f.call.need(at%16 == 0, badParam, "%#x is not aligned to 16 bytes", at)
}

// tensor is one of the operation's, without an address where there is none.
func (f *fusing) tensor(desc, holder constLabel) nn.Tensor {
	p := f.address(holder)
	if p == hostmem.Nil {
		return nn.Tensor{}
	}
	v, ok := f.has[desc].(tensor)
	f.call.need(ok, badParam, "no descriptor %d", desc)
	if f.err != nil {
		return nn.Tensor{}
	}
	return f.at(v, p)
}

// must is a tensor that the operation cannot do without.
func (f *fusing) must(desc, holder constLabel) nn.Tensor {
	t := f.tensor(desc, holder)
	f.call.need(t.Addr != 0, badParam, "no tensor %d", desc)
	return t
}

// constant is the value of a descriptor that the operation cannot do without.
func constant[T any](f *fusing, l constLabel) T {
	v, ok := f.has[l].(T)
	f.call.need(ok, badParam, "no descriptor %d", l)
	return v
}

// space is a piece of the workspace.
func (f *fusing) space(bytes int64) uint64 {
	at := f.base + f.need
	f.need += uint64(bytes+255) &^ 255
	return at
}

// channels checks numbers a channel: of the statistics of x, or several tensors' of the same sizes.
func (f *fusing) channels(x nn.Tensor, list ...nn.Tensor) {
	for _, t := range list {
		f.call.need(f.err != nil || t.Addr == 0 || slices.Equal(t.Dim, statistics(x.Dim, false)), badParam, "%v for the channels of %v", t.Dim, x.Dim)
	}
}

// spatial refuses statistics an element.
func (f *fusing) spatial() {
	mode, ok := f.has[dnn.CUDNN_PARAM_BN_MODE].(int32)
	f.call.need(!ok || bnMode(mode) != dnn.CUDNN_BATCHNORM_PER_ACTIVATION, notSupported, "a norm of each activation")
}

// activation is the one of the operation: none, or a ReLU.
func (f *fusing) activation() activation {
	a, ok := f.has[dnn.CUDNN_PARAM_ACTIVATION_DESC].(activation)
	if !ok {
		a.mode = dnn.CUDNN_ACTIVATION_IDENTITY
	}
	f.call.need(a.mode == dnn.CUDNN_ACTIVATION_RELU || a.mode == dnn.CUDNN_ACTIVATION_IDENTITY, notSupported, "activation %d", a.mode)
	return a
}

// scaling are scale and bias of something; either may be missing.
type scaling struct{ scale, bias nn.Tensor }

func (s scaling) none() bool { return s.scale.Addr == 0 && s.bias.Addr == 0 }

// apply scales a value, and adds.
func (s scaling) apply(e *expression, v fuse.Value) fuse.Value {
	if s.scale.Addr != 0 {
		v = e.do(fuse.Mul, v, e.in(s.scale))
	}
	if s.bias.Addr != 0 {
		v = e.do(fuse.Add, v, e.in(s.bias))
	}
	return v
}

func (f *fusing) scaled(x nn.Tensor) scaling {
	s := scaling{f.tensor(dnn.CUDNN_PARAM_BN_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER), f.tensor(dnn.CUDNN_PARAM_BN_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER)}
	f.channels(x, s.scale, s.bias)
	return s
}

// added is what is added to a result of sizes of y, with its own scale and bias.
func (f *fusing) added(y nn.Tensor) (z nn.Tensor, s scaling) {
	z = f.tensor(dnn.CUDNN_PARAM_ZDESC, dnn.CUDNN_PARAM_ZDATA_PLACEHOLDER)
	if z.Addr == 0 || f.err != nil {
		return z, s
	}
	s = scaling{f.tensor(dnn.CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER), f.tensor(dnn.CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER)}
	f.call.need(nn.SameShape(z, y), badParam, "%v is added to %v", z.Dim, y.Dim)
	f.channels(y, s.scale, s.bias)
	return z, s
}

// prologue is x, scaled and activated, in the workspace.
func (f *fusing) prologue() nn.Tensor {
	x := f.must(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER)
	f.spatial()
	s, a := f.scaled(x), f.activation()
	if f.err != nil || s.none() && a.mode == dnn.CUDNN_ACTIVATION_IDENTITY {
		return x
	}
	to := x
	to.Addr = f.space(x.Span() * x.Type.Size())
	f.steps = append(f.steps, func() error {
		e := express(x)
		return e.put(f.call, e.activate(a, s.apply(e, e.in(x))), nn.Plain, to)
	})
	return to
}

// convolution prepares one on x, whose memory need not be the program's.
func (f *fusing) convolution(kind nn.ConvKind, x nn.Tensor, wDesc, wHolder, yDesc, yHolder constLabel) *convolving {
	w, y := f.address(wHolder), f.address(yHolder)
	v := f.call.convolve(constant[convolution](f, dnn.CUDNN_PARAM_CONV_DESC), constant[tensor](f, dnn.CUDNN_PARAM_XDESC), hostmem.Ptr(x.Addr), constant[filter](f, wDesc), w, constant[tensor](f, yDesc), y)
	n, err := v.space(kind)
	f.fail(err)
	at := f.space(int64(n))
	f.steps = append(f.steps, func() error {
		f.with(hostmem.Ptr(at), n)
		switch kind {
		case nn.ConvKindFilter:
			return f.ConvFilter(v.conv, v.x, v.y, v.w, nn.Plain)
		case nn.ConvKindForward, nn.ConvKindData:
		}
		return f.ConvForward(v.conv, v.x, v.w, v.y, nn.Plain, nn.Epilogue{})
	})
	return v
}

// convolveAndSum: y is the convolution of act(scale x + bias); the sums of y and of its squares, a channel.
func (f *fusing) convolveAndSum() {
	x := f.prologue()
	v := f.convolution(nn.ConvKindForward, x, dnn.CUDNN_PARAM_WDESC, dnn.CUDNN_PARAM_WDATA_PLACEHOLDER, dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER)
	sum, squares := f.tensor(dnn.CUDNN_PARAM_YSTATS_DESC, dnn.CUDNN_PARAM_YSUM_PLACEHOLDER), f.tensor(dnn.CUDNN_PARAM_YSTATS_DESC, dnn.CUDNN_PARAM_YSQSUM_PLACEHOLDER)
	f.channels(v.y, sum, squares)
	for i, to := range []nn.Tensor{sum, squares} {
		if to.Addr == 0 {
			continue
		}
		f.steps = append(f.steps, func() error {
			in, out := longer(v.y), longer(to)
			over := slices.Repeat([]bool{true}, len(in.Dim))
			over[1] = false
			e := express(in, out)
			y := e.in(in)
			if i == 1 {
				y = e.do(fuse.Mul, y, y)
			}
			return e.store(f.call, e.Reduce(fuse.Add, y), nn.Plain, out, over, in.Dim)
		})
	}
}

// filterGradient: dw of the convolution of act(scale x + bias).
func (f *fusing) filterGradient() {
	x := f.prologue()
	f.convolution(nn.ConvKindFilter, x, dnn.CUDNN_PARAM_DWDESC, dnn.CUDNN_PARAM_DWDATA_PLACEHOLDER, dnn.CUDNN_PARAM_DYDESC, dnn.CUDNN_PARAM_DYDATA_PLACEHOLDER)
}

// convolveAndAdd: y = act(scale × x*w + bias + (zscale z + zbias)).
func (f *fusing) convolveAndAdd() {
	x := f.must(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER)
	f.spatial()
	y := f.convolution(nn.ConvKindForward, x, dnn.CUDNN_PARAM_WDESC, dnn.CUDNN_PARAM_WDATA_PLACEHOLDER, dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER).y
	a, s := f.activation(), f.scaled(y)
	z, zs := f.added(y)
	f.steps = append(f.steps, func() error { return f.combine(y, y, s, z, zs, a) })
}

// combine: y = act(s x + (zs z)).
func (f *fusing) combine(y, x nn.Tensor, s scaling, z nn.Tensor, zs scaling, a activation) error {
	e := express(y)
	v := s.apply(e, e.in(x))
	if z.Addr != 0 {
		v = e.do(fuse.Add, v, zs.apply(e, e.in(z)))
	}
	return e.put(f.call, e.activate(a, v), nn.Plain, y)
}

// bitmask is where there is a bit for every element of y, in the order of memory: whether it is above zero. cuDNN does not say how its
// own lies; the operation that writes it and the one that reads it have to agree.
func (f *fusing) bitmask(y nn.Tensor) nn.Tensor {
	bits := f.must(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_DESC, dnn.CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER)
	f.call.need(f.err != nil || bits.Type == nn.S32 && bits.Span()*32 >= y.Count(), badParam, "%v %v for the bits of %v", bits.Dim, bits.Type, y.Dim)
	f.call.need(f.err != nil || y.Span() == y.Count(), notSupported, "bits of a tensor with gaps")
	return bits
}

// addAndMark: y = relu((scale x + bias) + (zscale z + zbias)), and which elements are above zero.
func (f *fusing) addAndMark() {
	x, y := f.must(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER), f.must(dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER)
	f.spatial()
	f.call.need(f.err != nil || nn.SameShape(x, y), badParam, "%v of %v", y.Dim, x.Dim)
	a, s, bits := f.activation(), f.scaled(y), f.bitmask(y)
	f.call.need(a.mode == dnn.CUDNN_ACTIVATION_RELU, notSupported, "bits of activation %d", a.mode)
	z, zs := f.added(y)
	f.steps = append(f.steps, func() error { return f.combine(y, x, s, z, zs, a) }, func() error { return f.Positive(y, bits.Addr) })
}

// unmarkAndNorm: dz is dy where a bit is set; dx, dscale and dbias are the gradients of the batch norm of x for it.
func (f *fusing) unmarkAndNorm() {
	x, dy, dx := f.must(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER), f.must(dnn.CUDNN_PARAM_DYDESC, dnn.CUDNN_PARAM_DYDATA_PLACEHOLDER), f.must(dnn.CUDNN_PARAM_DXDESC, dnn.CUDNN_PARAM_DXDATA_PLACEHOLDER)
	f.spatial()
	f.call.need(f.err != nil || nn.SameShape(x, dy) && nn.SameShape(x, dx), badParam, "gradients %v and %v of %v", dy.Dim, dx.Dim, x.Dim)
	a, bits, dz := f.activation(), f.bitmask(dy), f.tensor(dnn.CUDNN_PARAM_DZDESC, dnn.CUDNN_PARAM_DZDATA_PLACEHOLDER)
	f.call.need(a.mode == dnn.CUDNN_ACTIVATION_RELU || f.has[dnn.CUDNN_PARAM_ACTIVATION_DESC] == nil, notSupported, "bits of activation %d", a.mode)
	if dz.Addr == 0 && f.err == nil {
		dz = dy
		dz.Addr = f.space(dy.Span() * dy.Type.Size())
	}
	f.call.need(f.err != nil || nn.SameShape(dz, dy), badParam, "a gradient %v of %v", dz.Dim, dy.Dim)
	f.call.need(f.err != nil || slices.Equal(dz.Stride, dy.Stride) && dz.Type == dy.Type, notSupported, "a gradient that lies otherwise than what it is of")
	n := nn.NormBackward{X: x, Dy: dz, Dx: dx, Stat: statistics(x.Dim, false)}
	param := func(holder constLabel) nn.Tensor { return f.must(dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, holder) }
	n.Scale, n.DScale, n.DBias = param(dnn.CUDNN_PARAM_BN_SCALE_PLACEHOLDER), param(dnn.CUDNN_PARAM_BN_DSCALE_PLACEHOLDER), param(dnn.CUDNN_PARAM_BN_DBIAS_PLACEHOLDER)
	n.Mean, n.Dev = param(dnn.CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER), param(dnn.CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER)
	f.channels(x, n.Scale, n.DScale, n.DBias, n.Mean, n.Dev)
	f.steps = append(f.steps, func() error { return f.Keep(dy, dz, bits.Addr) }, func() error { return f.NormBackward(n) })
}

// number is one that an execution was given.
func (f *fusing) number(l variantLabel) float64 { return math.Float64frombits(f.given[l]) }

// finish makes of a mean and a variance what a batch norm scales and shifts by.
func (f *fusing) finish(statistics func(e *finishing) (mean, variance fuse.Value)) {
	f.spatial()
	desc := dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC
	scale, bias := f.must(desc, dnn.CUDNN_PARAM_BN_SCALE_PLACEHOLDER), f.must(desc, dnn.CUDNN_PARAM_BN_BIAS_PLACEHOLDER)
	out := f.scaled(scale)
	e := &finishing{expression: &expression{kind: fuse.F64}, f: f, like: scale}
	e.scale, e.bias = e.in(scale), e.in(bias)
	mean, variance := statistics(e)
	f.call.need(f.err != nil || out.scale.Addr != 0 || out.bias.Addr != 0 || e.stored, badParam, "statistics that go nowhere")
	inv := e.do(fuse.Rsqrt, e.do(fuse.Add, variance, e.number(f.number(dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON))))
	by := e.do(fuse.Mul, e.scale, inv)
	e.put(desc, dnn.CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, mean)
	e.put(desc, dnn.CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER, inv)
	e.out(out.scale, by)
	e.out(out.bias, e.do(fuse.Sub, e.bias, e.do(fuse.Mul, mean, by)))
	f.steps = append(f.steps, func() error { return e.Run(&f.call.Run, scale.Dim, nil, e.args) })
}

// finishing is the expression of it.
type finishing struct {
	*expression
	f           *fusing
	like        nn.Tensor
	scale, bias fuse.Value
	stored      bool
}

// out stores a value, where there is a place for it.
func (e *finishing) out(to nn.Tensor, v fuse.Value) {
	if to.Addr == 0 {
		return
	}
	e.f.channels(e.like, to)
	e.args.Tensors = append(e.args.Tensors, to)
	e.Out(to.Type, v)
	e.stored = true
}

func (e *finishing) put(desc, holder constLabel, v fuse.Value) { e.out(e.f.tensor(desc, holder), v) }

// get is an element of a tensor that must be there.
func (e *finishing) get(desc, holder constLabel) fuse.Value {
	t := e.f.must(desc, holder)
	e.f.channels(e.like, t)
	return e.in(t)
}

// finishTraining takes sums and sums of squares of a number of elements, and moves the running statistics towards theirs.
func (f *fusing) finishTraining() {
	f.finish(func(e *finishing) (mean, variance fuse.Value) {
		n := float64(int64(f.given[dnn.CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT]))
		f.call.need(f.given == nil || n >= 1, badParam, "a norm of %g elements", n)
		factor, desc := f.number(dnn.CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR), dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC
		count := e.number(n)
		mean = e.do(fuse.Div, e.get(dnn.CUDNN_PARAM_YSTATS_DESC, dnn.CUDNN_PARAM_YSUM_PLACEHOLDER), count)
		variance = e.do(fuse.Sub, e.do(fuse.Div, e.get(dnn.CUDNN_PARAM_YSTATS_DESC, dnn.CUDNN_PARAM_YSQSUM_PLACEHOLDER), count), e.do(fuse.Mul, mean, mean))
		variance = e.do(fuse.Max, variance, e.Const(fuse.F64, 0))
		remember := func(holder constLabel, now fuse.Value) {
			switch {
			case f.address(holder) == hostmem.Nil:
			case factor == 1: // what was there may be no number
				e.put(desc, holder, now)
			default:
				old := e.get(desc, holder)
				e.put(desc, holder, e.do(fuse.Add, e.do(fuse.Mul, old, e.number(1-factor)), e.do(fuse.Mul, now, e.number(factor))))
			}
		}
		remember(dnn.CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, mean)
		// What is remembered is the variance of all that the elements are a sample of.
		remember(dnn.CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER, e.do(fuse.Mul, variance, e.number(n/max(n-1, 1))))
		return mean, variance
	})
}

// finishInference takes the running statistics.
func (f *fusing) finishInference() {
	f.finish(func(e *finishing) (mean, variance fuse.Value) {
		desc := dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC
		return e.get(desc, dnn.CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER), e.get(desc, dnn.CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER)
	})
}
