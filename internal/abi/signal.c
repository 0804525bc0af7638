// What the Go runtime may do with signals in a process that is not its own. The linker sends its
// calls of sigaction and pthread_key_create here (--wrap).
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

int __real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));

static struct sigaction ours, theirs; // SIGURG: Go preempts with it, and so may a Go host

static __thread char leaving __attribute__((tls_model("initial-exec"))); // this thread is in its last moments

static void both(int sig, siginfo_t *info, void *context) {
	ours.sa_sigaction(sig, info, context);
	if (leaving) return;
	if (theirs.sa_flags & SA_SIGINFO)
		theirs.sa_sigaction(sig, info, context);
	else
		theirs.sa_handler(sig);
}

int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
	if (act && sig == SIGPIPE) // the host's business
		return __real_sigaction(sig, NULL, old);
	if (act && sig == SIGURG && (act->sa_flags & SA_SIGINFO) && !ours.sa_sigaction) {
		ours = *act;
		__real_sigaction(sig, NULL, &theirs);
		if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
			// Without this a Go host's preemption signals would end in our runtime, and its
			// threads would wait for them for good.
			struct sigaction a = *act;
			a.sa_sigaction = both;
			if (old)
				*old = theirs;
			return __real_sigaction(sig, &a, NULL);
		}
	}
	return __real_sigaction(sig, act, old);
}

static void (*drop)(void *); // gives back what our runtime kept for a thread that ends

// leave runs at the end of a thread that called us. A Go host blocks every signal before it takes its own thread apart; our
// runtime then sets the mask the thread had when it first called us, and a preemption signal that was pending would reach
// the host's handler with no signal stack and no thread left to it: the process died of that, silently.
static void leave(void *g) {
	sigset_t all, was, urgent;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	if (sigismember(&was, SIGURG) == 1) {
		const struct timespec now = {0, 0};
		sigemptyset(&urgent);
		sigaddset(&urgent, SIGURG);
		while (sigtimedwait(&urgent, NULL, &now) > 0) {}
	}
	leaving = 1;
	drop(g);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	leaving = 0;
}

int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
	if (destructor && !drop) { // the one key of runtime/cgo
		drop = destructor;
		destructor = leave;
	}
	return __real_pthread_key_create(key, destructor);
}
