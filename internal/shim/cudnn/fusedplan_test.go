package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// fusedRig is a fused operation: its constants, its parameters and its plan.
type fusedRig struct {
	*desk
	consts constPack
	given  variantPack
	plan   fusedPlan
}

func (d *desk) fused(op dnn.CudnnFusedOps_t) *fusedRig {
	d.t.Helper()
	r := &fusedRig{desk: d}
	r.consts = made(d.t, func() (uint64, error) { return d.th.CreateFusedOpsConstParamPack(op) }, d.th.DestroyFusedOpsConstParamPack)
	r.given = made(d.t, func() (uint64, error) { return d.th.CreateFusedOpsVariantParamPack(op) }, d.th.DestroyFusedOpsVariantParamPack)
	r.plan = made(d.t, func() (uint64, error) { return d.th.CreateFusedOpsPlan(op) }, d.th.DestroyFusedOpsPlan)
	mode := int32(dnn.CUDNN_BATCHNORM_SPATIAL)
	d.ok(d.th.SetFusedOpsConstParamPackAttribute(r.consts, dnn.CUDNN_PARAM_BN_MODE, hostmem.Of(&mode)))
	return r
}

// describe sets a descriptor.
func (r *fusedRig) describe(l constLabel, h uint64) {
	r.t.Helper()
	r.ok(r.th.SetFusedOpsConstParamPackAttribute(r.consts, l, hostmem.Ptr(h)))
}

// at sets an address, after its placeholder.
func (r *fusedRig) at(holder constLabel, p hostmem.Ptr) {
	r.t.Helper()
	how := int32(dnn.CUDNN_PTR_ELEM_ALIGNED)
	r.ok(r.th.SetFusedOpsConstParamPackAttribute(r.consts, holder, hostmem.Of(&how)))
	r.ok(r.th.SetFusedOpsVariantParamPackAttribute(r.given, placeholders[holder], p))
}

func number[T any](r *fusedRig, l variantLabel, v T) {
	r.t.Helper()
	r.ok(r.th.SetFusedOpsVariantParamPackAttribute(r.given, l, hostmem.Of(&v)))
}

func (r *fusedRig) run() {
	r.t.Helper()
	var size uint64
	r.ok(r.th.MakeFusedOpsPlan(r.h, r.plan, r.consts, hostmem.Of(&size)))
	if size > 0 {
		wants(r.t, "no workspace", r.th.FusedOpsExecute(r.h, r.plan, r.given), bad)
	}
	r.ok(r.th.SetFusedOpsVariantParamPackAttribute(r.given, dnn.CUDNN_PTR_WORKSPACE, r.memory(size)))
	number(r, dnn.CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, size)
	r.ok(r.th.FusedOpsExecute(r.h, r.plan, r.given))
}

func (r *fusedRig) relu() {
	r.t.Helper()
	a := made(r.t, r.th.CreateActivationDescriptor, r.th.DestroyActivationDescriptor)
	r.ok(r.th.SetActivationDescriptor(a, dnn.CUDNN_ACTIVATION_RELU, 0, 0))
	r.describe(dnn.CUDNN_PARAM_ACTIVATION_DESC, uint64(a))
}

// laid is a tensor of drawn numbers, in one of three layouts; values are by index.
type laid struct {
	nn.Tensor
	desc   tensorDesc
	at     hostmem.Ptr
	values []float64
}

func (d *desk) laid(gaps bool, dim ...int64) *laid {
	d.t.Helper()
	x := &laid{Tensor: nn.Make(0, nn.F32, dim...)}
	switch n := d.rng.IntN(3); {
	case n == 1:
		x.Stride = nn.ChannelsLast(dim...)
	case n == 2 && gaps:
		wide := append([]int64{}, dim...)
		for i := range wide {
			wide[i] += d.rng.Int64N(3)
		}
		x.Stride = nn.Packed(wide...)
	}
	sizes, strides := make([]int32, len(dim)), make([]int32, len(dim))
	for i := range dim {
		sizes[i], strides[i] = int32(dim[i]), int32(x.Stride[i])
	}
	x.desc = d.strided(sizes, strides)
	mem := d.random(int(x.Span()))
	x.at, x.values = put(d, mem), make([]float64, x.Count())
	for i := range x.values {
		x.values[i] = float64(mem[place(x.Tensor, int64(i))])
	}
	return x
}

