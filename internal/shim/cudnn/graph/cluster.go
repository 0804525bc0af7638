package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// cluster is pointwise operations of one shape, perhaps a reduction of what they compute, and pointwise operations on what that leaves:
// one kernel.
type cluster struct {
	ops []*operation
	expression
}

// expression is a program, and where its arguments come from.
type expression struct {
	program fuse.Program
	dim     *tensor // its sizes are those of all indices
	left    *tensor // where it is not nil, its sizes are 1 along the axes that are reduced
	groups  *tensor // where it is not nil, neighbours along an axis that it has fewer of share its element
	args    []argument
	numbers []func(x *exec) float64
}

// argument is a tensor of a program, or what a view makes of it.
type argument struct {
	t    *tensor
	view func(nn.Tensor) nn.Tensor
}

// reduction is the one that reduces, or nil.
func (c *cluster) reduction() *operation {
	for _, o := range c.ops {
		if isReduction(o) {
			return o
		}
	}
	return nil
}

// writer is the operation of the cluster that writes a tensor, or nil.
func (c *cluster) writer(t *tensor) *operation {
	for _, o := range c.ops {
		if slices.ContainsFunc(o.out, func(w *tensor) bool { return w.uid == t.uid }) {
			return o
		}
	}
	return nil
}

// takes reports whether an operation can be the next of the cluster.
func (c *cluster) takes(gr *graph, o *operation) bool {
	red := c.reduction()
	first := c.ops[0].out[0]
	switch {
	case isReduction(o):
		x := o.in[0]
		return red == nil && c.writer(x) != nil && !slices.ContainsFunc(c.ops, func(p *operation) bool {
			return !p.out[0].virtual || gr.outside(p.out[0], append(slices.Clone(c.ops), o))
		})
	case red == nil:
		return slices.Equal(o.out[0].dim, first.dim)
	}
	at := slices.Index(c.ops, red)
	return !indexes(o) && slices.Equal(o.out[0].dim, red.out[0].dim) && !slices.ContainsFunc(o.in, func(t *tensor) bool {
		w := c.writer(t)
		return w != nil && slices.Index(c.ops, w) < at
	})
}

// indexes reports an operation whose elements depend on where they are. What a reduction leaves has other indices than what it is of.
func indexes(o *operation) bool {
	return o.kind != dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR || pointMode(o) == dnn.CUDNN_POINTWISE_GEN_INDEX
}

// build writes the program.
func (c *cluster) build(gr *graph) error {
	w := newWriting(&c.expression)
	red := c.reduction()
	c.dim = c.ops[0].out[0]
	if red != nil {
		c.dim, c.left = red.in[0], red.out[0]
	}
	for _, o := range c.ops {
		v := o.lower.write(w, o)
		w.after = w.after || o == red
		out := o.out[0]
		v = w.program.As(held(out, w.kind(v)), v)
		w.known[out.uid] = v
		if !out.virtual || gr.outside(out, c.ops) {
			gr.keep(out)
			w.out(out, v)
		}
	}
	return nil
}

// held is the kind of a value that is in no memory: one with a fraction keeps all its bits.
func held(t *tensor, k fuse.Kind) fuse.Kind {
	if of := fuse.KindOf(t.elem); of != fuse.F32 && of != fuse.F64 {
		return of
	}
	return k
}

// writing is the program of an expression while it is written.
type writing struct {
	*expression
	known map[int64]fuse.Value // by tensor
	after bool                 // the reduction is done
}

func newWriting(e *expression) *writing { return &writing{e, map[int64]fuse.Value{}, false} }

func (w *writing) kind(v fuse.Value) fuse.Kind { return w.program.KindOf(v) }

// in is the element of a tensor.
func (w *writing) in(t *tensor) fuse.Value {
	if v, ok := w.known[t.uid]; ok {
		return v
	}
	var v fuse.Value
	switch {
	case t.known != nil:
		v = w.program.Const(fuse.KindOf(t.elem), *t.known)
	case t.byValue:
		v = w.number(fuse.KindOf(t.elem), func(x *exec) float64 { return x.number(t) })
	default:
		w.args = append(w.args, argument{t, nil})
		if w.after {
			v = w.program.After(t.elem)
		} else {
			v = w.program.In(t.elem)
		}
	}
	w.known[t.uid] = v
	return v
}

