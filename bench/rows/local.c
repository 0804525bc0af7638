/* Arrays of a thread's own. */
#include "../harness/bench.h"

enum { SORTS = 256 << 10, NODES = (1 << 16) - 1, QUERIES = 128 << 10 };

static void fill_sorts(const struct row *r, void **h) { fill_f32(h[0], r->bufs[0].count, -1, 1); }

static int axis;
static const float *coords[2];
static int by_axis(const void *a, const void *b) {
    float x = coords[axis][*(const int *)a], y = coords[axis][*(const int *)b];
    return x < y ? -1 : x > y;
}
/* The median of order[0..n) becomes node k; n is one less than a power of two. */
static void plant(float *px, float *py, int *order, int n, int k, int level) {
    axis = level & 1;
    qsort(order, (size_t)n, sizeof *order, by_axis);
    int half = n / 2;
    px[k] = coords[0][order[half]], py[k] = coords[1][order[half]];
    if (n == 1) return;
    plant(px, py, order, half, 2 * k + 1, level + 1);
    plant(px, py, order + half + 1, half, 2 * k + 2, level + 1);
}
static void fill_tree(const struct row *r, void **h) {
    int n = r->p[0], *order = malloc((size_t)n * sizeof *order);
    float *x = malloc((size_t)n * 4), *y = malloc((size_t)n * 4);
    if (!order || !x || !y) die("out of memory");
    fill_f32(x, (size_t)n, 0, 1);
    fill_f32(y, (size_t)n, 0, 1);
    for (int i = 0; i < n; i++) order[i] = i;
    coords[0] = x, coords[1] = y;
    plant(h[0], h[1], order, n, 0, 0);
    fill_f32(h[2], QUERIES, 0, 1);
    fill_f32(h[3], QUERIES, 0, 1);
    free(order), free(x), free(y);
}
static void insertion(const struct row *r, struct dev *d) { LAUNCH(d, "insertion", DIM1(r->p[0] / 128), DIM1(128), B(0), B(1), I(r->p[0])); }
static void tree_stack(const struct row *r, struct dev *d) {
    LAUNCH(d, "tree_stack", DIM1(QUERIES / 128), DIM1(128), B(0), B(1), B(2), B(3), B(4), I(r->p[0]), F(0.01f));
}

const struct row local_rows[] = {
    {.name = "insertion", .module = "local", .what = "256 Ki insertion sorts of 16 floats in local arrays, 32 MiB", .p = {SORTS},
     .bufs = {{"in", F32, IN, 16 * SORTS}, {"out", F32, OUT, 16 * SORTS}}, .fill = fill_sorts, .run = insertion},
    {.name = "tree_stack", .module = "local", .what = "128 Ki range queries in a tree of 64 Ki points, a stack a thread, 2 MiB", .p = {NODES, QUERIES},
     .bufs = {{"px", F32, IN, NODES}, {"py", F32, IN, NODES}, {"qx", F32, IN, QUERIES}, {"qy", F32, IN, QUERIES}, {"found", U32, OUT, QUERIES}},
     .fill = fill_tree, .run = tree_stack},
    {0},
};
