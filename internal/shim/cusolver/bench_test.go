package cusolver

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/hostmem"
)

// Benchmark measures what LAPACK is compared with: f64, square. The matrix is put back before every call.
func Benchmark(b *testing.B) {
	for _, n := range []int{512, 1024} {
		for name, f := range map[string]func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error{
			"potrf": func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error {
				return r.th.Potrf(r.h, fills[0], n, p, n, 0, 0, info, F64)
			},
			"getrf": func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error {
				return r.th.Getrf(r.h, n, n, p, n, 0, tau, info, F64)
			},
			"geqrf": func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error {
				return r.th.Geqrf(r.h, n, n, p, n, tau, work, n*n, info, F64)
			},
			"orgqr": func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error {
				return r.th.Orgqr(r.h, n, n, n, p, n, tau, work, n*n, info, F64)
			},
			"syevd": func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error {
				return r.th.Syevd(r.h, withVectors, fills[0], n, p, n, tau, work, n*n, info, F64)
			},
			"gesvd": func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error {
				return r.th.Gesvd(r.h, 'S', 'S', n, n, p, n, tau, p, n, work, n, work.Index(int(n*n), 8), 3*n*n, 0, info, F64)
			},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) { measure(b, n, f) })
		}
	}
}

// processor is the time that the process had processors, the filling of the matrix too: on a busy machine only this says something.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func measure(b *testing.B, n int, f func(r *rig, p, work, tau, info hostmem.Ptr, n int64) error) {
	if err := start(); err != nil {
		b.Fatal(err)
	}
	th := new(Thread)
	h, err := th.DnCreate()
	if err != nil {
		b.Fatal(err)
	}
	r := &rig{th: th, h: Handle(h), rng: rand.New(rand.NewPCG(1, 2)), e: F64}
	defer func() { _ = th.DnDestroy(Handle(h)) }()
	memory := func(bytes int) hostmem.Ptr {
		at, err := th.driver().MemAlloc(uint64(bytes))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = th.driver().MemFree(at) })
		return hostmem.Ptr(at)
	}
	p, work, tau, info := memory(n*n*8), memory(5*n*n*8), memory(8*n), memory(4)
	a := make([]float64, n*n)
	for i := range a {
		a[i] = r.rng.Float64() - 0.5
		if i%(n+1) == 0 {
			a[i] += float64(n)
		}
	}
	run := func() {
		for i, v := range a {
			hostmem.Store(p.Index(i, 8), v)
		}
		b.StartTimer()
		if err := f(r, p, work, tau, info, int64(n)); err != nil {
			b.Fatal(err)
		}
		if err := th.driver().CtxSynchronize(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
	}
	run() // compiles
	b.ResetTimer()
	var used time.Duration
	for range b.N {
		before := processor(b)
		run()
		used += processor(b) - before
	}
	b.ReportMetric(float64(used.Microseconds())/1e3/float64(b.N), "cpu-ms/op")
}
