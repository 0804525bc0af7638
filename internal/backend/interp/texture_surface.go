package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// surfaceAddr is where an access of a surface goes: n bytes at coordinates, x counted in units of so many bytes. Zero: nowhere.
func (x *texture) surfaceAddr(shape texShape, clamp isa.Mod, words []uint32, unit, n uint64) uint64 {
	o := x.o
	layer := int64(0)
	if shape.layered {
		layer = int64(int32(words[0]))
		words = words[1:]
	}
	at := [3]int64{0, 0, layer}
	for i := range shape.dims {
		at[i] = int64(int32(words[i]))
	}
	at[0] *= int64(unit)
	if uint64(at[0])&(n-1) != 0 {
		x.t.faultAddr(backend.FaultMisaligned, uint64(at[0]), "x of a surface")
	}
	width := uint64(o.Width[0]) * x.elem()
	last := [3]int64{int64(width) - int64(n), int64(max(1, o.Height[0])) - 1, int64(max(1, o.Depth[0])) - 1}
	if !shape.layered && shape.dims < 3 {
		last[2] = 0
	}
	if shape.dims < 2 {
		last[1] = 0
	}
	for i := range at {
		if at[i] >= 0 && at[i] <= last[i] {
			continue
		}
		switch {
		case clamp == isa.ModClamp && last[0] >= 0 && i == 2 && shape.layered:
			at[i] = last[i] // layers count as unsigned
		case clamp == isa.ModClamp && last[0] >= 0:
			at[i] = min(max(at[i], 0), last[i])
			if i == 0 {
				at[0] &^= int64(n) - 1 // the last access that fits and is aligned
			}
		case clamp == isa.ModTrap:
			x.t.faultAddr(backend.FaultAddress, uint64(at[i]), "outside the surface")
		default:
			return 0
		}
	}
	return o.Base[0] + uint64(at[2])*o.Slice[0] + uint64(at[1])*o.Pitch[0] + uint64(at[0])
}

// surfaceWords are the coordinates of a thread.
func surfaceWords(t *thread, coords []operand) []uint32 {
	words := make([]uint32, len(coords))
	for i := range coords {
		words[i] = uint32(coords[i].get(t))
	}
	return words
}

// surfaceOf is the surface of a handle; an object of zeros is nil.
func (t *thread) surfaceOf(h uint64) *texture {
	if o := t.object(h); o != nil && o.Memory == 0 {
		return &texture{t, o}
	}
	return nil
}

func decodeSuld(d *decoder) step {
	h, coords := d.texAddress("a")
	shape, clamp := texShapes[d.in.Mod("geom")], d.in.Mod("clamp")
	t, n := d.in.Type("dtype"), d.vec()
	dst := d.dests("d")
	size := uint64(t.Bytes())
	return step{lane: func(th *thread) {
		x := th.surfaceOf(h.get(th))
		addr := uint64(0)
		if x != nil {
			addr = x.surfaceAddr(shape, clamp, surfaceWords(th, coords), 1, size*uint64(n))
		}
		for i := range dst {
			v := uint64(0)
			if addr != 0 {
				v = load(th.mem(ptx.SpaceGlobal, addr+uint64(i)*size, size, 1))
			}
			th.r[dst[i]] = v
		}
	}}
}

func decodeSust(d *decoder) step {
	h, coords := d.texAddress("a")
	shape, clamp := texShapes[d.in.Mod("geom")], d.in.Mod("clamp")
	t, n := d.in.Type("ctype"), d.vec()
	src := d.srcs("c")
	size := uint64(t.Bytes())
	if d.has(isa.ModP) || d.in.Form.Prefix() == "sust.p" {
		return step{lane: func(th *thread) {
			x := th.surfaceOf(h.get(th))
			if x == nil {
				return
			}
			elem := x.elem()
			if addr := x.surfaceAddr(shape, clamp, surfaceWords(th, coords), elem, elem); addr != 0 {
				x.storeTexel(addr, src)
			}
		}}
	}
	return step{lane: func(th *thread) {
		x := th.surfaceOf(h.get(th))
		if x == nil {
			return
		}
		if addr := x.surfaceAddr(shape, clamp, surfaceWords(th, coords), 1, size*uint64(n)); addr != 0 {
			for i := range src {
				store(th.mem(ptx.SpaceGlobal, addr+uint64(i)*size, size, 1), src[i].get(th)&mask(t.Bits()))
			}
		}
	}}
}

