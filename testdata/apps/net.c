// Calls at random, valid and not, of every function that our libraries export: net SEED CALLS [THREADS [log]].
//
// The functions, and how to make up their arguments, are in net_rows.h, which internal/testkit/apinet writes from the
// tables of the interfaces. Which function is called with which choice follows from the seed and the thread's number alone.
// The program fails if it crashes, if no call returns for a minute, if a call writes past the memory it was given, or if
// memory that no call was told of changes. NET_COUNTS names a file that gets a line "name calls successes" a function.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;
typedef uint8_t u8;
typedef struct Net Net;

enum { LIVE = 24, STALE = 12, MAX_KINDS = 96, MAX_THREADS = 64, MAX_ROWS = 4096, GUARD = 32, RESULTS = 16, RING = 8 << 20 };
enum { ARENA = 128 << 20, SCRATCH = 64 << 20, KEPT = 64 << 10, PIECE = 2 << 20 };

typedef struct {
	u64 live[LIVE], stale[STALE];
	int nlive, nstale;
} Table;

typedef struct T {
	Net *net;
	int id;
	u64 rng;
	long calls;
	int plain; // structures of the call at hand have few members that are not 0
	Table table[MAX_KINDS]; // handles by kind; the last is addresses of memory
	u8 *ring;
	size_t at;
	struct {
		u8 *p;
		size_t n;
	} given[RESULTS]; // what the call at hand may write
	int ngiven;
	u64 shown[24];
	int nshown;
	_Atomic int row; // + 1, of the call at hand
	_Atomic long done;
} T;

typedef struct {
	const char *name;
	int lib;
	u64 (*call)(T *, void *);
	int flags, cost; // flags: 1 makes handles, 2 ends what others have
} Row;

typedef struct {
	const char *soname;
	int share, first, end;
} Lib;

struct Net {
	u64 *one;        // a word that is 1, for waits; before what calls are given
	u8 *arena;       // memory of the host's that every call may read and write, registered
	u8 *loose;       // pages that calls register
	u64 scratch;     // the same of the device's
	u64 kept[4];     // memory of the device's that no call is told of, with known contents
	u8 *kept_host[3];
	u64 primary;
	u64 shared[MAX_KINDS][4];
	int nshared[MAX_KINDS];
	FILE *null_file;
	u64 argp;
	unsigned argn, argv;
	void *args[4];
	int threads, log;
	long quota;
	u64 seed;
	void *fn[MAX_ROWS];
	_Atomic unsigned called[MAX_ROWS], ok[MAX_ROWS];
	_Atomic int wrong, left;
	T *t[MAX_THREADS];
};

static Net net;

static u64 rnd(T *t) {
	t->rng ^= t->rng >> 12, t->rng ^= t->rng << 25, t->rng ^= t->rng >> 27;
	return t->rng * 0x2545f4914f6cdd1dull >> 20;
}

static u64 small(T *t, unsigned n) { return rnd(t) % n; }

static int one_in(T *t, unsigned n) { return rnd(t) % n == 0; }

static void fail(T *t, const char *what);

// --- memory that is given to calls

static u8 *ring(T *t, size_t n, size_t align) {
	t->at = (t->at + align - 1) & ~(align - 1);
	if (t->at + n + GUARD > RING) t->at = 0;
	u8 *p = t->ring + t->at;
	t->at += n + GUARD;
	memset(p, 0, n);
	memset(p + n, 0xa5, GUARD);
	if (t->ngiven < RESULTS) t->given[t->ngiven].p = p, t->given[t->ngiven++].n = n;
	return p;
}

static u64 result(T *t, size_t n, size_t align) { return one_in(t, 40) ? 0 : (u64)ring(t, n, align < 8 ? 8 : align); }

// buffer: NULL where many threads would lose their context by it is rare.
static u64 buffer(T *t) { return one_in(t, net.threads > 1 ? 1000 : 48) ? 0 : (u64)net.arena + ARENA / 4 + rnd(t) % (ARENA / 2) / 256 * 256; }

static u64 loose(T *t) { return (u64)net.loose + 4096 * small(t, 32); }

static u64 filled(T *t, void (*fill)(T *, u8 *), size_t size, int n) {
	if (one_in(t, 40)) return 0;
	u8 *p = ring(t, size * n, 128);
	for (int i = 0; i < n; i++) fill(t, p + i * size);
	return (u64)p;
}

