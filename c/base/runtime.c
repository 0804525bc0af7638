// The part of the runtime API that is C for good: registration, which runs in static
// constructors and only takes notes, the launch configuration, and plain questions.
#include "register.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "zversion.h"

int kz_runtime_answer(int code) {
	if (code)
		kz_thread()->last_error = code;
	return code;
}

// --- registration

struct fatbin {
	const void *wrapper; // first word, so that *handle is what the compiler passed
	uint64_t number;
	const void *managed; // one of its managed variables, if it has any
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // after load_lock; nothing is called under it (docs/locks.md)
static struct kz_note *notes; // guarded by lock, as the rest
static size_t used, room;
static uint64_t fatbins;

uint64_t kz_noted;

// note appends. Preconditions: lock is held.
static void note(struct kz_note n) {
	if (used == room) {
		size_t more = room ? 2 * room : 256;
		struct kz_note *grown = realloc(notes, more * sizeof *grown);
		if (!grown)
			abort(); // a static constructor: nobody could be told
		notes = grown, room = more;
	}
	notes[used++] = n;
	__atomic_fetch_add(&kz_noted, 1, __ATOMIC_RELEASE);
}

uint64_t kz_take(struct kz_note *out, uint64_t want) {
	pthread_mutex_lock(&lock);
	size_t n = want < used ? (size_t)want : used;
	if (n) {
		memcpy(out, notes, n * sizeof *out);
		memmove(notes, notes + n, (used - n) * sizeof *notes);
		used -= n;
	}
	if (!used) {
		free(notes);
		notes = NULL, room = 0;
	}
	pthread_mutex_unlock(&lock);
	return n;
}

void **kzb___cudaRegisterFatBinary(void *wrapper);
void **kzb___cudaRegisterFatBinary(void *wrapper) {
	struct fatbin *f = calloc(1, sizeof *f);
	if (!f)
		abort();
	f->wrapper = wrapper;
	pthread_mutex_lock(&lock);
	f->number = ++fatbins;
	note((struct kz_note){KZ_FATBIN, 0, f->number, wrapper, NULL, 0});
	pthread_mutex_unlock(&lock);
	return (void **)f;
}

void kzb___cudaRegisterFatBinaryEnd(void **handle);
void kzb___cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

// What nobody has looked at yet leaves no trace; of the rest it is noted that it is gone.
// The handle's few bytes stay: a program may pass it again.
void kzb___cudaUnregisterFatBinary(void **handle);
void kzb___cudaUnregisterFatBinary(void **handle) {
	if (!handle)
		return;
	uint64_t number = ((struct fatbin *)handle)->number;
	int untouched = 0;
	pthread_mutex_lock(&lock);
	size_t kept = 0;
	for (size_t i = 0; i < used; i++) {
		untouched |= notes[i].fatbin == number && notes[i].kind == KZ_FATBIN;
		if (notes[i].fatbin != number)
			notes[kept++] = notes[i];
	}
	used = kept;
	if (!untouched)
		note((struct kz_note){KZ_GONE, 0, number, NULL, NULL, 0});
	pthread_mutex_unlock(&lock);
}

static void add(void **handle, struct kz_note n) {
	struct fatbin *f = (struct fatbin *)handle;
	if (!f)
		return;
	n.fatbin = f->number;
	pthread_mutex_lock(&lock);
	if (n.kind == KZ_MANAGED)
		f->managed = n.host;
	note(n);
	pthread_mutex_unlock(&lock);
}

void kzb___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid, void *block, void *grid, int *warp);
void kzb___cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid, void *block, void *grid, int *warp) {
	(void)device, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	add(handle, (struct kz_note){KZ_KERNEL, threads, 0, host, name, 0});
}

static int32_t bits(int ext, int constant, int global) { return (ext ? 1 : 0) | (constant ? 2 : 0) | (global ? 4 : 0); }

void kzb___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global);
void kzb___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global) {
	(void)device;
	add(handle, (struct kz_note){KZ_VARIABLE, bits(ext, constant, global), 0, host, name, size});
}

