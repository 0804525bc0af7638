// Jump tables: loading the Go image at the first call that needs it, and swapping every
// entry after a fork and at exit.
#define _GNU_SOURCE
#include "ahead.h"
#include "base.h"
#include "room.h"
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic int kz_now = KZ_UNLOADED;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER; // guards the start and swaps; before the others of base
static _Atomic int opening; // the loader has been asked for the Go image: a child may have a dead one

static int failed = KZ_CUDA_ERROR_SHARED_OBJECT_INIT_FAILED; // what everything answers if there is no Go image
static int answer_failed(void) { return failed; }

static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER; // guards what is written to entries, and the state; nothing is called under it
static struct kz_image image;                                    // once the state is KZ_LOADED

// give writes what a library's functions are in a state, those of Go's and in some states those of nobody. A store of a pointer is
// atomic, so threads inside a front see the old or the new.
static void give(int l, enum kz_state state) {
	struct kz_library *lib = &kz_libraries[l];
	void *fn = state == KZ_CHILD ? lib->child : state == KZ_EXIT ? lib->exit : answer_failed;
	for (uint32_t i = 0; i < lib->size; i++) {
		if (state == KZ_LOADED && lib->kind[i] == KZ_GO)
			__atomic_store_n(&lib->entry[i], kz_ahead(l, i, image.stubs[lib->api][i]), __ATOMIC_RELEASE);
		else if (state != KZ_LOADED && (lib->kind[i] == KZ_GO || (lib->kind[i] == KZ_NONE && state != KZ_FAILED)))
			__atomic_store_n(&lib->entry[i], fn, __ATOMIC_RELEASE);
	}
}

// fill writes the entries of a library that nobody has used yet: its front is not there, or is just being attached.
static void fill(int l) {
	struct kz_library *lib = &kz_libraries[l];
	for (uint32_t i = 0; i < lib->size; i++)
		lib->entry[i] = kz_real ? lib->lazy : lib->kind[i] == KZ_GO ? kz_first(l, i, lib->lazy) : lib->none;
	for (const struct kz_own *own = lib->own; own->entry && !kz_real; own++)
		lib->entry[own->slot] = own->entry;
	int now = atomic_load(&kz_now);
	if (now != KZ_UNLOADED)
		give(l, now);
}

void kz_ready(int library) {
	struct kz_library *lib = &kz_libraries[library];
	if (atomic_load_explicit(&lib->ready, memory_order_acquire))
		return;
	pthread_mutex_lock(&entries_lock);
	if (!atomic_load(&lib->ready)) {
		fill(library);
		atomic_store(&lib->ready, 1);
	}
	pthread_mutex_unlock(&entries_lock);
}

// swap gives the libraries that are in use the answers of a state; others have them when they are.
static void swap(enum kz_state state) {
	pthread_mutex_lock(&entries_lock);
	for (int l = 0; l < KZ_LIBRARIES; l++)
		if (atomic_load(&kz_libraries[l].ready))
			give(l, state);
	atomic_store(&kz_now, state);
	pthread_mutex_unlock(&entries_lock);
}

int kz_log_level(void) {
	static const char *const names[] = {"off", "error", "warn", "info", "debug"};
	const char *v = kz_setting("KUDZU_LOG");
	for (int i = 0; v && i < 5; i++)
		if (!strcmp(v, names[i]))
			return i;
	return v && *v ? 1 : 0;
}

int kz_beside(char *path, size_t size, const char *file) {
	Dl_info info;
	if (!dladdr((void *)&load_lock, &info) || !info.dli_fname)
		return 0;
	const char *slash = strrchr(info.dli_fname, '/');
	int n = slash ? snprintf(path, size, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname, file)
	              : snprintf(path, size, "%s", file);
	return n > 0 && (size_t)n < size;
}

static struct kz_host host = {.thread = kz_thread, .contexts_ended = kz_contexts_ended, .noted = &kz_noted, .take = kz_take, .last_errors = kz_last_errors,
	.lasting = &kz_lasting, .say = kz_say_text, .complain = kz_complain};

static void shut(void);

static void (*thread_ended)(struct kz_thread *t); // written before the state is KZ_LOADED

void kz_thread_ended(struct kz_thread *t) {
	if (atomic_load(&kz_now) == KZ_LOADED)
		thread_ended(t);
}

