package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Instructions on textures and surfaces become one operation each, which the engine executes (internal/image/texture.go): the
// handle, then words of 32 bits.

// texDims is how many coordinates a geometry has beside the layer, which comes first.
func texDims(g isa.Mod) (dims int, layered bool) {
	switch g {
	case isa.Mod1d:
		return 1, false
	case isa.Mod2d:
		return 2, false
	case isa.ModA1d:
		return 1, true
	case isa.ModA2d:
		return 2, true
	case isa.ModAcube:
		return 3, true
	}
	return 3, false
}

// texHandle is the handle that [t, …] or [t] names: a register holds it, an opaque variable contains it.
func (x *inst) texHandle(o *ptx.Operand) *ir.Value {
	if o.Kind == ptx.OpAddr {
		h := *o
		h.Kind = o.Base
		o = &h
	}
	return x.value(o, isa.B64)
}

// opaque is what an opaque variable contains: the handle of the object that is bound to it.
func (x *inst) opaque(o *ptx.Operand) *ir.Value {
	v := o.Var
	if v.Role == ptx.KernelParam {
		return x.b.Emit(ir.Param, ir.I64, ir.Attr{Off: int64(v.Offset) + int64(o.Imm)})
	}
	return x.b.Emit(ir.Load, ir.I64, ir.Attr{Space: ir.Global, Align: 8, Volatile: true}, x.variableAddr(o))
}

// isOpaque reports a variable that stands for an object.
func isOpaque(v *ptx.Var) bool {
	return v != nil && v.Type.Class() == isa.ClassOpaque && len(v.Dims) == 0
}

// texCoords is how many words of coordinates an instruction has.
func texCoords(in *ptx.Inst) int {
	n, layered := texDims(in.Mod("geom"))
	if layered {
		n++
	}
	return n
}

// geometry is the handle and the coordinates.
func (x *inst) geometry(name string) []*ir.Value {
	o := &x.Args[x.index(name)]
	if _, ok := texGeoms[x.Mod("geom")]; !ok {
		x.fail("%s (arrays of several samples do not exist)", x.spelling())
	}
	if len(o.Elems) > 2 {
		x.fail("%s with a sampler of its own", x.spelling())
	}
	args := []*ir.Value{x.texHandle(&o.Elems[0])}
	c := &o.Elems[len(o.Elems)-1]
	return append(args, x.vectorWords(c)[:texCoords(x.Inst)]...)
}

// vectorWords are the elements of a vector operand, or the operand itself, as words.
func (x *inst) vectorWords(o *ptx.Operand) []*ir.Value {
	if o.Kind != ptx.OpVec {
		return []*ir.Value{x.value(o, isa.B32)}
	}
	var vs []*ir.Value
	for i := range o.Elems {
		vs = append(vs, x.value(&o.Elems[i], isa.B32))
	}
	return vs
}

// texArgs are the arguments of tex and tld4.
func (x *inst) texArgs() []*ir.Value {
	args := x.geometry("a")
	dims, _ := texDims(x.Mod("geom"))
	if x.has("lod") {
		args = append(args, x.argAs("lod", isa.B32))
	}
	if x.has("dPdx") {
		args = append(args, x.vectorWords(&x.Args[x.index("dPdx")])[:dims]...)
		args = append(args, x.vectorWords(&x.Args[x.index("dPdy")])[:dims]...)
	}
	if x.has("e") {
		args = append(args, x.vectorWords(&x.Args[x.index("e")])[:dims]...)
	}
	return args // a comparison (f) is the sampler's to make, and no object has one that does
}

