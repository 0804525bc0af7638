// Figures: the cost of a call that C answers, of one that Go answers, and of the first one.
#include <cuda.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void) {
	enum { CALLS = 1000000 };
	int v;
	double t0 = now();
	if (cuInit(0))
		return 1;
	printf("cuInit %.0f us\n", (now() - t0) / 1e3);
	t0 = now();
	for (int i = 0; i < CALLS; i++)
		cuDriverGetVersion(&v);
	printf("base %.1f ns\n", (now() - t0) / CALLS);
	t0 = now();
	for (int i = 0; i < CALLS; i++)
		cuDeviceGetCount(&v);
	printf("door %.1f ns\n", (now() - t0) / CALLS);
	return 0;
}
