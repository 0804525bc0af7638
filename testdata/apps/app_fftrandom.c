/* Random calls of cuFFT, cuRAND and cuSPARSE from several threads: random plans, layouts, types, formats, pointer modes, streams and captures,
 * and calls that must be refused. Transforms are compared with their sum, random numbers with the same numbers in other portions, products
 * of small integers with a dense matrix, exactly. At the end all is given back, and the device's memory must be as at the start.
 *   app_fftrandom SECONDS [SEED [THREADS]] */
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <curand.h>
#include <cusparse.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 1 << 14 };
static double seconds;
static _Atomic long calls, failures;

struct worker {
	unsigned long long seed;
	cusparseHandle_t sparse;
	cudaStream_t stream;
	double *a, *b, *c, *scalars; /* on the device */
	int *rows, *cols, *rows2, *cols2;
	double ha[ROOM], hb[ROOM], hc[ROOM], want[ROOM], dense[ROOM], dense2[ROOM];
	int hrows[ROOM], hcols[ROOM];
	char did[200];
};

static unsigned pick(struct worker *w, unsigned n) {
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((w->seed >> 33) % n);
}
static double number(struct worker *w) { return ((int)pick(w, 2001) - 1000) / 1000.0; }
static double whole(struct worker *w) { return (int)pick(w, 9) - 4; }
static void bad(struct worker *w, const char *why, double v) {
	failures++;
	fprintf(stderr, "%s: %s %g\n", w->did, why, v);
}
static void ok(struct worker *w, int status) {
	calls++;
	if (status)
		bad(w, "status", status);
}
static void refused(struct worker *w, int status, int want) {
	calls++;
	if (status != want)
		bad(w, "not refused:", status);
}
static void to(struct worker *w, void *d, const void *h, size_t n) { ok(w, cudaMemcpyAsync(d, h, n, cudaMemcpyHostToDevice, w->stream)); }
static void from(struct worker *w, void *h, const void *d, size_t n) {
	ok(w, cudaMemcpyAsync(h, d, n, cudaMemcpyDeviceToHost, w->stream));
	ok(w, cudaStreamSynchronize(w->stream));
}

/* run does a call plainly or in a graph. */
struct action {
	int (*call)(void *);
	void *with;
};
static void run(struct worker *w, struct action a, int captured) {
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	if (!captured) {
		ok(w, a.call(a.with));
		return;
	}
	ok(w, cudaStreamBeginCapture(w->stream, cudaStreamCaptureModeThreadLocal));
	ok(w, a.call(a.with));
	ok(w, cudaStreamEndCapture(w->stream, &graph));
	ok(w, cudaGraphInstantiateWithFlags(&exec, graph, 0));
	ok(w, cudaGraphLaunch(exec, w->stream));
	ok(w, cudaStreamSynchronize(w->stream));
	ok(w, cudaGraphExecDestroy(exec)), ok(w, cudaGraphDestroy(graph));
}

/* along is the sum of a transform along an axis of n numbers, stride apart: n of [re, im] at x. */
static void along(double *x, int n, int stride, int sign) {
	double *line = malloc(n * 2 * sizeof *line);
	for (int k = 0; k < n; k++) {
		double re = 0, im = 0;
		for (int j = 0; j < n; j++) {
			double at = sign * 2 * M_PI * (int)((long)j * k % n) / n, c = cos(at), s = sin(at), *v = x + 2 * j * stride;
			re += v[0] * c - v[1] * s, im += v[0] * s + v[1] * c;
		}
		line[2 * k] = re, line[2 * k + 1] = im;
	}
	for (int k = 0; k < n; k++)
		x[2 * k * stride] = line[2 * k], x[2 * k * stride + 1] = line[2 * k + 1];
	free(line);
}
static void transform(double *x, int rank, const int *n, int batch, int sign) {
	int total = 1, inner = 1;
	for (int i = 0; i < rank; i++)
		total *= n[i];
	for (int a = rank - 1; a >= 0; inner *= n[a--])
		for (int o = 0; o < batch * total / (n[a] * inner); o++)
			for (int i = 0; i < inner; i++)
				along(x + 2 * ((size_t)o * n[a] * inner + i), n[a], inner, sign);
}

