// The recorder of `kudzu trace`. c/base/README.md has the file's layout and says what a thunk does.
#ifndef KZ_TRACE_H
#define KZ_TRACE_H

#include "base.h"

// A function's shape, in the last column but one of its row, is a word: its result, an underscore, its parameters. Numbers are bytes.
//
//   w      an integer, an enumerator, a handle, an address that is not followed
//   f d    a float, a double
//   I8 …   a structure by value; F, D: all of its members are float, double
//   s      a string that the callee reads
//   p8 …   a value that the callee reads
//   q8 …   the same, which may lie in memory of a device
//   o8 …   room for a value
//   c      room for a string
//   a8n2 … values that the callee reads, as many as parameter 2 says; t2: strings
//   k0     addresses of a kernel's parameters; the kernel is parameter 0. K1: the same, a kernel of the runtime API
//   x      a kernel's parameters in one piece: CU_LAUNCH_PARAM_*
//   m m3   the image of a module; parameter 3 is its size
//   M      room for one. L2: room for the address of one; parameter 2 has the address of its size
//   N      the name of a file that has one
//
// Results: v nothing, i a code that is 0 for success, u the function's parameters are not public; or as a parameter.
static inline const char *kz_trace_shape(const struct kz_library *lib, uint32_t slot) { return lib->shapes + lib->shape[slot]; }

// kz_trace_start turns tracing on if KUDZU_TRACE asks for it. It replaces the tables that the start of the Go image, forks and the
// end of the process write to. Preconditions: load_lock is held; nobody has called it before.
void kz_trace_start(void);

// kz_trace_once calls kz_trace_start once, and returns when that is done, whichever thread does it (table.c). The first front that
// attaches calls it, before any function of a front can be called, or the first call of NVTX.
void kz_trace_once(void);

// kz_trace_end is told that the process is ending. Calls may still come.
void kz_trace_end(void);

void kz_trace_fork(int when);

extern const struct kz_trace_host *kz_trace_door; // NULL: off

// kz_trace_attach is for libraries that tell of more than calls (c/nvtx): the recorder, or NULL. No front need be there yet.
__attribute__((visibility("default"))) const struct kz_trace_host *kz_trace_attach(void);

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

struct kz_record_module {
	struct kz_record head; // a: library
	uint64_t id, bytes;
	char text[]; // hash, extension
};

enum { KZ_BLOB_STRING, KZ_BLOB_STRUCT, KZ_BLOB_OUT, KZ_BLOB_KERNEL, KZ_BLOB_ARRAY };
enum { KZ_BLOB_CUT = 1, KZ_BLOB_FILLED = 2, KZ_BLOB_LATER = 4 };

struct kz_blob {
	uint8_t parameter, what;
	uint16_t flags;
	uint32_t bytes;
	char data[]; // padded to 8
};

// --- how calls are recorded

enum { KZ_PLAN_WORDS = 48, KZ_PLAN_BLOBS = 12 };

// How the calls of one function are recorded, made of its word at the first.
struct kz_plan {
	uint32_t named;              // the file that has its name: a generation
	uint8_t words;               // of args
	uint8_t stack;               // words on the stack that the callee may read
	char result;                 // v, i, w, f, d, or I for a structure
	uint8_t notes;               // KZ_NOTE_*
	uint8_t blobs, images;       // in behind: in the record; and images of modules, after them
	uint8_t outs;                // some of the blobs are written by the callee
	uint16_t room;               // most bytes of all blobs, but for those of kernels
	uint8_t from[KZ_PLAN_WORDS]; // place in the frame of each word
	struct kz_behind {
		char kind;               // its letter
		uint8_t parameter, word; // of the pointer
		uint8_t other;           // word of the count, size or kernel
		uint16_t bytes;          // of a value
	} behind[KZ_PLAN_BLOBS];
#ifdef __aarch64__
	uint8_t packed[4][2]; // two floats in two registers are one word: word, register
	uint8_t indirect[2][3]; // a structure passed by its address: first word, words, place of the address
	uint8_t packs, indirects;
#endif
};

