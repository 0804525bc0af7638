// Attention: O = dropout(softmax(mask(scale Q K' + bias))) V and its gradients. The products are those of cuBLAS, for some rows of the
// scores at a time; here are the rows between them. Q, K, V and what else has rows of heads is copied into f32 without gaps first, as
// sequences of different lengths may lie packed, where only the device knows.
#include "tensor.h"

// Heads is a tensor of [batch, heads, positions, elements]. ragged: where the sequences of the batch begin, in elements.
struct Heads {
    u64 at, ragged;
    s64 stride[4];
    u32 wide, unused; // ragged has 64 bits
};

INLINE s64 begin(const Heads &t, u32 b) {
    if (!t.ragged)
        return b * t.stride[0];
    return t.wide ? ((const s64 *)t.ragged)[b] : (s64)((const int *)t.ragged)[b];
}

INLINE u32 length(u64 lengths, u32 b, u32 n) {
    if (!lengths)
        return n;
    int l = ((const int *)lengths)[b];
    return l < 0 ? 0 : (u32)l < n ? (u32)l : n;
}

struct HeadSizes {
    u32 heads, rows, elements, first; // first: the batch entry and head the copy begins with
    u64 lengths;
};

// take copies heads to f32, zero past the end of a sequence; a warp a row.
template <class T> INLINE void take(const Heads &t, const HeadSizes &s, float *to, u32 count) {
    for (u32 i = BLOCK_X; i < count * s.rows; i += BLOCKS_X) {
        u32 row = i % s.rows, h = s.first + i / s.rows, b = h / s.heads;
        bool inside = row < length(s.lengths, b, s.rows);
        const T *p = (const T *)t.at + begin(t, b) + h % s.heads * t.stride[1] + row * t.stride[2];
        float *q = to + (s64)i * s.elements;
        if (t.stride[3] == 1) {
            for (u32 d = LANE; d < s.elements; d += 32)
                q[d] = inside ? load(p + d) : 0;
        } else
            for (u32 d = LANE; d < s.elements; d += 32)
                q[d] = inside ? load(p + d * t.stride[3]) : 0;
    }
}

// give copies heads back. Rows past the end of a sequence become zero, or where sequences are packed are not there.
template <class T> INLINE void give(const Heads &t, const HeadSizes &s, const float *from, u32 count) {
    for (u32 i = BLOCK_X; i < count * s.rows; i += BLOCKS_X) {
        u32 row = i % s.rows, h = s.first + i / s.rows, b = h / s.heads;
        bool inside = row < length(s.lengths, b, s.rows);
        if (!inside && t.ragged)
            continue;
        T *p = (T *)t.at + begin(t, b) + h % s.heads * t.stride[1] + row * t.stride[2];
        const float *q = from + (s64)i * s.elements;
        for (u32 d = LANE; d < s.elements; d += 32)
            store(p + d * t.stride[3], inside ? q[d] : 0);
    }
}

#define MOVE(name, T)                                                                                                          \
    KERNEL take_##name(Heads t, HeadSizes s, u64 to, u32 count) { take<T>(t, s, (float *)to, count); }                         \
    KERNEL give_##name(Heads t, HeadSizes s, u64 from, u32 count) { give<T>(t, s, (const float *)from, count); }
MOVE(f32, float)
MOVE(f16, f16)
MOVE(bf16, bf16)

// Scores are rows of the product: which heads and queries they are, and what is done to them.
struct Scores {
    u64 scores, other; // rows of keys, wide of them from key start; backward other has the gradients of what follows
    u32 batch, heads, queries, keys;
    u32 group;             // query heads of one head of keys
    u32 first, from, rows; // of the heads of keys the first; of the rows of a head (head of the group, query) the first, and how many
    u32 start, wide;
    u64 lengthsQ, lengthsK;
    double scale;
    int left, right; // of the diagonal, keys that are seen; what is past the ends is not
    u32 banded;      // 1: left counts, 2: right counts, 4: the diagonal ends in the last corner
    u32 alibi;
    Heads bias; // strides of batch, head, query, key
    u32 biasType, statsType;
    Heads stats, delta; // f32 where it is there
    u64 seed, offset; // device addresses of 64 bits, or with plain the numbers
    u32 plain, dropout;
    double keep;      // probability
    Heads mask, dump; // a mask that is given; where to tell the one that was made
    u32 maskType, dumpType;
};

struct Place {
    u32 b, h, i, lengthK;
    bool inside;
    int low, high; // keys that are seen: low <= j < high
    float slope;
    s64 row; // number of the row, for random numbers
};

