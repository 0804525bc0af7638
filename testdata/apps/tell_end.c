// Ends well, with output still in its buffer: after a question only; with number 2 as a file of its own; after the use of a device and
// with the right to nothing but to write and to end.
#define _GNU_SOURCE
#include <cuda.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int give_up_rights(void) {
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog all = {sizeof rules / sizeof *rules, rules};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
}

int main(int argc, char **argv) {
	static char buffer[BUFSIZ];
	int n;
	CUdevice d;
	CUcontext c;
	CUdeviceptr p;
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	printf("done\n");
	if (argc > 2 && (dup2(open(argv[2], O_RDWR | O_APPEND), 2) != 2 || write(2, "data", 4) != 4))
		return 2;
	if (cuInit(0) || cuDeviceGetCount(&n) || n < 1)
		return 1;
	if (!strcmp(argv[1], "use") && (cuDeviceGet(&d, 0) || cuDevicePrimaryCtxRetain(&c, d) || cuCtxSetCurrent(c) || cuMemAlloc(&p, 4) || give_up_rights()))
		return 1;
	return 0;
}
