// A Go program that opens the library at run time, as ollama does, launches kernels and survives one that faults. Its own nil
// dereferences stay its own.
package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef int (*fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static int call(void *f, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) { return ((fn)f)(a, b, c, d, 0, 0, 0, 0, 0, 0, 0); }

static int launch(void *f, uintptr_t k, uint64_t p, uint32_t v, uint32_t threads) {
	void *args[] = {&p, &v};
	return ((fn)f)(k, 1, 1, 1, threads, 1, 1, 0, 0, (uintptr_t)args, 0);
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

const ptx = `.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 v) { .reg .b32 %r<2>; .reg .b64 %a<3>; ld.param.u64 %a0, [p]; ld.param.u32 %r0, [v]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %a1, %r1, 4; add.u64 %a2, %a0, %a1; add.u32 %r0, %r0, %r1; st.global.u32 [%a2], %r0; ret; }
.visible .entry poke(.param .u64 p, .param .u32 v) { .reg .b32 %r<2>; .reg .b64 %a<3>; ld.param.u64 %a0, [p]; ld.param.u32 %r0, [v]; st.global.u32 [%a0], %r0; ret; }
`

var lib unsafe.Pointer

func symbol(name string) unsafe.Pointer {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return C.dlsym(lib, n)
}

func ok(want int, name string, args ...uintptr) {
	var a [4]C.uintptr_t
	for i, v := range args {
		a[i] = C.uintptr_t(v)
	}
	if got := int(C.call(symbol(name), a[0], a[1], a[2], a[3])); got != want {
		fmt.Println(name, got, "want", want)
		os.Exit(1)
	}
}

// cell is a word of C's memory for answers.
type cell struct{ p *uintptr }

func newCell() cell        { return cell{(*uintptr)(C.calloc(1, 64))} }
func (c cell) at() uintptr { return uintptr(unsafe.Pointer(c.p)) }

func kernel(mod uintptr, name string) uintptr {
	f := newCell()
	n := C.CString(name)
	ok(0, "cuModuleGetFunction", f.at(), mod, uintptr(unsafe.Pointer(n)))
	return *f.p
}

func launch(k uintptr, p uint64, v, threads uint32) {
	if rc := C.launch(symbol("cuLaunchKernel"), C.uintptr_t(k), C.uint64_t(p), C.uint32_t(v), C.uint32_t(threads)); rc != 0 {
		fmt.Println("launch", rc)
		os.Exit(1)
	}
}

func works(fill uintptr, v uint32) {
	p := newCell()
	out := (*[32]uint32)(C.calloc(32, 4))
	ok(0, "cuMemAlloc_v2", p.at(), 128)
	launch(fill, uint64(*p.p), v, 32)
	ok(0, "cuMemcpyDtoH_v2", uintptr(unsafe.Pointer(out)), *p.p, 128)
	for i, x := range out {
		if x != v+uint32(i) {
			fmt.Println("wrong at", i)
			os.Exit(1)
		}
	}
	ok(0, "cuMemFree_v2", *p.p)
}

func nilPanics() (caught bool) {
	defer func() { caught = recover() != nil }()
	var p *[64]int
	p[3]++
	return false
}

// threadsEnd: threads that called us end while others stop the world, so that preemption signals are pending for them.
func threadsEnd(ctx uintptr) {
	var wg sync.WaitGroup
	for range 400 {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
			ok(0, "cuCtxSetCurrent", ctx)
			runtime.GC()
		})
	}
	wg.Wait()
}

func main() {
	name := C.CString("libcuda.so.1")
	if lib = C.dlopen(name, C.RTLD_NOW); lib == nil {
		fmt.Println(C.GoString(C.dlerror()))
		os.Exit(1)
	}
	ok(0, "cuInit", 0)
	text := C.CString(ptx)
	for range 3 {
		runtime.LockOSThread() // a context is a thread's
		ctx, mod := newCell(), newCell()
		ok(0, "cuDevicePrimaryCtxRetain", ctx.at(), 0)
		ok(0, "cuCtxSetCurrent", *ctx.p)
		ok(0, "cuModuleLoadData", mod.at(), uintptr(unsafe.Pointer(text)))
		fill, poke := kernel(*mod.p, "fill"), kernel(*mod.p, "poke")
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				runtime.LockOSThread()
				ok(0, "cuCtxSetCurrent", *ctx.p)
				for i := range 10 {
					works(fill, uint32(g*100+i))
				}
				if !nilPanics() {
					fmt.Println("a nil dereference was lost")
					os.Exit(1)
				}
				runtime.GC()
			})
		}
		wg.Wait()
		threadsEnd(*ctx.p)
		launch(poke, 0, 1, 1)
		ok(700, "cuCtxSynchronize")
		if !nilPanics() {
			fmt.Println("a nil dereference was lost")
			os.Exit(1)
		}
		ok(0, "cuDevicePrimaryCtxReset_v2", 0)
		runtime.UnlockOSThread()
	}
	fmt.Println("ok")
}
