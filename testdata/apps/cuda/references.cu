// until: 11
// Texture and surface references, which the compilers lost with 12: bound to memory, pitched memory and arrays, looked up by symbol.
#include "app.cuh"

texture<float, cudaTextureType1D, cudaReadModeElementType> line;
texture<float, cudaTextureType2D, cudaReadModeElementType> plane;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colours;
texture<float, cudaTextureType3D, cudaReadModeElementType> cube;
surface<void, cudaSurfaceType2D> sheet;

enum { W = 16, H = 8, D = 4 };

__global__ void fetchLine(float *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] = tex1Dfetch(line, n - 1 - i);
}

__global__ void samplePlane(float *out, float dx, float dy) {
	int x = threadIdx.x, y = threadIdx.y;
	out[y * W + x] = tex2D(plane, x + dx, y + dy);
}

__global__ void sampleColours(float4 *out) { out[threadIdx.y * W + threadIdx.x] = tex2D(colours, threadIdx.x + 0.5f, threadIdx.y + 0.5f); }

__global__ void sampleCube(float *out) {
	int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
	out[(z * H + y) * W + x] = tex3D(cube, x + 0.5f, y + 0.5f, z + 0.5f);
}

__global__ void draw(int add) {
	int x = threadIdx.x, y = threadIdx.y, v;
	surf2Dread(&v, sheet, x * 4, y);
	surf2Dwrite(v + add + x * 100 + y, sheet, x * 4, y);
}

static float host[W * H * D], back[W * H * D];

// same prints how many of n values are what f says.
template <class F> static void same(const char *what, const float *got, int n, F f) {
	int good = 0;
	for (int i = 0; i < n; i++) good += got[i] == f(i);
	printf("%s: %d of %d\n", what, good, n);
}

int main() {
	for (int i = 0; i < W * H * D; i++) host[i] = i * 0.5f;
	float *mem, *out;
	OK(cudaMalloc(&mem, sizeof host));
	OK(cudaMalloc(&out, sizeof host * 4));
	OK(cudaMemcpy(mem, host, sizeof host, cudaMemcpyHostToDevice));

	size_t offset = 7;
	OK(cudaBindTexture(&offset, line, mem, sizeof host));
	printf("offset %zu\n", offset);
	fetchLine<<<2, 256>>>(out, W * H * D);
	OK(cudaMemcpy(back, out, sizeof host, cudaMemcpyDeviceToHost));
	same("line", back, W * H * D, [](int i) { return host[W * H * D - 1 - i]; });
	OK(cudaGetTextureAlignmentOffset(&offset, line));
	OK(cudaUnbindTexture(line));

	float *pitched;
	size_t pitch;
	OK(cudaMallocPitch(&pitched, &pitch, W * sizeof(float), H));
	OK(cudaMemcpy2D(pitched, pitch, host, W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
	plane.addressMode[0] = plane.addressMode[1] = cudaAddressModeClamp;
	plane.filterMode = cudaFilterModePoint;
	OK(cudaBindTexture2D(&offset, plane, pitched, plane.channelDesc, W, H, pitch));
	samplePlane<<<1, dim3(W, H)>>>(out, 1.5f, 0.5f);
	OK(cudaMemcpy(back, out, W * H * 4, cudaMemcpyDeviceToHost));
	same("plane in memory", back, W * H, [](int i) { return host[i / W * W + (i % W + 1 < W ? i % W + 1 : W - 1)]; });

	cudaArray_t array;
	OK(cudaMallocArray(&array, &plane.channelDesc, W, H));
	OK(cudaMemcpy2DToArray(array, 0, 0, host, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	plane.filterMode = cudaFilterModeLinear;
	OK(cudaBindTextureToArray(plane, array));
	samplePlane<<<1, dim3(W, H)>>>(out, 1.0f, 0.5f);
	OK(cudaMemcpy(back, out, W * H * 4, cudaMemcpyDeviceToHost));
	same("plane of an array, between texels", back, W * H, [](int i) { return i % W + 1 < W ? (host[i] + host[i + 1]) / 2 : host[i]; });
	const textureReference *ref = nullptr;
	OK(cudaGetTextureReference(&ref, &plane));
	printf("the reference is its variable: %d\n", ref == (const textureReference *)&plane);

	unsigned char bytes[W * H * 4];
	for (int i = 0; i < W * H * 4; i++) bytes[i] = i % 2 ? 255 : 0;
	cudaArray_t pixels;
	cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
	OK(cudaMallocArray(&pixels, &four, W, H));
	OK(cudaMemcpy2DToArray(pixels, 0, 0, bytes, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	OK(cudaBindTextureToArray(colours, pixels));
	sampleColours<<<1, dim3(W, H)>>>((float4 *)out);
	OK(cudaMemcpy(back, out, W * H * 16, cudaMemcpyDeviceToHost));
	same("colours", back, W * H * 4, [](int i) { return i % 2 ? 1.0f : 0.0f; });

	cudaArray_t solid;
	cudaExtent extent = make_cudaExtent(W, H, D);
	OK(cudaMalloc3DArray(&solid, &cube.channelDesc, extent));
	cudaMemcpy3DParms copy = {};
	copy.srcPtr = make_cudaPitchedPtr(host, W * 4, W, H);
	copy.dstArray = solid;
	copy.extent = extent;
	copy.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&copy));
	OK(cudaBindTextureToArray(cube, solid));
	sampleCube<<<1, dim3(W, H, D)>>>(out);
	OK(cudaMemcpy(back, out, sizeof host, cudaMemcpyDeviceToHost));
	same("cube", back, W * H * D, [](int i) { return host[i]; });

	cudaArray_t paper;
	cudaChannelFormatDesc whole = cudaCreateChannelDesc<int>();
	OK(cudaMallocArray(&paper, &whole, W, H, cudaArraySurfaceLoadStore));
	static int ints[W * H];
	OK(cudaMemcpy2DToArray(paper, 0, 0, ints, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	OK(cudaBindSurfaceToArray(sheet, paper));
	draw<<<1, dim3(W, H)>>>(1000);
	draw<<<1, dim3(W, H)>>>(5);
	OK(cudaMemcpy2DFromArray(ints, W * 4, paper, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++) back[i] = (float)ints[i];
	same("sheet", back, W * H, [](int i) { return 1005.0f + 2 * (i % W * 100 + i / W); });
	SAY(cudaUnbindTexture(plane));
	OK(cudaDeviceSynchronize());
}
