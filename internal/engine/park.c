// Blocks that wait for other blocks: a worker leaves such a block where it waits and runs another, so that any number of
// blocks can be under way on few threads. Kernel code keeps nothing on the stack while it waits: a block is its frame, its
// shared and its local memory, and parking it is putting those aside.
#include "internal.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PARK_FIRST = 32,   // yields before a block is left: most wait for one that another worker is just ending
	PARK_AGAIN = 4,    // and before it is left again
	AHEAD = 4,         // blocks that a worker leaves before it asks for patience
	PACE_NS = 2000,    // the n-th beyond that is begun when nothing ended for n times this
	PARKED_MAX = 4096, // of one worker: the blocks of a cooperative launch on 128 multiprocessors
	SPARE_MAX = 16,    // areas that a worker keeps when it has nothing parked
	ROW_SLOTS = 64,    // shared memories in one reservation
};

// So far apart no offset inside the hardware's window leads from one to another, and no power of two does.
#define ROW_STRIDE (UINT64_C(20) << 20)

struct kz_rows {
	struct kz_row r;
	uint32_t taken;
	struct kz_rows *next;
};

// The next place in the rows of shared memories; false without memory.
static bool place_new(struct kz_ctx *c, struct kz_shared *s) {
	struct kz_rows *r = c->rows;
	if (!r || r->taken == r->r.slots) {
		if (!(r = calloc(1, sizeof *r))) return false;
		if (kz_row_open(&r->r, c->e->narrow, ROW_SLOTS, c->e->narrow ? 2 * KZ_SHARED : ROW_STRIDE) != KZ_OK) {
			free(r);
			return false;
		}
		r->next = c->rows;
		c->rows = r;
	}
	*s = kz_row_slot(&r->r, r->taken++);
	return true;
}

static struct kz_area *area_new(struct kz_ctx *c) {
	struct kz_area *a = c->bare;
	if (a) {
		c->bare = a->next;
		return a;
	}
	if (!(a = calloc(1, sizeof *a))) return NULL;
	if (place_new(c, &a->shared)) return a;
	free(a);
	return NULL;
}

// Gives the area's memory back; its addresses stay.
static void area_empty(struct kz_ctx *c, struct kz_area *a) {
	madvise(a->shared.end - KZ_SHARED, KZ_SHARED, MADV_DONTNEED);
	if (a->frame) munmap(a->frame, a->frame_bytes);
	a->frame = NULL;
	a->frame_bytes = 0;
	kz_local_free(&a->local);
	kz_called_free(a->called);
	a->called = NULL;
	a->next = c->bare;
	c->bare = a;
}

void kz_area_swap(struct kz_ctx *c, struct kz_area *a) {
	struct kz_area old = *a;
	a->shared = c->shared;
	a->frame = c->w.frame;
	a->local = c->local;
	a->frame_bytes = c->frame_bytes;
	a->called = c->called;
	c->shared = old.shared;
	c->w.frame = old.frame;
	c->local = old.local;
	c->frame_bytes = old.frame_bytes;
	c->called = old.called;
}

static void keep(struct kz_ctx *c, struct kz_area *a) {
	a->next = c->spare;
	c->spare = a;
	c->nspare++;
}

static struct kz_area *take(struct kz_ctx *c) {
	struct kz_area *a = c->spare;
	c->spare = a->next;
	c->nspare--;
	return a;
}

void kz_park_free(struct kz_ctx *c) {
	while (c->spare) area_empty(c, take(c));
	for (struct kz_area *a = c->bare, *next; a; a = next) {
		next = a->next;
		free(a);
	}
	for (struct kz_rows *r = c->rows, *next; r; r = next) {
		next = r->next;
		kz_row_close(&r->r);
		free(r);
	}
}

// A kernel asks after each round of its warps in which one waited.
bool kz_may_park(struct kz_ctx *c) {
	if (c->cluster) return true; // the others of the cluster are on this very thread
	if (c->yields < c->patience || !c->spare || c->nparked >= PARKED_MAX) return false;
	struct kz_op *op = c->op;
	if (op->job.total <= 1 || !op->u.kernel.k->i.resumable) return false;
	return c->nparked > 0 || atomic_load_explicit(&op->job.next, memory_order_relaxed) < op->job.total;
}

