// Texture and surface references of modules, samplers of their own, and surfaces beyond their right side.
#include "transcript.h"

static const char refs_[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .texref line;\n"
	".visible .global .texref image;\n"
	".visible .global .surfref canvas;\n"
	".visible .global .align 4 .u32 plain;\n"
	// fetch(out): out[i] = line[i], by integers
	".visible .entry fetch(.param .u64 out) {\n"
	"  .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %a<4>; ld.param.u64 %a0, [out]; mov.u32 %r1, %tid.x;\n"
	"  tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%r1}];\n"
	"  mul.wide.u32 %a1, %r1, 16; add.u64 %a2, %a0, %a1; st.global.v4.f32 [%a2], {%f0,%f1,%f2,%f3}; ret; }\n"
	// whole(out): the same as whole numbers
	".visible .entry whole(.param .u64 out) {\n"
	"  .reg .b32 %r<8>; .reg .b64 %a<4>; ld.param.u64 %a0, [out]; mov.u32 %r1, %tid.x;\n"
	"  tex.1d.v4.u32.s32 {%r2,%r3,%r4,%r5}, [line, {%r1}];\n"
	"  mul.wide.u32 %a1, %r1, 16; add.u64 %a2, %a0, %a1; st.global.v4.u32 [%a2], {%r2,%r3,%r4,%r5}; ret; }\n"
	// sample(out, x0, step): out[i] = image(x0 + i * step, 0.5)
	".visible .entry sample(.param .u64 out, .param .f32 x0, .param .f32 step) {\n"
	"  .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %a<4>;\n"
	"  ld.param.u64 %a0, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f4, %r1; ld.param.f32 %f7, [step]; ld.param.f32 %f6, [x0];\n"
	"  fma.rn.f32 %f4, %f4, %f7, %f6; mov.f32 %f5, 0f3F000000;\n"
	"  tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [image, {%f4,%f5}];\n"
	"  mul.wide.u32 %a1, %r1, 16; add.u64 %a2, %a0, %a1; st.global.v4.f32 [%a2], {%f0,%f1,%f2,%f3}; ret; }\n"
	// draw(v): canvas[tid][ctaid] = v + tid
	".visible .entry draw(.param .u32 v) {\n"
	"  .reg .b32 %r<8>; ld.param.u32 %r0, [v]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; add.u32 %r3, %r0, %r1; shl.b32 %r4, %r1, 2;\n"
	"  sust.b.2d.b32.trap [canvas, {%r4,%r2}], {%r3}; ret; }\n";

static CUmodule refs;
static CUdeviceptr out_;

static void start_refs(void) {
	start();
	QUIET(cuModuleLoadData(&refs, refs_));
	out_ = new_memory(4096);
}

// show runs a kernel of refs with 8 threads and prints what came out, the first channels of each.
static void show(const char *name, void **more, int channels) {
	CUfunction f = 0;
	float got[32];
	void *args[] = {&out_, more ? more[0] : 0, more ? more[1] : 0};
	QUIET(cuModuleGetFunction(&f, refs, name));
	QUIET(cuMemsetD8(out_, 0xee, sizeof got));
	int rc = cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, 0, args, 0);
	if (!rc) rc = cuCtxSynchronize();
	if (!rc) rc = cuMemcpyDtoH(got, out_, sizeof got);
	printf("  %s = %d:", name, rc);
	for (int i = 0; i < 8; i++)
		for (int c = 0; c < channels; c++)
			if (!strcmp(name, "whole")) printf(" %08x", ((unsigned *)got)[i * 4 + c]);
			else printf(" %g", got[i * 4 + c]);
	printf("\n");
	fflush(stdout);
}

static CUarray array(int width, int height, CUarray_format format, int channels, int bytes, const void *data, int flags) {
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = width, .Height = height, .Format = format, .NumChannels = channels, .Flags = flags};
	CUarray a = 0;
	QUIET(cuArray3DCreate(&a, &d));
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = data, .srcPitch = width * bytes, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a, .WidthInBytes = width * bytes, .Height = height};
	if (data) QUIET(cuMemcpy2D(&c));
	return a;
}

