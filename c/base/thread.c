// The block of the calling thread. Dynamic thread-local storage: it exists only for threads
// that call us, and needs no room in the static block when we are dlopened.
#include "base.h"

#include <stdatomic.h>

static __thread struct kz_thread self;
static _Atomic uint64_t threads;

struct kz_thread *kz_thread(void) {
	struct kz_thread *t = &self;
	if (__builtin_expect(t->id == 0, 0))
		t->id = atomic_fetch_add(&threads, 1) + 1;
	return t;
}
