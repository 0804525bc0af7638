// Execution contexts: the stack and memory areas a thread needs to run kernels, and the call into kernel code.
#include "internal.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *map(uint64_t n, int prot) {
	void *p = mmap(NULL, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

struct kz_ctx *kz_ctx_new(struct kz_engine *e, uint32_t id) {
	struct kz_ctx *c = aligned_alloc(KZ_CACHELINE, (sizeof *c + 63) & ~(size_t)63);
	if (!c) return NULL;
	memset(c, 0, sizeof *c);
	c->e = e;
	c->w.id = id;
	c->w.turn = 1;
	c->w.worker_private = c;
	c->stack = map(KZ_GUARD + KZ_STACK, PROT_NONE);
	if (!c->stack || mprotect(c->stack + KZ_GUARD, KZ_STACK, PROT_READ | PROT_WRITE) != 0 || kz_row_open(&c->own, e->narrow, 1, 0) != KZ_OK) {
		kz_ctx_free(c);
		return NULL;
	}
	c->shared = kz_row_slot(&c->own, 0);
	// Stacks that start at the same page offset fight for the same cache sets.
	c->stack_top = c->stack + KZ_GUARD + KZ_STACK - (id % 16) * 320;
	c->parked_end = &c->parked;
	return c;
}

void kz_ctx_free(struct kz_ctx *c) {
	if (c->stack) munmap(c->stack, KZ_GUARD + KZ_STACK);
	if (c->w.frame) munmap(c->w.frame, c->frame_bytes);
	kz_local_free(&c->local);
	kz_called_free(c->called);
	kz_park_free(c);
	kz_row_close(&c->own);
	kz_row_close(&c->ranks);
	free(c->scratch);
	free(c);
}

bool kz_outgrown(uint64_t have, uint64_t need) {
	return need > have || (have > (64 << 20) && need < have / 8); // one huge kernel must not leave its memory with every worker
}

uint64_t kz_room(uint64_t need) {
	uint64_t n = 64 << 10;
	while (n < need) n *= 2;
	return n;
}

static int frame_grow(struct kz_ctx *c, uint64_t need) {
	if (!kz_outgrown(c->frame_bytes, need)) return KZ_OK;
	uint64_t n = kz_room(need);
	uint8_t *q = map(n, PROT_READ | PROT_WRITE);
	if (!q) return KZ_NOMEM;
	if (c->w.frame) munmap(c->w.frame, c->frame_bytes);
	c->w.frame = q;
	c->frame_bytes = n;
	return KZ_OK;
}

int kz_ctx_areas(struct kz_ctx *c, const struct kz_op *op) {
	const struct kz_kernel_info *k = &c->k->i;
	const struct kz_launch *l = &op->u.kernel.l;
	uint64_t local = (uint64_t)k->local_thread * l->threads;
	if (frame_grow(c, (uint64_t)k->frame_warp * l->warps + k->frame_block) != KZ_OK || kz_local_grow(&c->local, c->e->narrow, local) != KZ_OK ||
	    kz_shared_grow(&c->shared, op->u.kernel.shared_room) != KZ_OK)
		return KZ_NOMEM;
	c->w.shared = c->shared.end - op->u.kernel.shared_room;
	c->w.shared_window = (uint64_t)c->w.shared;
	c->w.local = c->local.end - ((local + 63) & ~UINT64_C(63));
	c->w.local_window = (uint64_t)c->w.local;
	return KZ_OK;
}

// --- copies and fills, cut into blocks as kernels are ---

static uint32_t copy_blocks(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)w;
	const struct kz_op *op = (const void *)l;
	uint64_t unit = op->u.copy.unit;
	for (uint64_t b = first; b < first + count; b++) {
		if (op->u.copy.height == 1) {
			uint64_t at = b * unit, n = op->u.copy.width - at;
			memmove(op->u.copy.dst + at, op->u.copy.src + at, n < unit ? n : unit);
			continue;
		}
		for (uint64_t y = b * unit; y < (b + 1) * unit && y < op->u.copy.height; y++)
			memmove(op->u.copy.dst + y * op->u.copy.dpitch, op->u.copy.src + y * op->u.copy.spitch, op->u.copy.width);
	}
	return 0;
}

static void fill_row(uint8_t *p, uint32_t v, uint32_t size, uint64_t n) {
	uint8_t b = (uint8_t)v;
	bool bytes = size == 1 || (size == 2 && (v & 0xffff) == b * 0x101u) || (size == 4 && v == b * 0x1010101u);
	if (bytes) memset(p, b, n * size);
	else if (size == 2)
		for (uint64_t i = 0; i < n; i++) ((uint16_t *)p)[i] = (uint16_t)v;
	else
		for (uint64_t i = 0; i < n; i++) ((uint32_t *)p)[i] = v;
}

