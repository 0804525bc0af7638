// The part of the runtime API that is C for good: registration, which runs in static
// constructors and only takes notes, the launch configuration, and plain questions.
#include "register.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "zproc.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kz_fatbin *first, **last = &first; // guarded by lock

void **kzb___cudaRegisterFatBinary(void *wrapper);
void **kzb___cudaRegisterFatBinary(void *wrapper) {
	struct kz_fatbin *f = calloc(1, sizeof *f);
	if (!f)
		abort(); // a static constructor: nobody could be told
	f->wrapper = wrapper;
	pthread_mutex_lock(&lock);
	*last = f;
	last = &f->next;
	pthread_mutex_unlock(&lock);
	return (void **)f;
}

void kzb___cudaRegisterFatBinaryEnd(void **handle);
void kzb___cudaRegisterFatBinaryEnd(void **handle) {
	if (handle)
		((struct kz_fatbin *)handle)->complete = 1;
}

// A record that is unregistered stays: kernels of it may still be running.
void kzb___cudaUnregisterFatBinary(void **handle);
void kzb___cudaUnregisterFatBinary(void **handle) {
	if (handle)
		((struct kz_fatbin *)handle)->gone = 1;
}

static void note(void **handle, struct kz_record r) {
	struct kz_fatbin *f = (struct kz_fatbin *)handle;
	if (!f)
		return;
	pthread_mutex_lock(&lock);
	if (f->count == f->room) {
		size_t more = f->room ? 2 * f->room : 16;
		struct kz_record *grown = realloc(f->records, more * sizeof *grown);
		if (!grown)
			abort();
		f->records = grown, f->room = more;
	}
	f->records[f->count++] = r;
	pthread_mutex_unlock(&lock);
}

void kzb___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid, void *block, void *grid, int *warp);
void kzb___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid, void *block, void *grid, int *warp) {
	(void)device, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	note(handle, (struct kz_record){KZ_KERNEL, threads, host, name, 0});
}

void kzb___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global);
void kzb___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global) {
	(void)device;
	note(handle, (struct kz_record){KZ_VARIABLE, (ext ? 1 : 0) | (constant ? 2 : 0) | (global ? 4 : 0), host, name, size});
}

void kzb___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size, int constant, int global);
void kzb___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size, int constant, int global) {
	(void)device;
	note(handle, (struct kz_record){KZ_MANAGED, (ext ? 1 : 0) | (constant ? 2 : 0) | (global ? 4 : 0), host, name, size});
}

void kzb___cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
void kzb___cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
	note(handle, (struct kz_record){KZ_HOST_VARIABLE, 0, host, name, size});
}

char kzb___cudaInitModule(void **handle);
char kzb___cudaInitModule(void **handle) {
	(void)handle;
	return 1;
}

void kz_register_fork(int when) { kz_fork_lock(&lock, when); }

const struct kz_fatbin *kz_fatbins(void) {
	pthread_mutex_lock(&lock);
	const struct kz_fatbin *f = first;
	pthread_mutex_unlock(&lock);
	return f;
}

// --- the configuration between <<<...>>> and the stub that launches

struct dim3 {
	uint32_t x, y, z;
};

struct config {
	struct dim3 grid, block;
	size_t shared;
	void *stream;
};

// Nested launches are configured while arguments are evaluated: a short stack a thread.
static __thread struct {
	struct config top[16];
	uint32_t depth;
} configs;

uint32_t kzb___cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream);
uint32_t kzb___cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream) {
	if (configs.depth == sizeof configs.top / sizeof *configs.top)
		return KZ_OUT_OF_MEMORY;
	configs.top[configs.depth++] = (struct config){grid, block, shared, stream};
	return KZ_SUCCESS;
}

int kzb___cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream);
int kzb___cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream) {
	enum { MISSING_CONFIGURATION = 52 };
	if (!configs.depth)
		return MISSING_CONFIGURATION;
	struct config *c = &configs.top[--configs.depth];
	*grid = c->grid, *block = c->block, *shared = c->shared, *stream = c->stream;
	return KZ_SUCCESS;
}

// --- plain questions

int kzb_cudaDriverGetVersion(int *version);
int kzb_cudaDriverGetVersion(int *version) {
	if (!version)
		return KZ_INVALID_VALUE;
	*version = KZ_DRIVER_VERSION;
	return KZ_SUCCESS;
}

static int runtime_version(int *version, int value) {
	if (!version)
		return KZ_INVALID_VALUE;
	*version = value;
	return KZ_SUCCESS;
}

int kzb12_cudaRuntimeGetVersion(int *version);
int kzb12_cudaRuntimeGetVersion(int *version) { return runtime_version(version, 12090); }

int kzb13_cudaRuntimeGetVersion(int *version);
int kzb13_cudaRuntimeGetVersion(int *version) { return runtime_version(version, 13000); }

static const char unknown[] = "unrecognized error code";

const char *kzb_cudaGetErrorName(int code);
const char *kzb_cudaGetErrorName(int code) {
	const char *s = kz_error_name(code, 1);
	return s ? s : unknown;
}

const char *kzb_cudaGetErrorString(int code);
const char *kzb_cudaGetErrorString(int code) {
	const char *s = kz_error_text(code, 1);
	return s ? s : unknown;
}

int kzb_cudaPeekAtLastError(void);
int kzb_cudaPeekAtLastError(void) { return kz_thread()->last_error; }

int kzb_cudaGetLastError(void);
int kzb_cudaGetLastError(void) {
	struct kz_thread *t = kz_thread();
	int e = t->last_error;
	t->last_error = 0;
	return e;
}

struct channel { // cudaChannelFormatDesc
	int x, y, z, w, kind;
};

struct channel kzb_cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
struct channel kzb_cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (struct channel){x, y, z, w, kind}; }
