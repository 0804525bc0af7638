// cuGetExportTable: the tables NVIDIA's runtime library asks its driver for. They are
// static arrays, because the runtime's integrity check hashes their addresses.
#define _GNU_SOURCE
#include "base.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "context.h"
#include "integrity.h"

typedef uint64_t handle;

static int nothing(void) { return KZ_CUDA_SUCCESS; }
#define NOP ((void *)nothing)

// call finds an implementation in the driver's table, or leaves with the answer its
// absence has.
#define CALL(name, type, ...)                                                              \
	({                                                                                     \
		int (*fn_) type = (int (*) type)kz_seen(KZ_LIB_cuda, KZ_cuda_##name);             \
		fn_ ? fn_(__VA_ARGS__) : KZ_CUDA_ERROR_NOT_SUPPORTED;                                         \
	})

// --- what the runtime library loads modules through

static int module_load(handle *module, const void *wrapper) {
	return CALL(cuModuleLoadFatBinary, (handle *, const void *), module, wrapper);
}

// The address of the primary context, which must stay as active as it was.
static int primary_context(handle *context, int device) {
	if (!context)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	int rc = CALL(cuDevicePrimaryCtxRetain, (handle *, int), context, device);
	if (rc != KZ_CUDA_SUCCESS)
		return rc;
	return CALL(cuDevicePrimaryCtxRelease_v2, (int), device);
}

static int module_load_ext(handle *module, const void *wrapper, void *a, void *b, unsigned c) {
	return a || b || c ? KZ_CUDA_ERROR_NOT_SUPPORTED : module_load(module, wrapper);
}

static int module_load_bare(const void *fatbin, handle *module, void *a, void *b, unsigned c) {
	return a || b || c ? KZ_CUDA_ERROR_NOT_SUPPORTED : module_load(module, fatbin);
}

static void *const runtime_table[13] = {
    (void *)sizeof(void *[13]), module_load,      primary_context, NOP, NOP, NOP, module_load_ext, NOP,
    module_load_bare,           NOP,              NOP,             NOP, NOP};

// --- tools: present, silent

static void *const tools_tls[3] = {(void *)sizeof(void *[3]), NOP, NOP};

static void hook_buffer(void **out, size_t *size) {
	static uint32_t buffer[1024];
	*out = buffer;
	*size = 1024;
}

static void hook_small_buffer(void **out, size_t *size) {
	static uint32_t buffer[14];
	*out = buffer;
	*size = 14;
}

static void *const tools_hooks[7] = {(void *)sizeof(void *[7]), NOP, hook_buffer, NOP, NOP, NOP, hook_small_buffer};

// --- contexts

static void *const context_storage[4] = {kz_local_put, kz_local_delete, kz_local_get, NULL};

static int context_create(handle *context, unsigned flags, int device) {
	return CALL(cuCtxCreate_v2, (handle *, unsigned, int), context, flags, device);
}

static void *const context_create_table[2] = {(void *)sizeof(void *[2]), context_create};

static int context_check(handle context, uint32_t *out, const void **extra) {
	(void)context, (void)extra;
	if (!out)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	*out = 0;
	return KZ_CUDA_SUCCESS;
}

static void *const context_checks[15] = {
    (void *)sizeof(void *[15]), NOP, context_check, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP};

static int device_extended_byte(uint8_t *out, int device) {
	(void)device;
	if (!out)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	*out = 0;
	return KZ_CUDA_SUCCESS;
}

static int unsupported_slot(void) { return KZ_CUDA_ERROR_NOT_SUPPORTED; }

#define FOUR unsupported_slot, unsupported_slot, unsupported_slot, unsupported_slot
#define SIXTEEN FOUR, FOUR, FOUR, FOUR

static void *const device_extended[31] = {
    (void *)sizeof(void *[31]), FOUR, FOUR, FOUR, device_extended_byte, SIXTEEN, unsupported_slot};

// --- integrity

static void *const integrity_table[3];

// The attributes are PCI domain, bus and device.
static size_t devices(struct kz_integrity_device **out) {
	int count = 0;
	*out = NULL;
	if (CALL(cuDeviceGetCount, (int *), &count) != KZ_CUDA_SUCCESS || count <= 0)
		return 0;
	struct kz_integrity_device *d = calloc((size_t)count, sizeof *d);
	for (int i = 0; d && i < count; i++) {
		CALL(cuDeviceGetUuid_v2, (uint8_t *, int), d[i].uuid, i);
		CALL(cuDeviceGetAttribute, (int *, int, int), &d[i].domain, 50, i);
		CALL(cuDeviceGetAttribute, (int *, int, int), &d[i].bus, 33, i);
		CALL(cuDeviceGetAttribute, (int *, int, int), &d[i].device, 34, i);
	}
	*out = d;
	return d ? (size_t)count : 0;
}

static int integrity_check(uint32_t version, uint64_t seconds, uint64_t out[2]) {
	if (!out)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	struct kz_integrity in = {
	    .driver_version = kz_driver_version(),
	    .version = version,
	    .pid = (uint32_t)getpid(),
	    .tid = (uint32_t)pthread_self(),
	    .runtime_table = (uint64_t)runtime_table,
	    .integrity_table = (uint64_t)integrity_table,
	    .function = (uint64_t)integrity_check,
	    .seconds = seconds,
	};
	struct kz_integrity_device *list;
	size_t count = devices(&list);
	uint8_t answer[16];
	kz_integrity_answer(&in, list, count, answer);
	free(list);
	memcpy(out, answer, sizeof answer);
	return KZ_CUDA_SUCCESS;
}

static void *const integrity_table[3] = {(void *)sizeof(void *[3]), integrity_check, NOP};

// --- asked for since runtime 13.1, which fails without it; no slot of it was seen to be called

static void *const runtime_late[93] = {
    (void *)sizeof(void *[93]), SIXTEEN, SIXTEEN, SIXTEEN, SIXTEEN, SIXTEEN, FOUR, FOUR, FOUR};

// --- the list

#define ID(...) {__VA_ARGS__}

static const struct {
	uint8_t id[16];
	const void *table;
} tables[] = {
    {ID(0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9), runtime_table},
    {ID(0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc), tools_tls},
    {ID(0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66), tools_hooks},
    {ID(0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93), context_storage},
    {ID(0x0c, 0xa5, 0x0b, 0x8c, 0x10, 0x04, 0x92, 0x9a, 0x89, 0xa7, 0xd0, 0xdf, 0x10, 0xe7, 0x72, 0x86), context_create_table},
    {ID(0xb1, 0x05, 0x41, 0xe1, 0xf7, 0xc7, 0xc7, 0x4a, 0x9f, 0x64, 0xf2, 0x23, 0xbe, 0x99, 0xf1, 0xe2), device_extended},
    {ID(0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2), integrity_table},
    {ID(0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2), runtime_late},
    {ID(0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e), context_checks},
};

// The sizes are those of driver 580. A table that is not listed is an invalid value, as
// there; the runtime library takes that for an older driver. One (f8cff951) is left out on
// purpose: with it the runtime expects another way to load modules.
int kzb_cuGetExportTable(const void **table, const uint8_t *id);
int kzb_cuGetExportTable(const void **table, const uint8_t *id) {
	if (!table || !id)
		return KZ_CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (!memcmp(id, tables[i].id, 16)) {
			*table = tables[i].table;
			return KZ_CUDA_SUCCESS;
		}
	*table = NULL;
	return KZ_CUDA_ERROR_INVALID_VALUE;
}
