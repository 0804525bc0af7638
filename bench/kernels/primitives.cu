// Scans, compactions and sorts in the manner of template libraries: one pass over the data, in which a tile waits for what the tiles
// before it have published (a look-back).
#include "program.h"

// The exclusive prefix sum over 256 threads; every thread gets the total.
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
#pragma unroll
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

// A tile's state: 1 with its own sum, 2 with the sum of all up to it.
#define PARTIAL ((ulong)1 << 32)
#define COMPLETE ((ulong)2 << 32)

// What all tiles before this one sum up to. The first warp reads the states of 32 tiles at once; the others wait.
FUNCTION uint look_back(GLOBAL ulong *state, uint total, POINTER_TO_SHARED uint *tmp) {
    int tile = BX;
    if (tile == 0) {
        if (TX == 0) PUBLISH(state, COMPLETE | total);
        return 0;
    }
#ifdef __OPENCL_VERSION__
    if (TX == 0) {
        uint sum = 0;
        PUBLISH(state + tile, PARTIAL | total);
        for (int t = tile - 1;; t--) {
            ulong s;
            do s = WATCH(state + t);
            while (s < PARTIAL);
            sum += (uint)s;
            if (s >= COMPLETE) break;
        }
        PUBLISH(state + tile, COMPLETE | (sum + total));
        tmp[0] = sum;
    }
#else
    if (TX < 32) {
        uint sum = 0;
        if (TX == 0) PUBLISH(state + tile, PARTIAL | total);
        for (int t = tile - 1 - TX;; t -= 32) {
            ulong s = t < 0 ? COMPLETE : WATCH(state + t);
            while (BALLOT(s < PARTIAL)) s = t < 0 ? COMPLETE : WATCH(state + t);
            uint done = BALLOT(s >= COMPLETE);
            int last = done ? __builtin_ctz(done) : 31;
            int v = TX <= last ? (int)s : 0;
#pragma unroll
            for (int d = 16; d; d >>= 1) v += SHFL_XOR_I(v, d);
            sum += (uint)v;
            if (done) break;
        }
        if (TX == 0) {
            PUBLISH(state + tile, COMPLETE | (sum + total));
            tmp[0] = sum;
        }
    }
#endif
    SYNC;
    uint before = tmp[0];
    SYNC;
    return before;
}

// Inclusive prefix sums, tiles of 2048: eight words a thread, side by side in shared memory.
KERNEL device_scan(GLOBAL const uint *RESTRICT in, GLOBAL uint *RESTRICT out, GLOBAL ulong *RESTRICT state) {
    SHARED uint tile[2048];
    SHARED uint tmp[256];
    uint v[8], sum = 0, total;
    int base = BX * 2048;
#pragma unroll
    for (int i = 0; i < 8; i++) tile[TX + i * 256] = in[base + TX + i * 256];
    SYNC;
#pragma unroll
    for (int i = 0; i < 8; i++) v[i] = sum += tile[TX * 8 + i];
    uint before = block_scan(sum, tmp, &total);
    before += look_back(state, total, tmp);
#pragma unroll
    for (int i = 0; i < 8; i++) tile[TX * 8 + i] = v[i] + before;
    SYNC;
#pragma unroll
    for (int i = 0; i < 8; i++) out[base + TX + i * 256] = tile[TX + i * 256];
}

// The elements below a bound, in their order; how many there are goes to count. Tiles of 2048.
KERNEL device_select(GLOBAL const uint *RESTRICT in, GLOBAL uint *RESTRICT out, GLOBAL uint *RESTRICT count, GLOBAL ulong *RESTRICT state, int bound) {
    SHARED uint tile[2048];
    SHARED uint tmp[256];
    uint v[8], kept = 0, total;
    int base = BX * 2048;
#pragma unroll
    for (int i = 0; i < 8; i++) tile[TX + i * 256] = in[base + TX + i * 256];
    SYNC;
#pragma unroll
    for (int i = 0; i < 8; i++) v[i] = tile[TX * 8 + i], kept += v[i] < (uint)bound;
    uint at = block_scan(kept, tmp, &total), before = look_back(state, total, tmp);
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (v[i] < (uint)bound) tile[at++] = v[i];
    SYNC;
    for (int i = TX; i < (int)total; i += 256) out[before + i] = tile[i];
    if (BX == GX - 1 && TX == 0) count[0] = before + total;
}

