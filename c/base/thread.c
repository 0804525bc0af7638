// The block of the calling thread. Dynamic thread-local storage: it exists only for threads
// that call us, and needs no room in the static block when we are dlopened.
#include "base.h"

#include <stdatomic.h>
#include <stdlib.h>

static __thread struct kz_thread self;
static _Atomic uint64_t threads;

// The key tells us that a thread ends. It is made before the Go image makes its own, so that
// our destructor, which may go into Go, comes first.
static pthread_key_t key;
static int keyed;

static void ended(void *block) {
	struct kz_thread *t = block;
	if (t->flags & KZ_THREAD_KEPT)
		kz_thread_ended(t);
	free(t->tickets);
	t->tickets = NULL; // a destructor that comes later may call us again
}

__attribute__((constructor)) static void start(void) { keyed = !pthread_key_create(&key, ended); }

struct kz_thread *kz_thread(void) {
	struct kz_thread *t = &self;
	if (__builtin_expect(t->id == 0, 0)) {
		t->id = atomic_fetch_add(&threads, 1) + 1;
		if (keyed)
			pthread_setspecific(key, t);
	}
	return t;
}
