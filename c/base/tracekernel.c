// How the parameters of kernels lie: asked of the driver once a kernel, for it is asked at every launch.
#include "trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 4096, PARAMETERS = 1024, ARENA = 1 << 18, UNKNOWN = UINT16_MAX };

// The layouts by key. A table that is half full is followed by one of twice the size, without those that a later epoch has made void;
// readers may still be in it, so it stays.
struct table {
	uint64_t room, used; // room: a power of two
	struct kz_layout *_Atomic at[];
};

static struct table *_Atomic layouts; // stored to under kz_trace_lock
static _Atomic uint32_t epoch = 1;
static char *arena, *arena_end; // guarded by kz_trace_lock, as stores to the table

// Addresses that __cudaRegisterFunction was told: of others the runtime is not asked, because its answer would be the thread's
// last error. A set that is half full is followed by one of twice the size; readers may still be in it, so it stays.
struct set {
	uint64_t room, used; // room: a power of two
	_Atomic uint64_t at[];
};

static struct set *_Atomic registered; // stored to under kz_trace_lock
static _Atomic uint64_t registrations; // counts them
static _Atomic int unknown;            // a layout that says that nobody knows the kernel may be in the table

// slot is where the layout of a key is, or an empty place.
static struct kz_layout *_Atomic *slot(struct table *t, uint64_t key) {
	uint64_t i = key * 0x9e3779b97f4a7c15u >> 20;
	for (;; i++) {
		struct kz_layout *_Atomic *one = &t->at[i & (t->room - 1)];
		struct kz_layout *is = atomic_load_explicit(one, memory_order_acquire);
		if (!is || is->of == key)
			return one;
	}
}

void kz_layouts_drop(void) { atomic_fetch_add(&epoch, 1); }

static _Atomic uint64_t *place(struct set *s, uint64_t host) {
	uint64_t i = host * 0x9e3779b97f4a7c15u >> 20;
	for (;; i++) {
		_Atomic uint64_t *one = &s->at[i & (s->room - 1)];
		uint64_t is = atomic_load_explicit(one, memory_order_acquire);
		if (is == host || !is)
			return one;
	}
}

