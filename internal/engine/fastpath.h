// Calls that C makes without Go (fastpath.c).
#ifndef KZ_FASTPATH_H
#define KZ_FASTPATH_H

#include <stdint.h>

struct kz_queue;
struct kz_kernel;
struct kz_sequence;
struct kz_meet;

enum { KZ_TICKET_PARAMS = 24, KZ_TICKET_BYTES = 512 }; // launches with more parameters go through Go

// What the stub of cuLaunchKernel packs, and that of cudaLaunchKernel.
struct kz_launch_call {
	uint64_t func;
	uint32_t grid[3], block[3], shared;
	uint64_t stream, params, extra;
};
struct kz_runtime_launch_call {
	uint64_t func;
	uint32_t grid[3], block[3];
	uint64_t params, shared, stream;
};

// A ticket allows launches like one that Go has made, while the generation is its own.
struct kz_ticket {
	uint64_t generation; // 0: none
	uint64_t func, stream, context;
	uint32_t block[3], grid_max[3], shared_max;
	uint32_t nparams, params_bytes;
	uint64_t vars;
	struct kz_queue *q;
	struct kz_kernel *k;
	uint64_t put, launches; // addresses of words: launches of the stream, and of the process (0: nobody counts)
	struct kz_ticket_param { uint16_t offset, size; } params[KZ_TICKET_PARAMS];
};

// A wait allows to wait for a stream, or with stream KZ_ALL_STREAMS for the whole context.
struct kz_wait {
	uint64_t generation;
	uint64_t stream, context;
	struct kz_queue *q;
	uint64_t put, synced;      // addresses of words
	uint64_t quiet[2];         // of words that must be 0 after the wait, or Go has more to do; 0: no such word
};
#define KZ_ALL_STREAMS UINT64_MAX

// An answer to a question: what it is about, and the current context, decide it until something changes.
enum kz_ask {
	KZ_ASK_DEVICE,  // which device is the current one
	KZ_ASK_CHOSEN,  // whether choosing this device changes nothing
	KZ_ASK_PRIMARY, // flags of a device's primary context, and whether it is alive
	KZ_ASK_CAPTURE, // whether a stream is captured
};
struct kz_answer {
	uint64_t generation, context, of;
	uint32_t ask, value[2];
};

// What the stubs of NCCL's collectives pack: of a communicator's rank. op and root are 0 where a call has none.
enum { KZ_COLLECTIVE_ALL_REDUCE = 1, KZ_COLLECTIVE_REDUCE_SCATTER, KZ_COLLECTIVE_REDUCE, KZ_COLLECTIVE_BROADCAST, KZ_COLLECTIVE_ALL_GATHER }; // KZ_MEET_*
struct kz_collective_call {
	uint64_t send, recv, count, comm, stream;
	int32_t kind, type, op, root;
};

// A ticket for the collectives of a communicator whose ranks meet in memory.
struct kz_collective_ticket {
	uint64_t generation;
	uint64_t comm, stream, context;
	struct kz_queue *q;
	struct kz_sequence *s;
	struct kz_meet *m;
	uint64_t put; // address of a word: work of the stream
	uint32_t n, rank;
};

// A call of a library as its stub packs it: words of 64 bits, whose gaps are zero. door's number and the words name it.
enum { KZ_CALL_WORDS = 24, KZ_CALL_PATCHES = 8, KZ_CALL_BYTES = 320 };
struct kz_library_call {
	uint32_t id, words;
	const uint64_t *args;
};

// A patch is an argument that may be another one in every call: an address, which must not be 0, and what it becomes as a parameter.
enum kz_patch_kind {
	KZ_PATCH_ADDRESS, // the parameter
	KZ_PATCH_UNUSED,  // nothing
	KZ_PATCH_F32,     // a number is there, on the host, which becomes two of f64, real and imaginary
	KZ_PATCH_F64,
	KZ_PATCH_C32,
	KZ_PATCH_C64,
};
struct kz_patch {
	uint8_t word, kind, not_zero; // not_zero: with a number that is 0 the call is another one
	uint16_t offset;              // of the parameter
};

// A ticket for calls of a library that are one launch, and differ in what the patches name only.
struct kz_library_ticket {
	uint64_t generation;
	uint64_t context, handle, modes[2]; // handle: address of two words, a library's handle's, which are these
	uint32_t id, words, fixed, npatches;  // fixed: a bit for each word that is the same
	uint64_t args[KZ_CALL_WORDS];
	struct kz_patch patches[KZ_CALL_PATCHES];
	uint32_t grid[3], block[3], shared, params_bytes;
	uint64_t vars;
	struct kz_queue *q;
	struct kz_kernel *k;
	uint64_t put, launches; // as in kz_ticket
	uint8_t params[KZ_CALL_BYTES];
};

struct kz_tickets; // of one thread: nobody else looks at them

uint64_t *kz_counters_new(uint64_t n); // n words, zero, for free(); NULL without memory
struct kz_tickets *kz_tickets_new(void); // for free(); NULL without memory
void kz_ticket_put(struct kz_tickets *t, const struct kz_ticket *p);
void kz_wait_put(struct kz_tickets *t, const struct kz_wait *w);
void kz_answer_put(struct kz_tickets *t, const struct kz_answer *a);
void kz_collective_put(struct kz_tickets *t, const struct kz_collective_ticket *c);
void kz_library_put(struct kz_tickets *t, const struct kz_library_ticket *p);
void kz_tickets_group(struct kz_tickets *t, int in); // the thread's collectives are Go's, which has a group of them

uint64_t *kz_generation(void); // read atomically; never 0
// What tickets were checked against has changed: none made before is good any more, and none is in use when this returns.
void kz_fast_changed(void);

// 1: done, with CUDA_SUCCESS. 0: Go must do it, nothing has happened.
typedef int kz_fast_launch_fn(struct kz_tickets *t, uint64_t context, const struct kz_launch_call *call);
typedef int kz_fast_wait_fn(struct kz_tickets *t, uint64_t context, uint64_t stream);
kz_fast_launch_fn kz_fast_launch;
kz_fast_wait_fn kz_fast_wait;

// 1: the answer goes to up to two addresses, 0 for none. 0: Go must answer.
typedef int kz_fast_answer_fn(struct kz_tickets *t, uint64_t context, enum kz_ask ask, uint64_t of, const uint64_t to[2]);
kz_fast_answer_fn kz_fast_answer;
// 1: all work of the stream is done. 0: Go must say.
kz_fast_wait_fn kz_fast_query;

typedef int kz_fast_collective_fn(struct kz_tickets *t, uint64_t context, const struct kz_collective_call *c);
kz_fast_collective_fn kz_fast_collective;

typedef int kz_fast_library_fn(struct kz_tickets *t, uint64_t context, const struct kz_library_call *c);
kz_fast_library_fn kz_fast_library;

struct kz_fast {
	kz_fast_launch_fn *launch;
	kz_fast_wait_fn *wait, *query;
	kz_fast_answer_fn *answer;
	kz_fast_collective_fn *collective;
	kz_fast_library_fn *library;
};
extern const struct kz_fast kz_fast;

#endif
