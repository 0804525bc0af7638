package graph

import (
	"encoding/json"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// build makes of the attributes what the descriptor stands for.
func (d *Descriptor) build(g given) (interface{}, error) {
	if _, ok := operations()[d.kind]; ok {
		return buildOperation(d.kind, g)
	}
	switch d.kind {
	case Tensor:
		return buildTensor(g)
	case Convolution:
		return nil, checkConvolution(g)
	case Resample:
		return nil, checkResample(g)
	case Pointwise:
		return nil, checkType(g, dnn.CUDNN_ATTR_POINTWISE_MATH_PREC)
	case Matmul:
		return nil, checkType(g, dnn.CUDNN_ATTR_MATMUL_COMP_TYPE)
	case Reduction:
		return nil, checkType(g, dnn.CUDNN_ATTR_REDUCTION_COMP_TYPE)
	case OperationGraph:
		return buildGraph(g)
	case Engine:
		return nil, checkEngine(g)
	case EngineHeur:
		return nil, checkHeuristic(g)
	case ExecutionPlan:
		return buildPlan(g)
	case VariantPack:
		return buildPack(g)
	case KernelCache, DeviceProp:
		return nil, checkNote(d.kind, g)
	}
	return nil, nil
}

// checkType refuses what is computed with by nothing.
func checkType(g given, a Attr) error {
	switch t := dnn.CudnnDataType_t(g.whole(a, 0)); t {
	case dnn.CUDNN_DATA_FLOAT, dnn.CUDNN_DATA_DOUBLE, dnn.CUDNN_DATA_HALF, dnn.CUDNN_DATA_BFLOAT16, dnn.CUDNN_DATA_INT32, dnn.CUDNN_DATA_INT64,
		dnn.CUDNN_DATA_BOOLEAN, dnn.CUDNN_DATA_FAST_FLOAT_FOR_FP8, dnn.CUDNN_DATA_INT8, dnn.CUDNN_DATA_UINT8:
		return nil
	default:
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "computing with data type %d", t)
	}
}

func checkConvolution(g given) error {
	n := g.whole(dnn.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0)
	for _, a := range []Attr{dnn.CUDNN_ATTR_CONVOLUTION_DILATIONS, dnn.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, dnn.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, dnn.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS} {
		list := g[a].wholes
		if int64(len(list)) != n {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "attribute %d has %d elements for %d dimensions", a, len(list), n)
		}
		least := int64(1)
		if a == dnn.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS || a == dnn.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS {
			least = 0
		}
		if slices.ContainsFunc(list, func(v int64) bool { return v < least }) {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "attribute %d is %v", a, list)
		}
	}
	return checkType(g, dnn.CUDNN_ATTR_CONVOLUTION_COMP_TYPE)
}

func checkResample(g given) error {
	n := g.whole(dnn.CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, 0)
	for _, a := range []Attr{dnn.CUDNN_ATTR_RESAMPLE_STRIDES, dnn.CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, dnn.CUDNN_ATTR_RESAMPLE_POST_PADDINGS, dnn.CUDNN_ATTR_RESAMPLE_WINDOW_DIMS} {
		if v := g[a]; int64(len(v.wholes)) != n && int64(len(v.wholes)) != 2*n {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "attribute %d has %d elements for %d dimensions", a, len(v.wholes), n)
		}
	}
	return checkType(g, dnn.CUDNN_ATTR_RESAMPLE_COMP_TYPE)
}

// engines is how many there are for a graph.
const engines = 1

func checkEngine(g given) error {
	if i := g.whole(dnn.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0); i < 0 || i >= engines {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "engine %d of %d", i, engines)
	}
	return g.ref(dnn.CUDNN_ATTR_ENGINE_OPERATION_GRAPH).made.(*graph).runs()
}

func checkHeuristic(g given) error {
	if m := dnn.CudnnBackendHeurMode_t(g.whole(dnn.CUDNN_ATTR_ENGINEHEUR_MODE, 0)); m < dnn.CUDNN_HEUR_MODE_INSTANT || m > dnn.CUDNN_HEUR_MODE_A {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "heuristic mode %d", m)
	}
	return nil
}

