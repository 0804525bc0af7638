// One block a host thread, shared by every front. internal/driver/core_thread.go is its mirror.
#ifndef KZ_THREAD_H
#define KZ_THREAD_H

#include <stdint.h>

#define KZ_CONTEXT_STACK 126 // of deeper stacks the driver keeps the lower part
#define KZ_THREAD_PER_THREAD 1u // flags: inside a call for the per-thread default stream
#define KZ_THREAD_KEPT 2u       // flags: the driver keeps something until the thread ends
#define KZ_THREAD_CALLBACK 4u   // flags: in a function of the program that a stream called
#define KZ_THREAD_QUIET 8u      // flags: in a function of the program that may not call us
#define KZ_THREAD_SPILLED 16u   // flags: the driver keeps the lower part of the stack
#define KZ_THREAD_ROOM 32u      // flags: its goroutine's stack has room for signal handlers

struct kz_thread {
	uint64_t id; // unique in the process, never reused
	uint32_t flags;
	int32_t last_error; // of the runtime API
	uint32_t depth;     // contexts on the stack
	int32_t device;     // of the runtime API: the one chosen, plus one; 0 before a choice
	uint64_t stack[KZ_CONTEXT_STACK]; // stack[depth-1] is the current CUcontext
	void *tickets;                    // the engine's, or NULL; for free() when the thread ends
	uint64_t generation;              // of tickets, as the driver saw it last
	const uint8_t *answer_key;        // of NVRTC's answer to the call under way, or NULL (answer.c)
	uint64_t compiler;                // that was started for the call under way (early.c), or 0; who takes it over clears it
	const void *call;                 // of a library, under way: struct kz_library_call of the engine, or NULL
};

_Static_assert(sizeof(struct kz_thread) == 24 + 8 * (KZ_CONTEXT_STACK + 5), "mirrored in Go");

#endif
