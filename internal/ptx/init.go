package ptx

import (
	"encoding/binary"
	"math"

	"kudzu/internal/ptx/isa"
)

// initialiser reads "= {1, 2}" after a variable, if there is one. When indexing it only finds its end.
func (p *parser) initialiser(v *Var) {
	if p.tok != '=' {
		if len(v.Dims) > 0 && v.Dims[0] < 0 && v.Linkage != Extern && v.Space != SpaceParam {
			p.rep.Report(v.Pos, "Array '%s' has no size", v.Name)
		}
		return
	}
	if p.index != nil {
		p.index.valued = true
	}
	switch {
	case v.Space != SpaceGlobal && v.Space != SpaceConst:
		p.fail("Initialization of variable '%s' is not allowed in its state space", v.Name)
	case v.Linkage == Extern:
		p.fail("Initialization of extern variable '%s'", v.Name)
	}
	if p.index != nil && !p.inits && p.skipInit(v) {
		return
	}
	p.next()
	in := &initReader{p: p, v: v, elem: max(v.Type.Bytes(), 1)}
	if v.Type.Class() == isa.ClassOpaque {
		p.samplerInit()
		return
	}
	in.shape = append(in.shape, v.Dims...)
	if v.Vec > 1 {
		in.shape = append(in.shape, v.Vec)
	}
	v.Init = &Init{}
	if len(in.shape) == 0 {
		in.element(0)
	} else {
		in.count = in.list(0, 0)
	}
	if len(v.Dims) > 0 && v.Dims[0] < 0 {
		v.Dims[0] = in.outer
		v.Size = uint64(in.stride(0)) * uint64(in.outer)
	}
}

