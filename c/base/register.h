// What __cudaRegister* was told, in order, for the runtime API to read when it first needs
// a kernel. Records are only ever added.
#ifndef KZ_REGISTER_H
#define KZ_REGISTER_H

#include <stddef.h>
#include <stdint.h>

enum { KZ_KERNEL, KZ_VARIABLE, KZ_MANAGED, KZ_HOST_VARIABLE };

struct kz_record {
	int32_t kind;
	int32_t detail; // a kernel's thread limit; a variable's bits: 1 extern, 2 constant, 4 global
	const void *host;
	const char *name;
	uint64_t size;
};

struct kz_fatbin {
	const void *wrapper; // first word, so that *handle is what the compiler passed
	struct kz_fatbin *next;
	struct kz_record *records;
	size_t count, room;
	int complete, gone;
};

const struct kz_fatbin *kz_fatbins(void);

#endif
