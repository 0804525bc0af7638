// What a program does to its process: app_process CASE.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

static App app;

// child runs fn in a fork and returns its exit status; a child that hangs is killed.
static int child(int (*fn)(void)) {
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(60);
		int r = fn();
		fflush(stdout);
		_exit(r);
	}
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int works(void) {
	OK(app_start(&app));
	OK(app_works(&app));
	return failures;
}

static CUdeviceptr flag;

// busy starts a kernel that runs until *flag is set.
static void busy(void) {
	OK(cuMemAlloc(&flag, 4));
	OK(cuMemsetD32(flag, 0, 1));
	OK(cuCtxSynchronize());
	void *args[] = {&flag};
	CUstream s;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuLaunchKernel(app_kernel(&app, "spin"), 1, 1, 1, 32, 1, 1, 0, s, args, 0));
}

// dead is a child after cuInit: every call answers that there is no driver, and none hangs.
static int dead(void) {
	CUdeviceptr p = 0;
	CUmodule m = 0;
	CUcontext c = 0;
	CUstream s = 0;
	CUevent e = 0;
	int n = 0;
	char buf[16];
	size_t a, b;
	const char *name = 0;
	EXPECT(cuInit(0), 3);
	EXPECT(cuDeviceGetCount(&n), 3);
	EXPECT(cuDeviceGet(&n, 0), 3);
	EXPECT(cuDevicePrimaryCtxRetain(&c, 0), 3);
	EXPECT(cuDevicePrimaryCtxReset(0), 3);
	EXPECT(cuCtxCreate(&c, 0, 0, 0), 3);
	EXPECT(cuCtxSetCurrent(app.ctx), 3);
	EXPECT(cuCtxSynchronize(), 3);
	EXPECT(cuMemGetInfo(&a, &b), 3);
	EXPECT(cuMemAlloc(&p, 16), 3);
	EXPECT(cuMemFree(flag), 3);
	EXPECT(cuMemcpyDtoH(buf, flag, 4), 3);
	EXPECT(cuModuleLoadData(&m, app_ptx), 3);
	EXPECT(cuModuleUnload(app.mod), 3);
	EXPECT(cuStreamCreate(&s, 0), 3);
	EXPECT(cuStreamSynchronize(0), 3);
	EXPECT(cuEventCreate(&e, 0), 3);
	EXPECT(cuCtxDestroy(app.ctx), 3);
	OK(cuGetErrorName(700, &name)); // needs no driver
	return failures;
}

static void fork_before(void) {
	EXPECT(child(works), 0);
	EXPECT(child(works), 0);
	EXPECT(works(), 0); // and we ourselves
}

static void fork_after(void) {
	OK(works());
	EXPECT(child(dead), 0);
	OK(app_works(&app));
	EXPECT(system("exit 7") >> 8, 7);
	char *argv[] = {"true", 0};
	pid_t pid = vfork();
	if (!pid) {
		execvp("true", argv);
		_exit(1);
	}
	int st = 1;
	EXPECT(waitpid(pid, &st, 0), pid);
	EXPECT(st, 0);
	OK(app_works(&app));
}

static int leaves(void) { exit(3); } // with handlers and destructors

static void fork_busy(void) {
	OK(works());
	busy();
	EXPECT(child(dead), 0);
	EXPECT(child(leaves), 3);
	EXPECT(system("true"), 0);
	// Beside the kernel that spins other streams go on. (A free would wait for it, here as on a GPU.)
	CUstream s;
	CUdeviceptr p;
	unsigned word = 0;
	OK(cuMemAlloc(&p, 4));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(app_fill(&app, p, 1, 9, s));
	OK(cuMemcpyDtoHAsync(&word, p, 4, s));
	OK(cuStreamSynchronize(s));
	EXPECT(word, 9);
	OK(cuMemsetD32Async(flag, 1, 1, s));
	OK(cuCtxSynchronize());
	OK(app_works(&app));
}

static atomic_int stop;

static void *launcher(void *arg) {
	(void)arg;
	OK(cuCtxSetCurrent(app.ctx));
	while (!atomic_load(&stop)) {
		OK(app_works(&app));
	}
	return 0;
}

