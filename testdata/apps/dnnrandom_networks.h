/* Norms, recurrent networks and dropout of cuDNN's classic API, and calls that it refuses, for app_dnnrandom.c. */
static void layer_norm(struct worker *w) {
	int type = floats[pick(w, 5)], spatial = pick(w, 2), in = inner(type), d[4] = {2 + pick(w, 4), 1 + pick(w, 9), 1 + pick(w, 7), 1 + pick(w, 7)};
	int sd[4] = {1, d[1], spatial ? 1 : d[2], spatial ? 1 : d[3]};
	cudnnBatchNormMode_t mode = spatial ? pick(w, 2) ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_SPATIAL_PERSISTENT : CUDNN_BATCHNORM_PER_ACTIVATION;
	double epsilon = 1e-3, part = (1 + pick(w, 64)) / 64.0;
	enum layout l = pick(w, 2);
	snprintf(w->did, sizeof w->did, "batch norm %s mode %d of %d %d %d %d layout %d part %g", name(type), mode, d[0], d[1], d[2], d[3], l, part);
	struct ten x = described(w, type, l, 4, d), y = described(w, type, l, 4, d), dy = described(w, type, l, 4, d), dx = described(w, type, l, 4, d);
	struct ten scale = described(w, in, PACKED, 4, sd), bias = described(w, in, PACKED, 4, sd), mean = described(w, in, PACKED, 4, sd), inverse = described(w, in, PACKED, 4, sd);
	struct ten running = described(w, in, PACKED, 4, sd), variance = described(w, in, PACKED, 4, sd), ds = described(w, in, PACKED, 4, sd), db = described(w, in, PACKED, 4, sd);
	struct ten *all[] = {&x, &y, &dy, &dx, &scale, &bias, &mean, &inverse, &running, &variance, &ds, &db};
	struct factor one, zero;
	const void *a = as(type, &one, 1), *b = as(type, &zero, 0);
	ok(w, cudnnBatchNormalizationForwardTraining(w->h, mode, a, b, x.d, x.p, y.d, y.p, scale.d, scale.p, bias.p, part, running.p, variance.p, epsilon, mean.p, inverse.p));
	ok(w, cudnnBatchNormalizationBackward(w->h, mode, a, b, a, b, x.d, x.p, dy.d, dy.p, dx.d, dx.p, scale.d, scale.p, ds.p, db.p, epsilon, mean.p, inverse.p));
	size_t stats = count(&scale), per = count(&x) / stats, area = d[2] * d[3];
	double *v[12], *mag = calloc(x.n, sizeof *mag);
	for (int i = 0; i < 12; i++)
		v[i] = calloc(x.n, sizeof **v);
	double *m = v[6], *r = v[7], *sum = v[10], *dot = v[11];
	for (int pass = 0; pass < 4; pass++)
		for (size_t e = 0; e < count(&x); e++) {
			size_t i = nth(&x, e), s = spatial ? e / area % d[1] : e % (d[1] * area);
			double g = scale.v[s], away = x.v[i] - m[s];
			switch (pass) {
			case 0: m[s] += x.v[i] / per; break;
			case 1: r[s] += away * away / per; break;
			case 2: sum[s] += dy.v[i], dot[s] += dy.v[i] * away / sqrt(r[s] + epsilon); break;
			default: v[1][i] = away / sqrt(r[s] + epsilon) * g + bias.v[s], v[3][i] = g / sqrt(r[s] + epsilon) * (dy.v[i] - sum[s] / per - away / sqrt(r[s] + epsilon) * dot[s] / per);
			}
		}
	for (size_t s = 0; s < stats; s++) {
		v[8][s] = (1 - part) * running.v[s] + part * m[s];
		v[9][s] = (1 - part) * variance.v[s] + part * r[s] * per / (per > 1 ? per - 1 : 1);
		r[s] = 1 / sqrt(r[s] + epsilon);
	}
	for (size_t i = 0; i < x.n; i++)
		mag[i] = 40 * (per + 4); /* an inverse may be 30, and sums have as many terms */
	static const struct {
		int at;
		const char *what;
	} results[] = {{1, "y"}, {6, "mean"}, {7, "inverse deviation"}, {8, "running mean"}, {9, "running variance"}, {3, "dx"}, {10, "gradient of the bias"}, {11, "gradient of the scale"}};
	for (int i = 0; i < 8; i++) {
		int k = results[i].at;
		compare(w, results[i].what, k == 10 ? &db : k == 11 ? &ds : all[k], v[k], mag, in, k == 3 || k == 7 ? 2000 : 60);
	}
	for (int i = 0; i < 12; i++)
		free(v[i]), drop(w, all[i]);
	free(mag);
}

