/* CLOCK_PROCESS_CPUTIME_ID leaves out what threads on other processors have run since their last tick, some milliseconds: the least of
 * several short runs would be one without them. Reading a thread's own clock brings its count up to date. */
#include <dirent.h>
#include <stdlib.h>
#include <time.h>

/* count_threads brings the time of every thread up to date. They are listed again now and then: listing takes longer than a short run. */
static inline void count_threads(void) {
    static int threads[256], count;
    static double listed = -1;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double at = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (listed < 0 || at - listed > 0.05) {
        DIR *d = opendir("/proc/self/task");
        count = 0;
        for (struct dirent *e; d && count < 256 && (e = readdir(d));)
            if (atoi(e->d_name) > 0) threads[count++] = atoi(e->d_name);
        if (d) closedir(d);
        listed = at;
    }
    for (int i = 0; i < count; i++)
        clock_gettime((clockid_t)(~(unsigned)threads[i] << 3 | 6), &t); /* a thread's scheduler clock; one that has ended is counted */
}
