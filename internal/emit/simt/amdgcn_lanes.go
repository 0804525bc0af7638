package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// lanesMma is a product without the matrix unit, for a warp whose neighbour in the wave is not here: four turns, in each of which the
// lanes read the registers of one lane of their row and of one of each of their two columns. It stands where the unit's does, so it is a loop
// and no call, which would have LLVM keep in memory what lives across it.
func (e *emitter) lanesMma(in *ir.Inst, u matrixUnit) {
	m, l := in.Mat, e.unitLanes()
	rows, steps := m.M/8, m.K/(4*u.pack)
	args := e.operands(in)
	a, b, c := args[:rows*steps], args[rows*steps:(rows+1)*steps], args[(rows+1)*steps:]
	before, turn, done := e.Cur(), e.NewLabel("turn"), e.NewLabel("turned")
	e.Br(turn)
	e.Label(turn)
	t := e.Phi("i32") // four times the lane's number among its four
	zero := ll.Zero(u.sum)
	t.Add(ll.Int("i32", 0), before)
	sums := make([]ll.Val, 2*rows)
	var phis []*ll.Phi
	for i := range sums {
		p := e.Phi(u.sum)
		p.Add(zero, before)
		phis, sums[i] = append(phis, p), p.Val
	}
	row, col := e.Add(l.quad, t.Val), e.Add(l.column, t.Val)
	next := e.Add(col, col.Int(16))
	for x := range steps {
		columns := [2]ll.Val{e.fetch(col, e.Bits(b[x])), e.fetch(next, e.Bits(b[x]))}
		for q := range rows {
			v := e.fetch(row, e.Bits(a[rows*x+q]))
			for n, w := range columns {
				sums[2*q+n] = e.lanesAdd(m, v, w, sums[2*q+n])
			}
		}
	}
	on := e.Add(t.Val, ll.Int("i32", 4))
	t.Add(on, e.Cur())
	for i, p := range phis {
		p.Add(sums[i], e.Cur())
	}
	e.CondBr(e.ICmp("eq", on, ll.Int("i32", 16)), done, turn)
	e.Label(done)
	e.addProduct(in, u, sums, c)
}

// lanesAdd adds the products of two registers' elements to a sum.
func (e *emitter) lanesAdd(m *ir.Matrix, v, w, sum ll.Val) ll.Val {
	if bytes(m.A) {
		var signs ir.Dot
		if m.A[0] == 's' {
			signs |= ir.DotSignedA
		}
		if m.B[0] == 's' {
			signs |= ir.DotSignedB
		}
		r, ok := e.dp4a(signs, v, w, sum)
		if !ok {
			panic("BUG: matrix units, but no dot products on " + e.cfg.Target)
		}
		return r
	}
	left, right := e.floats(m.A, v), e.floats(m.B, w)
	for i := range left {
		sum = e.Intr("fma", left[i], right[i], sum)
	}
	return sum
}

// floats are a register's elements as f32.
func (e *emitter) floats(elem string, v ll.Val) []ll.Val {
	var words []ll.Val
	switch elem {
	case "f16":
		words = e.widened16([]ll.Val{v})
	case "bf16":
		words = []ll.Val{e.Shl(v, v.Int(16)), e.And(v, v.Int(-1<<16))}
	case "tf32":
		words = e.cutTF32([]ll.Val{v})
	default:
		panic("BUG: matrix unit for " + elem)
	}
	for i := range words {
		words[i] = e.Bitcast(words[i], "float")
	}
	return words
}