// Runs of equal keys become one key and the sum of their values. The scan is over pairs: how many runs have begun, and the sum since
// the last of them began.
FUNCTION void run_join(uint *heads, uint *sum, uint heads_before, uint sum_before) {
    if (*heads == 0) *sum += sum_before;
    *heads += heads_before;
}
#define RUN_STATE(flag, heads, sum) ((ulong)(flag) << 62 | (ulong)(heads) << 32 | (sum))
#define RUN_HEADS(s) ((uint)((s) >> 32) & 0x3fffffffu)
KERNEL reduce_by_key(GLOBAL const uint *RESTRICT keys, GLOBAL const uint *RESTRICT values, GLOBAL uint *RESTRICT unique, GLOBAL uint *RESTRICT sums,
                     GLOBAL uint *RESTRICT count, GLOBAL ulong *RESTRICT state) {
    SHARED uint tmp_heads[256];
    SHARED uint tmp_sums[256];
    SHARED uint both[2];
    int first = (BX * 256 + TX) * 4;
    uint k[4], v[4], before = first ? keys[first - 1] : 0, heads = 0, sum = 0;
    int head[4];
#pragma unroll
    for (int i = 0; i < 4; i++) k[i] = keys[first + i], v[i] = values[first + i];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        head[i] = first + i == 0 || k[i] != (i ? k[i - 1] : before);
        heads += (uint)head[i], sum = head[i] ? v[i] : sum + v[i];
    }
    // Over the block, exclusive.
    uint h = heads, s = sum, block_heads, block_sum;
#ifdef __OPENCL_VERSION__
    tmp_heads[TX] = h, tmp_sums[TX] = s;
    SYNC;
    for (int d = 1; d < 256; d <<= 1) {
        uint h2 = TX >= d ? tmp_heads[TX - d] : 0, s2 = TX >= d ? tmp_sums[TX - d] : 0;
        SYNC;
        run_join(&h, &s, h2, s2);
        tmp_heads[TX] = h, tmp_sums[TX] = s;
        SYNC;
    }
    block_heads = tmp_heads[255], block_sum = tmp_sums[255];
    h = TX ? tmp_heads[TX - 1] : 0, s = TX ? tmp_sums[TX - 1] : 0;
#else
    int lane = TX & 31, warp = TX >> 5;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        uint h2 = (uint)SHFL_UP_I((int)h, d), s2 = (uint)SHFL_UP_I((int)s, d);
        if (lane >= d) run_join(&h, &s, h2, s2);
    }
    if (lane == 31) tmp_heads[warp] = h, tmp_sums[warp] = s;
    SYNC;
    block_heads = 0, block_sum = 0;
    uint warp_heads = 0, warp_sum = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        if (w == warp) warp_heads = block_heads, warp_sum = block_sum;
        uint h2 = tmp_heads[w], s2 = tmp_sums[w];
        run_join(&h2, &s2, block_heads, block_sum);
        block_heads = h2, block_sum = s2;
    }
    h = (uint)SHFL_UP_I((int)h, 1), s = (uint)SHFL_UP_I((int)s, 1);
    if (lane == 0) h = 0, s = 0;
    run_join(&h, &s, warp_heads, warp_sum);
#endif
    if (TX == 0) {
        uint ph = 0, ps = 0;
        if (BX) {
            PUBLISH(state + BX, RUN_STATE(1, block_heads, block_sum));
            for (int t = BX - 1;; t--) {
                ulong w;
                do w = WATCH(state + t);
                while (w >> 62 == 0);
                run_join(&ph, &ps, RUN_HEADS(w), (uint)w);
                if (w >> 62 == 2) break;
            }
        }
        both[0] = ph, both[1] = ps;
        run_join(&block_heads, &block_sum, ph, ps);
        PUBLISH(state + BX, RUN_STATE(2, block_heads, block_sum));
        if (BX == GX - 1) count[0] = block_heads, sums[block_heads - 1] = block_sum;
    }
    SYNC;
    run_join(&h, &s, both[0], both[1]);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (head[i]) {
            if (h) sums[h - 1] = s;
            unique[h++] = k[i], s = v[i];
        } else
            s += v[i];
    }
}