static u64 numbers(T *t, int width) {
	if (one_in(t, 40)) return 0;
	u8 *p = ring(t, 40 * 8, 16);
	for (int i = 0; i < 40; i++) {
		u64 v = small(t, 16);
		memcpy(p + i * width, &v, width);
	}
	return (u64)p;
}

static u64 pointers(T *t) {
	if (one_in(t, 40)) return 0;
	u64 *p = (u64 *)ring(t, 20 * 8, 16);
	for (int i = 0; i < 20; i++) p[i] = (u64)net.arena + ARENA / 4 + rnd(t) % (ARENA / 2) / 16 * 16;
	return (u64)p;
}

// device_pointers are addresses of matrices, where kernels find them.
static u64 device_pointers(T *t) {
	if (one_in(t, 200)) return 0;
	u64 *p = (u64 *)(net.arena + 4096 * (1 + t->id * 16 + small(t, 16)));
	for (int i = 0; i < 20; i++) p[i] = (u64)net.arena + ARENA / 4 + rnd(t) % (ARENA / 2) / 16 * 16;
	return (u64)p;
}

static u64 one_of(T *t, const int *values, int n) {
	static const int none[] = {-1, 0x7fffffff, 200, 63, 17};
	return n == 0 || one_in(t, 8) ? (unsigned)none[small(t, 5)] : (unsigned)values[small(t, n)];
}

static u64 enums(T *t, const int *values, int n) {
	if (one_in(t, 40)) return 0;
	unsigned *p = (unsigned *)ring(t, 20 * 4, 16);
	for (int i = 0; i < 20; i++) p[i] = one_of(t, values, n);
	return (u64)p;
}

// --- handles

static const u64 made_up[] = {0, 0x10, 0x1234, 0xffffffff, 0xdeadbeefdeadbeef, 0x8000000000000000, ~0ull, 3};

static void push(u64 *list, int *n, int max, u64 v, T *t) {
	if (*n < max) list[(*n)++] = v;
	else list[rnd(t) % max] = v;
}

static u64 own(T *t, int kind) {
	Table *b = &t->table[kind];
	return b->nlive ? b->live[rnd(t) % b->nlive] : 0;
}

static u64 handle(T *t, int kind);

static u64 handles(T *t, int kind) {
	if (one_in(t, 40)) return 0;
	u64 *p = (u64 *)ring(t, 20 * 8, 16);
	for (int i = 0; i < 20; i++) p[i] = handle(t, kind);
	return (u64)p;
}

static void keep(T *t, int kind, const u64 *p) {
	if (p && *p) push(t->table[kind].live, &t->table[kind].nlive, LIVE, *p, t);
}

static void keep4(T *t, int kind, const unsigned *p) {
	u64 v = p ? *p : 0;
	keep(t, kind, &v);
}

static void drop(T *t, int kind, u64 v) {
	Table *b = &t->table[kind];
	for (int i = 0; i < b->nlive; i++)
		if (b->live[i] == v) {
			b->live[i] = b->live[--b->nlive];
			push(b->stale, &b->nstale, STALE, v, t);
			return;
		}
}

static u64 inplace(T *t, int kind) {
	u64 v = (u64)ring(t, 1024, 64);
	keep(t, kind, &v);
	return v;
}

#define MEMORY (MAX_KINDS - 1)

static void allocated(T *t, const u64 *p) { keep(t, MEMORY, p); }
static void dropped(T *t, u64 v) { drop(t, MEMORY, v); }

static u64 freed(T *t) {
	Table *b = &t->table[MEMORY];
	unsigned pick = small(t, 100);
	if (pick < 78 && b->nlive) return b->live[rnd(t) % b->nlive];
	if (pick < 92 && b->nstale) return b->stale[rnd(t) % b->nstale];
	return made_up[small(t, 3)];
}

static u64 address(T *t) {
	unsigned pick = small(t, 100);
	Table *b = &t->table[MEMORY];
	if (pick < 60) return net.scratch + SCRATCH / 4 + rnd(t) % (SCRATCH / 2) / 16 * 16;
	if (pick < 80) return (u64)net.arena + ARENA / 4 + rnd(t) % (ARENA / 2) / 16 * 16;
	if (pick < 90 && b->nlive) return b->live[rnd(t) % b->nlive];
	if (pick < 94 && b->nstale) return b->stale[rnd(t) % b->nstale];
#ifdef __SANITIZE_ADDRESS__ // a copy from nowhere is the program's fault to it
	return 0;
#else
	return pick & 1 || net.threads > 1 ? 0 : 0xffff800000000000;
#endif
}

