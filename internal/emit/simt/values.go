package simt

import (
	"fmt"
	"strconv"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

var typeNames = [ir.NumTypes]string{ir.Void: "void", ir.I1: "i1", ir.I8: "i8", ir.I16: "i16", ir.I32: "i32", ir.I64: "i64", ir.I128: "i128", ir.F16: "half",
	ir.BF16: "i16", ir.F32: "float", ir.F64: "double", ir.F16x2: "i32", ir.BF16x2: "i32"}

// typ is a value's LLVM type. bf16 and packed pairs are held as their bits.
func typ(t ir.Type) string { return typeNames[t] }

func intType(bits int) string { return fmt.Sprintf("i%d", bits) }

// constant is an IR constant in LLVM's spelling.
func constant(t ir.Type, bits uint64) ll.Val {
	switch t {
	case ir.F32:
		return ll.Val{T: "float", S: fmt.Sprintf("0x%016X", widen(uint32(bits)))}
	case ir.F64:
		return ll.Val{T: "double", S: fmt.Sprintf("0x%016X", bits)}
	case ir.F16:
		return ll.Val{T: "half", S: fmt.Sprintf("0xH%04X", bits)}
	}
	return ll.Int(typ(t), ir.ConstInt(intIR(t), bits).Int())
}

// intIR is the integer type of t's width.
func intIR(t ir.Type) ir.Type {
	switch t.Bits() {
	case 16:
		return ir.I16
	case 32:
		return ir.I32
	}
	return t
}

// widen gives the bits of the double that an f32 is, a NaN's payload kept: LLVM spells floats so.
func widen(b uint32) uint64 {
	sign, exp, man := uint64(b>>31)<<63, b>>23&0xff, uint64(b&(1<<23-1))
	switch {
	case exp == 0xff:
		return sign | 0x7ff<<52 | man<<29
	case exp == 0 && man == 0:
		return sign
	case exp == 0: // subnormal: shift until the leading bit is in front of the point
		e := uint64(1023 - 126)
		for man&(1<<23) == 0 {
			man <<= 1
			e--
		}
		return sign | e<<52 | man&(1<<23-1)<<29
	}
	return sign | uint64(int(exp)-127+1023)<<52 | man<<29
}

// k is an integer constant of x's type.
func k(x ll.Val, c int64) ll.Val {
	n, el := split(x.T)
	return ll.Splat(n, ll.Int(el, cut(c, bitsOf(el))))
}

// cut wraps a number to so many bits, as LLVM's text wants it.
func cut(c int64, bits int) int64 {
	if bits <= 1 || bits >= 64 {
		return c
	}
	return c << (64 - bits) >> (64 - bits)
}

// split takes a type apart.
func split(t string) (lanes int, elem string) {
	if t[0] != '<' {
		return 1, t
	}
	if _, err := fmt.Sscanf(t, "<%d x %s", &lanes, &elem); err != nil {
		panic("BUG: type " + t)
	}
	return lanes, strings.TrimSuffix(elem, ">")
}

// bitsOf is the width of a type.
func bitsOf(t string) int {
	n, el := split(t)
	switch el {
	case "half", "bfloat":
		return 16 * n
	case "float":
		return 32 * n
	case "double":
		return 64 * n
	}
	var b int
	if _, err := fmt.Sscanf(el, "i%d", &b); err != nil {
		panic("BUG: type " + t)
	}
	return b * n
}

func (e *emitter) op2(name string, a, b ll.Val) ll.Val {
	return e.o.Op(a.T, "%s %s, %s", name, a, b.S)
}

func (e *emitter) cmp(name string, a, b ll.Val) ll.Val {
	return e.o.Op(withElem(a.T, "i1"), "icmp %s %s, %s", name, a, b.S)
}

func (e *emitter) fcmp(name string, a, b ll.Val) ll.Val {
	return e.o.Op(withElem(a.T, "i1"), "fcmp %s %s, %s", name, a, b.S)
}

func (e *emitter) sel(c, a, b ll.Val) ll.Val { return e.o.Op(a.T, "select %s, %s, %s", c, a, b) }

func withElem(t, elem string) string {
	n, _ := split(t)
	return ll.Vec(n, elem)
}

// conv is a conversion to another element type, nothing if it is that already.
func (e *emitter) conv(name string, a ll.Val, elem string) ll.Val {
	t := withElem(a.T, elem)
	if t == a.T {
		return a
	}
	return e.o.Op(t, "%s %s to %s", name, a, t)
}

// cast reads the bits as another type of the same width.
func (e *emitter) cast(a ll.Val, t string) ll.Val {
	if a.T == t {
		return a
	}
	return e.o.Op(t, "bitcast %s to %s", a, t)
}

// bits is x as an integer of its width.
func (e *emitter) bits(x ll.Val) ll.Val { return e.cast(x, intType(bitsOf(x.T))) }

// toBits widens or cuts an integer without its sign.
func (e *emitter) toBits(x ll.Val, bits int) ll.Val {
	switch have := bitsOf(x.T); {
	case have < bits:
		return e.conv("zext", x, intType(bits))
	case have > bits:
		return e.conv("trunc", x, intType(bits))
	}
	return x
}

func (e *emitter) not(x ll.Val) ll.Val {
	if x.T == "i1" {
		return e.op2("xor", x, ll.Int("i1", 1))
	}
	return e.op2("xor", x, k(x, -1))
}

// suffix is a type as intrinsics' names spell it.
func suffix(t string) string {
	n, el := split(t)
	s := map[string]string{"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"}[el]
	if s == "" {
		s = el
	}
	if n > 1 {
		return fmt.Sprintf("v%d%s", n, s)
	}
	return s
}

// intr calls an overloaded intrinsic on operands of one type.
func (e *emitter) intr(name string, args ...ll.Val) ll.Val {
	return e.o.Call(args[0].T, "llvm."+name+"."+suffix(args[0].T), args...)
}

func emitPhi(e *emitter, in *ir.Inst) {
	p := e.o.Phi(typ(in.Results[0].Type))
	e.phis = append(e.phis, &pendingPhi{in, p})
	e.set(in.Results[0], p.Val)
}

func emitCopy(e *emitter, in *ir.Inst) { e.result(in, e.val(in.Args[0])) }

// emitUndef is zero: an undefined value in LLVM could make a branch on it undefined behaviour.
func emitUndef(e *emitter, in *ir.Inst) {
	e.result(in, constant(in.Results[0].Type, 0))
}

func emitParam(e *emitter, in *ir.Inst) {
	e.result(in, e.t.param(e, int(in.Off), in.Results[0].Type))
}

func emitParamAddr(e *emitter, in *ir.Inst) { e.result(in, e.t.paramAddr(e, int(in.Off))) }

func emitVarAddr(e *emitter, in *ir.Inst) { e.result(in, e.t.variable(e, in)) }

// emitLocalAddr is a slot of the frame; without a name where the frame ends, or with StackEnd where the stack does.
func emitLocalAddr(e *emitter, in *ir.Inst) {
	off := in.Off
	if in.Sym == "" {
		off += int64(e.f.LocalBytes)
		if in.StackEnd {
			off += int64(e.extra(e.f))
		}
	}
	for _, s := range e.f.Slots {
		if s.Name == in.Sym {
			off += int64(s.Offset)
		}
	}
	if e.local.IsZero() { // nothing is kept there
		e.result(in, ll.Int("i64", off))
		return
	}
	e.result(in, e.op2("add", e.local, ll.Int("i64", off)))
}

// emitSharedAddr is a place in the kernel's static array, or the dynamic area.
func emitSharedAddr(e *emitter, in *ir.Inst) {
	space := e.t.space(ir.Shared)
	var name string
	off := in.Off
	if in.Sym == "" {
		align := max(e.m.DynamicAlign, 16)
		name = e.g.declare(fmt.Sprintf("kudzu_dynamic_%d", align), fmt.Sprintf("external addrspace(%d) global [0 x i8], align %d", space, align))
	} else {
		found := false
		for _, s := range e.m.Shared {
			if s.Name == in.Sym {
				off, found = off+int64(s.Offset), true
			}
		}
		if !found {
			panic("BUG: shared variable " + in.Sym + " is not in the module")
		}
		name = e.g.declare(e.m.Kernel+".shared", fmt.Sprintf("internal addrspace(%d) global [%d x i8] undef, align 128", space, e.m.SharedBytes))
	}
	p := e.o.Op("i64", "ptrtoint ptr addrspace(%d) %s to i64", space, name)
	e.result(in, e.op2("add", p, ll.Int("i64", off)))
}

// pointer is an address of a space as a pointer of it.
func (e *emitter) pointer(sp ir.Space, addr ll.Val) ll.Val {
	t := "ptr"
	if n := e.t.space(sp); n != 0 {
		t = fmt.Sprintf("ptr addrspace(%d)", n)
	}
	return e.o.Op(t, "inttoptr %s to %s", e.offset(sp, addr), t)
}

// offset is an address or a distance as wide as the space's pointers are.
func (e *emitter) offset(sp ir.Space, a ll.Val) ll.Val {
	if !e.t.narrow(sp) {
		return a
	}
	if n, err := strconv.ParseInt(a.S, 10, 64); err == nil {
		return ll.Int("i32", int64(int32(n)))
	}
	return e.conv("trunc", a, "i32")
}

// spaceCast takes an address from one space to another.
func (e *emitter) spaceCast(addr ll.Val, from, to ir.Space) ll.Val {
	if e.t.space(from) == e.t.space(to) {
		return addr
	}
	p := e.pointer(from, addr)
	t := "ptr"
	if n := e.t.space(to); n != 0 {
		t = fmt.Sprintf("ptr addrspace(%d)", n)
	}
	q := e.o.Op(t, "addrspacecast %s to %s", p, t)
	return e.o.Op("i64", "ptrtoint %s to i64", q)
}

func emitToGeneric(e *emitter, in *ir.Inst) {
	e.result(in, e.spaceCast(e.val(in.Args[0]), in.Space, ir.Generic))
}

func emitFromGeneric(e *emitter, in *ir.Inst) {
	e.result(in, e.spaceCast(e.val(in.Args[0]), ir.Generic, in.Space))
}

func emitFuncAddr(e *emitter, in *ir.Inst) {
	e.result(in, e.o.Op("i64", "ptrtoint ptr @%s to i64", e.symbol(in.Sym)))
}
