package graph

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// operation is a node of a graph.
type operation struct {
	kind    Kind
	g       given
	in, out []*tensor
	lower   *lowering
	hidden  []*tensor     // what it needs between its kernels
	parts   []*expression // its kernels, where they are expressions
	cut     cut           // of a product
	pool    nn.Pool       // of pooling
	where   *tensor       // the same: places of the largest
	direct  *direct       // of an attention that is done at once
	refused error         // why it does not run, where that is said only when an engine is asked for
	apart   bool          // it is an attention that is made of other operations
}

// lowering is how operations of a kind are done. check is asked once, and may add what the operation needs; run enqueues. Operations
// without it become parts of clusters, where write says what an element is.
type lowering struct {
	check func(o *operation) error
	run   func(x *exec, o *operation) error
	write func(w *writing, o *operation) fuse.Value
}

// lowerings are the kinds of operations that run.
var lowerings = map[Kind]*lowering{
	dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:                   {check: checkPointwise, write: (*writing).pointwise},
	dnn.CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:                   {check: checkReduction, write: (*writing).reduce},
	dnn.CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR:          {check: checkBand, write: (*writing).band},
	dnn.CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:                {check: checkNormForward, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:               {check: checkNormBackward, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:                   {check: checkGenStats, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR:      {check: checkFinalize, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:              {check: checkWeights, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:                     {check: checkReshape, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR:                   {check: checkTranspose, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR:                       {check: checkSlice, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR:                      {check: checkConcat, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR:                         {check: checkRNG, write: (*writing).random},
	dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:                {check: checkPool, run: runPool},
	dnn.CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR:                {check: checkPool, run: runPool},
	dnn.CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR:            {check: checkPages, run: runPages},
	dnn.CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR:                     {check: checkSoftmax, run: runParts},
	dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR:        {check: checkBlocks, run: runBlocks},
	dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR:      {check: checkBlocks, run: runBlocks},
	dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:                      {check: checkMatmul, run: runMatmul},
	dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR:          {check: checkGrouped, run: runGrouped},
	dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR:      {check: checkGrouped, run: runGrouped},
	dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:                    {check: checkAttention, run: runAttention},
	dnn.CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:                    {check: checkAttention, run: runAttention},
	dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:         {check: checkConv, run: runConv},
	dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:   {check: checkConv, run: runConv},
	dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: {check: checkConv, run: runConv},
}

func buildOperation(k Kind, g given) (*operation, error) {
	o := &operation{kind: k, g: g, lower: lowerings[k]}
	if o.lower == nil {
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "operations of type %d", k)
	}
	for _, r := range operations()[k] {
		if r.form.of != Tensor {
			continue
		}
		for _, d := range g[r.name].refs {
			t := d.made.(*tensor)
			if o.writes(&r) {
				o.out = append(o.out, t)
			} else {
				o.in = append(o.in, t)
			}
		}
	}
	if err := o.readable(); err != nil {
		return nil, err
	}
	if o.empty() && (o.lower.write == nil || isReduction(o)) {
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "an operation of type %d on nothing", k)
	}
	return o, o.lower.check(o)
}

// empty reports an operation with a tensor without elements.
func (o *operation) empty() bool {
	return slices.ContainsFunc(slices.Concat(o.in, o.out), func(t *tensor) bool { return t.shape().Empty() })
}

// writes reports an attribute that names a result. What a norm learned from is one only while it learns.
func (o *operation) writes(r *row) bool {
	switch r.name {
	case dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC:
		return o.g.ref(dnn.CUDNN_ATTR_OPERATION_POINTWISE_DXDESC) == nil
	case dnn.CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, dnn.CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC:
		return o.g.whole(dnn.CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, 0) == int64(dnn.CUDNN_NORM_FWD_TRAINING)
	}
	return r.out
}

// runParts runs an operation that is expressions one after another.
func runParts(x *exec, o *operation) error { return x.all(o.parts) }

func (x *exec) all(parts []*expression) error {
	for _, e := range parts {
		if err := e.run(x); err != nil {
			return err
		}
	}
	return nil
}

// part begins an expression of an operation: over the sizes of dim, reduced to those of left unless that is nil.
func (o *operation) part(dim, left *tensor) *writing {
	e := &expression{dim: dim, left: left}
	o.parts = append(o.parts, e)
	return newWriting(e)
}

// hide is a tensor that an operation needs for itself, without gaps.
func (o *operation) hide(e nn.Elem, dim []int64) *tensor {
	t := between(e, dim...)
	o.hidden = append(o.hidden, t)
	return t
}

var hiddenID atomic.Int64

// nextHidden numbers tensors that programs do not see, below all that they use.
func nextHidden() int64 { return math.MinInt64 + hiddenID.Add(1) }

// graph is operations in an order that they can run in, as steps.
type graph struct {
	given []*Descriptor
	ops   []*operation
	steps []runner
	inner []*tensor // virtual tensors that are in memory nevertheless
	uses  map[int64][]*operation
	lives map[int64]life // of tensors
	dense map[int64]bool // tensors of packed sequences that have a copy without gaps
	open  *tensor        // one that is virtual and written by nobody: the graph is part of an operation
}

// runner is a part of a graph that is enqueued at once.
type runner interface{ run(x *exec) error }

// runs reports why a graph cannot be executed.
func (gr *graph) runs() error {
	if gr.open != nil {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "virtual tensor %d is written by nobody", gr.open.uid)
	}
	for _, o := range gr.ops {
		if o.refused != nil {
			return o.refused
		}
	}
	return nil
}

func buildGraph(g given) (*graph, error) { return newGraph(g[dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS].refs) }

func newGraph(descriptors []*Descriptor) (*graph, error) {
	gr := &graph{given: descriptors, uses: map[int64][]*operation{}, dense: map[int64]bool{}, lives: map[int64]life{}}
	if len(descriptors) == 0 {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "a graph of nothing")
	}
	var ops []*operation
	for _, d := range descriptors {
		ops = append(ops, d.made.(*operation))
	}
	ops, err := expanded(composed(ops))
	if err != nil {
		return nil, err
	}
	made := map[int64]*operation{}
	for _, o := range ops {
		for _, t := range o.out {
			if made[t.uid] != nil {
				return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "tensor %d is written twice", t.uid)
			}
			made[t.uid] = o
		}
		for _, t := range o.in {
			gr.uses[t.uid] = append(gr.uses[t.uid], o)
		}
	}
	if err := gr.order(ops, made); err != nil {
		return nil, err
	}
	if gr.runs() != nil {
		return gr, nil
	}
	return gr, gr.group()
}

// order sorts the operations: who writes a tensor comes before who reads it.
func (gr *graph) order(ops []*operation, made map[int64]*operation) error {
	state := map[*operation]int{} // 1: on the way, 2: done
	var visit func(o *operation) error
	visit = func(o *operation) error {
		switch state[o] {
		case 1:
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "operations that need each other's results")
		case 2:
			return nil
		}
		state[o] = 1
		for _, t := range o.in {
			if from := made[t.uid]; from != nil {
				if err := visit(from); err != nil {
					return err
				}
			} else if t.virtual {
				gr.open = t
			}
		}
		state[o] = 2
		gr.ops = append(gr.ops, o)
		return nil
	}
	for _, o := range ops {
		if err := visit(o); err != nil {
			return err
		}
	}
	return nil
}

// group makes steps of the operations: chains of pointwise operations and reductions become one each.
func (gr *graph) group() error {
	var open *cluster
	end := func() error {
		if open == nil {
			return nil
		}
		c := open
		open = nil
		gr.step(c, c.ops...)
		return c.build(gr)
	}
	for _, o := range gr.ops {
		if o.lower.run == nil && open != nil && open.takes(gr, o) {
			open.ops = append(open.ops, o)
			continue
		}
		if err := end(); err != nil {
			return err
		}
		if o.lower.run == nil {
			open = &cluster{ops: []*operation{o}}
			continue
		}
		gr.step(&single{o}, o)
		gr.inner = append(gr.inner, o.hidden...)
		for _, t := range o.out {
			gr.keep(t)
		}
	}
	return end()
}

// step adds a step of operations, between copies of those of their tensors whose sequences lie packed. The kernels of attention need none.
func (gr *graph) step(r runner, ops ...*operation) {
	var after []*unpacking
	for _, o := range ops {
		if o.direct != nil {
			continue
		}
		for _, t := range o.in {
			if t.ragged != nil && gr.copied(t) {
				gr.enqueue(&unpacking{t: t}, t)
			}
		}
		for _, t := range o.out {
			if t.ragged != nil && !t.virtual {
				gr.copied(t)
				after = append(after, &unpacking{t: t, back: true})
			}
		}
	}
	var touched []*tensor
	for _, o := range ops {
		touched = slices.Concat(touched, o.in, o.out, o.hidden)
	}
	gr.enqueue(r, touched...)
	for _, u := range after {
		gr.enqueue(u, u.t)
	}
}

// enqueue adds a step that uses tensors.
func (gr *graph) enqueue(r runner, touched ...*tensor) {
	at := len(gr.steps)
	gr.steps = append(gr.steps, r)
	for _, t := range touched {
		l, known := gr.lives[t.uid]
		if !known {
			l.from = at
		}
		l.to = at
		gr.lives[t.uid] = l
	}
}

// life is from which step to which something between operations is used.
type life struct{ from, to int }

func (l life) meets(m life) bool { return l.from <= m.to && m.from <= l.to }

// copied gives a tensor of packed sequences memory for its copy, and reports whether it had none.
func (gr *graph) copied(t *tensor) bool {
	if gr.dense[t.uid] {
		return false
	}
	gr.dense[t.uid] = true
	gr.inner = append(gr.inner, t)
	return true
}

// keep gives a virtual tensor memory.
func (gr *graph) keep(t *tensor) {
	if t.virtual {
		gr.inner = append(gr.inner, t)
	}
}

// outside reports a tensor that other operations than these read.
func (gr *graph) outside(t *tensor, ops []*operation) bool {
	return slices.ContainsFunc(gr.uses[t.uid], func(o *operation) bool { return !slices.Contains(ops, o) })
}

// single is a step of one operation.
type single struct{ o *operation }

func (s *single) run(x *exec) error { return s.o.lower.run(x, s.o) }

// exec is one execution of a graph.
type exec struct {
	*nn.Run
	gr    *graph
	pack  *pack
	inner map[int64]int64 // where virtual tensors are, from base
	base  uint64
}

// aligned is the distance of virtual tensors.
const aligned = 256

// between is the memory that virtual tensors need, in the sizes of the graph.
func (gr *graph) between() int64 { return (&exec{gr: gr, pack: &pack{}}).layout() }

// layout places the virtual tensors, and is how much memory they need. Those that no step has both use the same.
func (x *exec) layout() int64 {
	type piece struct {
		at, size int64
		life     life
	}
	x.inner = map[int64]int64{}
	var placed []piece // by where they begin
	total := int64(0)
	for _, t := range x.gr.inner {
		p := piece{size: (x.held(t).Span()*t.elem.Size() + aligned - 1) &^ (aligned - 1), life: x.gr.lives[t.uid]}
		for _, o := range placed {
			if o.life.meets(p.life) && o.at < p.at+p.size {
				p.at = max(p.at, o.at+o.size)
			}
		}
		i, _ := slices.BinarySearchFunc(placed, p.at, func(o piece, at int64) int { return cmp.Compare(o.at, at) })
		placed = slices.Insert(placed, i, p)
		x.inner[t.uid] = p.at
		total = max(total, p.at+p.size)
	}
	return total
}

// sides is a tensor without an address, in the sizes of this execution.
func (x *exec) sides(t *tensor) nn.Tensor {
	o, ok := x.pack.other[t.uid]
	switch {
	case !ok:
		return t.shape()
	case t.turned:
		return nn.Tensor{Type: t.elem, Dim: swapped(o.dim), Stride: swapped(o.stride)}
	}
	return nn.Tensor{Type: t.elem, Dim: o.dim, Stride: o.stride}
}

// held is a tensor as operations see it: packed sequences are without gaps.
func (x *exec) held(t *tensor) nn.Tensor {
	s := x.sides(t)
	if !x.gr.dense[t.uid] {
		return s
	}
	if s.SequenceAxis() == 2 {
		s.Stride = nn.Packed(s.Dim...)
	} else {
		s.Stride = swapped(nn.Packed(swapped(s.Dim)...))
	}
	return s
}

// lying is a tensor where the program has it.
func (x *exec) lying(t *tensor) nn.Tensor {
	s := x.sides(t)
	s.Addr = x.pack.at[t.uid]
	return s
}

// tensor is a tensor of this execution.
func (x *exec) tensor(t *tensor) nn.Tensor {
	s := x.held(t)
	if from, ok := x.inner[t.uid]; ok {
		at := x.base + uint64(from)
		s.Addr = at
	} else {
		s.Addr = x.pack.at[t.uid]
	}
	return s
}
