// Device memory: one reserved address range, committed on demand.
//
// The range is cut into slabs of 2 MiB. A small allocation (up to 1 MiB) is a slot of a slab of its size class; a large
// one is a span of slabs followed by a guard slab that holds nothing. All bookkeeping is outside the range: kernels cannot
// damage it.
//
// A stray access faults as on a GPU. On the H200 small and middle allocations lie in pools among others, and an access up
// to megabytes before or behind them finds memory; programs that read a row before their first one run there. So the slab
// before and the slab behind an allocation of up to LENIENT bytes can be touched. A larger one ends in a fault, as there,
// and so does whatever lies farther from any allocation, and a large allocation that was freed.
//
// Lookups take no lock: a slab's kind is written last when it comes to life and first when it dies, and the tables are
// never unmapped. A lookup racing with the free of the same allocation may answer either way, as any order would.
#include "internal.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define SLAB_BITS 21
#define SLAB (UINT64_C(1) << SLAB_BITS)
#define UNIT 256u
#define SMALL_MAX (1u << 20)
#define CLASSES 48
#define BINS 32
#define KEEP_EMPTY 32 // slabs without a slot in use that a device keeps, with their pages
#define CACHE_SPANS 64
#define LENIENT (UINT64_C(32) << 20) // H200: 16 MiB has neighbours, 100 MiB has none

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static struct {
	kz_lock lock; // KZ_RANK_MEMORY: guards everything below, and every kz_mem
	struct kz_arena_view v;
	uint64_t *bits; // a bit for each 256 bytes: slot is free
	uint32_t nslabs;
	uint32_t bins[BINS]; // free spans by floor(log2(length)); slab 0 is never given out, so 0 ends a list
	bool tried;
	struct kz_arena_file file; // fd is 0: there is none
} A = {.lock = KZ_LOCK(KZ_RANK_MEMORY)};

struct kz_mem {
	uint64_t limit, used; // bytes in slabs
	uint32_t owner;
	uint32_t partial[CLASSES]; // slabs of the class with a free slot
	uint32_t empty;            // slabs with no slot in use: in no class's list, any class may have them
	uint32_t idle_head, idle_tail; // they, newest first
	uint32_t cache_head, cache_tail, ncache; // freed spans whose pages are kept, newest first
	uint64_t cached;
};

static inline uint64_t slab_addr(uint32_t i) { return A.v.base + ((uint64_t)i << SLAB_BITS); }
static inline void set_kind(struct kz_slab *s, uint32_t kind) { __atomic_store_n(&s->kind, kind, __ATOMIC_RELEASE); }
static inline int log2floor(uint64_t n) { return 63 - __builtin_clzll(n); }

// --- the reservation ---

static void *reserve(uint64_t at, uint64_t n, int prot) {
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
	// A program built for ThreadSanitizer has an mmap that takes the address away and leaves the flag: that is address 0.
	void *p = at ? (void *)syscall(SYS_mmap, at, n, prot, flags, -1, 0) : mmap(NULL, n, prot, flags, -1, 0);
	if (p == MAP_FAILED) return NULL;
	if (at && (uint64_t)p != at) { // a kernel before 4.17 takes the address as a hint
		munmap(p, n);
		return NULL;
	}
	return p;
}

