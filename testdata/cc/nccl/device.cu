// A program with kernels for device communicators asks whether there are any, as nccl-tests do, and launches none.
#include <cstdio>
#include <nccl_device.h>

__global__ void sum(ncclWindow_t in, ncclWindow_t out, size_t n, ncclDevComm comm) {
  ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamLsa(comm), comm.lsaBarrier, blockIdx.x};
  bar.sync(ncclCoopCta(), cuda::memory_order_relaxed);
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
    float s = 0;
    for (int peer = 0; peer < ncclTeamWorld(comm).nRanks; peer++) s += ((float *)ncclGetLsaPointer(in, 0, peer))[i];
    ((float *)ncclGetLocalPointer(out, 0))[i] = s;
  }
  bar.sync(ncclCoopCta(), cuda::memory_order_release);
}

__global__ void send(ncclWindow_t in, ncclWindow_t out, size_t n, ncclDevComm comm) {
  ncclGin gin{comm, 0};
  ncclBarrierSession<ncclCoopCta> bar{ncclCoopCta(), ncclTeamTagWorld(), gin, blockIdx.x};
  uint64_t before = gin.readSignal(0);
  bar.sync(ncclCoopCta(), cuda::memory_order_acquire, ncclGinFenceLevel::Relaxed);
  gin.put(ncclTeamWorld(comm), 0, out, 0, in, 0, n, ncclGin_SignalInc{0});
  gin.waitSignal(ncclCoopCta(), 0, before + 1);
  gin.flush(ncclCoopCta());
}

int main() {
  int device = 0;
  ncclComm_t comm;
  if (ncclCommInitAll(&comm, 1, &device)) return 1;
  ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
  ncclDevCommRequirements reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.lsaBarrierCount = 16;
  ncclDevComm on;
  int query = ncclCommQueryProperties(comm, &props), create = ncclDevCommCreate(comm, &reqs, &on);
  printf("%d %d %d %d %d\n", query, props.nRanks, props.deviceApiSupport, ncclTeamLsa(comm).nRanks, create == ncclInvalidUsage);
  return ncclCommDestroy(comm);
}