// --- values

static const char app_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .u32 counter = 7;\n"
	".visible .entry fill(.param .u64 p, .param .u32 n, .param .u32 v) {\n"
	"  .reg .pred %q; .reg .b32 %r<8>; .reg .b64 %a<4>;\n"
	"  ld.param.u64 %a0, [p]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [v];\n"
	"  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
	"  setp.ge.u32 %q, %r5, %r0; @%q ret;\n"
	"  add.u32 %r6, %r1, %r5; mul.wide.u32 %a1, %r5, 4; add.u64 %a2, %a0, %a1; st.global.u32 [%a2], %r6; ret; }\n"
	".visible .entry idle(.param .u64 p, .param .u32 n, .param .u32 v) { ret; }\n";

static u64 image(T *t) {
	static char broken[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry fill( {", text[4096] = "text", elf[4096] = "\177ELF\2\1\1", fat[4096] = "\x50\xed\x55\xba\1\0\x10\0";
	static char *const others[] = {broken, text, elf, fat, "", NULL};
	return one_in(t, 4) ? (u64)others[small(t, 6)] : (u64)app_ptx;
}

static const char *text(T *t) {
	static const char *const texts[] = {"fill", "idle", "counter", "absent", "", "%s%n", "cuInit", "cuMemAlloc", "cudaMalloc", "0000:00:00.0", NULL};
	return texts[small(t, one_in(t, 4) ? 11 : 4)];
}

static u64 path(T *t) {
	static const char *const paths[] = {"/dev/null", "/nonexistent/file", "", ".", "/dev/zero"};
	return one_in(t, 40) ? 0 : (u64)paths[small(t, 5)];
}

static atomic_long callbacks;
static u64 callback(void) {
	atomic_fetch_add_explicit(&callbacks, 1, memory_order_relaxed);
	return 0;
}

static u64 function(T *t) { return one_in(t, 16) ? 0 : (u64)callback; }
static u64 arguments(T *t) { return one_in(t, 40) ? 0 : (u64)net.args; }
static u64 nobody(T *t) { return one_in(t, 2) ? (u64)-1 : 0x7ffffff0; }
static u64 pieces(T *t) { return PIECE * small(t, 4) + (one_in(t, 16) ? 1 : 0); }
static u64 ordinal(T *t) { return one_in(t, 10) ? (u64)(int[]){-1, 1, 2, 99}[small(t, 4)] : 0; }
static u64 length(T *t) { return one_in(t, 10) ? 4 * small(t, 65) : small(t, one_in(t, 3) ? 65 : 9); }
// A grid of 100,000 by 3 by 2 is valid, and takes the interpreter minutes: what is too large is too large for every dimension.
static u64 extent(T *t) { return one_in(t, 16) ? (u64[]){0, 32, 33, 1u << 31}[small(t, 4)] : 1 + small(t, 4); }
static u64 flag_bits(T *t) { return one_in(t, 2) ? 0 : one_in(t, 6) ? rnd(t) & 0xffffffff : 1u << small(t, 5); }

static u64 amount(T *t) {
	if (one_in(t, 12)) return (u64[]){0, 1ull << 48, ~0ull, ~0ull - 7}[small(t, 4)];
	return one_in(t, 8) ? 1 << 20 : 1 + small(t, 65536);
}

static double real(T *t) { return (double[]){0, 1, -1, 0.5, 1e30, __builtin_nan(""), -__builtin_inf()}[small(t, 7)]; }

static unsigned version(T *t, size_t size) { return one_in(t, 10) ? (unsigned)rnd(t) : (unsigned)size | (unsigned)(1 + small(t, 3)) << 24; }

// member says whether a structure's member is made up; of plain structures most stay 0.
static int member(T *t) { return t->plain ? one_in(t, 3) : !one_in(t, 16); }

static u64 symbol(T *t);

static void fill_memop(T *t, u8 *p) { // CUstreamBatchMemOpParams: a kind, a context, an address, a value, flags
	memset(p, 0, 48);
	*(unsigned *)p = (unsigned[]){1, 2, 4, 5, 3, 6, 99}[small(t, 7)];
	*(u64 *)(p + 16) = *(unsigned *)p == 1 || *(unsigned *)p == 4 ? (u64)net.one : (u64)net.arena + ARENA / 2 + 8 * small(t, 100);
	*(u64 *)(p + 24) = 1;
	*(unsigned *)(p + 32) = one_in(t, 4) ? flag_bits(t) & 3 : 0;
}

// --- one call

static void called(T *t, int n, const u64 *shown) {
	t->nshown = n < 24 ? n : 24;
	memcpy(t->shown, shown, t->nshown * sizeof *shown);
	if (net.log) {
		const char *name(T *);
		fprintf(stderr, "%d.%ld %s(", t->id, t->calls, name(t));
		for (int i = 0; i < t->nshown; i++) fprintf(stderr, "%s%#llx", i ? ", " : "", (unsigned long long)t->shown[i]);
		fprintf(stderr, ")\n");
	}
}

static void returned(T *t, u64 r) {
	if (net.log) fprintf(stderr, "%d.%ld = %llu\n", t->id, t->calls, (unsigned long long)r);
	for (int i = 0; i < t->ngiven; i++)
		for (int k = 0; k < GUARD; k++)
			if (t->given[i].p[t->given[i].n + k] != 0xa5) {
				fail(t, "a call wrote past the memory that it was given");
				return;
			}
}

#define SHOW(x) _Generic((x), u64: (x), default: 0)
#define BEFORE(t, n, ...) called(t, n, (u64[]){0, ##__VA_ARGS__} + 1)
#define AFTER(t, r) returned(t, r)

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
static u64 ended(T *t, int kind);
#include "net_rows.h"

_Static_assert(KINDS < MAX_KINDS - 1 && sizeof rows / sizeof *rows < MAX_ROWS, "more kinds of handles or rows than there is room for");

const char *name(T *t) { return t->row ? rows[t->row - 1].name : "-"; }

static void fail(T *t, const char *what) {
	char line[1024];
	int n = snprintf(line, sizeof line, "net: thread %d call %ld %s(", t->id, t->calls, name(t));
	for (int i = 0; i < t->nshown && n < 900; i++) n += snprintf(line + n, sizeof line - n, "%s%#llx", i ? ", " : "", (unsigned long long)t->shown[i]);
	fprintf(stderr, "%s): %s\n", line, what);
	atomic_fetch_add(&net.wrong, 1);
}

static u64 handle(T *t, int kind) {
	unsigned pick = small(t, 100);
	Table *b = &t->table[kind];
	if (kind == KIND_CUctx_st && pick < 40) return net.primary;
	if (kind == KIND_CUstream_st && pick < 12) return pick % 3;
	if (pick < 30 && net.nshared[kind]) return net.shared[kind][rnd(t) % net.nshared[kind]];
	if (pick < 84) return own(t, kind) ?: net.nshared[kind] ? net.shared[kind][0] : 0;
	if (pick < 93 && b->nstale) return b->stale[rnd(t) % b->nstale];
	return made_up[small(t, 8)];
}

// ended is a handle that a call may end: never the context that all threads use.
static u64 ended(T *t, int kind) {
	u64 h = kind == KIND_CUctx_st ? own(t, kind) : handle(t, kind);
	return h == net.primary ? 0 : h;
}

static u64 symbol(T *t) {
	unsigned pick = small(t, 10);
	return pick < 7 ? handle(t, KIND_CUkern_st) : pick < 9 ? (u64)net.arena + 64 * small(t, 64) : 0;
}

// --- what is there before the first call

static void *find(const char *name) {
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, name)) return net.fn[i];
	fprintf(stderr, "net: no %s\n", name);
	exit(2);
}

#define CALL(name, ...) ((int (*)())find(name))(__VA_ARGS__)

static void share(int kind, u64 v) {
	if (v && net.nshared[kind] < 4) net.shared[kind][net.nshared[kind]++] = v;
}

static u8 expected(size_t i, int salt) { return (u8)(i * 167 + i / 256 + salt * 31); }

static void pattern(u8 *p, int salt) {
	for (size_t i = 0; i < KEPT; i++) p[i] = expected(i, salt);
}

static int intact(const u8 *p, int salt) {
	for (size_t i = 0; i < KEPT; i++)
		if (p[i] != expected(i, salt)) return 0;
	return 1;
}

static int begin(void) { // 0, or the first code that is not
	u64 v = 0;
	int e;
	memset(net.nshared, 0, sizeof net.nshared);
	if ((e = CALL("cuInit", 0)) || (e = CALL("cuDevicePrimaryCtxRetain", &net.primary, 0)) || (e = CALL("cuCtxSetCurrent", net.primary))) return e;
	if ((e = CALL("cuMemAlloc_v2", &net.scratch, (size_t)SCRATCH))) return e;
	CALL("cuMemHostRegister_v2", net.arena, (size_t)ARENA, 3);
	u8 *host = malloc(KEPT);
	for (int i = 0; i < 4; i++) {
		if ((e = CALL("cuMemAlloc_v2", &net.kept[i], (size_t)KEPT))) return e;
		pattern(host, i);
		if ((e = CALL("cuMemcpyHtoD_v2", net.kept[i], host, (size_t)KEPT))) return e;
	}
	free(host);
	net.argp = net.scratch + SCRATCH / 2, net.argn = 64, net.argv = 3;
	for (int i = 0; i < 3; i++) net.args[i] = (void *[]){&net.argp, &net.argn, &net.argv}[i];
	u64 mod = 0, lib = 0;
	if ((e = CALL("cuModuleLoadData", &mod, app_ptx)) || (e = CALL("cuLibraryLoadData", &lib, app_ptx, 0, 0, 0, 0, 0, 0))) return e;
	share(KIND_CUmod_st, mod), share(KIND_CUlib_st, lib);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "idle" : "fill";
		if (!CALL("cuModuleGetFunction", &v, mod, name)) share(KIND_CUfunc_st, v);
		if (!CALL("cuLibraryGetKernel", &v, lib, name)) share(KIND_CUkern_st, v);
		if (!CALL("cuStreamCreate", &v, i)) share(KIND_CUstream_st, v);
		if (!CALL("cuEventCreate", &v, 0)) share(KIND_CUevent_st, v);
		if (!CALL("cuGraphCreate", &v, 0)) share(KIND_CUgraph_st, v);
	}
	CALL("nvmlInit_v2");
	if (!CALL("nvmlDeviceGetHandleByIndex_v2", 0, &v)) share(KIND_nvmlDevice_st, v);
	if (!CALL("cublasCreate_v2", &v)) share(KIND_cublasContext, v);
	if (!CALL("cublasLtCreate", &v)) share(KIND_cublasLtContext, v);
	return 0;
}

