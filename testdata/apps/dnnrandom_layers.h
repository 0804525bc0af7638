/* Layers of cuDNN's classic API, for app_dnnrandom.c. */
struct conv_call {
	int way, type, activate, clip;
	size_t size;
	void *space;
	int algo;
	const void *alpha, *beta;
	struct ten *x, *f, *y, *bias;
	cudnnFilterDescriptor_t fd;
	cudnnConvolutionDescriptor_t cd;
	cudnnActivationDescriptor_t act;
};
static int conv_calls(struct worker *w, void *with) {
	struct conv_call *c = with;
	if (c->activate)
		return cudnnConvolutionBiasActivationForward(w->h, c->alpha, c->x->d, c->x->p, c->fd, c->f->p, c->cd, c->algo, c->space, c->size, c->beta, c->y->d, c->y->p, c->bias->d,
			c->bias->p, c->act, c->y->d, c->y->p);
	switch (c->way) {
	case 0: return cudnnConvolutionForward(w->h, c->alpha, c->x->d, c->x->p, c->fd, c->f->p, c->cd, c->algo, c->space, c->size, c->beta, c->y->d, c->y->p);
	case 1: return cudnnConvolutionBackwardData(w->h, c->alpha, c->fd, c->f->p, c->y->d, c->y->p, c->cd, c->algo, c->space, c->size, c->beta, c->x->d, c->x->p);
	default: return cudnnConvolutionBackwardFilter(w->h, c->alpha, c->x->d, c->x->p, c->y->d, c->y->p, c->cd, c->algo, c->space, c->size, c->beta, c->fd, c->f->p);
	}
}
/* conv_algo takes any algorithm that the library offers. */
static void conv_algo(struct worker *w, struct conv_call *c) {
	int n = 0;
	if (c->way == 0) {
		cudnnConvolutionFwdAlgoPerf_t p[8];
		ok(w, cudnnGetConvolutionForwardAlgorithm_v7(w->h, c->x->d, c->fd, c->cd, c->y->d, 8, &n, p));
		while (n > 1 && p[n - 1].status)
			n--;
		c->algo = p[pick(w, n)].algo;
		ok(w, cudnnGetConvolutionForwardWorkspaceSize(w->h, c->x->d, c->fd, c->cd, c->y->d, c->algo, &c->size));
	} else if (c->way == 1) {
		cudnnConvolutionBwdDataAlgoPerf_t p[8];
		ok(w, cudnnGetConvolutionBackwardDataAlgorithm_v7(w->h, c->fd, c->y->d, c->cd, c->x->d, 8, &n, p));
		while (n > 1 && p[n - 1].status)
			n--;
		c->algo = p[pick(w, n)].algo;
		ok(w, cudnnGetConvolutionBackwardDataWorkspaceSize(w->h, c->fd, c->y->d, c->cd, c->x->d, c->algo, &c->size));
	} else {
		cudnnConvolutionBwdFilterAlgoPerf_t p[8];
		ok(w, cudnnGetConvolutionBackwardFilterAlgorithm_v7(w->h, c->x->d, c->y->d, c->cd, c->fd, 8, &n, p));
		while (n > 1 && p[n - 1].status)
			n--;
		c->algo = p[pick(w, n)].algo;
		ok(w, cudnnGetConvolutionBackwardFilterWorkspaceSize(w->h, c->x->d, c->y->d, c->cd, c->fd, c->algo, &c->size));
	}
	c->space = c->size ? room(w, c->size) : NULL;
}
static void layer_conv(struct worker *w) {
	int n, channels, filters;
	struct conv c = convolution(w, &n, &channels, &filters);
	int type = floats[pick(w, 5)], skip = 3 - c.axes, nd = 2 + c.axes, last = pick(w, 4) == 0;
	struct conv_call k = {.way = pick(w, 3), .type = type};
	int xd[5] = {n, channels, 0}, yd[5] = {n, filters, 0}, fd[5] = {filters, channels / c.groups, 0}, bd[5] = {1, filters, 1, 1, 1}, got[5];
	for (int a = 0; a < c.axes; a++)
		xd[2 + a] = c.in[skip + a], yd[2 + a] = c.out[skip + a], fd[2 + a] = c.f[skip + a];
	k.activate = k.way == 0 && pick(w, 3) == 0;
	k.clip = k.activate && pick(w, 2);
	double alpha = pick(w, 3) ? 1 : number(w), beta = pick(w, 3) ? 0 : number(w);
	snprintf(w->did, sizeof w->did, "convolution %s way %d activation %d %d x %d %d %d %d %d filters %d of %d %d %d groups %d pad %d %d %d step %d %d %d apart %d %d %d flip %d last %d alpha %g beta %g",
		name(type), k.way, k.activate, k.clip, n, channels, c.in[0], c.in[1], c.in[2], filters, c.f[0], c.f[1], c.f[2], c.groups, c.pad[0], c.pad[1], c.pad[2], c.step[0], c.step[1],
		c.step[2], c.apart[0], c.apart[1], c.apart[2], c.flip, last, alpha, beta);
	enum layout lx = last ? LAST : pick(w, 4) ? PACKED : GAPS, ly = last ? LAST : pick(w, 4) ? PACKED : GAPS, lf = last && pick(w, 2) ? LAST : PACKED;
	struct ten x = described(w, type, lx, nd, xd), y = described(w, type, ly, nd, yd), f = make(w, type, lf, nd, fd), b = described(w, type, PACKED, nd, bd);
	k.x = &x, k.y = &y, k.f = &f, k.bias = &b;
	ok(w, cudnnCreateFilterDescriptor(&k.fd)), ok(w, cudnnCreateConvolutionDescriptor(&k.cd)), ok(w, cudnnCreateActivationDescriptor(&k.act));
	ok(w, cudnnSetFilterNdDescriptor(k.fd, type, lf == LAST ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, nd, fd));
	ok(w, cudnnSetConvolutionNdDescriptor(k.cd, c.axes, c.pad + skip, c.step + skip, c.apart + skip, c.flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION, inner(type)));
	ok(w, cudnnSetConvolutionGroupCount(k.cd, c.groups));
	ok(w, cudnnSetActivationDescriptor(k.act, k.clip ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY, CUDNN_NOT_PROPAGATE_NAN, 0));
	ok(w, cudnnGetConvolutionNdForwardOutputDim(k.cd, x.d, k.fd, nd, got));
	if (memcmp(got, yd, nd * sizeof *got))
		bad(w, "another shape of the result", got[2]);
	conv_algo(w, &k);
	if (k.activate && !k.clip)
		k.algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
	struct factor one, two;
	k.alpha = as(type, &one, alpha), k.beta = as(type, &two, beta);
	if (k.way == 0 && pick(w, 6) == 0) { /* a result of another shape is refused */
		y.dim[1]++;
		ok(w, cudnnSetTensorNdDescriptor(y.d, type, nd, y.dim, y.stride));
		refused(w, "convolution into another shape", conv_calls(w, &k), CUDNN_STATUS_BAD_PARAM);
		y.dim[1]--;
		ok(w, cudnnSetTensorNdDescriptor(y.d, type, nd, y.dim, y.stride));
	}
	run(w, conv_calls, &k);
	struct ten *to = k.way == 0 ? &y : k.way == 1 ? &x : &f;
	double *want = calloc(to->n, sizeof *want), *mag = calloc(to->n, sizeof *mag);
	convolved(&c, k.way, &x, &f, &y, want, mag);
	scaled(to, want, mag, alpha, beta);
	for (size_t e = 0; k.activate && e < count(&y); e++) {
		size_t i = nth(&y, e), per = count(&y) / n / filters;
		want[i] += b.v[e / per % filters], mag[i] += 1;
		if (k.clip && want[i] < 0)
			want[i] = 0;
	}
	compare(w, "result", to, want, mag, inner(type), 40);
	free(want), free(mag);
	ok(w, cudnnDestroyFilterDescriptor(k.fd)), ok(w, cudnnDestroyConvolutionDescriptor(k.cd)), ok(w, cudnnDestroyActivationDescriptor(k.act));
	drop(w, &x), drop(w, &y), drop(w, &f), drop(w, &b);
}

