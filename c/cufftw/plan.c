// Transforms of arrays in the program's memory, on cuFFT. Elements are gathered into a dense batch, copied to the device,
// transformed there and brought back: any strides will do, and dense arrays are copied as they are.
#include "plan.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime_api.h"
#include "cufft.h"

// A side is what lies in the program's memory: lengths without the last dimension's on the complex side of real transforms.
struct side {
	int dims;
	ptrdiff_t n[KZ_FFTW_RANK + KZ_FFTW_BATCH], stride[KZ_FFTW_RANK + KZ_FFTW_BATCH];
	size_t size, count; // of an element, and how many there are
	int dense;
};

struct kz_plan {
	struct kz_shape shape;
	enum kz_fftw_kind kind;
	int wide, sign;
	void *in, *out;
	struct side from, to;
	cufftHandle fft;
	cudaStream_t stream;
	void *device[2];      // what goes in, and what comes out
	void *packed;         // room for the larger side
	pthread_mutex_t lock; // a plan may be executed by several threads
};

// place makes a side of dimensions from the outermost on; out says which of the two.
static void place(struct side *s, const struct kz_shape *shape, int out, size_t size, int half) {
	s->size = size, s->count = 1, s->dims = 0;
	for (int i = 0; i < shape->batches + shape->rank; i++) {
		const struct kz_dim *d = i < shape->batches ? &shape->batch[i] : &shape->dims[i - shape->batches];
		ptrdiff_t n = d->n;
		if (half && i == shape->batches + shape->rank - 1)
			n = n / 2 + 1;
		s->n[s->dims] = n, s->stride[s->dims++] = out ? d->out : d->in;
		s->count *= (size_t)n;
	}
	ptrdiff_t next = 1;
	s->dense = 1;
	for (int i = s->dims - 1; i >= 0; i--) {
		s->dense = s->dense && (s->n[i] == 1 || s->stride[i] == next);
		next *= s->n[i];
	}
}

// rows moves a run of the innermost dimension.
static void rows(char *packed, char *user, ptrdiff_t n, ptrdiff_t stride, size_t size, int back) {
	for (ptrdiff_t i = 0; i < n; i++) {
		char *p = packed + i * (ptrdiff_t)size, *u = user + i * stride * (ptrdiff_t)size;
		memcpy(back ? u : p, back ? p : u, size);
	}
}

// move gathers a side's elements into packed, or spreads them from there.
static void move(const struct side *s, char *packed, char *user, int back) {
	ptrdiff_t at[KZ_FFTW_RANK + KZ_FFTW_BATCH] = {0}, last = s->n[s->dims - 1];
	size_t runs = s->count / (size_t)last;
	for (size_t r = 0; r < runs; r++) {
		ptrdiff_t offset = 0;
		for (int i = 0; i < s->dims - 1; i++)
			offset += at[i] * s->stride[i];
		rows(packed + r * (size_t)last * s->size, user + offset * (ptrdiff_t)s->size, last, s->stride[s->dims - 1], s->size, back);
		for (int i = s->dims - 2; i >= 0 && ++at[i] == s->n[i]; i--)
			at[i] = 0;
	}
}

// sound reports a shape that can be transformed: every length at least 1, and a batch that counts.
static int sound(const struct kz_shape *s) {
	double count = 1;
	if (s->rank < 1 || s->rank > KZ_FFTW_RANK || s->batches < 0 || s->batches > KZ_FFTW_BATCH)
		return 0;
	for (int i = 0; i < s->rank; i++) {
		if (s->dims[i].n < 1 || s->dims[i].n > INT32_MAX)
			return 0;
		count *= (double)s->dims[i].n;
	}
	for (int i = 0; i < s->batches; i++) {
		if (s->batch[i].n < 1)
			return 0;
		count *= (double)s->batch[i].n;
	}
	return count < 0x1p40;
}

static int prepare(struct kz_plan *p) {
	static const cufftType types[2][3] = {{CUFFT_C2C, CUFFT_R2C, CUFFT_C2R}, {CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D}};
	size_t real = p->wide ? 8 : 4, work;
	place(&p->from, &p->shape, 0, p->kind == KZ_R2C ? real : 2 * real, p->kind == KZ_C2R);
	place(&p->to, &p->shape, 1, p->kind == KZ_C2R ? real : 2 * real, p->kind == KZ_R2C);
	long long n[KZ_FFTW_RANK], batch = 1;
	for (int i = 0; i < p->shape.rank; i++)
		n[i] = p->shape.dims[i].n;
	for (int i = 0; i < p->shape.batches; i++)
		batch *= p->shape.batch[i].n;
	size_t in = p->from.count * p->from.size, out = p->to.count * p->to.size;
	if (cufftCreate(&p->fft))
		return 0;
	if (cufftMakePlanMany64(p->fft, p->shape.rank, n, NULL, 1, 0, NULL, 1, 0, types[p->wide][p->kind], batch, &work) ||
	    cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking) || cufftSetStream(p->fft, p->stream) ||
	    cudaMalloc(&p->device[0], in) || cudaMalloc(&p->device[1], out))
		return 0;
	if (!p->from.dense || !p->to.dense)
		p->packed = malloc(in > out ? in : out);
	return p->packed || (p->from.dense && p->to.dense);
}

