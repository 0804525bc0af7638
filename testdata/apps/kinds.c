// Launches of each kind of kernel (kinds.cu): with textures, managed memory, clusters, constants and so on, for dumps.
//   kinds kinds.ptx [kernel...]
// Prints a sum of what each leaves. A kind that the device has not is left out, and that is said.
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)                                                                   \
	do {                                                                       \
		CUresult r_ = (call);                                              \
		if (r_ != CUDA_SUCCESS) {                                          \
			printf("%s: %s: CUDA error %d\n", kernel, #call, (int)r_); \
			failed++;                                                  \
			return;                                                    \
		}                                                                  \
	} while (0)

static CUmodule module;
static CUdevice device;
static const char *kernel = "setup";
static int failed, count;
static char **names;

static uint32_t state = 12345;
static uint32_t next_number(void) { return state = state * 1664525u + 1013904223u; }

enum { N = 256 };

// halves are 0 to 7 as f16: their products and sums are exact, in whatever order.
static const uint32_t halves[8] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};

// words gives device memory of n words with numbers that make sense as what they are.
static CUdeviceptr words(size_t n, char type) {
	uint32_t *h = calloc(n, 8);
	CUdeviceptr p = 0;
	for (size_t i = 0; i < n; i++)
		switch (type) {
		case 'f': ((float *)h)[i] = (float)(next_number() >> 8) / 65536.0f - 100.0f; break;
		case 'd': ((double *)h)[i] = (double)(next_number() >> 8) / 1024.0; break;
		case 'h': h[i] = (next_number() >> 16 & 0x3fff) | (next_number() >> 16 & 0x3fff) << 16; break;
		case 'i': h[i] = halves[next_number() >> 29] | halves[next_number() >> 29] << 16; break;
		case 'u': h[i] = next_number() >> 20; break;
		case 'l': ((uint64_t *)h)[i] = (uint64_t)next_number() << 32 | next_number(); break;
		case '0': break;
		}
	size_t bytes = n * (type == 'd' || type == 'l' ? 8 : 4);
	if (cuMemAlloc(&p, bytes) != CUDA_SUCCESS || cuMemcpyHtoD(p, h, bytes) != CUDA_SUCCESS)
		p = 0;
	free(h);
	return p;
}

static void sum(CUdeviceptr p, size_t bytes) {
	unsigned char *h = malloc(bytes);
	uint64_t s = 14695981039346656037ull;
	OK(cuMemcpyDtoH(h, p, bytes));
	for (size_t i = 0; i < bytes; i++)
		s = (s ^ h[i]) * 1099511628211ull;
	printf("%s %016llx\n", kernel, (unsigned long long)s);
	free(h);
	count++;
}

static int wanted(const char *name) {
	kernel = name;
	if (!*names)
		return 1;
	for (char **n = names; *n; n++)
		if (!strcmp(*n, name))
			return 1;
	return 0;
}

static void launch(int grid, int block, unsigned shared, void **args) {
	CUfunction f;
	OK(cuModuleGetFunction(&f, module, kernel));
	OK(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, 0, args, 0));
	OK(cuCtxSynchronize());
}

#define RUN(grid, block, shared, ...)                \
	do {                                         \
		void *args_[] = {__VA_ARGS__};       \
		launch(grid, block, shared, args_);  \
	} while (0)

static void plain(void) {
	CUdeviceptr a = words(N, 'f'), b = words(N, 'f'), c = words(N, '0');
	int n = N - 5;
	if (wanted("add")) {
		RUN(4, 64, 0, &a, &b, &c, &n);
		sum(c, 4 * N);
	}
	if (wanted("static_shared")) {
		RUN(4, 64, 0, &a, &c);
		sum(c, 4 * N);
	}
	if (wanted("long_running")) {
		CUdeviceptr x = words(1024, 'f');
		int times = 500;
		RUN(4, 64, 0, &x, &c, &times);
		sum(c, 4 * N);
	}
	CUdeviceptr u = words(N, 'u'), v = words(N, '0'), w = words(N, '0');
	if (wanted("dynamic_shared")) {
		RUN(4, 64, 64 * 4, &u, &v);
		sum(v, 4 * N);
	}
	if (wanted("local_array")) {
		RUN(4, 64, 0, &u, &v);
		sum(v, 4 * N);
	}
	if (wanted("shuffles")) {
		RUN(4, 64, 0, &u, &v);
		sum(v, 4 * N);
	}
	if (wanted("votes")) {
		RUN(4, 64, 0, &u, &v);
		sum(v, 4 * N);
	}
	if (wanted("prints")) {
		RUN(1, 64, 0, &v);
		sum(v, 4 * N);
	}
	if (wanted("atomics")) {
		RUN(4, 64, 0, &u, &w);
		sum(w, 16);
	}
	if (wanted("bytes")) {
		CUdeviceptr o = words(N, '0'), s = words(N, '0');
		RUN(4, 64, 0, &u, &o, &s);
		sum(s, 2 * N);
	}
	CUdeviceptr h = words(N, 'h'), g = words(N, 'h');
	if (wanted("half")) {
		RUN(4, 64, 0, &h, &g, &v);
		sum(v, 4 * N);
	}
	if (wanted("matrix")) {
		CUdeviceptr x = words(N, 'i'), y = words(N, 'i');
		RUN(1, 32, 0, &x, &y, &c);
		sum(c, 4 * 128);
	}
	CUdeviceptr d = words(N, 'd'), e = words(N, 'l'), l = words(N, 'l');
	if (wanted("doubles")) {
		RUN(4, 64, 0, &d, &e);
		sum(e, 8 * N);
	}
	if (wanted("wide")) {
		RUN(2, 64, 0, &l, &e);
		sum(e, 8 * 128);
	}
}

