// What kernels launch (children.c), under the same stress. Part of main.c.

enum { GET_BUFFER, LAUNCH, LAST_ERROR, PEEK_ERROR, FAMILY_THREADS = 48, FAMILIES = 64, MOST_ERRORS = 1 << 20 };

typedef uint64_t device_call(const struct kz_launch *, struct kz_worker *, uint32_t call, uint32_t thread, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

static const uint64_t known[] = {100, 8, 200, 24}; // kernels and the bytes of their parameters

static struct kz_child_rules rules(uint32_t depth) {
	return (struct kz_child_rules){.max_grid = {1 << 20, 4, 4}, .max_block = {1024, 4, 4}, .max_threads = 1024, .max_shared = 1 << 15, .depth = depth, .nkernels = 2, .kernels = known};
}

// Of the threads of a block every fourth asks for a kernel that is none and every fifth for a buffer that it never launches; the
// others launch, every third into the tail stream, and then something that is no buffer.
static uint32_t k_parent(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	device_call *call = (device_call *)l->rt[12];
	for (uint64_t b = first; b < first + count; b++) {
		uint64_t buffers[FAMILY_THREADS];
		w->block = b;
		for (uint32_t t = 0; t < FAMILY_THREADS; t++) {
			uint64_t f = t % 4 == 1 ? 150 : t % 2 ? 200 : 100;
			buffers[t] = call(l, w, GET_BUFFER, t, f, 1 | UINT64_C(1) << 32, 1 | UINT64_C(32) << 32, 1 | UINT64_C(1) << 32, 0);
			if (!buffers[t]) continue;
			uint64_t params[3] = {b, t, b ^ t};
			memcpy((void *)buffers[t], params, f == 200 ? 24 : 8);
		}
		for (uint32_t t = 0; t < FAMILY_THREADS; t++) {
			bool bad = t % 4 == 1;
			if (bad != !buffers[t]) return 5;
			if (!bad && t % 5) {
				if (call(l, w, LAUNCH, t, buffers[t], t % 3 ? 0 : 3, 0, 0, 0) != 0) return 6;
				if (call(l, w, LAUNCH, t, buffers[t] + 8, 0, 0, 0, 0) != 1) return 7;
				bad = true;
			}
			uint64_t want = !bad ? 0 : t % 4 == 1 ? 98 : 1;
			if (call(l, w, PEEK_ERROR, t, 0, 0, 0, 0, 0) != want || call(l, w, LAST_ERROR, t, 0, 0, 0, 0, 0) != want) return 8;
			if (call(l, w, LAST_ERROR, t, 0, 0, 0, 0, 0) != 0) return 9;
		}
	}
	return 0;
}

static struct { struct kz_children *c; uint64_t blocks; } families[FAMILIES];
static _Atomic uint64_t nfamilies;

// A grid is over: everything that it launched is there once, the tails behind the others.
static void family_over(uint64_t id) {
	struct kz_children *c = families[id].c;
	uint64_t n = 0, want = 0;
	bool tails = false;
	for (uint32_t t = 0; t < FAMILY_THREADS; t++) want += t % 4 != 1 && t % 5;
	for (struct kz_child *x = kz_children_take(c), *next; x; x = next) {
		uint64_t p[3] = {0};
		memcpy(p, x->params, x->bytes);
		CHECK(x->bytes == (x->function == 200 ? 24 : 8) && p[0] < families[id].blocks && (x->bytes == 8 || p[2] == (p[0] ^ p[1])));
		CHECK(x->grid[0] == 1 && x->block[0] == 32 && x->block[2] == 1);
		if (x->bytes == 24) {
			CHECK(!tails || p[1] % 3 == 0);
			tails = tails || p[1] % 3 == 0;
		}
		n++;
		next = x->next;
		kz_child_free(x);
	}
	CHECK(n == want * families[id].blocks);
	kz_children_free(c); // with the buffers that nobody launched
}

static struct kz_kernel *parent;

static void *launchers(void *arg) {
	uint64_t g = (uint64_t)arg;
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	for (uint64_t i = 0; i < 6; i++) {
		uint64_t id = nfamilies++;
		struct kz_child_rules r = rules(0);
		families[id].c = kz_children_new(&r), families[id].blocks = 1 + g * 10 + i;
		struct kz_launch_args a = {.grid = {(uint32_t)families[id].blocks, 1, 1}, .block = {FAMILY_THREADS, 1, 1}, .children = families[id].c};
		CHECK(kz_queue_launch_then(q, parent, &a, (const uint8_t *)"", FAMILY + id) == KZ_OK);
		if (i % 2) CHECK(sync_queue(q) == KZ_OK);
	}
	CHECK(sync_queue(q) == KZ_OK);
	kz_queue_unref(q);
	kz_domain_unref(d);
	return NULL;
}

// Errors without end take memory with an end; limits are what they say.
static uint32_t k_errors(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	device_call *call = (device_call *)l->rt[12];
	(void)first, (void)count;
	w->block = 0;
	for (uint32_t t = 0; t < MOST_ERRORS + 1000; t++)
		if (call(l, w, LAUNCH, t, 64, 0, 0, 0, 0) != 1) return 5;
	for (uint32_t t = 0; t < MOST_ERRORS + 1000; t++)
		if (call(l, w, PEEK_ERROR, t, 0, 0, 0, 0, 0) != (t < MOST_ERRORS)) return 6;
	return 0;
}

static uint32_t k_deep(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	device_call *call = (device_call *)l->rt[12];
	(void)count;
	w->block = first;
	if (call(l, w, GET_BUFFER, 0, 100, 1 | UINT64_C(1) << 32, 1 | UINT64_C(32) << 32, 1 | UINT64_C(1) << 32, 0)) return 5;
	return call(l, w, LAST_ERROR, 0, 0, 0, 0, 0, 0) == 65 ? 0 : 6;
}

static void launches(void) {
	parent = kernel(k_parent);
	pthread_t t[4];
	for (uint64_t k = 0; k < 4; k++) pthread_create(&t[k], NULL, launchers, (void *)k);
	for (int k = 0; k < 4; k++) pthread_join(t[k], NULL);
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	const struct { kz_entry fn; uint32_t depth; } alone[] = {{k_errors, 0}, {k_deep, 23}};
	for (int i = 0; i < 2; i++) {
		struct kz_child_rules r = rules(alone[i].depth);
		struct kz_children *c = kz_children_new(&r);
		struct kz_kernel *k = kernel(alone[i].fn);
		struct kz_launch_args a = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .children = c};
		CHECK(kz_queue_launch(q, k, &a, (const uint8_t *)"") == KZ_OK && sync_queue(q) == KZ_OK);
		CHECK(!kz_children_take(c));
		kz_children_free(c);
		kz_kernel_free(k);
	}
	kz_queue_unref(q);
	kz_kernel_free(parent);
	kz_domain_unref(d);
}
