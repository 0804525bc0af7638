// The C side of the door.
#ifndef KZ_DOOR_H
#define KZ_DOOR_H

#include <stdint.h>

#include "thread.h"

#define KZ_START 0xffffffffu // the number that begins, instead of a row's

// kz_door passes a stub's packed arguments to Go. flag is KZ_THREAD_PER_THREAD in the
// variants for the per-thread default stream.
int32_t kz_door(uint32_t id, uint32_t flag, void *args);

// kz_door_ends is kz_door for calls that may end a context.
int32_t kz_door_ends(uint32_t id, uint32_t flag, void *args);

uint64_t kz_call_out(uint64_t fn, uint64_t a, uint64_t b, uint64_t c);

#endif
