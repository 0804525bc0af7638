package cublas

import (
	"math"
	"math/cmplx"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// Rotations are made where their numbers lie: on the host at once, which needs no device and may be done in a capture, or on
// the device in the stream's order. The arithmetic is f64 in both; kernels/rotate.cu has the same.

// Rotmg makes a modified rotation.
func (t *Thread) Rotmg(h blas.CublasHandle_t, d1, d2, x1, y1, param hostmem.Ptr, e Elem) error {
	return t.rotmg(h, [5]hostmem.Ptr{d1, d2, x1, y1, param}, e)
}

// once launches a kernel of one thread on addresses.
func (j *job) once(name string, ps ...hostmem.Ptr) error {
	var q shim.Params
	for _, p := range ps {
		q.U64(uint64(p))
	}
	return rotateKernels.Launch(j.d, j.stream, name, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, &q)
}

func anyNil(ps ...hostmem.Ptr) bool {
	for _, p := range ps {
		if p == hostmem.Nil {
			return true
		}
	}
	return false
}

// loadAt and storeAt are a number of the program, which need not be aligned.
func loadAt(p hostmem.Ptr, e Elem) complex128 { return Decode(e, hostmem.Bytes(p, uint64(e.Size()))) }
func storeAt(p hostmem.Ptr, e Elem, v complex128) {
	copy(hostmem.Bytes(p, uint64(e.Size())), Encode(e, v))
}

// Rotg makes the rotation that turns (a, b) into (r, 0).
func (t *Thread) Rotg(h blas.CublasHandle_t, a, b, c, s hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if anyNil(a, b, c, s) {
		return invalidValue
	}
	if j.mode == blas.CUBLAS_POINTER_MODE_DEVICE {
		return j.once("rotg_"+e.String(), a, b, c, s)
	}
	va, vb := loadAt(a, e), loadAt(b, e)
	if e.real() == e {
		r, z, vc, vs := givens(real(va), real(vb))
		storeAt(a, e, complex(r, 0))
		storeAt(b, e, complex(z, 0))
		storeAt(c, e, complex(vc, 0))
		storeAt(s, e, complex(vs, 0))
		return nil
	}
	r, vc, vs := givensComplex(va, vb)
	storeAt(a, e, r)
	storeAt(c, e.real(), complex(vc, 0))
	storeAt(s, e, vs)
	return nil
}

// givens finds c and s that turn (a, b) into (r, 0), and z, from which both can be found again.
func givens(a, b float64) (r, z, c, s float64) {
	larger := math.Abs(a) > math.Abs(b)
	switch {
	case b == 0:
		return a, 0, 1, 0
	case a == 0:
		return b, 1, 0, 1
	case larger:
		r = math.Copysign(math.Hypot(a, b), a)
	default:
		r = math.Copysign(math.Hypot(a, b), b)
	}
	c, s = a/r, b/r
	switch {
	case larger:
		z = s
	case c != 0:
		z = 1 / c
	default:
		z = 1
	}
	return r, z, c, s
}

// givensComplex is givens of complex numbers: c is real, and r has the direction of a.
func givensComplex(a, b complex128) (r complex128, c float64, s complex128) {
	if a == 0 {
		return b, 0, 1
	}
	sa := cmplx.Abs(a)
	n := math.Hypot(sa, cmplx.Abs(b))
	unit := complex(real(a)/sa, imag(a)/sa)
	return unit * complex(n, 0), sa / n, unit * complex(real(b)/n, -imag(b)/n)
}

// modified is a rotation without square roots: flag -1 has all entries, 0 those off the diagonal, 1 the diagonal, the rest being
// ones; -2 turns nothing. Its order is that of BLAS's parameters.
type modified struct{ flag, h11, h21, h12, h22 float64 }

// Rotm turns the pairs of x and y by a modified rotation.
func (t *Thread) Rotm(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, param hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil || n <= 0 {
		return err
	}
	if param == hostmem.Nil {
		return invalidValue
	}
	var m modified
	at := uint64(param)
	if j.mode == blas.CUBLAS_POINTER_MODE_HOST {
		at = 0
		for i, f := range []*float64{&m.flag, &m.h11, &m.h21, &m.h12, &m.h22} {
			*f = real(loadAt(param.Index(i, e.Size()), e))
		}
		if m.flag == -2 {
			return nil
		}
	}
	vx, vy := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e)
	var q shim.Params
	vx.put(&q)
	vy.put(&q)
	q.F64(m.flag, m.h11, m.h21, m.h12, m.h22).U64(at, uint64(n))
	return j.checked(func() *Sum { return rotmSums(vx, vy, m, at, n, e) }, func() error {
		return rotateKernels.Launch(j.d, j.stream, "rotm_"+e.String(), over(n), [3]uint32{threads, 1, 1}, &q)
	})
}

