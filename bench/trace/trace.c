// What the recorder of `kudzu trace` costs a call: the same calls in processes of their own, without it and with it, in turn.
// trace alone: calls that are forwarded to a driver that answers at once (testdata/apps/trace_double.c, KUDZU_TRACE_REAL). A launch on
// Kudzu is recorded three times: the call, when it is put into its queue, and when it ran.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, BURST = 1024, BURSTS = 100 };

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry empty(.param .u64 p, .param .u64 q, .param .u32 n, .param .f32 a) {\n\tret;\n}\n";

#define PTX_SM 50
#include "../../testdata/apps/fatbin_text.h"

static CUfunction kernel;
static CUcontext context;

static void stub(void) {}

static void check(int code, const char *what) {
	if (code) {
		fprintf(stderr, "%s: %d\n", what, code);
		exit(1);
	}
}
#define CHECK(call) check((int)(call), #call)

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); // the caller's: the machine may be busy with other things
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void version(void) {
	int v;
	CHECK(cuDriverGetVersion(&v));
}

static void current(void) {
	CUcontext c;
	CHECK(cuCtxGetCurrent(&c));
}

static void last_error(void) { CHECK(cudaPeekAtLastError()); }

static void launch(void) {
	static unsigned n = 3;
	unsigned long long p = 1, q = 2;
	float a = 4;
	unsigned m = n;
	void *args[] = {&p, &q, &m, &a};
	CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
}

static void double_launch(void) {
	int value = 42;
	void *args[] = {&value};
	CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
}

static void runtime_launch(void) {
	unsigned long long p = 1, q = 2;
	float a = 4;
	unsigned m = 3;
	void *args[] = {&p, &q, &m, &a};
	dim3 one = {1, 1, 1};
	CHECK(cudaLaunchKernel((void *)stub, one, one, args, 0, 0));
}

static const struct {
	const char *name;
	void (*call)(void);
} rows[] = {
    {"cuDriverGetVersion", version},
    {"cuCtxGetCurrent", current},
    {"cudaPeekAtLastError", last_error},
    {"cuLaunchKernel", launch},
    {"cudaLaunchKernel", runtime_launch},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const alone_names[] = {"cuDriverGetVersion", "cuLaunchKernel"};
static int alone, shown = ROWS;

static void wait_for_device(void) {
	if (!alone)
		CHECK(cuCtxSynchronize());
}

static int by_size(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

// measure: bursts, between which the device catches up. The mean of all but the
// fastest and slowest tenth: what new pages of the file cost is in it.
static double measure(void (*call)(void)) {
	static double burst[BURSTS];
	for (int b = 0; b < BURSTS; b++) {
		wait_for_device();
		double t0 = now();
		for (int i = 0; i < BURST; i++)
			call();
		burst[b] = (now() - t0) / BURST;
	}
	wait_for_device();
	qsort(burst, BURSTS, sizeof *burst, by_size);
	double sum = 0;
	for (int b = BURSTS / 10; b < BURSTS * 9 / 10; b++)
		sum += burst[b];
	return sum / (BURSTS * 8 / 10);
}

static int child(void) {
	if (alone) {
		kernel = (CUfunction)5;
		printf("%f\n", measure(version));
		printf("%f\n", measure(double_launch));
		return 0;
	}
	CUdevice device;
	CUmodule module;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&kernel, module, "empty"));
	memcpy(fatbin.text, ptx, sizeof ptx);
	void **handle = __cudaRegisterFatBinary((void *)&wrapper);
	__cudaRegisterFunction(handle, (const char *)stub, (char *)"empty", "empty", -1, 0, 0, 0, 0, 0);
	for (int i = 0; i < ROWS; i++)
		printf("%f\n", measure(rows[i].call));
	return 0;
}

// run_child adds what one process measured.
static void run_child(const char *self, const char *folder, double to[ROWS]) {
	char command[4096];
	snprintf(command, sizeof command, "%s%s%s'%s' %schild", folder ? "KUDZU_TRACE='" : "", folder ? folder : "", folder ? "' " : "", self, alone ? "alone " : "");
	FILE *f = popen(command, "r");
	for (int i = 0; i < shown; i++)
		if (!f || fscanf(f, "%lf", &to[i]) != 1)
			exit(1);
	pclose(f);
}

int main(int argc, char **argv) {
	alone = argc > 1 && !strcmp(argv[1], "alone");
	if (alone)
		shown = 2;
	if (argc > 1 && !strcmp(argv[argc - 1], "child"))
		return child();
	double off[ROWS][ROUNDS], on[ROWS][ROUNDS], one[ROWS];
	for (int r = 0; r < ROUNDS; r++) {
		run_child(argv[0], NULL, one);
		for (int i = 0; i < shown; i++)
			off[i][r] = one[i];
		char folder[] = "/tmp/kudzu-trace-XXXXXX", command[64];
		if (!mkdtemp(folder))
			return 1;
		run_child(argv[0], folder, one);
		for (int i = 0; i < shown; i++)
			on[i][r] = one[i];
		snprintf(command, sizeof command, "rm -r %s", folder);
		if (system(command))
			return 1;
	}
	printf("%-22s %10s %10s %10s\n", alone ? "ns, recorder alone" : "ns a call", "off", "recorded", "added");
	for (int i = 0; i < shown; i++) {
		qsort(off[i], ROUNDS, sizeof **off, by_size);
		qsort(on[i], ROUNDS, sizeof **on, by_size);
		double a = off[i][ROUNDS / 2], b = on[i][ROUNDS / 2];
		printf("%-22s %10.1f %10.1f %10.1f\n", alone ? alone_names[i] : rows[i].name, a, b, b - a);
	}
	return 0;
}
