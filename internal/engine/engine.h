// The engine: device memory, queues, worker threads and fault capture, as plain C that never calls Go.
// Go sees only this header. Ordering and locking are stated on each function; all are safe from any thread.
#ifndef KZ_ENGINE_H
#define KZ_ENGINE_H

#include <stddef.h>
#include <stdint.h>

// What the recorder wants to know of an operation when it ends (trace.c). Launches have it where kernels look at nothing, so that no
// operation is longer for it.
struct kz_traced { uint64_t call, t0; };

// The calling convention of internal/image/abi.go.
struct kz_launch {
	const uint8_t *params;
	const uint64_t *vars;
	const void *const *rt;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_dynamic;
	uint32_t shared_total;
	uint64_t grid_id;
	uint32_t warps;
	uint32_t threads;
	void *launch_private;
	uint32_t cluster[3];
	uint32_t flags;
	uint64_t workspace;
	struct kz_traced traced; // the engine's
	uint64_t reserved;
};

struct kz_worker {
	uint8_t *shared;
	uint8_t *frame;
	uint8_t *local;
	uint64_t block;
	uint32_t warp;
	uint32_t id;
	uint32_t stop_line;
	uint32_t stop_lanes;
	uint64_t shared_window;
	uint64_t local_window;
	void *worker_private;
	uint32_t resume;
	uint32_t turn;
	uint8_t pad[48];
};

// internal/image's LaunchXxx and WorkerXxx constants say the same to the compiler.
_Static_assert(offsetof(struct kz_launch, grid) == 24 && offsetof(struct kz_launch, block) == 36 &&
               offsetof(struct kz_launch, shared_total) == 52 && offsetof(struct kz_launch, grid_id) == 56 &&
               offsetof(struct kz_launch, threads) == 68 && offsetof(struct kz_launch, launch_private) == 72 &&
               offsetof(struct kz_launch, cluster) == 80 && offsetof(struct kz_launch, workspace) == 96 && sizeof(struct kz_launch) == 128, "kz_launch");
_Static_assert(offsetof(struct kz_worker, block) == 24 && offsetof(struct kz_worker, warp) == 32 && offsetof(struct kz_worker, id) == 36 &&
               offsetof(struct kz_worker, stop_lanes) == 44 && offsetof(struct kz_worker, shared_window) == 48 &&
               offsetof(struct kz_worker, worker_private) == 64 && offsetof(struct kz_worker, resume) == 72 && offsetof(struct kz_worker, turn) == 76 && sizeof(struct kz_worker) == 128, "kz_worker");
enum { KZ_NUM_RT = 15, KZ_STOP_CALL = 6, KZ_STOP_YIELD = 7 };

typedef uint32_t (*kz_entry)(const struct kz_launch *, struct kz_worker *, uint64_t first, uint64_t count);

// Results of calls.
enum {
	KZ_OK = 0,
	KZ_NOMEM = 1,    // the device's limit, or the machine's
	KZ_INVALID = 2,  // not something we gave out
	KZ_POISONED = 3, // the domain has a fault
	KZ_TASK = 4,     // sync: the caller should run the task it was given
	KZ_LIMIT = 5,    // a kernel wants more frame or local memory than any worker may have
	KZ_SYSTEM = 6,   // the system refused a thread or an address range
	KZ_GONE = 7,     // the kernel is retired
};

// What a fault was.
enum {
	KZ_FAULT_NONE = 0,
	KZ_FAULT_ADDRESS = 1,
	KZ_FAULT_MISALIGNED = 2,
	KZ_FAULT_INSTRUCTION = 3,
	KZ_FAULT_STACK = 4,
	KZ_FAULT_STOP = 5,   // the kernel returned a stop code
	KZ_FAULT_MEMORY = 6, // no memory for frame or local area
	KZ_FAULT_TASK = 7,   // a Go task failed; Go holds the error
	KZ_FAULT_COPY = 8,   // a copy or fill touched a bad address
	KZ_FAULT_TIMEOUT = 9, // the launch ran longer than the engine's limit
};

#define KZ_NO_OFFSET UINT64_MAX

struct kz_fault {
	uint32_t kind;
	uint32_t stop;      // KZ_FAULT_STOP: the code
	uint32_t signal;
	uint32_t line;      // KZ_FAULT_STOP: PTX line of the slice
	uint32_t lanes;
	uint32_t warp;
	uint64_t cookie;    // of the kernel, 0 for a copy
	uint64_t block;     // linear
	uint64_t addr;
	uint64_t pc_offset; // in the image, or KZ_NO_OFFSET
	uint32_t grid[3];
	uint32_t shape[3];
	char text[512];     // assertion
};