INLINE Place placeOf(const Scores &s, u32 r) {
    Place p;
    u32 kv = s.first + r / s.rows, row = s.from + r % s.rows, headsK = s.heads / s.group;
    p.b = kv / headsK;
    p.h = kv % headsK * s.group + row / s.queries;
    p.i = row % s.queries;
    u32 lengthQ = length(s.lengthsQ, p.b, s.queries);
    p.lengthK = length(s.lengthsK, p.b, s.keys);
    p.inside = p.i < lengthQ;
    int diagonal = (int)p.i + (s.banded & 4 ? (int)p.lengthK - (int)lengthQ : 0);
    p.low = 0;
    p.high = (int)p.lengthK;
    if (s.banded & 1 && diagonal - s.left + 1 > 0)
        p.low = diagonal - s.left + 1;
    if (s.banded & 2 && diagonal + s.right + 1 < p.high)
        p.high = diagonal + s.right + 1;
    if (!p.inside || p.high < p.low)
        p.high = p.low;
    p.slope = 0;
    if (s.alibi) { // slopes 2^(-8 k / n) for the largest power of two n, then every other one of twice as many
        u32 n = 1;
        while (n * 2 <= s.heads)
            n *= 2;
        float e = p.h < n ? -8.0f * (float)(p.h + 1) / (float)n : -8.0f * (float)(2 * (p.h - n) + 1) / (float)(2 * n);
        p.slope = __nvvm_ex2_approx_f(e);
    }
    p.row = ((s64)p.b * s.heads + p.h) * s.queries + p.i;
    return p;
}

// rowOf is a row of scores, to be indexed by key.
INLINE float *rowOf(u64 scores, const Scores &s, u32 r) { return (float *)scores + (s64)r * s.wide - s.start; }

INLINE s64 at(const Heads &t, const Place &p) { return begin(t, p.b) + p.h * t.stride[1] + p.i * t.stride[2]; }

// score is what the softmax is of.
INLINE float score(const Scores &s, const Place &p, float v, int j, s64 bias) {
    v *= (float)s.scale;
    if (s.bias.at)
        v += (float)loadAny(s.bias.at, bias + j * s.bias.stride[3], s.biasType);
    if (s.alibi)
        v += p.slope * (float)(j - (int)p.i);
    return v;
}

