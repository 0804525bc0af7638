// Uses a device, or not: nothing at all, a question, memory, memory in a process that it starts.
#include <cuda.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "none";
	int n;
	CUdevice d;
	CUcontext c;
	CUdeviceptr p;
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
