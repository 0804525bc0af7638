// Images of modules: found in the program's memory or files, named by their contents, and written to the folder of the trace once.
#define _GNU_SOURCE
#include "trace.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, WRAPPER = 0x466243b1, FOLLOWED = 4 };
#define FATBIN 0xba55ed50u
#define LARGEST ((uint64_t)1 << 34) // no image is larger; a header that says so is none

// Where an image is: in memory, or in a file.
struct source {
	uint64_t at;
	int fd; // -1: in memory
	uint64_t bytes;
};

static size_t read_at(const struct source *s, uint64_t offset, void *to, size_t n) {
	if (s->fd < 0)
		return kz_peek(to, (const void *)(s->at + offset), n);
	size_t all = 0;
	while (all < n) {
		ssize_t got = pread(s->fd, (char *)to + all, n - all, (off_t)(offset + all));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		all += (size_t)got;
	}
	return all;
}

// --- a hash of 128 bits, to tell contents apart; it keeps no secrets

struct hash {
	uint64_t lane[4];
};

static uint64_t rotated(uint64_t x, int by) { return x << by | x >> (64 - by); }

static uint64_t mixed(uint64_t x) {
	x = (x ^ x >> 31) * 0xa24baed4963ee407u;
	x = (x ^ x >> 29) * 0x9fb21c651e98df25u;
	return x ^ x >> 32;
}

// add takes whole groups of 32 bytes.
static void add(struct hash *h, const char *data, size_t n) {
	for (; n >= 32; data += 32, n -= 32) {
		uint64_t w[4];
		memcpy(w, data, sizeof w);
		for (int i = 0; i < 4; i++)
			h->lane[i] = rotated(h->lane[i] ^ w[i] * 0xff51afd7ed558ccdu, 29 + 4 * i) * 0xc4ceb9fe1a85ec53u + w[(i + 1) & 3];
	}
}

