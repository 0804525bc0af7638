// What the files of libcufile.so share.
#ifndef KUDZU_C_CUFILE_ROOM_H
#define KUDZU_C_CUFILE_ROOM_H

#include <pthread.h>

#include "cufile.h"

// The largest number of requests in a batch, and of bytes that go through one buffer in host memory.
enum { MOST_IN_BATCH = 128, BOUNCE = 4 << 20 };

#define HIDDEN __attribute__((visibility("hidden")))

static inline CUfileError_t failed(CUfileOpError code) { return (CUfileError_t){code, CUDA_SUCCESS}; }

static inline CUfileError_t driver_failed(CUresult r) { return (CUfileError_t){r ? CU_FILE_CUDA_DRIVER_ERROR : CU_FILE_SUCCESS, r}; }

// A thread that is canceled in a call of ours would keep a lock, or a file in use: it is canceled behind the call.
static inline int hold_cancel(void) {
	int old;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	return old;
}

// kz_opened opens the library where a program has not: every call that needs it does.
HIDDEN CUfileError_t kz_opened(void);

// transfer is a request with everything known.
struct transfer {
	CUfileHandle_t fh;
	char *base;
	size_t size;
	off_t file_offset, base_offset;
	bool write;
};

// kz_transfer does it in the calling thread; the answer is that of cuFileRead. A stream orders its copies where one is given.
HIDDEN ssize_t kz_transfer(const struct transfer *t, CUstream stream);

// kz_context is the context of an address, or the current one.
HIDDEN CUcontext kz_context(const void *p);

// A job runs in a thread of the library: host functions of streams may not call CUDA, and batches do not wait.
struct job {
	struct job *next;
	void (*run)(struct job *, CUstream stream);
	CUcontext context; // current while it runs
	bool lost;         // the context, or a stream in it, could not be had: the job can only fail
};

HIDDEN int kz_start(struct job *j); // 0, or the errno of starting the thread

// For a child of fork: locks are free, and what a thread of the parent's had to do has ended.
HIDDEN void kz_files_in_child(void);
HIDDEN void kz_jobs_in_child(void);

#endif
