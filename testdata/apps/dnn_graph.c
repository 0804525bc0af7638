// Graphs of the backend API: a product or a convolution, then every pointwise mode; reductions; convolutions and their gradients.
#include "dnn.h"

typedef cudnnBackendDescriptor_t desc;
static int worst; // the first status that was none of success
static void need(int st) {
	if (st && !worst) worst = st;
}
static desc make(int type) {
	desc d = 0;
	need(cudnnBackendCreateDescriptor(type, &d));
	return d;
}
static void set(desc d, int name, int type, int64_t n, const void *p) { need(cudnnBackendSetAttribute(d, name, type, n, (void *)p)); }
static void link(desc d, int name, desc to) { set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to); }
static void integer(desc d, int name, int type, int v) { set(d, name, type, 1, &v); }
static void real(desc d, int name, double v) { set(d, name, CUDNN_TYPE_DOUBLE, 1, &v); }
static desc fin(desc d) {
	need(cudnnBackendFinalize(d));
	return d;
}

// Tensors of a graph: those with memory have it in at.
static int64_t ids[16];
static void *at[16];
static int count;
static desc node(int type, int nd, const int64_t *dim, const int64_t *stride, ten *memory) {
	desc d = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	static int64_t id;
	int64_t align = 16;
	id++;
	bool virtual = !memory;
	set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
	integer(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
	set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, nd, dim);
	set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, nd, stride);
	set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
	set(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &virtual);
	if (memory) ids[count] = id, at[count++] = memory->p;
	return fin(d);
}
// square is a matrix of 16 by 16.
static desc square(int type, ten *memory) { return node(type, 3, (int64_t[]){1, 16, 16}, (int64_t[]){256, 16, 1}, memory); }
static desc product(int type, ten *a, ten *b, desc c) {
	desc m = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR), o = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
	integer(m, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	link(o, CUDNN_ATTR_OPERATION_MATMUL_ADESC, square(type, a));
	link(o, CUDNN_ATTR_OPERATION_MATMUL_BDESC, square(type, b));
	link(o, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
	link(o, CUDNN_ATTR_OPERATION_MATMUL_DESC, fin(m));
	return fin(o);
}
// run builds a plan of the first engine that takes the graph, and runs it.
static int run(int n, desc *ops) {
	if (worst) return worst;
	desc g = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	set(g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &H);
	set(g, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, ops);
	fin(g);
	if (worst) return worst;
	for (int mode = 0; mode < 2; mode++) {
		int heur = mode ? CUDNN_HEUR_MODE_FALLBACK : CUDNN_HEUR_MODE_INSTANT;
		desc h = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), cfg[16];
		link(h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g);
		integer(h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, heur);
		worst = 0;
		fin(h);
		int64_t got = 0;
		for (int i = 0; i < 16; i++) cfg[i] = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
		if (worst || cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 16, &got, cfg)) continue;
		for (int i = 0; i < got; i++) {
			worst = 0;
			desc p = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), v = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
			set(p, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &H);
			link(p, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, cfg[i]);
			fin(p);
			if (worst) continue;
			int64_t size = 0, c;
			cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &c, &size);
			void *w = space(size);
			set(v, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids);
			set(v, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, at);
			set(v, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &w);
			fin(v);
			need(cudnnBackendExecute(H, p, v));
			cudaDeviceSynchronize();
			cudaFree(w);
			if (!worst) return 0;
		}
	}
	return CUDNN_STATUS_NOT_SUPPORTED;
}
static void reset(void) { worst = count = 0; }

