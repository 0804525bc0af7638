// What CUDA C++ has without any #include. The front ends of NVRTC and of `kudzu cc` read it before the program's first line.
#ifndef KUDZU_PRELUDE_H
#define KUDZU_PRELUDE_H
#pragma GCC system_header

#include "keywords.h"
#include "vector.h"
#include "vars.h"
#include "intrinsics.h"
#include "simd.h"
#include "math.h"
#include "atomic.h"
#include "scoped.h"
#include "warp.h"
#include "sync.h"
#include "memory.h"
#include "cluster.h"
#include "texture.h"
#include "surface.h"
#include "stdlib.h"

#ifdef __CUDACC_RTC__
#include "std.h"
#include "zruntime_types.h"
#include "guards.h"
#ifdef __CUDACC_RDC__
#include "children.h"
#endif
#include "../nv/target" // NVRTC has it without being asked
// NVIDIA's NVRTC has the functions of its own cuda_fp16.h and cuda_bf16.h in a library; here such a header brings them.
#define __FORCE_INCLUDE_CUDA_FP16_HPP_FROM_FP16_H__
#define __FORCE_INCLUDE_CUDA_BF16_HPP_FROM_BF16_H__
// NVRTC is neither; CCCL asks for these before it asks for NVRTC.
#undef __clang__
#undef __GNUC__
#undef __GNUC_MINOR__
#undef __GNUC_PATCHLEVEL__
#endif

#endif