// --- device memory (mem.c): one reserved address range, a limit for each device ---

struct kz_slab {
	uint32_t kind;  // KZ_SLAB_*, written last and read first by lookups without the lock
	uint32_t slot;  // small: bytes of a slot
	uint64_t bytes; // large head: requested size
	uint32_t span;  // large head and free head: slabs; free tail: the same
	uint32_t head;  // large body: index of the head
	uint32_t owner;
	uint16_t used, slots;
	uint32_t cls;
	uint32_t prev, next;
	uint64_t sum[2]; // summary of the bitmap: bit i says word i has a free slot
	uint32_t filed;  // its pages are those of the arena's file
};

enum { KZ_SLAB_FREE = 0, KZ_SLAB_SMALL = 1, KZ_SLAB_LARGE = 2, KZ_SLAB_BODY = 3, KZ_SLAB_GUARD = 4, KZ_SLAB_CACHED = 5,
	KZ_SLAB_RESERVED = 6, // addresses without memory that can be touched
	KZ_SLAB_MAPPED = 7 }; // head of memory mapped there, as LARGE for lookups

struct kz_arena_view { // what a lookup needs; fixed once the arena exists
	uint64_t base, size;
	struct kz_slab *slabs;
	uint32_t *sizes; // one per 256 bytes: requested size of the slot that starts there, 0 if none
};

struct kz_arena_file { uint64_t base, size, dev, ino; int fd; }; // base and size are the arena's: what lies at base + x is at x in the file

struct kz_mem;
// From now on memory that is given out lies in a file, which other processes may map; fd stays the arena's. KZ_SYSTEM: it cannot be.
int kz_arena_share(struct kz_arena_file *out);
int kz_arena_shared(uint64_t addr, uint64_t n); // 1: all of it does
void kz_arena_moved(uint64_t addr, uint64_t n); // slabs were mapped anew by the caller, from elsewhere
int kz_arena_open(struct kz_arena_view *out);
struct kz_mem *kz_mem_new(uint64_t limit, uint32_t owner);
int kz_mem_close(struct kz_mem *m); // frees every allocation of m
int kz_mem_alloc(struct kz_mem *m, uint64_t n, uint64_t align, uint64_t *out);
int kz_mem_free(struct kz_mem *m, uint64_t addr);
void kz_mem_usage(struct kz_mem *m, uint64_t *free_bytes, uint64_t *total);
int kz_mem_lookup(uint64_t addr, uint64_t *base, uint64_t *size, uint32_t *owner);
// Writes address and bytes of the first `room` allocations of all memories, in order of addresses; returns how many there are.
uint64_t kz_mem_list(uint64_t *out, uint64_t room);
void kz_mem_trim(struct kz_mem *m); // gives cached pages back to the system

// Addresses and memory apart. Sizes, offsets and addresses are multiples of KZ_VM_UNIT; the caller keeps the books of what
// is reserved and mapped where, and passes whole mappings. Memory is a file without a name, so it can be passed on.
#define KZ_VM_UNIT (UINT64_C(1) << 21)
int kz_vm_reserve(uint64_t n, uint64_t align, uint64_t *out);
int kz_vm_release(uint64_t addr, uint64_t n);
int kz_vm_map(struct kz_mem *m, uint64_t addr, uint64_t n, int fd, uint64_t off); // nothing may touch it before kz_vm_access
int kz_vm_access(uint64_t addr, uint64_t n, int on);
int kz_vm_unmap(uint64_t addr, uint64_t n);
int kz_vm_new(struct kz_mem *m, uint64_t n, int *fd); // counts against m's limit
void kz_vm_free(struct kz_mem *m, uint64_t n, int fd); // n 0: was never counted

// --- engine, domains ---

struct kz_engine;
struct kz_domain;
struct kz_queue;
struct kz_fence;
struct kz_kernel;

