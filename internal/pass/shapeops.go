package pass

import (
	"math/bits"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// amongMembers is the kind of a result that is the same for all lanes of a member mask: of the warp, unless lanes name
// different masks, as the tiles of a partitioned warp do.
func (a *shapeAnalysis) amongMembers(in *ir.Inst) ir.ShapeKind {
	mask := 1
	switch in.Op {
	case ir.Elect:
		mask = 0
	case ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot, ir.MatchAll, ir.Redux:
	default:
		return ir.WarpUniform
	}
	if a.width > 1 && a.fact(in.Args[mask]).kind < ir.WarpUniform {
		return ir.Varying
	}
	return ir.WarpUniform
}

// transfer is the fact of result i of in, from the facts of its arguments.
func (a *shapeAnalysis) transfer(in *ir.Inst, i int) fact {
	row := in.Op.Row()
	least := ir.BlockUniform
	for _, v := range in.Args {
		f := a.fact(v)
		if f.kind == ir.ShapeUnknown && in.Op != ir.Phi {
			return fact{} // not reached yet
		}
		least = min(least, max(f.kind, ir.Varying))
	}
	r := full
	t := in.Results[i].Type
	r.lo, r.hi = analysis.RangeOf(t).Lo, analysis.RangeOf(t).Hi
	switch row.Lanes {
	case ir.LanesBlock:
		r.kind = ir.BlockUniform
	case ir.LanesWarp:
		r.kind = a.amongMembers(in)
	case ir.LanesVarying:
		r.kind = ir.Varying
		if a.width == 1 {
			r.kind = ir.WarpUniform
		}
	}
	switch in.Op {
	case ir.Phi:
		return a.phiFact(in)
	case ir.SReg:
		return a.sregFact(in, r)
	case ir.Param, ir.Undef:
		r.kind = ir.BlockUniform
		return r
	case ir.SharedAddr:
		r.align = 16
		if in.Off >= 0 && in.Off < maxShared {
			r.lo, r.hi = 0, 2*maxShared
		}
		return r
	case ir.VarAddr, ir.LocalAddr, ir.ParamAddr, ir.FuncAddr:
		return r
	case ir.EntryMask:
		return r
	case ir.Load:
		r.kind = min(least, ir.WarpUniform)
		if in.ReadOnly || in.Once || in.Space == ir.Const || in.Space == ir.ParamSpace {
			r.kind = least
		}
		if r.kind == ir.Affine || in.Space == ir.Local && a.width > 1 {
			r.kind = ir.Varying
		}
		return r
	case ir.ToGeneric, ir.FromGeneric:
		return a.genericFact(in, r)
	case ir.Bar:
		if in.BarKind == ir.BarSync || in.BarKind == ir.BarArrive || in.BarKind == ir.BarPace {
			return r
		}
		r.kind = ir.WarpUniform // block-uniform only where all warps meet
		if in.AllWarps {
			r.kind = ir.BlockUniform
		}
		return r
	case ir.Elect:
		if i == 0 {
			r.kind = a.amongMembers(in)
		}
		return r
	case ir.Shfl:
		if f := a.shuffleFact(in, i, r); f.kind >= ir.Affine {
			return f
		}
		if a.broadcast(in) {
			r.kind = ir.WarpUniform
		}
		return r
	}
	if row.Lanes != ir.LanesArgs {
		return r
	}
	if row.Effects != 0 {
		r.kind = ir.Varying
		if a.width == 1 {
			r.kind = ir.WarpUniform
		}
		return r
	}
	return a.elementwise(in, r, least)
}

// broadcast reports a shuffle that gives all lanes the same: one lane's value, or what was the same before.
func (a *shapeAnalysis) broadcast(in *ir.Inst) bool {
	const whole = 31 // the warp is one segment
	one := in.Shuf == ir.ShufIdx && in.Args[1].Const && in.Args[2].Const && in.Args[2].Bits == whole
	return len(in.Results) == 1 && (one || a.fact(in.Args[0]).kind >= ir.WarpUniform)
}

// maxShared is more than the shared memory of any device.
const maxShared = 1 << 26

func (a *shapeAnalysis) phiFact(in *ir.Inst) fact {
	var r fact
	for _, v := range in.Args {
		f := a.fact(v)
		f.visits = 0
		if f.kind != ir.ShapeUnknown {
			r = join(r, f, a.width)
		}
	}
	r.visits = 0
	return r
}

func (a *shapeAnalysis) sregFact(in *ir.Inst, r fact) fact {
	n := a.st.cfg.Block
	known := n != [3]uint32{}
	warp := func() { r.kind = ir.WarpUniform }
	lanes := func(p pattern, align uint32) {
		r.kind, r.pat, r.align = ir.Affine, p.norm(a.width), align
		if r.pat.zero() {
			r.kind = ir.WarpUniform
		}
	}
	r.kind = ir.BlockUniform
	s := in.Sreg
	within := analysis.SRegRange(s, in.Results[0].Type, n)
	r.lo, r.hi = within.Lo, within.Hi
	if s == ir.TidX || s == ir.TidY || s == ir.TidZ {
		r.kind = ir.Varying
		if a.width == 1 {
			warp()
			return r
		}
		if !known {
			return r
		}
		x, y := int(n[0]), int(n[1])
		pow := bits.OnesCount(uint(x)) == 1 && x < 32
		rows := 0
		if pow {
			rows = 32 / x
		}
		switch {
		case s == ir.TidX && (n[1] == 1 && n[2] == 1 || x%32 == 0):
			align := uint32(32)
			if x == 32 {
				align = maxAlign // every warp begins at 0
			}
			lanes(pattern{s: 1}, align)
		case s == ir.TidX && pow:
			lanes(pattern{s: 1, seg: x}, maxAlign)
		case s == ir.TidY && x%32 == 0 || s == ir.TidZ && x*y%32 == 0:
			warp()
		case s == ir.TidY && pow && y%rows == 0:
			lanes(pattern{seg: x, ss: 1}, uint32(rows))
		case s == ir.TidY && pow && n[2] == 1:
			lanes(pattern{seg: x, ss: 1}, uint32(rows))
		}
		return r
	}
	switch s {
	case ir.LaneID:
		if a.width == 1 {
			warp()
		} else {
			lanes(pattern{s: 1}, maxAlign)
		}
	case ir.WarpID:
		warp()
	case ir.LanemaskEQ, ir.LanemaskLE, ir.LanemaskLT, ir.LanemaskGE, ir.LanemaskGT:
		r.kind = ir.Varying
		if a.width == 1 {
			warp()
		}
	case ir.ClockLo, ir.ClockHi, ir.Clock64, ir.GlobalTimer, ir.GlobalTimerLo, ir.GlobalTimerHi:
		warp()
	}
	return r
}

// genericFact: the base of a space is one address for shared memory, one a lane for local memory.
func (a *shapeAnalysis) genericFact(in *ir.Inst, r fact) fact {
	f := a.fact(in.Args[0])
	r.kind, r.pat, r.guess, r.seg = f.kind, f.pat, f.guess, f.seg
	r.align = min(f.align, 128)
	if in.Space == ir.Shared || in.Space == ir.Local {
		r.kind = min(r.kind, ir.WarpUniform) // other blocks' memory is elsewhere
	}
	if in.Space == ir.Local && a.width > 1 {
		k := int64(1)
		if in.Op == ir.FromGeneric {
			k = -1
		}
		p := pattern{s: k * a.local}
		if f.kind >= ir.WarpUniform {
			r.kind, r.pat = ir.Affine, p
		} else if f.kind == ir.Affine {
			r.pat = f.pat.add(p, 1).norm(a.width)
		} else {
			r.kind, r.guess, r.seg = ir.Varying, false, 0
		}
		if r.kind == ir.Affine && r.pat.zero() {
			r.kind = ir.WarpUniform
		}
		r.align = min(r.align, 16)
	}
	if r.kind == ir.Varying && !r.guess && r.seg == 0 {
		r.pat = pattern{}
	}
	return r
}

// shuffleFact: lanes that differ by known distances, read from known lanes, do so again.
func (a *shapeAnalysis) shuffleFact(in *ir.Inst, i int, r fact) fact {
	x := a.fact(in.Args[0])
	if i != 0 || a.width != 32 || x.kind != ir.Affine {
		return r
	}
	from, _, ok := analysis.ShuffleFrom(in)
	if !ok {
		return r
	}
	first := x.pat.at(from[0])
	r.kind, r.lo, r.hi = ir.Affine, x.lo, x.hi
	r.pat = tabled(func(l int) int64 { return x.pat.at(from[l]) - first }).wrapped(in.Results[0].Type.Bits()).norm(a.width)
	r.align = x.align
	if first != 0 {
		r.align = uint32(min(int64(x.align), first&-first))
	}
	if r.pat.zero() {
		r.kind = ir.WarpUniform
	}
	return r
}

// elementwise handles operations that compute each lane from the same lane of their arguments.
func (a *shapeAnalysis) elementwise(in *ir.Inst, r fact, least ir.ShapeKind) fact {
	if a.width == 32 && least < ir.WarpUniform && len(in.Results) == 1 && analysis.Folded(in.Results[0]) == analysis.WholeWarp {
		r.kind = ir.WarpUniform
		return r
	}
	r.kind = least
	isInt := !in.Results[0].Type.IsFloat() && in.Results[0].Type.Bits() <= 64
	var x, y fact
	if len(in.Args) > 0 {
		x = a.fact(in.Args[0])
	}
	if len(in.Args) > 1 {
		y = a.fact(in.Args[1])
	}
	if !isInt || len(in.Results) != 1 {
		if least == ir.Affine {
			r.kind = ir.Varying
		}
		return r
	}
	bitsOf := in.Results[0].Type.Bits()
	r.lo, r.hi = a.rangeOf(in)
	r.align = alignOf(in, x, y)
	if least >= ir.WarpUniform {
		return r
	}
	r.kind = ir.Varying
	p, ok, exact := a.patternOf(in, x, y)
	p = p.wrapped(bitsOf)
	if ok && exact {
		r.kind, r.pat = ir.Affine, p.norm(a.width)
		if r.pat.zero() {
			r.kind = ir.WarpUniform
		}
		return r
	}
	if ok && bitsOf == 64 {
		r.guess, r.pat = true, p.norm(a.width)
		if !r.pat.zero() {
			return r
		}
		r.guess, r.pat = false, pattern{}
	}
	r.align = 1
	a.segments(in, &r, x, y)
	return r
}

// patternOf is how the result differs over the lanes, if all lanes of the arguments are known relative to lane 0. exact is
// false when that holds only if no 32-bit value wraps inside the warp.
func (a *shapeAnalysis) patternOf(in *ir.Inst, x, y fact) (p pattern, ok, exact bool) {
	switch in.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Shl, ir.Neg, ir.Not:
		return linearPattern(in, x, y)
	case ir.Or, ir.Xor:
		return a.orPattern(in, x, y)
	case ir.And:
		if c := in.Args[1]; c.Const && x.kind == ir.Affine {
			return a.maskPattern(in, x, c.Int())
		}
	case ir.ShrU, ir.ShrS:
		if c, ok := shiftCount(in); ok && x.kind == ir.Affine {
			if p, ok = a.bitwise(in, x, c); ok {
				return p, ok, true
			}
			return a.shrPattern(x, int(c))
		}
	case ir.Trunc, ir.SExt, ir.ZExt, ir.Bitcast, ir.Copy:
		return a.castPattern(in, x)
	case ir.Select:
		t, f := a.fact(in.Args[1]), a.fact(in.Args[2])
		if x.kind >= ir.WarpUniform && t.known() && f.known() && t.pat == f.pat {
			return t.pat, true, !t.guess && !f.guess
		}
	}
	return pattern{}, false, false
}

