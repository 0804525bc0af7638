// Code that goes while other threads may still launch it.
//
// Launches are frequent and unloading is rare, so launches count nothing. A launch looks whether its kernel is retired under its
// queue's lock; who retires it takes the lock of every queue afterwards and notes how far the queue goes. What was put in before
// is at or before that place, what comes later sees that the kernel is retired.
#include "internal.h"
#include <stdlib.h>

struct kz_grace {
	uint32_t n;
	struct {
		struct kz_queue *q;
		uint64_t seq;
	} at[];
};

void kz_queue_list(struct kz_queue *q, bool in) {
	struct kz_engine *e = q->e;
	kz_acquire(&e->all_lock);
	if (in) {
		q->next_all = e->all;
		if (e->all) e->all->prev_all = q;
		e->all = q;
	} else {
		if (q->prev_all) q->prev_all->next_all = q->next_all;
		else e->all = q->next_all;
		if (q->next_all) q->next_all->prev_all = q->prev_all;
	}
	kz_release(&e->all_lock);
}

void kz_kernel_retire(struct kz_kernel *k) { atomic_store(&k->retired, 1); }

// A reference, unless the last one is gone: then the queue is empty, and waits for all_lock to leave the list.
static bool ref(struct kz_queue *q) {
	uint32_t n = atomic_load_explicit(&q->refs, memory_order_relaxed);
	while (n && !atomic_compare_exchange_weak(&q->refs, &n, n + 1)) {}
	return n != 0;
}

// Notes the busy queues in g, as many as it has room for, and says how many there are.
static uint32_t note(struct kz_engine *e, struct kz_grace *g, uint32_t room) {
	uint32_t n = 0;
	kz_acquire(&e->all_lock);
	for (struct kz_queue *q = e->all; q; q = q->next_all) {
		kz_acquire(&q->lock);
		uint64_t seq = q->submitted;
		bool busy = atomic_load_explicit(&q->completed, memory_order_acquire) < seq;
		kz_release(&q->lock);
		if (!busy || (n < room && !ref(q))) continue;
		if (n < room) {
			g->at[n].q = q;
			g->at[n].seq = seq;
			g->n = n + 1;
		}
		n++;
	}
	kz_release(&e->all_lock);
	return n;
}

static void forget(struct kz_grace *g) {
	for (uint32_t i = 0; i < g->n; i++) kz_queue_unref(g->at[i].q);
	free(g);
}

int kz_grace_begin(struct kz_engine *e, struct kz_grace **out) {
	*out = NULL;
	for (uint32_t room = note(e, NULL, 0); room;) {
		struct kz_grace *g = calloc(1, sizeof *g + room * sizeof g->at[0]);
		if (!g) return KZ_NOMEM;
		uint32_t n = note(e, g, room);
		if (n <= room) {
			*out = g;
			return KZ_OK;
		}
		forget(g);
		room = n;
	}
	return KZ_OK;
}

void kz_grace_end(struct kz_grace *g) {
	for (uint32_t i = 0; i < g->n; i++) kz_queue_wait_for(g->at[i].q, g->at[i].seq);
	forget(g);
}
