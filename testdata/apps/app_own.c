// What is the program's own: its faults in functions that streams call, its signals. app_own CASE.
#define _GNU_SOURCE
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

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"callback_segv", callback_segv}, {"callback_null", callback_null}, {"callback_before", callback_before}, {"callback_after", callback_after},
		{"raised", raised}, {"raised_handled", raised_handled},
	};
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return finish();
		}
	return 2;
}