// larger makes the next set. Preconditions: kz_trace_lock is held.
static struct set *larger(struct set *old) {
	uint64_t room = old ? 2 * old->room : ROOM;
	struct set *s = mmap(NULL, sizeof *s + room * sizeof *s->at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return NULL;
	s->room = room;
	for (uint64_t i = 0; old && i < old->room; i++) {
		uint64_t host = old->at[i];
		if (host)
			atomic_store(place(s, host), host);
	}
	s->used = old ? old->used : 0;
	atomic_store_explicit(&registered, s, memory_order_release);
	return s;
}

static int is_registered(uint64_t host) {
	struct set *s = atomic_load_explicit(&registered, memory_order_acquire);
	return s && host && atomic_load_explicit(place(s, host), memory_order_relaxed) == host;
}

void kz_layouts_register(uint64_t host) {
	if (!host || is_registered(host))
		return;
	int saved = errno;
	pthread_mutex_lock(&kz_trace_lock);
	struct set *s = atomic_load(&registered);
	if (!s || s->used >= s->room / 2)
		s = larger(s);
	if (s) {
		_Atomic uint64_t *to = place(s, host);
		s->used += !atomic_load(to);
		atomic_store(to, host);
	}
	pthread_mutex_unlock(&kz_trace_lock);
	atomic_fetch_add(&registrations, 1);
	if (atomic_exchange(&unknown, 0))
		kz_layouts_drop();
	errno = saved;
}

typedef int param_info(uint64_t, size_t, size_t *, size_t *);

// ask fills in the parameters with one of the driver's functions; 0 where it does not know the kernel.
static int ask(struct kz_layout *l, uint64_t kernel, uint32_t symbol) {
	param_info *fn = (param_info *)kz_entry(KZ_LIB_cuda, symbol);
	l->count = l->bytes = 0;
	for (size_t i = 0; fn && i < PARAMETERS; i++) {
		size_t offset = 0, size = 0;
		int rc = fn(kernel, i, &offset, &size);
		if (rc == KZ_CUDA_ERROR_INVALID_VALUE)
			return 1; // there are no more
		if (rc || offset + size > UINT16_MAX)
			return 0;
		l->parameter[i].offset = (uint16_t)offset, l->parameter[i].size = (uint16_t)size;
		l->count = (uint16_t)(i + 1);
		if (offset + size > l->bytes)
			l->bytes = (uint16_t)(offset + size);
	}
	return 0;
}

// of_runtime is the driver's function for what a program names a kernel by; 0 where there is none.
static uint64_t of_runtime(uint64_t host, int library) {
	uint64_t function = 0;
	if (!is_registered(host))
		return 0;
	int (*find)(uint64_t *, uint64_t) = (int (*)(uint64_t *, uint64_t))kz_entry(library, KZ_cudart_cudaGetFuncBySymbol);
	return find && !find(&function, host) ? function : 0;
}

static size_t size_of(const struct kz_layout *l) { return sizeof *l + l->count * sizeof *l->parameter; }

// wider makes the next table. Preconditions: kz_trace_lock is held.
static struct table *wider(struct table *old, uint32_t now) {
	uint64_t live = 0;
	for (uint64_t i = 0; old && i < old->room; i++) {
		struct kz_layout *l = atomic_load(&old->at[i]);
		live += l && __atomic_load_n(&l->epoch, __ATOMIC_ACQUIRE) == now;
	}
	uint64_t room = old ? old->room : ROOM;
	while (live >= room / 4)
		room *= 2;
	struct table *t = mmap(NULL, sizeof *t + room * sizeof *t->at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	t->room = room, t->used = live;
	for (uint64_t i = 0; old && i < old->room; i++) {
		struct kz_layout *l = atomic_load(&old->at[i]);
		if (l && __atomic_load_n(&l->epoch, __ATOMIC_ACQUIRE) == now)
			atomic_store(slot(t, l->of), l);
	}
	atomic_store_explicit(&layouts, t, memory_order_release);
	return t;
}

// keep puts a layout into the table; NULL where there is no memory. Preconditions: kz_trace_lock is held.
static const struct kz_layout *keep(const struct kz_layout *l) {
	struct table *t = atomic_load(&layouts);
	if ((!t || t->used >= t->room / 2) && !(t = wider(t, l->epoch)))
		return NULL;
	struct kz_layout *_Atomic *to = slot(t, l->of);
	struct kz_layout *old = atomic_load(to);
	if (old && old->count == l->count && old->bytes == l->bytes && !memcmp(old->parameter, l->parameter, l->count * sizeof *l->parameter)) {
		__atomic_store_n(&old->epoch, l->epoch, __ATOMIC_RELEASE);
		return old;
	}
	size_t bytes = (size_of(l) + 7) & ~(size_t)7;
	if ((size_t)(arena_end - arena) < bytes) {
		char *more = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (more == MAP_FAILED)
			return NULL;
		arena = more, arena_end = more + ARENA;
	}
	struct kz_layout *kept = (struct kz_layout *)arena;
	arena += bytes;
	memcpy(kept, l, size_of(l));
	t->used += !old;
	atomic_store_explicit(to, kept, memory_order_release);
	return kept;
}

static const struct kz_layout *learn(uint64_t key, uint64_t kernel, int runtime, uint32_t now) {
	uint64_t room[(sizeof(struct kz_layout) + PARAMETERS * sizeof *((struct kz_layout *)0)->parameter) / 8 + 1];
	struct kz_layout *found = (struct kz_layout *)room;
	int saved = errno, failed = kz_thread()->last_error;
	uint64_t before = atomic_load(&registrations);
	uint64_t function = runtime < 0 ? kernel : of_runtime(kernel, runtime);
	int known = function && (ask(found, function, KZ_cuda_cuFuncGetParamInfo) || ask(found, function, KZ_cuda_cuKernelGetParamInfo));
	kz_thread()->last_error = failed;
	const struct kz_layout *l = NULL;
	if (!known)
		found->count = 0, found->bytes = UNKNOWN; // until the next kernel is registered, or one unloaded
	found->of = key, found->epoch = now;
	pthread_mutex_lock(&kz_trace_lock);
	l = keep(found);
	pthread_mutex_unlock(&kz_trace_lock);
	if (!known) {
		atomic_store(&unknown, 1);
		if (atomic_load(&registrations) != before) // by another thread, meanwhile
			kz_layouts_drop();
	}
	errno = saved;
	return known ? l : NULL;
}

const struct kz_layout *kz_layout(uint64_t kernel, int runtime) {
	uint64_t key = runtime < 0 ? kernel : kernel ^ (uint64_t)1 << 63;
	uint32_t now = atomic_load_explicit(&epoch, memory_order_acquire);
	struct table *t = atomic_load_explicit(&layouts, memory_order_acquire);
	if (t) {
		struct kz_layout *l = atomic_load_explicit(slot(t, key), memory_order_acquire);
		if (l && __atomic_load_n(&l->epoch, __ATOMIC_ACQUIRE) == now)
			return l->count || l->bytes != UNKNOWN ? l : NULL;
	}
	return kernel ? learn(key, kernel, runtime, now) : NULL;
}