// number is a scalar that an execution knows.
func (w *writing) number(k fuse.Kind, f func(x *exec) float64) fuse.Value {
	w.numbers = append(w.numbers, f)
	return w.program.Scalar(k)
}

// index is the index along an axis of a tensor.
func (w *writing) index(t *tensor, axis int) fuse.Value {
	return w.indexed(t, func(t nn.Tensor) nn.Tensor {
		t.Stride = make([]int64, len(t.Dim))
		t.Stride[axis] = 1
		return t
	})
}

// indexed is what the strides of a view make of an index.
func (w *writing) indexed(t *tensor, view func(nn.Tensor) nn.Tensor) fuse.Value {
	w.args = append(w.args, argument{t, view})
	return w.program.Index()
}

// viewed is the element of a view of a tensor.
func (w *writing) viewed(t *tensor, view func(nn.Tensor) nn.Tensor) fuse.Value {
	w.args = append(w.args, argument{t, view})
	return w.program.In(t.elem)
}

// out stores a value.
func (w *writing) out(t *tensor, v fuse.Value) {
	w.args = append(w.args, argument{t, nil})
	w.program.Out(t.elem, v)
}

// of is the tensor of an execution.
func (a argument) of(x *exec) nn.Tensor {
	t := x.tensor(a.t)
	if a.view != nil {
		t = a.view(t)
	}
	return t
}

// run runs the program on the tensors of an execution.
func (e *expression) run(x *exec) error {
	dim := slices.Clone(x.sides(e.dim).Dim)
	rank := len(dim)
	for _, a := range e.args {
		rank = max(rank, len(a.of(x).Dim))
	}
	whole := nn.Tensor{Dim: padded(dim, rank, 1), Stride: make([]int64, rank)}
	var a fuse.Args
	for _, arg := range e.args {
		t := arg.of(x)
		t.Dim, t.Stride = padded(t.Dim, rank, 1), padded(t.Stride, rank, 0)
		a.Tensors = append(a.Tensors, t)
	}
	var reduce []bool
	left := nn.Tensor{Stride: make([]int64, rank)}
	if e.left != nil {
		left.Dim = padded(x.sides(e.left).Dim, rank, 1)
	}
	if e.groups != nil {
		whole, left = grouped(whole, left, padded(x.sides(e.groups).Dim, rank, 1), a.Tensors)
	}
	if e.left != nil {
		whole, reduce = reduced(whole, left.Dim, a.Tensors)
	}
	for _, f := range e.numbers {
		a.Numbers = append(a.Numbers, f(x))
	}
	return e.program.Run(x.Run, whole.Dim, reduce, a)
}

// reduced says which axes are reduced: those that leave one. Where neighbours along an axis become one, it is two axes, of which the
// second is reduced.
func reduced(whole nn.Tensor, left []int64, tensors []nn.Tensor) (nn.Tensor, []bool) {
	var reduce []bool
	for _, at := range left {
		n := len(reduce)
		if d := whole.Dim[n]; at == d || at == 1 || d == 0 {
			reduce = append(reduce, at == 1 && d != 1)
			continue
		}
		whole = split(whole, n, at)
		for k, t := range tensors {
			tensors[k] = split(t, n, at)
		}
		reduce = append(reduce, false, true)
	}
	// One more, so that there always is one.
	whole.Dim = append(slices.Clone(whole.Dim), 1)
	for k, t := range tensors {
		tensors[k].Dim, tensors[k].Stride = append(slices.Clone(t.Dim), 1), append(slices.Clone(t.Stride), 0)
	}
	return whole, append(reduce, true)
}

// grouped makes two axes of one whose neighbours share elements of some of the tensors: which group, and which of it.
func grouped(whole, left nn.Tensor, groups []int64, tensors []nn.Tensor) (all, rest nn.Tensor) {
	at := 0
	for _, n := range groups {
		if d := whole.Dim[at]; n != 1 && n != d {
			whole = split(whole, at, n)
			if left.Dim != nil {
				left = split(left, at, n)
			}
			for k, t := range tensors {
				tensors[k] = split(t, at, n)
			}
			at++
		}
		at++
	}
	return whole, left
}

// padded is a list with more in front.
func padded(list []int64, n int, with int64) []int64 {
	out := make([]int64, 0, n+1)
	for range n - len(list) {
		out = append(out, with)
	}
	return append(out, list...)
}
