// Threads whose first calls come at the same time, of NVTX and of a front that they load: all of them are in the trace.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi_check.h"

enum { PROCESSES = 40, THREADS = 8 };

void nvtxMarkA(const char *text);

static pthread_barrier_t all;

static void *start(void *arg) {
	int v = 0;
	pthread_barrier_wait(&all);
	if (arg) {
		errno = 77;
		nvtxMarkA("first");
		EXPECT(errno, 77);
	}
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int (*version)(int *) = lib ? (int (*)(int *))dlsym(lib, "cuDriverGetVersion") : NULL;
	EXPECT(version != NULL && !version(&v), 1);
	return NULL;
}

static int threads(void) {
	pthread_t ids[THREADS];
	pthread_barrier_init(&all, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		EXPECT(pthread_create(&ids[i], NULL, start, i % 2 ? NULL : "mark"), 0);
	for (int i = 0; i < THREADS; i++)
		EXPECT(pthread_join(ids[i], NULL), 0);
	return 0;
}

int main(void) {
	for (int i = 0; i < PROCESSES && !failures; i++) {
		pid_t child = fork();
		if (!child) {
			alarm(20);
			threads();
			_exit(failures != 0);
		}
		int status = -1;
		EXPECT(waitpid(child, &status, 0), child);
		EXPECT(status, 0);
	}
	return finish();
}
