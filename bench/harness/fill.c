/* Inputs: a small deterministic generator, so that every machine computes the same thing. */
#include "bench.h"

static uint32_t state = 12345;

void rng_seed(uint32_t s) { state = s ? s : 1; }
uint32_t rng(void) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}
float uniform(void) { return (float)(rng() >> 8) * (1.0f / 16777216.0f); }
void fill_f32(float *p, size_t n, float lo, float hi) {
    for (size_t i = 0; i < n; i++) p[i] = lo + (hi - lo) * uniform();
}
