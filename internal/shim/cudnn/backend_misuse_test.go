package cudnn

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

//go:embed testdata/misuse.txt
var recordedMisuse string

// misuse makes calls in the order of the recording, and compares what they answer.
type misuse struct {
	*opGraph
	want []string
}

// answers compares an answer with the next of the recording.
func (m *misuse) answers(what string, err error) {
	m.t.Helper()
	if len(m.want) == 0 {
		m.t.Fatalf("%s is not recorded", what)
	}
	code := int32(0)
	if err != nil {
		code = Code(err)
	}
	if got := fmt.Sprintf("%d %s", code, what); got != m.want[0] {
		m.t.Errorf("%q, where the hardware's library answers %q (%v)", got, m.want[0], err)
	}
	m.want = m.want[1:]
}

// blank is a descriptor without attributes.
func (m *misuse) blank(k dnn.CudnnBackendDescriptorType_t) backendDesc {
	m.t.Helper()
	d, err := m.th.BackendCreateDescriptor(k)
	m.ok(err)
	return d
}

// with is a descriptor with some attributes; what they are refused with does not matter.
func (m *misuse) with(k dnn.CudnnBackendDescriptorType_t, attrs ...attr) backendDesc {
	m.t.Helper()
	d := m.blank(k)
	for _, a := range attrs {
		_ = m.set(d, a)
	}
	return d
}

func (m *misuse) tensor(id int64, typ dnn.CudnnDataType_t, dim, stride []int64, more ...attr) backendDesc {
	m.t.Helper()
	return m.with(dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR, append([]attr{{dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, id}, {dnn.CUDNN_ATTR_TENSOR_DATA_TYPE, typ},
		{dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64(16)}, {dnn.CUDNN_ATTR_TENSOR_DIMENSIONS, dim}, {dnn.CUDNN_ATTR_TENSOR_STRIDES, stride}}, more...)...)
}

// add is a pointwise operation; those of the tensors that are 0 are not set.
func (m *misuse) add(pw, x, b, y backendDesc) backendDesc {
	m.t.Helper()
	d := m.with(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pw})
	for _, a := range []attr{{dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x}, {dnn.CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b}, {dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}} {
		if a.v != backendDesc(0) {
			m.ok(m.set(d, a))
		}
	}
	return d
}

// raw sets an attribute as C does.
func (m *misuse) raw(d backendDesc, a dnn.CudnnBackendAttributeName_t, typ dnn.CudnnBackendAttributeType_t, count int64, p hostmem.Ptr) error {
	return m.th.BackendSetAttribute(d, a, typ, count, p)
}

func (m *misuse) get(d backendDesc, a dnn.CudnnBackendAttributeName_t, typ dnn.CudnnBackendAttributeType_t, asked int64, p hostmem.Ptr) (int64, error) {
	return m.th.BackendGetAttribute(d, a, typ, asked, p)
}

// TestBackendRecordedMisuse: the codes are those that the library of real hardware gives.
func TestBackendRecordedMisuse(t *testing.T) {
	m := &misuse{opGraph: newOpGraph(t)}
	for line := range strings.Lines(recordedMisuse) {
		if !strings.HasPrefix(line, "#") {
			m.want = append(m.want, strings.TrimSpace(line))
		}
	}
	_, err := m.th.BackendCreateDescriptor(999)
	m.answers("create of an unknown type", err)
	m.answers("destroy of NULL", m.th.BackendDestroyDescriptor(0))
	m.answers("finalize of NULL", m.th.BackendFinalize(0))
	m.answers("set of NULL", m.set(0, attr{dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, int64(1)}))
	var out int64
	_, err = m.get(0, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&out))
	m.answers("get of NULL", err)
	x := m.tensors()
	o, b, y := m.operations(x)
	g := m.graphs(x, o)
	m.plans(x, g)
	m.convolutions(x, y)
	_ = b
	if len(m.want) > 0 {
		t.Errorf("%d answers that were recorded were not asked for", len(m.want))
	}
}

