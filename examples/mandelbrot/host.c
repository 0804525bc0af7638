// mandelbrot: divergent loops, and a picture to look at: mandelbrot.png in the folder given as the first argument.
#include "../host.h"

/* A PNG with stored (uncompressed) data needs two checksums and no library. */
static uint32_t crc_table[256];
static uint32_t crc(uint32_t c, const unsigned char *p, size_t n) {
    if (!crc_table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t v = i;
            for (int k = 0; k < 8; k++) v = v & 1 ? 0xedb88320u ^ (v >> 1) : v >> 1;
            crc_table[i] = v;
        }
    for (size_t i = 0; i < n; i++) c = crc_table[(c ^ p[i]) & 255] ^ (c >> 8);
    return c;
}
static void be32(unsigned char *p, uint32_t v) { p[0] = v >> 24, p[1] = v >> 16, p[2] = v >> 8, p[3] = v; }
static void chunk(FILE *f, const char *type, const unsigned char *data, uint32_t n) {
    unsigned char b[4];
    be32(b, n), fwrite(b, 1, 4, f), fwrite(type, 1, 4, f), fwrite(data, 1, n, f);
    uint32_t c = crc(0xffffffffu, (const unsigned char *)type, 4);
    be32(b, ~crc(c, data, n)), fwrite(b, 1, 4, f);
}
static int write_png(const char *path, const unsigned char *rgb, int w, int h) {
    FILE *f = fopen(path, "wb");
    if (!f) return 0;
    size_t row = 1 + 3 * (size_t)w, raw = row * (size_t)h, blocks = (raw + 65534) / 65535;
    unsigned char *z = malloc(raw + 5 * blocks + 6), head[13] = {0}, *p = z;
    unsigned char *data = malloc(raw);
    for (int y = 0; y < h; y++) data[row * y] = 0, memcpy(data + row * y + 1, rgb + 3 * (size_t)w * y, 3 * (size_t)w);
    *p++ = 0x78, *p++ = 1;
    uint32_t s1 = 1, s2 = 0;
    for (size_t i = 0; i < raw; i++) s1 = (s1 + data[i]) % 65521, s2 = (s2 + s1) % 65521;
    for (size_t at = 0; at < raw; at += 65535) {
        size_t n = raw - at < 65535 ? raw - at : 65535;
        *p++ = at + n == raw, *p++ = n & 255, *p++ = n >> 8, *p++ = ~n & 255, *p++ = (~n >> 8) & 255;
        memcpy(p, data + at, n), p += n;
    }
    be32(p, s2 << 16 | s1), p += 4;
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
    be32(head, w), be32(head + 4, h), head[8] = 8, head[9] = 2;
    chunk(f, "IHDR", head, 13), chunk(f, "IDAT", z, (uint32_t)(p - z)), chunk(f, "IEND", NULL, 0);
    free(z), free(data);
    return fclose(f) == 0;
}

int main(int argc, char **argv) {
    int w = small() ? 96 : 1200, h = small() ? 64 : 800, limit = small() ? 60 : 400;
    size_t bytes = (size_t)w * h * sizeof(unsigned);
    unsigned *count = malloc(bytes);
    CUfunction f = open_device("mandelbrot");
    CUdeviceptr d = upload(NULL, bytes);
    void *args[] = {&d, &w, &h, &limit};
    double t = BEST_OF(5, cuLaunchKernel(f, (w + 31) / 32, (h + 7) / 8, 1, 32, 8, 1, 0, 0, args, 0));
    CHECK(cuMemcpyDtoH(count, d, bytes));
    /* The host computes every seventh pixel again, with the same single steps (no contraction). */
    int ok = 1;
    double work = 0;
    float step = 3.0f / (float)w;
    for (int i = 0; i < w * h; i++) {
        work += count[i];
        if (i % 7) continue;
        volatile float m = step * (float)(i % w);
        volatile float half = 0.5f * (float)h;
        volatile float dy = (float)(i / w) - half;
        float cx = -2.2f + m, cy = step * dy, x = 0, y = 0;
        int n = 0;
        for (; n < limit; n++) {
            volatile float xx = x * x, yy = y * y;
            volatile float r = xx + yy;
            if (r > 4.0f) break;
            volatile float two = 2.0f * x, diff = xx - yy;
            y = fmaf(two, y, cy);
            x = diff + cx;
        }
        ok &= (unsigned)n == count[i];
    }
    unsigned char *rgb = malloc(3 * (size_t)w * h);
    for (int i = 0; i < w * h; i++) {
        float s = count[i] == (unsigned)limit ? 0 : sqrtf((float)count[i] / (float)limit);
        rgb[3 * i] = (unsigned char)(255 * s * s), rgb[3 * i + 1] = (unsigned char)(255 * s), rgb[3 * i + 2] = (unsigned char)(255 * sqrtf(s));
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/mandelbrot.png", argc > 1 ? argv[1] : ".");
    if (!write_png(path, rgb, w, h)) fprintf(stderr, "cannot write %s\n", path);
    else printf("picture: %s\n", path);
    return report(ok, checksum(count, bytes), t, work * 8, "GFLOP/s");
}
