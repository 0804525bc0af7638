// Locks and futexes.
#include "internal.h"
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int kz_futex_wait(_Atomic uint32_t *p, uint32_t v, int64_t ns) {
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	long r = syscall(SYS_futex, p, FUTEX_WAIT_PRIVATE, v, ns < 0 ? NULL : &t, NULL, 0);
	return r == 0 ? 0 : errno;
}

void kz_futex_wake(_Atomic uint32_t *p, int n) { syscall(SYS_futex, p, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0); }

// Critical sections are tens of nanoseconds, so a short spin nearly always gets the lock; the sleep is for the holder
// that was preempted.
void kz_lock_slow(kz_lock *l) {
	for (int i = 0; i < 64; i++) {
		uint32_t z = 0;
		if (atomic_load_explicit(&l->v, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong_explicit(&l->v, &z, 1, memory_order_acquire, memory_order_relaxed))
			return;
		kz_relax();
	}
	while (atomic_exchange_explicit(&l->v, 2, memory_order_acquire) != 0) kz_futex_wait(&l->v, 2, -1);
}

void kz_lock_wake(kz_lock *l) { kz_futex_wake(&l->v, 1); }

#ifdef KZ_LOCK_RANKS
#include <stdio.h>
#include <stdlib.h>

enum { HELD_MAX = KZ_RANK_HANDLERS };
static __thread const kz_lock *held[HELD_MAX]; // by this thread, in the order of their ranks
static __thread int nheld;

void kz_rank_take(const kz_lock *l) {
	uint32_t top = nheld ? held[nheld - 1]->rank : KZ_RANK_NONE;
	if (l->rank <= top) { // a lock without a rank, too
		fprintf(stderr, "BUG: lock order: a lock of rank %u is taken under one of rank %u\n", l->rank, top);
		abort();
	}
	held[nheld++] = l;
}

void kz_rank_give(const kz_lock *l) {
	int i = nheld - 1;
	while (i >= 0 && held[i] != l) i--;
	if (i < 0) {
		fprintf(stderr, "BUG: a lock of rank %u is given back by a thread that does not hold it\n", l->rank);
		abort();
	}
	for (nheld--; i < nheld; i++) held[i] = held[i + 1];
}
#endif
