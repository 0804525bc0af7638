/* Random calls of cuDNN from several threads: layers of the classic API over shapes, layouts, types and factors, graphs of the backend API,
 * handles and streams that come and go, captures, and calls that must be refused. Each result is compared with a plain sum in f64, and
 * elements between rows must stay as they were. At the end all is given back, and the device's memory must be as after the first round.
 *   app_dnnrandom SECONDS [SEED [THREADS [TURN]]]: with TURN only this one of the turns */
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <cudnn_backend.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dnn_types.h"

static double seconds;
static int only = -1;
static _Atomic long calls, failures, compared;

struct worker {
	unsigned long long seed, form;
	cudnnHandle_t h;
	cudaStream_t stream;
	void *owned[64]; /* memory of the current turn */
	int owns;
	char did[300];
};

static unsigned pick(struct worker *w, unsigned n) {
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((w->seed >> 33) % n);
}
/* kind chooses what makes another kernel. A graph has one of 300 forms, so that kernels come again and memory can be seen not to grow. */
static unsigned kind(struct worker *w, unsigned n) {
	w->form = w->form * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((w->form >> 33) % n);
}
static double number(struct worker *w) { return ((int)pick(w, 129) - 64) / 64.0; }
static void bad(struct worker *w, const char *why, double v) {
	failures++;
	fprintf(stderr, "%s: %s %g\n", w->did, why, v);
}
static int ok(struct worker *w, int status) {
	calls++;
	if (status)
		bad(w, "status", status);
	return status;
}
static void refused(struct worker *w, const char *what, int status, int want) {
	calls++;
	if (status != want) {
		snprintf(w->did, sizeof w->did, "%s", what);
		bad(w, "not refused:", status);
	}
}
/* room is memory until the turn ends. */
static void *room(struct worker *w, size_t n) {
	void *p = NULL;
	ok(w, cudaMalloc(&p, n ? n : 1));
	if (w->owns == 64)
		fprintf(stderr, "too many tensors\n"), exit(2);
	return w->owned[w->owns++] = p;
}

/* A tensor: its memory on the device, and what it must hold. */
struct ten {
	int type, nd, dim[5], stride[5];
	size_t n; /* elements, those between rows too */
	void *p;
	double *v;
	cudnnTensorDescriptor_t d;
};
enum layout { PACKED, LAST, GAPS };
static void upload(struct worker *w, struct ten *t) {
	char *raw = malloc(t->n * 8);
	for (size_t i = 0; i < t->n; i++)
		put(t->type, raw, i, t->v[i]);
	ok(w, cudaMemcpyAsync(t->p, raw, t->n * width(t->type), cudaMemcpyHostToDevice, w->stream));
	ok(w, cudaStreamSynchronize(w->stream));
	free(raw);
}
static struct ten make(struct worker *w, int type, enum layout l, int nd, const int *dim) {
	struct ten t = {.type = type, .nd = nd};
	int step = 1;
	memcpy(t.dim, dim, nd * sizeof *dim);
	if (l == LAST && nd > 2) {
		t.stride[1] = 1, step = dim[1];
		for (int i = nd - 1; i > 1; i--)
			t.stride[i] = step, step *= dim[i];
		t.stride[0] = step, step *= dim[0];
	} else
		for (int i = nd - 1; i >= 0; i--)
			t.stride[i] = step, step *= dim[i] + (l == GAPS && i == nd - 1 ? 2 : 0);
	t.n = step;
	t.v = malloc(t.n * sizeof *t.v);
	for (size_t i = 0; i < t.n; i++)
		t.v[i] = type == CUDNN_DATA_INT32 ? 0 : number(w);
	t.p = room(w, t.n * width(type));
	upload(w, &t);
	return t;
}
static struct ten described(struct worker *w, int type, enum layout l, int nd, const int *dim) {
	struct ten t = make(w, type, l, nd, dim);
	ok(w, cudnnCreateTensorDescriptor(&t.d));
	ok(w, cudnnSetTensorNdDescriptor(t.d, type, nd, t.dim, t.stride));
	return t;
}
static void drop(struct worker *w, struct ten *t) {
	free(t->v);
	if (t->d)
		ok(w, cudnnDestroyTensorDescriptor(t->d));
}
/* at is where an element is, for up to three axes after the channels. */
static size_t at(const struct ten *t, int n, int c, const int *x) {
	size_t i = (size_t)n * t->stride[0] + (size_t)c * t->stride[1];
	for (int k = 2; k < t->nd; k++)
		i += (size_t)x[k - 2] * t->stride[k];
	return i;
}
static size_t count(const struct ten *t) {
	size_t n = 1;
	for (int i = 0; i < t->nd; i++)
		n *= t->dim[i];
	return n;
}
/* nth is where the element is that has a number in the order of the axes. */
static size_t nth(const struct ten *t, size_t e) {
	size_t i = 0;
	for (int k = t->nd - 1; k >= 0; k--)
		i += e % t->dim[k] * t->stride[k], e /= t->dim[k];
	return i;
}
static const double eps[] = {[CUDNN_DATA_FLOAT] = 0x1p-23, [CUDNN_DATA_DOUBLE] = 0x1p-52, [CUDNN_DATA_HALF] = 0x1p-10, [CUDNN_DATA_BFLOAT16] = 0x1p-7};

