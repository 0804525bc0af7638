// XORWOW and MRG32k3a: many streams of numbers, far apart in one sequence. Number i of a call comes from stream (first + i) mod
// streams. The states lie in memory one word after another, each for all streams, and are left where the call ended.
#include "device.h"

// --- XORWOW ---------------------------------------------------------------------------------------------------------------

struct Xorwow {
    static const int words = 6;
    u32 v[5], d;
    typedef u32 Raw;
    __device__ u32 next() {
        u32 t = v[0] ^ v[0] >> 2;
        v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
        v[4] = (v[4] ^ v[4] << 4) ^ (t ^ t << 1);
        d += 362437;
        return v[4] + d;
    }
    __device__ void load(const u32 *s, u32 n, u32 t) {
#pragma unroll
        for (int k = 0; k < 5; k++)
            v[k] = s[k * n + t];
        d = s[5 * n + t];
    }
    __device__ void store(u32 *s, u32 n, u32 t) const {
#pragma unroll
        for (int k = 0; k < 5; k++)
            s[k * n + t] = v[k];
        s[5 * n + t] = d;
    }
    __device__ u32 word() { return next(); }
    __device__ float uniform32() { return uniform(next()); }
    __device__ double uniform64() {
        u32 x = next(), y = next();
        return uniform(x, y);
    }
    __device__ double cell() { return narrow(next()); }
    __device__ Pair<float> normal32() {
        u32 x = next(), y = next();
        return normals(uniform(x), turned(y));
    }
    __device__ Pair<double> normal64() {
        double u = uniform64(), v = uniform64();
        return normals(u, v);
    }
};

// --- MRG32k3a -------------------------------------------------------------------------------------------------------------

#define M1 4294967087ull
#define M2 4294944443ull

// Remainders by 2^32 - 209 and 2^32 - 22853 of numbers below 2^60, without a division.
__device__ inline u64 mod1(u64 x) {
    x = (x & 0xffffffff) + (x >> 32) * 209;
    x = (x & 0xffffffff) + (x >> 32) * 209;
    return x >= M1 ? x - M1 : x;
}
__device__ inline u64 mod2(u64 x) {
    x = (x & 0xffffffff) + (x >> 32) * 22853;
    x = (x & 0xffffffff) + (x >> 32) * 22853;
    x = (x & 0xffffffff) + (x >> 32) * 22853;
    return x >= M2 ? x - M2 : x;
}

struct Mrg {
    static const int words = 6;
    u32 a[3], b[3];
    __device__ double next() {
        u64 p = mod1(1403580ull * a[1] + 810728ull * (M1 - a[0]));
        u64 q = mod2(527612ull * b[2] + 1370589ull * (M2 - b[0]));
        a[0] = a[1], a[1] = a[2], a[2] = (u32)p;
        b[0] = b[1], b[1] = b[2], b[2] = (u32)q;
        return (double)(p > q ? p - q : p + M1 - q);
    }
    __device__ void load(const u32 *s, u32 n, u32 t) {
#pragma unroll
        for (int k = 0; k < 3; k++)
            a[k] = s[k * n + t], b[k] = s[(3 + k) * n + t];
    }
    __device__ void store(u32 *s, u32 n, u32 t) const {
#pragma unroll
        for (int k = 0; k < 3; k++)
            s[k * n + t] = a[k], s[(3 + k) * n + t] = b[k];
    }
    __device__ u32 word() { return (u32)(u64)(next() * 1.000000048662); }
    __device__ float uniform32() { return (float)uniform64(); }
    __device__ double uniform64() { return next() * (1.0 / 4294967087.0); }
    __device__ double cell() { return uniform64(); }
    __device__ Pair<float> normal32() {
        float u = uniform32(), v = uniform32();
        return normals(u, __nvvm_mul_rn_f(v, 6.2831855f));
    }
    __device__ Pair<double> normal64() {
        double u = uniform64(), v = uniform64();
        return normals(u, v);
    }
};

// --- what is made of them -------------------------------------------------------------------------------------------------

// The rounds after which the threads of a block wait for each other. What they write in a round lies together, and rounds are pages
// apart: a thread that ran ahead would have each page looked up again for the few bytes of a warp.
#define ROUNDS 32

// each walks the streams: those before first have given one number more than the others, unless extra says that they have not yet.
template <class G, class F> __device__ inline void each(u32 *states, u32 streams, u32 first, u32 extra, u64 n, F put) {
    u64 i = THREAD;
    u32 t = (u32)i + first; // who gives number i
    if (t >= streams)
        t -= streams;
    bool one = i < streams;
    G g;
    if (one)
        g.load(states, streams, t);
    if (one && t < first)
        for (u32 k = 0; k < extra; k++)
            g.next();
    u64 whole = streams % __nvvm_read_ptx_sreg_ntid_x() ? 0 : n / streams;
    for (u64 r = 0; r < whole;) {
        for (u64 to = r + ROUNDS < whole ? r + ROUNDS : whole; r < to; r++, i += streams)
            put(i, g);
        __syncthreads();
    }
    if (one)
        for (; i < n; i += streams)
            put(i, g);
    if (one)
        g.store(states, streams, t);
}

