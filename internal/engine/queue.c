// Queues: ordered operations, fences, and threads that wait.
//
// A queue is IDLE (empty), READY (in the engine's ready list), RUNNING (one thread drives it, or its job's last thread
// will) or BLOCKED (on a fence or a task). Whoever changes the state away from IDLE holds a reference until it is IDLE
// again, so a queue may be closed the moment its last operation is complete.
#include "internal.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { OP_BYTES = 512, SPARE_MAX = 1024, PENDING_MAX = 1 << 16, SPIN_NS = 20000, FOLLOW_MAX = 16, BURST = 4, BURST_CREDIT = 256, LINGER = 16, GATHER = 192, OP_LINES = 5 };
enum { COPY_UNIT = 256 << 10 };

// Work of different queues runs in the order in which it was put in, where it could have: programs that forget to order two streams are
// right on a GPU that has nothing else to do, as what it is given begins within microseconds. Here a thread may be long in coming. What
// was put in ORDER_NS after something that still waits does not go before it; less is what two calls are apart.
enum { ORDER_NS = 2000, GUEST_MAX = 16 };

struct kz_queue *kz_queue_new(struct kz_domain *d, int priority) {
	struct kz_queue *q = aligned_alloc(KZ_CACHELINE, (sizeof *q + 63) & ~(size_t)63);
	if (!q) return NULL;
	memset(q, 0, sizeof *q);
	kz_lock_init(&q->lock, KZ_RANK_QUEUE);
	q->refs = 1;
	q->wake_at = UINT64_MAX;
	q->d = d;
	q->e = d->e;
	q->priority = priority < 0 ? 0 : priority >= KZ_PRIORITIES ? KZ_PRIORITIES - 1 : priority;
	q->number = atomic_fetch_add(&q->e->queues, 1);
	atomic_fetch_add(&d->refs, 1);
	kz_queue_list(q, true);
	return q;
}

void kz_queue_ref(struct kz_queue *q) { atomic_fetch_add_explicit(&q->refs, 1, memory_order_relaxed); }

void kz_queue_unref(struct kz_queue *q) {
	if (atomic_fetch_sub_explicit(&q->refs, 1, memory_order_acq_rel) != 1) return;
	kz_queue_list(q, false);
	struct kz_op *lists[2] = {q->spare, q->used};
	for (int i = 0; i < 2; i++)
		for (struct kz_op *op = lists[i], *next; op; op = next) {
			next = op->next;
			free(op);
		}
	kz_domain_unref(q->d);
	free(q);
}

// --- enqueuing ---

static void wait_on(struct kz_queue *q, uint64_t target) {
	atomic_fetch_add(&q->waiters, 1);
	uint32_t w = atomic_load(&q->wake); // before wake_at: who takes our target out of there counts wake up afterwards
	uint64_t first = atomic_load(&q->wake_at);
	while (target < first && !atomic_compare_exchange_weak(&q->wake_at, &first, target)) {}
	if (atomic_load(&q->completed) < target) kz_futex_wait(&q->wake, w, -1);
	atomic_fetch_sub(&q->waiters, 1);
}

void kz_queue_wait_for(struct kz_queue *q, uint64_t target) {
	while (atomic_load(&q->completed) < target) wait_on(q, target);
}

// Takes q->lock once there is room for one more. False, and the lock is released: there is none, and wait is false.
static bool room(struct kz_queue *q, bool wait) {
	for (bool waited = false;;) {
		kz_acquire(&q->lock);
		if (q->submitted - q->seen < PENDING_MAX) return true; // without a look at what the driver writes all the time
		uint64_t done = q->seen = atomic_load_explicit(&q->completed, memory_order_relaxed);
		q->waited |= waited;
		if (q->submitted - done < PENDING_MAX) return true;
		kz_release(&q->lock); // bounded memory: the host waits, as on a GPU whose queue is full
		if (!wait) return false;
		wait_on(q, done + PENDING_MAX / 2);
		waited = true;
	}
}

