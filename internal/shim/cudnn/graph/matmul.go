package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

func checkMatmul(o *operation) error {
	g := o.g
	a, b, c := g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC)
	n := len(c.dim)
	if n < 2 || len(a.dim) != n || len(b.dim) != n || a.dim[n-2] != c.dim[n-2] || b.dim[n-1] != c.dim[n-1] || a.dim[n-1] != b.dim[n-2] {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a product of %v and %v to %v", a.dim, b.dim, c.dim)
	}
	for i := range n - 2 {
		if c.dim[i]%a.dim[i] != 0 || c.dim[i]%b.dim[i] != 0 {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a product of %v and %v to %v", a.dim, b.dim, c.dim)
		}
	}
	if slices.ContainsFunc([]*tensor{a, b, c}, func(t *tensor) bool { return t.elem == nn.Bool || t.elem == nn.S64 }) {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "a product of %v and %v to %v", a.elem, b.elem, c.elem)
	}
	return o.cutProduct(a, b, c)
}

// cut is what a product does beside multiplying where its sizes are on the device: it takes what is inside of the factors, and what is
// outside of the result becomes a number.
type cut struct {
	a, b   *tensor // the factors without what is outside
	before int     // parts that make them; those that follow cut the result
}

func (o *operation) cutProduct(a, b, c *tensor) error {
	g, n := o.g, len(c.dim)
	rows, columns, inner := g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC)
	for _, t := range []*tensor{rows, columns, inner} {
		if t != nil && (t.elem.Float() || len(t.dim) > n || !broadcasts(t.dim, append(slices.Clone(c.dim[:n-2]), 1, 1))) {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "sizes of a product to %v in %v %v", c.dim, t.dim, t.elem)
		}
	}
	o.cut = cut{a: a, b: b}
	if inner != nil {
		o.cut.a, o.cut.b = o.inside(a, n-1, inner), o.inside(b, n-2, inner)
	}
	o.cut.before = len(o.parts)
	pad := given(g.ref(dnn.CUDNN_ATTR_OPERATION_MATMUL_DESC).values).float(dnn.CUDNN_ATTR_MATMUL_PADDING_VALUE, 0)
	if rows != nil {
		o.limit(c, c, n-2, rows, pad)
	}
	if columns != nil {
		o.limit(c, c, n-1, columns, pad)
	}
	return nil
}

// inside is a copy of a tensor that is zero past a size.
func (o *operation) inside(t *tensor, axis int, size *tensor) *tensor {
	// The lengths are of the batches of the result; a factor that several of them share is made larger.
	dim := slices.Clone(t.dim)
	for i, d := range padded(size.dim, len(dim), 1) {
		dim[i] = max(dim[i], d)
	}
	y := o.hide(t.elem, dim)
	o.limit(t, y, axis, size, 0)
	return y
}

// limit adds a part that copies a tensor, with a number past a size.
func (o *operation) limit(from, to *tensor, axis int, size *tensor, pad float64) {
	w := o.part(to, nil)
	p := &w.program
	k := fuse.KindOf(from.elem)
	within := p.Do(fuse.S64, fuse.Less, w.index(to, axis), w.in(size))
	w.out(to, p.Do(k, fuse.Select, within, w.viewed(from, nil), p.Const(k, pad)))
}

func runMatmul(x *exec, o *operation) error {
	if err := x.all(o.parts[:o.cut.before]); err != nil {
		return err
	}
	if err := multiply(x, o); err != nil {
		return err
	}
	return x.all(o.parts[o.cut.before:])
}

func multiply(x *exec, o *operation) error {
	a, b, c := x.tensor(o.cut.a), x.tensor(o.cut.b), x.tensor(o.g.tensor(dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC))
	// Where several of an axis share one matrix, as heads that share keys do, the axis is two.
	for i := 0; i < len(c.Dim)-2; i++ {
		least := c.Dim[i]
		for _, t := range []nn.Tensor{a, b} {
			if t.Dim[i] != 1 {
				least = min(least, t.Dim[i])
			}
		}
		if least == c.Dim[i] {
			continue
		}
		a, b, c = split(a, i, least), split(b, i, least), split(c, i, least)
		i++
	}
	return x.Matmul(a, b, c, nn.Plain)
}

// split makes two axes of one, the first of n elements. One element stays one.
func split(t nn.Tensor, axis int, n int64) nn.Tensor {
	outer, inner := n, t.Dim[axis]/n
	if t.Dim[axis] == 1 {
		outer, inner = 1, 1
	}
	t.Dim = slices.Insert(slices.Clone(t.Dim), axis, outer)
	t.Stride = slices.Insert(slices.Clone(t.Stride), axis, t.Stride[axis]*inner)
	t.Dim[axis+1] = inner
	return t
}
