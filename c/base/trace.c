// Calls as the thunks of entry_*.S report them.
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

// What a thunk has saved, in words from where its frame begins.
#ifdef __aarch64__
enum { RETURN = 1, INTS = 2, INTEGERS = 8, FLOATS = 12, RESULT = 28, FLOAT_RESULT = 30, STACK = 38 };
#else
enum { FLOATS = 0, INTS = 16, INTEGERS = 6, RESULT = 24, FLOAT_RESULT = 26, RETURN = 34, STACK = 35 };
#endif

enum { HIDDEN = 16 }; // words of the stack that functions may read whose parameters are not public

// By library and slot, NULL before the first call.
static struct kz_plan **plans[KZ_LIBRARIES];
static char *arena, *arena_end; // of plans; guarded by the lock

const struct kz_trace_host *kz_trace_door;

// --- plans

struct cursor {
	uint32_t ints, floats, stack;
};

static void put(struct kz_plan *p, uint32_t place) {
	if (p->words < KZ_PLAN_WORDS && place < 256)
		p->from[p->words++] = (uint8_t)place;
}

static void on_stack(struct kz_plan *p, struct cursor *c, uint32_t words) {
	while (words--)
		put(p, STACK + c->stack++);
}

static void integers(struct kz_plan *p, struct cursor *c, uint32_t words) {
	if (c->ints + words > INTEGERS) {
#ifdef __aarch64__
		c->ints = INTEGERS;
#endif
		on_stack(p, c, words);
		return;
	}
	while (words--)
		put(p, INTS + c->ints++);
}

static void floats(struct kz_plan *p, struct cursor *c, uint32_t words) {
	if (c->floats + words > 8) {
#ifdef __aarch64__
		c->floats = 8;
#endif
		on_stack(p, c, words);
		return;
	}
	while (words--)
		put(p, FLOATS + 2 * c->floats++);
}

// structure places one that is passed by value, as the ABI does.
static void structure(struct kz_plan *p, struct cursor *c, char class, uint32_t bytes) {
	uint32_t words = (bytes + 7) / 8;
#ifdef __aarch64__
	if (class == 'F' && bytes == 8 && c->floats + 2 <= 8 && p->packs < 4) {
		p->packed[p->packs][0] = p->words, p->packed[p->packs++][1] = (uint8_t)(FLOATS + 2 * c->floats);
		put(p, FLOATS);
		c->floats += 2;
		return;
	}
	if (bytes > 16 && p->indirects < 2) {
		uint32_t first = p->words;
		integers(p, c, 1);
		p->indirect[p->indirects][0] = (uint8_t)first, p->indirect[p->indirects][1] = (uint8_t)words;
		p->indirect[p->indirects++][2] = p->from[first];
		while (--words)
			put(p, p->from[first]);
		return;
	}
#else
	if (bytes > 16) {
		on_stack(p, c, words);
		return;
	}
#endif
	if (class == 'I')
		integers(p, c, words);
	else
		floats(p, c, words);
}

static uint32_t number(const char **s) {
	uint32_t n = 0;
	while (**s >= '0' && **s <= '9')
		n = 10 * n + (uint32_t)(*(*s)++ - '0');
	return n;
}

static void read_shape(struct kz_plan *p, const char *s) {
	struct cursor c = {0};
	uint8_t first[64]; // word of each parameter
	uint32_t n = 0;
	p->result = *s++;
	uint32_t bytes = number(&s);
	if (p->result == 'u') {
		p->stack = HIDDEN, p->result = 'w';
		return;
	}
#ifndef __aarch64__
	if (p->result == 'I' && bytes > 16)
		c.ints++; // the address of the result
#endif
	if (bytes && p->result != 'F' && p->result != 'D')
		p->result = bytes > 16 ? 'v' : 'I';
	const char *const parameters = ++s;
	while (*s) {
		char kind = *s++;
		bytes = number(&s);
		if (n < sizeof first)
			first[n++] = p->words;
		switch (kind) {
		case 'f':
		case 'd':
			floats(p, &c, 1);
			break;
		case 'I':
		case 'F':
		case 'D':
			structure(p, &c, kind, bytes);
			break;
		case 'a':
			s++; // n
			number(&s);
			integers(p, &c, 1);
			break;
		default: // a word
			integers(p, &c, 1);
		}
	}
	p->stack = (uint8_t)c.stack;
	s = parameters;
	for (uint32_t i = 0; *s && i < n; i++) {
		char kind = *s++;
		int numbered = *s >= '0' && *s <= '9', other = -1;
		bytes = number(&s);
		if (kind == 'a')
			s++, other = (int)number(&s);
		else if (numbered && strchr("kKtmL", kind))
			other = (int)bytes;
		kz_blobs_plan(p, kind, bytes, other < 0 || (uint32_t)other >= n ? -1 : first[other], i, first[i]);
	}
}

