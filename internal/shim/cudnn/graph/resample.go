package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// poolAttrs are the attributes of pooling, or of its gradient: small is what has an element a window.
type poolAttrs struct{ desc, large, small, index, alpha, beta Attr }

var poolRows = map[Kind]poolAttrs{
	dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC,
		dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA},
	dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC,
		dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA},
}

var poolModes = map[dnn.CudnnResampleMode_t]nn.PoolMode{
	dnn.CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING: nn.PoolAveragePadded, dnn.CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING: nn.PoolAverage, dnn.CUDNN_RESAMPLE_MAXPOOL: nn.PoolMax,
}

// wholeSides are numbers of which each may be given as a fraction.
func wholeSides(v value) ([]int64, bool) {
	if v.typ != dnn.CUDNN_TYPE_FRACTION {
		return v.wholes, true
	}
	var out []int64
	for f := range slices.Chunk(v.wholes, 2) {
		if f[1] == 0 || f[0]%f[1] != 0 {
			return nil, false
		}
		out = append(out, f[0]/f[1])
	}
	return out, true
}

// pooling is what a resampling does.
func pooling(o *operation) (nn.Pool, error) {
	g := given(o.g.ref(poolRows[o.kind].desc).values)
	mode, ok := poolModes[dnn.CudnnResampleMode_t(g.whole(dnn.CUDNN_ATTR_RESAMPLE_MODE, 0))]
	if !ok {
		return nn.Pool{}, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "resampling that is no pooling")
	}
	p := nn.Pool{Mode: mode, NaN: g.whole(dnn.CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, 0) == int64(dnn.CUDNN_PROPAGATE_NAN)}
	var post []int64
	for a, to := range map[Attr]*[]int64{dnn.CUDNN_ATTR_RESAMPLE_WINDOW_DIMS: &p.Window, dnn.CUDNN_ATTR_RESAMPLE_PRE_PADDINGS: &p.Pad, dnn.CUDNN_ATTR_RESAMPLE_STRIDES: &p.Stride, dnn.CUDNN_ATTR_RESAMPLE_POST_PADDINGS: &post} {
		if *to, ok = wholeSides(g[a]); !ok {
			return p, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "pooling by fractions")
		}
	}
	x, y := o.g.tensor(poolRows[o.kind].large), o.g.tensor(poolRows[o.kind].small)
	n := len(p.Window)
	if len(x.dim) != n+2 || len(y.dim) != n+2 || len(p.Pad) != n || len(p.Stride) != n || len(post) != n || x.dim[0] != y.dim[0] || x.dim[1] != y.dim[1] {
		return p, fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "pooling of %v to %v by %v", x.dim, y.dim, p.Window)
	}
	if n < 1 || n > 3 {
		return p, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "pooling of %d dimensions", n)
	}
	for i := range n {
		if p.Window[i] < 1 || p.Stride[i] < 1 || p.Pad[i] < 0 || post[i] < 0 || x.dim[i+2]+p.Pad[i]+post[i] < p.Window[i] || (x.dim[i+2]+p.Pad[i]+post[i]-p.Window[i])/p.Stride[i]+1 != y.dim[i+2] {
			return p, fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "pooling of %v to %v by %v", x.dim, y.dim, p.Window)
		}
	}
	around := dnn.CudnnPaddingMode_t(g.whole(dnn.CUDNN_ATTR_RESAMPLE_PADDING_MODE, 0))
	if slices.Max(append(post, p.Pad...)) > 0 && (around == dnn.CUDNN_EDGE_VAL_PAD || (around == dnn.CUDNN_NEG_INF_PAD) != (mode == nn.PoolMax)) {
		return p, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_PADDING, "pooling with padding mode %d", around)
	}
	return p, nil
}

// checkPool keeps what the pooling is, and adds what says which element of a window was the largest: an index among those of the window, in the order of its sides.
func checkPool(o *operation) error {
	p, err := pooling(o)
	if err != nil {
		return err
	}
	o.pool = p
	row := poolRows[o.kind]
	x, y, index := o.g.tensor(row.large), o.g.tensor(row.small), o.g.tensor(row.index)
	forward := o.kind == dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR
	if p.Mode != nn.PoolMax || index == nil {
		if !forward && p.Mode == nn.PoolMax && o.g.tensor(dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC) == nil {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "the gradient of the largest of windows needs their index, or what they were of")
		}
		return nil
	}
	if !slices.Equal(index.dim, y.dim) || index.elem.Float() || index.elem == nn.Bool {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "an index of %v %v for %v", index.dim, index.elem, y.dim)
	}
	o.where = o.hide(nn.S64, y.dim)
	from, to := o.where, index
	if !forward {
		from, to = index, o.where
	}
	w := o.part(to, nil)
	w.out(to, w.reindexed(p, x.dim, from, forward))
	return nil
}

// reindexed makes an index in a window of an element's place in an image, or back.
func (w *writing) reindexed(p nn.Pool, image []int64, from *tensor, forward bool) fuse.Value {
	q := &w.program
	do := func(op fuse.Op, a, b fuse.Value) fuse.Value { return q.Do(fuse.F64, op, a, b) }
	constant := func(n int64) fuse.Value { return q.Const(fuse.F64, float64(n)) }
	rest := q.As(fuse.F64, w.in(from))
	none := do(fuse.Less, rest, constant(0))
	out, by := constant(0), int64(1)
	for i := len(p.Window) - 1; i >= 0; i-- {
		n, m := p.Window[i], image[i+2]
		begin := do(fuse.Sub, do(fuse.Mul, w.index(from, i+2), constant(p.Stride[i])), constant(p.Pad[i]))
		if forward {
			n, m = m, n
		}
		next := q.Do(fuse.F64, fuse.Floor, do(fuse.Div, rest, constant(n)))
		at := do(fuse.Sub, rest, do(fuse.Mul, next, constant(n)))
		if forward {
			at = do(fuse.Sub, at, begin)
		} else {
			at = do(fuse.Add, at, begin)
		}
		out = do(fuse.Add, out, do(fuse.Mul, at, constant(by)))
		rest, by = next, by*m
	}
	return q.Do(fuse.F64, fuse.Select, none, constant(-1), out)
}

func runPool(x *exec, o *operation) error {
	p, row := o.pool, poolRows[o.kind]
	large, small := x.tensor(o.g.tensor(row.large)), x.tensor(o.g.tensor(row.small))
	s := nn.Scale{Alpha: o.g.float(row.alpha, 1), Beta: o.g.float(row.beta, 0)}
	switch {
	case o.kind == dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
		if err := x.Pool(p, s, large, small); err != nil || o.where == nil {
			return err
		}
		if err := x.PoolLargest(p, large, small, x.tensor(o.where).Addr); err != nil {
			return err
		}
		return x.all(o.parts)
	case o.where != nil:
		if err := x.all(o.parts); err != nil {
			return err
		}
		return x.PoolGradient(p, s, x.tensor(o.where).Addr, small, large)
	case p.Mode == nn.PoolMax:
		return x.PoolBackward(p, s, x.tensor(o.g.tensor(dnn.CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC)), small, large)
	}
	return x.PoolGradient(p, s, 0, small, large)
}
