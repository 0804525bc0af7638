// NVTX both ways. "linked": the functions of libnvToolsExt.so.1. "injected": as the headers of NVTX 3 do, tables of pointers that the
// library of NVTX_INJECTION64_PATH fills in; without one they stay empty.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

#include "cuda.h"

typedef struct { uint16_t version, size; uint32_t category; int32_t color_type; uint32_t color; int32_t payload_type, reserved; uint64_t payload; int32_t message_type; const void *message; } attributes;
typedef void (*function)(void);

enum { CORE = 1, CUDA = 2, OPENCL = 3, CUDART = 4, CORE2 = 5, SYNC = 6, MODULES };
static const unsigned sizes[MODULES] = {0, 16, 9, 15, 7, 16, 7};
static function pointers[MODULES][16], *places[MODULES][17];

static int table(int module, function ***out, unsigned *size) {
	if (module <= 0 || module >= MODULES) return 0;
	for (unsigned i = 0; i < sizes[module]; i++) places[module][i] = i ? &pointers[module][i] : NULL;
	*out = places[module];
	*size = sizes[module];
	return 1;
}
static const struct { size_t bytes; int (*table)(int, function ***, unsigned *); } callbacks = {sizeof callbacks, table};
static const void *export_table(uint32_t id) { return id == 1 ? &callbacks : NULL; }

static const char *const names[MODULES][16] = {
	[CORE] = {NULL, "nvtxMarkEx", "nvtxMarkA", "nvtxMarkW", "nvtxRangeStartEx", "nvtxRangeStartA", "nvtxRangeStartW", "nvtxRangeEnd", "nvtxRangePushEx", "nvtxRangePushA", "nvtxRangePushW", "nvtxRangePop", "nvtxNameCategoryA", "nvtxNameCategoryW", "nvtxNameOsThreadA", "nvtxNameOsThreadW"},
	[CUDA] = {NULL, "nvtxNameCuDeviceA", "nvtxNameCuDeviceW", "nvtxNameCuContextA", "nvtxNameCuContextW", "nvtxNameCuStreamA", "nvtxNameCuStreamW", "nvtxNameCuEventA", "nvtxNameCuEventW"},
	[CORE2] = {NULL, "nvtxDomainMarkEx", "nvtxDomainRangeStartEx", "nvtxDomainRangeEnd", "nvtxDomainRangePushEx", "nvtxDomainRangePop", "nvtxDomainResourceCreate", "nvtxDomainResourceDestroy", "nvtxDomainNameCategoryA", "nvtxDomainNameCategoryW", "nvtxDomainRegisterStringA", "nvtxDomainRegisterStringW", "nvtxDomainCreateA", "nvtxDomainCreateW", "nvtxDomainDestroy", "nvtxInitialize"},
};

#define CALL(type, module, id, ...) (pointers[module][id] ? ((type)pointers[module][id])(__VA_ARGS__) : 0)
typedef int (*push_a)(const char *);
typedef int (*push_w)(const wchar_t *);
typedef int (*push_ex)(void *, const attributes *);
typedef int (*pop)(void);
typedef int (*pop_of)(void *);
typedef uint64_t (*start)(const char *);
typedef uint64_t (*end)(uint64_t);
typedef void *(*create)(const char *);
typedef void *(*string)(void *, const char *);
typedef int (*name)(uint64_t, const char *);

static void *other(void *id) {
	CALL(end, CORE, 7, *(uint64_t *)id); // a range that another thread began
	return NULL;
}

#define CHECK(x) if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; }

int main(int argc, char **argv) {
	int traced = getenv("KUDZU_TRACE") != NULL, linked = argc > 1 && !strcmp(argv[1], "linked");
	const char *path = linked ? "libnvToolsExt.so.1" : getenv("NVTX_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	CHECK(lib || !path);
	if (linked) {
		for (int m = 0; m < MODULES; m++)
			for (int i = 1; i < 16; i++)
				if (names[m][i]) CHECK(*(void **)&pointers[m][i] = dlvsym(lib, names[m][i], "libnvToolsExt.so.1"));
	} else if (lib) {
		int (*initialize)(const void *(*)(uint32_t)) = (int (*)(const void *(*)(uint32_t)))dlsym(lib, "InitializeInjectionNvtx2");
		CHECK(initialize && initialize(export_table) == 1);
		CHECK((pointers[CORE][9] != NULL) == traced);
	}
	CUcontext ctx;
	CUstream st;
	CHECK(!cuInit(0) && !cuDevicePrimaryCtxRetain(&ctx, 0) && !cuCtxSetCurrent(ctx) && !cuStreamCreate(&st, 0));
	CALL(name, CUDA, 5, (uint64_t)st, "uploads");
	CALL(name, CORE, 14, (uint64_t)syscall(SYS_gettid), "boss");
	int outer = CALL(push_a, CORE, 9, "outer"), inner = CALL(push_w, CORE, 10, L"inn\u00e9r \u2192 \U0001F600");
	void *d = CALL(create, CORE2, 12, "physics"), *s = CALL(string, CORE2, 10, d, "registered text");
	if (traced && lib) CHECK(outer == 0 && inner == 1 && d && s);
	if (!traced && linked) CHECK(outer == -2 && inner == -2 && !d && !s);
	attributes a = {.version = 3, .size = sizeof a, .category = 5, .color_type = 1, .color = 0xff76b900, .message_type = 3, .message = s};
	int first = CALL(push_ex, CORE2, 4, d, &a);
	CUdeviceptr p;
	CHECK(!cuMemAlloc(&p, 4096) && !cuMemsetD8Async(p, 0, 4096, st) && !cuStreamSynchronize(st));
	a.message_type = 1, a.message = "tick";
	CALL(push_ex, CORE2, 1, d, &a);
	a.size = 8; // of a header that we do not know
	CALL(push_ex, CORE2, 1, d, &a);
	int popped = CALL(pop_of, CORE2, 5, d);
	if (traced && lib) CHECK(first == 0 && popped == 0 && CALL(pop_of, CORE2, 5, d) < 0);
	uint64_t id = CALL(start, CORE, 5, "across");
	pthread_t t;
	pthread_create(&t, NULL, other, &id);
	pthread_join(t, NULL);
	CALL(pop, CORE, 11);
	outer = CALL(pop, CORE, 11);
	if (traced && lib) CHECK(outer == 0 && CALL(pop, CORE, 11) < 0);
	CHECK(!cuStreamDestroy(st) && !cuMemFree(p));
	puts("ok");
	return 0;
}
