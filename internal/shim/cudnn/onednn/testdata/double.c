// The double of oneDNN that the tests build: the functions that are called, with one obvious loop an operation, in f32. -DOLDER makes it
// version 2. What may lie as the library likes has its last dimension outermost here, so that every such tensor is laid out anew.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

enum { MAX = 12, SRC = 1, DST = 17, WEIGHTS = 33, DIFF_SRC = 129, DIFF_DST = 145, DIFF_WEIGHTS = 161, F32 = 3 };
enum { FORWARD, DATA, FILTER, MATMUL, SOFTMAX, REORDER };
typedef int64_t dims[MAX];
typedef struct { int n, type, any; dims dim, stride; } desc;
typedef struct { desc d; float *at; } memory;
typedef struct { int arg; memory *m; } argument;
typedef struct { int kind, axis, log, n; desc x, w, y, scratch; dims stride, dilate, pad; } op;

static int scratched;
static int calls[8], made, gone, threads = 7, started, deterministic;
int double_calls(int kind) { return calls[kind]; }
int double_alive(void) { return made - gone; }
int double_threads(void) { return started; }
int double_deterministic(void) { return deterministic; }
void omp_set_num_threads(int n) { threads = n; }
int omp_get_max_threads(void) { return threads; }

static void *keep(const void *v, size_t n) {
    made++;
    return memcpy(malloc(n), v, n);
}
static int drop(void *p) {
    gone++;
    free(p);
    return 0;
}

int dnnl_engine_create(void **e, int kind, size_t i) { return *e = &calls, kind != 1 || i; }
int dnnl_stream_create(void **s, void *e, unsigned flags) { return *s = &calls, e != &calls || flags != 1; }
int dnnl_stream_wait(void *s) { return s != &calls; }
int dnnl_primitive_attr_create(void **a) { return *a = &deterministic, 0; }
int dnnl_primitive_attr_set_scratchpad_mode(int *a, int mode) { return scratched = mode, a != &deterministic; }
int dnnl_primitive_attr_set_deterministic(int *a, int on) { return *a = on, 0; }

static void fill(desc *d, int n, const int64_t *dim, int type, const int64_t *stride) {
    memset(d, 0, sizeof *d);
    d->n = n, d->type = type, d->any = !stride;
    int64_t run = 1;
    for (int i = 0; i < n; i++) {
        d->dim[i] = dim[i], d->stride[i] = stride ? stride[i] : run;
        run *= dim[i];
    }
}
#ifdef OLDER
int dnnl_memory_desc_init_by_strides(desc *d, int n, const int64_t *dim, int type, const int64_t *s) { return fill(d, n, dim, type, s), type != F32; }
int dnnl_memory_desc_init_by_tag(desc *d, int n, const int64_t *dim, int type, int tag) { return fill(d, n, dim, type, 0), tag != 1 || type != F32; }
#else
static int fresh(desc **d, int n, const int64_t *dim, int type, const int64_t *s) {
    desc v;
    fill(&v, n, dim, type, s);
    return *d = keep(&v, sizeof v), 0;
}
int dnnl_memory_desc_create_with_strides(desc **d, int n, const int64_t *dim, int type, const int64_t *s) {
    return type != F32 ? 3 : fresh(d, n, dim, type, s);
}
int dnnl_memory_desc_create_with_tag(desc **d, int n, const int64_t *dim, int type, int tag) {
    return tag != 1 || type != F32 ? 3 : fresh(d, n, dim, type, 0);
}
int dnnl_memory_desc_destroy(desc *d) { return drop(d); }
#endif
int dnnl_memory_desc_equal(const desc *a, const desc *b) { return !memcmp(a->dim, b->dim, sizeof a->dim) && !memcmp(a->stride, b->stride, sizeof a->stride); }
size_t dnnl_memory_desc_get_size(const desc *d) {
    int64_t n = 1;
    for (int i = 0; i < d->n; i++) n += (d->dim[i] - 1) * d->stride[i];
    return 4 * n; // of none: nothing
}
int dnnl_memory_create(memory **m, const desc *d, void *e, void *at) {
    memory v = {*d, at};
    return *m = keep(&v, sizeof v), e != &calls;
}
int dnnl_memory_set_data_handle(memory *m, void *at) { return m->at = at, 0; }
int dnnl_memory_destroy(memory *m) { return drop(m); }