/* Maxima and means of windows, and their gradients. */
static void layer_pool(struct worker *w) {
	static const cudnnPoolingMode_t modes[] = {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, CUDNN_POOLING_MAX_DETERMINISTIC};
	int type = floats[pick(w, 5)], how = pick(w, 4), max = how == 0 || how == 3, xd[4] = {1 + pick(w, 3), 1 + pick(w, 6)}, yd[4] = {xd[0], xd[1]}, win[2], pad[2], step[2], got[4];
	for (int a = 0; a < 2; a++) {
		win[a] = 1 + pick(w, 4), pad[a] = pick(w, win[a]), step[a] = 1 + pick(w, 3), xd[2 + a] = win[a] + pick(w, 10);
		yd[2 + a] = (xd[2 + a] + 2 * pad[a] - win[a]) / step[a] + 1;
	}
	snprintf(w->did, sizeof w->did, "pool %s mode %d x %d %d %d %d window %d %d pad %d %d step %d %d", name(type), how, xd[0], xd[1], xd[2], xd[3], win[0], win[1], pad[0], pad[1], step[0], step[1]);
	enum layout l = pick(w, 3);
	struct ten x = described(w, type, l, 4, xd), y = described(w, type, l, 4, yd), dy = described(w, type, l, 4, yd), dx = described(w, type, l, 4, xd);
	cudnnPoolingDescriptor_t p;
	ok(w, cudnnCreatePoolingDescriptor(&p)), ok(w, cudnnSetPoolingNdDescriptor(p, modes[how], pick(w, 2), 2, win, pad, step));
	ok(w, cudnnGetPoolingNdForwardOutputDim(p, x.d, 4, got));
	if (memcmp(got, yd, sizeof got))
		bad(w, "another shape of the result", got[2]);
	struct factor one, zero;
	ok(w, cudnnPoolingForward(w->h, p, as(type, &one, 1), x.d, x.p, as(type, &zero, 0), y.d, y.p));
	double *want = calloc(y.n, sizeof *want), *mag = calloc(y.n, sizeof *mag), *grad = calloc(dx.n, sizeof *grad), *size = calloc(dx.n, sizeof *size);
	int ties = 0;
	for (size_t e = 0; e < count(&y); e++) {
		size_t i = nth(&y, e), best = 0;
		int oy = e / yd[3] % yd[2], ox = e % yd[3], n = e / yd[3] / yd[2] / yd[1], c = e / yd[3] / yd[2] % yd[1], seen = 0, of = how == 1 ? win[0] * win[1] : 0;
		for (int pass = 0; pass < 2; pass++)
			for (int j = 0; j < win[0] * win[1]; j++) {
				int at_x[2] = {oy * step[0] - pad[0] + j / win[1], ox * step[1] - pad[1] + j % win[1]};
				if (at_x[0] < 0 || at_x[1] < 0 || at_x[0] >= xd[2] || at_x[1] >= xd[3])
					continue;
				size_t ix = at(&x, n, c, at_x);
				if (!pass) {
					if (max && (!seen || x.v[ix] > want[i]))
						want[i] = x.v[ix], best = ix;
					else if (max && x.v[ix] == want[i])
						ties++;
					if (!max)
						want[i] += x.v[ix], mag[i] += 1;
					seen++;
				} else if (!max)
					grad[ix] += dy.v[i] / of, size[ix] += 1;
				if (!pass && how == 2)
					of = seen;
			}
		if (max)
			grad[best] += dy.v[i], size[best] += 1;
		else
			want[i] /= of;
	}
	compare(w, "y", &y, want, mag, inner(type), 10);
	if (!ties || !max) {
		ok(w, cudnnPoolingBackward(w->h, p, as(type, &one, 1), y.d, y.p, dy.d, dy.p, x.d, x.p, as(type, &zero, 0), dx.d, dx.p));
		compare(w, "dx", &dx, grad, size, inner(type), 10);
	}
	free(want), free(mag), free(grad), free(size);
	ok(w, cudnnDestroyPoolingDescriptor(p));
	drop(w, &x), drop(w, &y), drop(w, &dy), drop(w, &dx);
}