// check compares the memory that no call was told of. The device's can be read only while its context works.
static void check(T *t) {
	for (int i = 0; i < 3; i++)
		if (!intact(net.kept_host[i], 10 + i)) fail(t, "memory of the host's has changed"), pattern(net.kept_host[i], 10 + i);
	u8 *host = malloc(KEPT);
	for (int i = 0; i < 4; i++)
		if (!CALL("cuCtxSetCurrent", net.primary) && !CALL("cuMemcpyDtoH_v2", host, net.kept[i], (size_t)KEPT) && !intact(host, i))
			fail(t, "memory of the device's has changed");
	free(host);
}

static void again(T *t) { // everything is gone
	memset(t->table, 0, sizeof t->table);
	for (int i = 0; i < 8 && begin(); i++) CALL("cuDevicePrimaryCtxReset_v2", 0);
}

// choose: a thread alone calls each function once before it calls any again.
static int choose(T *t) {
	enum { ROWS = sizeof rows / sizeof *rows };
	_Static_assert(ROWS % 1009, "the step must meet every row");
	if (net.threads == 1 && t->calls < ROWS) return (int)((t->calls * 1009 + (long)(net.seed % ROWS)) % ROWS);
	int pick = small(t, 100), lib = 0;
	while (pick >= libs[lib].share) pick -= libs[lib++].share;
	for (int tries = 0;; tries++) {
		int r = libs[lib].first + small(t, libs[lib].end - libs[lib].first);
		if ((rows[r].flags & 2 && (net.threads > 1 || !one_in(t, 16)))) continue;
		if (rows[r].cost > 1 && !one_in(t, rows[r].cost)) continue;
		if (tries == 0 && one_in(t, 4) && !(rows[r].flags & 1)) {
			for (int k = 0; k < 200 && !(rows[r].flags & 1 && rows[r].cost == 1); k++) r = libs[lib].first + small(t, libs[lib].end - libs[lib].first);
			if (rows[r].flags & 2) continue;
		}
		return r;
	}
}

