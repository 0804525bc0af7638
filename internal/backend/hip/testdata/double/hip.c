/* The functions of libamdhip64 that internal/spec/hip.api lists. Built with ROCM5, those that ROCm 5.2 lacks are missing. */
#define _GNU_SOURCE
#include "double.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
struct device devices[MAX_DEVICES];
int device_count = -1;
_Thread_local int current;
static _Thread_local int last_error;
long live[4];

long kz_double_live(int kind) { return live[kind]; }

/* A fault is over: for tests that go on. */
void kz_double_reset(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES; i++) devices[i].error = OK;
    pthread_mutex_unlock(&lock);
}

int fail(int r) { return last_error = r; }

struct event {
    uint32_t magic;
    uint64_t recorded, done; /* how often */
    struct timespec at;
};
#define EVENT_MAGIC 0x45564e54u

enum { OP_COPY, OP_COPY2D, OP_FILL, OP_KERNEL, OP_HOST, OP_HOST3, OP_RECORD, OP_WAIT, OP_FETCH };
struct op {
    struct op *next;
    int kind;
    char *dst;
    const char *src;
    size_t n, dpitch, spitch, rows;
    uint32_t value, size;
    struct launch launch;
    void *fn, *data;
    struct event *event;
    uint64_t ticket;
};
struct stream {
    uint32_t magic;
    int dev, closing, busy;
    struct op *head, **tail;
    pthread_t thread;
};
#define STREAM_MAGIC 0x5354524du

static long advised[8], fetched[MAX_DEVICES + 1]; /* how often each advice was given; bytes fetched to each device, and to the host */

static void execute(struct stream *s, struct op *o) {
    switch (o->kind) {
    case OP_COPY: memmove(o->dst, o->src, o->n); break;
    case OP_COPY2D:
        for (size_t y = 0; y < o->rows; y++) memmove(o->dst + y * o->dpitch, o->src + y * o->spitch, o->n);
        break;
    case OP_FILL:
        for (size_t y = 0; y < o->rows; y++)
            for (size_t i = 0; i < o->n; i++) memcpy(o->dst + y * o->dpitch + i * o->size, &o->value, o->size);
        break;
    case OP_KERNEL: {
        int r = launch_run(&o->launch);
        pthread_mutex_lock(&lock);
        live[LIVE_MEMORY]++; /* launch_prepare took it out */
        arena_free(o->launch.kernarg, 1);
        o->launch.fn->module->pending--;
        if (r != OK) devices[s->dev].error = r;
        pthread_mutex_unlock(&lock);
        break;
    }
    case OP_FETCH: __atomic_fetch_add(&fetched[o->value], o->n, __ATOMIC_SEQ_CST); break;
    case OP_HOST: ((void (*)(void *))o->fn)(o->data); break;
    case OP_HOST3: ((void (*)(void *, int, void *))o->fn)(s, 0, o->data); break;
    }
}

static void *work(void *p) {
    struct stream *s = p;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!s->head && !s->closing) pthread_cond_wait(&moved, &lock);
        if (!s->head) break;
        struct op *o = s->head;
        while (o->kind == OP_WAIT && o->event->done < o->ticket) pthread_cond_wait(&moved, &lock);
        if (!(s->head = o->next)) s->tail = &s->head;
        s->busy = 1;
        pthread_mutex_unlock(&lock);
        int skip = devices[s->dev].error && o->kind != OP_HOST && o->kind != OP_HOST3;
        if (!skip) execute(s, o);
        pthread_mutex_lock(&lock);
        if (skip && o->kind == OP_KERNEL) o->launch.fn->module->pending--;
        if (o->kind == OP_RECORD) {
            o->event->done = o->ticket;
            clock_gettime(CLOCK_MONOTONIC, &o->event->at);
        }
        s->busy = 0;
        free(o);
        pthread_cond_broadcast(&moved);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* enqueue takes what it is given by value. A stream belongs to a device, which must be the current one. */