static void layer_softmax(struct worker *w) {
	int type = floats[pick(w, 5)], how = pick(w, 3), channel = pick(w, 2), d[4] = {1 + pick(w, 5), 1 + pick(w, 70), 1 + pick(w, 6), 1 + pick(w, 6)};
	double alpha = pick(w, 3) ? 1 : number(w), beta = pick(w, 3) ? 0 : number(w);
	enum layout l = pick(w, 3);
	snprintf(w->did, sizeof w->did, "softmax %s algorithm %d by channel %d of %d %d %d %d layout %d alpha %g beta %g", name(type), how, channel, d[0], d[1], d[2], d[3], l, alpha, beta);
	struct ten x = described(w, type, l, 4, d), y = described(w, type, l, 4, d), dy = described(w, type, l, 4, d), dx = described(w, type, l, 4, d);
	struct factor one, two;
	ok(w, cudnnSoftmaxForward(w->h, how, channel, as(type, &one, alpha), x.d, x.p, as(type, &two, beta), y.d, y.p));
	double *want = calloc(y.n, sizeof *want), *mag = calloc(y.n, sizeof *mag);
	int per = channel ? d[1] : d[1] * d[2] * d[3], rest = count(&x) / per, area = d[2] * d[3];
	for (int pass = 0; pass < 2; pass++) { /* forward, then the gradient with x for y */
		for (int r = 0; r < rest; r++) {
			double sum = 0, dot = 0;
			for (int b = 0; b < 2; b++)
				for (int j = 0; j < per; j++) {
					size_t i = nth(&x, channel ? (size_t)(r / area * d[1] + j) * area + r % area : (size_t)r * per + j);
					if (!b)
						sum += exp(x.v[i]), dot += how == CUDNN_SOFTMAX_LOG ? dy.v[i] : dy.v[i] * x.v[i];
					else if (!pass)
						want[i] = how == CUDNN_SOFTMAX_LOG ? x.v[i] - log(sum) : exp(x.v[i]) / sum, mag[i] = fabs(want[i]) + (how == CUDNN_SOFTMAX_LOG);
					else
						want[i] = how == CUDNN_SOFTMAX_LOG ? dy.v[i] - exp(x.v[i]) * dot : x.v[i] * (dy.v[i] - dot), mag[i] = 1 + 3 * per;
				}
		}
		scaled(pass ? &dx : &y, want, mag, alpha, beta);
		if (pass)
			ok(w, cudnnSoftmaxBackward(w->h, how, channel, as(type, &one, alpha), x.d, x.p, dy.d, dy.p, as(type, &two, beta), dx.d, dx.p));
		compare(w, pass ? "dx" : "y", pass ? &dx : &y, want, mag, inner(type), 40);
	}
	free(want), free(mag);
	drop(w, &x), drop(w, &y), drop(w, &dy), drop(w, &dx);
}