// Returns a new operation with q->lock held, or NULL with it released. Preconditions: q->lock is held.
static struct kz_op *make(struct kz_queue *q, uint32_t kind, size_t bytes) {
	struct kz_op *op;
	if (bytes <= OP_BYTES && q->spare) {
		op = q->spare;
		q->spare = op->next;
		q->nspare--;
		// The next one was last written by a worker: its lines come while the host is on its way to the next call.
		for (int i = 0; q->spare && i < OP_LINES; i++) kz_prefetch_write((char *)q->spare + i * KZ_CACHELINE);
	} else {
		uint32_t cap = bytes <= OP_BYTES ? OP_BYTES : (uint32_t)bytes;
		op = aligned_alloc(KZ_CACHELINE, (cap + 63) & ~63u);
		if (!op) {
			kz_release(&q->lock);
			return NULL;
		}
		op->cap = cap;
	}
	op->next = NULL;
	op->q = q;
	op->kind = kind;
	op->inlinable = false;
	op->brief = kind == KZ_OP_MARK || kind == KZ_OP_WAIT || kind == KZ_OP_TASK; // a task that is not done is another thread's
	atomic_store_explicit(&op->job.next, 0, memory_order_relaxed);
	atomic_store_explicit(&op->job.ended, false, memory_order_relaxed);
	atomic_store_explicit(&op->job.spent, 0, memory_order_relaxed);
	atomic_store_explicit(&op->job.failed, 0, memory_order_relaxed);
	atomic_store_explicit(&op->job.active, 0, memory_order_relaxed);
	op->job.listed = op->job.open = op->job.spins = false;
	op->job.total = 0;
	if (kz_recorder) kz_trace_put(op);
	return op;
}

// As make, and takes the lock. It waits where the queue is full.
static struct kz_op *begin(struct kz_queue *q, uint32_t kind, size_t bytes) {
	room(q, true);
	return make(q, kind, bytes);
}

// Gives an operation back that begin gave, and releases q->lock.
static void drop(struct kz_queue *q, struct kz_op *op) {
	if (op->cap == OP_BYTES) {
		op->next = q->spare;
		q->spare = op;
		q->nspare++;
		op = NULL;
	}
	kz_release(&q->lock);
	free(op);
}

// Appends op. Preconditions: q->lock is held; end follows.
static void append(struct kz_queue *q, struct kz_op *op) {
	op->seq = ++q->submitted;
	uint32_t ready = atomic_load_explicit(&q->e->nready, memory_order_relaxed); // most often 0: asking for the time takes longer
	op->job.put = ready && ready > atomic_load_explicit(&q->in_ready, memory_order_relaxed) ? kz_nanos() : 0;
	if (q->tail) q->tail->next = op;
	else atomic_store_explicit(&q->head, op, memory_order_relaxed);
	q->tail = op;
}

// Appends op and releases q->lock; t0 is when the call that puts it in began, 0: its enqueue is not recorded. small: work that is
// short, as far as is known, and that a synchronizing thread had better do itself.
static void end(struct kz_queue *q, struct kz_op *op, bool small, uint64_t t0) {
	struct kz_noted noted;
	if (t0) kz_trace_note(q, op, t0, &noted);
	append(q, op);
	bool idle = q->state == KZ_Q_IDLE, brief = false;
	if (idle) {
		brief = atomic_load_explicit(&q->head, memory_order_relaxed)->brief;
		q->state = KZ_Q_READY;
		kz_queue_ref(q);
	}
	kz_release(&q->lock);
	if (idle) {
		atomic_store_explicit(&q->e->host_cpu, sched_getcpu(), memory_order_relaxed);
		kz_ready_push(q, small, brief, 0);
	}
	if (t0) kz_trace_enqueued(&noted);
}

// What a launch of k takes of a thread's areas must be there: KZ_LIMIT if it cannot.
static int fits(const struct kz_kernel *k, const struct kz_launch_args *a, uint64_t *shared) {
	uint32_t threads = a->block[0] * a->block[1] * a->block[2], warps = (threads + 31) / 32;
	uint64_t frame = (uint64_t)k->i.frame_warp * warps + k->i.frame_block, local = (uint64_t)k->i.local_thread * threads;
	uint64_t align = k->i.shared_align > 16 ? k->i.shared_align : 16;
	*shared = ((k->i.shared_static + align - 1) & ~(align - 1)) + a->dynamic_shared;
	if (k->i.reserved) *shared = (*shared + KZ_SHARED_UNIT - 1) / KZ_SHARED_UNIT * KZ_SHARED_UNIT + KZ_RESERVED;
	return frame > KZ_FRAME_MAX || local > KZ_LOCAL_MAX || *shared > KZ_SHARED ? KZ_LIMIT : KZ_OK;
}

