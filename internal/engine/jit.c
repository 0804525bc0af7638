// What a debugger asks of a program that makes code: GDB's JIT interface (GDB manual, "JIT Compilation Interface"). It stops
// in __jit_debug_register_code and reads the list that __jit_debug_descriptor begins. The names are GDB's; they are protected, so
// that a host with code of its own and the same names keeps its list apart from ours.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct entry {
	struct entry *next, *prev;
	const char *object;
	uint64_t bytes;
};

enum { NOTHING, REGISTER, UNREGISTER };

__attribute__((visibility("protected"))) struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = {1, NOTHING, NULL, NULL};

__attribute__((visibility("protected"), noinline)) void __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of no rank: nothing is called under it

void *kz_code_add(const void *object, uint64_t bytes) {
	struct entry *e = malloc(sizeof *e + bytes);
	if (!e) return NULL;
	memcpy(e + 1, object, bytes);
	pthread_mutex_lock(&lock);
	*e = (struct entry){__jit_debug_descriptor.first, NULL, (const char *)(e + 1), bytes};
	if (e->next) e->next->prev = e;
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = e;
	__jit_debug_descriptor.action = REGISTER;
	__jit_debug_register_code();
	pthread_mutex_unlock(&lock);
	return e;
}

void kz_code_remove(void *entry) {
	struct entry *e = entry;
	pthread_mutex_lock(&lock);
	if (e->prev) e->prev->next = e->next;
	else __jit_debug_descriptor.first = e->next;
	if (e->next) e->next->prev = e->prev;
	__jit_debug_descriptor.relevant = e;
	__jit_debug_descriptor.action = UNREGISTER;
	__jit_debug_register_code();
	pthread_mutex_unlock(&lock);
	free(e);
}
