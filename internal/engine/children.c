// What kernels launch: the calls of CUDA's device runtime. A call only keeps a record; when the grid's blocks have ended, Go takes the records
// and launches what they say (kz_children_take). Memory that the kernel names is touched while no lock is held.
#include "internal.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_PENDING = 1 << 16, MAX_DEPTH = 24, MAX_ERRORS = 1 << 20, TAIL_STREAM = 3, FIRST_HANDLE = 17 };

// Codes of cudaError_t.
enum { NONE = 0, INVALID_VALUE = 1, NO_MEMORY = 2, INVALID_CONFIG = 9, DEPTH_EXCEEDED = 65, PENDING_EXCEEDED = 69, INVALID_FUNCTION = 98 };

// A thread's last error; code 0: the place is free.
struct error {
	uint64_t block;
	uint32_t thread, code;
};

struct kz_children {
	struct kz_child_rules rules;
	kz_lock lock;                       // KZ_RANK_CHILDREN
	struct kz_child *buffers;           // guarded by lock, as the rest: asked for and not launched
	struct kz_child *list, *last;       // launched
	struct kz_child *tails, *last_tail; // launched into the tail stream
	uint32_t pending;
	uint64_t handles;
	struct kz_heap *heap;   // of the buffers, referenced
	struct error *errors;   // a hash table
	uint32_t nerrors, room; // room is a power of two
};

struct kz_children *kz_children_new(const struct kz_child_rules *r) {
	struct kz_children *c = kz_held(calloc(1, sizeof *c));
	if (!c) return NULL;
	kz_lock_init(&c->lock, KZ_RANK_CHILDREN);
	c->rules = *r;
	return c;
}

static void free_list(struct kz_child *x) {
	for (struct kz_child *next; x; x = next) {
		next = x->next;
		free(x);
	}
}

void kz_child_free(struct kz_child *x) { free(x); }

void kz_children_free(struct kz_children *c) {
	for (struct kz_child *b = c->buffers; b; b = b->next) kz_heap_release(c->heap, b->buffer);
	free_list(c->buffers);
	free_list(c->list);
	free_list(c->tails);
	if (c->heap) kz_heap_unref(c->heap);
	free(c->errors);
	free(c);
}

struct kz_child *kz_children_take(struct kz_children *c) {
	kz_acquire(&c->lock);
	struct kz_child *all = c->list;
	if (all) c->last->next = c->tails;
	else all = c->tails;
	c->list = c->last = c->tails = c->last_tail = NULL;
	c->pending = 0;
	kz_release(&c->lock);
	return all;
}

// --- last errors ---

static uint64_t hash(uint64_t block, uint32_t thread) { return (block * 1024 + thread) * UINT64_C(0x9e3779b97f4a7c15) >> 32; }

// The place of a thread's error: the one that is there, or a free one. Preconditions: c->lock is held; there is room.
static struct error *place(struct kz_children *c, uint64_t block, uint32_t thread) {
	for (uint64_t h = hash(block, thread);; h++) {
		struct error *e = &c->errors[h & (c->room - 1)];
		if (!e->code || (e->block == block && e->thread == thread)) return e;
	}
}

// Preconditions: c->lock is held.
static bool grow(struct kz_children *c) {
	if (c->nerrors < c->room / 2 || c->nerrors == MAX_ERRORS) return true;
	uint32_t old = c->room;
	struct error *was = c->errors, *now = calloc(old ? old * 2 : 64, sizeof *now);
	if (!now) return false;
	c->errors = now;
	c->room = old ? old * 2 : 64;
	for (uint32_t i = 0; i < old; i++)
		if (was[i].code) *place(c, was[i].block, was[i].thread) = was[i];
	free(was);
	return true;
}

// Notes and answers an error.
static uint64_t refuse(struct kz_children *c, struct kz_worker *w, uint32_t thread, uint32_t code) {
	kz_acquire(&c->lock);
	if (grow(c)) { // without memory, or when very many threads have one, it is answered and not kept
		struct error *e = place(c, w->block, thread);
		bool room = e->code || c->nerrors < MAX_ERRORS;
		c->nerrors += room && !e->code;
		if (room) *e = (struct error){w->block, thread, code};
	}
	kz_release(&c->lock);
	return code;
}