// now are the numbers that lie there.
func (x *laid) now(d *desk) []float64 {
	d.t.Helper()
	mem, v := read[float32](d, x.at, int(x.Span())), make([]float64, x.Count())
	for i := range v {
		v[i] = float64(mem[place(x.Tensor, int64(i))])
	}
	return v
}

func (r *fusedRig) tensor(desc, holder constLabel, x *laid) {
	r.t.Helper()
	r.describe(desc, uint64(x.desc))
	r.at(holder, x.at)
}

// channel is that of an element.
func (x *laid) channel(i int) int { return int(index(x.Dim, int64(i))[1]) }

// drawnConv is a convolution of images, and what it is of.
type drawnConv struct {
	c         convDesc
	wd        filterDesc
	x, y      *laid
	w         []float32
	wAt       hostmem.Ptr
	k, ch     int64
	r, s      int64
	pad, step int64
}

func (d *desk) drawnConv() *drawnConv {
	d.t.Helper()
	some := func(n int64) int64 { return 1 + d.rng.Int64N(n) }
	v := &drawnConv{k: some(5), ch: some(5), r: some(3), s: some(3), pad: d.rng.Int64N(2), step: some(2)}
	n, h, w := some(3), 2+some(6), 2+some(6)
	v.x = d.laid(true, n, v.ch, h, w)
	v.y = d.laid(false, n, v.k, (h+2*v.pad-v.r)/v.step+1, (w+2*v.pad-v.s)/v.step+1)
	v.w = d.random(int(v.k * v.ch * v.r * v.s))
	v.wAt = put(d, v.w)
	v.c, v.wd = made(d.t, d.th.CreateConvolutionDescriptor, d.th.DestroyConvolutionDescriptor), made(d.t, d.th.CreateFilterDescriptor, d.th.DestroyFilterDescriptor)
	d.ok(d.th.SetConvolution2dDescriptor(v.c, int32(v.pad), int32(v.pad), int32(v.step), int32(v.step), 1, 1, dnn.CUDNN_CROSS_CORRELATION, f32))
	d.ok(d.th.SetFilter4dDescriptor(v.wd, f32, nchw, int32(v.k), int32(v.ch), int32(v.r), int32(v.s)))
	return v
}

// taps calls f with the indices of an output, an input and an element of the filter that belong together.
func (v *drawnConv) taps(f func(y, x, w int)) {
	xd := v.x.Dim
	for y := range v.y.Count() {
		at := index(v.y.Dim, y)
		for w := range v.ch * v.r * v.s {
			c, p, q := w/(v.r*v.s), at[2]*v.step-v.pad+w/v.s%v.r, at[3]*v.step-v.pad+w%v.s
			if p >= 0 && p < xd[2] && q >= 0 && q < xd[3] {
				f(int(y), int(((at[0]*v.ch+c)*xd[2]+p)*xd[3]+q), int(at[1]*v.ch*v.r*v.s+w))
			}
		}
	}
}

// scales are a scale and a bias a channel, which the operation gets. Every third time one of them is missing.
func (r *fusedRig) scales(n int64, i int, desc, scale, bias constLabel) (a, b []float64) {
	r.t.Helper()
	s, t := r.laid(false, 1, n, 1, 1), r.laid(false, 1, n, 1, 1)
	r.describe(desc, uint64(s.desc))
	a, b = make([]float64, n), make([]float64, n)
	for k := range a {
		a[k] = 1
	}
	if i%3 != 1 {
		r.at(scale, s.at)
		a = s.values
	}
	if i%3 != 2 {
		r.at(bias, t.at)
		b = t.values
	}
	return a, b
}

func (r *fusedRig) equivalent(n int64, i int) (a, b []float64) {
	r.t.Helper()
	return r.scales(n, i, dnn.CUDNN_PARAM_BN_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, dnn.CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER)
}

