package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// warpJam is unroll-and-jam over the loop of warps: several warps of a block run interleaved in one body. After it Module.Jam
// says how many: the code is that of so many warps, beginning with one whose number is a multiple of it.
//
// What is the same for these warps is done once: a row of a matrix that every warp reads, a counter, a pointer. What differs by a
// known number from warp to warp is one value and sums with constants; only the rest is there several times. If all warps of a
// block are jammed its barriers are gone, and so are the frames that values live in across them. Which kernels are better so,
// and how many warps, is in warp_jam_cost.go.
func warpJam(st *state) error {
	st.m.Jam = 1
	n := st.cfg.Block
	threads := int(n[0] * n[1] * n[2])
	if st.m.Width != 32 || threads < 64 || threads%32 != 0 || st.f.LocalBytes > 0 || st.never("warp_jam") {
		return st.unchanged()
	}
	st.f.Rewire()
	j := &jammer{st: st, f: st.f, warps: threads / 32}
	if !j.allowed() {
		return st.unchanged()
	}
	j.a = st.shapes()
	if r := barPoints(st.f); len(r.Points) > 0 && !allMeet(st, r) {
		return st.unchanged()
	}
	if !j.branches() {
		return st.unchanged()
	}
	c := j.choose()
	if c.warps < 2 {
		return st.unchanged()
	}
	j.n, j.sink = c.warps, c.sink
	if j.n == j.warps {
		j.prefetch()
	}
	j.steps(false)
	j.apply()
	st.m.Jam = j.n
	if err := simplify(st); err != nil { // in warps beyond the first some lanes are known not to act
		return err
	}
	return dce(st)
}

// ahead is how many bytes of later iterations are asked for in loops that leap through memory, and how many iterations at most.
const ahead, aheadIters = 4096, 8

// prefetch asks early for what loops will load that leap over what other blocks load: no prefetcher of a processor follows.
func (j *jammer) prefetch() {
	for _, l := range j.a.li.Loops {
		if t := newTurn(j.a, l); t.fits() && t.jumps() {
			for _, x := range t.leaps {
				t.prefetch(x.in, max(2, min(ahead/x.iterBytes, aheadIters)))
			}
		}
	}
}

// jammer is a kernel whose warps may be jammed.
type jammer struct {
	st    *state
	f     *ir.Func
	a     *shapeAnalysis
	warps int // of a block
	n     int // that are jammed
	sink  bool

	step   map[*ir.Value]warpStep
	copies map[*ir.Value][]*ir.Value // of values that are there several times, and sums
}

// warpStep is by how much a value differs from warp to warp, in each lane.
type warpStep struct {
	c     int64
	known bool
}

// allowed reports a kernel of operations that jammed warps can do, each with its own mask, and barriers for all.
func (j *jammer) allowed() bool {
	if !plainBars(j.f) {
		return false
	}
	for _, b := range j.f.Blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Bar:
				if in.BarKind != ir.BarSync && in.BarKind != ir.BarPace || in.Mask != nil && !always(in.Mask) {
					return false
				}
			case ir.Exit:
				if len(b.Succs()) > 0 {
					return false
				}
			case ir.Switch, ir.LaneMask, ir.ActiveMask, ir.AllLanes, ir.Clock, ir.LocalAddr, ir.FuncAddr, ir.IsSpace, ir.ToGeneric, ir.FromGeneric:
				return false
			case ir.SReg:
				if _, ok := j.sregStep(in.Sreg, 2); !ok {
					return false
				}
			default:
				if !harmless(in) || in.Space == ir.Local {
					return false
				}
			}
		}
	}
	return true
}

// always reports a mask of every lane that exists.
func always(m *ir.Value) bool {
	return m.Const && m.Bits != 0 || m.Def != nil && m.Def.Op == ir.EntryMask
}

// branches reports that all warps of a block take the same ways, or ways that a warp without lanes may take as well.
func (j *jammer) branches() bool {
	for _, b := range j.f.Blocks {
		t := b.Term()
		if len(t.Targets) < 2 || j.a.fact(t.Args[0]).kind == ir.BlockUniform {
			continue
		}
		if !onAny(t) || t.Targets[0] == t.Targets[1] {
			return false
		}
	}
	return true
}

