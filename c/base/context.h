// State that libraries above the driver hang on contexts.
#ifndef KZ_CONTEXT_H
#define KZ_CONTEXT_H

#include <stdint.h>

typedef void kz_local_end(uint64_t context, void *key, void *value);

// A context of 0 is the current one of the calling thread.
int kz_local_put(uint64_t context, void *key, void *value, kz_local_end *end);
int kz_local_delete(uint64_t context, void *key);
int kz_local_get(void **value, uint64_t context, void *key);

#endif