func TestFusedConvolutions(t *testing.T) {
	d := onDesk(t)
	for i := range 12 {
		v := d.drawnConv()
		r := d.fused(dnn.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS)
		r.describe(dnn.CUDNN_PARAM_CONV_DESC, uint64(v.c))
		r.describe(dnn.CUDNN_PARAM_WDESC, uint64(v.wd))
		r.at(dnn.CUDNN_PARAM_WDATA_PLACEHOLDER, v.wAt)
		r.tensor(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER, v.x)
		r.tensor(dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER, v.y)
		a, b := r.equivalent(v.ch, i)
		act := func(x float64) float64 { return x }
		if i%2 == 0 {
			r.relu()
			act = func(x float64) float64 { return math.Max(x, 0) }
		}
		sum, squares := d.laid(false, 1, v.k, 1, 1), d.laid(false, 1, v.k, 1, 1)
		r.tensor(dnn.CUDNN_PARAM_YSTATS_DESC, dnn.CUDNN_PARAM_YSUM_PLACEHOLDER, sum)
		r.at(dnn.CUDNN_PARAM_YSQSUM_PLACEHOLDER, squares.at)
		r.run()
		in, want := make([]float64, len(v.x.values)), make([]float64, len(v.y.values))
		for k, x := range v.x.values {
			ch := v.x.channel(k)
			in[k] = act(a[ch]*x + b[ch])
		}
		v.taps(func(y, x, w int) { want[y] += in[x] * float64(v.w[w]) })
		sums, squared := make([]float64, v.k), make([]float64, v.k)
		for k, y := range want {
			sums[v.y.channel(k)] += y
			squared[v.y.channel(k)] += y * y
		}
		near(t, "convolution", v.y.now(d), 1e-4, func(i int) float64 { return want[i] })
		near(t, "sums", sum.now(d), 1e-3, func(i int) float64 { return sums[i] })
		near(t, "sums of squares", squares.now(d), 1e-3, func(i int) float64 { return squared[i] })

		g := d.fused(dnn.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD)
		dy := d.laid(false, v.y.Dim...)
		dw := d.memory(uint64(4 * len(v.w)))
		g.describe(dnn.CUDNN_PARAM_CONV_DESC, uint64(v.c))
		g.describe(dnn.CUDNN_PARAM_DWDESC, uint64(v.wd))
		g.at(dnn.CUDNN_PARAM_DWDATA_PLACEHOLDER, dw)
		g.tensor(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER, v.x)
		g.tensor(dnn.CUDNN_PARAM_DYDESC, dnn.CUDNN_PARAM_DYDATA_PLACEHOLDER, dy)
		a, b = g.equivalent(v.ch, i+1)
		g.relu()
		g.run()
		grad := make([]float64, len(v.w))
		v.taps(func(y, x, w int) {
			ch := v.x.channel(x)
			grad[w] += dy.values[y] * math.Max(a[ch]*v.x.values[x]+b[ch], 0)
		})
		d.same("gradient of the filter", dw, grad, 1e-4)
	}
}

func TestFusedConvolutionEnd(t *testing.T) {
	d := onDesk(t)
	for i := range 12 {
		v := d.drawnConv()
		r := d.fused(dnn.CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION)
		r.describe(dnn.CUDNN_PARAM_CONV_DESC, uint64(v.c))
		r.describe(dnn.CUDNN_PARAM_WDESC, uint64(v.wd))
		r.at(dnn.CUDNN_PARAM_WDATA_PLACEHOLDER, v.wAt)
		r.tensor(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER, v.x)
		r.tensor(dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER, v.y)
		a, b := r.equivalent(v.k, i)
		z, az, bz := d.laid(true, v.y.Dim...), []float64(nil), []float64(nil)
		if i%4 != 3 {
			r.tensor(dnn.CUDNN_PARAM_ZDESC, dnn.CUDNN_PARAM_ZDATA_PLACEHOLDER, z)
			az, bz = r.scales(v.k, i+2, dnn.CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER, dnn.CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER)
		}
		r.relu()
		r.run()
		want := make([]float64, len(v.y.values))
		v.taps(func(y, x, w int) { want[y] += v.x.values[x] * float64(v.w[w]) })
		near(t, "convolution", v.y.now(d), 1e-4, func(i int) float64 {
			ch := v.y.channel(i)
			s := a[ch]*want[i] + b[ch]
			if az != nil {
				s += az[ch]*z.values[i] + bz[ch]
			}
			return math.Max(s, 0)
		})
	}
}