// sregStep is by how much a special register grows from warp to warp, if n jammed warps do not cross the end of a row.
func (j *jammer) sregStep(s ir.SpecialReg, n int) (int64, bool) {
	x, y := int(j.st.cfg.Block[0]), int(j.st.cfg.Block[1])
	rows := 0 // of a warp
	switch {
	case x*y == x && j.st.cfg.Block[2] == 1 || x >= 32*n && x%(32*n) == 0: // along a row
	case x <= 32 && 32%x == 0 && x*y%(32*n) == 0: // whole rows, in one plane
		rows = 32 / x
	default:
		return 0, false
	}
	switch s {
	case ir.TidX:
		if rows == 0 {
			return 32, true
		}
		return 0, true
	case ir.TidY:
		return int64(rows), true
	case ir.WarpID:
		return 1, true
	case ir.TidZ, ir.LaneID, ir.CtaidX, ir.CtaidY, ir.CtaidZ, ir.NctaidX, ir.NctaidY, ir.NctaidZ, ir.NtidX, ir.NtidY, ir.NtidZ, ir.NWarpID,
		ir.LanemaskEQ, ir.LanemaskLE, ir.LanemaskLT, ir.LanemaskGE, ir.LanemaskGT, ir.DynamicSmem, ir.TotalSmem:
		return 0, true
	}
	return 0, false
}

// steps finds the warpStep of every value, hoping until something speaks against it. A guess lets widened sums count as if they never
// wrapped; it is good for choosing only.
func (j *jammer) steps(guess bool) {
	j.step = map[*ir.Value]warpStep{}
	bad := map[*ir.Value]bool{}
	of := func(v *ir.Value) (s warpStep, seen bool) {
		if v.Const {
			return warpStep{0, true}, true
		}
		if bad[v] {
			return warpStep{}, true
		}
		s, seen = j.step[v]
		return s, seen
	}
	for changed := true; changed; {
		changed = false
		for _, b := range j.a.rpo {
			for _, in := range b.Insts {
				if len(in.Results) == 0 || bad[in.Results[0]] {
					continue
				}
				s, seen := j.transfer(in, of, guess)
				if !seen {
					continue
				}
				old, had := j.step[in.Results[0]]
				if had && old == s {
					continue
				}
				changed = true
				for _, r := range in.Results {
					if had || !s.known {
						bad[r] = true
						delete(j.step, r)
					} else {
						j.step[r] = s
					}
				}
			}
		}
	}
}

// transfer is the step of an instruction's results; seen is false while nothing is known of what it reads.
func (j *jammer) transfer(in *ir.Inst, of func(*ir.Value) (warpStep, bool), guess bool) (s warpStep, seen bool) {
	no := warpStep{}
	switch in.Op {
	case ir.Phi:
		for _, a := range in.Args {
			x, ok := of(a)
			switch {
			case !ok:
			case !x.known || seen && x != s:
				return no, true
			default:
				s, seen = x, true
			}
		}
		return s, seen
	case ir.SReg:
		c, ok := j.sregStep(in.Sreg, max(j.n, 2))
		return warpStep{c, ok}, true
	case ir.Param, ir.VarAddr, ir.SharedAddr, ir.ParamAddr, ir.Undef, ir.EntryMask:
		return warpStep{0, true}, true
	}
	var args []warpStep
	zero := true
	list := in.Args
	if in.Mask != nil {
		list = append(append([]*ir.Value(nil), list...), in.Mask)
	}
	for _, a := range list {
		x, ok := of(a)
		if !ok {
			return no, false
		}
		zero = zero && x.known && x.c == 0
		args = append(args, x)
	}
	switch {
	case in.Op == ir.Load:
		return warpStep{0, zero && !in.Volatile && in.Order == ir.Weak}, true
	case in.Op.Row().Effects != 0:
		return no, true
	case zero:
		return warpStep{0, true}, true
	}
	for _, x := range args {
		if !x.known {
			return no, true
		}
	}
	return j.sum(in, args, guess), true
}

// sum is the step of an operation on numbers that have steps.
func (j *jammer) sum(in *ir.Inst, args []warpStep, guess bool) warpStep {
	t := in.Results[0].Type
	if t != ir.I32 && t != ir.I64 {
		return warpStep{}
	}
	// The low half of each warp's own number costs nothing.
	if k, _, ok := analysis.Coefficients(in); ok && in.Op != ir.Trunc {
		s := warpStep{known: true}
		for i := range in.Args {
			s.c += k[i] * args[i].c
		}
		if t == ir.I32 {
			s.c = int64(int32(s.c))
		}
		return s
	}
	if (in.Op == ir.SExt || in.Op == ir.ZExt) && in.Args[0].Type == ir.I32 {
		// All warps' values lie between these bounds: if they are near each other, they differ as numbers by what they differ by
		// modulo 2^32.
		f := j.a.fact(in.Args[0])
		near := f.lo > -1<<30 && f.hi < 1<<30 && args[0].c > -1<<24 && args[0].c < 1<<24
		if guess || near && (in.Op == ir.SExt || f.lo >= 0) {
			return args[0]
		}
	}
	return warpStep{}
}

// copy is what v is in warp i of the jammed ones.
func (j *jammer) copy(v *ir.Value, i int) *ir.Value {
	if v == nil || i == 0 || v.Const {
		return v
	}
	if c := j.copies[v]; c != nil {
		return c[i]
	}
	return v
}

