package graph

import (
	"sync"

	"kudzu/internal/spec/dnn"
)

// settings are the attributes of descriptors that are no operations.
var settings = sync.OnceValue(func() map[Kind][]row {
	return map[Kind][]row{
		dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_POINTWISE_MODE, form: pointwiseMode},
			{name: dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, form: dataType},
			{name: dnn.CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, form: nanMode},
			{name: dnn.CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, form: floats(1)},
			{name: dnn.CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, form: floats(1)},
			{name: dnn.CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, form: floats(1)},
			{name: dnn.CUDNN_ATTR_POINTWISE_ELU_ALPHA, form: floats(1)},
			{name: dnn.CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, form: floats(1)},
			{name: dnn.CUDNN_ATTR_POINTWISE_SWISH_BETA, form: floats(1)},
			{name: dnn.CUDNN_ATTR_POINTWISE_AXIS, form: int64s(1)},
		},
		dnn.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_CONVOLUTION_COMP_TYPE, form: dataType, need: true},
			{name: dnn.CUDNN_ATTR_CONVOLUTION_CONV_MODE, form: convMode, need: true},
			{name: dnn.CUDNN_ATTR_CONVOLUTION_DILATIONS, form: int64s(maxDims), need: true},
			{name: dnn.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, form: int64s(maxDims), need: true},
			{name: dnn.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, form: int64s(maxDims), need: true},
			{name: dnn.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, form: int64s(maxDims), need: true},
			{name: dnn.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, form: int64s(1), need: true},
		},
		dnn.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_ENGINEHEUR_MODE, form: heurMode},
			{name: dnn.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, form: descriptors(OperationGraph, 1), need: true},
			{name: dnn.CUDNN_ATTR_ENGINEHEUR_RESULTS, form: descriptors(EngineCfg, many), fixed: true},
			{name: dnn.CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET, form: oneInt32},
			{name: dnn.CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, form: descriptors(DeviceProp, 1)},
			{name: dnn.CUDNN_ATTR_ENGINEHEUR_SHARED_MEMORY_LIMIT, form: oneInt32},
		},
		dnn.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_ENGINECFG_ENGINE, form: descriptors(Engine, 1), need: true},
			{name: dnn.CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO, form: descriptors(IntermediateInfo, many), fixed: true},
			{name: dnn.CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, form: descriptors(KnobChoice, many)},
			{name: dnn.CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, form: int64s(1), fixed: true},
		},
		dnn.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, form: handleForm},
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, form: descriptors(EngineCfg, 1)},
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS, form: int64s(many)},
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS, form: int64s(many)},
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, form: chars},
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_KERNEL_CACHE, form: descriptors(KernelCache, 1)},
			{name: dnn.CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, form: descriptors(DeviceProp, 1)},
		},
		dnn.CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_INTERMEDIATE_INFO_UNIQUE_ID, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_INTERMEDIATE_INFO_SIZE, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_DATA_UIDS, form: int64s(many), fixed: true},
			{name: dnn.CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_ATTRIBUTES, form: attrName, fixed: true},
		},
		dnn.CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, form: knobType, need: true},
			{name: dnn.CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, form: int64s(1), need: true},
		},
		dnn.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_OPERATIONGRAPH_HANDLE, form: handleForm},
			{name: dnn.CUDNN_ATTR_OPERATIONGRAPH_OPS, form: descriptors(anyOperation, many), need: true},
			{name: dnn.CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED, form: boolean},
			{name: dnn.CUDNN_ATTR_OPERATIONGRAPH_IS_SAME_TOPOLOGY, form: boolean},
			{name: dnn.CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, form: boolean},
			{name: dnn.CUDNN_ATTR_OPERATIONGRAPH_MODE, form: graphMode},
		},
		dnn.CUDNN_BACKEND_TENSOR_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, form: int64s(1), need: true},
			{name: dnn.CUDNN_ATTR_TENSOR_DATA_TYPE, form: dataType, need: true},
			{name: dnn.CUDNN_ATTR_TENSOR_DIMENSIONS, form: int64s(mostDims), need: true},
			{name: dnn.CUDNN_ATTR_TENSOR_STRIDES, form: int64s(mostDims), need: true},
			{name: dnn.CUDNN_ATTR_TENSOR_VECTOR_COUNT, form: int64s(1)},
			{name: dnn.CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, form: int64s(1)},
			{name: dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, form: int64s(1), need: true},
			{name: dnn.CUDNN_ATTR_TENSOR_IS_VIRTUAL, form: boolean},
			{name: dnn.CUDNN_ATTR_TENSOR_IS_BY_VALUE, form: boolean},
			{name: dnn.CUDNN_ATTR_TENSOR_REORDERING_MODE, form: reordering},
			{name: dnn.CUDNN_ATTR_TENSOR_CONSTANT_VALUE, form: constant},
			{name: dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, form: descriptors(Tensor, 1)},
			{name: dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, form: int64s(1)},
		},
		dnn.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, form: int64s(many)},
			{name: dnn.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, form: pointers(many)},
			{name: dnn.CUDNN_ATTR_VARIANT_PACK_INTERMEDIATES, form: pointers(many)},
			{name: dnn.CUDNN_ATTR_VARIANT_PACK_WORKSPACE, form: pointers(1)},
			{name: dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS, form: int64s(many)},
			{name: dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES, form: pointers(1)},
			{name: dnn.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES, form: pointers(1)},
		},
		dnn.CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_LAYOUT_INFO_TENSOR_UID, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_LAYOUT_INFO_TYPES, form: layoutType, fixed: true},
		},
		dnn.CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_KNOB_INFO_TYPE, form: knobType, fixed: true},
			{name: dnn.CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_KNOB_INFO_STRIDE, form: int64s(1), fixed: true},
		},
		dnn.CUDNN_BACKEND_ENGINE_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_ENGINE_OPERATION_GRAPH, form: descriptors(OperationGraph, 1), need: true},
			{name: dnn.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, form: int64s(1), need: true},
			{name: dnn.CUDNN_ATTR_ENGINE_KNOB_INFO, form: descriptors(KnobInfo, many), fixed: true},
			{name: dnn.CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, form: numericalNotes, fixed: true},
			{name: dnn.CUDNN_ATTR_ENGINE_LAYOUT_INFO, form: descriptors(LayoutInfo, many), fixed: true},
			{name: dnn.CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, form: behaviorNotes, fixed: true},
			{name: dnn.CUDNN_ATTR_ENGINE_SM_COUNT_TARGET, form: oneInt32},
			{name: dnn.CUDNN_ATTR_ENGINE_DEVICEPROP, form: descriptors(DeviceProp, 1)},
			{name: dnn.CUDNN_ATTR_ENGINE_DISABLE_CLUSTER_COOPERATIVE, form: boolean},
			{name: dnn.CUDNN_ATTR_ENGINE_SHARED_MEMORY_LIMIT, form: oneInt32},
		},
		dnn.CUDNN_BACKEND_MATMUL_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_MATMUL_COMP_TYPE, form: dataType, need: true},
			{name: dnn.CUDNN_ATTR_MATMUL_PADDING_VALUE, form: double},
		},
		dnn.CUDNN_BACKEND_REDUCTION_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_REDUCTION_OPERATOR, form: reductionOp, need: true},
			{name: dnn.CUDNN_ATTR_REDUCTION_COMP_TYPE, form: dataType, need: true},
			{name: dnn.CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, form: boolean},
		},
		dnn.CUDNN_BACKEND_RESAMPLE_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_RESAMPLE_MODE, form: resampleMode, need: true},
			{name: dnn.CUDNN_ATTR_RESAMPLE_COMP_TYPE, form: dataType, need: true},
			{name: dnn.CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, form: int64s(1), need: true},
			{name: dnn.CUDNN_ATTR_RESAMPLE_POST_PADDINGS, form: fractions, need: true},
			{name: dnn.CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, form: fractions, need: true},
			{name: dnn.CUDNN_ATTR_RESAMPLE_STRIDES, form: fractions, need: true},
			{name: dnn.CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, form: fractions, need: true},
			{name: dnn.CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, form: nanMode},
			{name: dnn.CUDNN_ATTR_RESAMPLE_PADDING_MODE, form: paddingMode},
		},
		dnn.CUDNN_BACKEND_RNG_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_RNG_DISTRIBUTION, form: rngDistribution, need: true},
			{name: dnn.CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, form: floats(1)},
			{name: dnn.CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, form: floats(1)},
			{name: dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, form: floats(1)},
			{name: dnn.CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, form: floats(1)},
			{name: dnn.CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, form: floats(1)},
		},
		dnn.CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_KERNEL_CACHE_OPERATION_GRAPH, form: descriptors(OperationGraph, 1)},
			{name: dnn.CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED, form: boolean, fixed: true},
			{name: dnn.CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, form: chars},
			{name: dnn.CUDNN_ATTR_KERNEL_CACHE_REVISION, form: int64s(1), fixed: true},
			{name: dnn.CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT, form: int64s(1), fixed: true},
		},
		dnn.CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR: {
			{name: dnn.CUDNN_ATTR_DEVICEPROP_DEVICE_ID, form: oneInt32},
			{name: dnn.CUDNN_ATTR_DEVICEPROP_HANDLE, form: handleForm},
			{name: dnn.CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, form: chars},
		},
	}
})
