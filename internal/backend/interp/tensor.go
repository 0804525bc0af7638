package interp

import (
	"fmt"
	"math/bits"

	"kudzu/internal/backend"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
	"kudzu/internal/tensormap"
)

// tensor is the operand [map, {coordinates}] of tensor copies, with what else says where elements are.
type tensor struct {
	where  place
	coords []operand
	shift  []operand // im2col offsets
	rows   bool      // .tile::gather4, .tile::scatter4: four rows of a 2D tensor
	im2col bool
	wide   bool // .im2col::w: its maps are for compute capability 10.0, and the driver makes none
	rank   int
}

func (d *decoder) tensor() *tensor {
	x := &tensor{}
	for i := range d.in.Args {
		o := &d.in.Args[i]
		if o.Kind != ptx.OpTexAddr || len(o.Elems) != 2 {
			continue
		}
		x.where = d.placeOf(&o.Elems[0], ptx.SpaceGeneric)
		for _, e := range elements(&o.Elems[1]) {
			x.coords = append(x.coords, d.source(e, isa.S32))
		}
	}
	x.rank = int(d.in.Mod("dim").String()[1] - '0')
	switch d.in.Mod("load_mode") {
	case isa.ModTileGather4, isa.ModTileScatter4:
		x.rows = true
	case isa.ModIm2col, isa.ModIm2colNoOffs:
		x.im2col = true
	case isa.ModIm2colW, isa.ModIm2colW128:
		x.wide = true
	}
	if d.present("im2col") {
		x.shift = d.srcs("im2col")
	}
	if len(x.coords) == 0 || len(x.coords) > tensormap.MaxRank {
		d.bad("%d coordinates of %s", len(x.coords), d.spelling())
	}
	return x
}

// get reads the map and checks that it is one for this instruction.
func (x *tensor) get(t *thread) *tensormap.Map {
	m, ok := tensormap.Unpack(t.mem(x.where.space, x.where.at(t), tensormap.Bytes, tensormap.Align))
	switch {
	case !ok:
		t.fault(backend.FaultInstruction, "no tensor map at the address")
	case m.Rank != x.rank || m.Im2col != x.im2col || x.wide:
		t.fault(backend.FaultInstruction, "tensor map of another kind than the copy")
	case !m.Bounded():
		t.fault(backend.FaultInstruction, "a tensor dimension of 2^32 elements")
	}
	return m
}

// visit goes through the box. Recorded as illegal instructions: an innermost coordinate of a plain layout that is no multiple of
// 16 bytes, a store at a negative coordinate, im2col from outside its bounding box.
func (x *tensor) visit(t *thread, m *tensormap.Map, stores bool, f tensormap.Visit) {
	var at [tensormap.MaxRank]int32
	for i := range x.coords {
		at[i] = int32(x.coords[i].get(t))
		if stores && at[i] < 0 {
			t.fault(backend.FaultInstruction, "store to a tensor at a negative coordinate")
		}
	}
	switch {
	case m.Interleave == tensormap.Plain && int64(at[0])*int64(m.Type.Bytes())%16 != 0:
		t.fault(backend.FaultInstruction, "tensor copy from the middle of 16 bytes")
	case x.im2col && !m.InBox(at):
		t.fault(backend.FaultInstruction, "im2col from outside its bounding box")
	}
	switch {
	case x.rows:
		row := *m
		row.Box[1] = 1
		n, _ := row.Size(1 << 20)
		for i := range 4 {
			row.Tile([tensormap.MaxRank]int32{at[0], at[1+i]}, func(off, addr uint64, inside bool) { f(off+n*uint64(i), addr, inside) })
		}
	case x.im2col:
		var shift [tensormap.MaxRank - 2]uint16
		for i := range x.shift {
			shift[i] = uint16(x.shift[i].get(t))
		}
		m.Columns(at, shift, f)
	default:
		m.Tile(at, f)
	}
}

// box is the shared memory of a copy.
type box struct {
	mem         []byte
	at          uint64 // its address in the block
	bytes       uint64 // that a copy moves
	line, pitch uint64
	swizzle     tensormap.Swizzle
}

