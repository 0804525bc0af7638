package cudnn

import (
	"math"
	"math/rand/v2"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/graph"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/dnn"
	"kudzu/internal/spec/rt"
)

// opGraph is a graph of the backend API and the memory of its tensors.
type opGraph struct {
	t    *testing.T
	th   *Thread
	h    Handle
	rng  *rand.Rand
	ids  int64
	ops  []backendDesc
	ptrs map[int64]uint64
	mem  map[int64][]byte
	of   map[int64]nn.Tensor
}

func newOpGraph(t *testing.T) *opGraph {
	th, h := open(t)
	return &opGraph{t: t, th: th, h: h, rng: rand.New(rand.NewPCG(3, 9)), ptrs: map[int64]uint64{}, mem: map[int64][]byte{}, of: map[int64]nn.Tensor{}}
}

func (n *opGraph) ok(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// attr is an attribute to set: its type follows from the Go type of the value, or is said.
type attr struct {
	name dnn.CudnnBackendAttributeName_t
	v    any
}

// set sets an attribute.
func (n *opGraph) set(d backendDesc, a attr) error {
	one := func(typ dnn.CudnnBackendAttributeType_t, count int, p hostmem.Ptr) error {
		return n.th.BackendSetAttribute(d, a.name, typ, int64(count), p)
	}
	switch v := a.v.(type) {
	case backendDesc:
		return one(dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, hostmem.Of(&v))
	case []backendDesc:
		return one(dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, len(v), hostmem.Of(&v[0]))
	case dnn.CudnnBackendTensorReordering_t:
		return one(dnn.CUDNN_TYPE_TENSOR_REORDERING_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnMoeGroupedMatmulMode_t:
		return one(dnn.CUDNN_TYPE_MOE_GROUPED_MATMUL_MODE, 1, hostmem.Of(&v))
	case int32:
		return one(dnn.CUDNN_TYPE_INT32, 1, hostmem.Of(&v))
	case []int32:
		return one(dnn.CUDNN_TYPE_INT32, len(v), hostmem.Of(&v[0]))
	case int64:
		return one(dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&v))
	case []int64:
		return one(dnn.CUDNN_TYPE_INT64, len(v), hostmem.Of(&v[0]))
	case float64:
		return one(dnn.CUDNN_TYPE_DOUBLE, 1, hostmem.Of(&v))
	case bool:
		return one(dnn.CUDNN_TYPE_BOOLEAN, 1, hostmem.Of(&v))
	case []byte:
		return one(dnn.CUDNN_TYPE_CHAR, len(v), hostmem.Of(&v[0]))
	case Handle:
		return one(dnn.CUDNN_TYPE_HANDLE, 1, hostmem.Of(&v))
	case dnn.CudnnDataType_t:
		return one(dnn.CUDNN_TYPE_DATA_TYPE, 1, hostmem.Of(&v))
	case dnn.CudnnPointwiseMode_t:
		return one(dnn.CUDNN_TYPE_POINTWISE_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnReduceTensorOp_t:
		return one(dnn.CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, hostmem.Of(&v))
	case dnn.CudnnBackendNormMode_t:
		return one(dnn.CUDNN_TYPE_NORM_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnBackendNormFwdPhase_t:
		return one(dnn.CUDNN_TYPE_NORM_FWD_PHASE, 1, hostmem.Of(&v))
	case dnn.CudnnConvolutionMode_t:
		return one(dnn.CUDNN_TYPE_CONVOLUTION_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnBackendHeurMode_t:
		return one(dnn.CUDNN_TYPE_HEUR_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnResampleMode_t:
		return one(dnn.CUDNN_TYPE_RESAMPLE_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnGenStatsMode_t:
		return one(dnn.CUDNN_TYPE_GENSTATS_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnBnFinalizeStatsMode_t:
		return one(dnn.CUDNN_TYPE_BN_FINALIZE_STATS_MODE, 1, hostmem.Of(&v))
	case dnn.CudnnRngDistribution_t:
		return one(dnn.CUDNN_TYPE_RNG_DISTRIBUTION, 1, hostmem.Of(&v))
	case dnn.CudnnPaddingMode_t:
		return one(dnn.CUDNN_TYPE_PADDING_MODE, 1, hostmem.Of(&v))
	case fractions:
		return one(dnn.CUDNN_TYPE_FRACTION, len(v)/2, hostmem.Of(&v[0]))
	case pointers:
		return one(dnn.CUDNN_TYPE_VOID_PTR, len(v), hostmem.Of(&v[0]))
	}
	n.t.Fatalf("an attribute of type %T", a.v)
	return nil
}

type pointers []uint64

// fractions are numerators and denominators.
type fractions []int64

// try makes a descriptor that may be refused, by an attribute or as a whole.
func (n *opGraph) try(k dnn.CudnnBackendDescriptorType_t, attrs ...attr) (backendDesc, error) {
	n.t.Helper()
	d, err := n.th.BackendCreateDescriptor(k)
	n.ok(err)
	n.t.Cleanup(func() { n.ok(n.th.BackendDestroyDescriptor(d)) })
	for _, a := range attrs {
		if err := n.set(d, a); err != nil {
			return d, err
		}
	}
	return d, n.th.BackendFinalize(d)
}

// make makes a descriptor and finalizes it.
func (n *opGraph) make(k dnn.CudnnBackendDescriptorType_t, attrs ...attr) backendDesc {
	n.t.Helper()
	d, err := n.th.BackendCreateDescriptor(k)
	n.ok(err)
	n.t.Cleanup(func() { n.ok(n.th.BackendDestroyDescriptor(d)) })
	for _, a := range attrs {
		if err := n.set(d, a); err != nil {
			n.t.Fatalf("attribute %d: %v", a.name, err)
		}
	}
	if err := n.th.BackendFinalize(d); err != nil {
		n.t.Fatalf("descriptor of type %d: %v", k, err)
	}
	return d
}

var dataTypes = map[nn.Elem]dnn.CudnnDataType_t{
	nn.F32: dnn.CUDNN_DATA_FLOAT, nn.F64: dnn.CUDNN_DATA_DOUBLE, nn.F16: dnn.CUDNN_DATA_HALF, nn.BF16: dnn.CUDNN_DATA_BFLOAT16,
	nn.E4M3: dnn.CUDNN_DATA_FP8_E4M3, nn.E5M2: dnn.CUDNN_DATA_FP8_E5M2, nn.E2M1: dnn.CUDNN_DATA_FP4_E2M1, nn.E8M0: dnn.CUDNN_DATA_FP8_E8M0, nn.S8: dnn.CUDNN_DATA_INT8,
	nn.S32: dnn.CUDNN_DATA_INT32, nn.S64: dnn.CUDNN_DATA_INT64, nn.Bool: dnn.CUDNN_DATA_BOOLEAN,
}

// describe makes a tensor descriptor.
func (n *opGraph) describe(e nn.Elem, dim, stride []int64, more ...attr) (backendDesc, int64) {
	n.t.Helper()
	n.ids++
	return n.make(dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR, append([]attr{{dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, n.ids}, {dnn.CUDNN_ATTR_TENSOR_DATA_TYPE, dataTypes[e]},
		{dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64(16)}, {dnn.CUDNN_ATTR_TENSOR_DIMENSIONS, dim}, {dnn.CUDNN_ATTR_TENSOR_STRIDES, stride}}, more...)...), n.ids
}

// virtual is a tensor that is not in memory.
func (n *opGraph) virtual(e nn.Elem, dim ...int64) backendDesc {
	n.t.Helper()
	d, _ := n.describe(e, dim, nn.Packed(dim...), attr{dnn.CUDNN_ATTR_TENSOR_IS_VIRTUAL, true})
	return d
}

// value is a tensor of one element that the program has.
func (n *opGraph) value(v float32) backendDesc {
	n.t.Helper()
	d, id := n.describe(nn.F32, []int64{1, 1, 1, 1}, []int64{1, 1, 1, 1}, attr{dnn.CUDNN_ATTR_TENSOR_IS_BY_VALUE, true})
	n.ptrs[id] = uint64(hostmem.Of(&v))
	return d
}

// input is a tensor in memory with numbers.
func (n *opGraph) input(e nn.Elem, stride []int64, dim ...int64) (backendDesc, []float64) {
	n.t.Helper()
	d, id := n.describe(e, dim, stride)
	t := nn.Tensor{Type: e, Dim: dim, Stride: stride}
	mem := make([]byte, t.Span()*e.Size())
	v := make([]float64, t.Count())
	for i := range v {
		x := n.rng.NormFloat64()
		if !e.Float() {
			x *= 4
		}
		at := place(t, int64(i)) * e.Size()
		copy(mem[at:], e.Bytes(x))
		v[i] = e.Value(mem[at:])
	}
	at, err := n.th.driver().MemAlloc(uint64(len(mem)))
	n.ok(err)
	n.t.Cleanup(func() { _ = n.th.driver().MemFree(at) })
	n.ok(n.th.driver().MemcpyHtoD(at, hostmem.Of(&mem[0]), uint64(len(mem))))
	n.ptrs[id], n.mem[id], n.of[id] = uint64(at), mem, t
	return d, v
}

// fill gives the tensor that input made last other numbers, of type f32 and without gaps.
func (n *opGraph) fill(v, with []float64) { n.t.Helper(); n.fillAs(nn.F32, v, with) }

func (n *opGraph) fillAs(e nn.Elem, v, with []float64) {
	n.t.Helper()
	for i, f := range with {
		at := n.mem[n.ids][e.Size()*int64(i):]
		copy(at, e.Bytes(f))
		v[i] = e.Value(at)
	}
	n.ok(n.th.driver().MemcpyHtoD(driver.DevPtr(n.ptrs[n.ids]), hostmem.Of(&n.mem[n.ids][0]), uint64(len(n.mem[n.ids]))))
}

// output is a tensor in memory; the function reads it.
func (n *opGraph) output(e nn.Elem, stride []int64, dim ...int64) (backendDesc, func() []float64) {
	n.t.Helper()
	d, _ := n.input(e, stride, dim...)
	id := n.ids
	return d, func() []float64 { return n.read(e, id) }
}

// read are the numbers of a tensor now.
func (n *opGraph) read(e nn.Elem, id int64) []float64 {
	n.t.Helper()
	n.ok(n.th.driver().CtxSynchronize())
	n.ok(n.th.driver().MemcpyDtoH(hostmem.Of(&n.mem[id][0]), driver.DevPtr(n.ptrs[id]), uint64(len(n.mem[id]))))
	v := make([]float64, n.of[id].Count())
	for i := range v {
		v[i] = e.Value(n.mem[id][place(n.of[id], int64(i))*e.Size():])
	}
	return v
}

// place is where element i of a tensor lies, counted as if there were no gaps.
func place(t nn.Tensor, i int64) int64 {
	at := int64(0)
	for d := len(t.Dim) - 1; d >= 0; d-- {
		at += i % t.Dim[d] * t.Stride[d]
		i /= t.Dim[d]
	}
	return at
}

// op adds an operation.
func (n *opGraph) op(k dnn.CudnnBackendDescriptorType_t, attrs ...attr) {
	n.t.Helper()
	n.ops = append(n.ops, n.make(k, attrs...))
}

// point adds a pointwise operation.
func (n *opGraph) point(mode dnn.CudnnPointwiseMode_t, y backendDesc, args ...backendDesc) {
	n.t.Helper()
	n.ops = append(n.ops, n.pointOf(mode, y, args...))
}

// indexOf is an operation that gives the index along an axis of x.
func (n *opGraph) indexOf(axis int64, y, x backendDesc) backendDesc {
	n.t.Helper()
	return n.pointWith(n.make(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, dnn.CUDNN_POINTWISE_GEN_INDEX},
		attr{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, dnn.CUDNN_DATA_INT32}, attr{dnn.CUDNN_ATTR_POINTWISE_AXIS, axis}), y, x)
}

// pointOf is a pointwise operation.
func (n *opGraph) pointOf(mode dnn.CudnnPointwiseMode_t, y backendDesc, args ...backendDesc) backendDesc {
	n.t.Helper()
	return n.pointWith(n.make(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, mode}, attr{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, dnn.CUDNN_DATA_FLOAT}), y, args...)
}

func (n *opGraph) pointWith(pw, y backendDesc, args ...backendDesc) backendDesc {
	n.t.Helper()
	list := []attr{{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pw}, {dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}}
	for i, name := range []dnn.CudnnBackendAttributeName_t{dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, dnn.CUDNN_ATTR_OPERATION_POINTWISE_BDESC, dnn.CUDNN_ATTR_OPERATION_POINTWISE_TDESC} {
		if i < len(args) {
			list = append(list, attr{name, args[i]})
		}
	}
	return n.make(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, list...)
}

// uid is the number of a tensor.
func (n *opGraph) uid(d backendDesc) (id int64) {
	n.t.Helper()
	_, err := n.th.BackendGetAttribute(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&id))
	n.ok(err)
	return id
}

// plan makes a plan by heuristics.
func (n *opGraph) plan() backendDesc {
	n.t.Helper()
	g := n.make(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_HANDLE, n.h}, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, n.ops})
	heur := n.make(dnn.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, attr{dnn.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g}, attr{dnn.CUDNN_ATTR_ENGINEHEUR_MODE, dnn.CUDNN_HEUR_MODE_A})
	count, err := n.th.BackendGetAttribute(heur, dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, hostmem.Nil)
	n.ok(err)
	if count != 1 {
		n.t.Fatalf("%d configurations", count)
	}
	cfg, err := n.th.BackendCreateDescriptor(dnn.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
	n.ok(err)
	_, err = n.th.BackendGetAttribute(heur, dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, count, hostmem.Of(&cfg))
	n.ok(err)
	return n.make(dnn.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, attr{dnn.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, n.h}, attr{dnn.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, cfg})
}

// between is the memory that a plan takes from its handle.
func (n *opGraph) between(plan backendDesc) int64 {
	n.t.Helper()
	p, err := lookBackend(plan)
	n.ok(err)
	return graph.Between(p)
}

// pack binds the tensors' memory. A plan asks for no workspace, so it gets none.
func (n *opGraph) pack(plan backendDesc, more ...attr) backendDesc {
	n.t.Helper()
	need := int64(-1)
	_, err := n.th.BackendGetAttribute(plan, dnn.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&need))
	n.ok(err)
	if need != 0 {
		n.t.Fatalf("a plan asks for %d bytes", need)
	}
	var ids []int64
	var at pointers
	for id, p := range n.ptrs {
		ids, at = append(ids, id), append(at, p)
	}
	return n.make(dnn.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, append(more, attr{dnn.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids}, attr{dnn.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, at},
		attr{dnn.CUDNN_ATTR_VARIANT_PACK_WORKSPACE, pointers{0}})...)
}

// run executes the graph.
func (n *opGraph) run() {
	n.t.Helper()
	plan := n.plan()
	n.ok(n.th.BackendExecute(n.h, plan, n.pack(plan)))
}

// near compares numbers.
func near(t *testing.T, what string, got []float64, bound float64, want func(i int) float64) {
	t.Helper()
	for i, g := range got {
		if w := want(i); !(math.Abs(g-w) <= bound*math.Max(1, math.Abs(w))) {
			t.Fatalf("%s: element %d is %v, not %v", what, i, g, w)
		}
	}
}

// TestBackendChain is a chain of pointwise operations with a bias, by value and virtual tensors in between, and a reduction with another
// after it.
func TestBackendChain(t *testing.T) {
	n := newOpGraph(t)
	dim := []int64{2, 12, 5, 7}
	x, xs := n.input(nn.F16, nn.ChannelsLast(dim...), dim...)
	bias, bs := n.input(nn.F32, []int64{12, 1, 1, 1}, 1, 12, 1, 1)
	y, ys := n.output(nn.F32, nn.Packed(dim...), dim...)
	sum, sums := n.output(nn.F32, []int64{12, 1, 1, 1}, 1, 12, 1, 1)
	a, b, c, d := n.virtual(nn.F32, dim...), n.virtual(nn.F32, dim...), n.virtual(nn.F32, dim...), n.virtual(nn.F32, 1, 12, 1, 1)
	n.point(dnn.CUDNN_POINTWISE_MUL, a, x, n.value(1.5))
	n.point(dnn.CUDNN_POINTWISE_ADD, b, a, bias)
	n.point(dnn.CUDNN_POINTWISE_RELU_FWD, y, b)
	n.point(dnn.CUDNN_POINTWISE_EXP, c, x)
	red := n.make(dnn.CUDNN_BACKEND_REDUCTION_DESCRIPTOR, attr{dnn.CUDNN_ATTR_REDUCTION_OPERATOR, dnn.CUDNN_REDUCE_TENSOR_AVG}, attr{dnn.CUDNN_ATTR_REDUCTION_COMP_TYPE, dnn.CUDNN_DATA_FLOAT})
	n.op(dnn.CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_REDUCTION_XDESC, c}, attr{dnn.CUDNN_ATTR_OPERATION_REDUCTION_YDESC, d}, attr{dnn.CUDNN_ATTR_OPERATION_REDUCTION_DESC, red})
	n.point(dnn.CUDNN_POINTWISE_SUB, sum, d, bias)
	n.run()
	near(t, "y", ys(), 1e-5, func(i int) float64 { return math.Max(0, xs[i]*1.5+bs[i/35%12]) })
	near(t, "sum", sums(), 1e-5, func(c int) float64 {
		s := 0.0
		for i, v := range xs {
			if i/35%12 == c {
				s += math.Exp(v)
			}
		}
		return s/70 - bs[c]
	})
}

// TestBackendJSON makes a plan of the text of another, and runs it by a graph of the driver, then with other memory.
func TestBackendJSON(t *testing.T) {
	n := newOpGraph(t)
	x, xs := n.input(nn.F32, []int64{1}, 100)
	y, ys := n.output(nn.F32, []int64{1}, 100)
	pw := n.make(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, dnn.CUDNN_POINTWISE_ELU_FWD}, attr{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, dnn.CUDNN_DATA_FLOAT},
		attr{dnn.CUDNN_ATTR_POINTWISE_ELU_ALPHA, 0.5})
	n.op(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pw}, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
		attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y})
	plan := n.plan()
	size, err := n.th.BackendGetAttribute(plan, dnn.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, dnn.CUDNN_TYPE_CHAR, 0, hostmem.Nil)
	n.ok(err)
	text := make([]byte, size)
	_, err = n.th.BackendGetAttribute(plan, dnn.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, dnn.CUDNN_TYPE_CHAR, size, hostmem.Of(&text[0]))
	n.ok(err)
	again := n.make(dnn.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, attr{dnn.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, n.h}, attr{dnn.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, text})
	cfg, err := n.th.BackendCreateDescriptor(dnn.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
	n.ok(err)
	_, err = n.th.BackendGetAttribute(again, dnn.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, hostmem.Of(&cfg))
	n.ok(err)
	engine, err := n.th.BackendCreateDescriptor(dnn.CUDNN_BACKEND_ENGINE_DESCRIPTOR)
	n.ok(err)
	_, err = n.th.BackendGetAttribute(cfg, dnn.CUDNN_ATTR_ENGINECFG_ENGINE, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, hostmem.Of(&engine))
	n.ok(err)
	d := n.th.driver()
	g, err := d.GraphCreate(0)
	n.ok(err)
	want := func(i int) float64 {
		if xs[i] < 0 {
			return 0.5 * math.Expm1(xs[i])
		}
		return xs[i]
	}
	n.ok(n.th.BackendPopulateCudaGraph(n.h, again, n.pack(again), rt.CudaGraph_t(g)))
	launch := func() {
		t.Helper()
		e, err := d.GraphInstantiateWithFlags(g, 0)
		n.ok(err)
		n.ok(d.GraphLaunch(e, 0))
		n.ok(d.GraphExecDestroy(e))
	}
	launch()
	near(t, "by a graph", ys(), 1e-6, want)
	x2, xs2 := n.input(nn.F32, []int64{1}, 100)
	_ = x2
	n.ptrs[1], xs = n.ptrs[n.ids], xs2
	n.ok(n.th.BackendUpdateCudaGraph(n.h, again, n.pack(again), rt.CudaGraph_t(g)))
	launch()
	near(t, "by a graph of other memory", ys(), 1e-6, want)
	n.ok(d.GraphDestroy(cu.CUgraph(g)))
}

// TestBackendNotes: kernel caches and properties of devices have a text that makes them again, and no other does.
func TestBackendNotes(t *testing.T) {
	n := newOpGraph(t)
	for k, name := range map[dnn.CudnnBackendDescriptorType_t]dnn.CudnnBackendAttributeName_t{
		dnn.CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR: dnn.CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, dnn.CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR: dnn.CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
	} {
		d := n.make(k)
		size, err := n.th.BackendGetAttribute(d, name, dnn.CUDNN_TYPE_CHAR, 0, hostmem.Nil)
		n.ok(err)
		text := make([]byte, size)
		_, err = n.th.BackendGetAttribute(d, name, dnn.CUDNN_TYPE_CHAR, size, hostmem.Of(&text[0]))
		n.ok(err)
		n.make(k, attr{name, text})
		other, err := n.th.BackendCreateDescriptor(k)
		n.ok(err)
		n.ok(n.set(other, attr{name, []byte("{}")}))
		if err := n.th.BackendFinalize(other); err == nil || Code(err) != int32(dnn.CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH) {
			t.Errorf("another text for a descriptor of type %d: %v", k, err)
		}
	}
}
