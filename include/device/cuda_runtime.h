// The language, and outside of NVRTC the runtime API.
#ifndef KUDZU_DEVICE_CUDA_RUNTIME_H
#define KUDZU_DEVICE_CUDA_RUNTIME_H
#pragma clang system_header

#include "kudzu/prelude.h"

#endif
