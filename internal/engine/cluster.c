// Clusters: blocks that see each other's shared memory and wait for each other. One thread runs all blocks of a cluster, in
// turns: a block goes on until it waits for another, is put aside as any block that waits (park.c), and the next one runs. So
// nothing that only a cluster shares needs to be atomic. Their shared memories lie one after the other, at distances that
// compiled code knows (image.ClusterStride): the address in another block is the own address and a multiple of it.
#include "internal.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STRIDE (UINT64_C(16) << 20)
enum { BLOCKS_MAX = 64 };
_Static_assert(KZ_SHARED < STRIDE, "a block's shared memory and the gap to the next");

enum { ARRIVE, LEAVE, PHASE }; // image.ClusterArrive and its like

struct kz_cluster_state {
	uint64_t phase;            // of the barrier
	uint64_t arrived, threads; // in this phase; not ended
	uint32_t rank, size;       // of the block that runs; blocks
};

static void complete(struct kz_cluster_state *s) {
	if (s->arrived == 0 || s->arrived < s->threads) return;
	s->arrived = 0;
	s->phase++;
}

uint64_t kz_cluster(const struct kz_launch *l, struct kz_worker *w, uint32_t what) {
	(void)l;
	struct kz_cluster_state *s = ((struct kz_ctx *)w->worker_private)->cluster;
	if (!s) return 0; // code for clusters that runs without one: no such launch is made
	uint64_t now = s->phase;
	switch (what) {
	case ARRIVE: s->arrived++, complete(s); break;
	case LEAVE: s->threads--, complete(s); break;
	case PHASE: return (uint64_t)&s->phase;
	}
	return now;
}

bool kz_past_window(const struct kz_ctx *c, uint64_t addr) {
	uint64_t off = addr - c->w.shared_window;
	if (c->e->narrow) return false; // what is there may be anything
	if (!c->cluster) return off - KZ_WINDOW < (UINT64_C(4) << 30) - STRIDE;
	if (off + (UINT64_C(2) << 30) >= UINT64_C(4) << 30) return false;
	int64_t rank = ((int64_t)(off - off % STRIDE)) / (int64_t)STRIDE + c->cluster->rank; // blocks before this one are below
	return rank < 0 || rank >= c->cluster->size || off % STRIDE >= KZ_WINDOW;
}

uint8_t *kz_shared_at(const struct kz_worker *w, uint64_t off, uint64_t *at) {
	const struct kz_cluster_state *s = ((const struct kz_ctx *)w->worker_private)->cluster;
	int64_t n = s ? (int64_t)(int32_t)off : (int64_t)(uint32_t)off; // blocks before this one are below
	*at = (uint64_t)n % STRIDE;
	int64_t rank = (n - (int64_t)*at) / (int64_t)STRIDE + (s ? s->rank : 0);
	return rank >= 0 && rank < (s ? s->size : 1) ? w->shared + n : NULL;
}

// The number of block `rank` of cluster `n`.
static uint64_t block_of(const struct kz_launch *l, uint64_t n, uint32_t rank) {
	uint64_t at[3], clusters[3];
	for (int i = 0; i < 3; i++) clusters[i] = l->grid[i] / l->cluster[i];
	at[0] = n % clusters[0], at[1] = n / clusters[0] % clusters[1], at[2] = n / clusters[0] / clusters[1];
	uint32_t in[3] = {rank % l->cluster[0], rank / l->cluster[0] % l->cluster[1], rank / l->cluster[0] / l->cluster[1]};
	for (int i = 0; i < 3; i++) at[i] = at[i] * l->cluster[i] + in[i];
	return at[0] + l->grid[0] * (at[1] + l->grid[1] * at[2]);
}

static void give_back(struct kz_area *areas, uint32_t size) {
	for (uint32_t i = 0; i < size; i++) {
		if (areas[i].frame) munmap(areas[i].frame, areas[i].frame_bytes);
		kz_local_free(&areas[i].local);
		kz_called_free(areas[i].called);
	}
}

// Runs one cluster to its end.
static int run(struct kz_ctx *c, struct kz_op *op, struct kz_area *areas, uint64_t n, struct kz_fault *f) {
	uint32_t size = op->u.kernel.cluster, left = size;
	bool begun[BLOCKS_MAX] = {0}, ended[BLOCKS_MAX] = {0};
	struct kz_cluster_state s = {.threads = (uint64_t)size * op->u.kernel.l.threads, .size = size};
	int r = KZ_FAULT_NONE;
	c->cluster = &s;
	while (left > 0 && r == KZ_FAULT_NONE) {
		uint32_t before = left;
		uint64_t phase = s.phase;
		for (uint32_t i = 0; i < size && r == KZ_FAULT_NONE; i++) {
			if (ended[i]) continue;
			kz_area_swap(c, &areas[i]);
			c->w.resume = begun[i];
			c->yields = 0;
			s.rank = i;
			r = kz_run_blocks(c, op, block_of(&op->u.kernel.l, n, i), 1, f);
			kz_area_swap(c, &areas[i]);
			begun[i] = true;
			if (r == KZ_PARKED) {
				r = KZ_FAULT_NONE;
			} else {
				ended[i] = true;
				left--;
			}
		}
		if (left == before && phase == s.phase) { // what they wait for may be elsewhere
			kz_stand_in(c);
			sched_yield();
		}
	}
	c->cluster = NULL;
	c->w.resume = 0;
	return r;
}

// Places for the shared memories of a cluster's blocks; the context keeps them.
static bool places(struct kz_ctx *c, struct kz_area *areas, uint32_t size, uint32_t room) {
	if (!c->ranks.map && kz_row_open(&c->ranks, c->e->narrow, BLOCKS_MAX, STRIDE) != KZ_OK) return false;
	for (uint32_t i = 0; i < size; i++) {
		areas[i].shared = kz_row_slot(&c->ranks, i);
		if (kz_shared_grow(&areas[i].shared, room) != KZ_OK) return false; // others may look into it before it runs
	}
	return true;
}

int kz_cluster_blocks(struct kz_ctx *c, struct kz_op *op, struct kz_fault *f) {
	uint32_t size = op->u.kernel.cluster;
	struct kz_area areas[BLOCKS_MAX];
	memset(areas, 0, sizeof areas);
	bool room = places(c, areas, size, op->u.kernel.shared_room);
	int r = KZ_FAULT_NONE;
	uint64_t n;
	while (r == KZ_FAULT_NONE && kz_job_take(c->e, op, &n)) {
		if (!room) {
			memset(f, 0, sizeof *f);
			f->cookie = op->u.kernel.k->i.cookie;
			f->pc_offset = KZ_NO_OFFSET;
			r = (int)(f->kind = KZ_FAULT_MEMORY);
			break;
		}
		r = run(c, op, areas, n, f);
	}
	give_back(areas, size);
	return r;
}
