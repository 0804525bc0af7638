// Libraries with kernels of their own, loaded and unloaded while the program runs. Built twice: as the program, and with
// -DPLUGIN as the library, which registers itself when it is loaded.
#ifdef PLUGIN
#include "rt.h"

int plugin(int times) {
	int *p, v = 0;
	OK(cudaMalloc((void **)&p, 64));
	OK(cudaMemset(p, 0, 64));
	OK(LAUNCH(1, 1, 0, 0, spin(p, times)));
	OK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
	OK(cudaFree(p));
	int n = 0;
	OK(cudaMemcpyFromSymbol(&n, &counter, sizeof n, 0, cudaMemcpyDeviceToHost));
	EXPECT(n, 5); // each time as new
	n = 6;
	OK(cudaMemcpyToSymbol(&counter, &n, sizeof n, 0, cudaMemcpyHostToDevice));
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
	for (int i = 1; i <= 5; i++) {
		void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		int (*plugin)(int) = lib ? (int (*)(int))dlsym(lib, "plugin") : 0;
		if (!plugin) {
			puts(dlerror());
			return 1;
		}
		EXPECT(plugin(i), i);
		EXPECT(dlclose(lib), 0);
	}
	EXPECT(cudaDeviceSynchronize(), 0);
	return finish();
}
#endif