#define STREAM u32 *states, u32 streams, u32 first, u32 extra, u64 n
#define GENERATOR(G, name)                                                                                                    \
    KERNEL name##_u32(STREAM, u32 *out) {                                                                                     \
        each<G>(states, streams, first, extra, n, [=](u64 i, G &g) { out[i] = g.word(); });                                   \
    }                                                                                                                         \
    KERNEL name##_f32(STREAM, float *out) {                                                                                   \
        each<G>(states, streams, first, extra, n, [=](u64 i, G &g) { out[i] = g.uniform32(); });                              \
    }                                                                                                                         \
    KERNEL name##_f64(STREAM, double *out) {                                                                                  \
        each<G>(states, streams, first, extra, n, [=](u64 i, G &g) { out[i] = g.uniform64(); });                              \
    }                                                                                                                         \
    KERNEL name##_normal32(STREAM, float *out, float mean, float deviation, u32 log) {                                        \
        Scale<float> s = {mean, deviation, log};                                                                              \
        each<G>(states, streams, first, extra, n, [=](u64 i, G &g) {                                                          \
            Pair<float> z = g.normal32();                                                                                     \
            out[2 * i] = s.of(z.a), out[2 * i + 1] = s.of(z.b);                                                               \
        });                                                                                                                   \
    }                                                                                                                         \
    KERNEL name##_normal64(STREAM, double *out, double mean, double deviation, u32 log) {                                     \
        Scale<double> s = {mean, deviation, log};                                                                             \
        each<G>(states, streams, first, extra, n, [=](u64 i, G &g) {                                                          \
            Pair<double> z = g.normal64();                                                                                    \
            out[2 * i] = s.of(z.a), out[2 * i + 1] = s.of(z.b);                                                               \
        });                                                                                                                   \
    }                                                                                                                         \
    KERNEL name##_cells(STREAM, u32 *out, const double *bound, const u32 *other, u32 shift, u32 cells) {                      \
        Histogram h = {bound, other, shift, cells};                                                                           \
        each<G>(states, streams, first, extra, n, [=](u64 i, G &g) { out[i] = h.of(g.cell()); });                             \
    }                                                                                                                         \
    KERNEL name##_rounded(STREAM, u32 *out, double lambda, double root) {                                                     \
        each<G>(states, streams, first, extra, n, [=](u64 i, G &g) { out[i] = rounded(g.normal32().a, lambda, root); });      \
    }
GENERATOR(Xorwow, xorwow)
GENERATOR(Mrg, mrg)

// --- where streams begin --------------------------------------------------------------------------------------------------

// xorwow_seed starts every stream at the beginning of the sequence of a seed, or at that of a seed of its own.
KERNEL xorwow_seed(u32 *states, u32 streams, u64 seed, u64 step) {
    u32 t = THREAD;
    if (t >= streams)
        return;
    u64 s = seed + t * step;
    u32 t0 = 1099087573u * ((u32)s ^ 0xaad26b49), t1 = 2591861531u * ((u32)(s >> 32) ^ 0xf7dcefdd);
    Xorwow g;
    g.d = 6615241 + t0 + t1;
    g.v[0] = 123456789 + t0, g.v[1] = 362436069 ^ t0, g.v[2] = 521288629 + t1, g.v[3] = 88675123 ^ t1, g.v[4] = 5783321 + t0;
    g.store(states, streams, t);
}

// xorwow_jump multiplies the states of the streams whose number has a bit of mask, or of all with mask 0, by a matrix over GF(2).
struct Matrix {
    u32 row[160][5];
};
KERNEL xorwow_jump(u32 *states, u32 streams, u32 mask, u32 add, Matrix m) {
    u32 t = THREAD;
    if (t >= streams || (mask && !(t & mask)))
        return;
    Xorwow g;
    g.load(states, streams, t);
    u32 r[5] = {0, 0, 0, 0, 0};
#pragma unroll
    for (int w = 0; w < 5; w++)
        for (int b = 0; b < 32; b++) {
            u32 on = -(g.v[w] >> b & 1);
#pragma unroll
            for (int k = 0; k < 5; k++)
                r[k] ^= m.row[32 * w + b][k] & on;
        }
#pragma unroll
    for (int k = 0; k < 5; k++)
        g.v[k] = r[k];
    g.d += add;
    g.store(states, streams, t);
}

KERNEL mrg_seed(u32 *states, u32 streams, u64 seed) {
    u32 t = THREAD;
    if (t >= streams)
        return;
    Mrg g;
    u64 x = (u32)seed ^ 0x55555555, y = (u32)(seed >> 32) ^ 0xaaaaaaaa;
    u32 p = seed ? (u32)(x * 12345 % M1) : 12345, q = seed ? (u32)(y * 12345 % M1) : 12345;
    u32 r = seed ? (u32)(y * 12345 % M2) : 12345, s = seed ? (u32)(x * 12345 % M2) : 12345;
    g.a[0] = p, g.a[1] = q, g.a[2] = p, g.b[0] = r, g.b[1] = s, g.b[2] = r;
    g.store(states, streams, t);
}

struct Matrices {
    u32 a[9], b[9];
};
KERNEL mrg_jump(u32 *states, u32 streams, u32 mask, Matrices m) {
    u32 t = THREAD;
    if (t >= streams || (mask && !(t & mask)))
        return;
    Mrg g, r;
    g.load(states, streams, t);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        u64 p = 0, q = 0;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            p += (u64)m.a[3 * i + k] * g.a[k] % M1;
            q += (u64)m.b[3 * i + k] * g.b[k] % M2;
        }
        r.a[i] = (u32)(p % M1), r.b[i] = (u32)(q % M2);
    }
    r.store(states, streams, t);
}