// Takes n bytes of addresses, if that leaves others so many.
static int try_size(uint64_t n, uint64_t leave) {
	uint64_t slabs = n >> SLAB_BITS;
	uint64_t raw = 0;
#ifndef __SANITIZE_THREAD__ // it moves fixed mappings
	// A recognisable place first; the kernel puts mappings top down from 0x7f…, so the low end is usually free.
	for (uint64_t at = UINT64_C(0x700000000000); at >= UINT64_C(0x600000000000) && !raw; at -= UINT64_C(0x040000000000))
		raw = (uint64_t)reserve(at, n, PROT_NONE);
#endif
	uint64_t base = raw;
	if (!raw) {
		raw = (uint64_t)reserve(0, n + SLAB, PROT_NONE);
		if (!raw) return KZ_SYSTEM;
		base = (raw + SLAB - 1) & ~(SLAB - 1);
	}
	uint64_t meta = slabs * sizeof(struct kz_slab), sizes = n / UNIT * 4, bits = n / UNIT / 8;
	uint8_t *t = reserve(0, meta + sizes + bits, PROT_READ | PROT_WRITE), *l = t && leave ? reserve(0, leave, PROT_NONE) : t;
	if (!l) {
		munmap((void *)raw, raw == base ? n : n + SLAB);
		if (t) munmap(t, meta + sizes + bits);
		return KZ_SYSTEM;
	}
	if (l != t) munmap(l, leave);
	madvise((void *)base, n, MADV_HUGEPAGE);
	madvise((void *)base, n, MADV_DONTFORK); // a child shares nothing of ours, and need not copy it
	A.v.base = base;
	A.v.size = n;
	A.v.slabs = (struct kz_slab *)t;
	A.v.sizes = (uint32_t *)(t + meta);
	A.bits = (uint64_t *)(t + meta + sizes);
	A.nslabs = (uint32_t)slabs;
	return KZ_OK;
}

static void bin_insert(uint32_t i, uint32_t span);

int kz_arena_open(struct kz_arena_view *out) {
	kz_acquire(&A.lock);
	if (!A.tried) {
		A.tried = true;
		struct sysinfo si;
		uint64_t want = UINT64_C(1) << 40;
		if (sysinfo(&si) == 0)
			while (want < 4 * (uint64_t)si.totalram * si.mem_unit && want < (UINT64_C(1) << 44)) want <<= 1;
#ifdef __SANITIZE_THREAD__
		want = UINT64_C(1) << 33; // its shadow memory leaves little room
#endif
		// An address-space limit (ulimit -v) may allow less. Workers, threads and the program need some, too.
		const uint64_t least = UINT64_C(1) << 28, leave = UINT64_C(1) << 29;
		for (; want >= least && try_size(want, leave) != KZ_OK; want >>= 1) {}
		if (!A.v.base) try_size(least, 0);
		if (A.v.base) {
			set_kind(&A.v.slabs[0], KZ_SLAB_GUARD);
			bin_insert(1, A.nslabs - 1);
		}
	}
	*out = A.v;
	int rc = A.v.base ? KZ_OK : KZ_SYSTEM;
	kz_release(&A.lock);
	return rc;
}

// --- spans of slabs: segregated fit with boundary tags ---

static void bin_insert(uint32_t i, uint32_t span) {
	struct kz_slab *s = &A.v.slabs[i], *t = &A.v.slabs[i + span - 1];
	int b = log2floor(span);
	s->kind = KZ_SLAB_FREE;
	t->kind = KZ_SLAB_FREE;
	t->head = i;
	s->head = i;
	t->span = span;
	s->span = span;
	s->prev = 0;
	s->next = A.bins[b];
	if (s->next) A.v.slabs[s->next].prev = i;
	A.bins[b] = i;
}

static void bin_remove(uint32_t i) {
	struct kz_slab *s = &A.v.slabs[i];
	if (s->prev) A.v.slabs[s->prev].next = s->next;
	else A.bins[log2floor(s->span)] = s->next;
	if (s->next) A.v.slabs[s->next].prev = s->prev;
}

static uint32_t span_alloc(uint32_t n) {
	for (int b = log2floor(n); b < BINS; b++) {
		int looked = 0;
		for (uint32_t i = A.bins[b]; i && looked < 64; i = A.v.slabs[i].next, looked++) {
			uint32_t have = A.v.slabs[i].span;
			if (have < n) continue;
			bin_remove(i);
			if (have > n) bin_insert(i + n, have - n);
			return i;
		}
	}
	return 0;
}

static void span_free(uint32_t i, uint32_t n) {
	if (i + n < A.nslabs && A.v.slabs[i + n].kind == KZ_SLAB_FREE) {
		uint32_t m = A.v.slabs[i + n].span;
		bin_remove(i + n);
		n += m;
	}
	if (A.v.slabs[i - 1].kind == KZ_SLAB_FREE) {
		uint32_t m = A.v.slabs[i - 1].span;
		bin_remove(i - m);
		i -= m;
		n += m;
	}
	bin_insert(i, n);
}

#include "memfile.h"

