// Texture and surface references of a module, bound by the old names: app_texref.
#include "app.h"

static const char ptx[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .global .texref line;\n"
	".visible .global .texref image;\n"
	".visible .global .surfref canvas;\n"
	".visible .global .align 4 .u32 plain;\n"
	// fetch(out, n): out[i] = line[i], by integers
	".visible .entry fetch(.param .u64 out, .param .u32 n) {\n"
	"  .reg .pred %q; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %a<4>;\n"
	"  ld.param.u64 %a0, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %q, %r1, %r0; @%q ret;\n"
	"  tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%r1}];\n"
	"  mul.wide.u32 %a1, %r1, 4; add.u64 %a2, %a0, %a1; st.global.f32 [%a2], %f0; ret; }\n"
	// sample(out, n, x0): out[i] = image(x0 + i / 4, 0.5)
	".visible .entry sample(.param .u64 out, .param .u32 n, .param .f32 x0) {\n"
	"  .reg .pred %q; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %a<4>;\n"
	"  ld.param.u64 %a0, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %q, %r1, %r0; @%q ret;\n"
	"  cvt.rn.f32.u32 %f4, %r1; mul.f32 %f4, %f4, 0f3E800000; ld.param.f32 %f6, [x0]; add.f32 %f4, %f4, %f6; mov.f32 %f5, 0f3F000000;\n"
	"  tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [image, {%f4,%f5}];\n"
	"  mul.wide.u32 %a1, %r1, 4; add.u64 %a2, %a0, %a1; st.global.f32 [%a2], %f0; ret; }\n"
	// draw(v): canvas[tid][ctaid] = v + tid
	".visible .entry draw(.param .u32 v) {\n"
	"  .reg .b32 %r<8>;\n"
	"  ld.param.u32 %r0, [v]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; add.u32 %r3, %r0, %r1; shl.b32 %r4, %r1, 2;\n"
	"  sust.b.2d.b32.trap [canvas, {%r4,%r2}], {%r3}; ret; }\n";

enum { N = 16 };
static CUdeviceptr out;
static float got[N];
static unsigned n = N;

static void run(CUfunction f, void **args, CUstream s) {
	memset(got, 0xff, sizeof got);
	OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, args, 0));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH(got, out, sizeof got));
}

static CUarray array(int width, int height, const void *data, int flags) {
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = width, .Height = height, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = flags};
	CUarray a = 0;
	OK(cuArray3DCreate(&a, &d));
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = data, .srcPitch = width * 4, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a, .WidthInBytes = width * 4, .Height = height};
	if (data) OK(cuMemcpy2D(&c));
	return a;
}

