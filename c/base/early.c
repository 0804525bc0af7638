// The compiler process, started before the Go image is there: while that is loaded, the process and the clang that it forks
// (c/clang/clang.c) start beside it. Go takes the process over with the call that needs it (internal/compile/early.go), and starts its own
// where this one is not what it wants. Nothing here is needed; whatever fails is left to Go.
#define _GNU_SOURCE
#include "early.h"
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { STACK = 16 << 10, HIGH = 1000, FIRST = 10, MOST_SETTINGS = 128 };

// start is a program that is started as a grandchild, as internal/compile/spawn_unsafe.go does it and for its reasons: the program we
// live in gets no SIGCHLD and no child that its wait sees.
struct start {
	const char *path, *folder;
	char **argv, **env;
	int files[4]; // become 0 to 3; all are FIRST or above
	_Atomic int pid; // of the grandchild, 0 if there is none or it executes nothing
	char *stack;
};

// The two functions run in our memory while our thread waits. Signals are blocked until no handler of ours is left.
static int execute(void *arg) {
	struct start *s = arg;
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL);
	setsid();
	if (s->folder && chdir(s->folder))
		_exit(126);
	for (int i = 0; i < 4; i++)
		if (dup2(s->files[i], i) < 0)
			_exit(126);
	if (syscall(SYS_close_range, 4, ~0u, 0)) { // a kernel before 5.9: Go does it
		s->pid = 0;
		_exit(126);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(s->path, s->argv, s->env);
	s->pid = 0;
	_exit(126);
}

static int between(void *arg) {
	struct start *s = arg;
	int pid = clone(execute, s->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
	if (pid < 0 || s->pid < 0)
		s->pid = 0;
	else if (s->pid)
		s->pid = pid;
	_exit(0);
}

static int start(struct start *s) {
	sigset_t all, before;
	char *stacks = malloc(2 * STACK);
	if (!stacks)
		return 0;
	s->stack = stacks;
	s->pid = 1;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int mid = clone(between, stacks + 2 * STACK, CLONE_VM | CLONE_VFORK, s); // no exit signal
	while (mid > 0 && waitpid(mid, NULL, __WCLONE) < 0 && errno == EINTR) {}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(stacks);
	return mid > 0 ? s->pid : 0;
}

// high moves a file out of the numbers of the program, from at on or as high as it may be.
static int high(int fd, int at) {
	int to = -1;
	for (; fd >= 0 && to < 0 && at > fd; at /= 2)
		to = fcntl(fd, F_DUPFD_CLOEXEC, at);
	if (to < 0)
		return fd;
	close(fd);
	return to;
}

static int pair(int type, int fds[2]) {
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds))
		return 0;
	fds[0] = high(fds[0], FIRST), fds[1] = high(fds[1], FIRST);
	return fds[0] >= FIRST && fds[1] >= FIRST;
}

// clang_path is the clang that internal/compile will choose, as far as that can be told without looking for libLLVM. The compiler process
// has another one start if it is not that.
static int clang_path(char to[PATH_MAX]) {
	const char *own = kz_setting("KUDZU_CLANG");
	char path[64];
	if (own && *own)
		return *own == '/' && snprintf(to, PATH_MAX, "%s", own) < PATH_MAX;
	for (int major = 22; major >= 19; major--) {
		snprintf(path, sizeof path, "/usr/lib/llvm-%d/bin/clang", major);
		if (realpath(path, to))
			return 1;
	}
	return 0;
}

static int program_path(char to[PATH_MAX]) {
	const char *own = kz_setting("KUDZU_COMPILER");
	if (own && *own)
		return snprintf(to, PATH_MAX, "%s", own) < PATH_MAX;
	return kz_beside(to, PATH_MAX, "../bin/kudzu");
}

// settings are the variables of ours, as config.ForCompiler has them.
static char **settings(char *to[MOST_SETTINGS + 1]) {
	int n = 0;
	for (char **e = environ; e && *e && n < MOST_SETTINGS; e++)
		if (!strncmp(*e, "KUDZU_", 6))
			to[n++] = *e;
	to[n] = NULL;
	return to;
}

static void shut(int fd) {
	if (fd >= 0)
		close(fd);
}

static uint64_t begin(void) {
	char program[PATH_MAX], clang[PATH_MAX], library[PATH_MAX + 16], *env[MOST_SETTINGS + 1];
	strcpy(library, "LD_PRELOAD=");
	if (!program_path(program) || access(program, X_OK) || !clang_path(clang) || !kz_beside(library + 11, PATH_MAX, "libkudzu-clang.so") || access(library + 11, R_OK))
		return 0;
	int null = high(open("/dev/null", O_RDWR | O_CLOEXEC), FIRST), front[2] = {-1, -1}, back[2] = {-1, -1};
	uint64_t is = 0;
	if (null >= FIRST && pair(SOCK_STREAM, front) && pair(SOCK_SEQPACKET, back)) {
		struct start reader = {.path = clang, .folder = "/", .argv = (char *[]){clang, "-cc1", "@/dev/fd/3", NULL}, .env = (char *[]){"LC_ALL=C", "LD_BIND_NOW=1", library, NULL}, .files = {null, null, null, back[1]}};
		struct start compiler = {.path = program, .argv = (char *[]){program, "compiler", "with", clang, NULL}, .env = settings(env), .files = {front[1], front[1], null, back[0]}};
		int pid = start(&compiler);
		if (pid && start(&reader)) {}
		front[0] = high(front[0], HIGH);
		if (pid && !fcntl(front[0], F_SETFL, O_NONBLOCK)) {
			is = (uint64_t)pid << 32 | (uint64_t)(front[0] + 1);
			front[0] = -1;
		}
	}
	shut(null), shut(front[0]), shut(front[1]), shut(back[0]), shut(back[1]);
	return is;
}

uint64_t kz_early_compiler(void) {
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	if (kz_secure() || atomic_flag_test_and_set(&begun))
		return 0;
	int saved = errno;
	uint64_t is = begin();
	errno = saved;
	return is;
}

void kz_early_end(uint64_t compiler) { shut((int)(compiler & 0xffffffff) - 1); }
