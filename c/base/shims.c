// What the libraries answer without the Go image: texts of result codes, and versions.
// A pointer or a size can only be answered here; Go answers result codes.
#include "base.h"
#include <stdlib.h>
#include <string.h>

static const char *text_or(const char *text, const char *otherwise) { return text ? text : otherwise; }

const char *kzb_cublasGetStatusName(int code) { return text_or(kz_error_name(code, KZ_ERRORS_cublas), "unrecognized status"); }

const char *kzb_cublasGetStatusString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_cublas), "unknown error"); }

const char *kzb_cublasLtGetStatusName(int code) { return kzb_cublasGetStatusName(code); }

const char *kzb_cublasLtGetStatusString(int code) { return kzb_cublasGetStatusString(code); }

// NVIDIA's libcublas calls these of the libcublasLt it finds, at cublasCreate and cublasDestroy, and needs a 0: on an H200 a library
// that does no more than that was enough for both. Their signatures are not public.
int kzb_cublasLtCtxInit(void) { return 0; }

int kzb_cublasLtShutdownCtx(void) { return 0; }

// The versions are those of the releases whose names the tables list: 11.11.3, of CUDA 11.8, 12.9 and 13.0. Programs compare them
// with the soname they opened, so each library says its own.
enum { VERSION_11 = 111103, VERSION_12 = 120900, VERSION_13 = 130000, CUDART_11 = 11080, CUDART_12 = 12090, CUDART_13 = 13000 };

static int answer(int *to, int value) {
	if (!to)
		return KZ_CUBLAS_STATUS_INVALID_VALUE;
	*to = value;
	return 0;
}

// One part of a version: libraryPropertyType is MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL.
static int part(int version, int type, int *value) {
	static const int unit[] = {10000, 100, 1};
	if (type < 0 || type > 2)
		return KZ_CUBLAS_STATUS_INVALID_VALUE;
	return answer(value, version / unit[type] % 100);
}

int kzb11_cublasGetVersion_v2(void *handle, int *version) { return (void)handle, answer(version, VERSION_11); }

int kzb12_cublasGetVersion_v2(void *handle, int *version) { return (void)handle, answer(version, VERSION_12); }

int kzb13_cublasGetVersion_v2(void *handle, int *version) { return (void)handle, answer(version, VERSION_13); }

int kzb11_cublasGetProperty(int type, int *value) { return part(VERSION_11, type, value); }

int kzb12_cublasGetProperty(int type, int *value) { return part(VERSION_12, type, value); }

int kzb13_cublasGetProperty(int type, int *value) { return part(VERSION_13, type, value); }

int kzb11_cublasLtGetProperty(int type, int *value) { return part(VERSION_11, type, value); }

int kzb12_cublasLtGetProperty(int type, int *value) { return part(VERSION_12, type, value); }

int kzb13_cublasLtGetProperty(int type, int *value) { return part(VERSION_13, type, value); }

static int nvrtc_version(int version, int *major, int *minor) {
	if (!major || !minor)
		return KZ_NVRTC_ERROR_INVALID_INPUT;
	*major = version / 10000, *minor = version / 100 % 100;
	return 0;
}

int kzb12_nvrtcVersion(int *major, int *minor) { return nvrtc_version(VERSION_12, major, minor); }

int kzb13_nvrtcVersion(int *major, int *minor) { return nvrtc_version(VERSION_13, major, minor); }

size_t kzb11_cublasLtGetVersion(void) { return VERSION_11; }

size_t kzb12_cublasLtGetVersion(void) { return VERSION_12; }

size_t kzb13_cublasLtGetVersion(void) { return VERSION_13; }

size_t kzb11_cublasGetCudartVersion(void) { return CUDART_11; }

size_t kzb12_cublasGetCudartVersion(void) { return CUDART_12; }

size_t kzb13_cublasGetCudartVersion(void) { return CUDART_13; }

size_t kzb11_cublasLtGetCudartVersion(void) { return CUDART_11; }

size_t kzb12_cublasLtGetCudartVersion(void) { return CUDART_12; }

size_t kzb13_cublasLtGetCudartVersion(void) { return CUDART_13; }

const char *kzb_cusparseGetErrorName(int code) { return text_or(kz_error_name(code, KZ_ERRORS_cusparse), "unrecognized error code"); }

const char *kzb_cusparseGetErrorString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_cusparse), "unrecognized error code"); }

// cuSPARSELt has cuSPARSE's codes. Its version is that of the release whose names the table lists, the newest with both majors of CUDA.
enum { SPARSELT_VERSION = 801 };

const char *kzb_cusparseLtGetErrorName(int code) { return kzb_cusparseGetErrorName(code); }

const char *kzb_cusparseLtGetErrorString(int code) { return kzb_cusparseGetErrorString(code); }

