// What the recorder of `kudzu trace` hears of queues: when work was put in and by which call, and when it ran. Without a recorder a
// launch costs one look at a pointer at each of three places.
#include "internal.h"
#include <stdlib.h>
#include <string.h>

const struct kz_recorder *kz_recorder;

enum { EVENT_KERNEL = 1, EVENT_COPY = 2, EVENT_FILL = 3, EVENT_ENQUEUE = 13, HOST = 1, DEVICE = 2 }; // the last two are CUmemorytype's

void kz_record_to(uint64_t recorder) { kz_recorder = (const struct kz_recorder *)recorder; }

void kz_queue_tag(struct kz_queue *q, uint32_t device, uint64_t stream) {
	kz_acquire(&q->lock);
	atomic_store_explicit(&q->device, device, memory_order_relaxed);
	atomic_store_explicit(&q->stream, stream, memory_order_relaxed);
	kz_release(&q->lock);
}

int kz_kernel_name(struct kz_kernel *k, const char *name, uint64_t n, uint32_t code) {
	k->name = kz_held(strndup(name, n));
	k->code = code;
	return k->name ? KZ_OK : KZ_NOMEM;
}

static uint64_t pair(uint64_t a, uint64_t b) { return (a & UINT32_MAX) | b << 32; }

static uint64_t side(const void *p) {
	uint64_t base, size;
	uint32_t owner;
	return kz_mem_lookup((uint64_t)p, &base, &size, &owner) == KZ_OK ? DEVICE : HOST;
}

// Writes what op is; the event's type, or 0 for what is nobody's business.
static uint16_t about(const struct kz_op *op, uint64_t v[4], const char **text) {
	v[0] = v[1] = v[2] = v[3] = 0;
	*text = "";
	switch (op->kind) {
	case KZ_OP_KERNEL: {
		const struct kz_kernel *k = op->u.kernel.k;
		const struct kz_launch *l = &op->u.kernel.l;
		if (!k) return 0;
		const struct kz_kernel *better = atomic_load_explicit(&k->better, memory_order_acquire);
		v[0] = pair(l->grid[0], l->grid[1]);
		v[1] = pair(l->grid[2], l->block[0]);
		v[2] = pair(l->block[1], l->block[2]);
		v[3] = pair(l->shared_dynamic, better ? better->code : k->code);
		if (k->name) *text = k->name;
		return EVENT_KERNEL;
	}
	case KZ_OP_COPY:
		v[0] = op->u.copy.width * op->u.copy.height;
		v[1] = pair(side(op->u.copy.src), side(op->u.copy.dst));
		*text = "copy";
		return EVENT_COPY;
	case KZ_OP_FILL:
		v[0] = op->u.fill.count * op->u.fill.size * op->u.fill.rows;
		*text = "fill";
		return EVENT_FILL;
	}
	return 0;
}

struct kz_traced *kz_traced(struct kz_op *op) {
	switch (op->kind) {
	case KZ_OP_KERNEL: return &op->u.kernel.l.traced;
	case KZ_OP_COPY: return &op->u.copy.traced;
	case KZ_OP_FILL: return &op->u.fill.traced;
	}
	return NULL;
}

void kz_trace_put(struct kz_op *op) {
	struct kz_traced *t = kz_traced(op);
	if (t) *t = (struct kz_traced){.call = kz_recorder->current()};
}

void kz_trace_note(struct kz_queue *q, struct kz_op *op, uint64_t t0, struct kz_noted *n) {
	n->type = about(op, n->values, &n->text) ? EVENT_ENQUEUE : 0;
	if (!n->type) return;
	n->call = kz_traced(op)->call;
	n->t0 = t0;
	n->waited = q->waited;
	q->waited = false;
	n->device = atomic_load_explicit(&q->device, memory_order_relaxed);
	n->stream = atomic_load_explicit(&q->stream, memory_order_relaxed);
}

void kz_trace_enqueued(const struct kz_noted *n) {
	if (n->type) kz_recorder->event(n->type, n->call, n->t0, n->waited ? kz_recorder->now() : 0, n->device, n->stream, n->values, n->text);
}

void kz_trace_begin(struct kz_op *op) {
	struct kz_traced *t = kz_traced(op);
	if (t) t->t0 = kz_recorder->now();
}

void kz_trace_end(struct kz_queue *q, struct kz_op *op) {
	struct kz_traced *t = kz_traced(op);
	if (!t || !t->t0) return; // a task, or skipped because the domain has a fault
	uint64_t v[4], now = kz_recorder->now();
	const char *text;
	uint16_t type = about(op, v, &text);
	if (type) kz_recorder->event(type, t->call, t->t0, now, atomic_load_explicit(&q->device, memory_order_relaxed), atomic_load_explicit(&q->stream, memory_order_relaxed), v, text);
}
