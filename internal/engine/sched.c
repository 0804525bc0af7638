// The scheduler: worker threads, the ready list of queues, and jobs whose blocks several threads share.
//
// A worker without work polls for a moment, then one of them keeps watch in short sleeps, and after a few milliseconds
// of silence all sleep. So a launch costs no system call while the engine is in use, work that nobody waits for is
// picked up within the watcher's period, and an idle process uses no time. Short work is left for a moment to the thread
// that launched it: it usually synchronizes next and then runs it itself.
//
// A job has at most as many threads as there are workers, those that synchronize included: one more than there are
// processors, and the job ends when a thread that was pushed aside comes back for its chunk. Blocks that wait for each
// other and cannot be left are another matter: they get all the threads there are.
#include "internal.h"
#include "chunk.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum {
	GRACE_NS = 5000,      // short work is its launcher's for this long
	SPIN_NS = 20000,      // a worker polls this long before it sleeps
	WATCH_NS = 50000,     // the watcher's period
	QUIET_NS = 3000000,   // silence after which the watcher sleeps for good
	SPIN_JOB_NS = 200000, // or this long while a job is not over: its queue's next one may follow
	WAKE_NS = 5000,       // a job shorter than this is not worth waking anyone
	SHARE_NS = 10000,     // the share of a job that is worth waking a thread for
	FAN = 4,              // threads that one thread wakes: each costs it microseconds, and wakes others in turn
	EXTRA_MAX = 4096,     // threads that stand in for yielding ones: 32 blocks on each of 128 multiprocessors
	EXTRA_GAP_NS = 20000, // between two that yields ask for
	EXTRA_IDLE_NS = 2000000000,
	CONTEXTS_MAX = 8192,
};

// --- contexts ---

// A new context, or NULL: there are enough, or the system has no memory for it.
static struct kz_ctx *ctx_make(struct kz_engine *e) {
	kz_acquire(&e->ctx_lock);
	bool make = e->ncontexts < CONTEXTS_MAX;
	uint32_t id = 0;
	if (make) {
		e->ncontexts++;
		id = e->next_id++ % (uint32_t)e->n; // %smid stays below the number of multiprocessors
	}
	kz_release(&e->ctx_lock);
	if (!make) return NULL;
	struct kz_ctx *c = kz_ctx_new(e, id);
	kz_acquire(&e->ctx_lock);
	if (!c) e->ncontexts--;
	else {
		c->next_all = e->all_contexts;
		if (c->next_all) c->next_all->prev_all = c;
		e->all_contexts = c;
	}
	kz_release(&e->ctx_lock);
	return c;
}

// The thread runs with this context from here on.
static struct kz_ctx *ctx_enter(struct kz_ctx *c) {
	static __thread bool seen __attribute__((tls_model("initial-exec")));
	if (!seen) { // a stack overflow can only be caught on another stack
		kz_altstack();
		seen = true;
	}
	int64_t now = kz_nanos();
	kz_fault_reassert(now);
	c->masked = kz_fault_unmask(now);
	c->thread = pthread_self();
	kz_ctx_bind(c);
	return c;
}

struct kz_ctx *kz_ctx_take(struct kz_engine *e) {
	kz_acquire(&e->ctx_lock);
	struct kz_ctx *c = e->contexts;
	if (c) e->contexts = c->next;
	kz_release(&e->ctx_lock);
	if (!c) c = ctx_make(e);
	return c ? ctx_enter(c) : NULL;
}

// A thread that stood in takes its context with it: thousands of them, each with memory that its kernels touched, are
// too many to keep.
static void ctx_drop(struct kz_ctx *c) {
	struct kz_engine *e = c->e;
	kz_ctx_bind(NULL);
	kz_acquire(&e->ctx_lock);
	e->ncontexts--;
	if (c->next_all) c->next_all->prev_all = c->prev_all;
	if (c->prev_all) c->prev_all->next_all = c->next_all;
	else e->all_contexts = c->next_all;
	e->kernels_gone += atomic_load_explicit(&c->kernels, memory_order_relaxed);
	kz_release(&e->ctx_lock);
	kz_ctx_free(c);
}

