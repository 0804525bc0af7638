// fork before and after CUDA was used, with other threads busy in it.
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi_check.h"

static atomic_int stop;

static void *busy(void *unused) {
	(void)unused;
	int n;
	while (!atomic_load(&stop))
		cuDeviceGetCount(&n);
	return NULL;
}

// child runs fn in a fork and returns its exit status; a child that hangs is killed.
static int child(int (*fn)(void)) {
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(60);
		_exit(fn());
	}
	int status = -1;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int fresh(void) {
	int n = 0, rc = cuInit(0);
	return rc ? rc : cuDeviceGetCount(&n) ? 90 : n < 1 ? 91 : 0;
}

static int dead(void) {
	int n = 0, v = 0;
	EXPECT(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuDriverGetVersion(&v), CUDA_SUCCESS); // needs no driver state
	return failures;
}

static int leaves(void) { exit(0); } // runs destructors in the child

static int grandchild(void) { return child(dead); }

int main(void) {
	EXPECT(child(fresh), 0); // loaded here, never used: the child starts fresh
	EXPECT(child(fresh), 0);
	EXPECT(fresh(), 0);

	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, busy, NULL);
	for (int i = 0; i < 10; i++) {
		EXPECT(child(dead), 0);
		EXPECT(child(leaves), 0);
	}
	EXPECT(child(grandchild), 0);
	EXPECT(system("true"), 0);
	atomic_store(&stop, 1);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT(fresh(), 0); // the parent noticed nothing
	return finish();
}
