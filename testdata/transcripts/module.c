// Modules, libraries, the linker, functions and their attributes, the just-in-time compiler's options.
#include "transcript.h"

static const char broken_[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { no.such.instruction; ret; }\n";

GROUP(module_load) {
	start();
	CUmodule m = 0, n = 0; CUfunction f = 0; unsigned count = 99; CUfunction list[64]; CUmoduleLoadingMode mode = 0; const char *name = 0;
	T(cuModuleLoadData(&m, kernels_));
	T(cuModuleLoadData(0, kernels_));
	T(cuModuleLoadData(&n, 0));
	T(cuModuleLoadData(&n, ""));
	T(cuModuleLoadData(&n, "this is not PTX"));
	T(cuModuleLoadData(&n, broken_));
	T(cuModuleLoadData(&n, ".version 99.0\n.target sm_70\n.address_size 64\n"));
	T(cuModuleLoadData(&n, ".version 7.0\n.target sm_999\n.address_size 64\n"));
	T(cuModuleLoadData(&n, ".version 7.0\n.target sm_70\n.address_size 64\n"));
	T(cuModuleUnload(n));
	T(cuModuleLoad(&n, "/no/such/file.ptx"));
	T(cuModuleLoad(&n, ""));
	T(cuModuleLoad(&n, 0));
	T(cuModuleGetFunction(&f, m, "inc"));
	T(cuModuleGetFunction(&f, m, "nosuch"));
	T(cuModuleGetFunction(&f, m, "helper"));
	T(cuModuleGetFunction(&f, m, ""));
	T(cuModuleGetFunction(&f, m, 0));
	T(cuModuleGetFunction(0, m, "inc"));
	T(cuModuleGetFunction(&f, 0, "inc"));
	T(cuModuleGetFunctionCount(&count, m));
	N(count);
	T(cuModuleEnumerateFunctions(list, 64, m));
	T(cuFuncGetName(&name, list[0]));
	B(name && strlen(name) > 2);
	T(cuModuleEnumerateFunctions(list, 0, m));
	T(cuModuleEnumerateFunctions(0, 4, m));
	T(cuModuleGetLoadingMode(&mode));
	T(cuModuleUnload(m));
	T(cuModuleUnload(0));
	T(cuCtxSetCurrent(0));
	T(cuModuleLoadData(&m, kernels_));
}

GROUP(module_global) {
	start();
	CUdeviceptr p = 0, q = 0; size_t n = 0; unsigned v = 0, w[4] = {0};
	kernel("empty");
	T(cuModuleGetGlobal(&p, &n, mod, "counter"));
	N(n);
	N(word(p));
	T(cuModuleGetGlobal(&q, 0, mod, "counter"));
	B(p == q);
	n = 0;
	T(cuModuleGetGlobal(0, &n, mod, "counter"));
	N(n);
	T(cuModuleGetGlobal(0, 0, mod, "counter"));
	T(cuModuleGetGlobal(&q, &n, mod, "constant"));
	N(n);
	T(cuMemcpyDtoH(w, q, 16));
	N(w[3]);
	v = 77;
	T(cuMemcpyHtoD(q + 4, &v, 4));
	T(cuMemcpyDtoH(w, q, 16));
	N(w[1]);
	T(cuModuleGetGlobal(&q, &n, mod, "hidden"));
	T(cuModuleGetGlobal(&q, &n, mod, "nosuch"));
	T(cuModuleGetGlobal(&q, &n, mod, "inc"));
	T(cuModuleGetGlobal(&q, &n, mod, ""));
	T(cuModuleGetGlobal(&q, &n, mod, 0));
	T(cuModuleGetGlobal(&q, &n, 0, "counter"));
	T(inc_on(p, 0));
	T(cuCtxSynchronize());
	N(word(p));
	CUdeviceptr base = 0;
	n = 0;
	T(cuMemGetAddressRange(&base, &n, p));
	T(cuMemFree(p));
	CUmodule second = 0;
	T(cuModuleLoadData(&second, kernels_));
	T(cuModuleGetGlobal(&q, &n, second, "counter"));
	B(p != q);
	N(word(q));
	T(cuModuleUnload(second));
	unsigned type = 0;
	T(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	N(type);
}

GROUP(jit_options) {
	start();
	CUmodule m = 0; char info[4096] = "", error[4096] = "";
	CUjit_option logs[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {info, (void *)(uintptr_t)sizeof info, error, (void *)(uintptr_t)sizeof error};
	T(cuModuleLoadDataEx(&m, kernels_, 4, logs, values));
	B(error[0] == 0);
	T(cuModuleUnload(m));
	T(cuModuleLoadDataEx(&m, broken_, 4, logs, values));
	B(error[0] != 0);
	B(values[3] != 0);
	T(cuModuleLoadDataEx(&m, kernels_, 0, 0, 0));
	T(cuModuleLoadDataEx(&m, kernels_, 1, 0, 0));
	T(cuModuleLoadDataEx(&m, kernels_, 1, logs, 0));
	static const struct { CUjit_option o; uintptr_t v; } one[] = {{CU_JIT_MAX_REGISTERS, 32}, {CU_JIT_THREADS_PER_BLOCK, 64}, {CU_JIT_OPTIMIZATION_LEVEL, 0},
		{CU_JIT_OPTIMIZATION_LEVEL, 4}, {CU_JIT_OPTIMIZATION_LEVEL, 5}, {CU_JIT_TARGET_FROM_CUCONTEXT, 0}, {CU_JIT_TARGET, 90}, {CU_JIT_FALLBACK_STRATEGY, 0},
		{CU_JIT_GENERATE_DEBUG_INFO, 1}, {CU_JIT_LOG_VERBOSE, 1}, {CU_JIT_GENERATE_LINE_INFO, 1}, {CU_JIT_CACHE_MODE, 0}, {CU_JIT_FAST_COMPILE, 1},
		{(CUjit_option)200, 1}, {(CUjit_option)-1, 1}};
	for (unsigned i = 0; i < sizeof one / sizeof *one; i++) {
		CUjit_option o = one[i].o; void *v = (void *)one[i].v;
		printf("option %d %d = %d\n", (int)o, (int)one[i].v, cuModuleLoadDataEx(&m, kernels_, 1, &o, &v));
	}
}

GROUP(function_attributes) {
	start();
	static const char *names[] = {"empty", "inc", "mixed", "small", "fixed", "shared"};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		CUfunction f = kernel(names[i]); int v = -1;
		for (int a = 0; a <= 15; a++) {
			if (a == CU_FUNC_ATTRIBUTE_NUM_REGS || a == CU_FUNC_ATTRIBUTE_BINARY_VERSION || a == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) continue;
			v = -1;
			int e = cuFuncGetAttribute(&v, (CUfunction_attribute)a, f);
			printf("%s attribute %d = %d: %d\n", names[i], a, e, v);
		}
		QUIET(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
		B(v > 0 && v < 256);
	}
	CUfunction f = kernel("inc"); int v = 0, max = 0;
	QUIET(cuDeviceGetAttribute(&max, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, dev));
	T(cuFuncGetAttribute(&v, (CUfunction_attribute)99, f));
	T(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, 0));
	T(cuFuncGetAttribute(0, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
	T(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
	N(v);
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, max));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, max + 1));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
	T(cuFuncSetAttribute(kernel("shared"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, max));
	T(cuFuncSetAttribute(kernel("shared"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, max - 1024));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
	T(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, f));
	N(v);
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -2));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 8));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
	T(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, f));
	N(v);
	T(cuFuncSetAttribute(f, (CUfunction_attribute)99, 1));
	T(cuFuncSetAttribute(0, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
	T(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_SHARED));
	T(cuFuncSetCacheConfig(f, (CUfunc_cache)9));
	T(cuFuncSetSharedMemConfig(f, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
	T(cuFuncSetSharedMemConfig(f, (CUsharedconfig)9));
}

GROUP(function_info) {
	start();
	CUfunction f = kernel("mixed"); CUmodule m = 0; const char *name = 0; CUfunctionLoadingState st = 9; size_t off = 0, size = 0;
	T(cuFuncGetName(&name, f));
	S(name);
	T(cuFuncGetName(&name, 0));
	T(cuFuncGetModule(&m, f));
	B(m == mod);
	T(cuFuncGetModule(&m, 0));
	for (int i = 0; i < 5; i++) {
		off = size = 99;
		T(cuFuncGetParamInfo(f, i, &off, &size));
		N(off); N(size);
	}
	T(cuFuncGetParamInfo(f, 0, &off, 0));
	T(cuFuncGetParamInfo(f, 0, 0, &size));
	T(cuFuncGetParamInfo(f, 0, 0, 0));
	T(cuFuncGetParamInfo(kernel("empty"), 0, &off, &size));
	T(cuFuncGetParamInfo(0, 0, &off, &size));
	T(cuFuncLoad(f));
	T(cuFuncIsLoaded(&st, f));
	N(st);
	T(cuFuncIsLoaded(0, f));
	T(cuFuncIsLoaded(&st, 0));
	T(cuFuncLoad(0));
}
