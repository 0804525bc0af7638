package curand

import (
	"encoding/binary"
	"math"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/rand"
)

// A distribution lies in device memory, because kernels read it. The layout is that of cuRAND's device headers: a head that leads to
// a shifted histogram, which leads to a histogram, which leads to its bounds and its other values.
const (
	headSize, shiftedSize, histogramSize = 48, 32, 40
	methodM2                             = uint32(rand.CURAND_M2)
)

// distributions are those that programs hold.
var distributions struct {
	mu   lockrank.Mutex[lockrank.RandDistributions]
	live map[rand.CurandDiscreteDistribution_t]bool // guarded by mu
}

// layOut is the bytes of a distribution that will lie at an address.
func layOut(h *histogram, lambda float64, at uint64) []byte {
	shifted, histogram := at+headSize, at+headSize+shiftedSize
	bounds := histogram + histogramSize
	others := bounds + 8*uint64(len(h.bound))
	le := binary.LittleEndian
	var b []byte
	words := func(vs ...uint64) {
		for _, v := range vs {
			b = le.AppendUint64(b, v)
		}
	}
	words(0, shifted, 0, math.Float64bits(math.Sqrt(lambda)), math.Float64bits(lambda))
	b = le.AppendUint32(le.AppendUint32(b, methodM2), 0)
	words(histogram, 0)
	b = le.AppendUint32(le.AppendUint32(b, h.shift), uint32(len(h.bound)))
	words(0)
	words(bounds, 0, others, 0, 0)
	for _, v := range h.bound {
		words(math.Float64bits(v))
	}
	for _, v := range h.other {
		b = le.AppendUint32(b, v)
	}
	return b
}

// CreatePoissonDistribution makes a distribution for kernels that draw from it.
func (t *Thread) CreatePoissonDistribution(lambda float64) (uint64, error) {
	if !(lambda > 0 && lambda <= most) {
		return 0, outOfRange
	}
	d := t.driver()
	if err := cudart.Ready(d); err != nil {
		return 0, err
	}
	h := poisson(lambda)
	at, err := d.TakeMemory(headSize + shiftedSize + histogramSize + 12*uint64(len(h.bound)))
	if err != nil {
		return 0, err
	}
	b := layOut(h, lambda, uint64(at))
	if err := d.MemcpyHtoD(at, hostmem.Of(&b[0]), uint64(len(b))); err != nil {
		return 0, err
	}
	distributions.mu.Lock()
	defer distributions.mu.Unlock()
	if distributions.live == nil {
		distributions.live = map[rand.CurandDiscreteDistribution_t]bool{}
	}
	distributions.live[rand.CurandDiscreteDistribution_t(at)] = true
	return uint64(at), nil
}

// DestroyDistribution gives its memory back.
func (t *Thread) DestroyDistribution(h rand.CurandDiscreteDistribution_t) error {
	distributions.mu.Lock()
	known := distributions.live[h]
	delete(distributions.live, h)
	distributions.mu.Unlock()
	if !known {
		return notInitialized
	}
	return t.driver().GiveMemory(driver.DevPtr(h))
}
