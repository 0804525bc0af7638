/* What the emulator's division gets wrong, lane by lane, and the processor's rounding and flushing. machine.py loads it.
 *
 * A division is div_scale of divisor and dividend (each may be scaled by a power of two, so that neither a reciprocal nor a quotient
 * leaves the normal numbers), a reciprocal, some fused steps, div_fmas (the last step, scaled back, rounded once), and div_fixup (the
 * special values). S0 is the one to scale, S1 the divisor, S2 the dividend; csr says whether subnormal numbers count as zero. */
#include <stdint.h>
#include <string.h>

typedef __float128 quad;

uint32_t get_csr(void) { uint32_t m; __asm__ __volatile__("stmxcsr %0" : "=m"(m)); return m; }
void set_csr(uint32_t m) { __asm__ __volatile__("ldmxcsr %0" ::"m"(m)); }

#define NEAREST 0x1f80u /* to nearest, nothing flushed */

static float f32(uint32_t b) { float f; memcpy(&f, &b, 4); return f; }
static double f64(uint64_t b) { double f; memcpy(&f, &b, 8); return f; }
static uint32_t b32(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }
static uint64_t b64(double f) { uint64_t b; memcpy(&b, &f, 8); return b; }

/* The sum of a product and c to 113 bits, odd where it is not exact, so that rounding it again is rounding once. */
static quad odd_fma(quad a, quad b, quad c) {
    quad p = a * b, s = p + c, t = s - p;
    quad err = (p - (s - t)) + (c - t);
    if (s == s && s - s == 0 && err != 0) {
        unsigned __int128 w;
        memcpy(&w, &s, 16);
        if (!(w & 1)) {
            w += (err > 0) == (s > 0) ? 1 : -1;
            memcpy(&s, &w, 16);
        }
    }
    return s;
}

static quad power(int n) {
    unsigned __int128 w = (unsigned __int128)(16383 + n) << 112;
    quad q;
    memcpy(&q, &w, 16);
    return q;
}

#define DIVISION(W, U, F, FROM, TO, FRACTION, EXPONENT, NORMAL, STEP, FAR, TINY, GONE) \
    static int exponent##W(U b) { return (int)(b >> FRACTION & EXPONENT); } \
    static U read##W(U b, uint32_t csr) { return csr & 0x40 && exponent##W(b) == 0 ? b & (U)1 << (W - 1) : b; } \
    static int subnormal##W(quad q) { return q != 0 && (q < 0 ? -q : q) < power(NORMAL); } \
    uint64_t div_scale_f##W(int n, const U *s0, const U *s1, const U *s2, U *d, uint32_t csr) { \
        uint64_t vcc = 0; \
        uint32_t old = get_csr(); \
        set_csr(NEAREST); \
        for (int i = 0; i < n; i++) { \
            F a = FROM(read##W(s0[i], csr)), b = FROM(read##W(s1[i], csr)), c = FROM(read##W(s2[i], csr)); \
            int by = 0, apart = exponent##W(s2[i]) - exponent##W(s1[i]); \
            quad whole = b == 0 ? 0 : (quad)c / (quad)b, part = b == 0 ? 0 : (quad)1 / (quad)b; \
            if (b == 0 || c == 0) { \
                d[i] = (U)EXPONENT << FRACTION | (U)1 << (FRACTION - 1); \
                continue; \
            } \
            if (apart >= FAR) { /* the quotient is near the largest number: a larger divisor */ \
                vcc |= (uint64_t)1 << i; \
                by = a == b ? STEP : 0; \
            } else if (subnormal##W(b)) by = STEP; \
            else if (subnormal##W(part) && subnormal##W(whole)) { \
                vcc |= (uint64_t)1 << i; \
                by = a == b ? -STEP : 0; \
            } else if (subnormal##W(part)) by = -STEP; \
            else if (subnormal##W(whole)) { \
                vcc |= (uint64_t)1 << i; \
                by = a == c ? STEP : 0; \
            } else if (exponent##W(s2[i]) <= TINY) by = STEP; \
            d[i] = by && a == a ? TO((F)((quad)a * power(by))) : s0[i]; \
        } \
        set_csr(old); \
        return vcc; \
    } \
    void div_fmas_f##W(int n, const U *s0, const U *s1, const U *s2, U *d, uint64_t vcc, uint32_t csr) { \
        uint32_t old = get_csr(); \
        for (int i = 0; i < n; i++) { \
            set_csr(NEAREST); \
            quad s = odd_fma(FROM(read##W(s0[i], csr)), FROM(read##W(s1[i], csr)), FROM(read##W(s2[i], csr))); \
            if (vcc >> i & 1) s *= power(exponent##W(s2[i]) > EXPONENT / 2 ? STEP : -STEP); \
            set_csr(csr & ~0x8040u); \
            d[i] = TO((F)s); \
            if (csr & 0x8000 && exponent##W(d[i]) == 0) d[i] &= (U)1 << (W - 1); \
        } \
        set_csr(old); \
    } \
    void div_fixup_f##W(int n, const U *s0, const U *s1, const U *s2, U *d, uint32_t csr) { \
        const U sign = (U)1 << (W - 1), inf = (U)EXPONENT << FRACTION, quiet = (U)1 << (FRACTION - 1); \
        for (int i = 0; i < n; i++) { \
            U b = read##W(s1[i], csr) & ~sign, c = read##W(s2[i], csr) & ~sign, out = (s1[i] ^ s2[i]) & sign; \
            if (c > inf) d[i] = s2[i] | quiet; \
            else if (b > inf) d[i] = s1[i] | quiet; \
            else if ((b == 0 && c == 0) || (b == inf && c == inf)) d[i] = sign | inf | quiet; \
            else if (b == 0 || c == inf) d[i] = out | inf; \
            else if (b == inf || c == 0) d[i] = out; \
            else if (exponent##W(c) - exponent##W(b) < GONE) { \
                uint32_t away = out ? 0x2000 : 0x4000; /* rounding away from zero leaves the smallest number */ \
                d[i] = out | (U)((csr & 0x6000) == away && !(csr & 0x8000)); \
            } else if ((s0[i] & ~sign) > inf) d[i] = out | inf; \
            else d[i] = out | (s0[i] & ~sign); \
        } \
    }

DIVISION(32, uint32_t, float, f32, b32, 23, 0xff, -126, 64, 96, 23, -150)
DIVISION(64, uint64_t, double, f64, b64, 52, 0x7ff, -1022, 128, 768, 53, -1075)
