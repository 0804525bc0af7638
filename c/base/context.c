// Context-local storage and thread-end callbacks, as NVIDIA's runtime library uses them:
// it reads its storage on almost every call, so a read that repeats takes no lock.
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
	int rc = KZ_SUCCESS;
	pthread_mutex_lock(&lock);
	struct local *l = find(context, key);
	if (!l && used == room) {
		size_t more = room ? 2 * room : 16;
		struct local *grown = realloc(locals, more * sizeof *grown);
		if (grown)
			locals = grown, room = more;
		else
			rc = KZ_OUT_OF_MEMORY;
	}
	if (rc == KZ_SUCCESS) {
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
	return l ? KZ_SUCCESS : KZ_INVALID_HANDLE;
}

int kz_local_get(void **value, uint64_t context, void *key) {
	if (!value)
		return KZ_INVALID_VALUE;
	context = or_current(context);
	uint64_t now = atomic_load(&changes);
	if (seen.at == now && seen.context == context && seen.key == key) {
		*value = seen.value;
		return KZ_SUCCESS;
	}
	pthread_mutex_lock(&lock);
	struct local *l = find(context, key);
	if (l) {
		seen.at = atomic_load(&changes);
		seen.context = context, seen.key = key, seen.value = l->value;
		*value = l->value;
	}
	pthread_mutex_unlock(&lock);
	return l ? KZ_SUCCESS : KZ_INVALID_HANDLE;
}

// kz_context_gone runs the destructors of a context that ends, outside the lock: they
// call back into the driver.
void kz_context_gone(uint64_t context) {
	for (;;) {
		struct local gone = {0};
		pthread_mutex_lock(&lock);
		for (size_t i = 0; i < used; i++)
			if (locals[i].context == context) {
				gone = locals[i];
				locals[i] = locals[--used];
				atomic_fetch_add(&changes, 1);
				break;
			}
		pthread_mutex_unlock(&lock);
		if (!gone.context)
			return;
		if (gone.end)
			gone.end(gone.context, gone.key, gone.value);
	}
}

void kz_context_fork(int when) { kz_fork_lock(&lock, when); }

// --- the end of a thread

struct notice {
	struct notice *next;
	void (*fn)(int, void *);
	void *data;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t notices; // the calling thread's list

static void thread_ends(void *list) {
	for (struct notice *n = list, *next; n; n = next) {
		next = n->next;
		if (n->fn)
			n->fn(0, n->data);
		free(n);
	}
}

static void make_key(void) { pthread_key_create(&notices, thread_ends); }

int kz_thread_notify(void **handle, void (*fn)(int, void *), void *data) {
	if (!handle || !fn)
		return KZ_INVALID_VALUE;
	pthread_once(&once, make_key);
	struct notice *n = malloc(sizeof *n);
	if (!n)
		return KZ_OUT_OF_MEMORY;
	*n = (struct notice){pthread_getspecific(notices), fn, data};
	pthread_setspecific(notices, n);
	*handle = n;
	return KZ_SUCCESS;
}

// Only the thread that asked can take its wish back.
int kz_thread_forget(void *handle, void *unused) {
	(void)unused;
	pthread_once(&once, make_key);
	for (struct notice *n = pthread_getspecific(notices); n; n = n->next)
		if (n == handle) {
			n->fn = NULL;
			return KZ_SUCCESS;
		}
	return KZ_INVALID_HANDLE;
}
