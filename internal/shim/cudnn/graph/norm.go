package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// normDims are the sizes of what a norm knows of each of its groups: 1 along the axes that it is taken over. There is no attribute for how
// many groups the channels have: that is the size of the statistics there, in a group norm and in those that may be one.
func normDims(mode dnn.CudnnBackendNormMode_t, x, scale *tensor, known ...*tensor) ([]int64, error) {
	var dim []int64
	for _, t := range known {
		switch {
		case t == nil:
		case len(t.dim) != len(x.dim) || !broadcasts(t.dim, x.dim) && !(mayGroup(mode) && groups(t.dim, x.dim)) || dim != nil && !slices.Equal(dim, t.dim):
			return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a norm of sizes %v knows %v", x.dim, t.dim)
		default:
			dim = t.dim
		}
	}
	if dim != nil {
		return dim, nil
	}
	return normAxes(mode, x, scale)
}

// mayGroup reports a norm whose statistics may be of neighbouring channels.
func mayGroup(mode dnn.CudnnBackendNormMode_t) bool {
	return mode == dnn.CUDNN_GROUP_NORM || mode == dnn.CUDNN_LAYER_NORM || mode == dnn.CUDNN_RMS_NORM
}

// groups reports sizes of which each divides one of x: neighbours along an axis share a statistic.
func groups(dim, x []int64) bool {
	for i, d := range dim {
		if d < 1 || x[i]%d != 0 {
			return false
		}
	}
	return true
}

// normAxes are the same for a norm whose statistics nobody gives or asks for.
func normAxes(mode dnn.CudnnBackendNormMode_t, x, scale *tensor) ([]int64, error) {
	dim := slices.Clone(x.dim)
	for i := range dim {
		switch mode {
		case dnn.CUDNN_INSTANCE_NORM:
			if i >= 2 {
				dim[i] = 1
			}
		case dnn.CUDNN_BATCH_NORM:
			if i != 1 {
				dim[i] = 1
			}
		case dnn.CUDNN_LAYER_NORM, dnn.CUDNN_RMS_NORM:
			if scale == nil || len(scale.dim) != len(dim) {
				return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a norm without a scale of as many dimensions")
			}
			if scale.dim[i] != 1 {
				dim[i] = 1
			}
		default:
			return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "norm mode %d without its statistics", mode)
		}
	}
	return dim, nil
}

// fits says that tensors can be used for every element of x.
func fits(x *tensor, others ...*tensor) error {
	for _, t := range others {
		if t != nil && !broadcasts(t.dim, x.dim) {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "sizes %v for a norm of %v", t.dim, x.dim)
		}
	}
	return nil
}

// perGroup is how many elements a group of a norm has.
func perGroup(x, group *tensor) func(*exec) float64 {
	return func(e *exec) float64 { return float64(e.sides(x).Count()) / float64(e.sides(group).Count()) }
}

// stored is where a statistic goes: to a tensor of the program, or one of our own.
func (o *operation) stored(t *tensor, e nn.Elem, dim []int64) *tensor {
	if t != nil {
		return t
	}
	return o.hide(e, dim)
}

func checkNormForward(o *operation) error {
	g := o.g
	mode := dnn.CudnnBackendNormMode_t(g.whole(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MODE, 0))
	training := g.whole(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, 0) == int64(dnn.CUDNN_NORM_FWD_TRAINING)
	if mode < dnn.CUDNN_LAYER_NORM || mode > dnn.CUDNN_ADA_LAYER_NORM {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "norm mode %d", mode)
	}
	x, y := g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_XDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_YDESC)
	mean, inv := g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC)
	scale, bias := g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC)
	if !slices.Equal(x.dim, y.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a norm of sizes %v gives %v", x.dim, y.dim)
	}
	if err := fits(x, scale, bias); err != nil {
		return err
	}
	dim, err := normDims(mode, x, scale, inv, mean)
	if err != nil {
		return err
	}
	centred := mode != dnn.CUDNN_RMS_NORM
	k := wide(x)
	if training || inv == nil {
		if centred {
			mean = o.stored(mean, elemOf(k), dim)
		}
		inv = o.stored(inv, elemOf(k), dim)
		o.statistics(k, x, mean, inv)
	}
	w := o.part(y, nil)
	w.groups = inv
	p := &w.program
	v := w.in(x)
	if centred && mean != nil {
		v = p.Do(k, fuse.Sub, v, w.in(mean))
	}
	v = p.Do(k, fuse.Mul, v, w.in(inv))
	if scale != nil {
		v = p.Do(k, fuse.Mul, v, w.in(scale))
	}
	if bias != nil {
		v = p.Do(k, fuse.Add, v, w.in(bias))
	}
	w.out(y, v)
	return nil
}