// fork_threads forks while other threads are in the middle of calls.
static void fork_threads(void) {
	OK(works());
	pthread_t t[4];
	for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, launcher, 0);
	for (int i = 0; i < 40; i++) EXPECT(child(dead), 0);
	atomic_store(&stop, 1);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	OK(app_works(&app));
}

static void at_end(void) {
	CUdeviceptr p = 0;
	int e = cuMemAlloc(&p, 16); // before the driver is shut down it works, after that it is 4
	printf("at exit %s\n", e == 0 || e == 4 ? "answered" : "wrong");
	fflush(stdout);
}

static void exit_busy(void) {
	atexit(at_end);
	OK(works());
	atexit(at_end);
	busy();
	exit(failures ? 1 : 42);
}

static void return_busy(void) {
	OK(works());
	busy();
}

// exit_thread ends the process from another thread while this one waits for a kernel that never ends.
static void *leaver(void *arg) {
	(void)arg;
	usleep(50000);
	exit(failures ? 1 : 43);
}

static void exit_thread(void) {
	OK(works());
	busy();
	pthread_t t;
	pthread_create(&t, 0, leaver, 0);
	cuCtxSynchronize();
	pause(); // the wait may end with "shutting down"; the process is what ends
}

static void exec_busy(void) {
	OK(works());
	busy();
	fflush(stdout);
	if (!failures) execlp("sh", "sh", "-c", "echo replaced; exit 44", (char *)0);
	failures++;
}

static volatile sig_atomic_t chld, reaped;
static void on_chld(int s) {
	(void)s;
	int saved = errno;
	pid_t p;
	chld++;
	while ((p = waitpid(-1, 0, WNOHANG)) > 0) reaped++;
	errno = saved;
}

// sigchld: the program reaps every child; the compiler process must not be one of them.
static void sigchld(void) {
	struct sigaction act = {.sa_handler = on_chld, .sa_flags = SA_RESTART};
	sigaction(SIGCHLD, &act, 0);
	OK(works()); // compiles
	EXPECT(chld, 0);
	EXPECT(waitpid(-1, 0, 0), -1);
	EXPECT(errno, ECHILD);
	pid_t pid = fork();
	if (!pid) _exit(0);
	for (int i = 0; i < 20000 && !reaped; i++) usleep(1000);
	EXPECT(reaped, 1);
	struct sigaction now;
	sigaction(SIGCHLD, 0, &now);
	EXPECT(now.sa_handler == on_chld, 1);
	OK(app_works(&app));
}

// sigchld_ignored: children vanish without a status.
static void sigchld_ignored(void) {
	signal(SIGCHLD, SIG_IGN);
	OK(works());
	OK(app_works(&app));
}

static sigjmp_buf back;
static volatile sig_atomic_t caught;
static void on_segv(int s, siginfo_t *i, void *u) {
	(void)u;
	caught += s == SIGSEGV && i->si_addr == (void *)0x10;
	siglongjmp(back, 1);
}

static void touch(void) {
	int before = caught;
	if (!sigsetjmp(back, 1)) *(volatile int *)0x10 = 1;
	EXPECT(caught, before + 1);
}

static void segv_handler(void) {
	struct sigaction act = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &act, 0);
}

