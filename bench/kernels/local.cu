// Arrays of a thread's own, at indices that its data chooses.
#include "program.h"

// Insertion sort of 16 floats a thread; element j of thread i is in[j * n + i].
KERNEL insertion(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int n) {
    float a[16];
    int i = BX * NX + TX;
#pragma unroll 1
    for (int j = 0; j < 16; j++) {
        float x = in[j * n + i];
        int at = j;
#pragma unroll 1
        while (at > 0 && a[at - 1] > x) a[at] = a[at - 1], at--;
        a[at] = x;
    }
#pragma unroll 1
    for (int j = 0; j < 16; j++) out[j * n + i] = a[j];
}

// How many points lie around a query: a walk over a tree of points, which are split by x and by y in turn, with a stack of the
// nodes still to visit. Node k has the children 2 k + 1 and 2 k + 2.
KERNEL tree_stack(GLOBAL const float *RESTRICT px, GLOBAL const float *RESTRICT py, GLOBAL const float *RESTRICT qx, GLOBAL const float *RESTRICT qy,
                  GLOBAL uint *RESTRICT out, int nodes, float radius) {
    int stack[32], depth = 1, i = BX * NX + TX;
    float x = qx[i], y = qy[i];
    uint found = 0;
    stack[0] = 0;
    while (depth > 0) {
        int k = stack[--depth];
        float dx = px[k] - x, dy = py[k] - y;
        if (ABS(dx) + ABS(dy) < radius) found++;
        int level = 31 - CLZ(k + 1), left = 2 * k + 1;
        float side = level & 1 ? dy : dx; /* how far the query is from the line that splits */
        if (left < nodes) {
            if (side > -radius) stack[depth++] = left;
            if (side < radius) stack[depth++] = left + 1;
        }
    }
    out[i] = found;
}