// notes are what must be known of a function besides its arguments.
static uint8_t notes(const char *function) {
	static const struct {
		const char *prefix;
		uint8_t note;
	} rows[] = {
	    {"cuLaunch", KZ_NOTE_LAUNCHES},           {"cudaLaunch", KZ_NOTE_LAUNCHES},
	    {"__cudaLaunch", KZ_NOTE_LAUNCHES},       {"cuModuleUnload", KZ_NOTE_UNLOADS},
	    {"cuLibraryUnload", KZ_NOTE_UNLOADS},     {"cuCtxDestroy", KZ_NOTE_UNLOADS},
	    {"cuDevicePrimaryCtx", KZ_NOTE_UNLOADS},  {"cudaDeviceReset", KZ_NOTE_UNLOADS},
	    {"cudaLibraryUnload", KZ_NOTE_UNLOADS},   {"cudaThreadExit", KZ_NOTE_UNLOADS},
	    {"__cudaUnregisterFatBinary", KZ_NOTE_UNLOADS}, {"__cudaRegisterFunction", KZ_NOTE_REGISTERS},
	    {"cuGetProcAddress", KZ_NOTE_FINDS},      {"cudaGetDriverEntryPoint", KZ_NOTE_FINDS},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strncmp(function, rows[i].prefix, strlen(rows[i].prefix)))
			return rows[i].note;
	return 0;
}

