// A program for nvcc (TestNvcc, where KUDZU_NVCC names it): what the compiler itself writes around kernels.
#include <cstdio>
#include <cuda_runtime.h>

#define OK(call)                                                                                         \
	do {                                                                                                 \
		cudaError_t e_ = (call);                                                                         \
		if (e_ != cudaSuccess) {                                                                         \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(e_));                  \
			failed = 1;                                                                                  \
		}                                                                                                \
	} while (0)
#define WANT(got, want)                                                                                  \
	do {                                                                                                 \
		if ((got) != (want)) {                                                                           \
			printf("%s:%d: %s is %g\n", __FILE__, __LINE__, #got, (double)(got));                        \
			failed = 1;                                                                                  \
		}                                                                                                \
	} while (0)

static int failed;

__constant__ float scale[2];
__device__ int hits;
__managed__ int tally = 3;

__global__ void add(const float *a, const float *b, float *c, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}

template <typename T, int N> __global__ void reduce(const T *in, T *out) {
	__shared__ T s[N];
	int t = threadIdx.x;
	s[t] = in[blockIdx.x * N + t];
	__syncthreads();
	for (int half = N / 2; half > 0; half /= 2) {
		if (t < half)
			s[t] += s[t + half];
		__syncthreads();
	}
	if (t == 0)
		out[blockIdx.x] = s[0];
}

__global__ void use(float *out) {
	out[threadIdx.x] = scale[0] * threadIdx.x + scale[1];
	atomicAdd(&hits, 1);
	atomicAdd(&tally, 1);
}

template <class F> __global__ void apply(F f, int *out) { out[threadIdx.x] = f(threadIdx.x); }

__global__ void histogram(const unsigned char *in, unsigned *out, int n) {
	extern __shared__ unsigned bins[];
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		bins[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[in[i]], 1u);
	__syncthreads();
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		atomicAdd(&out[i], bins[i]);
}

__global__ void speak() { printf("thread %d of %s\n", (int)threadIdx.x, "nvcc"); }

int main() {
	enum { N = 1 << 12 };
	float *a, *b, *c;
	OK(cudaMallocManaged(&a, N * sizeof *a));
	OK(cudaMallocManaged(&b, N * sizeof *b));
	OK(cudaMallocManaged(&c, N * sizeof *c));
	for (int i = 0; i < N; i++)
		a[i] = i, b[i] = 2 * i;
	add<<<(N + 255) / 256, 256>>>(a, b, c, N);
	OK(cudaGetLastError());
	OK(cudaDeviceSynchronize());
	WANT(c[N - 1], 3 * (N - 1));

	double in[1024], *din, *dout, sums[4];
	for (int i = 0; i < 1024; i++)
		in[i] = i;
	cudaStream_t stream;
	cudaEvent_t start, end;
	float ms = -1;
	OK(cudaStreamCreate(&stream));
	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaMalloc(&din, sizeof in));
	OK(cudaMallocAsync(&dout, sizeof sums, stream));
	OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	OK(cudaEventRecord(start, stream));
	reduce<double, 256><<<4, 256, 0, stream>>>(din, dout);
	OK(cudaEventRecord(end, stream));
	OK(cudaMemcpyAsync(sums, dout, sizeof sums, cudaMemcpyDeviceToHost, stream));
	OK(cudaFreeAsync(dout, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaEventElapsedTime(&ms, start, end));
	WANT(sums[0] + sums[1] + sums[2] + sums[3], 1023 * 512);

	float two[2] = {2, 1};
	int count = 0;
	OK(cudaMemcpyToSymbol(scale, two, sizeof two));
	tally += 7;
	use<<<1, 32>>>(c);
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpyFromSymbol(&count, hits, sizeof count));
	WANT(c[31], 63);
	WANT(count, 32);
	WANT(tally, 42);

	int *d, seven = 7, out[32];
	OK(cudaMalloc(&d, sizeof out));
	apply<<<1, 32>>>([=] __device__(int i) { return i * seven; }, d);
	OK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
	WANT(out[31], 217);

	unsigned char bytes[1000], *dbytes;
	unsigned bins[256], *dbins;
	for (int i = 0; i < 1000; i++)
		bytes[i] = i % 7;
	OK(cudaMalloc(&dbytes, sizeof bytes));
	OK(cudaMalloc(&dbins, sizeof bins));
	OK(cudaMemset(dbins, 0, sizeof bins));
	OK(cudaMemcpy(dbytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
	histogram<<<4, 128, sizeof bins>>>(dbytes, dbins, 1000);
	OK(cudaMemcpy(bins, dbins, sizeof bins, cudaMemcpyDeviceToHost));
	WANT(bins[0], 143);
	WANT(bins[6], 142);

	cudaLaunchConfig_t config = {};
	config.gridDim = dim3(1), config.blockDim = dim3(32), config.stream = stream;
	OK(cudaLaunchKernelEx(&config, use, c));
	OK(cudaStreamSynchronize(stream));
	WANT(tally, 74);
	int grid = 0, block = 0;
	OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
	WANT(block > 0 && grid > 0, true);
	cudaDeviceProp prop;
	OK(cudaGetDeviceProperties(&prop, 0));
	WANT(prop.warpSize, 32);
	speak<<<1, 2>>>();
	OK(cudaDeviceSynchronize());
	OK(cudaDeviceReset());
	if (!failed)
		puts("ok");
	return failed;
}
