// Batch normalisation in its three interfaces, and dropout's parts that do not depend on random numbers.
#include "dnn.h"

static cudnnTensorDescriptor_t per(int mode, ten x) {
	cudnnTensorDescriptor_t d;
	cudnnCreateTensorDescriptor(&d);
	cudnnDeriveBNTensorDescriptor(d, x.d, mode);
	return d;
}
static void batch(int type, int layout, int mode, int wide) {
	int par = type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, d[5] = {3, 4, wide ? 5 : 2, 3, 2};
	int nd = wide == 2 ? 5 : 4;
	ten x = tensor(type, layout, nd, d, 101), y = tensor(type, layout, nd, d, 102), dy = tensor(type, layout, nd, d, 103), dx = tensor(type, layout, nd, d, 104);
	size_t n = mode == CUDNN_BATCHNORM_PER_ACTIVATION ? x.n / 3 : 4;
	cudnnTensorDescriptor_t p = per(mode, x);
	ten g = block(par, n, 105), b = block(par, n, 106), rm = block(par, n, 107), rv = block(par, n, 0), sm = block(par, n, 0), si = block(par, n, 0), dg = block(par, n, 108), db = block(par, n, 109);
	begin("batchnorm %s layout %d mode %d shape %d", name(type), layout, mode, wide);
	int st = cudnnBatchNormalizationForwardTraining(H, mode, scale(type, 1), scale(type, 0), x.d, x.p, y.d, y.p, p, g.p, b.p, 0.25, rm.p, rv.p, 1e-3, sm.p, si.p);
	show("y", st, y), shown("mean", st, rm, 2e-5), shown("variance", st, rv, 2e-5), shown("saved mean", st, sm, 2e-5), shown("saved inverse", st, si, 2e-5);
	st = cudnnBatchNormalizationBackward(H, mode, scale(type, 1), scale(type, 0), scale(type, 1), scale(type, 0), x.d, x.p, dy.d, dy.p, dx.d, dx.p, p, g.p, dg.p, db.p, 1e-3, sm.p, si.p);
	shown("dx", st, dx, 4 * bound(type)), shown("dscale", st, dg, 4 * bound(par)), shown("dbias", st, db, 4 * bound(par));
	ten v = block(par, n, 0);
	cudaMemcpy(v.p, si.p, n * width(par), cudaMemcpyDeviceToDevice);
	show("inference", cudnnBatchNormalizationForwardInference(H, mode, scale(type, 1), scale(type, 0), x.d, x.p, y.d, y.p, p, g.p, b.p, rm.p, v.p, 1e-3), y);
	drop(x), drop(y), drop(dy), drop(dx), drop(g), drop(b), drop(rm), drop(rv), drop(sm), drop(si), drop(dg), drop(db), drop(v);
	cudnnDestroyTensorDescriptor(p);
}
// Ex, and the normalisation interface, with an activation and a tensor to add.
static void more(int type, int layout, int ops, int newer) {
	int par = type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, mode = newer ? CUDNN_NORM_PER_CHANNEL : CUDNN_BATCHNORM_SPATIAL_PERSISTENT;
	ten x = t4(type, layout, 4, 8, 5, 3, 111), y = t4(type, layout, 4, 8, 5, 3, 112), z = t4(type, layout, 4, 8, 5, 3, 113), dy = t4(type, layout, 4, 8, 5, 3, 114), dx = t4(type, layout, 4, 8, 5, 3, 115), dz = t4(type, layout, 4, 8, 5, 3, 116);
	cudnnTensorDescriptor_t p = per(CUDNN_BATCHNORM_SPATIAL, x);
	ten g = block(par, 8, 117), b = block(par, 8, 118), rm = block(par, 8, 119), rv = block(par, 8, 0), sm = block(par, 8, 0), si = block(par, 8, 0), dg = block(par, 8, 0), db = block(par, 8, 0);
	cudnnActivationDescriptor_t a;
	cudnnCreateActivationDescriptor(&a);
	cudnnSetActivationDescriptor(a, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0);
	size_t nf = 0, nb = 0, nr = 0;
	int st;
	begin("%s %s layout %d ops %d", newer ? "normalization" : "batchnorm Ex", name(type), layout, ops);
	if (newer) {
		st = cudnnGetNormalizationForwardTrainingWorkspaceSize(H, mode, ops, 1, x.d, z.d, y.d, p, a, p, &nf, 1);
		if (!st) st = cudnnGetNormalizationBackwardWorkspaceSize(H, mode, ops, 1, x.d, y.d, dy.d, dz.d, dx.d, p, a, p, &nb, 1);
		if (!st) st = cudnnGetNormalizationTrainingReserveSpaceSize(H, mode, ops, 1, a, x.d, &nr, 1);
	} else {
		st = cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(H, mode, ops, x.d, z.d, y.d, p, a, &nf);
		if (!st) st = cudnnGetBatchNormalizationBackwardExWorkspaceSize(H, mode, ops, x.d, y.d, dy.d, dz.d, dx.d, p, a, &nb);
		if (!st) st = cudnnGetBatchNormalizationTrainingExReserveSpaceSize(H, mode, ops, a, x.d, &nr);
	}
	void *wf = space(nf), *wb = space(nb), *r = space(nr);
	if (!st) st = newer ? cudnnNormalizationForwardTraining(H, mode, ops, 1, scale(type, 1), scale(type, 0), x.d, x.p, p, g.p, b.p, 0.25, p, rm.p, rv.p, 1e-3, sm.p, si.p, a, z.d, z.p, y.d, y.p, wf, nf, r, nr, 1)
			: cudnnBatchNormalizationForwardTrainingEx(H, mode, ops, scale(type, 1), scale(type, 0), x.d, x.p, z.d, z.p, y.d, y.p, p, g.p, b.p, 0.25, rm.p, rv.p, 1e-3, sm.p, si.p, a, wf, nf, r, nr);
	show("y", st, y), shown("mean", st, rm, 2e-5), shown("variance", st, rv, 2e-5), shown("saved inverse", st, si, 2e-5);
	if (!st) st = newer ? cudnnNormalizationBackward(H, mode, ops, 1, scale(type, 1), scale(type, 0), scale(type, 1), scale(type, 0), x.d, x.p, y.d, y.p, dy.d, dy.p, dz.d, dz.p, dx.d, dx.p, p, g.p, b.p, dg.p, db.p, 1e-3, p, sm.p, si.p, a, wb, nb, r, nr, 1)
			: cudnnBatchNormalizationBackwardEx(H, mode, ops, scale(type, 1), scale(type, 0), scale(type, 1), scale(type, 0), x.d, x.p, y.d, y.p, dy.d, dy.p, dz.d, dz.p, dx.d, dx.p, p, g.p, b.p, dg.p, db.p, 1e-3, sm.p, si.p, a, wb, nb, r, nr);
	shown("dx", st, dx, 4 * bound(type)), shown("dscale", st, dg, 4 * bound(type)), shown("dbias", st, db, 4 * bound(type));
	if (ops == 2) show("dz", st, dz);
	if (newer) {
		ten v = block(par, 8, 0);
		cudaMemcpy(v.p, si.p, 8 * width(par), cudaMemcpyDeviceToDevice);
		show("inference", cudnnNormalizationForwardInference(H, mode, ops, 1, scale(type, 1), scale(type, 0), x.d, x.p, p, g.p, b.p, p, rm.p, v.p, z.d, z.p, a, y.d, y.p, 1e-3, 1), y);
		drop(v);
	}
	cudaFree(wf), cudaFree(wb), cudaFree(r);
	drop(x), drop(y), drop(z), drop(dy), drop(dx), drop(dz), drop(g), drop(b), drop(rm), drop(rv), drop(sm), drop(si), drop(dg), drop(db);
	cudnnDestroyTensorDescriptor(p);
	cudnnDestroyActivationDescriptor(a);
}
// How often a value survives, and by what it is multiplied.
static void dropout(int type, float rate) {
	size_t ns = 0, nr = 0;
	cudnnDropoutDescriptor_t d;
	cudnnCreateDropoutDescriptor(&d);
	cudnnDropoutGetStatesSize(H, &ns);
	void *s = space(ns);
	int st = cudnnSetDropoutDescriptor(d, H, rate, s, ns, 1234);
	ten x = t4(type, PACKED, 4, 8, 16, 16, 0), y = t4(type, PACKED, 4, 8, 16, 16, 0), dx = t4(type, PACKED, 4, 8, 16, 16, 0);
	cudnnSetTensor(H, x.d, x.p, scale(type, 0.5));
	cudnnDropoutGetReserveSpaceSize(x.d, &nr);
	void *r = space(nr);
	if (!st) st = cudnnDropoutForward(H, d, x.d, x.p, y.d, y.p, r, nr);
	if (!st) st = cudnnDropoutBackward(H, d, x.d, x.p, dx.d, dx.p, r, nr);
	cudaDeviceSynchronize();
	char *h = malloc(y.n * 8), *g = malloc(y.n * 8);
	cudaMemcpy(h, y.p, y.n * width(type), cudaMemcpyDeviceToHost), cudaMemcpy(g, dx.p, y.n * width(type), cudaMemcpyDeviceToHost);
	int kept = 0, same = !memcmp(h, g, y.n * width(type));
	double at = 0;
	for (size_t i = 0; i < y.n; i++)
		if (get(type, h, i) != 0) kept++, at = get(type, h, i);
	printf("dropout %s rate %g kept: %d ~0.03 %g\n", name(type), rate, st, (double)kept / y.n);
	printf("dropout %s rate %g value: %d ~%g %.9g %d\n", name(type), rate, st, bound(type), at, same);
	free(h), free(g), cudaFree(r), cudaFree(s);
	drop(x), drop(y), drop(dx);
	cudnnDestroyDropoutDescriptor(d);
}

int main(void) {
	if (start()) return 1;
	for (int t = 0; t < 4; t++)
		for (int l = 0; l < 2; l++) {
			for (int mode = 0; mode < 3; mode++)
				for (int w = 0; w < 3; w++) batch(floats[t], l, mode, w);
			for (int ops = 0; ops < 3; ops++)
				for (int newer = 0; newer < 2; newer++) more(floats[t], l, ops, newer);
		}
	for (int t = 0; t < 4; t++)
		for (int i = 0; i <= 5; i++) dropout(floats[t], i / 5.0f);
	return 0;
}
