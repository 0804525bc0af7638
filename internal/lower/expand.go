package lower

import (
	"kudzu/internal/ir"
)

// Matrix operations as shuffles and plain arithmetic: the portable form, for targets without something better
// (Options.KeepMatrix). A warp's lane l is (group, t) = (l/4, l%4); PTX ISA gives every fragment in these terms.

// lanes are the parts of the lane's number, computed once per instruction.
type lanes struct{ lane, group, t *ir.Value }

func (x *inst) lanes() lanes {
	l := x.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: ir.LaneID})
	return lanes{l, x.op(ir.ShrU, l, i32(2)), x.op(ir.And, l, i32(3))}
}

// from reads v of another lane; all lanes take part.
func (x *inst) from(v, lane *ir.Value, seg int64) *ir.Value {
	return x.b.EmitN(ir.Shfl, []ir.Type{v.Type}, ir.Attr{Shuf: ir.ShufIdx}, v, lane, i32(seg<<8|31), i32(-1)).Results[0]
}

// inGroup reads v of lane t = n of the own group.
func (x *inst) inGroup(v *ir.Value, n int) *ir.Value { return x.from(v, i32(int64(n)), 28) }

// ofGroup reads v of the lane with the own t in group n.
func (x *inst) ofGroup(v *ir.Value, n int) *ir.Value { return x.from(v, i32(int64(4*n)), 3) }

// transpose turns an 8x8 tile of 16-bit elements: lane (g, t) holds (g, 2t) and (g, 2t+1) before, (2t, g) and (2t+1, g)
// after. Element (r, c) is in lane 4r+c/2, half c%2.
func (x *inst) transpose(ls lanes, v *ir.Value) *ir.Value {
	src := x.op(ir.Or, x.op(ir.Shl, ls.t, i32(3)), x.op(ir.ShrU, ls.group, i32(1)))
	lo, hi := x.from(v, src, 0), x.from(v, x.op(ir.Or, src, i32(4)), 0)
	odd := x.icmp(ir.NE, x.op(ir.And, ls.group, i32(1)), i32(0))
	sel := x.sel(odd, i32(0x7632), i32(0x5410)) // the upper or the lower halves of both
	return x.op(ir.Prmt, lo, hi, sel)
}

// rowAddr is, for tile i, where lane (g, t) finds the four bytes it holds: row g's address is in lane 8i+g.
func (x *inst) rowAddr(ls lanes, addr *ir.Value, i int) *ir.Value {
	a := x.from(addr, x.op(ir.Add, ls.group, i32(int64(8*i))), 0)
	return x.resize(x.op(ir.Add, a, x.op(ir.Shl, ls.t, i32(2))), 64, false)
}

// loadTiles is ldmatrix; addr is in shared memory.
func (x *inst) loadTiles(addr *ir.Value, m *ir.Matrix) []*ir.Value {
	ls, a := x.lanes(), x.resize(addr, 32, false)
	var vs []*ir.Value
	for i := range m.Num {
		v := x.b.Emit(ir.Load, ir.I32, ir.Attr{Space: ir.Shared, Align: 4, Quads: true}, x.rowAddr(ls, a, i))
		if m.Trans {
			v = x.transpose(ls, v)
		}
		vs = append(vs, v)
	}
	return vs
}

func (x *inst) storeTiles(addr *ir.Value, m *ir.Matrix, vs []*ir.Value) {
	ls, a := x.lanes(), x.resize(addr, 32, false)
	for i, v := range vs {
		if m.Trans {
			v = x.transpose(ls, v)
		}
		x.b.EmitN(ir.Store, nil, ir.Attr{Space: ir.Shared, Align: 4}, x.rowAddr(ls, a, i), v)
	}
}

// mmaElem is an operand element type: how many are in a register and which multiply-add it wants.
type mmaElem struct {
	pack int
	unit mmaUnit
}

type mmaUnit uint8

const (
	unitF32 mmaUnit = iota + 1 // f16, bf16, tf32: widened to f32
	unitF64
	unitNarrow  // fp8, fp6, fp4: widened to f32, every other two elements apart, c last
	unitBytes   // s8, u8: four at a time
	unitNibbles // s4, u4: eight at a time, as bytes 16 times too large
	unitBits    // b1: 32 at a time
)

var mmaElems = map[string]mmaElem{
	"f16": {2, unitF32}, "bf16": {2, unitF32}, "tf32": {1, unitF32}, "f64": {1, unitF64},
	"e4m3": {4, unitNarrow}, "e5m2": {4, unitNarrow}, "e2m3": {4, unitNarrow}, "e3m2": {4, unitNarrow}, "e2m1b": {4, unitNarrow}, "e2m1": {8, unitNarrow},
	"s8": {4, unitBytes}, "u8": {4, unitBytes}, "s4": {8, unitNibbles}, "u4": {8, unitNibbles}, "b1": {32, unitBits},
}

