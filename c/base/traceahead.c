// A thread that makes the next part of the file before it is needed, and lets go of parts that are full: new pages are most of what a
// record costs. Traces of a few chunks have none, and where there can be none, whoever needs a part makes it.
#define _GNU_SOURCE
#include "trace.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NONE, BEGINS, RUNS, NEVER };

static int state; // guarded by kz_trace_lock
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
enum { UNSHARE = 2 }; // CLOSE_RANGE_UNSHARE

// A table of descriptors of its own, with nothing in it: the numbers that the program gets do not depend on when this thread has a file
// open, a child has no descriptor of it, and what the program closes is closed.
static int alone(void) { return !syscall(SYS_close_range, 0u, ~0u, UNSHARE); }

static void *run(void *unused) {
	(void)unused;
	int ok = alone();
	pthread_mutex_lock(&kz_trace_lock);
	state = ok ? RUNS : NEVER;
	while (ok) {
		int made = kz_trace_prepare();
		struct kz_window *full = kz_trace_full();
		if (!made && !full) {
			pthread_cond_wait(&work, &kz_trace_lock);
			continue;
		}
		pthread_mutex_unlock(&kz_trace_lock); // let others in
		if (full)
			kz_trace_unmap(full);
		pthread_mutex_lock(&kz_trace_lock);
		if (full)
			kz_trace_unmapped(full);
	}
	pthread_mutex_unlock(&kz_trace_lock);
	return NULL;
}

int kz_ahead_runs(void) { return state == RUNS; }

int kz_ahead_wanted(void) {
	if (state == RUNS)
		pthread_cond_signal(&work);
	if (state != NONE)
		return 0;
	state = BEGINS;
	return 1;
}

void kz_ahead_begin(void) {
	sigset_t all, old;
	pthread_t thread;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); // the program's signals are for its own threads
	int failed = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!failed) {
		pthread_detach(thread);
		return;
	}
	pthread_mutex_lock(&kz_trace_lock);
	state = NEVER;
	pthread_mutex_unlock(&kz_trace_lock);
}

void kz_ahead_forked(void) {
	static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
	state = NONE, work = fresh;
}
