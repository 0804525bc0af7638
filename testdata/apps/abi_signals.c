// The Go image must leave a host's signals as they are.
#include <cuda.h>
#include <signal.h>
#include <string.h>

#include "abi_check.h"

static volatile sig_atomic_t urgent, pipes;
static void on_urgent(int s) { urgent += s == SIGURG; }
static void on_pipe(int s) { pipes += s == SIGPIPE; }

int main(void) {
	struct sigaction act, now;
	memset(&act, 0, sizeof act);
	act.sa_handler = on_urgent;
	sigaction(SIGURG, &act, NULL);
	act.sa_handler = on_pipe;
	sigaction(SIGPIPE, &act, NULL);
	// What a parent had ignored (nohup: SIGHUP) is ignored here: the same as before is what counts.
	static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPROF, SIGUSR1, SIGUSR2, SIGALRM};
	enum { N = sizeof others / sizeof *others };
	struct sigaction was[N];
	for (unsigned i = 0; i < N; i++) sigaction(others[i], NULL, &was[i]);
	EXPECT(cuInit(0), 0);

	sigaction(SIGPIPE, NULL, &now);
	EXPECT(now.sa_handler == on_pipe, 1);
	raise(SIGPIPE);
	EXPECT(pipes, 1);
	int before = urgent; // Go may have sent itself some
	raise(SIGURG);
	EXPECT(urgent > before, 1);
	for (unsigned i = 0; i < N; i++) {
		sigaction(others[i], NULL, &now);
		EXPECT(now.sa_handler == was[i].sa_handler, 1);
	}
	return finish();
}