var goodDim, goodStride = []int64{2, 8, 4, 4}, []int64{128, 16, 4, 1}

// tensors misuses tensors, and makes a good one.
func (m *misuse) tensors() backendDesc {
	d := m.blank(dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
	bad, negative, many := []int64{2, 0, 4, 4}, []int64{128, -16, 4, 1}, make([]int64, 20)
	f := float32(1)
	m.answers("set an attribute of another descriptor", m.set(d, attr{dnn.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64(2)}))
	m.answers("set an unknown attribute", m.set(d, attr{99999, int64(2)}))
	m.answers("set with the wrong type", m.raw(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_FLOAT, 1, hostmem.Of(&f)))
	m.answers("set with an unknown type", m.raw(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, 999, 1, hostmem.Of(&f)))
	m.answers("set two of one", m.raw(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_INT64, 2, hostmem.Of(&many[0])))
	m.answers("set none of one", m.raw(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_INT64, 0, hostmem.Of(&many[0])))
	m.answers("set -1 of one", m.raw(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_INT64, -1, hostmem.Of(&many[0])))
	m.answers("set from NULL", m.raw(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_INT64, 1, hostmem.Nil))
	m.answers("set 9 dimensions", m.raw(d, dnn.CUDNN_ATTR_TENSOR_DIMENSIONS, dnn.CUDNN_TYPE_INT64, 9, hostmem.Of(&many[0])))
	m.answers("set 0 dimensions", m.raw(d, dnn.CUDNN_ATTR_TENSOR_DIMENSIONS, dnn.CUDNN_TYPE_INT64, 0, hostmem.Of(&many[0])))
	m.answers("set dimension 0", m.set(d, attr{dnn.CUDNN_ATTR_TENSOR_DIMENSIONS, bad}))
	m.answers("set negative stride", m.set(d, attr{dnn.CUDNN_ATTR_TENSOR_STRIDES, negative}))
	m.answers("set data type 99", m.set(d, attr{dnn.CUDNN_ATTR_TENSOR_DATA_TYPE, dnn.CudnnDataType_t(99)}))
	m.answers("set alignment 3", m.set(d, attr{dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64(3)}))
	m.answers("set alignment 0", m.set(d, attr{dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64(0)}))
	_, err := m.get(d, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&many[0]))
	m.answers("get before finalize", err)
	float := dnn.CudnnDataType_t(dnn.CUDNN_DATA_FLOAT)
	for _, c := range []struct {
		what string
		d    backendDesc
	}{
		{"finalize an empty tensor", m.blank(dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR)},
		{"finalize a tensor of size 0", m.tensor(1, float, bad, goodStride)},
		{"finalize a tensor of negative stride", m.tensor(1, float, goodDim, negative)},
		{"finalize 4 sizes, 3 strides", m.tensor(1, float, goodDim, goodStride[:3])},
		{"finalize alignment 3", m.tensor(1, float, goodDim, goodStride, attr{dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64(3)})},
		{"finalize INT8x4", m.tensor(1, dnn.CUDNN_DATA_INT8x4, goodDim, goodStride)},
	} {
		m.answers(c.what, m.th.BackendFinalize(c.d))
	}
	x := m.tensor(1, float, goodDim, goodStride)
	m.answers("finalize a good tensor", m.th.BackendFinalize(x))
	m.answers("finalize it again", m.th.BackendFinalize(x))
	m.answers("set after finalize", m.set(x, attr{dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, int64(5)}))
	_, err = m.get(x, dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, dnn.CUDNN_TYPE_FLOAT, 1, hostmem.Of(&many[0]))
	m.answers("get the wrong type", err)
	_, err = m.get(x, dnn.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&many[0]))
	m.answers("get of another descriptor", err)
	for _, c := range []struct {
		what    string
		asked   int64
		p       hostmem.Ptr
		counted bool
	}{
		{"get 2 of 4 sizes", 2, hostmem.Of(&many[0]), true}, {"get 8 of 4 sizes", 8, hostmem.Of(&many[0]), true}, {"get sizes into NULL, 0", 0, hostmem.Nil, true},
		{"get sizes into NULL, 4", 4, hostmem.Nil, false}, {"get without a count", 4, hostmem.Of(&many[0]), false}, {"get -1", -1, hostmem.Of(&many[0]), false},
	} {
		n, err := m.get(x, dnn.CUDNN_ATTR_TENSOR_DIMENSIONS, dnn.CUDNN_TYPE_INT64, c.asked, c.p)
		if c.counted {
			c.what += fmt.Sprintf(", %d counted", n)
		}
		m.answers(c.what, err)
	}
	n, err := m.get(x, dnn.CUDNN_ATTR_TENSOR_VECTOR_COUNT, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&many[0]))
	m.answers(fmt.Sprintf("get an attribute that was not set, %d counted", n), err)
	if many[0] != 1 {
		m.t.Errorf("%d elements are a vector where nothing was set", many[0])
	}
	return x
}

