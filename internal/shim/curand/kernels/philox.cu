// Philox4x32-10: blocks of four words, each a function of a counter and of the thread it is dealt to.
#include "device.h"

struct Block {
    u32 w[4];
};

__device__ inline Block block(u32 c0, u32 c2, u64 seed) {
    u32 c[4] = {c0, 0, c2, 0}, k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
    for (int r = 0; r < 10; r++) {
        u64 a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
        u32 n0 = (u32)(b >> 32) ^ c[1] ^ k0, n2 = (u32)(a >> 32) ^ c[3] ^ k1;
        c[0] = n0, c[1] = (u32)b, c[2] = n2, c[3] = (u32)a;
        k0 += 0x9e3779b9, k1 += 0xbb67ae85;
    }
    return {{c[0], c[1], c[2], c[3]}};
}

// The numbers are dealt out to this many threads, four at a time. Each has a counter, which stays when a call ends.
#define DEALT 65536u

// philox_start sets the counters to where the four at first begin, with one block for each four before.
KERNEL philox_start(u32 *counters, u64 first) {
    u32 t = THREAD;
    counters[t] = (u32)(first / DEALT) + (t < first % DEALT);
}

// Four numbers that are written at once.
template <class T> struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) Four {
    T v[4];
};

// each makes the fours that the n numbers from offset on lie in, and hands out those of the call. A four takes blocks blocks; one that
// is not used up is made again by the next call. While all fours of a thread block are whole and aligned, its threads need no masks.
template <class T, class F> __device__ inline void each(u32 *counters, u64 offset, u64 n, u32 blocks, T *out, F four) {
    u64 first = offset / 4, end = offset + n, last = (end + 3) / 4, whole = offset % 4 ? 0 : end / 4;
    u64 begin = first + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x(), q = begin + __nvvm_read_ptx_sreg_tid_x();
    u32 t = (u32)(q % DEALT), c = counters[t];
    if ((u64)out % 16 == 0)
        for (; begin + __nvvm_read_ptx_sreg_ntid_x() <= whole; begin += DEALT, q += DEALT, c += blocks) {
            Four<T> x;
            four(c, t, x.v);
            *(Four<T> *)(out + 4 * (q - first)) = x;
        }
    for (; q < last; q += DEALT) {
        T v[4];
        four(c, t, v);
        u64 i = 4 * q - offset; // below 0 where a four is begun before the call
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (4 * q + k >= offset && 4 * q + k < end)
                out[i + k] = v[k];
        if (4 * q + 4 <= end)
            c += blocks;
    }
    counters[t] = c;
}

// Doubles take two blocks for four numbers.
__device__ inline void doubles(u32 c, u32 t, u64 seed, double *v) {
    Block x = block(c, t, seed), y = block(c + 1, t, seed);
    v[0] = uniform(x.w[0], x.w[1]), v[1] = uniform(x.w[2], x.w[3]);
    v[2] = uniform(y.w[0], y.w[1]), v[3] = uniform(y.w[2], y.w[3]);
}

#define SEQUENCE u32 *counters, u64 seed, u64 offset, u64 n

KERNEL philox_u32(SEQUENCE, u32 *out) {
    each(counters, offset, n, 1, out, [=](u32 c, u32 t, u32 *v) {
        Block b = block(c, t, seed);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = b.w[k];
    });
}
KERNEL philox_f32(SEQUENCE, float *out) {
    each(counters, offset, n, 1, out, [=](u32 c, u32 t, float *v) {
        Block b = block(c, t, seed);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = uniform(b.w[k]);
    });
}
KERNEL philox_f64(SEQUENCE, double *out) {
    each(counters, offset, n, 2, out, [=](u32 c, u32 t, double *v) { doubles(c, t, seed, v); });
}
KERNEL philox_normal32(SEQUENCE, float *out, float mean, float deviation, u32 log) {
    Scale<float> s = {mean, deviation, log};
    each(counters, offset, n, 1, out, [=](u32 c, u32 t, float *v) {
        Block b = block(c, t, seed);
        Pair<float> x = normals(uniform(b.w[0]), turned(b.w[1])), y = normals(uniform(b.w[2]), turned(b.w[3]));
        v[0] = s.of(x.a), v[1] = s.of(x.b), v[2] = s.of(y.a), v[3] = s.of(y.b);
    });
}
KERNEL philox_normal64(SEQUENCE, double *out, double mean, double deviation, u32 log) {
    Scale<double> s = {mean, deviation, log};
    each(counters, offset, n, 2, out, [=](u32 c, u32 t, double *v) {
        double u[4];
        doubles(c, t, seed, u);
        Pair<double> x = normals(u[0], u[1]), y = normals(u[2], u[3]);
        v[0] = s.of(x.a), v[1] = s.of(x.b), v[2] = s.of(y.a), v[3] = s.of(y.b);
    });
}
KERNEL philox_cells(SEQUENCE, u32 *out, const double *bound, const u32 *other, u32 shift, u32 cells) {
    Histogram h = {bound, other, shift, cells};
    each(counters, offset, n, 1, out, [=](u32 c, u32 t, u32 *v) {
        Block b = block(c, t, seed);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = h.of(narrow(b.w[k]));
    });
}
KERNEL philox_rounded(SEQUENCE, u32 *out, double lambda, double root) {
    each(counters, offset, n, 1, out, [=](u32 c, u32 t, u32 *v) {
        Block b = block(c, t, seed);
        Pair<float> x = normals(uniform(b.w[0]), turned(b.w[1])), y = normals(uniform(b.w[2]), turned(b.w[3]));
        v[0] = rounded(x.a, lambda, root), v[1] = rounded(x.b, lambda, root);
        v[2] = rounded(y.a, lambda, root), v[3] = rounded(y.b, lambda, root);
    });
}