// weighted are the numbers a modified rotation is made of.
type weighted struct {
	d1, d2, x1 float64
	modified
}

func (t *Thread) rotmg(h blas.CublasHandle_t, p [5]hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if anyNil(p[:]...) {
		return invalidValue
	}
	if j.mode == blas.CUBLAS_POINTER_MODE_DEVICE {
		return j.once("rotmg_"+e.String(), p[:]...)
	}
	w := weighted{d1: real(loadAt(p[0], e)), d2: real(loadAt(p[1], e)), x1: real(loadAt(p[2], e))}
	w.find(real(loadAt(p[3], e)))
	entry := func(i int, v float64) { storeAt(p[4].Index(i, e.Size()), e, complex(v, 0)) }
	entry(0, w.flag)
	if w.flag == -2 {
		return nil
	}
	storeAt(p[0], e, complex(w.d1, 0))
	storeAt(p[1], e, complex(w.d2, 0))
	storeAt(p[2], e, complex(w.x1, 0))
	if w.flag != 0 {
		entry(1, w.h11)
		entry(4, w.h22)
	}
	if w.flag != 1 {
		entry(2, w.h21)
		entry(3, w.h12)
	}
	return nil
}

func (w *weighted) refuse() { *w = weighted{modified: modified{flag: -1}} }

// all makes every entry count, before one is scaled.
func (w *weighted) all() {
	switch w.flag {
	case 0:
		w.h11, w.h22 = 1, 1
	case 1:
		w.h21, w.h12 = -1, 1
	}
	w.flag = -1
}

// find makes the rotation that turns (sqrt(d1) x1, sqrt(d2) y1) into (…, 0), and keeps the weights in range.
func (w *weighted) find(y1 float64) {
	if w.d1 < 0 {
		w.refuse()
		return
	}
	p2 := w.d2 * y1
	if p2 == 0 {
		w.flag = -2
		return
	}
	p1 := w.d1 * w.x1
	q1, q2 := p1*w.x1, p2*y1
	if math.Abs(q1) > math.Abs(q2) {
		w.h21, w.h12 = -y1/w.x1, p2/p1
		u := 1 - w.h12*w.h21
		if !(u > 0) {
			w.refuse()
			return
		}
		w.flag = 0
		w.d1, w.d2, w.x1 = w.d1/u, w.d2/u, w.x1*u
	} else {
		if q2 < 0 {
			w.refuse()
			return
		}
		w.flag = 1
		w.h11, w.h22 = p1/p2, w.x1/y1
		u := 1 + w.h11*w.h22
		w.d1, w.d2, w.x1 = w.d2/u, w.d1/u, y1*u
	}
	w.scale(&w.d1, &w.x1, &w.h11, &w.h12)
	w.scale(&w.d2, new(float64), &w.h21, &w.h22)
}

const (
	gamma       = 4096
	leastWeight = 0x1p-24
	mostWeight  = 0x1p24
)

// scale moves powers of gamma between a weight and what it weighs. Infinite weights stay: no division ends them.
func (w *weighted) scale(d *float64, vs ...*float64) {
	for {
		size := math.Abs(*d)
		small := size <= leastWeight
		if size == 0 || !(small || size >= mostWeight) || size >= 0x1p1000 {
			return
		}
		w.all()
		g := float64(gamma)
		if small {
			*d *= gamma * gamma
			g = 1.0 / gamma
		} else {
			*d /= gamma * gamma
		}
		for _, v := range vs {
			*v *= g
		}
	}
}
