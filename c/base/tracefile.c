// The file of a trace: one a process, in chunks that belong to one thread each. It is mapped, so that what was written stays when
// the process is killed; every page of it is allocated before it is written to, so that a full disk is an error and no signal.
// No descriptor stays open: programs close what they do not know, and count on the numbers they get.
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 4096, CHUNK = 65536, CHUNK_HEAD = 24, MOST = 16, TEXT = 256 };

// A thread makes parts ahead in files of at least LONG chunks; AHEAD of them where there are enough that all are large.
enum { LONG = 4, AHEAD = 3 };

#define CHUNK_MAGIC 0x48435a4bu // KZCH

struct header {
	char magic[8];
	uint32_t version, bytes, pid, ppid, chunk, flags;
	uint64_t ticks0, monotonic0, realtime0, ticks1, monotonic1, chunks;
	_Atomic uint32_t lost;
};

struct chunk {
	uint32_t magic, tid;
	uint64_t index;
	uint32_t count, zero;
};

_Static_assert(sizeof(struct chunk) == CHUNK_HEAD, "as README.md says");

// A part of the file with up to MOST chunks. It is unmapped when all of them are written and no call in them is under way.
struct kz_window {
	char *at, *base;
	size_t bytes;
	uint32_t size, given, held; // chunks: in it, handed out, still written to
	int populated;
	struct kz_window *next;     // of those that are free
};

pthread_mutex_t kz_trace_lock = PTHREAD_MUTEX_INITIALIZER; // see trace.h
uint32_t kz_trace_generation = 1;
_Atomic int kz_trace_off;

static char folder[PATH_MAX], path[PATH_MAX + 32]; // guarded by the lock, as the rest
static uint32_t flags;
static struct header *header; // of this process's file, NULL before there is one
static dev_t device;          // which it is: its name may become another's
static ino_t inode;
static uint64_t given;        // chunks of the file that are in a window
static struct kz_window *window, *spare, *full; // being handed out; unused; to be unmapped
static struct kz_window *ahead[AHEAD];          // the next ones
static int aheads;
static _Atomic uint64_t threads; // numbers them
static pthread_key_t key;        // tells that a thread ends
static int keyed;
__thread struct kz_tracer *kz_tracer_mine;

static uint64_t nanoseconds(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// give_up: the program goes on, untraced. Preconditions: the lock is held.
static void give_up(const char *what, int code) {
	if (!atomic_exchange(&kz_trace_off, 1))
		kz_say("kudzu: trace: %s: %s; the program goes on untraced\n", what, strerror(code));
}

int kz_trace_fits(uint64_t bytes) {
	struct rlimit l;
	return getrlimit(RLIMIT_FSIZE, &l) || l.rlim_cur == RLIM_INFINITY || bytes <= l.rlim_cur;
}

// A program that closed its standard output may still write there.
int kz_trace_open(const char *file, int how) {
	int fd = open(file, how | O_CLOEXEC, 0600);
	if (fd < 0 || fd > 2)
		return fd;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	if (high < 0)
		high = fcntl(fd, F_DUPFD_CLOEXEC, 3); // few descriptors are allowed
	int code = errno;
	close(fd);
	errno = code;
	return high;
}

// write_zeros makes pages of the cache for a part of the file: 0, or why it could not. Faults on pages that are there cost half.
static int write_zeros(int fd, off_t at, off_t bytes) {
	static char zeros[4096]; // of memory that is never written to
	struct iovec many[16];
	for (int i = 0; i < 16; i++)
		many[i] = (struct iovec){zeros, sizeof zeros};
	while (bytes > 0) {
		int count = bytes < 16 * (off_t)sizeof zeros ? (int)(bytes / (off_t)sizeof zeros) : 16;
		ssize_t n = pwritev(fd, many, count, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)sizeof zeros) // not a page: it would be tried for ever
			return n < 0 ? errno : ENOSPC;
		at += n, bytes -= n;
		if (n % (ssize_t)sizeof zeros) // go on at a whole page; zeros twice are zeros
			at -= n % (ssize_t)sizeof zeros, bytes += n % (ssize_t)sizeof zeros;
	}
	return 0;
}

