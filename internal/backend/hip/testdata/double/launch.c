/* A launch: the kernarg segment as HIP fills it, and the runner that executes it. */
#define _GNU_SOURCE
#include "double.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The hidden arguments that HIP fills; one that it does not know stays zero. */
static void hidden(struct launch *l, const struct arg *a) {
    static const char *axes = "xyz";
    char *to = l->kernarg + a->offset;
    uint64_t v = 0;
    size_t n = strlen(a->kind);
    const char *axis = n ? strchr(axes, a->kind[n - 1]) : NULL;
    int i = axis ? (int)(axis - axes) : 0;
    if (!strncmp(a->kind, "hidden_block_count_", 19)) v = l->grid[i];
    else if (!strncmp(a->kind, "hidden_group_size_", 18)) v = l->block[i];
    else if (!strcmp(a->kind, "hidden_grid_dims")) v = l->grid[2] * l->block[2] > 1 ? 3 : l->grid[1] * l->block[1] > 1 ? 2 : 1;
    else if (!strcmp(a->kind, "hidden_dynamic_lds_size")) v = l->shared;
    memcpy(to, &v, a->size < 8 ? a->size : 8);
}

/* block is the program's arguments, as one run of bytes: each goes where the metadata says. */
int launch_prepare(struct launch *l, const char *block, size_t n) {
    size_t size = l->fn->kernarg ? l->fn->kernarg : 16;
    if (!(l->kernarg = arena_alloc(size, l->fn->module->dev, 1))) return OUT_OF_MEMORY;
    live[LIVE_MEMORY]--;
    memset(l->kernarg, 0, size);
    for (uint32_t i = 0; i < l->fn->args; i++) {
        const struct arg *a = &l->fn->arg[i];
        if (!strncmp(a->kind, "hidden_", 7)) hidden(l, a);
        else if (a->offset + a->size > n) return INVALID_VALUE; /* HIP would read past the end */
        else memcpy(l->kernarg + a->offset, block + a->offset, a->size);
    }
    return OK;
}

static int runner = -1;
static pthread_mutex_t talking = PTHREAD_MUTEX_INITIALIZER;

static int connect_runner(void) {
    const char *path = getenv("KUDZU_DOUBLE_RUNNER");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof a.sun_path) return -1;
    strcpy(a.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* One line goes out, one comes back: "ok", or "error N" with HIP's number. */
int launch_run(struct launch *l) {
    char line[2048], answer[256];
    struct function *f = l->fn;
    int64_t entry;
    memcpy(&entry, (char *)f->kd + 16, 8);
    int n = snprintf(line, sizeof line, "launch kernel=%s arch=%s base=%#lx size=%#zx kd=%#lx entry=%#lx grid=%u,%u,%u block=%u,%u,%u lds=%u kernarg=%p bytes=%u arena=%p cooperative=%u\n", f->name,
                     devices[f->module->dev].arch, (unsigned long)f->module->base, f->module->size, (unsigned long)f->kd, (unsigned long)(f->kd + entry), l->grid[0], l->grid[1], l->grid[2],
                     l->block[0], l->block[1], l->block[2], l->shared, (void *)l->kernarg, f->kernarg, (void *)arena, l->cooperative);
    pthread_mutex_lock(&talking);
    int r = LAUNCH_FAILURE;
    if (runner < 0) runner = connect_runner();
    if (runner >= 0 && send(runner, line, n, MSG_NOSIGNAL) == n) {
        size_t got = 0;
        while (got < sizeof answer - 1) {
            ssize_t k = recv(runner, answer + got, sizeof answer - 1 - got, 0);
            if (k <= 0) break;
            got += k;
            if (answer[got - 1] == '\n') break;
        }
        answer[got] = 0;
        if (!strncmp(answer, "ok", 2)) r = OK;
        else if (!strncmp(answer, "error ", 6)) r = atoi(answer + 6);
    }
    pthread_mutex_unlock(&talking);
    return r;
}
