// Transfers in streams and in batches. Both run in one thread of the library, with a stream of its own in each context.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "room.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static struct job *first, **last = &first; // guarded by lock
static pid_t runs_in; // the process whose thread it is: a child of fork has none

// serve runs jobs for as long as the process lives.
static void *serve(void *none) {
	(void)none;
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!first)
			pthread_cond_wait(&wake, &lock);
		struct job *j = first;
		if (!(first = j->next))
			last = &first;
		pthread_mutex_unlock(&lock);
		CUcontext popped;
		CUstream stream = 0; // does not wait for the legacy stream, in which the caller may be waiting for us
		bool pushed = j->context && !cuCtxPushCurrent(j->context);
		j->lost = j->context && (!pushed || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		if (j->lost)
			stream = 0;
		j->run(j, stream);
		if (stream)
			cuStreamDestroy(stream);
		if (pushed)
			cuCtxPopCurrent(&popped);
	}
	return 0;
}

// start_thread starts it without the program's signals, but for those of faults: blocked, they end the process and its handlers are
// not asked. The lock is held.
static int start_thread(void) {
	if (runs_in == getpid())
		return 0;
	sigset_t all, old;
	pthread_attr_t a;
	pthread_t t;
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	sigfillset(&all);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&all, faults[i]);
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int e = pthread_create(&t, &a, serve, 0);
	pthread_sigmask(SIG_SETMASK, &old, 0);
	pthread_attr_destroy(&a);
	if (!e)
		runs_in = getpid();
	return e;
}

int kz_start(struct job *j) {
	j->next = 0;
	pthread_mutex_lock(&lock);
	int e = start_thread();
	if (!e) {
		*last = j, last = &j->next;
		pthread_cond_signal(&wake);
	}
	pthread_mutex_unlock(&lock);
	return e;
}

// request is a transfer in a stream. Size and offsets are read when the stream comes to it, as they may be computed before.
struct request {
	struct job job;
	CUfileHandle_t fh;
	void *base;
	size_t *size, most;
	off_t *file_offset, *base_offset;
	ssize_t *done;
	bool write, over;
	pthread_cond_t ended;
};

static void run_request(struct job *j, CUstream stream) {
	struct request *r = (struct request *)j;
	ssize_t n = -CU_FILE_INVALID_VALUE; // more than was announced
	if (j->lost)
		n = -CU_FILE_CUDA_DRIVER_ERROR;
	else if (*r->size <= r->most)
		n = kz_transfer(&(struct transfer){r->fh, r->base, *r->size, *r->file_offset, *r->base_offset, r->write}, stream);
	*r->done = n;
	pthread_mutex_lock(&lock);
	r->over = true;
	pthread_cond_signal(&r->ended);
	pthread_mutex_unlock(&lock);
}

// in_stream is the stream's host function: it waits for the thread, for it may not call CUDA itself.
static void in_stream(void *arg) {
	struct request *r = arg;
	if (kz_start(&r->job))
		*r->done = -CU_FILE_INTERNAL_ERROR;
	else {
		pthread_mutex_lock(&lock);
		while (!r->over)
			pthread_cond_wait(&r->ended, &lock);
		pthread_mutex_unlock(&lock);
	}
	pthread_cond_destroy(&r->ended);
	free(r);
}

static CUfileError_t enqueue(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *done, CUstream stream, bool write) {
	if (!base || !size || !file_offset || !base_offset || !done)
		return failed(CU_FILE_INVALID_VALUE);
	CUfileError_t e = kz_opened();
	if (e.err)
		return e;
	CUstreamCaptureStatus capturing;
	CUresult c = cuStreamIsCapturing(stream, &capturing);
	if (c)
		return driver_failed(c);
	if (capturing != CU_STREAM_CAPTURE_STATUS_NONE)
		return failed(CU_FILE_ASYNC_NOT_SUPPORTED); // a graph may run it twice
	struct request *r = calloc(1, sizeof *r);
	if (!r)
		return failed(CU_FILE_NOMEM_ERROR);
	*r = (struct request){{0, run_request, kz_context(base), false}, fh, base, size, *size, file_offset, base_offset, done, write, false, PTHREAD_COND_INITIALIZER};
	if ((c = cuLaunchHostFunc(stream, in_stream, r)))
		free(r);
	return driver_failed(c);
}

CUfileError_t cuFileReadAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *done, CUstream stream) {
	return enqueue(fh, base, size, file_offset, base_offset, done, stream, false);
}

