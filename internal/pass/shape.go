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
	st.shapes()
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

// shapeAnalysis is the state of the shape analysis of one kernel.
type shapeAnalysis struct {
	st    *state
	f     *ir.Func
	width int
	facts *ir.ValueMap[*fact]
	dom   *ir.DomTree
	li    *ir.LoopInfo
	num   ir.BlockNums // in reverse postorder
	rpo   []*ir.Block
	local int64 // bytes of local memory per thread
	todo  worklist

	divergence
}

// worklist is what the analysis has still to look at: an instruction again only if a fact that it reads has changed, or its own.
type worklist struct {
	first  []int32 // block number → its first instruction's number
	dirty  []bool  // by instruction number
	users  []int32 // instructions that use a value: those of ID v are users[userAt[v]:userAt[v+1]]
	userAt []int32
}

// list numbers the instructions. All are to be looked at.
func (w *worklist) list(f *ir.Func, rpo []*ir.Block) {
	n := int32(0)
	w.first = make([]int32, len(rpo))
	w.userAt = make([]int32, f.NumValues()+2)
	for i, b := range rpo {
		w.first[i] = n
		n += int32(len(b.Insts))
		for _, in := range b.Insts {
			for _, a := range in.Args {
				if !a.Const {
					w.userAt[a.ID+2]++
				}
			}
		}
	}
	for i := 2; i < len(w.userAt); i++ {
		w.userAt[i] += w.userAt[i-1]
	}
	w.users = make([]int32, w.userAt[len(w.userAt)-1])
	w.dirty = make([]bool, n)
	n = 0
	for _, b := range rpo {
		for _, in := range b.Insts {
			for _, a := range in.Args {
				if !a.Const {
					w.users[w.userAt[a.ID+1]] = n
					w.userAt[a.ID+1]++
				}
			}
			w.dirty[n] = true
			n++
		}
	}
}

// changed has instruction n, and those that use its result r, looked at again.
func (w *worklist) changed(n int32, r *ir.Value) {
	w.dirty[n] = true
	for _, u := range w.users[w.userAt[r.ID]:w.userAt[r.ID+1]] {
		w.dirty[u] = true
	}
}

// analyse computes the facts to a fixed point, with the control flow as it is, and writes the shapes.
func analyse(st *state) *shapeAnalysis {
	f := st.f
	f.Rewire()
	a := &shapeAnalysis{st: st, f: f, width: st.m.Width, facts: ir.NewValueMap[*fact](f), dom: st.dominators(), local: int64(f.LocalBytes+15) &^ 15}
	if a.width == 0 {
		a.width = 32
	}
	a.li = st.loops()
	a.rpo = f.RPO()
	a.num = f.NumberBlocks(a.rpo)
	a.todo.list(f, a.rpo)
	a.prepare()
	for _, p := range f.Params {
		f := full
		a.facts.Set(p, &f)
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
	onlyAddresses(f)
	return a
}

// pass runs once over all instructions that may have news.
func (a *shapeAnalysis) pass() bool {
	changed := false
	for bi, b := range a.rpo {
		for k, in := range b.Insts {
			no := a.todo.first[bi] + int32(k)
			if !a.todo.dirty[no] {
				continue
			}
			a.todo.dirty[no] = false
			for i, r := range in.Results {
				n := a.transfer(in, i)
				if in.Op == ir.Phi {
					n = a.limitPhi(bi, n)
				}
				if a.weaken(r, n) {
					a.todo.changed(no, r)
					changed = true
				}
			}
		}
	}
	return changed
}

// weaken joins n into the fact of r and reports whether that changed it. A fact that changes often is widened, first its range,
// then all of it, so that the analysis ends.
func (a *shapeAnalysis) weaken(r *ir.Value, n fact) bool {
	old := a.facts.Get(r)
	if old == nil {
		if n.kind == ir.ShapeUnknown {
			return false
		}
		n.visits = 1
		a.facts.Set(r, &n)
		return true
	}
	m := join(*old, n, a.width)
	m.visits = old.visits
	if m == *old {
		return false
	}
	m.visits++
	if m.visits > widenRange {
		m.lo, m.hi = full.lo, full.hi
	}
	if m.visits > widenAll {
		m = full
		m.visits = old.visits + 1
	}
	*old = m // differs at least in visits
	return true
}

// After so many changes of a fact its range, or all of it, is widened to what is always true.
const (
	widenRange = 4
	widenAll   = 40
)

// limitPhi weakens a phi at a join of divergent control flow.
func (a *shapeAnalysis) limitPhi(b int, n fact) fact {
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

func (a *shapeAnalysis) fact(v *ir.Value) fact {
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
	if f := a.facts.Get(v); f != nil {
		return *f
	}
	return fact{}
}

// shapeOf is the fact as the emitter reads it.
func (a *shapeAnalysis) shapeOf(v *ir.Value) ir.Shape {
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
func (a *shapeAnalysis) noWrap(f fact, bits int) (signed, unsigned bool) {
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