// memory: a row of plain memory, unaligned, in several formats, bound again while kernels of another stream may run.
static void memory(CUmodule mod) {
	CUtexref r = 0, same = 0;
	CUfunction f = 0;
	CUdeviceptr p, where = 0;
	size_t off = 9;
	CUarray_format fmt;
	int ch = 0;
	OK(cuModuleGetTexRef(&r, mod, "line"));
	OK(cuModuleGetTexRef(&same, mod, "line"));
	EXPECT(r == same, 1);
	OK(cuTexRefGetFormat(&fmt, &ch, r));
	EXPECT(fmt, CU_AD_FORMAT_FLOAT);
	EXPECT(ch, 1);
	EXPECT(cuTexRefGetAddress(&where, r), CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleGetFunction(&f, mod, "fetch"));
	OK(cuMemAlloc(&p, 4096));
	float host[1024];
	for (int i = 0; i < 1024; i++) host[i] = i + 0.5f;
	OK(cuMemcpyHtoD(p, host, sizeof host));
	void *args[] = {&out, &n};
	OK(cuTexRefSetAddress(&off, r, p, sizeof host));
	EXPECT(off, 0);
	OK(cuTexRefGetAddress(&where, r));
	EXPECT(where == p, 1);
	run(f, args, 0);
	for (int i = 0; i < N; i++) EXPECT(got[i] == i + 0.5f, 1);
	// Memory in the middle: the offset is the kernel's to add.
	OK(cuTexRefSetAddress(&off, r, p + 64, 400));
	EXPECT(off, 64);
	run(f, args, 0);
	for (int i = 0; i < N; i++) EXPECT(got[i] == i + 0.5f, 1);
	EXPECT(cuTexRefSetAddress(0, r, p + 64, 400), CUDA_ERROR_INVALID_VALUE);
	// An address that is no memory is taken, as the card's driver does, and reads as zeros.
	OK(cuTexRefSetAddress(&off, r, 0x10, 400));
	run(f, args, 0);
	for (int i = 0; i < N; i++) EXPECT(got[i] == 0, 1);
	// The same bytes as another format: bytes 0..3 of floats, as fractions of 255.
	OK(cuTexRefSetAddress(&off, r, p, 16));
	OK(cuTexRefSetFormat(r, CU_AD_FORMAT_UNSIGNED_INT8, 1));
	run(f, args, 0);
	for (int i = 0; i < N; i++) EXPECT(got[i] == ((unsigned char *)host)[i] / 255.0f, 1);
	EXPECT(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 3), CUDA_ERROR_INVALID_VALUE);
	// Bound again between launches: each sees what was bound before it, on any stream.
	OK(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 1));
	CUstream s[2];
	for (int i = 0; i < 2; i++) OK(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 8; i++) {
		OK(cuTexRefSetAddress(&off, r, p + i * 512 % 4096, 512));
		run(f, args, s[i & 1]);
		for (int k = 0; k < N; k++) EXPECT(got[k] == (i * 128) % 1024 + k + 0.5f, 1);
	}
	for (int i = 0; i < 2; i++) OK(cuStreamDestroy(s[i]));
	OK(cuTexRefDestroy(r)); // which is the module's: it stays
	run(f, args, 0);
}

// image: an array with filters and address modes, one float in four columns.
static void image(CUmodule mod) {
	CUtexref r = 0;
	CUfunction f = 0;
	float texels[4] = {1, 2, 4, 8}, x0 = 0.5f;
	CUarray a = array(4, 1, texels, 0), back = 0;
	OK(cuModuleGetTexRef(&r, mod, "image"));
	OK(cuModuleGetFunction(&f, mod, "sample"));
	void *args[] = {&out, &n, &x0};
	EXPECT(cuTexRefSetArray(r, a, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuTexRefSetArray(r, (CUarray)8, CU_TRSA_OVERRIDE_FORMAT), CUDA_ERROR_INVALID_HANDLE);
	OK(cuTexRefSetArray(r, a, CU_TRSA_OVERRIDE_FORMAT));
	OK(cuTexRefGetArray(&back, r));
	EXPECT(back == a, 1);
	for (int d = 0; d < 2; d++) OK(cuTexRefSetAddressMode(r, d, CU_TR_ADDRESS_MODE_CLAMP));
	EXPECT(cuTexRefSetAddressMode(r, 3, CU_TR_ADDRESS_MODE_CLAMP), CUDA_ERROR_INVALID_VALUE);
	OK(cuTexRefSetFilterMode(r, 7)); // no filter: points
	run(f, args, 0);
	float points[N] = {1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8};
	for (int i = 0; i < N; i++) EXPECT(got[i] == points[i], 1);
	OK(cuTexRefSetFilterMode(r, CU_TR_FILTER_MODE_LINEAR));
	run(f, args, 0);
	float linear[N] = {1, 1.25f, 1.5f, 1.75f, 2, 2.5f, 3, 3.5f, 4, 5, 6, 7, 8, 8, 8, 8};
	for (int i = 0; i < N; i++) EXPECT(got[i] == linear[i], 1);
	// Outside: a border of its own colour; and by fractions, again and again.
	float border[4] = {-3, 0, 0, 0}, read[4] = {0};
	OK(cuTexRefSetBorderColor(r, border));
	OK(cuTexRefGetBorderColor(read, r));
	EXPECT(read[0] == -3, 1);
	OK(cuTexRefSetFilterMode(r, CU_TR_FILTER_MODE_POINT));
	for (int d = 0; d < 2; d++) OK(cuTexRefSetAddressMode(r, d, CU_TR_ADDRESS_MODE_BORDER));
	x0 = 2;
	run(f, args, 0);
	for (int i = 0; i < N; i++) EXPECT(got[i] == (i < 4 ? 4 : i < 8 ? 8 : -3), 1);
	OK(cuTexRefSetAddressMode(r, 0, CU_TR_ADDRESS_MODE_WRAP));
	OK(cuTexRefSetFlags(r, CU_TRSF_NORMALIZED_COORDINATES));
	EXPECT(cuTexRefSetFlags(r, 0x1000), CUDA_ERROR_INVALID_VALUE);
	x0 = 0.125f;
	run(f, args, 0);
	for (int i = 0; i < N; i++) EXPECT(got[i] == texels[i % 4], 1);
	// Rows of plain memory, and kernels of a graph: bound anew, the same graph reads anew.
	CUdeviceptr rows;
	size_t pitch;
	OK(cuMemAllocPitch(&rows, &pitch, 16, 2, 4));
	float other[4] = {10, 20, 30, 40};
	for (int y = 0; y < 2; y++) OK(cuMemcpyHtoD(rows + y * pitch, other, 16));
	CUstream s;
	CUgraph g;
	CUgraphExec x;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, args, 0));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiate(&x, g, 0));
	CUDA_ARRAY_DESCRIPTOR d = {.Width = 4, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
	EXPECT(cuTexRefSetAddress2D(r, &d, rows, 8), CUDA_ERROR_INVALID_VALUE);
	OK(cuTexRefSetAddress2D(r, &d, rows, pitch));
	EXPECT(cuTexRefGetArray(&back, r), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphLaunch(x, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH(got, out, sizeof got));
	for (int i = 0; i < N; i++) EXPECT(got[i] == other[i % 4], 1);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuStreamDestroy(s));
	OK(cuArrayDestroy(a));
}

