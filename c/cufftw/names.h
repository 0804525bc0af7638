// The functions of one precision; names.c includes it for both. P(x) is a name, R a real number, C a complex one, WIDE its kind.

#define MANY(kind, sign, ...)                                                                            \
	struct kz_shape s;                                                                                   \
	return kz_many(&s, kind, (const void *)in == (const void *)out, __VA_ARGS__)                         \
	           ? kz_plan_make(&s, kind, WIDE, sign, (void *)in, (void *)out)                             \
	           : NULL
#define DENSE(kind, sign, rank, n) MANY(kind, sign, rank, n, 1, NULL, 1, 0, NULL, 1, 0)
#define GURU(fill, kind, sign)                                                                           \
	struct kz_shape s;                                                                                   \
	return fill(&s, rank, dims, batch_rank, batch_dims) ? kz_plan_make(&s, kind, WIDE, sign, (void *)in, (void *)out) : NULL

// Planner flags make no difference: there is one plan of a transform, and its input is never destroyed.
void *P(plan_dft_1d)(int n, C *in, C *out, int sign, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2C, sign, 1, &n);
}
void *P(plan_dft_2d)(int n0, int n1, C *in, C *out, int sign, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2C, sign, 2, ((int[]){n0, n1}));
}
void *P(plan_dft_3d)(int n0, int n1, int n2, C *in, C *out, int sign, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2C, sign, 3, ((int[]){n0, n1, n2}));
}
void *P(plan_dft)(int rank, const int *n, C *in, C *out, int sign, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2C, sign, rank, n);
}
void *P(plan_dft_r2c_1d)(int n, R *in, C *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_R2C, CUFFT_FORWARD, 1, &n);
}
void *P(plan_dft_r2c_2d)(int n0, int n1, R *in, C *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_R2C, CUFFT_FORWARD, 2, ((int[]){n0, n1}));
}
void *P(plan_dft_r2c_3d)(int n0, int n1, int n2, R *in, C *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_R2C, CUFFT_FORWARD, 3, ((int[]){n0, n1, n2}));
}
void *P(plan_dft_r2c)(int rank, const int *n, R *in, C *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_R2C, CUFFT_FORWARD, rank, n);
}
void *P(plan_dft_c2r_1d)(int n, C *in, R *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2R, CUFFT_INVERSE, 1, &n);
}
void *P(plan_dft_c2r_2d)(int n0, int n1, C *in, R *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2R, CUFFT_INVERSE, 2, ((int[]){n0, n1}));
}
void *P(plan_dft_c2r_3d)(int n0, int n1, int n2, C *in, R *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2R, CUFFT_INVERSE, 3, ((int[]){n0, n1, n2}));
}
void *P(plan_dft_c2r)(int rank, const int *n, C *in, R *out, unsigned flags) {
	(void)flags;
	DENSE(KZ_C2R, CUFFT_INVERSE, rank, n);
}

void *P(plan_many_dft)(int rank, const int *n, int batch, C *in, const int *inembed, int istride, int idist, C *out,
                       const int *onembed, int ostride, int odist, int sign, unsigned flags) {
	(void)flags;
	MANY(KZ_C2C, sign, rank, n, batch, inembed, istride, idist, onembed, ostride, odist);
}
void *P(plan_many_dft_r2c)(int rank, const int *n, int batch, R *in, const int *inembed, int istride, int idist, C *out,
                           const int *onembed, int ostride, int odist, unsigned flags) {
	(void)flags;
	MANY(KZ_R2C, CUFFT_FORWARD, rank, n, batch, inembed, istride, idist, onembed, ostride, odist);
}
void *P(plan_many_dft_c2r)(int rank, const int *n, int batch, C *in, const int *inembed, int istride, int idist, R *out,
                           const int *onembed, int ostride, int odist, unsigned flags) {
	(void)flags;
	MANY(KZ_C2R, CUFFT_INVERSE, rank, n, batch, inembed, istride, idist, onembed, ostride, odist);
}

void *P(plan_guru_dft)(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims, C *in, C *out, int sign,
                       unsigned flags) {
	(void)flags;
	GURU(guru, KZ_C2C, sign);
}
void *P(plan_guru_dft_r2c)(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims, R *in, C *out,
                           unsigned flags) {
	(void)flags;
	GURU(guru, KZ_R2C, CUFFT_FORWARD);
}
void *P(plan_guru_dft_c2r)(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims, C *in, R *out,
                           unsigned flags) {
	(void)flags;
	GURU(guru, KZ_C2R, CUFFT_INVERSE);
}
void *P(plan_guru64_dft)(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch_dims, C *in, C *out, int sign,
                         unsigned flags) {
	(void)flags;
	GURU(guru64, KZ_C2C, sign);
}
void *P(plan_guru64_dft_r2c)(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch_dims, R *in, C *out,
                             unsigned flags) {
	(void)flags;
	GURU(guru64, KZ_R2C, CUFFT_FORWARD);
}
void *P(plan_guru64_dft_c2r)(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch_dims, C *in, R *out,
                             unsigned flags) {
	(void)flags;
	GURU(guru64, KZ_C2R, CUFFT_INVERSE);
}

void P(execute)(void *const plan) { kz_execute(plan); }
void P(execute_dft)(void *const plan, C *in, C *out) { kz_execute_on(plan, in, out); }
void P(execute_dft_r2c)(void *const plan, R *in, C *out) { kz_execute_on(plan, in, out); }
void P(execute_dft_c2r)(void *const plan, C *in, R *out) { kz_execute_on(plan, in, out); }

void *P(malloc)(size_t n) {
	void *p;
	return posix_memalign(&p, 64, n ? n : 1) ? NULL : p;
}
void P(free)(void *pointer) { free(pointer); }

// There is no wisdom: plans are made at once.
void P(export_wisdom_to_file)(FILE *file) { (void)file; }
int P(import_wisdom_from_file)(FILE *file) { return (void)file, 0; }
void P(set_timelimit)(double seconds) { (void)seconds; }

void P(print_plan)(void *const plan) { kz_print(plan); }
double P(cost)(void *const plan) {
	double add, mul;
	kz_operations(plan, &add, &mul);
	return add + mul;
}
void P(flops)(void *const plan, double *add, double *mul, double *fma) {
	kz_operations(plan, add, mul);
	*fma = 0;
}
void P(destroy_plan)(void *plan) { kz_plan_end(plan); }
void P(cleanup)(void) {}

#undef MANY
#undef DENSE
#undef GURU
#undef P
#undef R
#undef C
#undef WIDE
