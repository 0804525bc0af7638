// Every planner of libcufftw against sums of exponentials in double precision, in both precisions, and what has no plan.
#include <complex.h>
#include <cufftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static double next(void) {
	static unsigned long long s = 88172645463325252ull;
	s ^= s << 13, s ^= s >> 7, s ^= s << 17;
	return (double)(s >> 11) * 0x1p-52 - 1;
}

// dft is one transform of up to three dimensions with strides in elements.
static void dft(const int n[3], const double complex *in, const int is[3], double complex *out, const int os[3], int sign) {
	for (int a = 0; a < n[0]; a++)
		for (int b = 0; b < n[1]; b++)
			for (int c = 0; c < n[2]; c++) {
				double complex sum = 0;
				for (int x = 0; x < n[0]; x++)
					for (int y = 0; y < n[1]; y++)
						for (int z = 0; z < n[2]; z++) {
							double turn = (double)a * x / n[0] + (double)b * y / n[1] + (double)c * z / n[2];
							sum += in[x * is[0] + y * is[1] + z * is[2]] * cexp(sign * 2 * M_PI * I * turn);
						}
				out[a * os[0] + b * os[1] + c * os[2]] = sum;
			}
}

// A job is one plan: arrays with room for strides, as double complex numbers and as the library takes them.
enum { ROOM = 4096 };
struct job {
	int wide, real_in, real_out, sign;
	double complex in[ROOM], want[ROOM];
	void *a, *b;
};

static double get(const struct job *j, const void *p, int i) { return j->wide ? ((const double *)p)[i] : ((const float *)p)[i]; }
static void put(const struct job *j, void *p, int i, double v) {
	if (j->wide)
		((double *)p)[i] = v;
	else
		((float *)p)[i] = (float)v;
}

static void start(struct job *j, int wide, int real_in, int real_out, int sign) {
	j->wide = wide, j->real_in = real_in, j->real_out = real_out, j->sign = sign;
	j->a = wide ? fftw_malloc(16 * ROOM) : fftwf_malloc(8 * ROOM);
	j->b = wide ? fftw_malloc(16 * ROOM) : fftwf_malloc(8 * ROOM);
	for (int i = 0; i < ROOM; i++) {
		j->in[i] = next() + (real_in ? 0 : I * next());
		put(j, j->a, real_in ? i : 2 * i, creal(j->in[i]));
		if (!real_in)
			put(j, j->a, 2 * i + 1, cimag(j->in[i]));
		put(j, j->b, 2 * i, -77), put(j, j->b, 2 * i + 1, -77);
		j->want[i] = real_out ? -77 : -77 - 77 * I;
	}
}

// same compares an array with what is wanted, the room between elements included.
static void same(struct job *j, const void *got, const char *what) {
	double bound = j->wide ? 1e-12 : 2e-4;
	for (int i = 0; i < ROOM; i++) {
		double complex v = j->real_out ? get(j, got, i) : get(j, got, 2 * i) + I * get(j, got, 2 * i + 1);
		if (!(cabs(v - j->want[i]) < bound)) {
			printf("%s, f%d: %d is %g %g, not %g %g\n", what, j->wide ? 64 : 32, i, creal(v), cimag(v), creal(j->want[i]), cimag(j->want[i]));
			failures++;
			break;
		}
	}
	if (j->wide)
		fftw_free(j->a), fftw_free(j->b);
	else
		fftwf_free(j->a), fftwf_free(j->b);
}

#define MAKE(wide, name, ...) ((wide) ? (void *)fftw_##name(__VA_ARGS__) : (void *)fftwf_##name(__VA_ARGS__))

static void execute(struct job *j, void *plan, const char *what) {
	if (!plan) {
		printf("%s: no plan\n", what);
		failures++;
		return;
	}
	if (j->wide)
		fftw_execute(plan), fftw_destroy_plan(plan);
	else
		fftwf_execute(plan), fftwf_destroy_plan(plan);
}