static uint32_t fill_blocks(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)w;
	const struct kz_op *op = (const void *)l;
	uint64_t unit = op->u.fill.unit, size = op->u.fill.size;
	for (uint64_t b = first; b < first + count; b++) {
		if (op->u.fill.rows == 1) {
			uint64_t at = b * unit, n = op->u.fill.count - at;
			fill_row(op->u.fill.dst + at * size, op->u.fill.value, op->u.fill.size, n < unit ? n : unit);
			continue;
		}
		for (uint64_t y = b * unit; y < (b + 1) * unit && y < op->u.fill.rows; y++)
			fill_row(op->u.fill.dst + y * op->u.fill.pitch, op->u.fill.value, op->u.fill.size, op->u.fill.count);
	}
	return 0;
}

// --- running ---

static _Atomic(_Atomic uint64_t *) kernel_ns, kernel_ns_listed;

void kz_count_kernels(uint64_t counter) { atomic_store(&kernel_ns, (_Atomic uint64_t *)counter); }

void kz_list_kernels(uint64_t counter) { atomic_store(&kernel_ns_listed, (_Atomic uint64_t *)counter); }

// Kernels of less than SAMPLED_NS are timed once in SAMPLE runs, each by itself, and that run stands for all of them: the two looks at
// the clock took a tenth of a product of 32 × 32 × 32. What a run was taken off its processor for it stands for alone.
enum { SAMPLE = 16, SAMPLED_NS = 4000 };

// Says whether this run of blocks is one whose time is taken.
static bool timed(struct kz_kernel *k, uint64_t count) {
	uint64_t ns = atomic_load_explicit(&k->block_ns, memory_order_relaxed) / 16, untimed = atomic_load_explicit(&k->untimed, memory_order_relaxed);
	if (!ns || count >= SAMPLED_NS || ns * count >= SAMPLED_NS || untimed >= (SAMPLE - 1) * count) return true;
	atomic_store_explicit(&k->untimed, untimed + count, memory_order_relaxed); // of two threads at once one may go uncounted
	return false;
}

// The time that a run of `count` blocks stands for.
static uint64_t stands_for(struct kz_kernel *k, uint64_t ns, uint64_t count) {
	uint64_t untimed = atomic_load_explicit(&k->untimed, memory_order_relaxed);
	if (!untimed) return ns;
	atomic_store_explicit(&k->untimed, 0, memory_order_relaxed);
	uint64_t known = atomic_load_explicit(&k->block_ns, memory_order_relaxed);
	return ns + (ns < 4 * SAMPLED_NS ? ns * untimed / count : known * untimed / 16);
}

static int classify(struct kz_ctx *c, const struct kz_op *op) {
	if (c->sig_addr - (uint64_t)c->stack < KZ_GUARD && c->sig == SIGSEGV && c->sig_code > 0) return KZ_FAULT_STACK;
	if (op->kind != KZ_OP_KERNEL) return KZ_FAULT_COPY;
	if (c->sig == SIGBUS && c->sig_code == BUS_ADRALN) return KZ_FAULT_MISALIGNED;
	if (kz_past_window(c, c->sig_addr)) return KZ_FAULT_INSTRUCTION;
	return c->sig == SIGSEGV || c->sig == SIGBUS ? KZ_FAULT_ADDRESS : KZ_FAULT_INSTRUCTION;
}

static void describe(struct kz_ctx *c, const struct kz_op *op, struct kz_fault *f) {
	memset(f, 0, sizeof *f);
	f->block = c->w.block;
	f->warp = c->w.warp;
	f->pc_offset = KZ_NO_OFFSET;
	if (op->kind != KZ_OP_KERNEL) return;
	f->cookie = c->k->i.cookie;
	memcpy(f->grid, op->u.kernel.l.grid, sizeof f->grid);
	memcpy(f->shape, op->u.kernel.l.block, sizeof f->shape);
}

// A fault that is not of the kernel's making, before it runs.
static int refuse(struct kz_ctx *c, const struct kz_op *op, uint64_t first, struct kz_fault *f, uint32_t kind) {
	c->w.block = first;
	c->w.warp = 0;
	describe(c, op, f);
	return (int)(f->kind = kind);
}

void kz_spent(uint64_t ns) {
	_Atomic uint64_t *spent = atomic_load_explicit(&kernel_ns, memory_order_relaxed), *listed = atomic_load_explicit(&kernel_ns_listed, memory_order_relaxed);
	if (spent) atomic_fetch_add_explicit(spent, ns, memory_order_relaxed);
	if (listed) atomic_fetch_add_explicit(listed, ns, memory_order_relaxed);
}