// Takes an error out: those behind it that would not be found any more move up. Preconditions: c->lock is held.
static void forgets(struct kz_children *c, struct error *e) {
	uint64_t mask = c->room - 1, gap = (uint64_t)(e - c->errors);
	for (uint64_t i = gap + 1; c->errors[i & mask].code; i++) {
		const struct error *x = &c->errors[i & mask];
		if (((i - hash(x->block, x->thread)) & mask) >= ((i - gap) & mask)) {
			c->errors[gap & mask] = *x;
			gap = i;
		}
	}
	c->errors[gap & mask].code = NONE;
	c->nerrors--;
}

static uint64_t last_error(struct kz_children *c, struct kz_worker *w, uint32_t thread, bool forget) {
	uint32_t code = NONE;
	kz_acquire(&c->lock);
	struct error *e = c->room ? place(c, w->block, thread) : NULL;
	if (e) code = e->code;
	if (code && forget) forgets(c, e);
	kz_release(&c->lock);
	return code;
}

// --- launches ---

// Finds the kernel that a device pointer to it means: how many bytes of parameters it has, or -1.
static int64_t params_of(const struct kz_child_rules *r, uint64_t function) {
	uint64_t lo = 0, hi = r->nkernels;
	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;
		if (r->kernels[2 * mid] < function) lo = mid + 1;
		else hi = mid;
	}
	return lo < r->nkernels && r->kernels[2 * lo] == function ? (int64_t)r->kernels[2 * lo + 1] : -1;
}

static uint32_t refuses(const struct kz_child_rules *r, const struct kz_child *x) {
	uint64_t threads = 1;
	if (r->depth + 1 >= MAX_DEPTH) return DEPTH_EXCEEDED;
	for (int i = 0; i < 3; i++) {
		if (!x->grid[i] || !x->block[i] || x->grid[i] > r->max_grid[i] || x->block[i] > r->max_block[i]) return INVALID_CONFIG;
		threads *= x->block[i];
	}
	if (threads > r->max_threads) return INVALID_CONFIG;
	return x->dynamic_shared > r->max_shared ? INVALID_VALUE : NONE;
}

// cudaGetParameterBufferV2(kernel, grid, block, shared bytes): where the parameters go, or null.
static uint64_t parameter_buffer(const struct kz_launch *l, struct kz_worker *w, struct kz_children *c, uint32_t thread, const uint64_t *a) {
	struct kz_heap *heap = ((struct kz_op *)l->launch_private)->q->d->heap;
	struct kz_child x = {.function = a[0], .grid = {(uint32_t)a[1], a[1] >> 32, (uint32_t)a[2]}, .block = {a[2] >> 32, (uint32_t)a[3], a[3] >> 32},
	                     .dynamic_shared = (uint32_t)a[4]};
	int64_t bytes = params_of(&c->rules, x.function);
	uint32_t code = bytes < 0 ? INVALID_FUNCTION : refuses(&c->rules, &x);
	if (code) {
		refuse(c, w, thread, code);
		return 0;
	}
	x.bytes = (uint32_t)bytes;
	x.buffer = kz_heap_alloc(heap, bytes > 16 ? (uint64_t)bytes : 16);
	struct kz_child *own = x.buffer ? malloc(sizeof *own + x.bytes) : NULL;
	if (!own) {
		if (x.buffer) kz_heap_release(heap, x.buffer);
		refuse(c, w, thread, NO_MEMORY);
		return 0;
	}
	*own = x;
	kz_acquire(&c->lock);
	if (!c->heap) c->heap = kz_heap_ref(heap);
	own->next = c->buffers;
	c->buffers = own;
	kz_release(&c->lock);
	return own->buffer;
}

// Takes the buffer's record out of the list, or NULL.
static struct kz_child *claim(struct kz_children *c, uint64_t buffer, bool *full) {
	struct kz_child *x = NULL;
	kz_acquire(&c->lock);
	for (struct kz_child **p = &c->buffers; *p; p = &(*p)->next)
		if ((*p)->buffer == buffer) {
			x = *p;
			*p = x->next;
			break;
		}
	*full = x && c->pending >= MAX_PENDING;
	if (x && !*full) c->pending++;
	kz_release(&c->lock);
	return x;
}