static void complexes(int wide) {
	static struct job j;
	for (int rank = 1; rank <= 3; rank++)
		for (int sign = -1; sign <= 1; sign += 2) {
			int n[] = {rank > 2 ? 3 : 1, rank > 1 ? 5 : 1, 12}, dense[] = {60, 12, 1};
			start(&j, wide, 0, 0, sign);
			dft(n, j.in, dense, j.want, dense, sign);
			void *p = rank == 1   ? MAKE(wide, plan_dft_1d, 12, j.a, j.b, sign, FFTW_ESTIMATE)
			          : rank == 2 ? MAKE(wide, plan_dft_2d, 5, 12, j.a, j.b, sign, FFTW_MEASURE)
			                      : MAKE(wide, plan_dft_3d, 3, 5, 12, j.a, j.b, sign, FFTW_ESTIMATE);
			execute(&j, p, "plan_dft_Nd"), same(&j, j.b, "plan_dft_Nd");
			start(&j, wide, 0, 0, sign);
			dft(n, j.in, dense, j.want, dense, sign);
			execute(&j, MAKE(wide, plan_dft, rank, n + 3 - rank, j.a, j.b, sign, FFTW_ESTIMATE), "plan_dft"), same(&j, j.b, "plan_dft");
		}
	// A batch of 3 with strides and embeds on both sides, then the same by the guru interfaces, into other arrays.
	int n[] = {1, 4, 6}, is[] = {0, 2 * 9, 2}, os[] = {0, 3 * 7, 3}, lengths[] = {4, 6}, inembed[] = {4, 9}, onembed[] = {5, 7};
	for (int way = 0; way < 3; way++) {
		start(&j, wide, 0, 0, -1);
		for (int b = 0; b < 3; b++)
			dft(n, j.in + 100 * b, is, j.want + 200 * b, os, -1);
		fftw_iodim dims[] = {{4, 18, 21}, {6, 2, 3}}, batch[] = {{3, 100, 200}};
		fftw_iodim64 dims64[] = {{4, 18, 21}, {6, 2, 3}}, batch64[] = {{3, 100, 200}};
		void *other = j.a;
		void *p = way == 0 ? MAKE(wide, plan_many_dft, 2, lengths, 3, j.a, inembed, 2, 100, j.b, onembed, 3, 200, -1, FFTW_ESTIMATE)
		          : way == 1 ? MAKE(wide, plan_guru_dft, 2, dims, 1, batch, j.b, j.b, -1, FFTW_ESTIMATE)
		                     : MAKE(wide, plan_guru64_dft, 2, dims64, 1, batch64, j.b, j.b, -1, FFTW_ESTIMATE);
		if (way == 0)
			execute(&j, p, "plan_many_dft");
		else if (wide)
			fftw_execute_dft(p, other, j.b), fftw_destroy_plan(p);
		else
			fftwf_execute_dft(p, other, j.b), fftwf_destroy_plan(p);
		same(&j, j.b, way ? "plan_guru_dft" : "plan_many_dft");
	}
}

// half takes the first half of the last dimension of a transform of real numbers.
static void half(const int n[3], const double complex *full, double complex *want) {
	int h = n[2] / 2 + 1;
	for (int r = 0; r < n[0] * n[1]; r++)
		for (int c = 0; c < h; c++)
			want[r * h + c] = full[r * n[2] + c];
}

static void reals(int wide) {
	static struct job j;
	static double complex full[ROOM], back[ROOM];
	for (int rank = 1; rank <= 3; rank++)
		for (int form = 0; form < 3; form++) { // by its own planner, by plan_dft_r2c, in place
			int n[] = {rank > 2 ? 3 : 1, rank > 1 ? 4 : 1, 10 + form}, dense[] = {n[1] * n[2], n[2], 1};
			start(&j, wide, 1, 0, -1);
			void *out = form == 2 ? j.a : j.b;
			int padded[] = {n[1] * 2 * (n[2] / 2 + 1), 2 * (n[2] / 2 + 1), 1};
			dft(n, j.in, form == 2 ? padded : dense, full, dense, -1);
			void *p = form       ? MAKE(wide, plan_dft_r2c, rank, n + 3 - rank, j.a, out, FFTW_ESTIMATE)
			          : rank == 1 ? MAKE(wide, plan_dft_r2c_1d, n[2], j.a, out, FFTW_ESTIMATE)
			          : rank == 2 ? MAKE(wide, plan_dft_r2c_2d, n[1], n[2], j.a, out, FFTW_ESTIMATE)
			                      : MAKE(wide, plan_dft_r2c_3d, n[0], n[1], n[2], j.a, out, FFTW_ESTIMATE);
			if (form == 2) // what follows the transform is left alone
				for (int i = 0; i < ROOM; i++)
					j.want[i] = get(&j, j.a, 2 * i) + I * get(&j, j.a, 2 * i + 1);
			half(n, full, j.want);
			execute(&j, p, "r2c"), same(&j, out, "r2c");

			start(&j, wide, 0, 1, 1); // and back: the half of a transform of real numbers
			double complex real[ROOM];
			for (int i = 0; i < n[0] * n[1] * n[2]; i++)
				real[i] = next();
			dft(n, real, dense, full, dense, -1);
			half(n, full, back);
			for (int i = 0; i < n[0] * n[1] * (n[2] / 2 + 1); i++)
				put(&j, j.a, 2 * i, creal(back[i])), put(&j, j.a, 2 * i + 1, cimag(back[i]));
			for (int i = 0; i < n[0] * n[1] * n[2]; i++)
				j.want[i] = real[i] * n[0] * n[1] * n[2];
			p = form        ? MAKE(wide, plan_dft_c2r, rank, n + 3 - rank, j.a, j.b, FFTW_ESTIMATE)
			    : rank == 1 ? MAKE(wide, plan_dft_c2r_1d, n[2], j.a, j.b, FFTW_ESTIMATE)
			    : rank == 2 ? MAKE(wide, plan_dft_c2r_2d, n[1], n[2], j.a, j.b, FFTW_ESTIMATE)
			                : MAKE(wide, plan_dft_c2r_3d, n[0], n[1], n[2], j.a, j.b, FFTW_ESTIMATE);
			execute(&j, p, "c2r"), same(&j, j.b, "c2r");
		}
	// Batches of rows, each by one of the general planners.
	for (int way = 0; way < 3; way++) {
		int n[] = {1, 1, 14}, in[] = {0, 0, 2}, one[] = {0, 0, 1}, length = 14;
		fftw_iodim dims[] = {{14, 2, 1}}, batch[] = {{4, 40, 9}}, rdims[] = {{14, 1, 3}}, rbatch[] = {{4, 9, 50}};
		fftw_iodim64 dims64[] = {{14, 2, 1}}, batch64[] = {{4, 40, 9}}, rdims64[] = {{14, 1, 3}}, rbatch64[] = {{4, 9, 50}};
		start(&j, wide, 1, 0, -1);
		for (int b = 0; b < 4; b++) {
			dft(n, j.in + 40 * b, in, full, one, -1);
			memcpy(j.want + 9 * b, full, 8 * sizeof *full);
		}
		void *p = way == 0   ? MAKE(wide, plan_many_dft_r2c, 1, &length, 4, j.a, NULL, 2, 40, j.b, NULL, 1, 9, FFTW_ESTIMATE)
		          : way == 1 ? MAKE(wide, plan_guru_dft_r2c, 1, dims, 1, batch, j.a, j.b, FFTW_ESTIMATE)
		                     : MAKE(wide, plan_guru64_dft_r2c, 1, dims64, 1, batch64, j.a, j.b, FFTW_ESTIMATE);
		if (wide)
			fftw_execute_dft_r2c(p, j.a, j.b), fftw_destroy_plan(p);
		else
			fftwf_execute_dft_r2c(p, j.a, j.b), fftwf_destroy_plan(p);
		same(&j, j.b, "r2c of a batch");

		start(&j, wide, 0, 1, 1);
		for (int b = 0; b < 4; b++) {
			double complex real[14];
			for (int i = 0; i < 14; i++)
				real[i] = next(), j.want[50 * b + 3 * i] = 14 * real[i];
			dft(n, real, one, full, one, -1);
			for (int i = 0; i < 8; i++)
				put(&j, j.a, 2 * (9 * b + i), creal(full[i])), put(&j, j.a, 2 * (9 * b + i) + 1, cimag(full[i]));
		}
		p = way == 0   ? MAKE(wide, plan_many_dft_c2r, 1, &length, 4, j.a, NULL, 1, 9, j.b, NULL, 3, 50, FFTW_ESTIMATE)
		    : way == 1 ? MAKE(wide, plan_guru_dft_c2r, 1, rdims, 1, rbatch, j.a, j.b, FFTW_ESTIMATE)
		               : MAKE(wide, plan_guru64_dft_c2r, 1, rdims64, 1, rbatch64, j.a, j.b, FFTW_ESTIMATE);
		if (wide)
			fftw_execute_dft_c2r(p, j.a, j.b), fftw_destroy_plan(p);
		else
			fftwf_execute_dft_c2r(p, j.a, j.b), fftwf_destroy_plan(p);
		same(&j, j.b, "c2r of a batch");
	}
}

