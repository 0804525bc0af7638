// Recurrent networks, CTC loss.
#include "dnn.h"

typedef struct { int cell, bias, dir, input, layers, in, hidden, proj, layout, clip; } net;
static ten three(int type, int a, int b, int c, int seed) {
	ten t = block(type, a * b * c, seed);
	cudnnCreateTensorDescriptor(&t.d);
	cudnnSetTensorNdDescriptor(t.d, type, 3, (int[]){a, b, c}, (int[]){b * c, c, 1});
	return t;
}
static void rnn(int type, net q) {
	enum { T = 4, B = 3 };
	int len[B] = {4, 3, 2}, dirs = q.dir ? 2 : 1, out = q.proj ? q.proj : q.hidden, packed = q.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
	cudnnRNNDescriptor_t r;
	cudnnCreateRNNDescriptor(&r);
	begin("rnn %s cell %d bias %d directions %d input %d layers %d sizes %d %d %d layout %d clip %d", name(type), q.cell, q.bias, dirs, q.input, q.layers, q.in, q.hidden, out, q.layout, q.clip);
	int st = cudnnSetRNNDescriptor_v8(r, CUDNN_RNN_ALGO_STANDARD, q.cell, q.bias, q.dir, q.input, type, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT,
		type == CUDNN_DATA_FLOAT ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH, q.in, q.hidden, out, q.layers, none(), packed ? 0 : CUDNN_RNN_PADDED_IO_ENABLED);
	if (q.clip) cudnnRNNSetClip_v9(r, CUDNN_RNN_CLIP_MINMAX, -0.25 * q.clip, 0.25 * q.clip);
	if (st) { printf("%s: %d\n", label, st); return; }
	cudnnRNNDataDescriptor_t xd, yd;
	cudnnCreateRNNDataDescriptor(&xd), cudnnCreateRNNDataDescriptor(&yd);
	double fill = 0;
	cudnnSetRNNDataDescriptor(xd, type, q.layout, T, B, q.in, len, &fill);
	cudnnSetRNNDataDescriptor(yd, type, q.layout, T, B, out * dirs, len, &fill);
	int rows = packed ? 9 : T * B;
	ten x = block(type, rows * q.in, 121), y = block(type, rows * out * dirs, 0), dy = block(type, rows * out * dirs, 122), dx = block(type, rows * q.in, 0);
	ten hx = three(type, q.layers * dirs, B, out, 123), hy = three(type, q.layers * dirs, B, out, 0), dhy = three(type, q.layers * dirs, B, out, 124), dhx = three(type, q.layers * dirs, B, out, 0);
	ten cx = three(type, q.layers * dirs, B, q.hidden, 125), cy = three(type, q.layers * dirs, B, q.hidden, 0), dcy = three(type, q.layers * dirs, B, q.hidden, 126), dcx = three(type, q.layers * dirs, B, q.hidden, 0);
	size_t nw = 0, nk = 0, nr = 0;
	cudnnGetRNNWeightSpaceSize(H, r, &nw);
	cudnnGetRNNTempSpaceSizes(H, r, CUDNN_FWD_MODE_TRAINING, xd, &nk, &nr);
	printf("%s weights %zu bytes\n", label, nw);
	ten w = block(type, nw / width(type), 127), dw = block(type, nw / width(type), 0);
	// Every matrix and bias by its place: the layout of weights is a part of the interface.
	cudnnTensorDescriptor_t md, bd;
	cudnnCreateTensorDescriptor(&md), cudnnCreateTensorDescriptor(&bd);
	printf("%s places", label);
	for (int l = 0; l < q.layers * dirs; l++)
		for (int id = 0; id < (q.cell < 2 ? 2 : q.cell == 2 ? 8 + (q.proj != 0) : 6); id++) {
			char *m = 0, *b = 0;
			int e = cudnnGetRNNWeightParams(H, r, l, nw, w.p, id, md, (void **)&m, bd, (void **)&b);
			printf(" %d:%ld,%ld", e, m ? (long)(m - (char *)w.p) : -1, b ? (long)(b - (char *)w.p) : -1);
		}
	printf("\n");
	int *dev = space(sizeof len);
	cudaMemcpy(dev, len, sizeof len, cudaMemcpyHostToDevice);
	void *k = space(nk), *v = space(nr);
	double tol = 4 * bound(type);
	st = cudnnRNNForward(H, r, CUDNN_FWD_MODE_INFERENCE, dev, xd, x.p, yd, y.p, hx.d, hx.p, hy.p, cx.d, cx.p, cy.p, nw, w.p, nk, k, 0, 0);
	shown("inference", st, y, tol);
	st = cudnnRNNForward(H, r, CUDNN_FWD_MODE_TRAINING, dev, xd, x.p, yd, y.p, hx.d, hx.p, hy.p, cx.d, cx.p, cy.p, nw, w.p, nk, k, nr, v);
	shown("y", st, y, tol), shown("hy", st, hy, tol);
	if (q.cell == CUDNN_LSTM) shown("cy", st, cy, tol);
	if (!st) {
		st = cudnnRNNBackwardData_v8(H, r, dev, yd, y.p, dy.p, xd, dx.p, hx.d, hx.p, dhy.p, dhx.p, cx.d, cx.p, dcy.p, dcx.p, nw, w.p, nk, k, nr, v);
		shown("dx", st, dx, 2 * tol), shown("dhx", st, dhx, 2 * tol);
		if (q.cell == CUDNN_LSTM) shown("dcx", st, dcx, 2 * tol);
		if (!st) shown("dw", cudnnRNNBackwardWeights_v8(H, r, CUDNN_WGRAD_MODE_ADD, dev, xd, x.p, hx.d, hx.p, yd, y.p, nw, dw.p, nk, k, nr, v), dw, 2 * tol);
	}
	cudaFree(dev), cudaFree(k), cudaFree(v);
	drop(x), drop(y), drop(dy), drop(dx), drop(hx), drop(hy), drop(dhy), drop(dhx), drop(cx), drop(cy), drop(dcy), drop(dcx), drop(w), drop(dw);
	cudnnDestroyRNNDataDescriptor(xd), cudnnDestroyRNNDataDescriptor(yd), cudnnDestroyRNNDescriptor(r);
}

