package cusolver

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
)

// contest is a routine that LAPACK is compared with: square matrices, put back before every call.
type contest struct {
	name     string
	definite bool // a large diagonal
	f        func(r *rig, x *arena, n int64) error
}

// arena is the memory of a contest.
type arena struct{ a, work, values, u, v, info hostmem.Ptr }

const arenaWork = 20 // matrices

var contests = []contest{
	{"potrf", true, func(r *rig, x *arena, n int64) error {
		return r.th.Potrf(r.h, fills[0], n, x.a, n, 0, 0, x.info, r.e)
	}},
	{"getrf", true, func(r *rig, x *arena, n int64) error {
		return r.th.Getrf(r.h, n, n, x.a, n, 0, x.values, x.info, r.e)
	}},
	{"geqrf", true, func(r *rig, x *arena, n int64) error {
		return r.th.Geqrf(r.h, n, n, x.a, n, x.values, x.work, arenaWork*n*n, x.info, r.e)
	}},
	{"orgqr", true, func(r *rig, x *arena, n int64) error {
		return r.th.Orgqr(r.h, n, n, n, x.a, n, x.values, x.work, arenaWork*n*n, x.info, r.e)
	}},
	{"syevd", false, func(r *rig, x *arena, n int64) error {
		return r.th.Syevd(r.h, withVectors, fills[0], n, x.a, n, x.values, x.work, arenaWork*n*n, x.info, r.e)
	}},
	{"gesvd", false, func(r *rig, x *arena, n int64) error {
		return r.th.Gesvd(r.h, 'S', 'S', n, n, x.a, n, x.values, x.u, n, x.v, n, x.work, arenaWork*n*n, 0, x.info, r.e)
	}},
	{"geev", false, func(r *rig, x *arena, n int64) error {
		t := typeOf(r.e)
		return r.th.DnXgeev(r.h, 0, noVectors, withVectors, n, t, x.a, n, t, x.values, t, 0, 1, t, x.v, n, t, x.work, uint64(arenaWork*n*n*int64(r.e.Size())), 0, 0, x.info)
	}},
}

// Benchmark measures what LAPACK is compared with. docs/libraries.md has the ratios.
func Benchmark(b *testing.B) {
	for _, n := range []int{16, 32, 48, 64, 128, 256, 512, 1024} {
		for _, e := range []Elem{F64, F32, C64, C32} {
			for _, c := range contests {
				if e == F64 || !c.definite {
					b.Run(fmt.Sprintf("%s/%v/%d", c.name, e, n), func(b *testing.B) { c.measure(b, n, e) })
				}
			}
		}
	}
}

// processor is the time that the process had processors: on a busy machine only this says something.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (c *contest) measure(b *testing.B, n int, e Elem) {
	if err := start(); err != nil {
		b.Fatal(err)
	}
	th := new(Thread)
	h, err := th.DnCreate()
	if err != nil {
		b.Fatal(err)
	}
	r := &rig{th: th, h: Handle(h), rng: rand.New(rand.NewPCG(1, 2)), e: e}
	defer func() { _ = th.DnDestroy(Handle(h)) }()
	memory := func(elements int) hostmem.Ptr {
		at, err := th.driver().MemAlloc(uint64(elements * e.Size()))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = th.driver().MemFree(at) })
		return hostmem.Ptr(at)
	}
	x := &arena{memory(n * n), memory(arenaWork * n * n), memory(2 * n), memory(n * n), memory(n * n), memory(1)}
	a := make([]byte, 0, n*n*e.Size())
	for i := range n * n {
		v := complex(r.rng.Float64()-0.5, 0)
		if e == C32 || e == C64 {
			v += complex(0, r.rng.Float64()-0.5)
		}
		if c.definite && i%(n+1) == 0 {
			v += complex(float64(n), 0)
		}
		a = append(a, cublas.Encode(e, v)...)
	}
	var used time.Duration
	run := func() {
		copy(hostmem.Bytes(x.a, uint64(len(a))), a)
		before := processor(b)
		b.StartTimer()
		if err := c.f(r, x, int64(n)); err != nil {
			b.Fatal(err)
		}
		if err := th.driver().CtxSynchronize(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		used += processor(b) - before
	}
	run() // compiles
	used = 0
	b.ResetTimer()
	for range b.N {
		run()
	}
	b.ReportMetric(float64(used.Microseconds())/1e3/float64(b.N), "cpu-ms/op")
}
