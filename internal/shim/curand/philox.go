package curand

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
)

// philox deals numbers out to threads, four at a time; each thread has a counter in device memory.
type philox struct {
	counters driver.DevPtr
	at       position
}

// dealt is the number of threads, DEALT in kernels/philox.cu.
const dealt = 65536

func newPhilox(*generator) source { return &philox{} }

func (s *philox) generate(d *driver.Thread, g *generator, r *request) (err error) {
	block := [3]uint32{threads, 1, 1}
	if s.counters == 0 {
		if s.counters, err = d.TakeMemory(dealt * 4); err != nil {
			return err
		}
	}
	if s.at != (position{true, g.offset}) {
		p := (&shim.Params{}).U64(uint64(s.counters), g.offset/4)
		if err := philoxKernels.Launch(d, g.stream, "philox_start", grid(dealt), block, p); err != nil {
			return err
		}
	}
	s.at = position{true, g.offset}
	if r.n == 0 {
		return nil
	}
	p := (&shim.Params{}).U64(uint64(s.counters), g.seed, g.offset, r.n, uint64(r.out))
	if r.params != nil {
		r.params(p)
	}
	fours := (g.offset+r.n+3)/4 - g.offset/4
	if err := philoxKernels.Launch(d, g.stream, "philox_"+kinds[r.kind].suffix, grid(min(fours, dealt)), block, p); err != nil {
		s.at.known = false
		return err
	}
	s.at.offset += r.n
	return nil
}

func (s *philox) drop(d *driver.Thread) {
	if s.counters != 0 {
		_ = d.GiveMemory(s.counters)
	}
	s.counters = 0
}