static double activated(int mode, double x, double c) {
	switch (mode) {
	case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));
	case CUDNN_ACTIVATION_RELU: return x > 0 ? x : 0;
	case CUDNN_ACTIVATION_TANH: return tanh(x);
	case CUDNN_ACTIVATION_CLIPPED_RELU: return x < 0 ? 0 : x > c ? c : x;
	case CUDNN_ACTIVATION_ELU: return x > 0 ? x : c * expm1(x);
	default: return x / (1 + exp(-c * x)); /* swish */
	}
}
static double slope(int mode, double x, double c) {
	double y = activated(mode, x, c), s = 1 / (1 + exp(-c * x));
	switch (mode) {
	case CUDNN_ACTIVATION_SIGMOID: return y * (1 - y);
	case CUDNN_ACTIVATION_RELU: return x > 0;
	case CUDNN_ACTIVATION_TANH: return 1 - y * y;
	case CUDNN_ACTIVATION_CLIPPED_RELU: return x > 0 && x < c;
	case CUDNN_ACTIVATION_ELU: return x > 0 ? 1 : c * exp(x);
	default: return s + c * x * s * (1 - s);
	}
}
static void layer_activation(struct worker *w) {
	static const int modes[] = {CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH, CUDNN_ACTIVATION_CLIPPED_RELU, CUDNN_ACTIVATION_ELU, CUDNN_ACTIVATION_SWISH};
	int type = floats[pick(w, 5)], mode = modes[pick(w, 6)], d[4] = {1 + pick(w, 4), 1 + pick(w, 20), 1 + pick(w, 9), 1 + pick(w, 9)};
	double coefficient = (1 + pick(w, 64)) / 64.0 + 1.0 / 128, alpha = pick(w, 3) ? 1 : number(w), beta = pick(w, 3) ? 0 : number(w);
	enum layout l = pick(w, 3);
	snprintf(w->did, sizeof w->did, "activation %s mode %d of %d %d %d %d layout %d coefficient %g alpha %g beta %g", name(type), mode, d[0], d[1], d[2], d[3], l, coefficient, alpha, beta);
	struct ten x = described(w, type, l, 4, d), y = described(w, type, l, 4, d), dy = described(w, type, l, 4, d), dx = described(w, type, l, 4, d);
	for (size_t i = 0; i < x.n; i++)
		if (x.v[i] == 0)
			x.v[i] = .5;
	upload(w, &x);
	cudnnActivationDescriptor_t a;
	struct factor one, two, plain, none;
	ok(w, cudnnCreateActivationDescriptor(&a)), ok(w, cudnnSetActivationDescriptor(a, mode, CUDNN_PROPAGATE_NAN, coefficient));
	if (mode == CUDNN_ACTIVATION_SWISH)
		ok(w, cudnnSetActivationDescriptorSwishBeta(a, coefficient));
	double *want = calloc(y.n, sizeof *want), *mag = calloc(y.n, sizeof *mag);
	for (int pass = 0; pass < 3; pass++) { /* forward; forward as the gradient needs it; the gradient */
		struct ten *to = pass == 2 ? &dx : &y;
		for (size_t i = 0; i < y.n; i++)
			want[i] = pass == 2 ? dy.v[i] * slope(mode, x.v[i], coefficient) : activated(mode, x.v[i], coefficient), mag[i] = 4;
		if (pass == 2)
			ok(w, cudnnActivationBackward(w->h, a, as(type, &one, alpha), y.d, y.p, dy.d, dy.p, x.d, x.p, as(type, &two, beta), dx.d, dx.p));
		else if (pass == 1)
			ok(w, cudnnActivationForward(w->h, a, as(type, &plain, 1), x.d, x.p, as(type, &none, 0), y.d, y.p));
		else
			ok(w, cudnnActivationForward(w->h, a, as(type, &one, alpha), x.d, x.p, as(type, &two, beta), y.d, y.p));
		if (pass != 1) {
			scaled(to, want, mag, alpha, beta);
			compare(w, pass ? "dx" : "y", to, want, mag, pass ? type : inner(type), 10);
		}
	}
	free(want), free(mag);
	ok(w, cudnnDestroyActivationDescriptor(a));
	drop(w, &x), drop(w, &y), drop(w, &dy), drop(w, &dx);
}

