// cuBLAS's first interface: what it keeps, and its functions that compute nothing. Those that do are zlegacy.c.
#include "legacy.h"
#include <stdatomic.h>

static _Atomic(void *) handle;
static _Atomic int status; // of the last call

static int letter(char c, const char *of, const int *numbers) {
	for (int i = 0; of[i]; i++)
		if (c == of[i] || c == (of[i] | 32))
			return numbers[i];
	return -1;
}

int kz_trans(char c) { return letter(c, "NTC", (const int[]){0, 1, 2}); }

int kz_uplo(char c) { return letter(c, "LU", (const int[]){0, 1}); }

int kz_side(char c) { return letter(c, "LR", (const int[]){0, 1}); }

int kz_diag(char c) { return letter(c, "NU", (const int[]){0, 1}); }

// An H200 keeps the answer of the last call, good or bad.
void kz_legacy_note(int code) { atomic_store(&status, code); }

void kz_legacy_refuse(void) { kz_legacy_note(KZ_CUBLAS_STATUS_INVALID_VALUE); }

// The first call makes the handle: cublasInit is not needed, on an H200 either. Every version's table has the same functions in Go.
static int begin(void) {
	int (*create)(void **) = (int (*)(void **))kz_entry(KZ_LIB_cublas12, KZ_cublas_cublasCreate_v2);
	int (*destroy)(void *) = (int (*)(void *))kz_entry(KZ_LIB_cublas12, KZ_cublas_cublasDestroy_v2);
	void *made = NULL, *none = NULL;
	if (!create || !destroy)
		return KZ_CUBLAS_STATUS_NOT_INITIALIZED;
	if (atomic_load(&handle))
		return 0;
	int code = create(&made);
	if (!code && !atomic_compare_exchange_strong(&handle, &none, made))
		code = destroy(made);
	return code;
}

void *kz_legacy_call(uint32_t slot, void **to) {
	int code = begin();
	void *f = kz_entry(KZ_LIB_cublas12, slot);
	*to = atomic_load(&handle);
	if (f && *to)
		return f;
	kz_legacy_note(code ? code : KZ_CUBLAS_STATUS_NOT_INITIALIZED);
	return NULL;
}

int kzb_cublasInit(void) { return begin(); }

// It may be called without a handle, and calls after it make another.
int kzb_cublasShutdown(void) {
	int (*destroy)(void *) = (int (*)(void *))kz_entry(KZ_LIB_cublas12, KZ_cublas_cublasDestroy_v2);
	void *old = atomic_exchange(&handle, NULL);
	return old && destroy ? destroy(old) : 0;
}

int kzb_cublasGetError(void) { return atomic_exchange(&status, 0); }

int kzb11_cublasGetVersion_v2(void *, int *), kzb12_cublasGetVersion_v2(void *, int *), kzb13_cublasGetVersion_v2(void *, int *);

int kzb11_cublasGetVersion(int *version) { return kzb11_cublasGetVersion_v2(NULL, version); }

int kzb12_cublasGetVersion(int *version) { return kzb12_cublasGetVersion_v2(NULL, version); }

int kzb13_cublasGetVersion(int *version) { return kzb13_cublasGetVersion_v2(NULL, version); }

int kzb_cublasSetKernelStream(void *stream) {
	void *of, *f = kz_legacy_call(KZ_cublas_cublasSetStream_v2, &of);
	int code = f ? ((int (*)(void *, void *))f)(of, stream) : KZ_CUBLAS_STATUS_NOT_INITIALIZED;
	return code;
}

// The driver's functions, so that a failure is not the runtime's last error; cudaFree(NULL) makes its context current.
static void *memory(uint32_t slot) {
	int (*release)(void *) = (int (*)(void *))kz_entry(KZ_LIB_cudart12, KZ_cudart_cudaFree);
	return release && !release(NULL) ? kz_entry(KZ_LIB_cuda, slot) : NULL;
}

int kzb_cublasAlloc(int n, int size, void **to) {
	if (n <= 0 || size <= 0 || !to)
		return KZ_CUBLAS_STATUS_INVALID_VALUE;
	int (*allocate)(void **, size_t) = (int (*)(void **, size_t))memory(KZ_cuda_cuMemAlloc_v2);
	if (!allocate)
		return KZ_CUBLAS_STATUS_NOT_INITIALIZED;
	return allocate(to, (size_t)n * (size_t)size) ? KZ_CUBLAS_STATUS_ALLOC_FAILED : 0;
}

int kzb_cublasFree(void *p) {
	int (*release)(void *) = (int (*)(void *))memory(KZ_cuda_cuMemFree_v2);
	if (!release)
		return KZ_CUBLAS_STATUS_NOT_INITIALIZED;
	return p && release(p) ? KZ_CUBLAS_STATUS_INTERNAL_ERROR : 0;
}

// As BLAS's: a program may have one of its own in its place.
void kzb_cublasXerbla(const char *name, int info) {
	kz_say(" ** On entry to %-6s parameter number %d had an illegal value\n", name, info);
}
