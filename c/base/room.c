// Whether there is room for the Go image. Its runtime ends the process when it is short of address space, memory, threads or
// descriptors; the program is to have an error instead. So what the runtime takes is tried out before it is loaded.
#define _GNU_SOURCE
#include "room.h"
#include "base.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	FILES = 6,         // that it keeps, or has open for a moment
	THREADS = 16,      // that it starts by itself, with those that run kernels and tasks
	MANY = 4096,       // a limit of threads that is not worth a look
	IMAGE = 64 << 20,  // bytes that it writes to early
	PER_THREAD = 1 << 20,
};
static const size_t space = (size_t)9 << 28; // reserved: tables of its heap, the areas of kernels, and what both grow by

// limited reports a limit that is below what nobody reaches.
static int limited(int what, rlim_t least) {
	struct rlimit l;
	return getrlimit(what, &l) == 0 && l.rlim_cur != RLIM_INFINITY && l.rlim_cur < least;
}

static int room_for_files(void) {
	int fd[FILES], n = 0;
	while (n < FILES && (fd[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fd[i]);
	return n == FILES;
}

static int can_map(size_t bytes, int prot) {
	void *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	munmap(p, bytes);
	return 1;
}

// stacks is what the stacks of its threads take.
static size_t stacks(void) {
	pthread_attr_t a;
	size_t bytes = 8 << 20;
	if (pthread_attr_init(&a) == 0) {
		pthread_attr_getstacksize(&a, &bytes);
		pthread_attr_destroy(&a);
	}
	return THREADS * (bytes + PER_THREAD);
}

static void *wait_for(void *gate) {
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

static int room_for_threads(void) {
	pthread_t id[THREADS];
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	sigset_t all, was;
	int n = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was); // they are not there to take the program's signals
	pthread_mutex_lock(&gate);
	while (n < THREADS && pthread_create(&id[n], NULL, wait_for, &gate) == 0)
		n++;
	pthread_mutex_unlock(&gate);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	return n == THREADS;
}

// few_tasks reports that the container lets us have few threads.
static int few_tasks(void) {
	char text[16];
	int fd = open("/sys/fs/cgroup/pids.max", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0 || text[0] < '0' || text[0] > '9')
		return 0;
	int most = 0;
	for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9' && most < MANY; i++)
		most = 10 * most + (text[i] - '0');
	return most < MANY;
}

int kz_room(const char **why) {
	if (!room_for_files()) {
		*why = "the process has no file descriptors left (ulimit -n)";
		return KZ_CUDA_ERROR_OPERATING_SYSTEM;
	}
	if (limited(RLIMIT_AS, (rlim_t)1 << 46) && !can_map(space + stacks(), PROT_NONE)) {
		*why = "the process may have too little address space (ulimit -v)";
		return KZ_CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (limited(RLIMIT_DATA, (rlim_t)1 << 46) && !can_map(IMAGE + stacks(), PROT_READ | PROT_WRITE)) {
		*why = "the process may have too little memory (ulimit -d)";
		return KZ_CUDA_ERROR_OUT_OF_MEMORY;
	}
	if ((limited(RLIMIT_NPROC, MANY) || few_tasks()) && !room_for_threads()) {
		*why = "the process may have too few threads (ulimit -u)";
		return KZ_CUDA_ERROR_OPERATING_SYSTEM;
	}
	return 0;
}
