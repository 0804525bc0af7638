# Python as the host: faulthandler on before or after the library is there, kernels that work and kernels that fault, Python's own
# exceptions in between, and a real crash at the end, which must still be Python's to report: host.py before|after|crash.
import ctypes, faulthandler, gc, sys, threading

PTX = rb"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 v) { .reg .b32 %r<2>; .reg .b64 %a<3>; ld.param.u64 %a0, [p]; ld.param.u32 %r0, [v]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %a1, %r1, 4; add.u64 %a2, %a0, %a1; add.u32 %r0, %r0, %r1; st.global.u32 [%a2], %r0; ret; }
.visible .entry poke(.param .u64 p, .param .u32 v) { .reg .b32 %r<2>; .reg .b64 %a<3>; ld.param.u64 %a0, [p]; ld.param.u32 %r0, [v]; st.global.u32 [%a0], %r0; ret; }
"""

when = sys.argv[1]
if when == "before":
    faulthandler.enable()
cuda = ctypes.CDLL("libcuda.so.1")


def ok(code, want=0):
    if code != want:
        raise SystemExit(f"{sys._getframe(1).f_lineno}: {code}, want {want}")


def launch(f, p, v, threads=32):
    a, b = ctypes.c_uint64(p), ctypes.c_uint32(v)
    args = (ctypes.c_void_p * 2)(ctypes.addressof(a), ctypes.addressof(b))
    return cuda.cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, None, args, None)


def start():
    ctx, mod, dev = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    ok(cuda.cuDeviceGet(ctypes.byref(dev), 0))
    ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), dev))
    ok(cuda.cuCtxSetCurrent(ctx))
    ok(cuda.cuModuleLoadData(ctypes.byref(mod), PTX))
    fill, poke = ctypes.c_void_p(), ctypes.c_void_p()
    ok(cuda.cuModuleGetFunction(ctypes.byref(fill), mod, b"fill"))
    ok(cuda.cuModuleGetFunction(ctypes.byref(poke), mod, b"poke"))
    return fill, poke


def works(fill, v):
    p, out = ctypes.c_uint64(), (ctypes.c_uint32 * 32)()
    ok(cuda.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(128)))
    ok(launch(fill, p.value, v))
    ok(cuda.cuMemcpyDtoH_v2(out, p, ctypes.c_size_t(128)))
    assert list(out) == [v + i for i in range(32)]
    ok(cuda.cuMemFree_v2(p))


ok(cuda.cuInit(0))
if when == "after":
    faulthandler.enable()


def recurse(n):
    return recurse(n + 1) + 1


for turn in range(3):
    fill, poke = start()
    for i in range(20):
        works(fill, turn * 100 + i)
    try:
        recurse(0)
    except RecursionError:
        pass
    gc.collect()
    threads = [threading.Thread(target=lambda k=k: (ok(cuda.cuCtxSetCurrent(ctx_of(0))), works(fill, k))) for k in range(4)]

    def ctx_of(dev):
        c = ctypes.c_void_p()
        ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(c), dev))
        return c

    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ok(launch(poke, 0, 1, 1))
    ok(cuda.cuCtxSynchronize(), 700)
    ok(cuda.cuDevicePrimaryCtxReset_v2(0))
print("ok", flush=True)
if when == "crash":
    faulthandler.enable()
    fill, poke = start()
    works(fill, 1)
    ctypes.string_at(8)