GROUP(texref_names) {
	CUtexref r = 0, same = 0, own = 0;
	CUsurfref s = 0, s2 = 0;
	start_refs();
	T(cuModuleGetTexRef(&r, refs, "line"));
	T(cuModuleGetTexRef(&same, refs, "line"));
	B(r == same);
	T(cuModuleGetTexRef(&same, refs, "canvas"));
	T(cuModuleGetTexRef(&same, refs, "plain"));
	T(cuModuleGetTexRef(&same, refs, "nothing"));
	T(cuModuleGetTexRef(&same, refs, 0));
	T(cuModuleGetTexRef(0, refs, "line"));
	T(cuModuleGetSurfRef(&s, refs, "canvas"));
	T(cuModuleGetSurfRef(&s2, refs, "line"));
	T(cuModuleGetSurfRef(&s2, refs, "nothing"));
	T(cuModuleGetSurfRef(&s2, refs, 0));
	T(cuTexRefCreate(&own));
	B(own != 0);
	T(cuTexRefDestroy(own));
	T(cuTexRefCreate(0));
	CUfunction f = 0;
	QUIET(cuModuleGetFunction(&f, refs, "fetch"));
	T(cuParamSetTexRef(f, CU_PARAM_TR_DEFAULT, r));
	T(cuParamSetTexRef(f, 0, r));
}

GROUP(texref_defaults) {
	CUtexref r = 0;
	CUarray_format fmt = 0;
	CUaddress_mode am = 9;
	CUfilter_mode fm = 9;
	CUarray a = 0;
	CUmipmappedArray m = 0;
	CUdeviceptr p = 0;
	int ch = 9, an = 9;
	unsigned flags = 99;
	float bias = 9, lo = 9, hi = 9, border[4] = {9, 9, 9, 9};
	start_refs();
	QUIET(cuModuleGetTexRef(&r, refs, "line"));
	T(cuTexRefGetFormat(&fmt, &ch, r));
	N(fmt);
	N(ch);
	for (int d = 0; d < 3; d++) {
		T(cuTexRefGetAddressMode(&am, r, d));
		N(am);
	}
	T(cuTexRefGetAddressMode(&am, r, 3));
	T(cuTexRefGetFilterMode(&fm, r));
	N(fm);
	T(cuTexRefGetFlags(&flags, r));
	X(flags);
	T(cuTexRefGetMaxAnisotropy(&an, r));
	N(an);
	T(cuTexRefGetMipmapFilterMode(&fm, r));
	N(fm);
	T(cuTexRefGetMipmapLevelBias(&bias, r));
	N(bias * 100);
	T(cuTexRefGetMipmapLevelClamp(&lo, &hi, r));
	N(lo * 100);
	N(hi * 100);
	T(cuTexRefGetBorderColor(border, r));
	N(border[0] * 100 + border[3]);
	T(cuTexRefGetArray(&a, r));
	T(cuTexRefGetMipmappedArray(&m, r));
	T(cuTexRefGetAddress(&p, r));
	T(cuTexRefGetFormat(0, &ch, r));
	T(cuTexRefGetFlags(0, r));
}

