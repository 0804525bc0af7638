// Products of unsigned bytes whose sums are brought back to bytes.
#include "device.h"

struct Bytes {
    const u8 *a, *b;
    u8 *c;
    s64 lda, ldb, ldc;
    u32 m, n, k;
    u32 ta, tb, tc; // transposed
    int ofA, ofB, ofC, factor, shift;
};

// A thread has an element: the operands less their biases, the sum and C's bias times a factor, shifted right and rounded, held to a byte.
KERNEL bytes(Bytes o) {
    u32 i = BLOCK_X * THREADS_X + LANE, j = BLOCK_Y;
    if (i >= o.m)
        return;
    for (; j < o.n; j += __nvvm_read_ptx_sreg_nctaid_y()) {
        int sum = 0;
        for (u32 l = 0; l < o.k; l++) {
            int x = o.ta ? o.a[l + i * o.lda] : o.a[i + l * o.lda];
            int y = o.tb ? o.b[j + l * o.ldb] : o.b[l + j * o.ldb];
            sum += (x - o.ofA) * (y - o.ofB);
        }
        s64 v = ((s64)sum + o.ofC) * o.factor;
        if (o.shift > 0)
            v = (v + (1ll << (o.shift - 1))) >> o.shift;
        o.c[o.tc ? j + i * o.ldc : i + j * o.ldc] = (u8)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}
