// Context-local storage, as NVIDIA's runtime library uses it: on almost every call, so a
// read that repeats takes no lock.
#include "context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

struct local {
	uint64_t context;
	void *key, *value;
	kz_local_end *end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // after load_lock; nothing is called under it (docs/locks.md)
static struct local *locals; // guarded by lock
static size_t used, room;    // guarded by lock

// changes counts every put and delete; a thread trusts what it found at the same count.
static _Atomic uint64_t changes = 1;
static __thread struct {
	uint64_t at, context;
	void *key, *value;
} seen;

static uint64_t or_current(uint64_t context) {
	struct kz_thread *t = kz_thread();
	return context ? context : t->depth ? t->stack[t->depth - 1] : 0;
}

// find returns the entry, or NULL. Preconditions: lock is held.
static struct local *find(uint64_t context, void *key) {
	for (size_t i = 0; i < used; i++)
		if (locals[i].context == context && locals[i].key == key)
			return &locals[i];
	return NULL;
}

int kz_local_put(uint64_t context, void *key, void *value, kz_local_end *end) {
	context = or_current(context);
	int rc = KZ_CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	struct local *l = find(context, key);
	if (!l && used == room) {
		size_t more = room ? 2 * room : 16;
		struct local *grown = realloc(locals, more * sizeof *grown);
		if (grown)
			locals = grown, room = more;
		else
			rc = KZ_CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (rc == KZ_CUDA_SUCCESS) {
		if (!l)
			l = &locals[used++];
		*l = (struct local){context, key, value, end};
		atomic_fetch_add(&changes, 1);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

int kz_local_delete(uint64_t context, void *key) {
	context = or_current(context);
	pthread_mutex_lock(&lock);
	struct local *l = find(context, key);
	if (l) {
		*l = locals[--used];
		atomic_fetch_add(&changes, 1);
	}
	pthread_mutex_unlock(&lock);
	return l ? KZ_CUDA_SUCCESS : KZ_CUDA_ERROR_INVALID_HANDLE;
}

int kz_local_get(void **value, uint64_t context, void *key) {
	if (!value)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	context = or_current(context);
	uint64_t now = atomic_load(&changes);
	if (seen.at == now && seen.context == context && seen.key == key) {
		*value = seen.value;
		return KZ_CUDA_SUCCESS;
	}
	pthread_mutex_lock(&lock);
	struct local *l = find(context, key);
	if (l) {
		seen.at = atomic_load(&changes);
		seen.context = context, seen.key = key, seen.value = l->value;
		*value = l->value;
	}
	pthread_mutex_unlock(&lock);
	return l ? KZ_CUDA_SUCCESS : KZ_CUDA_ERROR_INVALID_HANDLE;
}

// gone runs the destructors of a context that has ended, outside the lock: they call back
// into the driver.
static void gone(uint64_t context) {
	for (;;) {
		struct local last = {0};
		pthread_mutex_lock(&lock);
		for (size_t i = 0; i < used; i++)
			if (locals[i].context == context) {
				last = locals[i];
				locals[i] = locals[--used];
				atomic_fetch_add(&changes, 1);
				break;
			}
		pthread_mutex_unlock(&lock);
		if (!last.context)
			return;
		if (last.end)
			last.end(last.context, last.key, last.value);
	}
}

// ended asks the driver whether a context is no more. One that has failed still is.
static int ended(uint64_t context) {
	unsigned version;
	int (*ask)(uint64_t, unsigned *) = (int (*)(uint64_t, unsigned *))kz_entry(KZ_LIB_cuda, KZ_cuda_cuCtxGetApiVersion);
	int rc = ask ? ask(context, &version) : KZ_CUDA_SUCCESS;
	return rc == KZ_CUDA_ERROR_INVALID_CONTEXT || rc == KZ_CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// kz_contexts_ended is called after every call that may end a context. Only the driver
// knows which did (a release counts references), so it is asked about each.
void kz_contexts_ended(void) {
	uint64_t after = 0;
	for (;;) {
		uint64_t next = UINT64_MAX;
		pthread_mutex_lock(&lock);
		for (size_t i = 0; i < used; i++)
			if (locals[i].context > after && locals[i].context < next)
				next = locals[i].context;
		pthread_mutex_unlock(&lock);
		if (next == UINT64_MAX)
			return;
		if (ended(next))
			gone(next);
		after = next;
	}
}

void kz_context_fork(int when) { kz_fork_lock(&lock, when); }
