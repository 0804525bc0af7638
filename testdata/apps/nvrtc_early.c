// Compiles one program with NVRTC, as the first thing that it does, and says what the processes that this takes leave of themselves:
// children, a signal of their end, files of low numbers, another mask of signals. Then it waits for its input to end.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvrtc.h"

static volatile sig_atomic_t ended;

static void child(int number) {
	(void)number;
	ended++;
}

int main(void) {
	signal(SIGCHLD, child);
	sigset_t before, after;
	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &before, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	int lowest = open("/dev/null", O_RDONLY);
	close(lowest);
	nvrtcProgram p;
	int rc = nvrtcCreateProgram(&p, "extern \"C\" __global__ void k(int *p) { *p = 1; }", "k.cu", 0, NULL, NULL);
	int code = nvrtcCompileProgram(p, 0, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	int same = 1;
	for (int i = 1; i < 32; i++)
		same &= sigismember(&before, i) == sigismember(&after, i);
	int now = open("/dev/null", O_RDONLY), waited = waitpid(-1, NULL, WNOHANG), none = waited < 0 && errno == ECHILD;
	printf("%d %d, no child %d, signals %d, file %d, mask %d\n", rc, code, none, (int)ended, now - lowest, same);
	fflush(stdout);
	char c;
	return read(0, &c, 1) < 0;
}
