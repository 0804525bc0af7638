package pass

import (
	"kudzu/internal/ir"
)

// shape writes what is known of each value over a warp into it. It changes nothing else.
func shape(st *state) error {
	for _, f := range st.m.Funcs[1:] { // products: all lanes of a warp together, whatever the kernel does
		wide := *st.m
		wide.Width = 32
		analyse(&state{m: &wide, f: f, cfg: st.cfg})
	}
	analyse(st)
	return nil
}

// fact is what the analysis holds of a value while it runs. Facts only ever get weaker.
type fact struct {
	kind   ir.ShapeKind // ShapeUnknown: not reached yet
	pat    pattern      // Affine, or Varying with guess
	guess  bool
	seg    int    // Varying: affine with pat.s inside each segment of seg lanes, the segments' bases anywhere
	align  uint32 // lane 0 is a multiple, a power of two
	lo, hi int64  // of all lanes, as signed numbers; lo > hi never; full: unknown
	visits int
}

const maxAlign = 1 << 30

var full = fact{kind: ir.Varying, align: 1, lo: -1 << 63, hi: 1<<63 - 1}

// analysis is the state of the shape analysis of one kernel.
type analysis struct {
	st    *state
	f     *ir.Func
	width int
	facts map[*ir.Value]*fact
	dom   *ir.DomTree
	li    *ir.LoopInfo
	num   map[*ir.Block]int // in reverse postorder
	rpo   []*ir.Block

	varyingPhis map[*ir.Block]bool // joins of divergent branches
	warpPhis    map[*ir.Block]bool // joins of branches that warps take differently
	divergent   map[*ir.Loop]bool  // lanes leave at different times
	seen        map[*ir.Block]uint8
	left        map[*ir.Loop]uint8 // loops whose exits were followed, with the level
	local       int64              // bytes of local memory per thread
}

// analyse computes the facts to a fixed point, with the control flow as it is, and writes the shapes.
func analyse(st *state) *analysis {
	f := st.f
	f.Rewire()
	a := &analysis{st: st, f: f, width: st.m.Width, facts: map[*ir.Value]*fact{}, dom: ir.Dominators(f),
		num: map[*ir.Block]int{}, varyingPhis: map[*ir.Block]bool{}, warpPhis: map[*ir.Block]bool{}, divergent: map[*ir.Loop]bool{},
		seen: map[*ir.Block]uint8{}, left: map[*ir.Loop]uint8{}, local: int64(f.LocalBytes+15) &^ 15}
	if a.width == 0 {
		a.width = 32
	}
	a.li = ir.Loops(f, a.dom)
	a.rpo = f.RPO()
	for i, b := range a.rpo {
		a.num[b] = i
	}
	for _, p := range f.Params {
		f := full
		a.facts[p] = &f
		p.Shape = a.shapeOf(p)
	}
	for {
		for a.pass() {
		}
		if !a.control() {
			break
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for _, r := range in.Results {
				r.Shape = a.shapeOf(r)
			}
		}
	}
	return a
}

// pass runs over all instructions once.
func (a *analysis) pass() bool {
	changed := false
	for _, b := range a.rpo {
		for _, in := range b.Insts {
			for i, r := range in.Results {
				old := a.facts[r]
				n := a.transfer(in, i)
				if in.Op == ir.Phi {
					n = a.limitPhi(b, n)
				}
				if old == nil {
					if n.kind == ir.ShapeUnknown {
						continue
					}
					n.visits = 1
					a.facts[r] = &n
					changed = true
					continue
				}
				m := join(*old, n, a.width)
				m.visits = old.visits
				if m != *old {
					m.visits++
					if m.visits > 4 {
						m.lo, m.hi = -1<<63, 1<<63-1
					}
					if m.visits > 40 {
						m = full
						m.lo, m.hi, m.visits = -1<<63, 1<<63-1, old.visits+1
					}
					if m != *old {
						*old = m
						changed = true
					}
				}
			}
		}
	}
	return changed
}

