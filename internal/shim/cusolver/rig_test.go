package cusolver

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
)

// types are all that matrices have.
var types = []Elem{F32, F64, C32, C64}

// rig is a handle and a program's memory.
type rig struct {
	t   *testing.T
	th  *Thread
	h   Handle
	rng *rand.Rand
	e   Elem
}

// onTypes runs a test for every type.
func onTypes(t *testing.T, f func(r *rig)) {
	for _, e := range types {
		t.Run(e.String(), func(t *testing.T) {
			th, h := open(t)
			f(&rig{t, th, h, rand.New(rand.NewPCG(3, uint64(e))), e})
		})
	}
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// memory is n bytes on the device.
func (r *rig) memory(n int) hostmem.Ptr {
	r.t.Helper()
	at, err := r.th.driver().MemAlloc(uint64(max(n, 1)))
	r.ok(err)
	r.t.Cleanup(func() { _ = r.th.driver().MemFree(at) })
	return hostmem.Ptr(at)
}

// full is a matrix of the host: rows, columns, values column by column without gaps.
type full struct {
	m, n int
	v    []complex128
}

func newFull(m, n int) full           { return full{m, n, make([]complex128, m*n)} }
func (a full) at(i, j int) complex128 { return a.v[i+j*a.m] }
func (a full) set(i, j int, v complex128) {
	a.v[i+j*a.m] = v
}

func (a full) clone() full { return full{a.m, a.n, append([]complex128(nil), a.v...)} }

// adjoint is the conjugate transpose.
func (a full) adjoint() full {
	b := newFull(a.n, a.m)
	for j := range a.n {
		for i := range a.m {
			b.set(j, i, cmplx.Conj(a.at(i, j)))
		}
	}
	return b
}

func (a full) times(b full) full {
	c := newFull(a.m, b.n)
	for j := range b.n {
		for k := range a.n {
			s := b.at(k, j)
			if s == 0 {
				continue
			}
			for i := range a.m {
				c.v[i+j*c.m] += a.v[i+k*a.m] * s
			}
		}
	}
	return c
}

func (a full) minus(b full) full {
	c := a.clone()
	for i := range c.v {
		c.v[i] -= b.v[i]
	}
	return c
}

// norm is the largest sum of a column.
func (a full) norm() float64 {
	most := 0.0
	for j := range a.n {
		s := 0.0
		for i := range a.m {
			s += cmplx.Abs(a.at(i, j))
		}
		most = max(most, s)
		if math.IsNaN(s) {
			return s
		}
	}
	return most
}

// columns are the first n.
func (a full) columns(n int) full { return full{a.m, n, a.v[:a.m*n]} }

func eye(n int) full {
	a := newFull(n, n)
	for i := range n {
		a.set(i, i, 1)
	}
	return a
}

// round is what the type keeps of a value.
func (r *rig) round(v complex128) complex128 { return cublas.Decode(r.e, cublas.Encode(r.e, v)) }

// random is a matrix of numbers between -1 and 1.
func (r *rig) random(m, n int) full {
	a := newFull(m, n)
	for i := range a.v {
		v := complex(2*r.rng.Float64()-1, 0)
		if r.e == C32 || r.e == C64 {
			v += complex(0, 2*r.rng.Float64()-1)
		}
		a.v[i] = r.round(v)
	}
	return a
}

// hermitian is a random one.
func (r *rig) hermitian(n int) full {
	a := r.random(n, n)
	for j := range n {
		for i := range j {
			a.set(j, i, cmplx.Conj(a.at(i, j)))
		}
		a.set(j, j, complex(real(a.at(j, j)), 0))
	}
	return a
}

// positive is a positive definite one.
func (r *rig) positive(n int) full {
	a := r.hermitian(n)
	for i := range n {
		a.set(i, i, r.round(complex(float64(n)+cmplx.Abs(a.at(i, i)), 0)))
	}
	return a
}

// gap is what lies between columns and must stay.
const gap = 77

// put copies a matrix to the device, columns ld apart, with gaps that get knows again.
func (r *rig) put(a full, ld int) hostmem.Ptr {
	r.t.Helper()
	size := r.e.Size()
	p := r.memory(ld * max(a.n, 1) * size)
	b := hostmem.Bytes(p, uint64(ld*max(a.n, 1)*size))
	for j := range a.n {
		for i := range ld {
			v := complex(gap, 0)
			if i < a.m {
				v = a.at(i, j)
			}
			copy(b[(i+j*ld)*size:], cublas.Encode(r.e, v))
		}
	}
	return p
}

// get waits, and reads a matrix.
func (r *rig) get(p hostmem.Ptr, m, n, ld int) full { return r.read(p, m, n, ld, r.e) }

func (r *rig) read(p hostmem.Ptr, m, n, ld int, e Elem) full {
	r.t.Helper()
	r.ok(r.th.driver().CtxSynchronize())
	size := e.Size()
	b := hostmem.Bytes(p, uint64(ld*max(n, 1)*size))
	a := newFull(m, n)
	for j := range n {
		for i := range ld {
			v := cublas.Decode(e, b[(i+j*ld)*size:])
			if i < m {
				a.set(i, j, v)
			} else if v != gap && e == r.e {
				r.t.Fatalf("element %d, %d between columns became %v", i, j, v)
			}
		}
	}
	return a
}

// values reads numbers of the matrix's real type.
func (r *rig) values(p hostmem.Ptr, n int) []float64 {
	a := r.read(p, n, 1, n, realOf(r.e))
	v := make([]float64, n)
	for i := range v {
		v[i] = real(a.v[i])
	}
	return v
}

func (r *rig) info(p hostmem.Ptr) int32 {
	r.t.Helper()
	r.ok(r.th.driver().CtxSynchronize())
	return hostmem.Load[int32](p)
}

// infoAt is a place for one, with something in it.
func (r *rig) infoAt() hostmem.Ptr {
	p := r.memory(4)
	hostmem.Store(p, int32(-99))
	return p
}

// good checks that an info is 0.
func (r *rig) good(p hostmem.Ptr, what string, args ...any) {
	r.t.Helper()
	if v := r.info(p); v != 0 {
		r.t.Errorf(what+": info %d", append(args, v)...)
	}
}

func (r *rig) eps() float64 {
	if realOf(r.e) == F32 {
		return 0x1p-23
	}
	return 0x1p-52
}

// ratio is LAPACK's: an error by the size of the matrix, its norm, and the precision.
func (r *rig) ratio(err full, n int, norm float64) float64 {
	if norm == 0 {
		norm = 1
	}
	return err.norm() / norm / float64(max(n, 1)) / r.eps()
}

// limit is LAPACK's for its tests.
const limit = 30

func (r *rig) within(v float64, what string, args ...any) {
	r.t.Helper()
	if !(v < limit) {
		r.t.Errorf(what+": ratio %g", append(args, v)...)
	}
}

// orthogonal checks that columns are orthonormal.
func (r *rig) orthogonal(q full, what string, args ...any) {
	r.t.Helper()
	r.within(r.ratio(q.adjoint().times(q).minus(eye(q.n)), q.m, 1), what+": Q'Q - I", args...)
}
