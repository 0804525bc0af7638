// libkudzu-base.so: what must work before, without or after the Go image.
#ifndef KZ_BASE_H
#define KZ_BASE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "zcodes.h"

// How a function is answered (the generated kind arrays).
enum { KZ_NONE, KZ_BASE, KZ_GO };

// kz_own is a function of the base's own among a library's.
struct kz_own {
	void *entry;
	uint32_t slot;
};

struct kz_library {
	const char *soname;
	void **table;           // what the front jumps through
	void **entry;           // what answers: the same array, or one of its own while thunks record the calls (trace.c)
	const uint8_t *kind;    // one a symbol
	const struct kz_own *own; // up to one without an entry
	const uint16_t *offset; // of each name in names
	const char *names;
	const uint16_t *shape; // of each function's shape in shapes (trace.h)
	const char *shapes;
	_Atomic uint32_t *count; // two a symbol: calls, and look-ups, that found nothing
	uint32_t size;
	int api;                           // which interface it offers, KZ_API_*
	int unsupported;                   // what a function nobody implements answers
	int runtime;                       // of the runtime API: failures are the thread's last error
	int (*child)(void), (*exit)(void); // what everything answers after a fork, and at exit
	void *lazy, *none, *traced; // entry.S, with the library's number in it
	const char *front; // address of symbol 0, once the front is loaded
	_Atomic int ready; // its entries are written
};

extern struct kz_library kz_libraries[KZ_LIBRARIES];

#define KZ_STRIDE 32 // bytes between two symbols of a front

enum kz_state {
	KZ_UNLOADED, // the Go image has not been needed yet
	KZ_LOADED,
	KZ_FAILED, // it could not be loaded; said once on stderr
	KZ_CHILD,  // a fork of a process that had loaded it
	KZ_EXIT,   // the process is ending
};

extern _Atomic int kz_now; // enum kz_state

struct kz_thread *kz_thread(void);

// kz_thread_ended lets the driver drop what it keeps for a thread that is ending.
void kz_thread_ended(struct kz_thread *t);

// kz_ready writes a library's entries if nobody has.
void kz_ready(int library);

// kz_entry returns the implementation of a symbol, loading the Go image if it lives
// there, or NULL when there is none (unimplemented, after fork, at exit).
void *kz_entry(int library, uint32_t symbol);

// kz_seen is the same, but through the front where calls are recorded.
void *kz_seen(int library, uint32_t symbol);

// kz_front returns the address a program sees for a symbol, loading the front if need be.
void *kz_front(int library, uint32_t symbol);

// kz_runtime_answer notes a failure as the thread's last error, and returns it.
int kz_runtime_answer(int code);

void kz_contexts_ended(void);

// Every lock is held across fork, so that a child never finds one taken by a thread it
// does not have. when: -1 before, 0 after in the parent, 1 after in the child.
void kz_fork_lock(pthread_mutex_t *lock, int when);
void kz_context_fork(int when);
void kz_register_fork(int when);

extern kz_last_error_text kz_last_errors[KZ_LAST_ERRORS];
extern int32_t kz_lasting; // host.h

// kz_secure: the process has more rights than the user who started it (setuid, setgid), who must not choose its code or files.
int kz_secure(void);

// kz_setting is the value of a variable of ours that counts here, or NULL.
const char *kz_setting(const char *name);

// kz_environment is the value of a variable of others, NULL where it does not count: it names files.
const char *kz_environment(const char *name);

// kz_beside makes the path of a file in the folder this library lies in; 0 if it is not known.
int kz_beside(char *path, size_t size, const char *file);

// kz_library_path is the loader's list of folders, or NULL.
const char *kz_library_path(void);

// kz_log_level: 0 nothing, 1 error … 4 debug, from KUDZU_LOG.
int kz_log_level(void);

// of is whose result codes: KZ_ERRORS_*.
const char *kz_error_name(int code, int of);
const char *kz_error_text(int code, int of);

// kz_driver_version is the CUDA version that the driver presents: the newest whose PTX is taken, or what
// KUDZU_DRIVER_VERSION says.
int kz_driver_version(void);

#define KZ_EXPORT __attribute__((visibility("default")))

// kz_say writes a line to standard error, if that still is what it was at kz_say_start (say.c); kz_say_to writes to any file. No
// SIGPIPE comes of either, and errno stays.
void kz_say_start(void);
void kz_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kz_say_text(const char *text, size_t n); // the same for a text that is ready
void kz_complain(const char *text, size_t n); // what kernels say: also where the program has put another file in the place of number 2
void kz_say_to(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

// kz_tell says at the program's end that it used no device; kz_tell_start is called when the first front is loaded (tell.c).
void kz_tell_start(void);
void kz_tell(int called, int failed);

#endif