GROUP(texref_memory) {
	CUtexref r = 0;
	size_t off = 77;
	CUdeviceptr p = 0, where = 0;
	float host[64];
	start_refs();
	QUIET(cuModuleGetTexRef(&r, refs, "line"));
	p = new_memory(4096);
	for (int i = 0; i < 64; i++) host[i] = i + 0.5f;
	QUIET(cuMemcpyHtoD(p, host, sizeof host));
	NOTE("unbound");
	show("fetch", 0, 1);
	T(cuTexRefSetAddress(&off, r, p, 16));
	N(off);
	T(cuTexRefGetAddress(&where, r));
	B(where == p);
	show("fetch", 0, 4);
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 2));
	show("fetch", 0, 4);
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 1));
	T(cuTexRefSetAddress(&off, r, p + 64, 32));
	N(off);
	show("fetch", 0, 1);
	T(cuTexRefGetAddress(&where, r));
	N(where - p);
	T(cuTexRefSetAddress(0, r, p + 64, 32));
	T(cuTexRefSetAddress(0, r, p, 32));
	T(cuTexRefSetAddress(&off, r, p, 0));
	T(cuTexRefSetAddress(&off, r, 0, 0));
	T(cuTexRefSetAddress(&off, r, 0x10, 400));
	NOTE("bytes");
	T(cuTexRefSetAddress(&off, r, p, 16));
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_UNSIGNED_INT8, 1));
	show("fetch", 0, 1);
	T(cuTexRefSetFlags(r, CU_TRSF_READ_AS_INTEGER));
	show("whole", 0, 1);
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_SIGNED_INT8, 4));
	show("whole", 0, 4);
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 3));
	T(cuTexRefSetFormat(r, (CUarray_format)0x77, 1));
	T(cuTexRefSetFlags(r, 0x1000));
	T(cuTexRefSetAddressMode(r, 0, (CUaddress_mode)9));
	T(cuTexRefSetAddressMode(r, 3, CU_TR_ADDRESS_MODE_CLAMP));
	T(cuTexRefSetFilterMode(r, (CUfilter_mode)7));
	T(cuTexRefSetMaxAnisotropy(r, 0));
	T(cuTexRefSetMaxAnisotropy(r, 17));
	T(cuTexRefSetMipmapFilterMode(r, (CUfilter_mode)7));
	T(cuTexRefSetMipmapLevelClamp(r, 3, 1));
	T(cuTexRefDestroy(r));
}

// What a reference is told and no texture can be is kept, and what kernels read then.
GROUP(texref_odd) {
	CUtexref r = 0, again = 0;
	size_t off = 77;
	CUdeviceptr p = 0, where = 0;
	CUarray_format format = 0;
	CUaddress_mode mode = 0;
	CUfilter_mode filter = 0;
	int channels = 0;
	float host[64], texels[4] = {1, 2, 4, 8}, x0 = 0.5f, step = 0.25f;
	void *at[] = {&x0, &step};
	start_refs();
	QUIET(cuModuleGetTexRef(&r, refs, "line"));
	p = new_memory(4096);
	for (int i = 0; i < 64; i++) host[i] = i + 0.5f;
	QUIET(cuMemcpyHtoD(p, host, sizeof host));
	QUIET(cuTexRefSetAddress(&off, r, p, 16));
	NOTE("a format that is none");
	T(cuTexRefSetFormat(r, (CUarray_format)0x77, 1));
	T(cuTexRefGetFormat(&format, &channels, r));
	X(format); N(channels);
	show("fetch", 0, 4);
	T(cuTexRefSetFormat(r, (CUarray_format)0x77, 3));
	T(cuTexRefSetFormat(r, (CUarray_format)0, 1));
	T(cuTexRefSetFormat(r, (CUarray_format)-1, 1));
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_BC1_UNORM, 4));
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 0));
	T(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 1));
	show("fetch", 0, 4);
	NOTE("modes that are none");
	CUtexref i = 0;
	CUarray a = array(4, 1, CU_AD_FORMAT_FLOAT, 1, 4, texels, 0);
	QUIET(cuModuleGetTexRef(&i, refs, "image"));
	QUIET(cuTexRefSetArray(i, a, CU_TRSA_OVERRIDE_FORMAT));
	T(cuTexRefSetAddressMode(i, 0, (CUaddress_mode)9));
	T(cuTexRefGetAddressMode(&mode, i, 0));
	N(mode);
	show("sample", at, 4);
	T(cuTexRefSetAddressMode(i, 0, (CUaddress_mode)-1));
	T(cuTexRefSetAddressMode(i, 0, CU_TR_ADDRESS_MODE_CLAMP));
	T(cuTexRefSetFilterMode(i, (CUfilter_mode)7));
	T(cuTexRefGetFilterMode(&filter, i));
	N(filter);
	show("sample", at, 4);
	T(cuTexRefSetFilterMode(i, CU_TR_FILTER_MODE_POINT));
	show("sample", at, 4);
	NOTE("destroyed, and asked for again");
	T(cuTexRefDestroy(r));
	T(cuTexRefGetAddress(&where, r));
	T(cuModuleGetTexRef(&again, refs, "line"));
	B(again == r);
	show("fetch", 0, 1);
	NOTE("an address that is no memory");
	T(cuTexRefSetAddress(&off, i, 0x10, 400));
	N(off);
	T(cuTexRefGetAddress(&where, i));
	X(where);
	T(cuTexRefSetAddress(&off, again, p + 4096 + 512, 400));
	T(cuTexRefSetAddress(&off, again, p, (size_t)1 << 40));
	T(cuTexRefSetAddress(&off, again, 0x10000, 400));
	show("fetch", 0, 1);
}

