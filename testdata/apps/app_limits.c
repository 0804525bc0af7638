// A program that is short of something: app_limits as|data|nofile|nproc|stack|fsize N [late]. The limit holds before the first call,
// or with "late" from after it. Prints the first code that is not 0, or that kernels work.
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app.h"

static int what(const char *name) {
	static const struct {
		const char *name;
		int what;
	} all[] = {{"as", RLIMIT_AS}, {"data", RLIMIT_DATA}, {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC}, {"stack", RLIMIT_STACK}, {"fsize", RLIMIT_FSIZE}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].name, name)) return all[i].what;
	return -1;
}

static int limit(const char *name, const char *value) {
	struct rlimit l = {strtoull(value, NULL, 0), strtoull(value, NULL, 0)};
	if (!strcmp(name, "nproc") && geteuid() == 0 && (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		return -1; // the superuser has no such limit
	return setrlimit(what(name), &l);
}

int main(int argc, char **argv) {
	App a;
	int late = argc > 3 && !strcmp(argv[3], "late"), e;
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 3 || (!late && limit(argv[1], argv[2]))) return 2;
	if ((e = cuInit(0))) {
		printf("cuInit %d\n", e);
		return 0;
	}
	if (late && limit(argv[1], argv[2])) return 2;
	if ((e = app_start(&a))) {
		printf("start %d\n", e);
		return 0;
	}
	e = app_works(&a);
	printf("works %d\n", e);
	return 0;
}