enum kind { COMPLEX, FROM_REAL, TO_REAL };
struct fft {
	cufftHandle plan;
	enum kind kind;
	int wide, general, sign;
	void *in, *out;
};
static int exec_fft(void *p) {
	struct fft *f = p;
	if (f->general)
		return cufftXtExec(f->plan, f->in, f->out, f->sign);
	switch (f->kind) {
	case COMPLEX: return f->wide ? cufftExecZ2Z(f->plan, f->in, f->out, f->sign) : cufftExecC2C(f->plan, f->in, f->out, f->sign);
	case FROM_REAL: return f->wide ? cufftExecD2Z(f->plan, f->in, f->out) : cufftExecR2C(f->plan, f->in, f->out);
	default: return f->wide ? cufftExecZ2D(f->plan, f->in, f->out) : cufftExecC2R(f->plan, f->in, f->out);
	}
}
static size_t pack(const double *x, int n, int wide, void *out) {
	for (int i = 0; i < n; i++)
		if (wide)
			((double *)out)[i] = x[i];
		else
			((float *)out)[i] = (float)x[i];
	return (size_t)n * (wide ? 8 : 4);
}
static double unpack(const void *p, int i, int wide) { return wide ? ((const double *)p)[i] : ((const float *)p)[i]; }

/* A plan of any shape, made in one of several ways, used some times in both directions, plainly or in a graph. */
static void fft(struct worker *w) {
	struct fft f = {.kind = pick(w, 3), .wide = pick(w, 2), .general = pick(w, 2)};
	int rank = 1 + pick(w, 3), n[3], total = 1, most = rank == 1 ? 400 : rank == 2 ? 30 : 10, batch = 1 + pick(w, 4), how = pick(w, 4), place = pick(w, 2);
	for (int i = 0; i < rank; i++)
		total *= n[i] = 1 + pick(w, most);
	int last = n[rank - 1], half = last / 2 + 1, rows = total / last, stride = how == 3 && !place ? 1 + pick(w, 3) : 1, own = pick(w, 3) == 0;
	if (how == 0 && rank > 1)
		batch = 1;
	if ((long)rows * half * 2 * batch * stride * 2 > ROOM || (long)total * 2 * batch * stride > ROOM)
		return;
	static const cufftType types[2][3] = {{CUFFT_C2C, CUFFT_R2C, CUFFT_C2R}, {CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D}};
	cufftType type = types[f.wide][f.kind];
	snprintf(w->did, sizeof w->did, "fft kind %d wide %d rank %d n %d %d %d batch %d how %d in place %d stride %d own area %d", f.kind, f.wide, rank, n[0], rank > 1 ? n[1] : 0,
		rank > 2 ? n[2] : 0, batch, how, place, stride, own);
	size_t size = 0, told = 0;
	void *area = NULL;
	/* What a row of the last axis takes on both sides, in numbers of the side. */
	int in_row = f.kind == TO_REAL ? half : last, out_row = f.kind == FROM_REAL ? half : last;
	int real_row = place ? 2 * half : last; /* padded rows of real numbers */
	int in_real = f.kind == FROM_REAL, out_real = f.kind == TO_REAL;
	if (in_real)
		in_row = real_row;
	if (out_real)
		out_row = real_row;
	if (how == 0 && !own) {
		ok(w, rank == 1 ? cufftPlan1d(&f.plan, n[0], type, batch) : rank == 2 ? cufftPlan2d(&f.plan, n[0], n[1], type) : cufftPlan3d(&f.plan, n[0], n[1], n[2], type));
	} else {
		ok(w, cufftCreate(&f.plan));
		refused(w, cufftGetSize(f.plan, &size), CUFFT_INVALID_PLAN);
		if (own)
			ok(w, cufftSetAutoAllocation(f.plan, 0));
		int in_embed[3], out_embed[3];
		long long n64[3], in64[3], out64[3];
		for (int i = 0; i < rank; i++) {
			in64[i] = in_embed[i] = i == rank - 1 ? in_row : n[i], out64[i] = out_embed[i] = i == rank - 1 ? out_row : n[i], n64[i] = n[i];
		}
		int idist = rows * in_row * stride, odist = rows * out_row * stride;
		if (how == 3) {
			static const cudaDataType real[2] = {CUDA_R_32F, CUDA_R_64F}, complex_[2] = {CUDA_C_32F, CUDA_C_64F};
			ok(w, cufftXtMakePlanMany(f.plan, rank, n64, in64, stride, idist, in_real ? real[f.wide] : complex_[f.wide], out64, stride, odist,
				out_real ? real[f.wide] : complex_[f.wide], batch, &size, complex_[f.wide]));
		} else if (how == 2)
			ok(w, cufftMakePlanMany64(f.plan, rank, n64, in64, stride, idist, out64, stride, odist, type, batch, &size));
		else if (how == 1)
			ok(w, cufftMakePlanMany(f.plan, rank, n, NULL, 1, 0, NULL, 1, 0, type, batch, &size));
		else
			ok(w, rank == 1 ? cufftMakePlan1d(f.plan, n[0], type, batch, &size)
				: rank == 2 ? cufftMakePlan2d(f.plan, n[0], n[1], type, &size) : cufftMakePlan3d(f.plan, n[0], n[1], n[2], type, &size));
		ok(w, cufftGetSize(f.plan, &told));
		if (told != size)
			bad(w, "sizes differ by", (double)told - (double)size);
		refused(w, cufftMakePlan1d(f.plan, n[0], type, 1, &size), CUFFT_INVALID_PLAN);
	}
	ok(w, cufftSetStream(f.plan, w->stream));
	if (own) {
		ok(w, cudaMalloc(&area, told ? told : 1));
		ok(w, cufftSetWorkArea(f.plan, area));
	}
	for (int turn = 1 + pick(w, 3); turn > 0 && failures < 20; turn--) {
		f.sign = f.kind == FROM_REAL || (f.kind == COMPLEX && pick(w, 2)) ? CUFFT_FORWARD : CUFFT_INVERSE;
		f.in = w->a, f.out = place ? (void *)w->a : (void *)w->c;
		/* The whole spectrum, or the real numbers, as complex ones in rows without gaps. */
		double *x = w->want;
		memset(x, 0, 2 * (size_t)total * batch * sizeof *x);
		for (int i = 0; i < total * batch; i++) {
			x[2 * i] = (float)number(w);
			x[2 * i + 1] = f.kind == COMPLEX ? (float)number(w) : 0;
		}
		double scale = 0;
		if (f.kind == TO_REAL) /* the spectrum of real numbers */
			transform(x, rank, n, batch, -1);
		memset(w->ha, 0, sizeof w->ha);
		for (int r = 0; r < rows * batch; r++)
			for (int i = 0; i < (in_real ? last : f.kind == TO_REAL ? half : last); i++) {
				double *v = x + 2 * ((size_t)r * last + i);
				if (!f.wide)
					v[0] = (float)v[0], v[1] = (float)v[1];
				size_t at = ((size_t)r * in_row + i) * stride;
				if (in_real)
					w->ha[at] = v[0];
				else
					w->ha[2 * at] = v[0], w->ha[2 * at + 1] = v[1];
			}
		to(w, f.in, w->hb, pack(w->ha, ROOM, f.wide, w->hb));
		refused(w, exec_fft(&(struct fft){.plan = f.plan + 100000, .kind = f.kind, .wide = f.wide, .sign = f.sign}), CUFFT_INVALID_PLAN);
		run(w, (struct action){exec_fft, &f}, pick(w, 4) == 0);
		from(w, w->hc, f.out, ROOM * (f.wide ? 8 : 4));
		transform(x, rank, n, batch, f.sign == CUFFT_FORWARD ? -1 : 1);
		double worst = 0;
		for (int r = 0; r < rows * batch; r++)
			for (int i = 0; i < (f.kind == FROM_REAL ? half : last); i++) {
				double *v = x + 2 * ((size_t)r * last + i);
				size_t at = ((size_t)r * out_row + i) * stride;
				scale = fmax(scale, fmax(fabs(v[0]), fabs(v[1])));
				double d = out_real ? unpack(w->hc, at, f.wide) - v[0] : fmax(fabs(unpack(w->hc, 2 * at, f.wide) - v[0]), fabs(unpack(w->hc, 2 * at + 1, f.wide) - v[1]));
				if (!(fabs(d) <= worst))
					worst = fabs(d);
			}
		double unit = f.wide ? 0x1p-52 : 0x1p-23;
		if (!(worst <= unit * 16 * sqrt(total) * (1 + sqrt(total)) * (f.kind == TO_REAL ? sqrt(total) : 1)))
			bad(w, "differs by", worst);
	}
	ok(w, cufftDestroy(f.plan));
	if (pick(w, 4) == 0 && own)
		refused(w, cufftSetStream(-5, 0), CUFFT_INVALID_PLAN);
	ok(w, cudaFree(area));
}

