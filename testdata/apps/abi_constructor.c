// A library whose constructor uses CUDA while the loader holds its lock. Built twice: with
// -DLIBRARY the library, otherwise the program that opens it.
#ifdef LIBRARY

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int constructed = -1;
pthread_t other;

static void *use(void *arg) {
	cuInit(0);
	return arg;
}

__attribute__((constructor)) static void begin(void) {
	int n = 0;
	if (getenv("KUDZU_TEST_RACE")) { // a thread that is first, and needs the loader while we are in it
		pthread_create(&other, NULL, use, NULL);
		usleep(300000);
	}
	constructed = cuInit(0);
	if (!constructed)
		constructed = cuDeviceGetCount(&n);
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "abi_check.h"

int main(int argc, char **argv) {
	alarm(60); // a deadlock ends here
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!lib) {
		puts(dlerror());
		return 1;
	}
	EXPECT(*(int *)dlsym(lib, "constructed"), 0);
	pthread_t other = *(pthread_t *)dlsym(lib, "other");
	if (other)
		pthread_join(other, NULL);
	return finish();
}

#endif