// operations misuses pointwise operations, and makes a good one.
func (m *misuse) operations(x backendDesc) (o, b, y backendDesc) {
	pw := m.blank(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR)
	m.answers("pointwise mode 999", m.set(pw, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, dnn.CudnnPointwiseMode_t(999)}))
	m.answers("pointwise without a mode", m.th.BackendFinalize(pw))
	pw = m.with(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, dnn.CUDNN_POINTWISE_ADD}, attr{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, dnn.CUDNN_DATA_FLOAT})
	d := m.blank(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
	m.answers("an operation with a descriptor that is not finalized", m.set(d, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pw}))
	m.answers("finalize pointwise", m.th.BackendFinalize(pw))
	m.answers("an operation with a descriptor of another type", m.set(d, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, x}))
	m.answers("an operation with NULL for a descriptor", m.set(d, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, backendDesc(0)}))
	m.answers("an operation that was never set", m.th.BackendFinalize(m.blank(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)))
	b, y = m.tensor(2, dnn.CUDNN_DATA_FLOAT, []int64{1, 8, 1, 1}, []int64{8, 1, 1, 1}), m.tensor(3, dnn.CUDNN_DATA_FLOAT, goodDim, goodStride)
	odd := m.tensor(4, dnn.CUDNN_DATA_FLOAT, []int64{2, 7, 4, 4}, goodStride)
	for _, t := range []backendDesc{b, y, odd} {
		m.ok(m.th.BackendFinalize(t))
	}
	m.answers("add without b", m.th.BackendFinalize(m.add(pw, x, 0, y)))
	m.answers("add without y", m.th.BackendFinalize(m.add(pw, x, b, 0)))
	m.answers("add of sizes that do not fit", m.th.BackendFinalize(m.add(pw, x, odd, y)))
	m.answers("a graph of nothing", m.th.BackendFinalize(m.blank(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)))
	o = m.add(pw, x, b, y)
	m.answers("a good operation", m.th.BackendFinalize(o))
	return o, b, y
}

// graphs misuses graphs and engines, and makes a good graph.
func (m *misuse) graphs(x, o backendDesc) backendDesc {
	d := m.blank(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
	m.answers("a graph with a tensor for an operation", m.set(d, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, x}))
	m.answers("a graph with 0 operations", m.raw(d, dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, hostmem.Of(&x)))
	m.answers("a graph without a handle", m.th.BackendFinalize(m.with(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, o})))
	handled := attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_HANDLE, m.h}
	m.answers("a graph with the same operation twice", m.th.BackendFinalize(m.with(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, handled, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, []backendDesc{o, o}})))
	g := m.with(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, handled, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, o})
	m.answers("a good graph", m.th.BackendFinalize(g))
	var v int64
	n, err := m.get(g, dnn.CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&v))
	m.answers(fmt.Sprintf("count of engines, %d counted", n), err)
	d = m.with(dnn.CUDNN_BACKEND_ENGINE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_ENGINE_OPERATION_GRAPH, g})
	m.answers("engine index -1", m.set(d, attr{dnn.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, int64(-1)}))
	m.answers("engine index 100000", m.set(d, attr{dnn.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, int64(100000)}))
	m.answers("finalize that engine", m.th.BackendFinalize(d))
	return g
}

