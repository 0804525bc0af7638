// A word to the user of kudzu run whose program has CUDA libraries loaded and ends without having used a device: many programs then
// go on with the CPU and say nothing.
//
// KUDZU_TELL names a file that the program and the processes it starts share: /proc/PID/fd/N, a file without a name that kudzu run
// left open in process PID, which is the program. Who uses a device writes a byte to it (cmd/libkudzu). At its end the program reads.
#define _GNU_SOURCE
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ours reports that the file is of this process, not of one that started it.
static int ours(const char *file) {
	static const char proc[] = "/proc/";
	return !strncmp(file, proc, sizeof proc - 1) && strtol(file + sizeof proc - 1, NULL, 10) == getpid();
}

// open_tell opens the file, if it is still the one that kudzu run made: the program may have closed it, and the number may now be of a
// file of its own, or of a pipe that nobody writes to.
static int open_tell(const char *file) {
	static const char made[] = "/memfd:kudzu-tell (deleted)";
	char is[sizeof made];
	struct stat st;
	if (readlink(file, is, sizeof is) != sizeof made - 1 || memcmp(is, made, sizeof made - 1))
		return -1;
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink)) {
		close(fd);
		return -1;
	}
	return fd;
}

// loaded lists the first few libraries of ours that the program has.
static void loaded(char *to, size_t room) {
	int n = 0;
	to[0] = 0;
	for (int l = 0; l < KZ_LIBRARIES; l++) {
		if (!__atomic_load_n(&kz_libraries[l].front, __ATOMIC_ACQUIRE))
			continue;
		size_t at = strlen(to);
		if (n++ == 3) {
			snprintf(to + at, room - at, " ...");
			return;
		}
		snprintf(to + at, room - at, "%s%s", at ? " " : "", kz_libraries[l].soname);
	}
}

void kz_tell(int called, int failed) {
	const char *file = kz_setting("KUDZU_TELL");
	if (!file || !ours(file))
		return;
	char used = 0, names[256];
	int fd = open_tell(file);
	if (fd < 0)
		return; // the program closed it
	ssize_t n = read(fd, &used, 1);
	close(fd);
	if (n > 0 && used)
		return;
	loaded(names, sizeof names);
	if (!names[0])
		return;
	const char *how = failed ? "and CUDA could not be started" : called ? "asked for devices and used none" : "and called none of their functions";
	dprintf(2, "kudzu: %s loaded %s %s: what it did, it did without a device (kudzu check says what it needs; KUDZU_TELL=0 ends this line)\n", program_invocation_short_name, names, how);
}
