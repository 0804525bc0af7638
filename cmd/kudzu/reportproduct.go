package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

var started sync.Once

// reportProduct multiplies two matrices on a device of AMD's, by rocBLAS and by our kernels.
func reportProduct(out io.Writer, b backend.Backend, device int) {
	started.Do(func() { // a process has one driver
		_ = os.Setenv(config.Backend, b.Name()) // the name is good
		driver.Start([]backend.Backend{b})
	})
	for _, p := range []cublas.Provider{rocblas.New(rocblas.Config{}), nil} {
		by := "ours"
		cublas.Unuse()
		if p != nil {
			by = p.Name()
			cublas.Use(p)
		}
		start := time.Now()
		done, err := product(cu.CUdevice(device), p != nil)
		verdict := "right"
		switch {
		case err != nil:
			verdict = "FAILED: " + oneLine(err)
		case !done:
			verdict = "not done by it"
		}
		fmt.Fprintf(out, "    %-7s %d cuBLAS: %-9s %5.1f ms  %s\n", b.Name(), device, by, float64(time.Since(start).Microseconds())/1e3, verdict)
	}
	cublas.Unuse()
}

// product is a small sgemm with known numbers; forwarded goes to the provider only.
func product(dev cu.CUdevice, forwarded bool) (done bool, err error) {
	const m, n, k = 33, 17, 40
	t := new(driver.Thread)
	if err := t.Init(0); err != nil {
		return false, err
	}
	ctx, err := t.CtxCreate(0, dev)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, t.CtxDestroy(ctx)) }()
	bt := (*cublas.Thread)(t)
	h, err := bt.Create()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, bt.Destroy(blas.CublasHandle_t(h))) }()
	a, b, c, scalars := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n), []float32{1, 0}
	for i := range a {
		a[i] = float32(i%7) - 3
	}
	for i := range b {
		b[i] = float32(i%5) - 2
	}
	var at [3]driver.DevPtr
	for i, v := range [][]float32{a, b, c} {
		if at[i], err = t.MemAlloc(uint64(4 * len(v))); err != nil {
			return false, err
		}
		if err = t.MemcpyHtoD(at[i], hostmem.Of(&v[0]), uint64(4*len(v))); err != nil {
			return false, err
		}
	}
	defer runtime.KeepAlive(scalars)
	alpha, beta := hostmem.Of(&scalars[0]), hostmem.Of(&scalars[1])
	if forwarded {
		done, err = bt.Forward("cublasSgemm_v2", h, 0, 0, m, n, k, uint64(alpha), uint64(at[0]), m, uint64(at[1]), k, uint64(beta), uint64(at[2]), m)
	} else {
		done, err = true, bt.Gemm(blas.CublasHandle_t(h), blas.CUBLAS_OP_N, blas.CUBLAS_OP_N, m, n, k, alpha, hostmem.Ptr(at[0]), m, hostmem.Ptr(at[1]), k, beta, hostmem.Ptr(at[2]), m, cublas.F32)
	}
	if !done || err != nil {
		return done, err
	}
	if err = t.MemcpyDtoH(hostmem.Of(&c[0]), at[2], uint64(4*len(c))); err != nil {
		return true, err
	}
	for i := range m {
		for j := range n {
			want := float32(0)
			for l := range k {
				want += a[i+l*m] * b[l+j*k]
			}
			if c[i+j*m] != want {
				return true, fmt.Errorf("row %d, column %d: %v, want %v", i, j, c[i+j*m], want)
			}
		}
	}
	return true, nil
}
