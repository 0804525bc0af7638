// Opens a pseudo-terminal, both ends, and says something through it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
	char said[16] = "";
	int a = posix_openpt(O_RDWR | O_NOCTTY);
	if (a < 0 || grantpt(a) || unlockpt(a)) {
		perror("/dev/ptmx");
		return 1;
	}
	int b = open(ptsname(a), O_RDWR | O_NOCTTY);
	if (b < 0 || write(b, "hello\n", 6) != 6 || read(a, said, sizeof said - 1) < 6) {
		perror(ptsname(a));
		return 1;
	}
	printf("%.5s, a terminal: %s\n", said, ttyname(b) ? "yes" : "no");
	return 0;
}
