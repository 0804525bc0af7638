// The Mersenne twisters. MT19937 is 8192 generators far apart in one sequence; MTGP32 is a small generator for each of many blocks,
// with parameters of its own. Every number is made of one word.
#include "device.h"

#define TID __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define SYNC __syncthreads()

// --- MT19937 --------------------------------------------------------------------------------------------------------------

// Word k of all generators lies together, GENERATORS of them.
#define N 624u
#define M 397u
#define GENERATORS 8192u

__device__ inline u32 twist(u32 a, u32 b, u32 c) {
    u32 y = (a & 0x80000000) | (b & 0x7fffffff);
    return c ^ y >> 1 ^ (0x9908b0df & -(y & 1));
}

__device__ inline u32 temper(u32 y) {
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680;
    y ^= y << 15 & 0xefc60000;
    return y ^ y >> 18;
}

// mt_extend writes the next words of a generator a block, beginning with its state, for mt_jump.
KERNEL mt_extend(const u32 *states, u32 *words, u32 first, u32 length) {
    u32 *w = words + (u64)BLOCK * length, t = TID, step = 224; // words that one another do not need
    for (u32 i = t; i < N; i += step)
        w[i] = states[i * GENERATORS + first + BLOCK];
    SYNC;
    for (u32 base = 0; base + N < length; base += step) {
        u32 i = base + t;
        if (i + N < length)
            w[i + N] = twist(w[i], w[i + 1], w[i + M]);
        SYNC;
    }
}

// mt_jump makes the states of generators that are a jump away: the sums of the words at the places in list, from each word on.
#define EACH 5u
KERNEL mt_jump(const u32 *words, u32 *states, const unsigned short *list, u32 to, u32 length, u32 count) {
    const u32 *w = words + (u64)BLOCK * length + TID;
    u32 sum[EACH] = {};
    for (u32 j = 0; j < count; j++) {
        u32 i = list[j];
#pragma unroll
        for (u32 m = 0; m < EACH; m++)
            sum[m] ^= w[i + 128 * m];
    }
#pragma unroll
    for (u32 m = 0; m < EACH; m++)
        if (TID + 128 * m < N)
            states[(TID + 128 * m) * GENERATORS + to + BLOCK] = sum[m];
}

// mt_twist makes the next words of all generators.
KERNEL mt_twist(u32 *states) {
    u32 *s = states + THREAD, first = s[0], a = first;
    for (u32 k = 0; k < N - 1; k++) {
        u32 b = s[(k + 1) * GENERATORS];
        s[k * GENERATORS] = twist(a, b, s[(k < N - M ? k + M : k + M - N) * GENERATORS]);
        a = b;
    }
    s[(N - 1) * GENERATORS] = twist(a, s[0], s[(M - 1) * GENERATORS]);
}

// The words of a generator come out eight at a time, a row, in the order in which eight threads make them.
__device__ const u32 leads[8] = {0, 113, 170, 283, 340, 397, 510, 567};
__device__ const u32 bases[11] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};

struct Twister {
    u32 *states;
    u64 first, n;
    // each hands out the numbers that begin at first; there are as many threads as numbers in a row of all generators.
    template <class F> __device__ void each(F put) const {
        const u32 width = 8 * GENERATORS;
        u32 t = THREAD, lead = leads[t & 7], *s = states + t / 8;
        for (u32 row = (u32)(first / width); row * (u64)width < first + n; row++) {
            u64 i = row * (u64)width + t;
            if (i < first || i >= first + n)
                continue;
            u32 k = row ? bases[(row - 1) / 7] + (row - 1) % 7 + 7 * (t & 7) : lead;
            put(i - first, temper(s[k * GENERATORS]));
        }
    }
    static __device__ double uniform64(u32 x) { return narrow(x); }
    static __device__ float uniform32(u32 x) { return (float)narrow(x); }
};

// --- MTGP32 ---------------------------------------------------------------------------------------------------------------

#define STATE 351u // words of a state
#define RING 1024u

// Set is the parameters of a block's generator. A table is the exclusive or of the entries whose bits are set.
struct Set {
    u32 at, left, right, table[4], temper[4];
};

