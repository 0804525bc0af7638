// How the parameters of kernels lie: asked of the driver once a kernel, for it is asked at every launch.
#include "trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { TABLE = 4096, PROBES = 8, PARAMETERS = 1024, ARENA = 1 << 18, ARENAS = 32 };

static struct kz_layout *_Atomic table[TABLE];
static _Atomic uint32_t epoch = 1;
static char *arena, *arena_end; // guarded by kz_trace_lock, as arenas and stores to the table
static int arenas;

// Addresses that __cudaRegisterFunction was told: of others the runtime is not asked, because its answer would be the thread's
// last error.
static _Atomic uint64_t registered[TABLE];

static uint32_t slot_of(uint64_t key) { return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) % TABLE; }

void kz_layouts_drop(void) { atomic_fetch_add(&epoch, 1); }

void kz_layouts_register(uint64_t host) {
	uint32_t at = slot_of(host);
	for (uint32_t i = 0; i < TABLE; i++) {
		_Atomic uint64_t *one = &registered[(at + i) % TABLE];
		uint64_t none = 0;
		if (atomic_load(one) == host || atomic_compare_exchange_strong(one, &none, host))
			return;
	}
}

static int is_registered(uint64_t host) {
	uint32_t at = slot_of(host);
	for (uint32_t i = 0; i < TABLE; i++) {
		uint64_t one = atomic_load_explicit(&registered[(at + i) % TABLE], memory_order_relaxed);
		if (one == host || !one)
			return one == host;
	}
	return 0;
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

// keep puts a layout into the table. Preconditions: kz_trace_lock is held.
static const struct kz_layout *keep(const struct kz_layout *l) {
	uint32_t at = slot_of(l->of);
	struct kz_layout *_Atomic *to = &table[at];
	for (uint32_t i = 0; i < PROBES; i++) {
		struct kz_layout *_Atomic *one = &table[(at + i) % TABLE];
		struct kz_layout *old = atomic_load(one);
		if (old && old->of != l->of)
			continue;
		if (old && old->count == l->count && !memcmp(old->parameter, l->parameter, l->count * sizeof *l->parameter)) {
			__atomic_store_n(&old->epoch, l->epoch, __ATOMIC_RELEASE);
			return old;
		}
		to = one;
		break;
	}
	size_t bytes = (size_of(l) + 7) & ~(size_t)7;
	if ((size_t)(arena_end - arena) < bytes) {
		char *more = arenas < ARENAS ? mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
		if (more == MAP_FAILED)
			return NULL;
		arena = more, arena_end = more + ARENA, arenas++;
	}
	struct kz_layout *kept = (struct kz_layout *)arena;
	arena += bytes;
	memcpy(kept, l, size_of(l));
	atomic_store_explicit(to, kept, memory_order_release);
	return kept;
}

static const struct kz_layout *learn(uint64_t key, uint64_t kernel, int runtime, uint32_t now) {
	uint64_t room[(sizeof(struct kz_layout) + PARAMETERS * sizeof *((struct kz_layout *)0)->parameter) / 8 + 1];
	struct kz_layout *found = (struct kz_layout *)room;
	int saved = errno, failed = kz_thread()->last_error;
	uint64_t function = runtime < 0 ? kernel : of_runtime(kernel, runtime);
	int known = function && (ask(found, function, KZ_cuda_cuFuncGetParamInfo) || ask(found, function, KZ_cuda_cuKernelGetParamInfo));
	kz_thread()->last_error = failed;
	const struct kz_layout *l = NULL;
	if (known) {
		found->of = key, found->epoch = now;
		pthread_mutex_lock(&kz_trace_lock);
		l = keep(found);
		pthread_mutex_unlock(&kz_trace_lock);
	}
	errno = saved;
	return l;
}

const struct kz_layout *kz_layout(uint64_t kernel, int runtime) {
	uint64_t key = runtime < 0 ? kernel : kernel ^ (uint64_t)1 << 63;
	uint32_t at = slot_of(key), now = atomic_load_explicit(&epoch, memory_order_acquire);
	for (uint32_t i = 0; i < PROBES; i++) {
		struct kz_layout *l = atomic_load_explicit(&table[(at + i) % TABLE], memory_order_acquire);
		if (!l)
			break;
		if (l->of == key) {
			if (__atomic_load_n(&l->epoch, __ATOMIC_ACQUIRE) == now)
				return l;
			break;
		}
	}
	return kernel ? learn(key, kernel, runtime, now) : NULL;
}
