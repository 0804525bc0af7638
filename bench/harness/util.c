/* What the programs of the bench share. */
#include "bench.h"

void die(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, ap);
    fputs("\n", stderr);
    va_end(ap);
    exit(1);
}

size_t buf_bytes(const struct buf *b) {
    static const size_t size[] = {[F32] = 4, [I32] = 4, [U32] = 4, [U8] = 1, [F16] = 2, [I8] = 1};
    return b->count * size[b->type];
}

char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) die("%s cannot be read", path);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = malloc((size_t)n + 1);
    if (!text || fread(text, 1, (size_t)n, f) != (size_t)n) die("%s cannot be read", path);
    text[n] = 0;
    fclose(f);
    if (size) *size = (size_t)n;
    return text;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}
