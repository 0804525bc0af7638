package lower

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// shapeOf reads .m16n8k16 (or .m8n8, k then 0).
func shapeOf(m isa.Mod) (rows, cols, k int) {
	s := m.String()
	if n, _ := fmt.Sscanf(s, ".m%dn%dk%d", &rows, &cols, &k); n < 3 {
		k = 0
	}
	return rows, cols, k
}

// word is the word in a slot without its dot, or other if there is none.
func (x *inst) word(slot, other string) string {
	if m := x.OptMod(slot); m != 0 {
		return m.String()[1:]
	}
	return other
}

// matrix is the attribute of mma and wmma.mma.
func (x *inst) matrix() *ir.Matrix {
	m := &ir.Matrix{
		A: x.word("atype", "f16"), B: x.word("btype", "f16"), C: x.word("ctype", ""), D: x.word("dtype", ""),
		ALayout: x.word("alayout", "row"), BLayout: x.word("blayout", "col"), Sat: x.Has(isa.ModSatfinite),
	}
	m.M, m.N, m.K = shapeOf(x.Mod("shape"))
	if k := x.OptMod("kind"); k == isa.ModKindF8f6f4 || k == isa.ModKindMxf8f6f4 {
		for _, elem := range []*string{&m.A, &m.B} {
			if *elem == "e2m1" {
				*elem = "e2m1b"
			}
		}
	}
	if x.Has(isa.ModPopc) {
		m.Bit = x.word("op", "") + ".popc"
	}
	return m
}

// fragType is the IR type of a fragment's registers: the accumulators are what they are, halves and operands are bits.
func fragType(elem string) isa.Type {
	switch elem {
	case "f32":
		return isa.F32
	case "f64":
		return isa.F64
	}
	return isa.B32
}

func lowerMma(x *inst) {
	m := x.matrix()
	args := x.elems("a", fragType(m.A))
	args = append(args, x.elems("b", fragType(m.B))...)
	args = append(args, x.elems("c", fragType(m.C))...)
	attr := ir.Attr{Mat: m, Rnd: roundings[x.OptMod("rnd")]}
	if x.Op() == isa.MmaSp {
		m.Sparse = true
		args = append(args, x.argAs("e", isa.B32))
		m.Selector = int(x.Args[x.index("f")].Imm)
	}
	if x.has("sa") {
		args = append(args, x.blockScale(m)...)
	}
	t := fragType(m.D)
	x.setElems(0, t, x.mma(attr, irTypes[t], len(x.Args[0].Elems), args))
}

// maxExpanded is how many mma of a kernel are expanded where they stand: each is some 150 operations, and a kernel of thousands
// would be minutes in the code generator. A kernel with more has a function for each kind of product instead, and so has a wgmma, which is
// up to 32 of them.
const maxExpanded = 64

// countMma counts the matrix products of a body, as mma.
func countMma(body *ptx.Body) int {
	n := 0
	for i := range body.Insts {
		switch body.Insts[i].Op() {
		case isa.Mma, isa.MmaSp:
			n++
		case isa.WmmaMma:
			n += 2
		case isa.WgmmaMmaAsync, isa.WgmmaMmaAsyncSp:
			_, cols, _ := shapeOf(body.Insts[i].Mod("shape"))
			n += cols / 8
		}
	}
	return n
}

func (x *inst) mma(attr ir.Attr, t ir.Type, n int, args []*ir.Value) []*ir.Value {
	known := !x.opts.KeepMatrix && canExpand(attr.Mat)
	if known && !attr.Mat.Whole && !hasTiles(attr.Mat) && !(x.opts.GPU && hasUnit(attr.Mat)) && x.mmas <= maxExpanded && x.expanded < maxExpanded {
		x.expanded++
		return x.expandMma(attr, args)
	}
	types := make([]ir.Type, max(n, 1))
	for i := range types {
		types[i] = t
	}
	if known {
		attr.Sym = x.mmaFunc(attr, types, args)
		attr.FTZ, attr.EitherFTZ = true, true // as multiplyAdd says
	}
	return x.b.EmitN(ir.Mma, types, attr, args...).Results
}

// mmaFunc is the name of the function that computes such a product, made when first asked for.
func (x *inst) mmaFunc(attr ir.Attr, results []ir.Type, args []*ir.Value) string {
	m := attr.Mat
	name := fmt.Sprintf("mma.m%dn%dk%d.%s.%s.%s.%s.%s.%s", m.M, m.N, m.K, m.A, m.B, m.C, m.D, m.Bit, attr.Rnd)
	if m.Sat {
		name += ".sat"
	}
	if m.Whole {
		name += ".whole"
	}
	if m.Scale != "" {
		name += fmt.Sprintf(".%s.%d", m.Scale, m.Scales)
	}
	switch {
	case m.Sparse:
		name += fmt.Sprintf(".sp%d", m.Selector)
	case quadPairs(m):
		name += "." + m.ALayout + "." + m.BLayout
	}
	for _, f := range x.out.Funcs[1:] {
		if f.Name == name {
			return name
		}
	}
	f := &ir.Func{Name: name, Results: results}
	for _, a := range args {
		f.Params = append(f.Params, f.NewValue(a.Type))
	}
	outer := x.b
	x.b = ir.Builder{Func: f, Block: f.NewBlock("")}
	x.b.Terminate(ir.Ret, ir.Attr{}, x.expandMma(attr, f.Params))
	x.b = outer
	x.out.Funcs = append(x.out.Funcs, f)
	return name
}

func lowerLdmatrix(x *inst) {
	if x.Mod("dst_fmt") != 0 || x.Type("type") != isa.B16 {
		x.loadBytes()
		return
	}
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[x.word("num", "x1")]
	m := &ir.Matrix{M: 8, N: 8, D: "b16", Num: n, Trans: x.Mod("trans") != 0}
	types := make([]ir.Type, n)
	for i := range types {
		types[i] = ir.I32
	}
	if !x.opts.KeepMatrix {
		x.setElems(0, isa.B32, x.loadTiles(x.inShared(&x.Args[x.index("p")]), m))
		return
	}
	in := x.b.EmitN(ir.LdMatrix, types, ir.Attr{Space: ir.Shared, Mat: m}, x.inShared(&x.Args[x.index("p")]))
	x.setElems(0, isa.B32, in.Results)
}

func lowerStmatrix(x *inst) {
	vs := x.elems("r", isa.B32)
	m := &ir.Matrix{M: 8, N: 8, D: "b16", Num: len(vs), Trans: x.Mod("trans") != 0}
	if x.Type("type") == isa.B8 { // columns of 16 bytes, which the transposition makes rows: four bytes a register, as they are
		m.Trans = false
	}
	if !x.opts.KeepMatrix || x.Type("type") == isa.B8 {
		x.storeTiles(x.inShared(&x.Args[0]), m, vs)
		return
	}
	x.b.EmitN(ir.StMatrix, nil, ir.Attr{Space: ir.Shared, Mat: m}, append([]*ir.Value{x.inShared(&x.Args[0])}, vs...)...)
}

func lowerMovmatrix(x *inst) {
	if !x.opts.KeepMatrix {
		x.result(x.transpose(x.lanes(), x.arg("a")))
		return
	}
	m := &ir.Matrix{M: 8, N: 8, D: "b16", Num: 1, Trans: true}
	x.result(x.opWith(ir.MovMatrix, ir.Attr{Mat: m}, x.arg("a")))
}