// statistics writes mean, inverse deviation, and what a norm remembers of them.
func (o *operation) statistics(k fuse.Kind, x, mean, inv *tensor) {
	g := o.g
	w := o.part(x, inv)
	p := &w.program
	v := p.As(k, w.in(x))
	n := w.number(fuse.F64, perGroup(x, inv))
	squares := p.Do(fuse.F64, fuse.Div, p.Reduce(fuse.Add, p.Do(fuse.F64, fuse.Mul, v, v)), n)
	w.after = true
	variance := squares
	if mean != nil {
		m := p.Do(fuse.F64, fuse.Div, p.Reduce(fuse.Add, v), n)
		variance = p.Do(fuse.F64, fuse.Max, p.Do(fuse.F64, fuse.Sub, squares, p.Do(fuse.F64, fuse.Mul, m, m)), p.Const(fuse.F64, 0))
		w.out(mean, m)
		w.remember(o, m, dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, dnn.CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC)
	}
	eps := w.in(g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC))
	w.out(inv, p.Do(fuse.F64, fuse.Rsqrt, p.Do(fuse.F64, fuse.Add, variance, eps)))
	// What is remembered is the variance of all that the elements are a sample of.
	unbiased := p.Do(fuse.F64, fuse.Div, n, p.Do(fuse.F64, fuse.Max, p.Do(fuse.F64, fuse.Sub, n, p.Const(fuse.F64, 1)), p.Const(fuse.F64, 1)))
	w.remember(o, p.Do(fuse.F64, fuse.Mul, variance, unbiased), dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, dnn.CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC)
}

// remember moves a running statistic towards the one of now.
func (w *writing) remember(o *operation, now fuse.Value, from, to Attr) {
	old, out, factor := o.g.tensor(from), o.g.tensor(to), o.g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC)
	if old == nil || out == nil || factor == nil {
		return
	}
	p := &w.program
	was := w.in(old)
	w.out(out, p.Do(fuse.F64, fuse.Add, was, p.Do(fuse.F64, fuse.Mul, w.in(factor), p.Do(fuse.F64, fuse.Sub, now, was))))
}

// wide is what is computed with for a tensor.
func wide(t *tensor) fuse.Kind {
	if t.elem == nn.F64 {
		return fuse.F64
	}
	return fuse.F32
}

func elemOf(k fuse.Kind) nn.Elem {
	if k == fuse.F64 {
		return nn.F64
	}
	return nn.F32
}

func checkNormBackward(o *operation) error {
	g := o.g
	mode := dnn.CudnnBackendNormMode_t(g.whole(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_MODE, 0))
	x, dy, dx := g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_XDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC)
	mean, inv := g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC)
	scale := g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC)
	dscale, dbias := g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC)
	centred := mode != dnn.CUDNN_RMS_NORM
	if inv == nil || centred && mean == nil {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "the gradient of norm mode %d without its statistics", mode)
	}
	if !slices.Equal(x.dim, dy.dim) || !slices.Equal(x.dim, dx.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "the gradient of a norm of sizes %v is of %v and gives %v", x.dim, dy.dim, dx.dim)
	}
	if err := fits(x, scale, dscale, dbias); err != nil {
		return err
	}
	if dbias != nil && !slices.Equal(dbias.dim, dscale.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "gradients of sizes %v and %v", dscale.dim, dbias.dim)
	}
	k := wide(x)
	// normed is the normed element, and the gradient of what it was multiplied with.
	normed := func(w *writing) (xhat, d fuse.Value) {
		p := &w.program
		v := w.in(x)
		if centred {
			v = p.Do(k, fuse.Sub, v, w.in(mean))
		}
		return p.Do(k, fuse.Mul, v, w.in(inv)), p.As(k, w.in(dy))
	}
	known := []*tensor{inv}
	if centred {
		known = append(known, mean)
	}
	dim, err := normDims(mode, x, scale, known...)
	if err != nil {
		return err
	}
	along, whole := o.hide(elemOf(k), dim), o.hide(elemOf(k), dim)
	w := o.part(x, along)
	w.groups = inv
	xhat, d := normed(w)
	gr := w.program.Do(k, fuse.Mul, d, w.in(scale))
	n := w.number(fuse.F64, perGroup(x, inv))
	a, b := w.program.Reduce(fuse.Add, w.program.Do(k, fuse.Mul, gr, xhat)), w.program.Reduce(fuse.Add, gr)
	w.after = true
	w.out(along, w.program.Do(fuse.F64, fuse.Div, a, n))
	w.out(whole, w.program.Do(fuse.F64, fuse.Div, b, n))

	w = o.part(dx, nil)
	w.groups = inv
	p := &w.program
	xhat, d = normed(w)
	v := p.Do(k, fuse.Sub, p.Do(k, fuse.Mul, d, w.in(scale)), p.Do(k, fuse.Mul, xhat, w.in(along)))
	if centred {
		v = p.Do(k, fuse.Sub, v, w.in(whole))
	}
	w.out(dx, p.Do(k, fuse.Mul, v, w.in(inv)))

	w = o.part(x, dscale)
	w.groups = inv
	xhat, d = normed(w)
	a, b = w.program.Reduce(fuse.Add, w.program.Do(k, fuse.Mul, d, xhat)), w.program.Reduce(fuse.Add, d)
	w.out(dscale, a)
	if dbias != nil {
		w.out(dbias, b)
	}
	return nil
}

func checkGenStats(o *operation) error {
	x, sum, squares := o.in[0], o.g.tensor(dnn.CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC), o.g.tensor(dnn.CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC)
	if err := fits(x, sum, squares); err != nil {
		return err
	}
	w := o.part(x, sum)
	v := w.in(x)
	a := w.program.Reduce(fuse.Add, v)
	w.out(squares, w.program.Reduce(fuse.Add, w.program.Do(wide(x), fuse.Mul, v, v)))
	w.out(sum, a)
	return nil
}
