// The C side of the door.
#ifndef KZ_DOOR_H
#define KZ_DOOR_H

#include <stdint.h>

#include "lasterror.h"
#include "thread.h"

// Numbers that are no row's.
#define KZ_START 0xffffffffu      // begins
#define KZ_THREAD_END 0xfffffffeu // the thread is ending
#define KZ_ROOM 0xfffffffdu       // makes room for signal handlers on the stack of the thread's goroutine

#define KZ_DOOR_RUNTIME 2u // a call of the runtime API: a failure is the thread's last error

// KZ_STREAM lets no stream mean the thread's own default stream in the variants for it.
#define KZ_STREAM(stream, flag)                        \
	if (((flag) & KZ_THREAD_PER_THREAD) && !(stream)) \
		(stream) = 2;

// kz_door passes a stub's packed arguments to Go. flag has KZ_THREAD_PER_THREAD in the
// variants for the per-thread default stream.
int32_t kz_door(uint32_t id, uint32_t flag, void *args);

// kz_door_ends is kz_door for calls that may end a context.
int32_t kz_door_ends(uint32_t id, uint32_t flag, void *args);

// kz_door for calls that C makes without Go where the thread has a ticket or an answer (engine/fastpath.c).
int32_t kz_door_launch(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_launch_runtime(uint32_t id, uint32_t flag, void *args); // cudaLaunchKernel
int32_t kz_door_wait(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_wait_all(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_query(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_device(uint32_t id, uint32_t flag, void *args);     // cudaGetDevice
int32_t kz_door_set_device(uint32_t id, uint32_t flag, void *args); // cudaSetDevice
int32_t kz_door_primary(uint32_t id, uint32_t flag, void *args);    // cuDevicePrimaryCtxGetState
int32_t kz_door_capture(uint32_t id, uint32_t flag, void *args);    // cuStreamIsCapturing
int32_t kz_door_all_reduce(uint32_t id, uint32_t flag, void *args); // NCCL's
int32_t kz_door_reduce_scatter(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_reduce(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_broadcast(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_all_gather(uint32_t id, uint32_t flag, void *args);
int32_t kz_door_library(uint32_t id, uint32_t flag, void *args, uint32_t bytes); // of libraries, all that may be one launch
void kz_fast_set(uint64_t calls); // a struct kz_fast

// kz_host_secure: the process has more rights than the user who started it.
int kz_host_secure(void);

// kz_host_image: the path of libkudzu.so, NULL if it is not known.
const char *kz_host_image(void);

// What the base noted of registrations (register.h).
uint64_t *kz_host_noted(void);
uint64_t kz_host_take(void *out, uint64_t room);

// kz_host_last_error is where a library's text of the last failure is.
char *kz_host_last_error(enum kz_last_error of);

// kz_host_lasting is where the error is that cudaGetLastError does not take away.
int32_t *kz_host_lasting(void);

// kz_host_say writes to standard error without harm to the program (c/base/say.c).
void kz_host_say(const char *text, uint64_t n);

// kz_host_complain is the address of kz_complain, and kz_host_complained calls it: what kernels, and libraries, say there.
uint64_t kz_host_complain(void);
void kz_host_complained(const char *text, uint64_t n);

// The recorder of `kudzu trace` (host.h), NULL when it is off. The three calls are only for when it is on.
struct kz_trace_host;
const struct kz_trace_host *kz_host_trace(void);
uint64_t kz_trace_now(void);
uint64_t kz_trace_current(void);
void kz_trace_event(uint16_t type, uint64_t id, uint64_t t0, uint64_t t1, uint32_t device, uint64_t stream, const uint64_t *values, const char *text);

uint64_t kz_call_out(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

// kz_call_back is kz_call_out for functions that streams call: of CUDA they may use little.
uint64_t kz_call_back(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

// kz_call_quiet is kz_call_out for functions that may use no CUDA: the driver may be in the middle of something.
uint64_t kz_call_quiet(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
