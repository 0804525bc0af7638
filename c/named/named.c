// Starts the program kudzu that is beside this file, and has it be what this file is called: nvcc, ptxas, nvidia-smi. A symbolic
// link would not do: who resolves it (CuPy does) starts kudzu, and the name is lost. kudzu is found by /proc/self/exe, so a symbolic
// link from elsewhere to this file may have any name. It is linked statically where that is possible: it starts fast, and the
// loader's variables are for kudzu.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	static char self[PATH_MAX], kudzu[PATH_MAX];
	const char program[] = "kudzu";
	(void)argc;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash = n < 0 ? NULL : strrchr(self, '/');
	if (slash == NULL || (size_t)(slash - self) + sizeof program >= sizeof kudzu) {
		fprintf(stderr, "%s: cannot find its own file: %s\n", argv[0], n < 0 ? strerror(errno) : self);
		return 127;
	}
	memcpy(kudzu, self, (size_t)(slash + 1 - self));
	memcpy(kudzu + (slash + 1 - self), program, sizeof program);
	argv[0] = self;
	execv(kudzu, argv);
	fprintf(stderr, "%s: %s: %s\n", slash + 1, kudzu, strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