int kz_engine_start(int threads, struct kz_engine **out);
// For tests. All queues are closed. After halt kz_task_next returns 1; whoever called it must be gone before stop.
void kz_engine_halt(struct kz_engine *e);
void kz_engine_stop(struct kz_engine *e);
int kz_engine_threads(struct kz_engine *e);
// Launches that run longer are stopped and end their domain. Once, before the first launch.
int kz_engine_limit(struct kz_engine *e, uint32_t ms);
uint32_t kz_engine_limited(struct kz_engine *e); // the limit, 0: none
// The order in which the blocks of kernels begin, or their clusters; with several workers they overlap. Once, before the first launch.
enum { KZ_ORDER_FORWARD, KZ_ORDER_REVERSE, KZ_ORDER_RANDOM };
void kz_engine_order(struct kz_engine *e, int order, uint64_t seed);
int kz_engine_narrow(struct kz_engine *e); // address space is short: kernels must test offsets in shared memory themselves
struct kz_stats {
	uint64_t kernels, chunks, helped, wakes, extra, yields, parked;
	uint32_t contexts, threads;
};
void kz_engine_stats(struct kz_engine *e, struct kz_stats *out);
void kz_count_kernels(uint64_t counter); // from now on the nanoseconds in kernels are added to the word at this address; 0: no more
void kz_count_meets(uint64_t counters);  // likewise the operations of kz_queue_meet, to two words: those that Go put in, and those of C
void kz_list_kernels(uint64_t counter);  // the same for the roster of processes
void kz_fault_assert(void); // makes sure that our signal handlers are the ones installed

// --- what `kudzu trace` records (trace.c) ---

struct kz_recorder { // as kz_trace_host of c/base/host.h
	uint64_t (*now)(void);
	uint64_t (*current)(void);
	void (*event)(uint16_t type, uint64_t id, uint64_t t0, uint64_t t1, uint32_t device, uint64_t stream, const uint64_t values[4], const char *text);
	void (*launched)(const void *params, size_t bytes);
};
void kz_record_to(uint64_t recorder); // its address; once, before the first queue

void kz_complain_to(uint64_t function); // address of what writes failed assertions, in place of stdio; once, before the first launch

void kz_hold(void *p); // memory that only Go holds is no leak

// A domain is what one fault poisons: a context. Its device heap is share's, or one of its own in heap (NULL: none).
struct kz_domain *kz_domain_new(struct kz_engine *e, struct kz_mem *heap, struct kz_domain *share);
void kz_domain_unref(struct kz_domain *d);
int kz_domain_fault(struct kz_domain *d, struct kz_fault *out); // 1 and the record, or 0
void kz_domain_poison_task(struct kz_domain *d);
void kz_domain_limits(struct kz_domain *d, uint64_t fifo_bytes, uint64_t heap_bytes); // 0: unchanged
void kz_domain_flush(struct kz_domain *d);                                            // device printf and assertions out

// --- kernels ---

struct kz_kernel_info {
	uint64_t entry;
	uint64_t image, image_size; // mapped range, for code offsets
	uint64_t cookie;
	uint64_t times; // address of two words, nanoseconds and launches of this kernel are added there; 0: not wanted
	uint32_t shared_static, shared_align;
	uint32_t frame_warp, frame_block, local_thread;
	uint32_t ftz, spins, resumable;
	uint32_t reserved; // shared memory ends with KZ_RESERVED bytes that are the system's
};
struct kz_kernel *kz_kernel_new(const struct kz_kernel_info *info);
void kz_kernel_free(struct kz_kernel *k);
int kz_kernel_name(struct kz_kernel *k, const char *name, uint64_t n, uint32_t code); // for the recorder; once, before the first launch
// From now on launches of k get KZ_GONE; those that are in a queue still run. Its code goes when kz_grace_begin, called afterwards,
// finds no work, or what it found is done; k itself when nobody can pass it to a call any more.
void kz_kernel_retire(struct kz_kernel *k);
// Launches of k, those under way too, go on with better, which does the same and lives as long as k: blocks that are begun end on the
// old code. 0: not where blocks may be left and taken up again, whose state is the old code's, nor where the launch's layout differs.
int kz_kernel_supersede(struct kz_kernel *k, const struct kz_kernel *better);
struct kz_grace;
int kz_grace_begin(struct kz_engine *e, struct kz_grace **out); // the work of all queues; *out is NULL if there is none
void kz_grace_end(struct kz_grace *g);                          // waits until it is done

struct kz_launch_args {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t dynamic_shared;
	uint32_t params_bytes;
	uint32_t cooperative;
	uint32_t clustered; // the code knows of clusters, and its blocks run so
	uint64_t vars; // address of the array for kz_launch.vars
	struct kz_children *children; // where what it launches is kept; NULL: it launches nothing
};

// --- functions that are compiled by themselves, when they are first called (lazy.c) ---

struct kz_lazy;
struct kz_function;
struct kz_lazy *kz_lazy_new(void);
void kz_lazy_close(struct kz_lazy *a); // kz_lazy_next returns NULL from now on
void kz_lazy_free(struct kz_lazy *a);  // no kernel that has it runs
struct kz_function *kz_lazy_next(struct kz_lazy *a, uint64_t *id); // waits for a call of a function without code
// The function's code, which lives as long as the list; NULL: there is none, and calls end their kernels. It may be put again.
void kz_lazy_put(struct kz_function *f, struct kz_kernel *k);
// What k calls; vars is the address of its array for kz_launch.vars if k is such a function. Once, before the first launch.
void kz_kernel_lazy(struct kz_kernel *k, struct kz_lazy *a, uint64_t vars);