// plans misuses heuristics, plans and variant packs.
func (m *misuse) plans(x, g backendDesc) {
	d := m.blank(dnn.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
	m.answers("set a result of heuristics", m.set(d, attr{dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, g}))
	m.ok(m.set(d, attr{dnn.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g}))
	m.answers("heuristics without a mode", m.th.BackendFinalize(d))
	m.answers("heuristic mode 99", m.set(d, attr{dnn.CUDNN_ATTR_ENGINEHEUR_MODE, dnn.CudnnBackendHeurMode_t(99)}))
	m.answers("good heuristics", m.th.BackendFinalize(d)) // a second time
	n, err := m.get(d, dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, hostmem.Nil)
	m.answers(fmt.Sprintf("count of results, %d counted", n), err)
	out := m.blank(dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
	_, err = m.get(d, dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, hostmem.Of(&out))
	m.answers("a result into a descriptor of another type", err)
	out = m.blank(dnn.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
	n, err = m.get(d, dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, hostmem.Of(&out))
	m.answers(fmt.Sprintf("a result, %d counted", n), err)
	plan := m.blank(dnn.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
	m.answers("a plan of nothing", m.th.BackendFinalize(plan))
	_, err = m.get(plan, dnn.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, dnn.CUDNN_TYPE_INT64, 1, hostmem.Of(&n))
	m.answers("the workspace of a plan that is not finalized", err)
	m.answers("a plan's workspace set", m.set(plan, attr{dnn.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, int64(5)}))
	m.ok(m.set(plan, attr{dnn.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, m.h}))
	m.answers("a plan with an engine's configuration", m.set(plan, attr{dnn.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, out}))
	m.answers("finalize the plan", m.th.BackendFinalize(plan))
	pack := m.blank(dnn.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
	m.answers("execute with a pack that is not finalized", m.th.BackendExecute(m.h, plan, pack))
	m.answers("an empty pack", m.th.BackendFinalize(pack))
	m.answers("execute with an empty pack", m.th.BackendExecute(m.h, plan, pack))
	m.answers("execute with NULL for a plan", m.th.BackendExecute(m.h, 0, pack))
	m.answers("execute with NULL for a handle", m.th.BackendExecute(0, plan, pack))
	m.answers("execute with a tensor for a plan", m.th.BackendExecute(m.h, x, pack))
	packed := func(at pointers, ids ...int64) backendDesc {
		return m.with(dnn.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, attr{dnn.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, at}, attr{dnn.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids},
			attr{dnn.CUDNN_ATTR_VARIANT_PACK_WORKSPACE, pointers{0}})
	}
	m.answers("a pack of 3 ids and 2 addresses", m.th.BackendFinalize(packed(pointers{0, 0}, 1, 2, 3)))
	m.answers("a pack with an id twice", m.th.BackendFinalize(packed(pointers{0, 0, 0}, 1, 1, 3)))
	pack = packed(pointers{0, 0, 0}, 1, 2, 3)
	m.ok(m.th.BackendFinalize(pack))
	m.answers("execute with NULL addresses", m.th.BackendExecute(m.h, plan, pack))
}

// convolutions misuses convolutions.
func (m *misuse) convolutions(x, y backendDesc) {
	conv := m.with(dnn.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, attr{dnn.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64(2)}, attr{dnn.CUDNN_ATTR_CONVOLUTION_COMP_TYPE, dnn.CUDNN_DATA_FLOAT},
		attr{dnn.CUDNN_ATTR_CONVOLUTION_CONV_MODE, dnn.CUDNN_CROSS_CORRELATION})
	m.answers("a convolution without strides", m.th.BackendFinalize(conv))
	ones, zeros := []int64{1, 1}, []int64{0, 0}
	for _, a := range []attr{{dnn.CUDNN_ATTR_CONVOLUTION_DILATIONS, ones}, {dnn.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, zeros}, {dnn.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, zeros},
		{dnn.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, ones[:1]}} {
		m.ok(m.set(conv, a))
	}
	m.answers("a convolution with one stride of two", m.th.BackendFinalize(conv))
	m.ok(m.set(conv, attr{dnn.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, zeros}))
	m.answers("a convolution with stride 0", m.th.BackendFinalize(conv))
	m.ok(m.set(conv, attr{dnn.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, ones}))
	m.answers("a good convolution", m.th.BackendFinalize(conv))
	w := m.tensor(7, dnn.CUDNN_DATA_FLOAT, []int64{8, 8, 3, 3}, nn.Packed(8, 8, 3, 3))
	m.ok(m.th.BackendFinalize(w))
	o := m.with(dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x},
		attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y})
	m.answers("a convolution without alpha", m.th.BackendFinalize(o))
	m.ok(m.set(o, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0}))
	m.answers("a convolution whose result has other sizes", m.th.BackendFinalize(o))
	m.answers("initialize", m.th.BackendInitialize(o))
}

// TestBackendLateMisuse: what is wrong with descriptors that others refer to is said when those are finalized, what is wrong with sizes
// when a graph is to run. None of this is recorded.
func TestBackendLateMisuse(t *testing.T) {
	m := &misuse{opGraph: newOpGraph(t)}
	x, y := m.tensor(1, dnn.CUDNN_DATA_FLOAT, goodDim, goodStride), m.tensor(2, dnn.CUDNN_DATA_FLOAT, goodDim, goodStride)
	odd := m.tensor(3, dnn.CUDNN_DATA_FLOAT, []int64{2, 7, 4, 4}, goodStride)
	pw := m.with(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, dnn.CUDNN_POINTWISE_ADD}, attr{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, dnn.CUDNN_DATA_FLOAT})
	for _, d := range []backendDesc{x, y, odd, pw} {
		m.ok(m.th.BackendFinalize(d))
	}
	o := m.add(pw, x, odd, y)
	m.ok(m.th.BackendFinalize(o))
	g := m.with(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, o})
	m.ok(m.th.BackendFinalize(g))
	heuristic := m.with(dnn.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, attr{dnn.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g}, attr{dnn.CUDNN_ATTR_ENGINEHEUR_MODE, dnn.CUDNN_HEUR_MODE_A})
	m.ok(m.th.BackendFinalize(heuristic))
	if n, err := m.get(heuristic, dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, hostmem.Nil); n != 0 || err != nil {
		t.Errorf("%d engines for sizes that do not fit, %v", n, err)
	}
	engine := m.with(dnn.CUDNN_BACKEND_ENGINE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_ENGINE_OPERATION_GRAPH, g}, attr{dnn.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, int64(0)})
	for _, c := range []struct {
		what string
		d    backendDesc
		want dnn.CudnnStatus_t
	}{
		{"sizes that do not fit", engine, dnn.CUDNN_STATUS_NOT_SUPPORTED_SHAPE},
		{"a descriptor that is not finalized", m.add(pw, m.blank(dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR), x, y), dnn.CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED},
		{"a descriptor of another type", m.add(pw, pw, x, y), dnn.CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE},
		{"a pointwise operation without a mode", m.add(0, x, odd, y), dnn.CUDNN_STATUS_BAD_PARAM},
	} {
		if err := m.th.BackendFinalize(c.d); err == nil || Code(err) != int32(c.want) {
			t.Errorf("%s: %v, not %d", c.what, err, c.want)
		}
	}
	// What becomes of a descriptor changes nothing for those that referred to it.
	m.ok(m.th.BackendInitialize(x))
	m.ok(m.th.BackendInitialize(pw))
	again := m.with(dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, o})
	m.ok(m.th.BackendFinalize(again))
}