static void *work(void *arg) {
	T *t = arg;
	for (t->calls = 0; t->calls < net.quota && net.wrong < 5; t->calls++) {
		if (one_in(t, 8)) CALL("cuCtxSetCurrent", net.primary);
		if (one_in(t, 64)) {
			u64 g = 0;
			CALL("cuStreamEndCapture", own(t, KIND_CUstream_st) ?: net.shared[KIND_CUstream_st][small(t, 2)], &g);
		}
		int r = choose(t);
		t->ngiven = 0;
		t->plain = one_in(t, 2);
		atomic_store(&t->row, r + 1);
		if (net.log) fprintf(stderr, "%d.%ld %s\n", t->id, t->calls, rows[r].name);
		u64 e = rows[r].call(t, net.fn[r]);
		atomic_fetch_add_explicit(&net.called[r], 1, memory_order_relaxed);
		if (!(unsigned)e) atomic_fetch_add_explicit(&net.ok[r], 1, memory_order_relaxed);
		atomic_store(&t->row, 0);
		atomic_fetch_add(&t->done, 1);
		if (net.threads == 1 && rows[r].flags & 2) again(t);
		if (net.threads == 1 && t->calls % 256 == 255) {
			CALL("cuCtxSetCurrent", net.primary);
			int now = CALL("cuCtxSynchronize");
			if (now >= 700 && now < 720) CALL("cuDevicePrimaryCtxReset_v2", 0), again(t); // a kernel failed: the context is lost
			check(t);
		}
	}
	atomic_fetch_sub(&net.left, 1);
	return 0;
}