// --- what kernels launch (children.c) ---

struct kz_child_rules { // what a launch is checked against
	uint32_t max_grid[3], max_block[3], max_threads, max_shared;
	uint32_t depth; // of the grid that launches: 0 if the host launched it
	uint64_t nkernels;
	const uint64_t *kernels; // sorted pairs: what a device pointer to a kernel is, and the bytes of its parameters
};

struct kz_child {
	struct kz_child *next;
	uint64_t function, buffer;
	uint32_t grid[3], block[3], dynamic_shared;
	uint32_t bytes;
	uint8_t params[];
};

struct kz_children;
struct kz_children *kz_children_new(const struct kz_child_rules *r); // NULL without memory
struct kz_child *kz_children_take(struct kz_children *c); // what was launched since, in the order in which it runs; the caller frees each
void kz_child_free(struct kz_child *x);
void kz_children_free(struct kz_children *c); // nothing of the grid runs any more

// --- queues ---

struct kz_queue *kz_queue_new(struct kz_domain *d, int priority);
void kz_queue_unref(struct kz_queue *q);
void kz_queue_tag(struct kz_queue *q, uint32_t device, uint64_t stream); // for the recorder
int kz_queue_launch(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params);
// Puts in a launch and behind it, with nothing between them, an inlinable task, which is run also when the domain is poisoned.
int kz_queue_launch_then(struct kz_queue *q, struct kz_kernel *k, const struct kz_launch_args *a, const uint8_t *params, uint64_t id);
// Puts in a task and behind it a launch whose kernel is not there yet. The task names it with kz_launch_fill before it is done;
// if it does not, nothing is launched.
int kz_queue_later(struct kz_queue *q, uint64_t id, uint32_t params_bytes, const uint8_t *params, void **launch);
int kz_launch_fill(void *launch, struct kz_kernel *k, const struct kz_launch_args *a);
int kz_queue_copy(struct kz_queue *q, uint64_t dst, uint64_t src, uint64_t n);
int kz_queue_copy2d(struct kz_queue *q, uint64_t dst, uint64_t dpitch, uint64_t src, uint64_t spitch, uint64_t width, uint64_t height);
int kz_queue_fill(struct kz_queue *q, uint64_t dst, uint32_t value, uint32_t size, uint64_t count, uint64_t pitch, uint64_t rows);
// A task is run by whoever calls kz_task_next, or, if inlinable, by a synchronizing thread. always: also when poisoned.
int kz_queue_task(struct kz_queue *q, uint64_t id, int inlinable, int always);
int kz_queue_mark(struct kz_queue *q, struct kz_fence **out);
int kz_queue_wait(struct kz_queue *q, struct kz_fence *f);
// Blocks until all work enqueued so far is done, running it where possible. KZ_TASK: run the task, call kz_task_done, call again.
// With task NULL nobody is handed a task, and KZ_TASK says that one is waited for.
int kz_queue_sync(struct kz_queue *q, uint64_t *task_id, void **task);
int kz_queue_done(struct kz_queue *q); // 1 when empty

int kz_fence_sync(struct kz_fence *f, uint64_t *task_id, void **task);
int64_t kz_fence_nanos(struct kz_fence *f); // 0 while pending
void kz_fence_unref(struct kz_fence *f);

// Blocks until a task is ready (0) or the engine stops (1).
int kz_task_next(struct kz_engine *e, uint64_t *id, void **task);
// The task was run. Where the next thing in its queue is a task that is inlinable, 1 hands that to the caller, without another thread in
// between; next is NULL for one who wants none.
int kz_task_done(void *task, uint64_t *id, void **next);

// What a debugger sees of code: an ELF object that describes it, copied. NULL without memory.
void *kz_code_add(const void *object, uint64_t bytes);
void kz_code_remove(void *entry);

// A reduction, or a part of one: more sources come before (from) or after (open), whose accumulators are then passed on as they are.
struct kz_collection {
	void *dst;             // may be one of the sources, or from
	const void *from;      // accumulators of the sources before; NULL: there are none
	const void *const *src;
	const uint64_t *scale; // a factor for each source
	uint32_t sources;
	uint32_t total; // of all parts
	uint32_t open;  // dst takes accumulators
	uint32_t outs;  // more get the same as dst, unless it is open; each may be one of the sources
	void *const *more;
};