static bool nobodys(uint32_t i) { return A.v.slabs[i].kind == KZ_SLAB_FREE || A.v.slabs[i].kind == KZ_SLAB_GUARD; }

// Makes n slabs accessible, and the neighbours that a stray access may find.
static int commit(uint32_t i, uint64_t n) {
	uint32_t first = i, end = i + (uint32_t)n;
	file_slabs(i, n);
	if (n << SLAB_BITS <= LENIENT) {
		if (nobodys(first - 1)) first--;
		if (end < A.nslabs && nobodys(end)) end++;
	} else mprotect((void *)slab_addr(end), SLAB, PROT_NONE); // its guard: a smaller one may have lain beside it
	return mprotect((void *)slab_addr(first), (uint64_t)(end - first) << SLAB_BITS, PROT_READ | PROT_WRITE) == 0 ? KZ_OK : KZ_NOMEM;
}

static void decommit(uint32_t i, uint64_t n) {
	// The pages go first: should mprotect fail (too many mappings), the contents at least are gone.
	drop_pages(i, n);
	mprotect((void *)slab_addr(i), n << SLAB_BITS, PROT_NONE);
}

// --- the cache of freed spans ---

static void cache_unlink(struct kz_mem *m, uint32_t i) {
	struct kz_slab *s = &A.v.slabs[i];
	if (s->prev) A.v.slabs[s->prev].next = s->next;
	else m->cache_head = s->next;
	if (s->next) A.v.slabs[s->next].prev = s->prev;
	else m->cache_tail = s->prev;
	m->ncache--;
	m->cached -= (uint64_t)(s->span - 1) << SLAB_BITS;
}

static void cache_evict(struct kz_mem *m) {
	uint32_t i = m->cache_tail, n = A.v.slabs[i].span;
	cache_unlink(m, i);
	drop_pages(i, n); // the guard, too, may have been written
	for (uint32_t k = i; k < i + n; k++) A.v.slabs[k].kind = KZ_SLAB_FREE;
	span_free(i, n);
}

static uint32_t cache_take(struct kz_mem *m, uint32_t n) {
	for (uint32_t i = m->cache_head; i; i = A.v.slabs[i].next) {
		uint32_t have = A.v.slabs[i].span;
		if (have < n || have > n + n / 8) continue;
		if (m->used + ((uint64_t)(have - 1) << SLAB_BITS) > m->limit) continue; // the excess counts too
		cache_unlink(m, i);
		return i;
	}
	return 0;
}

static void slab_release(struct kz_mem *m, uint32_t i);

static void drop_empty(struct kz_mem *m) {
	while (m->empty) slab_release(m, m->idle_tail);
}

// Makes room under the limit for n bytes, from the device's own caches.
static bool room(struct kz_mem *m, uint64_t n) {
	if (n > m->limit) return false;
	while (m->used + m->cached + n > m->limit && m->ncache) cache_evict(m);
	if (m->used + n > m->limit) drop_empty(m);
	return m->used + n <= m->limit;
}

// --- large ---

static int large_alloc(struct kz_mem *m, uint64_t n, uint64_t align, uint64_t *out) {
	uint64_t slabs = (n + SLAB - 1) >> SLAB_BITS;
	uint64_t extra = align > SLAB ? (align >> SLAB_BITS) - 1 : 0;
	if (slabs + extra + 1 >= A.nslabs || !room(m, slabs << SLAB_BITS)) return KZ_NOMEM;
	uint32_t span = (uint32_t)(slabs + 1), i = extra ? 0 : cache_take(m, span);
	if (i) span = A.v.slabs[i].span;
	else {
		i = span_alloc(span + (uint32_t)extra);
		while (!i && m->ncache) { // address space, too, may be held by the cache
			cache_evict(m);
			i = span_alloc(span + (uint32_t)extra);
		}
		if (!i) return KZ_NOMEM;
		if (extra) { // cut the aligned part out; neighbours must not look free while the ends are given back
			for (uint32_t k = i; k < i + span + extra; k++) A.v.slabs[k].kind = KZ_SLAB_GUARD;
			uint32_t skip = (uint32_t)(((align - slab_addr(i) % align) % align) >> SLAB_BITS);
			uint32_t rest = (uint32_t)extra - skip;
			if (skip) span_free(i, skip);
			i += skip;
			if (rest) span_free(i + span, rest);
		}
	}
	set_kind(&A.v.slabs[i + span - 1], KZ_SLAB_GUARD);
	if (commit(i, span - 1) != KZ_OK) {
		for (uint32_t k = i; k < i + span; k++) A.v.slabs[k].kind = KZ_SLAB_GUARD;
		span_free(i, span);
		return KZ_NOMEM;
	}
	struct kz_slab *s = &A.v.slabs[i];
	s->bytes = n;
	s->span = span;
	s->owner = m->owner;
	for (uint32_t k = i + 1; k < i + span - 1; k++) {
		A.v.slabs[k].head = i;
		set_kind(&A.v.slabs[k], KZ_SLAB_BODY);
	}
	set_kind(s, KZ_SLAB_LARGE);
	m->used += (uint64_t)(span - 1) << SLAB_BITS;
	*out = slab_addr(i);
	return KZ_OK;
}