// limitPhi weakens a phi at a join of divergent control flow.
func (a *analysis) limitPhi(b *ir.Block, n fact) fact {
	if n.kind == ir.ShapeUnknown {
		return n
	}
	if a.varyingPhis[b] {
		n.kind, n.pat, n.guess, n.seg, n.align = ir.Varying, pattern{}, false, 0, 1
	} else if a.warpPhis[b] && n.kind == ir.BlockUniform {
		n.kind = ir.WarpUniform
	}
	return n
}

// join is the weaker of two facts.
func join(x, y fact, width int) fact {
	if x.kind == ir.ShapeUnknown {
		return y
	}
	if y.kind == ir.ShapeUnknown {
		return x
	}
	r := fact{align: min(x.align, y.align), lo: min(x.lo, y.lo), hi: max(x.hi, y.hi)}
	switch {
	case x.kind >= ir.WarpUniform && y.kind >= ir.WarpUniform:
		r.kind = min(x.kind, y.kind)
	case x.kind == ir.Affine && y.kind == ir.Affine && x.pat == y.pat:
		r.kind, r.pat = ir.Affine, x.pat
	case (x.kind == ir.Affine || x.guess) && (y.kind == ir.Affine || y.guess) && x.pat == y.pat:
		r.kind, r.pat, r.guess = ir.Varying, x.pat, true
	default:
		r.kind, r.align = ir.Varying, 1
		if s, t := segOf(x, width), segOf(y, width); x.kind != ir.Varying && y.kind != ir.Varying || x.seg > 0 || y.seg > 0 {
			if s.seg > 0 && s == t {
				r.seg, r.pat = s.seg, pattern{s: s.s, seg: s.seg}
			}
		}
	}
	return r
}

// segOf is x seen as a pattern inside segments only; seg 0: none.
func segOf(x fact, width int) pattern {
	switch {
	case x.kind == ir.Varying && x.seg > 0:
		return pattern{s: x.pat.s, seg: x.seg}
	case x.kind == ir.Affine && x.pat.seg > 0:
		return pattern{s: x.pat.s, seg: x.pat.seg}
	}
	return pattern{}
}

func (a *analysis) fact(v *ir.Value) fact {
	if v.Const {
		f := fact{kind: ir.BlockUniform, align: maxAlign, lo: -1 << 63, hi: 1<<63 - 1}
		if !v.Type.IsFloat() && v.Type.Bits() <= 64 {
			f.lo, f.hi = v.Int(), v.Int()
			if v.Bits != 0 {
				f.align = uint32(min(v.Bits&-v.Bits, maxAlign))
			}
		} else {
			f.align = 1
		}
		return f
	}
	if f := a.facts[v]; f != nil {
		return *f
	}
	return fact{}
}

// shapeOf is the fact as the emitter reads it.
func (a *analysis) shapeOf(v *ir.Value) ir.Shape {
	f := a.fact(v)
	if f.kind == ir.ShapeUnknown {
		f = full // in code that is never reached
	}
	s := ir.Shape{Kind: f.kind, Align: f.align, Guess: f.guess}
	if f.kind == ir.Affine || f.guess {
		s.Stride, s.Seg, s.SegStride, s.Table = f.pat.s, f.pat.seg, f.pat.ss, f.pat.table()
	}
	if f.kind == ir.Affine {
		s.NoWrap, s.NoWrapU = a.noWrap(f, v.Type.Bits())
	}
	if f.kind == ir.Varying && f.seg > 0 {
		s.Stride, s.Seg = f.pat.s, f.seg
	}
	return s
}

