// Activation, softmax, pooling, normalisation, elementwise functions, reductions, transforms of tensors, samplers.
#include "dnn.h"

static void activation(int type, int layout) {
	static const double ceiling[] = {0, 0, 0.75, 0.5, 1.25, 0, 1};
	cudnnActivationDescriptor_t a;
	cudnnCreateActivationDescriptor(&a);
	for (int mode = 0; mode < 7; mode++) {
		if (mode == CUDNN_ACTIVATION_IDENTITY) continue;
		cudnnSetActivationDescriptor(a, mode, CUDNN_PROPAGATE_NAN, ceiling[mode]);
		ten x = t4(type, layout, 2, 3, 4, 5, 1), y = t4(type, layout, 2, 3, 4, 5, 2), dy = t4(type, layout, 2, 3, 4, 5, 3), dx = t4(type, layout, 2, 3, 4, 5, 4);
		begin("activation %s layout %d mode %d", name(type), layout, mode);
		show("y", cudnnActivationForward(H, a, scale(type, 1.5), x.d, x.p, scale(type, mode % 2 ? 0 : 0.5), y.d, y.p), y);
		ten z = t4(type, layout, 2, 3, 4, 5, 0);
		cudnnActivationForward(H, a, scale(type, 1), x.d, x.p, scale(type, 0), z.d, z.p);
		show("dx", cudnnActivationBackward(H, a, scale(type, 1), z.d, z.p, dy.d, dy.p, x.d, x.p, scale(type, mode % 2 ? 0.25 : 0), dx.d, dx.p), dx);
		drop(x), drop(y), drop(dy), drop(dx), drop(z);
	}
	cudnnDestroyActivationDescriptor(a);
}

static void softmax(int type, int layout) {
	for (int algo = 0; algo < 3; algo++)
		for (int mode = 0; mode < 2; mode++) {
			ten x = t4(type, layout, 2, 7, 3, 2, 11), y = t4(type, layout, 2, 7, 3, 2, 12), dy = t4(type, layout, 2, 7, 3, 2, 13), dx = t4(type, layout, 2, 7, 3, 2, 14);
			begin("softmax %s layout %d algo %d mode %d", name(type), layout, algo, mode);
			show("y", cudnnSoftmaxForward(H, algo, mode, scale(type, 1), x.d, x.p, scale(type, 0), y.d, y.p), y);
			show("dx", cudnnSoftmaxBackward(H, algo, mode, scale(type, 1), y.d, y.p, dy.d, dy.p, scale(type, 0), dx.d, dx.p), dx);
			drop(x), drop(y), drop(dy), drop(dx);
		}
}

static void pooling(int type, int layout) {
	static const int forms[][6] = {{2, 2, 0, 0, 2, 2}, {3, 3, 1, 1, 2, 2}, {3, 2, 1, 0, 1, 2}, {5, 5, 2, 2, 3, 1}};
	cudnnPoolingDescriptor_t p;
	cudnnCreatePoolingDescriptor(&p);
	for (int mode = 0; mode < 4; mode++)
		for (int f = 0; f < 4; f++) {
			const int *q = forms[f];
			int n, c, h, w;
			cudnnSetPooling2dDescriptor(p, mode, CUDNN_PROPAGATE_NAN, q[0], q[1], q[2], q[3], q[4], q[5]);
			ten x = t4(type, layout, 2, 3, 9, 8, 21 + f), dx = t4(type, layout, 2, 3, 9, 8, 22);
			cudnnGetPooling2dForwardOutputDim(p, x.d, &n, &c, &h, &w);
			ten y = t4(type, layout, n, c, h, w, 23), dy = t4(type, layout, n, c, h, w, 24);
			begin("pooling %s layout %d mode %d form %d size %d %d", name(type), layout, mode, f, h, w);
			show("y", cudnnPoolingForward(H, p, scale(type, 1), x.d, x.p, scale(type, 0), y.d, y.p), y);
			show("dx", cudnnPoolingBackward(H, p, scale(type, 1), y.d, y.p, dy.d, dy.p, x.d, x.p, scale(type, 0), dx.d, dx.p), dx);
			drop(x), drop(y), drop(dy), drop(dx);
		}
	if (layout == PACKED)
		for (int mode = 0; mode < 4; mode++) {
			cudnnSetPoolingNdDescriptor(p, mode, CUDNN_PROPAGATE_NAN, 3, (int[]){2, 3, 2}, (int[]){0, 1, 1}, (int[]){2, 1, 2});
			int d[5] = {1, 2, 5, 4, 6}, o[5];
			ten x = tensor(type, layout, 5, d, 25), dx = tensor(type, layout, 5, d, 26);
			cudnnGetPoolingNdForwardOutputDim(p, x.d, 5, o);
			ten y = tensor(type, layout, 5, o, 27), dy = tensor(type, layout, 5, o, 28);
			begin("pooling %s of a volume mode %d size %d %d %d", name(type), mode, o[2], o[3], o[4]);
			show("y", cudnnPoolingForward(H, p, scale(type, 1), x.d, x.p, scale(type, 0), y.d, y.p), y);
			show("dx", cudnnPoolingBackward(H, p, scale(type, 1), y.d, y.p, dy.d, dy.p, x.d, x.p, scale(type, 0), dx.d, dx.p), dx);
			drop(x), drop(y), drop(dy), drop(dx);
		}
	cudnnDestroyPoolingDescriptor(p);
}

