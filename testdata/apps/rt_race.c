// Threads that launch while another resets the device: a mistake of the program, which gets an error for it; its process goes on.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "rt.h"

enum { THREADS = 4, RESETS = 30, BETWEEN = 50 };

static atomic_int running, launched;

static int expected(int e) {
	return e == cudaErrorInvalidResourceHandle || e == cudaErrorContextIsDestroyed || e == cudaErrorDeviceUninitialized || e == cudaErrorInvalidDeviceFunction || e == cudaErrorInvalidValue;
}

// once launches a kernel that touches no memory, in some stream or from a graph.
static int once(int how, cudaStream_t s, cudaGraphExec_t *graph) {
	if (how != 2) return LAUNCH(2, how == 1 ? 32 : 64, 0, how ? s : 0, axpy(0, 1, 0, 0, 0));
	int e = cudaSuccess;
	if (!*graph) {
		cudaGraph_t g = 0;
		cudaGraphNode_t node;
		int n = 0;
		float a = 1;
		void *none = 0, *args[] = {&n, &a, &none, &none, &none};
		struct cudaKernelNodeParams p = {.func = (void *)axpy, .gridDim = d3(2, 1, 1), .blockDim = d3(64, 1, 1), .kernelParams = args};
		e = cudaGraphCreate(&g, 0);
		if (!e) e = cudaGraphAddKernelNode(&node, g, 0, 0, &p);
		if (!e) e = cudaGraphInstantiateWithFlags(graph, g, 0);
		if (g) cudaGraphDestroy(g);
	}
	return e ? e : cudaGraphLaunch(*graph, s);
}

static void *launcher(void *arg) {
	int how = (int)(long)arg;
	cudaStream_t s = 0;
	cudaGraphExec_t graph = 0;
	for (int turn = 0; atomic_load(&running); turn++) {
		int e = s ? cudaSuccess : cudaStreamCreate(&s);
		if (!e) e = once(how, s, &graph);
		if (!e && turn % 16 == 15) e = cudaDeviceSynchronize();
		if (e) { // everything is made anew: what there was belongs to a context that is gone
			if (!expected(e)) EXPECT(e, cudaErrorContextIsDestroyed);
			cudaGetLastError();
			if (graph) cudaGraphExecDestroy(graph);
			graph = 0, s = 0;
		} else {
			atomic_fetch_add(&launched, 1);
		}
	}
	return 0;
}

int main(void) {
	pthread_t t[THREADS];
	atomic_store(&running, 1);
	for (long i = 0; i < THREADS; i++) pthread_create(&t[i], 0, launcher, (void *)i);
	for (int i = 0; i < RESETS && !failures; i++) {
		for (int n = atomic_load(&launched); atomic_load(&launched) < n + BETWEEN && !failures;) sched_yield();
		OK(cudaDeviceReset());
	}
	atomic_store(&running, 0);
	for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);

	OK(cudaDeviceReset()); // and all is as good as new
	int *out, got = 0;
	OK(cudaMalloc((void **)&out, 4096));
	OK(LAUNCH(1, 32, 0, 0, spin(out, 3)));
	OK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
	return finish();
}