// computed are attributes that nobody set: those of the library.
func (d *Descriptor) computed(a Attr) (value, bool) {
	number := func(n ...int64) (value, bool) { return value{wholes: append([]int64{}, n...)}, true }
	switch a {
	case dnn.CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
		return number(engines)
	case dnn.CUDNN_ATTR_OPERATIONGRAPH_IS_SAME_TOPOLOGY, dnn.CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED:
		return number(0)
	case dnn.CUDNN_ATTR_ENGINE_KNOB_INFO, dnn.CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, dnn.CUDNN_ATTR_ENGINE_LAYOUT_INFO, dnn.CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		dnn.CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO, dnn.CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS, dnn.CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS:
		return number()
	case dnn.CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
		return number(int64(dnn.CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION), int64(dnn.CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API))
	case dnn.CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, dnn.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: // what lies between operations is the handle's
		return number(0)
	case dnn.CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, dnn.CUDNN_ATTR_KERNEL_CACHE_REVISION, dnn.CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT:
		return number(0)
	case dnn.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG: // of a plan that was made of text
		gr := d.made.(*plan).graph
		return value{refs: []*Descriptor{configOf(&Descriptor{kind: OperationGraph, final: true, made: gr, values: map[Attr]value{
			dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS: {typ: dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, refs: gr.given},
		}})}}, true
	case dnn.CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, dnn.CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION:
		return d.noted()
	case dnn.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
		return value{chars: d.made.(*plan).json()}, true
	case dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS:
		of := d.values[dnn.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH].refs[0]
		if _, asked := d.values[dnn.CUDNN_ATTR_ENGINEHEUR_MODE]; !asked || of.made.(*graph).runs() != nil {
			return value{refs: []*Descriptor{}}, true
		}
		return value{refs: []*Descriptor{configOf(of)}}, true
	}
	return value{}, false
}

// configOf is the one configuration of a graph's engine, which has no knobs.
func configOf(g *Descriptor) *Descriptor {
	engine := &Descriptor{kind: Engine, final: true, values: map[Attr]value{
		dnn.CUDNN_ATTR_ENGINE_OPERATION_GRAPH: {typ: dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, refs: []*Descriptor{g}},
		dnn.CUDNN_ATTR_ENGINE_GLOBAL_INDEX:    {typ: dnn.CUDNN_TYPE_INT64, wholes: []int64{0}},
	}}
	return &Descriptor{kind: EngineCfg, final: true, values: map[Attr]value{
		dnn.CUDNN_ATTR_ENGINECFG_ENGINE: {typ: dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, refs: []*Descriptor{engine}},
	}}
}

// plan is a graph that runs.
type plan struct{ graph *graph }