// Shared memory begins so far before its end: the hardware gives KZ_SHARED_UNIT bytes at a time. A dynamic area is aligned to what swizzled
// copies and matrix descriptors count in, as a generic address too.
static uint32_t shared_room(const struct kz_kernel *k, const struct kz_launch_args *a, uint64_t shared) {
	uint64_t align = k->i.shared_align > KZ_SHARED_UNIT ? k->i.shared_align : KZ_SHARED_UNIT;
	if (a->dynamic_shared && align < 1024) align = 1024;
	if (align > 4096) align = 4096;
	return (uint32_t)((shared + align - 1) & ~(align - 1));
}

// Makes op a launch of k, all but its parameters.
static void describe(struct kz_op *op, struct kz_kernel *k, const struct kz_launch_args *a, uint64_t shared) {
	struct kz_launch *l = &op->u.kernel.l;
	op->u.kernel.k = k;
	l->params = op->u.kernel.params;
	l->vars = (const uint64_t *)a->vars;
	l->rt = kz_rt;
	memcpy(l->grid, a->grid, sizeof l->grid);
	memcpy(l->block, a->block, sizeof l->block);
	memcpy(l->cluster, a->cluster, sizeof l->cluster);
	l->shared_dynamic = a->dynamic_shared;
	l->shared_total = (uint32_t)shared;
	op->u.kernel.shared_room = shared_room(k, a, shared);
	l->threads = a->block[0] * a->block[1] * a->block[2];
	l->warps = (l->threads + 31) / 32;
	l->launch_private = op;
	l->flags = 0;
	op->u.kernel.workspace[0] = sizeof op->u.kernel.workspace;
	op->u.kernel.workspace[1] = 0;
	l->workspace = a->cooperative ? (uint64_t)op->u.kernel.workspace : 0;
	op->u.kernel.cooperative = a->cooperative != 0;
	op->u.kernel.children = a->children;
	op->job.total = (uint64_t)a->grid[0] * a->grid[1] * a->grid[2];
	op->u.kernel.cluster = a->clustered ? (uint16_t)(a->cluster[0] * a->cluster[1] * a->cluster[2]) : 0;
	if (op->u.kernel.cluster) op->job.total /= op->u.kernel.cluster;
	op->job.spins = k->i.spins || a->cooperative;
}

// Returns a new launch with q->lock held, or NULL with it released and *rc why.
static struct kz_op *begin_launch(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params, bool wait, int *rc) {
	uint64_t shared;
	*rc = kz_domain_bad(q->d) ? KZ_POISONED : fits(k, a, &shared);
	if (*rc != KZ_OK) return NULL;
	struct kz_op *op = room(q, wait) ? make(q, KZ_OP_KERNEL, offsetof(struct kz_op, u.kernel.params) + a->params_bytes) : NULL;
	if (!op) {
		*rc = KZ_NOMEM;
		return NULL;
	}
	if (atomic_load_explicit(&k->retired, memory_order_relaxed)) { // under the lock: see retire.c
		drop(q, op);
		*rc = KZ_GONE;
		return NULL;
	}
	memcpy(op->u.kernel.params, params, a->params_bytes);
	describe(op, k, a, shared);
	op->u.kernel.l.grid_id = (q->number << 40) + q->submitted + 1;
	return op;
}

static int launch(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params, bool wait) {
	int rc;
	uint64_t t0 = wait ? kz_trace_now() : 0; // a call that does nothing else, and does not wait, is its own record
	struct kz_op *op = begin_launch(q, k, a, params, wait, &rc);
	if (!op) return rc;
	uint64_t ns = atomic_load_explicit(&k->block_ns, memory_order_relaxed);
	op->brief = !op->job.spins && ns && op->job.total < (1 << 20) && ns / 16 * op->job.total < BRIEF_NS;
	end(q, op, op->brief || (!op->job.spins && op->job.total <= 4), t0);
	return KZ_OK;
}

int kz_queue_launch(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params) {
	return launch(q, k, a, params, true);
}

int kz_queue_launch_now(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params) {
	return launch(q, k, a, params, false);
}

int kz_queue_launch_then(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params, uint64_t id) {
	struct kz_op *then = begin(q, KZ_OP_TASK, sizeof *then);
	if (!then) return KZ_NOMEM;
	kz_release(&q->lock); // it is nobody's yet
	then->u.task.id = id;
	then->inlinable = true;
	int rc;
	struct kz_op *op = begin_launch(q, k, a, params, true, &rc);
	if (!op) {
		free(then);
		return rc;
	}
	struct kz_noted noted;
	uint64_t t0 = kz_trace_now();
	if (t0) kz_trace_note(q, op, t0, &noted);
	append(q, op);
	end(q, then, false, 0);
	if (t0) kz_trace_enqueued(&noted);
	return KZ_OK;
}

