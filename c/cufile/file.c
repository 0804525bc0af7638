// Files and buffers, and one transfer between them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "room.h"

// file is what a handle points to. Handles are looked up, so any value is an error and never a crash.
struct file {
	struct file *next;
	int fd;    // the program's
	int flags; // of it, when it was registered
	dev_t dev; // and which file it is
	ino_t ino;
	int users; // transfers that run
	bool gone; // deregistered while they did
};

struct buffer {
	struct buffer *next;
	const char *base;
	size_t size;
};

// again is a file opened once more, without O_DIRECT, whose rules on alignment are not the caller's. It stays open when nobody uses it:
// the kernel drops the locks of a process on a file (fcntl, F_SETLK) when the process closes any descriptor of it. Only if more than
// AGAIN files are used in this way the one that was used longest ago is closed.
struct again {
	dev_t dev;
	ino_t ino;
	int flags, fd;
	int users;
	unsigned long turn; // when it was used; 0: an empty place
};

enum { AGAIN = 64, ALIGNED = 4096 };

static struct again agains[AGAIN]; // guarded by lock
static unsigned long turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *files;
static struct buffer *buffers;

void kz_files_in_child(void) {
	pthread_mutex_init(&lock, 0);
	for (struct file *f = files; f; f = f->next)
		f->users = 0;
	for (int i = 0; i < AGAIN; i++)
		agains[i].users = 0;
}

// open_again opens what a descriptor is of: a table of its own in the kernel, so the program's flags stay. -1: it cannot, or the
// number is of another file by now.
static int open_again(const struct file *f, int flags) {
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
	if (stat(path, &st) || st.st_dev != f->dev || st.st_ino != f->ino)
		return -1;
	return open(path, flags | O_CLOEXEC);
}

// take_again finds the file without O_DIRECT, or opens it; NULL where that cannot be.
static struct again *take_again(const struct file *f) {
	int flags = f->flags & (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC);
	struct again *at = 0, *oldest = 0;
	pthread_mutex_lock(&lock);
	for (struct again *a = agains; !at && a < agains + AGAIN; a++) {
		if (a->turn && a->dev == f->dev && a->ino == f->ino && a->flags == flags)
			at = a;
		else if (!a->users && (!oldest || a->turn < oldest->turn))
			oldest = a;
	}
	int fd = at || !oldest ? -1 : open_again(f, flags);
	if (fd >= 0) {
		if (oldest->turn)
			close(oldest->fd);
		at = oldest;
		*at = (struct again){f->dev, f->ino, flags, fd, 0, 0};
	}
	if (at)
		at->users++, at->turn = ++turns;
	pthread_mutex_unlock(&lock);
	return at;
}

static void give_again(struct again *a) {
	pthread_mutex_lock(&lock);
	a->users--;
	pthread_mutex_unlock(&lock);
}

CUfileError_t cuFileHandleRegister(CUfileHandle_t *fh, CUfileDescr_t *descr) {
	if (!fh || !descr)
		return failed(CU_FILE_INVALID_VALUE);
	CUfileError_t e = kz_opened();
	if (e.err)
		return e;
	if (descr->type != CU_FILE_HANDLE_TYPE_OPAQUE_FD)
		return failed(CU_FILE_IO_NOT_SUPPORTED);
	int fd = descr->handle.fd, flags = fcntl(fd, F_GETFL);
	struct stat st;
	if (flags < 0 || fstat(fd, &st))
		return failed(CU_FILE_INVALID_VALUE);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return failed(CU_FILE_INVALID_FILE_TYPE);
	struct file *f = calloc(1, sizeof *f);
	if (!f)
		return failed(CU_FILE_NOMEM_ERROR);
	f->fd = fd, f->flags = flags, f->dev = st.st_dev, f->ino = st.st_ino;
	pthread_mutex_lock(&lock);
	for (struct file *o = files; o; o = o->next)
		if (o->fd == fd && !o->gone) {
			pthread_mutex_unlock(&lock);
			free(f);
			return failed(CU_FILE_HANDLE_ALREADY_REGISTERED);
		}
	f->next = files, files = f;
	pthread_mutex_unlock(&lock);
	*fh = f;
	return failed(CU_FILE_SUCCESS);
}

// drop frees a file that nobody uses any more. The lock is held.
static void drop(struct file *f) {
	if (f->users || !f->gone)
		return;
	for (struct file **p = &files; *p; p = &(*p)->next)
		if (*p == f) {
			*p = f->next;
			break;
		}
	free(f);
}

static struct file *take(CUfileHandle_t fh) {
	pthread_mutex_lock(&lock);
	struct file *f = files;
	while (f && (f != fh || f->gone))
		f = f->next;
	if (f)
		f->users++;
	pthread_mutex_unlock(&lock);
	return f;
}

