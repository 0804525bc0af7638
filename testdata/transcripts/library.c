// Libraries and the linker.
#include "transcript.h"

GROUP(library) {
	start();
	CUlibrary lib = 0, back = 0; CUkernel k = 0, list[64]; unsigned n = 99; CUmodule m = 0; CUfunction f = 0; CUdeviceptr p = 0; size_t size = 0; const char *name = 0;
	T(cuLibraryLoadData(&lib, kernels_, 0, 0, 0, 0, 0, 0));
	T(cuLibraryLoadData(0, kernels_, 0, 0, 0, 0, 0, 0));
	T(cuLibraryLoadData(&back, 0, 0, 0, 0, 0, 0, 0));
	T(cuLibraryLoadFromFile(&back, "/no/such/file", 0, 0, 0, 0, 0, 0));
	T(cuLibraryGetKernelCount(&n, lib));
	N(n);
	T(cuLibraryEnumerateKernels(list, 64, lib));
	T(cuLibraryGetKernel(&k, lib, "inc"));
	T(cuLibraryGetKernel(&k, lib, "nosuch"));
	T(cuLibraryGetKernel(&k, lib, 0));
	T(cuLibraryGetKernel(&k, 0, "inc"));
	T(cuLibraryGetKernel(&k, lib, "inc"));
	T(cuKernelGetName(&name, k));
	S(name);
	T(cuKernelGetLibrary(&back, k));
	B(back == lib);
	T(cuLibraryGetModule(&m, lib));
	T(cuKernelGetFunction(&f, k));
	CUfunction f2 = 0;
	T(cuModuleGetFunction(&f2, m, "inc"));
	B(f == f2);
	T(cuLibraryGetGlobal(&p, &size, lib, "counter"));
	N(size);
	T(cuLibraryGetGlobal(&p, &size, lib, "nosuch"));
	T(cuLibraryGetManaged(&p, &size, lib, "counter"));
	T(cuLibraryGetManaged(&p, &size, lib, "nosuch"));
	void *u = 0;
	T(cuLibraryGetUnifiedFunction(&u, lib, "inc"));
	T(cuLibraryGetUnifiedFunction(&u, lib, "nosuch"));
	p = new_memory(4);
	void *args[] = {&p};
	T(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	T(cuCtxSynchronize());
	N(word(p));
	T(cuModuleUnload(m));
	T(cuLibraryUnload(lib));
	T(cuLibraryUnload(0));
}

GROUP(library_options) {
	start();
	CUlibrary lib = 0; CUlibraryOption o; void *v = (void *)1;
	o = CU_LIBRARY_BINARY_IS_PRESERVED;
	T(cuLibraryLoadData(&lib, kernels_, 0, 0, 0, &o, &v, 1));
	o = CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE;
	T(cuLibraryLoadData(&lib, kernels_, 0, 0, 0, &o, &v, 1));
	o = (CUlibraryOption)77;
	T(cuLibraryLoadData(&lib, kernels_, 0, 0, 0, &o, &v, 1));
	T(cuLibraryLoadData(&lib, "garbage", 0, 0, 0, 0, 0, 0));
	T(cuLibraryLoadData(&lib, "", 0, 0, 0, 0, 0, 0));
}

GROUP(library_no_context) {
	start_driver();
	CUlibrary lib = 0; CUkernel k = 0; CUmodule m = 0; CUfunction f = 0; CUdeviceptr p = 0; size_t n = 0; int v = -1;
	T(cuLibraryLoadData(&lib, kernels_, 0, 0, 0, 0, 0, 0));
	T(cuLibraryGetKernel(&k, lib, "inc"));
	T(cuLibraryGetModule(&m, lib));
	T(cuKernelGetFunction(&f, k));
	T(cuLibraryGetGlobal(&p, &n, lib, "counter"));
	T(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, dev));
	N(v);
	T(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	CUcontext a = 0, b = 0; CUdeviceptr q = 0;
	QUIET(cuCtxCreate_v2(&a, 0, dev));
	T(cuLibraryGetGlobal(&p, &n, lib, "counter"));
	CUfunction g = 0;
	T(cuKernelGetFunction(&f, k));
	QUIET(cuCtxCreate_v2(&b, 0, dev));
	T(cuLibraryGetGlobal(&q, &n, lib, "counter"));
	B(p != q);
	T(cuKernelGetFunction(&g, k));
	B(f != g);
	T(cuLibraryUnload(lib));
}

// Where a kernel of a library may stand for a function.
GROUP(kernel_handles) {
	start();
	CUlibrary lib = 0; CUkernel k = 0; CUmodule m = 0; int v = -1; size_t off = 7, size = 7; const char *name = 0; CUfunctionLoadingState s = (CUfunctionLoadingState)9;
	QUIET(cuLibraryLoadData(&lib, kernels_, 0, 0, 0, 0, 0, 0));
	QUIET(cuLibraryGetKernel(&k, lib, "inc"));
	CUfunction f = (CUfunction)k;
	T(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
	T(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_L1));
	T(cuFuncSetSharedMemConfig(f, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
	T(cuFuncGetModule(&m, f));
	T(cuFuncGetName(&name, f));
	T(cuFuncGetParamInfo(f, 0, &off, &size));
	T(cuFuncIsLoaded(&s, f));
	T(cuFuncLoad(f));
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 32, 0));
	T(cuOccupancyAvailableDynamicSMemPerBlock(&size, f, 1, 32));
	CUgraph g = 0; CUgraphNode n = 0; CUdeviceptr p = new_memory(4);
	void *args[] = {&p};
	CUDA_KERNEL_NODE_PARAMS q;
	memset(&q, 0, sizeof q);
	q.func = f, q.gridDimX = q.gridDimY = q.gridDimZ = q.blockDimX = q.blockDimY = q.blockDimZ = 1, q.kernelParams = args;
	QUIET(cuGraphCreate(&g, 0));
	T(cuGraphAddKernelNode(&n, g, 0, 0, &q));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	T(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args));
	T(cuCtxSynchronize());
}