static op convolution(int kind, const desc *x, const desc *w, const desc *y, const int64_t *stride, const int64_t *dilate, const int64_t *pad,
                      const int64_t *after) {
    op o = {.kind = kind, .n = x->n - 2, .x = *x, .w = *w, .y = *y};
    for (int i = 0; i < o.n; i++) {
        o.stride[i] = stride[i], o.dilate[i] = dilate[i] + 1, o.pad[i] = pad[i];
        int64_t reach = (w->dim[w->n - o.n + i] - 1) * o.dilate[i] + 1;
        if ((x->dim[i + 2] + pad[i] + after[i] - reach) / stride[i] + 1 != y->dim[i + 2] || after[i] < 0) abort();
    }
    return o;
}
#define HOW const int64_t *stride, const int64_t *dilate, const int64_t *pad, const int64_t *after
#define PASS stride, dilate, pad, after
#ifdef OLDER
int dnnl_dilated_convolution_forward_desc_init(op *o, int prop, int alg, const desc *x, const desc *w, void *bias, const desc *y, HOW) {
    return *o = convolution(FORWARD, x, w, y, PASS), alg != 1 || bias;
}
int dnnl_dilated_convolution_backward_data_desc_init(op *o, int alg, const desc *x, const desc *w, const desc *y, HOW) {
    return *o = convolution(DATA, x, w, y, PASS), alg != 1;
}
int dnnl_dilated_convolution_backward_weights_desc_init(op *o, int alg, const desc *x, const desc *w, void *bias, const desc *y, HOW) {
    return *o = convolution(FILTER, x, w, y, PASS), alg != 1 || bias;
}
int dnnl_matmul_desc_init(op *o, const desc *a, const desc *b, void *bias, const desc *c) {
    return *o = (op){.kind = MATMUL, .x = *a, .w = *b, .y = *c}, bias != 0;
}
int dnnl_softmax_v2_forward_desc_init(op *o, int prop, int alg, const desc *x, const desc *y, int axis) {
    return *o = (op){.kind = SOFTMAX, .axis = axis, .log = alg & 1, .x = *x, .y = *y}, alg >> 1 != 0x18000;
}
int dnnl_primitive_desc_create(op **to, const op *o, void *attr, void *e, const op *hint) {
    if ((o->kind == DATA || o->kind == FILTER) != (hint && hint->kind == FORWARD)) abort();
    return *to = keep(o, sizeof *o), attr != &deterministic || e != &calls;
}
#else
static int finish(op **to, op o, void *e, void *attr) { return *to = keep(&o, sizeof o), e != &calls || attr != &deterministic; }
int dnnl_convolution_forward_primitive_desc_create(op **to, void *e, int prop, int alg, const desc *x, const desc *w, void *bias, const desc *y, HOW,
                                                   void *attr) {
    return alg != 1 || bias ? 2 : finish(to, convolution(FORWARD, x, w, y, PASS), e, attr);
}
int dnnl_convolution_backward_data_primitive_desc_create(op **to, void *e, int alg, const desc *x, const desc *w, const desc *y, HOW, const op *hint,
                                                         void *attr) {
    return alg != 1 || hint->kind != FORWARD ? 2 : finish(to, convolution(DATA, x, w, y, PASS), e, attr);
}
int dnnl_convolution_backward_weights_primitive_desc_create(op **to, void *e, int alg, const desc *x, const desc *w, void *bias, const desc *y, HOW,
                                                            const op *hint, void *attr) {
    return alg != 1 || bias || hint->kind != FORWARD ? 2 : finish(to, convolution(FILTER, x, w, y, PASS), e, attr);
}
int dnnl_matmul_primitive_desc_create(op **to, void *e, const desc *a, const desc *b, void *bias, const desc *c, void *attr) {
    return bias ? 2 : finish(to, (op){.kind = MATMUL, .x = *a, .w = *b, .y = *c}, e, attr);
}
int dnnl_softmax_forward_primitive_desc_create(op **to, void *e, int prop, int alg, const desc *x, const desc *y, int axis, void *attr) {
    return alg >> 1 != 0x18000 ? 2 : finish(to, (op){.kind = SOFTMAX, .axis = axis, .log = alg & 1, .x = *x, .y = *y}, e, attr);
}
#endif
int dnnl_reorder_primitive_desc_create(op **to, const desc *x, void *e, const desc *y, void *f, void *attr) {
    op o = {.kind = REORDER, .x = *x, .y = *y};
    return *to = keep(&o, sizeof o), e != &calls || f != &calls || attr != &deterministic;
}
// All but products work in memory that they are given, of eight numbers.
static const desc *scratch_of(const op *o) {
    fill((desc *)&o->scratch, 1, (dims){o->kind == MATMUL ? 0 : 8}, F32, (dims){1});
    return &o->scratch;
}
const desc *dnnl_primitive_desc_query_md(const op *o, int what, int index) {
    switch (what) {
    case 129: case 130: return &o->x;
    case 131: case 132: return &o->w;
    case 133: case 134: return &o->y;
    case 136: return scratch_of(o);
    }
    return 0;
}
// A product of three columns is what this library has no good loop for.
int dnnl_primitive_desc_query(const op *o, int what, int index, const char **to) {
    return *to = o->kind == MATMUL && o->y.dim[o->y.n - 1] == 3 ? "ref:any" : "loop:any", what != 8 || index;
}
int dnnl_primitive_desc_destroy(op *o) { return drop(o); }
int dnnl_primitive_create(op **to, const op *o) { return *to = keep(o, sizeof *o), 0; }
int dnnl_primitive_destroy(op *o) { return drop(o); }