// References were the textures of programs until CUDA 12. nvcc says the name in the source in name ("::space::line") and the
// name in the PTX, which we look up, in device.
static const char *in_ptx(const void **device, const char *name) { return device ? (const char *)device : name; }

void kzb___cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dim, int norm, int ext);
void kzb___cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dim, int norm, int ext) {
	(void)dim, (void)ext;
	add(handle, (struct kz_note){KZ_TEXTURE, norm != 0, 0, host, in_ptx(device, name), 0});
}

void kzb___cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dim, int ext);
void kzb___cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dim, int ext) {
	(void)dim, (void)ext;
	add(handle, (struct kz_note){KZ_SURFACE, 0, 0, host, in_ptx(device, name), 0});
}

void kzb___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size, int constant, int global);
void kzb___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size, int constant, int global) {
	(void)device;
	add(handle, (struct kz_note){KZ_MANAGED, bits(ext, constant, global), 0, host, name, size});
}

void kzb___cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
void kzb___cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
	add(handle, (struct kz_note){KZ_HOST_VARIABLE, 0, 0, host, name, size});
}

// __cudaInitModule is called before the host first touches a managed variable: asking for
// one makes the runtime fill in the addresses of all that the fatbin has.
char kzb___cudaInitModule(void **handle);
char kzb___cudaInitModule(void **handle) {
	struct fatbin *f = (struct fatbin *)handle;
	if (!f || !f->managed)
		return 1;
	void *address;
	int (*ask)(void **, const void *) = (int (*)(void **, const void *))kz_entry(KZ_LIB_cudart13, KZ_cudart_cudaGetSymbolAddress);
	return ask && ask(&address, f->managed) == KZ_CUDA_SUCCESS;
}

void kz_register_fork(int when) { kz_fork_lock(&lock, when); }

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
		return (uint32_t)kz_runtime_answer(KZ_CUDA_ERROR_OUT_OF_MEMORY);
	configs.top[configs.depth++] = (struct config){grid, block, shared, stream};
	return KZ_CUDA_SUCCESS;
}

int kzb___cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream);
int kzb___cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream) {
	if (!configs.depth)
		return kz_runtime_answer(KZ_cudaErrorMissingConfiguration);
	if (!grid || !block || !shared || !stream)
		return kz_runtime_answer(KZ_CUDA_ERROR_INVALID_VALUE);
	struct config *c = &configs.top[--configs.depth];
	*grid = c->grid, *block = c->block, *shared = c->shared, *stream = c->stream;
	return KZ_CUDA_SUCCESS;
}

// --- plain questions

static int answer_version(int *version, int value) {
	if (!version)
		return kz_runtime_answer(KZ_CUDA_ERROR_INVALID_VALUE);
	*version = value;
	return KZ_CUDA_SUCCESS;
}

int kzb_cudaDriverGetVersion(int *version);
int kzb_cudaDriverGetVersion(int *version) { return answer_version(version, kz_driver_version()); }

enum { VERSION_11 = 11080, VERSION_12 = 12090, VERSION_13 = KZ_NEWEST_VERSION }; // what the libraries say they are

int kzb11_cudaRuntimeGetVersion(int *version);
int kzb11_cudaRuntimeGetVersion(int *version) { return answer_version(version, VERSION_11); }

int kzb12_cudaRuntimeGetVersion(int *version);
int kzb12_cudaRuntimeGetVersion(int *version) { return answer_version(version, VERSION_12); }

int kzb13_cudaRuntimeGetVersion(int *version);
int kzb13_cudaRuntimeGetVersion(int *version) { return answer_version(version, VERSION_13); }

static const char unknown[] = "unrecognized error code";

const char *kzb_cudaGetErrorName(int code);
const char *kzb_cudaGetErrorName(int code) {
	const char *s = kz_error_name(code, KZ_ERRORS_cudart);
	return s ? s : unknown;
}

const char *kzb_cudaGetErrorString(int code);
const char *kzb_cudaGetErrorString(int code) {
	const char *s = kz_error_text(code, KZ_ERRORS_cudart);
	return s ? s : unknown;
}

