// A library whose constructor uses CUDA while the loader holds its lock. Built twice: with
// -DLIBRARY the library, otherwise the program that opens it.
#ifdef LIBRARY

#include <cuda.h>

int constructed = -1;

__attribute__((constructor)) static void begin(void) {
	int n = 0;
	constructed = cuInit(0);
	if (!constructed)
		constructed = cuDeviceGetCount(&n);
}

#else

#include <dlfcn.h>
#include <unistd.h>

#include "abi_check.h"

int main(int argc, char **argv) {
	alarm(20); // a deadlock ends here
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!lib) {
		puts(dlerror());
		return 1;
	}
	EXPECT(*(int *)dlsym(lib, "constructed"), 0);
	return finish();
}

#endif