int kzb_cusparseLtGetVersion(const void *handle, int *version) {
	if (!handle || !version)
		return KZ_CUSPARSE_STATUS_INVALID_VALUE;
	*version = SPARSELT_VERSION;
	return 0;
}

int kzb_cusparseLtGetProperty(int type, int *value) {
	static const int unit[] = {10000, 100, 1};
	if (!value || type < 0 || type > 2)
		return KZ_CUSPARSE_STATUS_INVALID_VALUE;
	*value = SPARSELT_VERSION / unit[type] % 100;
	return 0;
}

// cuSPARSE's older description of a matrix. Its getters return what they get, so it is C's; Go reads it (shim/cusparse/plan.go).
struct description {
	int type, fill, diag, base;
};

int kzb_cusparseCreateMatDescr(struct description **to) {
	if (!to)
		return KZ_CUSPARSE_STATUS_INVALID_VALUE;
	*to = calloc(1, sizeof **to);
	return *to ? 0 : KZ_CUSPARSE_STATUS_ALLOC_FAILED;
}

int kzb_cusparseDestroyMatDescr(struct description *d) {
	free(d);
	return 0;
}

static int describe(struct description *d, int *field, int value, int most) {
	if (!d)
		return KZ_CUSPARSE_STATUS_NOT_INITIALIZED;
	if (value < 0 || value > most)
		return KZ_CUSPARSE_STATUS_INVALID_VALUE;
	*field = value;
	return 0;
}

int kzb_cusparseSetMatType(struct description *d, int type) { return describe(d, &d->type, type, 3); }

int kzb_cusparseSetMatFillMode(struct description *d, int fill) { return describe(d, &d->fill, fill, 1); }

int kzb_cusparseSetMatDiagType(struct description *d, int diag) { return describe(d, &d->diag, diag, 1); }

int kzb_cusparseSetMatIndexBase(struct description *d, int base) { return describe(d, &d->base, base, 1); }

int kzb_cusparseGetMatType(const struct description *d) { return d->type; }

int kzb_cusparseGetMatFillMode(const struct description *d) { return d->fill; }

int kzb_cusparseGetMatDiagType(const struct description *d) { return d->diag; }

int kzb_cusparseGetMatIndexBase(const struct description *d) { return d->base; }

const char *kzb_nvmlErrorString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_nvml), "Unknown Error"); }

const char *kzb_nvrtcGetErrorString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_nvrtc), "NVRTC_ERROR unknown"); }

// The text of success is NULL.
const char *kzb_nvFatbinGetErrorString(int code) { return code ? text_or(kz_error_text(code, KZ_ERRORS_nvfatbin), "unknown error") : 0; }

const char *kzb_nvvmGetErrorString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_nvvm), "NVVM_ERROR not found"); }

// The versions of CUPTI's interface are those of its headers in 12.9 and 13.0.
static int pti_version(uint32_t *to, uint32_t value) {
	if (!to)
		return KZ_CUPTI_ERROR_INVALID_PARAMETER;
	*to = value;
	return 0;
}

int kzb12_cuptiGetVersion(uint32_t *version) { return pti_version(version, 28); }

int kzb13_cuptiGetVersion(uint32_t *version) { return pti_version(version, 130000); }

int kzb_cuptiGetResultString(int code, const char **str) {
	if (!str || !kz_error_name(code, KZ_ERRORS_cupti))
		return KZ_CUPTI_ERROR_INVALID_PARAMETER;
	*str = kz_error_name(code, KZ_ERRORS_cupti);
	return 0;
}

int kzb_cuptiGetErrorMessage(int code, const char **str) { return kzb_cuptiGetResultString(code, str); }

// NVTX asks these whether a tool is there. None is.
int kzb_InitializeInjectionNvtx(void *getExportTable) { return (void)getExportTable, 0; }

int kzb_InitializeInjectionNvtx2(void *getExportTable) { return (void)getExportTable, 0; }

int kzb_InitializeInjectionNvtxExtension(void *getExportTable) { return (void)getExportTable, 0; }

// NCCL exports every function twice, so that tools can stand before the first name.
const char *kzb_ncclGetErrorString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_nccl), "unknown result code"); }

const char *kzb_pncclGetErrorString(int code) { return kzb_ncclGetErrorString(code); }

kz_last_error_text kz_last_errors[KZ_LAST_ERRORS];

const char *kzb_ncclGetLastError(void *comm) { return (void)comm, kz_last_errors[KZ_LAST_ERROR_NCCL]; }

const char *kzb_pncclGetLastError(void *comm) { return kzb_ncclGetLastError(comm); }

void kzb_ncclResetDebugInit(void) {}

void kzb_pncclResetDebugInit(void) {}

void kzb_ncclParamDumpAll(void) {}

void kzb_pncclParamDumpAll(void) {}

// Teams are for kernels that communicate by themselves. No team can be had: it has no ranks.
struct team {
	int ranks, rank, stride;
};

