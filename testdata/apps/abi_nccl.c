// NCCL's collectives in two processes, as C makes them: many in a row, of which all but the first need no Go, and between them what needs
// it: groups, captures, wrong arguments, other streams and communicators, an abort, and a rank that is killed.
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi_check.h"

enum { SMALL = 256, LARGE = 60001, IDS = 3 };

static struct shared {
	_Atomic int ready;
	ncclUniqueId ids[IDS];
} *shared;
static int rank;

static ncclComm_t join(int which) {
	ncclComm_t c = NULL;
	EXPECT(ncclCommInitRank(&c, 2, shared->ids[which], rank), ncclSuccess);
	return c;
}

static float *room(void) {
	void *p = NULL;
	EXPECT(cudaMalloc(&p, 2 * LARGE * sizeof(float)), cudaSuccess);
	return p;
}

// fill writes base + index, and the rank's share of it.
static void fill(float *p, int n, float base) {
	for (int i = 0; i < n; i++) p[i] = base + (float)(i % 97) + (float)rank * 1000;
}

static int wrong(const float *p, int n, float base, float factor, float more) {
	int bad = 0;
	for (int i = 0; i < n; i++) bad += p[i] != factor * (base + (float)(i % 97)) + more;
	return bad;
}

// turn does each of the five once, and looks at what they made.
static void turn(ncclComm_t c, cudaStream_t s, float *a, float *b, int n, float base) {
	int root = (int)base % 2;
	fill(a, n, base);
	EXPECT(ncclAllReduce(a, b, n, ncclFloat32, ncclSum, c, s), ncclSuccess);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(wrong(b, n, base, 2, 1000), 0);
	EXPECT(ncclReduce(a, b, n, ncclFloat32, ncclMax, root, c, s), ncclSuccess);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	if (rank == root) EXPECT(wrong(b, n, base, 1, 1000), 0);
	EXPECT(ncclBroadcast(a, b, n, ncclFloat32, root, c, s), ncclSuccess);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(wrong(b, n, base, 1, (float)root * 1000), 0);
	EXPECT(ncclAllGather(a, b, n, ncclFloat32, c, s), ncclSuccess);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(wrong(b, n, base, 1, 0) + wrong(b + n, n, base, 1, 1000), 0);
	// b has the same on both ranks now, so that the sum is twice that.
	EXPECT(ncclReduceScatter(b, a, n, ncclFloat32, ncclSum, c, s), ncclSuccess);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(wrong(a, n, base, 2, (float)rank * 2000), 0);
}

static void grouped(ncclComm_t c, cudaStream_t s, float *a, float *b) {
	fill(a, SMALL, 5);
	EXPECT(ncclGroupStart(), ncclSuccess);
	EXPECT(ncclAllReduce(a, b, SMALL, ncclFloat32, ncclSum, c, s), ncclSuccess);
	EXPECT(ncclAllGather(a, b + SMALL, SMALL, ncclFloat32, c, s), ncclSuccess);
	EXPECT(ncclSend(a, 1, ncclFloat32, 1 - rank, c, s), ncclSuccess);
	EXPECT(ncclRecv(b + 3 * SMALL, 1, ncclFloat32, 1 - rank, c, s), ncclSuccess);
	EXPECT(ncclGroupEnd(), ncclSuccess);
	EXPECT(ncclAllReduce(b, b, SMALL, ncclFloat32, ncclMin, c, s), ncclSuccess); // behind the group, and in place
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(wrong(b, SMALL, 5, 2, 1000) + wrong(b + SMALL, SMALL, 5, 1, 0) + wrong(b + 2 * SMALL, SMALL, 5, 1, 1000), 0);
	EXPECT(b[3 * SMALL], 5 + (1 - rank) * 1000);
}

static void captured(ncclComm_t c, cudaStream_t s, float *a, float *b) {
	cudaGraph_t g;
	cudaGraphExec_t x;
	fill(a, SMALL, 7);
	memset(b, 0, SMALL * sizeof *b);
	EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
	EXPECT(ncclAllReduce(a, b, SMALL, ncclFloat32, ncclSum, c, s), ncclSuccess);
	EXPECT(cudaStreamEndCapture(s, &g), cudaSuccess);
	EXPECT(b[0], 0); // nothing has run
	EXPECT(cudaGraphInstantiate(&x, g, 0), cudaSuccess);
	for (int i = 0; i < 3; i++) {
		EXPECT(cudaGraphLaunch(x, s), cudaSuccess);
		EXPECT(ncclAllReduce(b, b, SMALL, ncclFloat32, ncclMax, c, s), ncclSuccess);
	}
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(wrong(b, SMALL, 7, 2, 1000), 0);
	EXPECT(cudaGraphExecDestroy(x), cudaSuccess);
	EXPECT(cudaGraphDestroy(g), cudaSuccess);
}

