package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Matrix products on AMD's units. They multiply 16 x 16 tiles, PTX's have 16 rows and 8 columns, and the fragments lie otherwise, so values
// change lanes before and after. Three freedoms make that little: k may be in any order as long as both operands have the same; rows and columns
// may be numbered anew; and d transposed is b transposed times a transposed, so that PTX's 16 rows are the unit's columns, one a lane, and
// PTX's 8 columns those of the unit's 16 rows that lie in the first registers of the result.
//
// PTX's lane is (g, t) = (l/4, l%4): register a[q+2x] has row g+8q and block (t, x) of k, b[x] column g and the same block, and the results are
// rows g and g+8 at columns 2t and 2t+1. The unit's lane is (j, h) = (l%16, l/16): column j = g+8q of the result, and those of its rows, and those
// blocks of k, that h says:
//
//	gfx11  wave of 32  all of k                 rows 2v+h in register v; v<4 are PTX's columns 4h+v
//	gfx12  wave of 32  the t of which t/2 = h   rows 8h+v in register v; v<4 are PTX's columns 4h+v
//	CDNA   wave of 64  t = h                    rows 4h+v in register v; v<2 are PTX's columns 2h+v
//
// On waves of 32 a lane has the registers of two rows and wants those of one, from two t: lanes exchange pairs. On waves of 64 the two warps
// have products of their own, for which the whole wave is needed: the pair is the same register of the two products.
//
// c is added to the product afterwards, in PTX's lanes, as for integers the saturating sum wants it.

// unitLanes is what lanes know of their place, computed once a function.
type unitLanes struct {
	own, unit        ll.Val // i1: which of a pair the lane has in PTX's order, and which in the unit's: q
	left, left1      ll.Val // where the left operand's pair comes from: addresses as the permute unit has them
	right            []ll.Val
	back, back1      ll.Val // where the result's pair comes from
	pairs, afterPair int    // pairs of a register of the left operand, and how far apart their addresses are
	quad, column     ll.Val // without the unit, on waves of 64: the first lane of the own four, and of those with column 2t
}

// fragments are operands that were brought into the unit's order in a block, by their registers: products share them.
type fragments struct {
	block *ir.Block
	words map[string][][]ll.Val
}

// once gives the fragment of these registers, made by bring where the block has none yet.
func (e *emitter) once(in *ir.Inst, side string, regs []ll.Val, bring func() [][]ll.Val) [][]ll.Val {
	if e.frags.block != in.Block {
		e.frags = fragments{in.Block, map[string][][]ll.Val{}}
	}
	key := side
	for _, r := range regs {
		key += " " + r.S
	}
	w, ok := e.frags.words[key]
	if !ok {
		w = bring()
		e.frags.words[key] = w
	}
	return w
}

// maxInline is how many products of a kernel are written where they stand. LLVM's scheduler and register allocator take seconds for
// hundreds: a kernel with more calls a function for each kind, whose body uses the unit.
const maxInline = 64

// hasUnit reports products that the target's units compute where they stand.
func (e *emitter) hasUnit(in *ir.Inst) bool { return e.onUnit(in) && !e.manyProducts() }

// manyProducts reports a kernel that calls its products.
func (e *emitter) manyProducts() bool {
	if e.products == 0 {
		e.products = 1
		e.each(func(in *ir.Inst) {
			if e.onUnit(in) {
				e.products++
			}
		})
	}
	return e.products > 1+maxInline
}

// calledProduct is a product that f is the function of, where f uses the unit.
func (e *emitter) calledProduct(f *ir.Func) *ir.Inst {
	var found *ir.Inst
	e.each(func(in *ir.Inst) {
		if found == nil && in.Op == ir.Mma && in.Sym == f.Name && e.onUnit(in) && e.manyProducts() {
			found = in
		}
	})
	return found
}

// unitFunction writes the function of a product with the unit, in place of f's own blocks.
func (e *emitter) unitFunction(f *ir.Func, in *ir.Inst) {
	call := *in
	call.Args, call.Results, call.Block = f.Params, nil, f.Blocks[0]
	for _, t := range f.Results {
		r := f.NewValue(t)
		e.dirty[r] = t == ir.F32
		call.Results = append(call.Results, r)
	}
	e.onUnits(&call)
	ret := ir.Inst{Op: ir.Ret, Block: f.Blocks[0]}
	ret.Args = call.Results
	emitRet(e, &ret)
}

// onUnit reports products that the target has a unit for.
func (e *emitter) onUnit(in *ir.Inst) bool {
	t, ok := e.t.(amdgcn)
	if !ok || in.Op != ir.Mma || e.cfg.NoMatrix || e.alone { // units want whole waves
		return false
	}
	_, ok = t.unit(in.Mat)
	return ok
}

