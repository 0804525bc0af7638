// Functions that C answers where it can, in front of those of the Go image.
#ifndef KZ_AHEAD_H
#define KZ_AHEAD_H

#include <stdint.h>

// kz_ahead is what answers a slot when the Go image is there: fn, or who calls fn where it cannot answer itself.
void *kz_ahead(int library, uint32_t slot, void *fn);

// kz_first is the same before it is there.
void *kz_first(int library, uint32_t slot, void *fn);

void kz_nvrtc_fork(int when);

// kz_resolve is the entry of a slot, once the Go image is there or cannot be (table.c).
void *kz_resolve(uint32_t library, uint32_t symbol);

#endif