// make_plan makes the plan of a function; NULL where there is no memory for it.
static struct kz_plan *make_plan(uint32_t library, uint32_t slot) {
	int saved = errno;
	pthread_mutex_lock(&kz_trace_lock);
	struct kz_plan *p = plans[library][slot];
	if (!p && (size_t)(arena_end - arena) < sizeof *p) {
		char *more = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (more != MAP_FAILED)
			arena = more, arena_end = more + (1 << 16);
	}
	if (!p && (size_t)(arena_end - arena) >= sizeof *p) {
		p = (struct kz_plan *)arena;
		arena += (sizeof *p + 7) & ~(size_t)7;
		const struct kz_library *lib = &kz_libraries[library];
		read_shape(p, kz_trace_shape(lib, slot));
		p->notes = notes(lib->names + lib->offset[slot]);
		__atomic_store_n(&plans[library][slot], p, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&kz_trace_lock);
	errno = saved;
	return p;
}

// --- calls

// name writes which function a number is. Two threads may both do it.
static void name(struct kz_tracer *t, struct kz_plan *p, uint32_t library, uint32_t slot) {
	const struct kz_library *lib = &kz_libraries[library];
	const char *function = lib->names + lib->offset[slot];
	size_t soname = strlen(lib->soname) + 1, bytes = sizeof(struct kz_record_symbol) + soname + strlen(function) + 1;
	bytes = (bytes + 7) & ~(size_t)7;
	struct kz_record_symbol *r = kz_trace_room(t, bytes);
	if (!r)
		return;
	r->head.kind = KZ_RECORD_SYMBOL, r->head.a = (uint16_t)library;
	r->slot = slot;
	memcpy(r->text, lib->soname, soname);
	strcpy(r->text + soname, function);
	kz_trace_done(&r->head, bytes);
	__atomic_store_n(&p->named, kz_trace_generation, __ATOMIC_RELAXED);
}

// forget takes calls off that can no longer return: an exception or longjmp has left them. A stack grows down, so their frames are
// below that of a call that begins.
static void forget(struct kz_tracer *t, const uint64_t *frame) {
	while (t->depth && t->open[t->depth - 1].frame <= frame)
		kz_trace_dead(t);
}

static void arguments(const struct kz_plan *p, const uint64_t *frame, uint64_t *args) {
	for (uint32_t i = 0; i < p->words; i++)
		args[i] = frame[p->from[i]];
#ifdef __aarch64__
	for (uint32_t i = 0; i < p->packs; i++) {
		const uint64_t *at = frame + p->packed[i][1];
		args[p->packed[i][0]] = (at[0] & 0xffffffff) | at[2] << 32;
	}
	for (uint32_t i = 0; i < p->indirects; i++)
		memcpy(args + p->indirect[i][0], (const void *)frame[p->indirect[i][2]], 8u * p->indirect[i][1]);
#endif
}

// aside does what is not a matter of the record alone.
static void aside(struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, uint32_t library) {
	uint64_t args[KZ_PLAN_WORDS];
	arguments(p, frame, args);
	if (p->images)
		kz_images(t, p, 0, args, library, t->ids + 1);
	if (p->notes & KZ_NOTE_UNLOADS)
		kz_layouts_drop();
	if (p->notes & KZ_NOTE_REGISTERS)
		kz_layouts_register(args[1]);
}

static void enter(struct kz_tracer *t, struct kz_plan *p, const uint64_t *frame, uint32_t library, uint32_t slot) {
	if (t->depth)
		forget(t, frame);
	if (__builtin_expect(t->depth == KZ_TRACE_DEPTH, 0)) {
		kz_trace_lost();
		return;
	}
	if (__builtin_expect(__atomic_load_n(&p->named, __ATOMIC_RELAXED) != kz_trace_generation, 0))
		name(t, p, library, slot);
	if (__builtin_expect(p->images || (p->notes & (KZ_NOTE_UNLOADS | KZ_NOTE_REGISTERS)), 0))
		aside(t, p, frame, library);
	size_t room = p->notes & KZ_NOTE_LAUNCHES ? kz_blobs_room(t, p, frame, library) : p->room;
	size_t bytes = sizeof(struct kz_record_call) + 8u * p->words;
	struct kz_record_call *r = kz_trace_room(t, bytes + room);
	if (__builtin_expect(!r, 0))
		return;
	r->head.kind = KZ_RECORD_CALL, r->head.a = (uint16_t)library;
	r->slot = slot, r->depth = t->depth;
	r->id = ++t->ids;
	r->caller = frame[RETURN];
	r->words = p->words;
	arguments(p, frame, r->args);
	if (p->blobs) {
		size_t used = kz_blobs_write(t, p, frame, r->args, (char *)r + bytes, room);
		kz_trace_return(t, room - used);
		r->blob_bytes = (uint32_t)used;
		bytes += used;
	}
	t->open[t->depth++] = (struct kz_open){frame, r, p, t->chunk, t->window, p->blobs ? t->later : NULL};
	if (__builtin_expect(!(t->ids & (t->ids - 1) & 0xffffff), 0))
		kz_trace_clock();
	r->t0 = kz_ticks();
	kz_trace_done(&r->head, bytes);
}

// leave completes the record of a call that has returned.
static void leave(struct kz_tracer *t, const struct kz_open *o, const uint64_t *frame, uint64_t now) {
	const struct kz_plan *p = o->plan;
	struct kz_record_call *r = o->record;
	uint64_t result = p->result == 'i' || p->result == 'w' || p->result == 'I' ? frame[RESULT] : 0;
	int success = p->result == 'i' && (uint32_t)result == 0;
	if (__builtin_expect(kz_real && (p->notes & KZ_NOTE_FINDS) && success && r->args[1] && *(void **)r->args[1], 0))
		kz_real_found((const char *)r->args[0], (void **)r->args[1]);
	if (p->outs && success)
		kz_blobs_fill(t, p, frame, r);
	if (o->later)
		kz_blobs_parameters(t, p, frame, r, o->later);
	r->result = result;
	__atomic_store_n(&r->t1, now, __ATOMIC_RELEASE);
	if (__builtin_expect(p->images && success, 0))
		kz_images(t, p, 1, r->args, r->head.a, r->id);
	if (__builtin_expect(p->notes & KZ_NOTE_UNLOADS, 0))
		kz_layouts_drop();
}

// A signal handler may call us in the middle of the recorder, on the same thread: such calls are made, and not recorded.
static inline int begin(struct kz_tracer *t) {
	if (__builtin_expect(!t || t->busy, 0))
		return 0;
	t->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	return 1;
}

static inline void end(struct kz_tracer *t) {
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = 0;
}

// stack_words is what a call needs that is not recorded and whose function has no plan.
static uint64_t __attribute__((noinline)) stack_words(uint32_t library, uint32_t slot) {
	struct kz_plan p = {0};
	read_shape(&p, kz_trace_shape(&kz_libraries[library], slot));
	return p.stack;
}

// What a thunk does next: where the function is, and how many words of its stack go with it.
struct kz_target {
	void *entry;
	uint64_t stack;
};

struct kz_target kz_trace_enter(const uint64_t *frame, uint32_t library, uint32_t slot);
struct kz_target kz_trace_enter(const uint64_t *frame, uint32_t library, uint32_t slot) {
	struct kz_plan *p = __atomic_load_n(&plans[library][slot], __ATOMIC_ACQUIRE);
	if (!atomic_load_explicit(&kz_trace_off, memory_order_relaxed)) {
		struct kz_tracer *t = kz_tracer();
		if (begin(t)) {
			if (__builtin_expect(!p, 0))
				p = make_plan(library, slot);
			if (p)
				enter(t, p, frame, library, slot);
			end(t);
		}
	}
	void *entry = __atomic_load_n(&kz_libraries[library].entry[slot], __ATOMIC_ACQUIRE);
	return (struct kz_target){entry, p ? p->stack : stack_words(library, slot)};
}

// kz_trace_leave is called when the function has returned; what it returned is in the frame.
void kz_trace_leave(const uint64_t *frame);
void kz_trace_leave(const uint64_t *frame) {
	uint64_t now = kz_ticks();
	if (atomic_load_explicit(&kz_trace_off, memory_order_relaxed))
		return;
	struct kz_tracer *t = kz_tracer();
	if (!begin(t))
		return;
	while (t->depth && t->open[t->depth - 1].frame < frame)
		kz_trace_dead(t);
	if (t->depth && t->open[t->depth - 1].frame == frame) { // else it began before a fork, or without room
		struct kz_open o = t->open[t->depth - 1];
		leave(t, &o, frame, now);
		kz_trace_dead(t);
	}
	end(t);
}

// --- the door for the Go image

static uint64_t now(void) { return kz_ticks(); }

static uint64_t current(void) {
	struct kz_tracer *t = kz_tracer();
	return t && t->depth ? t->open[t->depth - 1].record->id : 0;
}

enum { EVENT_TEXT = 4000 }; // most bytes of an event's text

static void event(uint16_t type, uint64_t id, uint64_t t0, uint64_t t1, uint32_t device, uint64_t stream, const uint64_t values[4], const char *text) {
	if (atomic_load_explicit(&kz_trace_off, memory_order_relaxed))
		return;
	struct kz_tracer *t = kz_tracer();
	if (!begin(t))
		return;
	size_t n = text ? strnlen(text, EVENT_TEXT) : 0, bytes = (sizeof(struct kz_record_event) + n + 1 + 7) & ~(size_t)7;
	struct kz_record_event *r = kz_trace_room(t, bytes);
	if (r) {
		r->head.kind = KZ_RECORD_EVENT, r->head.a = type;
		r->id = id, r->t0 = t0, r->t1 = t1;
		r->device = device, r->stream = stream;
		if (values)
			memcpy(r->values, values, sizeof r->values);
		if (n)
			memcpy(r->text, text, n);
		kz_trace_done(&r->head, bytes);
	}
	end(t);
}

static void launched(const void *params, size_t bytes) {
	struct kz_tracer *t = kz_tracer_mine;
	struct kz_open *o = t && t->depth ? &t->open[t->depth - 1] : NULL;
	if (!o || !o->later || bytes < o->later->bytes || !begin(t))
		return;
	memcpy(o->later->data, params, o->later->bytes);
	__atomic_store_n(&o->later->flags, 0, __ATOMIC_RELEASE);
	o->later = NULL;
	end(t);
}

static const struct kz_trace_host door = {now, current, event, launched};

// --- on

void kz_trace_start(void) {
	kz_real_start();
	const char *dir = kz_setting("KUDZU_TRACE");
	if (!dir || !*dir || !kz_trace_file_start(dir, kz_real ? 1 : 0))
		return;
	size_t slots = 0, at = 0;
	for (int l = 0; l < KZ_LIBRARIES; l++)
		slots += kz_libraries[l].size;
	void **both = mmap(NULL, 2 * slots * sizeof *both, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (both == MAP_FAILED)
		return;
	for (int l = 0; l < KZ_LIBRARIES; l++) {
		struct kz_library *lib = &kz_libraries[l];
		kz_ready(l);
		plans[l] = (struct kz_plan **)(both + slots + at);
		memcpy(both + at, lib->table, lib->size * sizeof *both);
		lib->entry = both + at;
		for (uint32_t i = 0; i < lib->size; i++)
			__atomic_store_n(&lib->table[i], lib->traced, __ATOMIC_RELEASE);
		at += lib->size;
	}
	kz_trace_door = &door;
}

const struct kz_trace_host *kz_trace_attach(void) {
	kz_trace_once();
	return kz_trace_door;
}
