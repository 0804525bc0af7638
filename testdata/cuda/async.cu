// test<<<1,64>>>(o[64]u64)
// cuda_pipeline.h and cuda_awbarrier.h.
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include "check.h"

using nvcuda::experimental::awbarrier;
using nvcuda::experimental::pipeline;

alignas(16) __device__ int numbers[256];

TEST() {
  alignas(16) __shared__ int copy[256];
  __shared__ __mbarrier_t bar;
  __shared__ awbarrier object;
  u32 me = threadIdx.x;
  for (int i = 0; i < 4; i++) numbers[me * 4 + i] = (int)(me * 4 + i) + 1;
  if (me == 0) {
    __mbarrier_init(&bar, 64);
    init(&object, 64);
  }
  __syncthreads();
  __pipeline_memcpy_async(copy + me * 4, numbers + me * 4, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  EQ(copy[255 - me * 4], (int)(256 - me * 4));
  __syncthreads();
  __pipeline_memcpy_async(copy + me * 4, numbers + me * 4, 8, 4); // the second word becomes 0
  __pipeline_memcpy_async(copy + me * 4 + 2, numbers + me * 4, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  EQ(copy[me * 4], (int)(me * 4) + 1);
  EQ(copy[me * 4 + 1], 0);
  EQ(copy[me * 4 + 2], (int)(me * 4) + 1);

  for (int round = 0; round < 3; round++) {
    numbers[me] = (int)me + round;
    __mbarrier_token_t t = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, t)) {
    }
    EQ(((volatile int *)numbers)[63 - me], (int)(63 - me) + round);
    TRUE(__mbarrier_test_wait_parity(&bar, round & 1));
    __syncthreads();
  }
  EQ(__mbarrier_maximum_count(), (1u << 14) - 1);
  object.arrive_and_wait();
  awbarrier::arrival_token token = object.arrive();
  TRUE(token.pending_count() >= 1 && token.pending_count() <= 64);
  object.wait(token);
  object.arrive_and_drop();
  __syncthreads();
  if (me == 0) {
    __mbarrier_inval(&bar);
    inval(&object);
  }

  pipeline pipe;
  __syncthreads();
  nvcuda::experimental::memcpy_async(copy[me], numbers[me], pipe);
  size_t batch = pipe.commit();
  nvcuda::experimental::memcpy_async(copy[me + 64], numbers[me], pipe);
  pipe.commit();
  pipe.wait(batch); // NVIDIA's waits for one batch less than it says
  pipe.wait_prior<1>();
  EQ(copy[me], numbers[me]);
  pipe.wait_prior<0>();
  EQ(copy[me + 64], numbers[me]);
}