void kz_ctx_give(struct kz_ctx *c) {
	kz_ctx_bind(NULL);
	if (c->masked) kz_fault_remask(c->masked);
	c->masked = 0;
	kz_acquire(&c->e->ctx_lock);
	c->next = c->e->contexts;
	c->e->contexts = c;
	kz_release(&c->e->ctx_lock);
}

// --- waking ---

void kz_wake(struct kz_engine *e, int n) {
	if (!atomic_load(&e->sleeping) && !atomic_load(&e->watching)) return;
	atomic_fetch_add(&e->event, 1);
	atomic_fetch_add_explicit(&e->s_wakes, 1, memory_order_relaxed);
	kz_futex_wake(&e->event, n);
}

// --- jobs ---

// Blocks that wait for each other need a thread each, unless they can be left and taken up again. Those that can get no more threads than
// others do: a thread that is pushed aside with a block lets all later ones wait.
static bool thread_each(const struct kz_op *op) { return op->job.spins && !(op->kind == KZ_OP_KERNEL && op->u.kernel.k->i.resumable); }

// Says whether threads may join. Preconditions: e->lock is held.
static void tally(struct kz_engine *e, struct kz_op *op) {
	struct kz_job *j = &op->job;
	bool open = j->listed && (thread_each(op) || atomic_load_explicit(&j->active, memory_order_relaxed) < (uint32_t)e->n);
	if (open == j->open) return;
	j->open = open;
	atomic_store_explicit(&op->q->running_job, open ? op : NULL, memory_order_relaxed);
	if (open) atomic_fetch_add(&e->njobs, 1);
	else atomic_fetch_sub(&e->njobs, 1);
}

static void unlist(struct kz_engine *e, struct kz_op *op) { // Preconditions: e->lock is held.
	if (!op->job.listed) return;
	op->job.listed = false;
	if (op->job.prev) op->job.prev->job.next_job = op->job.next_job;
	else e->jobs_head = op->job.next_job;
	if (op->job.next_job) op->job.next_job->job.prev = op->job.prev;
	else e->jobs_tail = op->job.prev;
	tally(e, op);
}

static void list(struct kz_engine *e, struct kz_op *op) { // Preconditions: e->lock is held.
	op->job.listed = true;
	op->job.next_job = NULL;
	op->job.prev = e->jobs_tail;
	if (op->job.prev) op->job.prev->job.next_job = op;
	else e->jobs_head = op;
	e->jobs_tail = op;
	tally(e, op);
}

static void join(struct kz_engine *e, struct kz_op *op) { // Preconditions: e->lock is held and op is open.
	atomic_fetch_add(&op->job.active, 1);
	tally(e, op);
}

static void fail(struct kz_op *op, const struct kz_fault *f) {
	kz_domain_poison(op->q->d, f);
	atomic_store(&op->job.failed, 1);
	atomic_store(&op->job.next, op->job.total);
}

static void learn(struct kz_op *op, int64_t ns, uint64_t blocks) {
	if (op->kind != KZ_OP_KERNEL) return;
	_Atomic uint64_t *avg = &op->u.kernel.k->block_ns;
	uint64_t x = (uint64_t)ns * 16 / blocks + 1, old = atomic_load_explicit(avg, memory_order_relaxed);
	atomic_store_explicit(avg, old ? old - old / 4 + x / 4 : x, memory_order_relaxed);
}

// A job of one block that was thought long, or never ran. Once it turns out short that replaces what was thought.
static void learn_one(struct kz_op *op, int64_t ns) {
	if (ns < BRIEF_NS) atomic_store_explicit(&op->u.kernel.k->block_ns, 0, memory_order_relaxed);
	learn(op, ns, 1);
}

// A job's chunks are learned from as one: where the first blocks do the work and the last find none left, as in kernels that deal it
// out themselves, the last chunks alone would make the next launch look too short to share. Only what never ran is learned at once.
static void learn_chunk(struct kz_op *op, int64_t ns, uint64_t blocks) {
	if (op->kind != KZ_OP_KERNEL) return;
	if (!atomic_load_explicit(&op->u.kernel.k->block_ns, memory_order_relaxed)) learn(op, ns, blocks);
	atomic_fetch_add_explicit(&op->job.spent, (uint64_t)(ns > 0 ? ns : 0), memory_order_relaxed);
}

