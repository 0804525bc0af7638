// Pictures through the texture unit.
#include "program.h"
#ifdef __OPENCL_VERSION__
#define PICTURE read_only image2d_t
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
#define FETCH(t, u, v) (read_imagef(t, linear, (float2)(u, v)).x)
#else
#define PICTURE ulong
FUNCTION float fetch(ulong t, float x, float y) {
    float r, g, b, a;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "f"(x), "f"(y));
    return r;
}
#define FETCH(t, u, v) fetch(t, u, v)
#endif

// A picture turned around its middle; what lies outside is the border's.
KERNEL texture_rotate(PICTURE picture, GLOBAL float *RESTRICT out, int side, float c, float s) {
    int x = BX * NX + TX, y = BY * NY + TY;
    float half_side = 0.5f * (float)side, dx = (float)x + 0.5f - half_side, dy = (float)y + 0.5f - half_side;
    out[y * side + x] = FETCH(picture, c * dx - s * dy + half_side, s * dx + c * dy + half_side);
}

// Half the size: the mean of four filtered texels, as mipmaps are made.
KERNEL texture_shrink(PICTURE picture, GLOBAL float *RESTRICT out, int side) {
    int x = BX * NX + TX, y = BY * NY + TY;
    float u = 2 * (float)x + 1, v = 2 * (float)y + 1, sum = 0;
    sum += FETCH(picture, u - 0.5f, v - 0.5f);
    sum += FETCH(picture, u + 0.5f, v - 0.5f);
    sum += FETCH(picture, u - 0.5f, v + 0.5f);
    sum += FETCH(picture, u + 0.5f, v + 0.5f);
    out[y * side + x] = 0.25f * sum;
}
