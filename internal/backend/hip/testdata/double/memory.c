/* The double's memory: one mapping at a fixed address, from a file that a runner may map too, and a list of allocations. */
#define _GNU_SOURCE
#include "double.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA ((char *)0x100000000000)
#define ARENA_BYTES (4ull << 30)
#define PAGE 4096

struct block {
    struct block *next;
    char *at;
    size_t n, want;
    int dev, host;
};
static struct block *blocks; /* by address; guarded by lock */
static int opened;

int arena_open(void) {
    if (opened) return OK;
    const char *path = getenv("KUDZU_DOUBLE_ARENA");
    int fd = path && *path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : memfd_create("double", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, ARENA_BYTES) != 0) return OUT_OF_MEMORY;
    void *p = mmap(ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);
    close(fd);
    if (p != (void *)ARENA) return OUT_OF_MEMORY;
    opened = 1;
    return OK;
}

void *arena_alloc(size_t n, int dev, int host) {
    size_t size = (n + PAGE - 1) / PAGE * PAGE + PAGE; /* a page of nothing behind each: a run past the end is found */
    if (n == 0 || n > ARENA_BYTES || (!host && devices[dev].used + n > devices[dev].total)) return NULL;
    char *at = ARENA + PAGE;
    struct block **p = &blocks;
    for (; *p; p = &(*p)->next) {
        if ((size_t)((*p)->at - at) >= size) break;
        at = (*p)->at + (*p)->n;
    }
    if (at + size > ARENA + ARENA_BYTES) return NULL;
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

int arena_check(const void *p, size_t n) {
    const char *at = p;
    if (at + n <= ARENA || at >= ARENA + ARENA_BYTES) return OK; /* memory of the program */
    for (struct block *b = blocks; b; b = b->next)
        if (at >= b->at && at + n <= b->at + b->want) return OK;
    return INVALID_VALUE;
}
