/* The part of app_fftrandom.c that calls cuSPARSE. Entries are small integers, so that sums are exact in any order and type. */
#include <complex.h>

enum format { CSR, CSC, COO, BSR, SELL, BELL };
struct matrix {
	int m, n, nnz, format, base, block, kind;
	cusparseSpMatDescr_t d;
	double complex *dense; /* by rows */
};

/* Types of values: f32, f64, complex of both. */
static const cudaDataType kinds[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
static const int kind_bytes[] = {4, 8, 8, 16};
static void put(void *p, long i, double complex v, int kind) {
	switch (kind) {
	case 0: ((float *)p)[i] = (float)creal(v); break;
	case 1: ((double *)p)[i] = creal(v); break;
	case 2: ((float *)p)[2 * i] = (float)creal(v), ((float *)p)[2 * i + 1] = (float)cimag(v); break;
	default: ((double *)p)[2 * i] = creal(v), ((double *)p)[2 * i + 1] = cimag(v);
	}
}
static double complex get(const void *p, long i, int kind) {
	switch (kind) {
	case 0: return ((const float *)p)[i];
	case 1: return ((const double *)p)[i];
	case 2: return ((const float *)p)[2 * i] + I * ((const float *)p)[2 * i + 1];
	default: return ((const double *)p)[2 * i] + I * ((const double *)p)[2 * i + 1];
	}
}
static double complex entry(struct worker *w, int kind) { return whole(w) + (kind > 1 ? I * whole(w) : 0); }

/* place puts a dense matrix into a format: offsets or rows, columns, values. */
static void make(struct worker *w, struct matrix *a, void *rows, void *cols, void *values) {
	int *offsets = w->hrows, *indices = w->hcols, m = a->m, n = a->n, k = a->block, base = a->base, count = 0;
	double complex *x = a->dense;
	int lines = a->format == CSC ? n : a->format == BSR || a->format == BELL ? m / k : m;
	long stored = 0;
	a->nnz = 0;
	memset(w->hb, 0, sizeof w->hb);
	switch (a->format) {
	case CSR: case CSC: case COO:
		for (int i = 0; i < lines; i++) {
			offsets[i] = a->format == COO ? offsets[i] : base + count;
			for (int j = 0; j < (a->format == CSC ? m : n); j++) {
				double complex v = a->format == CSC ? x[j * n + i] : x[i * n + j];
				if (v == 0)
					continue;
				if (a->format == COO)
					offsets[count] = base + i;
				indices[count] = base + j;
				put(w->hb, count++, v, a->kind);
			}
		}
		if (a->format != COO)
			offsets[lines] = base + count;
		a->nnz = count, stored = count;
		break;
	case BSR:
		for (int i = 0; i < lines; i++) {
			offsets[i] = base + count;
			for (int j = 0; j < n / k; j++) {
				int any = 0;
				for (int r = 0; r < k * k; r++)
					any |= x[(i * k + r / k) * n + j * k + r % k] != 0;
				if (!any)
					continue;
				indices[count] = base + j;
				for (int r = 0; r < k * k; r++)
					put(w->hb, (long)count * k * k + r, x[(i * k + r / k) * n + j * k + r % k], a->kind);
				count++;
			}
		}
		offsets[lines] = base + count;
		a->nnz = count, stored = (long)count * k * k;
		break;
	case SELL: /* slices of k rows, column by column, padded with -1 */
		for (int s = 0; s < (m + k - 1) / k; s++) {
			int wide = 0;
			offsets[s] = base + stored;
			for (int i = s * k; i < m && i < (s + 1) * k; i++) {
				int c = 0;
				for (int j = 0; j < n; j++)
					c += x[i * n + j] != 0;
				wide = c > wide ? c : wide, a->nnz += c;
			}
			for (long e = stored; e < stored + (long)wide * k; e++)
				indices[e] = -1;
			for (int i = s * k; i < m && i < (s + 1) * k; i++)
				for (int j = 0, c = 0; j < n; j++)
					if (x[i * n + j] != 0) {
						indices[stored + (long)c * k + i - s * k] = base + j;
						put(w->hb, stored + (long)c++ * k + i - s * k, x[i * n + j], a->kind);
					}
			stored += (long)wide * k;
		}
		offsets[(m + k - 1) / k] = base + stored;
		break;
	default: /* blocked ELL: all blocks of a row are there */
		for (int i = 0; i < lines; i++)
			for (int j = 0; j < n / k; j++)
				indices[count++] = base + j;
		for (int i = 0; i < m * n; i++)
			put(w->hb, i, x[i], a->kind);
		stored = (long)m * n;
	}
	to(w, rows, offsets, ROOM * sizeof(int)), to(w, cols, indices, ROOM * sizeof(int)), to(w, values, w->hb, stored * kind_bytes[a->kind]);
	ok(w, cudaStreamSynchronize(w->stream));
	cusparseIndexType_t i32 = CUSPARSE_INDEX_32I;
	cudaDataType t = kinds[a->kind];
	switch (a->format) {
	case CSR: ok(w, cusparseCreateCsr(&a->d, m, n, a->nnz, rows, cols, values, i32, i32, base, t)); break;
	case CSC: ok(w, cusparseCreateCsc(&a->d, m, n, a->nnz, rows, cols, values, i32, i32, base, t)); break;
	case COO: ok(w, cusparseCreateCoo(&a->d, m, n, a->nnz, rows, cols, values, i32, base, t)); break;
	case BSR: ok(w, cusparseCreateBsr(&a->d, m / k, n / k, a->nnz, k, k, rows, cols, values, i32, i32, base, t, CUSPARSE_ORDER_ROW)); break;
	case SELL: ok(w, cusparseCreateSlicedEll(&a->d, m, n, a->nnz, stored, k, rows, cols, values, i32, i32, base, t)); break;
	default: ok(w, cusparseCreateBlockedEll(&a->d, m, n, k, n, cols, values, i32, base, t));
	}
}

static void fill_dense(struct worker *w, struct matrix *a) {
	int often = 1 + pick(w, 6);
	for (int i = 0; i < a->m * a->n; i++)
		a->dense[i] = pick(w, often) ? 0 : entry(w, a->kind);
}

struct sparse_call {
	struct worker *w;
	int op, many, alg;
	const void *alpha, *beta;
	struct matrix *a;
	cusparseDnVecDescr_t x, y;
	cusparseDnMatDescr_t b, c;
};
static int product_call(void *p) {
	struct sparse_call *c = p;
	cudaDataType t = kinds[c->a->kind];
	if (c->many)
		return cusparseSpMM(c->w->sparse, c->op, CUSPARSE_OPERATION_NON_TRANSPOSE, c->alpha, c->a->d, c->b, c->beta, c->c, t, CUSPARSE_SPMM_ALG_DEFAULT, c->w->scalars + 8);
	return cusparseSpMV(c->w->sparse, c->op, c->alpha, c->a->d, c->x, c->beta, c->y, t, CUSPARSE_SPMV_ALG_DEFAULT, c->w->scalars + 8);
}
static void same(struct worker *w, const double complex *want, int n, int kind, const void *device) {
	from(w, w->hc, device, (size_t)n * kind_bytes[kind]);
	for (int i = 0; i < n; i++)
		if (get(w->hc, i, kind) != want[i]) {
			bad(w, "differs, number", i);
			return;
		}
}

/* y = alpha op(A) x + beta y, or with several columns. */
static void sparse_product(struct worker *w, struct matrix *a) {
	int general = a->format <= COO, op = general ? pick(w, a->kind > 1 ? 3 : 2) : 0, many = a->format == SELL ? 0 : a->format == BELL ? 1 : pick(w, 2);
	int columns = many ? 1 + pick(w, 5) : 1, rows = op ? a->n : a->m, inner = op ? a->m : a->n, device = pick(w, 2), wide = kind_bytes[a->kind];
	double complex s[2] = {entry(w, a->kind), pick(w, 2) ? entry(w, a->kind) : 0}, *x = calloc((size_t)inner * columns + 1, sizeof *x), *y = calloc((size_t)rows * columns + 1, sizeof *y);
	double scalars[4];
	put(scalars, 0, s[0], a->kind), put((char *)scalars + wide, 0, s[1], a->kind);
	snprintf(w->did + strlen(w->did), sizeof w->did - strlen(w->did), " product op %d columns %d device %d", op, many ? columns : 0, device);
	for (int i = 0; i < inner * columns; i++)
		put(w->ha, i, x[i] = entry(w, a->kind), a->kind);
	to(w, w->b, w->ha, (size_t)inner * columns * wide);
	for (int i = 0; i < rows * columns; i++)
		put(w->hb, i, y[i] = entry(w, a->kind), a->kind);
	to(w, w->c, w->hb, (size_t)rows * columns * wide), to(w, w->scalars, scalars, sizeof scalars);
	for (int c = 0; c < columns; c++)
		for (int i = 0; i < rows; i++) {
			double complex v = 0;
			for (int j = 0; j < inner; j++) {
				double complex e = op ? a->dense[j * a->n + i] : a->dense[i * a->n + j];
				v += (op == 2 ? conj(e) : e) * x[j + c * inner];
			}
			y[i + c * rows] = s[0] * v + (s[1] != 0 ? s[1] * y[i + c * rows] : 0);
		}
	struct sparse_call call = {w, op, many, 0, device ? (void *)w->scalars : (void *)scalars, device ? (char *)w->scalars + wide : (char *)scalars + wide, a, 0, 0, 0, 0};
	ok(w, cusparseSetPointerMode(w->sparse, device));
	size_t size = 0;
	cudaDataType t = kinds[a->kind];
	if (many) {
		ok(w, cusparseCreateDnMat(&call.b, inner, columns, inner, w->b, t, CUSPARSE_ORDER_COL)), ok(w, cusparseCreateDnMat(&call.c, rows, columns, rows, w->c, t, CUSPARSE_ORDER_COL));
		ok(w, cusparseSpMM_bufferSize(w->sparse, op, 0, call.alpha, a->d, call.b, call.beta, call.c, t, CUSPARSE_SPMM_ALG_DEFAULT, &size));
	} else {
		ok(w, cusparseCreateDnVec(&call.x, inner, w->b, t)), ok(w, cusparseCreateDnVec(&call.y, rows, w->c, t));
		ok(w, cusparseSpMV_bufferSize(w->sparse, op, call.alpha, a->d, call.x, call.beta, call.y, t, CUSPARSE_SPMV_ALG_DEFAULT, &size));
		refused(w, cusparseSpMV(w->sparse, op, call.alpha, a->d, NULL, call.beta, call.y, t, CUSPARSE_SPMV_ALG_DEFAULT, NULL), CUSPARSE_STATUS_INVALID_VALUE);
	}
	if (size > ROOM * 4)
		bad(w, "buffer", (double)size);
	run(w, (struct action){product_call, &call}, pick(w, 4) == 0);
	same(w, y, rows * columns, a->kind, w->c);
	if (many)
		ok(w, cusparseDestroyDnMat(call.b)), ok(w, cusparseDestroyDnMat(call.c));
	else
		ok(w, cusparseDestroyDnVec(call.x)), ok(w, cusparseDestroyDnVec(call.y));
	ok(w, cusparseSetPointerMode(w->sparse, 0));
	free(x), free(y);
}

/* To a dense matrix, and back as CSR. */
static void sparse_dense(struct worker *w, struct matrix *a) {
	cusparseDnMatDescr_t d;
	cusparseSpMatDescr_t again;
	cudaDataType t = kinds[a->kind];
	int order = pick(w, 2), ld = (order ? a->m : a->n) + pick(w, 3), n = a->m * a->n;
	size_t size = 0;
	strcat(w->did, " dense");
	ok(w, cusparseCreateDnMat(&d, a->m, a->n, ld, w->b, t, order ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW));
	ok(w, cusparseSparseToDense_bufferSize(w->sparse, a->d, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &size));
	ok(w, cusparseSparseToDense(w->sparse, a->d, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, w->scalars));
	from(w, w->hc, w->b, (size_t)ld * (order ? a->n : a->m) * kind_bytes[a->kind]);
	for (int i = 0; i < n; i++)
		if (get(w->hc, order ? (i % a->n) * (long)ld + i / a->n : (i / a->n) * (long)ld + i % a->n, a->kind) != a->dense[i]) {
			bad(w, "differs, number", i);
			break;
		}
	ok(w, cusparseCreateCsr(&again, a->m, a->n, 0, w->rows2, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, a->base, t));
	ok(w, cusparseDenseToSparse_bufferSize(w->sparse, d, again, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &size));
	ok(w, cusparseDenseToSparse_analysis(w->sparse, d, again, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, w->scalars));
	int64_t r, c, nnz = -1, want = 0;
	ok(w, cusparseSpMatGetSize(again, &r, &c, &nnz));
	for (int i = 0; i < n; i++)
		want += a->dense[i] != 0;
	if (nnz != want)
		bad(w, "entries", (double)nnz);
	ok(w, cusparseCsrSetPointers(again, w->rows2, w->cols2, w->c));
	ok(w, cusparseDenseToSparse_convert(w->sparse, d, again, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, w->scalars));
	from(w, w->hrows, w->rows2, (a->m + 1) * 4), from(w, w->hcols, w->cols2, (nnz + 1) * 4), from(w, w->hc, w->c, nnz * kind_bytes[a->kind]);
	int at = 0;
	for (int i = 0; i < n; i++)
		if (a->dense[i] != 0) {
			if (at >= nnz || w->hcols[at] != a->base + i % a->n || at < w->hrows[i / a->n] - a->base || at >= w->hrows[i / a->n + 1] - a->base || get(w->hc, at, a->kind) != a->dense[i]) {
				bad(w, "entry", at);
				break;
			}
			at++;
		}
	ok(w, cusparseDestroySpMat(again)), ok(w, cusparseDestroyDnMat(d));
}

/* C = A B of two CSR matrices, through a dense copy. */
static void sparse_square(struct worker *w, struct matrix *a) {
	struct matrix b = {.m = a->n, .n = 1 + pick(w, 20), .kind = a->kind, .format = CSR, .base = a->base};
	b.dense = calloc((size_t)b.m * b.n + 1, sizeof *b.dense);
	double complex *want = calloc((size_t)a->m * b.n + 1, sizeof *want);
	strcat(w->did, " spgemm");
	fill_dense(w, &b), make(w, &b, w->rows2, w->cols2, w->b);
	for (int i = 0; i < a->m; i++)
		for (int j = 0; j < a->n; j++)
			for (int k = 0; k < b.n && a->dense[i * a->n + j] != 0; k++)
				want[i * b.n + k] += a->dense[i * a->n + j] * b.dense[j * b.n + k];
	cusparseSpMatDescr_t c;
	cusparseSpGEMMDescr_t d;
	cudaDataType t = kinds[a->kind];
	void *one, *two = NULL, *offsets, *cols, *values;
	double scalars[4];
	put(scalars, 0, 1, a->kind), put(scalars + 2, 0, 0, a->kind);
	size_t s1 = 0, s2 = 0;
	int64_t r, k, nnz = 0;
	ok(w, cudaMalloc(&offsets, (a->m + 1) * 4));
	ok(w, cusparseCreateCsr(&c, a->m, b.n, 0, offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, a->base, t));
	ok(w, cusparseSpGEMM_createDescr(&d));
	ok(w, cusparseSpGEMM_workEstimation(w->sparse, 0, 0, scalars, a->d, b.d, scalars + 2, c, t, CUSPARSE_SPGEMM_DEFAULT, d, &s1, NULL));
	ok(w, cudaMalloc(&one, s1 + 1));
	ok(w, cusparseSpGEMM_workEstimation(w->sparse, 0, 0, scalars, a->d, b.d, scalars + 2, c, t, CUSPARSE_SPGEMM_DEFAULT, d, &s1, one));
	ok(w, cusparseSpGEMM_compute(w->sparse, 0, 0, scalars, a->d, b.d, scalars + 2, c, t, CUSPARSE_SPGEMM_DEFAULT, d, &s2, NULL));
	ok(w, cudaMalloc(&two, s2 + 1));
	ok(w, cusparseSpGEMM_compute(w->sparse, 0, 0, scalars, a->d, b.d, scalars + 2, c, t, CUSPARSE_SPGEMM_DEFAULT, d, &s2, two));
	ok(w, cusparseSpMatGetSize(c, &r, &k, &nnz));
	ok(w, cudaMalloc(&cols, nnz * 4 + 1)), ok(w, cudaMalloc(&values, nnz * 16 + 1));
	ok(w, cusparseCsrSetPointers(c, offsets, cols, values));
	ok(w, cusparseSpGEMM_copy(w->sparse, 0, 0, scalars, a->d, b.d, scalars + 2, c, t, CUSPARSE_SPGEMM_DEFAULT, d));
	from(w, w->hrows, offsets, (a->m + 1) * 4), from(w, w->hcols, cols, nnz * 4), from(w, w->hc, values, nnz * kind_bytes[a->kind]);
	for (int i = 0; i < a->m; i++)
		for (int e = w->hrows[i] - a->base; e < w->hrows[i + 1] - a->base; e++)
			want[i * b.n + w->hcols[e] - a->base] -= get(w->hc, e, a->kind);
	for (int i = 0; i < a->m * b.n; i++)
		if (want[i] != 0) {
			bad(w, "differs, number", i);
			break;
		}
	ok(w, cusparseSpGEMM_destroyDescr(d)), ok(w, cusparseDestroySpMat(c)), ok(w, cusparseDestroySpMat(b.d));
	ok(w, cudaFree(one)), ok(w, cudaFree(two)), ok(w, cudaFree(offsets)), ok(w, cudaFree(cols)), ok(w, cudaFree(values));
	free(want), free(b.dense);
}

/* T y = x with a unit triangle: T y must be x again, exactly. */
static void sparse_solve(struct worker *w) {
	struct matrix a = {.m = 1 + pick(w, 30), .kind = pick(w, 4), .format = pick(w, 2) ? CSR : COO, .base = pick(w, 2)};
	int lower = pick(w, 2), op = pick(w, 2), n = a.n = a.m, fill = lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER, diag = CUSPARSE_DIAG_TYPE_UNIT;
	a.dense = calloc((size_t)n * n, sizeof *a.dense);
	double complex *y = calloc(n, sizeof *y), *x = calloc(n, sizeof *x);
	snprintf(w->did, sizeof w->did, "spsv %d kind %d format %d lower %d op %d", n, a.kind, a.format, lower, op);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i == j || (lower ? j < i : j > i))
				a.dense[i * n + j] = i == j ? 1 : pick(w, 4) ? 0 : (int)pick(w, 3) - 1;
	for (int i = 0; i < n; i++)
		y[i] = entry(w, a.kind);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			x[i] += (op ? a.dense[j * n + i] : a.dense[i * n + j]) * y[j];
	make(w, &a, w->rows, w->cols, w->a);
	for (int i = 0; i < n; i++)
		put(w->ha, i, x[i], a.kind);
	to(w, w->b, w->ha, (size_t)n * kind_bytes[a.kind]);
	double one[2];
	put(one, 0, 1, a.kind);
	cusparseDnVecDescr_t dx, dy;
	cusparseSpSVDescr_t d;
	cudaDataType t = kinds[a.kind];
	size_t size = 0;
	void *buffer;
	ok(w, cusparseSpMatSetAttribute(a.d, CUSPARSE_SPMAT_FILL_MODE, &fill, 4)), ok(w, cusparseSpMatSetAttribute(a.d, CUSPARSE_SPMAT_DIAG_TYPE, &diag, 4));
	ok(w, cusparseCreateDnVec(&dx, n, w->b, t)), ok(w, cusparseCreateDnVec(&dy, n, w->c, t)), ok(w, cusparseSpSV_createDescr(&d));
	ok(w, cusparseSpSV_bufferSize(w->sparse, op, one, a.d, dx, dy, t, CUSPARSE_SPSV_ALG_DEFAULT, d, &size));
	ok(w, cudaMalloc(&buffer, size + 1));
	ok(w, cusparseSpSV_analysis(w->sparse, op, one, a.d, dx, dy, t, CUSPARSE_SPSV_ALG_DEFAULT, d, buffer));
	ok(w, cusparseSpSV_solve(w->sparse, op, one, a.d, dx, dy, t, CUSPARSE_SPSV_ALG_DEFAULT, d));
	same(w, y, n, a.kind, w->c);
	ok(w, cusparseSpSV_destroyDescr(d)), ok(w, cusparseDestroyDnVec(dx)), ok(w, cusparseDestroyDnVec(dy)), ok(w, cusparseDestroySpMat(a.d)), ok(w, cudaFree(buffer));
	free(a.dense), free(x), free(y);
}

