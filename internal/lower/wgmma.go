package lower

import (
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// wgmma: each of the four warps of a warpgroup multiplies its 16 rows when it comes by, as products of mma with 8 columns side by side,
// whose fragments are the same. Operands in shared memory are read as ldmatrix reads: a matrix is made of tiles of 8 rows of 16 bytes,
// and the descriptor says where they are. backend/interp/wgmma.go has the layouts one element at a time.

// descriptor is a matrix in shared memory; all values are the same in all lanes.
type descriptor struct {
	start, leading, stride *ir.Value // in parts of 16 bytes
	shift                  *ir.Value // 1<<shift parts are a row of the swizzle pattern
	mask                   *ir.Value // 1<<shift - 1
	phase                  *ir.Value
}

// firstLane is v of lane 0: all lanes are to give the same.
func (x *inst) firstLane(v *ir.Value) *ir.Value { return x.from(v, i32(0), 0) }

func (x *inst) descriptor(name string) *descriptor {
	v := x.arg(name)
	lo := x.firstLane(x.resize(v, 32, false))
	hi := x.firstLane(x.resize(x.op(ir.ShrU, v, i32(32)), 32, false))
	field := func(v *ir.Value, at int64) *ir.Value { return x.op(ir.And, x.op(ir.ShrU, v, i32(at)), i32(0x3fff)) }
	d := &descriptor{start: field(lo, 0), leading: field(lo, 16), stride: field(hi, 0)}
	d.phase = x.op(ir.And, x.op(ir.ShrU, hi, i32(17)), i32(7))
	d.shift = x.op(ir.And, x.op(ir.Sub, i32(4), x.op(ir.ShrU, hi, i32(30))), i32(3)) // modes 0 to 3: none, 128, 64, 32 bytes
	d.mask = x.op(ir.Sub, x.op(ir.Shl, i32(1), d.shift), i32(1))
	return d
}

// parts is where part n lies if rows of the pattern follow each other at a distance.
func (d *descriptor) parts(x *inst, n, distance *ir.Value) *ir.Value {
	return x.op(ir.Add, x.op(ir.And, n, d.mask), x.op(ir.Mul, x.op(ir.ShrU, n, d.shift), distance))
}

// tile reads a tile of 8 rows of 16 bytes as ldmatrix does: number row of the rows of a or columns of b, number k along k.
func (d *descriptor) tile(x *inst, ls lanes, row, k *ir.Value, across bool) *ir.Value {
	at := x.op(ir.Add, d.start, x.op(ir.Shl, ls.group, d.shift))
	var off *ir.Value
	if !across {
		off = x.op(ir.Add, x.op(ir.Mul, row, d.stride), d.parts(x, k, d.leading))
	} else { // without a swizzle the two distances change their roles
		plain := x.icmp(ir.EQ, d.shift, i32(0))
		rows, ks := x.sel(plain, d.stride, d.leading), x.sel(plain, d.leading, d.stride)
		off = x.op(ir.Add, x.op(ir.Mul, k, ks), d.parts(x, row, rows))
	}
	at = x.op(ir.Add, at, off)
	turn := x.op(ir.And, x.op(ir.Sub, x.op(ir.ShrU, at, i32(3)), d.phase), d.mask)
	at = x.op(ir.Or, x.op(ir.Shl, x.op(ir.Xor, at, turn), i32(4)), x.op(ir.Shl, ls.t, i32(2)))
	v := x.b.Emit(ir.Load, ir.I32, ir.Attr{Space: ir.Shared, Align: 4, Quads: true}, x.resize(at, 64, false))
	if across {
		v = x.transpose(ls, v)
	}
	return v
}

// wgmmaMatrix is the attribute of the products that a wgmma is made of.
func (x *inst) wgmmaMatrix() *ir.Matrix {
	m := x.matrix()
	m.M, m.N, m.Whole = 16, 8, true
	for word, mod := range map[string]isa.Mod{"bf16": isa.ModBf16, "tf32": isa.ModTf32, "b1": isa.ModB1} {
		if x.Has(mod) {
			m.A, m.B = word, word
		}
	}
	m.D = x.word("dtype", "s32")
	m.C = m.D
	if x.Op() == isa.WgmmaMmaAsyncSp {
		m.Sparse, m.Selector = true, int(x.Args[x.index("spsel")].Imm)
	}
	return m
}

// given is a constant operand, or 0 where the form has none such.
func (x *inst) given(name string) int64 {
	if i := x.index(name); i >= 0 {
		return int64(int32(x.Args[i].Imm))
	}
	return 0
}

func lowerWgmma(x *inst) {
	m := x.wgmmaMatrix()
	_, cols, _ := shapeOf(x.Mod("shape"))
	ls, t := x.lanes(), fragType(m.D)
	a := x.wgmmaLeft(m, ls)
	b := x.descriptor("bdesc")
	acc := x.elems("d", t)
	if p := x.arg("scaled"); !p.Const || p.Bits == 0 {
		for i, v := range acc {
			acc[i] = x.sel(p, v, constOf(v.Type, 0))
		}
	}
	steps := m.K / (4 * mmaElems[m.A].pack) // registers of b
	each := len(acc) / (cols / 8)
	var out []*ir.Value
	for j := range cols / 8 {
		args := slices.Clone(a)
		for s := range steps {
			args = append(args, b.tile(x, ls, i32(int64(j)), i32(int64(s)), x.given("transb") == 1))
		}
		args = append(args, acc[j*each:(j+1)*each]...)
		if m.Sparse {
			args = append(args, x.argAs("spmeta", isa.B32))
		}
		out = append(out, x.mma(ir.Attr{Mat: m}, irTypes[t], each, args)...)
	}
	x.setElems(0, t, out)
}

// wgmmaLeft is the warp's part of the left matrix, with the sign of both scales.
func (x *inst) wgmmaLeft(m *ir.Matrix, ls lanes) []*ir.Value {
	var a []*ir.Value
	if x.has("adesc") {
		d := x.descriptor("adesc")
		warp := x.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: ir.WarpID})
		first := x.op(ir.Shl, x.op(ir.And, warp, i32(3)), i32(1))
		for s := range int64(2) {
			for h := range int64(2) {
				a = append(a, d.tile(x, ls, x.op(ir.Add, first, i32(h)), i32(s), x.given("transa") == 1))
			}
		}
	} else {
		a = x.elems("a", isa.B32)
	}
	if x.given("scalea") == x.given("scaleb") {
		return a
	}
	signs := map[int]int64{1: -1 << 31, 2: -0x7fff8000, 4: -0x7f7f7f80}[mmaElems[m.A].pack]
	for i, v := range a {
		a[i] = x.op(ir.Xor, v, i32(signs))
	}
	return a
}

// lowerWgmmaWait: what a warp has begun is done. The others of its warpgroup must be as far where one thread may say for all of them that
// shared memory can be written again, which is what barriers in memory are for; others are for all threads.
func lowerWgmmaWait(x *inst) {
	if !x.usesMbarriers() {
		return
	}
	x.b.EmitN(ir.Bar, nil, ir.Attr{BarKind: ir.BarSync}, i32(ir.BarWarpgroup), i32(128))
}

// usesMbarriers reports a module in which threads arrive at barriers in memory.
func (x *inst) usesMbarriers() bool {
	for _, f := range x.m.Funcs {
		if f.Body == nil {
			continue
		}
		for i := range f.Body.Insts {
			switch f.Body.Insts[i].Op() {
			case isa.MbarrierArrive, isa.MbarrierArriveDrop, isa.CpAsyncMbarrierArrive:
				return true
			}
		}
	}
	return false
}
