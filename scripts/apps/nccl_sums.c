// AllReduce, AllGather and ReduceScatter on all devices of this process, with whichever libnccl.so.2 the loader finds: every value is checked.
//   sums BYTES ROUNDS
// scripts/apps/nccl_source.sh runs it on NVIDIA's own NCCL.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16 };
static ncclComm_t comm[MOST];
static cudaStream_t stream[MOST];
static float *send[MOST], *recv[MOST];
static int n;

static void good(int code, const char *what) {
	if (code == 0) return;
	fprintf(stderr, "%s: %d\n", what, code);
	exit(2);
}

// Small whole numbers: sums are exact, whatever the order.
static float value(int rank, size_t i, int round) { return (float)((i * 7 + (size_t)rank * 3 + (size_t)round) % 251); }

static void fill(size_t count, int round) {
	float *host = malloc(count * sizeof *host);
	for (int r = 0; r < n; r++) {
		for (size_t i = 0; i < count; i++) host[i] = value(r, i, round);
		good(cudaSetDevice(r), "cudaSetDevice");
		good(cudaMemcpy(send[r], host, count * sizeof *host, cudaMemcpyHostToDevice), "cudaMemcpy");
		good(cudaMemset(recv[r], 0xff, count * sizeof *host), "cudaMemset");
		good(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // the streams do not wait for a fill
	}
	free(host);
}

static void finish(void) {
	good(ncclGroupEnd(), "ncclGroupEnd");
	for (int r = 0; r < n; r++) good(cudaStreamSynchronize(stream[r]), "cudaStreamSynchronize");
}

static float sum(size_t i, int round) {
	float s = 0;
	for (int r = 0; r < n; r++) s += value(r, i, round);
	return s;
}

// The number of wrong values in what a rank received.
static size_t wrong(int r, size_t count, float (*want)(int rank, size_t i, size_t count, int round), int round) {
	float *host = malloc(count * sizeof *host);
	size_t bad = 0;
	good(cudaMemcpy(host, recv[r], count * sizeof *host, cudaMemcpyDeviceToHost), "cudaMemcpy");
	for (size_t i = 0; i < count; i++) bad += host[i] != want(r, i, count, round);
	free(host);
	return bad;
}

static float reduced(int rank, size_t i, size_t count, int round) { (void)rank, (void)count; return sum(i, round); }
static float gathered(int rank, size_t i, size_t count, int round) { (void)rank; size_t part = count / (size_t)n; return value((int)(i / part), i % part, round); }
static float scattered(int rank, size_t i, size_t count, int round) { return sum((size_t)rank * count + i, round); }

int main(int argc, char **argv) {
	size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 0) : 1 << 20, bad = 0;
	int rounds = argc > 2 ? atoi(argv[2]) : 3;
	good(cudaGetDeviceCount(&n), "cudaGetDeviceCount");
	if (n > MOST) n = MOST;
	size_t part = bytes / sizeof(float) / (size_t)n, count = part * (size_t)n;
	good(ncclCommInitAll(comm, n, NULL), "ncclCommInitAll");
	for (int r = 0; r < n; r++) {
		good(cudaSetDevice(r), "cudaSetDevice");
		good(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
		good(cudaMalloc((void **)&send[r], count * sizeof(float)), "cudaMalloc");
		good(cudaMalloc((void **)&recv[r], count * sizeof(float)), "cudaMalloc");
	}
	for (int k = 0; k < rounds; k++) {
		fill(count, k);
		good(ncclGroupStart(), "ncclGroupStart");
		for (int r = 0; r < n; r++) good(ncclAllReduce(send[r], recv[r], count, ncclFloat32, ncclSum, comm[r], stream[r]), "ncclAllReduce");
		finish();
		for (int r = 0; r < n; r++) bad += wrong(r, count, reduced, k);
		good(ncclGroupStart(), "ncclGroupStart");
		for (int r = 0; r < n; r++) good(ncclReduceScatter(send[r], recv[r], part, ncclFloat32, ncclSum, comm[r], stream[r]), "ncclReduceScatter");
		finish();
		for (int r = 0; r < n; r++) bad += wrong(r, part, scattered, k);
		good(ncclGroupStart(), "ncclGroupStart");
		for (int r = 0; r < n; r++) good(ncclAllGather(send[r], recv[r], part, ncclFloat32, comm[r], stream[r]), "ncclAllGather");
		finish();
		for (int r = 0; r < n; r++) bad += wrong(r, count, gathered, k);
	}
	for (int r = 0; r < n; r++) good(ncclCommDestroy(comm[r]), "ncclCommDestroy");
	int version = 0;
	good(ncclGetVersion(&version), "ncclGetVersion");
	printf("NCCL %d, %d devices, %zu bytes, %d rounds: %zu wrong values\n", version, n, bytes, rounds, bad);
	return bad != 0;
}
