// Blocks that wait for other blocks: a worker leaves such a block where it waits and runs another, so that any number of
// blocks can be under way on few threads. Kernel code keeps nothing on the stack while it waits: a block is its frame, its
// shared and its local memory, and parking it is putting those aside.
#include "internal.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PARK_AFTER = 4,    // yields before a block is left
	PARKED_MAX = 4096, // of one worker: the blocks of a cooperative launch on 128 multiprocessors
	SPARE_MAX = 16,    // areas that a worker keeps when it has nothing parked
};

static struct kz_area *area_new(void) {
	struct kz_area *a = calloc(1, sizeof *a);
	if (!a) return NULL;
	uint64_t n = KZ_SHARED + 2 * KZ_SHARED_GUARD;
	void *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED || mprotect((uint8_t *)p + KZ_SHARED_GUARD, KZ_SHARED, PROT_READ | PROT_WRITE) != 0) {
		if (p != MAP_FAILED) munmap(p, n);
		free(a);
		return NULL;
	}
	a->shared_map = p;
	return a;
}

static void area_free(struct kz_area *a) {
	munmap(a->shared_map, KZ_SHARED + 2 * KZ_SHARED_GUARD);
	if (a->frame) munmap(a->frame, a->frame_bytes);
	if (a->local) munmap(a->local, a->local_bytes);
	free(a);
}

void kz_area_swap(struct kz_ctx *c, struct kz_area *a) {
	struct kz_area old = *a;
	a->shared_map = c->shared_map;
	a->frame = c->w.frame;
	a->local = c->w.local;
	a->frame_bytes = c->frame_bytes;
	a->local_bytes = c->local_bytes;
	c->shared_map = old.shared_map;
	c->w.shared = c->shared_map + KZ_SHARED_GUARD;
	c->w.shared_window = (uint64_t)c->w.shared;
	c->w.frame = old.frame;
	c->w.local = old.local;
	c->w.local_window = (uint64_t)old.local;
	c->frame_bytes = old.frame_bytes;
	c->local_bytes = old.local_bytes;
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
	while (c->spare) area_free(take(c));
}

// A kernel asks after each round of its warps in which one waited.
bool kz_may_park(struct kz_ctx *c) {
	if (c->cluster) return true; // the others of the cluster are on this very thread
	if (c->yields < PARK_AFTER || !c->spare || c->nparked >= PARKED_MAX) return false;
	struct kz_op *op = c->op;
	if (op->job.total <= 1 || !op->u.kernel.k->i.resumable) return false;
	return c->nparked > 0 || atomic_load_explicit(&op->job.next, memory_order_relaxed) < op->job.total;
}

int kz_spin_blocks(struct kz_ctx *c, struct kz_op *op, struct kz_fault *f) {
	int r = KZ_FAULT_NONE;
	uint32_t waits = 0; // blocks parked again since one ended
	bool fresh = true;  // the next one may be a new block
	for (;;) {
		uint64_t block = 0;
		struct kz_area *a = NULL;
		if ((fresh || !c->parked) && c->nparked < PARKED_MAX && kz_job_take(c->e, op, &block)) {
			c->w.resume = 0;
			fresh = op->u.kernel.cooperative; // all blocks of these must be there; others are tried again in between
		} else if ((a = c->parked)) {
			if (!(c->parked = a->next)) c->parked_end = &c->parked;
			c->nparked--;
			kz_area_swap(c, a);
			keep(c, a);
			block = a->block;
			c->w.resume = 1;
			fresh = true;
		} else {
			break;
		}
		if (!c->spare && (a = area_new())) keep(c, a); // without one the block cannot be left
		c->yields = 0;
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
			if (++waits > c->nparked && atomic_load_explicit(&op->job.next, memory_order_relaxed) >= op->job.total) {
				waits = 0; // what they wait for is elsewhere
				kz_stand_in(c);
				sched_yield();
			}
			continue;
		}
		waits = 0;
		if (r != KZ_FAULT_NONE) break;
	}
	while (c->parked) { // after a fault
		struct kz_area *a = c->parked;
		c->parked = a->next;
		keep(c, a);
	}
	c->parked_end = &c->parked;
	c->nparked = 0;
	c->w.resume = 0;
	while (c->nspare > SPARE_MAX) area_free(take(c));
	return r;
}
