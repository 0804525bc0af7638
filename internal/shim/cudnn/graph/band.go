package graph

import (
	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// bandLengths are what a band mask may shift its diagonal by: lengths, or sums of all lengths before, of keys and of queries.
var bandLengths = [2]struct{ length, sums Attr }{
	{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC, dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_KVDESC},
	{dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_QDESC, dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC},
}

// bandMode is how a band mask compares.
func bandMode(o *operation) dnn.CudnnPointwiseMode_t {
	return dnn.CudnnPointwiseMode_t(o.g.whole(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE, 0))
}

func checkBand(o *operation) error {
	g := o.g
	x, y := g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC)
	left, shift := g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC)
	if m := bandMode(o); m < dnn.CUDNN_POINTWISE_CMP_EQ || m > dnn.CUDNN_POINTWISE_CMP_LE {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "a band mask by pointwise mode %d", m)
	}
	if left != nil && shift != nil {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "a band mask with both bounds")
	}
	if len(y.dim) < 2 || !broadcasts(x.dim, y.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a band mask of %v to %v", x.dim, y.dim)
	}
	for _, a := range bandLengths {
		sums := g.tensor(a.sums)
		if t := g.tensor(a.length); t != nil && (sums != nil || !broadcasts(t.dim, y.dim)) {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "lengths %v for a band mask of %v", t.dim, y.dim)
		}
		if sums != nil && (len(sums.dim) != len(y.dim) || sums.dim[0] != y.dim[0]+1 || sums.shape().Count() != sums.dim[0]) {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "sums of lengths %v for a band mask of %v", sums.dim, y.dim)
		}
	}
	return nil
}

// band writes an element that is on one side of a diagonal, or what is there instead. The right bound keeps columns up to a row's
// number and a shift, the left bound those whose number and the bound are above the row's; with lengths the diagonal ends in the last
// corner of each sequence.
func (w *writing) band(o *operation) fuse.Value {
	g, y, p := o.g, o.out[0], &w.program
	row, col := w.index(y, len(y.dim)-2), w.index(y, len(y.dim)-1)
	moved, fixed := row, col
	keys, queries := fuse.Add, fuse.Sub
	bound := g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC)
	if left := g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC); left != nil {
		moved, fixed, keys, queries, bound = col, row, fuse.Sub, fuse.Add, left
	}
	if bound != nil {
		moved = p.Do(fuse.S64, fuse.Add, moved, w.in(bound))
	}
	for i, op := range []fuse.Op{keys, queries} {
		if n, ok := w.length(o, i); ok {
			moved = p.Do(fuse.S64, op, moved, n)
		}
	}
	inside := p.Do(fuse.S64, pointModes[bandMode(o)].op, moved, fixed)
	x := g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC)
	return p.Do(wide(x), fuse.Select, inside, w.in(x), w.in(g.tensor(dnn.CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC)))
}

// length is the length of an element's sequence of keys, or queries.
func (w *writing) length(o *operation, which int) (fuse.Value, bool) {
	if t := o.g.tensor(bandLengths[which].length); t != nil {
		return w.in(t), true
	}
	sums := o.g.tensor(bandLengths[which].sums)
	if sums == nil {
		return 0, false
	}
	at := func(i int64) fuse.Value {
		return w.viewed(sums, func(t nn.Tensor) nn.Tensor { return t.At(0, i, t.Dim[0]-1) })
	}
	return w.program.Do(fuse.S64, fuse.Sub, at(1), at(0)), true
}