__device__ inline u32 lookup(const u32 *table, u32 x) {
    u32 r = 0;
#pragma unroll
    for (int b = 0; b < 4; b++)
        r ^= table[b] & -(x >> b & 1);
    return r;
}

struct Mtgp {
    u32 *states;
    const Set *sets;
    u64 first, n;
    // each hands out the numbers from first on; 256 of a block follow 256 of the block before. It leaves the states at the last
    // whole row of all blocks.
    template <class F> __device__ void each(F put) const {
        static __attribute__((shared)) u32 ring[RING];
        u32 t = TID, *state = states + BLOCK * STATE;
        u64 width = THREADS, rows = (first + n + width - 1) / width, whole = (first + n) / width;
        Set set = sets[BLOCK];
        for (u32 i = t; i < STATE; i += 256)
            ring[i] = state[i];
        SYNC;
        for (u32 row = 0; row < rows; row++) {
            u32 i = 256 * row + t;
            u32 x = (ring[i % RING] & 0xfff80000) ^ ring[(i + 1) % RING];
            x ^= x << set.left;
            x ^= ring[(i + set.at) % RING] >> set.right;
            x ^= lookup(set.table, x);
            u32 y = ring[(i + set.at - 1) % RING];
            y ^= y >> 16, y ^= y >> 8;
            ring[(i + STATE) % RING] = x;
            SYNC;
            u64 e = row * width + THREAD;
            if (e >= first && e < first + n)
                put(e - first, x ^ lookup(set.temper, y));
        }
        for (u32 i = t; i < STATE; i += 256)
            state[i] = ring[(256 * (u32)whole + i) % RING];
    }
    static __device__ double uniform64(u32 x) { return ((double)x + 1) * 0x1p-32; }
    static __device__ float uniform32(u32 x) { return uniform(x); }
};

// --- what is made of a word -----------------------------------------------------------------------------------------------

#define GENERATOR(G, name, PARAMS, ...)                                                                                       \
    KERNEL name##_u32(PARAMS, u32 *out) {                                                                                     \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = x; });                                                               \
    }                                                                                                                         \
    KERNEL name##_f32(PARAMS, float *out) {                                                                                   \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = G::uniform32(x); });                                                 \
    }                                                                                                                         \
    KERNEL name##_f64(PARAMS, double *out) {                                                                                  \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = G::uniform64(x); });                                                 \
    }                                                                                                                         \
    KERNEL name##_normal32(PARAMS, float *out, float mean, float deviation, u32 log) {                                        \
        Scale<float> s = {mean, deviation, log};                                                                              \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = s.of(__nv_normcdfinvf(G::uniform32(x))); });                         \
    }                                                                                                                         \
    KERNEL name##_normal64(PARAMS, double *out, double mean, double deviation, u32 log) {                                     \
        Scale<double> s = {mean, deviation, log};                                                                             \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = s.of(__nv_normcdfinv(narrow(x))); });                                \
    }                                                                                                                         \
    KERNEL name##_cells(PARAMS, u32 *out, const double *bound, const u32 *other, u32 shift, u32 cells) {                      \
        Histogram h = {bound, other, shift, cells};                                                                           \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = h.of(G::uniform64(x)); });                                           \
    }                                                                                                                         \
    KERNEL name##_quantile(PARAMS, u32 *out, const double *sum, u32 shift, u32 cells) {                                       \
        Quantiles q = {sum, shift, cells};                                                                                    \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = q.of(G::uniform64(x)); });                                           \
    }                                                                                                                         \
    KERNEL name##_rounded(PARAMS, u32 *out, double lambda, double root) {                                                     \
        G{__VA_ARGS__}.each([=](u64 i, u32 x) { out[i] = rounded(__nv_normcdfinvf(G::uniform32(x)), lambda, root); });        \
    }
#define OF_ALL u32 *states, u64 first, u64 n
#define OF_BLOCKS u32 *states, const Set *sets, u64 first, u64 n
GENERATOR(Twister, mt, OF_ALL, states, first, n)
GENERATOR(Mtgp, mtgp, OF_BLOCKS, states, sets, first, n)
