package curand

import (
	_ "embed" // parameters
	"encoding/binary"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/rand"
)

// mtgp is MTGP32: a generator with parameters of its own for each block (kernels/twister.cu). 256 numbers of a block follow 256 of
// the block before.
type mtgp struct {
	blocks uint32
	states driver.DevPtr // then the parameters
	row    uint64        // of all blocks, that the states are at
}

// parameterSets are those of M. Saito's MTGP for the period 2^11213 - 1, 200 of them: the place of the third word, two shifts, and of
// the two tables, which are linear, the entries 1, 2, 4 and 8.
//
//go:embed mtgp.bin
var parameterSets []byte

const (
	setBytes  = 3 + 8*4 // of a set in the file
	setWords  = 3 + 8   // in device memory
	mtgpWords = 351
)

func newMtgp(g *generator) source { return &mtgp{blocks: mtgpBlocks(g.order)} }

func mtgpBlocks(order rand.CurandOrdering_t) uint32 {
	if order == rand.CURAND_ORDERING_PSEUDO_LEGACY {
		return 64
	}
	return 192
}

// mtgpSet is the parameters of a block.
func mtgpSet(block uint32) (set [setWords]uint32) {
	b := parameterSets[block*setBytes:]
	for i := range set {
		if i < 3 {
			set[i] = uint32(b[i])
		} else {
			set[i] = binary.LittleEndian.Uint32(b[3+4*(i-3):])
		}
	}
	return set
}

// mtgpState is the state that a block begins with.
func mtgpState(set [setWords]uint32, seed uint32) (s [mtgpWords]uint32) {
	hidden := set[3+2] ^ set[3+3]<<16
	fill := hidden + hidden>>16
	fill = (fill + fill>>8) & 0xff
	for i := range s {
		s[i] = 0x01010101 * fill
	}
	s[0], s[1] = seed, hidden
	for i := 1; i < len(s); i++ {
		s[i] ^= 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	return s
}

func (s *mtgp) begin(d *driver.Thread, g *generator) (err error) {
	var states, sets []uint32
	seed := uint32(g.seed) ^ uint32(g.seed>>32)
	for b := range s.blocks {
		set := mtgpSet(b)
		state := mtgpState(set, seed+b+1)
		states, sets = append(states, state[:]...), append(sets, set[:]...)
	}
	states = append(states, sets...)
	if s.states, err = d.TakeMemory(4 * uint64(len(states))); err != nil {
		return err
	}
	return d.MemcpyHtoD(s.states, hostmem.Of(&states[0]), 4*uint64(len(states)))
}

func (s *mtgp) generate(d *driver.Thread, g *generator, r *request) error {
	if s.states == 0 {
		if err := s.begin(d, g); err != nil {
			return err
		}
	}
	if r.n == 0 {
		return nil
	}
	width := uint64(s.blocks) * threads
	sets := uint64(s.states) + uint64(s.blocks)*mtgpWords*4
	p := (&shim.Params{}).U64(uint64(s.states), sets, g.offset-s.row*width, r.n, uint64(r.out))
	if r.params != nil {
		r.params(p)
	}
	if err := twisterKernels.Launch(d, g.stream, "mtgp_"+kinds[r.kind].suffix, [3]uint32{s.blocks, 1, 1}, [3]uint32{threads, 1, 1}, p); err != nil {
		return err
	}
	s.row = (g.offset + r.n) / width
	return nil
}

func (s *mtgp) drop(d *driver.Thread) {
	if s.states != 0 {
		_ = d.GiveMemory(s.states)
	}
	*s = mtgp{blocks: s.blocks}
}
