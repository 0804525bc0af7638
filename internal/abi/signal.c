// What the Go runtime may install in a process that is not its own. The linker sends its
// sigaction calls here (--wrap=sigaction).
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>

int __real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

static struct sigaction ours, theirs; // SIGURG: Go preempts with it, and so may a Go host

static void both(int sig, siginfo_t *info, void *context) {
	ours.sa_sigaction(sig, info, context);
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