// known reports that the lanes of f are known relative to lane 0, for certain or as a guess.
func (f fact) known() bool { return f.kind >= ir.Affine || f.guess }

// shiftCount is a constant shift by less than the width of the result.
func shiftCount(in *ir.Inst) (c int64, ok bool) {
	if !in.Args[1].Const {
		return 0, false
	}
	c = in.Args[1].Int()
	return c, c >= 0 && c < int64(in.Results[0].Type.Bits())
}

// linearPattern is the pattern of sums, and of products with constants: they map affine values to affine values.
func linearPattern(in *ir.Inst, x, y fact) (p pattern, ok, exact bool) {
	k, _, ok := analysis.Coefficients(in)
	exact = true
	for i, f := range []fact{x, y} {
		if k[i] == 0 {
			continue
		}
		ok = ok && f.known()
		exact = exact && !f.guess
		p = p.add(f.pat, k[i])
	}
	return p, ok, exact
}

// orPattern: disjoint bits add, one side a multiple of what the other side stays below.
func (a *shapeAnalysis) orPattern(in *ir.Inst, x, y fact) (p pattern, ok, exact bool) {
	if x.kind >= ir.Affine && y.kind >= ir.Affine && (a.below(x, y) || a.below(y, x)) {
		return x.pat.add(y.pat, 1), true, true
	}
	if c := in.Args[1]; c.Const {
		p, ok = a.bitwise(in, x, c.Int())
		return p, ok, true
	}
	return pattern{}, false, false
}

