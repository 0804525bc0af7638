// libkudzu-clang.so: has a clang wait where it is ready to begin, and begin as often as it is asked to. Half of what a clang takes for a
// small program is its start, relocating its libraries above all; this way it starts once, while its first source is not known yet.
//
// The compiler process (internal/compile/worker/resident.go) preloads it into a clang and has a socket of packets there as file 3. Before
// main, and behind all constructors, that clang says that it is there, and forks for every request. The child takes the files of the
// request, gives up what a clang that reads texts of others is not to have, and goes on into main with the arguments the process was
// started with. The clang that waits reads no text of anybody.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KZ_EXPORT __attribute__((visibility("default")))

enum { SOCKET = 3, ARGS = 3, DEPS = 4, HIGH = 16, MOST_CALLS = 1024, MOST_CHILDREN = 256 };

// What resident.go sends, and is sent. A request comes with the files out, err, args, deps and, if it has a domain, Landlock's rules.
struct message {
	uint32_t kind, id;
	int32_t value; // of a request: its files; of an answer: the process of 'P', or why there is none; the status of 'E'
	uint32_t calls; // of a request: the length of its filter, 0 for none
	uint64_t memory; // that it may allocate, 0 for no limit
};
enum { HELLO = 'H', RUN = 'R', KILL = 'K', STARTED = 'P', ENDED = 'E' };

struct request {
	struct message head;
	struct sock_filter filter[MOST_CALLS];
};

static struct {
	uint32_t id;
	pid_t pid;
} children[MOST_CHILDREN]; // those of pid 0 are free

static void answer(uint32_t kind, uint32_t id, int value) {
	struct message m = {.kind = kind, .id = id, .value = value};
	while (send(SOCKET, &m, sizeof m, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

// confine leaves the process what the request says. A system that has no Landlock was asked for no rules; one without filters ignores
// them, as it does for workers.
static void confine(const struct request *r, int rules) {
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (rules >= 0) {
		if (syscall(SYS_landlock_restrict_self, rules, 0))
			_exit(126);
		close(rules);
	}
	if (r->head.calls) {
		struct sock_fprog p = {.len = (unsigned short)r->head.calls, .filter = (struct sock_filter *)r->filter};
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p);
	}
}

// begin makes the child of a fork the process of a request.
static void begin(const struct request *r, const int *fds, int count, pid_t parent, const sigset_t *mask) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	for (int i = 0; i < 4; i++) // all are HIGH or above
		dup2(fds[i], i + 1);
	syscall(SYS_close_range, DEPS + 1, HIGH - 1, 0);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (score >= 0 && write(score, "500", 3) < 0) {} // only advice: rather this one than the program
	close(score);
	if (r->head.memory)
		setrlimit(RLIMIT_DATA, &(struct rlimit){r->head.memory, r->head.memory});
	sigprocmask(SIG_SETMASK, mask, NULL);
	confine(r, count > 4 ? fds[4] : -1);
}

// take reads a packet and its files, which it moves out of the way. It gives how many files there are, -1 for the end. Where one of them is
// missing, as Landlock's rules where this process has too many files open, there are none.
static int take(struct request *r, int *fds) {
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(5 * sizeof(int))];
	} control;
	struct iovec part = {r, sizeof *r};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	ssize_t n = recvmsg(SOCKET, &m, MSG_CMSG_CLOEXEC);
	if (n < (ssize_t)sizeof r->head || r->head.calls > MOST_CALLS || n != (ssize_t)(sizeof r->head + r->head.calls * sizeof *r->filter))
		return -1;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int count = c && c->cmsg_type == SCM_RIGHTS ? (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
	int whole = count == r->head.value && !(m.msg_flags & MSG_CTRUNC);
	for (int i = 0; i < count; i++) {
		int fd;
		memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
		fds[i] = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
		close(fd);
		whole = whole && fds[i] >= 0;
	}
	for (int i = 0; !whole && i < count; i++)
		close(fds[i]);
	return whole ? count : 0;
}

// run forks for a request; it returns 1 in the child.
static int run(const struct request *r, const int *fds, int count, const sigset_t *mask) {
	int free = 0;
	while (free < MOST_CHILDREN && children[free].pid)
		free++;
	pid_t self = getpid(), pid = -1;
	errno = EAGAIN;
	if (count >= 4 && free < MOST_CHILDREN)
		pid = fork();
	if (!pid) {
		begin(r, fds, count, self, mask);
		return 1;
	}
	answer(STARTED, r->head.id, pid < 0 ? -errno : pid);
	if (pid > 0)
		children[free].id = r->head.id, children[free].pid = pid;
	return 0;
}

static void reap(void) {
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
		for (int i = 0; i < MOST_CHILDREN; i++)
			if (children[i].pid == pid) {
				children[i].pid = 0;
				answer(ENDED, children[i].id, status);
			}
}

// end kills the process of a request, which has that number as long as it is a child of ours.
static void end(uint32_t id) {
	for (int i = 0; i < MOST_CHILDREN; i++)
		if (children[i].pid && children[i].id == id)
			kill(children[i].pid, SIGKILL);
}

// serve forks for each request, and returns in the child. The children end with this process.
static void serve(void) {
	static struct request r;
	sigset_t chld, mask;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &mask);
	int ended = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ended < 0)
		_exit(126);
	answer(HELLO, 0, 0);
	for (;;) {
		struct pollfd from[] = {{.fd = SOCKET, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
		if (poll(from, 2, -1) < 0 && errno != EINTR)
			_exit(126);
		struct signalfd_siginfo which;
		while (from[1].revents && read(ended, &which, sizeof which) > 0) {}
		reap();
		if (!from[0].revents)
			continue;
		int fds[5], count = take(&r, fds);
		if (count < 0)
			_exit(0);
		if (r.head.kind == RUN && run(&r, fds, count, &mask))
			return;
		if (r.head.kind == KILL)
			end(r.head.id);
		for (int i = 0; i < count; i++)
			close(fds[i]);
	}
}

// ours reports that this is the program that was to be started, and not one in between that starts it.
static int ours(int argc, char **argv) {
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	path[n < 0 ? 0 : n] = 0;
	const char *name = strrchr(path, '/');
	return argc == 3 && !strcmp(argv[1], "-cc1") && !strcmp(argv[2], "@/dev/fd/3") && name && !strncmp(name + 1, "clang", 5);
}

typedef int main_fn(int argc, char **argv, char **env);
typedef int start_fn(main_fn *fn, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*ended)(void), void *stack);

static main_fn *its_main;

static int main_behind(int argc, char **argv, char **env) {
	if (ours(argc, argv))
		serve();
	return its_main(argc, argv, env);
}

KZ_EXPORT int __libc_start_main(main_fn *fn, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*ended)(void), void *stack) {
	start_fn *next = (start_fn *)dlsym(RTLD_NEXT, "__libc_start_main");
	if (!next)
		_exit(126);
	its_main = fn;
	return next(main_behind, argc, argv, init, fini, ended, stack);
}