static int enqueue(struct stream *s, struct op o) {
    int r = OK;
    pthread_mutex_lock(&lock);
    if (!s || s->magic != STREAM_MAGIC) r = INVALID_HANDLE;
    else if (s->dev != current) r = INVALID_DEVICE;
    else if (devices[s->dev].error && o.kind != OP_RECORD) r = devices[s->dev].error;
    if (r == OK) {
        struct op *p = malloc(sizeof *p);
        *p = o;
        p->next = NULL;
        if (p->kind == OP_RECORD) p->ticket = ++p->event->recorded;
        if (p->kind == OP_WAIT) p->ticket = p->event->recorded;
        if (p->kind == OP_KERNEL) p->launch.fn->module->pending++;
        *s->tail = p;
        s->tail = &p->next;
        pthread_cond_broadcast(&moved);
    }
    pthread_mutex_unlock(&lock);
    return fail(r);
}

static int span(const void *p, size_t n) {
    pthread_mutex_lock(&lock);
    int r = p ? arena_check(p, n) : INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return r;
}

/* -- devices -- */

static void find_devices(void) {
    const char *list = getenv("KUDZU_DOUBLE_DEVICES"), *over = getenv("HSA_OVERRIDE_GFX_VERSION");
    char buf[512];
    snprintf(buf, sizeof buf, "%s", list ? list : "gfx1100");
    device_count = 0;
    for (char *save, *w = strtok_r(buf, ",", &save); w && device_count < MAX_DEVICES; w = strtok_r(NULL, ",", &save)) {
        struct device *d = &devices[device_count++];
        unsigned a, b, c;
        snprintf(d->arch, sizeof d->arch, "%s", w);
        if (over && sscanf(over, "%u.%u.%u", &a, &b, &c) == 3) snprintf(d->arch, sizeof d->arch, "gfx%u%x%x", a, b, c); /* as ROCr does */
        d->total = 1ull << 30;
    }
}

int hipInit(unsigned flags) {
    if (flags) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    if (device_count < 0) find_devices();
    int r = device_count ? arena_open() : NO_DEVICE;
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int can_manage(void);
int bad_device(int d) { return device_count < 0 ? NOT_INITIALIZED : d < 0 || d >= device_count ? INVALID_DEVICE : OK; }

#ifdef ROCM5
int hipRuntimeGetVersion(int *v) { return *v = 50221153, OK; }
#else
int hipRuntimeGetVersion(int *v) { return *v = 60342133, OK; }
#endif
int hipGetDeviceCount(int *n) { return *n = device_count < 0 ? 0 : device_count, fail(device_count > 0 ? OK : NO_DEVICE); }

int hipSetDevice(int d) {
    int r = bad_device(d);
    if (r == OK) current = d;
    return fail(r);
}

int hipDeviceGetName(char *name, int len, int d) {
    if (bad_device(d) || !name || len <= 0) return fail(INVALID_VALUE);
    snprintf(name, len, "Double %d", d);
    return OK;
}

int hipDeviceGetUuid(char *uuid, int d) {
    if (bad_device(d)) return fail(INVALID_DEVICE);
    memset(uuid, 0, 16);
    if (d != 1) snprintf(uuid, 16, "double-%d", d); /* the second has none, as consumer cards */
    return OK;
}

int hipDeviceTotalMem(size_t *n, int d) { return bad_device(d) ? fail(INVALID_DEVICE) : (*n = devices[d].total, OK); }

int hipDeviceGetAttribute(int *v, int a, int d) {
    static const struct { int attr, value; } known[] = {{56, 1024}, {26, 1024}, {27, 1024}, {28, 1024}, {29, 2147483647}, {30, 65536}, {31, 65536}, {74, 65536},
        {10002, 65536}, {63, 48}, {5, 2300000}, {60, 1250000}, {59, 384}, {19, 6291456}, {57, 2048}, {71, 65536}, {68, 0}, {69, 0}, {65, 0}, {10, 1}, {16, 0}, {87, 32},
#ifndef ROCM5
        {89, 1},
#endif
    };
    if (bad_device(d) || !v) return fail(INVALID_DEVICE);
    if (a == 67) return *v = 3 + d, OK; /* the bus: a slot each */
    if (a == 24 || a == 9) return *v = can_manage(), OK;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attr == a) return *v = known[i].value, OK;
    return fail(INVALID_VALUE);
}

static int properties(char *p, int d, size_t size, size_t name) {
    if (bad_device(d) || !p) return fail(INVALID_DEVICE);
    memset(p, 0, size);
    snprintf(p, 256, "Double %d", d);
    snprintf(p + name, 256, "%s", devices[d].arch);
    return OK;
}
int hipGetDeviceProperties(char *p, int d) { return properties(p, d, 792, 396); }
#ifndef ROCM5
int hipGetDevicePropertiesR0600(char *p, int d) { return properties(p, d, 1472, 1160); }
#endif

