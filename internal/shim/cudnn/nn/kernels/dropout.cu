// Dropout: elements are kept by random numbers of Philox, whose key and place are in device memory, so that a captured graph goes on
// where the last run ended.
#include "layer.h"

struct State {
    u64 seed, place;
};

KERNEL dropoutSeed(State *s, u64 seed) {
    if (LANE == 0) {
        s->seed = seed;
        s->place = 0;
    }
}

KERNEL dropoutAdvance(State *s, u64 count) {
    if (LANE == 0)
        s->place += count;
}

// philox is one word of Philox 4x32-10 with the counter n/4.
__device__ inline u32 philox(u64 seed, u64 n) {
    u64 q = n / 4;
    u32 c[4] = {(u32)q, (u32)(q >> 32), 0, 0}, k0 = (u32)seed, k1 = (u32)(seed >> 32);
    for (int i = 0; i < 10; i++) {
        u64 a = (u64)c[0] * 0xD2511F53u, b = (u64)c[2] * 0xCD9E8D57u;
        u32 n0 = (u32)(b >> 32) ^ c[1] ^ k0, n2 = (u32)(a >> 32) ^ c[3] ^ k1;
        c[0] = n0;
        c[1] = (u32)b;
        c[2] = n2;
        c[3] = (u32)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    u32 r = n & 3;
    return r == 0 ? c[0] : r == 1 ? c[1] : r == 2 ? c[2] : c[3];
}

// bound: words below it drop their element. A bound of 2^32 drops all.
KERNEL dropoutForward(Sizes s, Strided x, Strided y, u32 xType, u32 yType, u64 count, const State *state, u32 *mask, u64 bound, double scale) {
    const Strided *t[2] = {&x, &y};
    for (u64 base = (u64)BLOCK_X * 32; base < count; base += STEP) {
        u64 i = base + LANE;
        bool keep = i < count && philox(state->seed, state->place + i) >= bound;
        u32 word = __nvvm_vote_ballot_sync(~0u, keep);
        if (LANE == 0)
            mask[base / 32] = word;
        if (i < count) {
            s64 off[2];
            place<2>(s, i, t, off);
            storeAny(y.at, off[1], yType, keep ? loadAny(x.at, off[0], xType) * scale : 0);
        }
    }
}

KERNEL dropoutBackward(Sizes s, Strided dy, Strided dx, u32 dyType, u32 dxType, u64 count, const u32 *mask, double scale) {
    const Strided *t[2] = {&dy, &dx};
    for (u64 i = FIRST; i < count; i += STEP) {
        s64 off[2];
        place<2>(s, i, t, off);
        storeAny(dx.at, off[1], dxType, mask[i / 32] >> (i % 32) & 1 ? loadAny(dy.at, off[0], dyType) * scale : 0);
    }
}
