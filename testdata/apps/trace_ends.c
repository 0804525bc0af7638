// Ways in which a traced process ends, or goes on as another: trace_ends fork|exec|kill|fault|exit|threads|many|signals|close|cancel.
#include <cuda.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi_check.h"

static int version(void) {
	int v = 0;
	EXPECT(cuDriverGetVersion(&v), 0);
	return v;
}

static void wait_for(pid_t child, int signal) {
	int status = 0;
	EXPECT(waitpid(child, &status, 0), child);
	EXPECT(WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status), signal);
}

// A child that calls has a file of its own; one that does not has none.
static void forks(void) {
	version();
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();
		if (!child) {
			if (i)
				version(), version();
			_exit(0);
		}
		wait_for(child, 0);
	}
	version();
}

static void *one_call(void *arg) {
	version();
	return arg;
}

static void threads(int count) {
	for (int i = 0; i < count; i++) {
		pthread_t id;
		EXPECT(pthread_create(&id, NULL, one_call, NULL), 0);
		EXPECT(pthread_join(id, NULL), 0);
	}
}

static void *for_ever(void *arg) {
	int v;
	for (;;)
		cuDriverGetVersion(&v);
	return arg;
}

// A thread that is to end at the next point where it can: the recorder must not be one.
static void *cancelled(void *arg) {
	pthread_cancel(pthread_self());
	for (int i = 0; i < 3000; i++)
		version();
	pthread_testcancel();
	return arg;
}

static void cancel(void) {
	pthread_t id;
	void *result = NULL;
	alarm(20); // where the lock is left, for ever
	EXPECT(pthread_create(&id, NULL, cancelled, NULL), 0);
	EXPECT(pthread_join(id, &result), 0);
	EXPECT(result == PTHREAD_CANCELED, 1);
	for (int i = 0; i < 3000; i++)
		version();
}

static volatile int handled;

static void handler(int s) {
	(void)s;
	int v, saved = errno;
	cuDriverGetVersion(&v);
	handled++;
	errno = saved;
}

// A handler that calls, in the middle of calls.
static void signals(void) {
	struct sigaction act = {.sa_handler = handler};
	sigaction(SIGUSR1, &act, NULL);
	pid_t self = getpid(), child = fork();
	if (!child) {
		for (int i = 0; i < 2000; i++)
			kill(self, SIGUSR1);
		_exit(0);
	}
	errno = 55;
	while (waitpid(child, NULL, WNOHANG) != child)
		version();
	EXPECT(handled > 0, 1);
}

int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "";
	if (!strcmp(how, "fork"))
		forks();
	else if (!strcmp(how, "exec")) {
		version();
		execv("/proc/self/exe", (char *[]){argv[0], (char *)"after", NULL});
	} else if (!strcmp(how, "after"))
		version();
	else if (!strcmp(how, "kill")) {
		version();
		kill(getpid(), SIGKILL);
	} else if (!strcmp(how, "fault")) {
		version();
		cuDriverGetVersion((int *)16); // the base writes there itself
	} else if (!strcmp(how, "exit")) {
		for (int i = 0; i < 4; i++) {
			pthread_t id;
			pthread_create(&id, NULL, for_ever, NULL);
		}
		usleep(20000);
		int rc = finish();
		exit(rc);
	} else if (!strcmp(how, "threads"))
		threads(50);
	else if (!strcmp(how, "many")) // several windows of the file
		for (int i = 0; i < 40000; i++)
			version();
	else if (!strcmp(how, "signals"))
		signals();
	else if (!strcmp(how, "cancel"))
		cancel();
	else if (!strcmp(how, "close")) {
		version();
		for (int fd = 3; fd < 100; fd++)
			close(fd);
		if (chdir("/"))
			return 1;
		for (int i = 0; i < 2000; i++)
			version();
	} else
		return 2;
	return finish();
}
