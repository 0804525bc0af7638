// NVTX: names for streams.
#ifndef KUDZU_NVTOOLSEXT_CUDART_H
#define KUDZU_NVTOOLSEXT_CUDART_H

#include "../cuda_runtime_api.h"
#include "nvToolsExt.h"

KUDZU_NVTX(void, (void)0, nvtxNameCudaStreamA, (cudaStream_t stream, const char *name), (stream, name))
KUDZU_NVTX(void, (void)0, nvtxNameCudaStreamW, (cudaStream_t stream, const wchar_t *name), (stream, name))

#ifdef UNICODE
#define nvtxNameCudaStream nvtxNameCudaStreamW
#else
#define nvtxNameCudaStream nvtxNameCudaStreamA
#endif

#endif
