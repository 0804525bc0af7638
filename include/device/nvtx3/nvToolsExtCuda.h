// NVTX: names for streams.
#ifndef KUDZU_NVTOOLSEXT_CUDA_H
#define KUDZU_NVTOOLSEXT_CUDA_H

#include "../cuda.h"
#include "nvToolsExt.h"

KUDZU_NVTX(void, (void)0, nvtxNameCuStreamA, (CUstream stream, const char *name), (stream, name))
KUDZU_NVTX(void, (void)0, nvtxNameCuStreamW, (CUstream stream, const wchar_t *name), (stream, name))

#ifdef UNICODE
#define nvtxNameCuStream nvtxNameCuStreamW
#else
#define nvtxNameCuStream nvtxNameCuStreamA
#endif

#endif
