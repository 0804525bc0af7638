package curand

import (
	"math"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/rand"
)

// histogram is a discrete distribution as Marsaglia, Tsang and Wang's square histogram: a uniform number u lies in cell
// j = u * cells, and gives j below the cell's bound and other[j] above it.
type histogram struct {
	shift uint32
	bound []float64
	other []uint32
}

// most is the largest expected value.
const most = 400000

// probabilities are those of Poisson's distribution that are not 0 in double precision, and the value of the first.
func probabilities(lambda float64) (first int, share []float64) {
	logarithm := math.Log(lambda)
	p := func(k int) float64 {
		g, _ := math.Lgamma(float64(k) + 1)
		return math.Exp(float64(k)*logarithm - lambda - g)
	}
	for first = int(lambda); first > 0 && p(first-1) > 0; {
		first--
	}
	for k := first; k <= int(lambda) || p(k) > 0; k++ {
		share = append(share, p(k))
	}
	return first, share
}

// poisson is the distribution as a histogram. Cells that have too little are filled in ascending order, each by the last value that
// has too much: the order decides which number a cell gives, so it is cuRAND's.
func poisson(lambda float64) *histogram {
	first, share := probabilities(lambda)
	cells := float64(len(share))
	h := &histogram{shift: uint32(first), bound: share, other: make([]uint32, len(share))}
	filled := make([]bool, len(share))
	for j := range share {
		share[j] *= cells
		h.other[j] = uint32(j)
	}
	for rich, more := len(share)-1, true; more; {
		more = false
		for j := range share {
			if filled[j] || share[j] >= 1 {
				continue
			}
			for rich >= 0 && (share[rich] <= 1 || filled[rich]) {
				rich--
			}
			if rich < 0 {
				break
			}
			h.other[j], filled[j], more = uint32(rich), true, true
			share[rich] -= 1 - share[j]
		}
	}
	for j := range share {
		share[j] = (float64(j) + min(share[j], 1)) / cells
	}
	return h
}

// sums is the distribution as the sums of its probabilities, for quasirandom points.
func sums(lambda float64) *histogram {
	first, share := probabilities(lambda)
	for j := 1; j < len(share); j++ {
		share[j] += share[j-1]
	}
	return &histogram{shift: uint32(first), bound: share}
}

// maxTables are kept of a generator.
const maxTables = 64

// histograms are a generator's in device memory, by expected value.
type histograms struct {
	loaded map[float64]*loadedHistogram
}

type loadedHistogram struct {
	*histogram
	at driver.DevPtr // the bounds, then the others
}

func (s *histograms) get(d *driver.Thread, lambda float64, quasi bool) (*loadedHistogram, error) {
	if h := s.loaded[lambda]; h != nil {
		return h, nil
	}
	if len(s.loaded) >= maxTables {
		s.drop(d)
	}
	h := &loadedHistogram{histogram: poisson(lambda)}
	if quasi {
		h.histogram = sums(lambda)
	}
	n := uint64(len(h.bound))
	var err error
	if h.at, err = d.TakeMemory(12 * n); err != nil {
		return nil, err
	}
	if err := d.MemcpyHtoD(h.at, hostmem.Of(&h.bound[0]), 8*n); err != nil {
		return nil, err
	}
	if !quasi {
		if err := d.MemcpyHtoD(h.at+driver.DevPtr(8*n), hostmem.Of(&h.other[0]), 4*n); err != nil {
			return nil, err
		}
	}
	if s.loaded == nil {
		s.loaded = map[float64]*loadedHistogram{}
	}
	s.loaded[lambda] = h
	return h, nil
}

func (s *histograms) drop(d *driver.Thread) {
	for _, h := range s.loaded {
		_ = d.GiveMemory(h.at)
	}
	s.loaded = nil
}

// GeneratePoisson makes numbers of Poisson's distribution.
func (t *Thread) GeneratePoisson(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64, lambda float64) error {
	if !(lambda > 0 && lambda <= most) {
		if err := change(h, func(*generator) error { return nil }); err != nil {
			return err
		}
		return outOfRange
	}
	var l *loadedHistogram
	k := rounded
	err := change(h, func(g *generator) (err error) {
		if lambda >= g.family.large {
			return nil
		}
		k = cells
		if (g.family.quasi || g.family.small > 0) && lambda >= g.family.small {
			k = quantile
		}
		l, err = g.tables.get(t.driver(), lambda, k == quantile)
		return err
	})
	if err != nil {
		return err
	}
	return t.numbers(h, out, n, k, func(p *shim.Params) {
		switch k {
		case rounded:
			p.F64(lambda, math.Sqrt(lambda))
		case quantile:
			p.U64(uint64(l.at)).U32(l.shift, uint32(len(l.bound)))
		default:
			p.U64(uint64(l.at), uint64(l.at)+8*uint64(len(l.bound))).U32(l.shift, uint32(len(l.bound)))
		}
	})
}

// GeneratePoissonMethod is for cuRAND's own tests: cuRAND 10.4 answers an internal error for every method but two, one that needs
// a table it does not make, and the device headers' own, whose numbers are not made here.
func (t *Thread) GeneratePoissonMethod(h rand.CurandGenerator_t, _ hostmem.Ptr, _ uint64, lambda float64, method rand.CurandMethod_t) error {
	return change(h, func(g *generator) error {
		switch {
		case !(lambda > 0 && lambda <= most):
			return outOfRange
		case method != rand.CURAND_3RD:
			return internalError
		case g.host:
			return earlierFailure
		}
		return allocationFailed
	})
}