static void variables(void) {
	CUdeviceptr f = words(2 * N, 'f'), o = words(N, '0'), p;
	size_t n;
	if (wanted("constants")) {
		float w[16];
		for (int i = 0; i < 16; i++)
			w[i] = (float)i * 0.25f - 1.0f;
		OK(cuModuleGetGlobal(&p, &n, module, "weights"));
		OK(cuMemcpyHtoD(p, w, sizeof w));
		RUN(4, 64, 0, &f, &o);
		sum(o, 4 * N);
	}
	if (wanted("addresses")) {
		RUN(1, 64, 0, &o);
		sum(o, 4 * 64);
	}
	if (wanted("pointers")) {
		RUN(1, 64, 0, &o);
		sum(o, 4 * 64);
	}
	if (wanted("by_value")) {
		struct {
			uint32_t n;
			CUdeviceptr out;
			uint32_t add[3];
		} arg = {100, o, {7, 70, 700}};
		RUN(2, 64, 0, &arg);
		sum(o, 4 * N);
	}
	if (wanted("chain")) {
		CUdeviceptr node[8], out = words(64, 'l');
		uint64_t v[2];
		for (int i = 0; i < 8; i++)
			OK(cuMemAlloc(&node[i], 16));
		for (int i = 0; i < 8; i++) {
			v[0] = i < 7 ? node[i + 1] : 0, v[1] = 10 + i;
			OK(cuMemcpyHtoD(node[i], v, 16));
		}
		RUN(1, 1, 0, &node[0], &out);
		sum(out, 8);
	}
}

static void kinds_of_memory(void) {
	CUdeviceptr p, u = words(N, '0');
	if (wanted("managed")) {
		float k = 1.5f;
		OK(cuMemAllocManaged(&p, 4 * N, CU_MEM_ATTACH_GLOBAL));
		for (int i = 0; i < N; i++)
			((float *)(uintptr_t)p)[i] = (float)i / 3;
		RUN(4, 64, 0, &p, &k);
		sum(p, 4 * N);
	}
	if (wanted("pinned")) {
		void *h;
		OK(cuMemHostAlloc(&h, 4 * N, CU_MEMHOSTALLOC_DEVICEMAP));
		for (int i = 0; i < N; i++)
			((uint32_t *)h)[i] = (uint32_t)i * 3;
		OK(cuMemHostGetDevicePointer(&p, h, 0));
		RUN(4, 64, 0, &p, &u);
		sum(u, 4 * N);
	}
}

static void blocks_together(void) {
	CUdeviceptr u = words(N, 'u'), v = words(N, '0'), w = words(N, '0');
	CUfunction f;
	if (wanted("cooperative")) {
		int blocks = 4;
		void *args[] = {&u, &v, &w, &blocks};
		OK(cuModuleGetFunction(&f, module, kernel));
		OK(cuLaunchCooperativeKernel(f, 4, 1, 1, 64, 1, 1, 0, 0, args));
		OK(cuCtxSynchronize());
		sum(w, 4 * N);
	}
	if (wanted("cluster")) {
		void *args[] = {&u, &v};
		CUlaunchAttribute attr = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
		attr.value.clusterDim.x = 2, attr.value.clusterDim.y = attr.value.clusterDim.z = 1;
		CUlaunchConfig c = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1, .blockDimZ = 1, .attrs = &attr, .numAttrs = 1};
		OK(cuModuleGetFunction(&f, module, kernel));
		OK(cuLaunchKernelEx(&c, f, args, 0));
		OK(cuCtxSynchronize());
		sum(v, 4 * N);
	}
	if (wanted("tensors")) {
		CUdeviceptr t = words(64 * 32, 'f'), o = words(N, '0');
		CUtensorMap map __attribute__((aligned(64)));
		cuuint64_t dims[2] = {64, 32}, strides[1] = {64 * 4};
		cuuint32_t box[2] = {32, 8}, step[2] = {1, 1};
		OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)t, dims, strides, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
								  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
		RUN(1, 64, 0, &map, &o);
		sum(o, 4 * N);
	}
}