// allocate has the file system promise these bytes: 0, or why it does not.
static int allocate(int fd, off_t at, off_t bytes) {
	if (!kz_trace_fits((uint64_t)(at + bytes)))
		return EFBIG;
	struct statfs fs;
	int rc;
	do
		rc = fallocate(fd, 0, at, bytes) ? errno : 0;
	while (rc == EINTR);
	if (rc == EOPNOTSUPP || rc == ENOSYS)
		return write_zeros(fd, at, bytes);
	if (rc || (!fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC)) // which has made the pages
		return rc;
	return write_zeros(fd, at, bytes);
}

// map maps a part of the file, from the page on that it begins in.
static char *map(int fd, off_t at, size_t bytes, char **base, size_t *whole) {
	size_t before = (size_t)at & ((size_t)sysconf(_SC_PAGESIZE) - 1);
	*whole = before + bytes;
	*base = mmap(NULL, *whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at - (off_t)before);
	return *base == MAP_FAILED ? NULL : *base + before;
}

// command writes the program's path and arguments, each with a NUL, and a NUL.
static void command(char *to, size_t room) {
	size_t n = 0;
	ssize_t got = readlink("/proc/self/exe", to, room / 2);
	if (got > 0)
		n = (size_t)got + 1;
	int fd = kz_trace_open("/proc/self/cmdline", O_RDONLY);
	while (fd >= 0 && n < room - 2 && ((got = read(fd, to + n, room - 2 - n)) > 0 || (got < 0 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	if (fd >= 0)
		close(fd);
}

// create makes the file of this process: PID-N.kzt, because a process that executes another program keeps its number.
static int create(void) {
	for (int n = 0; n < 1 << 20; n++) {
		snprintf(path, sizeof path, "%s/%d-%d.kzt", folder, (int)getpid(), n);
		int fd = kz_trace_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

// begin makes the file and its header, and returns a descriptor of it, or -1. Preconditions: the lock is held.
static int begin(void) {
	int fd = create(), rc = fd < 0 ? errno : allocate(fd, 0, HEADER);
	char *base;
	size_t whole;
	struct header *h = rc ? NULL : (struct header *)map(fd, 0, HEADER, &base, &whole);
	if (!h) {
		give_up(path, rc ? rc : errno);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	h->version = 1, h->bytes = HEADER, h->chunk = CHUNK, h->flags = flags;
	h->pid = (uint32_t)getpid(), h->ppid = (uint32_t)getppid();
	h->ticks0 = h->ticks1 = kz_ticks();
	h->monotonic0 = h->monotonic1 = nanoseconds(CLOCK_MONOTONIC);
	h->realtime0 = nanoseconds(CLOCK_REALTIME);
	command((char *)h + TEXT, HEADER - TEXT);
	atomic_thread_fence(memory_order_release);
	memcpy(h->magic, "KZTRACE\1", 8);
	struct stat st = {0};
	fstat(fd, &st);
	header = h, given = 0, device = st.st_dev, inode = st.st_ino;
	return fd;
}

// reopen opens the file again; -1 and errno where its name is another's now.
static int reopen(void) {
	int fd = kz_trace_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd < 0 || (!fstat(fd, &st) && st.st_dev == device && st.st_ino == inode))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

// grow maps the next part of the file. early: there is no need for it yet, and if it fails whoever needs it says why: the thread that is
// ahead has no standard error. Preconditions: the lock is held.
static struct kz_window *grow(int early) {
	int fd = header ? reopen() : begin();
	if (fd < 0) {
		if (!early)
			give_up(path, errno);
		return NULL;
	}
	uint32_t size = given < MOST ? (uint32_t)(given ? given : 1) : MOST; // short programs have small files
	off_t at = HEADER + (off_t)given * CHUNK;
	struct kz_window *w = spare;
	if (w)
		spare = w->next;
	else {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; page != MAP_FAILED && i < 4096 / sizeof *w; i++) {
			struct kz_window *one = (struct kz_window *)page + i;
			one->next = w, w = one;
		}
		spare = w ? w->next : NULL;
	}
	int rc = w ? allocate(fd, at, (off_t)size * CHUNK) : ENOMEM;
	char *base = NULL;
	size_t bytes = 0;
	char *p = rc ? NULL : map(fd, at, (size_t)size * CHUNK, &base, &bytes);
	if (!rc && !p)
		rc = errno;
	close(fd);
	if (rc) {
		if (w)
			w->next = spare, spare = w;
		if (!early)
			give_up(path, rc);
		return NULL;
	}
	*w = (struct kz_window){.at = p, .base = base, .bytes = bytes, .size = size};
	given += size;
	return w;
}

// drop lets a window go that nobody writes to. Preconditions: the lock is held.
static void drop(struct kz_window *w) {
	if (w->held || w->given < w->size)
		return;
	if (w == window)
		window = NULL;
	if (kz_ahead_runs()) {
		w->next = full, full = w;
		return;
	}
	kz_trace_unmap(w);
	kz_trace_unmapped(w);
}

void kz_trace_unmap(struct kz_window *w) { munmap(w->base, w->bytes); }

void kz_trace_unmapped(struct kz_window *w) { w->next = spare, spare = w; }

struct kz_window *kz_trace_full(void) {
	struct kz_window *w = full;
	if (w)
		full = w->next;
	return w;
}

// populate is cheaper than a fault a page, and only a wish.
static void populate(char *at, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)at & -(uintptr_t)sysconf(_SC_PAGESIZE);
	madvise((void *)page, bytes, MADV_POPULATE_WRITE);
#else
	(void)at, (void)bytes;
#endif
}

int kz_trace_prepare(void) {
	if (aheads == (given < AHEAD * MOST ? 1 : AHEAD) || !header || atomic_load_explicit(&kz_trace_off, memory_order_relaxed))
		return 0;
	struct kz_window *w = grow(1);
	if (!w)
		return 0;
	populate(w->base, w->bytes);
	w->populated = 1;
	ahead[aheads++] = w;
	return 1;
}

// next_window is the one that follows. Preconditions: the lock is held.
static struct kz_window *next_window(void) {
	struct kz_window *w = ahead[0];
	if (!aheads)
		return grow(0);
	aheads--;
	memmove(ahead, ahead + 1, (size_t)aheads * sizeof *ahead);
	return w;
}

static void clock_locked(void) {
	if (!header)
		return;
	header->ticks1 = kz_ticks();
	header->monotonic1 = nanoseconds(CLOCK_MONOTONIC);
}

void kz_trace_clock(void) {
	if (!pthread_mutex_trylock(&kz_trace_lock)) {
		clock_locked();
		pthread_mutex_unlock(&kz_trace_lock);
	}
}

void kz_trace_lost(void) {
	pthread_mutex_lock(&kz_trace_lock);
	if (header)
		atomic_fetch_add_explicit(&header->lost, 1, memory_order_relaxed);
	pthread_mutex_unlock(&kz_trace_lock);
}

// leave gives a chunk back unless a call that is under way is recorded in it. Preconditions: the lock is held.
static void leave(struct kz_tracer *t, const char *chunk, struct kz_window *w) {
	if (!chunk || chunk == t->chunk)
		return;
	for (uint32_t i = 0; i < t->depth; i++)
		if (t->open[i].chunk == chunk)
			return;
	w->held--;
	drop(w);
}

// next_chunk gives the thread a fresh chunk.
static int next_chunk(struct kz_tracer *t) {
	int saved = errno, cancel;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); // a thread that ends in open would keep the lock
	pthread_mutex_lock(&kz_trace_lock);
	const char *old = t->chunk;
	struct kz_window *was = t->window;
	t->at = t->end = t->chunk = NULL;
	leave(t, old, was);
	int begin = 0;
	if (!window || window->given == window->size) {
		window = next_window();
		if (window && given >= LONG)
			begin = kz_ahead_wanted();
	}
	struct kz_window *w = window;
	if (w) {
		char *p = w->at + (size_t)w->given++ * CHUNK;
		w->held++;
		if (!w->populated)
			populate(p, CHUNK);
		struct chunk *c = (struct chunk *)p;
		*c = (struct chunk){.tid = t->tid, .index = t->chunks++, .count = 1};
		__atomic_store_n(&c->magic, CHUNK_MAGIC, __ATOMIC_RELEASE);
		__atomic_store_n(&header->chunks, header->chunks + 1, __ATOMIC_RELEASE);
		t->chunk = p, t->at = p + CHUNK_HEAD, t->end = p + CHUNK, t->window = w;
		clock_locked();
	}
	pthread_mutex_unlock(&kz_trace_lock);
	if (begin)
		kz_ahead_begin();
	pthread_setcancelstate(cancel, &cancel);
	errno = saved;
	return w != NULL;
}

int kz_trace_next(struct kz_tracer *t, size_t bytes) {
	if (bytes > CHUNK - CHUNK_HEAD) {
		kz_trace_lost();
		return 0;
	}
	return next_chunk(t);
}

void kz_trace_leave_chunk(struct kz_tracer *t, const struct kz_open *o) {
	int saved = errno;
	pthread_mutex_lock(&kz_trace_lock);
	leave(t, o->chunk, o->window);
	pthread_mutex_unlock(&kz_trace_lock);
	errno = saved;
}

// --- threads

// ended: a destructor that comes later may call us again, and gets a new block, and chunk. A signal handler before that finds this
// one, busy: with a new one it would wait for the lock that the thread has.
static void ended(void *block) {
	struct kz_tracer *t = block;
	t->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	while (t->depth)
		kz_trace_dead(t);
	pthread_mutex_lock(&kz_trace_lock);
	const char *chunk = t->chunk;
	t->chunk = NULL;
	leave(t, chunk, t->window);
	pthread_mutex_unlock(&kz_trace_lock);
	kz_tracer_mine = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	munmap(t, sizeof *t);
}

// find_stack notes where the thread's stack is.
static void find_stack(struct kz_tracer *t) {
	pthread_attr_t a;
	void *low;
	size_t bytes;
	if (pthread_getattr_np(pthread_self(), &a))
		return;
	if (!pthread_attr_getstack(&a, &low, &bytes))
		t->stack_low = (uint64_t)low, t->stack_high = (uint64_t)low + bytes;
	pthread_attr_destroy(&a);
}

struct kz_tracer *kz_tracer_new(void) {
	int saved = errno;
	struct kz_tracer *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED)
		t = NULL;
	else {
		t->tid = (uint32_t)syscall(SYS_gettid);
		t->ids = (atomic_fetch_add(&threads, 1) + 1) << 40;
		t->busy = 1; // libc allocates below: a program whose malloc calls us finds this one, and not a lock that it has
		kz_tracer_mine = t;
		atomic_signal_fence(memory_order_seq_cst);
		find_stack(t);
		if (keyed)
			pthread_setspecific(key, t);
		atomic_signal_fence(memory_order_seq_cst);
		t->busy = 0;
	}
	errno = saved;
	return t;
}

const char *kz_trace_folder(void) { return folder; }

int kz_trace_file_start(const char *dir, uint32_t with) {
	char here[PATH_MAX] = "";
	if (*dir != '/' && !getcwd(here, sizeof here))
		here[0] = 0;
	int n = *dir == '/' ? snprintf(folder, sizeof folder, "%s", dir) : snprintf(folder, sizeof folder, "%s/%s", here, dir);
	if (n < 0 || (size_t)n >= sizeof folder) {
		give_up(dir, ENAMETOOLONG);
		return 0;
	}
	if (mkdir(folder, 0700) && errno != EEXIST) {
		give_up(folder, errno);
		return 0;
	}
	if (access(folder, W_OK | X_OK)) {
		give_up(folder, errno);
		return 0;
	}
	flags = with;
	keyed = !pthread_key_create(&key, ended);
	return 1;
}

// A child's calls are in a file of its own, made at the first of them. What the parent has mapped stays the parent's.
static void forked(void) {
	kz_trace_generation++;
	header = NULL, window = spare = full = NULL, given = 0, aheads = 0;
	kz_ahead_forked();
	struct kz_tracer *t = kz_tracer_mine;
	if (t) {
		t->at = t->end = t->chunk = NULL;
		t->window = NULL;
		t->depth = 0, t->chunks = 0;
		t->tid = (uint32_t)syscall(SYS_gettid);
	}
}

// A signal handler may call us while a fork holds the lock: the thread counts as inside the recorder meanwhile.
// Another may turn tracing on as soon as load_lock is free: what was counted before the fork is counted back, and nothing else.
void kz_trace_fork(int when) {
	static struct kz_tracer *forks; // guarded by kz_trace_lock
	struct kz_tracer *t = when >= 0 ? forks : kz_trace_door ? kz_tracer() : NULL;
	if (t && when < 0)
		t->busy++;
	kz_fork_lock(&kz_trace_lock, when);
	if (when < 0)
		forks = t;
	if (when > 0)
		forked();
	if (t && when >= 0)
		t->busy--;
}

void kz_trace_end(void) { kz_trace_clock(); }