// maskPattern is the pattern of an affine x and a constant mask.
func (a *shapeAnalysis) maskPattern(in *ir.Inst, x fact, c int64) (p pattern, ok, exact bool) {
	if low := uint64(c) + 1; x.lo >= 0 && c >= 0 && low&uint64(c) == 0 && x.hi <= c {
		return x.pat, true, true // it cuts nothing off
	}
	if p, ok = a.bitwise(in, x, c); ok {
		return p, ok, true
	}
	return a.andPattern(x, uint64(c), in.Results[0].Type.Bits())
}

// castPattern: a conversion keeps the pattern where no two lanes lie on different sides of the wrap.
func (a *shapeAnalysis) castPattern(in *ir.Inst, x fact) (p pattern, ok, exact bool) {
	from := in.Args[0].Type
	switch in.Op {
	case ir.Trunc: // a guess was extended from 32 bits, and the lower ones are what they were
		return x.pat, x.kind == ir.Affine || x.guess && in.Results[0].Type.Bits() <= 32, true
	case ir.SExt, ir.ZExt:
		no, u := a.noWrap(x, from.Bits())
		if in.Op == ir.ZExt {
			no = u
		}
		return x.pat, x.kind == ir.Affine && from != ir.I1 && (no || a.guessable(x, from)), no
	case ir.Bitcast, ir.Copy:
		if !from.IsFloat() {
			return x.pat, x.known(), !x.guess
		}
	}
	return pattern{}, false, false
}