func gcnMma(e *emitter, in *ir.Inst) {
	if !e.hasUnit(in) {
		emitMma(e, in)
		return
	}
	e.onUnits(in)
}

// onUnits writes a product with the unit.
func (e *emitter) onUnits(in *ir.Inst) {
	t := e.t.(amdgcn)
	u, _ := t.unit(in.Mat)
	p := e.operandsFor(in, u)
	if t.wave == 32 { // all lanes of the warp are here, or PTX says nothing of what comes out
		e.unitMma(in, u, p)
		return
	}
	e.wholeWave(in, u, p)
}

// unitOperands are a product's operands in the unit's order, for each product of the wave, and c in PTX's.
type unitOperands struct {
	left, right [][]ll.Val
	c           []ll.Val
}

func (e *emitter) operandsFor(in *ir.Inst, u matrixUnit) unitOperands {
	m := in.Mat
	rows, steps := m.M/8, m.K/(4*u.pack)
	args := e.operands(in)
	a, b := args[:rows*steps], args[rows*steps:(rows+1)*steps]
	l := e.unitLanes()
	return unitOperands{
		left:  e.once(in, "left", a, func() [][]ll.Val { return e.leftWords(l, a, rows, steps) }),
		right: e.once(in, "right", b, func() [][]ll.Val { return e.rightWords(l, b) }),
		c:     args[(rows+1)*steps:],
	}
}

// wholeWave uses the unit where both warps of the wave are here. It works for all lanes whoever is here, and would write over what absent lanes
// keep in the same registers; and each product needs the lanes of both.
func (e *emitter) wholeWave(in *ir.Inst, u matrixUnit, p unitOperands) {
	both, one, done := e.NewLabel("wave"), e.NewLabel("warp"), e.NewLabel("product")
	here := e.Call("i64", "llvm.amdgcn.ballot.i64", ll.Int("i1", 1))
	e.CondBr(e.ICmp("eq", here, ll.Int("i64", -1)), both, one)
	type way struct {
		vals []ll.Val
		from string
	}
	var ways [2]way
	for i, label := range []string{both, one} {
		e.Label(label)
		if i == 0 {
			e.unitMma(in, u, p)
		} else {
			e.lanesMma(in, u)
		}
		for _, r := range in.Results {
			ways[i].vals = append(ways[i].vals, e.vals[r])
		}
		ways[i].from = e.Cur()
		e.Br(done)
	}
	e.Label(done)
	for i, r := range in.Results {
		p := e.Phi(typ(r.Type))
		for _, w := range ways {
			p.Add(w.vals[i], w.from)
		}
		e.set(r, p.Val)
	}
}

// unitMma writes the product with the unit.
func (e *emitter) unitMma(in *ir.Inst, u matrixUnit, p unitOperands) {
	m, l := in.Mat, e.unitLanes()
	var sums [][]ll.Val // of each product, the registers of its result
	for i := range p.left {
		sums = append(sums, e.product(u, m, p.right[i], p.left[i]))
	}
	var pairs [2][2]ll.Val // [e][q]: the result's columns 2t+e, rows g+8q
	for col := range 2 {
		d0, d1 := sums[0][col], sums[len(sums)-1][col]
		if len(sums) == 1 {
			d1 = sums[0][2+col]
		}
		pairs[col][0], pairs[col][1] = e.exchange(d0, d1, l.unit, l.own, l.back, l.back1)
	}
	var d []ll.Val
	for q := range m.M / 8 {
		d = append(d, pairs[0][q], pairs[1][q])
	}
	e.addProduct(in, u, d, p.c)
}