static void surface(CUmodule mod) {
	CUsurfref r = 0;
	CUfunction f = 0;
	CUarray a = array(8, 2, 0, CUDA_ARRAY3D_SURFACE_LDST), back = 0;
	unsigned v = 100, texels[16] = {0};
	OK(cuModuleGetSurfRef(&r, mod, "canvas"));
	OK(cuModuleGetFunction(&f, mod, "draw"));
	EXPECT(cuSurfRefGetArray(&back, r), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuSurfRefSetArray(r, a, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuSurfRefSetArray(r, a, 0));
	OK(cuSurfRefGetArray(&back, r));
	EXPECT(back == a, 1);
	void *args[] = {&v};
	OK(cuLaunchKernel(f, 2, 1, 1, 8, 1, 1, 0, 0, args, 0));
	CUDA_MEMCPY2D c = {.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = texels, .dstPitch = 32, .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .WidthInBytes = 32, .Height = 2};
	OK(cuMemcpy2D(&c));
	for (unsigned i = 0; i < 16; i++) EXPECT(texels[i], 100 + i % 8);
}

int main(void) {
	App app;
	CUmodule mod = 0;
	CUtexref r = 0;
	CUsurfref sr = 0;
	CUdeviceptr p;
	size_t bytes;
	OK(app_start(&app));
	OK(cuModuleLoadData(&mod, ptx));
	OK(cuMemAlloc(&out, N * 4));
	EXPECT(cuModuleGetTexRef(&r, mod, "absent"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetTexRef(&r, mod, "plain"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetTexRef(&r, mod, "canvas"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetSurfRef(&sr, mod, "line"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetGlobal(&p, &bytes, mod, "line"), CUDA_ERROR_NOT_FOUND);
	memory(mod);
	image(mod);
	surface(mod);
	OK(cuTexRefCreate(&r)); // one that no kernel names
	OK(cuTexRefSetMipmapLevelClamp(r, 1, 2));
	float low = 0, high = 0;
	OK(cuTexRefGetMipmapLevelClamp(&low, &high, r));
	EXPECT(low == 1 && high == 2, 1);
	OK(cuTexRefDestroy(r));
	EXPECT(cuTexRefDestroy(r), CUDA_ERROR_INVALID_HANDLE);
	OK(cuModuleGetTexRef(&r, mod, "line"));
	OK(cuModuleUnload(mod));
	EXPECT(cuTexRefSetFlags(r, 0), CUDA_ERROR_INVALID_HANDLE);
	return finish();
}