int kz_queue_later(struct kz_queue *q, uint64_t id, uint32_t params_bytes, const uint8_t *params, void **launch) {
	if (kz_domain_bad(q->d)) return KZ_POISONED;
	struct kz_op *op = begin(q, KZ_OP_KERNEL, offsetof(struct kz_op, u.kernel.params) + params_bytes);
	if (!op) return KZ_NOMEM;
	kz_release(&q->lock); // it is nobody's yet
	memcpy(op->u.kernel.params, params, params_bytes);
	op->u.kernel.k = NULL;
	op->u.kernel.cluster = 0;
	op->u.kernel.cooperative = false;
	op->u.kernel.children = NULL;
	int rc = kz_queue_task(q, id, 1, 0);
	if (rc != KZ_OK) {
		free(op);
		return rc;
	}
	*launch = op;
	kz_acquire(&q->lock);
	op->u.kernel.l.grid_id = (q->number << 40) + q->submitted + 1;
	end(q, op, false, 0);
	return KZ_OK;
}

int kz_launch_fill(void *launch, struct kz_kernel *k, const struct kz_launch_args *a) {
	uint64_t shared;
	if (atomic_load(&k->retired)) return KZ_GONE;
	if (fits(k, a, &shared) != KZ_OK) return KZ_LIMIT;
	describe(launch, k, a, shared);
	return KZ_OK;
}

int kz_queue_copy2d(struct kz_queue *q, uint64_t dst, uint64_t dpitch, uint64_t src, uint64_t spitch, uint64_t width, uint64_t height) {
	if (kz_domain_bad(q->d)) return KZ_POISONED;
	if (width == 0 || height == 0) return KZ_OK;
	if (dpitch == width && spitch == width) {
		width *= height;
		height = 1;
	}
	uint64_t t0 = kz_trace_now();
	struct kz_op *op = begin(q, KZ_OP_COPY, sizeof *op);
	if (!op) return KZ_NOMEM;
	op->u.copy.dst = (uint8_t *)dst;
	op->u.copy.src = (const uint8_t *)src;
	op->u.copy.dpitch = dpitch;
	op->u.copy.spitch = spitch;
	op->u.copy.width = width;
	op->u.copy.height = height;
	uint64_t n = height == 1 ? width : height;
	uint64_t unit = height == 1 ? COPY_UNIT : COPY_UNIT / width ? COPY_UNIT / width : 1;
	op->u.copy.unit = unit;
	op->job.total = (n + unit - 1) / unit;
	op->brief = width * height <= COPY_UNIT;
	end(q, op, op->brief, t0);
	return KZ_OK;
}

int kz_queue_copy(struct kz_queue *q, uint64_t dst, uint64_t src, uint64_t n) { return kz_queue_copy2d(q, dst, n, src, n, n, 1); }

int kz_queue_fill(struct kz_queue *q, uint64_t dst, uint32_t value, uint32_t size, uint64_t count, uint64_t pitch, uint64_t rows) {
	if (kz_domain_bad(q->d)) return KZ_POISONED;
	if (count == 0 || rows == 0) return KZ_OK;
	if (rows > 1 && pitch == count * size) {
		count *= rows;
		rows = 1;
	}
	uint64_t t0 = kz_trace_now();
	struct kz_op *op = begin(q, KZ_OP_FILL, sizeof *op);
	if (!op) return KZ_NOMEM;
	op->u.fill.dst = (uint8_t *)dst;
	op->u.fill.value = value;
	op->u.fill.size = size;
	op->u.fill.count = count;
	op->u.fill.pitch = pitch;
	op->u.fill.rows = rows;
	uint64_t n = rows == 1 ? count : rows;
	uint64_t unit = rows == 1 ? COPY_UNIT / size : COPY_UNIT / (count * size) ? COPY_UNIT / (count * size) : 1;
	op->u.fill.unit = unit;
	op->job.total = (n + unit - 1) / unit;
	op->brief = count * size * rows <= COPY_UNIT;
	end(q, op, op->brief, t0);
	return KZ_OK;
}

int kz_queue_task(struct kz_queue *q, uint64_t id, int inlinable, int always) {
	if (!always && kz_domain_bad(q->d)) return KZ_POISONED;
	struct kz_op *op = begin(q, KZ_OP_TASK, sizeof *op);
	if (!op) return KZ_NOMEM;
	op->u.task.id = id;
	op->inlinable = inlinable != 0;
	end(q, op, inlinable != 0, 0);
	return KZ_OK;
}

static _Atomic(_Atomic uint64_t *) meets; // two words: put in by Go, and by C