static void ctc(int algo, int soft, int zero, int newer) {
	enum { T = 6, B = 3, C = 5 };
	// The second and the last have a label that is too long.
	static const int lens[5][B] = {{6, 5, 4}, {6, 2, 3}, {6, 4, 3}, {6, 5, 3}, {6, 2, 5}}, counts[5][B] = {{3, 2, 1}, {2, 3, 2}, {2, 1, 2}, {2, 3, 2}, {1, 3, 1}};
	static const int labels[] = {1, 2, 3, 4, 1, 2, 2, 3, 1, 4, 4, 4};
	for (int k = 0; k < 5; k++) {
		cudnnCTCLossDescriptor_t c;
		cudnnCreateCTCLossDescriptor(&c);
		if (newer) cudnnSetCTCLossDescriptor_v9(c, CUDNN_DATA_FLOAT, soft, zero, 3);
		else cudnnSetCTCLossDescriptorEx(c, CUDNN_DATA_FLOAT, soft, zero);
		ten p = three(CUDNN_DATA_FLOAT, T, B, C, 131), g = three(CUDNN_DATA_FLOAT, T, B, C, 132), cost = block(CUDNN_DATA_FLOAT, B, 0);
		if (!soft) { // probabilities
			float h[T * B * C];
			state = 133;
			for (int i = 0; i < T * B; i++) {
				float s = 0;
				for (int j = 0; j < C; j++) s += h[i * C + j] = (float)next() + 1.25f;
				for (int j = 0; j < C; j++) h[i * C + j] /= s;
			}
			cudaMemcpy(p.p, h, sizeof h, cudaMemcpyHostToDevice);
		}
		size_t n = 0;
		begin("ctc algo %d softmax %d zero %d v8 %d lengths %d", algo, soft, zero, newer, k);
		int st;
		if (newer) {
			st = cudnnGetCTCLossWorkspaceSize_v8(H, algo, c, p.d, g.d, &n);
			void *w = space(n);
			int *dl = space(sizeof labels), *dc = space(sizeof counts[k]), *dn = space(sizeof lens[k]);
			cudaMemcpy(dl, labels, sizeof labels, cudaMemcpyHostToDevice), cudaMemcpy(dc, counts[k], sizeof counts[k], cudaMemcpyHostToDevice), cudaMemcpy(dn, lens[k], sizeof lens[k], cudaMemcpyHostToDevice);
			if (!st) st = cudnnCTCLoss_v8(H, algo, c, p.d, p.p, dl, dc, dn, cost.p, g.d, g.p, n, w);
		} else {
			st = cudnnGetCTCLossWorkspaceSize(H, p.d, g.d, labels, counts[k], lens[k], algo, c, &n);
			void *w = space(n);
			if (!st) st = cudnnCTCLoss(H, p.d, p.p, labels, counts[k], lens[k], cost.p, g.d, g.p, algo, c, w, n);
		}
		show("costs", st, cost), show("gradients", st, g);
		drop(p), drop(g), drop(cost);
		cudnnDestroyCTCLossDescriptor(c);
	}
}

int main(void) {
	if (start()) return 1;
	for (int t = 0; t < 4; t++) {
		int type = floats[t];
		for (int cell = 0; cell < 4; cell++) {
			for (int layout = 0; layout < 3; layout++) rnn(type, (net){cell, 2, 0, 0, 1, 3, 4, 0, layout});
			for (int bias = 0; bias < 4; bias++) rnn(type, (net){cell, bias, 0, 0, 2, 3, 4, 0, 1});
			rnn(type, (net){cell, 2, 1, 0, 2, 3, 4, 0, 1});
			rnn(type, (net){cell, 2, 1, 0, 1, 5, 3, 0, 0});
			rnn(type, (net){cell, 2, 0, 1, 1, 4, 4, 0, 0}); // input is not multiplied
		}
		rnn(type, (net){2, 2, 0, 0, 2, 5, 6, 3, 0});
		rnn(type, (net){2, 2, 1, 0, 1, 5, 6, 3, 1});
		rnn(type, (net){2, 2, 0, 0, 1, 3, 4, 0, 0, 1});
		rnn(type, (net){2, 2, 0, 0, 1, 3, 4, 0, 0, 40});
	}
	for (int algo = 0; algo < 2; algo++)
		for (int soft = 0; soft < 2; soft++)
			for (int zero = 0; zero < 2; zero++)
				for (int newer = 0; newer < 2; newer++) ctc(algo, soft, zero, newer);
	return 0;
}
