package ll

import (
	"fmt"
	"slices"
	"strings"
)

// The builder: a method an instruction. Operands bring their types, a scalar's or a vector's, and the result's follows from them. What
// LLVM's verifier would refuse is a bug of the emitter, found where it is written.

// check panics where an instruction's types do not fit.
func check(ok bool, format string, types ...Type) {
	if !ok {
		var args []any
		for _, t := range types {
			args = append(args, t)
		}
		panic("BUG: " + fmt.Sprintf(format, args...))
	}
}

// Bin is an instruction of two operands of one type: its name.
type Bin string

// kinds are the names and what they are for.
var kinds = map[Bin]func(Type) bool{
	"add": Type.IsInt, "sub": Type.IsInt, "mul": Type.IsInt, "sdiv": Type.IsInt, "udiv": Type.IsInt, "srem": Type.IsInt, "urem": Type.IsInt,
	"and": Type.IsInt, "or": Type.IsInt, "xor": Type.IsInt, "shl": Type.IsInt, "lshr": Type.IsInt, "ashr": Type.IsInt,
	"fadd": Type.IsFloat, "fsub": Type.IsFloat, "fmul": Type.IsFloat, "fdiv": Type.IsFloat,
}

// Binary writes an instruction by its name, for tables of them.
func (f *Func) Binary(op Bin, a, b Val) Val {
	fits := kinds[op]
	check(fits != nil && fits(a.T) && a.T == b.T, "%s of %s and %s", Type(op), a.T, b.T)
	return f.result(a.T, string(op), " ", string(a.T), " ", a.S, ", ", b.S)
}

// Arithmetic and logic of integers.

func (f *Func) Add(a, b Val) Val  { return f.Binary("add", a, b) }
func (f *Func) Sub(a, b Val) Val  { return f.Binary("sub", a, b) }
func (f *Func) Mul(a, b Val) Val  { return f.Binary("mul", a, b) }
func (f *Func) UDiv(a, b Val) Val { return f.Binary("udiv", a, b) }
func (f *Func) URem(a, b Val) Val { return f.Binary("urem", a, b) }
func (f *Func) And(a, b Val) Val  { return f.Binary("and", a, b) }
func (f *Func) Or(a, b Val) Val   { return f.Binary("or", a, b) }
func (f *Func) Xor(a, b Val) Val  { return f.Binary("xor", a, b) }
func (f *Func) Shl(a, b Val) Val  { return f.Binary("shl", a, b) }
func (f *Func) LShr(a, b Val) Val { return f.Binary("lshr", a, b) }
func (f *Func) AShr(a, b Val) Val { return f.Binary("ashr", a, b) }

// Not turns every bit over.
func (f *Func) Not(x Val) Val {
	if x.T.Elem() == "i1" {
		return f.Xor(x, x.Int(1))
	}
	return f.Xor(x, x.Int(-1))
}

// Arithmetic of floats.

func (f *Func) FAdd(a, b Val) Val { return f.Binary("fadd", a, b) }
func (f *Func) FSub(a, b Val) Val { return f.Binary("fsub", a, b) }
func (f *Func) FMul(a, b Val) Val { return f.Binary("fmul", a, b) }
func (f *Func) FDiv(a, b Val) Val { return f.Binary("fdiv", a, b) }

// FNeg turns the sign over.
func (f *Func) FNeg(x Val) Val {
	check(x.T.IsFloat(), "fneg of %s", x.T)
	return f.Op(x.T, "fneg %s", x)
}

// Freeze makes one value of what may be poison.
func (f *Func) Freeze(x Val) Val { return f.Op(x.T, "freeze %s", x) }

// Pred is a condition of icmp or fcmp.
type Pred string

var (
	intPreds   = []Pred{"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"}
	floatPreds = []Pred{"oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord", "uno"}
)

// ICmp compares integers or pointers.
func (f *Func) ICmp(p Pred, a, b Val) Val {
	check(slices.Contains(intPreds, p) && a.T == b.T && (a.T.IsInt() || a.T.IsPtr()), "icmp %s of %s and %s", Type(p), a.T, b.T)
	return f.result(a.T.WithElem("i1"), "icmp ", string(p), " ", string(a.T), " ", a.S, ", ", b.S)
}

// FCmp compares floats.
func (f *Func) FCmp(p Pred, a, b Val) Val {
	check(slices.Contains(floatPreds, p) && a.T == b.T && a.T.IsFloat(), "fcmp %s of %s and %s", Type(p), a.T, b.T)
	return f.result(a.T.WithElem("i1"), "fcmp ", string(p), " ", string(a.T), " ", a.S, ", ", b.S)
}

// Select picks a where c, else b; one condition may be for all lanes.
func (f *Func) Select(c, a, b Val) Val {
	check(c.T.Elem() == "i1" && (c.T == "i1" || c.T.Lanes() == a.T.Lanes()) && a.T == b.T, "select by %s of %s and %s", c.T, a.T, b.T)
	return f.result(a.T, "select ", string(c.T), " ", c.S, ", ", string(a.T), " ", a.S, ", ", string(b.T), " ", b.S)
}