/* One tensor and another, which may have one element along an axis: cudnnOpTensor, cudnnAddTensor, cudnnScaleTensor, cudnnTransformTensor. */
static void layer_points(struct worker *w) {
	int type = floats[pick(w, 5)], call = pick(w, 7), d[4] = {1 + pick(w, 4), 1 + pick(w, 9), 1 + pick(w, 9), 1 + pick(w, 9)}, bd[4];
	double alpha = number(w), other = number(w), beta = pick(w, 2) ? 0 : number(w);
	for (int i = 0; i < 4; i++)
		bd[i] = call == 6 || pick(w, 2) ? d[i] : 1;
	enum layout l = pick(w, 3);
	snprintf(w->did, sizeof w->did, "points %s call %d of %d %d %d %d and %d %d %d %d layout %d factors %g %g %g", name(type), call, d[0], d[1], d[2], d[3], bd[0], bd[1], bd[2], bd[3], l, alpha,
		other, beta);
	struct ten a = described(w, type, l, 4, d), b = described(w, type, call == 6 ? pick(w, 3) : l, 4, bd), c = described(w, type, l, 4, d);
	struct factor x, y, z;
	static const int ops[] = {CUDNN_OP_TENSOR_ADD, CUDNN_OP_TENSOR_MUL, CUDNN_OP_TENSOR_MIN, CUDNN_OP_TENSOR_MAX};
	cudnnOpTensorDescriptor_t o;
	ok(w, cudnnCreateOpTensorDescriptor(&o));
	const void *pa = as(type, &x, alpha), *pb = as(type, &y, other), *pz = as(type, &z, beta);
	switch (call) {
	case 4: ok(w, cudnnAddTensor(w->h, pa, b.d, b.p, pz, c.d, c.p)); break;
	case 5: ok(w, cudnnScaleTensor(w->h, c.d, c.p, pa)); break;
	case 6: ok(w, cudnnTransformTensor(w->h, pa, b.d, b.p, pz, c.d, c.p)); break;
	default:
		ok(w, cudnnSetOpTensorDescriptor(o, ops[call], inner(type), CUDNN_PROPAGATE_NAN));
		ok(w, cudnnOpTensor(w->h, o, pa, a.d, a.p, pb, b.d, b.p, pz, c.d, c.p));
	}
	double *want = calloc(c.n, sizeof *want), *mag = calloc(c.n, sizeof *mag);
	for (size_t e = 0; e < count(&c); e++) {
		size_t i = nth(&c, e), j = 0, rest = e;
		for (int k = 3; k >= 0; k--)
			j += bd[k] == 1 ? 0 : rest % d[k] * b.stride[k], rest /= d[k];
		double p = alpha * a.v[i], q = other * b.v[j];
		switch (call) {
		case 0: want[i] = p + q; break;
		case 1: want[i] = p * q; break;
		case 2: want[i] = fmin(p, q); break;
		case 3: want[i] = fmax(p, q); break;
		case 5: want[i] = alpha * c.v[i]; break;
		default: want[i] = alpha * b.v[j]; break;
		}
		mag[i] = 2;
	}
	if (call != 5)
		scaled(&c, want, mag, 1, beta);
	compare(w, "c", &c, want, mag, inner(type), 8);
	free(want), free(mag);
	ok(w, cudnnDestroyOpTensorDescriptor(o));
	drop(w, &a), drop(w, &b), drop(w, &c);
}

