// What a sum of a convolution becomes: alpha and beta, the bias of its channel, an activation. E has these as its members.
#pragma once
#include "tensor.h"

struct Ending {
    double alpha, beta, top;
    u64 bias;
    u32 biasType, act; // 1: not below 0, 2: nor above top
};

template <class O, class E> INLINE O finish(const E &o, O v, O old, O bias) {
    v = (O)o.alpha * v + bias;
    if (o.beta != 0)
        v += (O)o.beta * old;
    if (o.act && !(v > 0 || v != v))
        v = 0;
    if (o.act == 2 && v > (O)o.top)
        v = (O)o.top;
    return v;
}

template <class T> INLINE void keep(T *p, float v) { store(p, v); }
INLINE void keep(double *p, double v) { *p = v; }
INLINE void keep(float *p, double v) { *p = (float)v; }
INLINE void keep(int *p, double v) { *p = whole(v); }
INLINE void keep(s8 *p, double v) { store(p, whole(v)); }
