// Opens the libraries named, one after another, and says whose each is. "then" before them does so in a child process.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc > 1 && !strcmp(argv[1], "then")) {
		argv[1] = argv[0];
		pid_t pid = fork();
		if (pid == 0) {
			execv(argv[0], argv + 1);
			_exit(9);
		}
		int status = 0;
		waitpid(pid, &status, 0);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 8;
	}
	for (int i = 1; i < argc; i++) {
		void *h = dlopen(argv[i], RTLD_NOW);
		if (!h) {
			printf("%s: %s\n", argv[i], dlerror());
			return 1;
		}
		const char *name = strstr(argv[i], "cudart") ? "cudaDriverGetVersion" : "cuDriverGetVersion";
		int (*get)(int *) = (int (*)(int *))dlsym(h, name);
		int version = 0;
		Dl_info in;
		if (!get) { // a file of that name without the function is somebody else's
			printf("other");
		} else {
			get(&version);
			dladdr((void *)get, &in);
			printf("%s", version == 1 ? "fake" : strrchr(in.dli_fname, '/') ? strrchr(in.dli_fname, '/') + 1 : in.dli_fname);
		}
		putchar(i + 1 < argc ? ' ' : '\n');
	}
	return 0;
}
