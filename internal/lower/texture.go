package lower

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Instructions on textures and surfaces become one operation each, which the engine executes (internal/image/texture.go): the
// handle, then words of 32 bits.

var texGeoms = map[isa.Mod]uint64{
	isa.Mod1d: image.TexGeom1D, isa.Mod2d: image.TexGeom2D, isa.Mod3d: image.TexGeom3D, isa.ModA1d: image.TexGeomA1D, isa.ModA2d: image.TexGeomA2D,
	isa.ModCube: image.TexGeomCube, isa.ModAcube: image.TexGeomACube,
}

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

// geometry is the operation's bits of the geometry, the handle, and the coordinates.
func (x *inst) geometry(name string) (uint64, []*ir.Value) {
	g := x.Mod("geom")
	code, ok := texGeoms[g]
	o := &x.Args[x.index(name)]
	if !ok {
		x.fail("%s (arrays of several samples do not exist)", x.spelling())
	}
	if len(o.Elems) > 2 {
		x.fail("%s with a sampler of its own", x.spelling())
	}
	args := []*ir.Value{x.texHandle(&o.Elems[0])}
	n, layered := texDims(g)
	if layered {
		n++
	}
	c := &o.Elems[len(o.Elems)-1]
	return code << image.TexGeomShift, append(args, x.vectorWords(c)[:n]...)
}

// vectorWords are the elements of a vector operand, or the operand itself, as words.
func (x *inst) vectorWords(o *ptx.Operand) []*ir.Value {
	if o.Kind == ptx.OpReg && o.Elem < 0 && x.fr.body.Regs[o.Reg].Vec > 1 {
		var vs []*ir.Value
		for e := range int(x.fr.body.Regs[o.Reg].Vec) {
			vs = append(vs, x.asType(x.read(x.fr.regs[o.Reg]+variable(e)), isa.B32))
		}
		return vs
	}
	if o.Kind != ptx.OpVec {
		return []*ir.Value{x.value(o, isa.B32)}
	}
	var vs []*ir.Value
	for i := range o.Elems {
		vs = append(vs, x.value(&o.Elems[i], isa.B32))
	}
	return vs
}

var texLods = map[isa.Mod]uint64{isa.ModLevel: image.TexLodLevel, isa.ModGrad: image.TexLodGrad, isa.ModBase: image.TexLodBase}

// texOp is the part of the operation that tex and tld4 share, and its arguments.
func (x *inst) texOp() (uint64, []*ir.Value) {
	op, args := x.geometry("a")
	if x.Op() == isa.Tld4 {
		op |= image.TexGather | map[isa.Mod]uint64{isa.ModR: 0, isa.ModG: 1, isa.ModB: 2, isa.ModA: 3}[x.Mod("comp")]<<image.TexSubShift
	}
	if x.Mod("ctype") == isa.ModS32 {
		op |= image.TexIntCoords
	}
	dims, _ := texDims(x.Mod("geom"))
	for w, code := range texLods {
		if x.Has(w) || x.Form.Prefix() == "tex"+w.String() {
			op |= code << image.TexLodShift
		}
	}
	if x.has("lod") {
		args = append(args, x.argAs("lod", isa.B32))
	}
	if x.has("dPdx") {
		args = append(args, x.vectorWords(&x.Args[x.index("dPdx")])[:dims]...)
		args = append(args, x.vectorWords(&x.Args[x.index("dPdy")])[:dims]...)
	}
	if x.has("e") {
		op |= image.TexOffsets
		args = append(args, x.vectorWords(&x.Args[x.index("e")])[:dims]...)
	}
	return op, args // a comparison (f) is the sampler's to make, and no object has one that does
}

func lowerTex(x *inst) {
	op, args := x.texOp()
	t := x.Type("dtype")
	packed := t == isa.TypeNone // .v2.f16x2
	switch {
	case packed || t == isa.F16:
		op |= image.TexF16 << image.TexDtypeShift
	case t == isa.U32:
		op |= image.TexU32 << image.TexDtypeShift
	case t == isa.S32:
		op |= image.TexS32 << image.TexDtypeShift
	}
	four := []ir.Type{ir.I32, ir.I32, ir.I32, ir.I32}
	vs := x.b.EmitN(ir.TexRead, four, ir.Attr{Imm: op}, args...).Results
	d := x.Args[0]
	if d.Kind == ptx.OpPair {
		x.second(0, isa.Pred, func() *ir.Value { return ir.ConstInt(ir.I1, 1) }) // the memory is always there
		d = d.Elems[0]
	}
	switch {
	case packed:
		ds := dests(&d, 2)
		for i := range ds {
			high := x.op(ir.Shl, vs[2*i+1], i32(16))
			x.setOperand(&ds[i], isa.B32, x.op(ir.Or, vs[2*i], high))
		}
	case t == isa.F16:
		ds := dests(&d, 4)
		for i := range ds {
			x.setOperand(&ds[i], isa.B16, x.b.Emit(ir.Trunc, ir.I16, ir.Attr{}, vs[i]))
		}
	default:
		ds := dests(&d, 4)
		for i := range ds {
			x.setOperand(&ds[i], isa.B32, vs[i])
		}
	}
}

