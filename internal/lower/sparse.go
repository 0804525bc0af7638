package lower

import "kudzu/internal/ir"

// mma.sp: the left matrix has half the columns, and four bits of metadata for each chunk of a row say which of the chunk's columns
// its elements are. The right matrix's elements are brought together, a register at a time, as the left one's are.

// chunk is how many columns share four bits of metadata.
func chunk(elem string) int {
	switch mmaElems[elem].pack {
	case 1:
		return 2
	case 8:
		return 8
	}
	return 4
}

// sparsity reads the metadata of the lane's rows.
type sparsity struct {
	x     *inst
	m     *ir.Matrix
	words []*ir.Value // of the threads of the group that count
}

// newSparsity: of the four threads of a group one counts, chosen by the selector, or the first or second two, or all.
func (x *inst) newSparsity(m *ir.Matrix, meta *ir.Value) *sparsity {
	s := &sparsity{x: x, m: m}
	n := m.K / chunk(m.A) * 4 / 16
	first := 0
	switch n {
	case 1:
		first = m.Selector & 3
	case 2:
		first = m.Selector & 1 * 2
	}
	for i := range n {
		s.words = append(s.words, x.inGroup(meta, first+i))
	}
	return s
}

// index is index i (0 or 1) of chunk c in row group+8h. Elements of 16 and 32 bits have both rows in one thread's word,
// smaller ones have words of their own for each.
func (s *sparsity) index(h, c, i int) *ir.Value {
	word, at := s.words[min(c/4, len(s.words)-1)], 16*h+4*(c%4)
	if mmaElems[s.m.A].pack >= 4 {
		word, at = s.words[c/8*2+h], 4*(c%8)
	}
	v := s.x.op(ir.ShrU, word, i32(int64(at+2*i)))
	return s.x.op(ir.And, v, i32(3))
}

// right is the register of b's elements that meet register s of lane t of a, in row group+8h and column 2t+n of the product.
func (s *sparsity) right(ls lanes, b []*ir.Value, reg, t, h, n int) *ir.Value {
	x := s.x
	of := func(c, lane int) *ir.Value { // the register of column 2t+n that holds chunk c, lane-th of the group's lanes
		pack := mmaElems[s.m.B].pack
		at := c*chunk(s.m.B) + lane*pack
		src := x.op(ir.Add, x.op(ir.Shl, ls.t, i32(3)), i32(int64(4*n+at/pack%4)))
		return x.from(b[at/(4*pack)], src, 0)
	}
	place := func(v *ir.Value, mul, add int64, nibble int64) *ir.Value {
		if mul > 1 {
			v = x.op(ir.Shl, v, i32(mul>>1))
		}
		return x.op(ir.Shl, x.op(ir.Or, v, i32(add)), i32(4*nibble))
	}
	join := func(vs ...*ir.Value) *ir.Value {
		r := vs[0]
		for _, v := range vs[1:] {
			r = x.op(ir.Or, r, v)
		}
		return r
	}
	d := 4*reg + t
	switch mmaElems[s.m.A].pack {
	case 1, 2: // a chunk a register; tf32's two indices choose the halves of one of two elements
		i0, i1 := s.index(h, d, 0), s.index(h, d, 1)
		return x.op(ir.Prmt, of(d, 0), of(d, 1), join(place(i0, 2, 0, 0), place(i0, 2, 1, 1), place(i1, 2, 0, 2), place(i1, 2, 1, 3)))
	}
	// Two chunks a register, bytes (or pairs of nibbles) of each.
	return x.op(ir.Prmt, of(2*d, 0), of(2*d+1, 0), join(place(s.index(h, 2*d, 0), 1, 0, 0), place(s.index(h, 2*d, 1), 1, 0, 1),
		place(s.index(h, 2*d+1, 0), 1, 4, 2), place(s.index(h, 2*d+1, 1), 1, 4, 3)))
}

// expandSparse is mma.sp: args are a, b, c and the metadata.
func (x *inst) expandSparse(m *ir.Matrix, args []*ir.Value) []*ir.Value {
	e := mmaElems[m.A]
	args, f := x.factors(m, args)
	rows, steps := m.M/8, m.K/(8*e.pack)
	a, b := args[:rows*steps], args[rows*steps:rows*steps+2*steps]
	c := args[len(a)+len(b) : len(args)-1]
	acc := x.accumulators(m, c)
	sums := x.startSums(m, e, acc)
	ls, sp := x.lanes(), x.newSparsity(m, args[len(args)-1])
	for pass := range passes(m, e) {
		for s := range steps {
			for t := range 4 {
				for h := range rows {
					av := x.widen(x.inGroup(a[rows*s+h], t), m.A, e)
					for n := range 2 {
						bv := x.widen(sp.right(ls, b, s, t, h, n), m.B, e)
						for j := range av {
							if inPass(m, e, pass, j) {
								sum := sums[blockOf(m, 2*e.pack*(4*s+t))] // chunks do not cross blocks
								sum[2*h+n] = x.multiplyAdd(m, e, ir.RN, av[j], bv[j], sum[2*h+n])
							}
						}
					}
				}
			}
		}
		x.endPass(m, e, sums)
	}
	return x.packAccumulators(m, x.finishSums(m, e, sums, acc, f))
}