GROUP(kernel_attributes) {
	start();
	CUlibrary lib = 0; CUkernel k = 0; CUfunction f = 0; int v = 0; size_t off = 0, size = 0;
	QUIET(cuLibraryLoadData(&lib, kernels_, 0, 0, 0, 0, 0, 0));
	QUIET(cuLibraryGetKernel(&k, lib, "mixed"));
	T(cuKernelGetParamInfo(k, 2, &off, &size));
	N(off); N(size);
	T(cuKernelGetParamInfo(k, 4, &off, &size));
	T(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, dev));
	N(v);
	T(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 99));
	T(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0, dev));
	T(cuKernelGetAttribute(&v, (CUfunction_attribute)99, k, dev));
	T(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 2048, k, dev));
	T(cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k, dev));
	N(v);
	T(cuKernelGetFunction(&f, k));
	T(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
	N(v);
	T(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, (CUfunction)k));
	T(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1, k, dev));
	T(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 8, k, dev));
	T(cuKernelSetAttribute((CUfunction_attribute)99, 8, k, dev));
	T(cuKernelSetCacheConfig(k, CU_FUNC_CACHE_PREFER_L1, dev));
	T(cuKernelSetCacheConfig(k, CU_FUNC_CACHE_PREFER_L1, 99));
	T(cuKernelSetCacheConfig(k, (CUfunc_cache)9, dev));
}

static const char main_[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.extern .func (.param .b32 r) give();\n.extern .global .align 4 .u32 there;\n"
	".visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %a; ld.param.u64 %a, [p];\n"
	"  { .param .b32 r; call.uni (r), give, (); ld.param.b32 %r0, [r]; } ld.global.u32 %r1, [there]; add.u32 %r0, %r0, %r1; st.global.u32 [%a], %r0; ret; }\n";
static const char part_[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 there = 5;\n"
	".visible .func (.param .b32 r) give() { .reg .b32 %r; mov.u32 %r, 37; st.param.b32 [r], %r; ret; }\n";

GROUP(link) {
	start();
	CUlinkState s = 0; void *cubin = 0; size_t size = 0; CUmodule m = 0; CUfunction f = 0; CUdeviceptr p = new_memory(4); void *args[] = {&p};
	T(cuLinkCreate(0, 0, 0, &s));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)main_, sizeof main_, "main", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)part_, sizeof part_, "part", 0, 0, 0));
	T(cuLinkComplete(s, &cubin, &size));
	B(size > 0);
	T(cuModuleLoadData(&m, cubin));
	T(cuLinkDestroy(s));
	T(cuModuleGetFunction(&f, m, "k"));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	T(cuCtxSynchronize());
	N(word(p));
	T(cuLinkCreate(0, 0, 0, 0));
	T(cuLinkCreate(1, 0, 0, &s));
	T(cuLinkDestroy(0));
}

