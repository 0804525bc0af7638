// What cuBLAS, cuBLASLt and NVML answer without the Go image: texts of result codes, and versions.
// A pointer or a size can only be answered here; Go answers result codes.
#include "base.h"

static const char *text_or(const char *text, const char *otherwise) { return text ? text : otherwise; }

const char *kzb_cublasGetStatusName(int code) { return text_or(kz_error_name(code, KZ_ERRORS_blas), "CUBLAS_STATUS_UNKNOWN"); }

const char *kzb_cublasGetStatusString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_blas), "unknown error"); }

const char *kzb_cublasLtGetStatusName(int code) { return kzb_cublasGetStatusName(code); }

const char *kzb_cublasLtGetStatusString(int code) { return kzb_cublasGetStatusString(code); }

// The versions are those of the releases whose names the tables list: 12.9 and 13.0.
size_t kzb12_cublasLtGetVersion(void) { return 120900; }

size_t kzb13_cublasLtGetVersion(void) { return 130000; }

size_t kzb12_cublasGetCudartVersion(void) { return 12090; }

size_t kzb13_cublasGetCudartVersion(void) { return 13000; }

size_t kzb12_cublasLtGetCudartVersion(void) { return 12090; }

size_t kzb13_cublasLtGetCudartVersion(void) { return 13000; }

const char *kzb_nvmlErrorString(int code) { return text_or(kz_error_text(code, KZ_ERRORS_nvml), "Unknown Error"); }