struct kz_plan *kz_plan_make(const struct kz_shape *shape, enum kz_fftw_kind kind, int wide, int sign, void *in, void *out) {
	if (!sound(shape) || (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE))
		return NULL;
	struct kz_plan *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->shape = *shape, p->kind = kind, p->wide = wide, p->sign = sign, p->in = in, p->out = out, p->fft = -1;
	pthread_mutex_init(&p->lock, NULL);
	if (prepare(p))
		return p;
	kz_plan_end(p);
	return NULL;
}

void kz_plan_end(struct kz_plan *p) {
	if (!p)
		return;
	if (p->fft != -1)
		cufftDestroy(p->fft);
	if (p->stream)
		cudaStreamDestroy(p->stream);
	cudaFree(p->device[0]), cudaFree(p->device[1]);
	free(p->packed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static int run(struct kz_plan *p) {
	void *in = p->device[0], *out = p->device[1];
	if (p->kind == KZ_C2C)
		return p->wide ? cufftExecZ2Z(p->fft, in, out, p->sign) : cufftExecC2C(p->fft, in, out, p->sign);
	if (p->kind == KZ_R2C)
		return p->wide ? cufftExecD2Z(p->fft, in, out) : cufftExecR2C(p->fft, in, out);
	return p->wide ? cufftExecZ2D(p->fft, in, out) : cufftExecC2R(p->fft, in, out);
}

// transform is all of one execution; not 0 is an error code of CUDA's.
static int transform(struct kz_plan *p, const void *in, void *out) {
	if (!p->from.dense) {
		move(&p->from, p->packed, (char *)in, 0);
		in = p->packed;
	}
	int rc = cudaMemcpyAsync(p->device[0], in, p->from.count * p->from.size, cudaMemcpyDefault, p->stream);
	if (!rc)
		rc = run(p);
	void *to = p->to.dense ? out : p->packed;
	if (!rc)
		rc = cudaMemcpyAsync(to, p->device[1], p->to.count * p->to.size, cudaMemcpyDefault, p->stream);
	if (!rc)
		rc = cudaStreamSynchronize(p->stream);
	if (!rc && !p->to.dense)
		move(&p->to, p->packed, out, 1);
	return rc;
}

void kz_execute_on(struct kz_plan *p, const void *in, void *out) {
	if (!p || !in || !out)
		return;
	pthread_mutex_lock(&p->lock);
	int rc = transform(p, in, out);
	pthread_mutex_unlock(&p->lock);
	if (rc) // the interface has no result
		fprintf(stderr, "kudzu: libcufftw: a transform failed (error %d)\n", rc);
}

void kz_execute(struct kz_plan *p) {
	if (p)
		kz_execute_on(p, p->in, p->out);
}

void kz_operations(const struct kz_plan *p, double *add, double *mul) {
	double points = 1, batch = 1;
	for (int i = 0; p && i < p->shape.rank; i++)
		points *= (double)p->shape.dims[i].n;
	for (int i = 0; p && i < p->shape.batches; i++)
		batch *= (double)p->shape.batch[i].n;
	double all = p ? batch * points * log2(points) * (p->kind == KZ_C2C ? 1 : .5) : 0;
	*add = 3 * all, *mul = 2 * all;
}

void kz_print(const struct kz_plan *p) {
	static const char *const kinds[] = {"dft", "dft-r2c", "dft-c2r"};
	if (!p)
		return;
	printf("(%s-%s", kinds[p->kind], p->wide ? "f64" : "f32");
	for (int i = 0; i < p->shape.rank; i++)
		printf("%s%td", i ? "x" : " ", p->shape.dims[i].n);
	for (int i = 0; i < p->shape.batches; i++)
		printf(" *%td", p->shape.batch[i].n);
	printf(")");
}

int kz_many(struct kz_shape *s, enum kz_fftw_kind kind, int in_place, int rank, const int *n, int batch, const int *inembed,
            int istride, int idist, const int *onembed, int ostride, int odist) {
	if (rank < 1 || rank > KZ_FFTW_RANK || !n || batch < 1)
		return 0;
	memset(s, 0, sizeof *s);
	s->rank = rank, s->batches = 1;
	s->batch[0] = (struct kz_dim){batch, idist, odist};
	ptrdiff_t in = istride, out = ostride;
	for (int i = rank - 1; i >= 0; i--) {
		ptrdiff_t real = n[i], half = n[i];
		if (i == rank - 1 && kind != KZ_C2C) {
			half = n[i] / 2 + 1;
			real = in_place ? 2 * half : n[i];
		}
		s->dims[i] = (struct kz_dim){n[i], in, out};
		in *= inembed ? inembed[i] : kind == KZ_C2R ? half : real;
		out *= onembed ? onembed[i] : kind == KZ_R2C ? half : real;
	}
	return 1;
}
