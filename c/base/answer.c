// Answers of NVRTC from the cache, without the Go image. The key is made here only: Go is handed it with a request that has no answer
// yet (thread.h), and keeps the answer under it (internal/shim/nvrtc/answer.go, which has the layout of an entry's payload). The file is
// one of internal/cache; whoever cannot read it has no answer, and asks Go.
#define _GNU_SOURCE
#include "answer.h"
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char format[] = "kudzu NVRTC answer 2"; // of key and payload

static void add(struct kz_blake3 *h, const void *data, uint64_t n) {
	kz_blake3_add(h, &n, sizeof n);
	kz_blake3_add(h, data, n);
}

static void add_text(struct kz_blake3 *h, const char *s) { add(h, s ? s : "", s ? strlen(s) : 0); }

// relative reports an option that may name a folder from where the process is.
static int relative(const char *o) {
	static const char folder[] = "--include-path";
	o += strspn(o, " \t\n\v\f\r");
	if (*o != '-')
		return *o != '/'; // the value of the option before it
	if (!strncmp(o, folder, sizeof folder - 1))
		o += sizeof folder - 1;
	else if (!strncmp(o, "-I", 2))
		o += 2;
	else
		return 0;
	o += strspn(o, "= \t\n\v\f\r");
	return *o != '/';
}

int kz_answer_key(const struct kz_request *r, uint8_t key[KZ_BLAKE3_OUT]) {
	// What chooses the compiler, and its headers.
	static const char *const settings[] = {"KUDZU_CLANG", "KUDZU_LLVM", "KUDZU_CCCL", "KUDZU_COMPILER"};
	char path[PATH_MAX];
	struct stat st;
	if (!kz_beside(path, sizeof path, "libkudzu.so") || stat(path, &st))
		return 0;
	struct kz_blake3 h;
	kz_blake3_start(&h);
	add_text(&h, format);
	add_text(&h, kz_libraries[r->library].soname);
	add_text(&h, path);
	const int64_t stamp[] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (int64_t)st.st_ino};
	add(&h, stamp, sizeof stamp);
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		add_text(&h, kz_setting(settings[i]));
	int here = 0;
	for (int i = 0; i < r->option_count; i++)
		here |= relative(r->options[i]);
	if (here && !getcwd(path, sizeof path))
		return 0;
	add_text(&h, here ? path : NULL);
	add_text(&h, r->name);
	const uint64_t counts[] = {r->text_count, r->expr_count, (uint64_t)r->option_count};
	add(&h, counts, sizeof counts);
	for (uint64_t i = 0; i < r->text_count; i++)
		add(&h, r->texts[i].at, r->texts[i].bytes);
	for (uint64_t i = 0; i < r->expr_count; i++)
		add_text(&h, r->exprs[i]);
	for (int i = 0; i < r->option_count; i++)
		add_text(&h, r->options[i]);
	kz_blake3_end(&h, key);
	return 1;
}

// folder is the cache's, as cache.FromEnv finds it; 0 if there is none.
static int folder(char *path, size_t size) {
	const char *off = kz_environment("CUDA_CACHE_DISABLE"), *own = kz_setting("KUDZU_CACHE_DIR"), *cuda = kz_environment("CUDA_CACHE_PATH");
	const char *xdg = kz_environment("XDG_CACHE_HOME"), *home = kz_environment("HOME");
	int n = 0;
	if (kz_secure() || (off && !strcmp(off, "1")))
		return 0;
	if (own && *own)
		n = snprintf(path, size, "%s", own);
	else if (cuda && *cuda)
		n = snprintf(path, size, "%s/kudzu", cuda);
	else if (xdg && *xdg == '/')
		n = snprintf(path, size, "%s/kudzu", xdg);
	else if (home && *home)
		n = snprintf(path, size, "%s/.cache/kudzu", home);
	return n > 0 && (size_t)n < size;
}

// trusted reports a file or folder that nobody but us can have written to.
static int trusted(int fd, struct stat *st) { return fd >= 0 && !fstat(fd, st) && st->st_uid == geteuid() && !(st->st_mode & 022); }

// below opens a name in a folder that is closed.
static int below(int dir, const char *name, int flags) {
	int fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW);
	close(dir);
	return fd;
}

