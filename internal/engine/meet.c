// Collective operations between ranks of one host (internal/shim/nccl). The ranks have a segment of memory in common, with a slot for
// each. In its slot a rank says what it is doing and where its buffers are. Small operations travel in the slots. For larger ones the
// ranks read and write each other's buffers themselves: each has mapped the others' device memory (kz_arena_share).
//
// Operation k of a rank is posted when the slot's step is 2k-1, and done when it is 2k. There are two descriptors in a slot, for even and
// odd operations: who writes one has seen that all ranks have posted the operation before, so that they have read the one before that.
#include "internal.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// A rank that is waited for mostly comes soon or takes long. As waking a thread takes tens of microseconds, who spins for less than that
// sleeps every time once two ranks are that far apart. So the spin grows while sleeps turn out short, and shrinks when they are long.
enum { SPIN_NS = 10000, SPIN_LEAST = 5000, SPIN_MOST = 100000, SLEEP_NS = 50000000, LINE = 64 };

struct descriptor {
	uint64_t call, scale;
	uint64_t send, recv; // from the beginning of the rank's arena
	uint64_t other;      // not all that other ranks need of it can be mapped
	uint64_t pad[3];
};

struct slot {
	_Alignas(LINE) _Atomic uint32_t step;
	_Atomic uint32_t busy; // it may be writing to buffers of other ranks
	_Atomic uint32_t quit; // its buffers are no longer to be written to
	_Alignas(LINE) _Atomic uint32_t sleepers; // on step
	_Alignas(LINE) struct descriptor desc[2];
	_Alignas(LINE) uint8_t data[2][KZ_MEET_SMALL];
};

struct kz_meet {
	_Atomic uint32_t refs;
	_Atomic uint32_t users; // those inside, and SHUT
	struct slot *slots;
	uint32_t n, rank;
	uint32_t count; // operations begun
	bool here;      // all ranks are of this process
	int64_t spin;   // nanoseconds; 0: it does not
	_Atomic uint32_t dead;
	uint64_t base;    // of this process's arena
	uint64_t peers[]; // where those of the ranks are mapped
};

uint64_t kz_meet_bytes(uint32_t n) { return (uint64_t)n * sizeof(struct slot); }

struct kz_meet *kz_meet_new(void *segment, uint32_t n, uint32_t rank, int here, uint64_t base, const uint64_t *peers) {
	struct kz_meet *m = kz_held(calloc(1, sizeof *m + n * sizeof m->peers[0]));
	if (!m) return NULL;
	cpu_set_t set;
	m->refs = 1;
	m->slots = segment;
	m->n = n;
	m->rank = rank;
	m->here = here;
	m->base = base;
	// Where each rank may have a processor, one that is about to come is not worth a sleep.
	m->spin = sched_getaffinity(0, sizeof set, &set) == 0 && (uint32_t)CPU_COUNT(&set) >= n ? SPIN_NS : 0;
	memcpy(m->peers, peers, n * sizeof m->peers[0]);
	return m;
}

void kz_meet_ref(struct kz_meet *m) { atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed); }

void kz_meet_unref(struct kz_meet *m) {
	if (atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) == 1) free(m);
}

#define SHUT (UINT32_C(1) << 31)

int kz_meet_enter(struct kz_meet *m) {
	if (!(atomic_fetch_add(&m->users, 1) & SHUT)) return 1;
	atomic_fetch_sub(&m->users, 1);
	return 0;
}

void kz_meet_leave(struct kz_meet *m) { atomic_fetch_sub(&m->users, 1); }

int kz_meet_shut(struct kz_meet *m) { return !(atomic_fetch_or(&m->users, SHUT) & ~SHUT); }

int kz_meet_idle(struct kz_meet *m) { return !(atomic_load(&m->users) & ~SHUT); }