func (x *tensor) box(t *thread, m *tensormap.Map, p *place, at uint64) *box {
	n, ok := m.Size(1 << 24)
	if x.rows {
		row := *m
		row.Box[1] = 1
		n, ok = row.Size(1 << 20)
		n *= 4
	}
	b := &box{at: at & (1<<rankShift - 1), bytes: n, swizzle: m.Swizzle}
	b.line, b.pitch = m.Pitch()
	if !ok || n == 0 {
		t.fault(backend.FaultInstruction, "tensor map with a box of no size that memory has")
	}
	if b.at%128 != 0 {
		t.faultAddr(backend.FaultMisaligned, b.at, "")
	}
	b.mem = t.mem(p.space, at, n/b.line*b.pitch, 16)
	return b
}

// piece is some bytes of the box; they do not cross 16 bytes, within which a swizzle leaves them.
func (b *box) piece(off, n uint64) []byte {
	at := off/b.line*b.pitch + off%b.line
	return b.mem[b.swizzle.At(b.at+at)-b.at:][:n]
}

// pieces calls f for the parts of a unit at an offset of the box that lie together: halves of 32-byte slices may not.
func (b *box) pieces(off, unit uint64, f func(cell []byte, i uint64)) {
	n := min(unit, 16)
	for i := uint64(0); i < unit; i += n {
		f(b.piece(off+i, n), i)
	}
}

// decodeCpAsyncBulkTensor copies a box of a tensor to shared memory, or back.
func decodeCpAsyncBulkTensor(d *decoder) step {
	if d.present("d") {
		return decodeTensorLoad(d)
	}
	return decodeTensorStore(d, nil)
}

func decodeTensorLoad(d *decoder) step {
	x := d.tensor()
	to, bar := d.place("d", "dst"), d.sharedPlace("mbar")
	var ctas operand
	multicast := d.has(isa.ModMulticastCluster) && d.present("ctamask")
	if multicast {
		ctas = d.src("ctamask")
	}
	one := func(t *thread, m *tensormap.Map, rank uint64, at, bar0 uint64) {
		b := x.box(t, m, &to, at|rank)
		unit := uint64(m.Unit())
		x.visit(t, m, false, func(off, addr uint64, inside bool) {
			b.pieces(off, unit, func(cell []byte, i uint64) {
				if !inside {
					outside(m, cell)
					return
				}
				copy(cell, t.mem(ptx.SpaceGlobal, addr+i, uint64(len(cell)), 1))
				arrive(m.Type, cell)
			})
		})
		t.completeTx(&bar, bar0|rank, b.bytes)
	}
	return step{lane: func(t *thread) {
		m := x.get(t)
		at, b := to.at(t), bar.at(t)
		if !multicast {
			one(t, m, 0, at, b)
			return
		}
		at &= 1<<rankShift - 1
		b &= 1<<rankShift - 1
		for s := uint16(ctas.get(t)); s != 0; s &= s - 1 {
			one(t, m, uint64(bits.TrailingZeros16(s)+rankFirst)<<rankShift, at, b)
		}
	}}
}

// oobNaN is the 16 bits that are repeated outside a tensor that asks for NaN; fma.oob knows them again.
const oobNaN uint64 = 0x7ff7

// outside fills a unit that no element of the tensor is at.
func outside(m *tensormap.Map, cell []byte) {
	clear(cell)
	if !m.NaN {
		return
	}
	for i := range cell {
		cell[i] = byte(oobNaN >> (8 * (i % 2)))
	}
}

// arrive rounds what a copy brings to tf32 where the map's type is that. The types that flush subnormals do so only when they are
// added to (recorded).
func arrive(t tensormap.Type, cell []byte) {
	if t == tensormap.TF32 || t == tensormap.TF32FTZ {
		for i := 0; i+4 <= len(cell); i += 4 {
			store(cell[i:i+4], softfloat.F32.Convert(softfloat.TF32, load(cell[i:i+4]), softfloat.Env{}))
		}
	}
}

