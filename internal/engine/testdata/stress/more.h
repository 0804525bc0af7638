// The rest of the engine under the same stress: blocks that wait for each other (park.c), the device's heap and printf (heap.c,
// rt.c), textures and surfaces (texture.c, texsample.c). Part of main.c.
#include "../../texture.h"

// --- blocks that wait ---

struct meeting {
	_Atomic uint64_t *arrived; // one counter a phase
	uint64_t blocks;
};
enum { PHASES = 4 };

// Each block arrives PHASES times, and goes on only when all have: a barrier of the grid, with far more blocks than workers. What
// a block remembers is in its frame, its shared memory and its local memory; all must be its own when it comes back.
static uint32_t k_meet(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	const struct meeting *m = (const void *)l->params;
	uint32_t (*yield)(const struct kz_launch *, struct kz_worker *) = (void *)l->rt[6];
	uint64_t *frame = (uint64_t *)w->frame, *shared = (uint64_t *)w->shared, *local = (uint64_t *)w->local;
	if (count != 1) return 5;
	if (!w->resume) {
		frame[0] = 0;
		frame[1] = shared[0] = local[0] = first;
		atomic_fetch_add(&m->arrived[0], 1);
	}
	for (;;) {
		if (frame[1] != first || shared[0] != first || local[0] != first) return 6;
		while (atomic_load(&m->arrived[frame[0]]) < m->blocks)
			if (yield(l, w)) return KZ_STOP_YIELD;
		if (++frame[0] == PHASES) return 0;
		atomic_fetch_add(&m->arrived[frame[0]], 1);
	}
}

static struct kz_kernel *meet;

static void *waiters(void *arg) {
	uint64_t g = (uint64_t)arg;
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	for (int i = 0; i < 6; i++) {
		_Atomic uint64_t arrived[PHASES] = {0};
		struct meeting m = {arrived, 3 + g * 40 + (uint64_t)i};
		struct kz_launch_args a = {.grid = {(uint32_t)m.blocks, 1, 1}, .block = {32, 1, 1}, .params_bytes = sizeof m, .cooperative = 1};
		CHECK(kz_queue_launch(q, meet, &a, (const uint8_t *)&m) == KZ_OK);
		CHECK(sync_queue(q) == KZ_OK);
		for (int k = 0; k < PHASES; k++) CHECK(arrived[k] == m.blocks);
	}
	kz_queue_unref(q);
	kz_domain_unref(d);
	return NULL;
}

// --- the device's heap ---

static uint32_t k_heap(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	uint64_t (*alloc)(const struct kz_launch *, struct kz_worker *, uint64_t) = (void *)l->rt[1];
	void (*release)(const struct kz_launch *, struct kz_worker *, uint64_t) = (void *)l->rt[2];
	const struct params *p = (const void *)l->params;
	for (uint64_t b = first; b < first + count; b++) {
		uint64_t at[4];
		for (int i = 0; i < 4; i++) {
			at[i] = alloc(l, w, 1 + (b * 37 + (uint64_t)i * 1000) % 3000);
			if (!at[i]) return 5;
			*(uint64_t *)at[i] = b;
		}
		for (int i = 0; i < 4; i++) {
			if (*(uint64_t *)at[i] != b) return 6;
			release(l, w, at[i]);
		}
		atomic_fetch_add(p->counter, 1);
	}
	return 0;
}

static struct kz_kernel *heap;

static void *heaps(void *arg) {
	(void)arg;
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q[2] = {kz_queue_new(d, 0), kz_queue_new(d, 0)};
	_Atomic uint64_t mine[2] = {0};
	for (int i = 0; i < 20; i++) CHECK(launch(q[i & 1], heap, 64, &mine[i & 1], 0) == KZ_OK);
	for (int i = 0; i < 2; i++) CHECK(sync_queue(q[i]) == KZ_OK);
	CHECK(mine[0] + mine[1] == 20 * 64);
	for (int i = 0; i < 2; i++) kz_queue_unref(q[i]);
	kz_domain_unref(d);
	return NULL;
}

// --- textures ---

enum { SIDE = 16 };
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER; // Go's, elsewhere
static uint32_t next_slot = 1;

static uint64_t show(const struct kz_tex *x, uint32_t slot, uint32_t generation) {
	uint64_t h = (uint64_t)generation << KZ_TEX_SLOT_BITS | slot;
	pthread_mutex_lock(&table);
	struct kz_tex *t = kz_tex_slot(slot);
	memcpy((uint8_t *)t + 8, (const uint8_t *)x + 8, sizeof *t - 8);
	__atomic_store_n(&t->handle, h, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&table);
	return h;
}

