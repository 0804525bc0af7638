package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// handle is the source of the handle in [t, …]: a register holds it, a variable of an opaque type contains it.
func (d *decoder) handle(o *ptx.Operand) operand {
	switch o.Kind {
	case ptx.OpReg:
		return operand{slot: d.regSlot(o)}
	case ptx.OpVar:
		p := d.placeOf(&ptx.Operand{Kind: ptx.OpAddr, Base: ptx.OpVar, Var: o.Var, Name: o.Name, Imm: o.Imm}, ptx.SpaceGlobal)
		return operand{slot: -2, fn: func(t *thread) uint64 { return load(t.mem(p.space, p.at(t), 8, 8)) }}
	case ptx.OpImm:
		return constant(o.Imm)
	}
	d.bad("handle of kind %d of %s", o.Kind, d.spelling())
	return operand{}
}

// texAddress is the handle and the coordinates of [t, {…}].
func (d *decoder) texAddress(name string) (operand, []operand) {
	o, _ := d.arg(name)
	if o.Kind != ptx.OpTexAddr {
		if o.Kind == ptx.OpAddr { // txq's [t]
			h := *o
			h.Kind = o.Base
			return d.handle(&h), nil
		}
		return d.handle(o), nil
	}
	if len(o.Elems) > 2 {
		d.unsupported(d.spelling() + " with a sampler of its own")
	}
	v := &o.Elems[len(o.Elems)-1]
	var coords []operand
	for _, e := range elements(v) {
		coords = append(coords, d.source(e, isa.B32))
	}
	return d.handle(&o.Elems[0]), coords
}

// object is the object of a handle; a handle that is none ends the kernel, 0 is an object of zeros.
func (t *thread) object(h uint64) *engine.Texture {
	if h == 0 {
		return nil
	}
	o := engine.FindTexture(h)
	if o == nil {
		t.faultAddr(backend.FaultAddress, h, "no such texture or surface")
	}
	return o
}

// texShape is what a geometry word says.
type texShape struct {
	dims                 int
	layered, cube, multi bool
}

var texShapes = map[isa.Mod]texShape{
	isa.Mod1d: {dims: 1}, isa.Mod2d: {dims: 2}, isa.Mod3d: {dims: 3}, isa.ModA1d: {dims: 1, layered: true}, isa.ModA2d: {dims: 2, layered: true},
	isa.ModCube: {dims: 3, cube: true}, isa.ModAcube: {dims: 3, cube: true, layered: true}, isa.Mod2dms: {dims: 2, multi: true}, isa.ModA2dms: {dims: 2, layered: true, multi: true},
}

// fetch is a decoded tex or tld4.
type fetch struct {
	shape   texShape
	integer bool // coordinates
	level   isa.Mod
	gather  int // component, -1: none
	lod     operand
	grads   [2][]operand
	offsets []operand
}

func decodeTex(d *decoder) step {
	f := &fetch{shape: texShapes[d.in.Mod("geom")], integer: d.in.Mod("ctype") == isa.ModS32, gather: -1}
	if f.shape.multi {
		return d.unsupported(d.spelling() + " (arrays of several samples do not exist)")
	}
	for _, w := range []isa.Mod{isa.ModLevel, isa.ModGrad, isa.ModBase} {
		if d.has(w) || d.in.Form.Prefix() == "tex"+w.String() {
			f.level = w
		}
	}
	if d.in.Op() == isa.Tld4 {
		f.gather = map[isa.Mod]int{isa.ModR: 0, isa.ModG: 1, isa.ModB: 2, isa.ModA: 3}[d.in.Mod("comp")]
	}
	list := func(name string) []operand {
		if !d.present(name) {
			return nil
		}
		o, t := d.arg(name)
		var all []operand
		for _, e := range elements(o) {
			all = append(all, d.source(e, t))
		}
		return all
	}
	if f.level == isa.ModLevel {
		f.lod = d.src("lod")
	}
	f.grads[0], f.grads[1], f.offsets = list("dPdx"), list("dPdy"), list("e")
	// The comparison (operand f) is the sampler's to make; no CUDA object has one that does, and the hardware ignores it.
	return d.texStep(f)
}

// texStep writes the four results in the instruction's type, and the predicate, which tells that the memory is there.
func (d *decoder) texStep(f *fetch) step {
	h, coords := d.texAddress("a")
	o, _ := d.arg("d")
	resident := int32(0)
	if o.Kind == ptx.OpPair {
		resident = d.dest(&o.Elems[1])
		o = &o.Elems[0]
	}
	t := d.in.Type("dtype")
	packed := d.has(isa.ModV2) || d.in.Form.Prefix() != "" && t == isa.TypeNone
	var dst []int32
	for _, e := range elements(o) {
		dst = append(dst, d.dest(e))
	}
	return step{lane: func(t2 *thread) {
		var v [4]uint32
		if obj := t2.object(h.get(t2)); obj != nil {
			words := make([]uint32, len(coords))
			for i := range coords {
				words[i] = uint32(coords[i].get(t2))
			}
			v = f.run(t2, obj, words)
		}
		switch {
		case packed:
			for i := range dst {
				t2.r[dst[i]] = uint64(toHalf(v[2*i])) | uint64(toHalf(v[2*i+1]))<<16
			}
		case t == isa.F16:
			for i := range dst {
				t2.r[dst[i]] = uint64(toHalf(v[i]))
			}
		default:
			for i := range dst {
				t2.r[dst[i]] = uint64(v[i])
			}
		}
		if resident != 0 {
			t2.r[resident] = 1
		}
	}}
}

func toHalf(v uint32) uint32 {
	return uint32(softfloat.F32.Convert(softfloat.F16, uint64(v), softfloat.Env{}))
}

// run samples for one thread.
func (f *fetch) run(t *thread, o *engine.Texture, words []uint32) (v [4]uint32) {
	x := &texture{t, o}
	if o.Memory != 0 {
		return f.memory(x, words)
	}
	layer := int64(0)
	if f.shape.layered {
		layer = int64(int32(words[0]))
		words = words[1:]
	}
	dims := f.shape.dims
	if f.integer && dims == 1 && !f.shape.layered { // such a fetch is of plain memory only
		return v
	}
	if f.shape.cube != (o.Cube != 0) || !f.shape.cube && dims > int(o.Dims) {
		return v // an object of another geometry gives zeros
	}
	var off [3]int64
	for i := range min(len(f.offsets), 3) {
		off[i] = signed(f.offsets[i].get(t)&0xf, 4)
	}
	if f.gather >= 0 {
		return f.collect(x, words, layer, off)
	}
	var slabs []slab
	for _, l := range f.levels(x) {
		slabs = append(slabs, f.slabs(x, words, layer, off, l)...)
	}
	if len(slabs) == 0 {
		return v
	}
	for c := range v {
		v[c] = x.value(slabs, c)
	}
	return v
}

// memory is a fetch from plain memory: one row, read by index; outside of it is 0.
func (f *fetch) memory(x *texture, words []uint32) (v [4]uint32) {
	if f.shape.dims != 1 || f.shape.layered || f.shape.cube || f.gather >= 0 {
		return v
	}
	i := int64(int32(words[0]))
	if !f.integer || i < 0 || i >= int64(x.o.Width[0]) {
		return v
	}
	for c := range int(x.o.Channels) {
		v[c] = x.convert(x.raw(x.texel(0, i, 0, 0), c), c)
	}
	return v
}

// weighedLevel is a level and its weight of 256.
type weighedLevel struct {
	l int
	w int64
}