// decodeTensorStore copies a box of shared memory to a tensor, or combines it with what is there.
func decodeTensorStore(d *decoder, op func(t tensormap.Type) atomicOp) step {
	x := d.tensor()
	from := d.place("a", "src")
	return step{lane: func(t *thread) {
		m := x.get(t)
		at := from.at(t)
		b := x.box(t, m, &from, at)
		unit := uint64(m.Unit())
		elem := m.Type.Bytes()
		flush := m.Type == tensormap.F32FTZ || m.Type == tensormap.TF32FTZ
		var combine atomicOp
		if op != nil {
			if combine = op(m.Type); combine == nil {
				t.fault(backend.FaultInstruction, "a reduction that the tensor's type does not have")
			}
		}
		x.visit(t, m, true, func(off, addr uint64, inside bool) {
			if !inside {
				return
			}
			b.pieces(off, unit, func(cell []byte, i uint64) {
				dst := t.mem(ptx.SpaceGlobal, addr+i, uint64(len(cell)), uint64(elem))
				if combine == nil {
					copy(dst, cell)
					return
				}
				for k := 0; k+elem <= len(cell); k += elem {
					v := load(cell[k:][:elem])
					atomicHost(dst[k:k+elem:k+elem], func(old uint64) uint64 { return combine(old, v, 0, !flush) })
				}
			})
		})
	}}
}

// tensorTypes are the types that elements have for a reduction.
var tensorTypes = map[tensormap.Type]isa.Type{
	tensormap.U32: isa.U32, tensormap.S32: isa.S32, tensormap.U64: isa.U64, tensormap.S64: isa.S64, tensormap.F16: isa.F16, tensormap.BF16: isa.BF16,
	tensormap.F32: isa.F32, tensormap.F64: isa.F64, tensormap.F32FTZ: isa.F32, tensormap.TF32: isa.F32, tensormap.TF32FTZ: isa.F32,
}

// decodeCpReduceAsyncBulkTensor combines element by element; each element is atomic.
func decodeCpReduceAsyncBulkTensor(d *decoder) step {
	word := d.in.Mod("op")
	ops := map[tensormap.Type]atomicOp{}
	for t, e := range tensorTypes {
		if reduces(word, e) {
			ops[t] = d.atomicOf(word, e)
		}
	}
	d.u.ordered = true
	return decodeTensorStore(d, func(t tensormap.Type) atomicOp { return ops[t] })
}

// reduces says which operations elements of a type have (recorded; the others are illegal instructions).
func reduces(word isa.Mod, t isa.Type) bool {
	switch word {
	case isa.ModAdd:
		return t != isa.S64
	case isa.ModMin, isa.ModMax:
		return t != isa.F32 && t != isa.F64
	case isa.ModInc, isa.ModDec:
		return t == isa.U32
	}
	return t.Bits() >= 32 && !t.IsFloat() && t != isa.S64
}

// decodeTensormapReplace changes a field of a map in memory.
func decodeTensormapReplace(d *decoder) step {
	p, v, ord := d.place("a", "space"), d.src("b"), d.srcOr("ord", 0).imm
	field := d.in.Mod("field")
	if field == isa.ModSwizzleAtomicity {
		if v.imm != 0 { // 16 bytes, which all maps of compute capability 9.0 have
			return d.unsupported(d.spelling() + " other than 16 bytes")
		}
		return step{lane: func(*thread) {}}
	}
	patches := tensormap.FieldOf(field.String()).Patches(int(min(ord, tensormap.MaxRank)), v.imm)
	if patches == nil {
		return d.unsupported(fmt.Sprintf("%s of dimension %d", d.spelling(), ord))
	}
	return step{lane: func(t *thread) {
		at, n := p.at(t), v.get(t)
		for i := range patches {
			q := &patches[i]
			m := t.mem(p.space, at+uint64(q.Off), uint64(q.Bytes), uint64(q.Bytes))
			store(m, q.Apply(load(m), n))
		}
	}}
}

// decodeTensormapCpFenceproxy copies a map from shared to global memory, where copies read it.
func decodeTensormapCpFenceproxy(d *decoder) step {
	to, from := d.place("d", "dst"), d.place("a", "src")
	return step{lane: func(t *thread) { // all threads of the warp name the same map
		copy(t.mem(to.space, to.at(t), tensormap.Bytes, tensormap.Bytes), t.mem(from.space, from.at(t), tensormap.Bytes, tensormap.Bytes))
	}}
}
