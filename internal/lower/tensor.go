package lower

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/tensormap"
)

// Tensor copies are the runtime's: what is copied is only known when the map is read. Here is what the instruction says, and the
// mbarrier that is told.

var tensorModes = map[isa.Mod]uint32{
	isa.ModTileGather4: image.TensorModeRows, isa.ModTileScatter4: image.TensorModeRows, isa.ModIm2col: image.TensorModeIm2col,
	isa.ModIm2colNoOffs: image.TensorModeIm2col, isa.ModIm2colW: image.TensorModeNone, isa.ModIm2colW128: image.TensorModeNone,
}

// tensorOp is the operation's bits that say how the copy goes, the address of the map, and the words: coordinates and im2col offsets.
func (x *inst) tensorOp() (op uint32, where *ir.Value, words []*ir.Value) {
	op = uint32(x.Mod("dim").String()[1]-'0')<<image.TensorRankShift | tensorModes[x.Mod("load_mode")]<<image.TensorModeShift
	for i := range x.Args {
		o := &x.Args[i]
		if o.Kind != ptx.OpTexAddr || len(o.Elems) != 2 {
			continue
		}
		where = x.mapAddress(&o.Elems[0])
		words = x.vectorWords(&o.Elems[1])
	}
	if where == nil || len(words) == 0 || len(words) > image.TensorCoords {
		x.fail("%s with %d coordinates", x.spelling(), len(words))
	}
	for len(words) < image.TensorCoords {
		words = append(words, i32(0))
	}
	if x.has("im2col") {
		for _, v := range x.elems("im2col", isa.U16) {
			words = append(words, x.resize(v, 32, false))
		}
	}
	for len(words) < image.TensorCoords+image.TensorShifts {
		words = append(words, i32(0))
	}
	return op, where, words[:image.TensorCoords+image.TensorShifts]
}

// mapAddress is the generic address of a map, which an operand in brackets names.
func (x *inst) mapAddress(o *ptx.Operand) *ir.Value {
	if o.Kind != ptx.OpAddr {
		a := *o
		a.Base, a.Kind = o.Kind, ptx.OpAddr
		o = &a
	}
	return x.address(o, ir.Generic)
}

// tensor emits the copy between the map's tensor and an address of shared memory, and gives the bytes it copied.
func (x *inst) tensor(op uint32, where, shared *ir.Value, words []*ir.Value) *ir.Value {
	args := append([]*ir.Value{where, shared}, words...)
	return x.b.Emit(ir.Tensor, ir.I32, ir.Attr{UnitOp: op}, args...)
}

// lowerCpAsyncBulkTensor copies a box of a tensor to shared memory, or back.
func lowerCpAsyncBulkTensor(x *inst) {
	op, where, words := x.tensorOp()
	if !x.has("d") {
		x.tensor(op|image.TensorStore, where, x.address(&x.Args[x.index("a")], ir.Shared), words)
		return
	}
	to, bar := x.address(&x.Args[x.index("d")], ir.Shared), x.mbarAddr("mbar")
	one := func(far *ir.Value) {
		n := x.tensor(op|image.TensorLoad, where, x.op(ir.Add, to, far), words)
		x.completeTx(x.op(ir.Add, bar, far), x.resize(n, 64, false))
	}
	if x.has("ctamask") {
		x.multicast(one)
		return
	}
	one(i64(0))
}

var tensorReds = map[isa.Mod]uint32{
	isa.ModAdd: image.TensorRedAdd, isa.ModMin: image.TensorRedMin, isa.ModMax: image.TensorRedMax, isa.ModInc: image.TensorRedInc,
	isa.ModDec: image.TensorRedDec, isa.ModAnd: image.TensorRedAnd, isa.ModOr: image.TensorRedOr, isa.ModXor: image.TensorRedXor,
}

// lowerCpReduceAsyncBulkTensor combines element by element; each element is atomic.
func lowerCpReduceAsyncBulkTensor(x *inst) {
	op, where, words := x.tensorOp()
	x.tensor(op|image.TensorReduce|tensorReds[x.Mod("op")]<<image.TensorRedShift, where, x.address(&x.Args[x.index("a")], ir.Shared), words)
}

// lowerTensormapReplace changes a field of a map in memory: loads, stores and what is between.
func lowerTensormapReplace(x *inst) {
	field, b := x.Mod("field"), &x.Args[x.index("b")]
	if field == isa.ModSwizzleAtomicity { // maps here have 16 bytes, as all of compute capability 9.0
		if b.Kind != ptx.OpImm || b.Imm != 0 {
			x.fail("%s other than 16 bytes", x.spelling())
		}
		return
	}
	ord := 0
	if x.has("ord") {
		ord = int(min(x.Args[x.index("ord")].Imm, tensormap.MaxRank))
	}
	patches := tensormap.FieldOf(field.String()).Patches(ord, b.Imm)
	if patches == nil {
		x.fail("%s of dimension %d", x.spelling(), ord)
	}
	sp := x.space(x.spaceWord())
	v := x.resize(x.arg("b"), 64, false)
	for i := range patches {
		p := &patches[i]
		o := x.Args[x.index("a")]
		o.Imm += uint64(p.Off)
		a, t, attr := x.address(&o, sp), intOf(8*p.Bytes), ir.Attr{Space: sp, Align: uint8(p.Bytes)}
		w := v
		if p.Less != 0 {
			w = x.op(ir.Sub, w, ir.ConstInt(ir.I64, p.Less))
		}
		if p.Right > 0 {
			w = x.op(ir.ShrU, w, i32(int64(p.Right)))
		}
		w = x.resize(w, 8*p.Bytes, false)
		if p.Left > 0 {
			w = x.op(ir.Shl, w, i32(int64(p.Left)))
		}
		if p.Mask != 1<<(8*p.Bytes)-1 {
			old := x.b.Emit(ir.Load, t, attr, a)
			w = x.op(ir.Or, x.op(ir.And, old, ir.ConstInt(t, ^p.Mask)), x.op(ir.And, w, ir.ConstInt(t, p.Mask)))
		}
		x.b.EmitN(ir.Store, nil, attr, a, w)
	}
}

// lowerTensormapCpFenceproxy copies a map from shared to global memory, where copies read it.
func lowerTensormapCpFenceproxy(x *inst) {
	dst, src := x.space(x.Mod("dst")), x.space(x.Mod("src"))
	to, from := x.address(&x.Args[x.index("d")], dst), x.address(&x.Args[x.index("a")], src)
	x.copyBulk(to, from, i64(image.TensorMapBytes), dst, src)
}
