// libcudart_static.a: what a program links instead of libcudart.so. NVIDIA's opens the driver when the program runs; this one opens
// the machine's runtime, so that a program needs no path to be told to the loader when CMake or a compiler other than nvcc links it.
#include "ztable.h"

#include <dlfcn.h>
#include <string.h>

#define KZ_ROWS "zrows_cudart.h"
#define SONAME "libcudart.so.13"

static const char *const names[] = {
#define ANY(in, slot, name, sum) (in) & KZ_V13 ? #name : 0,
#include "rows.inc"
};

enum { COUNT = sizeof names / sizeof *names, INSUFFICIENT_DRIVER = 35 };

__attribute__((visibility("hidden"))) void *kz_static_table[COUNT];

// What NVIDIA's answers on a machine without a driver.
static int absent(void) { return INSUFFICIENT_DRIVER; }
static const char *absent_name(void) { return "cudaErrorInsufficientDriver"; }
static const char *absent_text(void) { return "CUDA driver version is insufficient for CUDA runtime version"; }
static void **absent_handle(void) {
	static void *handle;
	return &handle;
}

static const struct {
	const char *name;
	void *entry;
} answers[] = {
	{"cudaGetErrorName", (void *)absent_name},
	{"cudaGetErrorString", (void *)absent_text},
	{"__cudaRegisterFatBinary", (void *)absent_handle},
};

static void *without(const char *name) {
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		if (strcmp(name, answers[i].name) == 0)
			return answers[i].entry;
	return (void *)absent;
}

// Before every other constructor of the file that it is in: those register kernels.
__attribute__((constructor(101))) static void fill(void) {
	void *runtime = dlopen(SONAME, RTLD_NOW);
	if (!runtime)
		runtime = dlopen(KZ_FOLDER "/" SONAME, RTLD_NOW);
	for (int i = 0; i < COUNT; i++) {
		if (!names[i])
			continue;
		void *entry = runtime ? dlsym(runtime, names[i]) : 0;
		kz_static_table[i] = entry ? entry : without(names[i]);
	}
}