// noWrap reports whether no two lanes of an affine value lie on different sides of the wrap, signed and unsigned.
func (a *analysis) noWrap(f fact, bits int) (signed, unsigned bool) {
	if bits >= 64 {
		return false, false
	}
	lo, hi := f.pat.bounds(a.width)
	// Lane 0 at the start of an aligned stretch that all lanes fit in: no power of two lies between them.
	if lo >= 0 && hi < int64(f.align) {
		return true, true
	}
	// Or the values of all lanes are known to stay a warp's width away from the wrap.
	limit := int64(1)<<(bits-1) - (hi - lo)
	signed = f.lo >= -limit && f.hi < limit
	return signed, signed && f.lo >= 0
}

// control marks the joins and loops that divergent branches make; true if something is new.
func (a *analysis) control() bool {
	changed := false
	for _, b := range a.rpo {
		t := b.Term()
		if t == nil || len(t.Targets) < 2 || len(t.Args) == 0 {
			continue
		}
		k := a.fact(t.Args[0]).kind
		level := uint8(0)
		switch {
		case k == ir.ShapeUnknown || k == ir.BlockUniform:
			continue
		case k == ir.WarpUniform:
			level = 1
		default:
			level = 2
		}
		if a.seen[b] >= level {
			continue
		}
		a.seen[b] = level
		a.spread(b, level)
		changed = true
	}
	return changed
}

// spread follows the ways from a branch that lanes (level 2) or warps (level 1) take differently. Each block is labelled
// with the last place where ways to it met; where two labels meet is a join, whose phis vary. A loop that lanes leave
// while others stay is divergent: its exit phis vary too, and lanes that left it on different ways, in whatever rounds, are
// followed from there.
func (a *analysis) spread(b *ir.Block, level uint8) {
	a.spreadFrom(b.Succs(), a.num[b], a.li.Innermost(b), level)
}

// spreadFrom does so for blocks that some go to and others do not, from block number from in loop in.
func (a *analysis) spreadFrom(starts []*ir.Block, from int, in *ir.Loop, level uint8) {
	label := map[*ir.Block]*ir.Block{}
	put := func(x, l *ir.Block) {
		if old := label[x]; old == nil {
			label[x] = l
		} else if old != l && old != x {
			label[x] = x
			a.mark(x, level)
		}
	}
	headers := map[*ir.Block]*ir.Block{} // label that comes back to a loop's header
	step := func(from int, to, l *ir.Block) {
		if a.num[to] <= from { // a back edge: lanes meet again at the header, in step
			if old := headers[to]; old != nil && old != l {
				l = to
			}
			headers[to] = l
			return
		}
		put(to, l)
	}
	for _, s := range starts {
		step(from, s, s)
	}
	for i := from + 1; i < len(a.rpo); i++ {
		x := a.rpo[i]
		if l := label[x]; l != nil {
			for _, s := range x.Succs() {
				step(i, s, l)
			}
		}
	}
	for l := in; l != nil; l = l.Parent {
		if !leavesApart(l, headers[l.Header], label) {
			continue
		}
		if level == 2 {
			a.divergent[l] = true
		}
		// Warps leave at different times: what counts the rounds is one number for a warp, not for the block.
		a.warpPhis[l.Header] = true
		for _, y := range l.Exits {
			a.mark(y, level)
		}
		if a.left[l] < level && len(l.Exits) > 1 {
			a.left[l] = level
			a.spreadFrom(l.Exits, a.num[l.Header], l.Parent, level)
		}
	}
}

func (a *analysis) mark(x *ir.Block, level uint8) {
	if level == 2 {
		a.varyingPhis[x] = true
	}
	a.warpPhis[x] = true
}

// leavesApart reports that of those who went different ways some come to an exit of the loop while others come back to its
// header, or to another exit.
func leavesApart(l *ir.Loop, back *ir.Block, label map[*ir.Block]*ir.Block) bool {
	var out *ir.Block
	n := 0
	for _, y := range l.Exits {
		if lab := label[y]; lab != nil {
			n++
			if out != nil && out != lab {
				out = y
				n = 100
			} else {
				out = lab
			}
		}
	}
	if n == 0 || back == nil && n < 100 {
		return false
	}
	return n >= 100 || back != out // equal: they met again before the exit
}
