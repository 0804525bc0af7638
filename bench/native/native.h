/* What a native function is given: the row's buffers and sizes, and a pool of threads that stays alive between calls. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef void (*range_fn)(void *ctx, int from, int to, int part);

struct env {
    int threads;
    /* split runs fn over [0, n) in one contiguous part for each thread. */
    void (*split)(range_fn fn, void *ctx, int n);
    /* chunks runs fn over [0, n), threads taking the next chunk when they are done with theirs. */
    void (*chunks)(range_fn fn, void *ctx, int n, int chunk);
};

struct job {
    void *const *b; /* the row's buffers */
    const int *p;   /* the row's sizes */
    const struct env *env;
};

/* NATIVE(name) begins a row's function; PART(name) one that runs over a range on one thread. */
#define NATIVE(name) void name(struct job *job)
#define PART(name) static void name(void *ctx, int from, int to, int part)
#define SPLIT(fn, n) job->env->split(fn, job, n)
#define CHUNKS(fn, n, chunk) job->env->chunks(fn, job, n, chunk)
#define JOB struct job *job = ctx; (void)part; (void)job
#define MAX_THREADS 128