// TestFusedStatistics makes what a batch norm scales by of sums, and of running statistics.
func TestFusedStatistics(t *testing.T) {
	d := onDesk(t)
	const eps = 0.25
	for i, n := range []int64{1, 7, 33} {
		vector := func() *laid { return d.laid(false, 1, n, 1, 1) }
		sum, squares, scale, bias, mean, inv, running, runningVar, by, plus := vector(), vector(), vector(), vector(), vector(), vector(), vector(), vector(), vector(), vector()
		for k := range squares.values { // sums of 10 numbers have squares of at least this
			squares.values[k] = sum.values[k]*sum.values[k]/10 + float64(k) + 1
			hostmem.Store(squares.at.Index(k, 4), float32(squares.values[k]))
			hostmem.Store(runningVar.at.Index(k, 4), float32(math.Abs(runningVar.values[k])))
			runningVar.values[k] = math.Abs(runningVar.values[k])
		}
		factor := []float64{0.25, 1, 0.5}[i]
		r := d.fused(dnn.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING)
		r.tensor(dnn.CUDNN_PARAM_YSTATS_DESC, dnn.CUDNN_PARAM_YSUM_PLACEHOLDER, sum)
		r.at(dnn.CUDNN_PARAM_YSQSUM_PLACEHOLDER, squares.at)
		r.tensor(dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, dnn.CUDNN_PARAM_BN_SCALE_PLACEHOLDER, scale)
		r.tensor(dnn.CUDNN_PARAM_BN_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, by)
		for holder, v := range map[constLabel]*laid{dnn.CUDNN_PARAM_BN_BIAS_PLACEHOLDER: bias, dnn.CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER: mean, dnn.CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER: inv,
			dnn.CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER: running, dnn.CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER: runningVar, dnn.CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER: plus} {
			r.at(holder, v.at)
		}
		number(r, dnn.CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT, int64(10))
		number(r, dnn.CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR, factor)
		number(r, dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON, eps)
		r.run()
		m := func(i int) float64 { return sum.values[i] / 10 }
		v := func(i int) float64 { return squares.values[i]/10 - m(i)*m(i) }
		wantInv := func(i int) float64 { return 1 / math.Sqrt(v(i)+eps) }
		near(t, "mean", mean.now(d), 1e-5, m)
		near(t, "inverse deviation", inv.now(d), 1e-5, wantInv)
		near(t, "scale", by.now(d), 1e-5, func(i int) float64 { return scale.values[i] * wantInv(i) })
		near(t, "bias", plus.now(d), 1e-5, func(i int) float64 { return bias.values[i] - m(i)*scale.values[i]*wantInv(i) })
		near(t, "running mean", running.now(d), 1e-5, func(i int) float64 { return running.values[i]*(1-factor) + factor*m(i) })
		near(t, "running variance", runningVar.now(d), 1e-5, func(i int) float64 { return runningVar.values[i]*(1-factor) + factor*v(i)*10/9 })

		r = d.fused(dnn.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE)
		r.tensor(dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, dnn.CUDNN_PARAM_BN_SCALE_PLACEHOLDER, scale)
		r.at(dnn.CUDNN_PARAM_BN_BIAS_PLACEHOLDER, bias.at)
		r.at(dnn.CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, mean.at)
		r.at(dnn.CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER, runningVar.at)
		r.tensor(dnn.CUDNN_PARAM_BN_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, by)
		r.at(dnn.CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, plus.at)
		number(r, dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON, eps)
		variance := runningVar.now(d)
		r.run()
		near(t, "scale", by.now(d), 1e-5, func(i int) float64 { return scale.values[i] / math.Sqrt(variance[i]+eps) })
		near(t, "bias", plus.now(d), 1e-5, func(i int) float64 {
			return bias.values[i] - m(i)*scale.values[i]/math.Sqrt(variance[i]+eps)
		})
	}
}