static void no(const void *plan, const char *what) {
	if (plan) {
		printf("%s has a plan\n", what);
		failures++;
	}
}

static void others(int wide) {
	char room[4096];
	double add = -1, mul = -1, fma = -1;
	int n[] = {2, 2, 2, 2};
	no(MAKE(wide, plan_dft_1d, 0, (void *)room, (void *)room, -1, 0), "length 0");
	no(MAKE(wide, plan_dft_1d, 4, (void *)room, (void *)room, 2, 0), "sign 2");
	no(MAKE(wide, plan_dft, 4, n, (void *)room, (void *)room, -1, 0), "rank 4");
	no(MAKE(wide, plan_dft, 1, NULL, (void *)room, (void *)room, -1, 0), "no lengths");
	no(MAKE(wide, plan_guru_dft, 1, NULL, 0, NULL, (void *)room, (void *)room, -1, 0), "no dimensions");
	void *p = MAKE(wide, plan_dft_2d, 8, 4, (void *)room, (void *)room, -1, 0);
	if (wide) {
		fftw_flops(p, &add, &mul, &fma), fftw_print_plan(p), fftw_set_timelimit(1), fftw_export_wisdom_to_file(stdout);
		printf(" %g %g %g, cost %g, wisdom %d\n", add, mul, fma, fftw_cost(p), fftw_import_wisdom_from_file(stdin));
		fftw_execute(NULL), fftw_destroy_plan(NULL), fftw_destroy_plan(p), fftw_cleanup();
	} else {
		fftwf_flops(p, &add, &mul, &fma), fftwf_print_plan(p), fftwf_set_timelimit(1), fftwf_export_wisdom_to_file(stdout);
		printf(" %g %g %g, cost %g, wisdom %d\n", add, mul, fma, fftwf_cost(p), fftwf_import_wisdom_from_file(stdin));
		fftwf_execute(NULL), fftwf_destroy_plan(NULL), fftwf_destroy_plan(p), fftwf_cleanup();
	}
}

int main(void) {
	for (int wide = 0; wide < 2; wide++)
		complexes(wide), reals(wide), others(wide);
	printf("%d failures\n", failures);
	return failures != 0;
}
