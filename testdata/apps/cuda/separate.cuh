// What the two files of separate.cu share.
#pragma once
typedef int (*Op)(int);
extern __device__ int there;
extern __device__ int here;
extern __constant__ int table[4];
__device__ int far_away(int x);
__device__ int both(int x);
cudaError_t launch_there(int *out, int n);
cudaError_t fill_ops(Op *ops);
float generic_there(void *scratch);

struct Base {
	__device__ virtual int value() const = 0;
	__device__ virtual ~Base() {}
};
__device__ Base *make(int i);

template <class T> __global__ void generic(T *out, T v) { *out = v * 2; }