// Whether the worker may begin another block while some of its own wait. Mostly they wait for a block of another worker, and for a moment;
// where that one was taken off its processor, this one would begin all blocks there are, each of which then waits, in memory of its own.
// So the more wait, the longer must nothing have ended. All blocks at once are for kernels in which they are known to meet.
static bool may_begin(const struct kz_ctx *c, const struct kz_op *op, int64_t since) {
	if (c->nparked <= AHEAD || op->u.kernel.cooperative || atomic_load_explicit(&op->u.kernel.k->gathers, memory_order_relaxed)) return c->nparked < PARKED_MAX;
	return c->nparked < PARKED_MAX && kz_nanos() - since > (int64_t)(c->nparked - AHEAD) * PACE_NS;
}

int kz_spin_blocks(struct kz_ctx *c, struct kz_op *op, struct kz_fault *f) {
	struct kz_job *j = &op->job;
	int r = KZ_FAULT_NONE;
	uint32_t waits = 0; // blocks parked again since one ended
	bool fresh = true;  // the next one may be a new block
	int64_t since = kz_nanos(); // when a block of this worker last began or ended
	const int64_t began = since;
	c->stretch = true; // the blocks are too short for a clock each
	for (;;) {
		uint64_t block = 0;
		struct kz_area *a = NULL;
		if ((!c->parked || (fresh && may_begin(c, op, since))) && kz_job_take(c->e, op, &block)) {
			c->w.resume = 0;
			c->patience = c->e->n > 1 ? PARK_FIRST : PARK_AGAIN;
			_Atomic uint32_t *gathers = &op->u.kernel.k->gathers;
			fresh = op->u.kernel.cooperative || atomic_load_explicit(gathers, memory_order_relaxed); // others are tried again in between
			if (atomic_load_explicit(&j->next, memory_order_relaxed) >= j->total)
				atomic_store_explicit(gathers, !atomic_load_explicit(&j->ended, memory_order_relaxed) && j->total > 2 * AHEAD * (uint64_t)c->e->n, memory_order_relaxed);
			if (c->nparked > AHEAD) since = kz_nanos();
		} else if ((a = c->parked)) {
			if (!(c->parked = a->next)) c->parked_end = &c->parked;
			c->nparked--;
			kz_area_swap(c, a);
			keep(c, a);
			block = a->block;
			c->w.resume = 1;
			c->patience = PARK_AGAIN;
			fresh = true;
		} else {
			break;
		}
		if (!c->spare && (a = area_new(c))) keep(c, a); // without one the block cannot be left
		c->yields = 0;
		c->w.turn = atomic_load_explicit(&j->active, memory_order_relaxed); // they take one block each
		r = kz_run_blocks(c, op, block, 1, f);
		if (r == KZ_PARKED) {
			a = take(c);
			kz_area_swap(c, a);
			a->block = block;
			a->next = NULL;
			*c->parked_end = a;
			c->parked_end = &a->next;
			c->nparked++;
			atomic_fetch_add_explicit(&c->e->s_parked, 1, memory_order_relaxed);
			r = KZ_FAULT_NONE;
			if (++waits > c->nparked && (atomic_load_explicit(&j->next, memory_order_relaxed) >= j->total || !may_begin(c, op, since))) {
				waits = 0; // what they wait for is elsewhere
				kz_stand_in(c);
				sched_yield();
			}
			continue;
		}
		waits = 0;
		if (r != KZ_FAULT_NONE) break;
		if (!atomic_load_explicit(&j->ended, memory_order_relaxed)) atomic_store_explicit(&j->ended, true, memory_order_relaxed);
		if (c->nparked >= AHEAD) since = kz_nanos();
	}
	c->stretch = false;
	kz_spent((uint64_t)(kz_nanos() - began));
	while (c->parked) { // after a fault
		struct kz_area *a = c->parked;
		c->parked = a->next;
		keep(c, a);
	}
	c->parked_end = &c->parked;
	c->nparked = 0;
	c->w.resume = 0;
	c->w.turn = 1;
	while (c->nspare > SPARE_MAX) area_empty(c, take(c));
	return r;
}
