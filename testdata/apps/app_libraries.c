// A program that uses cuBLAS and NVML on the device it gets. Prints one line a step. The libraries are opened by name, so that the program
// needs none of their headers.
#include "app.h"
#include <dlfcn.h>

static void *library(const char *name) {
	void *h = dlopen(name, RTLD_NOW);
	if (!h) {
		puts(dlerror());
		exit(1);
	}
	return h;
}

static int (*find(void *h, const char *name))() {
	void *p = dlsym(h, name);
	if (!p) {
		puts(name);
		exit(1);
	}
	return (int (*)())p;
}

int main(void) {
	enum { m = 3, n = 2, k = 4 };
	float a[m * k], b[k * n], c[m * n], one = 1, zero = 0;
	for (int i = 0; i < m * k; i++) a[i] = i;
	for (int i = 0; i < k * n; i++) b[i] = 1 + i % 2;
	CUcontext ctx;
	CUdeviceptr da, db, dc;
	OK(cuInit(0));
	OK(cuCtxCreate(&ctx, 0, 0, 0));
	OK(cuMemAlloc(&da, sizeof a));
	OK(cuMemAlloc(&db, sizeof b));
	OK(cuMemAlloc(&dc, sizeof c));
	OK(cuMemcpyHtoD(da, a, sizeof a));
	OK(cuMemcpyHtoD(db, b, sizeof b));
	void *blas = library("libcublas.so.12"), *nvml = library("libnvidia-ml.so.1"), *h = 0, *d = 0;
	int s = find(blas, "cublasCreate_v2")(&h);
	s |= find(blas, "cublasSgemm_v2")(h, 0, 0, m, n, k, &one, da, m, db, k, &zero, dc, m);
	OK(cuCtxSynchronize());
	OK(cuMemcpyDtoH(c, dc, sizeof c));
	printf("cublas %d:", s);
	for (int i = 0; i < m * n; i++) printf(" %g", c[i]);
	s = find(blas, "cublasDestroy_v2")(h);
	unsigned degrees = 0, watts = 0;
	int t = find(nvml, "nvmlInit_v2")();
	t |= find(nvml, "nvmlDeviceGetHandleByIndex_v2")(0, &d);
	int u = find(nvml, "nvmlDeviceGetPowerUsage")(d, &watts);
	t |= find(nvml, "nvmlDeviceGetTemperature")(d, 0, &degrees);
	printf("\ndestroy %d, nvml %d: %u degrees, power %d: %u mW\n", s, t, degrees, u, watts);
	return 0;
}