// guessable reports that a wrap between two lanes may be left to a guess: an index of 32 bits that wraps names addresses
// gigabytes apart, which no program means, while narrower ones wrap around in arrays, and so does any in steps as wide as its type.
func (a *shapeAnalysis) guessable(x fact, t ir.Type) bool {
	lo, hi := x.pat.bounds(a.width)
	return t.Bits() >= 32 && hi-lo < 1<<31
}

// below reports that every lane of small is at least 0 and less than what all lanes of big are multiples of.
func (a *shapeAnalysis) below(small, big fact) bool {
	g := int64(big.align)
	if s := big.pat.step(a.width); s != 0 {
		g = min(g, s)
	}
	return small.lo >= 0 && small.hi < g
}

// andPattern: x and a mask of low bits, or of all but low bits, where lane 0 starts an aligned stretch and the step is
// a power of two.
func (a *shapeAnalysis) andPattern(x fact, mask uint64, w int) (p pattern, ok, exact bool) {
	s := x.pat.s
	if x.pat.seg != 0 || s <= 0 || s&(s-1) != 0 {
		return
	}
	if w < 64 {
		mask &= 1<<w - 1
	}
	j := bits.TrailingZeros64(uint64(s))
	// All lanes in one aligned stretch, so that bits above it are the same in all of them.
	stretch := uint64(s) * uint64(a.width)
	if uint64(x.align) >= stretch && a.width&(a.width-1) == 0 && (w >= 64 || stretch <= 1<<w) {
		return maskedLanes(s, int(mask>>j)&(a.width-1), a.width)
	}
	if low := mask + 1; mask != 0 && low&mask == 0 { // mask is 2^k - 1
		if uint64(x.align) >= stretch && low >= stretch {
			return pattern{s: s}, true, true
		}
		k := bits.TrailingZeros64(low)
		if uint64(x.align) < low || k < j {
			return
		}
		if seg := 1 << (k - j); seg < a.width {
			return pattern{s: s, seg: seg}, true, uint64(x.align) >= uint64(s)*uint64(a.width)
		}
		return pattern{s: s}, true, true
	}
	inv := ^mask
	if w < 64 {
		inv &= 1<<w - 1
	}
	if low := inv + 1; low&inv == 0 { // mask clears the low k bits
		if uint64(x.align) >= stretch && low >= stretch {
			return pattern{}, true, true
		}
		k := bits.TrailingZeros64(low)
		if uint64(x.align) < low || k < j || uint64(x.align) < uint64(s)*uint64(a.width) && k-j < 5 {
			return
		}
		if seg := 1 << (k - j); seg < a.width {
			return pattern{seg: seg, ss: int64(low)}, true, true
		}
		return pattern{}, true, true
	}
	return
}

