/* The double's memory: one mapping at a fixed address, from a file that a runner may map too, and a list of allocations. */
#define _GNU_SOURCE
#include "double.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST 0x100000000000ull /* one behind the other, should several doubles live in a process */
#define DOUBLES 64
#define ARENA_BYTES (4ull << 30)
#define PAGE 4096

struct block {
    struct block *next;
    char *at;
    size_t n, want;
    int dev, host, managed;
};
static struct block *blocks; /* by address; guarded by lock */
char *arena;
int arena_fd = -1;

int arena_open(void) {
    if (arena) return OK;
    const char *path = getenv("KUDZU_DOUBLE_ARENA");
    int fd = path && *path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : memfd_create("double", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, ARENA_BYTES) != 0) return OUT_OF_MEMORY;
    for (int i = 0; i < DOUBLES && !arena; i++) {
        char *want = (char *)(FIRST + i * ARENA_BYTES);
        void *p = mmap(want, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);
        if (p == want) arena = want;
        else if (p != MAP_FAILED) munmap(p, ARENA_BYTES);
    }
    arena_fd = fd; /* memory is mapped again elsewhere, and by other processes */
    return arena ? OK : OUT_OF_MEMORY;
}

void *arena_alloc(size_t n, int dev, int host) {
    size_t size = (n + PAGE - 1) / PAGE * PAGE + PAGE; /* a page of nothing behind each: a run past the end is found */
    if (n == 0 || n > ARENA_BYTES || (!host && devices[dev].used + n > devices[dev].total)) return NULL;
    char *at = arena + PAGE;
    struct block **p = &blocks;
    for (; *p; p = &(*p)->next) {
        if ((size_t)((*p)->at - at) >= size) break;
        at = (*p)->at + (*p)->n;
    }
    if (at + size > arena + ARENA_BYTES) return NULL;
    struct block *b = calloc(1, sizeof *b);
    *b = (struct block){.next = *p, .at = at, .n = size, .want = n, .dev = dev, .host = host};
    *p = b;
    if (!host) devices[dev].used += n;
    live[LIVE_MEMORY]++;
    memset(at, 0xa5, n < (1 << 20) ? n : (1 << 20)); /* fresh memory is not zero */
    return at;
}

int arena_free(void *p, int host) {
    for (struct block **q = &blocks; *q; q = &(*q)->next)
        if ((*q)->at == p && (*q)->host == host) {
            struct block *b = *q;
            *q = b->next;
            if (!host) devices[b->dev].used -= b->want;
            madvise(b->at, b->n, MADV_REMOVE);
            free(b);
            live[LIVE_MEMORY]--;
            return OK;
        }
    return INVALID_VALUE;
}

void arena_manage(void *p) {
    for (struct block *b = blocks; b; b = b->next)
        if (b->at == p) b->managed = 1;
}

int arena_managed(const void *p, size_t n) {
    const char *at = p;
    for (struct block *b = blocks; b; b = b->next)
        if (at >= b->at && at + n <= b->at + b->want) return b->managed;
    return 0;
}

int arena_check(const void *p, size_t n) {
    const char *at = p;
    if (at + n <= arena || at >= arena + ARENA_BYTES) return OK; /* memory of the program */
    int mapped = mapped_check(at, n);
    if (mapped >= 0) return mapped ? OK : INVALID_VALUE;
    for (struct block *b = blocks; b; b = b->next)
        if (at >= b->at && at + n <= b->at + b->want) return OK;
    return INVALID_VALUE;
}

int arena_range(const void *p, char **base, size_t *n) {
    for (struct block *b = blocks; b; b = b->next)
        if ((char *)p >= b->at && (char *)p < b->at + b->want) {
            *base = b->at;
            *n = b->want;
            return OK;
        }
    return INVALID_VALUE;
}

/* For runners in this process: the allocation that holds an address. */
int kz_double_find(uint64_t at, uint64_t *base, uint64_t *size) {
    pthread_mutex_lock(&lock);
    int found = mapped_find(at, base, size), reserved = found < 0;
    for (struct block *b = blocks; b && !found && !reserved; b = b->next)
        if ((char *)at >= b->at && (char *)at < b->at + b->want) {
            *base = (uint64_t)b->at;
            *size = b->want;
            found = 1;
        }
    pthread_mutex_unlock(&lock);
    return found > 0;
}
