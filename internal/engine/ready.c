// The ready lists: queues that could run, one list for each priority, in the order in which they became ready.
#include "internal.h"

static void set_top(struct kz_engine *e) { // Preconditions: e->lock is held.
	uint32_t t = 0;
	for (int p = KZ_PRIORITIES - 1; p >= 0 && !t; p--)
		if (e->ready_head[p]) t = (uint32_t)p + 1;
	atomic_store_explicit(&e->top, t, memory_order_relaxed);
}

static void set_oldest(struct kz_engine *e, int p) { // Preconditions: e->lock is held.
	atomic_store_explicit(&e->oldest[p], e->ready_head[p] ? e->ready_head[p]->ready_at : INT64_MAX, memory_order_relaxed);
}

void kz_ready_push(struct kz_queue *q, bool small, bool brief, int64_t since) {
	struct kz_engine *e = q->e;
	int p = q->priority;
	if (!since) since = kz_nanos();
	kz_acquire(&e->lock);
	q->small = small;
	q->brief = brief;
	q->ready_at = since;
	struct kz_queue *after = e->ready_tail[p]; // as a rule: only a queue that was left again is older than some
	while (after && after->ready_at > since) after = after->prev;
	q->prev = after;
	q->next = after ? after->next : e->ready_head[p];
	*(q->prev ? &q->prev->next : &e->ready_head[p]) = q;
	*(q->next ? &q->next->prev : &e->ready_tail[p]) = q;
	if (!q->prev) set_oldest(e, p);
	if (atomic_load_explicit(&e->top, memory_order_relaxed) < (uint32_t)p + 1) atomic_store_explicit(&e->top, (uint32_t)p + 1, memory_order_relaxed);
	atomic_store_explicit(&q->in_ready, true, memory_order_relaxed);
	atomic_fetch_add(&e->nready, 1);
	kz_release(&e->lock);
	// From here q may be gone.
	if (atomic_load(&e->spinning)) return;
	if (small && atomic_load(&e->watching)) return;
	kz_wake(e, 1);
}

void kz_ready_remove(struct kz_queue *q) {
	struct kz_engine *e = q->e;
	int p = q->priority;
	if (q->prev) q->prev->next = q->next;
	else e->ready_head[p] = q->next;
	if (q->next) q->next->prev = q->prev;
	else e->ready_tail[p] = q->prev;
	if (!q->prev) set_oldest(e, p);
	atomic_store_explicit(&q->in_ready, false, memory_order_relaxed);
	atomic_fetch_sub(&e->nready, 1);
	if (!e->ready_head[p]) set_top(e);
}

struct kz_queue *kz_ready_brief(struct kz_queue *q, int64_t before) {
	struct kz_engine *e = q->e;
	kz_acquire(&e->lock);
	struct kz_queue *o = e->ready_head[q->priority];
	while (o && o->ready_at < before && !o->brief) o = o->next;
	if (o && o->ready_at >= before) o = NULL;
	if (o) kz_ready_remove(o);
	kz_release(&e->lock);
	return o;
}

bool kz_ready_take(struct kz_queue *q) {
	kz_acquire(&q->e->lock);
	bool got = atomic_load_explicit(&q->in_ready, memory_order_relaxed);
	if (got) kz_ready_remove(q);
	kz_release(&q->e->lock);
	return got;
}

void kz_ready_start(struct kz_engine *e) {
	for (int p = 0; p < KZ_PRIORITIES; p++) set_oldest(e, p);
}
