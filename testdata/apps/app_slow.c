// A kernel that takes the compiler long, and one that does not: app_slow STATEMENTS. Prints what their launches answered.
#include "app.h"

static char *slow_ptx(int n) {
	char *text = malloc(1000 + (size_t)n * 200), *p = text;
	p += sprintf(p, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry slow(.param .u64 p) {\n"
	                ".reg .f32 %%f<8>; .reg .b32 %%r<4>; .reg .b64 %%a<3>; .reg .pred %%q;\n"
	                "ld.param.u64 %%a0, [p]; mov.u32 %%r0, %%tid.x; cvt.rn.f32.u32 %%f0, %%r0; mul.wide.u32 %%a1, %%r0, 4; add.u64 %%a2, %%a0, %%a1;\n");
	for (int i = 0; i < n; i++)
		p += sprintf(p, "setp.gt.f32 %%q, %%f0, %d.0; @%%q bra L%d;\nsin.approx.f32 %%f1, %%f0; div.rn.f32 %%f2, %%f1, %%f0; st.global.f32 [%%a2], %%f2; add.f32 %%f0, %%f0, %%f2;\nL%d:\n", i, i, i);
	sprintf(p, "st.global.u32 [%%a2], 5;\nret;\n}\n");
	return text;
}

int main(int argc, char **argv) {
	App a;
	OK(app_start(&a));
	CUmodule m;
	CUfunction f;
	CUdeviceptr p;
	unsigned out[32] = {0};
	void *args[] = {&p};
	OK(cuModuleLoadData(&m, slow_ptx(argc > 1 ? atoi(argv[1]) : 100)));
	OK(cuModuleGetFunction(&f, m, "slow"));
	OK(cuMemAlloc(&p, sizeof out));
	int e = cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0);
	if (!e) e = cuMemcpyDtoH(out, p, sizeof out);
	printf("slow %d %u\n", e, out[31]);
	printf("works %d\n", app_works(&a));
	return finish();
}
