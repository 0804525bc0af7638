package cublas

import (
	"math"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

func TestRotations(t *testing.T) {
	onDevice(t, func(r *rig) {
		th := r.th
		for _, f := range []struct {
			e     Elem
			rotg  func(blas.CublasHandle_t, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, Elem) error
			rotm  func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error
			rotmg func(blas.CublasHandle_t, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, Elem) error
		}{
			{F32, th.Rotg, th.Rotm, th.Rotmg}, {F64, th.Rotg, th.Rotm, th.Rotmg}, {C32, th.Rotg, nil, nil}, {C64, th.Rotg, nil, nil},
		} {
			for _, device := range []bool{false, true} {
				r.mode(device)
				r.rotgCases(f.e, f.rotg, device)
				if f.rotm != nil {
					r.rotmCases(f.e, f.rotm, device)
					r.rotmgCases(f.e, f.rotmg, device)
				}
			}
			r.is(f.rotg(99, 0, 0, 0, 0, f.e), notInitialized)
			r.is(f.rotg(r.h, 0, 0, 0, 0, f.e), invalidValue)
		}
		r.is(th.Rotm(r.h, 3, 0, 1, 0, 1, 0, F32), invalidValue)
		r.is(th.Rotmg(r.h, 0, 0, 0, 0, 0, F32), invalidValue)
	})
}

// numbers is an array of the program where the pointer mode wants it.
func (r *rig) numbers(e Elem, device bool, vs ...complex128) array {
	a := r.empty(e, len(vs))
	if !device {
		b := make([]byte, 16*len(vs))
		a.p = hostmem.Of(&b[0])
		kept = append(kept, b)
	}
	for i, v := range vs {
		a.set(i, v)
	}
	return a
}

// rotgCases: c² + |s|² = 1 and the matrix turns (a, b) into (r, 0), for numbers of every size.
func (r *rig) rotgCases(e Elem, call func(blas.CublasHandle_t, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, Elem) error, device bool) {
	big, tiny := 1e37, 1e-37
	if e.real() == F64 {
		big, tiny = 1e307, 1e-300
	}
	turned := e.real() != e
	cases := [][2]complex128{{3, 4}, {4, -3}, {-4, 3}, {-3, -4}, {0, 2}, {2, 0}, {0, 0}, {complex(big, 0), complex(big, 0)}, {complex(tiny, 0), complex(-tiny, 0)}, {complex(big, 0), complex(tiny, 0)}}
	if turned {
		cases = append(cases, [2]complex128{3 + 4i, 1 - 2i}, [2]complex128{-1i, 5}, [2]complex128{0, 1 + 1i}, [2]complex128{complex(big, -big), complex(-big/4, big)})
	}
	for range r.times(8) {
		cases = append(cases, [2]complex128{r.number(e), r.number(e)})
	}
	for _, c := range cases {
		pa, pb := r.numbers(e, device, c[0]), r.numbers(e, device, c[1])
		pc, ps := r.numbers(e.real(), device, cmplx.NaN()), r.numbers(e, device, cmplx.NaN())
		r.ok(call(r.h, pa.p, pb.p, pc.p, ps.p, e))
		r.sync()
		scale := complex(max(cmplx.Abs(c[0])/2, cmplx.Abs(c[1])/2, math.SmallestNonzeroFloat64), 0)
		a, b := Decode(e, Encode(e, c[0]))/scale, Decode(e, Encode(e, c[1]))/scale
		gotR, cs, sn := pa.get(0)/scale, pc.get(0), ps.get(0)
		limit := 16 * eps[e]
		if e.real() == F32 && cmplx.Abs(scale) < 1e-30 {
			limit *= 2 // a few bits of the smallest numbers are lost in themselves
		}
		one := real(cs)*real(cs) + cmplx.Abs(sn)*cmplx.Abs(sn)
		if cmplx.Abs(cs*a+sn*b-gotR) > 4*limit || cmplx.Abs(cs*b-cmplx.Conj(sn)*a) > 4*limit || math.Abs(one-1) > limit {
			r.t.Fatalf("%v rotg of %v, device %v: r %v c %v s %v", e, c, device, pa.get(0), cs, sn)
		}
		if turned {
			if pb.get(0) != Decode(e, Encode(e, c[1])) {
				r.t.Fatalf("%v rotg changed b to %v", e, pb.get(0))
			}
			continue
		}
		// z tells c and s again.
		z := real(pb.get(0))
		wc, ws := 0.0, 1.0
		switch {
		case math.Abs(z) < 1:
			wc, ws = math.Sqrt(1-z*z), z
		case math.Abs(z) > 1:
			wc = 1 / z
			ws = math.Sqrt(1 - wc*wc)
		}
		if root := math.Sqrt(eps[e]); math.Abs(wc-real(cs)) > root || math.Abs(ws-real(sn)) > root {
			r.t.Fatalf("%v rotg of %v: z %v tells c %v s %v, got %v %v", e, c, z, wc, ws, cs, sn)
		}
	}
}

func (r *rig) rotmCases(e Elem, call func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error, device bool) {
	h := []complex128{r.number(e), r.number(e), r.number(e), r.number(e)} // h11 h21 h12 h22
	for _, c := range []struct {
		flag               complex128
		h11, h21, h12, h22 complex128
	}{{-2, 1, 0, 0, 1}, {-1, h[0], h[1], h[2], h[3]}, {0, 1, h[1], h[2], 1}, {1, h[0], -1, 1, h[3]}} {
		n := r.pick(1, 40, 0, 700)
		vx, vy := vec{n, r.inc()}, vec{n, r.inc()}
		x, y := r.random(e, span(n, vx.inc)), r.random(e, span(n, vy.inc))
		wx, wy := x.values(), y.values()
		for i := range n {
			a, b := wx[vx.at(i)], wy[vy.at(i)]
			wx[vx.at(i)], wy[vy.at(i)] = c.h11*a+c.h12*b, c.h21*a+c.h22*b
		}
		p := r.numbers(e, device, append([]complex128{c.flag}, h...)...)
		r.ok(call(r.h, n, x.p, vx.inc, y.p, vy.inc, p.p, e))
		r.sync()
		r.near("rotm x", x, wx, ones(x.n), e, 4)
		r.near("rotm y", y, wy, ones(y.n), e, 4)
	}
}

// rotmgCases: the rotation, whatever its flag leaves out, turns (x1, y1) with its weights into (x1', 0) with the new ones.
func (r *rig) rotmgCases(e Elem, call func(blas.CublasHandle_t, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, Elem) error, device bool) {
	inf := math.Inf(1)
	cases := [][4]float64{{1, 1, 3, 4}, {1, 1, 4, 3}, {2, 3, 1, 5}, {1e-12, 2, 1, 3}, {1e12, 1e-12, 1, 1}, {1e-12, 1e12, 1, 1e-3}, {4, 1e9, -2, 1}, {1, 0, 2, 3}, {1, 1, 2, 0},
		{-1, 1, 2, 3}, {1, -9, 1, 1}, {inf, 1, 1, 1}, {1, inf, 1, 1}, {math.NaN(), 1, 1, 1}, {0, 1, 2, 3}, {3, -1, 4, 1}}
	for _, c := range cases {
		var p [4]array
		for i, v := range c {
			p[i] = r.numbers(e, device, complex(v, 0))
			c[i] = real(p[i].get(0))
		}
		param := r.numbers(e, device, 77, 77, 77, 77, 77)
		r.ok(call(r.h, p[0].p, p[1].p, p[2].p, p[3].p, param.p, e))
		r.sync()
		v := param.values()
		flag, h11, h21, h12, h22 := real(v[0]), real(v[1]), real(v[2]), real(v[3]), real(v[4])
		d1, d2, x1, y1 := real(p[0].get(0)), real(p[1].get(0)), real(p[2].get(0)), real(p[3].get(0))
		if math.IsInf(c[0]+c[1], 0) || math.IsNaN(c[0]) {
			continue // it ends: that is all there is to ask
		}
		switch {
		case c[0] < 0 || c[1] < 0 && c[0]*c[2]*c[2]+c[1]*c[3]*c[3] <= 0:
			if flag != -1 || h11 != 0 || h21 != 0 || h12 != 0 || h22 != 0 || d1 != 0 || d2 != 0 || x1 != 0 {
				r.t.Fatalf("%v rotmg of %v is %v, weights %v %v, x %v", e, c, v, d1, d2, x1)
			}
			continue
		case c[1]*c[3] == 0:
			if flag != -2 || h11 != 77 || d1 != c[0] || d2 != c[1] || x1 != c[2] {
				r.t.Fatalf("%v rotmg of %v is %v", e, c, v)
			}
			continue
		case flag == 0:
			if h11 != 77 || h22 != 77 {
				r.t.Fatalf("%v rotmg wrote what flag 0 leaves out: %v", e, v)
			}
			h11, h22 = 1, 1
		case flag == 1:
			if h21 != 77 || h12 != 77 {
				r.t.Fatalf("%v rotmg wrote what flag 1 leaves out: %v", e, v)
			}
			h21, h12 = -1, 1
		}
		limit := 32 * eps[e]
		first, second := h11*c[2]+h12*c[3], h21*c[2]+h22*c[3]
		before, after := c[0]*c[2]*c[2]+c[1]*c[3]*c[3], d1*x1*x1
		if y1 != c[3] || math.Abs(first-x1) > limit*(math.Abs(h11*c[2])+math.Abs(h12*c[3])) ||
			math.Abs(second) > limit*(math.Abs(h21*c[2])+math.Abs(h22*c[3])) || math.Abs(before-after) > limit*(math.Abs(before)+math.Abs(c[1]*c[3]*c[3])) {
			r.t.Fatalf("%v rotmg of %v is %v, weights %v %v, x %v: turns into %v, %v; %v became %v", e, c, v, d1, d2, x1, first, second, before, after)
		}
		if ok := func(d float64) bool { return d == 0 || (math.Abs(d) > 0x1p-24 && math.Abs(d) < 0x1p24) }; !ok(d1) || !ok(d2) {
			r.t.Fatalf("%v rotmg of %v leaves weights %v, %v", e, c, d1, d2)
		}
	}
}

// TestExMore: the functions with types as arguments that are not in TestExVectors.
func TestExMore(t *testing.T) {
	onDevice(t, func(r *rig) {
		r.mode(false)
		th := r.th
		for _, c := range []struct {
			e Elem
			t rt.CudaDataType
			x rt.CudaDataType // what is computed with
		}{{F16, rt.CUDA_R_16F, rt.CUDA_R_32F}, {BF16, rt.CUDA_R_16BF, rt.CUDA_R_32F}, {F32, rt.CUDA_R_32F, rt.CUDA_R_32F}, {F64, rt.CUDA_R_64F, rt.CUDA_R_64F},
			{C32, rt.CUDA_C_32F, rt.CUDA_C_32F}, {C64, rt.CUDA_C_64F, rt.CUDA_C_64F}} {
			const n = 90
			x, y, z := r.random(c.e, n), r.random(c.e, n), r.nan(c.e, 2*n)
			wx, wy := x.values(), y.values()
			r.ok(th.CopyEx(r.h, n, x.p, c.t, 1, z.p, c.t, 2))
			r.ok(th.SwapEx(r.h, n, x.p, c.t, 1, y.p, c.t, 1))
			r.sync()
			r.near("SwapEx", x, wy, make([]float64, n), c.e, 0)
			r.near("SwapEx", y, wx, make([]float64, n), c.e, 0)
			for i := range n {
				if z.get(2*i) != wx[i] || !cmplx.IsNaN(z.get(2*i+1)) {
					r.t.Fatalf("%v CopyEx: %d is %v", c.e, i, z.get(2*i))
				}
			}
			part, sums := c.t, c.e.real()
			sumOf := c.t
			switch c.e {
			case C32:
				part, sumOf = rt.CUDA_R_32F, rt.CUDA_R_32F
			case C64:
				part, sumOf = rt.CUDA_R_64F, rt.CUDA_R_64F
			case F16, BF16:
				sums, sumOf = F32, rt.CUDA_R_32F
			case F32, F64, S8, S32:
			}
			sum, size := 0.0, func(v complex128) float64 {
				if c.e == C32 { // as the kernels add it
					return float64(float32(math.Abs(real(v))) + float32(math.Abs(imag(v))))
				}
				return math.Abs(real(v)) + math.Abs(imag(v))
			}
			most, least := 0, 0
			for i, v := range wx {
				sum += size(v)
				if size(v) > size(wx[most]) {
					most = i
				}
				if size(v) < size(wx[least]) {
					least = i
				}
			}
			s := r.result(sums, false)
			if err := th.AsumEx(r.h, n, y.p, c.t, 1, s.p, rt.CUDA_R_16F, c.x); err != notSupported {
				r.t.Errorf("%v AsumEx to f16: %v", c.e, err)
			}
			r.ok(th.AsumEx(r.h, n, y.p, c.t, 1, s.p, sumOf, c.x))
			r.near("AsumEx", s, []complex128{complex(sum, 0)}, []float64{sum}, sums, n)
			narrow, wide := r.result(F64, false), r.result(F64, false)
			r.ok(th.IamaxEx(r.h, n, y.p, c.t, 1, narrow.p))
			r.ok(th.IaminEx64(r.h, n, y.p, c.t, 1, wide.p))
			if got := hostmem.Load[int32](narrow.p); got != int32(most+1) {
				r.t.Fatalf("%v IamaxEx is %d, want %d", c.e, got, most+1)
			}
			if got := hostmem.Load[int64](wide.p); got != int64(least+1) {
				r.t.Fatalf("%v IaminEx is %d, want %d", c.e, got, least+1)
			}
			r.ok(th.IaminEx(r.h, n, y.p, c.t, 1, narrow.p))
			r.ok(th.IamaxEx64(r.h, n, y.p, c.t, 1, wide.p))
			// rot with real c and s
			cs, sn := 0.6, 0.8
			cv, sv := Decode(c.e.real(), Encode(c.e.real(), complex(cs, 0))), Decode(c.e.real(), Encode(c.e.real(), complex(sn, 0)))
			for i := range n {
				a, b := x.get(i), y.get(i)
				wx[i], wy[i] = cv*a+sv*b, cv*b-sv*a
			}
			r.mode(true)
			r.ok(th.RotEx(r.h, n, x.p, c.t, 1, y.p, c.t, 1, r.scalar(c.e.real(), complex(cs, 0), true), r.scalar(c.e.real(), complex(sn, 0), true), part, c.x))
			r.sync()
			r.mode(false)
			r.near("RotEx", x, wx, ones(n), c.e, 4)
			r.near("RotEx", y, wy, ones(n), c.e, 4)
			r.is(th.CopyEx(r.h, n, x.p, c.t, 1, y.p, rt.CUDA_R_8I, 1), notSupported)
			r.is(th.CopyEx(99, n, x.p, c.t, 1, y.p, rt.CUDA_R_8I, 1), notInitialized)
			if c.e.real() != c.e {
				continue
			}
			for i := range n { // h11 is 1, h12 2, h21 -1, h22 0.5
				a, b := x.get(i), y.get(i)
				wx[i], wy[i] = a+2*b, b/2-a
			}
			r.ok(th.RotmEx(r.h, n, x.p, c.t, 1, y.p, c.t, 1, r.numbers(c.e, false, -1, 1, -1, 2, 0.5).p, c.t, c.x))
			r.sync()
			r.near("RotmEx", x, wx, ones(n), c.e, 4)
			r.near("RotmEx", y, wy, ones(n), c.e, 4)
		}
		a, b, c, s := r.numbers(F64, false, 3), r.numbers(F64, false, 4), r.numbers(F64, false, 0), r.numbers(F64, false, 0)
		r.ok(th.RotgEx(r.h, a.p, b.p, rt.CUDA_R_64F, c.p, s.p, rt.CUDA_R_64F, rt.CUDA_R_64F))
		if cmplx.Abs(a.get(0)-5) > 1e-15 || cmplx.Abs(c.get(0)-0.6) > 1e-15 || cmplx.Abs(s.get(0)-0.8) > 1e-15 {
			r.t.Fatalf("RotgEx of 3, 4: %v %v %v", a.get(0), c.get(0), s.get(0))
		}
		ha, hb, hc, hs := r.numbers(F16, false, 3), r.numbers(F16, false, 4), r.numbers(F16, false, 0), r.numbers(F16, false, 0)
		r.ok(th.RotgEx(r.h, ha.p, hb.p, rt.CUDA_R_16F, hc.p, hs.p, rt.CUDA_R_16F, rt.CUDA_R_32F))
		if ha.get(0) != 5 || cmplx.Abs(hc.get(0)-0.6) > 1e-3 || cmplx.Abs(hs.get(0)-0.8) > 1e-3 {
			r.t.Fatalf("RotgEx of 3, 4 in f16: %v %v %v", ha.get(0), hc.get(0), hs.get(0))
		}
		d, p := [4]array{}, r.numbers(F32, false, 0, 0, 0, 0, 0)
		for i, v := range []complex128{1, 1, 3, 4} {
			d[i] = r.numbers(F32, false, v)
		}
		f := rt.CudaDataType(rt.CUDA_R_32F)
		r.ok(th.RotmgEx(r.h, d[0].p, f, d[1].p, f, d[2].p, f, d[3].p, f, p.p, f, f))
		if p.get(0) != 1 || p.get(1) != 0.75 || p.get(4) != 0.75 {
			r.t.Fatalf("RotmgEx: %v", p.values())
		}
		r.is(th.RotmgEx(r.h, d[0].p, f, d[1].p, f, d[2].p, f, d[3].p, rt.CUDA_R_64F, p.p, f, f), notSupported)
	})
}
