// Functions that are compiled by themselves. A kernel calls one as a whole block: each thread comes (kz_come), and when all have, the
// first one has the function run (kz_called). The function's code is a kernel's: it runs the same block, on the same shared memory, with a
// frame and local memory of its own. Code that is not there yet is asked of Go, and waited for.
#include "internal.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WANTED, TAKEN, MADE, MISSING };
enum { LOOK_NS = 5000000 }; // between two looks whether the launch has failed

struct kz_function {
	struct kz_function *next; // as it was put in
	uint64_t id;
	_Atomic(const struct kz_kernel *) code; // once MADE; another may take its place
	_Atomic uint32_t state;                 // futex
};

struct kz_lazy {
	_Atomic(struct kz_function *) list; // those that were called
	_Atomic uint32_t event;             // futex of who makes them
	_Atomic uint32_t closed;
};

// A call of a block, and the memory of the last ones.
struct kz_called {
	struct kz_worker w; // what the function sees
	struct kz_launch l;
	const struct kz_kernel *code; // it is under way, or NULL
	uint64_t id;
	uint32_t came; // threads of the next call
	bool mixed;    // not all call the same
	uint64_t frame_bytes;
	struct kz_local local;
	struct kz_called *inner; // of what the function calls
};

// --- the list of functions ---

struct kz_lazy *kz_lazy_new(void) { return kz_held(calloc(1, sizeof(struct kz_lazy))); }

void kz_lazy_free(struct kz_lazy *a) {
	for (struct kz_function *f = atomic_load(&a->list), *next; f; f = next) {
		next = f->next;
		free(f);
	}
	free(a);
}

static void wake_maker(struct kz_lazy *a) {
	atomic_fetch_add(&a->event, 1);
	kz_futex_wake(&a->event, INT32_MAX);
}

void kz_lazy_close(struct kz_lazy *a) {
	atomic_store(&a->closed, 1);
	wake_maker(a);
}

struct kz_function *kz_lazy_next(struct kz_lazy *a, uint64_t *id) {
	for (;;) {
		uint32_t ev = atomic_load(&a->event);
		if (atomic_load(&a->closed)) return NULL;
		for (struct kz_function *f = atomic_load(&a->list); f; f = f->next) {
			uint32_t wanted = WANTED;
			if (!atomic_compare_exchange_strong(&f->state, &wanted, TAKEN)) continue;
			*id = f->id;
			return f;
		}
		kz_futex_wait(&a->event, ev, -1);
	}
}

void kz_lazy_put(struct kz_function *f, struct kz_kernel *k) {
	if (k) atomic_store_explicit(&f->code, k, memory_order_release);
	atomic_store(&f->state, k ? MADE : MISSING);
	kz_futex_wake(&f->state, INT32_MAX);
}

void kz_kernel_lazy(struct kz_kernel *k, struct kz_lazy *a, uint64_t vars) {
	k->lazy = a;
	k->vars = vars;
}

static struct kz_function *find(struct kz_lazy *a, uint64_t id) {
	struct kz_function *first = atomic_load(&a->list), *seen = NULL, *own = NULL;
	for (;;) {
		for (struct kz_function *f = first; f != seen; f = f->next)
			if (f->id == id) {
				free(own);
				return f;
			}
		if (!own && !(own = calloc(1, sizeof *own))) return NULL;
		own->id = id;
		own->next = seen = first;
		if (atomic_compare_exchange_strong(&a->list, &first, own)) break;
	}
	wake_maker(a);
	return own;
}

// --- calls ---

static struct kz_ctx *ctx_of(struct kz_worker *w) { return w->worker_private; }

static _Noreturn void leave(struct kz_ctx *c, uint64_t result) {
	c->armed = 0;
	kz_leave(&c->jump, result);
}

// The record of what the code that sees w calls; NULL: no memory.
static struct kz_called *record(struct kz_ctx *c, struct kz_worker *w) {
	struct kz_called **at = w == &c->w ? &c->called : &((struct kz_called *)w)->inner; // w is its first member
	if (!*at && (*at = aligned_alloc(KZ_CACHELINE, (sizeof **at + 63) & ~(size_t)63))) memset(*at, 0, sizeof **at);
	return *at;
}

