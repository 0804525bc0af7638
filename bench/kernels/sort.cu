// Prefix sums and sorting.
#include "device.h"

// The exclusive prefix sum over a block of 256 threads; every thread gets the total.
FUNCTION uint block_scan(uint v, POINTER_TO_SHARED uint *tmp, uint *total) {
    uint s = v;
#ifdef __OPENCL_VERSION__
    tmp[TX] = v;
    SYNC;
    for (int d = 1; d < 256; d <<= 1) {
        uint t = TX >= d ? tmp[TX - d] : 0;
        SYNC;
        s += t;
        tmp[TX] = s;
        SYNC;
    }
    *total = tmp[255];
    SYNC;
#else
    int lane = TX & 31, warp = TX >> 5;
    for (int d = 1; d < 32; d <<= 1) {
        uint t = (uint)SHFL_UP_I((int)s, d);
        if (lane >= d) s += t;
    }
    if (lane == 31) tmp[warp] = s;
    SYNC;
    uint before = 0, all = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        if (w < warp) before += tmp[w];
        all += tmp[w];
    }
    s += before;
    *total = all;
    SYNC;
#endif
    return s - v;
}

// Inclusive scan of tiles of 1024, four elements a thread; the tile's sum goes to sums.
KERNEL scan_tiles(GLOBAL const uint4 *RESTRICT in, GLOBAL uint4 *RESTRICT out, GLOBAL uint *RESTRICT sums) {
    SHARED uint tmp[256];
    uint total;
    uint4 v = in[BX * 256 + TX];
    v.y += v.x, v.z += v.y, v.w += v.z;
    uint before = block_scan(v.w, tmp, &total);
    v.x += before, v.y += before, v.z += before, v.w += before;
    out[BX * 256 + TX] = v;
    if (TX == 0) sums[BX] = total;
}

// Exclusive scan of n values in place by one block, which walks over them.
KERNEL scan_one_block(GLOBAL uint *RESTRICT sums, int n) {
    SHARED uint tmp[256];
    uint carry = 0, total;
    for (int i = 0; i < n; i += 256) {
        uint v = i + TX < n ? sums[i + TX] : 0;
        uint before = block_scan(v, tmp, &total);
        if (i + TX < n) sums[i + TX] = carry + before;
        carry += total;
    }
}

KERNEL scan_add(GLOBAL uint4 *RESTRICT out, GLOBAL const uint *RESTRICT sums) {
    uint before = sums[BX];
    uint4 v = out[BX * 256 + TX];
    v.x += before, v.y += before, v.z += before, v.w += before;
    out[BX * 256 + TX] = v;
}

// Bitonic: all steps up to runs of 1024 in shared memory, 512 threads.
KERNEL bitonic_local(GLOBAL const uint *RESTRICT in, GLOBAL uint *RESTRICT out) {
    SHARED uint s[1024];
    int base = BX * 1024;
    s[TX] = in[base + TX], s[TX + 512] = in[base + TX + 512];
    for (int k = 2; k <= 1024; k <<= 1)
        for (int j = k >> 1; j; j >>= 1) {
            SYNC;
            int i = 2 * TX - (TX & (j - 1));
            uint a = s[i], b = s[i + j];
            int up = ((base + i) & k) == 0;
            s[i] = up ? MIN(a, b) : MAX(a, b), s[i + j] = up ? MAX(a, b) : MIN(a, b);
        }
    SYNC;
    out[base + TX] = s[TX], out[base + TX + 512] = s[TX + 512];
}
KERNEL bitonic_step(GLOBAL uint *RESTRICT x, int j, int k) {
    int t = BX * NX + TX, i = 2 * t - (t & (j - 1));
    uint a = x[i], b = x[i + j];
    int up = (i & k) == 0;
    x[i] = up ? MIN(a, b) : MAX(a, b), x[i + j] = up ? MAX(a, b) : MIN(a, b);
}
KERNEL bitonic_merge(GLOBAL uint *RESTRICT x, int k) {
    SHARED uint s[1024];
    int base = BX * 1024;
    s[TX] = x[base + TX], s[TX + 512] = x[base + TX + 512];
    for (int j = 512; j; j >>= 1) {
        SYNC;
        int i = 2 * TX - (TX & (j - 1));
        uint a = s[i], b = s[i + j];
        int up = ((base + i) & k) == 0;
        s[i] = up ? MIN(a, b) : MAX(a, b), s[i + j] = up ? MAX(a, b) : MIN(a, b);
    }
    SYNC;
    x[base + TX] = s[TX], x[base + TX + 512] = s[TX + 512];
}

// Radix sort by digits of four bits: how often each digit is in a tile of 1024, digit-major.
KERNEL radix_count(GLOBAL const uint4 *RESTRICT in, GLOBAL uint *RESTRICT counts, int shift, int tiles) {
    SHARED uint count[16];
    if (TX < 16) count[TX] = 0;
    SYNC;
    uint4 v = in[BX * 256 + TX];
    ATOMIC_ADD(&count[v.x >> shift & 15], 1u);
    ATOMIC_ADD(&count[v.y >> shift & 15], 1u);
    ATOMIC_ADD(&count[v.z >> shift & 15], 1u);
    ATOMIC_ADD(&count[v.w >> shift & 15], 1u);
    SYNC;
    if (TX < 16) counts[TX * tiles + BX] = count[TX];
}

// Each thread ranks its four keys by counters of its own; one scan over digit and thread makes the ranks of the tile.
KERNEL radix_scatter(GLOBAL const uint4 *RESTRICT in, GLOBAL uint *RESTRICT out, GLOBAL const uint *RESTRICT starts, int shift, int tiles) {
    SHARED uint count[16][256];
    SHARED uint tmp[256];
    SHARED uint base[16];
    uint4 v4 = in[BX * 256 + TX];
    uint key[4], rank[4], total;
    key[0] = v4.x, key[1] = v4.y, key[2] = v4.z, key[3] = v4.w;
#pragma unroll
    for (int d = 0; d < 16; d++) count[d][TX] = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) rank[i] = count[key[i] >> shift & 15][TX]++;
    SYNC;
    POINTER_TO_SHARED uint *flat = &count[0][0] + TX * 16;
    uint sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) sum += flat[i];
    uint at = block_scan(sum, tmp, &total);
#pragma unroll
    for (int i = 0; i < 16; i++) {
        uint n = flat[i];
        flat[i] = at;
        at += n;
    }
    SYNC;
    if (TX < 16) base[TX] = starts[TX * tiles + BX] - count[TX][0];
    SYNC;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint d = key[i] >> shift & 15;
        out[base[d] + count[d][TX] + rank[i]] = key[i];
    }
}
