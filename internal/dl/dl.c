/* Opening and calling foreign libraries; see dl.go. */
#define _GNU_SOURCE
#include "dl.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

void *kz_dl_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

const char *kz_dl_error(void) {
    const char *e = dlerror();
    return e ? e : "unknown error";
}

void *kz_dl_sym(void *handle, const char *name) { return dlsym(handle, name); }

const char *kz_dl_file(void *addr) {
    Dl_info info;
    return dladdr(addr, &info) ? info.dli_fname : 0;
}

/* Passing more integer arguments than the callee takes is harmless in the System V and AAPCS64 conventions: the
   caller owns the argument area. So one shape serves every function, and a longer one the few that take more. */
uint64_t kz_dl_call(void *fn, const uint64_t *a) {
    typedef uint64_t (*call16)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    return ((call16)fn)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
                        a[15]);
}

uint64_t kz_dl_call32(void *fn, const uint64_t *a) {
    typedef uint64_t (*call32)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    return ((call32)fn)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
                        a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25], a[26], a[27],
                        a[28], a[29], a[30], a[31]);
}

/* A callback for what a caller learns otherwise. */
void kz_dl_ignore(void) {}

/* Meetings wait with a mutex and conditions, not with files: the program may close ours, and the product's Go image has no
   poller that could wait for one. */
static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrival = PTHREAD_COND_INITIALIZER, released = PTHREAD_COND_INITIALIZER;
static struct kz_meeting *first, **last = &first;

/* A library's stream came to a meeting: tell Go, and keep the stream until Go is done. The record is ours to free. */
void kz_dl_meet(void *data) {
    struct kz_meeting *m = data;
    pthread_mutex_lock(&meeting);
    *last = m;
    last = &m->next;
    pthread_cond_signal(&arrival);
    while (!m->released) pthread_cond_wait(&released, &meeting);
    pthread_mutex_unlock(&meeting);
    free(m);
}

/* The next meeting that a stream has come to. One thread of Go's waits here for all of them. */
uintptr_t kz_dl_next_arrival(void) {
    pthread_mutex_lock(&meeting);
    while (!first) pthread_cond_wait(&arrival, &meeting);
    struct kz_meeting *m = first;
    if (!(first = m->next)) last = &first;
    uintptr_t handle = m->handle;
    pthread_mutex_unlock(&meeting);
    return handle;
}

/* Lets the stream go on; the record is gone afterwards. */
void kz_dl_release(struct kz_meeting *m) {
    pthread_mutex_lock(&meeting);
    m->released = 1;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&meeting);
}

/* The shape of older callbacks: stream, status, data. */
void kz_dl_meet3(void *stream, uint64_t status, void *data) {
    (void)stream;
    (void)status;
    kz_dl_meet(data);
}