static void wake(struct slot *s) {
	if (atomic_load(&s->sleepers)) syscall(SYS_futex, &s->step, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void advance(struct kz_meet *m, uint32_t step) {
	struct slot *s = &m->slots[m->rank];
	atomic_store(&s->step, step);
	wake(s);
}

static bool reached(struct slot *s, uint32_t step) { return (int32_t)(atomic_load_explicit(&s->step, memory_order_acquire) - step) >= 0; }

bool kz_meet_crowded(const struct kz_meet *m, int threads) { return m->here && m->n > (uint32_t)threads; }

// Sleeps until the step changes, for some time.
static void futex_wait(struct kz_meet *m, struct slot *s, uint32_t step) {
	struct timespec t = {.tv_nsec = SLEEP_NS};
	atomic_fetch_add(&s->sleepers, 1);
	uint32_t seen = atomic_load(&s->step);
	if ((int32_t)(seen - step) < 0 && !atomic_load(&m->dead)) syscall(SYS_futex, &s->step, FUTEX_WAIT, seen, &t, NULL, 0);
	atomic_fetch_sub(&s->sleepers, 1);
}

// Waits until one has reached a step: it spins, and then sleeps if it may.
static bool wait_for(struct kz_meet *m, struct slot *s, uint32_t step, enum kz_patience how) {
	if (how == KZ_MEET_POLL) return false;
	int64_t start = kz_nanos(), now = start;
	for (uint32_t i = 1; !reached(s, step) && now - start < m->spin && !atomic_load_explicit(&m->dead, memory_order_relaxed); i++) {
		kz_relax();
		if (i % 8 == 0) now = kz_nanos();
	}
	if (reached(s, step)) return true;
	if (how != KZ_MEET_SLEEP) return false;
	futex_wait(m, s, step);
	if (m->spin) {
		m->spin = kz_nanos() - start < SPIN_MOST ? 2 * m->spin : m->spin / 2;
		if (m->spin > SPIN_MOST) m->spin = SPIN_MOST;
		if (m->spin < SPIN_LEAST) m->spin = SPIN_LEAST;
	}
	return reached(s, step);
}

// Waits until all have reached a step. The number of one that has not, or n.
static uint32_t await(struct kz_meet *m, uint32_t step, enum kz_patience how) {
	for (uint32_t r = 0; r < m->n; r++)
		if (r != m->rank && !reached(&m->slots[r], step) && !wait_for(m, &m->slots[r], step, how)) return r;
	return m->n;
}

void kz_meet_kill(struct kz_meet *m) {
	atomic_store(&m->dead, 1);
	for (uint32_t r = 0; r < m->n; r++) wake(&m->slots[r]);
}

int kz_meet_quit(struct kz_meet *m) {
	atomic_store(&m->slots[m->rank].quit, 1);
	for (uint32_t r = 0; r < m->n; r++)
		if (r != m->rank && atomic_load(&m->slots[r].busy)) return (int)r;
	return -1;
}

// --- what is done ---

static bool small(const struct kz_meet *m, const struct kz_meeting *o) {
	uint64_t n = o->kind == KZ_MEET_REDUCE_SCATTER || o->kind == KZ_MEET_ALL_TO_ALL || o->kind == KZ_MEET_SCATTER ? m->n : 1;
	return n * o->bytes <= KZ_MEET_SMALL;
}

static void post(struct kz_meet *m, struct kz_meeting *o) {
	struct slot *s = &m->slots[m->rank];
	o->turn = ++m->count;
	struct descriptor *c = &s->desc[o->turn % 2];
	o->small = small(m, o);
	*c = (struct descriptor){.call = o->call, .scale = o->scale, .send = o->send - m->base, .recv = o->recv - m->base};
	if (o->small) memcpy(s->data[o->turn % 2], (const void *)o->send, o->send_bytes);
	else {
		bool all = o->kind == KZ_MEET_ALL_REDUCE || o->kind == KZ_MEET_REDUCE; // others write the result
		c->other = o->other || (!m->here && ((o->send_bytes && !kz_arena_shared(o->send, o->send_bytes)) || (all && o->recv_bytes && !kz_arena_shared(o->recv, o->recv_bytes))));
	}
	advance(m, o->small ? 2 * o->turn : 2 * o->turn - 1);
}

// Whether all do the same, and how.
static int compare(struct kz_meet *m, struct kz_meeting *o) {
	bool other = false;
	for (uint32_t r = 0; r < m->n; r++) {
		const struct descriptor *c = &m->slots[r].desc[o->turn % 2];
		if (c->call != o->call) {
			o->who = r;
			o->theirs = c->call;
			return KZ_MEET_DIFFER;
		}
		other = other || c->other;
	}
	return other ? KZ_MEET_OTHER : KZ_MEET_DONE;
}

// From now on this rank may write to others' buffers, unless one has quit.
static bool enter(struct kz_meet *m) {
	struct slot *s = &m->slots[m->rank];
	atomic_store(&s->busy, 1);
	for (uint32_t r = 0; r < m->n; r++)
		if (atomic_load(&m->slots[r].quit)) {
			atomic_store(&s->busy, 0);
			return false;
		}
	return true;
}

static const uint8_t *source(const struct kz_meet *m, const struct kz_meeting *o, uint32_t r) {
	if (o->small) return m->slots[r].data[o->turn % 2];
	return r == m->rank ? (const uint8_t *)o->send : (const uint8_t *)(m->peers[r] + m->slots[r].desc[o->turn % 2].send);
}

static uint8_t *target(const struct kz_meet *m, const struct kz_meeting *o, uint32_t r) {
	return r == m->rank ? (uint8_t *)o->recv : (uint8_t *)(m->peers[r] + m->slots[r].desc[o->turn % 2].recv);
}

// Reduces what all ranks have between lo and hi of their buffers, into the same place of those of first to end.
static void fold(struct kz_meet *m, struct kz_meeting *o, uint64_t skip, uint64_t lo, uint64_t hi, uint32_t first, uint32_t end) {
	const void *src[KZ_MEET_RANKS];
	void *dst[KZ_MEET_RANKS];
	uint64_t scale[KZ_MEET_RANKS];
	if (lo >= hi) return;
	for (uint32_t r = 0; r < m->n; r++) {
		src[r] = source(m, o, r) + skip + lo;
		scale[r] = m->slots[r].desc[o->turn % 2].scale;
	}
	for (uint32_t r = first; r < end; r++) dst[r - first] = target(m, o, r) + lo;
	struct kz_collection c = {.dst = dst[0], .src = src, .scale = scale, .sources = m->n, .total = m->n, .more = dst + 1, .outs = end - first - 1};
	kz_collect(&c, (hi - lo) / o->size, (int)o->type, (int)o->op);
}

static void copy(uint64_t dst, const uint8_t *src, uint64_t n) {
	if ((const uint8_t *)dst != src) memcpy((void *)dst, src, n);
}

static void work(struct kz_meet *m, struct kz_meeting *o) {
	uint64_t b = o->bytes, lines = (b + LINE - 1) / LINE, lo = lines * m->rank / m->n * LINE, hi = lines * (m->rank + 1) / m->n * LINE;
	bool root = o->root == m->rank;
	if (lo > b) lo = b;
	if (hi > b) hi = b;
	switch (o->kind) {
	case KZ_MEET_ALL_REDUCE:
		if (o->small) fold(m, o, 0, 0, b, m->rank, m->rank + 1);
		else fold(m, o, 0, lo, hi, 0, m->n);
		break;
	case KZ_MEET_REDUCE:
		if (!o->small) fold(m, o, 0, lo, hi, o->root, o->root + 1);
		else if (root) fold(m, o, 0, 0, b, o->root, o->root + 1);
		break;
	case KZ_MEET_REDUCE_SCATTER: fold(m, o, m->rank * b, 0, b, m->rank, m->rank + 1); break;
	case KZ_MEET_BROADCAST: copy(o->recv, source(m, o, o->root), b); break;
	case KZ_MEET_SCATTER: copy(o->recv, source(m, o, o->root) + m->rank * b, b); break;
	case KZ_MEET_GATHER:
		if (!root) break;
		// fallthrough
	case KZ_MEET_ALL_GATHER:
	case KZ_MEET_ALL_TO_ALL:
		for (uint32_t i = 0; i < m->n; i++) {
			uint32_t r = (m->rank + i) % m->n; // not all from the same at once
			copy(o->recv + r * b, source(m, o, r) + (o->kind == KZ_MEET_ALL_TO_ALL ? m->rank * b : 0), b);
		}
	}
}

int kz_meet_run(struct kz_meet *m, struct kz_meeting *o, enum kz_patience how) {
	enum { BEGIN, POSTED, LEFT };
	int rc;
	switch (o->phase) {
	case BEGIN:
		if (atomic_load(&m->dead)) return KZ_MEET_DEAD;
		post(m, o);
		o->phase = POSTED;
		// fallthrough
	case POSTED:
		if ((o->who = await(m, 2 * o->turn - 1, how)) != m->n) return atomic_load(&m->dead) ? KZ_MEET_DEAD : KZ_MEET_LATE;
		if ((rc = compare(m, o)) != KZ_MEET_DONE) return rc;
		if (o->small) {
			work(m, o);
			return KZ_MEET_DONE;
		}
		if (!enter(m)) return KZ_MEET_DEAD;
		work(m, o);
		atomic_store_explicit(&m->slots[m->rank].busy, 0, memory_order_release);
		advance(m, 2 * o->turn);
		o->phase = LEFT;
		// fallthrough
	default:
		if ((o->who = await(m, 2 * o->turn, how)) != m->n) return atomic_load(&m->dead) ? KZ_MEET_DEAD : KZ_MEET_LATE;
	}
	return KZ_MEET_DONE;
}
