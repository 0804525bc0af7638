// The recorder of `kudzu trace`. c/base/README.md has the file's layout and says what a thunk does.
#ifndef KZ_TRACE_H
#define KZ_TRACE_H

#include "base.h"

// kz_trace_shape is the word of a function, from ztrace.c: its result, an underscore, its parameters. Numbers are bytes.
//
//   w      an integer, an enumerator, a handle, an address
//   f d    a float, a double
//   I8 …   a structure by value; F, D: all of its members are float, double
//   s      a string that the callee reads
//   p8 …   a structure that the callee reads
//   o8 …   room for a result
//
// Results: v nothing, i a code that is 0 for success, u the function's parameters are not public; or as a parameter.
const char *kz_trace_shape(int api, uint32_t slot);

// kz_trace_start turns tracing on if KUDZU_TRACE asks for it. The first front that attaches calls it, before any function
// of a front can be called.
void kz_trace_start(void);

// kz_trace_end is told that the process is ending. Calls may still come.
void kz_trace_end(void);

void kz_trace_fork(int when);

extern const struct kz_trace_host *kz_trace_door; // NULL: off

// --- records, as they are in the file

enum { KZ_RECORD_CALL = 1, KZ_RECORD_SYMBOL, KZ_RECORD_EVENT, KZ_RECORD_MODULE };

struct kz_record {
	uint32_t bytes; // stored last: a reader, or what is left after a crash, sees whole records
	uint16_t kind, a;
};

struct kz_record_call {
	struct kz_record head; // a: library
	uint32_t slot, depth;
	uint64_t id, t0, t1, result, caller;
	uint32_t words, blob_bytes;
	uint64_t args[];
};

struct kz_record_symbol {
	struct kz_record head; // a: library
	uint32_t slot;
	char text[]; // soname, name
};

struct kz_record_event {
	struct kz_record head; // a: type
	uint64_t id, t0, t1;
	uint32_t device, reserved;
	uint64_t stream, values[4];
	char text[];
};

// --- the file (tracefile.c)

struct kz_window; // of the file, mapped

#define KZ_TRACE_DEPTH 64 // calls inside calls of one thread that are told apart

// One a thread that was traced.
struct kz_tracer {
	char *at, *end, *chunk;      // the chunk being written, NULL before the first
	struct kz_window *window;    // where it is mapped
	uint32_t busy;               // inside the recorder: a signal handler that calls us is not recorded
	uint32_t tid;
	uint64_t ids, chunks;        // counts, with the thread's number above
	uint32_t depth;
	struct kz_open {             // calls under way, the innermost last
		const uint64_t *frame;   // on the thread's stack: identifies it
		struct kz_record_call *record;
		const void *plan;
		char *chunk;
		struct kz_window *window;
	} open[KZ_TRACE_DEPTH];
};

struct kz_tracer *kz_tracer(void); // of the calling thread; NULL where there is no memory for it

// kz_trace_room gives room for a record, zeroed, in the thread's chunk or a new one; NULL when there is none.
void *kz_trace_room(struct kz_tracer *t, size_t bytes);

// kz_trace_done makes a record visible.
static inline void kz_trace_done(struct kz_record *r, size_t bytes) { __atomic_store_n(&r->bytes, (uint32_t)bytes, __ATOMIC_RELEASE); }

// kz_trace_dead forgets the innermost call: it has returned, or was left by a jump.
void kz_trace_dead(struct kz_tracer *t);

// kz_trace_folder opens the folder of traces; NULL when it cannot be written to, which has been said then.
int kz_trace_file_start(const char *dir, uint32_t flags);

void kz_trace_clock(void);             // notes ticks and time, from which readers learn how long a tick is
void kz_trace_lost(void);              // counts a record that found no room
extern uint32_t kz_trace_generation;   // of files: a forked child has one of its own
extern _Atomic int kz_trace_off;       // the file cannot be written any more
extern pthread_mutex_t kz_trace_lock;  // guards the file; after load_lock; nothing is called under it (docs/locks.md)

static inline uint64_t kz_ticks(void) {
#ifdef __aarch64__
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return __builtin_ia32_rdtsc();
#endif
}

#endif
