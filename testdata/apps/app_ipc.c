// Memory and an event shared with another process by their handles, and handles that nobody gave.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

enum { BYTES = 2 << 20, FD = 16, OFF = 24, LENGTH = 40, TOKEN = 48, HANDLE = 64 };

struct question {
	char what[8]; // "mem", "event"
	char handle[HANDLE];
	unsigned expect; // the first word of the memory
	int done;
};

// other is the other process: opens what it is asked to and answers with the code.
static int other(int in, int out) {
	App a;
	struct question q;
	int code = app_start(&a);
	if (write(out, &code, sizeof code) != sizeof code) return 1;
	while (read(in, &q, sizeof q) == sizeof q && !q.done) {
		if (!strcmp(q.what, "mem")) {
			CUdeviceptr p = 0;
			CUipcMemHandle h;
			unsigned v = 0;
			memcpy(&h, q.handle, sizeof h);
			code = cuIpcOpenMemHandle(&p, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
			if (!code) code = cuMemcpyDtoH(&v, p, 4);
			if (!code && v != q.expect) code = -1;
			if (!code) code = cuMemsetD32(p, v + 1, 1);
			if (p && !code) code = cuIpcCloseMemHandle(p);
		} else {
			CUevent e = 0;
			CUipcEventHandle h;
			memcpy(&h, q.handle, sizeof h);
			code = cuIpcOpenEventHandle(&e, h);
			if (!code) code = cuEventSynchronize(e);
			if (!code) code = cuEventDestroy(e);
		}
		if (write(out, &code, sizeof code) != sizeof code) return 1;
	}
	return 0;
}

static int to, from;

static int asked(const char *what, const void *handle, unsigned expect) {
	struct question q = {.expect = expect};
	int code = -2;
	strcpy(q.what, what);
	memcpy(q.handle, handle, HANDLE);
	if (write(to, &q, sizeof q) != sizeof q || read(from, &code, sizeof code) != sizeof code) return -3;
	return code;
}

// forged is a handle like a true one that names another file of this process.
static int forged(const char *what, const void *handle, int fd) {
	char h[HANDLE];
	memcpy(h, handle, HANDLE);
	memcpy(h + FD, &fd, sizeof fd);
	return asked(what, h, 0);
}

// like makes a file of ours with the content of the one that a handle names, its last page included.
static int like(const void *handle, int fd) {
	int true_fd;
	char page[4096], path[64];
	memcpy(&true_fd, (const char *)handle + FD, sizeof true_fd);
	snprintf(path, sizeof path, "/proc/self/fd/%d", true_fd);
	int src = open(path, O_RDONLY);
	off_t size = lseek(src, 0, SEEK_END);
	if (ftruncate(fd, size)) return -1;
	for (off_t at = 0; at < size; at += sizeof page)
		if (pread(src, page, sizeof page, at) != sizeof page || pwrite(fd, page, sizeof page, at) != sizeof page) return -1;
	close(src);
	return 0;
}

static int plain_file(void) {
	char name[] = "/tmp/app-ipc-XXXXXX";
	int fd = mkstemp(name);
	unlink(name);
	return fd;
}

int main(void) {
	int down[2], up[2], code;
	if (pipe(down) || pipe(up)) return 1;
	pid_t pid = fork(); // before the first call: the child has a driver of its own
	if (pid == 0) _exit(other(down[0], up[1]));
	to = down[1], from = up[0];
	App a;
	OK(app_start(&a));
	if (read(from, &code, sizeof code) != sizeof code || code) return 1;
	CUdeviceptr p, q;
	CUipcMemHandle h, h2;
	CUevent e;
	CUipcEventHandle he;
	unsigned v = 0;
	OK(cuMemAlloc(&p, BYTES));
	OK(cuMemAlloc(&q, BYTES));
	OK(cuMemsetD32(p, 77, BYTES / 4));
	OK(cuIpcGetMemHandle(&h, p));
	OK(cuIpcGetMemHandle(&h2, q));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
	OK(cuEventRecord(e, 0));
	OK(cuIpcGetEventHandle(&he, e));
	OK(asked("mem", &h, 77));
	OK(cuMemcpyDtoH(&v, p, 4));
	EXPECT(v, 78);
	OK(asked("event", &he, 0));
	// What nobody gave.
	int memfd = memfd_create("mine", MFD_CLOEXEC), disk = plain_file(), bit;
	if (like(&h, memfd) || like(&h, disk)) return 1;
	EXPECT(forged("mem", &h, memfd), CUDA_ERROR_INVALID_VALUE);
	EXPECT(forged("mem", &h, disk), CUDA_ERROR_INVALID_VALUE);
	EXPECT(forged("event", &he, memfd), CUDA_ERROR_INVALID_VALUE);
	memcpy(&bit, (char *)&h2 + FD, sizeof bit);
	EXPECT(forged("mem", &h, bit), CUDA_ERROR_INVALID_VALUE); // another that is shared, with the first one's token
	for (bit = 0; bit < 128; bit += 17) {
		char bad[HANDLE];
		memcpy(bad, &h, HANDLE);
		bad[TOKEN + bit / 8] ^= 1 << bit % 8;
		EXPECT(asked("mem", bad, 0), CUDA_ERROR_INVALID_VALUE);
	}
	EXPECT(asked("mem", &he, 0), CUDA_ERROR_INVALID_VALUE);
	OK(asked("mem", &h, 78));
	OK(cuMemFree(p));
	EXPECT(asked("mem", &h, 0), CUDA_ERROR_INVALID_VALUE);
	struct question q_end = {.done = 1};
	if (write(to, &q_end, sizeof q_end) != sizeof q_end) return 1;
	int status = -1;
	waitpid(pid, &status, 0);
	EXPECT(status, 0);
	if (!failures) puts("ok");
	return failures != 0;
}
