// A program that knows the driver by name only: app_load ROUNDS. It opens and closes the library again and again, and uses
// it in between.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*fn)();

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	void *first = 0;
	for (int i = 0; i < rounds; i++) {
		void *lib = dlopen("libcuda.so.1", RTLD_NOW);
		if (!lib) {
			puts(dlerror());
			return 1;
		}
		fn init = (fn)dlsym(lib, "cuInit"), count = (fn)dlsym(lib, "cuDeviceGetCount"), version = (fn)dlsym(lib, "cuDriverGetVersion");
		int n = 0, v = 0;
		if (i == 0) first = init;
		if (init != first) {
			puts("it moved");
			return 1;
		}
		int a = i % 2 ? version(&v) : init(0), b = i ? count(&n) : 0;
		if (a || b || (i && n < 1)) {
			printf("round %d: %d %d %d\n", i, a, b, n);
			return 1;
		}
		dlclose(lib);
	}
	puts("ok");
	return 0;
}