// unitLanes makes them, in the function's entry.
func (e *emitter) unitLanes() *unitLanes {
	if e.lanes != nil {
		return e.lanes
	}
	op := func(name string, a ll.Val, n int64) ll.Val { return e.EntryOp("i32", "%s %s, %d", name, a, n) }
	sum := func(vs ...ll.Val) ll.Val {
		for len(vs) > 1 {
			vs = append([]ll.Val{e.EntryOp("i32", "or %s, %s", vs[0], vs[1].S)}, vs[2:]...)
		}
		return vs[0]
	}
	// field is bits of the lane's number, moved to where an address wants them.
	var lane ll.Val
	field := func(from, bits, to int64) ll.Val { return op("shl", op("and", op("lshr", lane, from), 1<<bits-1), to) }
	bit := func(n int64) ll.Val {
		return e.EntryOp("i1", "trunc %s to i1", op("lshr", lane, n))
	}
	e.mod.Declare("i32", "llvm.amdgcn.mbcnt.lo", "i32", "i32")
	lane = e.EntryOp("i32", "call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)")
	l := &unitLanes{unit: bit(3), pairs: 1}
	var flip int64 // what tells the two sources of the left operand's pair apart
	switch t := e.t.(amdgcn); {
	case t.wave == 64:
		e.mod.Declare("i32", "llvm.amdgcn.mbcnt.hi", "i32", "i32")
		lane = e.EntryOp("i32", "call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, %s)", lane)
		l.unit, l.own = bit(3), bit(5)
		flip = 128
		l.left = sum(field(0, 3, 4), field(3, 1, 7), field(4, 2, 2))
		r := sum(field(2, 2, 5), field(0, 1, 4), field(4, 2, 2)) // row 4h+v is column 2h+v
		l.right = []ll.Val{r, op("or", r, 128)}
		l.back = sum(field(2, 3, 2), field(5, 1, 5), field(0, 2, 6))
		l.quad, l.column = field(2, 4, 4), sum(field(0, 2, 5), field(5, 1, 7))
	default:
		l.own = bit(0)
		flip = 4
		l.back = sum(field(2, 3, 2), field(0, 1, 5), field(1, 1, 6))
		if t.major == 11 {
			l.pairs, l.afterPair = 2, 8
			l.left = sum(field(0, 3, 4), field(3, 1, 2))
			r := sum(field(0, 1, 6), field(1, 2, 4)) // row 2v+h is column 4h+v
			l.right = []ll.Val{r, op("or", r, 4), op("or", r, 8), op("or", r, 12)}
			break
		}
		l.left = sum(field(0, 3, 4), field(3, 1, 2), field(4, 1, 3))
		r := sum(field(0, 2, 4), field(3, 1, 6), field(4, 1, 3)) // row 8h+v is column 4h+v
		l.right = []ll.Val{r, op("or", r, 4)}
	}
	l.left1, l.back1 = op("xor", l.left, flip), op("xor", l.back, 32)
	e.lanes = l
	return l
}

// fetch is a register of the lane at an address.
func (e *emitter) fetch(at, v ll.Val) ll.Val {
	return e.Bitcast(e.Call("i32", "llvm.amdgcn.ds.bpermute", at, e.Bitcast(v, "i32")), v.T)
}

// exchange gives each lane the pair that belongs to its place of two pairs that lie across: a lane whose from is 0 sends x0 to the
// lane at whose at0 it is, a lane whose from is 1 sends x1 there, and the other of the two to the lane at at1.
func (e *emitter) exchange(x0, x1, from, to, at0, at1 ll.Val) (y0, y1 ll.Val) {
	if x0 != x1 {
		x0, x1 = e.Select(from, x1, x0), e.Select(from, x0, x1)
	}
	r0, r1 := e.fetch(at0, x0), e.fetch(at1, x1)
	return e.Select(to, r1, r0), e.Select(to, r0, r1)
}

// leftWords are PTX's left operand as the unit holds it, for each product of the wave.
func (e *emitter) leftWords(l *unitLanes, a []ll.Val, rows, steps int) [][]ll.Val {
	words := make([][]ll.Val, e.wave()/32)
	for x := range steps {
		lo, hi := e.Bits(a[rows*x]), e.Bits(a[rows*x+rows-1])
		for p := range l.pairs {
			at0, at1 := l.left, l.left1
			if p > 0 {
				at0, at1 = e.Add(at0, at0.Int(int64(p*l.afterPair))), e.Add(at1, at1.Int(int64(p*l.afterPair)))
			}
			y0, y1 := e.exchange(lo, hi, l.own, l.unit, at0, at1)
			words[0] = append(words[0], y0)
			words[len(words)-1] = append(words[len(words)-1], y1)
		}
	}
	return words
}

// rightWords are the right operand.
func (e *emitter) rightWords(l *unitLanes, b []ll.Val) [][]ll.Val {
	words := make([][]ll.Val, e.wave()/32)
	for _, v := range b {
		for i, at := range l.right {
			w := i % len(words)
			words[w] = append(words[w], e.fetch(at, e.Bits(v)))
		}
	}
	return words
}

