// Matrices of which two in four numbers are zeros, of 32-bit ones one in two: pruning them, checking that, the two forms in memory, and
// what happens to a product's sums. A matrix is lines of numbers along which sums go; a group is four of a line, or two.
#include "../../cublas/kernels/device.h"

#define INDEX ((s64)BLOCK_X * THREADS_X + LANE)
#define TOTAL ((s64)BLOCKS_X * THREADS_X)

enum { TYPE_E4M3 = 8, TYPE_E5M2 };

// Lines is a matrix: number k of line i is i * line + k * step elements behind base, and batches are apart elements apart.
struct Lines {
    u64 base;
    s64 lines, length, line, step, batches, apart;
    u32 type, size;
};

__device__ inline float bits(u32 u) {
    union {
        u32 u;
        float f;
    } x = {u};
    return x.f;
}

// narrow8 is the value of an 8-bit float, of which mantissa bits are m.
__device__ inline float narrow8(u8 v, int m) {
    u32 sign = (u32)(v & 0x80) << 24, rest = v & 0x7f;
    if (m == 3 && rest == 0x7f) return bits(0x7fffffff);
    if (m == 2 && rest >= 0x7c) return bits(rest == 0x7c ? sign | 0x7f800000 : 0x7fffffff);
    // As an f32 whose exponent is too small, which a product with a power of two mends, denormal ones too.
    return bits(sign | rest << (23 - m)) * (m == 3 ? 0x1p120f : 0x1p112f);
}

__device__ inline float value(u64 base, u32 type, s64 i) {
    switch (type) {
    case TYPE_F32: return ((const float *)base)[i];
    case TYPE_F16: return load((const f16 *)base + i);
    case TYPE_BF16: return load((const bf16 *)base + i);
    case TYPE_S8: return ((const s8 *)base)[i];
    case TYPE_S32: return (float)((const int *)base)[i];
    case TYPE_E4M3: return narrow8(((const u8 *)base)[i], 3);
    case TYPE_E5M2: return narrow8(((const u8 *)base)[i], 2);
    }
    return 0;
}

__device__ inline u32 raw(u64 base, u32 size, s64 i) {
    return size == 1 ? ((const u8 *)base)[i] : size == 2 ? ((const u16 *)base)[i] : ((const u32 *)base)[i];
}
__device__ inline void put(u64 base, u32 size, s64 i, u32 v) {
    if (size == 1) ((u8 *)base)[i] = (u8)v;
    else if (size == 2) ((u16 *)base)[i] = (u16)v;
    else ((u32 *)base)[i] = v;
}
__device__ inline u32 width(const Lines &a) { return a.size == 4 ? 2 : 4; }

// best keeps the larger half of each group, of equal ones the first.
__device__ inline u32 best(const float *v, u32 n) {
    u32 keep = 0;
    for (u32 k = 0; k < n / 2; k++) {
        u32 at = 0;
        float most = -1;
        for (u32 i = 0; i < n; i++)
            if (!(keep >> i & 1) && v[i] > most) most = v[i], at = i;
        keep |= 1u << at;
    }
    return keep;
}

KERNEL prune_strip(Lines a, u64 out) {
    u32 n = width(a);
    s64 groups = a.length / n;
    for (s64 t = INDEX; t < a.batches * a.lines * groups; t += TOTAL) {
        s64 b = t / (a.lines * groups), i = t / groups % a.lines, g = t % groups, at = b * a.apart + i * a.line + g * n * a.step;
        float v[4] = {0, 0, 0, 0};
        u32 r[4];
        for (u32 k = 0; k < n; k++) {
            r[k] = raw(a.base, a.size, at + k * a.step);
            float x = value(a.base, a.type, at + k * a.step);
            v[k] = x < 0 ? -x : x;
        }
        u32 keep = best(v, n);
        for (u32 k = 0; k < n; k++) put(out, a.size, at + k * a.step, keep >> k & 1 ? r[k] : 0);
    }
}