// open_image has the loader bring the Go image in; NULL and why it could not. It is called without our lock: a thread
// may hold the loader's lock and wait for ours, in a constructor that uses CUDA. Twice does no harm.
static kz_attach_fn *open_image(char path[PATH_MAX], const char **why) {
	if (!kz_beside(path, PATH_MAX, "libkudzu.so")) {
		*why = "its place is unknown";
		return NULL;
	}
	int code = kz_room(why);
	if (code) {
		__atomic_store_n(&failed, code, __ATOMIC_RELAXED);
		return NULL;
	}
	atomic_store(&opening, 1);
	// Go's own threads have the mask of the one that loads it. They are none of the program's: a signal that is sent to the process
	// is not theirs to take, least of all on the small stacks of goroutines.
	sigset_t async, was;
	sigfillset(&async);
	static const int go_needs[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGURG};
	for (size_t i = 0; i < sizeof go_needs / sizeof *go_needs; i++) sigdelset(&async, go_needs[i]);
	pthread_sigmask(SIG_BLOCK, &async, &was);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	kz_attach_fn *attach = handle ? (kz_attach_fn *)dlsym(handle, "kz_attach") : NULL;
	if (!attach)
		*why = dlerror(); // this thread's own text
	return attach;
}

// load starts the Go image. Preconditions: load_lock is held, the state is KZ_UNLOADED.
static void load(kz_attach_fn *attach, const char *path, const char *why) {
	static char place[PATH_MAX];
	host.hash = kz_hash();
	host.secure = kz_secure();
	host.trace = kz_trace_door;
	host.image = attach ? realpath(path, place) : NULL;
	int code = attach ? attach(&host, &image) : 0;
	if (code)
		why = code == KZ_CUDA_ERROR_SHARED_OBJECT_INIT_FAILED ? "it belongs to another libkudzu-base.so" : "it did not start";
	if (why) {
		kz_say("kudzu: libkudzu.so cannot be used: %s\n", why);
		swap(KZ_FAILED);
		return;
	}
	thread_ended = image.thread_ended;
	swap(KZ_LOADED);
	atexit(shut);
}

// kz_resolve is what entry.S calls for an entry that still waits for the Go image.
void *kz_resolve(uint32_t library, uint32_t symbol) {
	kz_ready((int)library);
	if (kz_real)
		return kz_real_resolve(library, symbol);
	if (atomic_load(&kz_now) == KZ_UNLOADED) {
		int saved = errno;
		char path[PATH_MAX] = "";
		const char *why = NULL;
		kz_attach_fn *attach = open_image(path, &why);
		pthread_mutex_lock(&load_lock);
		if (atomic_load(&kz_now) == KZ_UNLOADED)
			load(attach, path, why);
		pthread_mutex_unlock(&load_lock);
		errno = saved;
	}
	return __atomic_load_n(&kz_libraries[library].entry[symbol], __ATOMIC_ACQUIRE);
}

// kz_unsupported is what entry.S calls for a function that nobody implements.
int kz_unsupported(uint32_t library, uint32_t symbol);
int kz_unsupported(uint32_t library, uint32_t symbol) {
	struct kz_library *lib = &kz_libraries[library];
	atomic_fetch_add_explicit(&lib->count[2 * symbol], 1, memory_order_relaxed);
	return lib->runtime ? kz_runtime_answer(lib->unsupported) : lib->unsupported;
}

void *kz_entry(int library, uint32_t symbol) {
	struct kz_library *lib = &kz_libraries[library];
	kz_ready(library);
	if (kz_real) {
		void *fn = kz_real_resolve((uint32_t)library, symbol);
		return fn == lib->none ? NULL : fn;
	}
	if (lib->kind[symbol] != KZ_GO)
		return lib->kind[symbol] == KZ_BASE ? lib->entry[symbol] : NULL;
	void *fn = kz_resolve((uint32_t)library, symbol);
	return atomic_load(&kz_now) == KZ_LOADED ? fn : NULL;
}

void kz_trace_once(void) {
	static _Atomic int started;
	if (atomic_load(&started))
		return;
	int saved = errno, cancel;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&load_lock);
	if (!atomic_load(&started)) {
		kz_tell_start();
		kz_trace_start();
	}
	atomic_store(&started, 1);
	pthread_mutex_unlock(&load_lock);
	pthread_setcancelstate(cancel, &cancel);
	errno = saved;
}