static int open_entry(const uint8_t key[KZ_BLAKE3_OUT], struct stat *st) {
	char path[PATH_MAX], name[2 * KZ_BLAKE3_OUT + 5];
	for (int i = 0; i < KZ_BLAKE3_OUT; i++)
		snprintf(name + 2 * i, 3, "%02x", key[i]);
	strcpy(name + 2 * KZ_BLAKE3_OUT, ".kzc");
	if (!folder(path, sizeof path))
		return -1;
	const char two[] = {name[0], name[1], 0};
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (trusted(fd, st))
		fd = below(fd, two, O_PATH | O_DIRECTORY);
	if (trusted(fd, st))
		fd = below(fd, name, O_RDONLY | O_NONBLOCK);
	if (trusted(fd, st) && S_ISREG(st->st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

enum { SUM_AT = 16, HEAD = SUM_AT + KZ_BLAKE3_OUT, MOST = 1 << 30, FRESH = 3600 };

// read_entry is the payload of an entry, for free() at *whole.
static struct kz_text read_entry(const uint8_t key[KZ_BLAKE3_OUT], char **whole) {
	struct kz_text none = {0}, found = {0};
	struct stat st;
	int fd = open_entry(key, &st);
	if (fd < 0)
		return none;
	char *b = st.st_size >= HEAD && st.st_size <= MOST ? malloc((size_t)st.st_size) : NULL;
	ssize_t n = 0, part = 1;
	while (b && n < st.st_size && part > 0) {
		part = read(fd, b + n, (size_t)(st.st_size - n));
		n += part > 0 ? part : 0;
		if (part < 0 && errno == EINTR) part = 1;
	}
	if (b && time(NULL) - st.st_mtim.tv_sec > FRESH)
		futimens(fd, NULL); // only the order depends on it in which entries are removed
	close(fd);
	uint64_t bytes = 0;
	if (b && n == st.st_size) {
		uint8_t sum[KZ_BLAKE3_OUT];
		struct kz_blake3 h;
		kz_blake3_start(&h);
		kz_blake3_add(&h, key, KZ_BLAKE3_OUT);
		kz_blake3_add(&h, b + HEAD, (size_t)n - HEAD);
		kz_blake3_end(&h, sum);
		memcpy(&bytes, b + 8, sizeof bytes);
		if (!memcmp(b, "KZCACHE1", 8) && bytes == (uint64_t)n - HEAD && !memcmp(b + SUM_AT, sum, sizeof sum))
			found = (struct kz_text){b + HEAD, bytes};
	}
	if (found.at)
		*whole = b;
	else
		free(b);
	return found;
}

// number and text take the next of the payload; what is beyond it is empty, and the payload then is, too.
static uint64_t number(struct kz_text *from) {
	uint64_t n = 0;
	if (from->bytes < sizeof n) {
		from->bytes = 0;
		return 0;
	}
	memcpy(&n, from->at, sizeof n);
	from->at += sizeof n, from->bytes -= sizeof n;
	return n;
}

static struct kz_text text(struct kz_text *from) {
	uint64_t n = number(from);
	struct kz_text t = {from->at, n};
	if (n > from->bytes) {
		from->bytes = 0;
		return (struct kz_text){0};
	}
	from->at += n, from->bytes -= n;
	return t;
}

// as_it_was reports that a file is as it was when the answer was made: of a size and time, or not there (size -1). Its path has a NUL.
static int as_it_was(struct kz_text path, int64_t size, int64_t nanos) {
	struct stat st;
	if (!path.bytes || path.at[path.bytes - 1])
		return 0;
	if (stat(path.at, &st))
		return size < 0;
	return st.st_size == size && (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec == nanos;
}

struct kz_answer *kz_answer_find(const uint8_t key[KZ_BLAKE3_OUT], uint64_t exprs) {
	struct kz_answer *a = calloc(1, sizeof *a);
	struct kz_text left = a ? read_entry(key, &a->bytes) : (struct kz_text){0}, is = text(&left);
	if (is.bytes != sizeof format - 1 || memcmp(is.at, format, is.bytes))
		goto none;
	uint64_t code = number(&left);
	if (code && code != KZ_NVRTC_ERROR_COMPILATION)
		goto none;
	a->code = (int)code;
	a->log = text(&left), a->ptx = text(&left), a->cubin = text(&left), a->lto = text(&left);
	a->count = number(&left);
	if (a->count != exprs || !a->log.bytes || !a->ptx.bytes)
		goto none;
	a->names = calloc(exprs ? exprs : 1, sizeof *a->names);
	for (uint64_t i = 0; a->names && i < exprs; i++) {
		a->names[i] = text(&left);
		if (a->names[i].bytes && a->names[i].at[a->names[i].bytes - 1])
			goto none;
	}
	for (uint64_t files = number(&left); files; files--) {
		struct kz_text path = text(&left);
		int64_t size = (int64_t)number(&left), nanos = (int64_t)number(&left);
		if (!as_it_was(path, size, nanos))
			goto none;
	}
	is = text(&left); // the end: nothing was cut off
	if (!a->names || left.bytes || is.bytes != sizeof format - 1)
		goto none;
	return a;
none:
	kz_answer_free(a);
	return NULL;
}

void kz_answer_free(struct kz_answer *a) {
	while (a) {
		struct kz_answer *before = a->before;
		free(a->names);
		free(a->bytes);
		free(a);
		a = before;
	}
}