GROUP(link_errors) {
	start();
	CUlinkState s = 0; void *cubin = 0; size_t size = 0; char error[4096] = ""; CUmodule m = 0;
	CUjit_option logs[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}; void *values[] = {error, (void *)(uintptr_t)sizeof error};
	NOTE("a symbol nobody defines");
	QUIET(cuLinkCreate(2, logs, values, &s));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)main_, sizeof main_, "main", 0, 0, 0));
	T(cuLinkComplete(s, &cubin, &size));
	B(error[0] != 0);
	QUIET(cuLinkDestroy(s));
	T(cuModuleLoadData(&m, main_));
	NOTE("a symbol defined twice");
	error[0] = 0;
	QUIET(cuLinkCreate(2, logs, values, &s));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)part_, sizeof part_, "a", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)part_, sizeof part_, "b", 0, 0, 0));
	T(cuLinkComplete(s, &cubin, &size));
	B(error[0] != 0);
	QUIET(cuLinkDestroy(s));
	NOTE("inputs that are nothing");
	QUIET(cuLinkCreate(2, logs, values, &s));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, "garbage", 8, "g", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_CUBIN, "garbage", 8, "g", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_FATBINARY, "garbage", 8, "g", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_OBJECT, "garbage", 8, "g", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_LIBRARY, "garbage", 8, "g", 0, 0, 0));
	T(cuLinkAddData(s, (CUjitInputType)77, "garbage", 8, "g", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, 0, 8, "g", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)part_, sizeof part_, 0, 0, 0, 0));
	T(cuLinkAddFile(s, CU_JIT_INPUT_PTX, "/no/such/file", 0, 0, 0));
	T(cuLinkAddFile(s, CU_JIT_INPUT_PTX, 0, 0, 0, 0));
	T(cuLinkAddFile(s, (CUjitInputType)77, "/no/such/file", 0, 0, 0));
	QUIET(cuLinkDestroy(s));
	NOTE("nothing at all");
	QUIET(cuLinkCreate(0, 0, 0, &s));
	T(cuLinkComplete(s, &cubin, &size));
	QUIET(cuLinkDestroy(s));
}

// Units whose prototypes of one function differ: the vendor's linker does not look at them. What the caller gives and the function
// takes beyond the other's is not looked at here either.
#define UNIT ".version 7.0\n.target sm_70\n.address_size 64\n"
#define CALL(proto, body) UNIT proto "\n.visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %a; ld.param.u64 %a, [p]; mov.u32 %r0, 0; " body " st.global.u32 [%a], %r0; ret; }\n"

static void prototypes_(const char *a, const char *b, int run) {
	CUlinkState s = 0; void *cubin = 0; size_t size = 0; CUmodule m = 0; CUfunction f = 0; CUdeviceptr p = new_memory(4); void *args[] = {&p};
	QUIET(cuLinkCreate(0, 0, 0, &s));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)a, strlen(a) + 1, "a", 0, 0, 0));
	T(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)b, strlen(b) + 1, "b", 0, 0, 0));
	if (T(cuLinkComplete(s, &cubin, &size))) return;
	T(cuModuleLoadData(&m, cubin));
	T(cuModuleGetFunction(&f, m, "k"));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	T(cuCtxSynchronize());
	if (run) N(word(p));
	QUIET(cuLinkDestroy(s));
}