/* compare looks at what a call left in a tensor: want at every element, within some roundings of mag, and nothing else changed. inner is the
 * type of the sums. */
static void compare(struct worker *w, const char *what, struct ten *t, const double *want, const double *mag, int inner, double roundings) {
	char *raw = malloc(t->n * 8);
	ok(w, cudaMemcpyAsync(raw, t->p, t->n * width(t->type), cudaMemcpyDeviceToHost, w->stream));
	ok(w, cudaStreamSynchronize(w->stream));
	char *seen = calloc(t->n, 1);
	for (size_t e = 0; e < count(t); e++) {
		size_t i = nth(t, e);
		double got = get(t->type, raw, i), d = fabs(got - want[i]);
		seen[i] = 1;
		if (!(d <= eps[t->type] * fabs(want[i]) + roundings * eps[inner] * mag[i] + (t->type == CUDNN_DATA_HALF ? 0x1p-24 : 1e-30)) && !(isnan(got) && isnan(want[i]))) {
			fprintf(stderr, "%s: %s[%zu] is %.9g, not %.9g (magnitude %g)\n", w->did, what, e, got, want[i], mag[i]);
			failures++;
			break;
		}
	}
	for (size_t i = 0; i < t->n; i++)
		if (!seen[i] && get(t->type, raw, i) != t->v[i]) {
			bad(w, "changed what is between rows, element", i);
			break;
		}
	compared++;
	free(raw), free(seen);
}
/* scaled makes want = alpha sum + beta before, and its magnitude. */
static void scaled(struct ten *t, double *want, double *mag, double alpha, double beta) {
	for (size_t i = 0; i < t->n; i++) {
		want[i] = alpha * want[i] + (beta != 0 ? beta * t->v[i] : 0);
		mag[i] = fabs(alpha) * mag[i] + fabs(beta * t->v[i]);
	}
}
/* A factor as a type wants it. */
struct factor {
	float f;
	double d;
};
static const void *as(int type, struct factor *x, double v) {
	x->f = (float)v, x->d = v;
	return type == CUDNN_DATA_DOUBLE ? (void *)&x->d : (void *)&x->f;
}
static const int floats[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16};
static int inner(int type) { return type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

/* run does a call plainly or in a graph of the runtime, which is launched once. */
typedef int call(struct worker *w, void *with);
static void run(struct worker *w, call *c, void *with) {
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	if (pick(w, 8)) {
		ok(w, c(w, with));
		return;
	}
	ok(w, cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeThreadLocal));
	ok(w, c(w, with));
	if (ok(w, cudaStreamEndCapture(w->stream, &graph)))
		return;
	ok(w, cudaGraphInstantiateWithFlags(&exec, graph, 0));
	ok(w, cudaGraphLaunch(exec, w->stream));
	ok(w, cudaStreamSynchronize(w->stream));
	ok(w, cudaGraphExecDestroy(exec)), ok(w, cudaGraphDestroy(graph));
}

