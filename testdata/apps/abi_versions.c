// What every library says its version is, all of them opened in one process: programs compare it with the soname they opened.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static void *lib(const char *name) {
	void *h = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!h) printf("%s\n", dlerror());
	return h;
}

// by_out calls int f(int *), or int f(NULL, int *) where there is a handle.
static void by_out(void *h, const char *name, int handle) {
	int v = -1, rc, none;
	void *f = dlsym(h, name);
	if (handle) rc = ((int (*)(void *, int *))f)(0, &v), none = ((int (*)(void *, int *))f)(0, 0);
	else rc = ((int (*)(int *))f)(&v), none = ((int (*)(int *))f)(0);
	printf(" %s %d", name, rc ? -rc : v);
	if (!none) printf(" (and no error without a place for it)");
}

static void by_size(void *h, const char *name) { printf(" %s %zu", name, ((size_t(*)(void))dlsym(h, name))()); }

static void by_part(void *h, const char *name) {
	int v[3] = {-1, -1, -1};
	int (*f)(int, int *) = (int (*)(int, int *))dlsym(h, name);
	for (int i = 0; i < 3; i++) f(i, &v[i]);
	printf(" %s %d.%d.%d", name, v[0], v[1], v[2]);
	if (!f(3, v) || !f(-1, v) || !f(0, 0)) printf(" (and no error for a bad question)");
}

int main(void) {
	static const char *const runtimes[] = {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
	static const char *const majors[] = {"11", "12", "13"};
	char name[64];
	void *h = lib("libcuda.so.1");
	printf("libcuda.so.1");
	by_out(h, "cuDriverGetVersion", 0);
	for (int i = 0; i < 3; i++) {
		h = lib(runtimes[i]);
		printf("\n%s", runtimes[i]);
		by_out(h, "cudaRuntimeGetVersion", 0);
		by_out(h, "cudaDriverGetVersion", 0);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "libcublas.so.%s", majors[i]);
		h = lib(name);
		printf("\n%s", name);
		by_out(h, "cublasGetVersion_v2", 1);
		by_part(h, "cublasGetProperty");
		by_size(h, "cublasGetCudartVersion");
		snprintf(name, sizeof name, "libcublasLt.so.%s", majors[i]);
		h = lib(name);
		printf("\n%s", name);
		by_part(h, "cublasLtGetProperty");
		by_size(h, "cublasLtGetVersion");
		by_size(h, "cublasLtGetCudartVersion");
	}
	h = lib("libnvidia-ml.so.1");
	char driver[80] = "", nvml[80] = "";
	int cuda = 0;
	((int (*)(void))dlsym(h, "nvmlInit_v2"))();
	((int (*)(char *, unsigned))dlsym(h, "nvmlSystemGetDriverVersion"))(driver, sizeof driver);
	((int (*)(char *, unsigned))dlsym(h, "nvmlSystemGetNVMLVersion"))(nvml, sizeof nvml);
	((int (*)(int *))dlsym(h, "nvmlSystemGetCudaDriverVersion"))(&cuda);
	printf("\nlibnvidia-ml.so.1 driver %s nvml %s cuda %d\n", driver, nvml, cuda);
	return 0;
}
