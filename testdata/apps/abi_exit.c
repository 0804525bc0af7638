// Calls at exit. A handler set up before the first use of CUDA runs after the driver's own,
// one set up after it before. Built twice: with -DLATE a library that was loaded last.
#ifdef LATE

#include <stdio.h>

int (*late_count)(int *);

__attribute__((destructor)) static void end(void) {
	int n;
	printf("late %d\n", late_count(&n));
	fflush(stdout);
}

#else

#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "abi_check.h"

static void at_exit(void) {
	int n = 0;
	printf("atexit %d\n", cuDeviceGetCount(&n));
	fflush(stdout);
}

static void after_init(void) {
	int n = 0;
	printf("after %d\n", cuDeviceGetCount(&n));
	fflush(stdout);
}

__attribute__((destructor)) static void destructor(void) {
	int n = 0;
	printf("destructor %d\n", cuDeviceGetCount(&n));
	fflush(stdout);
}

int main(int argc, char **argv) {
	atexit(at_exit);
	if (cuInit(0) || argc < 2)
		return 1;
	atexit(after_init);
	void *late = dlopen(argv[1], RTLD_NOW);
	if (!late) {
		puts(dlerror());
		return 1;
	}
	*(CUresult(**)(int *))dlsym(late, "late_count") = cuDeviceGetCount;
	return 0;
}

#endif
