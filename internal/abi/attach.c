// The image as libkudzu-base.so sees it: kz_attach, and the way of every call into Go.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "_cgo_export.h"
#include "door.h"
#include "fastpath.h"
#include "host.h"
#include "zcodes.h"

static const struct kz_host *host;

extern void *const *const kz_stubs[KZ_APIS];

int32_t kz_door(uint32_t id, uint32_t flag, void *args) {
	struct kz_thread *t = host->thread();
	if ((t->flags & (KZ_THREAD_CALLBACK | KZ_THREAD_QUIET)) && !kzPermitted(id, t->flags & KZ_THREAD_QUIET)) {
		if (flag & KZ_DOOR_RUNTIME)
			t->last_error = KZ_CUDA_ERROR_NOT_PERMITTED;
		return KZ_CUDA_ERROR_NOT_PERMITTED;
	}
	int saved = errno; // the program may still want to look at that of a call before ours
	if (!(t->flags & KZ_THREAD_ROOM)) {
		t->flags |= KZ_THREAD_ROOM;
		kzDoor(t, KZ_ROOM, NULL);
	}
	uint32_t outer = t->flags; // a callback may call us again inside a call
	t->flags = (outer & ~KZ_THREAD_PER_THREAD) | (flag & KZ_THREAD_PER_THREAD);
	int32_t rc = kzDoor(t, id, args);
	t->flags = (t->flags & ~KZ_THREAD_PER_THREAD) | (outer & KZ_THREAD_PER_THREAD);
	errno = saved;
	if (rc && rc != KZ_CUDA_ERROR_NOT_READY && (flag & KZ_DOOR_RUNTIME)) // work that is not done is no error
		t->last_error = rc;
	return rc;
}

int32_t kz_door_ends(uint32_t id, uint32_t flag, void *args) {
	int32_t rc = kz_door(id, flag, args);
	host->contexts_ended(); // outside every lock of the driver: it runs code of libraries above
	return rc;
}

static const struct kz_fast *fast;

void kz_fast_set(uint64_t calls) { fast = (const struct kz_fast *)calls; }

// PASS is whether C makes a call without Go: a function of fast with what it takes beside the thread's tickets and context. errno
// stays. The wiring has set fast before Go leaves a ticket.
#define PASS(call, ...)                                                                                                        \
	({                                                                                                                     \
		struct kz_thread *t = host->thread();                                                                          \
		int saved = errno;                                                                                             \
		bool done = t->tickets && t->depth - 1 < KZ_CONTEXT_STACK && !(t->flags & (KZ_THREAD_CALLBACK | KZ_THREAD_QUIET)) && \
		            fast->call(t->tickets, t->stack[t->depth - 1], __VA_ARGS__);                                        \
		errno = saved;                                                                                                 \
		done;                                                                                                          \
	})

int32_t kz_door_launch(uint32_t id, uint32_t flag, void *args) { return PASS(launch, args) ? 0 : kz_door(id, flag, args); }

// Notes of registrations that Go has read: a call that came back from there found a kernel by an address.
static _Atomic uint64_t settled;

// cudaLaunchKernel names a kernel by its stub's address. Go leaves tickets under the complement of it, which is no handle of the
// driver's. They are good while no unit was registered or unregistered since: a new library may have another stub there.
int32_t kz_door_launch_runtime(uint32_t id, uint32_t flag, void *args) {
	const struct kz_runtime_launch_call *a = args;
	uint64_t noted = __atomic_load_n(host->noted, __ATOMIC_ACQUIRE);
	if (a->shared <= UINT32_MAX && noted == atomic_load_explicit(&settled, memory_order_acquire)) {
		const struct kz_launch_call call = {
			.func = ~a->func, .grid = {a->grid[0], a->grid[1], a->grid[2]}, .block = {a->block[0], a->block[1], a->block[2]},
			.shared = (uint32_t)a->shared, .stream = a->stream, .params = a->params,
		};
		if (PASS(launch, &call))
			return 0;
	}
	int32_t rc = kz_door(id, flag, args);
	if (!rc)
		atomic_store_explicit(&settled, noted, memory_order_release);
	return rc;
}