// maskedLanes is s × (lane and m): what a mask of any bits above and below leaves of lanes that have bits of their own.
// Compilers write (tid / 32) × 1024 as (tid × 32) and 0x7c00.
func maskedLanes(s int64, m, width int) (p pattern, ok, exact bool) {
	switch low, high := m+1, width-m; {
	case m == 0:
		return pattern{}, true, true
	case m == width-1:
		return pattern{s: s}, true, true
	case low&m == 0: // the low bits
		return pattern{s: s, seg: low}, true, true
	case high&(high-1) == 0: // the high bits
		return pattern{seg: high, ss: s * int64(high)}, true, true
	}
	return
}

func (a *shapeAnalysis) shrPattern(x fact, k int) (p pattern, ok, exact bool) {
	s := x.pat.s
	if s <= 0 || s&(s-1) != 0 || k >= 31 {
		return
	}
	j := bits.TrailingZeros64(uint64(s))
	if x.pat.seg != 0 {
		// Inside a segment only the low bits differ; the segments' step must survive the shift.
		if x.align >= 1<<k && x.pat.ss == 0 && k >= j && x.pat.seg <= 1<<(k-j) {
			return pattern{}, true, true
		}
		return
	}
	if stretch := uint64(s) * uint64(a.width); uint64(x.align) >= stretch && 1<<k >= stretch {
		return pattern{}, true, true // all lanes in one aligned stretch
	}
	if uint32(1)<<k > x.align || k < j || uint64(x.align) < uint64(s)*uint64(a.width) && k-j < 5 {
		return
	}
	if seg := 1 << (k - j); seg < a.width {
		return pattern{seg: seg, ss: 1}, true, true
	}
	return pattern{}, true, true
}

// segments keeps track of values that are affine inside segments though the segments lie anywhere: the rows of a block
// that is 16 wide, times a pitch known only at run time.
func (a *shapeAnalysis) segments(in *ir.Inst, r *fact, x, y fact) {
	sx, sy := segOf(x, a.width), segOf(y, a.width)
	plain := func(f fact, seg int) (int64, bool) { // stride inside segments
		switch {
		case f.kind >= ir.WarpUniform:
			return 0, true
		case f.kind == ir.Affine && f.pat.seg == 0 && f.pat.tab == "":
			return f.pat.s, true
		case segOf(f, a.width).seg == seg:
			return segOf(f, a.width).s, true
		}
		return 0, false
	}
	seg := max(sx.seg, sy.seg)
	if seg < 4 {
		return
	}
	set := func(s int64, ok bool) {
		if ok {
			r.seg, r.pat = seg, pattern{s: s, seg: seg}
		}
	}
	px, okx := plain(x, seg)
	py, oky := plain(y, seg)
	if k, _, ok := analysis.Coefficients(in); ok {
		set(k[0]*px+k[1]*py, (okx || k[0] == 0) && (oky || k[1] == 0))
		return
	}
	switch in.Op {
	case ir.SExt, ir.ZExt:
		// A wrap inside a segment is as unlikely as for a whole warp and treated alike: addresses may rely on it.
		set(px, okx && in.Args[0].Type.Bits() >= 32 && px > -1<<26 && px < 1<<26)
	case ir.Bitcast:
		set(px, okx)
	default:
		if len(in.Args) == 2 {
			set(0, okx && oky && px == 0 && py == 0)
		}
	}
}

// alignOf is what power of two lane 0 of the result is a multiple of.
func alignOf(in *ir.Inst, x, y fact) uint32 {
	switch in.Op {
	case ir.Add, ir.Sub, ir.Or, ir.Xor:
		return min(x.align, y.align)
	case ir.And:
		return max(x.align, y.align)
	case ir.Mul:
		return uint32(min(uint64(x.align)*uint64(y.align), maxAlign))
	case ir.Shl:
		if c := in.Args[1]; c.Const && c.Bits < 30 {
			return uint32(min(uint64(x.align)<<c.Bits, maxAlign))
		}
		return x.align
	case ir.ShrU:
		if c := in.Args[1]; c.Const && c.Bits < 30 {
			return max(x.align>>c.Bits, 1)
		}
	case ir.Neg, ir.SExt, ir.ZExt, ir.Trunc, ir.Copy:
		return x.align
	}
	return 1
}

// rangeOf bounds the result of an operation on integers.
func (a *shapeAnalysis) rangeOf(in *ir.Inst) (lo, hi int64) {
	r := analysis.Transfer(in.Results[0], func(i int) analysis.Range {
		f := a.fact(in.Args[i])
		return analysis.Range{Lo: f.lo, Hi: f.hi}
	})
	return r.Lo, r.Hi
}
