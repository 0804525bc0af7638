// The image's relative relocations, which cmd/libkudzu/relr has taken out of the loader's table: they are applied by the first
// constructor, before Go starts. They are in nearly every one of 600 pages, each of which would be a fault and a copy; where the system
// has huge pages, most of them are copied at once into one (RATIONALE.md, "What does a start cost").
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TAG_TABLE 0x6b7a0001 // relr's own rows of the dynamic section
#define TAG_BYTES 0x6b7a0002
#define HUGE ((uintptr_t)2 << 20)
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

// parts are what the image's headers say: its dynamic section, what the loader has made read-only (start is end if that is nothing), and
// the whole pages that are the file's to write to.
struct parts {
	const ElfW(Dyn) *dynamic;
	uintptr_t start, end, data, data_end;
};

static struct parts parts(void) {
	const ElfW(Ehdr) *file = (const void *)__ehdr_start;
	const ElfW(Phdr) *p = (const void *)(__ehdr_start + file->e_phoff);
	const uintptr_t self = (uintptr_t)__ehdr_start, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct parts found = {0};
	for (int i = 0; i < file->e_phnum; i++) {
		if (p[i].p_type == PT_DYNAMIC)
			found.dynamic = (const void *)(self + p[i].p_vaddr);
		if (p[i].p_type == PT_GNU_RELRO) {
			found.start = (self + p[i].p_vaddr) & -page;
			found.end = (self + p[i].p_vaddr + p[i].p_memsz) & -page;
		}
		if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_W)) {
			found.data = (self + p[i].p_vaddr) & -page;
			found.data_end = (self + p[i].p_vaddr + p[i].p_filesz) & -page;
		}
	}
	return found;
}

// gather puts the first piece of the data that a huge page can hold into one. Where there is none, nothing has changed.
static void gather(const struct parts *in) {
	char *const piece = (char *)((in->data + HUGE - 1) & -HUGE);
	// The table by which this image calls others is in the piece: without it only these reach them.
	void *(*volatile map)(void *, size_t, int, int, int, off_t) = mmap;
	void *(*volatile copying)(void *, const void *, size_t) = memcpy;
	unsigned char present[2] = {0};
	if ((uintptr_t)piece + HUGE > in->data_end)
		return;
	char *area = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return;
	char *const copy = (char *)(((uintptr_t)area + HUGE - 1) & -HUGE);
	bool huge = !madvise(copy, HUGE, MADV_HUGEPAGE);
	bool moved = false;
	if (huge) {
		*(volatile char *)copy = 0;
		huge = !mincore(copy, 2 * (size_t)sysconf(_SC_PAGESIZE), present) && (present[1] & 1);
	}
	if (huge) {
		madvise(piece, HUGE, MADV_POPULATE_READ); // kernels that do not know it have faults instead
		memcpy(copy, piece, HUGE);
		moved = mremap(copy, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, piece) != MAP_FAILED;
		// What stood there may be gone by then.
		if (!moved && map(piece, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			__builtin_trap();
		if (!moved)
			copying(piece, copy, HUGE);
	}
	munmap(area, (size_t)(copy - area));
	munmap(moved ? copy + HUGE : copy, (size_t)(area + 2 * HUGE - copy) - (moved ? HUGE : 0));
}

// Nothing here may need a relocation that is not applied yet: no variable that holds an address, _DYNAMIC of link.h included.
__attribute__((constructor(101))) static void relocate(void) {
	const uintptr_t self = (uintptr_t)__ehdr_start;
	const struct parts in = parts();
	const uint64_t *table = NULL;
	uint64_t words = 0;
	for (const ElfW(Dyn) *d = in.dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == TAG_TABLE) table = (const void *)(self + d->d_un.d_ptr);
		if (d->d_tag == TAG_BYTES) words = d->d_un.d_val / sizeof *table;
	}
	if (!table || !words)
		return; // built without relr: the loader has done it
	if (in.start < in.end && mprotect((void *)in.start, in.end - in.start, PROT_READ | PROT_WRITE))
		__builtin_trap(); // no constructor can fail, and nothing of Go runs without
	gather(&in);
	uint64_t *next = NULL;
	for (uint64_t i = 0; i < words; i++) {
		uint64_t w = table[i];
		if (!(w & 1)) {
			next = (uint64_t *)(self + w);
			*next++ += self;
			continue;
		}
		for (uint64_t bits = w >> 1; bits; bits &= bits - 1)
			next[__builtin_ctzll(bits)] += self;
		next += 63;
	}
	if (in.start < in.end)
		mprotect((void *)in.start, in.end - in.start, PROT_READ);
}
