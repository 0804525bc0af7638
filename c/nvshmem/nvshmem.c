// libnvshmem_host.so.3: there to be loaded. Programs are linked with it for a mode that few use (PyTorch's symmetric memory), and
// NVIDIA's own wants the inside of NVIDIA's driver and kernels that are machine code. Starting it fails with the code for what is
// not supported, and says so once; a name that returns no status returns zero or NULL.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

enum { NOT_SUPPORTED = 3, MAJOR = 3, MINOR = 8 };

static void say(void) {
	static atomic_flag said = ATOMIC_FLAG_INIT;
	if (!atomic_flag_test_and_set(&said))
		fputs("kudzu: NVSHMEM is not supported; its functions answer NVSHMEMX_ERROR_NOT_SUPPORTED\n", stderr);
}

#define RETURNS(type, name, value) \
	type name(void);               \
	type name(void) {              \
		say();                     \
		return value;              \
	}
#define FUNCTION(name, value) RETURNS(long, name, value)
#define STATUS(name) FUNCTION(name, NOT_SUPPORTED)
#define ZERO(name) FUNCTION(name, 0)
#define TYPED_STATUS(p, t, op) STATUS(p##_##t##_##op)
#define TYPED_ZERO(p, t, op) RETURNS(value_##t, p##_##t##_##op, 0)

// What the functions of a type return: float and double have registers of their own; half and bfloat16 are structures of a short.
typedef float value_float;
typedef double value_double;
typedef long value_half, value_bfloat16, value_char, value_schar, value_uchar, value_short, value_ushort, value_int, value_uint;
typedef long value_long, value_ulong, value_longlong, value_ulonglong, value_ptrdiff, value_size;
typedef long value_int8, value_uint8, value_int16, value_uint16, value_int32, value_uint32, value_int64, value_uint64;

NVSHMEM_PLAIN(STATUS, ZERO)
NVSHMEM_TYPED(TYPED_STATUS, TYPED_ZERO)

// No processing elements.
FUNCTION(nvshmem_my_pe, -1)
FUNCTION(nvshmem_n_pes, -1)
FUNCTION(nvshmem_team_my_pe, -1)
FUNCTION(nvshmem_team_n_pes, -1)
FUNCTION(nvshmem_team_translate_pe, -1)

void nvshmem_info_get_version(int *major, int *minor);
void nvshmem_info_get_version(int *major, int *minor) { *major = MAJOR, *minor = MINOR; }

void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch);
void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch) { *major = MAJOR, *minor = MINOR, *patch = 0; }

void nvshmem_info_get_name(char *name);
void nvshmem_info_get_name(char *name) { strcpy(name, "Kudzu"); }

void nvshmem_global_exit(int status);
void nvshmem_global_exit(int status) { exit(status); }

// Data that the interface exports.
int nvshmem_debug_level, nvshmem_nvtx_options, nvshmem_selected_device_transport, nvshmem_options;
long nvshmem_debug_mask, nvshmem_debug_output_lock[5];
void *nvshmem_debug_file, *nvshmem_error;
