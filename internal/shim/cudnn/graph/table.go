// Package graph has the descriptors of cuDNN's backend API, and runs graphs of operations: pointwise chains, reductions and norms as
// kernels of package fuse, all else by the operations of package nn.
package graph

import (
	"slices"

	"kudzu/internal/spec/dnn"
)

// Kind is the type of a descriptor.
type Kind = dnn.CudnnBackendDescriptorType_t

// Attr is the name of an attribute.
type Attr = dnn.CudnnBackendAttributeName_t

// row is an attribute of a kind of descriptor.
type row struct {
	name  Attr
	form  form
	need  bool // it must be set before the descriptor is finalized
	fixed bool // the library sets it
	out   bool // the operation writes the tensor
}

// form is what an attribute holds.
type form struct {
	types []dnn.CudnnBackendAttributeType_t // any of them
	most  int64                             // elements; many: as many as there are
	of    Kind                              // of descriptors
}

const (
	many         = 1 << 24 // more than any program has
	maxDims      = 8       // of a tensor that can be used
	mostDims     = 12      // that can be set
	anyOperation = Kind(-1)
)

func one(types ...dnn.CudnnBackendAttributeType_t) form { return form{types: types, most: 1} }

func int64s(most int64) form {
	return form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_INT64}, most: most}
}

func int32s(most int64) form {
	return form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_INT32}, most: most}
}

func floats(most int64) form {
	return form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_DOUBLE, dnn.CUDNN_TYPE_FLOAT}, most: most}
}

func pointers(most int64) form {
	return form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_VOID_PTR}, most: most}
}

func descriptors(of Kind, most int64) form {
	return form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR}, most: most, of: of}
}

// The kinds that attributes name.
const (
	Tensor           = dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR
	OperationGraph   = dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
	Engine           = dnn.CUDNN_BACKEND_ENGINE_DESCRIPTOR
	EngineCfg        = dnn.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
	EngineHeur       = dnn.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
	ExecutionPlan    = dnn.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
	VariantPack      = dnn.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
	IntermediateInfo = dnn.CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR
	KnobChoice       = dnn.CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR
	KnobInfo         = dnn.CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR
	LayoutInfo       = dnn.CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR
	DeviceProp       = dnn.CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
	KernelCache      = dnn.CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR
	Pointwise        = dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR
	Convolution      = dnn.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
	Matmul           = dnn.CUDNN_BACKEND_MATMUL_DESCRIPTOR
	Reduction        = dnn.CUDNN_BACKEND_REDUCTION_DESCRIPTOR
	Resample         = dnn.CUDNN_BACKEND_RESAMPLE_DESCRIPTOR
	RNG              = dnn.CUDNN_BACKEND_RNG_DESCRIPTOR
)

// The forms of one element.
var (
	handleForm      = one(dnn.CUDNN_TYPE_HANDLE)
	dataType        = one(dnn.CUDNN_TYPE_DATA_TYPE)
	dataTypes       = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_DATA_TYPE}, most: many}
	boolean         = one(dnn.CUDNN_TYPE_BOOLEAN)
	oneInt32        = int32s(1)
	double          = one(dnn.CUDNN_TYPE_DOUBLE)
	convMode        = one(dnn.CUDNN_TYPE_CONVOLUTION_MODE)
	heurMode        = one(dnn.CUDNN_TYPE_HEUR_MODE)
	knobType        = one(dnn.CUDNN_TYPE_KNOB_TYPE)
	nanMode         = one(dnn.CUDNN_TYPE_NAN_PROPOGATION)
	numericalNotes  = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_NUMERICAL_NOTE}, most: many}
	behaviorNotes   = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_BEHAVIOR_NOTE}, most: many}
	layoutType      = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_LAYOUT_TYPE}, most: many}
	attrName        = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_ATTRIB_NAME}, most: many}
	chars           = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_CHAR}, most: many}
	pointwiseMode   = one(dnn.CUDNN_TYPE_POINTWISE_MODE)
	genStats        = one(dnn.CUDNN_TYPE_GENSTATS_MODE)
	bnFinalize      = one(dnn.CUDNN_TYPE_BN_FINALIZE_STATS_MODE)
	reductionOp     = one(dnn.CUDNN_TYPE_REDUCTION_OPERATOR_TYPE)
	reordering      = one(dnn.CUDNN_TYPE_TENSOR_REORDERING_MODE)
	resampleMode    = one(dnn.CUDNN_TYPE_RESAMPLE_MODE)
	paddingMode     = one(dnn.CUDNN_TYPE_PADDING_MODE)
	signalMode      = one(dnn.CUDNN_TYPE_SIGNAL_MODE)
	normMode        = one(dnn.CUDNN_TYPE_NORM_MODE)
	normPhase       = one(dnn.CUDNN_TYPE_NORM_FWD_PHASE)
	rngDistribution = one(dnn.CUDNN_TYPE_RNG_DISTRIBUTION)
	moeMode         = one(dnn.CUDNN_TYPE_MOE_GROUPED_MATMUL_MODE)
	reshapeMode     = one(dnn.CUDNN_TYPE_RESHAPE_MODE)
	graphMode       = one(dnn.CUDNN_TYPE_OPERATIONGRAPH_MODE)
	constant        = one(dnn.CUDNN_TYPE_DOUBLE, dnn.CUDNN_TYPE_FLOAT, dnn.CUDNN_TYPE_INT64, dnn.CUDNN_TYPE_INT32, dnn.CUDNN_TYPE_CHAR)
	seed            = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_INT64, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR}, most: 1, of: Tensor}
	fractions       = form{types: []dnn.CudnnBackendAttributeType_t{dnn.CUDNN_TYPE_INT64, dnn.CUDNN_TYPE_FRACTION}, most: maxDims}
)

// elementSize is bytes of an element in a program's memory, by its type.
func elementSize(t dnn.CudnnBackendAttributeType_t) int64 {
	switch t {
	case dnn.CUDNN_TYPE_HANDLE, dnn.CUDNN_TYPE_INT64, dnn.CUDNN_TYPE_DOUBLE, dnn.CUDNN_TYPE_VOID_PTR, dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR:
		return 8
	case dnn.CUDNN_TYPE_BOOLEAN, dnn.CUDNN_TYPE_CHAR:
		return 1
	case dnn.CUDNN_TYPE_FRACTION:
		return 16
	}
	return 4 // enumerations, oneInt32, float
}

// rows are the attributes of a kind.
func rows(k Kind) ([]row, bool) {
	if r, ok := settings()[k]; ok {
		return r, true
	}
	r, ok := operations()[k]
	return r, ok
}

// find is the row of an attribute.
func find(k Kind, a Attr) *row {
	all, _ := rows(k)
	if i := slices.IndexFunc(all, func(r row) bool { return r.name == a }); i >= 0 {
		return &all[i]
	}
	return nil
}
