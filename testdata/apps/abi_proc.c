// cuGetProcAddress: names, versions, streams, and what it must not hand out. Every answer
// but those marked is driver 580's.
#define _GNU_SOURCE
#define KUDZU_NO_RENAME
#include <cuda.h>
#include <dlfcn.h>
#include <string.h>

#include "abi_check.h"

static int status;

// get asks with somewhere to put the status: then only the status says what was found.
static void *get(const char *name, int version, int flags, CUdriverProcAddressQueryResult want) {
	void *fn = (void *)&status;
	status = -1;
	EXPECT(cuGetProcAddress_v2(name, &fn, version, flags, (CUdriverProcAddressQueryResult *)&status), CUDA_SUCCESS);
	if (status != (int)want)
		printf("%s %d: ", name, version);
	EXPECT(status, want);
	EXPECT(fn != NULL, want == CU_GET_PROC_ADDRESS_SUCCESS);
	return fn;
}

// is reports whether an address is the front's symbol of a name.
static int is(void *fn, const char *symbol) {
	Dl_info info;
	return fn && dladdr(fn, &info) && info.dli_sname && info.dli_saddr == fn && !strcmp(info.dli_sname, symbol);
}

int main(void) {
	EXPECT(is(get("cuInit", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS), "cuInit"), 1);

	// The newest variant that the asked version knows.
	EXPECT(is(get("cuGetProcAddress", 11030, 0, CU_GET_PROC_ADDRESS_SUCCESS), "cuGetProcAddress"), 1);
	EXPECT(is(get("cuGetProcAddress", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS), "cuGetProcAddress_v2"), 1);
	EXPECT(is(get("cuGetProcAddress", 13000, 0, CU_GET_PROC_ADDRESS_SUCCESS), "cuGetProcAddress_v2"), 1);
	EXPECT(is(get("cuDeviceGetUuid", 11000, 0, CU_GET_PROC_ADDRESS_SUCCESS), "cuDeviceGetUuid"), 1);
	EXPECT(is(get("cuDeviceGetUuid", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS), "cuDeviceGetUuid_v2"), 1);

	get("cuGetProcAddress", 11020, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	get("cuNoSuchFunction", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	get("cuMemAlloc_v2", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND); // names go without their suffix
	get("", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);

	// A function nobody implements is not handed out. This one is exported and undocumented.
	get("cuEGLApiInit", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);

	// Per-thread default streams, where the variant exists and is old enough.
	EXPECT(is(get("cuStreamQuery", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, CU_GET_PROC_ADDRESS_SUCCESS), "cuStreamQuery"), 1);
	EXPECT(is(get("cuStreamQuery", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS), "cuStreamQuery_ptsz"), 1);
	EXPECT(is(get("cuStreamQuery", 12000, 3, CU_GET_PROC_ADDRESS_SUCCESS), "cuStreamQuery_ptsz"), 1);
	get("cuStreamQuery", 6050, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	EXPECT(is(get("cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS), "cuMemcpyHtoD_v2_ptds"), 1);
	EXPECT(is(get("cuInit", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS), "cuInit"), 1);

	void *fn = &fn;
	EXPECT(cuGetProcAddress_v2("cuInit", &fn, 13050, 0, (CUdriverProcAddressQueryResult *)&status), CUDA_ERROR_INVALID_VALUE); // newer than the driver
	EXPECT(fn == &fn, 1);
	EXPECT(cuGetProcAddress_v2("cuNoSuchFunction", &fn, 12000, 0, NULL), CUDA_SUCCESS);
	EXPECT(fn == NULL, 1);
	fn = &fn;
	EXPECT(cuGetProcAddress("cuNoSuchFunction", &fn, 12000, 0), CUDA_ERROR_NOT_FOUND); // the first form differs
	EXPECT(cuGetProcAddress("cuGetProcAddress", &fn, 11020, 0), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuGetProcAddress("cuInit", &fn, 13050, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(fn == &fn, 1);
	EXPECT(cuGetProcAddress("cuInit", &fn, 12000, 0), CUDA_SUCCESS);
	EXPECT(is(fn, "cuInit"), 1);
	EXPECT(cuGetProcAddress_v2("cuInit", &fn, -1, 0, NULL), CUDA_SUCCESS); // the newest
	EXPECT(is(fn, "cuInit"), 1);
	// The real driver crashes on these two.
	EXPECT(cuGetProcAddress_v2(NULL, &fn, 12000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGetProcAddress_v2("cuInit", NULL, 12000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGetProcAddress_v2("cuInit", &fn, 12000, 4, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGetProcAddress_v2("cuInit", &fn, 12000, 0, NULL), CUDA_SUCCESS);
	EXPECT(((CUresult(*)(unsigned))fn)(0), CUDA_SUCCESS);
	return finish();
}