void kz_count_meets(uint64_t counters) { atomic_store(&meets, (_Atomic uint64_t *)counters); }

int kz_queue_meet(struct kz_queue *q, struct kz_sequence *s, struct kz_meet *m, const struct kz_meeting *o, int wait) {
	if (kz_domain_bad(q->d)) return KZ_POISONED;
	struct kz_op *op = room(q, wait) ? make(q, KZ_OP_MEET, sizeof *op) : NULL;
	if (!op) return KZ_NOMEM;
	kz_meet_fill(op, s, m, o);
	end(q, op, true, 0);
	_Atomic uint64_t *count = atomic_load_explicit(&meets, memory_order_relaxed);
	if (count) atomic_fetch_add_explicit(count + !wait, 1, memory_order_relaxed); // C does not wait for room
	return KZ_OK;
}

// --- fences ---

void kz_fence_unref(struct kz_fence *f) {
	if (atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) == 1) free(f);
}

int kz_queue_mark(struct kz_queue *q, struct kz_fence **out) {
	struct kz_fence *f = kz_held(calloc(1, sizeof *f));
	if (!f) return KZ_NOMEM;
	struct kz_op *op = begin(q, KZ_OP_MARK, sizeof *op);
	if (!op) {
		free(f);
		return KZ_NOMEM;
	}
	kz_lock_init(&f->lock, KZ_RANK_FENCE);
	f->refs = 2; // the caller's and the operation's
	f->q = q;
	kz_queue_ref(q);
	f->seq = q->submitted + 1;
	op->u.fence.f = f;
	*out = f;
	end(q, op, true, 0);
	return KZ_OK;
}

int kz_queue_wait(struct kz_queue *q, struct kz_fence *f) {
	if (atomic_load_explicit(&f->done, memory_order_acquire)) return KZ_OK;
	struct kz_op *op = begin(q, KZ_OP_WAIT, sizeof *op);
	if (!op) return KZ_NOMEM;
	atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
	op->u.fence.f = f;
	end(q, op, true, 0);
	return KZ_OK;
}

// The fence is reached. Preconditions: f->q->lock is held. The queues that waited are returned, linked by fence_next.
static struct kz_queue *fence_reach(struct kz_fence *f) {
	atomic_store_explicit(&f->nanos, kz_nanos(), memory_order_relaxed);
	kz_acquire(&f->lock);
	atomic_store_explicit(&f->done, 1, memory_order_release);
	struct kz_queue *w = f->waiters;
	f->waiters = NULL;
	f->q = NULL;
	kz_release(&f->lock);
	return w;
}

static void fence_wake(struct kz_queue *w) {
	while (w) {
		struct kz_queue *next = w->fence_next;
		kz_acquire(&w->lock);
		w->state = KZ_Q_READY;
		w->blocked_on = NULL;
		kz_release(&w->lock);
		kz_ready_push(w, false, true, 0);
		w = next;
	}
}

// True if f is reached; otherwise q is BLOCKED and a later fence_signal makes it ready.
static bool fence_pass(struct kz_fence *f, struct kz_queue *q) {
	kz_acquire(&q->lock);
	kz_acquire(&f->lock);
	bool done = atomic_load_explicit(&f->done, memory_order_relaxed);
	if (!done) {
		q->state = KZ_Q_BLOCKED;
		q->blocked_on = f;
		q->fence_next = f->waiters;
		f->waiters = q;
	}
	kz_release(&f->lock);
	kz_release(&q->lock);
	if (done) kz_fence_unref(f);
	return done;
}

int64_t kz_fence_nanos(struct kz_fence *f) {
	return atomic_load_explicit(&f->done, memory_order_acquire) ? atomic_load_explicit(&f->nanos, memory_order_relaxed) : 0;
}

// --- driving ---

// Ends the running operation. Preconditions: the caller drives q.
void kz_op_finish(struct kz_queue *q, struct kz_op *op) {
	struct kz_fence *f = op->kind == KZ_OP_MARK ? op->u.fence.f : NULL;
	struct kz_queue *woken = NULL;
	uint64_t done = op->seq;
	if (kz_recorder) kz_trace_end(q, op); // before anyone hears that it is done: the program may exit then
	q->run = op->next;
	if (f) { // under the lock, so that no one sees a fence reached and its queue not, or the other way round
		kz_acquire(&q->lock);
		woken = fence_reach(f);
		atomic_store(&q->completed, done);
		kz_release(&q->lock);
	} else {
		atomic_store(&q->completed, done);
	}
	if (op->cap == OP_BYTES && q->nused < SPARE_MAX) {
		op->next = q->used;
		if (!q->used) q->used_last = op;
		q->used = op;
		q->nused++;
	} else {
		free(op);
	}
	if (atomic_load(&q->waiters) && done >= atomic_load(&q->wake_at)) { // not for every operation on the way to what they wait for
		atomic_store(&q->wake_at, UINT64_MAX);
		atomic_fetch_add(&q->wake, 1);
		kz_futex_wake(&q->wake, INT32_MAX);
	}
	if (f) {
		fence_wake(woken);
		kz_fence_unref(f);
		kz_queue_unref(q); // the fence's; the caller has its own
	}
}