// storeTexel is sust.p: values become the surface's format. Channels without a value are 0.
func (x *texture) storeTexel(addr uint64, src []operand) {
	n := formatSizes[x.o.Format]
	for c := range int(x.o.Channels) {
		v := uint32(0)
		if c < len(src) {
			v = x.toFormat(uint32(src[c].get(x.t)))
		}
		store(x.t.mem(ptx.SpaceGlobal, addr+uint64(c)*n, n, 1), uint64(v)&mask(8*int(n)))
	}
}

// toFormat converts a word that is stored: integers saturate, floats are cut.
func (x *texture) toFormat(v uint32) uint32 {
	switch x.o.Format {
	case formatU8:
		return min(v, 255)
	case formatU16:
		return min(v, 65535)
	case formatS8:
		return uint32(min(max(int32(v), -128), 127))
	case formatS16:
		return uint32(min(max(int32(v), -32768), 32767))
	case formatF16:
		return storedHalf(v)
	}
	return v
}

// storedHalf cuts a float to a half, toward zero: the largest one for what is too large, zero for what is too small to be normal.
func storedHalf(v uint32) uint32 {
	s := v >> 16 & 0x8000
	switch e := v >> 23 & 0xff; {
	case e == 0xff && v<<9 != 0:
		return s | 0x7fff
	case e == 0xff:
		return s | 0x7c00
	}
	return s | uint32(softfloat.F32.Convert(softfloat.F16, uint64(v&0x7fffffff), softfloat.Env{Mode: softfloat.RZ}))
}

func decodeSured(d *decoder) step {
	h, coords := d.texAddress("a")
	shape, clamp := texShapes[d.in.Mod("geom")], d.in.Mod("clamp")
	t := d.in.Type("ctype")
	value := d.src("c")
	formatted := d.has(isa.ModP) || d.in.Form.Prefix() == "sured.p"
	size := uint64(t.Bytes())
	word := d.in.Mod("op")
	plain := d.atomicOf(word, t)
	var signedType isa.Type
	if t == isa.B32 || t == isa.B64 {
		signedType = isa.S32
		if t == isa.B64 {
			signedType = isa.S64
		}
		if word == isa.ModMin || word == isa.ModMax {
			unsigned := isa.U32
			if t == isa.B64 {
				unsigned = isa.U64
			}
			plain = d.atomicOf(word, unsigned)
		}
	}
	var other atomicOp
	if signedType != 0 && (word == isa.ModMin || word == isa.ModMax) {
		other = d.atomicOf(word, signedType)
	}
	return step{lane: func(th *thread) {
		x := th.surfaceOf(h.get(th))
		if x == nil {
			return
		}
		unit := uint64(1)
		if formatted {
			unit = x.elem()
		}
		addr := x.surfaceAddr(shape, clamp, surfaceWords(th, coords), unit, size)
		if addr == 0 {
			return
		}
		op := plain
		if other != nil && x.o.Format == formatS32 {
			op = other
		}
		v := value.get(th)
		atomicHost(th.mem(ptx.SpaceGlobal, addr, size, size), func(old uint64) uint64 { return op(old, v, 0, false) })
	}}
}

// decodeTxq is txq and suq.
func decodeTxq(d *decoder) step {
	h, _ := d.texAddress("a")
	query, dst := d.in.Mod("query"), d.dst("d")
	surface := d.in.Op() == isa.Suq
	lod := constant(0)
	if d.present("lod") {
		lod = d.src("lod")
	}
	return step{lane: func(t *thread) {
		v := uint32(0)
		if o := t.object(h.get(t)); o != nil {
			v = describe32(o, query, surface, uint32(lod.get(t)))
		}
		t.r[dst] = uint64(v)
	}}
}