var texQueries = map[isa.Mod]uint64{
	isa.ModWidth: image.TexQueryWidth, isa.ModHeight: image.TexQueryHeight, isa.ModDepth: image.TexQueryDepth, isa.ModChannelDataType: image.TexQueryType,
	isa.ModChannelOrder: image.TexQueryOrder, isa.ModNormalizedCoords: image.TexQueryNormalized, isa.ModArraySize: image.TexQueryArray,
	isa.ModNumMipmapLevels: image.TexQueryLevels, isa.ModNumSamples: image.TexQuerySamples, isa.ModForceUnnormalizedCoords: image.TexQueryUnnormalized,
	isa.ModFilterMode: image.TexQueryFilter, isa.ModAddrMode0: image.TexQueryAddr0, isa.ModAddrMode1: image.TexQueryAddr1, isa.ModAddrMode2: image.TexQueryAddr2,
	isa.ModMemoryLayout: image.TexQueryLayout,
}

func lowerTxq(x *inst) {
	q, ok := texQueries[x.Mod("query")]
	if !ok {
		x.fail("%s", x.spelling())
	}
	op := image.TexQuery | q<<image.TexSubShift
	if x.Op() == isa.Suq {
		op |= image.TexSurface
	}
	args := []*ir.Value{x.texHandle(&x.Args[x.index("a")])}
	if x.has("lod") {
		op |= image.TexLodLevel << image.TexLodShift
		args = append(args, x.argAs("lod", isa.B32))
	}
	x.result(x.b.Emit(ir.TexRead, ir.I32, ir.Attr{Imm: op}, args...))
}

// lowerIstypep: backend.TextureObject, SurfaceObject, SamplerObject are 1, 2, 3.
func lowerIstypep(x *inst) {
	kind := map[isa.Mod]uint64{isa.ModTexref: 1, isa.ModSurfref: 2, isa.ModSamplerref: 3}[x.Mod("type")]
	v := x.b.Emit(ir.TexRead, ir.I32, ir.Attr{Imm: image.TexIsType | kind<<image.TexSubShift}, x.texHandle(&x.Args[x.index("a")]))
	x.result(x.icmp(ir.NE, v, i32(0)))
}

var texClamps = map[isa.Mod]uint64{isa.ModTrap: image.TexOutTrap, isa.ModClamp: image.TexOutClamp, isa.ModZero: image.TexOutZero}

// log2 of the bytes that an access moves.
func log2Bytes(n int) uint64 {
	l := uint64(0)
	for 1<<l < n {
		l++
	}
	return l
}

func lowerSuld(x *inst) {
	op, args := x.geometry("a")
	t, n := x.Type("dtype"), x.vecSize()
	bytes := t.Bytes() * n
	op |= image.SurfLoad | texClamps[x.Mod("clamp")]<<image.TexClampShift | log2Bytes(bytes)<<image.TexBytesShift
	words := make([]ir.Type, max(1, bytes/4))
	for i := range words {
		words[i] = ir.I32
	}
	vs := x.b.EmitN(ir.TexRead, words, ir.Attr{Imm: op}, args...).Results
	ds := dests(&x.Args[0], n)
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
	op, args := x.geometry("a")
	t, n := x.Type("ctype"), x.vecSize()
	kind := uint64(image.SurfStore)
	if x.Has(isa.ModP) || x.Form.Prefix() == "sust.p" {
		kind = image.SurfStoreFormatted
	}
	op |= kind | texClamps[x.Mod("clamp")]<<image.TexClampShift | log2Bytes(t.Bytes()*n)<<image.TexBytesShift
	args = append(args, x.surfaceValues(t, dests(&x.Args[x.index("c")], n))...)
	x.b.EmitN(ir.TexWrite, nil, ir.Attr{Imm: op}, args...)
}

func lowerSured(x *inst) {
	op, args := x.geometry("a")
	t := x.Type("ctype")
	var red uint64
	switch w := x.Mod("op"); {
	case w == isa.ModAdd:
		red = image.TexRedAdd
	case w == isa.ModAnd:
		red = image.TexRedAnd
	case w == isa.ModOr:
		red = image.TexRedOr
	case w == isa.ModMin && t.IsSigned():
		red = image.TexRedMinS
	case w == isa.ModMin:
		red = image.TexRedMinU
	case t.IsSigned():
		red = image.TexRedMaxS
	default:
		red = image.TexRedMaxU
	}
	op |= image.SurfReduce | red<<image.TexSubShift | texClamps[x.Mod("clamp")]<<image.TexClampShift | log2Bytes(t.Bytes())<<image.TexBytesShift
	if x.Has(isa.ModP) || x.Form.Prefix() == "sured.p" {
		op |= image.TexFormatted
	}
	c := x.Args[x.index("c")]
	args = append(args, x.surfaceValues(t, []ptx.Operand{c})...)
	x.b.EmitN(ir.TexWrite, nil, ir.Attr{Imm: op}, args...)
}