static void *watch(void *arg) {
	long last = -1;
	for (int still = 0; net.left > 0; usleep(100000)) {
		long sum = 0;
		for (int i = 0; i < net.threads; i++) sum += net.t[i]->done;
		still = sum == last ? still + 1 : 0;
		last = sum;
		if (still > 600) {
			for (int i = 0; i < net.threads; i++) fail(net.t[i], "no call has returned for a minute");
			abort();
		}
	}
	return arg;
}

static void counts(const char *path) {
	FILE *f = fopen(path, "a");
	for (size_t i = 0; f && i < sizeof rows / sizeof *rows; i++)
		if (net.called[i]) fprintf(f, "%s %u %u\n", rows[i].name, net.called[i], net.ok[i]);
	if (f) fclose(f);
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	u64 seed = net.seed = strtoull(argv[1], 0, 0);
	net.threads = argc > 3 ? atoi(argv[3]) : 1;
	if (net.threads < 1 || net.threads > MAX_THREADS) return 2;
	net.quota = atol(argv[2]) / net.threads;
	net.log = argc > 4;
	net.null_file = fopen("/dev/null", "w");
	net.arena = mmap(0, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	*(net.one = (u64 *)net.arena) = 1;
	net.loose = mmap(0, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 3; i++) pattern(net.kept_host[i] = i ? malloc(KEPT) : mmap(0, KEPT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 10 + i);
	for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
		void *lib = dlopen(libs[i].soname, RTLD_NOW | RTLD_LOCAL);
		if (!lib) {
			fprintf(stderr, "net: %s\n", dlerror());
			return 2;
		}
		for (int r = libs[i].first; r < libs[i].end; r++)
			if (!(net.fn[r] = dlsym(lib, rows[r].name))) {
				fprintf(stderr, "net: %s has no %s\n", libs[i].soname, rows[r].name);
				return 2;
			}
	}
	int e = begin();
	if (e) {
		fprintf(stderr, "net: the first calls answer %d\n", e);
		return 2;
	}
	pthread_t thread[MAX_THREADS], dog;
	net.left = net.threads;
	for (int i = 0; i < net.threads; i++) {
		T *t = net.t[i] = calloc(1, sizeof *t);
		t->net = &net, t->id = i, t->rng = (seed * 64 + i + 1) * 0x9e3779b97f4a7c15ull | 1;
		t->ring = malloc(RING);
	}
	pthread_create(&dog, 0, watch, 0);
	for (int i = 0; i < net.threads; i++) pthread_create(&thread[i], 0, work, net.t[i]);
	for (int i = 0; i < net.threads; i++) pthread_join(thread[i], 0);
	pthread_join(dog, 0);
	check(net.t[0]);
	long calls = 0, ok = 0, functions = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) calls += net.called[i], ok += net.ok[i], functions += net.called[i] > 0;
	if (getenv("NET_COUNTS")) counts(getenv("NET_COUNTS"));
	printf("seed %llu: %ld calls, %ld succeeded, %ld functions of %zu, %d wrong\n", (unsigned long long)seed, calls, ok, functions, sizeof rows / sizeof *rows, net.wrong);
	return net.wrong ? 1 : 0;
}
