/* Norms and attention of cuDNN's backend API, and its misuse, for app_dnnrandom.c. */
static void graph_norm(struct worker *w) {
	static const int types[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}, modes[] = {CUDNN_LAYER_NORM, CUDNN_RMS_NORM, CUDNN_INSTANCE_NORM, CUDNN_GROUP_NORM};
	struct graph g = {0};
	int type = types[pick(w, 3)], how = pick(w, 4), d[4] = {1 + pick(w, 5), 1 + pick(w, 60), 1 + pick(w, 4), 2 + pick(w, 4)};
	int groups = how < 2 ? 1 : how == 2 ? d[1] : 1 + pick(w, 6);
	if (how == 3)
		d[1] = groups * (1 + pick(w, 10));
	int sd[4] = {1, d[1], how < 2 ? d[2] : 1, how < 2 ? d[3] : 1}, md[4] = {d[0], groups, 1, 1}, with_bias = how != 1;
	snprintf(w->did, sizeof w->did, "graph %s norm %d of %d %d %d %d in %d groups", name(type), modes[how], d[0], d[1], d[2], d[3], groups);
	struct ten x = make(w, type, PACKED, 4, d), y = make(w, type, PACKED, 4, d), scale = make(w, CUDNN_DATA_FLOAT, PACKED, 4, sd), bias = make(w, CUDNN_DATA_FLOAT, PACKED, 4, sd);
	struct ten mean = make(w, CUDNN_DATA_FLOAT, PACKED, 4, md), inverse = make(w, CUDNN_DATA_FLOAT, PACKED, 4, md);
	float epsilon = 1e-3f;
	desc o = operation(w, &g, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
	whole(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, modes[how]), whole(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING);
	link_(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, of(w, &g, &x)), link_(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, of(w, &g, &scale));
	if (with_bias)
		link_(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, of(w, &g, &bias)), link_(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, of(w, &g, &mean));
	link_(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, of(w, &g, &inverse));
	link_(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, value(w, &g, CUDNN_DATA_FLOAT, 4, (int[]){1, 1, 1, 1}, NULL, &epsilon, 1));
	link_(w, o, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, of(w, &g, &y)), done(w, o);
	execute(w, &g);
	size_t rows = count(&mean), per = x.n / rows;
	double *want = calloc(x.n, sizeof *want), *m = calloc(rows, sizeof *m), *r = calloc(rows, sizeof *r), *mag = calloc(x.n, sizeof *mag);
	for (size_t i = 0; i < rows; i++) {
		double sum = 0;
		for (size_t j = 0; j < per && with_bias; j++)
			m[i] += x.v[i * per + j] / per;
		for (size_t j = 0; j < per; j++)
			sum += (x.v[i * per + j] - m[i]) * (x.v[i * per + j] - m[i]) / per;
		r[i] = 1 / sqrt(sum + 1e-3f);
		for (size_t j = 0; j < per; j++) {
			size_t e = i * per + j, s = how < 2 ? j : e / (d[2] * d[3]) % d[1];
			want[e] = (x.v[e] - m[i]) * r[i] * scale.v[s] + (with_bias ? bias.v[s] : 0);
		}
	}
	for (size_t e = 0; e < x.n; e++)
		mag[e] = 40;
	compare(w, "y", &y, want, mag, CUDNN_DATA_FLOAT, 60);
	if (with_bias)
		compare(w, "mean", &mean, m, mag, CUDNN_DATA_FLOAT, 10);
	compare(w, "inverse deviation", &inverse, r, mag, CUDNN_DATA_FLOAT, 500);
	free(want), free(m), free(r), free(mag);
	drop(w, &x), drop(w, &y), drop(w, &scale), drop(w, &bias), drop(w, &mean), drop(w, &inverse);
}

/* Attention as one operation, or as products and a softmax; heads may share keys. */
static void graph_attention(struct worker *w) {
	static const int types[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16};
	struct graph g = {0};
	int type = types[pick(w, 3)], shared = 1 + pick(w, 3), heads = shared * (1 + pick(w, 2)), batch = 1 + pick(w, 2), queries = 1 + pick(w, 40), keys = 1 + pick(w, 70), wide = 8 * (1 + pick(w, 8));
	int parts = pick(w, 2);
	float factor = (1 + pick(w, 64)) / 128.0f;
	snprintf(w->did, sizeof w->did, "graph %s attention of %d batches, %d heads on %d, %d queries, %d keys of %d, in parts %d, scale %g", name(type), batch, heads, shared, queries, keys, wide, parts,
		factor);
	struct ten q = make(w, type, PACKED, 4, (int[]){batch, heads, queries, wide}), k = make(w, type, PACKED, 4, (int[]){batch, shared, keys, wide}), v = make(w, type, PACKED, 4, k.dim);
	struct ten o = make(w, type, PACKED, 4, q.dim), stats = make(w, CUDNN_DATA_FLOAT, PACKED, 4, (int[]){batch, heads, queries, 1});
	desc qd = of(w, &g, &q), vd = of(w, &g, &v), od = of(w, &g, &o), sd = of(w, &g, &stats), by = value(w, &g, CUDNN_DATA_FLOAT, 4, (int[]){1, 1, 1, 1}, NULL, &factor, 1);
	if (parts) {
		int turned[] = {batch, shared, wide, keys}, by_keys[] = {k.stride[0], k.stride[1], 1, wide}, scores[] = {batch, heads, queries, keys};
		desc kd = value(w, &g, type, 4, turned, by_keys, k.p, 0), raw = between(w, &g, 4, scores), multiplied = between(w, &g, 4, scores), p = between(w, &g, 4, scores);
		product(w, &g, qd, kd, raw);
		point(w, &g, CUDNN_POINTWISE_MUL, raw, by, multiplied);
		desc s = operation(w, &g, CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR);
		link_(w, s, CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, multiplied), link_(w, s, CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, p), link_(w, s, CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, sd), done(w, s);
		product(w, &g, p, vd, od);
	} else {
		desc s = operation(w, &g, CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
		link_(w, s, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, qd), link_(w, s, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, of(w, &g, &k)), link_(w, s, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, vd);
		link_(w, s, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, od), link_(w, s, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, sd), link_(w, s, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, by), done(w, s);
	}
	execute(w, &g);
	double *want = calloc(o.n, sizeof *want), *mag = calloc(o.n, sizeof *mag), *logs = calloc(stats.n, sizeof *logs), *e = calloc(keys, sizeof *e);
	for (size_t r = 0; r < stats.n; r++) {
		size_t head = r / queries, from = (head / heads * shared + head % heads / (heads / shared)) * keys;
		double sum = 0;
		for (int j = 0; j < keys; j++) {
			double s = 0;
			for (int i = 0; i < wide; i++)
				s += q.v[r * wide + i] * k.v[(from + j) * wide + i];
			sum += e[j] = exp(s * factor);
		}
		logs[r] = log(sum);
		for (int i = 0; i < wide; i++)
			for (int j = 0; j < keys; j++)
				want[r * wide + i] += e[j] / sum * v.v[(from + j) * wide + i];
	}
	for (size_t i = 0; i < o.n; i++)
		mag[i] = 8;
	compare(w, "o", &o, want, mag, type, type == CUDNN_DATA_FLOAT ? 60 : 1); /* probabilities may be in the type of the operands */
	compare(w, "stats", &stats, logs, mag, CUDNN_DATA_FLOAT, 200);
	free(want), free(mag), free(logs), free(e);
	drop(w, &q), drop(w, &k), drop(w, &v), drop(w, &o), drop(w, &stats);
}

/* What the real library refuses, with its codes (internal/shim/cudnn/testdata/misuse.txt). */
static void graph_misuse(struct worker *w) {
	struct graph g = {0};
	strcpy(w->did, "misuse of graphs");
	desc t = blank(w, &g, CUDNN_BACKEND_TENSOR_DESCRIPTOR), p = blank(w, &g, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), v = blank(w, &g, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR), none = NULL;
	int64_t two[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2}, got;
	float f = 1;
	switch (pick(w, 9)) {
	case 0: refused(w, "an unknown type", cudnnBackendCreateDescriptor(900 + pick(w, 99), &none), CUDNN_STATUS_ALLOC_FAILED); break;
	case 1: refused(w, "destroy of NULL", cudnnBackendDestroyDescriptor(NULL), CUDNN_STATUS_BAD_PARAM_NULL_POINTER); break;
	case 2: refused(w, "another descriptor's attribute", cudnnBackendSetAttribute(t, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, two), CUDNN_STATUS_BAD_PARAM); break;
	case 3: refused(w, "a wrong type", cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, &f), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE); break;
	case 4: refused(w, "a wrong count", cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, (int)pick(w, 2) * 3 - 1, two), CUDNN_STATUS_BAD_PARAM); break;
	case 5: refused(w, "an empty tensor", cudnnBackendFinalize(t), CUDNN_STATUS_BAD_PARAM); break;
	case 6: refused(w, "get before finalize", cudnnBackendGetAttribute(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &got, two), CUDNN_STATUS_NOT_INITIALIZED); break;
	case 7: refused(w, "an empty plan", cudnnBackendFinalize(p), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED); break;
	default: refused(w, "an unfinished pack", cudnnBackendExecute(w->h, p, v), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
	}
	while (g.descs)
		ok(w, cudnnBackendDestroyDescriptor(g.all[--g.descs]));
}
