// Memory of the program, which may give us any address: the kernel copies it, and says what it could not read.
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, PIECES = 64 };

// Where a sandbox forbids process_vm_readv, the file of our own memory is the way.
static _Atomic int refused;

static size_t from_file(void *to, uint64_t from, size_t n) {
	int cancel;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	int fd = kz_trace_open("/proc/self/mem", O_RDONLY);
	ssize_t got = fd < 0 ? 0 : pread(fd, to, n, (off_t)from);
	if (fd >= 0)
		close(fd);
	pthread_setcancelstate(cancel, &cancel);
	return got > 0 ? (size_t)got : 0;
}

// read_pieces returns how many bytes could be read from the front of all pieces.
static size_t read_pieces(const struct iovec *to, const struct iovec *from, int count) {
	if (!atomic_load_explicit(&refused, memory_order_relaxed)) {
		ssize_t n = process_vm_readv(getpid(), to, (unsigned long)count, from, (unsigned long)count, 0);
		if (n >= 0)
			return (size_t)n;
		if (errno == EFAULT)
			return 0;
		atomic_store_explicit(&refused, 1, memory_order_relaxed);
	}
	size_t all = 0;
	for (int i = 0; i < count; i++) {
		size_t n = from_file(to[i].iov_base, (uint64_t)from[i].iov_base, from[i].iov_len);
		all += n;
		if (n < from[i].iov_len)
			break;
	}
	return all;
}

// A piece of its own for every page: what is readable before one that is not is copied.
size_t kz_peek(void *to, const void *from, size_t n) {
	int saved = errno;
	size_t all = 0;
	char *out = to;
	uint64_t at = (uint64_t)from;
	while (all < n) {
		struct iovec local[PIECES], remote[PIECES];
		int count = 0;
		size_t want = 0;
		while (count < PIECES && all + want < n) {
			size_t left = PAGE - (at + all + want) % PAGE, more = n - all - want;
			local[count] = (struct iovec){out + all + want, more < left ? more : left};
			remote[count] = (struct iovec){(void *)(at + all + want), local[count].iov_len};
			want += local[count++].iov_len;
		}
		size_t got = read_pieces(local, remote, count);
		all += got;
		if (got < want)
			break;
	}
	errno = saved;
	return all;
}

uint64_t kz_peek_word(uint64_t from) {
	uint64_t word;
	return kz_peek(&word, (const void *)from, sizeof word) == sizeof word ? word : 0;
}

int kz_on_stack(const struct kz_tracer *t, const uint64_t *frame, uint64_t at, size_t n) {
	uint64_t low = (uint64_t)frame;
	return low >= t->stack_low && low < t->stack_high && at >= low && at <= t->stack_high && n <= t->stack_high - at;
}

size_t kz_copy(const struct kz_tracer *t, const uint64_t *frame, void *to, uint64_t from, size_t n) {
	if (!kz_on_stack(t, frame, from, n))
		return kz_peek(to, (const void *)from, n);
	memcpy(to, (const void *)from, n);
	return n;
}

int kz_gather(const struct kz_piece *pieces, int count) {
	int saved = errno, whole = 1;
	for (int i = 0; i < count;) {
		struct iovec local[PIECES], remote[PIECES];
		int n = 0;
		size_t want = 0;
		for (; n < PIECES && i < count; n++, i++) {
			local[n] = (struct iovec){pieces[i].to, pieces[i].bytes};
			remote[n] = (struct iovec){(void *)pieces[i].from, pieces[i].bytes};
			want += pieces[i].bytes;
		}
		whole &= read_pieces(local, remote, n) == want;
	}
	errno = saved;
	return whole;
}