static bool run_blocks(struct kz_ctx *c, struct kz_op *op, uint64_t first, uint64_t count) {
	struct kz_fault f;
	c->yields = c->naps = 0;
	if (c->e->order != KZ_ORDER_FORWARD && op->kind == KZ_OP_KERNEL) {
		for (uint64_t i = first; i < first + count; i++)
			if (kz_run_blocks(c, op, kz_turn(c->e, op, i), 1, &f) != KZ_FAULT_NONE) {
				fail(op, &f);
				return false;
			}
		return true;
	}
	if (kz_run_blocks(c, op, first, count, &f) == KZ_FAULT_NONE) return true;
	fail(op, &f);
	return false;
}

// Another worker should rather begin something else: more urgent, or waiting while this job has several threads.
static bool should_leave(struct kz_engine *e, struct kz_op *op) {
	if (!atomic_load_explicit(&e->nready, memory_order_relaxed)) return false;
	if ((int)atomic_load_explicit(&e->top, memory_order_relaxed) - 1 > op->q->priority) return true;
	return atomic_load_explicit(&op->job.active, memory_order_relaxed) > 1;
}

static bool job_leave(struct kz_engine *e, struct kz_op *op) {
	struct kz_job *j = &op->job;
	kz_acquire(&e->lock);
	bool over = atomic_load(&j->next) >= j->total;
	if (over) unlist(e, op);
	bool last = atomic_fetch_sub(&j->active, 1) == 1;
	tally(e, op);
	if (over && last) atomic_fetch_sub_explicit(&e->running, 1, memory_order_relaxed);
	kz_release(&e->lock);
	if (!over || !last) return false;
	uint64_t spent = atomic_load_explicit(&j->spent, memory_order_relaxed);
	if (spent && !atomic_load(&j->failed)) learn(op, (int64_t)spent, j->total);
	return true;
}

bool kz_job_work(struct kz_ctx *c, struct kz_op *op) {
	struct kz_engine *e = c->e;
	struct kz_job *j = &op->job;
	_Atomic uint64_t *known = op->kind == KZ_OP_KERNEL ? &op->u.kernel.k->block_ns : NULL;
	uint64_t total = j->total, own = 0, chunks = 0; // own: of a block of this thread's last chunk, in 1/16 ns
	if (op->kind == KZ_OP_KERNEL && op->u.kernel.cluster > 0) {
		struct kz_fault f;
		if (kz_cluster_blocks(c, op, &f) != KZ_FAULT_NONE) fail(op, &f);
		return job_leave(e, op);
	}
	if (op->kind == KZ_OP_KERNEL && op->u.kernel.k->i.resumable && total > 1) {
		struct kz_fault f;
		if (kz_spin_blocks(c, op, &f) != KZ_FAULT_NONE) fail(op, &f);
		return job_leave(e, op);
	}
	for (;;) {
		uint64_t at = atomic_load_explicit(&j->next, memory_order_relaxed);
		if (at >= total) break;
		uint64_t avg = known ? atomic_load_explicit(known, memory_order_relaxed) : 0;
		uint64_t n = j->spins ? 1 : kz_chunk(total, total - at, (uint64_t)e->n, own > avg ? own : avg);
		at = atomic_fetch_add(&j->next, n);
		if (at >= total) break;
		if (at + n >= total) { // nothing is left for others to find
			n = total - at;
			kz_acquire(&e->lock);
			unlist(e, op);
			kz_release(&e->lock);
		}
		chunks++;
		int64_t t0 = kz_nanos();
		if (!run_blocks(c, op, at, n)) break;
		int64_t dt = kz_nanos() - t0;
		learn_chunk(op, dt, n);
		own = (uint64_t)(dt > 0 ? dt : 0) * 16 / n + 1;
		if (should_leave(e, op)) break;
	}
	atomic_fetch_add_explicit(&e->s_chunks, chunks, memory_order_relaxed);
	return job_leave(e, op);
}

