package curand

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
)

// twister is MT19937: 8192 generators, 2^2048 numbers apart (kernels/twister.cu). Their words come out in rows of eight a generator;
// 78 rows are all words of a state.
type twister struct {
	states driver.DevPtr
	lists  driver.DevPtr // for each doubling the places of its jump
	made   uint32        // generators that have a state
	cycle  uint64        // how often the states were twisted
}

const (
	twisterWords      = 624
	twisterShift      = 397
	twisterGenerators = 8192
	twisterRow        = 8 * twisterGenerators
	twisterCycle      = twisterGenerators * twisterWords
	twisterDegree     = 19937
	twisterApart      = 2048 // a power of 2
	doublings         = 13
	jumpAtOnce        = 256
	jumpLength        = twisterDegree + 5*128 // words that a jump reads
)

func newTwister(*generator) source { return &twister{} }

// twisterState is the words of the first generator, after the seed's own.
func twisterState(seed uint32) (s [twisterWords]uint32) {
	s[0] = seed
	for i := 1; i < len(s); i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	for i := range s {
		y := s[i]&0x80000000 | s[(i+1)%twisterWords]&0x7fffffff
		s[i] = s[(i+twisterShift)%twisterWords] ^ y>>1 ^ 0x9908b0df&-(y&1)
	}
	return s
}

func (s *twister) begin(d *driver.Thread, g *generator) (err error) {
	lists := jumps()
	if s.states, err = d.TakeMemory(4 * twisterCycle); err != nil {
		return err
	}
	if s.lists, err = d.TakeMemory(doublings * 2 * twisterDegree); err != nil {
		return err
	}
	for i, l := range lists {
		if err := d.MemcpyHtoD(s.lists+driver.DevPtr(i*2*twisterDegree), hostmem.Of(&l[0]), uint64(2*len(l))); err != nil {
			return err
		}
	}
	all := lastStates.Load()
	s.made = twisterGenerators
	if all == nil || all.seed != uint32(g.seed) {
		all = &seededStates{seed: uint32(g.seed), words: make([]uint32, twisterCycle)}
		s.made = 1
		for k, w := range twisterState(all.seed) {
			all.words[k*twisterGenerators] = w
		}
	}
	return d.MemcpyHtoD(s.states, hostmem.Of(&all.words[0]), 4*twisterCycle)
}

// lastStates are those that were made last: they take seconds, and programs come back with the same seed.
var lastStates atomic.Pointer[seededStates]

type seededStates struct {
	seed  uint32
	words []uint32
}

// extend makes states for the first n generators, by twos.
func (s *twister) extend(d *driver.Thread, g *generator, n uint32) error {
	if s.made >= n {
		return nil
	}
	words, err := d.TakeMemory(jumpAtOnce * jumpLength * 4)
	if err != nil {
		return err
	}
	defer func() { _ = d.GiveMemory(words) }()
	for ; s.made < n; s.made *= 2 {
		level := bits.TrailingZeros32(s.made)
		list := s.lists + driver.DevPtr(level*2*twisterDegree)
		for first := uint32(0); first < s.made; first += jumpAtOnce {
			grid := [3]uint32{min(jumpAtOnce, s.made-first), 1, 1}
			p := (&shim.Params{}).U64(uint64(s.states), uint64(words)).U32(first, jumpLength)
			if err := twisterKernels.Launch(d, g.stream, "mt_extend", grid, [3]uint32{224, 1, 1}, p); err != nil {
				return err
			}
			p = (&shim.Params{}).U64(uint64(words), uint64(s.states), uint64(list)).U32(s.made+first, jumpLength, uint32(len(jumps()[level])))
			if err := twisterKernels.Launch(d, g.stream, "mt_jump", grid, [3]uint32{128, 1, 1}, p); err != nil {
				return err
			}
		}
	}
	if err := d.StreamSynchronize(g.stream); err != nil || s.made < twisterGenerators {
		return err
	}
	all := &seededStates{seed: uint32(g.seed), words: make([]uint32, twisterCycle)}
	if err := d.MemcpyDtoH(hostmem.Of(&all.words[0]), s.states, 4*twisterCycle); err != nil {
		return err
	}
	lastStates.Store(all)
	return nil
}

