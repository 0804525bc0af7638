package cudnn

import (
	"math"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// shrinks says that C is A reduced: as large, or of one element.
func (c *call) shrinks(a, to tensor) {
	fits := len(a.dim) == len(to.dim)
	for i := range to.dim {
		fits = fits && (to.dim[i] == 1 || to.dim[i] == a.dim[i])
	}
	c.need(fits, badParam, "%v reduced to %v", a.dim, to.dim)
}

// extreme says that a reduction is one of those that are elements.
func (v reduction) extreme() bool {
	return v.op == dnn.CUDNN_REDUCE_TENSOR_MIN || v.op == dnn.CUDNN_REDUCE_TENSOR_MAX || v.op == dnn.CUDNN_REDUCE_TENSOR_AMAX
}

func (v reduction) wantsIndices() bool {
	return v.indices == dnn.CUDNN_REDUCE_TENSOR_FLATTENED_INDICES && v.extreme()
}

// GetReductionIndicesSize is the memory of the indices.
func (t *Thread) GetReductionIndicesSize(h Handle, desc reduceDesc, aDesc, cDesc tensorDesc) (uint64, error) {
	c := t.on(h)
	v, a, to := take[reduction](c, desc), take[tensor](c, aDesc), take[tensor](c, cDesc)
	c.shrinks(a, to)
	if c.err != nil || !v.wantsIndices() {
		return 0, c.err
	}
	return 4 * uint64(count(to.dim)), nil
}

// GetReductionWorkspaceSize is the memory for what indices are looked up with.
func (t *Thread) GetReductionWorkspaceSize(h Handle, desc reduceDesc, aDesc, cDesc tensorDesc) (uint64, error) {
	c := t.on(h)
	v, a, to := take[reduction](c, desc), take[tensor](c, aDesc), take[tensor](c, cDesc)
	c.shrinks(a, to)
	if c.err != nil || !v.wantsIndices() {
		return 0, c.err
	}
	return 8 * uint64(count(to.dim)), nil
}

// element is what is reduced of an element.
func (x *expression) element(v reduction, e fuse.Value) fuse.Value {
	switch v.op {
	case dnn.CUDNN_REDUCE_TENSOR_AMAX, dnn.CUDNN_REDUCE_TENSOR_NORM1:
		return x.do(fuse.Abs, e)
	case dnn.CUDNN_REDUCE_TENSOR_NORM2:
		return x.do(fuse.Mul, e, e)
	case dnn.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return x.do(fuse.Select, x.do(fuse.Equal, e, x.Const(x.kind, 0)), x.Const(x.kind, 1), e)
	}
	return e
}

// reduced is the reduction of n elements each.
func (x *expression) reduced(v reduction, e fuse.Value, n int64) fuse.Value {
	nan := v.nan == dnn.CUDNN_PROPAGATE_NAN
	op := fuse.Add
	switch v.op {
	case dnn.CUDNN_REDUCE_TENSOR_MUL, dnn.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		op = fuse.Mul
	case dnn.CUDNN_REDUCE_TENSOR_MIN:
		if op = fuse.Min; nan {
			op = fuse.MinNaN
		}
	case dnn.CUDNN_REDUCE_TENSOR_MAX, dnn.CUDNN_REDUCE_TENSOR_AMAX:
		if op = fuse.Max; nan {
			op = fuse.MaxNaN
		}
	}
	sum := x.Reduce(op, x.element(v, e))
	switch v.op {
	case dnn.CUDNN_REDUCE_TENSOR_AVG:
		return x.Do(fuse.F64, fuse.Div, sum, x.Const(fuse.F64, float64(n)))
	case dnn.CUDNN_REDUCE_TENSOR_NORM2:
		return x.Do(fuse.F64, fuse.Sqrt, sum)
	}
	return sum
}

// longer gives a tensor a last dimension of one element, so that there is one to reduce always.
func longer(t nn.Tensor) nn.Tensor {
	t.Dim, t.Stride = append(slices.Clone(t.Dim), 1), append(slices.Clone(t.Stride), 0)
	return t
}

// ReduceTensor makes C of A, and the indices of the elements that won.
func (t *Thread) ReduceTensor(h Handle, desc reduceDesc, indices hostmem.Ptr, indicesSize uint64, work hostmem.Ptr, workSize uint64, alpha hostmem.Ptr, aDesc tensorDesc, a, beta hostmem.Ptr, cDesc tensorDesc, to hostmem.Ptr) error {
	c := t.on(h)
	v := take[reduction](c, desc)
	c.shrinks(take[tensor](c, aDesc), take[tensor](c, cDesc))
	in, out := longer(c.tensor(aDesc, a)), longer(c.tensor(cDesc, to))
	s := c.scale(out.Type, alpha, beta)
	if v.wantsIndices() {
		n := uint64(out.Count())
		c.need(v.index == dnn.CUDNN_32BIT_INDICES, notSupported, "indices of type %d", v.index)
		c.need(indices != hostmem.Nil && indicesSize >= 4*n && work != hostmem.Nil && workSize >= 8*n, badParam, "%d bytes of indices, %d of workspace", indicesSize, workSize)
	}
	return c.run(func() error {
		r := make([]bool, len(in.Dim))
		n := int64(1)
		for i := range r {
			if r[i] = in.Dim[i] != out.Dim[i]; r[i] {
				n *= in.Dim[i]
			}
		}
		r[len(r)-1] = true
		if v.wantsIndices() {
			if err := c.positions(v, in, out, r, uint64(work), uint64(indices)); err != nil {
				return err
			}
		}
		e := express(in, out)
		return e.store(c, e.reduced(v, e.in(in), n), s, out, r, in.Dim)
	})
}

// positions are the first elements that are what the reduction gave, which is kept in memory of the program.
func (c *call) positions(v reduction, in, out nn.Tensor, r []bool, work, indices uint64) error {
	e := express(in, out)
	won := nn.Make(work, map[fuse.Kind]nn.Elem{fuse.F32: nn.F32, fuse.F64: nn.F64}[e.kind], out.Dim...)
	if err := e.store(c, e.reduced(v, e.in(in), 1), nn.Plain, won, r, in.Dim); err != nil {
		return err
	}
	place := nn.Tensor{Dim: in.Dim, Stride: make([]int64, len(in.Dim))}
	n := int64(1)
	for i := len(r) - 1; i >= 0; i-- {
		if r[i] {
			place.Stride[i] = n
			n *= in.Dim[i]
		}
	}
	e = express(in, out)
	x, w := e.element(v, e.in(in)), e.in(won)
	e.args.Tensors = append(e.args.Tensors, place)
	at := e.Index()
	nans := e.Do(fuse.Bool, fuse.And, e.do(fuse.NotEqual, x, x), e.do(fuse.NotEqual, w, w))
	is := e.Do(fuse.Bool, fuse.Or, e.do(fuse.Equal, x, w), nans)
	first := e.Reduce(fuse.Min, e.Do(fuse.S64, fuse.Select, is, at, e.Const(fuse.S64, math.MaxInt32)))
	return e.store(c, first, nn.Plain, nn.Make(indices, nn.S32, out.Dim...), r, in.Dim)
}