bool kz_job_take(struct kz_engine *e, struct kz_op *op, uint64_t *block) {
	struct kz_job *j = &op->job;
	if (atomic_load_explicit(&j->next, memory_order_relaxed) >= j->total) return false;
	uint64_t at = atomic_fetch_add(&j->next, 1);
	if (at >= j->total) return false;
	if (at + 1 >= j->total) { // nothing is left for others to find
		kz_acquire(&e->lock);
		unlist(e, op);
		kz_release(&e->lock);
	}
	atomic_fetch_add_explicit(&e->s_chunks, 1, memory_order_relaxed);
	*block = kz_turn(e, op, at);
	return true;
}

bool kz_job_attach(struct kz_queue *q, struct kz_op **out) {
	struct kz_engine *e = q->e;
	kz_acquire(&e->lock);
	struct kz_op *op = atomic_load_explicit(&q->running_job, memory_order_relaxed);
	if (op) join(e, op);
	kz_release(&e->lock);
	*out = op;
	return op != NULL;
}

bool kz_job_start(struct kz_ctx *c, struct kz_op *op) {
	struct kz_engine *e = c->e;
	struct kz_job *j = &op->job;
	if (op->kind == KZ_OP_KERNEL) // a counter of all threads would cost the shortest kernels a twentieth
		atomic_store_explicit(&c->kernels, atomic_load_explicit(&c->kernels, memory_order_relaxed) + 1, memory_order_relaxed);
	op->began = op->kind == KZ_OP_KERNEL && e->limit ? kz_millis() : 0;
	bool together = op->kind == KZ_OP_KERNEL && op->u.kernel.cluster > 0; // the parts are clusters, not blocks
	if (j->total == 1 && !together) {
		// The clock takes longer than the shortest kernels: what is known to be short is timed as often as its time is counted. Anything
		// else always is: the first run of a kernel also waits for the pages of its code, and any run may be taken off its processor.
		uint64_t ns = op->kind == KZ_OP_KERNEL ? atomic_load_explicit(&op->u.kernel.k->block_ns, memory_order_relaxed) : 1;
		bool known = ns && ns / 16 < BRIEF_NS;
		int64_t t0 = known ? 0 : kz_nanos();
		c->took = 0;
		if (run_blocks(c, op, 0, 1) && (!known || c->took) && op->kind == KZ_OP_KERNEL) learn_one(op, known ? c->took : kz_nanos() - t0);
		return true;
	}
	uint64_t est = op->kind == KZ_OP_KERNEL ? atomic_load_explicit(&op->u.kernel.k->block_ns, memory_order_relaxed) : 0;
	if (est && !j->spins && !together && j->total < (1 << 20) && est / 16 * j->total < WAKE_NS) {
		// Alone, if it is as short as it used to be: a sixteenth tells.
		uint64_t n = (j->total + 15) / 16;
		int64_t t0 = kz_nanos();
		if (!run_blocks(c, op, 0, n)) return true;
		int64_t dt = kz_nanos() - t0;
		if (n == j->total || dt * 16 < 2 * WAKE_NS) {
			learn(op, dt, n);
			if (n < j->total) run_blocks(c, op, n, j->total - n);
			return true;
		}
		learn_chunk(op, dt, n);
		atomic_store(&j->next, n);
	}
	uint64_t want = j->total < (uint64_t)e->n ? j->total : (uint64_t)e->n;
	double shares = (double)est / 16 * (double)j->total / SHARE_NS;
	if (est && !j->spins && !together && shares < (double)want) want = want < 2 + (uint64_t)shares ? want : 2 + (uint64_t)shares;
	j->want = (uint32_t)want;
	atomic_store(&j->active, 1);
	kz_acquire(&e->lock);
	atomic_fetch_add_explicit(&e->running, 1, memory_order_relaxed);
	list(e, op);
	kz_release(&e->lock);
	uint32_t have = 1 + atomic_load(&e->spinning);
	if (want > have) kz_wake(e, want - have < FAN ? (int)(want - have) : FAN);
	if (thread_each(op) && j->total > (uint64_t)e->n && j->total <= EXTRA_MAX) kz_extra(e, (uint32_t)(j->total - (uint64_t)e->n));
	return kz_job_work(c, op);
}

// --- finding work ---

struct work { struct kz_queue *q; struct kz_op *op; };

