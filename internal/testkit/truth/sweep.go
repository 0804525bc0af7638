package truth

import (
	"math/rand/v2"
	"slices"
	"strings"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

// Sweep is a line that is run on very many inputs, of which only sums of hashes are kept: on every value of its one operand
// of at most 32 bits, or on a sample of 2^24 for operands that are more than that together.
type Sweep struct {
	*Line
	All  bool // every input; else a sample
	Bits int  // of the operand, where All
}

const (
	// sweepThreads is the block of a kernel that sweeps; a thread takes every so-manieth input of its chunk.
	sweepThreads = 256
	// sampleChunks chunks of 2^20 are the sample.
	sampleChunks = 16
	// edgeCount is how many edge values a sample has of each operand.
	edgeCount = 64
)

// Chunk is how many inputs one hash is for.
func (s *Sweep) Chunk() int {
	if !s.All {
		return 1 << 20
	}
	return map[int]int{8: 1 << 8, 16: 1 << 12, 32: 1 << 20}[s.Bits]
}

// Chunks is how many hashes the sweep has.
func (s *Sweep) Chunks() int {
	if !s.All {
		return sampleChunks
	}
	return 1 << s.Bits / s.Chunk()
}

// notSwept are chapters whose instructions are no operation on one thread's registers, besides those that are skipped anyway.
var notSwept = []string{"matrix", "warp", "memory", "atomic"}

// acrossLanes take values of other threads.
var acrossLanes = map[isa.Op]bool{isa.Shfl: true}

// Sweeps are the sweeps of the card that is recorded, in the order of the table. Forms with one operand and those of 16
// bits are taken in every spelling, others in those of Lines.
func Sweeps() []*Sweep {
	var all []*Sweep
	seen := map[string]bool{}
	for _, c := range isa.Chapters() {
		if slices.Contains(skippedChapters, c.Name) || slices.Contains(notSwept, c.Name) {
			continue
		}
		for _, f := range c.Forms {
			if _, skip := skipped[f.Op]; skip || acrossLanes[f.Op] || f.SM > targetSM || f.Arch != "" || f.PTX > isa.V(9, 0) {
				continue
			}
			all = append(all, formSweeps(f, c.Name, seen)...)
		}
	}
	return all
}

// formSweeps are a form's: the whole product of its words if it is small, else a pairwise choice.
func formSweeps(f *isa.Form, chapter string, seen map[string]bool) []*Sweep {
	var all []*Sweep
	add := func(mods []isa.Mod, small bool) {
		text := spell.Line(f, mods, false, -1)
		if seen[text] || skips(text) {
			return
		}
		if s := newSweep(chapter, text); s != nil && (!small || s.small()) {
			seen[text] = true
			all = append(all, s)
		}
	}
	for _, mods := range spell.Product(f) {
		add(mods, true)
	}
	for _, mods := range spell.Pairwise(f, spellings) {
		add(mods, false)
	}
	return all
}

// newSweep is nil for a line that is no operation on registers alone, or whose bits the manual leaves open.
func newSweep(chapter, text string) *Sweep {
	s := newPlain(chapter, text)
	if s == nil || s.approximate() {
		return nil
	}
	return s
}

// newPlain is nil for a line that is no operation on registers alone.
func newPlain(chapter, text string) *Sweep {
	l := newLine(recording, chapter, text)
	if l == nil || l.Text != text {
		return nil
	}
	if _, plain := l.Plain(); !plain {
		return nil
	}
	s := &Sweep{Line: l}
	src := l.sources()
	for _, r := range l.regs {
		if r.fam.bytes == 16 {
			return nil
		}
	}
	if len(src) == 0 || len(src) > 4 {
		return nil
	}
	if len(src) == 1 && src[0].typ != isa.Pred && src[0].fam.bytes <= 4 {
		s.All, s.Bits = true, 8*src[0].fam.bytes
	}
	return s
}

// approximate reports a line whose results may be off by some units: the hash would say nothing.
func (l *Line) approximate() bool {
	return l.Tolerance().Reason != "" && slices.ContainsFunc(l.regs, func(r reg) bool { return r.dest && (r.typ == isa.F32 || r.typ == isa.F64) })
}

// small is one operand, or operands of 16 bits: every spelling is worth it.
func (s *Sweep) small() bool {
	src := s.sources()
	return len(src) == 1 || !slices.ContainsFunc(src, func(r reg) bool { return r.fam.bytes > 2 })
}

// sources are the registers that the line reads; one that it also writes is one.
func (l *Line) sources() []reg {
	var src []reg
	for _, r := range l.regs {
		if !r.dest {
			src = append(src, r)
		}
	}
	return src
}

// shape names what sweeps must have in common to share a kernel: where their inputs come from.
func (s *Sweep) shape() string {
	var b strings.Builder
	if s.All {
		b.WriteString("all")
	}
	for _, r := range s.sources() {
		b.WriteString(" " + r.fam.prefix + r.typ.String())
	}
	return b.String()
}

// edges are the edge values of the sample's operands, edgeCount of 8 bytes each.
func (s *Sweep) edges() []uint64 {
	var out []uint64
	for _, r := range s.sources() {
		list := edgeList(r.typ, r.fam.bytes)
		rng := rand.New(rand.NewPCG(uint64(r.typ), uint64(r.fam.bytes)))
		for k := range edgeCount {
			if k < len(list) {
				out = append(out, list[k])
			} else {
				out = append(out, edge(rng, r.typ, r.fam.bytes))
			}
		}
	}
	return out
}

// edgeList are the edge values of a type; of pairs each with a neighbour.
func edgeList(t isa.Type, bytes int) []uint64 {
	pairs := func(list []uint64) []uint64 {
		out := make([]uint64, len(list))
		for i, v := range list {
			out[i] = v | list[(i+5)%len(list)]<<16
		}
		return out
	}
	switch t {
	case isa.F16:
		return bitsF16
	case isa.BF16:
		return bitsBF16
	case isa.F16x2:
		return pairs(bitsF16)
	case isa.BF16x2:
		return pairs(bitsBF16)
	case isa.F32, isa.TF32:
		return bitsF32
	case isa.F64:
		return bitsF64
	}
	if bytes == 8 {
		return bits64
	}
	return bits32
}
