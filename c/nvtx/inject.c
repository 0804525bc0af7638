// The headers of NVTX 3 load the library that NVTX_INJECTION64_PATH names and hand it a function that gives tables: for each module
// of the interface, where the program has its pointers to functions. What is left alone there does nothing.
#include "nvtx.h"

typedef void (*function)(void);

// The numbers are those of NvtxCallbackModule and of the modules' callback ids.
enum { CALLBACKS = 1, CORE = 1, CUDA = 2, CUDART = 4, CORE2 = 5 };

struct callbacks {
	size_t bytes;
	int (*table)(int module, function ***out, unsigned *size); // 1: done
};

static const struct { int module; unsigned id; function fn; } filled[] = {
	{CORE, 1, (function)nvtxMarkEx}, {CORE, 2, (function)nvtxMarkA}, {CORE, 3, (function)nvtxMarkW},
	{CORE, 4, (function)nvtxRangeStartEx}, {CORE, 5, (function)nvtxRangeStartA}, {CORE, 6, (function)nvtxRangeStartW},
	{CORE, 7, (function)nvtxRangeEnd},
	{CORE, 8, (function)nvtxRangePushEx}, {CORE, 9, (function)nvtxRangePushA}, {CORE, 10, (function)nvtxRangePushW},
	{CORE, 11, (function)nvtxRangePop},
	{CORE, 14, (function)nvtxNameOsThreadA}, {CORE, 15, (function)nvtxNameOsThreadW},
	{CUDA, 5, (function)nvtxNameCuStreamA}, {CUDA, 6, (function)nvtxNameCuStreamW},
	{CUDART, 3, (function)nvtxNameCudaStreamA}, {CUDART, 4, (function)nvtxNameCudaStreamW},
	{CORE2, 1, (function)nvtxDomainMarkEx}, {CORE2, 2, (function)nvtxDomainRangeStartEx}, {CORE2, 3, (function)nvtxDomainRangeEnd},
	{CORE2, 4, (function)nvtxDomainRangePushEx}, {CORE2, 5, (function)nvtxDomainRangePop},
	{CORE2, 10, (function)nvtxDomainRegisterStringA}, {CORE2, 11, (function)nvtxDomainRegisterStringW},
	{CORE2, 12, (function)nvtxDomainCreateA}, {CORE2, 13, (function)nvtxDomainCreateW}, {CORE2, 14, (function)nvtxDomainDestroy},
};

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id)) {
	const struct callbacks *c = export_table ? export_table(CALLBACKS) : NULL;
	if (!c || c->bytes < sizeof *c || !c->table) return 0;
	if (!kz_nvtx_on()) return 1; // all pointers stay empty
	for (size_t i = 0; i < sizeof filled / sizeof *filled; i++) {
		function **table = NULL;
		unsigned size = 0;
		if (c->table(filled[i].module, &table, &size) == 1 && table && filled[i].id < size && table[filled[i].id]) *table[filled[i].id] = filled[i].fn;
	}
	return 1;
}
