// cuFile's interface: reads and writes between files and device memory.
#ifndef KUDZU_CUFILE_H
#define KUDZU_CUFILE_H
#ifndef __CUFILE_H_
#define __CUFILE_H_
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cuda.h"

#define CUFILEOP_BASE_ERR 5000

typedef enum CUfileOpError {
	CU_FILE_SUCCESS = 0,
	CU_FILE_DRIVER_NOT_INITIALIZED = 5001,
	CU_FILE_DRIVER_INVALID_PROPS = 5002,
	CU_FILE_DRIVER_UNSUPPORTED_LIMIT = 5003,
	CU_FILE_DRIVER_VERSION_MISMATCH = 5004,
	CU_FILE_DRIVER_VERSION_READ_ERROR = 5005,
	CU_FILE_DRIVER_CLOSING = 5006,
	CU_FILE_PLATFORM_NOT_SUPPORTED = 5007,
	CU_FILE_IO_NOT_SUPPORTED = 5008,
	CU_FILE_DEVICE_NOT_SUPPORTED = 5009,
	CU_FILE_NVFS_DRIVER_ERROR = 5010,
	CU_FILE_CUDA_DRIVER_ERROR = 5011,
	CU_FILE_CUDA_POINTER_INVALID = 5012,
	CU_FILE_CUDA_MEMORY_TYPE_INVALID = 5013,
	CU_FILE_CUDA_POINTER_RANGE_ERROR = 5014,
	CU_FILE_CUDA_CONTEXT_MISMATCH = 5015,
	CU_FILE_INVALID_MAPPING_SIZE = 5016,
	CU_FILE_INVALID_MAPPING_RANGE = 5017,
	CU_FILE_INVALID_FILE_TYPE = 5018,
	CU_FILE_INVALID_FILE_OPEN_FLAG = 5019,
	CU_FILE_DIO_NOT_SET = 5020,
	CU_FILE_INVALID_VALUE = 5022,
	CU_FILE_MEMORY_ALREADY_REGISTERED = 5023,
	CU_FILE_MEMORY_NOT_REGISTERED = 5024,
	CU_FILE_PERMISSION_DENIED = 5025,
	CU_FILE_DRIVER_ALREADY_OPEN = 5026,
	CU_FILE_HANDLE_NOT_REGISTERED = 5027,
	CU_FILE_HANDLE_ALREADY_REGISTERED = 5028,
	CU_FILE_DEVICE_NOT_FOUND = 5029,
	CU_FILE_INTERNAL_ERROR = 5030,
	CU_FILE_GETNEWFD_FAILED = 5031,
	CU_FILE_NVFS_SETUP_ERROR = 5033,
	CU_FILE_IO_DISABLED = 5034,
	CU_FILE_BATCH_SUBMIT_FAILED = 5035,
	CU_FILE_GPU_MEMORY_PINNING_FAILED = 5036,
	CU_FILE_BATCH_FULL = 5037,
	CU_FILE_ASYNC_NOT_SUPPORTED = 5038,
	CU_FILE_INTERNAL_BATCH_SETUP_ERROR = 5039,
	CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR = 5040,
	CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR = 5041,
	CU_FILE_INTERNAL_BATCH_CANCEL_ERROR = 5042,
	CU_FILE_NOMEM_ERROR = 5043,
	CU_FILE_IO_ERROR = 5044,
	CU_FILE_INTERNAL_BUF_REGISTER_ERROR = 5045,
	CU_FILE_HASH_OPR_ERROR = 5046,
	CU_FILE_INVALID_CONTEXT_ERROR = 5047,
	CU_FILE_NVFS_INTERNAL_DRIVER_ERROR = 5048,
	CU_FILE_BATCH_NOCOMPAT_ERROR = 5049,
	CU_FILE_IO_MAX_ERROR = 5050,
} CUfileOpError;

typedef struct CUfileError {
	CUfileOpError err;
	CUresult cu_err;
} CUfileError_t;

#define IS_CUFILE_ERR(err) ((err) > CUFILEOP_BASE_ERR || (err) < -CUFILEOP_BASE_ERR)
#define IS_CUDA_ERR(status) ((status).err == CU_FILE_CUDA_DRIVER_ERROR)
#define CU_FILE_CUDA_ERR(status) ((status).cu_err)

// Bits of CUfileDrvProps_t: dcontrolflags, fflags.
#define CU_FILE_USE_POLL_MODE 0
#define CU_FILE_ALLOW_COMPAT_MODE 1
#define CU_FILE_POSIX_IO_MODE 2
#define CU_FILE_DYN_ROUTING_SUPPORTED 0
#define CU_FILE_BATCH_IO_SUPPORTED 1
#define CU_FILE_STREAMS_SUPPORTED 2
#define CU_FILE_PARALLEL_IO_SUPPORTED 3

typedef struct CUfileDrvProps {
	struct {
		unsigned int major_version, minor_version;
		size_t poll_thresh_size, max_direct_io_size;
		unsigned int dstatusflags, dcontrolflags;
	} nvfs;
	unsigned int fflags;
	unsigned int max_device_cache_size, per_buffer_cache_size, max_device_pinned_mem_size;
	unsigned int max_batch_io_size, max_batch_io_timeout_msecs;
} CUfileDrvProps_t;