static void large_free(struct kz_mem *m, uint32_t i) {
	struct kz_slab *s = &A.v.slabs[i];
	uint64_t bytes = (uint64_t)(s->span - 1) << SLAB_BITS;
	set_kind(s, KZ_SLAB_CACHED);
	m->used -= bytes;
	// The pages stay, the access goes: touching freed memory faults, allocating it again costs no page faults.
	mprotect((void *)slab_addr(i), bytes, PROT_NONE);
	s->prev = 0;
	s->next = m->cache_head;
	if (s->next) A.v.slabs[s->next].prev = i;
	else m->cache_tail = i;
	m->cache_head = i;
	m->ncache++;
	m->cached += bytes;
	while (m->ncache > CACHE_SPANS || m->cached > m->limit / 8) cache_evict(m);
}

// --- small ---

// Four classes to a doubling: 256, 512, 768, 1024, 1280, … 1 MiB.
static uint32_t class_of(uint32_t n, uint32_t *slot) {
	if (n <= 4 * UNIT) {
		uint32_t c = (n + UNIT - 1) / UNIT;
		*slot = c * UNIT;
		return c - 1;
	}
	int sh = log2floor(n - 1) - 2;
	uint32_t q = (n + (1u << sh) - 1) >> sh; // 5 … 8
	*slot = q << sh;
	return 4 + (uint32_t)(sh - 8) * 4 + (q - 5);
}

static void partial_insert(struct kz_mem *m, uint32_t i) {
	struct kz_slab *s = &A.v.slabs[i];
	s->prev = 0;
	s->next = m->partial[s->cls];
	if (s->next) A.v.slabs[s->next].prev = i;
	m->partial[s->cls] = i;
}

static void partial_remove(struct kz_mem *m, uint32_t i) {
	struct kz_slab *s = &A.v.slabs[i];
	if (s->prev) A.v.slabs[s->prev].next = s->next;
	else m->partial[s->cls] = s->next;
	if (s->next) A.v.slabs[s->next].prev = s->prev;
}

static uint64_t *slab_bits(uint32_t i) { return A.bits + (uint64_t)i * (SLAB / UNIT / 64); }

static void idle_insert(struct kz_mem *m, uint32_t i) {
	struct kz_slab *s = &A.v.slabs[i];
	s->prev = 0;
	s->next = m->idle_head;
	if (s->next) A.v.slabs[s->next].prev = i;
	else m->idle_tail = i;
	m->idle_head = i;
	m->empty++;
}

static void idle_remove(struct kz_mem *m, uint32_t i) {
	struct kz_slab *s = &A.v.slabs[i];
	if (s->prev) A.v.slabs[s->prev].next = s->next;
	else m->idle_head = s->next;
	if (s->next) A.v.slabs[s->next].prev = s->prev;
	else m->idle_tail = s->prev;
	m->empty--;
}