static bool find_work(struct kz_engine *e, struct work *w) {
	if (!atomic_load(&e->nready) && !atomic_load(&e->njobs)) return false;
	int64_t now = 0;
	*w = (struct work){0};
	kz_acquire(&e->lock);
	for (int p = KZ_PRIORITIES - 1; p >= 0 && !w->q && !w->op; p--) {
		struct kz_queue *young = NULL; // the first that is left to its launcher for a moment
		for (struct kz_queue *q = e->ready_head[p]; q && !w->q; q = q->next) {
			if (q->small) {
				if (!now) now = kz_nanos();
				if (now - q->ready_at < GRACE_NS) {
					if (!young) young = q;
					continue;
				}
			}
			w->q = young ? young : q; // nothing younger goes before it
		}
		if (w->q) kz_ready_remove(w->q);
		for (struct kz_op *op = e->jobs_head; op && !w->q && !w->op; op = op->job.next_job) {
			if (op->q->priority != p || !op->job.open || atomic_load_explicit(&op->job.next, memory_order_relaxed) >= op->job.total) continue;
			unlist(e, op); // to the end: jobs share the threads that come
			list(e, op);
			join(e, op);
			w->op = op;
		}
	}
	kz_release(&e->lock);
	return w->q || w->op;
}

static bool pending(struct kz_engine *e) { return atomic_load(&e->nready) || atomic_load(&e->njobs); }

// Wakes others if there is more than this thread can do; op is the job that it has joined, or NULL.
static void rouse(struct kz_engine *e, struct kz_op *op) {
	if (!pending(e) || atomic_load(&e->spinning)) return;
	int n = atomic_load(&e->nready) > 0;
	uint32_t active = op ? atomic_load_explicit(&op->job.active, memory_order_relaxed) : 0;
	if (!op || atomic_load_explicit(&e->running, memory_order_relaxed) > 1) n += 2; // for the jobs of others
	else if (op->job.want > active) n += op->job.want - active < FAN ? (int)(op->job.want - active) : FAN;
	if (n) kz_wake(e, n);
}

static void work_on(struct kz_ctx *c, struct work *w) {
	if (w->op) {
		struct kz_queue *q = w->op->q;
		if (!kz_job_work(c, w->op)) return;
		kz_op_finish(q, w->op);
		kz_drive(c, q, UINT64_MAX, KZ_WORKER);
	} else {
		kz_drive(c, w->q, UINT64_MAX, KZ_WORKER);
	}
}

static void do_work(struct kz_ctx *c, struct work *w) {
	kz_fault_reassert(kz_nanos());
	rouse(c->e, w->op);
	atomic_fetch_add_explicit(&c->e->busy, 1, memory_order_relaxed);
	work_on(c, w);
	atomic_fetch_sub_explicit(&c->e->busy, 1, memory_order_relaxed);
}

// Waits until there may be work: polls, keeps watch, sleeps. True if w holds some.
static bool await_work(struct kz_engine *e, struct work *w) {
	bool got = false;
	int64_t now = kz_nanos(), end = now + SPIN_NS, last = now + SPIN_JOB_NS;
	// Polling is for idle processors: where every one has a thread that works, it would push that aside. A worker that the system put on
	// the program's processor has pushed the program aside already, which would give it the next work.
	bool room = atomic_load_explicit(&e->busy, memory_order_relaxed) + atomic_load(&e->spinning) < (uint32_t)e->n &&
	            atomic_load_explicit(&e->host_cpu, memory_order_relaxed) != sched_getcpu();
	if (room) atomic_fetch_add(&e->spinning, 1);
	while (room && !got && now < end && !atomic_load_explicit(&e->stopping, memory_order_relaxed)) {
		for (int i = 0; i < 16 && !pending(e); i++) kz_relax();
		got = pending(e) && find_work(e, w);
		if (!got && pending(e)) // too young for us: keep off the lock that its launcher needs
			for (int i = 0; i < 32; i++) kz_relax();
		now = kz_nanos();
		if (atomic_load_explicit(&e->running, memory_order_relaxed)) end = now + SPIN_NS < last ? now + SPIN_NS : last;
	}
	if (room) atomic_fetch_sub(&e->spinning, 1);
	uint32_t none = 0;
	if (!got && atomic_compare_exchange_strong(&e->watching, &none, 1)) {
		end = kz_nanos() + QUIET_NS;
		for (;;) {
			uint32_t ev = atomic_load(&e->event);
			got = find_work(e, w);
			if (got || atomic_load(&e->stopping) || (kz_nanos() > end && !pending(e))) break;
			kz_futex_wait(&e->event, ev, WATCH_NS);
		}
		atomic_store(&e->watching, 0);
	}
	if (got) return true;
	atomic_fetch_add(&e->sleeping, 1);
	uint32_t ev = atomic_load(&e->event);
	if (!pending(e) && !atomic_load(&e->stopping)) kz_futex_wait(&e->event, ev, -1);
	atomic_fetch_sub(&e->sleeping, 1);
	return false;
}

