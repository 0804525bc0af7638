// A host function that a function for both sides calls, as the front end shows it to clang (internal/cudacc/hostcall.go): the host's side
// calls it, the device's side stops.
#pragma once

#if __cplusplus >= 201103L
template <class F> __host__ __device__ inline auto __kudzu_host_call(F &&f) -> decltype(f()) {
#ifdef __CUDA_ARCH__
    __builtin_trap();
    __builtin_unreachable();
#else
    return f();
#endif
}
#endif