// cudaLaunchDeviceV2(buffer, stream).
static uint64_t launch(struct kz_worker *w, struct kz_children *c, uint32_t thread, uint64_t buffer, uint64_t stream) {
	bool full;
	struct kz_child *x = claim(c, buffer, &full);
	if (!x) return refuse(c, w, thread, INVALID_VALUE);
	if (!full) memcpy(x->params, (const void *)buffer, x->bytes); // of the heap, which stays mapped
	kz_heap_release(c->heap, buffer);
	if (full) {
		free(x);
		return refuse(c, w, thread, PENDING_EXCEEDED);
	}
	x->next = NULL;
	kz_acquire(&c->lock);
	struct kz_child **first = stream == TAIL_STREAM ? &c->tails : &c->list, **last = stream == TAIL_STREAM ? &c->last_tail : &c->last;
	if (*first) (*last)->next = x;
	else *first = x;
	*last = x;
	kz_release(&c->lock);
	return NONE;
}

// --- the calls ---

static uint64_t new_handle(struct kz_children *c, uint64_t to) { // children run in order whatever their stream: a number will do
	kz_acquire(&c->lock);
	uint64_t n = FIRST_HANDLE + c->handles++;
	kz_release(&c->lock);
	memcpy((void *)to, &n, sizeof n);
	return NONE;
}

static uint64_t put32(uint64_t to, uint32_t v) {
	memcpy((void *)to, &v, sizeof v);
	return NONE;
}

// In the order of devrt.Calls.
enum {
	GET_PARAMETER_BUFFER, LAUNCH_DEVICE, GET_LAST_ERROR, PEEK_AT_LAST_ERROR, STREAM_CREATE, EVENT_CREATE, MALLOC,
	FREE, STREAM_DESTROY, STREAM_WAIT_EVENT, EVENT_DESTROY, EVENT_RECORD, EVENT_RECORD_FLAGS, GET_DEVICE, GET_DEVICE_COUNT, MEMCPY, MEMSET, GRAPH_SET_CONDITIONAL,
};

uint64_t kz_device_launch(const struct kz_launch *l, struct kz_worker *w, uint32_t call, uint32_t thread, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
	struct kz_op *op = l->launch_private;
	struct kz_children *k = op->u.kernel.children;
	switch (call) {
	case GET_PARAMETER_BUFFER:
		return parameter_buffer(l, w, k, thread, (const uint64_t[]){a, b, c, d, e});
	case LAUNCH_DEVICE:
		return launch(w, k, thread, a, b);
	case GET_LAST_ERROR:
		return last_error(k, w, thread, true);
	case PEEK_AT_LAST_ERROR:
		return last_error(k, w, thread, false);
	case STREAM_CREATE:
	case EVENT_CREATE:
		return new_handle(k, a);
	case MALLOC: {
		uint64_t p = kz_heap_alloc(op->q->d->heap, b);
		if (!p) return refuse(k, w, thread, NO_MEMORY);
		memcpy((void *)a, &p, sizeof p);
		return NONE;
	}
	}
	return INVALID_VALUE; // the compiler asks for nothing else
}

uint64_t kz_device_call(const struct kz_launch *l, struct kz_worker *w, uint32_t call, uint32_t thread, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
	(void)w, (void)thread, (void)d, (void)e;
	switch (call) {
	case FREE:
		if (a) kz_heap_release(((struct kz_op *)l->launch_private)->q->d->heap, a);
		return NONE;
	case STREAM_DESTROY:
	case STREAM_WAIT_EVENT:
	case EVENT_DESTROY:
	case EVENT_RECORD:
	case EVENT_RECORD_FLAGS:
		return NONE;
	case GET_DEVICE:
		return put32(a, 0);
	case GET_DEVICE_COUNT:
		return put32(a, 1);
	case MEMCPY:
		memmove((void *)a, (const void *)b, c);
		return NONE;
	case MEMSET:
		memset((void *)a, (int)(uint8_t)b, c);
		return NONE;
	case GRAPH_SET_CONDITIONAL: // the handle is where the value is kept
		return put32(a, (uint32_t)b);
	}
	return INVALID_VALUE; // the compiler asks for nothing else
}
