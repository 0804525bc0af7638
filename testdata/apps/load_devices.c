// Says which of the files that its arguments name are there, by each way of asking.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++) {
		struct stat s, l;
		struct statx x;
		int there = stat(argv[i], &s) == 0;
		there += lstat(argv[i], &l) == 0;
		there += access(argv[i], R_OK) == 0;
		there += statx(AT_FDCWD, argv[i], 0, STATX_TYPE, &x) == 0;
		printf("%s: %d%s\n", argv[i], there, there == 4 && S_ISCHR(s.st_mode) && S_ISCHR(l.st_mode) && S_ISCHR(x.stx_mode) ? " devices" : "");
	}
	return 0;
}