static void refused(ncclComm_t c, cudaStream_t s, float *a) {
	static float host[4];
	EXPECT(ncclAllReduce(a, a, SMALL, 99, ncclSum, c, s), ncclInvalidArgument);
	EXPECT(ncclAllReduce(a, a, SMALL, ncclFloat32, 77, c, s), ncclInvalidArgument);
	EXPECT(ncclBroadcast(a, a, SMALL, ncclFloat32, 2, c, s), ncclInvalidArgument);
	EXPECT(ncclReduce(a, a, SMALL, ncclFloat32, ncclSum, -1, c, s), ncclInvalidArgument);
	EXPECT(ncclAllReduce(a, a, (size_t)1 << 62, ncclFloat32, ncclSum, c, s), ncclInvalidArgument);
	EXPECT(ncclAllReduce(host, host, 4, ncclFloat32, ncclSum, c, s), ncclInvalidArgument);
	EXPECT(ncclAllGather(a, a + LARGE + 1, LARGE, ncclFloat32, c, s), ncclInvalidArgument);
	EXPECT(ncclAllReduce(a, a, SMALL, ncclFloat32, ncclSum, NULL, s), ncclInvalidArgument);
	EXPECT(ncclAllReduce(a, a, 0, ncclFloat32, ncclSum, c, s), ncclSuccess);
}

// Two communicators in two streams, and one of them in both.
static void several(ncclComm_t c, ncclComm_t d, float *a, float *b) {
	cudaStream_t s[2];
	for (int i = 0; i < 2; i++) EXPECT(cudaStreamCreateWithFlags(&s[i], i ? cudaStreamNonBlocking : 0), cudaSuccess);
	fill(a, SMALL, 1);
	fill(b, SMALL, 1);
	for (int i = 0; i < 300; i++) {
		EXPECT(ncclAllReduce(a, a, SMALL, ncclFloat32, ncclMax, c, s[0]), ncclSuccess);
		EXPECT(ncclAllReduce(b, b, SMALL, ncclFloat32, ncclMin, d, s[1]), ncclSuccess);
		if (i % 10 == 0) EXPECT(ncclAllReduce(b + LARGE, b + LARGE, 1, ncclFloat32, ncclSum, c, s[1]), ncclSuccess);
	}
	EXPECT(cudaDeviceSynchronize(), cudaSuccess);
	EXPECT(wrong(a, SMALL, 1, 1, 1000) + wrong(b, SMALL, 1, 1, 0), 0);
	for (int i = 0; i < 2; i++) EXPECT(cudaStreamDestroy(s[i]), cudaSuccess);
}

// A rank that waits for one that does not come is woken by an abort; calls on what is gone are refused.
static void aborted(ncclComm_t d, cudaStream_t s, float *a) {
	for (int i = 0; i < 3; i++) EXPECT(ncclAllReduce(a, a, SMALL, ncclFloat32, ncclMax, d, s), ncclSuccess);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	if (rank == 0) EXPECT(ncclAllReduce(a, a, LARGE, ncclFloat32, ncclMax, d, s), ncclSuccess);
	usleep(20000);
	EXPECT(ncclCommAbort(d), ncclSuccess);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(ncclAllReduce(a, a, SMALL, ncclFloat32, ncclMax, d, s), ncclInvalidArgument);
}

// The other rank hears of one that is killed, and its stream ends.
static void lost(ncclComm_t c, cudaStream_t s, float *a) {
	ncclResult_t rc = ncclSuccess, last = ncclSuccess;
	for (int i = 0; i < 5; i++) EXPECT(ncclAllReduce(a, a, LARGE, ncclFloat32, ncclMax, c, s), ncclSuccess);
	if (rank == 1) {
		cudaStreamSynchronize(s);
		if (failures) _exit(1); // said already
		kill(getpid(), SIGKILL);
	}
	for (int i = 0; i < 100 && last == ncclSuccess; i++) last = ncclAllReduce(a, a, LARGE, ncclFloat32, ncclMax, c, s);
	EXPECT(cudaStreamSynchronize(s), cudaSuccess);
	EXPECT(ncclCommGetAsyncError(c, &rc), ncclSuccess);
	EXPECT(rc, ncclRemoteError);
	EXPECT(ncclAllReduce(a, a, LARGE, ncclFloat32, ncclMax, c, s), ncclRemoteError);
	EXPECT(ncclCommAbort(c), ncclSuccess);
}

int main(void) {
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) return 1;
	pid_t child = fork();
	rank = child == 0;
	if (!rank) {
		for (int i = 0; i < IDS; i++) EXPECT(ncclGetUniqueId(&shared->ids[i]), ncclSuccess);
		atomic_store(&shared->ready, 1);
	}
	while (!atomic_load(&shared->ready)) usleep(1000);
	cudaStream_t s;
	EXPECT(cudaSetDevice(0), cudaSuccess);
	ncclComm_t c = join(0), d = join(1), e = join(2);
	EXPECT(cudaStreamCreate(&s), cudaSuccess);
	float *a = room(), *b = room();
	for (int i = 0; i < 30; i++) {
		turn(c, s, a, b, i % 3 ? SMALL : LARGE, (float)i);
		if (i % 10 == 4) grouped(c, s, a, b);
		if (i % 10 == 6) captured(c, s, a, b);
		if (i % 10 == 8) refused(c, s, a);
	}
	turn(c, NULL, a, b, SMALL, 3); // the legacy stream
	several(c, d, a, b);
	aborted(d, s, a);
	EXPECT(ncclAllReduce(a, a, SMALL, ncclFloat32, ncclMax, e, s), ncclSuccess);
	EXPECT(ncclCommFinalize(e), ncclSuccess);
	EXPECT(ncclAllReduce(a, a, SMALL, ncclFloat32, ncclMax, e, s), ncclInvalidUsage);
	EXPECT(ncclCommDestroy(e), ncclSuccess);
	turn(c, s, a, b, LARGE, 4);
	fflush(stdout);
	lost(c, s, a);
	int status = 0;
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, 1);
	return finish();
}
