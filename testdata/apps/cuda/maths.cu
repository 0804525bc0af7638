// Mathematics of the device, printed to the digits that all devices share; conversions and exact operations to the bit.
#include "app.cuh"
#include <cmath>

__global__ void singles(const float *x, float *o, int n) {
	int i = threadIdx.x;
	if (i >= n)
		return;
	float v = x[i], *p = o + i * 24;
	p[0] = sinf(v), p[1] = cosf(v), p[2] = tanf(v), p[3] = expf(v), p[4] = exp2f(v), p[5] = logf(fabsf(v) + 1), p[6] = log10f(fabsf(v) + 1), p[7] = sqrtf(fabsf(v));
	p[8] = cbrtf(v), p[9] = atanf(v), p[10] = atan2f(v, 2), p[11] = sinhf(v), p[12] = tanhf(v), p[13] = asinhf(v), p[14] = erff(v), p[15] = lgammaf(fabsf(v) + 0.5f);
	p[16] = powf(fabsf(v), 1.7f), p[17] = fmodf(v, 0.7f), p[18] = hypotf(v, 3), p[19] = rsqrtf(fabsf(v) + 1), p[20] = expm1f(v), p[21] = log1pf(fabsf(v)), p[22] = acosf(v / 20), p[23] = j0f(v);
}
__global__ void doubles(const float *x, double *o, int n) {
	int i = threadIdx.x;
	if (i >= n)
		return;
	double v = x[i], *p = o + i * 12;
	p[0] = sin(v), p[1] = cos(v), p[2] = exp(v), p[3] = log(fabs(v) + 1), p[4] = pow(fabs(v), 1.7), p[5] = sqrt(fabs(v)), p[6] = tgamma(fabs(v) / 4 + 1), p[7] = erfc(v), p[8] = atan2(v, 2.0),
	p[9] = cbrt(v), p[10] = sinh(v), p[11] = log2(fabs(v) + 1);
}
__global__ void exact(unsigned *o, float a, float b, double d) {
	o[0] = __float_as_uint(fmaf(a, b, 1e-3f)), o[1] = __float_as_uint(a / b), o[2] = __float_as_uint(__fadd_rz(a, b)), o[3] = __float_as_uint(__fmul_ru(a, b)), o[4] = __float_as_uint(__fsqrt_rd(a));
	o[5] = __float2int_rn(a), o[6] = __float2uint_ru(a), o[7] = __double2int_rz(d), o[8] = __float_as_uint(__double2float_rd(d)), o[9] = __float_as_uint(rintf(a)), o[10] = __float_as_uint(floorf(-a));
	o[11] = __float_as_uint(fminf(a, NAN)), o[12] = __float_as_uint(fmaxf(-0.0f, 0.0f)), o[13] = __float_as_uint(nextafterf(a, 100)), o[14] = __float_as_uint(ldexpf(a, -130)), o[15] = ilogbf(a);
	int e;
	o[16] = __float_as_uint(frexpf(a, &e)), o[17] = e, o[18] = lrintf(b * 10), o[19] = __float_as_uint(copysignf(a, -b)), o[20] = __float_as_uint(remainderf(a, b)), o[21] = __double2hiint(d / 7);
	o[22] = __double2loint(d / 7), o[23] = __double2loint(fma(d, d, 0.1));
}

static float close(float v) { return v; }
template <class T> static void show(const char *name, const T *o, int rows, int columns, int digits) {
	for (int c = 0; c < columns; c++) {
		printf("%s %d:", name, c);
		for (int r = 0; r < rows; r++)
			printf(" %.*g", digits, (double)o[r * columns + c]);
		printf("\n");
	}
}

int main() {
	const int n = 5;
	float x[n] = {-3.7f, -0.5f, 0.3125f, 1.25f, 9.5f}, *d;
	(void)close;
	OK(cudaMalloc(&d, 4096));
	OK(cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice));
	float o[n * 24];
	double *dd, od[n * 12];
	OK(cudaMalloc(&dd, 4096));
	singles<<<1, 32>>>(d, (float *)dd, n);
	OK(cudaMemcpy(o, dd, sizeof o, cudaMemcpyDeviceToHost));
	show("f", o, n, 24, 5);
	doubles<<<1, 32>>>(d, dd, n);
	OK(cudaMemcpy(od, dd, sizeof od, cudaMemcpyDeviceToHost));
	show("d", od, n, 12, 13);
	unsigned u[24];
	exact<<<1, 1>>>((unsigned *)dd, 5.3f, 0.7f, -1234567.891);
	OK(cudaMemcpy(u, dd, sizeof u, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 24; i++)
		printf("%x%c", u[i], i % 8 == 7 ? '\n' : ' ');
	return 0;
}
