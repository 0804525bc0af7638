// Streams, events, host functions and the default streams of threads.
#include "rt.h"

#include <pthread.h>

static int order[3], next;

static void host_function(void *arg) { order[next++] = *(int *)arg; }
static void callback(cudaStream_t s, cudaError_t status, void *arg) {
	(void)s;
	order[next++] = status ? -1 : *(int *)arg;
}

static void wait_for(void *arg) {
	while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE))
		;
}

// Work that is not done is no error: a query's answer does not become the last error (runtimes 12.9 and 13.0 on an H200).
static void not_ready(cudaStream_t s, cudaEvent_t start, cudaEvent_t end) {
	int go = 0;
	float ms;
	OK(cudaEventRecord(start, s));
	OK(cudaLaunchHostFunc(s, wait_for, &go));
	OK(cudaEventRecord(end, s));
	EXPECT(cudaStreamQuery(s), cudaErrorNotReady);
	EXPECT(cudaPeekAtLastError(), 0);
	EXPECT(cudaEventQuery(end), cudaErrorNotReady);
	EXPECT(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
	EXPECT(cudaGetLastError(), 0);
	EXPECT(cudaSetDevice(99), cudaErrorInvalidDevice);
	EXPECT(cudaStreamQuery(s), cudaErrorNotReady);
	EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	OK(cudaStreamSynchronize(s));
}

// Each thread works in its own default stream: the per-thread entry points need no lock and no other thread's work.
static void *worker(void *arg) {
	int *p, v = 0, n = 200;
	void *args[] = {&p, &n};
	OK(cudaMalloc((void **)&p, 64));
	OK(cudaMemset_ptds(p, 0, 64));
	OK(cudaLaunchKernel_ptsz(spin, d3(1, 1, 1), d3(1, 1, 1), args, 0, 0));
	OK(cudaLaunchKernel_ptsz(spin, d3(1, 1, 1), d3(1, 1, 1), args, 0, 0));
	OK(cudaMemcpyAsync_ptsz(&v, p, sizeof v, cudaMemcpyDeviceToHost, 0));
	OK(cudaStreamSynchronize_ptsz(0));
	EXPECT(v, 400);
	OK(cudaStreamQuery(cudaStreamPerThread));
	EXPECT(cudaMalloc(0, 1), cudaErrorInvalidValue); // errors are a thread's own
	EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
	OK(cudaFree(p));
	return arg;
}

int main(void) {
	cudaStream_t s, u;
	cudaEvent_t start, end, plain;
	int *p, v = 0, one = 1, two = 2, three = 3, priority;
	unsigned flags;
	unsigned long long id = 0, other = 0;
	float ms = -1;
	OK(cudaMalloc((void **)&p, 4096));
	OK(cudaMemset(p, 0, 4096));
	OK(cudaStreamCreate(&s));
	OK(cudaStreamCreateWithPriority(&u, cudaStreamNonBlocking, -1));
	OK(cudaStreamGetPriority(u, &priority));
	EXPECT(priority, -1);
	OK(cudaStreamGetFlags(u, &flags));
	EXPECT(flags, cudaStreamNonBlocking);
	OK(cudaStreamGetId(s, &id));
	OK(cudaStreamGetId(u, &other));
	EXPECT(id != other, 1);
	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));

	OK(cudaEventQuery(end)); // never recorded: reached
	OK(cudaEventRecord(start, s));
	OK(LAUNCH(1, 1, 0, s, spin(p, 100000)));
	OK(cudaEventRecord(end, s));
	OK(cudaStreamWaitEvent(u, end, 0));
	OK(LAUNCH(1, 1, 0, u, spin(p, 1)));
	OK(cudaMemcpyAsync(&v, p, sizeof v, cudaMemcpyDeviceToHost, u));
	OK(cudaStreamSynchronize(u));
	EXPECT(v, 100001);
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	EXPECT(ms > 0 && ms < 100000, 1);
	OK(cudaEventRecord(plain, s));
	OK(cudaEventSynchronize(plain));
	EXPECT(cudaEventElapsedTime(&ms, start, plain), cudaErrorInvalidResourceHandle);
	EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);

	OK(cudaLaunchHostFunc(s, host_function, &one));
	OK(cudaStreamAddCallback(s, callback, &two, 0));
	OK(cudaLaunchHostFunc(s, host_function, &three));
	OK(cudaStreamSynchronize(s));
	EXPECT(order[0] == 1 && order[1] == 2 && order[2] == 3, 1);

	not_ready(s, start, end);

	// The legacy stream waits for blocking streams, and they for it.
	OK(LAUNCH(1, 1, 0, s, spin(p, 50000)));
	OK(LAUNCH(1, 1, 0, 0, spin(p, 1)));
	OK(LAUNCH(1, 1, 0, s, spin(p, 1)));
	OK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
	EXPECT(v, 150003);

	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], 0, worker, 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], 0);

	OK(cudaStreamDestroy(s));
	EXPECT(cudaStreamDestroy(s), cudaErrorInvalidResourceHandle);
	EXPECT(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
	EXPECT(cudaStreamDestroy(0), cudaErrorInvalidResourceHandle);
	OK(cudaStreamDestroy(u));
	OK(cudaEventDestroy(start));
	EXPECT(cudaEventQuery(start), cudaErrorInvalidResourceHandle);
	OK(cudaEventDestroy(end));
	OK(cudaEventDestroy(plain));
	OK(cudaFree(p));
	return finish();
}
