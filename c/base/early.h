// The compiler process ahead of the Go image.
#ifndef KZ_EARLY_H
#define KZ_EARLY_H

#include <stdint.h>

// kz_early_compiler starts the process, once: its number << 32 | the file to talk to it + 1. 0 if there is none.
uint64_t kz_early_compiler(void);

// kz_early_end lets one go that nobody took; 0 does nothing.
void kz_early_end(uint64_t compiler);

#endif