// Moves what was enqueued to q->run, and used operations back. Preconditions: the caller drives q; q->lock is held.
static void refill(struct kz_queue *q) {
	q->run = atomic_load_explicit(&q->head, memory_order_relaxed);
	q->batch = q->run ? (uint32_t)(q->tail->seq - q->run->seq + 1) : 0;
	atomic_store_explicit(&q->head, NULL, memory_order_relaxed);
	q->tail = NULL;
	if (q->used && q->nspare < SPARE_MAX) {
		q->used_last->next = q->spare;
		q->spare = q->used;
		q->nspare += q->nused;
		q->used = NULL;
		q->nused = 0;
	}
}

// In the middle of a burst more is about to come: a worker waits a moment before it gives the queue up, so that the host
// need not put it on the ready list for every launch.
static void linger(struct kz_queue *q) {
	if (q->batch >= BURST) q->burst = BURST_CREDIT;
	else if (q->burst) q->burst--; // a host that waits after each launch is better served by itself
	if (!q->burst) return;
	for (int i = 0; i < LINGER; i++) {
		if (atomic_load_explicit(&q->head, memory_order_relaxed)) break;
		for (int j = 0; j < 4; j++) kz_relax();
		if (i == LINGER - 1) q->burst = 0;
	}
	// Several at a time: every look at the queue takes its lines away from the host.
	for (int i = 0; q->burst && i < GATHER && !atomic_load_explicit(&q->hurry, memory_order_relaxed); i++) kz_relax();
}

enum { RAN, ELSEWHERE, HANDED };

// From now on q is BLOCKED on a task, also in a poisoned domain: Go holds the function and must let go of it.
static void task_block(struct kz_queue *q, struct kz_op *op) {
	kz_acquire(&q->lock);
	q->state = KZ_Q_BLOCKED;
	q->blocked_task = op;
	kz_release(&q->lock);
}

// The task is posted for the pump, or handed to the synchronizing thread.
static int task_pass(struct kz_queue *q, struct kz_op *op, enum kz_driver who) {
	task_block(q, op);
	if (who == KZ_GO_HELPER && op->inlinable) return HANDED;
	kz_task_post(q->e, op);
	return ELSEWHERE;
}

// Takes what was put in meanwhile; NULL: there is nothing, and the queue is no longer the caller's.
static struct kz_op *more(struct kz_queue *q) {
	kz_acquire(&q->lock);
	refill(q);
	struct kz_op *op = q->run;
	q->state = op ? KZ_Q_RUNNING : KZ_Q_IDLE;
	kz_release(&q->lock);
	if (!op) kz_queue_unref(q);
	return op;
}

int kz_task_done(void *task, uint64_t *id, void **next) {
	struct kz_op *op = task;
	struct kz_queue *q = op->q;
	kz_acquire(&q->lock);
	q->blocked_task = NULL;
	q->state = KZ_Q_RUNNING;
	kz_release(&q->lock);
	for (;;) {
		kz_op_finish(q, op);
		if (!(op = q->run) && !(op = more(q))) return 0;
		if (op->kind == KZ_OP_MARK) continue;
		if (op->kind == KZ_OP_WAIT) {
			if (!fence_pass(op->u.fence.f, q)) return 0;
			continue;
		}
		if (next && op->kind == KZ_OP_MEET && kz_meet_step(op, KZ_MEET_SLEEP)) continue; // the caller is nobody's worker: it may sleep
		if (next && (op->kind == KZ_OP_TASK || op->kind == KZ_OP_MEET) && op->inlinable) {
			task_block(q, op);
			*id = op->u.task.id;
			*next = op;
			return 1;
		}
		bool brief = op->brief;
		kz_acquire(&q->lock);
		q->state = KZ_Q_READY;
		kz_release(&q->lock);
		kz_ready_push(q, true, brief, 0);
		return 0;
	}
}