func (s *twister) generate(d *driver.Thread, g *generator, r *request) error {
	if s.states == 0 {
		if err := s.begin(d, g); err != nil {
			return err
		}
	}
	need := uint32(twisterGenerators)
	if r.n > 0 && g.offset+r.n < twisterRow {
		need = uint32((g.offset+r.n)/8 + 1)
	}
	if err := s.extend(d, g, need); err != nil {
		return err
	}
	for done := uint64(0); done < r.n; {
		at := g.offset + done
		for ; s.cycle < at/twisterCycle; s.cycle++ {
			p := (&shim.Params{}).U64(uint64(s.states))
			if err := twisterKernels.Launch(d, g.stream, "mt_twist", [3]uint32{twisterGenerators / threads, 1, 1}, [3]uint32{threads, 1, 1}, p); err != nil {
				return err
			}
		}
		first := at % twisterCycle
		n := min(r.n-done, twisterCycle-first)
		p := (&shim.Params{}).U64(uint64(s.states), first, n, uint64(r.out)+done*r.size)
		if r.params != nil {
			r.params(p)
		}
		if err := twisterKernels.Launch(d, g.stream, "mt_"+kinds[r.kind].suffix, [3]uint32{twisterRow / threads, 1, 1}, [3]uint32{threads, 1, 1}, p); err != nil {
			return err
		}
		done += n
	}
	return nil
}

func (s *twister) drop(d *driver.Thread) {
	for _, p := range []driver.DevPtr{s.states, s.lists} {
		if p != 0 {
			_ = d.GiveMemory(p)
		}
	}
	*s = twister{}
}

// polynomial is one over GF(2), of a degree below twisterDegree; word 0 has the lowest powers.
type polynomial [twisterDegree/64 + 1]uint64

// twisterPolynomial is the powers of the recurrence's characteristic polynomial but the highest, from the formula of M. Matsumoto
// and T. Nishimura ("Mersenne Twister", 1998): a sum of products of (t^624 + t^397) and (t^623 + t^396).
var twisterPolynomial = sync.OnceValue(func() (powers []int) {
	odd := map[int]bool{}
	add := func(whole, part int) { // (t^624 + t^397)^whole (t^623 + t^396)^part
		for i := range whole + 1 {
			for j := range part + 1 {
				if i&^whole == 0 && j&^part == 0 { // the binomial coefficients are odd
					p := 624*i + 397*(whole-i) + 623*j + 396*(part-j)
					odd[p] = !odd[p]
				}
			}
		}
	}
	const a = 0x9908b0df
	for i := range 31 {
		if a>>i&1 != 0 {
			add(1, 30-i)
		}
	}
	if a>>31 != 0 {
		add(0, 0)
	}
	add(1, 31)
	for p, on := range odd {
		if on && p != twisterDegree {
			powers = append(powers, p)
		}
	}
	return powers
})

// squared is p times p, modulo the characteristic polynomial.
func (p *polynomial) squared() (r polynomial) {
	const words, rest = len(r), twisterDegree % 64
	var wide [2 * words]uint64
	for i, w := range p {
		wide[2*i], wide[2*i+1] = spread(uint32(w)), spread(uint32(w>>32))
	}
	for w := 2*words - 1; w >= words-1; w-- {
		high, skip := wide[w], 0
		if w == words-1 {
			skip = rest
		}
		if high >>= skip; high == 0 {
			continue
		}
		wide[w] &= 1<<skip - 1
		for _, power := range twisterPolynomial() {
			at := 64*w + skip - twisterDegree + power
			wide[at/64] ^= high << (at % 64)
			wide[at/64+1] ^= high >> (64 - at%64)
		}
	}
	copy(r[:], wide[:])
	return r
}

// spread puts a zero before each bit.
func spread(x uint32) uint64 {
	v := uint64(x)
	for i, mask := range []uint64{0x0000ffff0000ffff, 0x00ff00ff00ff00ff, 0x0f0f0f0f0f0f0f0f, 0x3333333333333333, 0x5555555555555555} {
		v = (v | v<<(16>>i)) & mask
	}
	return v
}

// jumps are the places of the words whose sum is the word 2^2048 numbers on, and twice as many, and so on.
var jumps = sync.OnceValue(func() (lists [doublings][]uint16) {
	p := polynomial{2} // t, one number on
	for k := range twisterApart + doublings {
		if k >= twisterApart {
			lists[k-twisterApart] = p.places()
		}
		p = p.squared()
	}
	return lists
})

func (p *polynomial) places() (list []uint16) {
	for w, x := range p {
		for ; x != 0; x &= x - 1 {
			list = append(list, uint16(64*w+bits.TrailingZeros64(x)))
		}
	}
	return list
}
