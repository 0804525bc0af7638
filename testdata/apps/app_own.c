// What is the program's own: its faults in functions that streams call, its signals, its files. app_own CASE.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "app.h"

static App app;

static void wild(void *unused) {
	(void)unused;
	*(volatile int *)(uintptr_t)8 = 1;
}

static void null_call(void *unused) {
	void (*volatile f)(void) = NULL;
	(void)unused;
	f();
}

static void own_fault(int sig, siginfo_t *si, void *context) {
	(void)context;
	static const char said[] = "own handler\n";
	_exit(sig == SIGSEGV && (si->si_addr == (void *)8 || si->si_code <= 0) && write(1, said, sizeof said - 1) > 0 ? 45 : 46);
}

static void own_handler(void) {
	struct sigaction a = {.sa_sigaction = own_fault, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &a, NULL);
}

static void callback_fault(CUhostFn fn) {
	OK(cuLaunchHostFunc(0, fn, NULL));
	OK(cuCtxSynchronize());
}

static void callback_segv(void) {
	OK(app_start(&app));
	OK(app_works(&app));
	callback_fault(wild);
}

static void callback_null(void) {
	OK(app_start(&app));
	callback_fault(null_call);
}

static void callback_before(void) {
	own_handler();
	OK(app_start(&app));
	callback_fault(wild);
}

static void callback_after(void) {
	OK(app_start(&app));
	OK(app_works(&app));
	own_handler();
	callback_fault(wild);
}

static void raised(void) {
	OK(app_start(&app));
	OK(app_works(&app));
	raise(SIGSEGV);
}

static void raised_handled(void) {
	own_handler();
	OK(app_start(&app));
	raise(SIGSEGV);
}

// closed: the program closes all its files, as a daemon does, and opens others under the same numbers.
static void closed(void) {
	OK(app_start(&app));
	OK(app_works(&app));
	EXPECT(close_range(3, ~0U, 0), 0);
	usleep(50000); // whoever looks at its files by itself has done so
	for (int i = 0; i < 3; i++) {
		char text[256], name[32];
		CUmodule m;
		CUfunction f;
		OK(app_works(&app));
		int fd = open("/dev/null", O_RDWR);
		EXPECT(dup2(fd, 1000), 1000); // where ours was
		snprintf(name, sizeof name, "n%d", i + (int)getpid() * 8); // no cache has it
		snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s() { ret; }\n", name);
		OK(cuModuleLoadData(&m, text));
		OK(cuModuleGetFunction(&f, m, name));
		OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
		OK(cuCtxSynchronize());
		EXPECT(fcntl(fd, F_GETFD) >= 0 && fcntl(1000, F_GETFD) >= 0, 1); // the program's stay
	}
}

// poke: a kernel faults in a context of its own.
static void poke(void) {
	CUcontext c;
	CUmodule m;
	CUfunction f;
	CUdeviceptr p = 0;
	unsigned who = 0;
	void *args[] = {&p, &who};
	OK(cuCtxCreate(&c, 0, 0, 0));
	OK(cuModuleLoadData(&m, app_ptx));
	OK(cuModuleGetFunction(&f, m, "poke"));
	OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
	EXPECT(cuCtxSynchronize(), 700);
	cuCtxDestroy(c);
}

// taken: the program takes the signals back after our first call, for nobody or to ignore them. Kernels fault as before.
static void taken(void) {
	static void (*const how[])(int) = {SIG_DFL, SIG_IGN};
	OK(app_start(&app));
	OK(app_works(&app));
	for (int i = 0; i < 4; i++) {
		signal(SIGSEGV, how[i % 2]);
		signal(SIGBUS, how[i % 2]);
		poke();
	}
}

// blocked: kernels fault on a thread that has all signals blocked, and has them so afterwards.
static void blocked(void) {
	sigset_t all, now;
	OK(app_start(&app));
	OK(app_works(&app));
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 20; i++) {
		poke();
		sigprocmask(SIG_BLOCK, NULL, &now);
		EXPECT(sigismember(&now, SIGSEGV) + sigismember(&now, SIGFPE) + sigismember(&now, SIGTERM), 3);
	}
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"callback_segv", callback_segv}, {"callback_null", callback_null}, {"callback_before", callback_before}, {"callback_after", callback_after},
		{"raised", raised}, {"raised_handled", raised_handled}, {"blocked", blocked}, {"taken", taken}, {"closed", closed},
	};
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return finish();
		}
	return 2;
}