// A launch; may end kernels; __cudaRegisterFunction; finds addresses of the driver's functions.
enum { KZ_NOTE_LAUNCHES = 1, KZ_NOTE_UNLOADS = 2, KZ_NOTE_REGISTERS = 4, KZ_NOTE_FINDS = 8 };

// --- memory of the program (tracememory.c)

struct kz_tracer;

// kz_peek copies what it can read of n bytes from the front, and returns how many; a bad address is no fault.
size_t kz_peek(void *to, const void *from, size_t n);

// kz_peek_word reads a pointer, 0 where it cannot.
uint64_t kz_peek_word(uint64_t from);

// kz_on_stack reports whether memory is on the part of the thread's stack that is in use by callers of frame: it can be read directly.
int kz_on_stack(const struct kz_tracer *t, const uint64_t *frame, uint64_t at, size_t n);

// kz_copy reads as kz_peek does, without asking the kernel where it is not needed.
size_t kz_copy(const struct kz_tracer *t, const uint64_t *frame, void *to, uint64_t from, size_t n);

// kz_gather copies pieces with one question to the kernel, and reports whether all could be read.
struct kz_piece {
	void *to;
	uint64_t from;
	size_t bytes;
};
int kz_gather(const struct kz_piece *pieces, int count);

// --- what is behind arguments (traceblob.c)

// kz_blobs_plan reads the parameters of a shape that are followed.
void kz_blobs_plan(struct kz_plan *p, char kind, uint32_t bytes, int other, uint32_t parameter, uint32_t word);

// kz_blobs_room is how many bytes the blobs of a call may need.
size_t kz_blobs_room(struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, uint32_t library);

// kz_blobs_write writes the blobs of a call that begins, at most room bytes, and returns how many.
size_t kz_blobs_write(struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, const uint64_t *args, char *to, size_t room);

// kz_blobs_parameters reads the parameters of a kernel whose call has returned, for which there is room.
void kz_blobs_parameters(struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, const struct kz_record_call *r, struct kz_blob *blob);

// kz_blobs_fill writes what the call has answered.
void kz_blobs_fill(const struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, struct kz_record_call *r);

// --- kernels (tracekernel.c)

struct kz_layout {
	uint64_t of;    // handle, or address in the program
	uint32_t epoch; // kernels are unloaded, and their handles used again
	uint16_t count, bytes;
	struct {
		uint16_t offset, size;
	} parameter[];
};

// kz_layout finds how a kernel's parameters lie; NULL where nobody knows. runtime: a library of the runtime API that knows it, or -1.
const struct kz_layout *kz_layout(uint64_t kernel, int runtime);
void kz_layouts_drop(void);
void kz_layouts_register(uint64_t host);

// --- images of modules (tracemodule.c)

// kz_images writes the images that a call was given, or has answered with, to files, and says so in the trace.
void kz_images(struct kz_tracer *t, const struct kz_plan *p, int answered, const uint64_t *args, uint32_t library, uint64_t id);

// --- forwarding to NVIDIA's libraries (tracereal.c)

extern int kz_real; // KUDZU_TRACE_REAL is set

void kz_real_start(void);
void *kz_real_resolve(uint32_t library, uint32_t symbol);

// kz_real_found replaces the address of one of the driver's functions by that of the front's, so that calls through it are seen.
void kz_real_found(const char *name, void **address);

// --- the file (tracefile.c)

struct kz_window; // of the file, mapped

#define KZ_TRACE_DEPTH 64 // calls inside calls of one thread that are told apart