// samplerInit reads the attribute list of a texture, sampler or surface variable: { filter_mode = linear, … }.
func (p *parser) samplerInit() {
	p.expect('{')
	for p.tok != '}' {
		p.ident()
		p.expect('=')
		if p.tok == tIdent {
			p.next()
		} else {
			p.constant()
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect('}')
}

type initReader struct {
	p     *parser
	v     *Var
	shape []int
	elem  int
	count int
	outer int // how many elements the outermost list had
}

// stride is how many bytes one element of dimension dim takes.
func (in *initReader) stride(dim int) int {
	n := in.elem
	for _, d := range in.shape[dim+1:] {
		n *= max(d, 0)
	}
	return n
}

// list reads {a, b, {c}} at nesting dim, from byte offset at.
func (in *initReader) list(dim int, at uint64) int {
	p := in.p
	pos := p.start
	p.expect('{')
	n := 0
	stride := uint64(in.stride(dim))
	limit := uint64(math.MaxUint64)
	if in.shape[dim] >= 0 {
		limit = at + stride*uint64(in.shape[dim])
	}
	off := at
	for p.tok != '}' {
		if off >= limit {
			p.failAt(pos, "Too many initializers for '%s'", in.v.Name)
		}
		if p.tok == '{' && dim+1 < len(in.shape) {
			if (off-at)%max(stride, 1) != 0 {
				p.failNear()
			}
			in.list(dim+1, off)
			off += stride
		} else { // a lone value in the place of a list is the list's first
			in.element(off)
			off += stride
		}
		n++
		if !p.accept(',') {
			break
		}
		if p.tok == '}' {
			p.failNear()
		}
	}
	p.expect('}')
	if dim == 0 {
		in.outer = int((off - at + max(stride, 1) - 1) / max(stride, 1))
	}
	return n
}

// room makes the initialiser long enough for n bytes at off. It is bounded by the text: a hostile size is an error.
func (in *initReader) room(off uint64, n int) []byte {
	need := off + uint64(n)
	init := in.v.Init
	if need > uint64(len(init.Bytes)) {
		if need > uint64(len(in.p.text))*64+1<<16 {
			in.p.fail("Initializer of '%s' is too sparse", in.v.Name)
		}
		if need > uint64(cap(init.Bytes)) {
			grown := make([]byte, need, need+need/2)
			copy(grown, init.Bytes)
			init.Bytes = grown
		}
		init.Bytes = init.Bytes[:need]
	}
	return init.Bytes[off:need]
}

// element reads one value: a constant, a symbol with offset, generic(sym), or mask(n, sym).
func (in *initReader) element(off uint64) {
	p := in.p
	size := in.elem
	buf := in.room(off, size)
	if p.tok == tIdent && p.lit() != "WARP_SZ" || isMask(p) {
		r := in.reloc(off)
		in.v.Init.Relocs = append(in.v.Init.Relocs, r)
		return
	}
	pos := p.start
	v := p.constant()
	t := in.v.Type
	var bits uint64
	switch {
	case v.isFloat() && (t == isa.F64 || t == isa.B64):
		bits = math.Float64bits(v.float())
	case v.isFloat() && (t == isa.F32 || t == isa.B32):
		bits = uint64(math.Float32bits(float32(v.float())))
		if v.kind == ImmF32 {
			bits = v.bits
		}
	case v.isFloat() || t.IsFloat() && !v.isFloat() && t != isa.F16 && t != isa.BF16:
		p.failAt(pos, "Type of initializer does not match type of variable '%s'", in.v.Name)
	default:
		bits = v.bits
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	if v.kind == ImmInt && int64(bits) < 0 {
		binary.LittleEndian.PutUint64(b[8:], math.MaxUint64)
	}
	copy(buf, b[:min(size, 16)])
}

// isMask reports 0xFF(sym): a mask in front of a parenthesised symbol.
func isMask(p *parser) bool {
	if p.tok != tNumber {
		return false
	}
	i := p.end
	for i < len(p.text) && class[p.text[i]]&cSpace != 0 {
		i++
	}
	return i < len(p.text) && p.text[i] == '('
}

func (in *initReader) reloc(off uint64) Reloc {
	p := in.p
	r := Reloc{Pos: Pos(p.start), Offset: off, Size: in.elem}
	if p.tok == tNumber {
		v, ok := readNumber(p.lit())
		if !ok || v.isFloat() || v.bits == 0 {
			p.failNear()
		}
		r.Mask = v.bits
		p.next()
		p.expect('(')
		in.symbol(&r)
		p.expect(')')
		return r
	}
	in.symbol(&r)
	if r.Size*8 != p.m.AddressSize && !(r.Generic && r.Size == 4) {
		p.failAt(int(r.Pos), "Address of '%s' does not fit the type of variable '%s'", r.Symbol, in.v.Name)
	}
	return r
}

// symbol reads sym, generic(sym), and + constant after either.
func (in *initReader) symbol(r *Reloc) {
	p := in.p
	pos := p.start
	name := p.ident()
	if name == "generic" && p.tok == '(' {
		p.next()
		r.Generic = true
		pos = p.start
		name = p.ident()
		p.expect(')')
	}
	r.Symbol = name
	p.addend(r)
	if p.index == nil {
		sym, ok := p.m.syms[name]
		if l, local := p.findLocal(name); local {
			sym, ok = symbol{v: l.v}, l.kind == nameVar
			r.Var = l.v
		}
		switch {
		case !ok:
			p.rep.Report(Pos(pos), "Unknown symbol '%s'", name)
		case sym.v != nil && sym.v.Space != SpaceGlobal && sym.v.Space != SpaceConst:
			p.rep.Report(Pos(pos), "Variable used as initial value not in .global or .const state space: '%s'", name)
		}
	}
}

func (p *parser) addend(r *Reloc) {
	for p.tok == '+' || p.tok == '-' {
		neg := p.tok == '-'
		p.next()
		v := p.binary(10, 0)
		if v.isFloat() {
			p.failNear()
		}
		if neg {
			v.bits = -v.bits
		}
		r.Addend += int64(v.bits)
	}
}
