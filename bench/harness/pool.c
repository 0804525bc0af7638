/* The native side's threads: as good as a person would make them. They spin briefly for the next piece of work, then sleep
 * on a futex, so that they cost nothing while somebody else's turn is timed. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bench.h"

static struct {
    _Atomic uint32_t round;  /* counts up at each call; workers wait for a change */
    _Atomic uint32_t left;   /* workers that have not finished this round */
    _Atomic int next;        /* first index nobody has taken, in chunks mode */
    range_fn fn;
    void *ctx;
    int n, chunk;            /* chunk 0: one contiguous part each */
    struct env env;
} pool;

static void futex_wait(_Atomic uint32_t *p, uint32_t seen) { syscall(SYS_futex, p, FUTEX_WAIT_PRIVATE, seen, 0, 0, 0); }
static void futex_wake(_Atomic uint32_t *p) { syscall(SYS_futex, p, FUTEX_WAKE_PRIVATE, 1 << 30, 0, 0, 0); }

static void work(int part) {
    if (!pool.chunk) {
        int t = pool.env.threads;
        pool.fn(pool.ctx, (int)((int64_t)pool.n * part / t), (int)((int64_t)pool.n * (part + 1) / t), part);
        return;
    }
    for (;;) {
        int from = atomic_fetch_add(&pool.next, pool.chunk);
        if (from >= pool.n) return;
        pool.fn(pool.ctx, from, from + pool.chunk < pool.n ? from + pool.chunk : pool.n, part);
    }
}

static void wait_change(_Atomic uint32_t *p, uint32_t seen) {
    for (int i = 0; i < 2000; i++) {
        if (atomic_load_explicit(p, memory_order_acquire) != seen) return;
        __builtin_ia32_pause();
    }
    while (atomic_load_explicit(p, memory_order_acquire) == seen) futex_wait(p, seen);
}

static void *worker(void *arg) {
    int part = (int)(intptr_t)arg;
    for (uint32_t seen = 0;; seen++) {
        wait_change(&pool.round, seen);
        work(part);
        if (atomic_fetch_sub(&pool.left, 1) == 1) futex_wake(&pool.left);
    }
    return 0;
}

static void run(range_fn fn, void *ctx, int n, int chunk) {
    pool.fn = fn, pool.ctx = ctx, pool.n = n, pool.chunk = chunk;
    atomic_store(&pool.next, 0);
    atomic_store(&pool.left, (uint32_t)pool.env.threads - 1);
    if (pool.env.threads > 1) {
        atomic_fetch_add(&pool.round, 1);
        futex_wake(&pool.round);
    }
    work(0);
    for (uint32_t left; (left = atomic_load(&pool.left)) != 0;) wait_change(&pool.left, left);
}

static void split(range_fn fn, void *ctx, int n) { run(fn, ctx, n, 0); }
static void chunks(range_fn fn, void *ctx, int n, int chunk) { run(fn, ctx, n, chunk > 0 ? chunk : 1); }

void pool_start(int threads) {
    if (threads < 1 || threads > MAX_THREADS) die("%d threads: 1 to %d", threads, MAX_THREADS);
    pool.env = (struct env){threads, split, chunks};
    for (int i = 1; i < threads; i++) {
        pthread_t t;
        if (pthread_create(&t, 0, worker, (void *)(intptr_t)i)) die("thread %d cannot be started", i);
        pthread_detach(t);
    }
}

const struct env *pool_env(void) { return &pool.env; }
