/* Memory without an address, addresses without memory, and memory of other processes: all are pages of the arena's file, mapped where
   they are wanted. A runner in another process does not see that. */
#define _GNU_SOURCE
#include "double.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNIT (64 << 10)

/* Pages of the file: an allocation of the arena that nobody may name by its address. */
struct physical {
    struct physical *next;
    char *at;
    size_t n;
    int dev, held, maps;
};
struct mapping {
    struct mapping *next;
    char *at;
    size_t n;
    struct physical *mem; /* NULL: of another process */
    int access[MAX_DEVICES];
};
struct reserved {
    struct reserved *next;
    char *at, *block;
    size_t n;
    struct mapping *maps;
};
static struct physical *physicals;
static struct reserved *reservations;

static struct reserved *reservation(const char *p, size_t n) {
    for (struct reserved *r = reservations; r; r = r->next)
        if (p >= r->at && p + n <= r->at + r->n) return r;
    return NULL;
}

int mapped_check(const char *p, size_t n) {
    struct reserved *r = reservation(p, 1);
    if (!r) return -1;
    while (n) { /* mappings that follow each other are one range */
        struct mapping *m = r->maps;
        while (m && !(p >= m->at && p < m->at + m->n)) m = m->next;
        if (!m || !m->access[current]) return 0;
        size_t left = m->at + m->n - p, k = n < left ? n : left;
        p += k;
        n -= k;
    }
    return 1;
}

/* 1 and the mapping; 0: not here; -1: reserved, and nothing there that may be touched. */
int mapped_find(uint64_t at, uint64_t *base, uint64_t *size) {
    struct reserved *r = reservation((char *)at, 1);
    if (!r) return 0;
    for (struct mapping *m = r->maps; m; m = m->next)
        for (int d = 0; d < MAX_DEVICES; d++)
            if (m->access[d] && (char *)at >= m->at && (char *)at < m->at + m->n) {
                *base = (uint64_t)m->at;
                *size = m->n;
                return 1;
            }
    return -1;
}

static int locked(int r) {
    pthread_mutex_unlock(&lock);
    return fail(r);
}

static int bad_properties(const int *p) { return !p || p[0] != 1 || p[1] != 0 || p[2] != 1 || bad_device(p[3]); }

int hipMemGetAllocationGranularity(size_t *n, const int *properties, int option) {
    if (!n || bad_properties(properties) || option < 0 || option > 1) return fail(INVALID_VALUE);
    *n = UNIT;
    return OK;
}

/* Reserved addresses lie in the arena, too, and have no pages. */
int hipMemAddressReserve(void **out, size_t n, size_t alignment, void *wish, unsigned long long flags) {
    if (!out || flags) return fail(INVALID_VALUE);
    if (!n || n % UNIT || alignment & (alignment - 1)) return fail(OUT_OF_MEMORY);
    if (alignment < UNIT) alignment = UNIT;
    (void)wish;
    pthread_mutex_lock(&lock);
    char *block = arena_alloc(n + alignment, current, 1);
    if (!block) return locked(OUT_OF_MEMORY);
    live[LIVE_MEMORY]--; /* addresses are no memory */
    struct reserved *r = calloc(1, sizeof *r);
    *r = (struct reserved){.next = reservations, .block = block, .at = (char *)(((uint64_t)block + alignment - 1) / alignment * alignment), .n = n};
    reservations = r;
    mprotect(r->at, n, PROT_NONE);
    *out = r->at;
    return locked(OK);
}

int hipMemAddressFree(void *p, size_t n) {
    pthread_mutex_lock(&lock);
    for (struct reserved **q = &reservations; *q; q = &(*q)->next)
        if ((*q)->at == p && (*q)->n == n) {
            struct reserved *r = *q;
            if (r->maps) return locked(INVALID_VALUE); /* HIP would not look */
            *q = r->next;
            mprotect(r->at, n, PROT_READ | PROT_WRITE);
            live[LIVE_MEMORY]++;
            arena_free(r->block, 1);
            free(r);
            return locked(OK);
        }
    return locked(INVALID_VALUE);
}

int hipMemCreate(struct physical **out, size_t n, const int *properties, unsigned long long flags) {
    if (!out || !n || n % UNIT || bad_properties(properties) || flags) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    char *at = arena_alloc(n, properties[3], 0);
    if (!at) return locked(OUT_OF_MEMORY);
    struct physical *p = calloc(1, sizeof *p);
    *p = (struct physical){.next = physicals, .at = at, .n = n, .dev = properties[3], .held = 1};
    *out = physicals = p;
    return locked(OK);
}

static struct physical *known(struct physical *h) {
    struct physical *p = physicals;
    while (p && p != h) p = p->next;
    return p;
}

static void drop(struct physical *h) {
    if (h->held || h->maps) return;
    for (struct physical **q = &physicals; *q; q = &(*q)->next)
        if (*q == h) {
            *q = h->next;
            break;
        }
    arena_free(h->at, 0);
    free(h);
}