static void lrn(int type) {
	cudnnLRNDescriptor_t l;
	cudnnCreateLRNDescriptor(&l);
	for (int n = 1; n < 8; n++) {
		cudnnSetLRNDescriptor(l, n, 0.5, 0.75, 1.5);
		ten x = t4(type, PACKED, 2, 9, 3, 2, 31), y = t4(type, PACKED, 2, 9, 3, 2, 32), dy = t4(type, PACKED, 2, 9, 3, 2, 33), dx = t4(type, PACKED, 2, 9, 3, 2, 34);
		begin("lrn %s window %d", name(type), n);
		show("y", cudnnLRNCrossChannelForward(H, l, CUDNN_LRN_CROSS_CHANNEL_DIM1, scale(type, 1), x.d, x.p, scale(type, 0), y.d, y.p), y);
		show("dx", cudnnLRNCrossChannelBackward(H, l, CUDNN_LRN_CROSS_CHANNEL_DIM1, scale(type, 1), y.d, y.p, dy.d, dy.p, x.d, x.p, scale(type, 0), dx.d, dx.p), dx);
		for (int means = 0; means < 2; means++) {
			ten m = t4(type, PACKED, 2, 9, 3, 2, 35), a = t4(type, PACKED, 2, 9, 3, 2, 0), b = t4(type, PACKED, 2, 9, 3, 2, 0), dm = t4(type, PACKED, 2, 9, 3, 2, 0);
			begin("divisive %s window %d means %d", name(type), n, means);
			show("y", cudnnDivisiveNormalizationForward(H, l, CUDNN_DIVNORM_PRECOMPUTED_MEANS, scale(type, 1), x.d, x.p, means ? m.p : 0, a.p, b.p, scale(type, 0), y.d, y.p), y);
			int st = cudnnDivisiveNormalizationBackward(H, l, CUDNN_DIVNORM_PRECOMPUTED_MEANS, scale(type, 1), x.d, x.p, means ? m.p : 0, dy.p, a.p, b.p, scale(type, 0), dx.d, dx.p, dm.p);
			show("dx", st, dx);
			if (means) show("dmeans", st, dm);
			drop(m), drop(a), drop(b), drop(dm);
		}
		drop(x), drop(y), drop(dy), drop(dx);
	}
	cudnnDestroyLRNDescriptor(l);
}

// Elementwise functions of two tensors, a factor, a constant, a sum.
static void pointwise(int type, int layout) {
	cudnnOpTensorDescriptor_t o;
	cudnnCreateOpTensorDescriptor(&o);
	int compute = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
	for (int op = 0; op < 6; op++)
		for (int wide = 0; wide < 3; wide++) {
			cudnnSetOpTensorDescriptor(o, op, compute, CUDNN_PROPAGATE_NAN);
			ten a = t4(type, layout, 2, 3, 4, 3, 41), b = wide == 0 ? t4(type, layout, 2, 3, 4, 3, 42) : wide == 1 ? t4(type, layout, 1, 3, 1, 1, 43) : t4(type, layout, 1, 3, 4, 3, 44), c = t4(type, layout, 2, 3, 4, 3, 45);
			begin("optensor %s layout %d op %d second %d", name(type), layout, op, wide);
			show("c", cudnnOpTensor(H, o, scale(compute, 0.75), a.d, a.p, scale(compute, 0.5), b.d, b.p, scale(compute, 0.25), c.d, c.p), c);
			drop(a), drop(b), drop(c);
		}
	for (int wide = 0; wide < 2; wide++) {
		ten a = wide ? t4(type, layout, 2, 3, 4, 3, 46) : t4(type, layout, 1, 3, 1, 1, 46), c = t4(type, layout, 2, 3, 4, 3, 47);
		begin("addtensor %s layout %d first %d", name(type), layout, wide);
		show("c", cudnnAddTensor(H, scale(type, 0.5), a.d, a.p, scale(type, 0.75), c.d, c.p), c);
		begin("scaletensor %s layout %d %d", name(type), layout, wide);
		show("c", cudnnScaleTensor(H, c.d, c.p, scale(type, wide ? -2.5 : 0.375)), c);
		begin("settensor %s layout %d %d", name(type), layout, wide);
		show("c", cudnnSetTensor(H, c.d, c.p, scale(type, wide ? 0.625 : -3)), c);
		drop(a), drop(c);
	}
	cudnnDestroyOpTensorDescriptor(o);
}