// apply writes the code of j.n warps.
func (j *jammer) apply() {
	j.copies = map[*ir.Value][]*ir.Value{}
	type clone struct {
		of, at *ir.Inst
		warp   int
	}
	var phis []clone
	whole := j.n == j.warps
	for _, b := range j.a.rpo {
		old := b.Insts
		b.Insts = nil
		add := func(in *ir.Inst) { b.Append(in) }
		np := 0
		for np < len(old) && old[np].Op == ir.Phi {
			np++
		}
		for _, phi := range old[:np] {
			add(phi)
			if j.step[phi.Results[0]].known {
				continue
			}
			for i := 1; i < j.n; i++ {
				c := j.f.NewInst(ir.Phi, []ir.Type{phi.Results[0].Type})
				c.Line, c.Targets = phi.Line, append([]*ir.Block(nil), phi.Targets...)
				j.note(phi, c, i)
				phis = append(phis, clone{phi, c, i})
				add(c)
			}
		}
		for _, phi := range old[:np] {
			j.sums(phi, add)
		}
		s := &stretchOf{j: j, add: add}
		for _, in := range old[np : len(old)-1] {
			s.put(in, whole)
		}
		s.end()
		for _, in := range s.sunk {
			j.clones(in, add)
		}
		j.terminate(old[len(old)-1], add)
	}
	for _, c := range phis {
		for _, a := range c.of.Args {
			c.at.Args = append(c.at.Args, j.copy(a, c.warp))
		}
	}
	j.f.Rewire()
}

// note remembers that c's results are of's in warp i.
func (j *jammer) note(of, c *ir.Inst, i int) {
	for k, r := range of.Results {
		l := j.copies[r]
		if l == nil {
			l = make([]*ir.Value, j.n)
			l[0] = r
			j.copies[r] = l
		}
		l[i] = c.Results[k]
	}
}

// sums are a value's copies that differ from it by known numbers.
func (j *jammer) sums(in *ir.Inst, add func(*ir.Inst)) {
	for _, r := range in.Results {
		s := j.step[r]
		if !s.known || s.c == 0 {
			continue
		}
		l := []*ir.Value{r}
		for i := 1; i < j.n; i++ {
			c := j.f.NewInst(ir.Add, []ir.Type{r.Type}, r, ir.ConstInt(r.Type, uint64(s.c*int64(i))))
			c.Line = in.Line
			add(c)
			l = append(l, c.Results[0])
		}
		j.copies[r] = l
	}
}

// clones writes an instruction for each warp.
func (j *jammer) clones(in *ir.Inst, add func(*ir.Inst)) {
	for i := range j.n {
		j.clone(in, i, add)
	}
}

func (j *jammer) clone(in *ir.Inst, i int, add func(*ir.Inst)) {
	if i == 0 {
		add(in)
		return
	}
	c := j.f.CloneInst(in, func(v *ir.Value) *ir.Value { return j.copy(v, i) })
	j.note(in, c, i)
	add(c)
}

// terminate ends a block: a branch that any lane of a warp decides is decided by any lane of all of them.
func (j *jammer) terminate(t *ir.Inst, add func(*ir.Inst)) {
	if onAny(t) {
		if m := t.Args[0].Def.Args[0]; j.copies[m] != nil {
			all := m
			for i := 1; i < j.n; i++ {
				or := j.f.NewInst(ir.Or, []ir.Type{ir.I1}, all, j.copy(m, i))
				or.Line = t.Line
				add(or)
				all = or.Results[0]
			}
			any := j.f.NewInst(ir.AnyLane, []ir.Type{ir.I1}, all)
			any.Line = t.Line
			add(any)
			t.Args = []*ir.Value{any.Results[0]}
		}
	}
	add(t)
}

// stretchOf is part of a block in which warps do not wait for each other: what they share comes first, then one warp after the other.
type stretchOf struct {
	j      *jammer
	add    func(*ir.Inst)
	own    []*ir.Inst // what each warp does
	writes bool
	sunk   []*ir.Inst // stores that go to the end of the block
}

func (s *stretchOf) put(in *ir.Inst, whole bool) {
	switch {
	case in.Op == ir.Bar:
		s.end()
		if !whole {
			s.add(in)
		}
	case len(in.Results) > 0 && s.j.step[in.Results[0]].known:
		if in.Op == ir.Load && s.writes { // of what a warp may have written just now
			s.end()
		}
		s.add(in)
		s.j.sums(in, s.add)
	case in.Op == ir.Store && s.j.sink:
		s.sunk = append(s.sunk, in)
	default:
		s.own = append(s.own, in)
		s.writes = s.writes || in.Op.Row().Effects&ir.Writes != 0
	}
}

// end writes what each warp does.
func (s *stretchOf) end() {
	for i := range s.j.n {
		for _, in := range s.own {
			s.j.clone(in, i, s.add)
		}
	}
	s.own, s.writes = nil, false
}
