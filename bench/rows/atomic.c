/* Histograms and sparse matrices. */
#include "../harness/bench.h"

enum { BYTES = 64 << 20, KEYS = 4 << 20, BINS = 16384, ROWS = 512 << 10, LONG_ROWS = 128 << 10, COLUMNS = 512 << 10 };
/* Rows of the first matrix have 4 to 28 elements, of the second 64 to 192. */
enum { SHORT_MAX = 28, LONG_MAX = 192, SHORT_NNZ = ROWS * 16, LONG_NNZ = LONG_ROWS * 128 };

static void fill_bytes(const struct row *r, void **h) {
    uint8_t *p = h[0];
    (void)r;
    for (int i = 0; i < BYTES; i++) {
        uint32_t v = rng();
        p[i] = (uint8_t)((v & 127) + (v >> 8 & 127)); /* a hill, as pictures have */
    }
}
static void fill_keys(const struct row *r, void **h) {
    for (size_t i = 0; i < r->bufs[0].count; i++) ((uint32_t *)h[0])[i] = rng();
}
/* Row lengths vary around the mean and add up to it; columns are random over all of x. */
static void fill_csr(const struct row *r, void **h) {
    int *start = h[0], *col = h[1], rows = r->p[0], lo = r->p[1], hi = r->p[2], at = 0, nnz = (int)r->bufs[1].count;
    for (int i = 0; i < rows; i += 2) {
        int n = lo + (int)(rng() % (uint32_t)(hi - lo + 1));
        start[i] = at, start[i + 1] = at + n, at += lo + hi;
    }
    start[rows] = at;
    if (at != nnz) die("%s: %d elements, not %d", r->name, at, nnz);
    for (int i = 0; i < nnz; i++) col[i] = (int)(rng() % COLUMNS);
    fill_f32(h[2], (size_t)nnz, -1, 1);
    fill_f32(h[3], COLUMNS, -1, 1);
}

static void histogram_shared(const struct row *r, struct dev *d) {
    d->zero(d, 1);
    LAUNCH(d, "histogram_shared", DIM1(512), DIM1(256), B(0), B(1), I(r->p[0]));
}
static void histogram_global(const struct row *r, struct dev *d) {
    d->zero(d, 1);
    LAUNCH(d, "histogram_global", DIM1(KEYS / 256), DIM1(256), B(0), B(1), I(r->p[0]), I(r->p[1] - 1));
}
static void spmv_scalar(const struct row *r, struct dev *d) {
    LAUNCH(d, "spmv_scalar", DIM1(r->p[0] / 128), DIM1(128), B(0), B(1), B(2), B(3), B(4), I(r->p[0]));
}
static void spmv_vector(const struct row *r, struct dev *d) {
    LAUNCH(d, "spmv_vector", DIM1(r->p[0] / 8), DIM1(256), B(0), B(1), B(2), B(3), B(4), I(r->p[0]));
}

#define CSR(rows, nnz) {{"start", I32, IN, (rows) + 1}, {"col", I32, IN, nnz}, {"val", F32, IN, nnz}, {"x", F32, IN, COLUMNS}, {"y", F32, OUT, rows}}
const struct row atomic_rows[] = {
    {.name = "histogram_shared", .module = "atomic", .what = "64 Mi bytes, 256 bins, shared atomics", .bytes = BYTES, .p = {BYTES},
     .bufs = {{"in", U8, IN, BYTES}, {"bins", U32, OUT, 256}}, .fill = fill_bytes, .run = histogram_shared},
    {.name = "histogram_global", .module = "atomic", .what = "4 Mi keys, 16 MiB, 16384 bins, global atomics", .bytes = 4.0 * KEYS, .p = {KEYS, BINS},
     .bufs = {{"in", U32, IN, KEYS}, {"bins", U32, OUT, BINS}}, .fill = fill_keys, .run = histogram_global},
    {.name = "spmv_scalar", .module = "atomic", .what = "CSR 512 Ki rows of 4 to 28, 68 MiB, a thread a row", .bytes = 8.0 * SHORT_NNZ, .tolerance = 1e-4,
     .p = {ROWS, 4, SHORT_MAX}, .bufs = CSR(ROWS, SHORT_NNZ), .fill = fill_csr, .run = spmv_scalar, .native = "spmv"},
    {.name = "spmv_vector", .module = "atomic", .what = "CSR 128 Ki rows of 64 to 192, 130 MiB, a warp a row", .bytes = 8.0 * LONG_NNZ, .tolerance = 1e-4,
     .p = {LONG_ROWS, 64, LONG_MAX}, .bufs = CSR(LONG_ROWS, LONG_NNZ), .fill = fill_csr, .run = spmv_vector, .native = "spmv"},
    {0},
};
