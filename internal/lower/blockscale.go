package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// Block-scaled products: k is divided into blocks, and every row of a and column of b has a factor for each. The products of a block
// are added as they are, and the sum is scaled.

// blockScale is the scale operands of a product, as further arguments of it: a's and b's factors, those that count lowest, and which
// threads of a group they come from.
func (x *inst) blockScale(m *ir.Matrix) []*ir.Value {
	m.Scale, m.Scales = x.word("stype", "ue8m0"), 1
	switch x.Mod("scale_vec") {
	case isa.ModScaleVec2X:
		m.Scales = 2
	case isa.ModScaleVec4X:
		m.Scales = 4
	case 0:
		if m.A == "e2m1" {
			m.Scales = 2
		}
	}
	word := func(reg, pair string) (v, thread *ir.Value) {
		list := x.elems(pair, isa.U16)
		if len(list) != 2 {
			x.fail("%s with a selector of %d parts", x.spelling(), len(list))
		}
		first := x.op(ir.Shl, x.op(ir.And, x.resize(list[0], 32, false), i32(3)), i32(3))
		v = x.argAs(reg, isa.B32)
		v = x.opWith(ir.FshR, ir.Attr{Wrap: true}, v, v, first)
		thread = x.resize(list[1], 32, false)
		if !thread.Const {
			thread = x.from(thread, i32(0), 0)
		}
		return v, thread
	}
	sa, ta := word("sa", "ba")
	sb, tb := word("sb", "bb")
	return []*ir.Value{sa, sb, ta, tb}
}

// blockOf is the block that column k of a belongs to.
func blockOf(m *ir.Matrix, k int) int {
	if m.Scales == 0 {
		return 0
	}
	return k / (m.K / m.Scales)
}

// factors are the words of factors, a byte each, of the lane's rows and columns.
type factors struct {
	scale      string
	rows, cols [2]*ir.Value
}

// factors takes the scale operands off the arguments of a product. Row g+8h of a has its factors in thread 2·ta + h of group g,
// column c of b in thread tb of group c.
func (x *inst) factors(m *ir.Matrix, args []*ir.Value) ([]*ir.Value, *factors) {
	if m.Scale == "" {
		return args, nil
	}
	n := len(args) - 4
	sa, sb, ta, tb := args[n], args[n+1], args[n+2], args[n+3]
	f := &factors{scale: m.Scale}
	ls := x.lanes()
	for i := range 2 {
		at := x.op(ir.Add, x.op(ir.Shl, x.op(ir.And, ta, i32(1)), i32(1)), i32(int64(i)))
		f.rows[i] = x.from(sa, at, 28)
		at = x.op(ir.Add, x.op(ir.Shl, ls.t, i32(3)), x.op(ir.Add, x.op(ir.And, tb, i32(3)), i32(int64(4*i))))
		f.cols[i] = x.from(sb, at, 0)
	}
	return args[:n], f
}

// scaleSums adds the sums of all blocks, each times the factors of its row and column.
func (x *inst) scaleSums(f *factors, sums [][]*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(sums[0]))
	for b, sum := range sums {
		for i, v := range sum {
			v = x.scaled(f, v, x.byteOf(f.rows[i/2], b), x.byteOf(f.cols[i%2], b))
			if b > 0 {
				v = x.opWith(ir.FAdd, ir.Attr{FTZ: true, EitherFTZ: true}, out[i], v)
			}
			out[i] = v
		}
	}
	return out
}

func (x *inst) byteOf(v *ir.Value, i int) *ir.Value {
	if i > 0 {
		v = x.op(ir.ShrU, v, i32(int64(8*i)))
	}
	return x.op(ir.And, v, i32(0xff))
}

// scaled is v × a × b, a and b being the bits of two factors.
func (x *inst) scaled(f *factors, v, a, b *ir.Value) *ir.Value {
	nan := int64(0xff)
	var r *ir.Value
	if f.scale == "ue4m3" { // e4m3 without its sign
		nan = 0x7f
		fmt := narrowFmts[fmtE4M3]
		fmt.above = 0
		one := func(b *ir.Value) *ir.Value {
			h := x.widenNarrow(x.op(ir.And, b, i32(0x7f)), fmt, 1)[0]
			return x.b.Emit(ir.FExt, ir.F32, ir.Attr{}, h)
		}
		r = x.op(ir.FMul, v, x.op(ir.FMul, one(a), one(b)))
	} else {
		r = x.scaleBy(v, x.op(ir.Sub, x.op(ir.Add, a, b), i32(254)))
	}
	bad := x.op(ir.Or, x.icmp(ir.EQ, a, i32(nan)), x.icmp(ir.EQ, b, i32(nan)))
	return x.sel(bad, ir.ConstInt(ir.F32, 0x7fffffff), r)
}