GROUP(texref_array) {
	CUtexref r = 0;
	CUarray back = 0;
	float texels[4] = {1, 2, 4, 8}, x0 = 0.5f, step = 0.25f, border[4] = {-3, 0, 0, 0};
	void *at[] = {&x0, &step};
	start_refs();
	CUarray a = array(4, 1, CU_AD_FORMAT_FLOAT, 1, 4, texels, 0);
	QUIET(cuModuleGetTexRef(&r, refs, "image"));
	T(cuTexRefSetArray(r, a, 2));
	T(cuTexRefSetArray(r, a, 0));
	T(cuTexRefSetArray(r, a, CU_TRSA_OVERRIDE_FORMAT));
	T(cuTexRefGetArray(&back, r));
	B(back == a);
	NOTE("as it begins");
	show("sample", at, 1);
	for (int d = 0; d < 2; d++) T(cuTexRefSetAddressMode(r, d, CU_TR_ADDRESS_MODE_CLAMP));
	show("sample", at, 4);
	T(cuTexRefSetFilterMode(r, CU_TR_FILTER_MODE_LINEAR));
	show("sample", at, 1);
	x0 = 2.5f;
	step = 0.5f;
	show("sample", at, 1);
	T(cuTexRefSetFilterMode(r, CU_TR_FILTER_MODE_POINT));
	T(cuTexRefSetBorderColor(r, border));
	for (int d = 0; d < 2; d++) T(cuTexRefSetAddressMode(r, d, CU_TR_ADDRESS_MODE_BORDER));
	show("sample", at, 1);
	T(cuTexRefSetFlags(r, CU_TRSF_NORMALIZED_COORDINATES));
	T(cuTexRefSetAddressMode(r, 0, CU_TR_ADDRESS_MODE_WRAP));
	x0 = 0.125f;
	step = 0.25f;
	show("sample", at, 1);
	T(cuTexRefSetAddressMode(r, 0, CU_TR_ADDRESS_MODE_MIRROR));
	show("sample", at, 1);
	T(cuArrayDestroy(a));
	T(cuTexRefGetArray(&back, r));
}

GROUP(surfref) {
	CUsurfref r = 0;
	CUarray back = 0;
	CUfunction f = 0;
	unsigned v = 100, texels[16] = {0};
	void *args[] = {&v};
	start_refs();
	CUarray a = array(8, 2, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, texels, CUDA_ARRAY3D_SURFACE_LDST), plain = array(8, 2, CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, texels, 0);
	QUIET(cuModuleGetSurfRef(&r, refs, "canvas"));
	T(cuSurfRefGetArray(&back, r));
	T(cuSurfRefSetArray(r, a, 1));
	T(cuSurfRefSetArray(r, plain, 0));
	T(cuSurfRefSetArray(r, 0, 0));
	T(cuSurfRefSetArray(r, a, 0));
	T(cuSurfRefGetArray(&back, r));
	B(back == a);
	QUIET(cuModuleGetFunction(&f, refs, "draw"));
	T(cuLaunchKernel(f, 2, 1, 1, 8, 1, 1, 0, 0, args, 0));
	CUDA_MEMCPY2D c = {.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = texels, .dstPitch = 32, .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .WidthInBytes = 32, .Height = 2};
	T(cuMemcpy2D(&c));
	N(texels[0]);
	N(texels[7]);
	N(texels[15]);
}

