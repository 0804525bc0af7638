package graph

import (
	"math"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// checkRNG: element i of a tensor is a function of seed, offset and i alone.
func checkRNG(o *operation) error {
	y := o.g.tensor(dnn.CUDNN_ATTR_OPERATION_RNG_YDESC)
	g := given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_RNG_DESC).values)
	w := o.part(y, nil)
	p := &w.program
	var seed fuse.Value
	if t := o.g.tensor(dnn.CUDNN_ATTR_OPERATION_RNG_SEED); t != nil {
		seed = w.in(t)
	} else {
		seed = p.Const(fuse.S64, o.g.float(dnn.CUDNN_ATTR_OPERATION_RNG_SEED, 0))
	}
	offset := p.Const(fuse.S64, 0)
	if t := o.g.tensor(dnn.CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC); t != nil {
		offset = w.in(t)
	}
	index := w.indexed(y, func(t nn.Tensor) nn.Tensor { t.Stride = nn.Packed(t.Dim...); return t })
	k := fuse.F32
	constant := func(v float64) fuse.Value { return p.Const(k, v) }
	var v fuse.Value
	switch d := dnn.CudnnRngDistribution_t(g.whole(dnn.CUDNN_ATTR_RNG_DISTRIBUTION, 0)); d {
	case dnn.CUDNN_RNG_DISTRIBUTION_BERNOULLI:
		v = p.Do(k, fuse.LessEqual, p.Do(k, fuse.Uniform, seed, offset, index), constant(g.float(dnn.CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5)))
	case dnn.CUDNN_RNG_DISTRIBUTION_UNIFORM:
		low, high := g.float(dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0), g.float(dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1)
		v = p.Do(k, fuse.Add, p.Do(k, fuse.Mul, p.Do(k, fuse.Uniform, seed, offset, index), constant(high-low)), constant(low))
	case dnn.CUDNN_RNG_DISTRIBUTION_NORMAL:
		// Two uniform numbers make one, by Box and Muller.
		even := p.Do(fuse.S64, fuse.Add, index, index)
		a := p.Do(k, fuse.Uniform, seed, offset, even)
		b := p.Do(k, fuse.Uniform, seed, offset, p.Do(fuse.S64, fuse.Add, even, p.Const(fuse.S64, 1)))
		radius := p.Do(k, fuse.Sqrt, p.Do(k, fuse.Mul, constant(-2), p.Do(k, fuse.Log, a)))
		v = p.Do(k, fuse.Mul, radius, p.Do(k, fuse.Cos, p.Do(k, fuse.Mul, constant(2*math.Pi), b)))
		v = p.Do(k, fuse.Add, p.Do(k, fuse.Mul, v, constant(g.float(dnn.CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1))), constant(g.float(dnn.CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0)))
	default:
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "distribution %d", d)
	}
	w.out(y, v)
	return nil
}

// checkSoftmax is a softmax along the axes of which the statistics have one element; along the last without any.
func checkSoftmax(o *operation) error {
	g := o.g
	x, y := g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_XDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_YDESC)
	stats, most, sum := g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC)
	if g.ref(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC) != nil {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "a softmax with a sink")
	}
	dim := append([]int64(nil), x.dim...)
	dim[len(dim)-1] = 1
	for _, t := range []*tensor{stats, most, sum} {
		if t != nil {
			dim = t.dim
		}
	}
	if len(dim) != len(x.dim) || !broadcasts(dim, x.dim) || len(y.dim) != len(x.dim) || !broadcasts(x.dim, y.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a softmax of %v to %v along all but %v", x.dim, y.dim, dim)
	}
	k := wide(x)
	most, sum = o.stored(most, elemOf(k), dim), o.stored(sum, elemOf(k), dim)
	w := o.part(x, most)
	w.out(most, w.program.Reduce(fuse.Max, w.in(x)))

	// A row of nothing but -inf has no largest element to subtract.
	shifted := func(w *writing) fuse.Value {
		p := &w.program
		m := w.in(most)
		none := p.Do(k, fuse.Equal, m, p.Const(k, math.Inf(-1)))
		return p.Do(k, fuse.Exp, p.Do(k, fuse.Sub, w.in(x), p.Do(k, fuse.Select, none, p.Const(k, 0), m)))
	}
	w = o.part(x, sum)
	p := &w.program
	total := p.Reduce(fuse.Add, shifted(w))
	w.out(sum, total)
	if stats != nil {
		w.after = true
		w.known = map[int64]fuse.Value{}
		l := p.Do(fuse.F64, fuse.Add, w.in(most), p.Do(fuse.F64, fuse.Log, total))
		if g.whole(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2, 0) != 0 {
			l = p.Do(fuse.F64, fuse.Mul, l, p.Const(fuse.F64, math.Log2E))
		}
		w.out(stats, l)
	}
	w = o.part(y, nil)
	p = &w.program
	s := w.in(sum)
	empty := p.Do(k, fuse.Equal, s, p.Const(k, 0))
	w.out(y, p.Do(k, fuse.Select, empty, p.Const(k, 0), p.Do(k, fuse.Div, shifted(w), s)))
	return nil
}
