// How the parameters of kernels lie: asked of the driver once a kernel, for it is asked at every launch.
#include "trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 4096, PARAMETERS = 1024, ARENA = 1 << 18, UNKNOWN = UINT16_MAX };

// A table by key. One that is half full is followed by another; readers may still be in it, so it stays. A place keeps its key for ever,
// and its value is stored before the key: whoever finds a key has a value of that key.
struct table {
	uint64_t room, used; // room: a power of two
	struct place {
		_Atomic uint64_t key; // 0: empty
		struct kz_layout *_Atomic value;
	} at[];
};

// Addresses that __cudaRegisterFunction was told: of others the runtime is not asked, because its answer would be the thread's last
// error. They have no value.
static struct table *_Atomic registered; // stored to under kz_trace_lock, as layouts
static _Atomic uint64_t registrations;   // counts them
static _Atomic int unknown;              // a layout that says that nobody knows the kernel may be in the table

static struct table *_Atomic layouts; // by handle, or by address in the program
static _Atomic uint32_t epoch = 1;
static char *arena, *arena_end; // guarded by kz_trace_lock

// place is where a key is, or an empty one.
static struct place *place(struct table *t, uint64_t key) {
	for (uint64_t i = key * 0x9e3779b97f4a7c15u >> 20;; i++) {
		struct place *p = &t->at[i & (t->room - 1)];
		uint64_t is = atomic_load_explicit(&p->key, memory_order_acquire);
		if (is == key || !is)
			return p;
	}
}

// find is the place of a key, or NULL.
static struct place *find(struct table *_Atomic *of, uint64_t key) {
	struct table *t = atomic_load_explicit(of, memory_order_acquire);
	struct place *p = t && key ? place(t, key) : NULL;
	return p && atomic_load_explicit(&p->key, memory_order_acquire) == key ? p : NULL;
}

// live says whether a place goes on to the next table: not one whose layout a later epoch has made void.
static int live(struct place *p, uint32_t now) {
	struct kz_layout *l = atomic_load(&p->value);
	return atomic_load(&p->key) && (!l || __atomic_load_n(&l->epoch, __ATOMIC_ACQUIRE) == now);
}

// set stores a value under a key; 0 where there is no memory. Preconditions: kz_trace_lock is held.
static int set(struct table *_Atomic *of, uint64_t key, struct kz_layout *value, uint32_t now) {
	struct table *t = atomic_load(of);
	if (!t || t->used >= t->room / 2) {
		struct table *old = t;
		uint64_t room = old ? old->room : ROOM, used = 0;
		for (uint64_t i = 0; old && i < old->room; i++)
			used += live(&old->at[i], now);
		while (used >= room / 4)
			room *= 2;
		t = mmap(NULL, sizeof *t + room * sizeof *t->at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (t == MAP_FAILED)
			return 0;
		t->room = room, t->used = used;
		for (uint64_t i = 0; old && i < old->room; i++) {
			if (!live(&old->at[i], now))
				continue;
			struct place *p = place(t, old->at[i].key);
			atomic_store(&p->value, old->at[i].value);
			atomic_store(&p->key, old->at[i].key);
		}
		atomic_store_explicit(of, t, memory_order_release);
	}
	struct place *p = place(t, key);
	t->used += !atomic_load(&p->key);
	atomic_store_explicit(&p->value, value, memory_order_release);
	atomic_store_explicit(&p->key, key, memory_order_release);
	return 1;
}

void kz_layouts_drop(void) { atomic_fetch_add(&epoch, 1); }

static int is_registered(uint64_t host) { return find(&registered, host) != NULL; }

void kz_layouts_register(uint64_t host) {
	if (!host || is_registered(host))
		return;
	int saved = errno;
	pthread_mutex_lock(&kz_trace_lock);
	set(&registered, host, NULL, 0);
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

// keep puts a layout into the table; NULL where there is no memory. Preconditions: kz_trace_lock is held.
static const struct kz_layout *keep(const struct kz_layout *l) {
	struct place *p = find(&layouts, l->of);
	struct kz_layout *old = p ? atomic_load(&p->value) : NULL;
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
	memcpy(kept, l, size_of(l));
	if (!set(&layouts, l->of, kept, l->epoch))
		return NULL;
	arena += bytes;
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
	struct place *p = find(&layouts, key);
	struct kz_layout *l = p ? atomic_load_explicit(&p->value, memory_order_acquire) : NULL;
	if (l && __atomic_load_n(&l->epoch, __ATOMIC_ACQUIRE) == now)
		return l->count || l->bytes != UNKNOWN ? l : NULL;
	return kernel && key ? learn(key, kernel, runtime, now) : NULL;
}
