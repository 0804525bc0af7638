// Texture and surface references, as programs of CUDA 11 have them: variables that are registered, filled in and bound.
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "abi_check.h"

extern const char rt_kernels[]; // the container of rt_texref.ptx

static const struct {
	int magic, version;
	const void *data;
	void *extra;
} wrapper __attribute__((section(".nvFatBinSegment"), aligned(8))) = {0x466243b1, 1, rt_kernels, 0};

struct reference { // textureReference
	int normalized, filter, address[3];
	cudaChannelFormatDesc channel;
	int srgb;
	unsigned anisotropy;
	int mip_filter;
	float bias, least, most;
	int no_trilinear, reserved[14];
};
static struct reference line = {.address = {1, 1, 1}, .channel = {32, 0, 0, 0, cudaChannelFormatKindFloat}};
static struct reference image = {.address = {1, 1, 1}, .channel = {8, 0, 0, 0, cudaChannelFormatKindUnsigned}};
static cudaChannelFormatDesc canvas = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
static int stranger;

static char fetch, sample, draw; // their addresses name the kernels

__attribute__((constructor)) static void enroll(void) {
	void **fatbin = __cudaRegisterFatBinary((void *)&wrapper);
	__cudaRegisterFunction(fatbin, &fetch, "fetch", "fetch", -1, 0, 0, 0, 0, 0);
	__cudaRegisterFunction(fatbin, &sample, "sample", "sample", -1, 0, 0, 0, 0, 0);
	__cudaRegisterFunction(fatbin, &draw, "draw", "draw", -1, 0, 0, 0, 0, 0);
	__cudaRegisterTexture(fatbin, &line, (void *)"line", "::line", 1, 0, 0); // as nvcc does: the name in the PTX, the name in the source
	__cudaRegisterTexture(fatbin, &image, 0, "image", 2, 1, 0);
	__cudaRegisterSurface(fatbin, &canvas, (void *)"canvas", "::canvas", 2, 0);
	__cudaRegisterFatBinaryEnd(fatbin);
}

enum { N = 8 };
static float *out, got[N];

static void run(const void *kernel, void **args) {
	dim3 one = {1, 1, 1}, block = {N, 1, 1};
	memset(got, 0xff, sizeof got);
	EXPECT(cudaLaunchKernel(kernel, one, block, args, 0, 0), 0);
	EXPECT(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost), 0);
}

