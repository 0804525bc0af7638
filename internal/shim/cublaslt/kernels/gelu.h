// The activation GELU, for all epilogues.
#pragma once

// gelu in its tanh form: x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))).
__device__ inline float gelu(float x) {
    float u = 0.7978845608028654f * (x + 0.044715f * x * x * x);
    float e = __nvvm_ex2_approx_f(u * 2.8853900817779268f); // exp(2u)
    return x - x / (e + 1.0f);
}

// slope is gelu's gradient, with s = (1 + tanh u) / 2: s + 2x s (1 - s) u'.
__device__ inline float slope(float x) {
    float u = 0.7978845608028654f * (x + 0.044715f * x * x * x);
    float t = 1.0f / (__nvvm_ex2_approx_f(u * 2.8853900817779268f) + 1.0f); // 1 - s
    float both = (1.0f - t) * t;
    return both == 0 ? 1.0f - t : 1.0f - t + 2.0f * x * both * 0.7978845608028654f * (1.0f + 0.134145f * x * x);
}