func buildPlan(g given) (*plan, error) {
	if v, ok := g[dnn.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION]; ok {
		return planOf(v.chars)
	}
	cfg := g.ref(dnn.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
	if cfg == nil {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "attribute %d is not set", dnn.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
	}
	engine := cfg.values[dnn.CUDNN_ATTR_ENGINECFG_ENGINE].refs[0]
	return planned(engine.values[dnn.CUDNN_ATTR_ENGINE_OPERATION_GRAPH].refs[0].made.(*graph))
}

// planned is a plan of a graph that is whole.
func planned(gr *graph) (*plan, error) {
	if err := gr.runs(); err != nil {
		return nil, err
	}
	return &plan{gr}, nil
}

// saved is a plan as text: the operations, and every attribute that was set.
type saved struct {
	Plan       string
	Operations []savedDescriptor
}

type savedDescriptor struct {
	Kind   Kind
	Values map[Attr]savedValue
}

type savedValue struct {
	Type   dnn.CudnnBackendAttributeType_t
	Wholes []int64           `json:",omitempty"`
	Floats []float64         `json:",omitempty"`
	Chars  []byte            `json:",omitempty"`
	Refs   []savedDescriptor `json:",omitempty"`
}

const savedName = "kudzu cuDNN plan 1"

// json writes the plan down.
func (p *plan) json() []byte {
	s := saved{Plan: savedName}
	for _, op := range p.graph.given {
		s.Operations = append(s.Operations, save(op))
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil // an infinite number, which text does not have
	}
	return text
}

func save(d *Descriptor) savedDescriptor {
	s := savedDescriptor{Kind: d.kind, Values: map[Attr]savedValue{}}
	for a, v := range d.values {
		w := savedValue{Type: v.typ, Wholes: v.wholes, Floats: v.floats, Chars: v.chars}
		for _, r := range v.refs {
			w.Refs = append(w.Refs, save(r))
		}
		s.Values[a] = w
	}
	return s
}

// planOf reads a plan that json wrote.
func planOf(text []byte) (*plan, error) {
	var s saved
	if err := json.Unmarshal(text, &s); err != nil || s.Plan != savedName {
		return nil, fail(dnn.CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH, "text that is no plan of this library")
	}
	var ops []*Descriptor
	for _, o := range s.Operations {
		d, err := restore(o)
		if err != nil {
			return nil, err
		}
		ops = append(ops, d)
	}
	gr, err := newGraph(ops)
	if err != nil {
		return nil, err
	}
	return planned(gr)
}

func restore(s savedDescriptor) (*Descriptor, error) {
	d, err := New(s.Kind)
	if err != nil {
		return nil, err
	}
	for a, w := range s.Values {
		v := value{typ: w.Type, wholes: w.Wholes, floats: w.Floats, chars: w.Chars}
		for _, r := range w.Refs {
			ref, err := restore(r)
			if err != nil {
				return nil, err
			}
			v.refs = append(v.refs, ref)
		}
		if err := d.fits(a, v); err != nil {
			return nil, err
		}
		d.values[a] = v
	}
	return d, d.Finalize()
}

// fits reports whether a value could have been set.
func (d *Descriptor) fits(a Attr, v value) error {
	n, _, _ := v.as(v.typ, 0)
	if err := d.CheckSet(a, v.typ, n); err != nil {
		return err
	}
	of := find(d.kind, a).form.of
	for _, ref := range v.refs {
		if err := usable(ref, of); err != nil {
			return err
		}
	}
	held := map[dnn.CudnnBackendAttributeType_t]int{dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR: len(v.refs), dnn.CUDNN_TYPE_FLOAT: len(v.floats), dnn.CUDNN_TYPE_DOUBLE: len(v.floats), dnn.CUDNN_TYPE_CHAR: len(v.chars)}
	if m, ok := held[v.typ]; ok && int64(m) != n || !ok && v.typ != dnn.CUDNN_TYPE_FRACTION && int64(len(v.wholes)) != n {
		return fail(dnn.CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH, "attribute %d", a)
	}
	return nil
}

// pack are the addresses of a graph's tensors.
type pack struct {
	at    map[int64]uint64 // by unique id
	other map[int64]sides  // of tensors whose sizes are not those of the graph
}

type sides struct{ dim, stride []int64 }

func buildPack(g given) (*pack, error) {
	ids, at := g[dnn.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS].wholes, g[dnn.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS].wholes
	if len(ids) != len(at) {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "%d ids and %d addresses", len(ids), len(at))
	}
	p := &pack{at: map[int64]uint64{}, other: map[int64]sides{}}
	for i, id := range ids {
		p.at[id] = uint64(at[i])
	}
	others := g[dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS].wholes
	if len(others) == 0 {
		return p, nil
	}
	for i, id := range others {
		o := sides{vector(g, dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES, i), vector(g, dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES, i)}
		if len(o.dim) == 0 || len(o.dim) != len(o.stride) || !natural(o.dim) || slices.Contains(o.dim, 0) || !natural(o.stride) {
			return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "%d sizes and %d strides of tensor %d", len(o.dim), len(o.stride), id)
		}
		p.other[id] = o
	}
	return p, nil
}

// vector reads number i of the lists that an attribute points to. They are as C++ has a std::vector: where it begins, where it ends,
// and how far it could grow.
func vector(g given, a Attr, i int) []int64 {
	v, ok := g[a]
	if !ok || v.wholes[0] == 0 {
		return nil
	}
	at := hostmem.Ptr(v.wholes[0]).Index(i, 24)
	from, to := hostmem.Load[uint64](at), hostmem.Load[uint64](at.Add(8))
	if n := int64(to-from) / 8; n > 0 && n <= maxDims {
		return slices.Clone(hostmem.Slice[int64](hostmem.Ptr(from), int(n)))
	}
	return nil
}
