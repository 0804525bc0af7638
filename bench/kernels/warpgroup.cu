// Matrix products with the tensor-core instructions of a warpgroup: C = A B', both with k innermost, halves with f32 sums.
// A block of 4 warps makes 64 x 64 of C; k goes by 64 halves at a time, through shared memory in rows of 128 bytes whose
// words of 16 are swizzled, and wgmma reads both matrices there.
// arch: sm_90a
#include "device.h"

#ifdef __OPENCL_VERSION__
// OpenCL has no such instructions: the same text as for mma.
#define hgemm_mma hgemm_wgmma
#include "mma.cu"
#else
// A matrix in shared memory, as wgmma is told of it: where it begins, 1024 bytes from 8 rows to the next 8, swizzled by 128 bytes.
FUNCTION unsigned long descriptor(const void *p) {
    uint address = (uint)(unsigned long)(const __attribute__((address_space(3))) void *)p;
    return 0x4000004000010000ul | address >> 4;
}
// The swizzle: which word of 16 bytes of a row's 8.
FUNCTION int place(int row, int word) { return row * 8 + (word ^ (row & 7)); }

FUNCTION void product(float d[32], unsigned long a, unsigned long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]),
                   "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
                   "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b) : "memory");
}

KERNEL hgemm_wgmma(const uint4 *RESTRICT a, const uint4 *RESTRICT b, float *RESTRICT c, int n, int words) {
    __attribute__((aligned(1024))) SHARED uint4 as[512];
    __attribute__((aligned(1024))) SHARED uint4 bs[512];
    float sum[32];
#pragma unroll
    for (int i = 0; i < 32; i++) sum[i] = 0;
    for (int t = 0; t < words; t += 32) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = TX / 8 + i * 16, word = TX % 8;
            as[place(row, word)] = a[((BY * 64 + row) * words + t) / 4 + word];
            bs[place(row, word)] = b[((BX * 64 + row) * words + t) / 4 + word];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        SYNC;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++) product(sum, descriptor(as) + k * 2, descriptor(bs) + k * 2);
        asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
        SYNC;
    }
    int lane = TX & 31, row = BY * 64 + TX / 32 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int col = BX * 64 + i * 8 + (lane & 3) * 2;
        c[row * n + col] = sum[i * 4], c[row * n + col + 1] = sum[i * 4 + 1];
        c[(row + 8) * n + col] = sum[i * 4 + 2], c[(row + 8) * n + col + 1] = sum[i * 4 + 3];
    }
}
#endif
