package cublas

import (
	"strings"
	"sync"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/again"
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
	}
}

// TestChecked: calls are done again and found to be near enough; with a bit turned in what they wrote, each is found to differ. What the
// program gets is the kernels' in any case, which the cases look at.
func TestChecked(t *testing.T) {
	onDevice(t, func(r *rig) {
		defer again.Use(nil)
		for name, call := range r.checkedCases() {
			h := listen(nil)
			for range 4 {
				call()
			}
			if h.same[name] == 0 || len(h.differs) > 0 || h.numbers == 0 {
				t.Errorf("%s: %v are the same, %v differ, %v were skipped: %+v", name, h.same, h.differs, h.skipped, h.first)
			}
			h = listen(again.Fault)
			for range 4 {
				call()
			}
			if h.differs[name] == 0 || len(h.same) > 0 {
				t.Errorf("%s, with a fault: %v are the same, %v differ, %v were skipped: %+v", name, h.same, h.differs, h.skipped, h.first)
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