// kz_collect reduces what the sources hold at each place, in their order. type and op are NCCL's numbers; op 5 multiplies each source
// by its factor (bits of the accumulator's type) before it is added, 4 divides the sum by the number of sources. Accumulators of small
// floats are f32, and rounded once.
void kz_collect(const struct kz_collection *c, uint64_t count, int type, int op);

// --- collective operations between ranks of one host (meet.c) ---

enum { KZ_MEET_SMALL = 16 << 10, KZ_MEET_RANKS = 64 };
enum { KZ_MEET_ALL_REDUCE = 1, KZ_MEET_REDUCE_SCATTER, KZ_MEET_REDUCE, KZ_MEET_BROADCAST, KZ_MEET_ALL_GATHER, KZ_MEET_ALL_TO_ALL, KZ_MEET_GATHER, KZ_MEET_SCATTER };

struct kz_meeting { // one operation of a rank
	uint64_t call, scale; // what all ranks must have the same; the factor of a reduction
	uint64_t send, recv;
	uint64_t bytes;                  // of count elements
	uint64_t send_bytes, recv_bytes; // that this rank has
	uint32_t kind, type, op, root, size; // size: of an element
	uint32_t other; // it cannot be done here, unless it is small
	uint32_t phase, turn, small; // kz_meet_run's, 0 at first
	uint32_t who;   // KZ_MEET_LATE, KZ_MEET_DIFFER: which rank
	uint64_t theirs; // KZ_MEET_DIFFER: its call
};

// How far an operation is. LATE: it waits for a rank, and is to be run again; OTHER: all ranks do it in another way.
enum { KZ_MEET_DONE, KZ_MEET_LATE, KZ_MEET_DIFFER, KZ_MEET_OTHER, KZ_MEET_DEAD };

struct kz_meet;
uint64_t kz_meet_bytes(uint32_t n); // of the segment, all zero at first
// base is this process's arena's, peers is where those of all ranks are mapped; here: all ranks are of this process.
struct kz_meet *kz_meet_new(void *segment, uint32_t n, uint32_t rank, int here, uint64_t base, const uint64_t *peers);
void kz_meet_unref(struct kz_meet *m);
// Between enter and leave the segment and what the peers have mapped stay where they are. enter: 0 once it is shut. shut: 1 if nobody is
// inside.
int kz_meet_enter(struct kz_meet *m);
void kz_meet_leave(struct kz_meet *m);
int kz_meet_shut(struct kz_meet *m);
int kz_meet_idle(struct kz_meet *m); // 1: nobody is inside
// Goes on with an operation as far as it gets. Who waits spins for some microseconds, and then, if it may sleep, sleeps for up to 50 ms.
// A rank has one operation at a time, and ends it before the next one.
enum kz_patience { KZ_MEET_POLL, KZ_MEET_SPIN, KZ_MEET_SLEEP };
int kz_meet_run(struct kz_meet *m, struct kz_meeting *o, enum kz_patience how);
void kz_meet_kill(struct kz_meet *m); // this rank's operations end with DEAD
int kz_meet_quit(struct kz_meet *m);  // no rank begins to write to this one's buffers any more; one that may be writing, or -1

// --- collective operations in queues (meetop.c) ---

// The operations of a communicator, in their order: each takes a number and begins when those before it have ended.
struct kz_sequence;
struct kz_sequence *kz_sequence_new(uint64_t id); // id: of tasks that Go is handed, with KZ_TASK_MEETING
void kz_sequence_unref(struct kz_sequence *s);
uint32_t kz_sequence_take(struct kz_sequence *s);
uint32_t kz_sequence_next(struct kz_sequence *s); // what kz_sequence_take would give
int kz_sequence_wait(struct kz_sequence *s, uint32_t turn, int64_t ns); // for so long at most; 1: turn may begin
void kz_sequence_end(struct kz_sequence *s);
void kz_sequence_kill(struct kz_sequence *s); // operations that have not begun are not done; whoever waits returns
int kz_sequence_skipped(struct kz_sequence *s); // 1: an operation was not done because its context has a fault

#define KZ_TASK_MEETING (UINT64_C(1) << 63) // in the number of a task: it is an operation of a sequence
// Puts an operation in. With wait 0 it does not wait where the queue is full: KZ_NOMEM.
int kz_queue_meet(struct kz_queue *q, struct kz_sequence *s, struct kz_meet *m, const struct kz_meeting *o, int wait);
// A task that is such an operation: how far it is, its number, and whether kz_meet_enter was called for it.
struct kz_meeting *kz_task_meeting(void *task, uint32_t *turn, int *entered);
void kz_task_met(void *task); // it is over; kz_task_done follows

#endif