// prune_tile keeps half of every line and of every column of a tile as large as a group, so that the sum of what stays is the largest.
KERNEL prune_tile(Lines a, u64 out) {
    u32 n = width(a);
    s64 across = a.length / n, down = a.lines / n;
    for (s64 t = INDEX; t < a.batches * down * across; t += TOTAL) {
        s64 b = t / (down * across), i = t / across % down * n, g = t % across, at = b * a.apart + i * a.line + g * n * a.step;
        float v[16] = {};
        u32 r[16], keep = 0;
#pragma unroll
        for (u32 c = 0; c < 16; c++)
            if (c / 4 < n && c % 4 < n) {
                s64 e = at + c / 4 * a.line + c % 4 * a.step;
                r[c] = raw(a.base, a.size, e);
                float f = value(a.base, a.type, e);
                v[c] = f < 0 ? -f : f;
            }
        if (n == 2) keep = v[1] + v[4] > v[0] + v[5] ? 0x12 : 0x21;
        else {
            float most = -1;
#pragma clang loop unroll(disable)
            for (u32 c = 0; c < 216; c++) {
                const u32 pairs = 0xca6953; // four bits each: the six ways to keep two of four
                u32 x = pairs >> c % 6 * 4 & 15, y = pairs >> c / 6 % 6 * 4 & 15, z = pairs >> c / 36 * 4 & 15;
                // The last line has the columns that have one so far. None may have three, and none may have none.
                u32 last = (x ^ y ^ z) & ~(x & y & z), p = x | y << 4 | z << 8 | last << 12;
                float sum = 0;
#pragma unroll
                for (u32 k = 0; k < 16; k++) sum += p >> k & 1 ? v[k] : 0;
                if (!(x & y & z) && (x | y | z) == 15 && sum > most) most = sum, keep = p;
            }
        }
#pragma unroll
        for (u32 c = 0; c < 16; c++)
            if (c / 4 < n && c % 4 < n) put(out, a.size, at + c / 4 * a.line + c % 4 * a.step, keep >> c & 1 ? r[c] : 0);
    }
}

// prune_check writes 1 where a group has too many numbers.
KERNEL prune_check(Lines a, int *wrong) {
    u32 n = width(a);
    s64 groups = a.length / n;
    for (s64 t = INDEX; t < a.batches * a.lines * groups; t += TOTAL) {
        s64 b = t / (a.lines * groups), i = t / groups % a.lines, g = t % groups, at = b * a.apart + i * a.line + g * n * a.step;
        u32 some = 0;
        for (u32 k = 0; k < n; k++) some += value(a.base, a.type, at + k * a.step) != 0;
        if (some > n / 2) *wrong = 1;
    }
}

// compress writes the numbers of groups, line by line, and behind all of them four bits a group: where they were. A thread does two groups.
KERNEL compress(Lines a, u64 out) {
    u32 n = width(a), half = n / 2;
    s64 pairs = a.length / n / 2, numbers = a.lines * a.length / 2;
    for (s64 t = INDEX; t < a.batches * a.lines * pairs; t += TOTAL) {
        s64 b = t / (a.lines * pairs), i = t / pairs % a.lines, p = t % pairs, begin = (s64)out + b * (numbers * a.size + a.lines * pairs);
        u32 meta = 0;
        for (u32 h = 0; h < 2; h++) {
            s64 at = b * a.apart + i * a.line + (2 * p + h) * n * a.step, to = i * (a.length / 2) + (2 * p + h) * half;
            u32 kept = 0, places[2] = {0, n - 1};
            for (u32 k = 0; k < n && kept < half; k++)
                if (value(a.base, a.type, at + k * a.step) != 0) places[kept++] = k;
            if (half == 2 && kept == 1) { // the other one is a zero, anywhere else
                u32 other = places[0] == n - 1 ? 0 : n - 1;
                places[1] = other;
            }
            for (u32 k = 0; k < half; k++) {
                put(begin, a.size, to + k, raw(a.base, a.size, at + places[k] * a.step));
                meta |= places[k] << (4 * h + 2 * k);
            }
        }
        ((u8 *)begin)[numbers * a.size + i * pairs + p] = (u8)meta;
    }
}

