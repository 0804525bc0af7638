// What kernels would use of NCCL communicators, by name. Programs that bring such kernels compile; ncclDevCommCreate answers
// ncclInvalidUsage, so none of them is launched, and every function of the device's side traps. Written by hand.
#ifndef KUDZU_NCCL_DEVICE_H
#define KUDZU_NCCL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl.h"

typedef uint32_t ncclDevResourceHandle_t;
typedef uint32_t ncclGinSignal_t;
typedef uint32_t ncclGinCounter_t;

typedef struct ncclTeam {
	int nRanks, rank, stride;
} ncclTeam_t;

typedef struct ncclMultimemHandle {
	void *base;
} ncclMultimemHandle_t;

typedef struct ncclLsaBarrierHandle {
	ncclDevResourceHandle_t handle;
	int count;
} ncclLsaBarrierHandle_t;

typedef struct ncclDevComm {
	int rank, nRanks, lsaRank, lsaSize;
	ncclLsaBarrierHandle_t lsaBarrier;
} ncclDevComm_t;

typedef enum {
	NCCL_GIN_CONNECTION_NONE,
	NCCL_GIN_CONNECTION_FULL,
	NCCL_GIN_CONNECTION_RAIL,
} ncclGinConnectionType_t;

enum {
	NCCL_GIN_TYPE_NONE = 0,
	NCCL_GIN_TYPE_PROXY = 2,
	NCCL_GIN_TYPE_GDAKI = 3,
	NCCL_GIN_TYPE_GPI = 4,
};

typedef struct ncclDevCommRequirements {
	size_t size;
	unsigned int magic, version;
	void *resourceRequirementsList, *teamRequirementsList;
	bool lsaMultimem;
	int barrierCount, lsaBarrierCount, railGinBarrierCount;
	int lsaLLA2ABlockCount, lsaLLA2ASlotCount;
	bool ginForceEnable;
	int ginContextCount, ginSignalCount, ginCounterCount;
	ncclGinConnectionType_t ginConnectionType;
	bool ginExclusiveContexts;
	int ginQueueDepth, ginTrafficClass, worldGinBarrierCount;
	bool ginStrongSignalsRequired, ginVaSignalsRequired;
} ncclDevCommRequirements_t;

#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER {sizeof(ncclDevCommRequirements_t), NCCL_API_MAGIC, NCCL_VERSION_CODE}
#define NCCL_COMM_PROPERTIES_INITIALIZER {sizeof(ncclCommProperties_t), NCCL_API_MAGIC, NCCL_VERSION_CODE}

#ifdef __cplusplus

// No other rank's memory is in reach of kernels: a team of one.
inline ncclTeam_t ncclTeamLsa(ncclComm_t) { return ncclTeam_t{1, 0, 1}; }

#endif

#if defined(__cplusplus) && defined(__CUDACC__)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#if __has_include(<cuda/atomic>)
#include <cuda/atomic>
#else
namespace cuda {
enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
}
#endif

struct ncclTeamTagWorld {};
struct ncclTeamTagLsa {};
struct ncclTeamTagRail {};

struct ncclCoopThread {};
struct ncclCoopWarp {};
struct ncclCoopCta {};

enum class ncclGinFenceLevel { Relaxed };

struct ncclGin_SignalInc {
	ncclGinSignal_t signal;
};

__device__ inline ncclTeam_t ncclTeamWorld(ncclDevComm const &c) { return ncclTeam_t{c.nRanks, c.rank, 1}; }
__device__ inline ncclTeam_t ncclTeamLsa(ncclDevComm const &c) { return ncclTeam_t{c.lsaSize, c.lsaRank, 1}; }

__device__ inline void *ncclGetLocalPointer(ncclWindow_t, size_t) { __trap(); return nullptr; }
__device__ inline void *ncclGetLsaPointer(ncclWindow_t, size_t, int) { __trap(); return nullptr; }
__device__ inline void *ncclGetPeerPointer(ncclWindow_t, size_t, int) { __trap(); return nullptr; }
__device__ inline void *ncclGetLsaMultimemPointer(ncclWindow_t, size_t, ncclDevComm const &) { __trap(); return nullptr; }

struct ncclGin {
	__device__ ncclGin(ncclDevComm const &, int) {}
	__device__ uint64_t readSignal(ncclGinSignal_t) const { __trap(); return 0; }
	template <typename Action>
	__device__ void put(ncclTeam_t, int, ncclWindow_t, size_t, ncclWindow_t, size_t, size_t, Action) const { __trap(); }
	template <typename Coop>
	__device__ void waitSignal(Coop, ncclGinSignal_t, uint64_t) const { __trap(); }
	template <typename Coop>
	__device__ void flush(Coop) const { __trap(); }
};

template <typename Coop>
struct ncclLsaBarrierSession {
	__device__ ncclLsaBarrierSession(Coop, ncclDevComm const &, ncclTeam_t, ncclLsaBarrierHandle_t, uint32_t) {}
	__device__ ncclLsaBarrierSession(Coop, ncclDevComm const &, ncclTeamTagLsa, uint32_t, bool = false) {}
	__device__ void sync(Coop, cuda::memory_order) { __trap(); }
};

template <typename Coop>
struct ncclBarrierSession {
	__device__ ncclBarrierSession(Coop, ncclTeamTagWorld, ncclGin const &, uint32_t) {}
	__device__ void sync(Coop, cuda::memory_order, ncclGinFenceLevel) { __trap(); }
};

#endif
#endif