// Sorts tiles of 1024: four keys a thread, digits of four bits, a counter for each digit of each thread.
KERNEL block_sort(GLOBAL const uint *RESTRICT in, GLOBAL uint *RESTRICT out) {
    SHARED ushort count[16 * 256];
    SHARED uint keys[1024];
    SHARED uint tmp[256];
    uint k[4], total;
    int base = BX * 1024;
#pragma unroll
    for (int i = 0; i < 4; i++) k[i] = in[base + TX * 4 + i];
    for (int shift = 0; shift < 32; shift += 4) {
        uint rank[4], sum = 0, part[16];
#pragma unroll
        for (int d = 0; d < 16; d++) count[d * 256 + TX] = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int at = (int)(k[i] >> shift & 15) * 256 + TX;
            rank[i] = count[at];
            count[at] = (ushort)(rank[i] + 1);
        }
        SYNC;
#pragma unroll
        for (int d = 0; d < 16; d++) part[d] = sum, sum += count[TX * 16 + d];
        uint before = block_scan(sum, tmp, &total);
#pragma unroll
        for (int d = 0; d < 16; d++) count[TX * 16 + d] = (ushort)(before + part[d]);
        SYNC;
#pragma unroll
        for (int i = 0; i < 4; i++) keys[rank[i] + count[(int)(k[i] >> shift & 15) * 256 + TX]] = k[i];
        SYNC;
#pragma unroll
        for (int i = 0; i < 4; i++) k[i] = keys[TX * 4 + i];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) out[base + TX * 4 + i] = k[i];
}

// Radix sort in one sweep a digit of eight bits. First how often each digit value occurs, for all four digits.
KERNEL sweep_count(GLOBAL const uint *RESTRICT in, GLOBAL uint *RESTRICT counts, int n) {
    SHARED uint bins[1024];
    for (int i = TX; i < 1024; i += 256) bins[i] = 0;
    SYNC;
    for (int i = BX * 256 + TX; i < n; i += GX * 256) {
        uint k = in[i];
#pragma unroll
        for (int d = 0; d < 4; d++) ATOMIC_ADD(&bins[256 * d + (int)(k >> (8 * d) & 255)], 1);
    }
    SYNC;
    for (int i = TX; i < 1024; i += 256)
        if (bins[i]) ATOMIC_ADD(&counts[i], bins[i]);
}
KERNEL sweep_starts(GLOBAL uint *RESTRICT counts) {
    SHARED uint tmp[256];
    uint total, v = counts[BX * 256 + TX];
    counts[BX * 256 + TX] = block_scan(v, tmp, &total);
}

