package cublas

import (
	"math"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/again"
	"kudzu/internal/spec/blas"
)

// heard is what calls that were done again gave, by the first word of their names.
type heard struct {
	mu            sync.Mutex
	same, differs map[string]int
	skipped       map[string]string
	numbers       int
	first         map[string]again.Result
}

func listen(plant func(*again.Call, []again.Span) func()) *heard {
	h := &heard{same: map[string]int{}, differs: map[string]int{}, skipped: map[string]string{}, first: map[string]again.Result{}}
	again.Use(&again.Checker{Plant: plant, Tell: func(r *again.Result) {
		h.mu.Lock()
		defer h.mu.Unlock()
		name, _, _ := strings.Cut(r.What, " ")
		h.numbers += r.Compared
		switch {
		case r.Skipped != "":
			h.skipped[name] = r.Skipped
		case r.Differs():
			if h.differs[name]++; h.differs[name] == 1 {
				h.first[name] = *r
			}
		default:
			if h.same[name]++; h.same[name] == 1 && plant != nil {
				h.first[name] = *r
			}
		}
	}})
	return h
}

// checkedCases has every call of cuBLAS that can be done again, with the cases of the other tests.
func (r *rig) checkedCases() map[string]func() {
	f := r.families()
	h := r.halves()
	k := allKinds()
	each := func(call func(family)) func() {
		return func() {
			for range r.times(8) {
				call(f[r.rng.IntN(len(f))])
			}
		}
	}
	half := func(call func(halves)) func() {
		return func() {
			for range r.times(8) {
				call(h[r.rng.IntN(len(h))])
			}
		}
	}
	part := func(call func(parts)) func() {
		return func() {
			for range r.times(12) {
				for _, p := range r.parts() {
					call(p)
				}
			}
		}
	}
	rotm := func() {
		for _, device := range []bool{false, true} {
			r.mode(device)
			for range 4 {
				r.rotmCases(F32, r.th.Rotm, device)
				r.rotmCases(F64, r.th.Rotm, device)
			}
		}
	}
	return map[string]func(){
		"product": func() {
			for _, e := range k {
				if e.scalar == F16 {
					continue
				}
				for range r.times(8) {
					r.gemm(e, r.pick(1, 5, 33), r.pick(1, 3, 13, 25), r.pick(1, 7, 65, 33))
				}
				r.groupedCase(e, false)
			}
			half(r.syr2kCase)()
			half(r.trmmCase)()
			each(r.syrkCase)()
			each(r.symmCase)()
		},
		"gemv": each(r.gemvCase), "ger": each(r.gerCase),
		"axpy": each(r.elementwise), "scal": each(r.elementwise), "copy": each(r.elementwise), "swap": each(r.elementwise), "rot": each(r.elementwise),
		"dot": each(r.sums), "nrm2": each(r.sums), "asum": each(r.sums), "iamax": each(r.extremes), "iamin": each(r.extremes),
		"geam": each(r.geamCase), "dgmm": each(r.dgmmCase),
		"symv": half(r.symvCase), "syr": half(r.rankCase), "syr2": half(r.rankCase), "trsm": each(r.trsmCase), "trsv": half(r.lineCase), "rotm": rotm,
		"gbmv": part(r.gbmvCase), "sbmv": part(r.halfmvCase), "spmv": part(r.halfmvCase), "tbmv": part(r.triCase), "tpmv": part(r.triCase),
		"tbsv": part(r.triCase), "tpsv": part(r.triCase), "spr": part(r.halfrankCase), "spr2": part(r.halfrankCase),
	}
}

// TestChecked: calls are done again and found to be near enough; with a bit turned in what they wrote, each is found to differ. What the
// program gets is the kernels' in any case, which the cases look at.
func TestChecked(t *testing.T) {
	onDevice(t, func(r *rig) {
		defer again.Use(nil)
		for name, call := range r.checkedCases() {
			h := listen(nil)
			for i := 0; i < 4 || i < 40 && h.same[name] == 0; i++ { // cases choose their calls at random
				call()
			}
			if h.same[name] == 0 || len(h.differs) > 0 || h.numbers == 0 {
				t.Errorf("%s: %v are the same, %v differ, %v were skipped: %+v", name, h.same, h.differs, h.skipped, h.first)
			}
			h = listen(again.Fault)
			for i := 0; i < 4 || i < 40 && h.differs[name] == 0; i++ {
				call()
			}
			if h.differs[name] == 0 || len(h.same) > 0 {
				t.Errorf("%s, with a fault: %v are the same, %v differ, %v were skipped: %+v", name, h.same, h.differs, h.skipped, h.first)
			}
		}
	})
}

