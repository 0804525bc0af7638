// Compiles a program with NVRTC that takes a while. With an argument, the folder of the cache: the program is answered from there, then the
// folder is emptied, and a call that only Go answers has it compiled again. Meanwhile another thread's calls of NVRTC and its fork return:
// prints how many did before that call was over.
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvrtc.h"

enum { KERNELS = 600 };

static atomic_int begun, over;

static char *source(void) {
	static const char one[] = "__global__ void k%d(float *p) { for (int i = 0; i < 9; i++) p[i] = sinf(p[i] + %d) * powf(p[i + 1], p[i + 2]); }\n";
	char *s = malloc(KERNELS * (sizeof one + 8)), *at = s;
	for (int i = 0; i < KERNELS; i++) at += sprintf(at, one, i, i);
	return s;
}

static void empty(const char *dir) {
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.' && unlink(path)) empty(path);
	}
	if (d) closedir(d);
}

static void *other(void *arg) {
	(void)arg;
	while (!begun) usleep(100);
	usleep(20000); // it is in Go by now
	int before = 0;
	nvrtcProgram p;
	int rc = nvrtcCreateProgram(&p, "extern \"C\" __global__ void k() {}", NULL, 0, NULL, NULL);
	before += !over;
	rc |= nvrtcAddNameExpression(p, "k") | nvrtcDestroyProgram(&p);
	before += !over;
	pid_t child = fork();
	if (child == 0) { // calls return there, too, with an error: it has no Go
		nvrtcProgram q;
		_exit(nvrtcCreateProgram(&q, "", NULL, 0, NULL, NULL) == NVRTC_SUCCESS);
	}
	int status = -1;
	waitpid(child, &status, 0);
	before += !over;
	printf("others %d, the child %d, before it was over %d\n", rc, status, before);
	return NULL;
}

int main(int argc, char **argv) {
	char *s = source();
	nvrtcProgram p;
	int rc = nvrtcCreateProgram(&p, s, "slow.cu", 0, NULL, NULL);
	rc |= nvrtcCompileProgram(p, 0, NULL);
	if (argc > 1) {
		pthread_t thread;
		size_t n = 1;
		empty(argv[1]);
		pthread_create(&thread, NULL, other, NULL);
		nvrtcProgram q; // the Go image is there
		rc |= nvrtcCreateProgram(&q, "}", NULL, 0, NULL, NULL) | (nvrtcCompileProgram(q, 0, NULL) != NVRTC_ERROR_COMPILATION) | nvrtcDestroyProgram(&q);
		begun = 1;
		rc |= nvrtcGetPCHHeapSizeRequired(p, &n);
		over = 1;
		pthread_join(thread, NULL);
		rc |= n || nvrtcGetPTXSize(p, &n) || n < 100000;
	}
	rc |= nvrtcDestroyProgram(&p);
	printf("all %d\n", rc);
	free(s);
	return 0;
}