struct team kzb_ncclTeamWorld(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_pncclTeamWorld(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_ncclTeamLsa(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_pncclTeamLsa(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_ncclTeamRail(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_pncclTeamRail(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_ncclTeamCftMultimem(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_pncclTeamCftMultimem(void *comm) { return (void)comm, (struct team){0, 0, 0}; }

struct team kzb_ncclTeamCft(void *comm, int mode) { return (void)comm, (void)mode, (struct team){0, 0, 0}; }

struct team kzb_pncclTeamCft(void *comm, int mode) { return (void)comm, (void)mode, (struct team){0, 0, 0}; }

int kzb_ncclTeamRankToWorld(void *comm, struct team team, int rank) { return (void)comm, (void)team, (void)rank, -1; }

int kzb_pncclTeamRankToWorld(void *comm, struct team team, int rank) { return (void)comm, (void)team, (void)rank, -1; }

int kzb_ncclTeamRankToLsa(void *comm, struct team team, int rank) { return (void)comm, (void)team, (void)rank, -1; }

int kzb_pncclTeamRankToLsa(void *comm, struct team team, int rank) { return (void)comm, (void)team, (void)rank, -1; }

// cuDNN 8 numbers its codes from 0; a name is the same in both.
static const char *const codes_8[] = {
    "CUDNN_STATUS_SUCCESS",           "CUDNN_STATUS_NOT_INITIALIZED",     "CUDNN_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_BAD_PARAM",         "CUDNN_STATUS_INTERNAL_ERROR",      "CUDNN_STATUS_INVALID_VALUE",
    "CUDNN_STATUS_ARCH_MISMATCH",     "CUDNN_STATUS_MAPPING_ERROR",       "CUDNN_STATUS_EXECUTION_FAILED",
    "CUDNN_STATUS_NOT_SUPPORTED",     "CUDNN_STATUS_LICENSE_ERROR",       "CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING",
    "CUDNN_STATUS_RUNTIME_IN_PROGRESS", "CUDNN_STATUS_RUNTIME_FP_OVERFLOW", "CUDNN_STATUS_VERSION_MISMATCH",
};

const char *kzb8_cudnnGetErrorString(int code) {
	return code >= 0 && code < (int)(sizeof codes_8 / sizeof *codes_8) ? codes_8[code] : "CUDNN_UNKNOWN_STATUS";
}

const char *kzb9_cudnnGetErrorString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_cudnn), "CUDNN_UNKNOWN_STATUS"); }

// The newest release of each whose names the table lists. Clients gate features on it, and want one that is not older than what
// they were built with, so that it can be set: 9.10.2 is for 9, 8.9.2 for 8.
enum { CUDNN_8 = 8907, CUDNN_9 = 92700 };

static size_t cudnn_version(int major) {
	const size_t newest = major == 9 ? CUDNN_9 : CUDNN_8;
	const char *s = kz_setting("KUDZU_CUDNN_VERSION");
	int part[3] = {0};
	for (int i = 0; s && i < 3; i++) {
		char *end;
		long v = strtol(s, &end, 10);
		if (end == s || v < 0 || v > 99)
			return newest;
		part[i] = (int)v;
		s = *end == '.' ? end + 1 : NULL;
	}
	if (part[0] != major)
		return newest;
	return (size_t)(part[0] * (major == 9 ? 10000 : 1000) + part[1] * 100 + part[2]);
}

size_t kzb8_cudnnGetVersion(void) { return cudnn_version(8); }

size_t kzb9_cudnnGetVersion(void) { return cudnn_version(9); }

size_t kzb_cudnnGetMaxDeviceVersion(void) { return 1210; }

size_t kzb8_cudnnGetCudartVersion(void) { return VERSION_12 / 10; }

size_t kzb9_cudnnGetCudartVersion(void) { return VERSION_13 / 10; }

enum { CUDNN_8_BAD_PARAM = 3 };

int kzb8_cudnnGetProperty(int type, int *value) {
	const int v = (int)cudnn_version(8), parts[] = {v / 1000, v / 100 % 10, v % 100};
	if (!value || type < 0 || type > 2)
		return CUDNN_8_BAD_PARAM;
	*value = parts[type];
	return 0;
}

int kzb9_cudnnGetProperty(int type, int *value) {
	if (!value)
		return KZ_CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	return part((int)cudnn_version(9), type, value) ? KZ_CUDNN_STATUS_BAD_PARAM : 0;
}

// The text is told once. A thread that fails meanwhile may leave another one behind it.
void kzb_cudnnGetLastErrorString(char *to, size_t size) {
	if (!to || !size)
		return;
	char *text = kz_last_errors[KZ_LAST_ERROR_CUDNN];
	size_t n = strnlen(text, KZ_LAST_ERROR_SIZE - 1);
	if (n >= size)
		n = size - 1;
	memcpy(to, text, n);
	to[n] = 0;
	text[0] = 0;
}