// product multiplies, k after k, and gives the registers of the result. The unit's first operand is PTX's right one.
func (e *emitter) product(u matrixUnit, m *ir.Matrix, first, second []ll.Val) []ll.Val {
	if m.A == "tf32" {
		first, second = e.cutTF32(first), e.cutTF32(second)
	}
	if u.widened {
		first, second = e.widened16(first), e.widened16(second)
	}
	vt := ll.Vec(u.sums, u.sum)
	zero := ll.Zero(vt)
	// Sums of products 2^(8i) apart: of the signed bytes that unsigned ones look like, and of what they lack.
	var sums [3]ll.Val
	for i, f := range e.planes(u, first, u.signs[1]) {
		for j, s := range e.planes(u, second, u.signs[0]) {
			if sums[i+j].IsZero() {
				sums[i+j] = zero
			}
			sums[i+j] = e.multiply(u, f, s, sums[i+j])
		}
	}
	sum := sums[0]
	for i, s := range sums[1:] {
		if !s.IsZero() {
			sum = e.Add(sum, e.Shl(s, s.Int(int64(8*(i+1)))))
		}
	}
	var out []ll.Val
	for i := range 4 {
		out = append(out, e.Extract(sum, i))
	}
	return out
}

// planes are an operand's bytes as signed ones and, where they are not signed, the upper bits that count 256 more each.
func (e *emitter) planes(u matrixUnit, words []ll.Val, signed bool) [][]ll.Val {
	if u.sum != "i32" || u.flags || signed {
		return [][]ll.Val{words}
	}
	var tops []ll.Val
	for _, w := range words {
		tops = append(tops, e.And(e.LShr(w, w.Int(7)), w.Int(0x01010101)))
	}
	return [][]ll.Val{words, tops}
}

// multiply adds the product of operands of any length to a sum.
func (e *emitter) multiply(u matrixUnit, first, second []ll.Val, sum ll.Val) ll.Val {
	for i := 0; i < len(first); i += u.words {
		f, s := e.operand(u, first[i:min(i+u.words, len(first))]), e.operand(u, second[i:min(i+u.words, len(second))])
		args := []ll.Val{f, s, sum}
		switch imm := ll.Int("i32", 0); {
		case u.mfma:
			args = append(args, imm, imm, imm)
		case u.flags:
			sign := func(signed bool) ll.Val {
				if signed {
					return ll.Int("i1", 1)
				}
				return ll.Int("i1", 0)
			}
			args = []ll.Val{sign(u.signs[1]), f, sign(u.signs[0]), s, sum, ll.Int("i1", 0)}
		}
		sum = e.Call(sum.T, "llvm.amdgcn."+u.name, args...)
	}
	return sum
}

// operand joins words to what an instruction takes; what they leave empty is zero.
func (e *emitter) operand(u matrixUnit, words []ll.Val) ll.Val {
	if u.words == 1 {
		return e.Bitcast(words[0], u.operand)
	}
	v := ll.Zero(ll.Vec(u.words, "i32"))
	for i, w := range words {
		v = e.Insert(v, w, i)
	}
	return e.Bitcast(v, u.operand)
}

// cutTF32 leaves the bits of f32 that tf32 has.
func (e *emitter) cutTF32(words []ll.Val) []ll.Val {
	var out []ll.Val
	for _, w := range words {
		out = append(out, e.And(w, w.Int(^0x1fff)))
	}
	return out
}

// widened16 makes two f32 of each pair of f16.
func (e *emitter) widened16(words []ll.Val) []ll.Val {
	var out []ll.Val
	for _, w := range words {
		h := e.Bitcast(w, "<2 x half>")
		for i := range 2 {
			x := e.Extract(h, i)
			out = append(out, e.Bits(e.FPExt(x, "float")))
		}
	}
	return out
}

// addProduct adds c to the product d, and sets the results.
func (e *emitter) addProduct(in *ir.Inst, u matrixUnit, d, c []ll.Val) {
	m := in.Mat
	if m.C == "f16" {
		var wide []ll.Val
		for _, v := range e.widened16(c) {
			wide = append(wide, e.Bitcast(v, "float"))
		}
		c = wide
	}
	for i := range d {
		switch {
		case u.sum == "float":
			d[i] = e.FAdd(c[i], d[i])
		case m.Sat:
			d[i] = e.Intr("sadd.sat", c[i], d[i])
		default:
			d[i] = e.Add(c[i], d[i])
		}
	}
	if m.D != "f16" {
		for i, r := range in.Results {
			e.set(r, d[i])
		}
		return
	}
	for i, r := range in.Results {
		v := ll.Poison("<2 x half>")
		for j := range 2 {
			h := e.Canonical(e.FPTrunc(d[2*i+j], "half"), ir.F16)
			v = e.Insert(v, h, j)
		}
		e.set(r, e.Bitcast(v, "i32"))
	}
}
