// What the engine's C files share. Its locks and their order: enum kz_rank; no lock is held while a kernel runs.
#ifndef KZ_INTERNAL_H
#define KZ_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "engine.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define KZ_CACHELINE 64

// --- small tools (sync.c) ---

// The order of the engine's locks: who holds one may take those below it, and no two of a rank. All are short: nobody waits for a
// queue, calls the loader or runs a kernel under one. docs/locks.md shows them beside Go's. Built with KZ_LOCK_RANKS, as the stress
// test is, every acquire checks.
enum kz_rank {
	KZ_RANK_NONE,
	KZ_RANK_QUEUES,   // kz_engine.all_lock
	KZ_RANK_QUEUE,    // kz_queue.lock
	KZ_RANK_FENCE,    // kz_fence.lock
	KZ_RANK_ENGINE,   // kz_engine.lock
	KZ_RANK_TASKS,    // kz_engine.task_lock
	KZ_RANK_CONTEXTS, // kz_engine.ctx_lock
	KZ_RANK_CHILDREN, // kz_children.lock
	KZ_RANK_DOMAIN,   // kz_domain.lock
	KZ_RANK_FIFO,     // kz_fifo.lock
	KZ_RANK_HEAP,     // kz_heap.lock
	KZ_RANK_MEMORY,   // the arena's
	KZ_RANK_HANDLERS, // install_lock: signal handlers
};

typedef struct {
	_Atomic uint32_t v; // 0 free, 1 held, 2 held and waited for
#ifdef KZ_LOCK_RANKS
	uint32_t rank;
#endif
} kz_lock;

#ifdef KZ_LOCK_RANKS
#define KZ_LOCK(r) {.rank = (r)}
void kz_rank_take(const kz_lock *l);
void kz_rank_give(const kz_lock *l);
static inline void kz_lock_init(kz_lock *l, enum kz_rank r) { l->rank = r; }
#else
#define KZ_LOCK(r) {0}
static inline void kz_rank_take(const kz_lock *l) { (void)l; }
static inline void kz_rank_give(const kz_lock *l) { (void)l; }
static inline void kz_lock_init(kz_lock *l, enum kz_rank r) { (void)l, (void)r; } // all zero is free
#endif

void kz_lock_slow(kz_lock *l);
void kz_lock_wake(kz_lock *l);
int kz_futex_wait(_Atomic uint32_t *p, uint32_t v, int64_t ns); // ns < 0: for ever
void kz_futex_wake(_Atomic uint32_t *p, int n);