static void hide(uint32_t slot) {
	pthread_mutex_lock(&table);
	__atomic_store_n(&kz_tex_slot(slot)->handle, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&table);
}

struct pictures { uint64_t from, to; };

// Each block copies a row, by sampling the middle of every texel and storing what came out.
static uint32_t k_copy(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	uint64_t (*texture)(const struct kz_launch *, struct kz_worker *, uint32_t, uint32_t, const void *, void *) = (void *)l->rt[8];
	const struct pictures *p = (const void *)l->params;
	for (uint64_t y = first; y < first + count; y++) {
		struct { uint64_t handle[32]; union { float f; uint32_t u; } a[4][32]; } args;
		uint32_t out[4][32];
		for (int i = 0; i < SIDE; i++) {
			args.handle[i] = p->from;
			args.a[0][i].f = (float)i + 0.5f;
			args.a[1][i].f = (float)y + 0.5f;
		}
		uint64_t stop = texture(l, w, KZ_TOP_TEX | KZ_GEOM_2D << KZ_TOP_GEOM_SHIFT, (1u << SIDE) - 1, &args, out);
		if (stop) return (uint32_t)stop;
		for (int i = 0; i < SIDE; i++) {
			args.handle[i] = p->to;
			args.a[0][i].u = (uint32_t)i * 4;
			args.a[1][i].u = (uint32_t)y;
			args.a[2][i].u = out[0][i];
		}
		stop = texture(l, w, KZ_TOP_STORE | KZ_GEOM_2D << KZ_TOP_GEOM_SHIFT | KZ_OUT_TRAP << KZ_TOP_CLAMP_SHIFT | 2 << KZ_TOP_BYTES_SHIFT, (1u << SIDE) - 1, &args, out);
		if (stop) return (uint32_t)stop;
	}
	return 0;
}

static struct kz_kernel *copy;

static void *painters(void *arg) {
	uint64_t g = (uint64_t)arg;
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	uint64_t a, b;
	CHECK(kz_mem_alloc(mem, SIDE * SIDE * 4, 0, &a) == KZ_OK && kz_mem_alloc(mem, SIDE * SIDE * 4, 0, &b) == KZ_OK);
	pthread_mutex_lock(&table);
	uint32_t slot = next_slot;
	next_slot += 2;
	pthread_mutex_unlock(&table);
	for (uint32_t i = 0; i < 60; i++) {
		struct kz_tex t = {.kind = KZ_TEX_OBJECT, .dims = 2, .format = KZ_TEX_F32, .channels = 1, .levels = 1, .linear = i & 1, .address = {KZ_TEX_CLAMP, KZ_TEX_CLAMP}};
		t.base[0] = a, t.pitch[0] = SIDE * 4, t.width[0] = t.height[0] = SIDE;
		struct kz_tex s = t;
		s.kind = KZ_TEX_SURFACE, s.base[0] = b, s.format = KZ_TEX_U32;
		for (int k = 0; k < SIDE * SIDE; k++) ((float *)a)[k] = (float)(k + (int)(g * i));
		struct pictures p = {show(&t, slot, i + 1), show(&s, slot + 1, i + 1)};
		struct kz_launch_args args = {.grid = {SIDE, 1, 1}, .block = {32, 1, 1}, .params_bytes = sizeof p};
		CHECK(kz_queue_launch(q, copy, &args, (const uint8_t *)&p) == KZ_OK);
		CHECK(sync_queue(q) == KZ_OK);
		CHECK(memcmp((void *)a, (void *)b, SIDE * SIDE * 4) == 0);
		hide(slot), hide(slot + 1);
		CHECK(kz_tex_find(p.from) == NULL);
	}
	CHECK(kz_mem_free(mem, a) == KZ_OK && kz_mem_free(mem, b) == KZ_OK);
	kz_queue_unref(q);
	kz_domain_unref(d);
	return NULL;
}

// everything runs these together, three of each.
static void everything(void) {
	struct kz_kernel_info i = {.entry = (uint64_t)k_meet, .cookie = 2, .frame_block = 64, .shared_static = 64, .local_thread = 64, .spins = 1, .resumable = 1};
	meet = kz_kernel_new(&i);
	heap = kernel(k_heap), copy = kernel(k_copy);
	void *(*const what[])(void *) = {waiters, heaps, painters};
	pthread_t t[9];
	for (uint64_t k = 0; k < 9; k++) pthread_create(&t[k], NULL, what[k % 3], (void *)(k / 3 + 1));
	for (int k = 0; k < 9; k++) pthread_join(t[k], NULL);
	struct kz_stats st;
	kz_engine_stats(e, &st);
	CHECK(st.parked > 0); // or nothing was tried
}