// y = mode(a·b [, second] [, third]). Inputs of roots and logarithms are made positive by a square before.
static void pointwise(int type, int mode) {
	reset();
	int operands = mode < 10 && mode != CUDNN_POINTWISE_SQRT ? 2 : mode == CUDNN_POINTWISE_FLOOR_MOD || (mode >= 300 && mode < 400) ? 2 : 1, gradient = mode >= 200 && mode < 300;
	ten a = block(type, 256, 151), b = block(type, 256, 152), x = block(CUDNN_DATA_FLOAT, 256, 153), y = block(CUDNN_DATA_FLOAT, 256, 0);
	desc c = square(CUDNN_DATA_FLOAT, 0), ops[3];
	int n = 0;
	ops[n++] = product(type, &a, &b, c);
	if (mode == CUDNN_POINTWISE_SQRT || mode == CUDNN_POINTWISE_RSQRT || mode == CUDNN_POINTWISE_LOG || mode == CUDNN_POINTWISE_POW) {
		desc p = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), o = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), q = square(CUDNN_DATA_FLOAT, 0);
		integer(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_MUL);
		integer(p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
		link(o, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, fin(p));
		link(o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, c), link(o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, c), link(o, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, q);
		ops[n++] = fin(o);
		c = q;
	}
	desc p = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), o = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	integer(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
	integer(p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	if (mode % 100 == 0 && mode && mode < 300) real(p, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, -0.5), real(p, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 1.5), real(p, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.25);
	if (mode % 100 == 3 && mode > 100 && mode < 300) real(p, CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1.25);
	if (mode % 100 == 5 && mode > 100 && mode < 300) real(p, CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1.5);
	if (mode % 100 == 6 && mode > 100 && mode < 300) real(p, CUDNN_ATTR_POINTWISE_SWISH_BETA, 0.75);
	link(o, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, fin(p));
	if (gradient) {
		link(o, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, c);
		link(o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, square(CUDNN_DATA_FLOAT, &x));
		link(o, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, square(CUDNN_DATA_FLOAT, &y));
	} else {
		link(o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, c);
		if (operands == 2) link(o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, square(CUDNN_DATA_FLOAT, &x));
		link(o, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, square(CUDNN_DATA_FLOAT, &y));
	}
	ops[n++] = fin(o);
	begin("pointwise %s mode %d", name(type), mode);
	// The library's exponentials are fast ones.
	shown("y", run(n, ops), y, mode == CUDNN_POINTWISE_TAN || mode == CUDNN_POINTWISE_POW ? 1e-3 : 1e-4);
	drop(a), drop(b), drop(x), drop(y);
}

static void reduction(int type, int op, int columns) {
	reset();
	ten a = block(type, 256, 154), b = block(type, 256, 155), y = block(CUDNN_DATA_FLOAT, columns ? 1 : 16, 0);
	desc c = square(CUDNN_DATA_FLOAT, 0), ops[2], r = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR), o = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
	ops[0] = product(type, &a, &b, c);
	integer(r, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op);
	integer(r, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	link(o, CUDNN_ATTR_OPERATION_REDUCTION_DESC, fin(r));
	link(o, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, c);
	link(o, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, columns ? node(CUDNN_DATA_FLOAT, 3, (int64_t[]){1, 1, 1}, (int64_t[]){1, 1, 1}, &y) : node(CUDNN_DATA_FLOAT, 3, (int64_t[]){1, 16, 1}, (int64_t[]){16, 1, 1}, &y));
	ops[1] = fin(o);
	begin("reduction %s op %d all %d", name(type), op, columns);
	shown("y", run(2, ops), y, 1e-3);
	drop(a), drop(b), drop(y);
}

// Convolutions, channels last: forward with a bias and a ReLU, and both gradients.
static desc image(int type, int n, int c, int h, int w, ten *memory) { return node(type, 4, (int64_t[]){n, c, h, w}, (int64_t[]){(int64_t)c * h * w, 1, (int64_t)w * c, c}, memory); }
static void convolution(int type, int what, int size, int stride) {
	reset();
	enum { N = 2, C = 16, K = 32, S = 10 };
	int pad = size / 2, out = (S + 2 * pad - size) / stride + 1;
	ten x = block(type, N * C * S * S, 156), w = block(type, K * C * size * size, 157), y = block(type, N * K * out * out, 158), b = block(type, K, 159);
	desc v = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR), ops[3];
	int64_t pads[] = {pad, pad}, steps[] = {stride, stride}, ones[] = {1, 1}, two = 2;
	float one = 1, zero = 0;
	integer(v, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	integer(v, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
	set(v, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two);
	set(v, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
	set(v, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
	set(v, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, steps);
	set(v, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
	fin(v);
	desc xd = image(type, N, C, S, S, &x), wd = image(type, K, C, size, size, &w), yd = what == 1 ? image(CUDNN_DATA_FLOAT, N, K, out, out, 0) : image(type, N, K, out, out, &y);
	desc o = make(what < 2 ? CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR : what == 2 ? CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR : CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
	static const int names[3][6] = {
		{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
		{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
		{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
	const int *a = names[what < 2 ? 0 : what - 1];
	link(o, a[0], v), link(o, a[1], xd), link(o, a[2], wd), link(o, a[3], yd);
	set(o, a[4], CUDNN_TYPE_FLOAT, 1, &one), set(o, a[5], CUDNN_TYPE_FLOAT, 1, &zero);
	ops[0] = fin(o);
	int n = 1;
	if (what == 1) {
		desc sum = image(CUDNN_DATA_FLOAT, N, K, out, out, 0);
		int modes[] = {CUDNN_POINTWISE_ADD, CUDNN_POINTWISE_RELU_FWD};
		for (int i = 0; i < 2; i++) {
			desc p = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), q = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
			integer(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, modes[i]);
			integer(p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
			link(q, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, fin(p));
			link(q, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, i ? sum : yd);
			if (!i) link(q, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, image(type, 1, K, 1, 1, &b));
			link(q, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, i ? image(type, N, K, out, out, &y) : sum);
			ops[n++] = fin(q);
		}
	}
	begin("graph convolution %s what %d filter %d stride %d", name(type), what, size, stride);
	shown(what < 2 ? "y" : what == 2 ? "dx" : "dw", run(n, ops), what < 2 ? y : what == 2 ? x : w, type == CUDNN_DATA_FLOAT ? 2e-3 : bound(type));
	drop(x), drop(w), drop(y), drop(b);
}

int main(void) {
	if (start()) return 1;
	static const int modes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 100, 101, 102, 103, 104, 105, 106, 107, 200, 201, 202, 203, 204, 205, 206, 207};
	static const int types[] = {CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16};
	for (int t = 0; t < 2; t++) {
		for (int i = 0; i < (int)(sizeof modes / sizeof *modes); i++) pointwise(types[t], modes[i]);
		for (int op = 0; op < 9; op++) reduction(types[t], op, 0), reduction(types[t], op, 1);
	}
	for (int t = 0; t < 4; t++)
		if (t != 1)
			for (int what = 0; what < 4; what++)
				for (int stride = 1; stride < 3; stride++)
					for (int size = 1; size < 6; size += 2) convolution(floats[t], what, size, stride);
	return 0;
}