// kz_attach_front is called by the constructor of every front with the address of its
// first symbol. The first of two copies of a front stays the one that is handed out.
KZ_EXPORT void kz_attach_front(uint32_t library, const char *first);
KZ_EXPORT void kz_attach_front(uint32_t library, const char *first) {
	kz_trace_once();
	kz_ready((int)library);
	const char *none = NULL;
	__atomic_compare_exchange_n(&kz_libraries[library].front, &none, first, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void *kz_front(int library, uint32_t symbol) {
	struct kz_library *lib = &kz_libraries[library];
	const char *front = __atomic_load_n(&lib->front, __ATOMIC_ACQUIRE);
	if (!front) {
		char path[PATH_MAX];
		if (!kz_beside(path, sizeof path, lib->soname) || !dlopen(path, RTLD_NOW | RTLD_LOCAL))
			return NULL;
		front = __atomic_load_n(&lib->front, __ATOMIC_ACQUIRE);
	}
	return front ? (void *)(front + (size_t)symbol * KZ_STRIDE) : NULL;
}

// kz_seen is kz_entry for calls that belong into a trace.
void *kz_seen(int library, uint32_t symbol) {
	void *fn = kz_entry(library, symbol), *front = fn && kz_trace_door ? kz_front(library, symbol) : NULL;
	return front ? front : fn;
}

// kz_report prints how often functions nobody implements were called.
KZ_EXPORT void kz_report(int fd);
KZ_EXPORT void kz_report(int fd) {
	for (int l = 0; l < KZ_LIBRARIES; l++) {
		struct kz_library *lib = &kz_libraries[l];
		for (uint32_t i = 0; i < lib->size; i++) {
			uint32_t calls = atomic_load_explicit(&lib->count[2 * i], memory_order_relaxed);
			uint32_t looks = atomic_load_explicit(&lib->count[2 * i + 1], memory_order_relaxed);
			if (calls)
				kz_say_to(fd, "kudzu: %s: %s is not implemented, called %u times\n", lib->soname, lib->names + lib->offset[i], calls);
			else if (looks)
				kz_say_to(fd, "kudzu: %s: %s is not implemented, looked up %u times\n", lib->soname, lib->names + lib->offset[i], looks);
		}
	}
}

void kz_fork_lock(pthread_mutex_t *lock, int when) {
	if (when < 0)
		pthread_mutex_lock(lock);
	else if (when == 0)
		pthread_mutex_unlock(lock);
	else
		pthread_mutex_init(lock, NULL);
}

static void before_fork(void) {
	kz_fork_lock(&load_lock, -1);
	kz_fork_lock(&entries_lock, -1);
	kz_nvrtc_fork(-1);
	kz_context_fork(-1);
	kz_register_fork(-1);
	kz_trace_fork(-1);
}

// after_fork undoes it backwards: who waits for load_lock may start the recorder.
static void after_fork(int when) {
	kz_trace_fork(when);
	kz_register_fork(when);
	kz_context_fork(when);
	kz_nvrtc_fork(when);
	kz_fork_lock(&entries_lock, when);
	kz_fork_lock(&load_lock, when);
}

static void after_fork_parent(void) { after_fork(0); }

// A child has only the thread that forked: the Go image, if there was one, is dead in it.
// A child of a process that never loaded it starts fresh.
static void after_fork_child(void) {
	after_fork(1);
	int now = atomic_load(&kz_now);
	if (now == KZ_LOADED || (now == KZ_UNLOADED && atomic_load(&opening)))
		swap(KZ_CHILD);
}

__attribute__((constructor)) static void start(void) {
	kz_say_start();
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

// shut answers everything with "shutting down". As in the real driver it is an exit
// handler from the first use on: handlers a program set up before that come too late, those
// set up after it still find CUDA.
static void shut(void) {
	pthread_mutex_lock(&load_lock);
	if (atomic_load(&kz_now) != KZ_CHILD && !kz_real)
		swap(KZ_EXIT);
	pthread_mutex_unlock(&load_lock);
}

__attribute__((destructor)) static void end(void) {
	if (kz_log_level() >= 4)
		kz_report(2);
	int now = atomic_load(&kz_now);
	if (now != KZ_CHILD)
		kz_tell(now != KZ_UNLOADED, now == KZ_FAILED);
	shut();
	kz_trace_end();
}
