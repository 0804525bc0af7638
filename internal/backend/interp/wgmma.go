package interp

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// wgmma multiplies 64 rows by the four warps of a warpgroup. A warp's part are 16 rows, held as mma holds them, of products with 8
// columns side by side. Each warp computes its part when it comes by. What must wait for all four is wait_group: the one thread that
// then says that shared memory may be overwritten speaks for the warpgroup.

// layout is a matrix in shared memory: what the 64 bits of a matrix descriptor say.
type layout struct {
	start           uint64
	leading, stride uint64 // bytes
	phase           uint64 // base offset: where the swizzle pattern begins, in rows of 128 bytes
	swizzle         uint64 // bytes of a row of the pattern, 16: none
}

func newLayout(desc uint64) layout {
	field := func(at uint) uint64 { return desc >> at & 0x3fff << 4 }
	return layout{
		start: field(0), leading: field(16), stride: field(32), phase: desc >> 49 & 7,
		swizzle: [4]uint64{16, 128, 64, 32}[desc>>62],
	}
}

// alongK is the address of the 16 bytes number chunk along k of a row of a, or column of b.
func (l *layout) alongK(row, chunk int) uint64 {
	at := l.start + uint64(row)%8*l.swizzle + uint64(row)/8*l.stride
	if l.swizzle == 16 {
		return at + uint64(chunk)*l.leading
	}
	wide := l.swizzle / 16
	return l.swizzled(at + uint64(chunk)%wide*16 + uint64(chunk)/wide*l.leading)
}

// acrossK is the address of the 16 bytes number chunk along m or n, for one k.
func (l *layout) acrossK(k, chunk int) uint64 {
	at := l.start + uint64(k)%8*l.swizzle
	if l.swizzle == 16 {
		return at + uint64(chunk)*l.stride + uint64(k)/8*l.leading
	}
	wide := l.swizzle / 16
	return l.swizzled(at + uint64(chunk)%wide*16 + uint64(chunk)/wide*l.leading + uint64(k)/8*l.stride)
}

// swizzled exchanges the 16-byte parts of a row of the pattern by the number of the 128 bytes it lies in.
func (l *layout) swizzled(at uint64) uint64 {
	return at ^ (at>>7-l.phase)&(l.swizzle/16-1)<<4
}

// wgmma is a decoded multiplication: an mma of 16 rows whose operands may be in shared memory.
type wgmma struct {
	mma
	adesc, bdesc *operand // nil: in registers
	across       [2]bool  // a, b: rows in memory are along m or n
	scaled       operand  // d counts
	negate       bool
}

// matrixType is the type of a and of b, which most forms spell as words of their own.
func (d *decoder) matrixType(slot string) isa.Type {
	for _, m := range []isa.Mod{isa.ModBf16, isa.ModTf32, isa.ModB1} {
		if d.has(m) {
			return m.Type()
		}
	}
	return d.typeOr(slot, isa.F16)
}

func decodeWgmma(d *decoder) step {
	x := &wgmma{scaled: d.src("scaled")}
	_, x.n, x.k = d.dims()
	x.m, x.compressedK, x.whole = 16, x.k, true
	x.a, x.b, x.d = newElem(d.matrixType("atype")), newElem(d.matrixType("btype")), newElem(d.typeOr("dtype", isa.S32))
	x.c, x.sat = x.d, d.has(isa.ModSatfinite)
	x.rd = d.dests("d")
	for _, slot := range x.rd {
		x.rc = append(x.rc, operand{slot: slot})
	}
	x.regAB, x.regC, x.regD = 32, 32, 32
	x.place()
	x.sc, x.sd = spotWide, spotWide
	if d.present("adesc") {
		at := d.src("adesc")
		x.adesc = &at
	} else {
		x.ra = d.srcs("a")
	}
	at := d.src("bdesc")
	x.bdesc = &at
	given := func(name string) uint64 {
		v := d.srcOr(name, 0)
		return v.imm
	}
	x.negate = d.present("scalea") && given("scalea") != given("scaleb")
	x.across = [2]bool{given("transa") == 1, given("transb") == 1}
	if d.in.Op() == isa.WgmmaMmaAsyncSp {
		x.compressedK = x.k / 2
		x.sparse = &sparsity{meta: d.src("spmeta"), selector: int(given("spsel"))}
	}
	return d.together(x.run)
}

// spotWide is spotC for products side by side.
func spotWide(lane, i int) (row, col int) {
	row, col = spotC(lane, i%4)
	return row, col + i/4*8
}

func (x *wgmma) run(w *warp, members uint32) {
	first := w.threads[0]
	w.current = first
	a, b, c := newMatrix(x.m, x.compressedK), newMatrix(x.k, x.n), newMatrix(x.m, x.n)
	if x.adesc != nil {
		l := newLayout(x.adesc.get(first))
		x.load(first, a, &l, w.index%4*16, x.across[0])
	} else {
		a.gather(w, members, x.ra, x.a, 32, x.sa)
	}
	l := newLayout(x.bdesc.get(first))
	turned := newMatrix(x.n, x.k)
	x.load(first, turned, &l, 0, x.across[1])
	for i := range x.n {
		for k := range x.k {
			b.v[k*x.n+i] = turned.at(i, k)
		}
	}
	if x.scaled.get(first) != 0 {
		c.gather(w, members, x.rc, x.c, 32, x.sc)
	}
	if x.negate {
		for i := range a.v {
			a.v[i] ^= 1 << (x.a.bits - 1)
		}
	}
	p := operands3{a: a, b: b, c: c}
	if x.sparse != nil {
		p.columns, p.halves = x.sparse.columns(w, &x.mma), x.chunk() == 2
	}
	x.multiply(&p).scatter(w, members, x.rd, x.d.width, 32, x.sd)
}

// load reads rows of a, or columns of b, beginning with number from.
func (x *wgmma) load(t *thread, m *matrix, l *layout, from int, across bool) {
	per := 128 / x.a.width // elements in 16 bytes
	for i := 0; across && i < m.rows; i += per {
		for k := range m.cols {
			b := t.mem(ptx.SpaceShared, l.acrossK(k, (from+i)/per), 16, 16)
			for j := range per {
				m.v[(i+j)*m.cols+k] = elementOf(b, j, x.a.width)
			}
		}
	}
	for i := 0; !across && i < m.rows; i++ {
		for k := 0; k < m.cols; k += per {
			b := t.mem(ptx.SpaceShared, l.alongK(from+i, k/per), 16, 16)
			for j := range per {
				m.v[i*m.cols+k+j] = elementOf(b, j, x.a.width)
			}
		}
	}
}

// elementOf is element j of bytes that are elements of so many bits.
func elementOf(b []byte, j, width int) uint64 {
	if width < 8 {
		return uint64(b[j*width/8]) >> (j * width % 8) & mask(width)
	}
	return load(b[j*width/8:][:width/8])
}

// decodeWgmmaWait waits for the four warps: what they have begun is done.
func decodeWgmmaWait(d *decoder) step {
	return step{warp: func(w *warp, active uint32) {
		group := w.index / 4
		n := min(4, len(w.b.warps)-4*group)
		var last *barrier
		w.each(active, func(t *thread) { last = w.b.arriveAt(t, namedBarriers+group, uint64(32*n), true) })
		w.b.complete(last)
	}}
}
