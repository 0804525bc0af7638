// Faults: each ends the process' use of the device with its own code, which every later call repeats; a child for each.
#include "app.cuh"
#include <cassert>
#include <sys/wait.h>
#include <unistd.h>

__global__ void wild(int *p) { p[threadIdx.x] = 1; }
__global__ void stops() { __trap(); }
__global__ void asserts(int x) { assert(x == 3); }
__global__ void odd(char *p) { *(int *)(p + 1) = 5; }
__global__ void fine(int *p) { *p = 8; }
__global__ void zero(int *p, int by) { p[0] = 7 / by, p[1] = 7 % by; }

static int fault(const char *what) {
	int *p, v = 0;
	OK(cudaMalloc(&p, 64));
	fine<<<1, 1>>>(p);
	OK(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
	if (!strcmp(what, "wild"))
		wild<<<1, 32>>>((int *)0x10);
	if (!strcmp(what, "trap"))
		stops<<<1, 1>>>();
	if (!strcmp(what, "assert"))
		asserts<<<1, 1>>>(4);
	if (!strcmp(what, "misaligned"))
		odd<<<1, 1>>>((char *)p);
	if (!strcmp(what, "zero"))
		zero<<<1, 1>>>(p, 0); // not a fault
	cudaError_t first = cudaDeviceSynchronize();
	fine<<<1, 1>>>(p);
	cudaError_t launch = cudaGetLastError();
	cudaError_t copy = cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);
	cudaError_t query = cudaStreamQuery(0);
	void *q;
	cudaError_t more = cudaMalloc(&q, 4);
	printf("%s: %s; then %s, %s, %s, %s\n", what, cudaGetErrorName(first), cudaGetErrorName(launch), cudaGetErrorName(copy), cudaGetErrorName(query), cudaGetErrorName(more));
	cudaGetLastError();
	cudaError_t reset = cudaDeviceReset();
	printf("%s: reset %s\n", what, cudaGetErrorName(reset));
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv) {
	if (argc == 2)
		return fault(argv[1]);
	for (const char *what : {"wild", "trap", "assert", "misaligned", "zero"}) {
		fflush(stdout);
		pid_t child = fork();
		if (!child) {
			freopen("/dev/null", "w", stderr); // each device describes faults in its own words
			execl("/proc/self/exe", argv[0], what, (char *)nullptr);
			_exit(4);
		}
		int status = 0;
		waitpid(child, &status, 0);
		if (status)
			printf("%s: ended with %x\n", what, status);
	}
	return 0;
}