// random is word i of Philox 4x32-10 with a key.
INLINE u32 random(u64 key, u64 offset, u64 i) {
    u64 n = offset + (i >> 2);
    u32 c0 = (u32)n, c1 = (u32)(n >> 32), c2 = 0, c3 = 0, k0 = (u32)key, k1 = (u32)(key >> 32);
#pragma unroll 1
    for (int round = 0; round < 10; round++) {
        u64 a = (u64)0xD2511F53u * c0, b = (u64)0xCD9E8D57u * c2;
        u32 n0 = (u32)(b >> 32) ^ c1 ^ k0, n2 = (u32)(a >> 32) ^ c3 ^ k1;
        c1 = (u32)b;
        c3 = (u32)a;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    u32 w = i & 3;
    return w == 0 ? c0 : w == 1 ? c1 : w == 2 ? c2 : c3;
}

struct Dropper {
    u64 seed, offset;
    s64 mask, dump;
    float scale;
};

INLINE Dropper dropperOf(const Scores &s, const Place &p) {
    Dropper d = {};
    d.scale = 1;
    if (s.dropout == 0)
        return d;
    d.scale = (float)(1 / s.keep);
    if (s.mask.at)
        d.mask = at(s.mask, p);
    if (s.dump.at)
        d.dump = at(s.dump, p);
    d.seed = s.plain ? s.seed : *(const u64 *)s.seed;
    d.offset = s.plain ? s.offset : *(const u64 *)s.offset;
    return d;
}

// kept is what a probability is multiplied by.
INLINE float kept(const Scores &s, const Dropper &d, const Place &p, int j) {
    if (s.dropout == 0)
        return 1;
    if (s.mask.at)
        return loadAny(s.mask.at, d.mask + j * s.mask.stride[3], s.maskType) != 0 ? d.scale : 0;
    u32 v = random(d.seed, d.offset, (u64)p.row * s.keys + j);
    return (float)(v >> 8) * 0x1p-24f < (float)s.keep ? d.scale : 0;
}

#define LOG2E 1.44269504088896340736f

// softmax makes probabilities of rows of scores; a warp a row.
KERNEL softmax(Scores s, u32 count) {
    for (u32 r = BLOCK_X; r < count; r += BLOCKS_X) {
        Place p = placeOf(s, r);
        float *row = rowOf(s.scores, s, r);
        s64 bias = s.bias.at ? at(s.bias, p) : 0;
        float most = bitsToFloat(0xff800000);
        for (int j = p.low + (int)LANE; j < p.high; j += 32) {
            float v = score(s, p, row[j], j, bias);
            row[j] = v;
            most = v > most || v != v ? v : most;
        }
        most = warpMax(most);
        float floor = most == bitsToFloat(0xff800000) ? 0 : most, sum = 0;
        for (int j = p.low + (int)LANE; j < p.high; j += 32) {
            float v = __nvvm_ex2_approx_f((row[j] - floor) * LOG2E);
            row[j] = v;
            sum += v;
        }
        sum = warpSum(sum);
        float by = sum == 0 ? 0 : 1 / sum;
        Dropper d = dropperOf(s, p);
        for (int j = (int)(s.start + LANE); j < (int)(s.start + s.wide); j += 32) {
            float v = 0;
            if (j >= p.low && j < p.high)
                v = row[j] * by * kept(s, d, p, j);
            row[j] = v;
            if (s.dump.at && p.inside)
                storeAny(s.dump.at, d.dump + j * s.dump.stride[3], s.dumpType, kept(s, d, p, j) != 0);
        }
        if (s.stats.at && LANE == 0 && (p.inside || !s.stats.ragged)) // log 2 of the sum, as a natural logarithm
            storeAny(s.stats.at, at(s.stats, p), s.statsType, (double)floor + (sum == 0 ? -__builtin_inf() : (double)__nvvm_lg2_approx_f(sum) * 0.693147180559945309417));
        SYNC;
    }
}

// softmaxBack makes of rows of scores the probabilities that V was multiplied with, and of rows of their gradients those of the scores,
// before scaling.
KERNEL softmaxBack(Scores s, u32 count) {
    for (u32 r = BLOCK_X; r < count; r += BLOCKS_X) {
        Place p = placeOf(s, r);
        float *row = rowOf(s.scores, s, r), *grad = rowOf(s.other, s, r);
        s64 bias = s.bias.at ? at(s.bias, p) : 0;
        float stat = p.inside ? (float)loadAny(s.stats.at, at(s.stats, p), s.statsType) : 0;
        Dropper d = dropperOf(s, p);
        if (s.delta.at) {
            float delta = p.inside ? ((const float *)s.delta.at)[at(s.delta, p)] : 0;
            for (int j = (int)(s.start + LANE); j < (int)(s.start + s.wide); j += 32) {
                float v = 0, k = 0, g = 0;
                if (j >= p.low && j < p.high) {
                    k = kept(s, d, p, j);
                    v = __nvvm_ex2_approx_f((score(s, p, row[j], j, bias) - stat) * LOG2E);
                    g = v * (grad[j] * k - delta);
                }
                row[j] = v * k;
                grad[j] = g;
            }
            SYNC;
            continue;
        }
        float delta = 0;
        for (int j = (int)(s.start + LANE); j < (int)(s.start + s.wide); j += 32) {
            float v = 0, k = 0, g = 0;
            if (j >= p.low && j < p.high) {
                k = kept(s, d, p, j);
                v = __nvvm_ex2_approx_f((score(s, p, row[j], j, bias) - stat) * LOG2E);
                g = grad[j] * k;
            }
            delta += v * g;
            row[j] = v;
            grad[j] = g;
        }
        delta = warpSum(delta);
        for (int j = (int)(s.start + LANE); j < (int)(s.start + s.wide); j += 32) {
            float v = row[j];
            grad[j] = v * (grad[j] - delta);
            if (s.dropout)
                row[j] = j >= p.low && j < p.high ? v * kept(s, d, p, j) : 0;
        }
        SYNC;
    }
}

// biasBack adds the gradients of some rows of scores to those of the bias, which is the same for several heads: `to` is f32, [batch,
// heads, queries, keys] with sides of 1 where it is the same. Every element of it is one lane's, so that the order never changes.
KERNEL biasBack(Scores s, u32 count, u64 to, u32 batch, u32 heads, u32 queries) {
    u32 heights = batch * heads * queries, headsK = s.heads / s.group;
    for (u32 t = BLOCK_X; t < heights; t += BLOCKS_X) {
        u32 i = t % queries, h = t / queries % heads, b = t / queries / heads;
        float *out = (float *)to + (s64)t * s.keys;
        for (u32 kv = 0; kv < count / s.rows; kv++)
            for (u32 g = 0; g < s.group; g++) {
                u32 at = s.first + kv;
                if ((batch > 1 && at / headsK != b) || (heads > 1 && at % headsK * s.group + g != h))
                    continue;
                u32 low = queries > 1 ? i : 0, high = queries > 1 ? i + 1 : s.queries;
                for (u32 q = g * s.queries + low; q < g * s.queries + high; q++) {
                    if (q < s.from || q >= s.from + s.rows)
                        continue;
                    const float *grad = rowOf(s.other, s, kv * s.rows + q - s.from);
                    for (u32 j = s.start + LANE; j < s.start + s.wide; j += 32)
                        out[j] += grad[j];
                }
            }
        SYNC;
    }
}
