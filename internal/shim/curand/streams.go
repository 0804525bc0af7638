package curand

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/spec/rand"
)

// streams is a generator of many streams, far apart in one sequence (kernels/streams.cu). A call's first
// number, j, is the next one of stream j mod count at position j / count; from there on streams
// give their numbers one after another, whatever each takes of them, in later calls too.
type streams struct {
	name  string
	count uint32
	apart uint // streams are 2^apart numbers apart
	seed  func(g *generator) (kernel string, p *shim.Params)
	// jump is the parameters that multiply states by the matrix of 2^k steps; add is that number, for counters beside it.
	jump func(p *shim.Params, k uint, add uint32)

	states, start driver.DevPtr // now, and of all streams at position 0
	at            position      // where states are, if there are any
}

// position is where the states of a generator are: before the number at an offset.
type position struct {
	known  bool
	offset uint64
}

const stateWords = 6

func newXorwow(g *generator) source {
	s := &streams{name: "xorwow", count: 4096, apart: 67, jump: xorwowJump}
	s.seed = func(g *generator) (string, *shim.Params) {
		step := uint64(0)
		if g.order == rand.CURAND_ORDERING_PSEUDO_SEEDED {
			step = 0x2fd111 // each stream has a seed of its own
		}
		return "xorwow_seed", (&shim.Params{}).U64(uint64(s.start)).U32(s.count).U64(g.seed, step)
	}
	if g.order == rand.CURAND_ORDERING_PSEUDO_SEEDED {
		s.apart = 0
	}
	return s
}

func newMrg(g *generator) source {
	s := &streams{name: "mrg", count: 81920, apart: 76, jump: mrgJump}
	if g.order == rand.CURAND_ORDERING_PSEUDO_LEGACY {
		s.count = 4096
	}
	s.seed = func(g *generator) (string, *shim.Params) {
		return "mrg_seed", (&shim.Params{}).U64(uint64(s.start)).U32(s.count).U64(g.seed)
	}
	return s
}

func (s *streams) launch(d *driver.Thread, g *generator, kernel string, p *shim.Params) error {
	return streamKernels.Launch(d, g.stream, kernel, [3]uint32{(s.count + threads - 1) / threads, 1, 1}, [3]uint32{threads, 1, 1}, p)
}

// begin makes the states of all streams at position 0.
func (s *streams) begin(d *driver.Thread, g *generator) (err error) {
	size := uint64(s.count) * stateWords * 4
	if s.start, err = d.TakeMemory(2 * size); err != nil {
		return err
	}
	s.states = s.start + driver.DevPtr(size)
	kernel, p := s.seed(g)
	if err := s.launch(d, g, kernel, p); err != nil || s.apart == 0 {
		return err
	}
	for k := uint(0); 1<<k < s.count; k++ {
		p := (&shim.Params{}).U64(uint64(s.start)).U32(s.count, 1<<k)
		s.jump(p, s.apart+k, 0)
		if err := s.launch(d, g, s.name+"_jump", p); err != nil {
			return err
		}
	}
	return nil
}

// move brings the states to the first number of the row that an offset lies in.
func (s *streams) move(d *driver.Thread, g *generator) error {
	size := uint64(s.count) * stateWords * 4
	if err := d.MemcpyDtoDAsync(s.states, s.start, size, g.stream); err != nil {
		return err
	}
	steps := g.offset / uint64(s.count)
	for k := uint(0); steps>>k != 0; k++ {
		if steps>>k&1 == 0 {
			continue
		}
		p := (&shim.Params{}).U64(uint64(s.states)).U32(s.count, 0)
		s.jump(p, k, uint32(uint64(1)<<k))
		if err := s.launch(d, g, s.name+"_jump", p); err != nil {
			return err
		}
	}
	return nil
}

func (s *streams) generate(d *driver.Thread, g *generator, r *request) error {
	if s.start == 0 {
		if err := s.begin(d, g); err != nil {
			return err
		}
	}
	if r.n == 0 {
		return nil
	}
	n, extra := r.n, uint32(0)
	if r.paired() {
		n /= 2
	}
	if s.at != (position{true, g.offset}) {
		s.at.known = false
		if err := s.move(d, g); err != nil {
			return err
		}
		extra = 1
	}
	first := uint32(g.offset % uint64(s.count))
	p := (&shim.Params{}).U64(uint64(s.states)).U32(s.count, first, extra).U64(n, uint64(r.out))
	if r.params != nil {
		r.params(p)
	}
	if err := s.launch(d, g, s.name+"_"+kinds[r.kind].suffix, p); err != nil {
		return err
	}
	s.at = position{true, g.offset + n}
	return nil
}

func (s *streams) drop(d *driver.Thread) {
	if s.start != 0 {
		_ = d.GiveMemory(s.start)
	}
	s.start = 0
}