static int64_t offset(const desc *d, const int64_t *i) {
    int64_t at = 0;
    for (int k = 0; k < d->n; k++) at += (d->dim[k] > 1 ? i[k] : 0) * d->stride[k];
    return at;
}
// Counts on; answers 0 behind the last.
static int next(const desc *d, int64_t *i) {
    for (int k = d->n - 1; k >= 0; k--) {
        if (++i[k] < d->dim[k]) return 1;
        i[k] = 0;
    }
    return 0;
}
static void clear(const desc *d, float *at) {
    dims i = {0};
    do at[offset(d, i)] = 0;
    while (next(d, i));
}
static void convolve(const op *o, float *x, float *w, float *y) {
    if (o->kind == FORWARD) clear(&o->y, y);
    if (o->kind == DATA) clear(&o->x, x);
    if (o->kind == FILTER) clear(&o->w, w);
    int groups = o->w.n - o->n - 2;
    int64_t k = o->w.dim[groups], c = o->w.dim[groups + 1];
    dims wi = {0};
    do {
        dims yi = {0};
        desc places = o->y;
        places.dim[1] = 1;
        do {
            dims xi = {yi[0], (groups ? wi[0] : 0) * c + wi[groups + 1]}, at;
            memcpy(at, yi, sizeof at);
            at[1] = (groups ? wi[0] : 0) * k + wi[groups];
            int in = 1;
            for (int d = 0; d < o->n; d++) {
                xi[d + 2] = yi[d + 2] * o->stride[d] - o->pad[d] + wi[groups + 2 + d] * o->dilate[d];
                in &= xi[d + 2] >= 0 && xi[d + 2] < o->x.dim[d + 2];
            }
            if (!in) continue;
            float *a = x + offset(&o->x, xi), *b = w + offset(&o->w, wi), *r = y + offset(&o->y, at);
            if (o->kind == FORWARD) *r += *a * *b;
            if (o->kind == DATA) *a += *r * *b;
            if (o->kind == FILTER) *b += *r * *a;
        } while (next(&places, yi));
    } while (next(&o->w, wi));
}
static void multiply(const op *o, float *a, float *b, float *c) {
    int n = o->y.n;
    dims i = {0};
    do {
        float s = 0;
        for (int64_t k = 0; k < o->x.dim[n - 1]; k++) {
            dims ai, bi;
            memcpy(ai, i, sizeof ai), memcpy(bi, i, sizeof bi);
            ai[n - 1] = bi[n - 2] = k;
            s += a[offset(&o->x, ai)] * b[offset(&o->w, bi)];
        }
        c[offset(&o->y, i)] = s;
    } while (next(&o->y, i));
}
static void softmax(const op *o, float *x, float *y) {
    desc rows = o->x;
    rows.dim[o->axis] = 1;
    dims i = {0};
    do {
        float top = -INFINITY, sum = 0;
        dims j;
        memcpy(j, i, sizeof j);
        for (j[o->axis] = 0; j[o->axis] < o->x.dim[o->axis]; j[o->axis]++) top = fmaxf(top, x[offset(&o->x, j)]);
        for (j[o->axis] = 0; j[o->axis] < o->x.dim[o->axis]; j[o->axis]++) sum += expf(x[offset(&o->x, j)] - top);
        for (j[o->axis] = 0; j[o->axis] < o->x.dim[o->axis]; j[o->axis]++) {
            float v = x[offset(&o->x, j)] - top;
            y[offset(&o->y, j)] = o->log ? v - logf(sum) : expf(v) / sum;
        }
    } while (next(&rows, i));
}

int dnnl_primitive_execute(const op *o, void *stream, int n, const argument *args) {
    float *x = 0, *w = 0, *y = 0, *scratch = 0;
    for (int i = 0; i < n; i++) switch (args[i].arg) {
        case SRC: case DIFF_SRC: x = args[i].m->at; break;
        case WEIGHTS: case DIFF_WEIGHTS: w = args[i].m->at; break;
        case DST: case DIFF_DST: y = args[i].m->at; break;
        case 80: scratch = args[i].m->at; break;
        default: abort();
        }
    if (o->kind != MATMUL) memset(scratch, 255, 32);
    calls[o->kind]++;
    started = threads;
    switch (o->kind) {
    case MATMUL: multiply(o, x, w, y); break;
    case SOFTMAX: softmax(o, x, y); break;
    case REORDER: {
        dims i = {0};
        do y[offset(&o->y, i)] = x[offset(&o->x, i)];
        while (next(&o->x, i));
        break;
    }
    default: convolve(o, x, w, y);
    }
    return stream != &calls;
}