CUfileError_t cuFileWriteAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *done, CUstream stream) {
	return enqueue(fh, base, size, file_offset, base_offset, done, stream, true);
}

// A stream is registered to have resources ready. There are none to keep; that it is one is checked.
CUfileError_t cuFileStreamRegister(CUstream stream, unsigned flags) {
	if (flags & ~15u)
		return failed(CU_FILE_INVALID_VALUE);
	CUfileError_t e = kz_opened();
	unsigned of;
	return e.err ? e : failed(cuStreamGetFlags(stream, &of) ? CU_FILE_INVALID_VALUE : CU_FILE_SUCCESS);
}

CUfileError_t cuFileStreamDeregister(CUstream stream) { return cuFileStreamRegister(stream, 0); }

// batch is a set of requests whose results are asked for. Batches are looked up, as files are.
struct batch {
	struct batch *next;
	unsigned room, used, running;
	bool going;
	pthread_cond_t ended;
	struct entry *entries;
};

struct entry {
	struct job job;
	struct batch *of;
	CUfileIOParams_t params;
	CUfileIOEvents_t event;
	enum { EMPTY, QUEUED, ENDED } state;
	bool canceled;
};

static struct batch *batches; // guarded by lock, with everything in them

// cancel has what has not begun end without a transfer. The lock is held.
static void cancel(struct batch *b) {
	for (unsigned i = 0; i < b->room; i++)
		b->entries[i].canceled = b->entries[i].state == QUEUED;
}

static void init_ended(struct batch *b) {
	pthread_condattr_t a; // waits are for a length of time, whatever the clock is set to
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&b->ended, &a);
	pthread_condattr_destroy(&a);
}

// The thread is the parent's, so what it had to do here is canceled.
void kz_jobs_in_child(void) {
	pthread_mutex_init(&lock, 0);
	pthread_cond_init(&wake, 0);
	first = 0, last = &first, runs_in = 0;
	for (struct batch *b = batches; b; b = b->next) {
		init_ended(b);
		b->used = b->running = 0;
		for (unsigned i = 0; i < b->room; i++) {
			struct entry *e = &b->entries[i];
			if (e->state == QUEUED)
				e->event = (CUfileIOEvents_t){e->params.cookie, CUFILE_CANCELED, 0}, e->state = ENDED;
			b->used += e->state == ENDED;
		}
	}
}

static struct batch *find(CUfileBatchHandle_t h) {
	struct batch *b = batches;
	while (b && (b != h || b->going))
		b = b->next;
	return b;
}

CUfileError_t cuFileBatchIOSetUp(CUfileBatchHandle_t *batch, unsigned count) {
	if (!batch || !count || count > MOST_IN_BATCH)
		return failed(CU_FILE_INVALID_VALUE);
	CUfileError_t e = kz_opened();
	if (e.err)
		return e;
	struct batch *b = calloc(1, sizeof *b);
	struct entry *entries = calloc(count, sizeof *entries);
	if (!b || !entries) {
		free(b);
		free(entries);
		return failed(CU_FILE_NOMEM_ERROR);
	}
	b->room = count, b->entries = entries;
	init_ended(b);
	pthread_mutex_lock(&lock);
	b->next = batches, batches = b;
	pthread_mutex_unlock(&lock);
	*batch = b;
	return failed(CU_FILE_SUCCESS);
}

static void run_entry(struct job *j, CUstream stream) {
	struct entry *e = (struct entry *)j;
	const CUfileIOParams_t *p = &e->params;
	pthread_mutex_lock(&lock);
	bool skip = e->canceled;
	pthread_mutex_unlock(&lock);
	CUfileStatus_t status = CUFILE_CANCELED;
	ssize_t n = 0;
	if (!skip) {
		n = -CU_FILE_CUDA_DRIVER_ERROR;
		if (!j->lost)
			n = kz_transfer(&(struct transfer){p->fh, p->u.batch.devPtr_base, p->u.batch.size, p->u.batch.file_offset, p->u.batch.devPtr_offset, p->opcode == CUFILE_WRITE}, stream);
		if (n == -1)
			n = -errno;
		status = n < 0 ? CUFILE_FAILED : CUFILE_COMPLETE;
	}
	pthread_mutex_lock(&lock);
	e->event = (CUfileIOEvents_t){p->cookie, status, (size_t)n};
	e->state = ENDED;
	e->of->running--;
	pthread_cond_broadcast(&e->of->ended);
	pthread_mutex_unlock(&lock);
}

