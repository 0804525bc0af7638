/* What the driver answers to bad input. Each probe runs in a child process of its own, because a real driver may crash
 * or poison its context; the transcript is one line a probe: its number below and the CUresult, or "crash". Recorded on real hardware in
 * errors.want; where the real driver crashes we answer an error of our own choosing. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".global .u32 gv[4];\n"
    ".visible .entry k(.param .u64 p) { .reg .b64 %a; .reg .b32 %t; ld.param.u64 %a, [p]; mov.u32 %t, 7; st.global.u32 [%a], %t; ret; }\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry trapper() { trap; }\n"
    ".visible .entry small() .maxntid 64, 1, 1 { ret; }\n";

static CUcontext ctx;
static CUdevice dev;
static CUmodule mod;
static CUfunction fk, fempty, ftrap, fsmall;

static int setup(void) {
    int e = cuInit(0);
    if (e) return e;
    if ((e = cuDeviceGet(&dev, 0))) return e;
    if ((e = cuDevicePrimaryCtxRetain(&ctx, dev))) return e;
    if ((e = cuCtxSetCurrent(ctx))) return e;
    if ((e = cuModuleLoadData(&mod, ptx))) return e;
    if ((e = cuModuleGetFunction(&fk, mod, "k"))) return e;
    if ((e = cuModuleGetFunction(&fempty, mod, "empty"))) return e;
    if ((e = cuModuleGetFunction(&fsmall, mod, "small"))) return e;
    return cuModuleGetFunction(&ftrap, mod, "trapper");
}

static int launch(CUfunction f, unsigned gx, unsigned bx, unsigned by, unsigned sh) {
    CUdeviceptr d = 0;
    void *args[] = {&d};
    return cuLaunchKernel(f, gx, 1, 1, bx, by, 1, sh, 0, args, 0);
}

static int fault(CUdeviceptr d, int what) {
    void *args[] = {&d};
    int e = cuLaunchKernel(what ? ftrap : fk, 1, 1, 1, 1, 1, 1, 0, 0, what ? 0 : args, 0);
    if (e) return 10000 + e;
    return cuCtxSynchronize();
}

static char logbuf[4096];
static int load(const char *text, int want_log) {
    CUmodule m;
    CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *v[] = {logbuf, (void *)(uintptr_t)sizeof logbuf};
    logbuf[0] = 0;
    int e = want_log ? cuModuleLoadDataEx(&m, text, 2, o, v) : cuModuleLoadData(&m, text);
    if (want_log && e && !logbuf[0]) return 20000 + e;
    return e;
}

#define RANDOM ((void *)0x1234567)
static int probe(int n) {
    CUcontext c = 0; CUstream s = 0; CUevent ev = 0, ev2 = 0; CUdeviceptr p = 0; CUfunction f = 0; CUmodule m = 0; CUdevice d = 0;
    size_t sz = 0; int v = 0; float ms = 0; char small[4]; CUdeviceptr base = 0; unsigned fl = 0; int e;
    switch (n) {
    case 0: return launch(fempty, 1, 1025, 1, 0);
    case 1: return launch(fempty, 0, 32, 1, 0);
    case 2: return launch(fempty, 1, 0, 1, 0);
    case 3: return launch(fempty, 1, 32, 1, 1 << 20);
    case 4: return launch(fempty, 1, 64, 64, 0);
    case 5: return launch(0, 1, 32, 1, 0);
    case 6: return launch(fsmall, 1, 65, 1, 0);
    case 7: return launch(fempty, 1, 32, 1, 49 * 1024);
    case 8: return cuMemFree((CUdeviceptr)0x1234567);
    case 9: return cuMemFree(0);
    case 10: return cuMemAlloc(&p, 0);
    case 11: return cuMemAlloc(&p, (size_t)1 << 50);
    case 12: return cuModuleGetFunction(&f, mod, "nosuch");
    case 13: return cuModuleGetFunction(&f, mod, "gv");
    case 14: return cuModuleGetGlobal(&p, &sz, mod, "nosuch");
    case 15: return cuModuleGetGlobal(&p, &sz, mod, "k");
    case 16: return cuModuleGetFunction(&f, 0, "k");
    case 17: return load("garbage", 0);
    case 18: return load("", 0);
    case 19: return load(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; ret; }\n", 1);
    case 20: return load(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { /* never closed", 1);
    case 21: return load(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {", 1);
    case 22: return load(".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n", 0);
    case 23: return load(".version 7.0\n.target sm_999\n.address_size 64\n.visible .entry k() { ret; }\n", 0);
    case 24: return cuModuleLoad(&m, "/nonexistent/file.ptx");
    case 25: return fault(0, 0);
    case 26: return fault(0x123456789000ull, 0);
    case 27: return fault(0, 1);
    case 28: cuMemAlloc(&p, 16); return fault(p + 1, 0);
    case 29: fault(0, 0); return cuMemAlloc(&p, 16);
    case 30: fault(0, 0); return launch(fempty, 1, 1, 1, 0);
    case 31: fault(0, 0); return cuCtxGetCurrent(&c);
    case 32: fault(0, 0); return cuDeviceGetCount(&v);
    case 33: return cuCtxPopCurrent(&c) ? 10001 : cuCtxPopCurrent(&c);
    case 34: cuCtxSetCurrent(0); return cuMemAlloc(&p, 16);
    case 35: cuCtxSetCurrent(0); return cuCtxSynchronize();
    case 36: return cuDeviceGet(&d, 99);
    case 37: return cuDeviceGet(&d, -1);
    case 38: return cuDeviceGetAttribute(&v, (CUdevice_attribute)9999, dev);
    case 39: return cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 77);
    case 40: return cuDeviceGetAttribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev);
    case 41: return cuDeviceGetName(small, 4, dev);
    case 42: return cuDeviceGetName(small, 0, dev);
    case 43: return cuStreamCreate(&s, 0x80);
    case 44: return cuStreamCreate(0, 0);
    case 45: cuStreamCreate(&s, 0); cuStreamDestroy(s); return cuStreamSynchronize(s);
    case 46: return cuStreamSynchronize((CUstream)RANDOM);
    case 47: return cuEventRecord(0, 0);
    case 48: cuEventCreate(&ev, 0); cuEventCreate(&ev2, 0); return cuEventElapsedTime(&ms, ev, ev2);
    case 49: cuEventCreate(&ev, 0); return cuEventQuery(ev);
    case 50: cuEventCreate(&ev, CU_EVENT_DISABLE_TIMING); cuEventCreate(&ev2, 0); cuEventRecord(ev, 0); cuEventRecord(ev2, 0); cuCtxSynchronize(); return cuEventElapsedTime(&ms, ev, ev2);
    case 51: cuEventCreate(&ev, 0); cuEventDestroy(ev); return cuEventRecord(ev, 0);
    case 52: return cuEventCreate(&ev, 0x1000);
    case 53: return cuMemcpyHtoD((CUdeviceptr)0x1234567, small, 4);
    case 54: cuMemAlloc(&p, 16); return cuMemcpyDtoH(small, p, 0);
    case 55: cuMemAlloc(&p, 16); return cuMemcpyHtoD(p, logbuf, 4096);
    case 56: return cuMemGetAddressRange(&base, &sz, (CUdeviceptr)0x1234567);
    case 57: cuMemAlloc(&p, 100); e = cuMemGetAddressRange(&base, &sz, p + 50); return e ? e : (base == p && sz == 100 ? 0 : 10000);
    case 58: cuMemAlloc(&p, 16); cuMemFree(p); return cuMemFree(p);
    case 59: cuMemAlloc(&p, 16); return cuMemFree(p + 4);
    case 60: cuMemAlloc(&p, 16); return cuMemsetD32(p + 1, 0, 1);
    case 61: cuMemAlloc(&p, 16); return cuMemsetD8(p, 0, 0);
    case 62: cuMemAlloc(&p, 16); return cuMemsetD32(p, 0, 1 << 20);
    case 63: return cuModuleUnload(0);
    case 64: cuModuleUnload(mod); return cuModuleGetFunction(&f, mod, "k");
    case 65: return cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, 0);
    case 66: return cuFuncGetAttribute(&v, (CUfunction_attribute)99, fk);
    case 67: return cuFuncSetAttribute(fk, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20);
    case 68: return cuFuncSetAttribute(fk, CU_FUNC_ATTRIBUTE_NUM_REGS, 4);
    case 69: return cuCtxDestroy(0);
    case 70: return cuDevicePrimaryCtxRelease(dev) ? 10000 : cuDevicePrimaryCtxRelease(dev);
    case 71: return cuCtxDestroy(ctx);
    case 72: return cuGetErrorName((CUresult)123456, (const char **)&c);
    case 73: return cuInit(7);
    case 74: return cuDriverGetVersion(0);
    case 75: return cuMemHostAlloc((void **)&c, 0, 0);
    case 76: return cuMemFreeHost(small);
    case 77: return cuStreamWaitEvent(0, 0, 0);
    case 78: return cuCtxSetCurrent((CUcontext)RANDOM);
    case 79: return cuMemAlloc(0, 16);
    case 80: return cuStreamGetFlags((CUstream)0, &fl);
    case 81: cuStreamCreate(&s, 0); cuStreamDestroy(s); return cuStreamDestroy(s);
    case 82: cuStreamCreate(&s, 0); cuStreamDestroy(s); return cuLaunchKernel(fempty, 1, 1, 1, 1, 1, 1, 0, s, 0, 0);
    case 83: return cuStreamDestroy(0);
    case 84: return cuLaunchKernel(fk, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
    case 85: return launch(fempty, 0x80000000u, 1, 1, 0);
    case 86: return cuLaunchKernel(fempty, 1, 65536, 1, 1, 1, 1, 0, 0, 0, 0);
    case 87: return launch(fempty, 1, 1, 1, 227 * 1024);
    case 88: return cuFuncSetAttribute(fempty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024) ? 10000 : launch(fempty, 1, 1, 1, 227 * 1024);
    case 89: return cuDeviceGetByPCIBusId(&d, "garbage");
    case 90: return cuDeviceTotalMem(0, dev);
    case 91: return cuModuleGetFunction(&f, mod, 0);
    case 92: return cuMemcpy(0, 0, 16);
    case 93: return cuCtxPushCurrent(0);
    case 94: return cuEventDestroy(0);
    case 95: return cuMemcpyDtoD((CUdeviceptr)0x1000, (CUdeviceptr)0x2000, 4);
    }
    return -1;
}

int main(int argc, char **argv) {
    int only = argc > 1 ? atoi(argv[1]) : -1;
    for (int n = 0;; n++) {
        if (only >= 0 && n != only) { if (n > only) break; continue; }
        int fd[2];
        if (pipe(fd)) return 1;
        pid_t pid = fork();
        if (pid == 0) {
            int e = setup();
            int r = e ? 30000 + e : probe(n);
            if (write(fd[1], &r, sizeof r) != sizeof r) _exit(1);
            _exit(0);
        }
        close(fd[1]);
        int r = -2, st = 0;
        ssize_t got = read(fd[0], &r, sizeof r);
        close(fd[0]);
        waitpid(pid, &st, 0);
        if (got != sizeof r) printf("%d crash\n", n);
        else if (r == -1) break;
        else printf("%d %d\n", n, r);
        fflush(stdout);
    }
    return 0;
}