/* The same numbers in one call and in portions, on the host and on the device; integers are bits, others are compared as bits too. */
struct draw {
	curandGenerator_t g;
	int kind;
	size_t n;
	void *at;
};
static int drawn(void *p) {
	struct draw *d = p;
	switch (d->kind) {
	case 0: return curandGenerate(d->g, d->at, d->n);
	case 1: return curandGenerateUniform(d->g, d->at, d->n);
	case 2: return curandGenerateUniformDouble(d->g, d->at, d->n);
	case 3: return curandGenerateNormal(d->g, d->at, d->n, 1, 2);
	case 4: return curandGenerateNormalDouble(d->g, d->at, d->n, 1, 2);
	case 5: return curandGenerateLogNormal(d->g, d->at, d->n, 0, 1);
	default: return curandGeneratePoisson(d->g, d->at, d->n, 5);
	}
}
static void rand_(struct worker *w) {
	static const curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_QUASI_SOBOL32};
	static const int widths[] = {4, 4, 8, 4, 8, 4, 4};
	int which = pick(w, 4), kind = pick(w, which == 3 ? 6 : 7), n = 2 * (1 + pick(w, 500)), cut = 2 * pick(w, n / 2 + 1), quasi = which == 3;
	unsigned long long seed = pick(w, 1000000), offset = pick(w, 3) ? 0 : 2 * pick(w, 1000);
	snprintf(w->did, sizeof w->did, "rand generator %d kind %d n %d cut %d seed %llu offset %llu", which, kind, n, cut, seed, offset);
	curandGenerator_t device, host;
	ok(w, curandCreateGenerator(&device, types[which])), ok(w, curandCreateGeneratorHost(&host, types[which]));
	for (int i = 0; i < 2; i++) {
		curandGenerator_t g = i ? host : device;
		if (quasi) {
			ok(w, curandSetQuasiRandomGeneratorDimensions(g, 1));
			refused(w, curandSetPseudoRandomGeneratorSeed(g, seed), CURAND_STATUS_TYPE_ERROR);
		} else
			ok(w, curandSetPseudoRandomGeneratorSeed(g, seed));
		ok(w, curandSetGeneratorOffset(g, offset));
	}
	ok(w, curandSetStream(device, w->stream));
	struct draw all = {device, kind, n, w->a}, part = {host, kind, n, w->hb};
	run(w, (struct action){drawn, &all}, 0);
	from(w, w->ha, w->a, (size_t)n * widths[kind]);
	ok(w, drawn(&part));
	if (memcmp(w->ha, w->hb, (size_t)n * widths[kind]))
		bad(w, "the host generator has other numbers", 0);
	/* Sobol and plain integers of one after another are those of one call; other generators are many that take turns. */
	if (quasi) {
		ok(w, curandSetGeneratorOffset(device, offset));
		part = (struct draw){device, kind, cut, w->c};
		if (cut)
			ok(w, drawn(&part));
		part = (struct draw){device, kind, n - cut, (char *)w->c + (size_t)cut * widths[kind]};
		if (n - cut)
			ok(w, drawn(&part));
	} else {
		ok(w, curandSetPseudoRandomGeneratorSeed(device, seed)), ok(w, curandSetGeneratorOffset(device, offset));
		part = (struct draw){device, kind, n, w->c};
		ok(w, drawn(&part));
	}
	from(w, w->hc, w->c, (size_t)n * widths[kind]);
	if (memcmp(w->ha, w->hc, (size_t)n * widths[kind]))
		bad(w, "numbers again are others", 0);
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += kind == 0 ? ((unsigned *)w->ha)[i] * 0x1p-32 : kind == 6 ? ((unsigned *)w->ha)[i] : widths[kind] == 8 ? w->ha[i] : ((float *)w->ha)[i];
	static const double mean[] = {.5, .5, .5, 1, 1, 1.6487, 5}, deviation[] = {.29, .29, .29, 2, 2, 2.16, 2.24};
	if (!(fabs(sum / n - mean[kind]) <= 7 * deviation[kind] / sqrt(n) + (kind == 5 ? 2 : 0)))
		bad(w, "mean", sum / n);
	ok(w, curandDestroyGenerator(device)), ok(w, curandDestroyGenerator(host));
}
#include "fftrandom_sparse.h"