int main(void) {
	float host[256], *p;
	size_t off = 9;
	const void *same = 0;
	void *outs[] = {&out};
	int v = 0;
	EXPECT(cudaRuntimeGetVersion(&v), 0);
	EXPECT(v, 11080);
	struct { // the attributes of 11 end before those of clusters
		char old[56];
		long after[16];
	} attributes;
	memset(&attributes, 0x5a, sizeof attributes);
	EXPECT(cudaFuncGetAttributes((void *)&attributes, &fetch), 0);
	EXPECT(*(int *)(attributes.old + 24), 1024);
	for (int i = 0; i < 16; i++) EXPECT(attributes.after[i], 0x5a5a5a5a5a5a5a5a);
	EXPECT(cudaMalloc((void **)&out, sizeof got), 0);
	EXPECT(cudaMalloc((void **)&p, sizeof host), 0);
	for (int i = 0; i < 256; i++) host[i] = i + 0.25f;
	EXPECT(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice), 0);

	// A row of memory.
	EXPECT(cudaGetTextureReference(&same, &line), 0);
	EXPECT(same == &line, 1);
	EXPECT(cudaGetTextureReference(&same, &stranger), cudaErrorInvalidTexture);
	EXPECT(cudaGetTextureAlignmentOffset(&off, &line), cudaErrorInvalidTextureBinding);
	EXPECT(cudaBindTexture(&off, &line, p, &line.channel, sizeof host), 0);
	EXPECT(off, 0);
	run(&fetch, outs);
	for (int i = 0; i < N; i++) EXPECT(got[i] == i + 0.25f, 1);
	EXPECT(cudaBindTexture(&off, &line, p + 4, &line.channel, 64), 0);
	EXPECT(off, 16); // the kernel's to add
	off = 0;
	EXPECT(cudaGetTextureAlignmentOffset(&off, &line), 0);
	EXPECT(off, 16);
	EXPECT(cudaBindTexture(0, &line, p + 4, &line.channel, 64), cudaErrorInvalidValue);
	EXPECT(cudaBindTexture(0, &line, p, &line.channel, UINT32_MAX), 0); // as much as there is
	EXPECT(cudaUnbindTexture(&line), 0);
	run(&fetch, outs);
	EXPECT(got[3] == 0, 1);
	EXPECT(cudaUnbindTexture(&stranger), cudaErrorInvalidTexture);

	// An array of bytes, read as fractions, by points and by lines.
	unsigned char bytes[4] = {0, 51, 102, 255};
	cudaArray_t a = 0;
	float x0 = 0.5f, step = 0.5f;
	void *args[] = {&out, &x0, &step};
	EXPECT(cudaMallocArray(&a, &image.channel, 4, 1, 0), 0);
	EXPECT(cudaMemcpy2DToArray(a, 0, 0, bytes, 4, 4, 1, cudaMemcpyHostToDevice), 0);
	EXPECT(cudaBindTextureToArray(&image, a, &image.channel), 0);
	run(&sample, args);
	for (int i = 0; i < N; i++) EXPECT(got[i] == bytes[(i + 1) / 2 > 3 ? 3 : (i + 1) / 2] / 255.0f, 1);
	image.filter = 1;
	image.normalized = 1;
	EXPECT(cudaBindTextureToArray(&image, a, 0), 0); // the variable's own format
	x0 = 0.125f, step = 0.125f;
	run(&sample, args);
	EXPECT(got[0] == 0 && got[2] == 51 / 255.0f && got[7] == 1, 1);
	EXPECT(got[1] > 0.09f && got[1] < 0.11f, 1);
	EXPECT(cudaBindTextureToArray(&image, 0, &image.channel) != 0, 1);

	// A surface.
	unsigned texels[N];
	unsigned from = 40;
	void *start[] = {&from};
	cudaArray_t b = 0;
	EXPECT(cudaMallocArray(&b, &canvas, N, 2, cudaArraySurfaceLoadStore), 0);
	EXPECT(cudaGetSurfaceReference(&same, &canvas), 0);
	EXPECT(cudaBindSurfaceToArray(&canvas, b, &canvas), 0);
	EXPECT(cudaBindSurfaceToArray(&stranger, b, &canvas), cudaErrorInvalidSurface);
	run(&draw, start);
	EXPECT(cudaMemcpy2DFromArray(texels, sizeof texels, b, 0, 0, sizeof texels, 1, cudaMemcpyDeviceToHost), 0);
	for (unsigned i = 0; i < N; i++) EXPECT(texels[i], 40 + i);

	// What 12 changed the parameters of.
	cudaGraph_t g = 0;
	cudaGraphExec_t x = 0;
	cudaGraphNode_t node = (cudaGraphNode_t)1;
	cudaGraphExecUpdateResult how = cudaGraphExecUpdateError;
	char log[8] = "x";
	void *entry = 0;
	EXPECT(cudaGraphCreate(&g, 0), 0);
	EXPECT(cudaGraphInstantiate(&x, g, &node, log, sizeof log), 0);
	EXPECT(log[0], 0);
	EXPECT(cudaGraphExecUpdate(x, g, &node, &how), 0);
	EXPECT(how, cudaGraphExecUpdateSuccess);
	EXPECT(cudaGetDriverEntryPoint("cuMemAlloc", &entry, 0), 0);
	EXPECT(entry != 0, 1);
	EXPECT(cudaGetDriverEntryPoint("cuNothing", &entry, 0), cudaErrorSymbolNotFound);
	return finish();
}