static void sparse(struct worker *w) {
	if (pick(w, 5) == 0) {
		sparse_solve(w);
		return;
	}
	struct matrix a = {.m = 1 + pick(w, 40), .n = 1 + pick(w, 40), .kind = pick(w, 4), .format = pick(w, 6), .base = pick(w, 2), .block = 1 + pick(w, 4)};
	if (a.format == BELL) /* not of complex numbers, as in cuSPARSE */
		a.kind %= 2;
	if (a.format == BSR || a.format == BELL)
		a.m = a.block * (1 + pick(w, 8)), a.n = a.block * (1 + pick(w, 8));
	a.dense = calloc((size_t)a.m * a.n, sizeof *a.dense);
	snprintf(w->did, sizeof w->did, "sparse %d x %d kind %d format %d base %d block %d", a.m, a.n, a.kind, a.format, a.base, a.block);
	fill_dense(w, &a), make(w, &a, w->rows, w->cols, w->a);
	for (int turn = 1 + pick(w, 3); turn > 0 && failures < 20; turn--) {
		char *end = w->did + strlen(w->did);
		int what = pick(w, 4);
		if (what == 0 && a.format <= COO)
			sparse_dense(w, &a);
		else if (what == 1 && a.format == CSR)
			sparse_square(w, &a);
		else
			sparse_product(w, &a);
		*end = 0;
	}
	ok(w, cusparseDestroySpMat(a.d));
	free(a.dense);
}
