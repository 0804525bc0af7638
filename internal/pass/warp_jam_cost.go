package pass

import "kudzu/internal/ir"

// choice is how many warps are jammed, and whether their stores go to the end of the block, to be written together.
type choice struct {
	warps int
	sink  bool
}

// Bounds of what pays, found by measurement on the bench suite.
const (
	maxJam          = 8    // jammed warps: two vector registers for each value of each
	maxJamRegisters = 32   // vector registers for what a loop carries
	maxJamInsts     = 1400 // operations of all warps together, for the compiler's time
)

// choose finds how many warps should be jammed; one: the kernel is better as it is.
func (j *jammer) choose() choice {
	most := j.st.cfg.Jam
	if most == 0 && j.st.always("warp_jam") {
		most = maxJam
	}
	if most > 0 {
		for n := most; n >= 2; n /= 2 {
			if j.warps%n == 0 && j.rows(n) {
				return choice{warps: n}
			}
		}
		return choice{warps: 1}
	}
	j.steps(false)
	own := j.ownWork(nil)
	switch {
	case j.wholePays(own):
		return choice{warps: j.warps}
	case j.transposes():
		return choice{warps: maxJam, sink: true}
	}
	for n := maxJam; n >= 2; n /= 2 {
		if j.warps%n == 0 && j.rows(n) && own*n <= maxJamInsts && j.sharePays(n) {
			return choice{warps: n}
		}
	}
	return choice{warps: 1}
}

// rows reports that n jammed warps never cross the end of a row of threads.
func (j *jammer) rows(n int) bool {
	for _, b := range j.f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.SReg {
				if _, ok := j.sregStep(in.Sreg, n); !ok {
					return false
				}
			}
		}
	}
	return true
}

// ownWork counts what would be there for each warp, in a loop or everywhere (nil).
func (j *jammer) ownWork(l *ir.Loop) int {
	n := 0
	for _, b := range j.f.Blocks {
		if l != nil && !l.Contains(b) {
			continue
		}
		for _, in := range b.Insts {
			if len(in.Results) > 0 && j.step[in.Results[0]].known || in.Op.IsTerm() || in.Op == ir.Bar {
				continue
			}
			n++
			if in.Op == ir.Atomic || in.Op == ir.AtomicCAS { // lane by lane
				n += 64
			}
		}
	}
	return n
}

// carried counts the vectors that each warp carries around a loop.
func (j *jammer) carried(l *ir.Loop) int {
	n := 0
	for _, in := range l.Header.Insts[:numPhis(l.Header)] {
		r := in.Results[0]
		if !j.step[r].known && r.Type != ir.I1 && j.a.fact(r).kind < ir.Affine {
			n += max(1, r.Type.Bits()/32)
		}
	}
	return n
}

// hasBar reports a loop with a barrier in it.
func hasBar(l *ir.Loop) bool {
	for _, b := range l.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.Bar {
				return true
			}
		}
	}
	return false
}

// wholePays reports a small block with barriers, or with a loop that walks memory by strides of the block, whose loops
// between barriers carry so little that all warps have it in registers.
func (j *jammer) wholePays(own int) bool {
	if j.warps > maxJam || own*j.warps > maxJamInsts || !j.rows(j.warps) {
		return false
	}
	waits := false
	for _, b := range j.f.Blocks {
		for _, in := range b.Insts {
			waits = waits || in.Op == ir.Bar
		}
	}
	for _, l := range j.a.li.Loops {
		t := newTurn(j.a, l)
		waits = waits || t.fits() && t.jumps()
		if !hasBar(l) && innermost(j.a.li, l) && 2*j.carried(l)*j.warps > maxJamRegisters {
			return false
		}
	}
	return waits
}

// sharePays reports a loop in which warps read the same vectors and do not much else.
func (j *jammer) sharePays(n int) bool {
	pays := false
	for _, l := range j.a.li.Loops {
		if !innermost(j.a.li, l) {
			continue
		}
		shared, apart := 0, 0 // loads of vectors
		for _, b := range l.Blocks {
			for _, in := range b.Insts {
				if in.Op != ir.Load || j.a.fact(in.Args[0]).kind >= ir.WarpUniform {
					continue
				}
				if j.step[in.Results[0]].known {
					shared++
				} else {
					apart++
				}
			}
		}
		if hasBar(l) || shared == 0 || apart > shared {
			continue
		}
		if 2*n*j.carried(l) > maxJamRegisters {
			return false
		}
		pays = true
	}
	return pays
}

// transposes reports a kernel without loops whose lanes store far apart what jammed warps store contiguously: together they write whole
// lines.
func (j *jammer) transposes() bool {
	if j.warps%maxJam != 0 || len(j.a.li.Loops) > 0 || !j.rows(maxJam) || len(j.f.Blocks) != 1 {
		return false
	}
	j.steps(true)
	defer j.steps(false)
	stores := 0
	for _, in := range j.f.Blocks[0].Insts {
		switch in.Op {
		case ir.Load:
			if stores > 0 && !in.ReadOnly {
				return false
			}
		case ir.Store:
			at := j.a.fact(in.Args[0])
			if in.Space != ir.Global || len(in.Args) != 2 || in.Args[1].Type.Bits() != 32 || at.kind != ir.Varying || at.guess || at.seg > 0 || in.Mask != nil {
				return false
			}
			if s := j.step[in.Args[0]]; !s.known || s.c != 4 {
				return false
			}
			stores++
		case ir.Bar, ir.Atomic, ir.AtomicCAS:
			return false
		}
	}
	return stores > 0
}