// Preconditions: the slab is committed, in no list and has no slot in use.
static void slab_divide(struct kz_slab *s, uint64_t *b, uint32_t cls, uint32_t slot) {
	s->slot = slot;
	s->cls = cls;
	s->slots = (uint16_t)(SLAB / slot);
	s->sum[0] = s->sum[1] = 0;
	for (uint32_t k = 0, left = s->slots; left; k++) {
		uint32_t n = left < 64 ? left : 64;
		b[k] = n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
		s->sum[k / 64] |= UINT64_C(1) << (k % 64);
		left -= n;
	}
}

// A slab with free slots of a class. One that is idle serves whatever its class was: its pages are there already, and taking
// fresh ones costs a page fault that clears 2 MiB.
static uint32_t slab_new(struct kz_mem *m, uint32_t cls, uint32_t slot) {
	uint32_t i = m->idle_head;
	if (i) {
		struct kz_slab *s = &A.v.slabs[i];
		idle_remove(m, i);
		if (s->cls != cls) {
			set_kind(s, KZ_SLAB_GUARD); // a lookup must not see half of each class
			slab_divide(s, slab_bits(i), cls, slot);
			set_kind(s, KZ_SLAB_SMALL);
		}
		partial_insert(m, i);
		return i;
	}
	if (!room(m, SLAB) || !(i = span_alloc(1))) return 0;
	if (commit(i, 1) != KZ_OK) {
		A.v.slabs[i].kind = KZ_SLAB_GUARD;
		span_free(i, 1);
		return 0;
	}
	struct kz_slab *s = &A.v.slabs[i];
	s->owner = m->owner;
	s->used = 0;
	slab_divide(s, slab_bits(i), cls, slot);
	set_kind(s, KZ_SLAB_SMALL);
	m->used += SLAB;
	partial_insert(m, i);
	return i;
}

// Preconditions: the slab is idle.
static void slab_release(struct kz_mem *m, uint32_t i) {
	idle_remove(m, i);
	set_kind(&A.v.slabs[i], KZ_SLAB_GUARD);
	decommit(i, 1);
	m->used -= SLAB;
	span_free(i, 1);
}

static int small_alloc(struct kz_mem *m, uint32_t n, uint32_t bytes, uint64_t *out) {
	uint32_t slot, cls = class_of(n, &slot);
	uint32_t i = m->partial[cls];
	if (!i && !(i = slab_new(m, cls, slot))) return KZ_NOMEM;
	struct kz_slab *s = &A.v.slabs[i];
	uint64_t *b = slab_bits(i);
	uint32_t w = s->sum[0] ? (uint32_t)__builtin_ctzll(s->sum[0]) : 64 + (uint32_t)__builtin_ctzll(s->sum[1]);
	uint32_t k = w * 64 + (uint32_t)__builtin_ctzll(b[w]);
	b[w] &= b[w] - 1;
	if (!b[w]) s->sum[w / 64] &= ~(UINT64_C(1) << (w % 64));
	if (++s->used == s->slots) partial_remove(m, i);
	uint64_t addr = slab_addr(i) + (uint64_t)k * slot;
	__atomic_store_n(&A.v.sizes[(addr - A.v.base) / UNIT], bytes, __ATOMIC_RELEASE);
	*out = addr;
	return KZ_OK;
}

static int small_free(struct kz_mem *m, uint32_t i, uint64_t addr) {
	struct kz_slab *s = &A.v.slabs[i];
	uint32_t off = (uint32_t)(addr - slab_addr(i));
	uint32_t k = off / s->slot;
	uint32_t *size = &A.v.sizes[(addr - A.v.base) / UNIT];
	if (off % s->slot || k >= s->slots || *size == 0) return KZ_INVALID;
	__atomic_store_n(size, 0, __ATOMIC_RELEASE);
	slab_bits(i)[k / 64] |= UINT64_C(1) << (k % 64);
	s->sum[k / 4096] |= UINT64_C(1) << (k / 64 % 64);
	if (s->used == s->slots) partial_insert(m, i);
	if (--s->used == 0) {
		partial_remove(m, i);
		idle_insert(m, i);
		if (m->empty > KEEP_EMPTY) slab_release(m, m->idle_tail);
	}
	return KZ_OK;
}

// --- the interface ---

struct kz_mem *kz_mem_new(uint64_t limit, uint32_t owner) {
	struct kz_mem *m = kz_held(calloc(1, sizeof *m));
	if (!m) return NULL;
	m->limit = limit;
	m->owner = owner;
	return m;
}