/* A network of one direction, in f64 or f32: its output against the formulas, and the gradient of its input against differences. */
struct rnn {
	int mode, layers, in, wide, steps, batch, type, gates;
	double *w[2][8], *b[2][8]; /* by layer and number */
};
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
/* step does one time of one layer: x has n elements, h and c are states. */
static void step(const struct rnn *r, int layer, const double *x, int n, double *h, double *c) {
	double z[8][16], y[16];
	for (int g = 0; g < 2 * r->gates; g++)
		for (int i = 0; i < r->wide; i++) {
			double s = r->b[layer][g][i];
			const double *m = r->w[layer][g];
			for (int j = 0; j < (g < r->gates ? n : r->wide); j++)
				s += m[i * (g < r->gates ? n : r->wide) + j] * (g < r->gates ? x[j] : h[j]);
			z[g][i] = s;
		}
	for (int i = 0; i < r->wide; i++)
		switch (r->mode) {
		case CUDNN_RNN_RELU: y[i] = fmax(0, z[0][i] + z[1][i]); break;
		case CUDNN_RNN_TANH: y[i] = tanh(z[0][i] + z[1][i]); break;
		case CUDNN_LSTM:
			c[i] = sigmoid(z[1][i] + z[5][i]) * c[i] + sigmoid(z[0][i] + z[4][i]) * tanh(z[2][i] + z[6][i]);
			y[i] = sigmoid(z[3][i] + z[7][i]) * tanh(c[i]);
			break;
		default: {
			double reset = sigmoid(z[0][i] + z[3][i]), keep = sigmoid(z[1][i] + z[4][i]);
			y[i] = (1 - keep) * tanh(z[2][i] + reset * z[5][i]) + keep * h[i];
		}
		}
	memcpy(h, y, r->wide * sizeof *y);
}
/* outputs is what a network makes of x, both as time, sequence, vector; sequences end at their lengths. */
static void outputs(const struct rnn *r, const double *x, const int *lengths, double *y) {
	memset(y, 0, (size_t)r->steps * r->batch * r->wide * sizeof *y);
	for (int b = 0; b < r->batch; b++) {
		double h[2][16] = {0}, c[2][16] = {0};
		for (int t = 0; t < lengths[b]; t++) {
			const double *in = x + ((size_t)t * r->batch + b) * r->in;
			for (int l = 0; l < r->layers; l++)
				step(r, l, l ? h[l - 1] : in, l ? r->wide : r->in, h[l], c[l]);
			memcpy(y + ((size_t)t * r->batch + b) * r->wide, h[r->layers - 1], r->wide * sizeof *y);
		}
	}
}
/* The values of a device's vector, in the network's type. */
static double *fetched(struct worker *w, int type, const void *p, int n) {
	char *raw = malloc(n * 8);
	double *v = malloc(n * sizeof *v);
	ok(w, cudaMemcpyAsync(raw, p, (size_t)n * width(type), cudaMemcpyDeviceToHost, w->stream)), ok(w, cudaStreamSynchronize(w->stream));
	for (int i = 0; i < n; i++)
		v[i] = get(type, raw, i);
	free(raw);
	return v;
}
static void layer_rnn(struct worker *w) {
	static const int gates[] = {[CUDNN_RNN_RELU] = 1, [CUDNN_RNN_TANH] = 1, [CUDNN_LSTM] = 4, [CUDNN_GRU] = 3};
	struct rnn r = {.mode = pick(w, 4), .layers = 1 + pick(w, 2), .in = 1 + pick(w, 12), .wide = 1 + pick(w, 12), .steps = 1 + pick(w, 6), .batch = 1 + pick(w, 4),
		.type = pick(w, 2) ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT};
	r.gates = gates[r.mode];
	int lengths[4], training = pick(w, 2), type = r.type;
	for (int i = 0; i < r.batch; i++) /* the longest first */
		lengths[i] = i == 0 ? r.steps : 1 + pick(w, lengths[i - 1]);
	snprintf(w->did, sizeof w->did, "rnn %s mode %d layers %d sizes %d %d steps %d batch %d training %d", name(type), r.mode, r.layers, r.in, r.wide, r.steps, r.batch, training);
	cudnnDropoutDescriptor_t none;
	cudnnRNNDescriptor_t d;
	cudnnRNNDataDescriptor_t xd, yd;
	ok(w, cudnnCreateDropoutDescriptor(&none)), ok(w, cudnnSetDropoutDescriptor(none, w->h, 0, NULL, 0, 0));
	ok(w, cudnnCreateRNNDescriptor(&d)), ok(w, cudnnCreateRNNDataDescriptor(&xd)), ok(w, cudnnCreateRNNDataDescriptor(&yd));
	ok(w, cudnnSetRNNDescriptor_v8(d, CUDNN_RNN_ALGO_STANDARD, r.mode, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, type, type, CUDNN_DEFAULT_MATH, r.in, r.wide, r.wide,
		r.layers, none, CUDNN_RNN_PADDED_IO_ENABLED));
	double fill = 0;
	ok(w, cudnnSetRNNDataDescriptor(xd, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, r.steps, r.batch, r.in, lengths, &fill));
	ok(w, cudnnSetRNNDataDescriptor(yd, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, r.steps, r.batch, r.wide, lengths, &fill));
	size_t size = 0, work = 0, reserve = 0;
	ok(w, cudnnGetRNNWeightSpaceSize(w->h, d, &size));
	ok(w, cudnnGetRNNTempSpaceSizes(w->h, d, training, xd, &work, &reserve));
	int space = size / width(type);
	struct ten weights = make(w, type, PACKED, 1, &space), x = make(w, type, PACKED, 3, (int[]){r.steps, r.batch, r.in}), y = make(w, type, PACKED, 3, (int[]){r.steps, r.batch, r.wide});
	struct ten dy = make(w, type, PACKED, 3, y.dim), dx = make(w, type, PACKED, 3, x.dim);
	struct ten h = described(w, type, PACKED, 3, (int[]){r.layers, r.batch, r.wide}), m = described(w, type, PACKED, 3, (int[]){1, 1, 1}), b = described(w, type, PACKED, 3, (int[]){1, 1, 1});
	void *device = room(w, sizeof lengths), *works = room(w, work), *reserves = reserve ? room(w, reserve) : NULL;
	ok(w, cudaMemcpyAsync(device, lengths, sizeof lengths, cudaMemcpyHostToDevice, w->stream)), ok(w, cudaStreamSynchronize(w->stream));
	for (int l = 0; l < r.layers; l++)
		for (int g = 0; g < 2 * r.gates; g++) {
			void *pm = NULL, *pb = NULL;
			ok(w, cudnnGetRNNWeightParams(w->h, d, l, size, weights.p, g, m.d, &pm, b.d, &pb));
			r.w[l][g] = fetched(w, type, pm, r.wide * (g < r.gates && !l ? r.in : r.wide)), r.b[l][g] = fetched(w, type, pb, r.wide);
		}
	ok(w, cudnnRNNForward(w->h, d, training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, device, xd, x.p, yd, y.p, h.d, NULL, NULL, h.d, NULL, NULL, size, weights.p, work, works, reserve,
		reserves));
	double *want = calloc(y.n, sizeof *want), *up = calloc(y.n, sizeof *up), *mag = calloc(y.n + x.n, sizeof *mag), *grad = calloc(x.n, sizeof *grad), unit = 1e-5;
	for (size_t i = 0; i < y.n + x.n; i++)
		mag[i] = 40 * (r.mode == CUDNN_RNN_RELU ? 1e3 : 1);
	outputs(&r, x.v, lengths, want);
	compare(w, "y", &y, want, mag, type, 100);
	if (training && r.mode != CUDNN_RNN_RELU) {
		ok(w, cudnnRNNBackwardData_v8(w->h, d, device, yd, y.p, dy.p, xd, dx.p, h.d, NULL, NULL, NULL, h.d, NULL, NULL, NULL, size, weights.p, work, works, reserve, reserves));
		for (size_t i = 0; i < x.n; i++) {
			double was = x.v[i], less;
			for (int s = 0; s < 2; s++) {
				x.v[i] = was + (s ? unit : -unit);
				outputs(&r, x.v, lengths, up);
				less = 0;
				for (size_t e = 0; e < y.n; e++)
					less += (int)(e / r.wide / r.batch) < lengths[e / r.wide % r.batch] ? up[e] * dy.v[e] : 0;
				grad[i] += (s ? less : -less) / (2 * unit);
			}
			x.v[i] = was;
		}
		compare(w, "dx", &dx, grad, mag, CUDNN_DATA_FLOAT, 100);
	}
	free(want), free(up), free(mag), free(grad);
	for (int l = 0; l < r.layers; l++)
		for (int g = 0; g < 2 * r.gates; g++)
			free(r.w[l][g]), free(r.b[l][g]);
	ok(w, cudnnDestroyRNNDataDescriptor(xd)), ok(w, cudnnDestroyRNNDataDescriptor(yd)), ok(w, cudnnDestroyRNNDescriptor(d)), ok(w, cudnnDestroyDropoutDescriptor(none));
	drop(w, &weights), drop(w, &x), drop(w, &y), drop(w, &dy), drop(w, &dx), drop(w, &h), drop(w, &m), drop(w, &b);
}