enum CUfileFileHandleType { CU_FILE_HANDLE_TYPE_OPAQUE_FD = 1, CU_FILE_HANDLE_TYPE_OPAQUE_WIN32 = 2, CU_FILE_HANDLE_TYPE_USERSPACE_FS = 3 };

typedef struct CUfileDescr_t {
	enum CUfileFileHandleType type;
	union {
		int fd;
		void *handle;
	} handle;
	const void *fs_ops;
} CUfileDescr_t;

typedef void *CUfileHandle_t;
typedef void *CUfileBatchHandle_t;
typedef enum CUfileOpcode { CUFILE_READ = 0, CUFILE_WRITE } CUfileOpcode_t;
typedef enum cufileBatchMode { CUFILE_BATCH = 1 } CUfileBatchMode_t;
typedef enum CUFILEStatus_enum {
	CUFILE_WAITING = 1,
	CUFILE_PENDING = 2,
	CUFILE_INVALID = 4,
	CUFILE_CANCELED = 8,
	CUFILE_COMPLETE = 16,
	CUFILE_TIMEOUT = 32,
	CUFILE_FAILED = 64
} CUfileStatus_t;

typedef struct CUfileIOParams {
	CUfileBatchMode_t mode;
	union {
		struct {
			void *devPtr_base;
			off_t file_offset, devPtr_offset;
			size_t size;
		} batch;
	} u;
	CUfileHandle_t fh;
	CUfileOpcode_t opcode;
	void *cookie;
} CUfileIOParams_t;

typedef struct CUfileIOEvents {
	void *cookie;
	CUfileStatus_t status;
	size_t ret;
} CUfileIOEvents_t;

typedef struct CUfileIOVec {
	void *base;
	size_t len;
} CUfileIOVec_t;

#define CU_FILE_STREAM_FIXED_BUF_OFFSET 1
#define CU_FILE_STREAM_FIXED_FILE_OFFSET 2
#define CU_FILE_STREAM_FIXED_FILE_SIZE 4
#define CU_FILE_STREAM_PAGE_ALIGNED_INPUTS 8

// The parameters of the library, by number: sizes 0 to 11, switches 0 to 13, texts 0 to 3.
typedef int CUFileSizeTConfigParameter_t;
typedef int CUFileBoolConfigParameter_t;
typedef int CUFileStringConfigParameter_t;

#ifdef __cplusplus
extern "C" {
#endif

CUfileError_t cuFileDriverOpen(void);
CUfileError_t cuFileDriverClose(void);
CUfileError_t cuFileDriverClose_v2(void);
long cuFileUseCount(void);
CUfileError_t cuFileGetVersion(int *version);
CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t *props);
CUfileError_t cuFileDriverSetPollMode(bool poll, size_t poll_threshold_size);
CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t max_direct_io_size);
CUfileError_t cuFileDriverSetMaxCacheSize(size_t max_cache_size);
CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t max_pinned_size);
CUfileError_t cuFileGetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t *value);
CUfileError_t cuFileSetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t value);
CUfileError_t cuFileGetParameterBool(CUFileBoolConfigParameter_t param, bool *value);
CUfileError_t cuFileSetParameterBool(CUFileBoolConfigParameter_t param, bool value);
CUfileError_t cuFileGetParameterString(CUFileStringConfigParameter_t param, char *to, int len);
CUfileError_t cuFileSetParameterString(CUFileStringConfigParameter_t param, const char *value);
CUfileError_t cuFileGetParameterMinMaxValue(CUFileSizeTConfigParameter_t param, size_t *least, size_t *most);
CUfileError_t cuFileSetStatsLevel(int level);
CUfileError_t cuFileGetStatsLevel(int *level);

CUfileError_t cuFileHandleRegister(CUfileHandle_t *fh, CUfileDescr_t *descr);
void cuFileHandleDeregister(CUfileHandle_t fh);
CUfileError_t cuFileBufRegister(const void *base, size_t length, int flags);
CUfileError_t cuFileBufDeregister(const void *base);
ssize_t cuFileRead(CUfileHandle_t fh, void *base, size_t size, off_t file_offset, off_t base_offset);
ssize_t cuFileWrite(CUfileHandle_t fh, const void *base, size_t size, off_t file_offset, off_t base_offset);
ssize_t cuFileReadv(CUfileHandle_t fh, const CUfileIOVec_t *iov, size_t count, off_t file_offset, unsigned flags);
ssize_t cuFileWritev(CUfileHandle_t fh, const CUfileIOVec_t *iov, size_t count, off_t file_offset, unsigned flags);

CUfileError_t cuFileStreamRegister(CUstream stream, unsigned flags);
CUfileError_t cuFileStreamDeregister(CUstream stream);
CUfileError_t cuFileReadAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *done, CUstream stream);
CUfileError_t cuFileWriteAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *done, CUstream stream);

CUfileError_t cuFileBatchIOSetUp(CUfileBatchHandle_t *batch, unsigned count);
CUfileError_t cuFileBatchIOSubmit(CUfileBatchHandle_t batch, unsigned count, CUfileIOParams_t *params, unsigned flags);
CUfileError_t cuFileBatchIOGetStatus(CUfileBatchHandle_t batch, unsigned least, unsigned *count, CUfileIOEvents_t *events, struct timespec *timeout);
CUfileError_t cuFileBatchIOCancel(CUfileBatchHandle_t batch);
void cuFileBatchIODestroy(CUfileBatchHandle_t batch);

#ifdef __cplusplus
}
#endif

#endif
