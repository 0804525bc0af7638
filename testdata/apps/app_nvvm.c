// A program that makes its kernel at run time from NVVM IR, with libNVVM, and runs it.
#include "app.h"
#include <nvvm.h>
#include <string.h>

static const char head[] =
	"target triple = \"nvptx64-unknown-cuda\"\n"
	"target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
	"v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
	"!nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0}\n";

static const char kernel[] =
	"declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
	"declare float @square(float)\n"
	"define void @squares(float* %p, float %add) {\n"
	"  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
	"  %q = getelementptr inbounds float, float* %p, i32 %i\n"
	"  %v = load float, float* %q, align 4\n"
	"  %s = call float @square(float %v)\n"
	"  %r = fadd float %s, %add\n"
	"  store float %r, float* %q, align 4\n"
	"  ret void\n}\n"
	"!nvvm.annotations = !{!0}\n!0 = !{void (float*, float)* @squares, !\"kernel\", i32 1}\n";

static const char library[] =
	"define float @square(float %x) {\n  %y = fmul float %x, %x\n  ret float %y\n}\n"
	"define float @cube(float %x) {\n  %y = call float @square(float %x)\n  %z = fmul float %x, %y\n  ret float %z\n}\n";

int main(void) {
	enum { n = 32 };
	char text[2][4096];
	nvvmProgram p = 0;
	int r = nvvmCreateProgram(&p);
	for (int i = 0; i < 2; i++) snprintf(text[i], sizeof text[i], "%s%s", head, i ? library : kernel);
	r |= nvvmAddModuleToProgram(p, text[0], strlen(text[0]), "squares.ll");
	r |= nvvmLazyAddModuleToProgram(p, text[1], strlen(text[1]), "library.ll");
	const char *options[] = {"-arch=compute_80", "-opt=3"}, *bad[] = {"-arch=sm_80"};
	r |= nvvmVerifyProgram(p, 2, options);
	r |= nvvmCompileProgram(p, 2, options);
	size_t size = 0;
	r |= nvvmGetCompiledResultSize(p, &size);
	char *ptx = malloc(size), log[200] = "";
	r |= nvvmGetCompiledResult(p, ptx);
	printf("compiled %d, a cube %s\n", r, strstr(ptx, "cube") ? "too" : "not");
	r = nvvmCompileProgram(p, 1, bad);
	nvvmGetProgramLog(p, log);
	printf("%d %s: %s\n", r, nvvmGetErrorString(r), log);
	r = nvvmDestroyProgram(&p);
	printf("destroyed %d %p, again %d\n", r, (void *)p, nvvmDestroyProgram(&p));

	CUcontext c;
	CUmodule m;
	CUfunction f;
	CUdeviceptr d;
	float h[n], add = 0.5f;
	int wrong = 0;
	for (int i = 0; i < n; i++) h[i] = i;
	OK(cuInit(0));
	OK(cuCtxCreate(&c, 0, 0, 0));
	OK(cuModuleLoadData(&m, ptx));
	OK(cuModuleGetFunction(&f, m, "squares"));
	OK(cuMemAlloc(&d, sizeof h));
	OK(cuMemcpyHtoD(d, h, sizeof h));
	void *args[] = {&d, &add};
	OK(cuLaunchKernel(f, 1, 1, 1, n, 1, 1, 0, 0, args, 0));
	OK(cuMemcpyDtoH(h, d, sizeof h));
	for (int i = 0; i < n; i++) wrong += h[i] != i * i + 0.5f;
	printf("%d wrong\n", wrong);
	free(ptx);
	return wrong;
}
