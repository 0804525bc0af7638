// libcufile.so: cuFile without nvidia-fs, which is what NVIDIA's own calls the compatibility mode: data goes through host memory,
// by read and write of the file as it is open. It is a program on the driver API, so it works on every backend.
//
// This file: the library itself, its properties and parameters.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "room.h"

// Of the release whose names are here: 1.19.
enum { VERSION = 1190 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long uses; // guarded by lock, as all below

// Sizes in kilobytes where NVIDIA's are; the values are its defaults.
enum { DIRECT_IO = 5, CACHE = 6, PER_BUFFER = 7, PINNED = 8, BATCH = 9, POLL_SIZE = 10, BATCH_TIMEOUT = 11 };
static size_t sizes[12] = {0, 128, 4, 8192, 4, 16384, 131072, 1024, 33554432, MOST_IN_BATCH, 4, 5};
enum { POLL = 0, COMPAT = 1, FORCE_COMPAT = 2, SYSTEM_MEMORY = 6 };
static bool switches[14] = {[COMPAT] = true, [FORCE_COMPAT] = true, [SYSTEM_MEMORY] = true};
static char texts[4][256] = {"ERROR", "", "", ""};
static int level;

#define COUNT(a) (sizeof(a) / sizeof *(a))

// A child of fork has only the thread that forked: what others of its parent held is held by nobody.
static void in_child(void) {
	pthread_mutex_init(&lock, 0);
	kz_files_in_child();
	kz_jobs_in_child();
}

__attribute__((constructor)) static void begin(void) { pthread_atfork(0, 0, in_child); }

CUfileError_t kz_opened(void) {
	pthread_mutex_lock(&lock);
	bool open = uses > 0;
	pthread_mutex_unlock(&lock);
	if (open)
		return failed(CU_FILE_SUCCESS);
	CUresult r = cuInit(0); // loads libraries: no lock is held
	if (r)
		return driver_failed(r);
	pthread_mutex_lock(&lock);
	if (!uses)
		uses = 1;
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileDriverOpen(void) {
	CUresult r = cuInit(0);
	if (r)
		return driver_failed(r);
	pthread_mutex_lock(&lock);
	uses++;
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileDriverClose_v2(void) {
	pthread_mutex_lock(&lock);
	bool open = uses > 0;
	uses -= open;
	pthread_mutex_unlock(&lock);
	return failed(open ? CU_FILE_SUCCESS : CU_FILE_DRIVER_NOT_INITIALIZED);
}

CUfileError_t cuFileDriverClose(void) { return cuFileDriverClose_v2(); }

long cuFileUseCount(void) {
	pthread_mutex_lock(&lock);
	long n = uses;
	pthread_mutex_unlock(&lock);
	return n;
}

CUfileError_t cuFileGetVersion(int *version) {
	if (!version)
		return failed(CU_FILE_INVALID_VALUE);
	*version = VERSION;
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t *props) {
	if (!props)
		return failed(CU_FILE_INVALID_VALUE);
	CUfileError_t e = kz_opened();
	if (e.err)
		return e;
	memset(props, 0, sizeof *props); // no nvidia-fs: version 0.0, and no file system is reached directly
	pthread_mutex_lock(&lock);
	props->nvfs.poll_thresh_size = sizes[POLL_SIZE];
	props->nvfs.max_direct_io_size = sizes[DIRECT_IO];
	props->nvfs.dcontrolflags = (unsigned)switches[POLL] << CU_FILE_USE_POLL_MODE | 1u << CU_FILE_ALLOW_COMPAT_MODE;
	props->fflags = 1u << CU_FILE_BATCH_IO_SUPPORTED | 1u << CU_FILE_STREAMS_SUPPORTED;
	props->max_device_cache_size = (unsigned)sizes[CACHE];
	props->per_buffer_cache_size = (unsigned)sizes[PER_BUFFER];
	props->max_device_pinned_mem_size = (unsigned)sizes[PINNED];
	props->max_batch_io_size = (unsigned)sizes[BATCH];
	props->max_batch_io_timeout_msecs = (unsigned)sizes[BATCH_TIMEOUT];
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

// set_size changes a parameter; nothing here depends on any of them but the batch's.
static CUfileError_t set_size(unsigned param, size_t value, bool only_closed) {
	CUfileOpError code = CU_FILE_SUCCESS;
	pthread_mutex_lock(&lock);
	if (param >= COUNT(sizes) || (param == BATCH && (value == 0 || value > MOST_IN_BATCH)))
		code = CU_FILE_INVALID_VALUE;
	else if (only_closed && uses)
		code = CU_FILE_DRIVER_ALREADY_OPEN;
	else
		sizes[param] = value;
	pthread_mutex_unlock(&lock);
	return failed(code);
}

CUfileError_t cuFileDriverSetPollMode(bool poll, size_t threshold) {
	pthread_mutex_lock(&lock);
	switches[POLL] = poll;
	pthread_mutex_unlock(&lock);
	return set_size(POLL_SIZE, threshold, false);
}

CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t n) { return n ? set_size(DIRECT_IO, n, false) : failed(CU_FILE_INVALID_VALUE); }

CUfileError_t cuFileDriverSetMaxCacheSize(size_t n) { return n ? set_size(CACHE, n, false) : failed(CU_FILE_INVALID_VALUE); }

CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t n) { return n ? set_size(PINNED, n, false) : failed(CU_FILE_INVALID_VALUE); }

CUfileError_t cuFileSetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t value) { return set_size((unsigned)param, value, true); }

CUfileError_t cuFileGetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t *value) {
	if (!value || (unsigned)param >= COUNT(sizes))
		return failed(CU_FILE_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	*value = sizes[param];
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileGetParameterMinMaxValue(CUFileSizeTConfigParameter_t param, size_t *least, size_t *most) {
	if (!least || !most || (unsigned)param >= COUNT(sizes))
		return failed(CU_FILE_INVALID_VALUE);
	*least = param == BATCH;
	*most = param == BATCH ? MOST_IN_BATCH : SIZE_MAX;
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileSetParameterBool(CUFileBoolConfigParameter_t param, bool value) {
	CUfileOpError code = CU_FILE_SUCCESS;
	pthread_mutex_lock(&lock);
	if ((unsigned)param >= COUNT(switches))
		code = CU_FILE_INVALID_VALUE;
	else if (uses)
		code = CU_FILE_DRIVER_ALREADY_OPEN;
	else
		switches[param] = value;
	pthread_mutex_unlock(&lock);
	return failed(code);
}

CUfileError_t cuFileGetParameterBool(CUFileBoolConfigParameter_t param, bool *value) {
	if (!value || (unsigned)param >= COUNT(switches))
		return failed(CU_FILE_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	*value = switches[param];
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileSetParameterString(CUFileStringConfigParameter_t param, const char *value) {
	if (!value || (unsigned)param >= COUNT(texts) || strlen(value) >= sizeof texts[0])
		return failed(CU_FILE_INVALID_VALUE);
	CUfileOpError code = CU_FILE_SUCCESS;
	pthread_mutex_lock(&lock);
	if (uses)
		code = CU_FILE_DRIVER_ALREADY_OPEN;
	else
		strcpy(texts[param], value);
	pthread_mutex_unlock(&lock);
	return failed(code);
}

CUfileError_t cuFileGetParameterString(CUFileStringConfigParameter_t param, char *to, int len) {
	if (!to || len <= 0 || (unsigned)param >= COUNT(texts))
		return failed(CU_FILE_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	bool fits = strlen(texts[param]) < (size_t)len;
	if (fits)
		strcpy(to, texts[param]);
	pthread_mutex_unlock(&lock);
	return failed(fits ? CU_FILE_SUCCESS : CU_FILE_INVALID_VALUE);
}

CUfileError_t cuFileSetStatsLevel(int to) {
	if (to < 0 || to > 3)
		return failed(CU_FILE_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	level = to;
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

CUfileError_t cuFileGetStatsLevel(int *to) {
	if (!to)
		return failed(CU_FILE_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	*to = level;
	pthread_mutex_unlock(&lock);
	return failed(CU_FILE_SUCCESS);
}

// What has no meaning without NVIDIA's hardware and kernel module is there to be linked, and says so.
#define UNSUPPORTED(name)      \
	CUfileError_t name(void);  \
	CUfileError_t name(void) { return failed(CU_FILE_PLATFORM_NOT_SUPPORTED); }

UNSUPPORTED(cuFileStatsStart)
UNSUPPORTED(cuFileStatsStop)
UNSUPPORTED(cuFileStatsReset)
UNSUPPORTED(cuFileGetStatsL1)
UNSUPPORTED(cuFileGetStatsL2)
UNSUPPORTED(cuFileGetStatsL3)
UNSUPPORTED(cuFileGetBARSizeInKB)
UNSUPPORTED(cuFileExportPCIeTopology)
UNSUPPORTED(cuFileSetParameterPosixPoolSlabArray)
UNSUPPORTED(cuFileGetParameterPosixPoolSlabArray)
UNSUPPORTED(cuFileSetParameterGpuBounceBufferSlabArray)
UNSUPPORTED(cuFileGetParameterGpuBounceBufferSlabArray)
UNSUPPORTED(cuFileDriverGetP2PFlags)
UNSUPPORTED(cuFileDriverSetP2PFlags)
UNSUPPORTED(cuFileCopyGpu)
UNSUPPORTED(cuFileCopyGpuPosixIORetry)
UNSUPPORTED(cuFileCopyGpuWrap)
UNSUPPORTED(cuFileCopyGpuWrapPosixIORetry)
UNSUPPORTED(cuFileGpuWaitValue32)
UNSUPPORTED(cuFileInlineGpu)
UNSUPPORTED(cuFileSparseGpu)
UNSUPPORTED(cuFileStreamHandleInline)
UNSUPPORTED(cuFileStreamHandleSparse)
UNSUPPORTED(cuFileStreamWaitValue32)