// --- threads ---

static void thread_join(struct kz_thread *t) {
	if (!t) return;
	pthread_join(t->id, NULL);
	free(t);
}

// Takes n threads out of the count of those that stand in, and tells kz_engine_stop when none is left.
// Preconditions: e->lock is held.
static void extra_gone(struct kz_engine *e, uint32_t n) {
	e->nextra -= n;
	if (e->nextra || !atomic_load(&e->stopping)) return;
	atomic_fetch_add(&e->extra_event, 1);
	kz_futex_wake(&e->extra_event, INT32_MAX);
}

// The end of a thread that stood in. Each joins the one that ended before it, so that no more than one is ever unjoined; who
// joins the last knows that all of them are out of this code and of the engine.
static void extra_end(struct kz_thread *t) {
	struct kz_engine *e = t->e;
	t->id = pthread_self();
	kz_acquire(&e->lock);
	struct kz_thread *before = e->extra_ended;
	e->extra_ended = t;
	extra_gone(e, 1);
	kz_release(&e->lock);
	thread_join(before);
}

static void *worker_main(void *arg) {
	struct kz_thread *t = arg;
	struct kz_engine *e = t->e;
	char name[16];
	snprintf(name, sizeof name, t->extra ? "kudzu-x%u" : "kudzu-%u", t->number % 100000);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_TIMERSLACK, 1);
	void *alt = kz_altstack();
	struct kz_ctx *c = t->first ? ctx_enter(t->first) : kz_ctx_take(e);
	struct work w;
	if (!c) { // one that was to stand in, and there is no memory for it: who waits asks again
		kz_acquire(&e->lock);
		if (e->permits) e->permits--;
		kz_release(&e->lock);
	}
	while (!t->extra && !atomic_load_explicit(&e->stopping, memory_order_relaxed))
		if (find_work(e, &w) || await_work(e, &w)) do_work(c, &w);
	while (c && t->extra) {
		kz_acquire(&e->lock);
		bool stop = atomic_load(&e->stopping), go = !stop && e->permits > 0;
		if (go) e->permits--;
		else if (!stop) e->extra_idle++;
		uint32_t ev = atomic_load(&e->extra_event); // under the lock, as kz_engine_stop counts it up: no wake is lost
		kz_release(&e->lock);
		if (stop) break;
		if (go) {
			if (find_work(e, &w)) do_work(c, &w);
			continue;
		}
		int r = kz_futex_wait(&e->extra_event, ev, EXTRA_IDLE_NS);
		kz_acquire(&e->lock);
		e->extra_idle--;
		bool quit = r == ETIMEDOUT && !e->permits;
		kz_release(&e->lock);
		if (quit) break;
	}
	if (c && t->extra) ctx_drop(c);
	else if (c) kz_ctx_give(c);
	kz_altstack_free(alt);
	if (t->extra) extra_end(t);
	return NULL;
}

int kz_thread_start(pthread_t *id, void *(*fn)(void *), void *arg) {
	sigset_t all, old;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = EINVAL;
	// Kernels run on their context's stack. But the host's thread-local variables live on ours, and may take megabytes.
	for (size_t bytes = 256 << 10; rc == EINVAL && bytes <= 256 << 20; bytes *= 4) {
		pthread_attr_setstacksize(&a, bytes);
		rc = pthread_create(id, &a, fn, arg);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&a);
	return rc;
}

