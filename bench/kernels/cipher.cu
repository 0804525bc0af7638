// Bytes and tables: ciphers.
#include "program.h"

// Ten rounds of AES in counter mode. The table has the S-box and the column mix in one; the others of the usual four are its rotations.
// The block's first threads bring it to shared memory. A thread makes 16 bytes of the key stream and adds them to the text.
#define COLUMN(a, b, c, d, k) (table[(a) & 255] ^ ROTL(table[(b) >> 8 & 255], 8) ^ ROTL(table[(c) >> 16 & 255], 16) ^ ROTL(table[(d) >> 24], 24) ^ (k))
#define LAST(a, b, c, d, k) \
    ((table[(a) & 255] >> 8 & 255) ^ (table[(b) >> 8 & 255] & 0xff00) ^ (table[(c) >> 16 & 255] << 8 & 0xff0000) ^ (table[(d) >> 24] << 16 & 0xff000000u) ^ (k))
KERNEL aes_ctr(GLOBAL const uint4 *RESTRICT in, GLOBAL uint4 *RESTRICT out, GLOBAL const uint *RESTRICT mix, GLOBAL const uint *RESTRICT key) {
    SHARED uint table[256];
    SHARED uint k[44];
    table[TX] = mix[TX];
    if (TX < 44) k[TX] = key[TX];
    SYNC;
    uint i = (uint)(BX * 256 + TX);
    uint a = 0x12345678u ^ k[0], b = 0x9abcdef0u ^ k[1], c = k[2], d = i ^ k[3];
#pragma unroll 1
    for (int r = 4; r < 40; r += 4) {
        uint e = COLUMN(a, b, c, d, k[r]), f = COLUMN(b, c, d, a, k[r + 1]), g = COLUMN(c, d, a, b, k[r + 2]), h = COLUMN(d, a, b, c, k[r + 3]);
        a = e, b = f, c = g, d = h;
    }
    uint4 v = in[i];
    v.x ^= LAST(a, b, c, d, k[40]), v.y ^= LAST(b, c, d, a, k[41]), v.z ^= LAST(c, d, a, b, k[42]), v.w ^= LAST(d, a, b, c, k[43]);
    out[i] = v;
}

// RC4, byte by byte: a thread has a key of 16 bytes, its permutation of 256 bytes in local memory, and makes 64 bytes.
KERNEL rc4_local(GLOBAL const uchar *RESTRICT keys, GLOBAL uchar *RESTRICT out, int n) {
    uchar s[256];
    int i = BX * NX + TX;
    uint j = 0;
#pragma unroll 1
    for (int x = 0; x < 256; x++) s[x] = (uchar)x;
#pragma unroll 1
    for (int x = 0; x < 256; x++) {
        uchar t = s[x];
        j = (j + t + keys[(x & 15) * n + i]) & 255;
        s[x] = s[j], s[j] = t;
    }
    j = 0;
#pragma unroll 1
    for (int x = 1; x <= 64; x++) {
        uchar t = s[x];
        j = (j + t) & 255;
        uchar u = s[j];
        s[x] = u, s[j] = t;
        out[(x - 1) * n + i] = s[(t + u) & 255];
    }
}
