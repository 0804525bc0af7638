// Questions that the base answers from generated tables: versions, error names, and
// cuGetProcAddress.
#include "base.h"

#include <stdatomic.h>
#include <string.h>

#include "zproc.h"

int kzb_cuDriverGetVersion(int *version);
int kzb_cuDriverGetVersion(int *version) {
	if (!version)
		return KZ_INVALID_VALUE;
	*version = KZ_DRIVER_VERSION;
	return KZ_SUCCESS;
}

static int error_string(const char *text, const char **out) {
	if (!out)
		return KZ_INVALID_VALUE;
	*out = text;
	return text ? KZ_SUCCESS : KZ_INVALID_VALUE;
}

int kzb_cuGetErrorName(int code, const char **out);
int kzb_cuGetErrorName(int code, const char **out) { return error_string(kz_error_name(code, 0), out); }

int kzb_cuGetErrorString(int code, const char **out);
int kzb_cuGetErrorString(int code, const char **out) { return error_string(kz_error_text(code, 0), out); }

static const struct kz_proc *find(const char *name) {
	size_t lo = 0, hi = KZ_PROCS;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int c = strcmp(name, kz_procs[mid].name);
		if (c == 0)
			return &kz_procs[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

enum { SYMBOL_FOUND, SYMBOL_NOT_FOUND, VERSION_NOT_SUFFICIENT }; // CUdriverProcAddressQueryResult
enum { FLAG_DEFAULT = 0, FLAG_LEGACY = 1, FLAG_PER_THREAD = 2 }; // CUdriverProcAddress_flags

// lookup picks the newest variant that the asked version knows. A function that nobody
// implements is not found: handing it out would promise what it cannot keep.
static int lookup(const char *name, int version, uint64_t flags, void **out) {
	const struct kz_proc *p = find(name);
	*out = NULL;
	if (!p)
		return SYMBOL_NOT_FOUND;
	const struct kz_variant *best = NULL;
	for (uint32_t i = 0; i < p->count; i++)
		if (kz_variants[p->first + i].since <= version)
			best = &kz_variants[p->first + i];
	if (!best)
		return VERSION_NOT_SUFFICIENT;
	uint32_t symbol = best->symbol;
	if (flags == FLAG_PER_THREAD && best->per_thread_since && best->per_thread_since <= version)
		symbol = best->per_thread;
	struct kz_library *lib = &kz_libraries[KZ_LIB_cuda];
	if (lib->kind[symbol] == KZ_NONE) {
		atomic_fetch_add_explicit(&lib->count[2 * symbol + 1], 1, memory_order_relaxed);
		return SYMBOL_NOT_FOUND;
	}
	*out = kz_front(KZ_LIB_cuda, symbol);
	return *out ? SYMBOL_FOUND : SYMBOL_NOT_FOUND;
}

// With somewhere to put the status, a name that is not found is no error: recorded on a
// real driver, as is the refusal of versions newer than itself.
int kzb_cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status);
int kzb_cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
	if (!name || !out || flags > FLAG_PER_THREAD || version > KZ_DRIVER_VERSION)
		return KZ_INVALID_VALUE;
	int found = lookup(name, version, flags, out);
	if (status)
		*status = found;
	return found == SYMBOL_FOUND || status ? KZ_SUCCESS : KZ_NOT_FOUND;
}

int kzb_cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
int kzb_cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
	return kzb_cuGetProcAddress_v2(name, out, version, flags, NULL);
}
