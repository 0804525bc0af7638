// The interface of cuBLAS before it had handles: cublasInit, and functions of the same names with other arguments.
#ifndef CUBLAS_H_
#define CUBLAS_H_
#ifdef KUDZU_CUBLAS_V2_H
#error "cublas.h and cublas_v2.h cannot be included both"
#endif

#include "cuda_runtime_api.h"

#define KUDZU_NO_RENAME
#include "cublas_v2.h"
#undef KUDZU_NO_RENAME
#undef CUBLAS_V2_H_

#define cublasStatus cublasStatus_t

#endif