/* -- peers and limits: devices of one generation reach each other -- */

static int enabled[MAX_DEVICES][MAX_DEVICES];
static size_t stack_limit[MAX_DEVICES];

int hipDeviceCanAccessPeer(int *can, int d, int peer) {
    if (!can || bad_device(d) || bad_device(peer)) return fail(INVALID_DEVICE);
    *can = d != peer && !strncmp(devices[d].arch, devices[peer].arch, 5);
    return OK;
}
int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
    int can = 0;
    if (flags || hipDeviceCanAccessPeer(&can, current, peer)) return fail(INVALID_VALUE);
    if (!can) return fail(217);
    if (enabled[current][peer]) return fail(704);
    enabled[current][peer] = 1;
    return OK;
}
int hipDeviceDisablePeerAccess(int peer) {
    if (bad_device(peer)) return fail(INVALID_DEVICE);
    if (!enabled[current][peer]) return fail(705);
    enabled[current][peer] = 0;
    return OK;
}
int kz_double_enabled(int d, int peer) { return enabled[d][peer]; }

int hipDeviceGetLimit(size_t *v, int limit) {
    if (!v || limit) return fail(215);
    *v = stack_limit[current] ? stack_limit[current] : 1024;
    return OK;
}
#ifndef ROCM5
int hipDeviceSetLimit(int limit, size_t v) {
    if (limit) return fail(215);
    if (v > 131056) return fail(INVALID_VALUE);
    stack_limit[current] = v;
    return OK;
}
#endif
size_t kz_double_stack(int d) { return stack_limit[d]; }

int hipDeviceGetStreamPriorityRange(int *least, int *greatest) { return *least = 1, *greatest = -1, OK; }

const char *hipGetErrorName(int r) {
    switch (r) {
    case OK: return "hipSuccess";
    case INVALID_VALUE: return "hipErrorInvalidValue";
    case OUT_OF_MEMORY: return "hipErrorOutOfMemory";
    case NO_DEVICE: return "hipErrorNoDevice";
    case INVALID_IMAGE: return "hipErrorInvalidImage";
    case NO_BINARY: return "hipErrorNoBinaryForGpu";
    case ILLEGAL_ADDRESS: return "hipErrorIllegalAddress";
    case LAUNCH_FAILURE: return "hipErrorLaunchFailure";
    }
    return "hipErrorUnknown";
}

int hipGetLastError(void) {
    int r = last_error;
    last_error = OK;
    return r;
}

/* -- memory -- */

static int allocate(void **p, size_t n, int host) {
    if (!p) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    int r = devices[current].error;
    if (r == OK && !(*p = arena_alloc(n, current, host))) r = n ? OUT_OF_MEMORY : INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return fail(r);
}