// describe32 answers a query as the hardware does: a dimension that is not there is 0, or 1 for the height of a texture of one row;
// the layers of a row are its height.
func describe32(o *engine.Texture, query isa.Mod, surface bool, level uint32) uint32 {
	l := min(level, uint32(o.Levels)-1)
	layers := uint32(0)
	if o.Layered != 0 {
		layers = o.Depth[0]
		if o.Cube != 0 && !surface {
			layers /= 6
		}
	}
	switch query {
	case isa.ModWidth:
		if level >= uint32(o.Levels) {
			return 0
		}
		return o.Width[l]
	case isa.ModHeight:
		switch {
		case level >= uint32(o.Levels):
			return 0
		case o.Dims == 1 && o.Layered != 0:
			return layers
		case o.Dims == 1 && surface:
			return 0
		}
		return max(1, o.Height[l])
	case isa.ModDepth:
		switch {
		case level >= uint32(o.Levels):
			return 0
		case o.Dims == 1:
			return 0
		case o.Cube != 0 && surface:
			return o.Depth[l]
		case o.Layered != 0:
			return layers
		case o.Dims == 3 && o.Cube == 0:
			return o.Depth[l]
		}
		return 0
	case isa.ModArraySize:
		return layers
	case isa.ModNumMipmapLevels:
		return uint32(o.Levels)
	case isa.ModNumSamples:
		return 1
	case isa.ModNormalizedCoords:
		return uint32(o.Normalized)
	case isa.ModForceUnnormalizedCoords:
		return 0
	case isa.ModFilterMode:
		return uint32(o.Linear)
	case isa.ModAddrMode0:
		return uint32(o.Address[0])
	case isa.ModAddrMode1:
		return uint32(o.Address[1])
	case isa.ModAddrMode2:
		return uint32(o.Address[2])
	case isa.ModChannelDataType:
		return channelType(o)
	case isa.ModChannelOrder:
		return [5]uint32{1: 0x10b0, 2: 0x10b2, 4: 0x10b5}[o.Channels] // R, RG, RGBA in OpenCL's numbers
	}
	return 0 // memory_layout: linear
}

// channelType is OpenCL's number of a format, which is what PTX's queries are defined by.
func channelType(o *engine.Texture) uint32 {
	fractions := o.Kind == backend.TextureObject && o.Integers == 0
	switch o.Format {
	case formatS8:
		if fractions {
			return 0x10d0
		}
		return 0x10d7
	case formatS16:
		if fractions {
			return 0x10d1
		}
		return 0x10d8
	case formatU8:
		if fractions {
			return 0x10d2
		}
		return 0x10da
	case formatU16:
		if fractions {
			return 0x10d3
		}
		return 0x10db
	case formatS32:
		return 0x10d9
	case formatU32:
		return 0x10dc
	case formatF16:
		return 0x10dd
	}
	return 0x10de
}

// decodeIstypep: only what a reference variable names has a type; an object's handle is none, as on the hardware.
func decodeIstypep(d *decoder) step {
	o, _ := d.arg("a")
	h := d.source(o, isa.B64)
	if o.Kind == ptx.OpVar {
		h = d.handle(o)
	}
	dst := d.dst("p")
	kind := map[isa.Mod]uint8{isa.ModTexref: backend.TextureObject, isa.ModSurfref: backend.SurfaceObject, isa.ModSamplerref: backend.SamplerObject}[d.in.Mod("type")]
	return step{lane: func(t *thread) {
		v := uint64(0)
		if x := engine.FindTexture(h.get(t)); x != nil && x.Reference != 0 && x.Kind == kind {
			v = 1
		}
		t.r[dst] = v
	}}
}

// NewTexture makes an object that kernels of all devices of the process find.
func (d *device) NewTexture(t *backend.Texture) (uint64, error) {
	x := engine.Texture(*t)
	h, err := backend.TakeTextureHandle()
	if err != nil {
		return 0, err
	}
	if err := engine.NewTexture(h, &x); err != nil {
		backend.GiveTextureHandle(h)
		return 0, memoryError(err)
	}
	return h, nil
}

// SetTexture changes what a handle shows.
func (d *device) SetTexture(h uint64, t *backend.Texture) error {
	x := engine.Texture(*t)
	return memoryError(engine.SetTexture(h, &x))
}

// FreeTexture ends an object.
func (d *device) FreeTexture(h uint64) error {
	if err := engine.FreeTexture(h); err != nil {
		return memoryError(err)
	}
	backend.GiveTextureHandle(h)
	return nil
}
