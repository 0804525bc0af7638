// A program that uses a bit of everything, frees nothing and ends: what is left is not to look like a leak.
#include "app.h"

int main(void) {
	App a;
	CUdeviceptr p;
	CUstream s;
	CUevent e;
	OK(app_start(&a));
	OK(app_works(&a));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, 0));
	OK(cuMemAlloc(&p, 1 << 20));
	OK(app_fill(&a, p, 64, 9, s));
	OK(cuEventRecord(e, s));
	OK(cuEventSynchronize(e));
	return finish();
}