static void transform(int from, int to, int a, int b) {
	ten x = t4(from, a, 2, 3, 4, 5, 51), y = t4(to, b, 2, 3, 4, 5, 52);
	begin("transform %s %d to %s %d", name(from), a, name(to), b);
	int factor = to == CUDNN_DATA_DOUBLE ? to : from;
	show("y", cudnnTransformTensor(H, scale(factor, 0.5), x.d, x.p, scale(factor, 0.25), y.d, y.p), y);
	drop(x), drop(y);
}

static void reduce(int type, int layout) {
	cudnnReduceTensorDescriptor_t r;
	cudnnCreateReduceTensorDescriptor(&r);
	int compute = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
	static const int kept[][4] = {{1, 3, 1, 1}, {2, 1, 4, 5}, {1, 1, 1, 1}, {2, 3, 4, 1}};
	for (int op = 0; op < 9; op++)
		for (int k = 0; k < 4; k++)
			for (int index = 0; index < 2; index++) {
				if (index && op != CUDNN_REDUCE_TENSOR_MIN && op != CUDNN_REDUCE_TENSOR_MAX && op != CUDNN_REDUCE_TENSOR_AMAX) continue;
				cudnnSetReduceTensorDescriptor(r, op, compute, CUDNN_PROPAGATE_NAN, index, CUDNN_32BIT_INDICES);
				ten a = t4(type, layout, 2, 3, 4, 5, 61), c = t4(type, PACKED, kept[k][0], kept[k][1], kept[k][2], kept[k][3], 62);
				size_t ni = 0, nw = 0;
				cudnnGetReductionIndicesSize(H, r, a.d, c.d, &ni);
				cudnnGetReductionWorkspaceSize(H, r, a.d, c.d, &nw);
				ten i = block(CUDNN_DATA_INT32, ni / 4, 0), w = block(CUDNN_DATA_INT32, nw / 4 + 64, 0);
				begin("reduce %s layout %d op %d kept %d index %d", name(type), layout, op, k, index);
				int st = cudnnReduceTensor(H, r, i.p, ni, w.p, nw, scale(compute, 1), a.d, a.p, scale(compute, 0), c.d, c.p);
				show("c", st, c);
				if (index) { begin("reduce %s layout %d op %d kept %d bytes %zu", name(type), layout, op, k, ni); show("indices", st, i); }
				drop(a), drop(c), drop(i), drop(w);
			}
	cudnnDestroyReduceTensorDescriptor(r);
}

static void spatial(int type) {
	cudnnSpatialTransformerDescriptor_t s;
	cudnnCreateSpatialTransformerDescriptor(&s);
	for (int w = 1; w < 7; w++) {
		int d[4] = {2, 3, 3, w};
		cudnnSetSpatialTransformerNdDescriptor(s, CUDNN_SAMPLER_BILINEAR, type, 4, d);
		ten theta = block(type, 12, 71 + w), grid = block(type, 2 * 3 * w * 2, 0), dgrid = block(type, grid.n, 72), dtheta = block(type, 12, 0);
		begin("spatial %s width %d", name(type), w);
		show("grid", cudnnSpatialTfGridGeneratorForward(H, s, theta.p, grid.p), grid);
		show("dtheta", cudnnSpatialTfGridGeneratorBackward(H, s, dgrid.p, dtheta.p), dtheta);
		ten x = t4(type, PACKED, 2, 3, 4, 5, 73), y = t4(type, PACKED, 2, 3, 3, w, 74), dx = t4(type, PACKED, 2, 3, 4, 5, 75), dy = t4(type, PACKED, 2, 3, 3, w, 76);
		show("y", cudnnSpatialTfSamplerForward(H, s, scale(type, 1), x.d, x.p, grid.p, scale(type, 0), y.d, y.p), y);
		int st = cudnnSpatialTfSamplerBackward(H, s, scale(type, 1), x.d, x.p, scale(type, 0), dx.d, dx.p, scale(type, 1), dy.d, dy.p, grid.p, scale(type, 0), dgrid.p);
		show("dx", st, dx);
		show("dgrid", st, dgrid);
		drop(theta), drop(grid), drop(dgrid), drop(dtheta), drop(x), drop(y), drop(dx), drop(dy);
	}
	cudnnDestroySpatialTransformerDescriptor(s);
}

int main(void) {
	if (start()) return 1;
	for (int t = 0; t < 4; t++) {
		for (int l = 0; l < 3; l++) activation(floats[t], l), softmax(floats[t], l), pooling(floats[t], l), pointwise(floats[t], l), reduce(floats[t], l);
		lrn(floats[t]);
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++) transform(floats[t], floats[t], a, b);
		for (int u = 0; u < 4; u++)
			if (u != t) transform(floats[t], floats[u], PACKED, LAST);
	}
	spatial(CUDNN_DATA_FLOAT), spatial(CUDNN_DATA_DOUBLE);
	return 0;
}
