// Surface objects: written and read by kernels in one to three dimensions, with the ways to leave the border.
#include "app.cuh"
#include <vector>

__global__ void write2(cudaSurfaceObject_t s, int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < w && y < h)
		surf2Dwrite(make_float2(x + 0.5f, y * 2.0f), s, x * (int)sizeof(float2), y);
}
__global__ void twist(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < w && y < h) {
		float2 v;
		surf2Dread(&v, from, (w - 1 - x) * (int)sizeof(float2), h - 1 - y);
		surf2Dwrite(v, to, x * (int)sizeof(float2), y);
	}
}
__global__ void outside(cudaSurfaceObject_t s, float *out, int w) {
	int x = (int)threadIdx.x - 4;
	float2 zero = surf2Dread<float2>(s, x * (int)sizeof(float2), 1, cudaBoundaryModeZero);
	float2 clamp = surf2Dread<float2>(s, x * (int)sizeof(float2), 1, cudaBoundaryModeClamp);
	out[threadIdx.x * 2] = zero.x;
	out[threadIdx.x * 2 + 1] = clamp.x;
	if (x < 0)
		surf2Dwrite(make_float2(99, 99), s, x * (int)sizeof(float2), 0, cudaBoundaryModeZero); // goes nowhere
}
__global__ void write1(cudaSurfaceObject_t s) { surf1Dwrite((unsigned char)(threadIdx.x * 5), s, threadIdx.x); }
__global__ void write3(cudaSurfaceObject_t s) {
	int4 v = make_int4(threadIdx.x, threadIdx.y, threadIdx.z, threadIdx.x * threadIdx.y - (int)threadIdx.z);
	surf3Dwrite(v, s, threadIdx.x * (int)sizeof(int4), threadIdx.y, threadIdx.z);
}
__global__ void sample(cudaTextureObject_t t, float *out) {
	float2 v = tex2D<float2>(t, threadIdx.x + 0.5f, 1.5f);
	out[threadIdx.x] = v.x + 100 * v.y;
}

static cudaSurfaceObject_t object(cudaArray_t a) {
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaSurfaceObject_t s;
	OK(cudaCreateSurfaceObject(&s, &r));
	return s;
}

int main() {
	const int w = 20, h = 12;
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float2>();
	cudaArray_t a, b;
	OK(cudaMallocArray(&a, &f, w, h, cudaArraySurfaceLoadStore));
	OK(cudaMallocArray(&b, &f, w, h, cudaArraySurfaceLoadStore));
	cudaSurfaceObject_t sa = object(a), sb = object(b);
	write2<<<dim3(2, 2), dim3(16, 8)>>>(sa, w, h);
	twist<<<dim3(2, 2), dim3(16, 8)>>>(sa, sb, w, h);
	std::vector<float2> v(w * h);
	OK(cudaMemcpy2DFromArray(v.data(), w * sizeof(float2), b, 0, 0, w * sizeof(float2), h, cudaMemcpyDeviceToHost));
	printf("twisted: %g %g ... %g %g, %llx\n", v[0].x, v[0].y, v[w * h - 1].x, v[w * h - 1].y, sum(v.data(), v.size()));
	float *out, o[64];
	OK(cudaMalloc(&out, sizeof o));
	outside<<<1, 28>>>(sb, out, w);
	OK(cudaMemcpy(o, out, 56 * 4, cudaMemcpyDeviceToHost));
	for (int i : {0, 3, 4, 23})
		printf("at %d: zero %g clamp %g\n", i - 4, o[i * 2], o[i * 2 + 1]);
	printf("behind: zero %g %g\n", o[24 * 2], o[27 * 2]); // what clamping gives there depends on the width of the access
	OK(cudaMemcpy2DFromArray(v.data(), w * sizeof(float2), b, 0, 0, w * sizeof(float2), h, cudaMemcpyDeviceToHost));
	printf("unharmed: %llx\n", sum(v.data(), v.size()));
	// What a kernel wrote, a texture of the next kernel reads.
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = b;
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	sample<<<1, w>>>(t, out);
	OK(cudaMemcpy(o, out, w * 4, cudaMemcpyDeviceToHost));
	printf("sampled: %g %g, %llx\n", o[0], o[w - 1], sum(o, w));
	// One dimension of bytes; three of four integers.
	cudaChannelFormatDesc fb = cudaCreateChannelDesc<unsigned char>(), f4 = cudaCreateChannelDesc<int4>();
	cudaArray_t a1, a3;
	OK(cudaMallocArray(&a1, &fb, 32, 0, cudaArraySurfaceLoadStore));
	cudaSurfaceObject_t s1 = object(a1);
	write1<<<1, 32>>>(s1);
	unsigned char bytes[32];
	OK(cudaMemcpy2DFromArray(bytes, 32, a1, 0, 0, 32, 1, cudaMemcpyDeviceToHost));
	printf("bytes: %d %d, %llx\n", bytes[1], bytes[31], sum(bytes, 32));
	cudaExtent e = make_cudaExtent(6, 5, 4);
	OK(cudaMalloc3DArray(&a3, &f4, e, cudaArraySurfaceLoadStore));
	cudaSurfaceObject_t s3 = object(a3);
	write3<<<1, dim3(6, 5, 4)>>>(s3);
	std::vector<int4> cube(120);
	cudaMemcpy3DParms c = {};
	c.srcArray = a3;
	c.dstPtr = make_cudaPitchedPtr(cube.data(), 6 * 16, 6, 5);
	c.extent = e;
	c.kind = cudaMemcpyDeviceToHost;
	OK(cudaMemcpy3D(&c));
	printf("cube: %d %d %d %d, %llx\n", cube[119].x, cube[119].y, cube[119].z, cube[119].w, sum(cube.data(), 120));
	OK(cudaDestroySurfaceObject(sa));
	OK(cudaDestroySurfaceObject(sb));
	OK(cudaDestroySurfaceObject(s1));
	OK(cudaDestroySurfaceObject(s3));
	return 0;
}