/* The same states drop the same elements; what stays is scaled; the gradient has the forward pass's mask. */
static void layer_dropout(struct worker *w) {
	int type = floats[pick(w, 5)], d[4] = {1 + pick(w, 4), 1 + pick(w, 20), 1 + pick(w, 9), 1 + pick(w, 9)};
	float part = pick(w, 60) / 64.0f;
	unsigned long long seed = pick(w, 1000000);
	snprintf(w->did, sizeof w->did, "dropout %s part %g seed %llu of %d %d %d %d", name(type), part, seed, d[0], d[1], d[2], d[3]);
	struct ten x = described(w, type, PACKED, 4, d), y = described(w, type, PACKED, 4, d), again = described(w, type, PACKED, 4, d), dx = described(w, type, PACKED, 4, d);
	for (size_t i = 0; i < x.n; i++)
		if (x.v[i] == 0)
			x.v[i] = 1;
	upload(w, &x);
	size_t states = 0, reserve = 0;
	cudnnDropoutDescriptor_t p;
	ok(w, cudnnDropoutGetStatesSize(w->h, &states)), ok(w, cudnnDropoutGetReserveSpaceSize(x.d, &reserve));
	void *s = room(w, states), *r = room(w, reserve);
	ok(w, cudnnCreateDropoutDescriptor(&p));
	refused(w, "dropout with few states", cudnnSetDropoutDescriptor(p, w->h, part, s, states - 1, seed), CUDNN_STATUS_BAD_PARAM);
	ok(w, cudnnSetDropoutDescriptor(p, w->h, part, s, states, seed));
	ok(w, cudnnDropoutForward(w->h, p, x.d, x.p, again.d, again.p, r, reserve));
	ok(w, cudnnSetDropoutDescriptor(p, w->h, part, s, states, seed));
	ok(w, cudnnDropoutForward(w->h, p, x.d, x.p, y.d, y.p, r, reserve));
	ok(w, cudnnDropoutBackward(w->h, p, x.d, x.p, dx.d, dx.p, r, reserve));
	ok(w, cudaStreamSynchronize(w->stream));
	double *first = fetched(w, type, again.p, x.n), *want = calloc(x.n, sizeof *want), *mag = calloc(x.n, sizeof *mag), gone = 0;
	for (size_t i = 0; i < x.n; i++) {
		gone += first[i] == 0;
		want[i] = first[i] == 0 ? 0 : x.v[i] / (1 - part), mag[i] = fabs(want[i]);
	}
	if (fabs(gone - part * x.n) > 7 * sqrt(x.n * part * (1 - part)) + 1)
		bad(w, "dropped", gone);
	compare(w, "y", &y, want, mag, inner(type), 4);
	compare(w, "dx", &dx, want, mag, inner(type), 4);
	free(first), free(want), free(mag);
	ok(w, cudnnDestroyDropoutDescriptor(p));
	drop(w, &x), drop(w, &y), drop(w, &again), drop(w, &dx);
}