// TestFusedBits adds and marks, and takes the gradient of what was marked through a batch norm.
func TestFusedBits(t *testing.T) {
	d := onDesk(t)
	for i, dim := range [][]int64{{1, 1, 1, 1}, {2, 3, 5, 4}, {3, 5, 1, 7}, {2, 4, 4, 8}, {5, 1, 3, 3}} {
		r := d.fused(dnn.CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK)
		x, z, y := d.laid(true, dim...), d.laid(true, dim...), d.laid(false, dim...)
		words := (y.Count() + 31) / 32
		mask := d.memory(uint64(4 * words))
		bits := made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
		d.ok(d.th.SetTensor4dDescriptor(bits, nchw, dnn.CUDNN_DATA_INT32, 1, 1, 1, int32(words)))
		r.tensor(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER, x)
		r.tensor(dnn.CUDNN_PARAM_ZDESC, dnn.CUDNN_PARAM_ZDATA_PLACEHOLDER, z)
		r.tensor(dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER, y)
		a, b := r.equivalent(dim[1], i)
		az, bz := r.scales(dim[1], i+1, dnn.CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER, dnn.CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER)
		r.describe(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_DESC, uint64(bits))
		r.at(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, mask)
		r.relu()
		r.run()
		got := y.now(d)
		near(t, "sum", got, 1e-5, func(i int) float64 {
			ch := x.channel(i)
			return math.Max(a[ch]*x.values[i]+b[ch]+az[ch]*z.values[i]+bz[ch], 0)
		})
		set := func(y *laid, i int) bool {
			at := place(y.Tensor, int64(i))
			return read[uint32](d, mask, int(words))[at/32]>>(at%32)&1 == 1
		}
		for i, v := range got {
			if set(y, i) != (v > 0) {
				t.Fatalf("the bit of element %d, %g, is %v", i, v, set(y, i))
			}
		}

		g := d.fused(dnn.CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM)
		dy := *y
		dx, dz := d.laid(true, dim...), *y
		dy.values = make([]float64, y.Count())
		for k, v := range d.random(int(y.Count())) {
			dy.values[k] = float64(v)
			hostmem.Store(y.at.Index(int(place(y.Tensor, int64(k))), 4), v)
		}
		dz.at = d.memory(uint64(4 * y.Count()))
		vector := func() *laid { return d.laid(false, 1, dim[1], 1, 1) }
		scale, mean, inv, ds, db := vector(), vector(), vector(), vector(), vector()
		per := float64(y.Count() / dim[1])
		for ch := range dim[1] {
			m, v := 0.0, 0.0
			for k, f := range x.values {
				if x.channel(k) == int(ch) {
					m, v = m+f/per, v+f*f/per
				}
			}
			mean.values[ch], inv.values[ch] = m, 1/math.Sqrt(v-m*m+0.5)
			hostmem.Store(mean.at.Index(int(ch), 4), float32(m))
			hostmem.Store(inv.at.Index(int(ch), 4), float32(inv.values[ch]))
		}
		g.tensor(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER, x)
		g.tensor(dnn.CUDNN_PARAM_DYDESC, dnn.CUDNN_PARAM_DYDATA_PLACEHOLDER, &dy)
		g.tensor(dnn.CUDNN_PARAM_DXDESC, dnn.CUDNN_PARAM_DXDATA_PLACEHOLDER, dx)
		if i%2 == 0 {
			g.tensor(dnn.CUDNN_PARAM_DZDESC, dnn.CUDNN_PARAM_DZDATA_PLACEHOLDER, &dz)
		}
		g.describe(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_DESC, uint64(bits))
		g.at(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, mask)
		g.tensor(dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, dnn.CUDNN_PARAM_BN_SCALE_PLACEHOLDER, scale)
		for holder, v := range map[constLabel]*laid{dnn.CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER: mean, dnn.CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER: inv, dnn.CUDNN_PARAM_BN_DSCALE_PLACEHOLDER: ds, dnn.CUDNN_PARAM_BN_DBIAS_PLACEHOLDER: db} {
			g.at(holder, v.at)
		}
		g.run()
		grad, wantScale, wantBias := make([]float64, y.Count()), make([]float64, dim[1]), make([]float64, dim[1])
		hat := func(i int) float64 { return (x.values[i] - mean.values[x.channel(i)]) * inv.values[x.channel(i)] }
		for k := range grad {
			if set(y, k) {
				grad[k] = dy.values[k]
			}
			wantScale[x.channel(k)] += grad[k] * hat(k)
			wantBias[x.channel(k)] += grad[k]
		}
		if i%2 == 0 {
			near(t, "dz", dz.now(d), 0, func(i int) float64 { return grad[i] })
		}
		near(t, "dscale", ds.now(d), 1e-4, func(i int) float64 { return wantScale[i] })
		near(t, "dbias", db.now(d), 1e-4, func(i int) float64 { return wantBias[i] })
		near(t, "dx", dx.now(d), 1e-4, func(i int) float64 {
			ch := x.channel(i)
			return scale.values[ch] * inv.values[ch] * (grad[i] - wantBias[ch]/per - hat(i)*wantScale[ch]/per)
		})
	}
}

