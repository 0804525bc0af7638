package graph

import (
	"math"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

func distribution(o *operation) (given, dnn.CudnnRngDistribution_t) {
	g := given(o.g.ref(dnn.CUDNN_ATTR_OPERATION_RNG_DESC).values)
	return g, dnn.CudnnRngDistribution_t(g.whole(dnn.CUDNN_ATTR_RNG_DISTRIBUTION, 0))
}

func checkRNG(o *operation) error {
	if _, d := distribution(o); d < dnn.CUDNN_RNG_DISTRIBUTION_BERNOULLI || d > dnn.CUDNN_RNG_DISTRIBUTION_NORMAL {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "distribution %d", d)
	}
	return nil
}

// random writes random numbers: element i of a tensor is a function of seed, offset and i alone.
func (w *writing) random(o *operation) fuse.Value {
	y := o.g.tensor(dnn.CUDNN_ATTR_OPERATION_RNG_YDESC)
	g, d := distribution(o)
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
	const k = fuse.F32
	constant := func(a Attr, otherwise float64) fuse.Value { return p.Const(k, g.float(a, otherwise)) }
	uniform := func(i fuse.Value) fuse.Value { return p.Do(k, fuse.Uniform, seed, offset, i) }
	switch d {
	case dnn.CUDNN_RNG_DISTRIBUTION_UNIFORM:
		low, high := g.float(dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0), g.float(dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1)
		return p.Do(k, fuse.Add, p.Do(k, fuse.Mul, uniform(index), p.Const(k, high-low)), p.Const(k, low))
	case dnn.CUDNN_RNG_DISTRIBUTION_NORMAL: // two uniform numbers make one, by Box and Muller
		even := p.Do(fuse.S64, fuse.Add, index, index)
		a, b := uniform(even), uniform(p.Do(fuse.S64, fuse.Add, even, p.Const(fuse.S64, 1)))
		radius := p.Do(k, fuse.Sqrt, p.Do(k, fuse.Mul, p.Const(k, -2), p.Do(k, fuse.Log, a)))
		v := p.Do(k, fuse.Mul, radius, p.Do(k, fuse.Cos, p.Do(k, fuse.Mul, p.Const(k, 2*math.Pi), b)))
		return p.Do(k, fuse.Add, p.Do(k, fuse.Mul, v, constant(dnn.CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1)), constant(dnn.CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0))
	}
	return p.Do(k, fuse.LessEqual, uniform(index), constant(dnn.CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5))
}

// checkSoftmax is a softmax along the axes of which the statistics have one element; along the last without any.
func checkSoftmax(o *operation) error {
	g := o.g
	x, y := g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_XDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_YDESC)
	stats, most, sum := g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC)
	sink := g.tensor(dnn.CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC) // one more element of every row, of which nothing is stored
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
	if sink != nil && !broadcasts(sink.dim, dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a sink of %v for a softmax along all but %v", sink.dim, dim)
	}
	k := wide(x)
	most, sum = o.stored(most, elemOf(k), dim), o.stored(sum, elemOf(k), dim)
	w := o.part(x, most)
	largest := w.program.Reduce(fuse.Max, w.in(x))
	if sink != nil {
		w.after = true
		largest = w.program.Do(k, fuse.Max, largest, w.in(sink))
	}
	w.out(most, largest)

	// A row of nothing but -inf has no largest element to subtract.
	shifted := func(w *writing, x *tensor) fuse.Value {
		p := &w.program
		m := w.in(most)
		none := p.Do(k, fuse.Equal, m, p.Const(k, math.Inf(-1)))
		return p.Do(k, fuse.Exp, p.Do(k, fuse.Sub, w.in(x), p.Do(k, fuse.Select, none, p.Const(k, 0), m)))
	}
	w = o.part(x, sum)
	p := &w.program
	total := p.Reduce(fuse.Add, shifted(w, x))
	w.after = true
	w.known = map[int64]fuse.Value{} // what was read before cannot be used now
	if sink != nil {
		total = p.Do(fuse.F64, fuse.Add, total, shifted(w, sink))
	}
	w.out(sum, total)
	if stats != nil {
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
	w.out(y, p.Do(k, fuse.Select, empty, p.Const(k, 0), p.Do(k, fuse.Div, shifted(w, x), s)))
	return nil
}
