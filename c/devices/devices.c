// libkudzu-devices.so: the files by which programs tell that there is a GPU, before they ask any library. JAX, for one, looks
// for /dev/nvidia0 and stays on the CPU without it. Only questions about these names are answered, as for /dev/null, and only
// where the system has none; nothing can be opened by them.
//
// It is preloaded into every program that kudzu run starts, so it needs no version of any libc: what it takes from there are
// syscall and errno.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define KZ_EXPORT __attribute__((visibility("default")))

long syscall(long number, ...);

static const char *const names[] = {"/dev/nvidia0", "/dev/nvidiactl"};
static const char stand_in[] = "/dev/null";

static int same(const char *a, const char *b) {
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

// missing reports that a call failed because the system has no such file, and that it is one of ours.
static int missing(long result, const char *path) {
	if (result >= 0 || errno != ENOENT)
		return 0;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (same(path, names[i]))
			return 1;
	return 0;
}

// On 64-bit machines the kernel's struct stat is libc's.
static int status(const char *path, void *to, int flags) {
	long r = syscall(SYS_newfstatat, AT_FDCWD, path, to, flags);
	if (missing(r, path))
		r = syscall(SYS_newfstatat, AT_FDCWD, stand_in, to, 0);
	return (int)r;
}

// What libc calls stat has other names in programs that were built for an older one, and with 64-bit offsets.
#define STATUS(suffix)                                                                                                        \
	KZ_EXPORT int stat##suffix(const char *path, void *to);                                                                   \
	KZ_EXPORT int lstat##suffix(const char *path, void *to);                                                                  \
	KZ_EXPORT int __xstat##suffix(int version, const char *path, void *to);                                                   \
	KZ_EXPORT int __lxstat##suffix(int version, const char *path, void *to);                                                  \
	int stat##suffix(const char *path, void *to) { return status(path, to, 0); }                                              \
	int lstat##suffix(const char *path, void *to) { return status(path, to, AT_SYMLINK_NOFOLLOW); }                           \
	int __xstat##suffix(int version, const char *path, void *to) { return (void)version, status(path, to, 0); }               \
	int __lxstat##suffix(int version, const char *path, void *to) {                                                           \
		return (void)version, status(path, to, AT_SYMLINK_NOFOLLOW);                                                          \
	}

STATUS()
STATUS(64)

KZ_EXPORT int access(const char *path, int mode);
int access(const char *path, int mode) {
	long r = syscall(SYS_faccessat, AT_FDCWD, path, mode);
	if (missing(r, path))
		r = syscall(SYS_faccessat, AT_FDCWD, stand_in, mode);
	return (int)r;
}

KZ_EXPORT int statx(int dir, const char *path, int flags, unsigned mask, void *to);
int statx(int dir, const char *path, int flags, unsigned mask, void *to) {
	long r = syscall(SYS_statx, dir, path, flags, mask, to);
	if (missing(r, path))
		r = syscall(SYS_statx, AT_FDCWD, stand_in, 0, mask, to);
	return (int)r;
}