int kz_mem_alloc(struct kz_mem *m, uint64_t n, uint64_t align, uint64_t *out) {
	if (n == 0 || (align & (align - 1))) return KZ_INVALID;
	if (n > A.v.size || align > A.v.size) return KZ_NOMEM;
	uint64_t need = n;
	if (align > UNIT) { // a power-of-two slot lies at a multiple of itself
		if (need < align) need = align;
		if (need <= SMALL_MAX && (need & (need - 1))) need = UINT64_C(2) << log2floor(need);
	}
	kz_acquire(&A.lock);
	int rc = need <= SMALL_MAX ? small_alloc(m, (uint32_t)need, (uint32_t)n, out) : large_alloc(m, n, align, out);
	kz_release(&A.lock);
	return rc;
}

int kz_mem_free(struct kz_mem *m, uint64_t addr) {
	if (addr - A.v.base >= A.v.size || addr % UNIT) return KZ_INVALID;
	uint32_t i = (uint32_t)((addr - A.v.base) >> SLAB_BITS);
	int rc = KZ_INVALID;
	kz_acquire(&A.lock);
	struct kz_slab *s = &A.v.slabs[i];
	if (s->owner != m->owner) rc = KZ_INVALID;
	else if (s->kind == KZ_SLAB_SMALL) rc = small_free(m, i, addr);
	else if (s->kind == KZ_SLAB_LARGE && addr == slab_addr(i)) {
		large_free(m, i);
		rc = KZ_OK;
	}
	kz_release(&A.lock);
	return rc;
}

void kz_mem_usage(struct kz_mem *m, uint64_t *free_bytes, uint64_t *total) {
	kz_acquire(&A.lock);
	uint64_t used = m->used - (uint64_t)m->empty * SLAB;
	*free_bytes = m->limit > used ? m->limit - used : 0;
	*total = m->limit;
	kz_release(&A.lock);
}

int kz_mem_lookup(uint64_t addr, uint64_t *base, uint64_t *size, uint32_t *owner) {
	uint64_t off = addr - A.v.base;
	if (off >= A.v.size) return KZ_INVALID;
	uint32_t i = (uint32_t)(off >> SLAB_BITS);
	struct kz_slab *s = &A.v.slabs[i];
	uint32_t kind = __atomic_load_n(&s->kind, __ATOMIC_ACQUIRE);
	if (kind == KZ_SLAB_BODY) {
		i = __atomic_load_n(&s->head, __ATOMIC_RELAXED);
		if (i >= A.nslabs) return KZ_INVALID;
		s = &A.v.slabs[i];
		kind = __atomic_load_n(&s->kind, __ATOMIC_ACQUIRE);
		if (kind != KZ_SLAB_LARGE && kind != KZ_SLAB_MAPPED) return KZ_INVALID;
	}
	uint64_t b = slab_addr(i), n;
	if (kind == KZ_SLAB_SMALL) {
		uint32_t slot = __atomic_load_n(&s->slot, __ATOMIC_RELAXED);
		if (!slot) return KZ_INVALID;
		b += (addr - b) / slot * slot;
		n = __atomic_load_n(&A.v.sizes[(b - A.v.base) / UNIT], __ATOMIC_ACQUIRE);
	} else if (kind == KZ_SLAB_LARGE || kind == KZ_SLAB_MAPPED) {
		n = __atomic_load_n(&s->bytes, __ATOMIC_RELAXED);
	} else return KZ_INVALID;
	if (addr - b >= n) return KZ_INVALID;
	*base = b;
	*size = n;
	*owner = __atomic_load_n(&s->owner, __ATOMIC_RELAXED);
	return KZ_OK;
}

static uint64_t note(uint64_t *out, uint64_t room, uint64_t n, uint64_t base, uint64_t bytes) {
	if (n < room) {
		out[2 * n] = base;
		out[2 * n + 1] = bytes;
	}
	return n + 1;
}