/* Calls that must be refused, which leave nothing behind. */
static void layer_misuse(struct worker *w) {
	cudnnTensorDescriptor_t t;
	cudnnFilterDescriptor_t f;
	cudnnConvolutionDescriptor_t c;
	cudnnActivationDescriptor_t a;
	cudnnPoolingDescriptor_t p;
	strcpy(w->did, "misuse");
	ok(w, cudnnCreateTensorDescriptor(&t)), ok(w, cudnnCreateFilterDescriptor(&f)), ok(w, cudnnCreateConvolutionDescriptor(&c));
	ok(w, cudnnCreateActivationDescriptor(&a)), ok(w, cudnnCreatePoolingDescriptor(&p));
	float one = 1;
	switch (pick(w, 8)) {
	case 0: refused(w, "tensor of -1", cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -1 - (int)pick(w, 5), 2, 2), CUDNN_STATUS_BAD_PARAM); break;
	case 1: refused(w, "tensor of 9 axes", cudnnSetTensorNdDescriptor(t, CUDNN_DATA_FLOAT, 9, (int[9]){1, 1, 1, 1, 1, 1, 1, 1, 1}, (int[9]){1, 1, 1, 1, 1, 1, 1, 1, 1}), CUDNN_STATUS_NOT_SUPPORTED); break;
	case 2: refused(w, "handle that is none", cudnnSetStream(NULL, w->stream), CUDNN_STATUS_BAD_PARAM); break;
	case 3: refused(w, "filter of 0", cudnnSetFilter4dDescriptor(f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 0, 2, 2), CUDNN_STATUS_BAD_PARAM); break;
	case 4: refused(w, "convolution of step 0", cudnnSetConvolution2dDescriptor(c, 0, 0, 0, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT), CUDNN_STATUS_BAD_PARAM); break;
	case 5:
		ok(w, cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 2, 2));
		refused(w, "softmax without factors", cudnnSoftmaxForward(w->h, 1, 0, NULL, t, NULL, NULL, t, NULL), CUDNN_STATUS_BAD_PARAM);
		break;
	case 6: refused(w, "pool of window 0", cudnnSetPooling2dDescriptor(p, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 0, 1, 0, 0, 1, 1), CUDNN_STATUS_BAD_PARAM); break;
	default: refused(w, "tensor that is none", cudnnScaleTensor(w->h, NULL, NULL, &one), CUDNN_STATUS_BAD_PARAM);
	}
	ok(w, cudnnDestroyTensorDescriptor(t)), ok(w, cudnnDestroyFilterDescriptor(f)), ok(w, cudnnDestroyConvolutionDescriptor(c));
	ok(w, cudnnDestroyActivationDescriptor(a)), ok(w, cudnnDestroyPoolingDescriptor(p));
}
