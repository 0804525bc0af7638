// Libraries with kernels of their own, loaded and unloaded while the program runs. Built twice: as the program, and with
// -DPLUGIN as the library, which registers itself when it is loaded.
#ifdef PLUGIN
#include "rt.h"

int plugin(int *p, int times) {
	int v = 0, n = 0;
	// A library that was at this address before had the same stub: these launches are of this one's kernel, which has its own counter.
	struct big big = {0};
	for (int i = 0; i < 4; i++)
		OK(LAUNCH(1, 1, 0, 0, mix(0, big, 0, p)));
	OK(cudaMemcpyFromSymbol(&n, &counter, sizeof n, 0, cudaMemcpyDeviceToHost));
	EXPECT(n, 9); // each time from 5 on
	OK(cudaMemset(p, 0, 64));
	OK(LAUNCH(1, 1, 0, 0, spin(p, times)));
	OK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		OK(LAUNCH(1, 1, 0, 0, mix(0, big, 0, p)));
	return failures ? -1 : v;
}

__attribute__((destructor)) static void leave(void) { __cudaUnregisterFatBinary(fatbin); }
#else
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "abi_check.h"

int main(int argc, char **argv) {
	if (argc < 2)
		return 2;
	int *p;
	EXPECT(cudaMalloc((void **)&p, 256), 0);
	for (int i = 1; i <= 5; i++) {
		void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		int (*plugin)(int *, int) = lib ? (int (*)(int *, int))dlsym(lib, "plugin") : 0;
		if (!plugin) {
			puts(dlerror());
			return 1;
		}
		EXPECT(plugin(p, i), i);
		EXPECT(dlclose(lib), 0);
	}
	EXPECT(cudaFree(p), 0);
	EXPECT(cudaDeviceSynchronize(), 0);
	return finish();
}
#endif