int32_t kz_lasting;

// or_lasting is the thread's own last error, or that of the process which no call takes away.
static int or_lasting(int e) { return e ? e : __atomic_load_n(&kz_lasting, __ATOMIC_RELAXED); }

int kzb_cudaPeekAtLastError(void);
int kzb_cudaPeekAtLastError(void) { return or_lasting(kz_thread()->last_error); }

int kzb_cudaGetLastError(void);
int kzb_cudaGetLastError(void) {
	struct kz_thread *t = kz_thread();
	int e = t->last_error;
	t->last_error = 0;
	return or_lasting(e);
}

struct channel { // cudaChannelFormatDesc
	int x, y, z, w, kind;
};

struct channel kzb_cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
struct channel kzb_cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (struct channel){x, y, z, w, kind}; }

// --- functions of the driver, by name

int kzb_cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status);
int kzb_cuGetExportTable(const void **table, const uint8_t *id);

enum { PER_THREAD = 2 };

static int entry_point(const char *name, void **out, int version, uint64_t flags, int *status) {
	return kz_runtime_answer(kzb_cuGetProcAddress_v2(name, out, version, flags, status));
}

// In a program built for per-thread default streams the plain flag means them too.
static uint64_t per_thread(uint64_t flags) { return flags ? flags : PER_THREAD; }

// Until 12 a name that is not there was an error.
static int entry_or_error(const char *name, void **out, uint64_t flags) {
	int status = 0, code = entry_point(name, out, VERSION_11, flags, &status);
	return !code && status ? kz_runtime_answer(KZ_cudaErrorSymbolNotFound) : code;
}

int kzb11_cudaGetDriverEntryPoint(const char *name, void **out, uint64_t flags);
int kzb11_cudaGetDriverEntryPoint(const char *name, void **out, uint64_t flags) { return entry_or_error(name, out, flags); }

int kzb11_cudaGetDriverEntryPoint_ptsz(const char *name, void **out, uint64_t flags);
int kzb11_cudaGetDriverEntryPoint_ptsz(const char *name, void **out, uint64_t flags) { return entry_or_error(name, out, per_thread(flags)); }

int kzb12_cudaGetDriverEntryPoint(const char *name, void **out, uint64_t flags, int *status);
int kzb12_cudaGetDriverEntryPoint(const char *name, void **out, uint64_t flags, int *status) {
	return entry_point(name, out, VERSION_12, flags, status);
}

int kzb12_cudaGetDriverEntryPoint_ptsz(const char *name, void **out, uint64_t flags, int *status);
int kzb12_cudaGetDriverEntryPoint_ptsz(const char *name, void **out, uint64_t flags, int *status) {
	return entry_point(name, out, VERSION_12, per_thread(flags), status);
}

int kzb13_cudaGetDriverEntryPoint(const char *name, void **out, uint64_t flags, int *status);
int kzb13_cudaGetDriverEntryPoint(const char *name, void **out, uint64_t flags, int *status) {
	return entry_point(name, out, VERSION_13, flags, status);
}

int kzb13_cudaGetDriverEntryPoint_ptsz(const char *name, void **out, uint64_t flags, int *status);
int kzb13_cudaGetDriverEntryPoint_ptsz(const char *name, void **out, uint64_t flags, int *status) {
	return entry_point(name, out, VERSION_13, per_thread(flags), status);
}

int kzb_cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, uint64_t flags, int *status);
int kzb_cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, uint64_t flags, int *status) {
	return entry_point(name, out, (int)version, flags, status);
}

int kzb_cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **out, unsigned version, uint64_t flags, int *status);
int kzb_cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **out, unsigned version, uint64_t flags, int *status) {
	return entry_point(name, out, (int)version, per_thread(flags), status);
}

int kzb_cudaGetExportTable(const void **table, const uint8_t *id);
int kzb_cudaGetExportTable(const void **table, const uint8_t *id) { return kz_runtime_answer(kzb_cuGetExportTable(table, id)); }