int hipMemRelease(struct physical *h) {
    pthread_mutex_lock(&lock);
    if (!known(h) || !h->held) return locked(INVALID_VALUE);
    h->held = 0;
    drop(h);
    return locked(OK);
}

static int put(struct reserved *r, char *p, size_t n, int fd, off_t off, struct physical *mem) {
    if (mmap(p, n, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, off) != p) return OUT_OF_MEMORY;
    struct mapping *m = calloc(1, sizeof *m);
    *m = (struct mapping){.next = r->maps, .at = p, .n = n, .mem = mem};
    r->maps = m;
    return OK;
}

int hipMemMap(char *p, size_t n, size_t offset, struct physical *h, unsigned long long flags) {
    pthread_mutex_lock(&lock);
    struct reserved *r = reservation(p, n);
    if (!r || !known(h) || !h->held || n != h->n || (uint64_t)p % UNIT || offset || flags) return locked(INVALID_VALUE);
    for (struct mapping *m = r->maps; m; m = m->next)
        if (p < m->at + m->n && m->at < p + n) return locked(INVALID_VALUE);
    int e = put(r, p, n, arena_fd, h->at - arena, h);
    if (e == OK) h->maps++;
    return locked(e);
}

int hipMemSetAccess(char *p, size_t n, const int *list, size_t count) {
    if (!p || !n || !list || !count) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    struct reserved *r = reservation(p, n);
    struct mapping *m = r ? r->maps : NULL;
    while (m && (m->at != p || m->n != n)) m = m->next;
    if (!m) return locked(INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        const int *d = list + 3 * i;
        if (d[0] != 1 || bad_device(d[1]) || (d[2] != 0 && d[2] != 1 && d[2] != 3)) return locked(INVALID_VALUE);
        m->access[d[1]] = d[2];
    }
    int any = 0;
    for (int d = 0; d < MAX_DEVICES; d++) any |= m->access[d];
    mprotect(p, n, any ? PROT_READ | PROT_WRITE : PROT_NONE);
    return locked(OK);
}

static int unmap(struct reserved *r, char *p, size_t n) {
    for (struct mapping **q = &r->maps; *q; q = &(*q)->next)
        if ((*q)->at == p && (*q)->n == n) {
            struct mapping *m = *q;
            *q = m->next;
            mmap(p, n, PROT_NONE, MAP_SHARED | MAP_FIXED, arena_fd, p - arena);
            if (m->mem) {
                m->mem->maps--;
                drop(m->mem);
            }
            free(m);
            return OK;
        }
    return INVALID_VALUE;
}

int hipMemUnmap(char *p, size_t n) {
    pthread_mutex_lock(&lock);
    struct reserved *r = reservation(p, n);
    return locked(r ? unmap(r, p, n) : INVALID_VALUE);
}

/* What a device may do with a mapping, for tests. */
int kz_double_access(char *p, int dev) {
    struct reserved *r = reservation(p, 1);
    for (struct mapping *m = r ? r->maps : NULL; m; m = m->next)
        if (p >= m->at && p < m->at + m->n) return m->access[dev];
    return -1;
}

/* -- other processes: a handle names the arena's file of its process -- */

struct handle {
    char tag[16];
    uint64_t off, n;
    int pid, fd;
    char rest[24];
};
_Static_assert(sizeof(struct handle) == 64, "as HIP's");

int hipIpcGetMemHandle(struct handle *h, char *p) {
    if (!h || !p) return fail(INVALID_VALUE);
    pthread_mutex_lock(&lock);
    char *base;
    size_t n;
    int r = mapped_check(p, 1) < 0 && p > arena ? arena_range(p, &base, &n) : INVALID_VALUE;
    if (r == OK) *h = (struct handle){.tag = "double of HIP's", .off = base - arena, .n = n, .pid = getpid(), .fd = arena_fd};
    return locked(r);
}

#ifdef ROCM5
#define LAZY 0
#else
#define LAZY 1
#endif

int hipIpcOpenMemHandle(void **out, struct handle h, unsigned flags) {
    if (!out || flags != LAZY || strcmp(h.tag, "double of HIP's") || !h.n) return fail(INVALID_VALUE);
    if (h.pid == getpid()) return fail(INVALID_CONTEXT);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h.pid, h.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return fail(17); /* hipErrorInvalidDevicePointer */
    pthread_mutex_lock(&lock);
    char *at = arena_alloc(h.n, current, 1);
    size_t pages = (h.n + 4095) / 4096 * 4096;
    int r = !at ? OUT_OF_MEMORY : mmap(at, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, h.off) == at ? OK : OUT_OF_MEMORY;
    close(fd);
    if (r == OK) *out = at;
    return locked(r);
}

int hipIpcCloseMemHandle(char *p) {
    pthread_mutex_lock(&lock);
    char *base;
    size_t n;
    if (!p || arena_range(p, &base, &n) || base != p) return locked(INVALID_VALUE);
    mmap(p, (n + 4095) / 4096 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, arena_fd, p - arena);
    return locked(arena_free(p, 1));
}
