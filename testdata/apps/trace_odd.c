// What a recorder meets in odd programs and on odd file systems: a malloc that calls CUDA; writes that are short; the name of the trace
// taken by another file; the name of a half-written module taken, by another container's process with the same numbers.
#define _GNU_SOURCE
#include <cuda.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi_check.h"

static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() {\n\tret;\n}\n";

static int calls, shorts; // malloc calls CUDA; writes are short

void *__libc_malloc(size_t n);
void *malloc(size_t n) {
	static __thread int inside;
	int version;
	if (calls && !inside++)
		cuDriverGetVersion(&version), inside = 0;
	return __libc_malloc(n);
}

ssize_t pwritev(int fd, const struct iovec *v, int count, off_t at) {
	if (!shorts)
		return syscall(SYS_pwritev, fd, v, count, at, 0);
	return count > 0 ? pwrite(fd, v->iov_base, 100, at) : 0;
}

int fallocate(int fd, int mode, off_t at, off_t bytes) {
	(void)fd, (void)mode, (void)at, (void)bytes;
	errno = EOPNOTSUPP;
	return -1;
}

// take gives the name of the trace's file to another one.
static void take(const char *folder, char *path, size_t room) {
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));)
		if (strstr(e->d_name, ".kzt"))
			snprintf(path, room, "%s/%s", folder, e->d_name);
	EXPECT(d && unlink(path) == 0, 1);
	FILE *f = fopen(path, "w");
	EXPECT(f && fputs("mine", f) >= 0 && fclose(f) == 0, 1);
}

int main(int argc, char **argv) {
	const char *how = argc > 2 ? argv[1] : "", *folder = argc > 2 ? argv[2] : "";
	char path[4096] = "";
	struct stat st;
	int n;
	calls = !strcmp(how, "malloc"), shorts = !strcmp(how, "short");
	EXPECT(cuDriverGetVersion(&n), 0);
	calls = 0;
	if (!strcmp(how, "moved")) {
		take(folder, path, sizeof path);
		for (int i = 0; i < 20000; i++)
			cuDriverGetVersion(&n);
		EXPECT(stat(path, &st), 0);
		EXPECT(st.st_size, 4);
	}
	if (!strcmp(how, "module")) {
		CUdevice device;
		CUcontext context;
		CUmodule module;
		snprintf(path, sizeof path, "%s/modules", folder);
		mkdir(path, 0700);
		snprintf(path, sizeof path, "%s/modules/.%d-%u", folder, (int)getpid(), (unsigned)getpid());
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		EXPECT(fd >= 0, 1);
		EXPECT(cuInit(0), 0);
		EXPECT(cuDeviceGet(&device, 0), 0);
		EXPECT(cuCtxCreate_v2(&context, 0, device), 0);
		EXPECT(cuModuleLoadData(&module, ptx), 0);
		EXPECT(fstat(fd, &st), 0);
		EXPECT(st.st_nlink, 1);
	}
	return finish();
}