// One a thread that was traced.
struct kz_tracer {
	char *at, *end, *chunk;      // the chunk being written, NULL before the first
	struct kz_window *window;    // where it is mapped
	uint32_t busy;               // inside the recorder: a signal handler that calls us is not recorded
	uint32_t tid;
	uint64_t stack_low, stack_high; // of the thread, 0 where it is not known
	uint64_t ids, chunks;        // counts, with the thread's number above
	uint32_t depth;
	const struct kz_layout *layout; // of the kernel of the call that begins
	struct kz_blob *later;       // room that it has for the kernel's parameters, or NULL
	struct kz_open {             // calls under way, the innermost last
		const uint64_t *frame;   // on the thread's stack: identifies it
		struct kz_record_call *record;
		const struct kz_plan *plan;
		char *chunk;
		struct kz_window *window;
		struct kz_blob *later; // as above, NULL once they are there
	} open[KZ_TRACE_DEPTH];
};

extern __thread struct kz_tracer *kz_tracer_mine;
struct kz_tracer *kz_tracer_new(void);

// kz_tracer is that of the calling thread; NULL where there is no memory for it.
static inline struct kz_tracer *kz_tracer(void) {
	struct kz_tracer *t = kz_tracer_mine;
	return __builtin_expect(t != NULL, 1) ? t : kz_tracer_new();
}

// kz_trace_next gives the thread a chunk with room for so many bytes; 0 when there is none.
int kz_trace_next(struct kz_tracer *t, size_t bytes);

enum { KZ_TRACE_AHEAD = 256 }; // bytes

// kz_trace_room gives room for a record, zeroed, in the thread's chunk or a new one; NULL when there is none.
static inline void *kz_trace_room(struct kz_tracer *t, size_t bytes) {
	if (__builtin_expect((size_t)(t->end - t->at) < bytes, 0) && !kz_trace_next(t, bytes))
		return NULL;
	char *r = t->at;
	t->at += bytes;
	// Another core has made these pages: lines that the next records take are asked for while this one is written.
	for (size_t i = 0; i < bytes; i += 64)
		__builtin_prefetch(r + bytes + KZ_TRACE_AHEAD + i, 1);
	return r;
}

// kz_trace_return gives back what a record did not need at its end.
static inline void kz_trace_return(struct kz_tracer *t, size_t bytes) { t->at -= bytes; }

// kz_trace_done makes a record visible.
static inline void kz_trace_done(struct kz_record *r, size_t bytes) { __atomic_store_n(&r->bytes, (uint32_t)bytes, __ATOMIC_RELEASE); }

// kz_trace_prepare makes a part of the file ready, and reports that it did: there were not enough. kz_trace_full is one that nobody writes to any more, or NULL;
// kz_trace_unmap is to be called without the lock, kz_trace_unmapped after it. Preconditions of the others: the lock is held.
int kz_trace_prepare(void);
struct kz_window *kz_trace_full(void);
void kz_trace_unmap(struct kz_window *w);
void kz_trace_unmapped(struct kz_window *w);

// --- a thread for that (traceahead.c)

// kz_ahead_wanted: there is something to do for it. It reports that there is no thread yet, and kz_ahead_begin is to be called without
// the lock. Preconditions of the others: the lock is held.
int kz_ahead_wanted(void);
void kz_ahead_begin(void);
int kz_ahead_runs(void);
void kz_ahead_forked(void); // a child has none

// kz_trace_leave_chunk gives back a chunk that the thread has left before, if no call in it is under way any more.
void kz_trace_leave_chunk(struct kz_tracer *t, const struct kz_open *o);

// kz_trace_dead forgets the innermost call: it has returned, or was left by a jump.
static inline void kz_trace_dead(struct kz_tracer *t) {
	const struct kz_open *o = &t->open[--t->depth];
	if (__builtin_expect(o->chunk != t->chunk, 0))
		kz_trace_leave_chunk(t, o);
}

// kz_trace_file_start takes the folder of the trace; 0 when it cannot be written to, which has been said then.
int kz_trace_file_start(const char *dir, uint32_t flags);

const char *kz_trace_folder(void);
int kz_trace_open(const char *file, int how); // a descriptor above those of standard input, output and error; -1 and errno
int kz_trace_fits(uint64_t bytes); // whether a file may grow to so many bytes: the kernel would end the process with a signal

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