GROUP(link_prototypes) {
	start();
	NOTE("a result that the function does not give");
	prototypes_(CALL(".extern .func (.param .b32 r) f(.param .b64 x);", "{ .param .b64 x; st.param.b64 [x], %a; .param .b32 r; call.uni (r), f, (x); } ld.global.u32 %r0, [%a];"),
		UNIT ".visible .func f(.param .b64 x) { .reg .b64 %a; ld.param.b64 %a, [x]; st.global.u32 [%a], 7; ret; }\n", 1);
	NOTE("a result that the caller does not take");
	prototypes_(CALL(".extern .func f(.param .b64 x);", "{ .param .b64 x; st.param.b64 [x], %a; call.uni f, (x); } ld.global.u32 %r0, [%a];"),
		UNIT ".visible .func (.param .b32 r) f(.param .b64 x) { .reg .b64 %a; ld.param.b64 %a, [x]; st.global.u32 [%a], 8; st.param.b32 [r], 1; ret; }\n", 1);
	NOTE("a parameter more than the function has");
	prototypes_(CALL(".extern .func (.param .b32 r) f(.param .b32 x, .param .b32 y);",
			"{ .param .b32 x; .param .b32 y; st.param.b32 [x], 5; st.param.b32 [y], 6; .param .b32 r; call.uni (r), f, (x, y); ld.param.b32 %r0, [r]; }"),
		UNIT ".visible .func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 4; st.param.b32 [r], %r; ret; }\n", 1);
	NOTE("a parameter fewer than the function has");
	prototypes_(CALL(".extern .func (.param .b32 r) f(.param .b32 x);", "{ .param .b32 x; st.param.b32 [x], 5; .param .b32 r; call.uni (r), f, (x); ld.param.b32 %r0, [r]; }"),
		UNIT ".visible .func (.param .b32 r) f(.param .b32 x, .param .b32 y) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 9; st.param.b32 [r], %r; ret; }\n", 1);
	NOTE("parameters of other sizes");
	prototypes_(CALL(".extern .func (.param .b32 r) f(.param .b64 x);", "{ .param .b64 x; st.param.b64 [x], 11; .param .b32 r; call.uni (r), f, (x); ld.param.b32 %r0, [r]; }"),
		UNIT ".visible .func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }\n", 1);
	NOTE("other types of one size");
	prototypes_(CALL(".extern .func (.param .s32 r) f(.param .f32 x);", "{ .param .f32 x; st.param.f32 [x], 0f3f800000; .param .s32 r; call.uni (r), f, (x); ld.param.s32 %r0, [r]; }"),
		UNIT ".visible .func (.param .b32 r) f(.param .u32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; st.param.b32 [r], %r; ret; }\n", 1);
	NOTE("an array of bytes and a number");
	prototypes_(CALL(".extern .func (.param .b32 r) f(.param .align 8 .b8 x[8]);", "{ .param .align 8 .b8 x[8]; st.param.b32 [x], 12; st.param.b32 [x+4], 13; .param .b32 r; call.uni (r), f, (x); ld.param.b32 %r0, [r]; }"),
		UNIT ".visible .func (.param .b32 r) f(.param .b64 x) { .reg .b32 %r<2>; ld.param.v2.b32 {%r0, %r1}, [x]; add.u32 %r0, %r0, %r1; st.param.b32 [r], %r0; ret; }\n", 1);
}

// The limit of registers a program sets, and what the kernel says it has then.
static int registers_(CUjit_option *o, void **v, unsigned n, const char *text) {
	CUmodule m = 0; CUfunction f = 0; int regs = -1;
	if (T(cuModuleLoadDataEx(&m, text, n, o, v))) return -1;
	QUIET(cuModuleGetFunction(&f, m, "k"));
	QUIET(cuFuncGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	QUIET(cuModuleUnload(m));
	return regs;
}

GROUP(jit_registers) {
	start();
	static char text[65536]; char *w = text; CUjit_option o[] = {CU_JIT_MAX_REGISTERS}; void *v[] = {0}; CUlinkState s = 0; void *cubin = 0; size_t size = 0;
	for (int pass = 0; pass < 2; pass++) { // the second with a limit of its own
		w = text + sprintf(text, UNIT ".visible .entry k(.param .u64 p) %s { .reg .f32 %%f<100>; .reg .b64 %%a; ld.param.u64 %%a, [p];\n", pass ? ".maxnreg 48" : "");
		for (int i = 0; i < 100; i++) w += sprintf(w, "ld.global.f32 %%f%d, [%%a+%d];\n", i, 4 * i);
		for (int i = 0; i < 100; i++) w += sprintf(w, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", i, i, (i * 7 + 3) % 100, (i * 3 + 1) % 100);
		for (int i = 0; i < 100; i++) w += sprintf(w, "st.global.f32 [%%a+%d], %%f%d;\n", 4 * i, i);
		strcpy(w, "ret; }\n");
		int all = registers_(0, 0, 0, text);
		B(all > 0);
		if (pass) B(all <= 48);
		static const int limits[] = {1, 16, 24, 32, 64, 255, 256, 1000};
		for (int i = 0; i < 8; i++) { // a limit below 24 counts as 24
			v[0] = (void *)(intptr_t)limits[i];
			int n = registers_(o, v, 1, text), most = pass ? 48 : limits[i] < 24 ? 24 : limits[i];
			printf("  limit %d: %s\n", limits[i], n <= most ? "kept" : "not kept");
		}
		NOTE("set for a link");
		v[0] = (void *)32;
		T(cuLinkCreate(1, o, v, &s));
		T(cuLinkAddData(s, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "k", 0, 0, 0));
		T(cuLinkComplete(s, &cubin, &size));
		int linked = registers_(0, 0, 0, cubin);
		B(linked <= 32);
		B(linked <= 48);
	}
}
