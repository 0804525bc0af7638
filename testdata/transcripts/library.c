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
