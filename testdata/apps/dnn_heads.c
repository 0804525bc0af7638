// Attention of several heads, with its projections.
#include "dnn.h"

typedef struct { int heads, q, k, v, qp, kp, vp, op, beams, bias, oneToOne, residual, window; } heads;
static cudnnSeqDataDescriptor_t sequence(int type, int beams, int batch, int time, int width, const int *len) {
	cudnnSeqDataDescriptor_t d;
	cudnnCreateSeqDataDescriptor(&d);
	int dim[CUDNN_SEQDATA_DIM_COUNT];
	cudnnSeqDataAxis_t axes[] = {CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM, CUDNN_SEQDATA_VECT_DIM};
	dim[CUDNN_SEQDATA_TIME_DIM] = time, dim[CUDNN_SEQDATA_BATCH_DIM] = batch, dim[CUDNN_SEQDATA_BEAM_DIM] = beams, dim[CUDNN_SEQDATA_VECT_DIM] = width;
	int st = cudnnSetSeqDataDescriptor(d, type, 4, dim, axes, batch * beams, len, 0);
	if (st) printf("sequence: %d\n", st);
	return d;
}
static void attention(int type, heads a) {
	enum { B = 2, TQ = 4, TK = 5 };
	int lq[8] = {4, 3, 4, 3, 4, 3}, lk[8] = {5, 4, 5, 4, 5, 4}, lo[TQ] = {0}, hi[TQ];
	for (int i = 0; i < TQ; i++) hi[i] = a.window ? i + 1 : TK;
	cudnnAttnDescriptor_t d;
	cudnnCreateAttnDescriptor(&d);
	unsigned mode = (a.oneToOne ? CUDNN_ATTN_QUERYMAP_ONE_TO_ONE : CUDNN_ATTN_QUERYMAP_ALL_TO_ONE) | (a.bias ? CUDNN_ATTN_ENABLE_PROJ_BIASES : CUDNN_ATTN_DISABLE_PROJ_BIASES);
	begin("attention %s heads %d sizes %d %d %d to %d %d %d %d beams %d bias %d map %d residual %d window %d", name(type), a.heads, a.q, a.k, a.v, a.qp, a.kp, a.vp, a.op, a.beams, a.bias, a.oneToOne, a.residual, a.window);
	int st = cudnnSetAttnDescriptor(d, mode, a.heads, 0.5, type, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, none(), none(), a.q, a.k, a.v, a.qp, a.kp, a.vp, a.op, TQ, TK, B, a.beams);
	if (st) { printf("%s: %d\n", label, st); return; }
	int out = a.op ? a.op : a.heads * (a.vp ? a.vp : a.v), kb = a.oneToOne ? a.beams : 1;
	cudnnSeqDataDescriptor_t qd = sequence(type, a.beams, B, TQ, a.q, lq), kd = sequence(type, kb, B, TK, a.k, lk), vd = sequence(type, kb, B, TK, a.v, lk), od = sequence(type, a.beams, B, TQ, out, lq);
	ten q = block(type, B * TQ * a.beams * a.q, 141), k = block(type, B * TK * kb * a.k, 142), v = block(type, B * TK * kb * a.v, 143), o = block(type, B * TQ * a.beams * out, 0), res = block(type, o.n, 144);
	ten dq = block(type, q.n, 0), dk = block(type, k.n, 0), dv = block(type, v.n, 0), dout = block(type, o.n, 145);
	size_t nw = 0, nk = 0, nr = 0;
	st = cudnnGetMultiHeadAttnBuffers(H, d, &nw, &nk, &nr);
	printf("%s weights: %d %zu bytes\n", label, st, nw);
	ten w = block(type, nw / width(type), 146), dw = block(type, nw / width(type), 0);
	printf("%s places", label);
	for (int kind = 0; kind < 8; kind++) {
		cudnnTensorDescriptor_t t;
		cudnnCreateTensorDescriptor(&t);
		char *p = 0;
		int e = nw ? cudnnGetMultiHeadAttnWeights(H, d, kind, nw, w.p, t, (void **)&p) : -1, n = 0, dim[8] = {0}, s[8] = {0}, ty;
		printf(" %d:%ld", e, p ? (long)(p - (char *)w.p) : -1);
		if (!e && p) {
			cudnnGetTensorNdDescriptor(t, 8, (void *)&ty, &n, dim, s);
			for (int i = 0; i < n; i++) printf(",%d/%d", dim[i], s[i]);
		}
		cudnnDestroyTensorDescriptor(t);
	}
	printf("\n");
	int *dlq = space(32), *dlk = space(32);
	cudaMemcpy(dlq, lq, 4 * B * a.beams, cudaMemcpyHostToDevice), cudaMemcpy(dlk, lk, 4 * B * kb, cudaMemcpyHostToDevice);
	void *ws = space(nk), *rs = space(nr);
	double tol = 4 * bound(type);
	if (type == CUDNN_DATA_FLOAT) tol = 2e-3; // the library may use TF32
	size_t ni = 0;
	cudnnGetMultiHeadAttnBuffers(H, d, &nw, &ni, 0);
	void *wi = space(ni);
	shown("inference", cudnnMultiHeadAttnForward(H, d, -1, lo, hi, dlq, dlk, qd, q.p, a.residual ? res.p : 0, kd, k.p, vd, v.p, od, o.p, nw, nw ? w.p : 0, ni, wi, 0, 0), o, tol);
	cudaFree(wi);
	st = cudnnMultiHeadAttnForward(H, d, -1, lo, hi, dlq, dlk, qd, q.p, a.residual ? res.p : 0, kd, k.p, vd, v.p, od, o.p, nw, nw ? w.p : 0, nk, ws, nr, rs);
	shown("out", st, o, tol);
	if (!st) {
		st = cudnnMultiHeadAttnBackwardData(H, d, lo, hi, dlq, dlk, od, dout.p, qd, dq.p, q.p, kd, dk.p, k.p, vd, dv.p, v.p, nw, nw ? w.p : 0, nk, ws, nr, rs);
		shown("dq", st, dq, 2 * tol), shown("dk", st, dk, 2 * tol), shown("dv", st, dv, 2 * tol);
		if (!st && nw) shown("dw", cudnnMultiHeadAttnBackwardWeights(H, d, CUDNN_WGRAD_MODE_SET, qd, q.p, kd, k.p, vd, v.p, od, dout.p, nw, w.p, dw.p, nk, ws, nr, rs), dw, 2 * tol);
	}
	cudaFree(dlq), cudaFree(dlk), cudaFree(ws), cudaFree(rs);
	drop(q), drop(k), drop(v), drop(o), drop(res), drop(dq), drop(dk), drop(dv), drop(dout), drop(w), drop(dw);
	cudnnDestroySeqDataDescriptor(qd), cudnnDestroySeqDataDescriptor(kd), cudnnDestroySeqDataDescriptor(vd), cudnnDestroySeqDataDescriptor(od), cudnnDestroyAttnDescriptor(d);
}

int main(void) {
	if (start()) return 1;
	for (int t = 0; t < 3; t++) {
		int type = floats[t];
		attention(type, (heads){1, 4, 4, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0});
		attention(type, (heads){2, 6, 5, 7, 4, 4, 3, 8, 1, 0, 0, 0, 0});
		attention(type, (heads){2, 6, 5, 7, 4, 4, 3, 8, 1, 1, 0, 0, 1});
		attention(type, (heads){3, 8, 8, 8, 4, 4, 4, 8, 1, 0, 0, 1, 0});
		attention(type, (heads){2, 6, 6, 6, 4, 4, 4, 6, 3, 1, 0, 1, 1});
		attention(type, (heads){2, 6, 6, 6, 4, 4, 4, 6, 2, 0, 1, 0, 0});
		attention(type, (heads){2, 4, 4, 6, 0, 0, 3, 5, 1, 0, 0, 0, 1});
		attention(type, (heads){2, 4, 6, 4, 3, 3, 0, 0, 1, 0, 0, 0, 0});
	}
	return 0;
}