static void give(struct file *f) {
	pthread_mutex_lock(&lock);
	f->users--;
	drop(f);
	pthread_mutex_unlock(&lock);
}

void cuFileHandleDeregister(CUfileHandle_t fh) {
	struct file *f = take(fh);
	if (!f)
		return;
	pthread_mutex_lock(&lock);
	f->gone = true;
	pthread_mutex_unlock(&lock);
	give(f);
}

// memory is what an address is.
struct memory {
	CUcontext context;
	bool device;
	CUdeviceptr base;
	size_t size; // 0: not known
};

static struct memory look(const void *p) {
	struct memory m = {0};
	CUdeviceptr at = (CUdeviceptr)(uintptr_t)p;
	unsigned type = 0;
	if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) || type == CU_MEMORYTYPE_HOST)
		return m; // the program's own memory
	m.device = true;
	if (cuPointerGetAttribute(&m.context, CU_POINTER_ATTRIBUTE_CONTEXT, at))
		m.context = 0;
	if (cuMemGetAddressRange(&m.base, &m.size, at))
		m.size = 0;
	return m;
}

CUcontext kz_context(const void *p) {
	CUcontext c = look(p).context;
	if (!c && cuCtxGetCurrent(&c))
		c = 0;
	return c;
}

CUfileError_t cuFileBufRegister(const void *base, size_t length, int flags) {
	(void)flags; // of RDMA
	if (!base || !length)
		return failed(CU_FILE_INVALID_VALUE);
	CUfileError_t e = kz_opened();
	if (e.err)
		return e;
	struct memory m = look(base);
	if (m.device && m.size && length > m.size - ((uintptr_t)base - m.base))
		return failed(CU_FILE_CUDA_POINTER_RANGE_ERROR);
	struct buffer *b = malloc(sizeof *b);
	if (!b)
		return failed(CU_FILE_NOMEM_ERROR);
	*b = (struct buffer){0, base, length};
	pthread_mutex_lock(&lock);
	for (struct buffer *o = buffers; o; o = o->next)
		if (o->base == base) {
			pthread_mutex_unlock(&lock);
			free(b);
			return failed(CU_FILE_MEMORY_ALREADY_REGISTERED);
		}
	b->next = buffers, buffers = b;
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileBufDeregister(const void *base) {
	struct buffer *b = 0;
	pthread_mutex_lock(&lock);
	for (struct buffer **p = &buffers; *p; p = &(*p)->next)
		if ((*p)->base == base) {
			b = *p, *p = b->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(b);
	return failed(b ? CU_FILE_SUCCESS : base ? CU_FILE_MEMORY_NOT_REGISTERED : CU_FILE_INVALID_VALUE);
}

// allowed checks a range against what its base was registered for, else against its allocation.
static CUfileOpError allowed(const struct transfer *t, const struct memory *m) {
	size_t size = 0;
	pthread_mutex_lock(&lock);
	for (struct buffer *b = buffers; b; b = b->next)
		if (b->base == t->base)
			size = b->size;
	pthread_mutex_unlock(&lock);
	size_t at = (size_t)t->base_offset;
	if (size)
		return t->size > size || at > size - t->size ? CU_FILE_INVALID_MAPPING_RANGE : CU_FILE_SUCCESS;
	if (!m->device || !m->size)
		return CU_FILE_SUCCESS;
	at += (uintptr_t)t->base - m->base;
	return t->size > m->size || at > m->size - t->size ? CU_FILE_CUDA_POINTER_RANGE_ERROR : CU_FILE_SUCCESS;
}

// whole reads or writes as much as there is: less than n is the end of the file, or a full disk after a first part.
static ssize_t whole(int fd, char *p, size_t n, off_t at, bool write) {
	size_t done = 0;
	while (done < n) {
		ssize_t k = write ? pwrite(fd, p + done, n - done, at + (off_t)done) : pread(fd, p + done, n - done, at + (off_t)done);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && !done)
			return -1;
		if (k <= 0)
			break;
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static CUresult copy(CUdeviceptr dev, char *host, size_t n, bool write, CUstream stream) {
	if (!stream)
		return write ? cuMemcpyDtoH(host, dev, n) : cuMemcpyHtoD(dev, host, n);
	CUresult r = write ? cuMemcpyDtoHAsync(host, dev, n, stream) : cuMemcpyHtoDAsync(dev, host, n, stream);
	return r ? r : cuStreamSynchronize(stream);
}

// through goes by a buffer in host memory. It has the alignment that O_DIRECT wants, where the file could not be opened without it.
static ssize_t through(int fd, const struct transfer *t, CUstream stream) {
	size_t room = t->size < BOUNCE ? t->size : BOUNCE, done = 0;
	void *host;
	if (posix_memalign(&host, 4096, room))
		return -CU_FILE_NOMEM_ERROR;
	CUdeviceptr dev = (CUdeviceptr)(uintptr_t)(t->base + t->base_offset);
	ssize_t answer = 0;
	while (done < t->size) {
		size_t n = t->size - done < room ? t->size - done : room;
		if (t->write && copy(dev + done, host, n, true, stream)) {
			answer = -CU_FILE_CUDA_DRIVER_ERROR;
			break;
		}
		ssize_t k = whole(fd, host, n, t->file_offset + (off_t)done, t->write);
		if (k < 0) {
			answer = done ? 0 : -1;
			break;
		}
		if (!t->write && k && copy(dev + done, host, (size_t)k, false, stream)) {
			answer = -CU_FILE_CUDA_DRIVER_ERROR;
			break;
		}
		done += (size_t)k;
		if ((size_t)k < n)
			break;
	}
	int kept = errno;
	free(host);
	errno = kept;
	return answer ? answer : (ssize_t)done;
}

static ssize_t move(int fd, const struct transfer *t, const struct memory *m, CUstream stream) {
	return m->device ? through(fd, t, stream) : whole(fd, t->base + t->base_offset, t->size, t->file_offset, t->write);
}

// by_file moves by the program's descriptor, unless that has O_DIRECT and the transfer is not as it wants.
static ssize_t by_file(const struct file *f, const struct transfer *t, const struct memory *m, CUstream stream) {
	size_t host = m->device ? 0 : (size_t)(uintptr_t)(t->base + t->base_offset); // on the way to a device it is memory of ours
	bool fits = !(f->flags & O_DIRECT) || !((host | t->size | (size_t)t->file_offset) % ALIGNED);
	ssize_t answer = fits ? move(f->fd, t, m, stream) : -1;
	if (fits && (answer != -1 || errno != EINVAL || !(f->flags & O_DIRECT)))
		return answer;
	struct again *a = take_again(f);
	answer = move(a ? a->fd : f->fd, t, m, stream);
	int kept = errno;
	if (a)
		give_again(a);
	errno = kept;
	return answer;
}

ssize_t kz_transfer(const struct transfer *t, CUstream stream) {
	if (!t->base || t->file_offset < 0 || t->base_offset < 0 || t->size > SSIZE_MAX)
		return -CU_FILE_INVALID_VALUE;
	CUfileError_t e = kz_opened();
	if (e.err)
		return -(ssize_t)e.err;
	int cancels = hold_cancel();
	struct file *f = take(t->fh);
	if (!f) {
		pthread_setcancelstate(cancels, 0);
		return -CU_FILE_HANDLE_NOT_REGISTERED;
	}
	struct memory m = look(t->base);
	ssize_t answer = -(ssize_t)allowed(t, &m);
	if (!answer && t->size) {
		bool pushed = m.device && m.context && !cuCtxPushCurrent(m.context);
		answer = by_file(f, t, &m, stream);
		int kept = errno;
		CUcontext popped;
		if (pushed)
			cuCtxPopCurrent(&popped);
		errno = kept;
	}
	give(f);
	pthread_setcancelstate(cancels, 0);
	return answer;
}

ssize_t cuFileRead(CUfileHandle_t fh, void *base, size_t size, off_t file_offset, off_t base_offset) {
	return kz_transfer(&(struct transfer){fh, base, size, file_offset, base_offset, false}, 0);
}

ssize_t cuFileWrite(CUfileHandle_t fh, const void *base, size_t size, off_t file_offset, off_t base_offset) {
	return kz_transfer(&(struct transfer){fh, (char *)(uintptr_t)base, size, file_offset, base_offset, true}, 0);
}

static ssize_t vector(CUfileHandle_t fh, const CUfileIOVec_t *iov, size_t count, off_t at, bool write) {
	if (!iov && count)
		return -CU_FILE_INVALID_VALUE;
	ssize_t done = 0;
	for (size_t i = 0; i < count; i++) {
		ssize_t k = kz_transfer(&(struct transfer){fh, iov[i].base, iov[i].len, at + done, 0, write}, 0);
		if (k < 0)
			return done ? done : k;
		done += k;
		if ((size_t)k < iov[i].len)
			break;
	}
	return done;
}

ssize_t cuFileReadv(CUfileHandle_t fh, const CUfileIOVec_t *iov, size_t count, off_t file_offset, unsigned flags) {
	return flags ? -CU_FILE_INVALID_VALUE : vector(fh, iov, count, file_offset, false);
}

ssize_t cuFileWritev(CUfileHandle_t fh, const CUfileIOVec_t *iov, size_t count, off_t file_offset, unsigned flags) {
	return flags ? -CU_FILE_INVALID_VALUE : vector(fh, iov, count, file_offset, true);
}