CUfileError_t cuFileBatchIOSubmit(CUfileBatchHandle_t batch, unsigned count, CUfileIOParams_t *params, unsigned flags) {
	if (!params || !count || flags)
		return failed(CU_FILE_INVALID_VALUE);
	for (unsigned i = 0; i < count; i++)
		if (params[i].mode != CUFILE_BATCH || !params[i].u.batch.devPtr_base || (params[i].opcode != CUFILE_READ && params[i].opcode != CUFILE_WRITE))
			return failed(CU_FILE_INVALID_VALUE);
	CUcontext contexts[MOST_IN_BATCH];
	if (count > MOST_IN_BATCH)
		return failed(CU_FILE_BATCH_FULL);
	for (unsigned i = 0; i < count; i++)
		contexts[i] = kz_context(params[i].u.batch.devPtr_base);
	pthread_mutex_lock(&lock);
	struct batch *b = find(batch);
	CUfileOpError code = !b ? CU_FILE_INVALID_VALUE : b->used + count > b->room ? CU_FILE_BATCH_FULL : CU_FILE_SUCCESS;
	if (!code && start_thread())
		code = CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR;
	for (unsigned i = 0, at = 0; !code && i < count; i++) {
		while (b->entries[at].state != EMPTY)
			at++;
		struct entry *e = &b->entries[at];
		*e = (struct entry){.job = {0, run_entry, contexts[i], false}, .of = b, .params = params[i], .state = QUEUED};
		b->used++, b->running++;
		*last = &e->job, last = &e->job.next;
	}
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
	return failed(code);
}

// reported hands over what ended, and makes its place free. The lock is held.
static unsigned reported(struct batch *b, CUfileIOEvents_t *events, unsigned most) {
	unsigned n = 0;
	for (unsigned i = 0; i < b->room && n < most; i++)
		if (b->entries[i].state == ENDED) {
			events[n++] = b->entries[i].event;
			b->entries[i].state = EMPTY;
			b->used--;
		}
	return n;
}

#define LONGEST (1L << 32) // seconds that are waited for: more is for ever

CUfileError_t cuFileBatchIOGetStatus(CUfileBatchHandle_t batch, unsigned least, unsigned *count, CUfileIOEvents_t *events, struct timespec *timeout) {
	if (!count || !*count || !events || least > *count)
		return failed(CU_FILE_INVALID_VALUE);
	if (timeout && (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000))
		return failed(CU_FILE_INVALID_VALUE);
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	if (timeout) {
		until.tv_sec += (timeout->tv_sec < LONGEST ? timeout->tv_sec : LONGEST) + (until.tv_nsec + timeout->tv_nsec) / 1000000000;
		until.tv_nsec = (until.tv_nsec + timeout->tv_nsec) % 1000000000;
	}
	int cancels = hold_cancel();
	pthread_mutex_lock(&lock);
	struct batch *b = find(batch);
	unsigned n = 0;
	while (b && (n += reported(b, events + n, *count - n)) < least && b->running) {
		int e = timeout ? pthread_cond_timedwait(&b->ended, &lock, &until) : pthread_cond_wait(&b->ended, &lock);
		if (e)
			break;
		b = find(batch);
	}
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancels, 0);
	*count = n;
	return failed(b ? CU_FILE_SUCCESS : CU_FILE_INVALID_VALUE);
}

CUfileError_t cuFileBatchIOCancel(CUfileBatchHandle_t batch) {
	pthread_mutex_lock(&lock);
	struct batch *b = find(batch);
	if (b)
		cancel(b);
	pthread_mutex_unlock(&lock);
	return failed(b ? CU_FILE_SUCCESS : CU_FILE_INVALID_VALUE);
}

void cuFileBatchIODestroy(CUfileBatchHandle_t batch) {
	int cancels = hold_cancel();
	pthread_mutex_lock(&lock);
	struct batch *b = find(batch);
	if (b) {
		b->going = true;
		cancel(b);
		while (b->running)
			pthread_cond_wait(&b->ended, &lock);
		for (struct batch **p = &batches; *p; p = &(*p)->next)
			if (*p == b) {
				*p = b->next;
				break;
			}
	}
	pthread_mutex_unlock(&lock);
	if (b) {
		pthread_cond_destroy(&b->ended);
		free(b->entries);
		free(b);
	}
	pthread_setcancelstate(cancels, 0);
}