int kz_run_blocks(struct kz_ctx *c, struct kz_op *op, uint64_t first, uint64_t count, struct kz_fault *f) {
	kz_entry fn;
	const void *l = op;
	bool ftz = false;
	if (op->kind == KZ_OP_KERNEL) {
		const struct kz_kernel *better = atomic_load_explicit(&op->u.kernel.k->better, memory_order_acquire);
		c->k = better ? better : op->u.kernel.k;
		const struct kz_kernel_info *k = &c->k->i;
		if (kz_late(c->e, op->began)) return refuse(c, op, first, f, KZ_FAULT_TIMEOUT);
		if (kz_ctx_areas(c, op) != KZ_OK) return refuse(c, op, first, f, KZ_FAULT_MEMORY);
		fn = (kz_entry)k->entry;
		l = &op->u.kernel.l;
		ftz = k->ftz;
	} else {
		fn = op->kind == KZ_OP_COPY ? copy_blocks : fill_blocks;
	}
	c->op = op;
	if (c->called && !c->w.resume) kz_called_reset(c->called); // of a block that a fault ended
	c->w.block = first;
	c->w.warp = 0;
	c->w.stop_line = c->w.stop_lanes = 0;
	_Atomic uint64_t *spent = op->kind == KZ_OP_KERNEL ? atomic_load_explicit(&kernel_ns, memory_order_relaxed) : NULL;
	_Atomic uint64_t *listed = op->kind == KZ_OP_KERNEL ? atomic_load_explicit(&kernel_ns_listed, memory_order_relaxed) : NULL;
	_Atomic uint64_t *own = op->kind == KZ_OP_KERNEL ? (_Atomic uint64_t *)c->k->i.times : NULL;
	int64_t t0 = own || ((spent || listed) && !c->stretch && timed(op->u.kernel.k, count)) ? kz_nanos() : 0;
	kz_fpmode old = kz_fp_enter(ftz);
	if (op->began) atomic_store_explicit(&c->began, op->began, memory_order_release);
	c->armed = 1;
	uint64_t r = kz_enter(&c->jump, fn, l, &c->w, first, count, c->stack_top);
	c->armed = 0;
	if (op->began) atomic_store_explicit(&c->began, 0, memory_order_relaxed);
	kz_fp_leave(old);
	if (t0) {
		c->took = kz_nanos() - t0;
		uint64_t ns = (uint64_t)c->took;
		if (!c->stretch) kz_spent(stands_for(op->u.kernel.k, ns, count));
		if (own) atomic_fetch_add_explicit(own, ns, memory_order_relaxed);
		if (own && first == 0) atomic_fetch_add_explicit(own + 1, 1, memory_order_relaxed);
	}
	c->op = NULL;
	if (__builtin_expect(r == 0, 1)) return KZ_FAULT_NONE;
	if (r == KZ_STOP_YIELD && op->kind == KZ_OP_KERNEL) return KZ_PARKED;
	if (r == KZ_ABORTED) return KZ_FAULT_NONE; // another block's fault ended this one; that one is on record
	describe(c, op, f);
	if (r == KZ_FAULTED || r == KZ_LATE) {
		if (r == KZ_LATE) f->kind = KZ_FAULT_TIMEOUT;
		else {
			f->signal = (uint32_t)c->sig;
			f->addr = c->sig_addr;
			f->kind = (uint32_t)classify(c, op);
		}
		if (op->kind == KZ_OP_KERNEL && c->sig_pc - c->k->i.image < c->k->i.image_size)
			f->pc_offset = c->sig_pc - c->k->i.image;
	} else {
		f->kind = KZ_FAULT_STOP;
		f->stop = (uint32_t)r;
		f->line = c->w.stop_line;
		f->lanes = c->w.stop_lanes;
	}
	return (int)f->kind;
}

struct kz_kernel *kz_kernel_new(const struct kz_kernel_info *info) {
	struct kz_kernel *k = kz_held(calloc(1, sizeof *k));
	if (k) k->i = *info;
	return k;
}

int kz_kernel_supersede(struct kz_kernel *k, const struct kz_kernel *better) {
	const struct kz_kernel_info *a = &k->i, *b = &better->i;
	if (a->resumable || b->resumable || a->spins != b->spins || a->shared_static != b->shared_static || a->shared_align != b->shared_align || a->reserved != b->reserved) return 0;
	atomic_store_explicit(&k->better, better, memory_order_release);
	return 1;
}

void kz_kernel_free(struct kz_kernel *k) {
	free(k->name);
	free(k);
}
