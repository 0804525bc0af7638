// Escape times of the Mandelbrot set: a loop that every thread leaves at its own time.
#include "../device.h"

KERNEL mandelbrot(unsigned *out, int width, int height, int limit) {
    int px = BLOCK_X * BLOCK_DIM_X + THREAD_X, py = BLOCK_Y * BLOCK_DIM_Y + THREAD_Y;
    if (px >= width || py >= height) return;
    float step = 3.0f / (float)width;
    float cx = -2.2f + step * (float)px, cy = step * ((float)py - 0.5f * (float)height);
    float x = 0, y = 0;
    int i = 0;
    for (; i < limit; i++) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f) break;
        y = __builtin_fmaf(2.0f * x, y, cy);
        x = (xx - yy) + cx;
    }
    out[py * width + px] = (unsigned)i;
}
