package analysis

import (
	"math"
	"slices"

	"kudzu/internal/ir"
)

// Coefficients reports an operation that is linear in its operands: modulo 2^bits of its type the result is C and, of each operand,
// K times as much. Extensions are linear only where the narrow number does not wrap, which is each user's own affair.
func Coefficients(in *ir.Inst) (k [2]int64, c int64, ok bool) {
	if len(in.Results) != 1 || !counted(in.Results[0].Type) || in.Results[0].Type == ir.I1 {
		return k, 0, false
	}
	switch in.Op {
	case ir.Copy, ir.Trunc:
		return [2]int64{1}, 0, true
	case ir.Add:
		return [2]int64{1, 1}, 0, true
	case ir.Sub:
		return [2]int64{1, -1}, 0, true
	case ir.Neg:
		return [2]int64{-1}, 0, true
	case ir.Not:
		return [2]int64{-1}, -1, true
	case ir.Mul:
		if c := in.Args[1]; c.Const {
			return [2]int64{c.Int()}, 0, true
		}
		if c := in.Args[0]; c.Const {
			return [2]int64{0, c.Int()}, 0, true
		}
	case ir.Shl:
		if n := in.Args[1]; n.Const && n.Bits < uint64(min(in.Results[0].Type.Bits(), 63)) {
			return [2]int64{1 << n.Bits}, 0, true
		}
	}
	return k, 0, false
}

// Linear is a number as a sum of multiples of values that are not looked into, modulo 2^Bits.
type Linear struct {
	Bits  int
	C     uint64
	Terms []Term // each atom once, none zero, in the order in which they were met
}

// Term is a multiple of a value, or (Ext SExt or ZExt) of its extension to 64 bits.
type Term struct {
	V   *ir.Value
	Ext ir.Op
	K   uint64
}

// Whole is v as one term.
func Whole(v *ir.Value) Linear {
	return Linear{Bits: v.Type.Bits(), Terms: []Term{{V: v, K: 1}}}
}

func (l Linear) mask() uint64 { return math.MaxUint64 >> (64 - min(l.Bits, 64)) }

// Plus is l + k × m, of l's width.
func (l Linear) Plus(m Linear, k int64) Linear {
	r := Linear{Bits: l.Bits, C: (l.C + uint64(k)*m.C) & l.mask(), Terms: slices.Clone(l.Terms)}
	for _, t := range m.Terms {
		i := slices.IndexFunc(r.Terms, func(o Term) bool { return o.V == t.V && o.Ext == t.Ext })
		if i < 0 {
			i = len(r.Terms)
			r.Terms = append(r.Terms, Term{V: t.V, Ext: t.Ext})
		}
		r.Terms[i].K = (r.Terms[i].K + uint64(k)*t.K) & l.mask()
	}
	r.Terms = slices.DeleteFunc(r.Terms, func(t Term) bool { return t.K == 0 })
	return r
}

// Equal reports forms of one width that are always the same number.
func (l Linear) Equal(m Linear) bool {
	d := l.Plus(m, -1)
	return l.Bits == m.Bits && d.C == 0 && len(d.Terms) == 0
}

// Constant is the signed number that l is; false: not one.
func (l Linear) Constant() (int64, bool) { return l.signed(l.C), len(l.Terms) == 0 }

func (l Linear) signed(x uint64) int64 {
	n := 64 - min(l.Bits, 64)
	return int64(x<<n) >> n
}

// widened is l of 64 bits, as if nothing in it had ever wrapped.
func (l Linear) widened() Linear {
	r := Linear{Bits: 64, C: uint64(l.signed(l.C)), Terms: slices.Clone(l.Terms)}
	for i := range r.Terms {
		r.Terms[i].K = uint64(l.signed(r.Terms[i].K))
	}
	return r
}

// maxTerms is how many terms a form may have before it counts as one value: sums of whole arrays are no addresses.
const maxTerms = 16

// Forms makes linear forms. The function must not change meanwhile.
type Forms struct {
	// Look gives the form of values that are not to be taken apart by their operation; false: they are.
	Look func(v *ir.Value) (Linear, bool)
	memo map[*ir.Value]Linear
}

// Of is the linear form of an integer.
func (f *Forms) Of(v *ir.Value) Linear {
	if v.Const && counted(v.Type) {
		return Linear{Bits: v.Type.Bits(), C: v.Bits}
	}
	if l, ok := f.memo[v]; ok {
		return l
	}
	l := f.make(v)
	if len(l.Terms) > maxTerms {
		l = Whole(v)
	}
	if f.memo == nil {
		f.memo = map[*ir.Value]Linear{}
	}
	f.memo[v] = l
	return l
}

func (f *Forms) make(v *ir.Value) Linear {
	if f.Look != nil {
		if l, ok := f.Look(v); ok {
			return l
		}
	}
	d := v.Def
	if d == nil {
		return Whole(v)
	}
	if (d.Op == ir.SExt || d.Op == ir.ZExt) && v.Type == ir.I64 {
		return Linear{Bits: 64, Terms: []Term{{V: d.Args[0], Ext: d.Op, K: 1}}}
	}
	k, c, ok := Coefficients(d)
	if !ok {
		return Whole(v)
	}
	l := Linear{Bits: v.Type.Bits()}
	l.C = uint64(c) & l.mask()
	for i, a := range d.Args {
		if k[i] != 0 {
			l = l.Plus(f.Of(a), k[i])
		}
	}
	return l
}