static void open_(struct worker *w) {
	ok(w, cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	ok(w, cusparseCreate(&w->sparse)), ok(w, cusparseSetStream(w->sparse, w->stream));
}
static void close_(struct worker *w) {
	ok(w, cusparseDestroy(w->sparse));
	ok(w, cudaStreamDestroy(w->stream));
}
static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
static void *work(void *p) {
	struct worker *w = p;
	void **rooms[] = {(void **)&w->a, (void **)&w->b, (void **)&w->c, (void **)&w->scalars, (void **)&w->rows, (void **)&w->cols, (void **)&w->rows2, (void **)&w->cols2};
	for (int i = 0; i < 8; i++)
		ok(w, cudaMalloc(rooms[i], ROOM * sizeof(double)));
	open_(w);
	for (double end = now() + seconds; now() < end && failures < 20;)
		switch (pick(w, 16)) {
		case 0: strcpy(w->did, "handles"), close_(w), open_(w); break;
		case 1: case 2: case 3: case 4: fft(w); break;
		case 5: case 6: rand_(w); break;
		default: sparse(w);
		}
	close_(w);
	for (int i = 0; i < 8; i++)
		ok(w, cudaFree(*rooms[i]));
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
		fprintf(stderr, "round %d: %ld calls, %ld failures, %ld MiB resident\n", r + 1, (long)calls, (long)failures, last);
	}
	if (after < before)
		fprintf(stderr, "device memory: %zu bytes free, %zu after the first round\n", after, before), failures++;
	printf("%ld calls, %ld failures, %ld MiB resident, %ld after the first round\n", (long)calls, (long)failures, last, first);
	return failures != 0;
}