// Conv is a conversion of elements: its name.
type Conv string

// convs say what the conversions are from and to, and whether the result is wider (1), narrower (-1), or of any width.
var convs = map[Conv]struct {
	from, to func(Type) bool
	wider    int
}{
	"zext": {Type.IsInt, Type.IsInt, 1}, "sext": {Type.IsInt, Type.IsInt, 1}, "trunc": {Type.IsInt, Type.IsInt, -1},
	"fpext": {Type.IsFloat, Type.IsFloat, 1}, "fptrunc": {Type.IsFloat, Type.IsFloat, -1},
	"sitofp": {Type.IsInt, Type.IsFloat, 0}, "uitofp": {Type.IsInt, Type.IsFloat, 0}, "fptosi": {Type.IsFloat, Type.IsInt, 0}, "fptoui": {Type.IsFloat, Type.IsInt, 0},
}

// Convert makes elements of another type; nothing is written where they are of it already.
func (f *Func) Convert(op Conv, x Val, elem Type) Val {
	t := x.T.WithElem(elem)
	if t == x.T {
		return x
	}
	c, ok := convs[op]
	check(ok && c.from(x.T) && c.to(t) && (c.wider == 0 || (t.ElemBits() > x.T.ElemBits()) == (c.wider > 0)), "%s of %s to %s", Type(op), x.T, t)
	return f.result(t, string(op), " ", string(x.T), " ", x.S, " to ", string(t))
}

// Conversions of elements to a type.

func (f *Func) ZExt(x Val, elem Type) Val    { return f.Convert("zext", x, elem) }
func (f *Func) SExt(x Val, elem Type) Val    { return f.Convert("sext", x, elem) }
func (f *Func) Trunc(x Val, elem Type) Val   { return f.Convert("trunc", x, elem) }
func (f *Func) FPExt(x Val, elem Type) Val   { return f.Convert("fpext", x, elem) }
func (f *Func) FPTrunc(x Val, elem Type) Val { return f.Convert("fptrunc", x, elem) }
func (f *Func) UIToFP(x Val, elem Type) Val  { return f.Convert("uitofp", x, elem) }
func (f *Func) FPToSI(x Val, elem Type) Val  { return f.Convert("fptosi", x, elem) }

// Resize widens or cuts integers to so many bits, without their sign.
func (f *Func) Resize(x Val, bits int) Val {
	if x.T.ElemBits() < bits {
		return f.ZExt(x, IntType(bits))
	}
	return f.Trunc(x, IntType(bits))
}

// Bitcast reads the bits as another type of the same width; nothing is written where x is of it already.
func (f *Func) Bitcast(x Val, t Type) Val {
	if x.T == t {
		return x
	}
	check(x.T.Bits() == t.Bits(), "bitcast of %s to %s", x.T, t)
	return f.result(t, "bitcast ", string(x.T), " ", x.S, " to ", string(t))
}

// Recast reads each element's bits as another type.
func (f *Func) Recast(x Val, elem Type) Val { return f.Bitcast(x, x.T.WithElem(elem)) }

// Bits is each element as an integer of its width.
func (f *Func) Bits(x Val) Val { return f.Recast(x, IntType(x.T.ElemBits())) }

// PtrToInt is an address as a number of 64 bits.
func (f *Func) PtrToInt(p Val) Val {
	check(p.T.IsPtr(), "ptrtoint of %s", p.T)
	t := p.T.WithElem("i64")
	return f.result(t, "ptrtoint ", string(p.T), " ", p.S, " to ", string(t))
}

// IntToPtr is the pointer of type elem to an address.
func (f *Func) IntToPtr(x Val, elem Type) Val {
	t := x.T.WithElem(elem)
	check(x.T.IsInt() && t.IsPtr(), "inttoptr of %s to %s", x.T, t)
	return f.result(t, "inttoptr ", string(x.T), " ", x.S, " to ", string(t))
}

// AddrSpaceCast is a pointer as one of another space.
func (f *Func) AddrSpaceCast(p Val, t Type) Val {
	check(p.T.IsPtr() && t.IsPtr() && p.T != t, "addrspacecast of %s to %s", p.T, t)
	return f.Op(t, "addrspacecast %s to %s", p, t)
}

// Intr calls an overloaded intrinsic of LLVM whose result, and whose name's type, is that of the first operand.
func (f *Func) Intr(name string, args ...Val) Val {
	return f.IntrOf(args[0].T, name, []Type{args[0].T}, args...)
}

// IntrOf calls an intrinsic of LLVM, overloaded for some types: "fptosi.sat" for i32 and float is llvm.fptosi.sat.i32.f32.
func (f *Func) IntrOf(ret Type, name string, over []Type, args ...Val) Val {
	var b strings.Builder
	b.WriteString("llvm." + name)
	for _, t := range over {
		b.WriteString("." + t.mangled())
	}
	return f.Call(ret, b.String(), args...)
}
