// A word to the user of kudzu run whose program has CUDA libraries loaded and ends without having used a device: many programs then
// go on with the CPU and say nothing.
//
// KUDZU_TELL names a file that the program and the processes it starts share: /proc/PID/fd/N, a file without a name that kudzu run
// left open in process PID, which is the program. Who uses a device writes a byte to it (cmd/libkudzu). At its end the program reads it
// in memory: one that used a device makes no system call for this, for it may have given up the right to.
#define _GNU_SOURCE
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

// computes reports that a library is loaded that can have a device work. A program with none of them watches devices or compiles for
// them, and did what it is for.
static int computes(void) {
	for (int l = 0; l < KZ_LIBRARIES; l++) {
		if (!__atomic_load_n(&kz_libraries[l].front, __ATOMIC_ACQUIRE))
			continue;
		switch (kz_libraries[l].api) {
		case KZ_API_nvml:
		case KZ_API_nvrtc:
		case KZ_API_nvvm:
		case KZ_API_nvjitlink:
		case KZ_API_nvfatbin:
			break;
		default:
			return 1;
		}
	}
	return 0;
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

static const char *used; // the file's byte; NULL: nothing is to be told

void kz_tell_start(void) {
	const char *file = kz_setting("KUDZU_TELL");
	int fd = file && ours(file) ? open_tell(file) : -1;
	if (fd < 0)
		return;
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	if (seals >= 0 && seals & F_SEAL_SHRINK && !fstat(fd, &st) && st.st_size > 0) { // what is mapped stays
		void *at = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
		used = at == MAP_FAILED ? NULL : at;
	}
	close(fd);
}

void kz_tell(int called, int failed) {
	char names[256];
	if (!used || __atomic_load_n(used, __ATOMIC_RELAXED) || !computes())
		return;
	const char *file = kz_setting("KUDZU_TELL");
	int fd = file && ours(file) ? open_tell(file) : -1;
	if (fd < 0)
		return; // a child of fork, or the program closed it, and nobody could write to it
	close(fd);
	loaded(names, sizeof names);
	if (!names[0])
		return;
	const char *how = failed ? "and CUDA could not be started" : called ? "asked for devices and used none" : "and called none of their functions";
	kz_say("kudzu: %s loaded %s %s: what it did, it did without a device (kudzu check says what it needs; KUDZU_TELL=0 ends this line)\n", program_invocation_short_name, names, how);
}
