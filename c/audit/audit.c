// libkudzu-audit.so: what the dynamic loader asks, through LD_AUDIT, before it looks for a library. A name that is one of
// ours is answered with our file, however the program asked for it: DT_NEEDED with RPATH or RUNPATH, dlopen by name or by
// path. Everything else passes untouched.
//
// The loader maps auditors into a namespace of their own. This one needs no library at all, not even libc, so no second
// libc is loaded for it; it allocates nothing, takes no lock and writes only before the first question is asked, or while
// an object is loaded, for which the loader has its own lock.
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdint.h>

#include "zsonames.h"

#define KZ_EXPORT __attribute__((visibility("default")))
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { PATH_ROOM = 4096, NAME_ROOM = 64 };

static char folder[PATH_ROOM]; // with the slash at its end; empty: we do not know where we are and answer nothing
static uintptr_t folder_len;
static char answers[COUNT(sonames)][PATH_ROOM + NAME_ROOM];

// PyTorch opens its own libtorch_cuda_linalg.so by that name at the first call of torch.linalg. Debian 13 has the library
// with a version only, as libtorch_cuda.so.2.6 is, and no link. The one beside libtorch_cuda.so, of its version, is meant.
static const char torch_cuda[] = "libtorch_cuda.so", torch_linalg[] = "libtorch_cuda_linalg.so";
static char linalg[PATH_ROOM + NAME_ROOM]; // its path; empty: libtorch_cuda.so has no version, or is not loaded

static uintptr_t length(const char *s) {
	uintptr_t n = 0;
	while (s[n])
		n++;
	return n;
}

// starts is the rest of s after prefix, or null.
static const char *starts(const char *s, const char *prefix) {
	while (*prefix)
		if (*s++ != *prefix++)
			return 0;
	return s;
}

static const char *last_part(const char *path) {
	const char *name = path;
	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

// append copies s behind to[at]; the caller knows that there is room.
static uintptr_t append(char *to, uintptr_t at, const char *s, uintptr_t n) {
	for (uintptr_t i = 0; i < n; i++)
		to[at + i] = s[i];
	to[at + n] = 0;
	return at + n;
}

// find_folder takes our own folder from the variable that named us.
static void find_folder(const char *list) {
	static const char self[] = "libkudzu-audit.so";
	while (*list) {
		uintptr_t n = 0, slash = 0;
		while (list[n] && list[n] != ':') {
			if (list[n] == '/')
				slash = n + 1;
			n++;
		}
		const char *rest = starts(list + slash, self);
		if (slash > 0 && slash < PATH_ROOM && rest == list + n) {
			folder_len = append(folder, 0, list, slash);
			return;
		}
		list += n + (list[n] == ':');
	}
}

// The loader passes every constructor the program's arguments and environment.
__attribute__((constructor)) static void start(int argc, char **argv, char **envp) {
	(void)argc;
	(void)argv;
	for (; envp && *envp; envp++) {
		const char *value = starts(*envp, "LD_AUDIT=");
		if (value)
			find_folder(value);
	}
	if (!folder_len)
		return;
	for (uintptr_t i = 0; i < COUNT(sonames); i++) {
		uintptr_t at = append(answers[i], 0, folder, folder_len);
		append(answers[i], at, sonames[i].file, length(sonames[i].file));
	}
}

KZ_EXPORT unsigned int la_version(unsigned int theirs) {
	return theirs < LAV_CURRENT ? theirs : LAV_CURRENT;
}

// note_torch remembers where the other half of a PyTorch is whose libraries have a version.
static void note_torch(const char *path) {
	const char *name = last_part(path), *version = starts(name, torch_cuda);
	uintptr_t dir = (uintptr_t)(name - path), n = length(name);
	if (!version || *version != '.' || dir == 0 || dir >= PATH_ROOM || n >= NAME_ROOM - sizeof torch_linalg)
		return;
	uintptr_t at = append(linalg, 0, path, dir);
	at = append(linalg, at, torch_linalg, sizeof torch_linalg - 1);
	append(linalg, at, version, length(version));
}

// An object of ours is marked: what it asks for is what it means, the vendor's own driver for one.
KZ_EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) {
	(void)space;
	*cookie = folder_len && map->l_name && starts(map->l_name, folder) != 0;
	if (folder_len && map->l_name)
		note_torch(map->l_name);
	return 0; // no symbol of it is ours to watch
}

// read_link is what a symbolic link says, cut to room; 0 if it is none.
static uintptr_t read_link(const char *path, char *to, uintptr_t room) {
	long n;
#if defined(__x86_64__)
	__asm__ volatile("syscall" : "=a"(n) : "0"(89L), "D"(path), "S"(to), "d"(room - 1) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = 78;
	register long x0 __asm__("x0") = -100; // from the current folder
	register const char *x1 __asm__("x1") = path;
	register char *x2 __asm__("x2") = to;
	register uintptr_t x3 __asm__("x3") = room - 1;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	n = x0;
#else
#error "no system call here for this machine"
#endif
	if (n <= 0)
		return 0;
	to[n] = 0;
	return (uintptr_t)n;
}

// ours is the answer to a file's name, or null. A library with a major version takes that version and its minors; one
// without, the driver's, takes every number, for the file behind libcuda.so.1 is named by the driver's version.
static char *ours(const char *name) {
	for (uintptr_t i = 0; i < COUNT(sonames); i++) {
		const char *rest = starts(name, sonames[i].stem);
		if (!rest)
			continue;
		if (!sonames[i].major[0]) {
			if (!*rest || (rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9'))
				return answers[i];
			continue;
		}
		if (*rest == '.' && (rest = starts(rest + 1, sonames[i].major)) && (!*rest || *rest == '.'))
			return answers[i];
	}
	return 0;
}

// plain answers a name without a version, libcudart.so: with a path the link there says which is meant, else the newest is.
static char *plain(const char *path, const char *name) {
	char *newest = 0;
	for (uintptr_t i = 0; i < COUNT(sonames); i++) {
		const char *rest = starts(name, sonames[i].stem);
		if (rest && !*rest)
			newest = answers[i]; // rows are in the order of versions
	}
	if (!newest || name == path)
		return newest;
	char to[512];
	char *meant = read_link(path, to, sizeof to) ? ours(last_part(to)) : 0;
	return meant ? meant : newest;
}

KZ_EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag) {
	if (flag != LA_SER_ORIG || !folder_len || *cookie == 1)
		return (char *)name;
	const char *file = last_part(name);
	char *answer = ours(file);
	if (!answer)
		answer = plain(name, file);
	if (!answer && name == file && linalg[0]) {
		const char *rest = starts(name, torch_linalg);
		if (rest && !*rest)
			return linalg;
	}
	return answer ? answer : (char *)name;
}
