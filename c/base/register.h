// What __cudaRegister* was told. It runs in static constructors and only takes notes; the
// runtime API takes them out, in order, when it next needs a kernel or a variable.
#ifndef KZ_REGISTER_H
#define KZ_REGISTER_H

#include <stdint.h>

enum { KZ_FATBIN = 1, KZ_KERNEL, KZ_VARIABLE, KZ_MANAGED, KZ_HOST_VARIABLE, KZ_GONE, KZ_TEXTURE, KZ_SURFACE };

// kz_note is mirrored in internal/cudart.
struct kz_note {
	int32_t kind;
	int32_t detail;   // a kernel's thread limit; a variable's bits: 1 extern, 2 constant, 4 global; a texture's: 1 read as fractions
	uint64_t fatbin;  // number of the fatbin it belongs to, never reused
	const void *host; // what the program names it by; a fatbin's wrapper
	const char *name;
	uint64_t size;
};

// kz_noted counts the notes ever made; it changes when there is something to take. It is
// written and read with atomic operations only.
extern uint64_t kz_noted;

// kz_take moves up to room notes to out and returns how many.
uint64_t kz_take(struct kz_note *out, uint64_t room);

#endif