static int run_op(struct kz_ctx *c, struct kz_queue *q, struct kz_op *op, enum kz_driver who) {
	switch (op->kind) {
	case KZ_OP_KERNEL:
		if (!op->u.kernel.k) return RAN; // kz_queue_later: its task had another way, or failed
		// fallthrough
	case KZ_OP_COPY:
	case KZ_OP_FILL:
		if (kz_recorder && !kz_domain_bad(q->d)) kz_trace_begin(op);
		return kz_domain_bad(q->d) || kz_job_start(c, op) ? RAN : ELSEWHERE;
	case KZ_OP_WAIT:
		return fence_pass(op->u.fence.f, q) ? RAN : ELSEWHERE;
	case KZ_OP_MEET:
		if (kz_meet_step(op, who == KZ_WORKER ? KZ_MEET_SPIN : KZ_MEET_SLEEP)) return RAN;
		// fallthrough
	case KZ_OP_TASK:
		return task_pass(q, op, who);
	}
	return RAN; // KZ_OP_MARK: kz_op_finish does it
}

// Something of another queue has waited for longer than op was there, and could have run. (What nobody had to wait for has no time.)
static bool late(const struct kz_queue *q, const struct kz_op *op) {
	return op->job.put && atomic_load_explicit(&q->e->oldest[q->priority], memory_order_relaxed) < op->job.put - ORDER_NS;
}

// Preconditions: q is out of the ready list and the caller's to drive, with the reference that goes with a queue that
// is not IDLE.
struct kz_op *kz_drive(struct kz_ctx *c, struct kz_queue *q, uint64_t until, enum kz_driver who) {
	struct kz_engine *e = q->e;
	bool helper = who != KZ_WORKER;
	int guests = 0;
	for (int turns = 0;; turns++) {
		if (turns % 64 == 63) kz_fault_reassert(kz_nanos());
		struct kz_op *op = q->run;
		if (!op) {
			if (!helper) linger(q);
			if (!(op = more(q))) return NULL;
			if (turns) kz_fault_reassert(kz_nanos()); // it was empty: the program has had its time
		}
		bool leave = op->seq > until || (who == KZ_GUEST && (turns == GUEST_MAX || !op->brief)), behind = late(q, op);
		if (!helper) // a worker lets older and more urgent queues pass, and equal ones now and then
			leave = behind || (turns && (int)atomic_load_explicit(&e->top, memory_order_relaxed) - 1 > q->priority) ||
			        (turns >= 64 && atomic_load_explicit(&e->nready, memory_order_relaxed));
		if (leave) {
			int64_t since = behind ? op->job.put : 0;
			bool brief = op->brief;
			kz_acquire(&q->lock);
			q->state = KZ_Q_READY;
			kz_release(&q->lock);
			kz_ready_push(q, false, brief, since);
			return NULL;
		}
		// One that waits for q does what is older before it, if that is sure to be short: the rest may be waiting for the program.
		struct kz_queue *older = behind && who != KZ_GUEST && guests < GUEST_MAX ? kz_ready_brief(q, op->job.put - ORDER_NS) : NULL;
		if (older) {
			guests++;
			turns--;
			kz_drive(c, older, UINT64_MAX, KZ_GUEST);
			continue;
		}
		for (int i = 0; op->next && i < 4; i++) __builtin_prefetch((char *)op->next + i * KZ_CACHELINE); // it lies in the host's cache
		int r = run_op(c, q, op, who);
		if (r != RAN) return r == HANDED ? op : NULL;
		kz_op_finish(q, op);
	}
}

// --- waiting ---

enum { HELP_NONE, HELP_SOME, HELP_TASK };

static int handed(struct kz_op *op, uint64_t *task_id, void **task) {
	if (!op) return HELP_SOME;
	*task_id = op->u.task.id;
	*task = op;
	return HELP_TASK;
}

// What q waits for, if it is blocked: a fence (referenced), or a task, which is then the caller's to run if it claims it.
static struct kz_fence *blocked_by(struct kz_queue *q, bool claim, struct kz_op **task) {
	kz_acquire(&q->lock);
	struct kz_fence *f = NULL;
	struct kz_op *op = NULL;
	if (q->state == KZ_Q_BLOCKED) {
		f = q->blocked_on;
		op = q->blocked_task;
	}
	if (f) atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
	if (op && claim && (!op->inlinable || !kz_task_claim(q->e, op))) op = NULL;
	kz_release(&q->lock);
	*task = op;
	return f;
}