var mmaFormats = map[string]format{"e4m3": fmtE4M3, "e5m2": fmtE5M2, "e2m3": fmtE2M3, "e3m2": fmtE3M2, "e2m1": fmtE2M1, "e2m1b": fmtE2M1}

// canExpand reports the shapes and types that expandMma knows.
func canExpand(m *ir.Matrix) bool {
	e, ok := mmaElems[m.A]
	if !ok || mmaElems[m.B] != e || (m.M != 8 && m.M != 16) || m.N != 8 {
		return false
	}
	return true
}

// hasTiles reports products that emit/warp has code of its own for on most processors, and on the others calls as functions.
func hasTiles(m *ir.Matrix) bool {
	u := mmaElems[m.A].unit
	return !m.Sparse && !quadPairs(m) && (u == unitF32 || u == unitBytes || u == unitNibbles)
}

// hasUnit reports products, beside those of hasTiles, that some GPU of other makers has a unit for.
func hasUnit(m *ir.Matrix) bool {
	fp8 := func(elem string) bool { return elem == "e4m3" || elem == "e5m2" }
	return !m.Sparse && m.Scale == "" && fp8(m.A) && fp8(m.B)
}

// quadPairs reports m8n8k4 on f16, which has fragments of its own.
func quadPairs(m *ir.Matrix) bool { return m.M == 8 && m.K == 4 && m.A == "f16" }

// inParts reports sums that are made in two parts, to which c is then added: those of fp8 where there is no unit for it.
func inParts(m *ir.Matrix, e mmaElem) bool { return e.unit == unitNarrow && !m.Whole }

// passes is how many times the operands are gone through.
func passes(m *ir.Matrix, e mmaElem) int {
	if inParts(m, e) {
		return 2
	}
	return 1
}

// inPass reports whether element j of a register belongs to a pass.
func inPass(m *ir.Matrix, e mmaElem, pass, j int) bool { return !inParts(m, e) || j/2%2 == pass }

// startSums is what the products are added to: c, or zero where c comes last: integers saturate there, and fp8 rounds. Blocks along
// k that are scaled have sums of their own.
func (x *inst) startSums(m *ir.Matrix, e mmaElem, acc []*ir.Value) [][]*ir.Value {
	if e.unit < unitNarrow || e.unit == unitNarrow && m.Whole {
		return [][]*ir.Value{append([]*ir.Value(nil), acc...)}
	}
	zero := i32(0)
	if e.unit == unitNarrow {
		zero = ir.ConstInt(ir.F32, 0)
	}
	sums := make([][]*ir.Value, max(m.Scales, 1))
	for b := range sums {
		sums[b] = make([]*ir.Value, len(acc))
		for i := range sums[b] {
			sums[b][i] = zero
		}
	}
	return sums
}

// endPass rounds what a pass over fp8 has summed up where the result is f16, as the hardware's unit does.
func (x *inst) endPass(m *ir.Matrix, e mmaElem, sums [][]*ir.Value) {
	if !inParts(m, e) || m.D != "f16" {
		return
	}
	for _, sum := range sums {
		for i, v := range sum {
			sum[i] = x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, x.b.Emit(ir.FTrunc, ir.F16, ir.Attr{}, v))
		}
	}
}

// finishSums adds c where startSums left it out, and the sums of blocks, scaled.
func (x *inst) finishSums(m *ir.Matrix, e mmaElem, sums [][]*ir.Value, acc []*ir.Value, f *factors) []*ir.Value {
	sum := sums[0]
	if f != nil {
		sum = x.scaleSums(f, sums)
	}
	switch {
	case e.unit >= unitBytes:
		return x.addInts(m, e, sum, acc)
	case inParts(m, e):
		for i := range sum {
			sum[i] = x.opWith(ir.FAdd, ir.Attr{FTZ: true, EitherFTZ: true}, sum[i], acc[i])
		}
	}
	return sum
}

// expandMma computes d = a×b + c.
func (x *inst) expandMma(attr ir.Attr, args []*ir.Value) []*ir.Value {
	switch m := attr.Mat; {
	case m.Sparse:
		return x.expandSparse(m, args)
	case quadPairs(m):
		return x.expandQuads(m, args)
	}
	return x.expandDense(attr.Mat, attr.Rnd, args)
}

