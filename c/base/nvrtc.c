// NVRTC ahead of the Go image. A program is kept here until it is compiled: if the cache has the answer (answer.c), no Go is needed,
// else the program is made anew in Go, and every call that names it goes there. Whatever is not the plain way of a program that
// compiles is Go's to answer, mistakes included.
#define _GNU_SOURCE
#include "ahead.h"
#include "answer.h"
#include "base.h"
#include "early.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct program {
	uint64_t handle;
	uint64_t go; // what Go calls it, 0 as long as it is kept here
	int moving;  // a thread makes it in Go: nobody else changes it
	struct kz_request request; // its texts, name and exprs, and the options of the answer, are copies
	struct kz_answer *answer;
};

// A handle has a tag that internal/handle does not use; 63…56 tag, 55…28 count, 27…4 place.
enum { TAG = 0x4c, MOST_PROGRAMS = 1 << 20, MOST_HEADERS = 1 << 12, MOST_OPTIONS = 1 << 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards all programs; after load_lock
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;  // a program is in Go now
static struct program **programs;
static uint64_t places, counter;

static void *_Atomic go[KZ_SLOTS_nvrtc]; // Go's functions, once they are there

void kz_nvrtc_fork(int when) {
	kz_fork_lock(&lock, when);
	if (when <= 0)
		return;
	pthread_cond_init(&moved, NULL);
	for (uint64_t i = 0; i < places; i++) // whoever moved it is not in this process
		if (programs[i])
			programs[i]->moving = 0;
}

// find is a program. Preconditions: lock is held.
static struct program *find(uint64_t handle) {
	uint64_t place = handle >> 4 & 0xffffff;
	struct program *p = handle >> 56 == TAG && place < places ? programs[place] : NULL;
	return p && p->handle == handle ? p : NULL;
}

// place_for gives a program its handle; 0 if there is no room. Preconditions: lock is held.
static uint64_t place_for(struct program *p) {
	uint64_t i = 0;
	while (i < places && programs[i])
		i++;
	if (i == places) {
		uint64_t more = places ? 2 * places : 16;
		struct program **grown = more <= MOST_PROGRAMS ? realloc(programs, more * sizeof *grown) : NULL;
		if (!grown)
			return 0;
		memset(grown + places, 0, (more - places) * sizeof *grown);
		programs = grown, places = more;
	}
	programs[i] = p;
	return p->handle = (uint64_t)TAG << 56 | (counter++ & 0xfffffff) << 28 | i << 4;
}

static void free_texts(struct kz_request *r) {
	for (uint64_t i = 0; i < r->text_count; i++)
		free((char *)r->texts[i].at);
	for (uint64_t i = 0; i < r->expr_count; i++)
		free(r->exprs[i]);
	for (int i = 0; i < r->option_count; i++)
		free((char *)r->options[i]);
	free(r->texts);
	free(r->exprs);
	free((void *)r->options);
	free((char *)r->name);
	*r = (struct kz_request){.library = r->library};
}

static void free_program(struct program *p) {
	free_texts(&p->request);
	kz_answer_free(p->answer);
	free(p);
}

static int copy(struct kz_text *to, const char *s) {
	to->at = s ? strdup(s) : NULL;
	to->bytes = to->at ? strlen(to->at) : 0;
	return to->at != NULL;
}

// as_go calls Go's function of a slot, which has the type of fn, or what stands for it if there is no Go image.
static void *as_go(int library, uint32_t slot) {
	void *fn = atomic_load(&go[slot]);
	if (fn)
		return fn;
	void *other = kz_resolve((uint32_t)library, slot);
	fn = atomic_load(&go[slot]);
	return fn ? fn : other;
}

typedef int create_fn(uint64_t *to, const char *source, const char *name, int n, const char *const *headers, const char *const *names);
typedef int compile_fn(uint64_t program, int n, const char *const *options);
typedef int two_fn(uint64_t program, uint64_t a);
typedef int three_fn(uint64_t program, uint64_t a, uint64_t b);
typedef int destroy_fn(uint64_t *program);

// The slot of a function that each release has a row of its own for.
static uint32_t create_slot(int library) { return library == KZ_LIB_nvrtc12 ? KZ_nvrtc_nvrtcCreateProgram_12 : KZ_nvrtc_nvrtcCreateProgram; }

// make_in_go makes a program in Go as it is here, which compiles it if it was compiled: that may take long. Gives what Go calls it.
// Preconditions: it is moving, Go's functions are there.
static uint64_t make_in_go(const struct program *p) {
	const struct kz_request *r = &p->request;
	const uint64_t headers = r->text_count / 2;
	const char **list = calloc(2 * headers + 1, sizeof *list);
	if (!list)
		return 0;
	for (uint64_t i = 0; i < headers; i++) {
		list[i] = r->texts[2 + 2 * i].at;
		list[headers + i] = r->texts[1 + 2 * i].at;
	}
	uint64_t made = 0;
	int rc = ((create_fn *)atomic_load(&go[create_slot(r->library)]))(&made, r->texts[0].at, r->name, (int)headers, list, list + headers);
	free(list);
	for (uint64_t i = 0; !rc && i < r->expr_count; i++)
		rc = ((two_fn *)atomic_load(&go[KZ_nvrtc_nvrtcAddNameExpression]))(made, (uint64_t)(uintptr_t)r->exprs[i]);
	if (!rc && p->answer) // it was compiled: it is so in Go, too
		(void)((compile_fn *)atomic_load(&go[KZ_nvrtc_nvrtcCompileProgram]))(made, r->option_count, r->options);
	return made;
}

// hand_over moves a program to Go, unless another thread does, which is waited for. A program that Go did not take is none: its calls
// say so. Preconditions: lock is held, which others get meanwhile; Go's functions are there.
static void hand_over(uint64_t handle) {
	struct program *p = find(handle);
	while (p && p->moving) {
		pthread_cond_wait(&moved, &lock);
		p = find(handle);
	}
	if (!p || p->go)
		return;
	p->moving = 1;
	pthread_mutex_unlock(&lock);
	uint64_t made = make_in_go(p); // destroy() waits until it is moved
	pthread_mutex_lock(&lock);
	p->go = made;
	p->moving = 0;
	if (made)
		free_texts(&p->request);
	pthread_cond_broadcast(&moved);
}

// in_go is what Go calls a program, and what it does not know for one that nobody knows. *fn is Go's function of the slot.
static uint64_t in_go(uint64_t handle, uint32_t slot, void **fn) {
	pthread_mutex_lock(&lock);
	struct program *p = find(handle);
	int library = p ? p->request.library : KZ_LIB_nvrtc13;
	pthread_mutex_unlock(&lock);
	*fn = as_go(library, slot); // the loader may run constructors, which may call us
	if (!p)
		return handle;
	pthread_mutex_lock(&lock);
	if (atomic_load(&go[slot]))
		hand_over(handle);
	p = find(handle);
	uint64_t is = p ? p->go : 0;
	pthread_mutex_unlock(&lock);
	return is;
}

static int create(int library, uint64_t *to, const char *source, const char *name, int n, const char *const *headers, const char *const *names) {
	struct program *p = NULL;
	if (!to || !source || n < 0 || n > MOST_HEADERS || (n && (!headers || !names)) || !(p = calloc(1, sizeof *p)))
		return ((create_fn *)as_go(library, create_slot(library)))(to, source, name, n, headers, names);
	struct kz_request *r = &p->request;
	r->library = library;
	r->texts = calloc((size_t)(1 + 2 * n), sizeof *r->texts);
	int good = r->texts && copy(&r->texts[r->text_count++], source);
	for (int i = 0; good && i < n; i++) {
		good = copy(&r->texts[r->text_count++], names[i]);
		good = good && copy(&r->texts[r->text_count++], headers[i]);
	}
	good = good && (!name || (r->name = strdup(name)));
	pthread_mutex_lock(&lock);
	uint64_t handle = good ? place_for(p) : 0;
	pthread_mutex_unlock(&lock);
	if (!handle) {
		free_program(p);
		return ((create_fn *)as_go(library, create_slot(library)))(to, source, name, n, headers, names);
	}
	*to = handle;
	return 0;
}

static int create_12(uint64_t *to, const char *source, const char *name, int n, const char *const *headers, const char *const *names) {
	return create(KZ_LIB_nvrtc12, to, source, name, n, headers, names);
}

static int create_13(uint64_t *to, const char *source, const char *name, int n, const char *const *headers, const char *const *names) {
	return create(KZ_LIB_nvrtc13, to, source, name, n, headers, names);
}

static int destroy(uint64_t *at) {
	pthread_mutex_lock(&lock);
	struct program *p = at ? find(*at) : NULL;
	if (p)
		programs[p->handle >> 4 & 0xffffff] = NULL;
	while (p && p->moving)
		pthread_cond_wait(&moved, &lock);
	pthread_mutex_unlock(&lock);
	if (!p)
		return ((destroy_fn *)as_go(KZ_LIB_nvrtc13, KZ_nvrtc_nvrtcDestroyProgram))(at);
	if (p->go)
		(void)((destroy_fn *)as_go(p->request.library, KZ_nvrtc_nvrtcDestroyProgram))(&p->go); // the child of a fork has no Go, and no need
	free_program(p);
	*at = 0;
	return 0;
}

static int add_name(uint64_t handle, const char *expr) {
	pthread_mutex_lock(&lock);
	struct program *p = expr ? find(handle) : NULL;
	int kept = 0;
	if (p && !p->go && !p->moving && !p->answer) {
		struct kz_request *r = &p->request;
		for (uint64_t i = 0; i < r->expr_count; i++)
			kept |= !strcmp(r->exprs[i], expr);
		char **more = kept ? NULL : realloc(r->exprs, (r->expr_count + 1) * sizeof *more), *own = more ? strdup(expr) : NULL;
		if (more)
			r->exprs = more;
		if (own)
			more[r->expr_count++] = own, kept = 1;
	}
	pthread_mutex_unlock(&lock);
	if (kept)
		return 0;
	void *fn;
	uint64_t is = in_go(handle, KZ_nvrtc_nvrtcAddNameExpression, &fn);
	return ((two_fn *)fn)(is, (uint64_t)(uintptr_t)expr);
}

// keep_options remembers what an answer was asked with, for hand_over. Preconditions: lock is held.
static int keep_options(struct kz_request *r, int n, const char *const *options) {
	const char **own = calloc((size_t)n + 1, sizeof *own);
	int good = own != NULL;
	for (int i = 0; good && i < n; i++)
		good = (own[i] = strdup(options[i])) != NULL;
	for (int i = 0; good && i < r->option_count; i++)
		free((char *)r->options[i]);
	for (int i = 0; own && !good && i < n; i++)
		free((char *)own[i]);
	if (!good) {
		free(own);
		return 0;
	}
	free((void *)r->options);
	r->options = own, r->option_count = n;
	return 1;
}

static int compile(uint64_t handle, int n, const char *const *options) {
	uint8_t key[KZ_BLAKE3_OUT];
	int plain = n >= 0 && n <= MOST_OPTIONS && (!n || options), keyed = 0, answered = 0, code = 0, saved = errno;
	for (int i = 0; plain && i < n; i++)
		plain = options[i] != NULL;
	pthread_mutex_lock(&lock);
	struct program *p = plain && kz_log_level() < 4 ? find(handle) : NULL; // the driver's log tells of what comes from the cache
	if (p && !p->go && !p->moving) {
		struct kz_request r = p->request;
		r.options = options, r.option_count = n;
		keyed = kz_answer_key(&r, key);
		struct kz_answer *a = keyed ? kz_answer_find(key, r.expr_count) : NULL;
		if (a && keep_options(&p->request, n, options)) {
			a->before = p->answer;
			p->answer = a;
			answered = 1, code = a->code;
		} else {
			kz_answer_free(a);
			kz_answer_free(p->answer); // Go compiles, and does it once
			p->answer = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
	if (answered)
		return code;
	uint64_t early = plain && !atomic_load(&go[KZ_nvrtc_nvrtcCompileProgram]) ? kz_early_compiler() : 0;
	void *fn;
	uint64_t is = in_go(handle, KZ_nvrtc_nvrtcCompileProgram, &fn);
	struct kz_thread *t = kz_thread();
	t->answer_key = keyed ? key : NULL;
	t->compiler = early;
	int rc = ((compile_fn *)fn)(is, n, options);
	t->answer_key = NULL;
	kz_early_end(t->compiler); // nobody took it
	t->compiler = 0;
	return rc;
}

// answered gives size or bytes of a part of an answer that is kept here.
static int answered(uint64_t handle, void *to, int size, size_t part) {
	pthread_mutex_lock(&lock);
	struct program *p = to ? find(handle) : NULL;
	const struct kz_answer *a = p && !p->go ? p->answer : NULL;
	if (a && a->code && part != offsetof(struct kz_answer, log))
		a = NULL; // what there is of a program that was not compiled Go says
	if (a) {
		const struct kz_text *text = (const struct kz_text *)((const char *)a + part);
		if (size)
			*(uint64_t *)to = text->bytes;
		else
			memcpy(to, text->at, text->bytes);
	}
	pthread_mutex_unlock(&lock);
	return a != NULL;
}

static int two(uint64_t handle, uint64_t a, uint32_t slot) {
	void *fn;
	uint64_t is = in_go(handle, slot, &fn);
	return ((two_fn *)fn)(is, a);
}

#define PART(name, size, part)                                                                                                      \
	static int name(uint64_t handle, void *to) {                                                                                    \
		return answered(handle, to, size, offsetof(struct kz_answer, part)) ? 0 : two(handle, (uint64_t)(uintptr_t)to, KZ_nvrtc_##name); \
	}
#define GO_ONLY(name) \
	static int name(uint64_t handle, uint64_t a) { return two(handle, a, KZ_nvrtc_##name); }
PART(nvrtcGetPTXSize, 1, ptx)
PART(nvrtcGetPTX, 0, ptx)
PART(nvrtcGetCUBINSize, 1, cubin)
PART(nvrtcGetCUBIN, 0, cubin)
PART(nvrtcGetLTOIRSize, 1, lto)
PART(nvrtcGetLTOIR, 0, lto)
PART(nvrtcGetNVVMSize, 1, lto)
PART(nvrtcGetNVVM, 0, lto)
PART(nvrtcGetProgramLogSize, 1, log)
PART(nvrtcGetProgramLog, 0, log)
GO_ONLY(nvrtcGetOptiXIRSize)
GO_ONLY(nvrtcGetOptiXIR)
GO_ONLY(nvrtcGetPCHCreateStatus)
GO_ONLY(nvrtcGetPCHHeapSizeRequired)

static int lowered(uint64_t handle, const char *expr, const char **to) {
	pthread_mutex_lock(&lock);
	struct program *p = expr && to ? find(handle) : NULL;
	const char *name = NULL;
	for (uint64_t i = 0; p && !p->go && p->answer && !p->answer->code && i < p->answer->count; i++)
		if (!strcmp(p->request.exprs[i], expr) && p->answer->names[i].bytes)
			name = p->answer->names[i].at;
	if (name)
		*to = name;
	pthread_mutex_unlock(&lock);
	if (name)
		return 0;
	void *fn;
	uint64_t is = in_go(handle, KZ_nvrtc_nvrtcGetLoweredName, &fn);
	return ((three_fn *)fn)(is, (uint64_t)(uintptr_t)expr, (uint64_t)(uintptr_t)to);
}

static int flow(uint64_t handle, uint64_t callback, uint64_t payload) {
	void *fn;
	uint64_t is = in_go(handle, KZ_nvrtc_nvrtcSetFlowCallback, &fn);
	return ((three_fn *)fn)(is, callback, payload);
}

// The functions that are answered here first, by slot.
static void *const ahead[KZ_SLOTS_nvrtc] = {
    [KZ_nvrtc_nvrtcCreateProgram_12] = create_12,
    [KZ_nvrtc_nvrtcCreateProgram] = create_13,
    [KZ_nvrtc_nvrtcDestroyProgram] = destroy,
    [KZ_nvrtc_nvrtcAddNameExpression] = add_name,
    [KZ_nvrtc_nvrtcCompileProgram] = compile,
    [KZ_nvrtc_nvrtcGetLoweredName] = lowered,
    [KZ_nvrtc_nvrtcSetFlowCallback] = flow,
#define ROW(name) [KZ_nvrtc_##name] = name,
    ROW(nvrtcGetPTXSize) ROW(nvrtcGetPTX) ROW(nvrtcGetCUBINSize) ROW(nvrtcGetCUBIN) ROW(nvrtcGetLTOIRSize) ROW(nvrtcGetLTOIR)
    ROW(nvrtcGetNVVMSize) ROW(nvrtcGetNVVM) ROW(nvrtcGetProgramLogSize) ROW(nvrtcGetProgramLog) ROW(nvrtcGetOptiXIRSize)
    ROW(nvrtcGetOptiXIR) ROW(nvrtcGetPCHCreateStatus) ROW(nvrtcGetPCHHeapSizeRequired)
#undef ROW
};

void *kz_first(int library, uint32_t slot, void *fn) {
	return kz_libraries[library].api == KZ_API_nvrtc && ahead[slot] ? ahead[slot] : fn;
}

void *kz_ahead(int library, uint32_t slot, void *fn) {
	if (kz_libraries[library].api != KZ_API_nvrtc || !ahead[slot])
		return fn;
	atomic_store(&go[slot], fn);
	return ahead[slot];
}