uint64_t kz_mem_list(uint64_t *out, uint64_t room) {
	uint64_t n = 0;
	kz_acquire(&A.lock);
	for (uint32_t i = 1, step; i < A.nslabs; i += step) {
		struct kz_slab *s = &A.v.slabs[i];
		step = 1;
		switch (s->kind) {
		case KZ_SLAB_FREE:
		case KZ_SLAB_CACHED: step = s->span; break;
		case KZ_SLAB_LARGE:
			step = s->span;
			n = note(out, room, n, slab_addr(i), s->bytes);
			break;
		case KZ_SLAB_MAPPED:
			step = (uint32_t)(s->bytes >> SLAB_BITS);
			n = note(out, room, n, slab_addr(i), s->bytes);
			break;
		case KZ_SLAB_SMALL:
			for (uint32_t k = 0; k < s->slots; k++) {
				uint64_t at = slab_addr(i) + (uint64_t)k * s->slot;
				uint32_t size = A.v.sizes[(at - A.v.base) / UNIT];
				if (size) n = note(out, room, n, at, size);
			}
			break;
		}
	}
	kz_release(&A.lock);
	return n;
}

void kz_mem_trim(struct kz_mem *m) {
	kz_acquire(&A.lock);
	while (m->ncache) cache_evict(m);
	drop_empty(m);
	kz_release(&A.lock);
}

int kz_mem_close(struct kz_mem *m) {
	kz_acquire(&A.lock);
	while (m->ncache) cache_evict(m);
	for (uint32_t i = 1, next; i < A.nslabs && (m->used || m->empty); i = next) {
		struct kz_slab *s = &A.v.slabs[i];
		next = i + (s->kind == KZ_SLAB_FREE || s->kind == KZ_SLAB_LARGE ? s->span : 1);
		// What is given up below is joined with a free span that follows, and the joined span's ends are written over its
		// own: the step over it is taken now.
		if (next < A.nslabs && A.v.slabs[next].kind == KZ_SLAB_FREE) next += A.v.slabs[next].span;
		if (s->owner != m->owner) continue;
		if (s->kind == KZ_SLAB_LARGE) large_free(m, i);
		else if (s->kind == KZ_SLAB_SMALL) {
			for (uint32_t k = 0; k < s->slots; k++)
				__atomic_store_n(&A.v.sizes[(slab_addr(i) - A.v.base + (uint64_t)k * s->slot) / UNIT], 0, __ATOMIC_RELEASE);
			if (s->used) {
				if (s->used < s->slots) partial_remove(m, i);
				s->used = 0;
				idle_insert(m, i);
			}
			slab_release(m, i);
		}
	}
	while (m->ncache) cache_evict(m);
	kz_release(&A.lock);
	free(m);
	return KZ_OK;
}

// --- addresses and memory apart ---

// The slabs of a range that was reserved, or NULL.
static struct kz_slab *vm_range(uint64_t addr, uint64_t n, uint32_t *count) {
	uint64_t off = addr - A.v.base;
	if (off >= A.v.size || n == 0 || n > A.v.size - off || addr % SLAB || n % SLAB) return NULL;
	*count = (uint32_t)(n >> SLAB_BITS);
	return &A.v.slabs[off >> SLAB_BITS];
}

static bool vm_untouchable(struct kz_slab *s, uint32_t count) {
	for (uint32_t k = 0; k < count; k++)
		if (s[k].kind != KZ_SLAB_RESERVED) return false;
	return true;
}

int kz_vm_reserve(uint64_t n, uint64_t align, uint64_t *out) {
	if (n == 0 || n % SLAB || (align & (align - 1))) return KZ_INVALID;
	uint64_t slabs = n >> SLAB_BITS, extra = align > SLAB ? (align >> SLAB_BITS) - 1 : 0;
	if (slabs >= A.nslabs || extra >= A.nslabs - slabs) return KZ_NOMEM;
	kz_acquire(&A.lock);
	uint32_t i = span_alloc((uint32_t)(slabs + extra));
	if (i) {
		for (uint32_t k = i; k < i + slabs + extra; k++) A.v.slabs[k].kind = KZ_SLAB_RESERVED;
		uint32_t skip = extra ? (uint32_t)(((align - slab_addr(i) % align) % align) >> SLAB_BITS) : 0;
		if (skip) span_free(i, skip);
		i += skip;
		if (extra > skip) span_free(i + (uint32_t)slabs, (uint32_t)extra - skip);
		decommit(i, slabs); // the ends may be neighbours that could be touched
	}
	kz_release(&A.lock);
	if (!i) return KZ_NOMEM;
	*out = slab_addr(i);
	return KZ_OK;
}