static void layer_reduce(struct worker *w) {
	static const int ops[] = {CUDNN_REDUCE_TENSOR_ADD, CUDNN_REDUCE_TENSOR_MIN, CUDNN_REDUCE_TENSOR_MAX, CUDNN_REDUCE_TENSOR_AMAX, CUDNN_REDUCE_TENSOR_AVG, CUDNN_REDUCE_TENSOR_NORM1, CUDNN_REDUCE_TENSOR_NORM2};
	int type = floats[pick(w, 5)], op = pick(w, 7), d[4] = {1 + pick(w, 5), 1 + pick(w, 20), 1 + pick(w, 12), 1 + pick(w, 12)}, cd[4];
	for (int i = 0; i < 4; i++)
		cd[i] = pick(w, 2) ? d[i] : 1;
	double alpha = pick(w, 2) ? 1 : number(w), beta = pick(w, 2) ? 0 : number(w);
	snprintf(w->did, sizeof w->did, "reduction %s op %d of %d %d %d %d to %d %d %d %d factors %g %g", name(type), op, d[0], d[1], d[2], d[3], cd[0], cd[1], cd[2], cd[3], alpha, beta);
	struct ten a = described(w, type, pick(w, 3), 4, d), c = described(w, type, PACKED, 4, cd);
	cudnnReduceTensorDescriptor_t r;
	size_t size = 0;
	ok(w, cudnnCreateReduceTensorDescriptor(&r));
	ok(w, cudnnSetReduceTensorDescriptor(r, ops[op], inner(type), CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
	ok(w, cudnnGetReductionWorkspaceSize(w->h, r, a.d, c.d, &size));
	struct factor x, y;
	ok(w, cudnnReduceTensor(w->h, r, NULL, 0, size ? room(w, size) : NULL, size, as(type, &x, alpha), a.d, a.p, as(type, &y, beta), c.d, c.p));
	double *want = calloc(c.n, sizeof *want), *mag = calloc(c.n, sizeof *mag), per = (double)count(&a) / count(&c);
	int *seen = calloc(c.n, sizeof *seen);
	for (size_t e = 0; e < count(&a); e++) {
		size_t j = 0, rest = e;
		for (int k = 3; k >= 0; k--)
			j += cd[k] == 1 ? 0 : rest % d[k] * c.stride[k], rest /= d[k];
		double v = a.v[nth(&a, e)];
		switch (op) {
		case 0: case 4: want[j] += v; break;
		case 1: want[j] = seen[j] ? fmin(want[j], v) : v; break;
		case 2: want[j] = seen[j] ? fmax(want[j], v) : v; break;
		case 3: want[j] = fmax(want[j], fabs(v)); break;
		case 5: want[j] += fabs(v); break;
		default: want[j] += v * v;
		}
		seen[j] = 1, mag[j] += fabs(v);
	}
	for (size_t j = 0; j < c.n; j++)
		want[j] = op == 4 ? want[j] / per : op == 6 ? sqrt(want[j]) : want[j];
	scaled(&c, want, mag, alpha, beta);
	compare(w, "c", &c, want, mag, inner(type), 40);
	free(want), free(mag), free(seen);
	ok(w, cudnnDestroyReduceTensorDescriptor(r));
	drop(w, &a), drop(w, &c);
}
#include "dnnrandom_networks.h"
