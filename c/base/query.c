// Questions that the base answers from generated tables: versions, error names, and
// cuGetProcAddress.
#include "base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "zversion.h"

// named reads a version as "13.0"; 0 if it is none. internal/driver/core_version.go says so to the user, and has the same bounds.
static int named(const char *s) {
	enum { OLDEST = 11000 };
	int major = 0, n = 0;
	for (; s[n] >= '0' && s[n] <= '9' && n < 2; n++)
		major = 10 * major + (s[n] - '0');
	if (n == 0 || s[n] != '.' || s[n + 1] < '0' || s[n + 1] > '9' || s[n + 2])
		return 0;
	int version = 1000 * major + 10 * (s[n + 1] - '0');
	return version >= OLDEST ? version : 0;
}

int kz_driver_version(void) {
	static atomic_int known; // 0: not asked yet. Asking twice at once gives the same.
	int version = atomic_load_explicit(&known, memory_order_relaxed);
	if (!version) {
		const char *s = kz_setting("KUDZU_DRIVER_VERSION");
		version = s && *s ? named(s) : 0;
		if (!version)
			version = KZ_NEWEST_VERSION;
		atomic_store_explicit(&known, version, memory_order_relaxed);
	}
	return version;
}

int kzb_cuDriverGetVersion(int *version);
int kzb_cuDriverGetVersion(int *version) {
	if (!version)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	*version = kz_driver_version();
	return KZ_CUDA_SUCCESS;
}

static int error_string(const char *text, const char **out) {
	if (!out)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	*out = text;
	return text ? KZ_CUDA_SUCCESS : KZ_CUDA_ERROR_INVALID_VALUE;
}

int kzb_cuGetErrorName(int code, const char **out);
int kzb_cuGetErrorName(int code, const char **out) { return error_string(kz_error_name(code, KZ_ERRORS_cuda), out); }

int kzb_cuGetErrorString(int code, const char **out);
int kzb_cuGetErrorString(int code, const char **out) { return error_string(kz_error_text(code, KZ_ERRORS_cuda), out); }

// A version of a function as cuGetProcAddress knows it. Those of one name stand together, oldest first.
struct proc {
	const char *name;
	int32_t since, per_thread_since;
	uint16_t symbol, per_thread;
};

#define KZ_API cuda
#define KZ_ROWS "zrows_cuda.h"
static const struct proc procs[] = {
#define PROC(name, since, slot, per_thread_since, per_thread) {#name, since, per_thread_since, KZ_SLOT(slot), KZ_SLOT(per_thread)},
#include "rows.inc"
};

enum { PROCS = sizeof procs / sizeof *procs };

// find returns the first version of a name.
static const struct proc *find(const char *name) {
	size_t lo = 0, hi = PROCS;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (strcmp(procs[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < PROCS && !strcmp(procs[lo].name, name) ? &procs[lo] : NULL;
}

// next returns the next newer version of the same name.
static const struct proc *next(const struct proc *p) {
	return p + 1 < procs + PROCS && !strcmp(p[1].name, p->name) ? p + 1 : NULL;
}

enum { SYMBOL_FOUND, SYMBOL_NOT_FOUND, VERSION_NOT_SUFFICIENT }; // CUdriverProcAddressQueryResult
enum { FLAG_PER_THREAD = 2, FLAGS = 3 };                        // CUdriverProcAddress_flags

// pick finds the newest variant that the asked version knows. Of a function that has
// variants for the per-thread default stream only those count when they are asked for.
static int pick(const struct proc *first, int version, int per_thread, uint32_t *symbol) {
	int split = 0, found = 0;
	for (const struct proc *p = first; p; p = next(p))
		split |= p->per_thread_since != 0;
	per_thread &= split;
	for (const struct proc *p = first; p; p = next(p)) {
		int since = per_thread ? p->per_thread_since : p->since;
		if (since && since <= version) {
			*symbol = per_thread ? p->per_thread : p->symbol;
			found = 1;
		}
	}
	return found;
}

// lookup answers a name. A function that nobody implements is not found: handing it out
// would promise what it cannot keep.
static int lookup(const char *name, int version, int per_thread, void **out) {
	const struct proc *p = find(name);
	uint32_t symbol;
	*out = NULL;
	if (!p)
		return SYMBOL_NOT_FOUND;
	if (!pick(p, version, per_thread, &symbol))
		return VERSION_NOT_SUFFICIENT;
	struct kz_library *lib = &kz_libraries[KZ_LIB_cuda];
	if (lib->kind[symbol] == KZ_NONE) {
		atomic_fetch_add_explicit(&lib->count[2 * symbol + 1], 1, memory_order_relaxed);
		return SYMBOL_NOT_FOUND;
	}
	*out = kz_front(KZ_LIB_cuda, symbol);
	return *out ? SYMBOL_FOUND : SYMBOL_NOT_FOUND;
}

// The answers of both are recorded from driver 580: versions newer than the driver are
// refused, negative ones mean the newest, and the second form never fails for a name that
// is not there; it says so in the status and with a null pointer.
int kzb_cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status);
int kzb_cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
	if (!name || !out || flags > FLAGS || version > kz_driver_version())
		return KZ_CUDA_ERROR_INVALID_VALUE;
	int found = lookup(name, version < 0 ? kz_driver_version() : version, (flags & FLAG_PER_THREAD) != 0, out);
	if (status)
		*status = found;
	return KZ_CUDA_SUCCESS;
}

// The first form leaves the pointer alone where it fails.
int kzb_cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
int kzb_cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
	void *fn;
	int rc = kzb_cuGetProcAddress_v2(name, out ? &fn : NULL, version, flags, NULL);
	if (rc == KZ_CUDA_SUCCESS && !fn)
		rc = KZ_CUDA_ERROR_NOT_FOUND;
	if (rc == KZ_CUDA_SUCCESS)
		*out = fn;
	return rc;
}