// TestCheckedInfinite: an infinity that goes through a product stays one, and what a factor of 0 hides is not looked at.
func TestCheckedInfinite(t *testing.T) {
	onDevice(t, func(r *rig) {
		defer again.Use(nil)
		const n = 5
		a, x, y := r.random(F32, n*n), r.random(F32, n), r.random(F32, n)
		for i := range n {
			x.set(i, complex(float64(i+1), 0))
		}
		a.set(2, complex(math.Inf(1), 0))
		h := listen(nil)
		r.mode(false)
		one, zero := r.scalar(F32, 2, false), r.scalar(F32, 0, false)
		r.ok(r.th.Gemv(r.h, blas.CUBLAS_OP_N, n, n, one, a.p, n, x.p, 1, zero, y.p, 1, F32))
		r.ok(r.th.Gemv(r.h, blas.CUBLAS_OP_N, n, n, zero, hostmem.Nil, n, hostmem.Nil, 1, one, y.p, 1, F32))
		r.ok(r.th.Symv(r.h, blas.CUBLAS_FILL_MODE_LOWER, n, one, a.p, n, x.p, 1, zero, y.p, 1, F32))
		r.ok(r.th.Ger(r.h, n, n, one, x.p, 1, x.p, 1, a.p, n, F32))
		r.sync()
		x.set(1, complex(math.NaN(), 0))
		r.mode(true)
		none := r.scalar(F32, 0, true)
		r.ok(r.th.Ger(r.h, n, n, none, x.p, 1, x.p, 1, a.p, n, F32))
		r.ok(r.th.Syr(r.h, blas.CUBLAS_FILL_MODE_LOWER, n, none, x.p, 1, a.p, n, F32))
		r.sync()
		if len(h.differs)+len(h.skipped) > 0 || h.same["gemv"] != 2 || h.same["ger"] != 2 || h.same["symv"] != 1 || h.same["syr"] != 1 {
			t.Errorf("%v are the same, %v differ, %v were skipped: %+v", h.same, h.differs, h.skipped, h.first)
		}
	})
}

// TestCheckedLarge: parts of a sum that may overflow explain an infinity, and no number.
func TestCheckedLarge(t *testing.T) {
	onDevice(t, func(r *rig) {
		defer again.Use(nil)
		a, x, y := r.random(F32, 3), r.random(F32, 3), r.random(F32, 1)
		for i, v := range []complex128{3e38, -3e38, 1} {
			a.set(i, v)
			x.set(i, 1)
		}
		r.mode(false)
		for left, differs := range map[float32]bool{0: false, 1e37: true, float32(math.Inf(1)): false} {
			h := listen(func(_ *again.Call, written []again.Span) func() {
				if left != 0 {
					y.set(0, complex(float64(left), 0))
				}
				return func() {}
			})
			r.ok(r.th.Gemv(r.h, blas.CUBLAS_OP_N, 1, 3, r.scalar(F32, 1, false), a.p, 1, x.p, 1, r.scalar(F32, 0, false), y.p, 1, F32))
			r.sync()
			if (h.differs["gemv"] > 0) != differs || h.same["gemv"] > 0 == differs {
				t.Errorf("%v: %v are the same, %v differ, %v were skipped: %+v", left, h.same, h.differs, h.skipped, h.first)
			}
		}
	})
}

// wrong is the reference with one element off by a little.
type wrong struct{ Reference }

func (w wrong) Multiply(p *HostProduct) {
	w.Reference.Multiply(p)
	c := hostmem.Bytes(hostmem.Ptr(p.At[0][2]), uint64(p.TC.Size()))
	copy(c, Encode(p.TC, Decode(p.TC, c)+1000))
}

// TestCheckedWith: another multiplier does the products that it takes.
func TestCheckedWith(t *testing.T) {
	onDevice(t, func(r *rig) {
		defer again.Use(nil)
		defer CheckWith(nil)
		for _, c := range []struct {
			with    Multiplier
			differs bool
		}{{Reference{}, false}, {wrong{}, true}} {
			CheckWith(c.with)
			h := listen(nil)
			for _, e := range allKinds() {
				for range r.times(8) {
					if e.scalar != F16 {
						r.gemm(e, r.pick(1, 5, 33), r.pick(1, 3, 13, 25), r.pick(1, 7, 65, 33))
					}
				}
			}
			if (h.differs["product"] > 0) != c.differs || !c.differs && h.same["product"] == 0 {
				t.Errorf("%v are the same, %v differ: %+v", h.same, h.differs, h.first)
			}
		}
	})
}

// TestSettled: bits that may be either are those of the number that must be there, and the others count.
func TestSettled(t *testing.T) {
	n := Number{V: -110, Open: 0x49}                                                                                       // 0x92
	for got, want := range map[complex128]complex128{-110: -110, complex(float64(-37), 0): -110, -109: -110, -112: -112} { // 0x92, 0xdb, 0x93, 0x90
		if v := n.settled(got); v != want {
			t.Errorf("%v is %v, want %v", got, v, want)
		}
	}
	if n.Open = 0; n.settled(-109) != -109 {
		t.Error("a bit that must be is changed")
	}
}