static CUarray filled(int w, int h, int d, unsigned flags, CUarray_format format, int channels) {
	CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = w, .Height = h, .Depth = d, .Format = format, .NumChannels = channels, .Flags = flags};
	CUarray a = 0;
	if (cuArray3DCreate(&a, &desc) != CUDA_SUCCESS)
		return 0;
	size_t n = (size_t)w * h * (d ? d : 1) * channels;
	uint32_t *host = malloc(n * 4);
	for (size_t i = 0; i < n; i++)
		if (format == CU_AD_FORMAT_FLOAT)
			((float *)host)[i] = (float)(next_number() >> 16) / 256;
		else
			host[i] = next_number() >> 20;
	CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = (size_t)w * channels * 4, .srcHeight = h, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a,
					   .WidthInBytes = (size_t)w * channels * 4, .Height = h, .Depth = d ? d : 1};
	if (cuMemcpy3D(&c) != CUDA_SUCCESS)
		a = 0;
	free(host);
	return a;
}

static void textures(void) {
	CUdeviceptr o = words(N, '0');
	CUtexObject t;
	CUDA_RESOURCE_DESC r;
	CUDA_TEXTURE_DESC d;
	memset(&r, 0, sizeof r);
	memset(&d, 0, sizeof d);
	r.resType = CU_RESOURCE_TYPE_ARRAY;
	if (wanted("sampled")) {
		int w = 16;
		OK((r.res.array.hArray = filled(16, 16, 0, 0, CU_AD_FORMAT_FLOAT, 2)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
		d.filterMode = CU_TR_FILTER_MODE_LINEAR;
		d.addressMode[0] = d.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
		OK(cuTexObjectCreate(&t, &r, &d, 0));
		RUN(16, 16, 0, &t, &o, &w);
		sum(o, 4 * N);
	}
	memset(&d, 0, sizeof d);
	if (wanted("layers")) {
		OK((r.res.array.hArray = filled(64, 4, 4, CUDA_ARRAY3D_LAYERED, CU_AD_FORMAT_FLOAT, 1)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
		OK(cuTexObjectCreate(&t, &r, &d, 0));
		RUN(4, 64, 0, &t, &o);
		sum(o, 4 * N);
	}
	if (wanted("surface")) {
		CUsurfObject a, b;
		OK((r.res.array.hArray = filled(64, 4, 0, CUDA_ARRAY3D_SURFACE_LDST, CU_AD_FORMAT_UNSIGNED_INT32, 1)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
		OK(cuSurfObjectCreate(&a, &r));
		CUDA_RESOURCE_DESC r2 = r;
		OK((r2.res.array.hArray = filled(64, 4, 0, CUDA_ARRAY3D_SURFACE_LDST, CU_AD_FORMAT_UNSIGNED_INT32, 1)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
		OK(cuSurfObjectCreate(&b, &r2));
		RUN(4, 64, 0, &a, &b, &o);
		CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = r.res.array.hArray, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = o, .dstPitch = 256, .WidthInBytes = 256, .Height = 4};
		OK(cuMemcpy2D(&c));
		sum(o, 4 * N);
	}
	if (wanted("fetched")) {
		memset(&r, 0, sizeof r);
		memset(&d, 0, sizeof d);
		r.resType = CU_RESOURCE_TYPE_LINEAR;
		r.res.linear.devPtr = words(N, 'u');
		r.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
		r.res.linear.numChannels = 1;
		r.res.linear.sizeInBytes = 4 * N;
		d.flags = CU_TRSF_READ_AS_INTEGER;
		OK(cuTexObjectCreate(&t, &r, &d, 0));
		RUN(4, 64, 0, &t, &o);
		sum(o, 4 * N);
	}
}

static void setup(const char *path) {
	FILE *f = fopen(path, "rb");
	static char text[1 << 20];
	if (!f || !fread(text, 1, sizeof text - 1, f)) {
		printf("cannot read %s\n", path);
		failed++;
		return;
	}
	fclose(f);
	CUcontext c;
	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&c, device));
	OK(cuCtxSetCurrent(c));
	OK(cuModuleLoadData(&module, text));
}

int main(int argc, char **argv) {
	if (argc < 2)
		return 2;
	names = argv + 2;
	setup(argv[1]);
	if (failed)
		return 1;
	plain();
	variables();
	kinds_of_memory();
	blocks_together();
	textures();
	printf("%d kinds, %d failed\n", count, failed);
	return failed != 0;
}
