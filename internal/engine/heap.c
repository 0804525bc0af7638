// The device heap: malloc and free called by kernels, from a bounded part of device memory.
//
// Blocks are power-of-two classes from 32 bytes, each with a header of 16 bytes in front, cut from chunks that come from
// the device's memory. A pointer that is not ours is ignored: its header is read before any lock is taken, so that a
// fault there is the kernel's own.
#include "internal.h"
#include <stdlib.h>

enum { HEAP_CLASSES = 26, CHUNK = 256 << 10, HEADER = 16 };

struct header {
	uint64_t tag; // address ^ MAGIC, or address ^ FREED
	uint32_t cls;
	uint32_t pad;
};
#define MAGIC UINT64_C(0x6b7564616c6c6f63)
#define FREED UINT64_C(0x6b75646672656564)

struct chunk { struct chunk *next; uint64_t addr; };

struct kz_heap {
	_Atomic uint32_t refs;
	struct kz_mem *mem;
	_Atomic uint64_t limit;
	kz_lock lock;                // KZ_RANK_HEAP
	uint64_t used;               // bytes of chunks
	uint64_t bump, bump_end;     // rest of the newest chunk
	uint64_t free[HEAP_CLASSES]; // header addresses, linked through the first word after the header
	struct chunk *chunks;
};

struct kz_heap *kz_heap_new(struct kz_mem *m) {
	struct kz_heap *h = calloc(1, sizeof *h);
	if (!h) return NULL;
	kz_lock_init(&h->lock, KZ_RANK_HEAP);
	h->refs = 1;
	h->mem = m;
	h->limit = 8 << 20; // CUDA's default: cudaLimitMallocHeapSize
	return h;
}

struct kz_heap *kz_heap_ref(struct kz_heap *h) {
	if (h) atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
	return h;
}

void kz_heap_limit(struct kz_heap *h, uint64_t bytes) { atomic_store_explicit(&h->limit, bytes, memory_order_relaxed); }

// Preconditions: h->lock is held.
static uint64_t carve(struct kz_heap *h, uint64_t n) {
	if (h->bump + n > h->bump_end) {
		uint64_t want = n > CHUNK ? n : CHUNK, addr;
		uint64_t limit = atomic_load_explicit(&h->limit, memory_order_relaxed);
		if (h->used + want > limit) want = n;
		if (h->used + want > limit) return 0;
		struct chunk *c = malloc(sizeof *c);
		if (!c || kz_mem_alloc(h->mem, want, 256, &addr) != KZ_OK) {
			free(c);
			return 0;
		}
		*c = (struct chunk){h->chunks, addr};
		h->chunks = c;
		h->used += want;
		if (want == n) return addr; // leave the current chunk's rest in use
		h->bump = addr;
		h->bump_end = addr + want;
	}
	uint64_t p = h->bump;
	h->bump += n;
	return p;
}

uint64_t kz_heap_alloc(struct kz_heap *h, uint64_t n) {
	const uint64_t most = (UINT64_C(32) << (HEAP_CLASSES - 1)) - HEADER;
	if (!h || n == 0 || n > most || n > atomic_load_explicit(&h->limit, memory_order_relaxed)) return 0;
	uint32_t cls = 0;
	while ((UINT64_C(32) << cls) < n + HEADER) cls++;
	kz_acquire(&h->lock);
	uint64_t p = h->free[cls], base, size;
	uint32_t owner;
	// A kernel may have written over a link: follow it only into live memory, or the lock would stay held by a fault.
	if (p && (p % 16 || kz_mem_lookup(p + HEADER + 7, &base, &size, &owner) != KZ_OK || p < base)) p = h->free[cls] = 0;
	if (p) h->free[cls] = *(uint64_t *)(p + HEADER);
	else p = carve(h, UINT64_C(32) << cls);
	kz_release(&h->lock);
	if (!p) return 0;
	*(struct header *)p = (struct header){.tag = p ^ MAGIC, .cls = cls};
	return p + HEADER;
}

void kz_heap_release(struct kz_heap *h, uint64_t addr) {
	uint64_t base, size;
	uint32_t owner;
	if (!h || addr % 16 || addr < HEADER || kz_mem_lookup(addr - HEADER, &base, &size, &owner) != KZ_OK) return;
	struct header *p = (struct header *)(addr - HEADER);
	if (addr + 8 > base + size) return;
	kz_acquire(&h->lock);
	if (p->tag == ((uint64_t)p ^ MAGIC) && p->cls < HEAP_CLASSES) { // a second free finds another tag
		p->tag = (uint64_t)p ^ FREED;
		*(uint64_t *)addr = h->free[p->cls];
		h->free[p->cls] = (uint64_t)p;
	}
	kz_release(&h->lock);
}

void kz_heap_unref(struct kz_heap *h) {
	if (!h || atomic_fetch_sub(&h->refs, 1) != 1) return;
	for (struct chunk *c = h->chunks, *next; c; c = next) {
		next = c->next;
		kz_mem_free(h->mem, c->addr);
		free(c);
	}
	free(h);
}