static void finish(struct hash *h, const char *tail, size_t n, uint64_t bytes, char text[33]) {
	char last[64] = {0};
	memcpy(last, tail, n);
	add(h, last, n > 32 ? 64 : 32);
	uint64_t a = mixed(h->lane[0] ^ rotated(h->lane[1], 17) ^ bytes), b = mixed(h->lane[2] + rotated(h->lane[3], 41) + ~bytes);
	a = mixed(a + h->lane[2]), b = mixed(b ^ h->lane[1] ^ a);
	snprintf(text, 33, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
}

// hash_of reads all of an image; 0 where it could not.
static int hash_of(const struct source *s, char *block, char text[33]) {
	struct hash h = {{1, 2, 3, 4}};
	for (uint64_t at = 0;; at += BLOCK) {
		size_t n = s->bytes - at < BLOCK ? (size_t)(s->bytes - at) : BLOCK;
		if (read_at(s, at, block, n) != n)
			return 0;
		if (n < BLOCK) {
			size_t whole = n & ~(size_t)31;
			add(&h, block, whole);
			finish(&h, block + whole, n - whole, s->bytes, text);
			return 1;
		}
		add(&h, block, n);
	}
}

// --- sizes

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// elf_size is the end of what the headers name.
static uint64_t elf_size(const struct source *s) {
	Elf64_Ehdr e;
	if (read_at(s, 0, &e, sizeof e) != sizeof e || e.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	uint64_t end = larger(e.e_ehsize, larger(e.e_shoff + (uint64_t)e.e_shnum * e.e_shentsize, e.e_phoff + (uint64_t)e.e_phnum * e.e_phentsize));
	for (uint32_t i = 0; i < e.e_shnum && e.e_shentsize == sizeof(Elf64_Shdr); i++) {
		Elf64_Shdr h;
		if (read_at(s, e.e_shoff + i * sizeof h, &h, sizeof h) != sizeof h)
			return 0;
		if (h.sh_type != SHT_NOBITS && h.sh_offset + h.sh_size >= h.sh_offset)
			end = larger(end, h.sh_offset + h.sh_size);
	}
	return end;
}

struct fatbin_header {
	uint32_t magic;
	uint16_t version, header;
	uint64_t bytes;
};

// text_size is the length of a text up to its NUL.
static uint64_t text_size(const struct source *s, char *block) {
	for (uint64_t at = 0; at < LARGEST; at += BLOCK) {
		size_t got = read_at(s, at, block, BLOCK), n = strnlen(block, got);
		if (n < got)
			return at + n;
		if (got < BLOCK)
			return 0;
	}
	return 0;
}

static int has_version(const struct source *s, char *block) {
	size_t n = read_at(s, 0, block, s->bytes < BLOCK ? (size_t)s->bytes : BLOCK);
	return memmem(block, n, ".version", 8) != NULL;
}

// recognise finds an image's size, if it is not known, and what it is; NULL for none.
static const char *recognise(struct source *s, char *block) {
	struct fatbin_header h = {0};
	for (int i = 0; i < FOLLOWED; i++) {
		size_t got = read_at(s, 0, &h, sizeof h);
		if (got < sizeof h.magic)
			return NULL;
		if (s->fd >= 0 || h.magic != WRAPPER || got < sizeof h)
			break;
		s->at = h.bytes, s->bytes = 0; // a wrapper has the address there
	}
	const char *kind;
	uint64_t size = 0;
	if (h.magic == FATBIN)
		kind = "fatbin", size = (uint64_t)h.header + h.bytes;
	else if (!memcmp(&h.magic, ELFMAG, SELFMAG))
		kind = "cubin", size = s->bytes ? 0 : elf_size(s);
	else
		kind = NULL, size = s->bytes ? 0 : text_size(s, block);
	if (!s->bytes)
		s->bytes = size;
	if (!s->bytes || s->bytes > LARGEST)
		return NULL;
	return kind ? kind : has_version(s, block) ? "ptx" : "other";
}

// --- files

static void complain(const char *file, int code) {
	static _Atomic int said;
	if (!atomic_exchange(&said, 1))
		kz_say("kudzu: trace: %s: %s; modules are not kept\n", file, strerror(code));
}

static int copy(const struct source *s, int fd, char *block) {
	for (uint64_t at = 0; at < s->bytes;) {
		size_t n = s->bytes - at < BLOCK ? (size_t)(s->bytes - at) : BLOCK, done = 0;
		if (read_at(s, at, block, n) != n)
			return EFAULT;
		while (done < n) {
			ssize_t put = write(fd, block + done, n - done);
			if (put < 0 && errno == EINTR)
				continue;
			if (put <= 0)
				return put < 0 ? errno : ENOSPC;
			done += (size_t)put;
		}
		at += n;
	}
	return 0;
}

// save writes a file that no other process has written yet. A half-written one has another name.
static void save(const struct source *s, const char *hash, const char *kind, char *block) {
	char file[PATH_MAX + 64], half[PATH_MAX + 64];
	int n = snprintf(file, sizeof file, "%s/modules", kz_trace_folder());
	if (mkdir(file, 0700) && errno != EEXIST) {
		complain(file, errno);
		return;
	}
	snprintf(file + n, sizeof file - (size_t)n, "/%s.%s", hash, kind);
	if (!access(file, F_OK))
		return;
	uint64_t any;
	if (syscall(SYS_getrandom, &any, sizeof any, 1 /* do not wait */) != sizeof any)
		any = kz_ticks();
	snprintf(half, sizeof half, "%s/modules/.%d-%016" PRIx64, kz_trace_folder(), (int)getpid(), any); // other containers have our numbers, too
	int fd = kz_trace_fits(s->bytes) ? kz_trace_open(half, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) : (errno = EFBIG, -1);
	int rc = fd < 0 ? errno : copy(s, fd, block);
	if (fd >= 0 && close(fd) && !rc)
		rc = errno;
	if (!rc && rename(half, file))
		rc = errno;
	if (rc) {
		if (fd >= 0)
			unlink(half);
		complain(file, rc);
	}
}

static void record(struct kz_tracer *t, uint32_t library, uint64_t id, uint64_t size, const char *hash, const char *kind) {
	size_t n = strlen(kind) + 1, bytes = (sizeof(struct kz_record_module) + 33 + n + 7) & ~(size_t)7;
	struct kz_record_module *r = kz_trace_room(t, bytes);
	if (!r)
		return;
	r->head.kind = KZ_RECORD_MODULE, r->head.a = (uint16_t)library;
	r->id = id, r->bytes = size;
	memcpy(r->text, hash, 33);
	memcpy(r->text + 33, kind, n);
	kz_trace_done(&r->head, bytes);
}

// source_of finds where the image of a parameter is; 0 for nowhere.
static int source_of(struct source *s, const struct kz_behind *b, const uint64_t *args) {
	*s = (struct source){.at = args[b->word], .fd = -1};
	if (!s->at)
		return 0;
	if (b->kind == 'm' && b->other != 255) {
		s->bytes = args[b->other];
		return s->bytes != 0;
	}
	if (b->kind == 'L') {
		s->at = kz_peek_word(s->at);
		s->bytes = b->other != 255 && args[b->other] ? kz_peek_word(args[b->other]) : 0;
		return s->at != 0;
	}
	if (b->kind == 'N') {
		char path[PATH_MAX];
		size_t got = kz_peek(path, (const void *)s->at, sizeof path);
		struct stat st;
		if (strnlen(path, got) == got || (s->fd = kz_trace_open(path, O_RDONLY | O_NONBLOCK)) < 0)
			return 0;
		if (fstat(s->fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
			close(s->fd);
			return 0;
		}
		s->bytes = (uint64_t)st.st_size;
	}
	return 1;
}

void kz_images(struct kz_tracer *t, const struct kz_plan *p, int answered, const uint64_t *args, uint32_t library, uint64_t id) {
	int saved = errno, cancel;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); // no half of a file, no descriptor is left
	char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (uint32_t i = p->blobs; block != MAP_FAILED && i < (uint32_t)p->blobs + p->images; i++) {
		const struct kz_behind *b = &p->behind[i];
		struct source s;
		if ((b->kind == 'M' || b->kind == 'L') != answered || !source_of(&s, b, args))
			continue;
		char hash[33];
		const char *kind = recognise(&s, block);
		if (kind && hash_of(&s, block, hash)) {
			save(&s, hash, kind, block);
			record(t, library, id, s.bytes, hash, kind);
		}
		if (s.fd >= 0)
			close(s.fd);
	}
	if (block != MAP_FAILED)
		munmap(block, BLOCK);
	pthread_setcancelstate(cancel, &cancel);
	errno = saved;
}