static void segv_common(void) {
	touch();
	OK(app_works(&app));
	// A fault of a kernel is the kernel's, and the program's handler does not hear of it.
	int before = caught;
	CUdeviceptr p = 0;
	unsigned who = 3;
	void *args[] = {&p, &who};
	OK(cuLaunchKernel(app_kernel(&app, "poke"), 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(caught, before);
	touch();
}

static void segv_before(void) {
	segv_handler();
	OK(works());
	segv_common();
}

static void segv_after(void) {
	OK(works());
	segv_handler();
	segv_common();
}

// segv_default: a program's own fault without a handler kills it, as ever.
static int crashes(void) {
	works();
	*(volatile int *)0x10 = 1;
	return 0;
}
static void segv_default(void) { EXPECT(child(crashes), 1000 + SIGSEGV); }

// masked: a program that blocks every signal in all of its threads.
static void masked(void) {
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, 0);
	OK(works());
	CUdeviceptr p = 0;
	unsigned who = 3;
	void *args[] = {&p, &who};
	OK(cuLaunchKernel(app_kernel(&app, "poke"), 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// timer: a program interrupted a thousand times a second, without SA_RESTART.
static volatile sig_atomic_t ticks;
static void on_tick(int s) { ticks += s == SIGALRM; }
static void timer(void) {
	struct sigaction act = {.sa_handler = on_tick};
	sigaction(SIGALRM, &act, 0);
	struct itimerval v = {{0, 1000}, {0, 1000}};
	setitimer(ITIMER_REAL, &v, 0);
	OK(works());
	while (ticks < 100) OK(app_works(&app));
}

// late_handler: handlers that are installed when we are there already, without a stack of their own (SA_ONSTACK) and with an appetite.
// Threads are interrupted in the middle of our calls, and what nobody of the program wants is left to nobody.
static volatile sig_atomic_t astray;
static atomic_long heavy;
static pthread_t callers[3];
static atomic_int calling;

__attribute__((noinline)) static void on_heavy(int sig) {
	volatile unsigned char room[64 << 10];
	for (size_t i = 0; i < sizeof room; i += 64) room[i] = (unsigned char)(i / 64 + sig);
	for (size_t i = 0; i < sizeof room; i += 64)
		if (room[i] != (unsigned char)(i / 64 + sig)) _exit(99);
	atomic_fetch_add(&heavy, 1);
}
static void on_astray(int sig) { astray = sig; }

static void *caller(void *arg) {
	App own = app;
	int e = cuCtxSetCurrent(own.ctx);
	atomic_fetch_add(&calling, 1);
	while (!e && atomic_load(&calling) > 0) { // calls that stay in Go, and that allocate there
		CUmodule m;
		CUdeviceptr p;
		e = cuModuleLoadData(&m, app_ptx);
		if (!e) e = cuModuleUnload(m);
		for (int i = 0; !e && i < 50; i++) {
			if (!(e = cuMemAlloc(&p, 4096))) e = cuMemFree(p);
		}
	}
	EXPECT(e, CUDA_SUCCESS);
	return arg;
}

static void late_handler(void) {
	sigset_t stray;
	sigemptyset(&stray);
	sigaddset(&stray, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &stray, 0);
	OK(works());
	struct sigaction act = {.sa_handler = on_heavy, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &act, 0);
	act.sa_handler = on_astray;
	sigaction(SIGUSR2, &act, 0);
	enum { N = sizeof callers / sizeof *callers };
	for (int i = 0; i < N; i++) pthread_create(&callers[i], 0, caller, 0);
	while (atomic_load(&calling) < N) sched_yield();
	kill(getpid(), SIGUSR2); // every thread of the program blocks it: it waits until one does not
	for (int i = 0; atomic_load(&heavy) < 3000; i++) {
		pthread_kill(callers[i % N], SIGUSR1);
		usleep(50);
	}
	atomic_store(&calling, -N);
	for (int i = 0; i < N; i++) pthread_join(callers[i], 0);
	EXPECT(astray, 0);
	pthread_sigmask(SIG_UNBLOCK, &stray, 0);
	EXPECT(astray, SIGUSR2);
	OK(app_works(&app));
}

// late_env: what a program sets before its first call counts, as Python's os.environ does, and what it takes away does not.
static void late_env(void) {
	unsetenv("KUDZU_DEVICES");
	setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
	EXPECT(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

// files: nothing of ours takes the numbers of standard files that the program closed.
static void closed_files(void) {
	close(0);
	OK(works());
	int fd = open("/dev/null", 0);
	(void)fd;
	OK(app_works(&app));
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"fork_before", fork_before}, {"fork_after", fork_after}, {"fork_busy", fork_busy}, {"fork_threads", fork_threads}, {"exit_busy", exit_busy},
		{"return_busy", return_busy}, {"exit_thread", exit_thread}, {"exec_busy", exec_busy}, {"sigchld", sigchld}, {"sigchld_ignored", sigchld_ignored},
		{"segv_before", segv_before}, {"segv_after", segv_after}, {"segv_default", segv_default}, {"masked", masked}, {"timer", timer}, {"closed_files", closed_files},
		{"late_env", late_env}, {"late_handler", late_handler},
	};
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return finish();
		}
	return 2;
}
