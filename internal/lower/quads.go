package lower

import "kudzu/internal/ir"

// mma.m8n8k4 on f16: each of the four quad pairs (lanes 4q…4q+3 and 16+4q…16+4q+3) multiplies matrices of its own. sm_90 does it by
// a chain of f32 operations, to which c is added last.

// quads is where this lane's elements come from.
type quads struct {
	x            *inst
	lane, q, top *ir.Value // the lane, its quad's first lane below 16, 4 in the upper half of the warp
}

// holder is the lane of the quad pair that holds index i of 0…7.
func (w *quads) holder(i *ir.Value) *ir.Value {
	x := w.x
	hi := x.op(ir.Shl, x.op(ir.ShrU, i, i32(2)), i32(4))
	return x.op(ir.Or, x.op(ir.Or, x.op(ir.And, i, i32(3)), hi), w.q)
}

// pick is element i of the registers of another lane, as f32. Two elements are in a register.
func (w *quads) pick(regs []*ir.Value, lane, i *ir.Value) *ir.Value {
	x := w.x
	var v *ir.Value
	if i.Const {
		v = x.from(regs[i.Bits/2], lane, 0)
	} else {
		v = x.from(regs[0], lane, 0)
		for r := 1; r < len(regs); r++ {
			v = x.sel(x.icmp(ir.EQ, x.op(ir.ShrU, i, i32(1)), i32(int64(r))), x.from(regs[r], lane, 0), v)
		}
	}
	half := x.op(ir.ShrU, v, x.op(ir.Shl, x.op(ir.And, i, i32(1)), i32(4)))
	h := x.cast(x.resize(half, 16, false), ir.F16)
	return x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, h)
}

// spot is the row and column of element i of an accumulator.
func (w *quads) spot(elem string, i int) (row, col *ir.Value) {
	x := w.x
	if elem == "f16" {
		return x.op(ir.Or, x.op(ir.And, w.lane, i32(3)), w.top), i32(int64(i))
	}
	row = x.op(ir.Or, x.op(ir.Or, x.op(ir.And, w.lane, i32(1)), i32(int64(i&2))), w.top)
	return row, x.op(ir.Or, x.op(ir.And, w.lane, i32(2)), i32(int64(i&5)))
}

func (x *inst) expandQuads(m *ir.Matrix, args []*ir.Value) []*ir.Value {
	lane := x.lanes().lane
	w := &quads{x: x, lane: lane, q: x.op(ir.And, lane, i32(12)), top: x.op(ir.ShrU, x.op(ir.And, lane, i32(16)), i32(2))}
	a, b, c := args[:2], args[2:4], args[4:]
	both := ir.Attr{FTZ: true, EitherFTZ: true} // as multiplyAdd says
	var vs []*ir.Value
	for i := range 8 {
		row, col := w.spot(m.D, i)
		var sum *ir.Value
		for k := range 4 {
			kv := i32(int64(k))
			left := func() *ir.Value {
				if m.ALayout == "col" {
					return w.pick(a, w.holder(x.op(ir.Or, kv, x.op(ir.And, row, i32(4)))), x.op(ir.And, row, i32(3)))
				}
				return w.pick(a, w.holder(row), kv)
			}()
			right := func() *ir.Value {
				if m.BLayout == "col" {
					return w.pick(b, w.holder(col), kv)
				}
				return w.pick(b, w.holder(x.op(ir.Or, kv, x.op(ir.And, col, i32(4)))), x.op(ir.And, col, i32(3)))
			}()
			if k == 0 {
				sum = x.opWith(ir.FMul, both, left, right)
			} else {
				sum = x.opWith(ir.FFma, both, left, right, sum)
			}
		}
		vs = append(vs, x.opWith(ir.FAdd, both, w.addend(m, c, row, col, i), sum))
	}
	return x.packAccumulators(m, vs)
}

// addend is the element of c at the place of element i of d.
func (w *quads) addend(m *ir.Matrix, c []*ir.Value, row, col *ir.Value, i int) *ir.Value {
	switch {
	case m.C != "f16":
		return c[i] // d is f32 then too
	case m.D == "f16":
		u := w.x.b.EmitN(ir.Unpack, []ir.Type{ir.F16, ir.F16}, ir.Attr{}, c[i/2])
		return w.x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, u.Results[i%2])
	}
	return w.pick(c, w.holder(row), col)
}