static int spawn(struct kz_engine *e, uint32_t number, bool extra) {
	struct kz_thread *t = calloc(1, sizeof *t);
	if (!t) return KZ_NOMEM;
	t->e = e;
	t->number = number;
	t->extra = extra;
	if (!extra && !(t->first = ctx_make(e))) { // a worker is never without
		free(t);
		return KZ_NOMEM;
	}
	pthread_t id;
	if (kz_thread_start(&id, worker_main, t) != 0) {
		if (t->first) ctx_drop(t->first);
		free(t);
		return KZ_SYSTEM;
	}
	if (!extra) {
		t->id = id;
		t->next = e->threads;
		e->threads = t;
	}
	return KZ_OK;
}

void kz_extra(struct kz_engine *e, uint32_t n) {
	kz_acquire(&e->lock);
	if (e->permits < EXTRA_MAX) e->permits += n;
	uint32_t have = e->extra_idle, make = e->permits > have ? e->permits - have : 0;
	if (make > n) make = n;
	if (make > EXTRA_MAX - e->nextra) make = EXTRA_MAX - e->nextra;
	e->nextra += make;
	e->extra_at = kz_nanos();
	kz_release(&e->lock);
	atomic_fetch_add(&e->extra_event, 1);
	kz_futex_wake(&e->extra_event, INT32_MAX);
	for (; make; make--) {
		atomic_fetch_add_explicit(&e->s_extra, 1, memory_order_relaxed);
		if (spawn(e, (uint32_t)atomic_load(&e->s_extra), true) == KZ_OK) continue;
		kz_acquire(&e->lock);
		e->permits -= e->permits < make ? e->permits : make; // or nobody would ask for others
		extra_gone(e, make);
		kz_release(&e->lock);
		break;
	}
}

// A thread of the kernel waits for memory to change. If another block, queue or the host's next launch is what it waits
// for, someone must run that: when work is waiting and every worker is busy, a further thread stands in.
void kz_yield(struct kz_ctx *c) {
	struct kz_engine *e = c->e;
	struct kz_op *op = c->op;
	if (atomic_load_explicit(&op->job.failed, memory_order_relaxed) || kz_domain_bad(op->q->d)) {
		c->armed = 0;
		kz_leave(&c->jump, KZ_ABORTED); // what it waits for will not come
	}
	uint32_t n = ++c->yields;
	if (n % 16) {
		kz_relax();
		return;
	}
	if (kz_late(e, op->began)) {
		c->armed = 0;
		c->sig_pc = 0;
		kz_leave(&c->jump, KZ_LATE);
	}
	if (n % 64 == 0) {
		atomic_fetch_add_explicit(&e->s_yields, 64, memory_order_relaxed);
		kz_stand_in(c);
	}
	sched_yield();
}

void kz_stand_in(struct kz_ctx *c) {
	struct kz_engine *e = c->e;
	if (!pending(e)) return;
	if (atomic_load(&e->sleeping) || atomic_load(&e->watching)) kz_wake(e, 1);
	else if (!atomic_load(&e->spinning)) {
		kz_acquire(&e->lock);
		bool due = kz_nanos() - e->extra_at > EXTRA_GAP_NS && e->permits == 0;
		kz_release(&e->lock);
		if (due) kz_extra(e, 1);
	}
}

// --- tasks ---

void kz_task_post(struct kz_engine *e, struct kz_op *op) {
	kz_acquire(&e->task_lock);
	op->job.next_job = NULL;
	if (e->task_tail) e->task_tail->job.next_job = op;
	else e->task_head = op;
	e->task_tail = op;
	kz_release(&e->task_lock);
	atomic_fetch_add(&e->task_event, 1);
	kz_futex_wake(&e->task_event, 1);
}

bool kz_task_claim(struct kz_engine *e, struct kz_op *op) {
	bool found = false;
	kz_acquire(&e->task_lock);
	struct kz_op *prev = NULL;
	for (struct kz_op *t = e->task_head; t && !found; prev = t, t = t->job.next_job) {
		if (t != op) continue;
		found = true;
		if (prev) prev->job.next_job = t->job.next_job;
		else e->task_head = t->job.next_job;
		if (e->task_tail == t) e->task_tail = prev;
		break;
	}
	kz_release(&e->task_lock);
	return found;
}

