/* Graphs of cuDNN's backend API, for app_dnnrandom.c. */
typedef cudnnBackendDescriptor_t desc;
struct graph {
	desc all[96], ops[16];
	int descs, nops, given;
	int64_t id, ids[24];
	void *at[24];
};
static desc blank(struct worker *w, struct graph *g, int type) {
	desc d = NULL;
	ok(w, cudnnBackendCreateDescriptor(type, &d));
	return g->all[g->descs++] = d;
}
static void set(struct worker *w, desc d, int attr, int type, int64_t n, const void *p) { ok(w, cudnnBackendSetAttribute(d, attr, type, n, p)); }
static void link_(struct worker *w, desc d, int attr, desc to) { set(w, d, attr, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to); }
static void whole(struct worker *w, desc d, int attr, int type, int v) { set(w, d, attr, type, 1, &v); }
static void axes(struct worker *w, desc d, int attr, int n, const int *v) {
	int64_t wide[8];
	for (int i = 0; i < n; i++)
		wide[i] = v[i];
	set(w, d, attr, CUDNN_TYPE_INT64, n, wide);
}
static desc done(struct worker *w, desc d) {
	ok(w, cudnnBackendFinalize(d));
	return d;
}
/* value describes a tensor: with memory where p is not NULL, else between operations. */
static desc value(struct worker *w, struct graph *g, int type, int nd, const int *dim, const int *stride, void *p, int number) {
	desc d = blank(w, g, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	int packed[8], step = 1;
	for (int i = nd - 1; i >= 0; i--)
		packed[i] = step, step *= dim[i];
	int64_t align = number ? 4 : 16;
	bool inside = !p, by_value = number;
	g->id++;
	set(w, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &g->id);
	whole(w, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
	axes(w, d, CUDNN_ATTR_TENSOR_DIMENSIONS, nd, dim), axes(w, d, CUDNN_ATTR_TENSOR_STRIDES, nd, stride ? stride : packed);
	set(w, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
	set(w, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &inside);
	if (number)
		set(w, d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
	if (p)
		g->ids[g->given] = g->id, g->at[g->given++] = p;
	return done(w, d);
}
static desc of(struct worker *w, struct graph *g, const struct ten *t) { return value(w, g, t->type, t->nd, t->dim, t->stride, t->p, 0); }
static desc between(struct worker *w, struct graph *g, int nd, const int *dim) { return value(w, g, CUDNN_DATA_FLOAT, nd, dim, NULL, NULL, 0); }
static desc operation(struct worker *w, struct graph *g, int type) { return g->ops[g->nops++] = blank(w, g, type); }
static void point(struct worker *w, struct graph *g, int mode, desc x, desc b, desc y) {
	desc p = blank(w, g, CUDNN_BACKEND_POINTWISE_DESCRIPTOR), o = operation(w, g, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	whole(w, p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode), whole(w, p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	link_(w, o, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, done(w, p)), link_(w, o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
	if (b)
		link_(w, o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
	link_(w, o, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y), done(w, o);
}
static void product(struct worker *w, struct graph *g, desc a, desc b, desc c) {
	desc m = blank(w, g, CUDNN_BACKEND_MATMUL_DESCRIPTOR), o = operation(w, g, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
	whole(w, m, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	link_(w, o, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a), link_(w, o, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b), link_(w, o, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
	link_(w, o, CUDNN_ATTR_OPERATION_MATMUL_DESC, done(w, m)), done(w, o);
}
struct launch {
	desc plan, pack;
};
static int launched(struct worker *w, void *with) {
	struct launch *l = with;
	return cudnnBackendExecute(w->h, l->plan, l->pack);
}
/* execute makes a plan of what a heuristic or the first engine offers, and runs it some times; then nothing of the graph is left. */
static void execute(struct worker *w, struct graph *g) {
	desc graph = blank(w, g, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), config = blank(w, g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	set(w, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &w->h);
	set(w, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, g->nops, g->ops), done(w, graph);
	int64_t got = 0, size = 0, index = 0;
	if (pick(w, 2)) {
		static const int modes[] = {CUDNN_HEUR_MODE_INSTANT, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK, CUDNN_HEUR_MODE_A};
		desc heur = blank(w, g, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
		link_(w, heur, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph), whole(w, heur, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, modes[pick(w, 4)]), done(w, heur);
		ok(w, cudnnBackendGetAttribute(heur, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &config));
		if (got != 1)
			bad(w, "configurations:", got);
	} else {
		desc engine = blank(w, g, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
		link_(w, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph), set(w, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
		link_(w, config, CUDNN_ATTR_ENGINECFG_ENGINE, done(w, engine)), done(w, config);
	}
	struct launch l = {blank(w, g, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), blank(w, g, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)};
	set(w, l.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &w->h);
	link_(w, l.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config), done(w, l.plan);
	ok(w, cudnnBackendGetAttribute(l.plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &got, &size));
	void *space = size ? room(w, size) : NULL;
	set(w, l.pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, g->given, g->ids), set(w, l.pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, g->given, g->at);
	set(w, l.pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &space), done(w, l.pack);
	for (int turn = 1 + pick(w, 2); turn > 0; turn--)
		run(w, launched, &l);
	while (g->descs)
		ok(w, cudnnBackendDestroyDescriptor(g->all[--g->descs]));
}

static const struct {
	int mode, operands;
} points[] = {{CUDNN_POINTWISE_ADD, 2}, {CUDNN_POINTWISE_SUB, 2}, {CUDNN_POINTWISE_MUL, 2}, {CUDNN_POINTWISE_MAX, 2}, {CUDNN_POINTWISE_MIN, 2}, {CUDNN_POINTWISE_ABS, 1}, {CUDNN_POINTWISE_NEG, 1},
	{CUDNN_POINTWISE_SIN, 1}, {CUDNN_POINTWISE_COS, 1}, {CUDNN_POINTWISE_ERF, 1}, {CUDNN_POINTWISE_IDENTITY, 1}, {CUDNN_POINTWISE_RELU_FWD, 1}, {CUDNN_POINTWISE_TANH_FWD, 1},
	{CUDNN_POINTWISE_SIGMOID_FWD, 1}, {CUDNN_POINTWISE_ELU_FWD, 1}, {CUDNN_POINTWISE_GELU_FWD, 1}, {CUDNN_POINTWISE_SOFTPLUS_FWD, 1}, {CUDNN_POINTWISE_SWISH_FWD, 1}};
static double pointed(int mode, double x, double b) {
	switch (mode) {
	case CUDNN_POINTWISE_ADD: return x + b;
	case CUDNN_POINTWISE_SUB: return x - b;
	case CUDNN_POINTWISE_MUL: return x * b;
	case CUDNN_POINTWISE_MAX: return fmax(x, b);
	case CUDNN_POINTWISE_MIN: return fmin(x, b);
	case CUDNN_POINTWISE_ABS: return fabs(x);
	case CUDNN_POINTWISE_NEG: return -x;
	case CUDNN_POINTWISE_SIN: return sin(x);
	case CUDNN_POINTWISE_COS: return cos(x);
	case CUDNN_POINTWISE_ERF: return erf(x);
	case CUDNN_POINTWISE_RELU_FWD: return fmax(x, 0);
	case CUDNN_POINTWISE_TANH_FWD: return tanh(x);
	case CUDNN_POINTWISE_SIGMOID_FWD: return sigmoid(x);
	case CUDNN_POINTWISE_ELU_FWD: return x > 0 ? x : expm1(x);
	case CUDNN_POINTWISE_GELU_FWD: return x * .5 * (1 + erf(x / sqrt(2)));
	case CUDNN_POINTWISE_SOFTPLUS_FWD: return fmax(x, 0) + log1p(exp(-fabs(x)));
	case CUDNN_POINTWISE_SWISH_FWD: return x * sigmoid(x);
	default: return x;
	}
}
/* A product, a convolution or a tensor; then pointwise operations; then perhaps a reduction. */
static void graph_chain(struct worker *w) {
	static const int types[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16};
	struct graph g = {0};
	w->form = 77 * pick(w, 300);
	struct ten used[10];
	int type = types[kind(w, 4)], first = kind(w, 3), length = kind(w, 4) + (first == 2), reduce = kind(w, 4) == 0, tens = 0, nd = first == 0 ? 3 : 4, dim[4], n = 1, said;
	double *v, most = 1;
	desc now;
	if (first == 0) { /* a product; b may be transposed, or the same for all of a batch */
		int batch = 1 + pick(w, 3), m = 1 + pick(w, 40), k = 1 + pick(w, 40), cols = 1 + pick(w, 40), turned = kind(w, 2), bb = kind(w, 2) ? batch : 1;
		said = snprintf(w->did, sizeof w->did, "graph %s product %d of %d %d %d turned %d batch of b %d", name(type), batch, m, k, cols, turned, bb);
		dim[0] = batch, dim[1] = m, dim[2] = cols, n = batch * m * cols;
		struct ten *a = &used[tens++], *b = &used[tens++];
		*a = make(w, type, PACKED, 3, (int[]){batch, m, k}), *b = make(w, type, PACKED, 3, turned ? (int[]){bb, cols, k} : (int[]){bb, k, cols});
		int bs[3] = {b->stride[0], turned ? 1 : cols, turned ? k : 1}, bd[3] = {bb, k, cols};
		v = calloc(n, sizeof *v);
		for (int e = 0; e < n; e++)
			for (int j = 0; j < k; j++)
				v[e] += a->v[(size_t)(e / cols) * k + j] * b->v[(bb > 1 ? e / cols / m * bs[0] : 0) + j * bs[1] + e % cols * bs[2]];
		most += k;
		desc ad = of(w, &g, a), bd_ = value(w, &g, type, 3, bd, bs, b->p, 0);
		now = length || reduce ? between(w, &g, 3, dim) : NULL;
		if (!now) {
			struct ten *y = &used[tens++];
			*y = make(w, type, PACKED, 3, dim), now = of(w, &g, y);
		}
		product(w, &g, ad, bd_, now);
	} else if (first == 1) {
		int batch, channels, filters;
		struct conv c;
		do
			c = convolution(w, &batch, &channels, &filters);
		while (c.axes != 2);
		said = snprintf(w->did, sizeof w->did, "graph %s convolution of %d %d %d %d filters %d %d %d groups %d pad %d %d step %d %d apart %d %d flip %d", name(type), batch, channels, c.in[1], c.in[2],
			filters, c.f[1], c.f[2], c.groups, c.pad[1], c.pad[2], c.step[1], c.step[2], c.apart[1], c.apart[2], c.flip);
		dim[0] = batch, dim[1] = filters, dim[2] = c.out[1], dim[3] = c.out[2], n = batch * filters * dim[2] * dim[3];
		struct ten *x = &used[tens++], *f = &used[tens++], y = {.nd = 4};
		*x = make(w, type, kind(w, 3), 4, (int[]){batch, channels, c.in[1], c.in[2]}), *f = make(w, type, kind(w, 2), 4, (int[]){filters, channels / c.groups, c.f[1], c.f[2]});
		for (int i = 3, s = 1; i >= 0; i--)
			y.stride[i] = s, s *= y.dim[i] = dim[i];
		v = calloc(n, sizeof *v);
		double *mag = calloc(n, sizeof *mag);
		convolved(&c, 0, x, f, &y, v, mag);
		free(mag);
		most += c.f[1] * c.f[2] * channels / c.groups;
		desc xd = of(w, &g, x), fd = of(w, &g, f), cd = blank(w, &g, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
		now = length || reduce ? between(w, &g, 4, dim) : NULL;
		if (!now) {
			struct ten *to = &used[tens++];
			*to = make(w, type, kind(w, 3), 4, dim), now = of(w, &g, to);
		}
		whole(w, cd, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
		whole(w, cd, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, c.flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION);
		int64_t two = 2;
		set(w, cd, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two);
		axes(w, cd, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 2, c.pad + 1), axes(w, cd, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 2, c.pad + 1);
		axes(w, cd, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 2, c.step + 1), axes(w, cd, CUDNN_ATTR_CONVOLUTION_DILATIONS, 2, c.apart + 1), done(w, cd);
		desc o = operation(w, &g, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
		float one = 1, zero = 0;
		link_(w, o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, xd), link_(w, o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, fd), link_(w, o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, now);
		link_(w, o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, cd);
		set(w, o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one), set(w, o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero), done(w, o);
	} else {
		struct ten *x = &used[tens++];
		for (int i = 0; i < 4; i++)
			n *= dim[i] = 1 + pick(w, 12);
		said = snprintf(w->did, sizeof w->did, "graph %s of %d %d %d %d", name(type), dim[0], dim[1], dim[2], dim[3]);
		*x = make(w, type, kind(w, 3), 4, dim), now = of(w, &g, x);
		v = calloc(n, sizeof *v);
		for (int e = 0; e < n; e++)
			v[e] = x->v[nth(x, e)];
	}
	for (int i = 0; i < length; i++) {
		int k = kind(w, sizeof points / sizeof *points), last = i == length - 1 && !reduce;
		desc other = NULL, to;
		struct ten b = {0};
		said += snprintf(w->did + said, sizeof w->did - said, ", %d", points[k].mode);
		if (points[k].operands == 2) {
			int bd[4];
			for (int a = 0; a < nd; a++)
				bd[a] = kind(w, 2) ? dim[a] : 1;
			b = used[tens++] = make(w, type, PACKED, nd, bd), other = of(w, &g, &b);
		}
		for (int e = 0; e < n; e++) {
			size_t j = 0, rest = e;
			for (int a = nd - 1; a >= 0 && other; a--)
				j += b.dim[a] == 1 ? 0 : rest % dim[a] * b.stride[a], rest /= dim[a];
			v[e] = pointed(points[k].mode, v[e], other ? b.v[j] : 0);
		}
		most += 1;
		if (last)
			used[tens] = make(w, type, kind(w, 3), nd, dim), to = of(w, &g, &used[tens++]);
		else
			to = between(w, &g, nd, dim);
		point(w, &g, points[k].mode, now, other, to);
		now = to;
	}
	if (reduce) {
		static const int ops[] = {CUDNN_REDUCE_TENSOR_ADD, CUDNN_REDUCE_TENSOR_MAX, CUDNN_REDUCE_TENSOR_MIN, CUDNN_REDUCE_TENSOR_AVG, CUDNN_REDUCE_TENSOR_AMAX};
		int op = kind(w, 5), rd[4];
		for (int a = 0; a < nd; a++)
			rd[a] = kind(w, 2) ? dim[a] : 1;
		snprintf(w->did + said, sizeof w->did - said, ", reduction %d to %d %d %d %d", op, rd[0], rd[1], rd[2], nd > 3 ? rd[3] : 0);
		struct ten *r = &used[tens++];
		*r = make(w, CUDNN_DATA_FLOAT, PACKED, nd, rd);
		desc p = blank(w, &g, CUDNN_BACKEND_REDUCTION_DESCRIPTOR), o = operation(w, &g, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
		whole(w, p, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, ops[op]), whole(w, p, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
		link_(w, o, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, now), link_(w, o, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, of(w, &g, r));
		link_(w, o, CUDNN_ATTR_OPERATION_REDUCTION_DESC, done(w, p)), done(w, o);
		int less = count(r), *seen = calloc(less, sizeof *seen);
		double *sum = calloc(less, sizeof *sum);
		for (int e = 0; e < n; e++) {
			size_t j = 0, rest = e;
			for (int a = nd - 1; a >= 0; a--)
				j += rd[a] == 1 ? 0 : rest % dim[a] * r->stride[a], rest /= dim[a];
			sum[j] = op == 4 ? fmax(sum[j], fabs(v[e])) : op == 0 || op == 3 || !seen[j] ? sum[j] + v[e] : op == 1 ? fmax(sum[j], v[e]) : fmin(sum[j], v[e]);
			seen[j] = 1;
		}
		for (int j = 0; j < less && op == 3; j++)
			sum[j] /= n / less;
		most *= n / less;
		free(v), free(seen);
		v = sum;
	}
	execute(w, &g);
	struct ten *y = &used[tens - 1];
	double *want = calloc(y->n, sizeof *want), *mag = calloc(y->n, sizeof *mag);
	for (size_t e = 0; e < count(y); e++)
		want[nth(y, e)] = v[e], mag[nth(y, e)] = most;
	compare(w, "y", y, want, mag, CUDNN_DATA_FLOAT, 40);
	free(want), free(mag), free(v);
	while (tens)
		drop(w, &used[--tens]);
}
#include "dnnrandom_nodes.h"
