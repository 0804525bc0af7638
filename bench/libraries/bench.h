/* What the programs of this folder share: a clock, and an end at the first error. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "../threadclock.h"

static clockid_t timer = CLOCK_MONOTONIC;

static inline double now(void) {
    struct timespec t;
    if (timer == CLOCK_PROCESS_CPUTIME_ID) count_threads();
    clock_gettime(timer, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline void check(int rc, const char *what) {
    if (rc) {
        fprintf(stderr, "%s: error %d\n", what, rc);
        exit(1);
    }
}