int kz_vm_release(uint64_t addr, uint64_t n) {
	uint32_t count;
	struct kz_slab *s = vm_range(addr, n, &count);
	int rc = KZ_INVALID;
	if (!s) return rc;
	kz_acquire(&A.lock);
	if (vm_untouchable(s, count)) {
		span_free((uint32_t)(s - A.v.slabs), count);
		rc = KZ_OK;
	}
	kz_release(&A.lock);
	return rc;
}

int kz_vm_map(struct kz_mem *m, uint64_t addr, uint64_t n, int fd, uint64_t off) {
	uint32_t count;
	struct kz_slab *s = vm_range(addr, n, &count);
	int rc = KZ_INVALID;
	if (!s || off % SLAB) return rc;
	kz_acquire(&A.lock);
	if (vm_untouchable(s, count)) {
		void *p = mmap((void *)addr, n, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)off);
		if (p == MAP_FAILED) rc = KZ_NOMEM;
		else {
			madvise(p, n, MADV_DONTFORK);
			for (uint32_t k = 0; k < count; k++) s[k].filed = 0;
			s->owner = m->owner;
			rc = KZ_OK;
		}
	}
	kz_release(&A.lock);
	return rc;
}

// Preconditions: the lock is held.
static void vm_hide(struct kz_slab *s, uint32_t count) {
	for (uint32_t k = 0; k < count; k++) set_kind(&s[k], KZ_SLAB_RESERVED);
}

int kz_vm_access(uint64_t addr, uint64_t n, int on) {
	uint32_t count;
	struct kz_slab *s = vm_range(addr, n, &count);
	if (!s) return KZ_INVALID;
	kz_acquire(&A.lock);
	int rc = mprotect((void *)addr, n, on ? PROT_READ | PROT_WRITE : PROT_NONE) == 0 ? KZ_OK : KZ_NOMEM;
	if (rc == KZ_OK && !on) vm_hide(s, count);
	if (rc == KZ_OK && on) {
		s->bytes = n;
		for (uint32_t k = 1; k < count; k++) {
			s[k].head = (uint32_t)(s - A.v.slabs);
			set_kind(&s[k], KZ_SLAB_BODY);
		}
		set_kind(s, KZ_SLAB_MAPPED);
	}
	kz_release(&A.lock);
	return rc;
}

int kz_vm_unmap(uint64_t addr, uint64_t n) {
	uint32_t count;
	struct kz_slab *s = vm_range(addr, n, &count);
	if (!s) return KZ_INVALID;
	kz_acquire(&A.lock);
	vm_hide(s, count);
	void *p = mmap((void *)addr, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED) {
		madvise(p, n, MADV_HUGEPAGE);
		madvise(p, n, MADV_DONTFORK);
		for (uint32_t k = 0; k < count; k++) s[k].filed = 0;
	}
	kz_release(&A.lock);
	return p == MAP_FAILED ? KZ_NOMEM : KZ_OK;
}

int kz_vm_new(struct kz_mem *m, uint64_t n, int *fd) {
	if (n == 0 || n % SLAB) return KZ_INVALID;
	kz_acquire(&A.lock);
	bool ok = room(m, n);
	if (ok) m->used += n;
	kz_release(&A.lock);
	if (!ok) return KZ_NOMEM;
	int f = memfd_create("kudzu", MFD_CLOEXEC);
	if (f >= 0 && ftruncate(f, (off_t)n) == 0) {
		*fd = f;
		return KZ_OK;
	}
	if (f >= 0) close(f);
	kz_acquire(&A.lock);
	m->used -= n;
	kz_release(&A.lock);
	return KZ_NOMEM;
}

void kz_vm_free(struct kz_mem *m, uint64_t n, int fd) {
	close(fd);
	kz_acquire(&A.lock);
	m->used -= n;
	kz_release(&A.lock);
}
