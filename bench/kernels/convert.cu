// Conversions and divisions that programs do for every element.
#include "program.h"

// Toward zero, as a cast does.
KERNEL f32_to_s32(GLOBAL const float *RESTRICT in, GLOBAL int *RESTRICT out, float scale) {
    int i = BX * NX + TX;
    out[i] = (int)(in[i] * scale);
}

// Blocks of 32 floats become bytes and one scale: a lane an element, the largest of a block by shuffles.
KERNEL quantize_q8(GLOBAL const float *RESTRICT in, GLOBAL signed char *RESTRICT q, GLOBAL float *RESTRICT scale) {
    int i = BX * NX + TX;
    float x = in[i], top = ABS(x);
#ifdef __OPENCL_VERSION__
    SHARED float tmp[256];
    for (int d = 16; d; d >>= 1) {
        tmp[TX] = top;
        SYNC;
        top = FMAX(top, tmp[TX ^ d]);
        SYNC;
    }
#else
#pragma unroll
    for (int d = 16; d; d >>= 1) top = FMAX(top, SHFL_XOR(top, d));
#endif
    q[i] = (signed char)(int)ROUND(x * (127.0f / top));
    if ((TX & 31) == 0) scale[i >> 5] = top / 127.0f;
}

// Quotient and remainder of 64 bits, both of them needed.
KERNEL divide64(GLOBAL const ulong *RESTRICT a, GLOBAL const ulong *RESTRICT b, GLOBAL ulong *RESTRICT out) {
    int i = BX * NX + TX;
    ulong n = a[i], d = b[i];
    out[i] = (n / d) ^ (n % d) << 1;
}
