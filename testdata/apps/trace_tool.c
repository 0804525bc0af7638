// What kudzu trace is tried on: the driver API with a kernel whose module has source lines, the runtime API, cuBLAS, threads that
// nest nothing, and the ways in which a program can end. The argument says which.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi_check.h"

#define OK(call) EXPECT(call, CUDA_SUCCESS)

static const char ptx[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".file 1 \"scale.cu\"\n"
	".visible .entry scale(.param .u64 p, .param .u32 n, .param .f32 by) {\n"
	"  .reg .pred %q; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %a<3>;\n"
	"  .loc 1 7 0\n"
	"  ld.param.u64 %a0, [p]; ld.param.u32 %r0, [n]; ld.param.f32 %f0, [by];\n"
	"  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
	"  setp.ge.u32 %q, %r5, %r0; @%q ret;\n"
	"  mul.wide.u32 %a1, %r5, 4; add.u64 %a2, %a0, %a1;\n"
	"  ld.global.f32 %f1, [%a2]; mul.rn.f32 %f2, %f1, %f0; st.global.f32 [%a2], %f2; ret; }\n";

enum { N = 1000 };

static CUcontext context;
static CUfunction scale;
static CUdeviceptr memory;
static float host[N];

static void begin(void) {
	CUdevice device;
	CUmodule module;
	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuCtxCreate_v2(&context, CU_CTX_SCHED_YIELD, device));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&scale, module, "scale"));
	OK(cuMemAlloc_v2(&memory, sizeof host));
	for (int i = 0; i < N; i++)
		host[i] = (float)i;
}

static void launch(CUstream stream, float by) {
	uint32_t n = N;
	void *params[] = {&memory, &n, &by};
	OK(cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, stream, params, NULL));
}

static void driver(void) {
	CUstream stream;
	CUevent event;
	CUdeviceptr much;
	begin();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(cuMemcpyHtoD_v2(memory, host, sizeof host));
	launch(stream, 1.5f);
	OK(cuEventRecord(event, stream));
	while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
		usleep(1000);
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH_v2(host, memory, sizeof host));
	EXPECT(host[10] == 15, 1);
	EXPECT(cuMemAlloc_v2(&much, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemFree_v2(memory));
	OK(cuStreamDestroy_v2(stream));
	OK(cuCtxDestroy_v2(context));
}

static void blas(void) {
	float *a, *b, *c, one = 1, zero = 0;
	cublasHandle_t handle;
	EXPECT(cudaMalloc((void **)&a, 64 * sizeof *a), 0);
	EXPECT(cudaMalloc((void **)&b, 64 * sizeof *b), 0);
	EXPECT(cudaMalloc((void **)&c, 64 * sizeof *c), 0);
	EXPECT(cudaMemset(a, 0, 64 * sizeof *a), 0);
	EXPECT(cublasCreate_v2(&handle), 0);
	EXPECT(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, 8, &one, a, 8, b, 8, &zero, c, 8), 0);
	EXPECT(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, -1, 8, 8, &one, a, 8, b, 8, &zero, c, 8), CUBLAS_STATUS_INVALID_VALUE);
	EXPECT(cudaDeviceSynchronize(), 0);
	EXPECT(cublasDestroy_v2(handle), 0);
	EXPECT(cudaFree(a), 0);
}

static void *work(void *arg) {
	CUstream stream;
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, 0));
	for (int i = 0; i < 20; i++) {
		launch(stream, (float)(intptr_t)arg);
		OK(cuStreamSynchronize(stream));
	}
	OK(cuStreamDestroy_v2(stream));
	return NULL;
}

static void threads(void) {
	pthread_t t[4];
	begin();
	for (intptr_t i = 0; i < 4; i++)
		EXPECT(pthread_create(&t[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void end(int how) {
	begin();
	for (int i = 0; i < 100; i++)
		launch(0, 1);
	OK(cuCtxSynchronize());
	if (how)
		raise(how);
}

static void children(void) {
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		driver();
		_exit(failures ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	EXPECT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
	driver();
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "driver";
	if (!strcmp(what, "driver"))
		driver();
	else if (!strcmp(what, "blas"))
		blas();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "crash"))
		end(SIGSEGV);
	else if (!strcmp(what, "kill"))
		end(SIGKILL);
	else if (!strcmp(what, "term")) {
		end(0);
		puts("waiting");
		fflush(stdout);
		for (;;)
			pause();
	} else if (!strcmp(what, "fork"))
		children();
	else if (!strcmp(what, "exit")) {
		int version;
		OK(cuInit(0));
		OK(cuDriverGetVersion(&version));
		return 7;
	}
	return finish();
}
