// Collective operations in queues. An operation runs on the thread that drives its queue, as a kernel does, and needs no Go while the other
// ranks come soon. Where one is late, has failed or does something else, the queue is blocked and Go goes on with the operation.
//
// The operations of a communicator run one after another, whatever their queues: each has a number, and the sequence counts those that
// ended. Go's own operations have numbers of the same sequence.
#include "internal.h"
#include <stdlib.h>

struct kz_sequence {
	_Atomic uint32_t refs;
	_Atomic uint32_t dead;    // nothing begins any more
	_Atomic uint32_t skipped; // an operation was not done, because its domain had a fault
	_Atomic uint32_t put;
	uint64_t id;
	_Alignas(KZ_CACHELINE) _Atomic uint32_t ended; // futex
	_Atomic uint32_t waiters;
};

struct kz_sequence *kz_sequence_new(uint64_t id) {
	struct kz_sequence *s = kz_held(aligned_alloc(KZ_CACHELINE, sizeof *s));
	if (!s) return NULL;
	*s = (struct kz_sequence){.refs = 1, .id = KZ_TASK_MEETING | id};
	return s;
}

static void sequence_ref(struct kz_sequence *s) { atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed); }

void kz_sequence_unref(struct kz_sequence *s) {
	if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1) free(s);
}

uint32_t kz_sequence_take(struct kz_sequence *s) { return atomic_fetch_add(&s->put, 1); }

static bool reached(struct kz_sequence *s, uint32_t turn) { return (int32_t)(atomic_load(&s->ended) - turn) >= 0; }

int kz_sequence_wait(struct kz_sequence *s, uint32_t turn, int64_t ns) {
	if (reached(s, turn)) return 1;
	if (!ns) return 0;
	atomic_fetch_add(&s->waiters, 1);
	uint32_t seen = atomic_load(&s->ended);
	if ((int32_t)(seen - turn) < 0 && !atomic_load(&s->dead)) kz_futex_wait(&s->ended, seen, ns);
	atomic_fetch_sub(&s->waiters, 1);
	return reached(s, turn);
}

void kz_sequence_end(struct kz_sequence *s) {
	atomic_fetch_add(&s->ended, 1);
	if (atomic_load(&s->waiters)) kz_futex_wake(&s->ended, INT32_MAX);
}

void kz_sequence_kill(struct kz_sequence *s) {
	atomic_store(&s->dead, 1);
	kz_futex_wake(&s->ended, INT32_MAX);
}

uint32_t kz_sequence_next(struct kz_sequence *s) { return atomic_load(&s->put); }

int kz_sequence_skipped(struct kz_sequence *s) { return atomic_load(&s->skipped) != 0; }

// --- operations of a queue ---

void kz_meet_fill(struct kz_op *op, struct kz_sequence *s, struct kz_meet *m, const struct kz_meeting *o) {
	op->u.meet.id = s->id;
	op->u.meet.s = s;
	op->u.meet.m = m;
	op->u.meet.o = *o;
	op->u.meet.entered = false;
	op->inlinable = true;
	sequence_ref(s);
	kz_meet_ref(m);
	op->u.meet.turn = kz_sequence_take(s); // with the queue's lock held: operations of a queue have their numbers in its order
}

bool kz_meet_step(struct kz_op *op, enum kz_patience how) {
	struct kz_sequence *s = op->u.meet.s;
	bool bad = kz_domain_bad(op->q->d);
	if (bad) atomic_store(&s->skipped, 1);
	else if (!atomic_load(&s->dead)) {
		if (!reached(s, op->u.meet.turn)) return false;
		if (kz_meet_enter(op->u.meet.m)) {
			op->u.meet.entered = true;
			if (how == KZ_MEET_SPIN && kz_meet_crowded(op->u.meet.m, op->q->e->n)) how = KZ_MEET_POLL; // who is late may wait for this thread
			if (kz_meet_run(op->u.meet.m, &op->u.meet.o, how) != KZ_MEET_DONE) return false;
		}
	}
	kz_task_met(op);
	return true;
}

struct kz_meeting *kz_task_meeting(void *task, uint32_t *turn, int *entered) {
	struct kz_op *op = task;
	*turn = op->u.meet.turn;
	*entered = op->u.meet.entered;
	return &op->u.meet.o;
}

void kz_task_met(void *task) {
	struct kz_op *op = task;
	struct kz_sequence *s = op->u.meet.s;
	struct kz_meet *m = op->u.meet.m;
	if (op->u.meet.entered) kz_meet_leave(m);
	op->u.meet.entered = false;
	kz_sequence_end(s);
	kz_meet_unref(m);
	kz_sequence_unref(s);
}
