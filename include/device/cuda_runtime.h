// The language, and outside of NVRTC the runtime API.
#ifndef KUDZU_DEVICE_CUDA_RUNTIME_H
#define KUDZU_DEVICE_CUDA_RUNTIME_H
// The guards of NVIDIA's headers: programs ask for them, and older Thrust takes __host__ away where they are not there.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#endif
#pragma GCC system_header

#ifdef __cplusplus
#if defined(__CUDA__) || defined(__CUDACC_RTC__)
#include "kudzu/prelude.h"
#else
#include "kudzu/vector.h"
#endif
#endif

#ifndef __CUDACC_RTC__
#include "cuda_runtime_api.h"
#ifdef __cplusplus
// NVIDIA's header brings these along, and programs rely on it.
#include <assert.h>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <math.h>
#include <stdio.h>
#include <utility>
#include "kudzu/runtime.h"
#ifdef __CUDA__
#include "kudzu/hostcall.h"
#ifdef __CUDACC_RDC__
#include "kudzu/children.h"
#endif
#endif
#endif
#endif

#endif
