// cuFile on files of its own: every way of moving data, the ends of files and buffers, and what is refused.
#define _GNU_SOURCE
#include <cufile.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
#define WANT(what, got, want)                                                                                                \
	do {                                                                                                                     \
		long g_ = (long)(got), w_ = (long)(want);                                                                            \
		if (g_ != w_)                                                                                                        \
			printf("%s: %ld, want %ld\n", what, g_, w_), failures++;                                                         \
	} while (0)

enum { N = 9 << 20 }; // more than two buffers in host memory, and not a multiple of one

static CUfileHandle_t handle(int fd) {
	CUfileDescr_t d = {.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd};
	CUfileHandle_t h = 0;
	WANT("register", cuFileHandleRegister(&h, &d).err, 0);
	return h;
}

static int same(const unsigned char *a, CUdeviceptr d, size_t n) {
	unsigned char *b = malloc(n);
	int ok = !cuMemcpyDtoH(b, d, n) && !memcmp(a, b, n);
	free(b);
	return ok;
}

// locked asks, as another process, whether this one has a lock on a file.
static int locked(int fd) {
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int status = -1;
	pid_t child = fork();
	if (!child)
		_exit(fcntl(fd, F_GETLK, &l) || l.l_type == F_UNLCK ? 0 : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// large has a batch of 8 places read the whole file so often that the last of them wait a while.
static CUfileBatchHandle_t large(CUfileIOParams_t *p, unsigned count) {
	CUfileBatchHandle_t batch;
	for (unsigned i = 0; i < count; i++)
		p[i].u.batch.devPtr_offset = p[i].u.batch.file_offset = 0, p[i].u.batch.size = N;
	WANT("large batch", cuFileBatchIOSetUp(&batch, 8).err, 0);
	WANT("large submit", cuFileBatchIOSubmit(batch, count, p, 0).err, 0);
	return batch;
}

// canceled takes all events of a batch, and counts those that were canceled.
static unsigned canceled(CUfileBatchHandle_t batch, unsigned all) {
	CUfileIOEvents_t events[8];
	unsigned n = 8, sum = 0;
	WANT("all status", cuFileBatchIOGetStatus(batch, all, &n, events, 0).err, 0);
	WANT("all", n, all);
	for (unsigned i = 0; i < n; i++)
		sum += events[i].status == CUFILE_CANCELED;
	return sum;
}

static void *waits(void *batch) {
	CUfileIOEvents_t events[8];
	unsigned n = 8;
	cuFileBatchIOGetStatus(batch, 8, &n, events, 0);
	pthread_testcancel();
	return 0;
}

static volatile int stop;

static void *counts(void *none) {
	while (!stop)
		cuFileUseCount(), cuFileBufDeregister(&stop), cuFileBatchIOCancel((void *)&stop);
	return none;
}

// in_child forks and has the child do one thing, which must not wait for what only its parent has.
static void in_child(const char *what, void (*fn)(void *), void *arg) {
	int status = -1;
	pid_t child = fork();
	if (!child) {
		alarm(20);
		fn(arg);
		_exit(0);
	}
	WANT(what, waitpid(child, &status, 0) == child ? status : -1, 0);
}

static void destroys(void *batch) { cuFileBatchIODestroy(batch); }

static void asks(void *none) {
	(void)none;
	cuFileUseCount(), cuFileBufDeregister(&stop), cuFileBatchIOCancel((void *)&stop);
}

// timed waits for lengths of time that are none, and for one that is past the end of the clock.
static void timed(CUfileIOParams_t *p) {
	CUfileBatchHandle_t batch = large(p, 7);
	CUfileIOEvents_t events[8];
	struct timespec wrong[] = {{0, -1}, {-1, 0}, {0, 1000000000}}, ever = {INT64_MAX, 999999999};
	unsigned n = 8;
	for (int i = 0; i < 3; i++)
		WANT("no time", cuFileBatchIOGetStatus(batch, 0, &n, events, &wrong[i]).err, CU_FILE_INVALID_VALUE);
	WANT("for ever", cuFileBatchIOGetStatus(batch, 7, &n, events, &ever).err, 0);
	WANT("all of them", n, 7);
	cuFileBatchIODestroy(batch);
}

// interrupted: requests that are canceled, threads that are, and processes that have only one of their parent's threads.
static void interrupted(CUfileIOParams_t *p) {
	CUfileBatchHandle_t batch = large(p, 7);
	WANT("cancel", cuFileBatchIOCancel(batch).err, 0);
	WANT("submit behind it", cuFileBatchIOSubmit(batch, 1, p + 7, 0).err, 0);
	WANT("stays canceled", canceled(batch, 8) >= 1, 1);
	cuFileBatchIODestroy(batch);

	pthread_t t;
	batch = large(p, 8);
	WANT("thread", pthread_create(&t, 0, waits, batch), 0);
	usleep(2000);
	pthread_cancel(t);
	pthread_join(t, 0);
	alarm(60); // a lock that nobody has any more
	cuFileBatchIODestroy(batch);
	alarm(0);

	batch = large(p, 8);
	in_child("destroy in a child", destroys, batch);
	cuFileBatchIODestroy(batch);
	WANT("thread", pthread_create(&t, 0, counts, 0), 0);
	for (int i = 0; i < 50 && !failures; i++)
		in_child("locks in a child", asks, 0);
	stop = 1;
	pthread_join(t, 0);
}

struct one {
	CUfileHandle_t file;
	char to[16];
	ssize_t got;
};

// canceled_first reads in a thread that is to end at the next call that may end it.
static void *canceled_first(void *arg) {
	struct one *o = arg;
	pthread_cancel(pthread_self());
	o->got = cuFileRead(o->file, o->to, sizeof o->to, 0, 0);
	pthread_testcancel();
	return arg;
}

int main(int argc, char **argv) {
	const char *name = argc > 1 ? argv[1] : "app_cufile.data";
	CUdevice dev;
	CUcontext ctx;
	CUdeviceptr a, b;
	WANT("use before", cuFileUseCount(), 0);
	WANT("parameter", cuFileSetParameterSizeT(9, 64).err, 0);
	WANT("open", cuFileDriverOpen().err, 0);
	WANT("parameter when open", cuFileSetParameterSizeT(9, 64).err, CU_FILE_DRIVER_ALREADY_OPEN);
	WANT("use", cuFileUseCount(), 1);
	WANT("context", cuDeviceGet(&dev, 0) || cuCtxCreate(&ctx, NULL, 0, dev), 0);
	WANT("memory", cuMemAlloc(&a, N) || cuMemAlloc(&b, N) || cuMemsetD8(b, 0xee, N), 0);
	unsigned char *host = malloc(N);
	for (int i = 0; i < N; i++)
		host[i] = (unsigned char)(i * 2654435761u >> 13);
	cuMemcpyHtoD(a, host, N);
	CUfileDrvProps_t props;
	WANT("properties", cuFileDriverGetProperties(&props).err, 0);
	WANT("batch size", props.max_batch_io_size, 64);
	WANT("compatibility", props.nvfs.dcontrolflags >> CU_FILE_ALLOW_COMPAT_MODE & 1, 1);

	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CUfileHandle_t f = handle(fd);
	CUfileDescr_t d = {.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd};
	CUfileHandle_t other;
	WANT("twice", cuFileHandleRegister(&other, &d).err, CU_FILE_HANDLE_ALREADY_REGISTERED);
	WANT("write", cuFileWrite(f, (void *)a, N, 0, 0), N);
	WANT("read", cuFileRead(f, (void *)b, N, 0, 0), N);
	WANT("same", same(host, b, N), 1);
	WANT("odd ends", cuFileRead(f, (void *)b, 1000001, 333, 77), 1000001);
	WANT("same odd", same(host + 333, b + 77, 1000001), 1);
	WANT("before it", same(host, b, 77), 1);
	WANT("behind it", same(host + 77 + 1000001, b + 77 + 1000001, 64), 1);
	WANT("end of file", cuFileRead(f, (void *)b, 4096, N - 100, 0), 100);
	WANT("past the end", cuFileRead(f, (void *)b, 4096, N + 100, 0), 0);
	WANT("nothing", cuFileRead(f, (void *)b, 0, 0, 0), 0);

	// What is refused.
	WANT("range", cuFileRead(f, (void *)b, N, 0, 1), -CU_FILE_CUDA_POINTER_RANGE_ERROR);
	WANT("offset", cuFileRead(f, (void *)b, 1, -1, 0), -CU_FILE_INVALID_VALUE);
	WANT("no handle", cuFileRead((void *)&failures, (void *)b, 1, 0, 0), -CU_FILE_HANDLE_NOT_REGISTERED);
	int out = open(name, O_WRONLY), pipes[2];
	CUfileHandle_t w = handle(out);
	errno = 0;
	WANT("write only", cuFileRead(w, (void *)b, 1, 0, 0), -1);
	WANT("errno", errno, EBADF);
	cuFileHandleDeregister(w);
	WANT("gone", cuFileRead(w, (void *)b, 1, 0, 0), -CU_FILE_HANDLE_NOT_REGISTERED);
	WANT("pipe", pipe(pipes), 0);
	d.handle.fd = pipes[0];
	WANT("a pipe", cuFileHandleRegister(&other, &d).err, CU_FILE_INVALID_FILE_TYPE);
	d.handle.fd = 12345;
	WANT("no file", cuFileHandleRegister(&other, &d).err, CU_FILE_INVALID_VALUE);

	// Registered buffers, host memory, O_DIRECT without its alignment.
	WANT("buffer", cuFileBufRegister((void *)b, 4096, 0).err, 0);
	WANT("buffer again", cuFileBufRegister((void *)b, 4096, 0).err, CU_FILE_MEMORY_ALREADY_REGISTERED);
	WANT("buffer too long", cuFileBufRegister((void *)a, (size_t)N + 1, 0).err, CU_FILE_CUDA_POINTER_RANGE_ERROR);
	WANT("buffer past the end of addresses", cuFileBufRegister((void *)(a + 16), SIZE_MAX - 8, 0).err, CU_FILE_CUDA_POINTER_RANGE_ERROR);
	WANT("mapped", cuFileRead(f, (void *)b, 4096, 0, 0), 4096);
	WANT("past the mapping", cuFileRead(f, (void *)b, 4096, 0, 1), -CU_FILE_INVALID_MAPPING_RANGE);
	WANT("buffer ends", cuFileBufDeregister((void *)b).err, 0);
	WANT("buffer ended", cuFileBufDeregister((void *)b).err, CU_FILE_MEMORY_NOT_REGISTERED);
	unsigned char *plain = malloc(5000);
	WANT("host", cuFileRead(f, plain, 5000, 11, 0), 5000);
	WANT("same host", memcmp(plain, host + 11, 5000), 0);
	int direct = open(name, O_RDWR | O_DIRECT);
	if (direct >= 0) {
		struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		WANT("lock", fcntl(direct, F_SETLK, &all), 0);
		CUfileHandle_t h = handle(direct);
		WANT("aligned", cuFileRead(h, (void *)b, 8192, N - 4096, 0), 4096);
		WANT("same aligned", same(host + N - 4096, b, 4096), 1);
		WANT("direct to the host", cuFileRead(h, plain, 4096, 4096, 1), 4096);
		WANT("same direct to the host", memcmp(plain + 1, host + 4096, 4096), 0);
		WANT("direct", cuFileRead(h, (void *)b, 777, 5, 3), 777);
		WANT("same direct", same(host + 5, b + 3, 777), 1);
		cuFileHandleDeregister(h);
		WANT("the lock stays", locked(direct), 1);
		if (!geteuid() && !seteuid(65534)) { // who may not open it again
			h = handle(direct);
			WANT("root", seteuid(0), 0);
			WANT("only direct", cuFileRead(h, (void *)b, 8192, 4096, 0), 8192);
			WANT("same only direct", same(host + 4096, b, 8192), 1);
			cuFileHandleDeregister(h);
		}
		close(direct);
	}
	CUfileIOVec_t iov[2] = {{(void *)b, 100}, {(void *)(b + 200), 300}};
	WANT("vector", cuFileReadv(f, iov, 2, 50, 0), 400);
	WANT("same vector", same(host + 50, b, 100) && same(host + 150, b + 200, 300), 1);

	// In a stream: size and offsets as they are when the stream comes to them.
	CUstream s;
	WANT("stream", cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), 0);
	WANT("register stream", cuFileStreamRegister(s, 0).err, 0);
	cuMemsetD8Async(b, 0, N, s);
	size_t size = N;
	off_t at = 0, to = 0;
	ssize_t done = 0, wrote = 0;
	WANT("read in a stream", cuFileReadAsync(f, (void *)b, &size, &at, &to, &done, s).err, 0);
	off_t end = N;
	WANT("write in a stream", cuFileWriteAsync(f, (void *)b, &size, &end, &to, &wrote, s).err, 0);
	WANT("wait", cuStreamSynchronize(s), 0);
	WANT("read", done, N);
	WANT("wrote", wrote, N);
	WANT("same in a stream", same(host, b, N), 1);
	WANT("length", lseek(fd, 0, SEEK_END), 2 * (long)N);
	WANT("legacy stream", cuFileReadAsync(f, (void *)b, &size, &at, &to, &done, 0).err, 0);
	WANT("wait", cuCtxSynchronize(), 0);
	CUgraph graph;
	WANT("capture", cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
	WANT("captured", cuFileReadAsync(f, (void *)b, &size, &at, &to, &done, s).err, CU_FILE_ASYNC_NOT_SUPPORTED);
	WANT("end", cuStreamEndCapture(s, &graph), 0);
	WANT("deregister stream", cuFileStreamDeregister(s).err, 0);

	// Batches.
	CUfileBatchHandle_t batch;
	WANT("too many", cuFileBatchIOSetUp(&batch, 1000).err, CU_FILE_INVALID_VALUE);
	WANT("batch", cuFileBatchIOSetUp(&batch, 8).err, 0);
	CUfileIOParams_t p[9];
	memset(p, 0, sizeof p);
	for (int i = 0; i < 9; i++) {
		p[i].mode = CUFILE_BATCH, p[i].fh = f, p[i].opcode = CUFILE_READ, p[i].cookie = &p[i];
		p[i].u.batch.devPtr_base = (void *)b, p[i].u.batch.devPtr_offset = i * 1000, p[i].u.batch.file_offset = 5000 - i * 500, p[i].u.batch.size = 500;
	}
	p[3].fh = &failures;
	WANT("full", cuFileBatchIOSubmit(batch, 9, p, 0).err, CU_FILE_BATCH_FULL);
	WANT("submit", cuFileBatchIOSubmit(batch, 8, p, 0).err, 0);
	CUfileIOEvents_t events[8];
	unsigned seen = 0, bad = 0;
	while (seen < 8) {
		unsigned n = 8;
		WANT("status", cuFileBatchIOGetStatus(batch, 1, &n, events, 0).err, 0);
		if (!n)
			break;
		for (unsigned i = 0; i < n; i++) {
			CUfileIOParams_t *q = events[i].cookie;
			if (events[i].status == CUFILE_FAILED)
				bad += q == &p[3] && (ssize_t)events[i].ret == -CU_FILE_HANDLE_NOT_REGISTERED;
			else
				WANT("part", events[i].ret == 500 && same(host + q->u.batch.file_offset, b + (CUdeviceptr)q->u.batch.devPtr_offset, 500), 1);
		}
		seen += n;
	}
	WANT("events", seen, 8);
	WANT("failed", bad, 1);
	unsigned n = 8;
	WANT("none left", cuFileBatchIOGetStatus(batch, 1, &n, events, &(struct timespec){0, 1000000}).err, 0);
	WANT("none", n, 0);
	cuFileBatchIODestroy(batch);
	WANT("destroyed", cuFileBatchIOSubmit(batch, 1, p, 0).err, CU_FILE_INVALID_VALUE);
	p[3].fh = f;
	timed(p);
	interrupted(p);
	pthread_t thread;
	struct one one = {.file = f, .got = -1};
	WANT("thread", pthread_create(&thread, 0, canceled_first, &one) || pthread_join(thread, 0), 0);
	WANT("read before the end", one.got, sizeof one.to);

	cuFileHandleDeregister(f);
	unlink(name);
	WANT("close", cuFileDriverClose().err, 0);
	WANT("closed", cuFileDriverClose().err, CU_FILE_DRIVER_NOT_INITIALIZED);
	printf("%d failures\n", failures);
	return failures != 0;
}
