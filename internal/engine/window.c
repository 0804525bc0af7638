// Where shared and local memory lie: inside addresses reserved for them, as a WebAssembly engine keeps its memories. An offset in
// shared memory is a number of 32 bits, and compiled code adds it to the base without a test, so that wherever it leads nothing of
// the host's may be. Memory ends at the end of its pages, with the block's last byte before it: an access behind it faults.
//
// What compiled code adds is ir.SharedReach at most, either way, and ir.LaneReach between lanes; gathers take an index of 32 bits,
// times 1, 2 or 4, for a signed number where it is none, which is 16 GiB lower (emit/warp, takeLazy). BELOW and ABOVE hold all of that.
// Where address space is short (ulimit -v, small machines) there are guards of a few pages instead, and code that tests offsets itself
// (warp.Config.Bounds).
#include "internal.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SLACK (UINT64_C(256) << 20)
#define BELOW ((UINT64_C(17) << 30) + SLACK)
#define ABOVE ((UINT64_C(9) << 30) + SLACK)
#define AROUND_LOCAL (UINT64_C(5) << 30)
#define NARROW (UINT64_C(64) << 10)

static uint8_t *reserve(uint64_t n) {
	void *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) return NULL;
	madvise(p, n, MADV_DONTFORK); // a child runs no kernels, and need not copy it
	return p;
}

// Whether the workers' windows fit beside what the program wants for itself: a limit on its address space counts ours too.
static bool plenty(int threads) {
	struct rlimit r;
	return getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY || (uint64_t)threads * (BELOW + ABOVE) < r.rlim_cur / 4;
}

bool kz_windows_fit(int threads) {
	if (!plenty(threads)) return false;
	uint64_t n = (uint64_t)threads * (BELOW + ABOVE);
	uint8_t *p = reserve(n);
	if (p) munmap(p, n);
	return p != NULL;
}

int kz_row_open(struct kz_row *r, bool narrow, uint32_t slots, uint64_t stride) {
	uint64_t below = narrow ? NARROW : BELOW, above = narrow ? NARROW : ABOVE;
	r->bytes = below + (slots - 1) * stride + KZ_SHARED + above;
	r->map = reserve(r->bytes);
	if (!r->map) return KZ_NOMEM;
	r->first = r->map + below;
	r->stride = stride;
	r->slots = slots;
	return KZ_OK;
}

void kz_row_close(struct kz_row *r) {
	if (r->map) munmap(r->map, r->bytes);
	r->map = NULL;
}

struct kz_shared kz_row_slot(const struct kz_row *r, uint32_t i) { return (struct kz_shared){.end = r->first + i * r->stride + KZ_SHARED}; }

int kz_shared_grow(struct kz_shared *s, uint64_t need) {
	uint64_t n = (need + 4095) & ~UINT64_C(4095);
	if (n <= s->open) return KZ_OK;
	if (mprotect(s->end - n, n, PROT_READ | PROT_WRITE) != 0) return KZ_NOMEM;
	s->open = n;
	return KZ_OK;
}

static uint8_t *guarded(uint64_t guard, uint64_t n) {
	uint8_t *p = reserve(n + 2 * guard);
	if (!p) return NULL;
	if (mprotect(p + guard, n, PROT_READ | PROT_WRITE) == 0) return p + guard + n;
	munmap(p, n + 2 * guard);
	return NULL;
}

void kz_local_free(struct kz_local *l) {
	if (l->end) munmap(l->end - l->bytes - l->guard, l->bytes + 2 * l->guard);
	*l = (struct kz_local){0};
}

int kz_local_grow(struct kz_local *l, bool narrow, uint64_t need) {
	if (!kz_outgrown(l->bytes, need)) return KZ_OK;
	struct kz_local x = {.bytes = kz_room(need), .guard = narrow ? NARROW : AROUND_LOCAL};
	x.end = guarded(x.guard, x.bytes);
	if (!x.end && !narrow) {
		// So many blocks wait that the addresses ran out. Code tests what it stores to .local, so this is for generic addresses alone.
		x.guard = NARROW;
		x.end = guarded(x.guard, x.bytes);
	}
	if (!x.end) return KZ_NOMEM;
	kz_local_free(l);
	*l = x;
	return KZ_OK;
}