/* A convolution of one to three axes. */
struct conv {
	int axes, out[3], in[3], f[3], pad[3], step[3], apart[3], groups, flip;
};
/* convolved adds the products of a convolution up where way says: 0 y, 1 x, 2 w. Filters are k, c, axes in the order of fs. */
static void convolved(const struct conv *c, int way, const struct ten *x, const struct ten *f, const struct ten *y, double *sum, double *mag) {
	int cs = f->dim[1], ks = f->dim[0] / c->groups;
	for (int n = 0; n < x->dim[0]; n++)
		for (int k = 0; k < f->dim[0]; k++)
			for (int o = 0; o < c->out[0] * c->out[1] * c->out[2]; o++) {
				int at_out[3] = {o / (c->out[1] * c->out[2]), o / c->out[2] % c->out[1], o % c->out[2]};
				for (int e = 0; e < c->f[0] * c->f[1] * c->f[2]; e++) {
					int at_f[3] = {e / (c->f[1] * c->f[2]), e / c->f[2] % c->f[1], e % c->f[2]}, at_in[3], in = 1;
					for (int a = 0; a < 3; a++) {
						at_in[a] = at_out[a] * c->step[a] - c->pad[a] + at_f[a] * c->apart[a];
						in &= at_in[a] >= 0 && at_in[a] < c->in[a];
						if (c->flip)
							at_f[a] = c->f[a] - 1 - at_f[a];
					}
					for (int ch = 0; in && ch < cs; ch++) {
						int skip = 3 - c->axes;
						size_t ix = at(x, n, k / ks * cs + ch, at_in + skip), iy = at(y, n, k, at_out + skip), iw = at(f, k, ch, at_f + skip);
						double v = way == 0 ? x->v[ix] * f->v[iw] : way == 1 ? y->v[iy] * f->v[iw] : x->v[ix] * y->v[iy];
						size_t to = way == 0 ? iy : way == 1 ? ix : iw;
						sum[to] += v, mag[to] += fabs(v);
					}
				}
			}
}
static struct conv convolution(struct worker *w, int *n, int *channels, int *filters) {
	struct conv c = {.axes = pick(w, 8) ? 2 : 3, .groups = 1, .flip = pick(w, 8) == 0};
	int most = c.axes == 3 ? 5 : 14, one = pick(w, 5) == 0; /* one tap: a product of matrices */
	*n = 1 + pick(w, 3), *channels = 1 + pick(w, 9), *filters = 1 + pick(w, 9);
	switch (pick(w, 4)) {
	case 0: c.groups = *channels, *filters = *channels * (1 + pick(w, 2)); break;
	case 1: c.groups = 1 + pick(w, 3), *channels *= c.groups, *filters *= c.groups; break;
	case 2: *channels = 1 + pick(w, 40), *filters = 1 + pick(w, 40); break;
	}
	for (int a = 0; a < 3; a++) {
		int real = a >= 3 - c.axes;
		do {
			c.in[a] = real ? 1 + (int)pick(w, most) : 1, c.f[a] = real ? 1 + pick(w, 5) : 1;
			c.pad[a] = real ? pick(w, 3) : 0, c.step[a] = real ? 1 + pick(w, 3) : 1, c.apart[a] = real && pick(w, 4) == 0 ? 2 : 1;
			if (one)
				c.f[a] = c.step[a] = 1, c.pad[a] = 0;
			c.out[a] = (c.in[a] + 2 * c.pad[a] - (c.f[a] - 1) * c.apart[a] - 1) / c.step[a] + 1;
		} while (c.in[a] + 2 * c.pad[a] < (c.f[a] - 1) * c.apart[a] + 1);
	}
	return c;
}
#include "dnnrandom_layers.h"
#include "dnnrandom_graphs.h"

static void open_(struct worker *w) {
	ok(w, cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	ok(w, cudnnCreate(&w->h)), ok(w, cudnnSetStream(w->h, w->stream));
}
static void close_(struct worker *w) {
	ok(w, cudnnDestroy(w->h));
	ok(w, cudaStreamDestroy(w->stream));
}
static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
static void *work(void *p) {
	struct worker *w = p;
	static void (*const turns[])(struct worker *) = {layer_conv, layer_conv, layer_pool, layer_softmax, layer_activation, layer_points, layer_reduce, layer_norm, layer_rnn,
		layer_dropout, layer_misuse, graph_chain, graph_chain, graph_chain, graph_norm, graph_attention, graph_misuse};
	open_(w);
	for (double end = now() + seconds; now() < end && failures < 20;) {
		if (pick(w, 30) == 0)
			strcpy(w->did, "handles"), close_(w), open_(w);
		turns[only >= 0 ? (unsigned)only : pick(w, sizeof turns / sizeof *turns)](w);
		ok(w, cudaStreamSynchronize(w->stream));
		while (w->owns)
			ok(w, cudaFree(w->owned[--w->owns]));
	}
	close_(w);
	return 0;
}
static long resident(void) {
	long size = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4 / 1024;
}

int main(int argc, char **argv) {
	double all = argc > 1 ? atof(argv[1]) : 5;
	unsigned long long seed = argc > 2 ? strtoull(argv[2], 0, 10) : 1;
	int threads = argc > 3 ? atoi(argv[3]) : 3, rounds = all > 20 ? 10 : 2;
	only = argc > 4 ? atoi(argv[4]) % 17 : -1;
	long first = 0, last = 0;
	size_t before = 0, after = 0, total;
	seconds = all / rounds;
	for (int r = 0; r < rounds && failures < 20; r++) { /* the first round makes what stays: code, pools */
		pthread_t t[64];
		struct worker *w = calloc(64, sizeof *w);
		for (int i = 0; i < threads && i < 64; i++) {
			w[i].seed = seed * 1000003 + r * 101 + i;
			pthread_create(&t[i], 0, work, &w[i]);
		}
		for (int i = 0; i < threads && i < 64; i++)
			pthread_join(t[i], 0);
		free(w);
		cudaMemGetInfo(&after, &total);
		last = resident();
		if (!r)
			before = after, first = last;
		fprintf(stderr, "round %d: %ld calls, %ld results compared, %ld failures, %ld MiB resident\n", r + 1, (long)calls, (long)compared, (long)failures, last);
	}
	if (after < before)
		fprintf(stderr, "device memory: %zu bytes free, %zu after the first round\n", after, before), failures++;
	printf("%ld calls, %ld results compared, %ld failures, %ld MiB resident, %ld after the first round\n", (long)calls, (long)compared, (long)failures, last, first);
	return failures != 0;
}