// A sampler of its own: the texture says where, the sampler how.
static int with_sampler(const char *init, const char *coords) {
	char text[2048];
	CUmodule m = 0;
	CUtexref r = 0;
	CUfunction f = 0;
	float texels[4] = {1, 2, 4, 8}, got[8];
	snprintf(text, sizeof text,
		".version 7.0\n.target sm_70, texmode_independent\n.address_size 64\n"
		".visible .global .texref image;\n.visible .global .samplerref how%s;\n"
		".visible .entry sample(.param .u64 out) {\n"
		"  .reg .b32 %%r<8>; .reg .f32 %%f<8>; .reg .b64 %%a<4>;\n"
		"  ld.param.u64 %%a0, [out]; mov.u32 %%r1, %%tid.x; cvt.rn.f32.u32 %%f4, %%r1; mul.f32 %%f4, %%f4, %s; mov.f32 %%f5, 0f3E800000;\n"
		"  tex.2d.v4.f32.f32 {%%f0,%%f1,%%f2,%%f3}, [image, how, {%%f4,%%f5}];\n"
		"  mul.wide.u32 %%a1, %%r1, 4; add.u64 %%a2, %%a0, %%a1; st.global.f32 [%%a2], %%f0; ret; }\n", init, coords);
	int rc = cuModuleLoadData(&m, text);
	printf("sampler%s: load %d", init, rc);
	if (!rc) {
		CUarray a = array(4, 1, CU_AD_FORMAT_FLOAT, 1, 4, texels, 0);
		printf(", texref %d", cuModuleGetTexRef(&r, m, "image"));
		printf(", array %d", cuTexRefSetArray(r, a, CU_TRSA_OVERRIDE_FORMAT));
		QUIET(cuModuleGetFunction(&f, m, "sample"));
		void *args[] = {&out_};
		rc = cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, 0, args, 0);
		if (!rc) rc = cuMemcpyDtoH(got, out_, sizeof got);
		printf(", run %d:", rc);
		for (int i = 0; i < 8 && !rc; i++) printf(" %g", got[i]);
	}
	printf("\n");
	fflush(stdout);
	return rc;
}

GROUP(samplerref) {
	start_refs();
	with_sampler("", "0f3F400000");
	with_sampler(" = { addr_mode_0 = clamp_to_edge, filter_mode = nearest }", "0f3E800000");
	with_sampler(" = { addr_mode_0 = wrap, addr_mode_1 = wrap, filter_mode = nearest }", "0f3E800000");
	with_sampler(" = { addr_mode_0 = mirror, filter_mode = linear }", "0f3E800000");
	with_sampler(" = { addr_mode_0 = clamp_to_border, filter_mode = nearest, force_unnormalized_coords = 1 }", "0f3F400000");
	with_sampler(" = { addr_mode_0 = sideways }", "0f3F400000");
}