// expandDense is all but the odd ones: lane (g, t) has rows g (and g+8) and columns 2t, 2t+1 of d.
func (x *inst) expandDense(m *ir.Matrix, rnd ir.Rnd, args []*ir.Value) []*ir.Value {
	e := mmaElems[m.A]
	rows := m.M / 8
	steps := m.K / (4 * e.pack) // registers along k
	args, f := x.factors(m, args)
	a, b, c := args[:rows*steps], args[rows*steps:(rows+1)*steps], args[(rows+1)*steps:]
	acc := x.accumulators(m, c)
	sums := x.startSums(m, e, acc)
	ls := x.lanes()
	swap := x.op(ir.Or, x.op(ir.Shl, ls.t, i32(3)), ls.group) // group and t exchanged, eight groups being two of four
	for pass := range passes(m, e) {
		for s := range steps {
			as := make([][]*ir.Value, rows)
			for h := range rows {
				as[h] = x.widen(a[rows*s+h], m.A, e)
			}
			bs := x.widen(x.from(b[s], swap, 0), m.B, e)
			for t := range 4 {
				for j := range as[0] {
					if !inPass(m, e, pass, j) {
						continue
					}
					sum := sums[blockOf(m, e.pack*(4*s+t)+j)]
					bv := [2]*ir.Value{x.ofGroup(bs[j], t), x.ofGroup(bs[j], 4+t)}
					for h := range rows {
						av := x.inGroup(as[h][j], t)
						for n := range 2 {
							sum[2*h+n] = x.multiplyAdd(m, e, rnd, av, bv[n], sum[2*h+n])
						}
					}
				}
			}
		}
		x.endPass(m, e, sums)
	}
	return x.packAccumulators(m, x.finishSums(m, e, sums, acc, f))
}

// accumulators unpacks c into one value an element: two for each of the lane's rows.
func (x *inst) accumulators(m *ir.Matrix, c []*ir.Value) []*ir.Value {
	if m.C != "f16" {
		return append([]*ir.Value(nil), c...)
	}
	var vs []*ir.Value
	for _, v := range c {
		u := x.b.EmitN(ir.Unpack, []ir.Type{ir.F16, ir.F16}, ir.Attr{}, v)
		for _, h := range u.Results {
			vs = append(vs, x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, h))
		}
	}
	return vs
}

func (x *inst) packAccumulators(m *ir.Matrix, vs []*ir.Value) []*ir.Value {
	if m.D != "f16" {
		return vs
	}
	var out []*ir.Value
	for i := 0; i < len(vs); i += 2 {
		lo := x.b.Emit(ir.FTrunc, ir.F16, ir.Attr{}, vs[i])
		hi := x.b.Emit(ir.FTrunc, ir.F16, ir.Attr{}, vs[i+1])
		out = append(out, x.b.Emit(ir.Pack, ir.I32, ir.Attr{}, lo, hi))
	}
	return out
}

// widen turns an operand register into values to multiply.
func (x *inst) widen(v *ir.Value, elem string, e mmaElem) []*ir.Value {
	switch {
	case elem == "f16":
		u := x.b.EmitN(ir.Unpack, []ir.Type{ir.F16, ir.F16}, ir.Attr{}, v)
		return []*ir.Value{x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, u.Results[0]), x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, u.Results[1])}
	case elem == "bf16":
		return []*ir.Value{x.cast(x.op(ir.Shl, v, i32(16)), ir.F32), x.cast(x.op(ir.And, v, i32(-1<<16)), ir.F32)}
	case elem == "tf32":
		return []*ir.Value{x.cast(x.op(ir.And, v, i32(^0x1fff)), ir.F32)}
	case e.unit == unitNarrow:
		f := narrowFmts[mmaFormats[elem]]
		if elem == "e2m1b" { // in bits 2 to 5
			v, f.width = x.op(ir.ShrU, v, i32(2)), 8
		}
		vs := x.widenNarrow(v, f, e.pack)
		for i := range vs {
			vs[i] = x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, vs[i])
		}
		return vs
	case e.unit == unitNibbles:
		high := i32(-0x0f0f0f10) // 0xf0f0f0f0
		return []*ir.Value{x.op(ir.And, x.op(ir.Shl, v, i32(4)), high), x.op(ir.And, v, high)}
	}
	return []*ir.Value{v}
}

func (x *inst) multiplyAdd(m *ir.Matrix, e mmaElem, rnd ir.Rnd, a, b, c *ir.Value) *ir.Value {
	switch e.unit {
	case unitF32, unitNarrow:
		// Flushing or not is within what mma promises: take the cheaper.
		return x.opWith(ir.FFma, ir.Attr{FTZ: true, EitherFTZ: true}, a, b, c)
	case unitF64:
		return x.opWith(ir.FFma, ir.Attr{Rnd: rnd}, a, b, c)
	case unitBits:
		op := ir.And
		if m.Bit == "xor.popc" {
			op = ir.Xor
		}
		return x.op(ir.Add, x.b.Emit(ir.Popc, ir.I32, ir.Attr{}, x.op(op, a, b)), c)
	}
	return x.opWith(ir.Dp4a, ir.Attr{Dot: signsOf(m.A[0] == 's', m.B[0] == 's')}, a, b, c)
}

// addInts adds c to the sums of products.
func (x *inst) addInts(m *ir.Matrix, e mmaElem, sums, c []*ir.Value) []*ir.Value {
	op := ir.Add
	if m.Sat {
		op = ir.AddSatS
	}
	var out []*ir.Value
	for i, s := range sums {
		if e.unit == unitNibbles {
			s = x.op(ir.ShrS, s, i32(8)) // each product is 256 times too large
		}
		out = append(out, x.op(op, c[i], s))
	}
	return out
}