int kz_task_next(struct kz_engine *e, uint64_t *id, void **task) {
	for (;;) {
		uint32_t ev = atomic_load(&e->task_event);
		kz_acquire(&e->task_lock);
		struct kz_op *op = e->task_head;
		if (op) {
			e->task_head = op->job.next_job;
			if (!e->task_head) e->task_tail = NULL;
		}
		kz_release(&e->task_lock);
		if (op) {
			*id = op->u.task.id;
			*task = op;
			return 0;
		}
		if (atomic_load(&e->stopping)) return 1;
		kz_futex_wait(&e->task_event, ev, -1);
	}
}

// --- engine ---

int kz_engine_start(int threads, struct kz_engine **out) {
	struct kz_arena_view v;
	kz_arena_open(&v);
	struct kz_engine *e = aligned_alloc(KZ_CACHELINE, (sizeof *e + 63) & ~(size_t)63);
	if (!e) return KZ_NOMEM;
	memset(e, 0, sizeof *e);
	kz_lock_init(&e->lock, KZ_RANK_ENGINE);
	kz_lock_init(&e->ctx_lock, KZ_RANK_CONTEXTS);
	kz_lock_init(&e->all_lock, KZ_RANK_QUEUES);
	kz_lock_init(&e->task_lock, KZ_RANK_TASKS);
	e->n = threads < 1 ? 1 : threads;
	e->host_cpu = -1;
	kz_ready_start(e);
	e->narrow = !kz_windows_fit(e->n);
	kz_fault_install();
	int rc = KZ_OK;
	for (int i = 0; i < e->n; i++)
		if ((rc = spawn(e, (uint32_t)i, false)) != KZ_OK) {
			if (i == 0) {
				free(e);
				return rc;
			}
			e->n = i; // fewer than asked for
			break;
		}
	*out = e;
	return KZ_OK;
}

int kz_engine_threads(struct kz_engine *e) { return e->n; }

int kz_engine_narrow(struct kz_engine *e) { return e->narrow; }

void kz_engine_stats(struct kz_engine *e, struct kz_stats *s) {
	*s = (struct kz_stats){
		.chunks = e->s_chunks, .helped = e->s_helped, .wakes = e->s_wakes, .extra = e->s_extra, .yields = e->s_yields, .parked = e->s_parked,
	};
	kz_acquire(&e->ctx_lock);
	s->contexts = e->ncontexts;
	s->kernels = e->kernels_gone;
	for (struct kz_ctx *c = e->all_contexts; c; c = c->next_all) s->kernels += atomic_load_explicit(&c->kernels, memory_order_relaxed);
	kz_release(&e->ctx_lock);
	kz_acquire(&e->lock);
	s->threads = (uint32_t)e->n + e->nextra;
	kz_release(&e->lock);
}

void kz_engine_halt(struct kz_engine *e) {
	atomic_store(&e->stopping, 1);
	atomic_fetch_add(&e->event, 1);
	kz_futex_wake(&e->event, INT32_MAX);
	atomic_fetch_add(&e->task_event, 1);
	kz_futex_wake(&e->task_event, INT32_MAX);
}

void kz_engine_stop(struct kz_engine *e) {
	kz_engine_halt(e);
	kz_watch_stop(e);
	for (struct kz_thread *t = e->threads, *next; t; t = next) {
		next = t->next;
		thread_join(t);
	}
	kz_acquire(&e->lock);
	atomic_fetch_add(&e->extra_event, 1);
	kz_futex_wake(&e->extra_event, INT32_MAX);
	while (e->nextra) {
		uint32_t ev = atomic_load(&e->extra_event);
		kz_release(&e->lock);
		kz_futex_wait(&e->extra_event, ev, -1);
		kz_acquire(&e->lock);
	}
	struct kz_thread *last = e->extra_ended;
	kz_release(&e->lock);
	thread_join(last);
	for (struct kz_ctx *c = e->contexts, *next; c; c = next) {
		next = c->next;
		kz_ctx_free(c);
	}
	free(e);
}