// Where a kernel was missing the runtime's waits say so (cudart/unwritten.go).
static bool unwritten(uint32_t flag) { return (flag & KZ_DOOR_RUNTIME) && __atomic_load_n(host->lasting, __ATOMIC_RELAXED); }

static int32_t wait_for(uint64_t stream, uint32_t id, uint32_t flag, void *args) {
	return !unwritten(flag) && PASS(wait, stream) ? 0 : kz_door(id, flag, args);
}

int32_t kz_door_wait(uint32_t id, uint32_t flag, void *args) { return wait_for(*(uint64_t *)args, id, flag, args); }

int32_t kz_door_wait_all(uint32_t id, uint32_t flag, void *args) { return wait_for(UINT64_MAX, id, flag, args); }

int32_t kz_door_query(uint32_t id, uint32_t flag, void *args) {
	return PASS(query, *(uint64_t *)args) ? 0 : kz_door(id, flag, args);
}

// Questions. A result that has nowhere to go is for Go to refuse.

int32_t kz_door_device(uint32_t id, uint32_t flag, void *args) {
	const uint64_t to[2] = {*(uint64_t *)args};
	return to[0] && PASS(answer, KZ_ASK_DEVICE, 0, to) ? 0 : kz_door(id, flag, args);
}

int32_t kz_door_set_device(uint32_t id, uint32_t flag, void *args) {
	const int32_t dev = *(int32_t *)args;
	const uint64_t to[2] = {0};
	if (!PASS(answer, KZ_ASK_CHOSEN, (uint64_t)dev, to))
		return kz_door(id, flag, args);
	host->thread()->device = dev + 1;
	return 0;
}

int32_t kz_door_primary(uint32_t id, uint32_t flag, void *args) {
	const struct {
		int32_t dev;
		uint64_t to[2];
	} *a = args;
	return a->to[0] && a->to[1] && PASS(answer, KZ_ASK_PRIMARY, (uint64_t)a->dev, a->to) ? 0 : kz_door(id, flag, args);
}

int32_t kz_door_capture(uint32_t id, uint32_t flag, void *args) {
	const struct {
		uint64_t stream, to;
	} *a = args;
	const uint64_t to[2] = {a->to};
	return a->to && PASS(answer, KZ_ASK_CAPTURE, a->stream, to) ? 0 : kz_door(id, flag, args);
}

// NCCL's collectives. Each differs in what it has between the type and the communicator.

static int32_t collective(const struct kz_collective_call *c, uint32_t id, uint32_t flag, void *args) {
	return PASS(collective, c) ? 0 : kz_door(id, flag, args);
}

struct reduction {
	uint64_t send, recv, count;
	int32_t type, op;
	uint64_t comm, stream;
};

static int32_t reduction(int32_t kind, uint32_t id, uint32_t flag, void *args) {
	const struct reduction *a = args;
	const struct kz_collective_call c = {.send = a->send, .recv = a->recv, .count = a->count, .comm = a->comm, .stream = a->stream, .kind = kind, .type = a->type, .op = a->op};
	return collective(&c, id, flag, args);
}

int32_t kz_door_all_reduce(uint32_t id, uint32_t flag, void *args) { return reduction(KZ_COLLECTIVE_ALL_REDUCE, id, flag, args); }

int32_t kz_door_reduce_scatter(uint32_t id, uint32_t flag, void *args) { return reduction(KZ_COLLECTIVE_REDUCE_SCATTER, id, flag, args); }

int32_t kz_door_reduce(uint32_t id, uint32_t flag, void *args) {
	const struct {
		uint64_t send, recv, count;
		int32_t type, op, root;
		uint64_t comm, stream;
	} *a = args;
	const struct kz_collective_call c = {.send = a->send, .recv = a->recv, .count = a->count, .comm = a->comm, .stream = a->stream, .kind = KZ_COLLECTIVE_REDUCE, .type = a->type, .op = a->op, .root = a->root};
	return collective(&c, id, flag, args);
}

