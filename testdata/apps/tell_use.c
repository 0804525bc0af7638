// Uses a device, or not: nothing at all, a question, memory, memory in a process that it starts. With a file, that is what the number
// of KUDZU_TELL's file is of, as in a program that closes what it does not know and opens its own.
#define _GNU_SOURCE
#include <cuda.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "none";
	int n;
	CUdevice d;
	CUcontext c;
	CUdeviceptr p;
	if (argc > 2) {
		const char *tell = getenv("KUDZU_TELL"), *number = tell ? strrchr(tell, '/') : 0;
		int fd = open(argv[2], O_RDWR);
		if (!number || fd < 0 || dup2(fd, atoi(number + 1)) < 0)
			return 2;
	}
	if (!strcmp(how, "none"))
		return cuInit == 0; // linked with it
	if (!strcmp(how, "child")) {
		if (!fork()) {
			execl(argv[0], argv[0], "use", (char *)0);
			_exit(1);
		}
		int status;
		return wait(&status) < 0 || status;
	}
	if (cuInit(0) || cuDeviceGetCount(&n) || n < 1)
		return 1;
	if (!strcmp(how, "use") && (cuDeviceGet(&d, 0) || cuDevicePrimaryCtxRetain(&c, d) || cuCtxSetCurrent(c) || cuMemAlloc(&p, 4)))
		return 1;
	return 0;
}
