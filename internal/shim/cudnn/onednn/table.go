package onednn

// which are the versions that have a function.
type which int

const (
	both which = iota
	version2
	version3
)

// functions are those that are called, with the number of their parameters. Version 2 writes descriptors into memory of ours, and makes
// operations of them in a second step; in version 3 descriptors are handles.
var functions = []struct {
	name   string
	params int
	of     which
}{
	{"dnnl_engine_create", 3, both},
	{"dnnl_stream_create", 3, both},
	{"dnnl_stream_wait", 1, both},
	{"dnnl_primitive_attr_create", 1, both},
	{"dnnl_primitive_attr_set_scratchpad_mode", 2, both},
	{"dnnl_memory_create", 4, both},
	{"dnnl_memory_destroy", 1, both},
	{"dnnl_memory_set_data_handle", 2, both},
	{"dnnl_memory_desc_equal", 2, both},
	{"dnnl_memory_desc_get_size", 1, both},
	{"dnnl_primitive_create", 2, both},
	{"dnnl_primitive_destroy", 1, both},
	{"dnnl_primitive_execute", 4, both},
	{"dnnl_primitive_desc_destroy", 1, both},
	{"dnnl_primitive_desc_query", 4, both},
	{"dnnl_primitive_desc_query_md", 3, both},
	{"dnnl_reorder_primitive_desc_create", 6, both},

	{"dnnl_memory_desc_init_by_strides", 5, version2},
	{"dnnl_memory_desc_init_by_tag", 5, version2},
	{"dnnl_primitive_desc_create", 5, version2},
	{"dnnl_dilated_convolution_forward_desc_init", 11, version2},
	{"dnnl_dilated_convolution_backward_data_desc_init", 9, version2},
	{"dnnl_dilated_convolution_backward_weights_desc_init", 10, version2},
	{"dnnl_matmul_desc_init", 5, version2},
	{"dnnl_softmax_v2_forward_desc_init", 6, version2},

	{"dnnl_memory_desc_create_with_strides", 5, version3},
	{"dnnl_memory_desc_create_with_tag", 5, version3},
	{"dnnl_memory_desc_destroy", 1, version3},
	{"dnnl_convolution_forward_primitive_desc_create", 13, version3},
	{"dnnl_convolution_backward_data_primitive_desc_create", 12, version3},
	{"dnnl_convolution_backward_weights_primitive_desc_create", 13, version3},
	{"dnnl_matmul_primitive_desc_create", 7, version3},
	{"dnnl_softmax_forward_primitive_desc_create", 8, version3},
}

var params = func() map[string]int {
	m := map[string]int{}
	for _, f := range functions {
		m[f.name] = f.params
	}
	return m
}()

// Numbers of dnnl_types.h, the same in both versions.
const (
	cpu       uintptr = 1 // an engine
	inOrder   uintptr = 1 // a stream
	anyLayout uintptr = 1

	forward         uintptr = 96 // for inference: nothing is kept for the gradients
	training        uintptr = 64
	direct          uintptr = 1 // how it is convolved: the sums as they are, no transform
	softmaxAccurate uintptr = 0x30000
	softmaxLog      uintptr = 0x30001

	scratchOfOurs uintptr = 1 // the library's own is a thread's, and ours execute what others made

	implementation uintptr = 8 // what can be asked of a descriptor

	maxDims = 12 // of a descriptor's sizes
)

// role is a tensor of an operation: its argument, and how its descriptor is asked for.
type role struct{ arg, query uintptr }

var (
	source     = role{1, 129}
	weights    = role{33, 131}
	result     = role{17, 133}
	sourceDiff = role{129, 130}
	filterDiff = role{161, 132}
	resultDiff = role{145, 134}
)

// scratch is memory that an operation works in.
var scratch = role{80, 136}

// The arguments of a reorder.
const argFrom, argTo uintptr = 1, 17

// Version 2's structs have 696 and 5,976 bytes in release 2.6; ours have room for others.
const (
	descBytes = 2 << 10
	opBytes   = 32 << 10
)