int32_t kz_door_broadcast(uint32_t id, uint32_t flag, void *args) {
	const struct {
		uint64_t send, recv, count;
		int32_t type, root;
		uint64_t comm, stream;
	} *a = args;
	const struct kz_collective_call c = {.send = a->send, .recv = a->recv, .count = a->count, .comm = a->comm, .stream = a->stream, .kind = KZ_COLLECTIVE_BROADCAST, .type = a->type, .root = a->root};
	return collective(&c, id, flag, args);
}

int32_t kz_door_all_gather(uint32_t id, uint32_t flag, void *args) {
	const struct {
		uint64_t send, recv, count;
		int32_t type;
		uint64_t comm, stream;
	} *a = args;
	const struct kz_collective_call c = {.send = a->send, .recv = a->recv, .count = a->count, .comm = a->comm, .stream = a->stream, .kind = KZ_COLLECTIVE_ALL_GATHER, .type = a->type};
	return collective(&c, id, flag, args);
}

// A call of a library. Go sees it as C does, to say which calls are like it.
int32_t kz_door_library(uint32_t id, uint32_t flag, void *args, uint32_t bytes) {
	const struct kz_library_call c = {.id = id, .words = bytes / 8, .args = args};
	if (PASS(library, &c))
		return 0;
	struct kz_thread *t = host->thread();
	const void *outer = t->call; // a callback may call us again inside a call
	t->call = c.words <= KZ_CALL_WORDS ? &c : NULL;
	int32_t rc = kz_door(id, flag, args);
	t->call = outer;
	return rc;
}

static void thread_ended(struct kz_thread *t) { kzDoor(t, KZ_THREAD_END, NULL); }

int kz_attach(const struct kz_host *base, struct kz_image *image);
int kz_attach(const struct kz_host *base, struct kz_image *image) {
	if (base->hash != kz_hash())
		return KZ_CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
	host = base;
	int32_t rc = kz_door(KZ_START, 0, NULL);
	for (int api = 0; api < KZ_APIS; api++)
		image->stubs[api] = kz_stubs[api];
	image->thread_ended = thread_ended;
	return rc;
}

int kz_host_secure(void) { return host->secure; }

const char *kz_host_image(void) { return host->image; }

uint64_t *kz_host_noted(void) { return host->noted; }

int32_t *kz_host_lasting(void) { return host->lasting; }

void kz_host_say(const char *text, uint64_t n) { host->say(text, n); }

uint64_t kz_host_complain(void) { return (uint64_t)host->complain; }

void kz_host_complained(const char *text, uint64_t n) { host->complain(text, n); }

char *kz_host_last_error(enum kz_last_error of) { return host->last_errors[of]; }

const struct kz_trace_host *kz_host_trace(void) { return host->trace; }

uint64_t kz_trace_now(void) { return host->trace->now(); }

uint64_t kz_trace_current(void) { return host->trace->current(); }

void kz_trace_event(uint16_t type, uint64_t id, uint64_t t0, uint64_t t1, uint32_t device, uint64_t stream, const uint64_t *values, const char *text) {
	host->trace->event(type, id, t0, t1, device, stream, values, text);
}

uint64_t kz_host_take(void *out, uint64_t room) { return host->take(out, room); }

static uint64_t call_with(uint32_t flag, uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
	struct kz_thread *t = host->thread();
	uint32_t outer = t->flags & flag; // one such function may be inside another
	t->flags |= flag;
	uint64_t r = kz_call_out(fn, a, b, c, d);
	t->flags = (t->flags & ~flag) | outer;
	return r;
}

uint64_t kz_call_back(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
	return call_with(KZ_THREAD_CALLBACK, fn, a, b, c, d);
}

uint64_t kz_call_quiet(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
	return call_with(KZ_THREAD_QUIET, fn, a, b, c, d);
}

uint64_t kz_call_out(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
	return ((uint64_t(*)(uint64_t, uint64_t, uint64_t, uint64_t))fn)(a, b, c, d);
}
