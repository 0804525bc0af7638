// What libkudzu-base.so and libkudzu.so say to each other when the second is loaded.
#ifndef KZ_HOST_H
#define KZ_HOST_H

#include "lasterror.h"
#include "register.h"
#include "thread.h"
#include "ztable.h"

#include <stddef.h>

// kz_trace_host is how the Go image adds to a trace (trace.h). Every function may be called on any thread.
struct kz_trace_host {
	uint64_t (*now)(void);     // in the ticks of the trace
	uint64_t (*current)(void); // the call under way on this thread, 0 for none
	// event: its type has the rest (internal/trace/record.go). t1 0: it is a moment. Both 0: it is when the call before it began.
	void (*event)(uint16_t type, uint64_t id, uint64_t t0, uint64_t t1, uint32_t device, uint64_t stream, const uint64_t values[4], const char *text);
	void (*launched)(const void *params, size_t bytes); // what the call under way, which launches, has read: the kernel's parameters
};

// kz_host is what the base offers to the Go image.
struct kz_host {
	uint64_t hash; // kz_hash(): both were generated from the same rows
	int secure; // kz_secure()
	struct kz_thread *(*thread)(void);
	void (*contexts_ended)(void); // lets go what was hung on contexts that are gone
	uint64_t *noted;              // register.h; read atomically
	uint64_t (*take)(struct kz_note *out, uint64_t room);
	kz_last_error_text *last_errors; // by enum kz_last_error
	int32_t *lasting; // the error that cudaGetLastError does not take away, 0 for none; written atomically
	const struct kz_trace_host *trace; // NULL: off
	void (*say)(const char *text, size_t n); // kz_say_text
	void (*complain)(const char *text, size_t n);
	const char *image; // the path of libkudzu.so
};

// kz_image is what the Go image offers: one array of entry points an interface, by slot, holes NULL.
struct kz_image {
	void *const *stubs[KZ_APIS];
	void (*thread_ended)(struct kz_thread *t); // on that thread, which has KZ_THREAD_KEPT
};

// kz_attach is the one symbol libkudzu.so exports. It returns 0, or an error code of the
// driver API when the image cannot serve this base.
typedef int kz_attach_fn(const struct kz_host *host, struct kz_image *image);

#endif
