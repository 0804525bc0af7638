// flags: -arch=sm_90
// Where a thread is and how it ends: processors, clocks, clusters in a grid, barriers with a time, threads that exit, kernels that trap.
#include "cc.h"
#include <cooperative_groups.h>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <sys/wait.h>
#include <unistd.h>
namespace cg = cooperative_groups;
namespace nv = nvcuda::experimental;

__global__ void clocks(int *o, int processors) {
  unsigned long long a = __globaltimer();
  __nanosleep(1000);
  unsigned long long b = __globaltimer();
  o[0] = (int)__smid() >= 0 && (int)__smid() < processors;
  o[1] = a > 0 && b >= a && b - a < 60000000000ull;
  __prof_trigger(1);
}

__global__ void ends(int *o) {
  o[threadIdx.x] = 1;
  if (threadIdx.x % 3 == 1) __exit();
  o[threadIdx.x] = 2;
}

__global__ void __cluster_dims__(2, 1, 1) clusters(int *o) {
  cg::grid_group g = cg::this_grid();
  cg::thread_block b = cg::this_thread_block();
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  dim3 of = g.dim_clusters(), at = g.cluster_index(), size = g.group_dim(), mine = b.group_dim();
  if (threadIdx.x == 0) {
    int *p = o + 8 * (blockIdx.x + gridDim.x * blockIdx.y);
    p[0] = of.x, p[1] = of.y, p[2] = at.x, p[3] = at.y, p[4] = (int)g.cluster_rank(), p[5] = size.x, p[6] = size.y, p[7] = mine.x;
  }
}

struct Pair {
  int a, b;
};

__global__ void spaces(const __grid_constant__ Pair p, int *o) {
  o[0] = __isGridConstant(&p);
  o[1] = __isGridConstant(o);
  o[2] = ((const Pair *)__cvta_grid_constant_to_generic(__cvta_generic_to_grid_constant(&p)))->b;
}

__global__ void waits(const int *in, int *o) {
  __shared__ nv::awbarrier bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  nv::pipeline pipe;
  nv::memcpy_async(s[threadIdx.x], in[threadIdx.x], pipe);
  pipe.arrive_on(bar);
  __pipeline_arrive_on(bar.native_handle());
  nv::awbarrier::arrival_token t = bar.arrive();
  while (!bar.timed_wait(t, 1000)) {
  }
  int sum = s[63 - threadIdx.x];
  bool early = true;
  if (threadIdx.x == 0) {
    t = bar.arrive();
    early = bar.timed_wait(t, 100) || bar.try_wait(t, 100); // the others have not come: time passes
  }
  __syncthreads();
  if (threadIdx.x > 0) bar.arrive();
  while (!bar.timed_wait_parity(true, 1000)) {
  }
  o[threadIdx.x] = sum;
  if (threadIdx.x == 0) o[64] = early;
  nv::memcpy_async(s[threadIdx.x], in[63 - threadIdx.x], pipe);
  pipe.commit_and_wait();
  o[65 + threadIdx.x] = s[threadIdx.x];
}

__global__ void counts(int *o) {
  int *p = new int[3];
  p[2] = 7;
  o[0] = p[2];
  delete[] p;
}

__global__ void traps(int n) {
  if (n) __trap();
}

__global__ void breaks() { __brkpt(); } // nobody debugs it

int main() {
  fflush(stdout);
  if (pid_t child = fork(); child == 0) {
    breaks<<<1, 1>>>();
    printf("brkpt %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    fflush(stdout);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  if (pid_t child = fork(); child == 0) { // the context of a kernel that trapped is of no use any more
    traps<<<1, 1>>>(0);
    printf("no trap %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    traps<<<1, 1>>>(1);
    printf("trap %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    fflush(stdout);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  int processors = 0;
  OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  Array<int> o(256, 0, 0);
  clocks<<<1, 1>>>(o, processors);
  printf("clocks %d %d\n", o.get()[0], o.get()[1]);
  ends<<<1, 32>>>(o);
  printf("ends");
  for (int i = 0; i < 32; i++) printf(" %d", o.get()[i]);
  clusters<<<dim3(4, 2), 32>>>(o);
  printf("\nclusters");
  for (int i = 0; i < 64; i++) printf("%s%d", i % 8 ? " " : "; ", o.get()[i]);
  spaces<<<1, 1>>>(Pair{3, 4}, o);
  printf("\nspaces %d %d %d\n", o.get()[0], o.get()[1], o.get()[2]);
  Array<int> in(64, 5, 3);
  waits<<<1, 64>>>(in, o);
  OK(cudaDeviceSynchronize());
  std::vector<int> v = o.get();
  printf("waits %d %d %d, early %d, again %d %d\n", v[0], v[1], v[63], v[64], v[65], v[128]);
  counts<<<1, 1>>>(o);
  printf("counts %d\n", o.get()[0]);
}
