package interp

import "kudzu/internal/ptx/isa"

// wmma: the manual leaves open which thread holds which element. Ours is the hardware's (recorded on sm_90): an operation is two
// mma's side by side, along the rows of m32n8 and the columns of m16n16, and m8n32 is m32n8 transposed. A fragment's registers are
// those of the first mma, then of the second; those a fragment has more than that (f16) repeat them.

// wmmaSpot is where element i of a fragment of operand word lies; per elements are in a register.
func wmmaSpot(word isa.Mod, m, n, k, per int) spot {
	if m == 8 && n == 32 {
		flip := map[isa.Mod]isa.Mod{isa.ModA: isa.ModB, isa.ModB: isa.ModA}
		other, ok := flip[word]
		if !ok {
			other = word
		}
		in := wmmaSpot(other, n, m, k, per)
		return func(lane, i int) (row, col int) {
			row, col = in(lane, i)
			return col, row
		}
	}
	switch word {
	case isa.ModA:
		tile := min(m, 16)
		in, count := spotA(tile, per), tile*k/32
		return func(lane, i int) (row, col int) {
			row, col = in(lane, i%count)
			return row + i/count%(m/tile)*tile, col
		}
	case isa.ModB:
		in, count := spotB(per), 8*k/32
		return func(lane, i int) (row, col int) {
			row, col = in(lane, i%count)
			return row, col + i/count%(n/8)*8
		}
	}
	tile := min(m, 16)
	count := tile * 8 / 32
	return func(lane, i int) (row, col int) {
		row, col = spotC(lane, i%count)
		if m == 32 {
			return row + i/count*16, col
		}
		return row, col + i/count*8
	}
}

// wmmaTile is the rows and columns of an operand.
func (d *decoder) wmmaTile(word isa.Mod) (rows, cols int) {
	m, n, k := d.dims()
	switch word {
	case isa.ModA:
		return m, k
	case isa.ModB:
		return k, n
	}
	return m, n
}

// wmmaMove is what wmma.load and wmma.store share: element i of a thread and its bit address.
type wmmaMove struct {
	e             elem
	where         spot
	regBits       int
	p             place
	stride        operand
	colMajor      bool
	defaultStride int
}

func (d *decoder) wmmaMove(word isa.Mod) *wmmaMove {
	x := &wmmaMove{e: newElem(d.typ()), p: d.place("p", "space"), colMajor: d.in.Mod("layout") == isa.ModCol}
	m, n, k := d.dims()
	rows, cols := d.wmmaTile(word)
	x.regBits = max(32, x.e.width)
	x.where = wmmaSpot(word, m, n, k, x.regBits/x.e.width)
	x.defaultStride = cols
	if x.colMajor {
		x.defaultStride = rows
	}
	x.stride = d.srcOr("stride", uint64(x.defaultStride))
	return x
}

// bit is the offset of an element in bits.
func (x *wmmaMove) bit(t *thread, i int) uint64 {
	row, col := x.where(int(t.lane), i)
	if x.colMajor {
		row, col = col, row
	}
	return (uint64(row)*x.stride.get(t) + uint64(col)) * uint64(x.e.width)
}

func decodeWmmaLoad(d *decoder) step {
	dst := d.dests("r")
	x := d.wmmaMove(d.in.Mod("operand"))
	return d.together(func(w *warp, members uint32) {
		w.each(members, func(t *thread) {
			for r, slot := range dst {
				var v uint64
				n := x.regBits / x.e.width
				for j := range n {
					at := x.bit(t, r*n+j)
					size := uint64(max(8, x.e.width) / 8)
					m := load(t.mem(x.p.space, x.p.at(t)+at/8, size, size))
					v |= m >> (at % 8) & mask(x.e.width) << (j * x.e.width)
				}
				t.r[slot] = v
			}
		})
	})
}

func decodeWmmaStore(d *decoder) step {
	src := d.srcs("r")
	x := d.wmmaMove(isa.ModD)
	size := uint64(x.e.width / 8)
	return d.together(func(w *warp, members uint32) {
		w.each(members, func(t *thread) {
			n := x.regBits / x.e.width
			for r := range src {
				v := src[r].get(t)
				for j := range n {
					store(t.mem(x.p.space, x.p.at(t)+x.bit(t, r*n+j)/8, size, size), v>>(j*x.e.width))
				}
			}
		})
	})
}

func decodeWmmaMma(d *decoder) step {
	x := d.newMma()
	per := x.regAB / x.a.width
	x.sa, x.sb = wmmaSpot(isa.ModA, x.m, x.n, x.k, per), wmmaSpot(isa.ModB, x.m, x.n, x.k, per)
	x.sc = wmmaSpot(isa.ModC, x.m, x.n, x.k, x.regC/x.c.width)
	x.sd = wmmaSpot(isa.ModD, x.m, x.n, x.k, x.regD/x.d.width)
	x.ra, x.rb = x.ra[:min(len(x.ra), x.m*x.k/32/per)], x.rb[:min(len(x.rb), x.k*x.n/32/per)] // the rest repeats
	return d.together(x.run)
}