// TestFusedMisuse: plans of other operations, without tensors, that were not made, and what is not done.
func TestFusedMisuse(t *testing.T) {
	d := onDesk(t)
	r, other := d.fused(dnn.CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK), d.fused(dnn.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE)
	var size uint64
	at := hostmem.Of(&size)
	wants(t, "no tensors", d.th.MakeFusedOpsPlan(d.h, r.plan, r.consts, at), bad)
	wants(t, "constants of another operation", d.th.MakeFusedOpsPlan(d.h, r.plan, other.consts, at), bad)
	wants(t, "a plan that was not made", d.th.FusedOpsExecute(d.h, r.plan, r.given), bad)
	wants(t, "parameters of another operation", d.th.FusedOpsExecute(d.h, r.plan, other.given), bad)
	wants(t, "a pack for a plan", d.th.MakeFusedOpsPlan(d.h, fusedPlan(r.consts), r.consts, at), bad)
	x, y := d.laid(false, 2, 3, 4, 5), d.laid(false, 2, 3, 4, 5)
	r.tensor(dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER, x)
	r.tensor(dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER, y)
	bits := made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	d.ok(d.th.SetTensor4dDescriptor(bits, nchw, dnn.CUDNN_DATA_INT32, 1, 1, 1, 3))
	r.describe(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_DESC, uint64(bits))
	r.at(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, d.memory(64))
	r.relu()
	wants(t, "too few bits", d.th.MakeFusedOpsPlan(d.h, r.plan, r.consts, at), bad)
	d.ok(d.th.SetTensor4dDescriptor(bits, nchw, dnn.CUDNN_DATA_INT32, 1, 1, 1, 4))
	r.describe(dnn.CUDNN_PARAM_ACTIVATION_BITMASK_DESC, uint64(bits))
	wants(t, "nowhere for the size", d.th.MakeFusedOpsPlan(d.h, r.plan, r.consts, hostmem.Nil), bad)
	wants(t, "enough bits", d.th.MakeFusedOpsPlan(d.h, r.plan, r.consts, at), success)
	d.ok(d.th.SetFusedOpsVariantParamPackAttribute(r.given, dnn.CUDNN_PTR_YDATA, hostmem.Nil))
	wants(t, "no address", d.th.FusedOpsExecute(d.h, r.plan, r.given), bad)
	each := int32(dnn.CUDNN_BATCHNORM_PER_ACTIVATION)
	d.ok(d.th.SetFusedOpsConstParamPackAttribute(r.consts, dnn.CUDNN_PARAM_BN_MODE, hostmem.Of(&each)))
	wants(t, "a norm of each activation", d.th.MakeFusedOpsPlan(d.h, r.plan, r.consts, at), refused)
}