func lowerTex(x *inst) {
	args := x.texArgs()
	t := x.Type("dtype")
	packed := t == isa.F16x2
	op := texBits(x.Inst)
	four := []ir.Type{ir.I32, ir.I32, ir.I32, ir.I32}
	vs := x.b.EmitN(ir.TexRead, four, ir.Attr{UnitOp: op}, args...).Results
	d := x.Args[0]
	if d.Kind == ptx.OpPair {
		x.second(0, isa.Pred, func() *ir.Value { return ir.ConstInt(ir.I1, 1) }) // the memory is always there
		d = d.Elems[0]
	}
	switch {
	case packed:
		ds := elements(&d)
		for i := range ds {
			high := x.op(ir.Shl, vs[2*i+1], i32(16))
			x.setOperand(&ds[i], isa.B32, x.op(ir.Or, vs[2*i], high))
		}
	case t == isa.F16:
		ds := elements(&d)
		for i := range ds {
			x.setOperand(&ds[i], isa.B16, x.b.Emit(ir.Trunc, ir.I16, ir.Attr{}, vs[i]))
		}
	default:
		ds := elements(&d)
		for i := range ds {
			x.setOperand(&ds[i], isa.B32, vs[i])
		}
	}
}

func lowerTxq(x *inst) {
	if _, ok := texQueries[x.Mod("query")]; !ok {
		x.fail("%s", x.spelling())
	}
	args := []*ir.Value{x.texHandle(&x.Args[x.index("a")])}
	if x.has("lod") {
		args = append(args, x.argAs("lod", isa.B32))
	}
	x.result(x.b.Emit(ir.TexRead, ir.I32, ir.Attr{UnitOp: texBits(x.Inst)}, args...))
}

func lowerIstypep(x *inst) {
	v := x.b.Emit(ir.TexRead, ir.I32, ir.Attr{UnitOp: texBits(x.Inst)}, x.texHandle(&x.Args[x.index("a")]))
	x.result(x.icmp(ir.NE, v, i32(0)))
}

func lowerSuld(x *inst) {
	args := x.geometry("a")
	t, n := x.Type("dtype"), x.vecSize()
	bytes := t.Bytes() * n
	words := make([]ir.Type, max(1, bytes/4))
	for i := range words {
		words[i] = ir.I32
	}
	vs := x.b.EmitN(ir.TexRead, words, ir.Attr{UnitOp: texBits(x.Inst)}, args...).Results
	ds := elements(&x.Args[0])
	for i := range ds {
		bit := 8 * t.Bytes() * i
		v := vs[bit/32]
		switch t.Bytes() {
		case 8:
			v = x.b.Emit(ir.Pack, ir.I64, ir.Attr{}, v, vs[bit/32+1])
		case 1, 2:
			if bit%32 != 0 {
				v = x.op(ir.ShrU, v, i32(int64(bit%32)))
			}
			v = x.b.Emit(ir.Trunc, intOf(8*t.Bytes()), ir.Attr{}, v)
		}
		x.setOperand(&ds[i], t, v)
	}
}

// surfaceValues are the values of a store as words, small elements packed.
func (x *inst) surfaceValues(t isa.Type, srcs []ptx.Operand) []*ir.Value {
	var words []*ir.Value
	for i := range srcs {
		v := x.value(&srcs[i], t)
		bit := 8 * t.Bytes() * i % 32
		switch t.Bytes() {
		case 8:
			v = x.cast(v, ir.I64)
			words = append(words, x.b.Emit(ir.Trunc, ir.I32, ir.Attr{}, v), x.b.Emit(ir.Trunc, ir.I32, ir.Attr{}, x.op(ir.ShrU, v, i32(32))))
		case 4:
			words = append(words, x.cast(v, ir.I32))
		default:
			v = x.b.Emit(ir.ZExt, ir.I32, ir.Attr{}, x.cast(v, intOf(8*t.Bytes())))
			if bit == 0 {
				words = append(words, v)
				continue
			}
			last := len(words) - 1
			words[last] = x.op(ir.Or, words[last], x.op(ir.Shl, v, i32(int64(bit))))
		}
	}
	return words
}

func lowerSust(x *inst) {
	args := x.geometry("a")
	t := x.Type("ctype")
	args = append(args, x.surfaceValues(t, elements(&x.Args[x.index("c")]))...)
	x.b.EmitN(ir.TexWrite, nil, ir.Attr{UnitOp: texBits(x.Inst)}, args...)
}

func lowerSured(x *inst) {
	args := x.geometry("a")
	c := x.Args[x.index("c")]
	args = append(args, x.surfaceValues(x.Type("ctype"), []ptx.Operand{c})...)
	x.b.EmitN(ir.TexWrite, nil, ir.Attr{UnitOp: texBits(x.Inst)}, args...)
}
