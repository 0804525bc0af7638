// Lines for the user on standard error. They are nothing that the program asked for, so they must not harm it: a reader of the pipe that
// is gone ends no program, and where number 2 is a file that the program opened itself nothing is written to it.
#define _GNU_SOURCE
#include "base.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct stat was; // standard error when this library was loaded
static int known;

void kz_say_start(void) { known = !fstat(2, &was); }

// put writes, without a SIGPIPE for anybody. What a file does not take at once is lost.
static void put(int fd, const char *text, size_t n) {
	sigset_t pipe, mask, pending;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	if (sigpending(&pending) || pthread_sigmask(SIG_BLOCK, &pipe, &mask))
		return;
	ssize_t put = 0;
	for (size_t at = 0; at < n && ((put = write(fd, text + at, n - at)) > 0 || (put < 0 && errno == EINTR));)
		at += put > 0 ? (size_t)put : 0;
	if (put < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
		static const struct timespec now;
		while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

// same says that number 2 still is what it was.
static int same(void) {
	struct stat is;
	return known && !fstat(2, &is) && is.st_dev == was.st_dev && is.st_ino == was.st_ino;
}

void kz_say_text(const char *text, size_t n) {
	int saved = errno;
	if (same())
		put(2, text, n);
	errno = saved;
}

void kz_complain(const char *text, size_t n) {
	int saved = errno;
	if (known)
		put(2, text, n);
	errno = saved;
}

static void say(int fd, const char *format, va_list a) {
	char text[4096];
	int n = vsnprintf(text, sizeof text, format, a);
	if (n > 0)
		put(fd, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void kz_say_to(int fd, const char *format, ...) {
	int saved = errno;
	va_list a;
	va_start(a, format);
	say(fd, format, a);
	va_end(a);
	errno = saved;
}

void kz_say(const char *format, ...) {
	int saved = errno;
	if (same()) {
		va_list a;
		va_start(a, format);
		say(2, format, a);
		va_end(a);
	}
	errno = saved;
}