// expand is a compressed matrix with its zeros, line by line without gaps; 8-bit floats become f16. Its base is the compressed one.
KERNEL expand(Lines a, u64 out) {
    u32 n = width(a), half = n / 2, floats = a.type >= TYPE_E4M3;
    s64 pairs = a.length / n / 2, numbers = a.lines * a.length / 2;
    for (s64 t = INDEX; t < a.batches * a.lines * pairs; t += TOTAL) {
        s64 b = t / (a.lines * pairs), i = t / pairs % a.lines, p = t % pairs;
        u64 begin = a.base + b * (numbers * a.size + a.lines * pairs);
        u32 meta = ((const u8 *)begin)[numbers * a.size + i * pairs + p];
        s64 to = (b * a.lines + i) * a.length + 2 * p * n;
        for (u32 k = 0; k < 2 * n; k++)
            if (floats) ((f16 *)out)[to + k] = 0;
            else put(out, a.size, to + k, 0);
        for (u32 h = 0; h < 2; h++)
            for (u32 k = 0; k < half; k++) {
                s64 from = i * (a.length / 2) + (2 * p + h) * half + k, at = to + h * n + (meta >> (4 * h + 2 * k) & 3);
                if (floats) ((f16 *)out)[at] = (f16)value(begin, a.type, from);
                else put(out, a.size, at, raw(begin, a.size, from));
            }
    }
}

// widen is a dense matrix of 8-bit floats as f16.
KERNEL widen(Lines a, u64 out) {
    for (s64 t = INDEX; t < a.batches * a.lines * a.length; t += TOTAL) {
        s64 b = t / (a.lines * a.length), i = t / a.length % a.lines, k = t % a.length;
        ((f16 *)out)[t] = (f16)value(a.base, a.type, b * a.apart + i * a.line + k * a.step);
    }
}

// End is what is done to the sums of a product, which lie column by column: row and column of D are x and y, or y and x if turned.
struct End {
    u64 sums, c, d, bias, alphas, betas, scales[4]; // bias, alphas, betas: one a row of D, or a column; scales of A, B, C, D; 0: none
    s64 rows, cols, batches, c_ld, d_ld, c_apart, d_apart, bias_apart;
    float alpha, beta, upper, threshold, gelu;
    u32 whole, type_c, type_d, type_bias, turned, act, columns; // whole: the sums are integers; columns: vectors have one number a column
};

// gelu in its tanh form, as cuBLASLt's.
__device__ inline float gelu(float x) {
    float u = 0.7978845608028654f * (x + 0.044715f * x * x * x);
    return x - x / (__nvvm_ex2_approx_f(u * 2.8853900817779268f) + 1.0f);
}

KERNEL finish(End e) {
    for (s64 t = INDEX; t < e.batches * e.rows * e.cols; t += TOTAL) {
        s64 b = t / (e.rows * e.cols), inside = t % (e.rows * e.cols), fast = e.turned ? e.cols : e.rows;
        s64 x = inside % fast, y = inside / fast, i = e.turned == e.columns ? x : y;
        double s = e.whole ? (double)((const int *)e.sums)[t] : (double)((const float *)e.sums)[t];
        double alpha = e.alphas ? ((const float *)e.alphas)[i] : e.alpha, beta = e.betas ? ((const float *)e.betas)[i] : e.beta;
        if (e.scales[0]) alpha *= *(const float *)e.scales[0];
        if (e.scales[1]) alpha *= *(const float *)e.scales[1];
        double v = alpha * s;
        if (beta != 0) {
            s64 at = b * e.c_apart + y * e.c_ld + x;
            double c = e.type_c == TYPE_S32 ? (double)((const int *)e.c)[at] : (double)value(e.c, e.type_c, at);
            v += beta * c * (e.scales[2] ? *(const float *)e.scales[2] : 1);
        }
        if (e.bias) v += value(e.bias, e.type_bias, b * e.bias_apart + i);
        if (e.act == 1) v = v > e.threshold ? (v < e.upper ? v : e.upper) : 0;
        if (e.act == 2) v = e.gelu * gelu((float)v);
        if (e.scales[3]) v *= *(const float *)e.scales[3];
        s64 at = b * e.d_apart + y * e.d_ld + x;
        switch (e.type_d) {
        case TYPE_F32: ((float *)e.d)[at] = (float)v; break;
        case TYPE_F16: ((f16 *)e.d)[at] = (f16)(float)v; break;
        case TYPE_BF16: store((bf16 *)e.d + at, (float)v); break;
        case TYPE_S8: v = v < -128 ? -128 : v > 127 ? 127 : v, ((s8 *)e.d)[at] = (s8)__builtin_rint(v); break;
        case TYPE_S32: v = v < -0x1p31 ? -0x1p31 : v > 0x1p31 - 1 ? 0x1p31 - 1 : v, ((int *)e.d)[at] = (int)__builtin_rint(v); break;
        }
    }
}
