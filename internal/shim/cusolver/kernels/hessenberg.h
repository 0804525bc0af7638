// The first half of finding eigenvalues of a matrix that is not symmetric.
#pragma once
#include "solver.h"

// hessenberg reduces a, n × n, and makes z the product of the reflections.
template <class C> __device__ void hessenberg(C *a, C *z, u32 n) {
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32)
            set(z + (s64)j * n + i, i == j, 0);
    SYNC;
    for (u32 k = 0; k + 2 < n; k++) {
        C *v = a + (s64)k * n + k + 1;
        u32 m = n - k - 1;
        C tau = mirror(v, m);
        if (zero(tau))
            continue;
        reflect(v, m, conj(tau), a + (s64)(k + 1) * n + k + 1, n, m);
        for (u32 side = 0; side < 2; side++) { // from the right: all rows of a, and z
            C *b = (side ? z : a) + (s64)(k + 1) * n;
            for (u32 i = LANE; i < n; i += 32) {
                C s = b[i];
                for (u32 j = 1; j < m; j++)
                    s = fma(b[(s64)j * n + i], v[j], s);
                s = mul(s, tau);
                b[i] = sub(b[i], s);
                for (u32 j = 1; j < m; j++)
                    b[(s64)j * n + i] = sub(b[(s64)j * n + i], mul(s, conj(v[j])));
            }
        }
        SYNC;
        for (u32 i = 1 + LANE; i < m; i += 32)
            make(v + i, 0, 0);
        SYNC;
    }
}
