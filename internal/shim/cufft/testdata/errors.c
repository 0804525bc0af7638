/* What cuFFT answers to bad input: one line a probe, its text and the result. A probe that crashes ends the program: the caller starts it
 * again with the number after. Recorded on real hardware in fft_errors.want; where the real library crashes we answer an error of our
 * own choosing. */
#include <cufft.h>
#ifdef KUDZU_HEADERS
extern int cudaMalloc(void **, unsigned long), cudaStreamDestroy(void *), cudaStreamCreate(void **), cudaDeviceSynchronize(void);
#else
#include <cuda_runtime.h>
#include <cufftXt.h>
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *data;   /* device memory, enough for every probe */
static cufftHandle c2c, r2c, c2r, z2z, bare, gone, many;
static size_t size;
static int n2[2] = {8, 8}, n3[3] = {4, 4, 4}, n4[4] = {2, 2, 2, 2}, zero2[2] = {8, 0};
static long long l1[1] = {16}, l2[2] = {8, 8}, l3[1] = {12}, huge3[3] = {1 << 20, 1 << 20, 1 << 20};
static cufftHandle fresh(void) {
    cufftHandle h = -5;
    cufftCreate(&h);
    return h;
}
static int created; /* the first handle */

static void setup(void) {
    cudaMalloc(&data, 1 << 20);
    gone = -7;
    cufftCreate(&bare);
    created = bare;
    cufftPlan1d(&gone, 16, CUFFT_C2C, 1);
    cufftDestroy(gone);
    cufftPlan1d(&c2c, 16, CUFFT_C2C, 1);
    cufftPlan1d(&r2c, 16, CUFFT_R2C, 1);
    cufftPlan1d(&c2r, 16, CUFFT_C2R, 1);
    cufftPlan1d(&z2z, 16, CUFFT_Z2Z, 1);
    cufftPlanMany(&many, 1, n2, 0, 1, 8, 0, 1, 8, CUFFT_C2C, 4);
}

static cufftHandle p;
static int version, value;
static long long wide;