// Surfaces of w elements: reads and writes of n bytes around the right side, each mode.
static void edge(CUarray_format format, int channels, int bytes, int w, int n, const char *mode) {
	static const char *const types[] = {[1] = "b8", [2] = "b16", [4] = "b32", [8] = "v2.b32", [16] = "v4.b32"};
	static const char *const lists[] = {[1] = "{%h0}", [2] = "{%h0}", [4] = "{%r0}", [8] = "{%r0,%r1}", [16] = "{%r0,%r1,%r2,%r3}"};
	char text[2048];
	unsigned char fill[512], got[512];
	CUmodule m = 0;
	CUfunction read = 0, write = 0;
	snprintf(text, sizeof text,
		".version 7.0\n.target sm_70\n.address_size 64\n"
		".visible .entry read(.param .u64 s, .param .u64 out, .param .u32 x0, .param .u32 y) {\n"
		"  .reg .b16 %%h<2>; .reg .b32 %%r<8>; .reg .b64 %%a<4>; ld.param.u64 %%a0, [s]; ld.param.u64 %%a1, [out]; ld.param.u32 %%r5, [x0]; ld.param.u32 %%r6, [y];\n"
		"  mov.u32 %%r4, %%tid.x; mul.wide.u32 %%a2, %%r4, 16; add.u64 %%a1, %%a1, %%a2; mad.lo.u32 %%r5, %%r4, %d, %%r5;\n"
		"  mov.u32 %%r0, 0; mov.u32 %%r1, 0; mov.u32 %%r2, 0; mov.u32 %%r3, 0; mov.b16 %%h0, 0;\n"
		"  suld.b.2d.%s.%s %s, [%%a0, {%%r5,%%r6}]; %s st.global.v4.b32 [%%a1], {%%r0,%%r1,%%r2,%%r3}; ret; }\n"
		".visible .entry write(.param .u64 s, .param .u32 x, .param .u32 y) {\n"
		"  .reg .b16 %%h<2>; .reg .b32 %%r<8>; .reg .b64 %%a<4>; ld.param.u64 %%a0, [s]; ld.param.u32 %%r5, [x]; ld.param.u32 %%r6, [y];\n"
		"  mov.u32 %%r0, 0xf3f2f1f0; mov.u32 %%r1, 0xf7f6f5f4; mov.u32 %%r2, 0xfbfaf9f8; mov.u32 %%r3, 0xfffefdfc; mov.b16 %%h0, 0xf1f0;\n"
		"  sust.b.2d.%s.%s [%%a0, {%%r5,%%r6}], %s; ret; }\n",
		n, types[n], mode, lists[n], n < 4 ? "cvt.u32.u16 %r0, %h0;" : "", types[n], mode, lists[n]);
	QUIET(cuModuleLoadData(&m, text));
	if (!m) return;
	QUIET(cuModuleGetFunction(&read, m, "read"));
	QUIET(cuModuleGetFunction(&write, m, "write"));
	for (int i = 0; i < 512; i++) fill[i] = i % (w * bytes) + i / (w * bytes) * 64;
	CUarray a = array(w, 3, format, channels, bytes, fill, CUDA_ARRAY3D_SURFACE_LDST);
	CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a};
	CUsurfObject s = 0;
	QUIET(cuSurfObjectCreate(&s, &d));
	unsigned first = (unsigned)((w * bytes - 1) / n * n - n);
	printf("suld %s %s, rows of %d bytes, element %d, from %d:", types[n], mode, w * bytes, bytes, (int)first);
	unsigned y = 1;
	void *args[] = {&s, &out_, &first, &y};
	int rc = cuLaunchKernel(read, 1, 1, 1, 8, 1, 1, 0, 0, args, 0);
	if (!rc) rc = cuMemcpyDtoH(got, out_, 128);
	for (int i = 0; i < 8 && !rc; i++) {
		printf(" ");
		for (int k = 0; k < n; k++) printf("%02x", got[i * 16 + k]);
	}
	printf(rc ? " %d\n" : "\n", rc);
	for (int i = 0; i < 8; i++) { // what one write beyond changes
		int x = (int)first + i * n;
		unsigned row = 1;
		CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = fill, .srcPitch = w * bytes, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a, .WidthInBytes = w * bytes, .Height = 3};
		CUDA_MEMCPY2D back = {.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = got, .dstPitch = w * bytes, .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .WidthInBytes = w * bytes, .Height = 3};
		void *wargs[] = {&s, &x, &row};
		QUIET(cuMemcpy2D(&in));
		QUIET(cuLaunchKernel(write, 1, 1, 1, 1, 1, 1, 0, 0, wargs, 0));
		QUIET(cuMemcpy2D(&back));
		int lo = -1, hi = -1;
		for (int k = 0; k < w * bytes * 3; k++)
			if (got[k] != fill[k]) {
				if (lo < 0) lo = k;
				hi = k;
			}
		printf("  sust at %d: ", x);
		if (lo < 0) printf("nothing\n");
		else {
			printf("row %d, %d to %d:", lo / (w * bytes), lo % (w * bytes), hi % (w * bytes));
			for (int k = lo; k <= hi && k < lo + 16; k++) printf(" %02x", got[k]);
			printf("\n");
		}
	}
	fflush(stdout);
	QUIET(cuSurfObjectDestroy(s));
	QUIET(cuArrayDestroy(a));
	QUIET(cuModuleUnload(m));
}

static void edges(const char *mode) {
	start_refs();
	for (int n = 1; n <= 16; n *= 2) {
		edge(CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, 37, n, mode);
		edge(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, 5, n, mode);
		edge(CU_AD_FORMAT_FLOAT, 2, 8, 5, n, mode);
		edge(CU_AD_FORMAT_UNSIGNED_INT32, 4, 16, 3, n, mode);
	}
}

GROUP(surface_zero) { edges("zero"); }
GROUP(surface_clamp) { edges("clamp"); }
