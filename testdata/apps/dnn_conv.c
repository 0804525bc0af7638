// Convolutions: forward, both gradients, with a bias and an activation; gradient of a bias.
#include "dnn.h"

typedef struct { int nd, n, c, k, group, in[3], filter[3], pad[3], stride[3], dilation[3], mode; } form;
static const form forms[] = {
	{2, 2, 4, 6, 1, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
	{2, 1, 3, 5, 1, {9, 8}, {3, 2}, {0, 1}, {2, 1}, {1, 1}, 1},
	{2, 2, 8, 8, 1, {5, 5}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, 1},
	{2, 1, 8, 4, 1, {8, 8}, {1, 1}, {0, 0}, {2, 2}, {1, 1}, 1},
	{2, 2, 4, 6, 2, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
	{2, 1, 6, 6, 6, {8, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
	{2, 1, 4, 4, 1, {11, 10}, {3, 3}, {2, 2}, {1, 1}, {2, 2}, 1},
	{2, 1, 2, 3, 1, {12, 12}, {5, 5}, {2, 2}, {2, 2}, {1, 1}, 1},
	{2, 1, 3, 8, 1, {15, 15}, {7, 7}, {3, 3}, {2, 2}, {1, 1}, 1},
	{2, 2, 4, 6, 1, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 0},
	{2, 1, 16, 16, 1, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
	{3, 1, 4, 4, 1, {5, 6, 4}, {3, 3, 2}, {1, 1, 0}, {1, 2, 1}, {1, 1, 1}, 1},
	{3, 2, 2, 4, 1, {4, 4, 5}, {2, 2, 2}, {0, 0, 1}, {2, 1, 1}, {1, 1, 1}, 1},
};
static cudnnFilterDescriptor_t filter(int type, int layout, int nd, const int *d) {
	cudnnFilterDescriptor_t f;
	cudnnCreateFilterDescriptor(&f);
	int st = cudnnSetFilterNdDescriptor(f, type, layout == LAST ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, nd, d);
	if (st) printf("filter: %d\n", st);
	return f;
}
typedef struct { ten x, y, w; cudnnFilterDescriptor_t f; cudnnConvolutionDescriptor_t c; } problem;
static problem make(const form *f, int type, int layout) {
	int nd = f->nd + 2, x[5] = {f->n, f->c}, w[5] = {f->k, f->c / f->group}, y[5];
	size_t nw = f->k * (f->c / f->group);
	for (int i = 0; i < f->nd; i++) x[i + 2] = f->in[i], w[i + 2] = f->filter[i], nw *= f->filter[i];
	problem p = {.f = filter(type, layout, nd, w), .x = tensor(type, layout, nd, x, 81), .w = block(type, nw, 82)};
	cudnnCreateConvolutionDescriptor(&p.c);
	cudnnSetConvolutionNdDescriptor(p.c, f->nd, f->pad, f->stride, f->dilation, f->mode, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT);
	cudnnSetConvolutionGroupCount(p.c, f->group);
	cudnnSetConvolutionMathType(p.c, type == CUDNN_DATA_FLOAT ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH);
	cudnnGetConvolutionNdForwardOutputDim(p.c, p.x.d, p.f, nd, y);
	p.y = tensor(type, layout, nd, y, 83);
	begin("convolution %s layout %d form %d", name(type), layout, (int)(f - forms));
	printf("%s size", label);
	for (int i = 0; i < nd; i++) printf(" %d", y[i]);
	printf("\n");
	return p;
}
static void end(problem p) {
	drop(p.x), drop(p.y), drop(p.w);
	cudnnDestroyFilterDescriptor(p.f);
	cudnnDestroyConvolutionDescriptor(p.c);
}
// The first algorithm of those asked for that the library takes here.
static void forward(problem p, int type) {
	static const int algos[] = {1, 0, 2, 4, 5, 6, 7};
	int st = -1;
	for (int i = 0; i < 7; i++) {
		size_t n = 0;
		if (cudnnGetConvolutionForwardWorkspaceSize(H, p.x.d, p.f, p.c, p.y.d, algos[i], &n)) continue;
		void *w = space(n);
		st = cudnnConvolutionForward(H, scale(type, 1), p.x.d, p.x.p, p.f, p.w.p, p.c, algos[i], w, n, scale(type, 0.5), p.y.d, p.y.p);
		cudaDeviceSynchronize();
		cudaFree(w);
		if (!st) break;
	}
	if (st >= 0) show("y", st, p.y);
}
static void data(problem p, int type) {
	static const int algos[] = {1, 0, 2, 3, 4, 5};
	int st = -1;
	for (int i = 0; i < 6; i++) {
		size_t n = 0;
		if (cudnnGetConvolutionBackwardDataWorkspaceSize(H, p.f, p.y.d, p.c, p.x.d, algos[i], &n)) continue;
		void *w = space(n);
		st = cudnnConvolutionBackwardData(H, scale(type, 1), p.f, p.w.p, p.y.d, p.y.p, p.c, algos[i], w, n, scale(type, 0), p.x.d, p.x.p);
		cudaDeviceSynchronize();
		cudaFree(w);
		if (!st) break;
	}
	if (st >= 0) show("dx", st, p.x);
}
static void weights(problem p, int type) {
	static const int algos[] = {1, 0, 3, 2, 4, 5};
	int st = -1;
	for (int i = 0; i < 6; i++) {
		size_t n = 0;
		if (cudnnGetConvolutionBackwardFilterWorkspaceSize(H, p.x.d, p.y.d, p.c, p.f, algos[i], &n)) continue;
		void *w = space(n);
		st = cudnnConvolutionBackwardFilter(H, scale(type, 1), p.x.d, p.x.p, p.y.d, p.y.p, p.c, algos[i], w, n, scale(type, 0), p.f, p.w.p);
		cudaDeviceSynchronize();
		cudaFree(w);
		if (!st) break;
	}
	if (st >= 0) show("dw", st, p.w);
}
static void bias(int type, int layout, int f) {
	problem p = make(&forms[f], type, layout);
	ten db = tensor(type, PACKED, forms[f].nd + 2, (int[]){1, forms[f].k, 1, 1, 1}, 84);
	show("db", cudnnConvolutionBackwardBias(H, scale(type, 1), p.y.d, p.y.p, scale(type, 0.5), db.d, db.p), db);
	drop(db), end(p);
}
// With a bias, a second tensor and an activation, in one call.
static void fused(int type, int layout, int f, int act, int add) {
	problem p = make(&forms[f], type, layout);
	ten b = tensor(type, PACKED, forms[f].nd + 2, (int[]){1, forms[f].k, 1, 1, 1}, 85), z = p.y;
	cudnnActivationDescriptor_t a;
	cudnnCreateActivationDescriptor(&a);
	cudnnSetActivationDescriptor(a, act, CUDNN_NOT_PROPAGATE_NAN, act == CUDNN_ACTIVATION_CLIPPED_RELU ? 0.75 : act == CUDNN_ACTIVATION_ELU ? 1.5 : 0);
	size_t n = 0;
	cudnnGetConvolutionForwardWorkspaceSize(H, p.x.d, p.f, p.c, p.y.d, 1, &n);
	void *w = space(n);
	z.p = space(z.n * 8);
	cudaMemcpy(z.p, p.y.p, z.n * width(type), cudaMemcpyDeviceToDevice);
	begin("fused %s layout %d form %d activation %d add %d", name(type), layout, f, act, add);
	show("y", cudnnConvolutionBiasActivationForward(H, scale(type, 1), p.x.d, p.x.p, p.f, p.w.p, p.c, 1, w, n, scale(type, add ? 0.5 : 0), z.d, z.p, b.d, b.p, a, p.y.d, p.y.p), p.y);
	cudaFree(w), cudaFree(z.p);
	cudnnDestroyActivationDescriptor(a);
	drop(b), end(p);
}
// Bytes: sums are exact, results in s8 or f32.
static void bytes(int out, int c, int k, int size) {
	ten x = t4(CUDNN_DATA_INT8, LAST, 2, c, 5, 6, 86), w = block(CUDNN_DATA_INT8, k * c * size * size, 87), y;
	cudnnFilterDescriptor_t f = filter(CUDNN_DATA_INT8, LAST, 4, (int[]){k, c, size, size});
	cudnnConvolutionDescriptor_t d;
	cudnnCreateConvolutionDescriptor(&d);
	cudnnSetConvolution2dDescriptor(d, size / 2, size / 2, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_INT32);
	y = t4(out, LAST, 2, k, 5, 6, 88);
	size_t n = 0;
	begin("bytes to %s channels %d %d filter %d", name(out), c, k, size);
	int st = cudnnGetConvolutionForwardWorkspaceSize(H, x.d, f, d, y.d, 1, &n);
	void *ws = space(n);
	if (!st) st = cudnnConvolutionForward(H, scale(CUDNN_DATA_FLOAT, 0.0009765625), x.d, x.p, f, w.p, d, 1, ws, n, scale(CUDNN_DATA_FLOAT, 0), y.d, y.p);
	shown("y", st, y, out == CUDNN_DATA_INT8 ? 0 : 1e-6);
	cudaFree(ws);
	drop(x), drop(y), drop(w);
	cudnnDestroyFilterDescriptor(f);
	cudnnDestroyConvolutionDescriptor(d);
}

int main(void) {
	if (start()) return 1;
	for (int t = 0; t < 4; t++)
		for (int l = 0; l < 2; l++)
			for (int f = 0; f < (int)(sizeof forms / sizeof *forms); f++) {
				problem p = make(&forms[f], floats[t], l);
				forward(p, floats[t]);
				end(p);
				p = make(&forms[f], floats[t], l);
				data(p, floats[t]);
				end(p);
				p = make(&forms[f], floats[t], l);
				weights(p, floats[t]);
				end(p);
				if (f % 3 == 0) bias(floats[t], l, f);
			}
	static const int acts[] = {CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_IDENTITY, CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_TANH, CUDNN_ACTIVATION_CLIPPED_RELU, CUDNN_ACTIVATION_ELU};
	for (int t = 0; t < 4; t++)
		for (int a = 0; a < 6; a++)
			for (int add = 0; add < 2; add++) fused(floats[t], t > 1 ? LAST : PACKED, a == 0 ? 0 : 2, acts[a], add);
	for (int k = 4; k <= 32; k *= 2) bytes(CUDNN_DATA_INT8, 16, k, 3), bytes(CUDNN_DATA_FLOAT, 32, k, 1), bytes(CUDNN_DATA_FLOAT, 8, k, 3), bytes(CUDNN_DATA_INT8, 4, k, 1);
	return 0;
}
