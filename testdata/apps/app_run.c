// The plain program: loads a module, runs the kernels its arguments name, checks the results and prints a line for each.
//   app_run [time] [works|fill|printer|heap|count]...
// With "time" it prints how long the process has lived, in milliseconds, when the first kernel's results were there.
#include <time.h>
#include <unistd.h>

#include "app.h"

// age is the process's age in milliseconds: the kernel's clock at its start has a resolution of 10 ms, so the caller
// passes its own time of fork and exec in APP_START (nanoseconds of CLOCK_MONOTONIC).
static double age(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const char *start = getenv("APP_START");
	return start ? ((now.tv_sec * 1000000000LL + now.tv_nsec) - atoll(start)) / 1e6 : -1;
}

static int run(App *a, const char *what) {
	unsigned out[64] = {0};
	CUdeviceptr p = 0;
	void *args[] = {&p};
	if (!strcmp(what, "works")) return app_works(a);
	if (!strcmp(what, "fill")) {
		int e = cuMemAlloc(&p, sizeof out);
		if (!e) e = app_fill(a, p, 64, 9, 0);
		if (!e) e = cuMemcpyDtoH(out, p, sizeof out);
		for (unsigned i = 0; !e && i < 64; i++)
			if (out[i] != 9 + i) e = -1;
		return e;
	}
	if (!strcmp(what, "printer")) {
		int e = cuLaunchKernel(app_kernel(a, "printer"), 1, 1, 1, 4, 1, 1, 0, 0, 0, 0);
		return e ? e : cuCtxSynchronize();
	}
	if (!strcmp(what, "heap")) {
		int e = cuMemAlloc(&p, sizeof out);
		if (!e) e = cuLaunchKernel(app_kernel(a, "heap"), 1, 1, 1, 64, 1, 1, 0, 0, args, 0);
		if (!e) e = cuMemcpyDtoH(out, p, sizeof out);
		for (unsigned i = 0; !e && i < 64; i++)
			if (out[i] != 5 + i) e = -1;
		return e;
	}
	if (!strcmp(what, "count")) {
		int e = cuMemAlloc(&p, 4);
		if (!e) e = cuMemsetD32(p, 0, 1);
		if (!e) e = cuLaunchKernel(app_kernel(a, "count"), 10, 1, 1, 100, 1, 1, 0, 0, args, 0);
		if (!e) e = cuMemcpyDtoH(out, p, 4);
		return e ? e : out[0] == 1000 ? 0 : -1;
	}
	return -2;
}

int main(int argc, char **argv) {
	double at_main = age();
	App a;
	int e = app_start(&a), timed = 0;
	if (e) {
		printf("start %d\n", e);
		return 1;
	}
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "time")) {
			timed = 1;
			continue;
		}
		int r = run(&a, argv[i]);
		if (timed) printf("main %.2f ms, first kernel %.2f ms\n", at_main, age());
		timed = 0;
		printf("%s %d\n", argv[i], r);
		fflush(stdout);
	}
	return 0;
}