// Drives q, or works on its job, as far as target. Preconditions: as kz_drive's, or those of kz_job_work.
static int lend(struct kz_ctx *c, struct kz_queue *q, struct kz_op *job, uint64_t target, uint64_t *task_id, void **task) {
	struct kz_engine *e = c->e;
	atomic_fetch_add_explicit(&e->s_helped, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&e->busy, 1, memory_order_relaxed);
	struct kz_op *op = NULL;
	bool mine = !job || kz_job_work(c, job);
	if (mine && job) kz_op_finish(q, job);
	if (mine) op = kz_drive(c, q, target, task ? KZ_GO_HELPER : KZ_HELPER);
	atomic_fetch_sub_explicit(&e->busy, 1, memory_order_relaxed);
	return handed(op, task_id, task);
}

// Does something that brings q nearer to target, if there is anything to do for a thread that is no worker.
static int help(struct kz_ctx **c, struct kz_queue *q, uint64_t target, int depth, uint64_t *task_id, void **task) {
	struct kz_engine *e = q->e;
	struct kz_op *op = NULL;
	bool ready = atomic_load_explicit(&q->in_ready, memory_order_relaxed);
	if (ready || atomic_load_explicit(&q->running_job, memory_order_relaxed)) {
		if (!*c && !(*c = kz_ctx_take(e))) return HELP_NONE;
		if (ready && kz_ready_take(q)) return lend(*c, q, NULL, target, task_id, task);
		if (!kz_job_attach(q, &op)) return HELP_NONE;
		return lend(*c, q, op, target, task_id, task);
	}
	struct kz_fence *f = blocked_by(q, task != NULL, &op);
	if (op) return task ? handed(op, task_id, task) : HELP_TASK;
	if (!f) return HELP_NONE;
	kz_acquire(&f->lock);
	struct kz_queue *other = f->q;
	uint64_t seq = f->seq;
	if (other) kz_queue_ref(other);
	kz_release(&f->lock);
	kz_fence_unref(f);
	int r = HELP_NONE;
	if (other) {
		if (depth < FOLLOW_MAX) r = help(c, other, seq, depth + 1, task_id, task);
		kz_queue_unref(other);
	}
	return r;
}

static int sync_to(struct kz_queue *q, uint64_t target, uint64_t *task_id, void **task) {
	struct kz_ctx *c = NULL;
	int64_t idle_since = 0;
	int rc = KZ_OK;
	bool waits = atomic_load_explicit(&q->completed, memory_order_acquire) < target;
	if (waits) atomic_fetch_add_explicit(&q->hurry, 1, memory_order_relaxed);
	while (atomic_load_explicit(&q->completed, memory_order_acquire) < target) {
		int r = help(&c, q, target, 0, task_id, task);
		if (r == HELP_TASK) {
			rc = KZ_TASK;
			break;
		}
		if (r == HELP_SOME) {
			idle_since = 0;
			continue;
		}
		int64_t now = kz_nanos();
		if (!idle_since) idle_since = now;
		if (now - idle_since < SPIN_NS) {
			for (int i = 0; i < 8 && atomic_load_explicit(&q->completed, memory_order_acquire) < target; i++) kz_relax();
			continue;
		}
		if (c) {
			kz_ctx_give(c);
			c = NULL;
		}
		wait_on(q, target);
		idle_since = 0;
	}
	if (c) kz_ctx_give(c);
	if (waits) atomic_fetch_sub_explicit(&q->hurry, 1, memory_order_relaxed);
	if (rc != KZ_OK) return rc;
	kz_fifo_flush(q->d);
	return kz_domain_bad(q->d) ? KZ_POISONED : KZ_OK;
}

int kz_queue_sync(struct kz_queue *q, uint64_t *task_id, void **task) {
	kz_acquire(&q->lock);
	uint64_t target = q->submitted;
	kz_release(&q->lock);
	return sync_to(q, target, task_id, task);
}

int kz_queue_done(struct kz_queue *q) {
	kz_acquire(&q->lock);
	bool done = atomic_load_explicit(&q->completed, memory_order_acquire) == q->submitted;
	kz_release(&q->lock);
	return done;
}

int kz_fence_sync(struct kz_fence *f, uint64_t *task_id, void **task) {
	kz_acquire(&f->lock);
	struct kz_queue *q = f->q;
	if (q) kz_queue_ref(q);
	kz_release(&f->lock);
	if (!q) return KZ_OK;
	int rc = sync_to(q, f->seq, task_id, task);
	kz_queue_unref(q);
	return rc;
}
