// Connectionist temporal classification: the loss of label sequences under probabilities by time, and its gradient. Logarithms are
// summed in f64. The states of a sample are its labels with blanks before, between and after; blank is 0.
#include "layer.h"

struct CTC {
    s64 time, batch, letters, states; // states: of the longest label
    Strided x, grad;                  // [time, batch, letters]
    const int *labels, *labelLength, *length;
    u64 costs;
    double *lse, *alpha, *beta;
    u32 type, softmax, skip, wanted;
};

#define NONE (-(double)__builtin_inff())

INLINE double logSum(double a, double b) {
    double m = a > b ? a : b;
    return m == NONE ? NONE : m + __nv_log(__nv_exp(a - m) + __nv_exp(b - m));
}

KERNEL ctcNormalize(CTC c) {
    for (u64 row = BLOCK_X; row < (u64)(c.time * c.batch); row += BLOCKS_X) {
        s64 off = (row / c.batch) * c.x.stride[0] + (row % c.batch) * c.x.stride[1];
        double top = NONE, sum = 0;
        for (s64 a = LANE; a < c.letters; a += 32) {
            double v = loadAny(c.x.at, off + a * c.x.stride[2], c.type);
            top = v > top ? v : top;
        }
        top = warpMax(top);
        for (s64 a = LANE; a < c.letters; a += 32)
            sum += __nv_exp(loadAny(c.x.at, off + a * c.x.stride[2], c.type) - top);
        sum = warpSum(sum);
        if (LANE == 0)
            c.lse[row] = top + __nv_log(sum);
    }
}

INLINE double logOf(const CTC &c, s64 t, s64 n, s64 a) {
    double v = loadAny(c.x.at, t * c.x.stride[0] + n * c.x.stride[1] + a * c.x.stride[2], c.type);
    return c.softmax ? v - c.lse[t * c.batch + n] : __nv_log(v);
}

INLINE s64 firstLabel(const CTC &c, s64 n) {
    s64 at = 0;
    for (s64 i = 0; i < n; i++)
        at += c.labelLength[i];
    return at;
}
INLINE int letter(const int *label, s64 s) { return s & 1 ? label[s / 2] : 0; }

// shortest is how much time a label takes: letters that follow themselves have a blank between.
INLINE s64 shortest(const int *label, s64 length) {
    s64 n = length;
    for (s64 i = 1; i < length; i++)
        n += label[i] == label[i - 1];
    return n;
}

// A warp has a sample: forward and backward through time, a lane a state.
KERNEL ctcLoss(CTC c) {
    for (s64 n = BLOCK_X; n < c.batch; n += BLOCKS_X) {
        const int *label = c.labels + firstLabel(c, n);
        s64 S = 2 * (s64)c.labelLength[n] + 1, T = c.length[n], step = c.batch * c.states;
        double *alpha = c.alpha + n * c.states, *beta = c.beta + n * c.states;
        for (s64 t = 0; t < T; t++) {
            for (s64 s = LANE; s < S; s += 32) {
                double v = t || s > 1 ? NONE : 0;
                int a = letter(label, s);
                if (t) {
                    const double *p = alpha + (t - 1) * step;
                    v = s ? logSum(p[s], p[s - 1]) : p[s];
                    if (s > 1 && a && a != letter(label, s - 2))
                        v = logSum(v, p[s - 2]);
                }
                alpha[t * step + s] = v == NONE ? v : v + logOf(c, t, n, a);
            }
            SYNC;
        }
        for (s64 t = T - 1; t >= 0; t--) {
            for (s64 s = LANE; s < S; s += 32) {
                double v = t < T - 1 || s < S - 2 ? NONE : 0;
                int a = letter(label, s);
                if (t < T - 1) {
                    const double *p = beta + (t + 1) * step;
                    v = s < S - 1 ? logSum(p[s], p[s + 1]) : p[s];
                    if (s < S - 2 && a && a != letter(label, s + 2))
                        v = logSum(v, p[s + 2]);
                }
                beta[t * step + s] = v == NONE ? v : v + logOf(c, t, n, a);
            }
            SYNC;
        }
        if (LANE == 0) {
            double v = S == 1 ? 0 : NONE; // an empty label of an empty input is certain
            if (T > 0) {
                v = alpha[(T - 1) * step + S - 1];
                if (S > 1)
                    v = logSum(v, alpha[(T - 1) * step + S - 2]);
            }
            storeAny(c.costs, n, c.type, T < shortest(label, c.labelLength[n]) ? 0 : -v);
        }
    }
}

KERNEL ctcGradient(CTC c) {
    for (u64 row = BLOCK_X; row < (u64)(c.time * c.batch); row += BLOCKS_X) {
        s64 t = row / c.batch, n = row % c.batch, off = t * c.grad.stride[0] + n * c.grad.stride[1];
        s64 S = 2 * (s64)c.labelLength[n] + 1, T = c.length[n], step = c.batch * c.states;
        const int *label = c.labels + firstLabel(c, n);
        // As an H200 has it: a label that is too long has no loss and no gradient. What is outside of a sample becomes 0 only if
        // its label takes all of the time, or is too long.
        s64 least = shortest(label, c.labelLength[n]);
        if (t >= T || T < least) {
            for (s64 a = LANE; a < c.letters && !c.skip && T <= least; a += 32)
                storeAny(c.grad.at, off + a * c.grad.stride[2], c.type, 0);
            continue;
        }
        double loss = loadAny(c.costs, n, c.type);
        bool possible = loss - loss == 0;
        for (s64 a = LANE; a < c.letters; a += 32)
            storeAny(c.grad.at, off + a * c.grad.stride[2], c.type, possible ? __nv_exp(logOf(c, t, n, a)) : 0);
        SYNC;
        if (!possible)
            continue;
        const double *alpha = c.alpha + t * step + n * c.states, *beta = c.beta + t * step + n * c.states;
        double total = NONE; // what all paths have together at this time: the loss again, without its rounding
        for (s64 s = 0; s < S; s++)
            total = logSum(total, alpha[s] + beta[s] - logOf(c, t, n, letter(label, s)));
        for (s64 s = LANE; s < S; s += 32) {
            int a = letter(label, s);
            bool first = s == 0 || a;
            for (s64 q = 1; first && a && q < s; q += 2)
                first = label[q / 2] != a;
            if (!first)
                continue; // the first state of a letter has all of it
            double lp = logOf(c, t, n, a), sum = 0;
            for (s64 q = s; q < S; q++)
                if (letter(label, q) == a && alpha[q] != NONE && beta[q] != NONE)
                    sum += __nv_exp(alpha[q] + beta[q] - lp - total);
            // Of probabilities it is -sum/p; one that no path uses keeps p, as an H200 has it.
            storeAny(c.grad.at, off + a * c.grad.stride[2], c.type, c.softmax || sum == 0 ? __nv_exp(lp) - sum : -sum / __nv_exp(lp));
        }
    }
}