static int release(void *p, int host) {
    pthread_mutex_lock(&lock);
    int r = p ? arena_free(p, host) : OK;
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipMalloc(void **p, size_t n) { return allocate(p, n, 0); }
int hipFree(void *p) { return release(p, 0); }
int hipHostMalloc(void **p, size_t n, unsigned flags) { return flags & ~0xe0000007u ? fail(INVALID_VALUE) : allocate(p, n, 1); }
int hipHostFree(void *p) { return release(p, 1); }

int hipMemGetAddressRange(char **base, size_t *n, void *p) {
    if (!base || !n) return fail(INVALID_VALUE); /* HIP takes no null here, where CUDA does */
    pthread_mutex_lock(&lock);
    int r = arena_range(p, base, n);
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipMemGetInfo(size_t *free, size_t *total) {
    *total = devices[current].total;
    *free = *total - devices[current].used;
    return OK;
}

static struct pin { struct pin *next; void *p; } *pins;

int hipHostRegister(void *p, size_t n, unsigned flags) {
    if (!p || !n || flags & ~0xfu) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    int r = OK;
    for (struct pin *q = pins; q; q = q->next)
        if (q->p == p) r = ALREADY_REGISTERED;
    if (r == OK) {
        struct pin *q = malloc(sizeof *q);
        *q = (struct pin){pins, p};
        pins = q;
    }
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipHostUnregister(void *p) {
    pthread_mutex_lock(&lock);
    int r = NOT_REGISTERED;
    for (struct pin **q = &pins; *q; q = &(*q)->next)
        if ((*q)->p == p) {
            struct pin *x = *q;
            *q = x->next;
            free(x);
            r = OK;
            break;
        }
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipHostGetDevicePointer(void **d, void *h, unsigned flags) { return flags || !d ? fail(INVALID_VALUE) : (*d = h, OK); }

/* -- managed memory: where a kernel driver moves pages, unless KUDZU_DOUBLE_MANAGED=0 -- */

int can_manage(void) {
    const char *e = getenv("KUDZU_DOUBLE_MANAGED");
    return !e || strcmp(e, "0");
}

int hipMallocManaged(void **p, size_t n, unsigned flags) {
    if (flags != 1 && flags != 2) return fail(INVALID_VALUE);
    const char *e = getenv("KUDZU_DOUBLE_MANAGED");
    if (!can_manage() || (e && !strcmp(e, "refused"))) return fail(NOT_SUPPORTED);
    int r = allocate(p, n, 0);
    pthread_mutex_lock(&lock);
    if (r == OK) arena_manage(*p);
    pthread_mutex_unlock(&lock);
    return r;
}

long kz_double_advised(int advice) { return advice >= 1 && advice <= 6 ? advised[advice] : -1; }
long kz_double_fetched(int device) { return device >= -1 && device < MAX_DEVICES ? fetched[device < 0 ? MAX_DEVICES : device] : -1; }

static int managed(const void *p, size_t n, int device) {
    if (device != -1 && bad_device(device)) return INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    int ok = n && arena_managed(p, n);
    pthread_mutex_unlock(&lock);
    return ok ? OK : INVALID_VALUE;
}

int hipMemAdvise(const void *p, size_t n, int advice, int device) {
    int r = managed(p, n, device);
    if (r == OK && (advice < 1 || advice > 6)) r = INVALID_VALUE;
    if (r == OK) __atomic_fetch_add(&advised[advice], 1, __ATOMIC_SEQ_CST);
    return fail(r);
}

int hipMemPrefetchAsync(const void *p, size_t n, int device, struct stream *s) {
    int r = managed(p, n, device);
    if (r != OK) return fail(r);
    return enqueue(s, (struct op){.kind = OP_FETCH, .n = n, .value = device < 0 ? MAX_DEVICES : device});
}

/* -- work -- */

int hipMemcpyAsync(void *dst, const void *src, size_t n, int kind, struct stream *s) {
    if (kind < 0 || kind > 4 || span(dst, n) || span(src, n)) return fail(INVALID_VALUE);
    return enqueue(s, (struct op){.kind = OP_COPY, .dst = dst, .src = src, .n = n});
}

int hipMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind, struct stream *s) {
    if (kind < 0 || kind > 4 || width > dpitch || width > spitch || span(dst, dpitch * (height - 1) + width) || span(src, spitch * (height - 1) + width)) return fail(INVALID_VALUE);
    return enqueue(s, (struct op){.kind = OP_COPY2D, .dst = dst, .src = src, .n = width, .dpitch = dpitch, .spitch = spitch, .rows = height});
}

static int fill(void *dst, uint32_t value, uint32_t size, size_t count, size_t pitch, size_t rows, struct stream *s) {
    if (span(dst, pitch * (rows - 1) + count * size) || (uint64_t)dst % size) return fail(INVALID_VALUE);
    return enqueue(s, (struct op){.kind = OP_FILL, .dst = dst, .value = value, .size = size, .n = count, .dpitch = pitch, .rows = rows});
}
int hipMemsetD8Async(void *dst, unsigned char v, size_t n, struct stream *s) { return fill(dst, v, 1, n, 0, 1, s); }
int hipMemsetD16Async(void *dst, unsigned short v, size_t n, struct stream *s) { return fill(dst, v, 2, n, 0, 1, s); }
int hipMemsetD32Async(void *dst, int v, size_t n, struct stream *s) { return fill(dst, v, 4, n, 0, 1, s); }
int hipMemset2DAsync(void *dst, size_t pitch, int v, size_t width, size_t height, struct stream *s) {
    return width > pitch ? fail(INVALID_VALUE) : fill(dst, v, 1, width, pitch, height, s);
}

int hipStreamCreateWithPriority(struct stream **out, unsigned flags, int priority) {
    if (flags > 1 || priority < -1 || priority > 1) return fail(INVALID_VALUE);
    struct stream *s = calloc(1, sizeof *s);
    s->magic = STREAM_MAGIC;
    s->dev = current;
    s->tail = &s->head;
    if (pthread_create(&s->thread, NULL, work, s)) return fail(OUT_OF_MEMORY);
    pthread_mutex_lock(&lock);
    live[LIVE_STREAMS]++;
    pthread_mutex_unlock(&lock);
    *out = s;
    return OK;
}

int hipStreamSynchronize(struct stream *s) {
    if (!s || s->magic != STREAM_MAGIC) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    while (s->head || s->busy) pthread_cond_wait(&moved, &lock);
    int r = devices[s->dev].error;
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipStreamQuery(struct stream *s) {
    if (!s || s->magic != STREAM_MAGIC) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    int r = s->head || s->busy ? NOT_READY : devices[s->dev].error;
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipStreamDestroy(struct stream *s) {
    if (!s || s->magic != STREAM_MAGIC) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    s->closing = 1;
    live[LIVE_STREAMS]--;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&lock);
    pthread_join(s->thread, NULL);
    s->magic = 0; /* it stays, so that its use afterwards is found */
    return OK;
}

#ifndef ROCM5
int hipLaunchHostFunc(struct stream *s, void *fn, void *data) { return enqueue(s, (struct op){.kind = OP_HOST, .fn = fn, .data = data}); }
#endif
int hipStreamAddCallback(struct stream *s, void *fn, void *data, unsigned flags) {
    return flags ? fail(INVALID_VALUE) : enqueue(s, (struct op){.kind = OP_HOST3, .fn = fn, .data = data});
}

/* -- events -- */

static int bad_event(struct event *e) { return !e || e->magic != EVENT_MAGIC; }

int hipEventCreateWithFlags(struct event **out, unsigned flags) {
    if (flags & ~0xe0000007u) return fail(INVALID_VALUE);
    *out = calloc(1, sizeof **out);
    (*out)->magic = EVENT_MAGIC;
    pthread_mutex_lock(&lock);
    live[LIVE_EVENTS]++;
    pthread_mutex_unlock(&lock);
    return OK;
}
int hipEventRecord(struct event *e, struct stream *s) { return bad_event(e) ? fail(INVALID_HANDLE) : enqueue(s, (struct op){.kind = OP_RECORD, .event = e}); }
int hipStreamWaitEvent(struct stream *s, struct event *e, unsigned flags) {
    return bad_event(e) || flags ? fail(INVALID_HANDLE) : enqueue(s, (struct op){.kind = OP_WAIT, .event = e});
}
int hipEventQuery(struct event *e) {
    if (bad_event(e)) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    int r = e->done < e->recorded ? NOT_READY : devices[current].error;
    pthread_mutex_unlock(&lock);
    return fail(r);
}
int hipEventSynchronize(struct event *e) {
    if (bad_event(e)) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    while (e->done < e->recorded) pthread_cond_wait(&moved, &lock);
    int r = devices[current].error;
    pthread_mutex_unlock(&lock);
    return fail(r);
}
int hipEventElapsedTime(float *ms, struct event *a, struct event *b) {
    if (bad_event(a) || bad_event(b) || !ms) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    int r = !a->recorded || !b->recorded ? INVALID_HANDLE : a->done < a->recorded || b->done < b->recorded ? NOT_READY : OK;
    *ms = (float)((b->at.tv_sec - a->at.tv_sec) * 1e3 + (b->at.tv_nsec - a->at.tv_nsec) / 1e6);
    pthread_mutex_unlock(&lock);
    return fail(r);
}
int hipEventDestroy(struct event *e) {
    if (bad_event(e)) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    while (e->done < e->recorded) pthread_cond_wait(&moved, &lock); /* HIP frees it later; a stream's list points at it here */
    e->magic = 0;
    live[LIVE_EVENTS]--;
    pthread_mutex_unlock(&lock);
    free(e);
    return OK;
}

/* -- modules -- */

int hipModuleLoadData(struct module **out, const void *image) {
    if (!out || !image) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    int r = object_load(image, current, out);
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipModuleUnload(struct module *m) {
    if (!m || m->magic != MODULE_MAGIC) return fail(INVALID_HANDLE);
    pthread_mutex_lock(&lock);
    if (m->pending) { /* HIP would let the GPU run into what is no longer there */
        fprintf(stderr, "double: a module is unloaded with %d launches in streams\n", m->pending);
        abort();
    }
    live[LIVE_MODULES]--;
    live[LIVE_MEMORY]++;
    object_free(m);
    pthread_mutex_unlock(&lock);
    return OK;
}

int hipModuleGetFunction(struct function **out, struct module *m, const char *name) {
    if (!m || m->magic != MODULE_MAGIC || !name) return fail(INVALID_HANDLE);
    for (struct function *f = m->functions; f; f = f->next)
        if (!strcmp(f->name, name)) return *out = f, OK;
    return fail(NOT_FOUND);
}

/* A model: four SIMDs of so many vector registers a lane, given in pieces, 2048 threads in all; LDS of 64 KiB. */
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct function *f, int threads, size_t shared) {
    if (!blocks || threads <= 0) return fail(INVALID_VALUE);
    if (!f || !f->module || f->module->magic != MODULE_MAGIC || f->module->dev != current) return fail(INVALID_HANDLE);
    uint32_t wave = f->wave ? f->wave : 32, simds = 4, most = 2048 / simds / wave, all = wave == 64 ? 512 : 1024, piece = wave == 64 ? 8 : 16;
    uint32_t each = ((f->vgprs ? f->vgprs : 1) + piece - 1) / piece * piece;
    uint32_t waves = all / each < most ? all / each : most;
    uint64_t lds = f->group + shared, n = simds * waves / ((threads + wave - 1) / wave);
    if (lds && 65536 / lds < n) n = 65536 / lds;
    *blocks = (int)n;
    return OK;
}

static int launch(struct function *f, const uint32_t *g, const uint32_t *b, uint32_t shared, struct stream *s, const char *block, size_t n, int cooperative) {
    struct op o = {.kind = OP_KERNEL, .launch = {.fn = f, .shared = shared, .cooperative = cooperative}};
    if (!f || !f->module || f->module->magic != MODULE_MAGIC || f->module->dev != current) return fail(INVALID_HANDLE);
    for (int i = 0; i < 3; i++) {
        if (!g[i] || !b[i] || (uint64_t)g[i] * b[i] > UINT32_MAX) return fail(INVALID_VALUE);
        o.launch.grid[i] = g[i];
        o.launch.block[i] = b[i];
    }
    if (b[0] * b[1] * b[2] > 1024 || f->group + shared > 65536) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    int r = launch_prepare(&o.launch, block, n);
    pthread_mutex_unlock(&lock);
    if (r == OK && (r = enqueue(s, o)) == OK) return OK;
    pthread_mutex_lock(&lock);
    if (o.launch.kernarg) {
        live[LIVE_MEMORY]++;
        arena_free(o.launch.kernarg, 1);
    }
    pthread_mutex_unlock(&lock);
    return fail(r);
}

int hipModuleLaunchKernel(struct function *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared, struct stream *s, void **params, void **extra) {
    if (params || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3) return fail(INVALID_VALUE);
    return launch(f, (uint32_t[]){gx, gy, gz}, (uint32_t[]){bx, by, bz}, shared, s, extra[1], *(size_t *)extra[3], 0);
}

#ifndef ROCM5
int hipModuleLaunchCooperativeKernel(struct function *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared, struct stream *s, void **params) {
    char block[4096] = {0};
    size_t n = 0;
    int k = 0;
    if (!f || !f->module || f->module->magic != MODULE_MAGIC) return fail(INVALID_HANDLE);
    for (uint32_t i = 0; i < f->args; i++) {
        struct arg *a = &f->arg[i];
        if (!strncmp(a->kind, "hidden_", 7)) continue;
        if (a->offset + a->size > sizeof block || !params) return fail(INVALID_VALUE);
        memcpy(block + a->offset, params[k++], a->size);
        n = a->offset + a->size;
    }
    return launch(f, (uint32_t[]){gx, gy, gz}, (uint32_t[]){bx, by, bz}, shared, s, block, n, 1);
}
#endif