// The lanes of the warp with the same digit.
FUNCTION uint same_digit(int digit, POINTER_TO_SHARED uint *tmp) {
#ifdef __OPENCL_VERSION__
    uint peers = 0;
    tmp[TX] = (uint)digit;
    SYNC;
    for (int j = 0; j < 32; j++) peers |= (uint)(tmp[(TX & ~31) + j] == (uint)digit) << j;
    SYNC;
    return peers;
#else
    return MATCH(digit);
#endif
}
// A tile of 2048: eight keys a thread, a warp has 256 in a row. Keys are ranked within their warp, then the warps of a tile; a thread a
// digit looks back over the tiles; keys leave through shared memory, so that those of a digit are stored side by side.
KERNEL sweep_digit(GLOBAL const uint *RESTRICT in, GLOBAL uint *RESTRICT out, GLOBAL const uint *RESTRICT starts, GLOBAL ulong *RESTRICT state, int shift) {
    SHARED uint bins[8][256];
    SHARED uint keys[2048];
    SHARED uint tmp[256];
    SHARED uint move[256];
    int lane = TX & 31, warp = TX >> 5, base = BX * 2048 + warp * 256 + lane;
    uint k[8], rank[8], total;
    for (int i = lane; i < 256; i += 32) bins[warp][i] = 0;
    SYNC;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        k[i] = in[base + i * 32];
        int digit = (int)(k[i] >> shift & 255);
        uint peers = same_digit(digit, tmp), below = peers & ((1u << lane) - 1), had = bins[warp][digit];
        SYNC_WARP;
        if (below == 0) bins[warp][digit] = had + (uint)POPC(peers);
        SYNC_WARP;
        rank[i] = had + (uint)POPC(below);
    }
    SYNC;
    uint mine = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        uint c = bins[w][TX];
        bins[w][TX] = mine, mine += c;
    }
    GLOBAL ulong *states = state + TX;
    PUBLISH(states + BX * 256, (BX ? PARTIAL : COMPLETE) | mine);
    uint start = block_scan(mine, tmp, &total), before = 0;
    if (BX) {
        for (int t = BX - 1;; t--) {
            ulong s;
            do s = WATCH(states + t * 256);
            while (s < PARTIAL);
            before += (uint)s;
            if (s >= COMPLETE) break;
        }
        PUBLISH(states + BX * 256, COMPLETE | (before + mine));
    }
    move[TX] = starts[shift * 32 + TX] + before - start;
    tmp[TX] = start;
    SYNC;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int digit = (int)(k[i] >> shift & 255);
        keys[tmp[digit] + bins[warp][digit] + rank[i]] = k[i];
    }
    SYNC;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint key = keys[TX + i * 256];
        out[move[key >> shift & 255] + TX + i * 256] = key;
    }
}

// The 32 largest of a row, a warp a row: the best so far lie in the lanes, the largest first. Whatever is larger than the least of
// them comes with its 31 neighbours, which are sorted and merged by exchanges between lanes.
#ifdef __OPENCL_VERSION__
#define OTHER(v, d) (tmp[TX] = as_uint(v), SYNC, as_float(tmp[TX ^ (d)]))
#define OTHER_I(v, d) (tmp2[TX] = (v), SYNC, (int)tmp2[TX ^ (d)])
#else
#define OTHER(v, d) SHFL_XOR(v, d)
#define OTHER_I(v, d) SHFL_XOR_I(v, d)
#endif
FUNCTION void exchange(float *v, int *at, float v2, int at2, int keep_larger) {
    int take = keep_larger ? v2 > *v : v2 < *v;
    *v = take ? v2 : *v, *at = take ? at2 : *at;
}
KERNEL topk_bitonic(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT best, GLOBAL int *RESTRICT where, int cols) {
    SHARED uint tmp[128];
    SHARED int tmp2[128];
    int lane = TX & 31, row = BX * 4 + (TX >> 5), qat = -1;
    float q = -3.4e38f, least = -3.4e38f;
    for (int c = 0; c < cols; c += 32) {
        float v = in[row * cols + c + lane];
        int at = c + lane;
#ifndef __OPENCL_VERSION__
        if (!BALLOT(v > least)) continue;
#endif
#pragma unroll
        for (int k = 2; k <= 32; k <<= 1)
#pragma unroll
            for (int j = k >> 1; j; j >>= 1) {
                float v2 = OTHER(v, j);
                int at2 = OTHER_I(at, j);
                exchange(&v, &at, v2, at2, ((lane & j) == 0) == ((lane & k) != 0));
#ifdef __OPENCL_VERSION__
                SYNC;
#endif
            }
        // The chunk is in ascending order now and the best are in descending order: the larger of each pair are the 32 largest.
        exchange(&q, &qat, v, at, 1);
#pragma unroll
        for (int j = 16; j; j >>= 1) {
            float v2 = OTHER(q, j);
            int at2 = OTHER_I(qat, j);
            exchange(&q, &qat, v2, at2, (lane & j) == 0);
#ifdef __OPENCL_VERSION__
            SYNC;
#endif
        }
#ifndef __OPENCL_VERSION__
        least = SHFL(q, 31);
#endif
    }
    best[row * 32 + lane] = q, where[row * 32 + lane] = qat;
}