#define PROBES                                                                                                                            \
    X(created)                                                                                                                            \
    X(c2c - created)                                                                                                                      \
    X(cufftPlan1d(&p, 0, CUFFT_C2C, 1))                                                                                                   \
    X(cufftPlan1d(&p, -1, CUFFT_C2C, 1))                                                                                                  \
    X(cufftPlan1d(&p, 16, CUFFT_C2C, 0))                                                                                                  \
    X(cufftPlan1d(&p, 16, CUFFT_C2C, -1))                                                                                                 \
    X(cufftPlan1d(&p, 16, (cufftType)0, 1))                                                                                               \
    X(cufftPlan1d(&p, 16, (cufftType)0x99, 1))                                                                                            \
    X(cufftPlan1d(&p, 0, (cufftType)0x99, 1))                                                                                             \
    X(cufftPlan1d(&p, 1, CUFFT_R2C, 1))                                                                                                   \
    X(cufftPlan1d(&p, 1, CUFFT_C2R, 1))                                                                                                   \
    X(cufftPlan2d(&p, 0, 8, CUFFT_C2C))                                                                                                   \
    X(cufftPlan2d(&p, 8, 0, CUFFT_C2C))                                                                                                   \
    X(cufftPlan2d(&p, 8, 8, (cufftType)1))                                                                                                \
    X(cufftPlan3d(&p, 4, 4, 0, CUFFT_C2C))                                                                                                \
    X(cufftPlan3d(&p, 4, -4, 4, CUFFT_C2C))                                                                                               \
    X(cufftPlanMany(&p, 0, n2, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1))                                                                           \
    X(cufftPlanMany(&p, -1, n2, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1))                                                                          \
    X(cufftPlanMany(&p, 4, n4, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1))                                                                           \
    X(cufftPlanMany(&p, 2, 0, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1))                                                                            \
    X(cufftPlanMany(&p, 2, zero2, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1))                                                                        \
    X(cufftPlanMany(&p, 2, n2, 0, 0, 0, 0, 0, 0, CUFFT_C2C, 1))                                                                           \
    X(cufftPlanMany(&p, 2, n2, n2, 0, 64, n2, 1, 64, CUFFT_C2C, 1))                                                                       \
    X(cufftPlanMany(&p, 2, n2, n2, -1, 64, n2, 1, 64, CUFFT_C2C, 1))                                                                      \
    X(cufftPlanMany(&p, 2, n2, n2, 1, 64, n2, 0, 64, CUFFT_C2C, 1))                                                                       \
    X(cufftPlanMany(&p, 2, n2, n2, 1, 0, n2, 1, 0, CUFFT_C2C, 1))                                                                         \
    X(cufftPlanMany(&p, 2, n2, n2, 1, 0, n2, 1, 0, CUFFT_C2C, 4))                                                                         \
    X(cufftPlanMany(&p, 2, n2, n2, 1, -64, n2, 1, -64, CUFFT_C2C, 4))                                                                     \
    X(cufftPlanMany(&p, 2, n2, n2, 1, 8, n2, 1, 8, CUFFT_C2C, 4))                                                                         \
    X(cufftPlanMany(&p, 2, n2, zero2, 1, 64, n2, 1, 64, CUFFT_C2C, 1))                                                                    \
    X(cufftPlanMany(&p, 2, n2, n2, 1, 64, zero2, 1, 64, CUFFT_C2C, 1))                                                                    \
    X(cufftPlanMany(&p, 2, n2, n2, 1, 64, 0, 1, 64, CUFFT_C2C, 1))                                                                        \
    X(cufftPlanMany(&p, 3, n3, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 0))                                                                           \
    X(cufftPlanMany(&p, 3, n3, 0, 1, 0, 0, 1, 0, (cufftType)7, 1))                                                                        \
    X(cufftMakePlan1d(-1, 16, CUFFT_C2C, 1, &size))                                                                                       \
    X(cufftMakePlan1d(12345, 16, CUFFT_C2C, 1, &size))                                                                                    \
    X(cufftMakePlan1d(gone, 16, CUFFT_C2C, 1, &size))                                                                                     \
    X(cufftMakePlan1d(c2c, 16, CUFFT_C2C, 1, &size))                                                                                      \
    X(cufftMakePlan1d(fresh(), 0, CUFFT_C2C, 1, &size))                                                                                   \
    X(cufftMakePlan1d(fresh(), 16, CUFFT_C2C, 0, &size))                                                                                  \
    X(cufftMakePlan1d(fresh(), 16, (cufftType)5, 1, &size))                                                                               \
    X(cufftMakePlan2d(fresh(), 16, 0, CUFFT_C2C, &size))                                                                                  \
    X(cufftMakePlan3d(fresh(), 16, 0, 4, CUFFT_C2C, &size))                                                                               \
    X(cufftMakePlanMany(fresh(), 4, n4, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, &size))                                                           \
    X(cufftMakePlanMany64(fresh(), 0, l1, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, &size))                                                         \
    X(cufftMakePlanMany64(fresh(), 3, huge3, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, &size))                                                      \
    X(cufftMakePlanMany64(fresh(), 1, l1, 0, 1, 0, 0, 1, 0, CUFFT_C2C, -3, &size))                                                        \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_C_32F, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_32F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_C_32F, 0, 1, 0, CUDA_C_64F, 1, &size, CUDA_C_32F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_C_32F, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_64F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_R_32F, 0, 1, 0, CUDA_R_32F, 1, &size, CUDA_C_32F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_R_32F, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_R_32F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_C_16F, 0, 1, 0, CUDA_C_16F, 1, &size, CUDA_C_16F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l3, 0, 1, 0, CUDA_C_16F, 0, 1, 0, CUDA_C_16F, 1, &size, CUDA_C_16F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l3, 0, 1, 0, CUDA_C_16BF, 0, 1, 0, CUDA_C_16BF, 1, &size, CUDA_C_16BF))                             \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_C_16BF, 0, 1, 0, CUDA_C_16BF, 1, &size, CUDA_C_16BF))                             \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_C_16F, 0, 1, 0, CUDA_C_16F, 1, &size, CUDA_C_32F))                                \
    X(cufftXtMakePlanMany(fresh(), 1, l1, 0, 1, 0, CUDA_R_8I, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_32F))                                 \
    X(cufftXtMakePlanMany(fresh(), 2, l2, 0, 1, 0, CUDA_R_16F, 0, 1, 0, CUDA_C_16F, 2, &size, CUDA_C_16F))                                \
    X(cufftEstimate1d(0, CUFFT_C2C, 1, &size))                                                                                            \
    X(cufftEstimate1d(16, CUFFT_C2C, 0, &size))                                                                                           \
    X(cufftEstimate1d(16, (cufftType)3, 1, &size))                                                                                        \
    X(cufftEstimate2d(16, -1, CUFFT_C2C, &size))                                                                                          \
    X(cufftEstimate3d(16, 1, 0, CUFFT_C2C, &size))                                                                                        \
    X(cufftEstimateMany(4, n4, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, &size))                                                                    \
    X(cufftGetSize1d(-1, 16, CUFFT_C2C, 1, &size))                                                                                        \
    X(cufftGetSize1d(bare, 16, CUFFT_C2C, 1, &size))                                                                                      \
    X(cufftGetSize1d(bare, 0, CUFFT_C2C, 1, &size))                                                                                       \
    X(cufftGetSize1d(c2c, 16, CUFFT_C2C, 1, &size))                                                                                       \
    X(cufftGetSize(-1, &size))                                                                                                            \
    X(cufftGetSize(gone, &size))                                                                                                          \
    X(cufftGetSize(bare, &size))                                                                                                          \
    X(cufftGetSize(c2c, &size))                                                                                                           \
    X(cufftExecC2C(-1, data, data, CUFFT_FORWARD))                                                                                        \
    X(cufftExecC2C(gone, data, data, CUFFT_FORWARD))                                                                                      \
    X(cufftExecC2C(bare, data, data, CUFFT_FORWARD))                                                                                      \
    X(cufftExecC2C(c2c, 0, data, CUFFT_FORWARD))                                                                                          \
    X(cufftExecC2C(c2c, data, 0, CUFFT_FORWARD))                                                                                          \
    X(cufftExecC2C(c2c, data, data, 0))                                                                                                   \
    X(cufftExecC2C(c2c, data, data, 2))                                                                                                   \
    X(cufftExecC2C(c2c, data, data, -2))                                                                                                  \
    X(cufftExecC2C(c2c, 0, 0, 7))                                                                                                         \
    X(cufftExecC2C(r2c, data, data, CUFFT_FORWARD))                                                                                       \
    X(cufftExecC2C(z2z, data, data, CUFFT_FORWARD))                                                                                       \
    X(cufftExecR2C(c2c, data, data))                                                                                                      \
    X(cufftExecR2C(c2r, data, data))                                                                                                      \
    X(cufftExecC2R(r2c, data, data))                                                                                                      \
    X(cufftExecZ2Z(c2c, data, data, CUFFT_FORWARD))                                                                                       \
    X(cufftExecD2Z(r2c, data, data))                                                                                                      \
    X(cufftExecZ2D(c2r, data, data))                                                                                                      \
    X(cufftExecR2C(-1, data, data))                                                                                                       \
    X(cufftExecZ2D(-1, data, data))                                                                                                       \
    X(cufftExecR2C(r2c, 0, data))                                                                                                         \
    X(cufftXtExec(-1, data, data, CUFFT_FORWARD))                                                                                         \
    X(cufftXtExec(bare, data, data, CUFFT_FORWARD))                                                                                       \
    X(cufftXtExec(c2c, data, data, CUFFT_FORWARD))                                                                                        \
    X(cufftXtExec(c2c, data, data, 5))                                                                                                    \
    X(cufftXtExec(r2c, data, data, CUFFT_INVERSE))                                                                                        \
    X(cufftXtExec(c2r, data, data, CUFFT_FORWARD))                                                                                        \
    X(cufftXtExec(r2c, data, data, 5))                                                                                                    \
    X(cufftSetStream(-1, 0))                                                                                                              \
    X(cufftSetStream(bare, 0))                                                                                                            \
    X(cufftSetAutoAllocation(-1, 0))                                                                                                      \
    X(cufftSetAutoAllocation(c2c, 0))                                                                                                     \
    X(cufftSetAutoAllocation(fresh(), 0))                                                                                                 \
    X(cufftSetAutoAllocation(fresh(), 7))                                                                                                 \
    X(cufftSetWorkArea(-1, data))                                                                                                         \
    X(cufftSetWorkArea(fresh(), data))                                                                                                    \
    X(cufftSetWorkArea(many, data))                                                                                                       \
    X(cufftSetWorkArea(many, 0))                                                                                                          \
    X(cufftExecC2C(many, data, data, CUFFT_FORWARD))                                                                                      \
    X(cufftGetVersion(&version))                                                                                                          \
    X(version)                                                                                                                            \
    X(cufftGetProperty(MAJOR_VERSION, &value))                                                                                            \
    X(cufftGetProperty((libraryPropertyType)9, &value))                                                                                   \
    X(cufftSetPlanPropertyInt64(-1, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1))                                                            \
    X(cufftSetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1))                                                       \
    X(cufftSetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 5))                                                       \
    X(cufftSetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, -5))                                                      \
    X(cufftSetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, 2))                                              \
    X(cufftSetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, -2))                                             \
    X(cufftSetPlanPropertyInt64(fresh(), (cufftProperty)77, 1))                                                                           \
    X(cufftSetPlanPropertyInt64(c2c, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1))                                                           \
    X(cufftGetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &wide))                                                   \
    X((int)wide)                                                                                                                          \
    X(cufftGetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, &wide))                                          \
    X((int)wide)                                                                                                                          \
    X(cufftGetPlanPropertyInt64(fresh(), (cufftProperty)77, &wide))                                                                       \
    X(cufftGetPlanPropertyInt64(-1, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &wide))                                                        \
    X(cufftResetPlanProperty(fresh(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT))                                                             \
    X(cufftResetPlanProperty(fresh(), (cufftProperty)77))                                                                                 \
    X(cufftXtSetWorkAreaPolicy(-1, CUFFT_WORKAREA_MINIMAL, &size))                                                                        \
    X(cufftXtSetWorkAreaPolicy(fresh(), CUFFT_WORKAREA_MINIMAL, &size))                                                                   \
    X(cufftXtSetWorkAreaPolicy(c2c, CUFFT_WORKAREA_MINIMAL, &size))                                                                       \
    X(cufftXtSetWorkAreaPolicy(c2c, CUFFT_WORKAREA_PERFORMANCE, &size))                                                                   \
    X(cufftXtSetWorkAreaPolicy(c2c, (cufftXtWorkAreaPolicy)9, &size))                                                                     \
    X(cufftXtSetGPUs(-1, 1, n2))                                                                                                          \
    X(cufftXtSetGPUs(fresh(), 0, n2))                                                                                                     \
    X(cufftXtSetGPUs(fresh(), 2, zero2))                                                                                                  \
    X(cufftXtSetGPUs(fresh(), 2, n2))                                                                                                     \
    X(cufftXtSetGPUs(fresh(), 17, n2))                                                                                                    \
    X(cufftXtClearCallback(-1, CUFFT_CB_LD_COMPLEX))                                                                                      \
    X(cufftXtClearCallback(c2c, CUFFT_CB_LD_COMPLEX))                                                                                     \
    X(cufftXtClearCallback(c2c, CUFFT_CB_UNDEFINED))                                                                                      \
    X(cufftXtSetCallbackSharedSize(c2c, CUFFT_CB_LD_COMPLEX, 64))                                                                         \
    X(cufftXtSetCallbackSharedSize(-1, CUFFT_CB_LD_COMPLEX, 64))                                                                          \
    X(cufftXtSetCallback(-1, &data, CUFFT_CB_LD_COMPLEX, &data))                                                                          \
    X(cufftXtSetCallback(fresh(), &data, CUFFT_CB_LD_COMPLEX, &data))                                                                     \
    X(cufftXtSetCallback(r2c, &data, CUFFT_CB_LD_COMPLEX, &data))                                                                         \
    X(cufftXtSetCallback(c2c, &data, CUFFT_CB_UNDEFINED, &data))                                                                          \
    X(cufftXtSetJITCallback(fresh(), "cb", "no fatbin", 9, CUFFT_CB_LD_COMPLEX, &data))                                                   \
    X(cufftXtSetJITCallback(c2c, "cb", "no fatbin", 9, CUFFT_CB_LD_COMPLEX, &data))                                                       \
    X(cufftXtSetJITCallback(-1, "cb", "no fatbin", 9, CUFFT_CB_LD_COMPLEX, &data))                                                        \
    X(cufftXtSetJITCallback(fresh(), 0, "no fatbin", 9, CUFFT_CB_LD_COMPLEX, &data))                                                      \
    X(cufftXtSetJITCallback(fresh(), "cb", 0, 9, CUFFT_CB_LD_COMPLEX, &data))                                                             \
    X(cufftXtQueryPlan(-1, &wide, CUFFT_QUERY_1D_FACTORS))                                                                                \
    X(cufftDestroy(-1))                                                                                                                   \
    X(cufftDestroy(gone))                                                                                                                 \
    X(cufftDestroy(12345))                                                                                                                \
    X(cufftDestroy(bare))                                                                                                                 \
    X(cufftDestroy(bare))                                                                                                                 \
    X(cufftExecC2C(c2c, data, data, CUFFT_INVERSE))                                                                                       \
    X(cudaDeviceSynchronize())                                                                                                            \
    X(cufftXtSetCallback(c2c, 0, CUFFT_CB_LD_COMPLEX, &data))                                                                             \
    X(cufftXtSetGPUs(fresh(), 2, 0))                                                                                                      \
    X(cufftGetVersion(0))                                                                                                                 \
    X(cufftGetProperty(MAJOR_VERSION, 0))                                                                                                 \
    X(cufftCreate(0))                                                                                                                     \
    X(cufftPlan1d(0, 16, CUFFT_C2C, 1))                                                                                                   \
    X(cufftPlanMany(0, 1, n2, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1))                                                                            \
    X(cufftMakePlan1d(fresh(), 16, CUFFT_C2C, 1, 0))                                                                                      \
    X(cufftMakePlanMany(fresh(), 1, n2, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, 0))                                                               \
    X(cufftMakePlanMany64(fresh(), 1, l1, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, 0))                                                             \
    X(cufftXtMakePlanMany(fresh(), 1, 0, 0, 1, 0, CUDA_C_32F, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_32F))                                 \
    X(cufftEstimate1d(16, CUFFT_C2C, 1, 0))                                                                                               \
    X(cufftGetSize1d(c2c, 16, CUFFT_C2C, 1, 0))                                                                                           \
    X(cufftGetSize(c2c, 0))                                                                                                               \
    X(cufftGetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 0))                                                       \
    X(cufftXtSetWorkAreaPolicy(c2c, CUFFT_WORKAREA_USER, 0))                                                                              \
    X(cufftXtQueryPlan(c2c, 0, CUFFT_QUERY_1D_FACTORS))                                                                                   \
    X(cufftXtMalloc(c2c, 0, CUFFT_XT_FORMAT_INPLACE))                                                                                     \
    X(cufftXtFree(0))                                                                                                                     \
    X(cufftXtMemcpy(c2c, 0, 0, CUFFT_COPY_HOST_TO_DEVICE))                                                                                \
    X(cufftXtExecDescriptorC2C(c2c, 0, 0, CUFFT_FORWARD))

int main(int argc, char **argv) {
    int first = argc > 1 ? atoi(argv[1]) : 0, i = 0;
    setup();
#define X(e)                                                                                                                              \
    if (i++ >= first) {                                                                                                                   \
        printf("%d %s: ", i - 1, #e);                                                                                                     \
        fflush(stdout);                                                                                                                   \
        printf("%d\n", (int)(e));                                                                                                         \
        fflush(stdout);                                                                                                                   \
    }
    PROBES
    return 0;
}