static inline void kz_acquire(kz_lock *l) {
	uint32_t z = 0;
	kz_rank_take(l);
	if (!atomic_compare_exchange_strong_explicit(&l->v, &z, 1, memory_order_acquire, memory_order_relaxed)) kz_lock_slow(l);
}
static inline void kz_release(kz_lock *l) {
	kz_rank_give(l);
	if (atomic_exchange_explicit(&l->v, 0, memory_order_release) == 2) kz_lock_wake(l);
}
static inline int64_t kz_nanos(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline void kz_relax(void) {
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

// Asks for a line to write to. The compiler's builtin only reads it ahead unless told of the processor.
static inline void kz_prefetch_write(const void *p) {
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

// kz_held is memory that Go holds. A checker of leaks in the program looks for who holds it, but not there.
#if !defined(__SANITIZE_ADDRESS__)
extern void __lsan_ignore_object(const void *p) __attribute__((weak)); // the program's, if it has one
#endif
static inline void *kz_held(void *p) {
#if !defined(__SANITIZE_ADDRESS__)
	if (p && __lsan_ignore_object) __lsan_ignore_object(p);
#endif
	return p;
}

// --- floating-point mode ---

#if defined(__x86_64__)
typedef uint32_t kz_fpmode;
static inline kz_fpmode kz_fp_enter(bool ftz) {
	kz_fpmode old = _mm_getcsr();
	uint32_t want = ftz ? 0x9fc0 : 0x1f80; // all exceptions masked, to nearest; FTZ and DAZ
	if ((old & 0xffc0) != (want & 0xffc0)) _mm_setcsr(want);
	return old;
}
// The sticky exception flags are the host's, too: it may read them with fetestexcept.
static inline void kz_fp_leave(kz_fpmode old) { _mm_setcsr(old); }
#elif defined(__aarch64__)
typedef uint64_t kz_fpmode;
static inline kz_fpmode kz_fp_enter(bool ftz) {
	kz_fpmode old;
	__asm__ volatile("mrs %0, fpcr" : "=r"(old));
	__asm__ volatile("msr fpcr, %0" : : "r"(ftz ? (uint64_t)1 << 24 : (uint64_t)0));
	return old;
}
static inline void kz_fp_leave(kz_fpmode old) { __asm__ volatile("msr fpcr, %0" : : "r"(old)); }
#endif

// --- execution contexts (context.c) ---

enum { KZ_STACK = 16 << 20, KZ_GUARD = 1 << 20, KZ_SHARED = 256 << 10, KZ_SHARED_UNIT = 128, KZ_RESERVED = 1024 };
#define KZ_FRAME_MAX (256u << 20)
#define KZ_LOCAL_MAX (1024u << 20)

struct kz_op;

// Shared memories at equal distances, inside addresses that nothing else has (window.c).
struct kz_row {
	uint8_t *map, *first;
	uint64_t bytes, stride;
	uint32_t slots;
};

// A block's shared memory: it ends at end, and open bytes before that can be touched, as many as any launch here has had.
struct kz_shared { uint8_t *end; uint64_t open; };

int kz_row_open(struct kz_row *r, bool narrow, uint32_t slots, uint64_t stride); // 0, or KZ_NOMEM
void kz_row_close(struct kz_row *r);
struct kz_shared kz_row_slot(const struct kz_row *r, uint32_t i);
int kz_shared_grow(struct kz_shared *s, uint64_t need); // 0, or KZ_NOMEM
bool kz_windows_fit(int threads);                  // whether there are addresses for so many

struct kz_local { uint8_t *end; uint64_t bytes, guard; }; // local memory of a block, between guards

int kz_local_grow(struct kz_local *l, bool narrow, uint64_t need); // 0, or KZ_NOMEM
void kz_local_free(struct kz_local *l);
bool kz_outgrown(uint64_t have, uint64_t need);
uint64_t kz_room(uint64_t need); // bytes that a growing area takes

// The hardware's window on shared memory is 16 MiB, its first KiB its own. What .shared or a generic address names behind it, up to where
// 32 bits end, is an illegal instruction, recorded in testdata/apps/outside.want.
#define KZ_WINDOW ((UINT64_C(16) << 20) - 1024)

// Where kz_enter was called from. The signal handler and kz_leave return there.
struct kz_jump { uint64_t sp; };

// A context is what a thread needs to run kernels: the worker structure of the ABI, a stack, memory areas and the
// recovery point. Workers own one; a synchronizing thread borrows one.
struct kz_ctx {
	struct kz_worker w; // first: kernels see only this
	struct kz_jump jump;
	volatile int armed; // a kernel is running: faults are its own
	volatile int sig, sig_code;
	volatile uint64_t sig_addr, sig_pc;
	uint8_t *stack, *stack_top; // stack is the guard's low end
	struct kz_shared shared;
	struct kz_row own, ranks; // its own, and those of a cluster's blocks
	struct kz_local local;
	uint64_t frame_bytes;
	struct kz_engine *e;
	struct kz_op *op;
	const struct kz_kernel *k; // the code of op that runs
	uint32_t yields, naps; // naps: short sleeps of block naps_of (rt_nanosleep)
	uint64_t naps_of;
	struct kz_area *parked, **parked_end; // blocks that wait, oldest first (park.c)
	struct kz_area *spare;                // areas without a block
	struct kz_area *bare;                 // and without memory
	struct kz_rows *rows;                 // the areas' shared memories
	uint32_t nparked, nspare;
	uint32_t patience; // yields before the block that runs is left
	struct kz_called *called; // what the block calls (lazy.c); may be NULL
	struct kz_cluster_state *cluster; // whose blocks it runs, or NULL
	char *scratch; // device printf
	struct kz_ctx *next;
	uint32_t masked; // signals that the thread had blocked: kz_fault_unmask
	_Atomic uint64_t kernels; // launches that it began; written by its thread only
	int64_t took;             // ns that kz_run_blocks measured last; 0: it did not
	bool stretch;             // kz_spin_blocks looks at the clock, for all blocks that it runs
	_Atomic uint32_t began; // kz_op.began of what it runs, for the watchdog; 0: nothing that is watched
	pthread_t thread;       // the one that has it
	struct kz_ctx *prev_all, *next_all; // guarded by e->ctx_lock
};

#define KZ_FAULTED (UINT64_C(1) << 32) // kz_enter: a signal ended it
#define KZ_ABORTED (UINT64_C(2) << 32) // kz_enter: kz_leave ended it
#define KZ_LATE    (UINT64_C(3) << 32) // kz_enter: the launch ran longer than the engine's limit

uint64_t kz_enter(struct kz_jump *j, kz_entry fn, const void *l, void *w, uint64_t first, uint64_t count, void *stack_top);
_Noreturn void kz_leave(struct kz_jump *j, uint64_t result);
extern char kz_recover[];

struct kz_ctx *kz_ctx_new(struct kz_engine *e, uint32_t id);
void kz_ctx_free(struct kz_ctx *c);
int kz_ctx_areas(struct kz_ctx *c, const struct kz_op *op);         // for the code in c->k: 0, or KZ_NOMEM
void kz_ctx_bind(struct kz_ctx *c);                                 // this thread's context from now on; NULL: none
struct kz_ctx *kz_ctx_current(void);
void *kz_altstack(void); // gives this thread an alternate signal stack if it has none; the new one, or NULL
void kz_altstack_free(void *p);

int kz_fault_install(void);
void kz_fault_reassert(int64_t now); // cheap: looks only once a millisecond
uint32_t kz_fault_unmask(int64_t now); // lets this thread's faults reach us; which of them were blocked, for kz_fault_remask
void kz_fault_remask(uint32_t blocked);

enum { KZ_PARKED = -1 };

// Runs blocks of op on c under fault capture. 0, or the fault kind, with *f filled; KZ_PARKED: the block waits, and goes on
// when it is run again with w.resume set and the same areas.
void kz_spent(uint64_t ns); // of kernels, for who counts them
int kz_run_blocks(struct kz_ctx *c, struct kz_op *op, uint64_t first, uint64_t count, struct kz_fault *f);

// --- domains (domain.c) ---

struct kz_heap;
struct kz_fifo {
	kz_lock lock; // KZ_RANK_FIFO
	char *buf;
	uint64_t cap, head, len; // records of uint32 length and text, a ring by bytes
	_Atomic uint32_t pending;
	char *errs; // assertion messages, for stderr
	size_t errs_len, errs_cap;
};

struct kz_domain {
	_Atomic uint32_t refs;
	_Atomic uint32_t poisoned; // 1 once fault is written
	struct kz_engine *e;
	kz_lock lock;          // KZ_RANK_DOMAIN
	struct kz_fault fault; // written once, under lock, before poisoned
	struct kz_fifo fifo;
	struct kz_heap *heap; // NULL: device malloc fails; may be shared with other domains
	uint64_t fifo_bytes;
};

void kz_domain_poison(struct kz_domain *d, const struct kz_fault *f); // the first fault stays
static inline bool kz_domain_bad(struct kz_domain *d) { return atomic_load_explicit(&d->poisoned, memory_order_acquire) != 0; }

void kz_fifo_text(struct kz_domain *d, const char *text, size_t n);
void kz_fifo_error(struct kz_domain *d, const char *text, size_t n);
void kz_fifo_flush(struct kz_domain *d);
void kz_fifo_free(struct kz_fifo *f);

struct kz_heap *kz_heap_new(struct kz_mem *m);
struct kz_heap *kz_heap_ref(struct kz_heap *h);
void kz_heap_unref(struct kz_heap *h);
void kz_heap_limit(struct kz_heap *h, uint64_t bytes);
uint64_t kz_heap_alloc(struct kz_heap *h, uint64_t n);
void kz_heap_release(struct kz_heap *h, uint64_t p);

// --- runtime entry points of kernels (rt.c) ---

extern const void *const kz_rt[];

// The calls of CUDA's device runtime, by their places in devrt.Calls (children.c).
uint64_t kz_device_call(const struct kz_launch *l, struct kz_worker *w, uint32_t call, uint32_t thread, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);
uint64_t kz_device_launch(const struct kz_launch *l, struct kz_worker *w, uint32_t call, uint32_t thread, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

// --- functions that are compiled by themselves (lazy.c) ---

void kz_come(const struct kz_launch *l, struct kz_worker *w, uint64_t id);
uint32_t kz_called(const struct kz_launch *l, struct kz_worker *w, uint64_t id); // 0, or 1: it waits for other blocks, and is to be called again
void kz_called_reset(struct kz_called *r); // no call is under way
void kz_called_free(struct kz_called *r);  // may be NULL

// --- queues and operations (queue.c) ---

enum { KZ_OP_KERNEL, KZ_OP_COPY, KZ_OP_FILL, KZ_OP_TASK, KZ_OP_MARK, KZ_OP_WAIT, KZ_OP_MEET };
enum { KZ_Q_IDLE, KZ_Q_READY, KZ_Q_RUNNING, KZ_Q_BLOCKED };
enum { KZ_PRIORITIES = 8 };

struct kz_kernel {
	struct kz_kernel_info i;
	_Atomic uint64_t block_ns; // moving average of one block's time in 1/16 ns; 0: never run
	_Atomic uint64_t untimed;  // blocks that ran since its time was last taken (context.c)
	_Atomic uint32_t gathers;  // its blocks wait until all have begun: none of a launch ended before the last was taken (park.c)
	_Atomic uint32_t retired;  // no queue takes it any more
	_Atomic(const struct kz_kernel *) better; // code that takes its place from the next chunk on, or NULL
	char *name;    // for the recorder; NULL: nobody records
	uint32_t code; // what made it, in the recorder's words
	struct kz_lazy *lazy; // functions that it calls and that are compiled by themselves; NULL: none
	uint64_t vars;          // of such a function: as kz_launch_args has them
};

// A job is an operation made of blocks that several threads may share.
struct kz_job {
	uint64_t total;
	_Atomic uint64_t next; // first block nobody has taken
	_Atomic uint64_t spent; // ns of its threads in chunks
	_Atomic uint32_t failed;
	_Atomic uint32_t active; // threads inside; changed under e->lock
	uint32_t want;           // threads that it is worth, set before it is listed
	bool listed, open;       // guarded by e->lock, as the links; open: threads may join
	bool spins; // a block may wait for another: one block a chunk, as many threads as blocks
	_Atomic bool ended; // of blocks that may wait: one has
	union {
		int64_t put; // until it begins: when it was put in, if another queue was ready then; 0: nothing waited that was older
		struct kz_op *prev;
	};
	struct kz_op *next_job;
};

enum { BRIEF_NS = 20000 }; // what takes less is short

struct kz_op {
	struct kz_op *next;
	struct kz_queue *q;
	uint64_t seq;
	uint32_t kind;
	uint32_t cap; // bytes allocated
	bool inlinable;       // tasks
	bool brief;           // known to be short, and to wait for nothing
	uint32_t began; // kernels, where the engine has a limit: kz_millis when the first thread took it; else 0
	struct kz_job job;
	union {
		struct {
			struct kz_kernel *k;
			struct kz_launch l;
			uint32_t workspace[2]; // its size, and the grid's barrier: cooperative groups know this layout
			uint32_t shared_room; // bytes of shared memory, rounded up as the hardware does
			uint16_t cluster; // blocks that run together on one thread; 0: the code knows nothing of clusters
			bool cooperative;
			struct kz_children *children; // Go's
			_Alignas(16) uint8_t params[];
		} kernel;
		struct { uint8_t *dst; const uint8_t *src; uint64_t dpitch, spitch, width, height, unit; struct kz_traced traced; } copy;
		struct { uint8_t *dst; uint64_t count, pitch, rows, unit; uint32_t value, size; struct kz_traced traced; } fill;
		struct { uint64_t id; } task;
		struct { struct kz_fence *f; } fence;
		struct { uint64_t id; struct kz_sequence *s; struct kz_meet *m; uint32_t turn; bool entered; struct kz_meeting o; } meet; // id: as task's
	} u;
};
_Static_assert(offsetof(struct kz_op, u.kernel.params) % 64 == 0, "parameters hold tensor maps, which are aligned to 64 bytes");

struct kz_queue {
	// The side that enqueues.
	kz_lock lock;                // KZ_RANK_QUEUE
	uint32_t state;              // KZ_Q_*, guarded by lock
	_Atomic(struct kz_op *) head; // written under lock: not yet taken by a driver
	struct kz_op *tail;           // guarded by lock
	struct kz_op *spare;         // guarded by lock
	uint32_t nspare;             // guarded by lock
	uint64_t submitted;          // guarded by lock
	bool waited;                 // guarded by lock: there was no room; the recorder takes it back
	uint64_t seen;               // guarded by lock: completed, some time ago
	uint64_t number;             // of the queue
	struct kz_fence *blocked_on; // guarded by lock: set while BLOCKED by a fence
	struct kz_op *blocked_task;  // guarded by lock: set while BLOCKED by a task
	struct kz_queue *fence_next; // guarded by blocked_on's lock
	// What both sides read and nobody writes often: not beside what the driver writes all the time.
	struct kz_domain *d;
	struct kz_engine *e;
	int priority;           // 0 lowest
	_Atomic uint32_t device; // these two are for the recorder
	_Atomic uint64_t stream;
	_Atomic uint32_t hurry; // threads that wait for the queue

	// The side that runs: whoever drives the queue, and no one else.
	_Alignas(KZ_CACHELINE) struct kz_op *run; // taken from head; the first one is running
	struct kz_op *used, *used_last;           // done, to become spare
	uint32_t nused;
	uint32_t batch; // operations in the last refill
	uint32_t burst; // how often a worker may still linger

	_Alignas(KZ_CACHELINE) _Atomic uint64_t completed;
	_Atomic uint32_t waiters;
	_Atomic uint32_t wake; // futex
	_Atomic uint64_t wake_at; // the least that a waiter waits for
	_Atomic uint32_t refs;
	_Atomic(struct kz_op *) running_job; // written under e->lock: the open job, for helpers

	_Alignas(KZ_CACHELINE) struct kz_queue *prev, *next; // ready list, guarded by e->lock
	struct kz_queue *prev_all, *next_all;                // guarded by e->all_lock
	_Atomic bool in_ready;                               // written under e->lock
	bool small;       // guarded by e->lock: what waits is short, leave it to a synchronizing thread for a moment
	bool brief;       // likewise: its first operation is
	int64_t ready_at; // likewise: the ready lists are in this order
};

struct kz_fence {
	_Atomic uint32_t refs;
	_Atomic uint32_t done;
	kz_lock lock;             // KZ_RANK_FENCE
	struct kz_queue *q;       // referenced while pending, guarded by lock
	struct kz_queue *waiters; // guarded by lock
	uint64_t seq;
	_Atomic int64_t nanos;
};

void kz_queue_ref(struct kz_queue *q);
void kz_queue_list(struct kz_queue *q, bool in); // among all of its engine (retire.c)
void kz_queue_wait_for(struct kz_queue *q, uint64_t target); // until so many operations are complete; helps nobody
// Runs q until it is empty, blocked or past until. A helper of Go's may be handed a task to run: it is returned.
enum kz_driver { KZ_WORKER, KZ_HELPER, KZ_GO_HELPER, KZ_GUEST }; // a guest is a helper of another queue: it runs what is brief only
struct kz_op *kz_drive(struct kz_ctx *c, struct kz_queue *q, uint64_t until, enum kz_driver who);
void kz_op_finish(struct kz_queue *q, struct kz_op *op);

// --- recording (trace.c): only where kz_recorder is not NULL ---

extern const struct kz_recorder *kz_recorder;
struct kz_noted { // of an operation that may be gone by the time it is written down
	uint16_t type;
	bool waited;
	uint32_t device;
	uint64_t call, t0, stream, values[4];
	const char *text;
};
struct kz_traced *kz_traced(struct kz_op *op); // NULL: not recorded
void kz_trace_put(struct kz_op *op);           // it is being put in by the call that is under way
void kz_trace_note(struct kz_queue *q, struct kz_op *op, uint64_t t0, struct kz_noted *n); // op cannot end yet; q->lock is held
void kz_trace_enqueued(const struct kz_noted *n); // no lock is held
void kz_trace_begin(struct kz_op *op);
void kz_trace_end(struct kz_queue *q, struct kz_op *op);
static inline uint64_t kz_trace_now(void) { return kz_recorder ? kz_recorder->now() : 0; }

// --- calls without Go (fastpath.c) ---

struct kz_ticket_param;
// 0, or 1: an address was bad. A fault between kz_gather and kz_gather_bad is taken there.
int kz_gather(uint8_t *out, const uint64_t *list, const struct kz_ticket_param *at, uint32_t n);
int kz_store(uint64_t to, uint32_t value); // the same: writes a word to the program's memory
extern const char kz_gather_bad[];
// kz_queue_launch that does not wait: KZ_NOMEM where the queue is full.
int kz_queue_launch_now(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params);

// kz_queue_meet's other half: makes op, which has no kind of its own yet, that operation. Preconditions: the queue's lock is held.
void kz_meet_fill(struct kz_op *op, struct kz_sequence *s, struct kz_meet *m, const struct kz_meeting *o);
bool kz_meet_step(struct kz_op *op, enum kz_patience how); // true: it is over; false: it is Go's to go on with. The caller drives its queue.
void kz_meet_ref(struct kz_meet *m);
bool kz_meet_crowded(const struct kz_meet *m, int threads); // so many threads of ours cannot do the operations of all ranks at once

// --- scheduler (sched.c) ---

struct kz_thread {
	pthread_t id;
	struct kz_engine *e;
	uint32_t number;
	bool extra;
	struct kz_ctx *first; // of a regular worker: the context it begins with
	struct kz_thread *next;
};

struct kz_engine {
	int n; // regular workers
	bool narrow; // address space is short: guards are small, and code tests its offsets
	int order; // of blocks, KZ_ORDER_
	uint64_t order_seed;
	kz_lock lock; // KZ_RANK_ENGINE
	struct kz_queue *ready_head[KZ_PRIORITIES], *ready_tail[KZ_PRIORITIES];
	struct kz_op *jobs_head, *jobs_tail;
	struct kz_ctx *contexts; // idle ones, guarded by ctx_lock
	struct kz_ctx *all_contexts; // guarded by ctx_lock
	kz_lock ctx_lock;            // KZ_RANK_CONTEXTS
	uint32_t ncontexts, next_id; // guarded by ctx_lock
	uint64_t kernels_gone;       // guarded by ctx_lock: launches of contexts that are no more
	struct kz_thread *threads;   // guarded by lock
	uint32_t nextra, extra_idle, permits; // guarded by lock: threads that stand in for yielding ones
	int64_t extra_at;                     // guarded by lock
	struct kz_thread *extra_ended;        // guarded by lock: the last of them that ended, to be joined
	uint32_t limit;    // ms that a launch may run, 0: any time; set before the first launch
	pthread_t watcher; // there is one if there is a limit
	_Atomic uint32_t watch_event;

	_Alignas(KZ_CACHELINE) _Atomic uint32_t nready;
	_Atomic uint32_t njobs;   // that are open
	_Atomic uint32_t running; // jobs that are not over; written under lock
	_Atomic int host_cpu;     // where a thread of the program last made a queue ready
	_Atomic uint32_t top; // 1 + highest priority that is ready, 0: none
	_Atomic int64_t oldest[KZ_PRIORITIES]; // ready_at of the first that is ready; INT64_MAX: none
	_Alignas(KZ_CACHELINE) _Atomic uint32_t event; // futex of sleeping workers
	_Atomic uint32_t sleeping; // workers in a long sleep
	_Atomic uint32_t spinning; // workers polling
	_Atomic uint32_t watching; // a worker in short sleeps
	_Atomic uint32_t extra_event;
	_Atomic uint32_t stopping;
	_Atomic uint64_t queues; // made so far

	kz_lock all_lock; // KZ_RANK_QUEUES
	struct kz_queue *all; // every queue, guarded by all_lock

	kz_lock task_lock; // KZ_RANK_TASKS
	struct kz_op *task_head, *task_tail; // linked by job.next_job
	_Atomic uint32_t task_event;
	_Alignas(KZ_CACHELINE) _Atomic uint32_t busy; // threads that work, those that help included
	_Atomic uint64_t s_chunks, s_helped, s_wakes, s_extra, s_yields, s_parked;
};

int kz_thread_start(pthread_t *id, void *(*fn)(void *), void *arg); // 0, or an error number; it takes no signals but those of faults
void kz_wake(struct kz_engine *e, int n);
bool kz_job_start(struct kz_ctx *c, struct kz_op *op); // true: finished, go on with the queue; false: another thread will
bool kz_job_attach(struct kz_queue *q, struct kz_op **op);
bool kz_job_work(struct kz_ctx *c, struct kz_op *op); // after attach; true: finished, go on with the queue
void kz_extra(struct kz_engine *e, uint32_t n); // lets n threads beyond the regular ones look for work
void kz_yield(struct kz_ctx *c); // gives the processor to others
void kz_stand_in(struct kz_ctx *c); // if work waits and every worker is busy, a further thread takes it

// --- the ready lists (ready.c) ---

void kz_ready_start(struct kz_engine *e);
// brief: q's first operation is; since: when it could have run, 0: now.
void kz_ready_push(struct kz_queue *q, bool small, bool brief, int64_t since);
bool kz_ready_take(struct kz_queue *q);   // out of the list, if it is there
void kz_ready_remove(struct kz_queue *q); // likewise. Preconditions: q->e->lock is held and q is in the list.
struct kz_queue *kz_ready_brief(struct kz_queue *q, int64_t before); // one as urgent that is ready since before, and brief, out of the list

// --- launches that take too long (watch.c) ---

#define KZ_NUDGE SIGFPE // one of those that fault.c has a handler for; the program's own use of it is rare
uint32_t kz_millis(void); // never 0
bool kz_late(const struct kz_engine *e, uint32_t began);
bool kz_nudged(int sig, const siginfo_t *si);             // the signal is the watchdog's
bool kz_late_at(const struct kz_ctx *c, uint64_t pc);     // this thread's launch is late, and pc is where it may be left
void kz_watch_stop(struct kz_engine *e);

// --- blocks that wait for blocks (park.c) ---

struct kz_area {
	struct kz_area *next;
	uint64_t block;
	uint8_t *frame;
	struct kz_shared shared;
	struct kz_local local;
	uint64_t frame_bytes;
	struct kz_called *called;
};

bool kz_past_window(const struct kz_ctx *c, uint64_t addr);
// Where an offset of 32 bits from the running block's shared memory leads, and the offset in that block; NULL: in none of the cluster.
uint8_t *kz_shared_at(const struct kz_worker *w, uint64_t off, uint64_t *at);
int kz_cluster_blocks(struct kz_ctx *c, struct kz_op *op, struct kz_fault *f); // the same, cluster by cluster (cluster.c)
uint64_t kz_cluster(const struct kz_launch *l, struct kz_worker *w, uint32_t what);
void kz_area_swap(struct kz_ctx *c, struct kz_area *a); // exchanges the context's areas with a's
int kz_spin_blocks(struct kz_ctx *c, struct kz_op *op, struct kz_fault *f); // takes blocks until none is left; as kz_run_blocks
bool kz_may_park(struct kz_ctx *c);
void kz_park_free(struct kz_ctx *c);
bool kz_job_take(struct kz_engine *e, struct kz_op *op, uint64_t *block); // one block nobody has taken
struct kz_ctx *kz_ctx_take(struct kz_engine *e);
void kz_ctx_give(struct kz_ctx *c);
void kz_task_post(struct kz_engine *e, struct kz_op *op);
uint64_t kz_turn(const struct kz_engine *e, const struct kz_op *op, uint64_t n); // the block, or the cluster, that is the n-th of a job to begin
bool kz_task_claim(struct kz_engine *e, struct kz_op *op);

#endif