void kz_called_free(struct kz_called *r) {
	for (struct kz_called *inner; r; r = inner) {
		inner = r->inner;
		if (r->w.frame) munmap(r->w.frame, r->frame_bytes);
		kz_local_free(&r->local);
		free(r);
	}
}

void kz_called_reset(struct kz_called *r) {
	for (; r; r = r->inner) {
		r->code = NULL;
		r->came = 0;
		r->mixed = false;
	}
}

void kz_come(const struct kz_launch *l, struct kz_worker *w, uint64_t id) {
	(void)l;
	struct kz_called *r = record(ctx_of(w), w);
	if (!r) return; // kz_called finds that out
	if (r->came++ == 0) r->id = id;
	else if (r->id != id) r->mixed = true;
}

// Waits for the function's code; NULL: there is none.
static const struct kz_kernel *code_of(struct kz_ctx *c, uint64_t id) {
	struct kz_function *f = c->k->lazy ? find(c->k->lazy, id) : NULL;
	if (!f) return NULL;
	for (;;) {
		uint32_t state = atomic_load(&f->state);
		if (state == MADE) return atomic_load_explicit(&f->code, memory_order_acquire);
		if (state == MISSING) return NULL;
		if (atomic_load(&c->op->job.failed) || kz_domain_bad(c->op->q->d)) leave(c, KZ_ABORTED);
		kz_stand_in(c);
		kz_futex_wait(&f->state, state, LOOK_NS);
	}
}

static bool areas(struct kz_ctx *c, struct kz_called *r, const struct kz_launch *l) {
	const struct kz_kernel_info *k = &r->code->i;
	uint64_t need = (uint64_t)k->frame_warp * l->warps + k->frame_block, local = (uint64_t)k->local_thread * l->threads;
	if (need > KZ_FRAME_MAX || local > KZ_LOCAL_MAX) return false;
	if (kz_outgrown(r->frame_bytes, need)) {
		uint64_t n = kz_room(need);
		void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED) return false;
		if (r->w.frame) munmap(r->w.frame, r->frame_bytes);
		r->w.frame = p;
		r->frame_bytes = n;
	}
	if (kz_local_grow(&r->local, c->e->narrow, local) != KZ_OK) return false;
	r->w.local = r->local.end - ((local + 63) & ~UINT64_C(63));
	r->w.local_window = (uint64_t)r->w.local;
	return true;
}

// Ends the kernel as if its code had stopped.
static _Noreturn void stop(struct kz_ctx *c, const struct kz_worker *w, uint32_t code) {
	if (w != &c->w) {
		c->w.stop_line = w->stop_line;
		c->w.stop_lanes = w->stop_lanes;
		c->w.warp = w->warp;
	}
	leave(c, code);
}

uint32_t kz_called(const struct kz_launch *l, struct kz_worker *w, uint64_t id) {
	struct kz_ctx *c = ctx_of(w);
	struct kz_called *r = record(c, w);
	if (!r) stop(c, w, KZ_STOP_CALL);
	bool again = r->code != NULL;
	if (!again) {
		if (r->mixed || r->came != l->threads || !(r->code = code_of(c, id)) || !areas(c, r, l)) {
			r->code = NULL;
			stop(c, w, KZ_STOP_CALL);
		}
		r->l = *l;
		r->l.vars = (const uint64_t *)r->code->vars;
		r->w.id = w->id;
		r->w.turn = w->turn;
		r->w.worker_private = c;
	}
	r->w.shared = w->shared;
	r->w.shared_window = w->shared_window;
	r->w.block = w->block;
	r->w.resume = again;
	r->w.stop_line = r->w.stop_lanes = 0;
	const struct kz_kernel *before = c->k;
	c->k = r->code; // faults are the function's
	kz_fpmode old = kz_fp_enter(c->k->i.ftz);
	uint32_t rc = ((kz_entry)c->k->i.entry)(&r->l, &r->w, w->block, 1);
	kz_fp_leave(old);
	if (rc == KZ_STOP_YIELD) {
		c->k = before;
		return 1;
	}
	r->code = NULL;
	r->came = 0;
	if (rc) stop(c, &r->w, rc);
	c->k = before;
	return 0;
}
