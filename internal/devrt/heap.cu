// malloc and free in device memory. A lock is held for a few accesses, by one lane after another: the loop takes it, uses it and
// gives it back in one turn, so that lanes that run in step cannot wait for each other.
#include "devrt.h"

enum { USED = 0x6b7a5573, FREE = 0x6b7a4672 };

struct block {
	u32 state, list;
	u64 next;
};

LOCAL u64 pop(u32 list) {
	// The list of this size, what was never given away, then the lists of larger blocks.
	for (u32 l = list; l < 32; l++) {
		u64 b = *(volatile u64 *)&kudzu_heap.lists[l];
		if (b) {
			*(volatile u64 *)&kudzu_heap.lists[l] = *(volatile u64 *)&((struct block *)b)->next;
			return b;
		}
		if (l > list) continue;
		u64 top = *(volatile u64 *)&kudzu_heap.top, size = 1ull << list;
		if (kudzu_heap.end - top >= size) {
			*(volatile u64 *)&kudzu_heap.top = top + size;
			((volatile struct block *)top)->list = list;
			return top;
		}
	}
	return 0;
}

DEVICE void *malloc(u64 n) {
	if (n == 0 || n > 1ull << 30) return 0;
	u32 list = 5; // of 32 bytes with the header
	while (1ull << list < n + sizeof(struct block)) list++;
	u64 got = 0;
	for (bool done = false; !done;) {
		if (__sync_val_compare_and_swap(&kudzu_heap.lock, 0u, 1u) == 0) {
			fence();
			got = pop(list);
			if (got) ((volatile struct block *)got)->state = USED;
			fence();
			__sync_lock_test_and_set(&kudzu_heap.lock, 0u);
			done = true;
		}
	}
	return got ? (void *)(got + sizeof(struct block)) : 0;
}

DEVICE void free(void *p) {
	if (!p) return;
	u64 b = (u64)p - sizeof(struct block);
	u64 start = ((u64)&kudzu_heap + sizeof(struct heap) + 15) & ~15ull;
	bool ours = false;
	if (b >= start && b < kudzu_heap.end && (b & 15) == 0) {
		for (bool done = false; !done;) {
			if (__sync_val_compare_and_swap(&kudzu_heap.lock, 0u, 1u) == 0) {
				fence();
				volatile struct block *k = (volatile struct block *)b;
				if (k->state == USED && k->list < 32) {
					k->state = FREE;
					k->next = *(volatile u64 *)&kudzu_heap.lists[k->list];
					*(volatile u64 *)&kudzu_heap.lists[k->list] = b;
					ours = true;
				}
				fence();
				__sync_lock_test_and_set(&kudzu_heap.lock, 0u);
				done = true;
			}
		}
	}
	if (!ours) __builtin_trap(); // something that malloc did not give
}
