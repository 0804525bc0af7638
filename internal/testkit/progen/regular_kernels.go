package progen

import "fmt"

// Blocks of regular programs: all have whole warps.
var (
	rowBlocks  = [][3]uint32{{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {32, 4, 1}, {16, 8, 1}}
	packBlocks = [][3]uint32{{32, 1, 1}, {288, 1, 1}, {320, 1, 1}} // whose warps are not jammed
	tileBlocks = [][3]uint32{{16, 16, 1}, {32, 8, 1}, {32, 4, 1}, {8, 8, 1}, {32, 2, 1}, {16, 4, 1}}
)

// regularKernels are the kinds of regular programs.
var regularKernels = []struct {
	write  func(*regular)
	blocks [][3]uint32
}{
	{elements, rowBlocks}, {unrolledElements, rowBlocks}, {rowsOfBlocks, rowBlocks}, {products, tileBlocks}, {groups, rowBlocks}, {windows, rowBlocks},
	{stencil, tileBlocks}, {transposed, tileBlocks}, {chosen, rowBlocks}, {packed, packBlocks}, {counted, rowBlocks}, {sharedTables, rowBlocks},
	{saturated, rowBlocks}, {lookedBack, rowBlocks},
}

// elements are computed one by one: each thread's own, or those that lie a grid apart.
func elements(k *regular) {
	all := k.threads * k.blocks
	limit := all*(1+k.IntN(5)) - k.IntN(3)*k.IntN(40)
	n, float := k.number(limit), k.IntN(2) == 0
	first := k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads, k.tid)
	one := func(i string) {
		x := k.value(i, limit, float)
		for range 1 + k.IntN(3) {
			at := i
			if k.IntN(3) == 0 { // an element of the row that it lies in
				w := k.number(1 + k.IntN(70))
				at = k.u32("%s.u32 $, %s, %s;", []string{"div", "rem"}[k.IntN(2)], i, w)
			}
			x = k.mixed(x, k.value(at, limit, float), float)
		}
		if k.IntN(4) == 0 {
			k.when(k.pred("setp.ne.u32 $, %s, 0;", k.u32("and.b32 $, %s, %d;", k.value(i, limit, false), 1+k.IntN(3))), func() { k.leave(i, x, limit, float) })
			return
		}
		k.leave(i, x, limit, float)
	}
	if limit <= all && k.IntN(2) == 0 {
		k.when(k.pred("setp.lt.s32 $, %s, %s;", first, n), func() { one(first) })
		return
	}
	k.loop(first, n, k.u32("mul.lo.u32 $, %s, %d;", k.u32("mov.u32 $, %%nctaid.x;"), k.threads*int(k.prog.Grid[1])), one)
}

// unrolledElements are sums of a thread's elements, a block apart: the rounds left over one by one, then several at a time.
func unrolledElements(k *regular) {
	u, float := []int{2, 4}[k.IntN(2)], k.IntN(2) == 0
	limit := k.threads*(1+k.IntN(9)) + k.IntN(2)*k.IntN(k.threads)
	n, sum := k.number(limit), k.kept(float)
	base := k.u32("mul.lo.u32 $, %s, %d;", k.block, k.IntN(3)*8)
	one := func(i string) {
		k.keep(sum, k.value(k.u32("add.s32 $, %s, %s;", i, base), limit+64*k.blocks, float), float)
	}
	whole := k.u32("sub.s32 $, %s, %d;", n, (u-1)*k.threads)
	i := k.u32("mov.u32 $, %s;", k.tid)
	k.loop(i, whole, k.number(u*k.threads), func(j string) {
		for r := range u {
			one(k.u32("add.s32 $, %s, %d;", j, r*k.threads))
		}
		k.p("add.s32 %s, %s, %d;", i, j, u*k.threads)
	})
	k.loop(i, n, k.number(k.threads), one)
	k.leave(k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads, k.tid), sum, k.threads*k.blocks, float)
}

// rowsOfBlocks are a row a block: something is computed of all of it, and each element with that.
func rowsOfBlocks(k *regular) {
	float, cols := k.IntN(3) > 0, 1+k.IntN(3*k.threads)
	limit := cols * k.blocks
	n := k.number(cols)
	base := k.u32("mul.lo.u32 $, %s, %s;", k.block, n)
	if k.IntN(3) == 0 { // the row's length is in memory
		n = k.u32("min.u32 $, %s, %s;", k.u32("and.b32 $, %s, 127;", k.u32("ld.global.b32 $, [%s];", k.at("a", k.block, 4))), n)
	}
	sum := k.kept(float)
	begin := k.tid
	if k.IntN(3) == 0 { // from a warp's own lanes on: several rows of threads
		begin = k.u32("xor.b32 $, %s, %d;", k.tid, k.threads-1)
	}
	k.loop(begin, n, k.number(k.threads), func(i string) {
		at := k.u32("add.s32 $, %s, %s;", base, i)
		v := k.value(at, limit, float)
		if k.IntN(2) == 0 {
			v = k.mixed(v, k.value(i, limit, float), float)
		}
		k.keep(sum, v, float)
	})
	total := k.all(sum, float)
	if k.IntN(2) == 0 {
		total = k.mixed(total, sum, float)
	}
	k.loop(k.tid, n, k.number(k.threads), func(i string) {
		at := k.u32("add.s32 $, %s, %s;", base, i)
		k.leave(at, k.mixed(k.value(at, limit, float), total, float), limit, float)
	})
}

// xy are the thread's column and row in its block, and the first ones of the block's tile.
func (k *regular) xy() (x, y, left, top string) {
	b := k.prog.Block
	return k.u32("mov.u32 $, %%tid.x;"), k.u32("mov.u32 $, %%tid.y;"), k.u32("mul.lo.u32 $, %s, %d;", k.u32("mov.u32 $, %%ctaid.x;"), b[0]), k.u32("mul.lo.u32 $, %s, %d;", k.u32("mov.u32 $, %%ctaid.y;"), b[1])
}

// products of two matrices, of one of which a tile is in shared memory.
func products(k *regular) {
	b, g, float := k.prog.Block, k.prog.Grid, k.IntN(3) > 0
	x, y, left, top := k.xy()
	cut := k.IntN(2) * k.IntN(7) // so many columns are not there
	tiles := 1 + k.IntN(3)
	depth, width := tiles*int(b[0]), int(b[0]*g[0])-cut
	w, d := k.number(width), k.number(depth)
	col, row := k.u32("add.u32 $, %s, %s;", left, x), k.u32("add.u32 $, %s, %s;", top, y)
	inside := k.pred("setp.lt.s32 $, %s, %s;", col, w)
	k.p(".shared .align 16 .b8 tile[%d];", 4*k.threads)
	tile := k.u32("mov.u32 $, tile;")
	mine := k.u32("mad.lo.u32 $, %s, 4, %s;", k.tid, tile)
	lane := k.u32("mad.lo.u32 $, %s, %d, %s;", y, 4*b[0], tile)
	sum := k.kept(float)
	from := k.u32("mul.lo.u32 $, %s, %s;", row, d)
	unroll := k.IntN(2) == 0
	k.loop("0", d, k.number(int(b[0])), func(t string) {
		at := k.u32("add.s32 $, %s, %s;", k.u32("add.s32 $, %s, %s;", from, t), x)
		k.p("st.shared.b32 [%s], %s;\n\tbar.sync 0;", mine, k.u32("ld%s.b32 $, [%s];", k.how(), k.at("a", at, 4)))
		step := func(i, a string) {
			other := k.u32("mad.lo.u32 $, %s, %s, %s;", k.u32("add.s32 $, %s, %s;", t, i), w, col)
			v := k.u32("mov.u32 $, 1;")
			k.p("@%s ld%s.b32 %s, [%s];", inside, k.how(), v, k.at("a", other, 4))
			if float {
				fa, fb := k.f32("cvt.rn.f32.s32 $, %s;", k.u32("and.b32 $, %s, 63;", a)), k.f32("cvt.rn.f32.s32 $, %s;", k.u32("and.b32 $, %s, 63;", v))
				k.p("fma.rn.f32 %s, %s, %s, %s;", sum, fa, fb, sum)
			} else {
				k.p("mad.lo.s32 %s, %s, %s, %s;", sum, a, v, sum)
			}
		}
		if unroll {
			for i := range min(int(b[0]), 8) {
				step(k.u32("mov.u32 $, %d;", i), k.u32("ld.shared.b32 $, [%s+%d];", lane, 4*i))
			}
		} else {
			k.loop("0", k.number(int(b[0])), "1", func(i string) {
				step(i, k.u32("ld.shared.b32 $, [%s];", k.u32("mad.lo.u32 $, %s, 4, %s;", i, lane)))
			})
		}
		k.p("bar.sync 0;")
	})
	k.when(inside, func() { k.leave(k.u32("mad.lo.u32 $, %s, %s, %s;", row, w, col), sum, k.threads*k.blocks, float) })
}

// groups of four or eight lanes go over records of nine words together, as products of quantised matrices do.
func groups(k *regular) {
	lanes := []int{4, 8}[k.IntN(2)]
	at, records := k.threads/lanes, 0
	for records = k.threads / lanes * (1 + k.IntN(3)); records*9 > k.words()/k.blocks-16; {
		records--
	}
	if k.IntN(3) == 0 {
		records -= k.IntN(min(records, 7))
	}
	n := k.number(records)
	part := k.u32("and.b32 $, %s, %d;", k.tid, lanes-1)
	begin := k.u32("shr.u32 $, %s, %d;", k.tid, map[int]int{4: 2, 8: 3}[lanes])
	base := k.u32("mul.lo.u32 $, %s, %s;", k.block, n)
	if k.IntN(2) == 0 {
		base = k.u32("mov.u32 $, 0;")
	}
	sum := k.kept(true)
	own := []int{2 * lanes, 9, 2*lanes + 1}[k.IntN(3)]
	turn := k.u32("shl.b32 $, %s, 2;", k.u32("and.b32 $, %s, %d;", k.tid, 1+2*k.IntN(2)))
	from, add, first := "a", part, k.IntN(2) == 0
	if k.IntN(2) == 0 { // the lane's place is there before the loop
		from, add = k.at("a", part, 4), "0"
	}
	k.loop(begin, n, k.number(at), func(i string) {
		record := k.u32("mul.lo.u32 $, %s, 9;", k.u32("add.s32 $, %s, %s;", base, i))
		dot := k.u32("mov.u32 $, 0;")
		other := k.u32("mad.lo.u32 $, %s, %d, %s;", i, own, add) // of the vector that all blocks read
		for r := range 1 + k.IntN(2) {
			word := func(at string, off int) string { return k.u32("ld%s.b32 $, [%s+%d];", k.how(), k.at(from, at, 4), off) }
			var q, v string
			quantised := func() { q = word(k.u32("add.s32 $, %s, %s;", record, add), 4+4*r) }
			if first {
				quantised()
			}
			v = word(other, 4*lanes*r)
			for range k.IntN(5) { // its own work, which each block repeats
				v = k.mixed(v, []string{other, part, turn}[k.IntN(3)], false)
			}
			if !first {
				quantised()
			}
			dot = k.u32("dp4a.s32.s32 $, %s, %s, %s;", k.u32("and.b32 $, %s, 0x0F0F0F0F;", k.u32("shr.u32 $, %s, %s;", q, []string{"0", "4", turn}[k.IntN(3)])), v, dot)
		}
		scale := k.f32("cvt.rn.f32.s32 $, %s;", k.u32("and.b32 $, %s, 31;", k.u32("ld%s.b32 $, [%s];", k.how(), k.at("a", record, 4))))
		k.p("fma.rn.f32 %s, %s, %s, %s;", sum, scale, k.f32("cvt.rn.f32.s32 $, %s;", dot), sum)
	})
	total := k.all(sum, true)
	k.when(k.pred("setp.eq.u32 $, %s, %d;", k.tid, k.IntN(2)*k.IntN(k.threads)), func() {
		k.p("st.global.f32 [%s], %s;", k.at("c", k.block, 4), total)
	})
}

// windows of three by three around each element of a plane, cut at its border.
func windows(k *regular) {
	width, height := 1+k.IntN(40), 1+k.IntN(20)
	planes := max(1, k.threads*k.blocks/(width*height))
	limit := min(width*height*planes, k.threads*k.blocks)
	w, h, n, float := k.number(width), k.number(height), k.number(limit), k.IntN(2) == 0
	i := k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads, k.tid)
	k.when(k.pred("setp.lt.s32 $, %s, %s;", i, n), func() {
		x, line := k.u32("rem.s32 $, %s, %s;", i, w), k.u32("div.s32 $, %s, %s;", i, w)
		y := k.u32("rem.s32 $, %s, %s;", line, h)
		first := k.u32("sub.s32 $, %s, %s;", line, y)
		low := func(at string) string { return k.u32("max.s32 $, %s, 0;", k.u32("sub.s32 $, %s, 1;", at)) }
		high := func(at, n string) string { return k.u32("min.s32 $, %s, %s;", k.u32("add.s32 $, %s, 2;", at), n) }
		top, bottom, left, right := low(y), high(y, h), low(x), high(x, w)
		sum := k.kept(float)
		k.loop(top, bottom, "1", func(yy string) {
			row := k.u32("mul.lo.s32 $, %s, %s;", k.u32("add.s32 $, %s, %s;", first, yy), w)
			k.loop(left, right, "1", func(xx string) {
				k.keep(sum, k.mixed(k.value(k.u32("add.s32 $, %s, %s;", row, xx), limit+width*height, float), k.value(k.u32("sub.s32 $, %s, %s;", yy, top), limit, float), float), float)
			})
		})
		k.leave(i, sum, limit, float)
	})
}

// stencil is a combination of neighbours, of elements that have them all.
func stencil(k *regular) {
	b, g, float := k.prog.Block, k.prog.Grid, k.IntN(2) == 0
	x, y, left, top := k.xy()
	width, height := int(b[0]*g[0])-k.IntN(3), int(b[1]*g[1])-k.IntN(2)
	w, h := k.number(width), k.number(height)
	col, row := k.u32("add.u32 $, %s, %s;", left, x), k.u32("add.u32 $, %s, %s;", top, y)
	inside := k.pred("setp.gt.s32 $, %s, 0;", col)
	for _, c := range []string{
		k.pred("setp.lt.s32 $, %s, %s;", col, k.u32("sub.s32 $, %s, 1;", w)), k.pred("setp.gt.s32 $, %s, 0;", row), k.pred("setp.lt.s32 $, %s, %s;", row, k.u32("sub.s32 $, %s, 1;", h)),
	} {
		inside = k.pred("and.pred $, %s, %s;", inside, c)
	}
	i := k.u32("mad.lo.s32 $, %s, %s, %s;", row, w, col)
	k.when(inside, func() {
		v := k.value(i, k.threads*k.blocks, float)
		for _, at := range []string{k.u32("sub.s32 $, %s, 1;", i), k.u32("add.s32 $, %s, 1;", i), k.u32("sub.s32 $, %s, %s;", i, w), k.u32("add.s32 $, %s, %s;", i, w)} {
			v = k.mixed(v, k.value(at, k.threads*k.blocks, float), float)
		}
		k.leave(i, v, k.threads*k.blocks, float)
	})
}

// transposed tiles go through shared memory, or directly.
func transposed(k *regular) {
	b, g := k.prog.Block, k.prog.Grid
	x, y, left, top := k.xy()
	w, h := k.number(int(b[0]*g[0])), k.number(int(b[1]*g[1]))
	col, row := k.u32("add.u32 $, %s, %s;", left, x), k.u32("add.u32 $, %s, %s;", top, y)
	v := k.value(k.u32("mad.lo.s32 $, %s, %s, %s;", row, w, col), k.threads*k.blocks, false)
	if k.IntN(2) == 0 {
		k.leave(k.u32("mad.lo.s32 $, %s, %s, %s;", col, h, row), v, k.threads*k.blocks, false)
		return
	}
	line := int(b[0]) + k.IntN(2)
	k.p(".shared .align 16 .b8 tile[%d];", 4*line*int(b[1]))
	tile := k.u32("mov.u32 $, tile;")
	k.p("st.shared.b32 [%s], %s;\n\tbar.sync 0;", k.u32("mad.lo.u32 $, %s, 4, %s;", k.u32("mad.lo.u32 $, %s, %d, %s;", y, line, x), tile), v)
	// The thread's number read along columns.
	cx, cy := k.u32("rem.u32 $, %s, %d;", k.tid, b[1]), k.u32("div.u32 $, %s, %d;", k.tid, b[1])
	v = k.u32("ld.shared.b32 $, [%s];", k.u32("mad.lo.u32 $, %s, 4, %s;", k.u32("mad.lo.u32 $, %s, %d, %s;", cx, line, cy), tile))
	k.leave(k.u32("mad.lo.s32 $, %s, %s, %s;", k.u32("add.u32 $, %s, %s;", left, cy), h, k.u32("add.u32 $, %s, %s;", top, cx)), v, k.threads*k.blocks, false)
}

// chosen elements of a tile are put next to each other, in order.
func chosen(k *regular) {
	vs, keeps, to := k.choice([]int{1, 2, 4}[k.IntN(3)])
	to = k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads*len(vs), to)
	for r, v := range vs {
		k.when(keeps[r], func() {
			k.p("st.global.b32 [%s], %s;\n\tadd.u32 %s, %s, 1;", k.at("c", to, 4), v, to, to)
		})
	}
}

// packed are more of them, through a tile in shared memory; places of other lanes may lie between a lane's and the next one's.
func packed(k *regular) {
	vs, keeps, to := k.choice([]int{5, 6, 8}[k.IntN(3)])
	n := k.threads * len(vs)
	k.p(".shared .align 16 .b8 tile[%d];", 4*n)
	tile := k.u32("mov.u32 $, tile;")
	place := func(i string) string { return k.u32("mad.lo.u32 $, %s, 4, %s;", i, tile) }
	k.loop(k.tid, fmt.Sprint(n), fmt.Sprint(k.threads), func(i string) { k.p("st.shared.b32 [%s], 0;", place(i)) })
	k.p("bar.sync 0;")
	if k.IntN(3) == 0 { // from the end
		to = k.u32("sub.u32 $, %d, %s;", n, k.u32("add.u32 $, %s, %s;", to, k.ones(keeps)))
	}
	counted := k.IntN(2) == 0
	for r, v := range vs {
		if counted {
			k.p("@%s st.shared.b32 [%s], %s;", keeps[r], place(to), v)
			to = k.u32("add.u32 $, %s, %s;", to, k.u32("selp.u32 $, 1, 0, %s;", keeps[r]))
			continue
		}
		k.when(keeps[r], func() { k.p("st.shared.b32 [%s], %s;\n\tadd.u32 %s, %s, 1;", place(to), v, to, to) })
	}
	k.p("bar.sync 0;")
	first := k.u32("mul.lo.u32 $, %s, %d;", k.block, n)
	k.loop(k.tid, fmt.Sprint(n), fmt.Sprint(k.threads), func(i string) {
		k.p("st.global.b32 [%s], %s;", k.at("c", k.u32("add.u32 $, %s, %s;", first, i), 4), k.u32("ld.shared.b32 $, [%s];", place(i)))
	})
}

// ones is how many of the predicates are set.
func (k *regular) ones(preds []string) string {
	sum := k.u32("mov.u32 $, 0;")
	for _, p := range preds {
		k.p("@%s add.u32 %s, %s, 1;", p, sum, sum)
	}
	return sum
}

// choice is some numbers a thread, which of them it keeps, and how many of the block's threads before it keep.
func (k *regular) choice(items int) (vs, keeps []string, to string) {
	limit := k.threads * k.blocks * items
	first := k.u32("mul.lo.u32 $, %s, %d;", k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads, k.tid), items)
	mine := k.u32("mov.u32 $, 0;")
	mask := 1 + k.IntN(7)
	for r := range items {
		v := k.value(k.u32("add.s32 $, %s, %d;", first, r), limit, false)
		p := k.pred("setp.ne.u32 $, %s, 0;", k.u32("and.b32 $, %s, %d;", v, mask))
		vs, keeps = append(vs, v), append(keeps, p)
		k.p("@%s add.u32 %s, %s, 1;", p, mine, mine)
	}
	upTo := k.u32("mov.u32 $, %s;", mine)
	lane := k.u32("and.b32 $, %s, 31;", k.tid)
	for s := 1; s < 32; s *= 2 {
		other := k.register("x")
		k.p("shfl.sync.up.b32 %s, %s, %d, 0, -1;", other, upTo, s)
		k.p("@%s add.u32 %s, %s, %s;", k.pred("setp.ge.u32 $, %s, %d;", lane, s), upTo, upTo, other)
	}
	k.p(".shared .align 16 .b8 sums[%d];", 4*k.threads/32)
	place := k.u32("mov.u32 $, sums;")
	warp := k.u32("shr.u32 $, %s, 5;", k.tid)
	k.p("@%s st.shared.b32 [%s], %s;\n\tbar.sync 0;", k.pred("setp.eq.u32 $, %s, 31;", lane), k.u32("mad.lo.u32 $, %s, 4, %s;", warp, place), upTo)
	to = k.u32("sub.u32 $, %s, %s;", upTo, mine)
	for w := range k.threads/32 - 1 {
		k.p("@%s add.u32 %s, %s, %s;", k.pred("setp.gt.u32 $, %s, %d;", warp, w), to, to, k.u32("ld.shared.b32 $, [%s+%d];", place, 4*w))
	}
	return vs, keeps, to
}

// counted elements are a histogram in shared memory, which becomes the block's part of the result.
func counted(k *regular) {
	bins := 32 << k.IntN(3)
	limit := k.threads * k.blocks * (1 + k.IntN(3))
	n := k.number(limit - k.IntN(2)*k.IntN(k.threads))
	k.p(".shared .align 16 .b8 bins[%d];", 4*bins)
	place := k.u32("mov.u32 $, bins;")
	own := func(i string) string { return k.u32("mad.lo.u32 $, %s, 4, %s;", i, place) }
	k.loop(k.tid, k.number(bins), k.number(k.threads), func(i string) { k.p("st.shared.b32 [%s], 0;", own(i)) })
	k.p("bar.sync 0;")
	k.loop(k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads, k.tid), n, k.number(k.threads*k.blocks), func(i string) {
		bin := k.u32("and.b32 $, %s, %d;", k.value(i, limit, false), bins-1)
		switch k.IntN(3) {
		case 0:
			k.p("red.shared.add.u32 [%s], 1;", own(bin))
		case 1:
			k.p("red.shared.max.u32 [%s], %s;", own(bin), i)
		default:
			k.p("red.shared.add.u32 [%s], %s;", own(bin), k.value(i, limit, false))
		}
	})
	k.p("bar.sync 0;")
	k.loop(k.tid, k.number(bins), k.number(k.threads), func(i string) {
		k.p("st.global.b32 [%s], %s;", k.at("c", k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, bins, i), 4), k.u32("ld.shared.b32 $, [%s];", own(i)))
	})
}

// sharedTables are computed by each block alike, before a loop: the thread's number alone says what is read.
func sharedTables(k *regular) {
	float, each := k.IntN(2) == 0, k.IntN(2) == 0
	k.p(".shared .align 16 .b8 table[%d];", 4*k.threads)
	place := k.u32("mov.u32 $, table;")
	v := k.value(k.tid, k.threads, false)
	for range k.IntN(3) {
		v = k.mixed(v, k.value(k.u32("xor.b32 $, %s, %d;", k.tid, 1<<k.IntN(5)), k.threads, false), false)
	}
	k.p("st.shared.b32 [%s], %s;\n\tbar.sync 0;", k.u32("mad.lo.u32 $, %s, 4, %s;", k.tid, place), v)
	rounds := 1 + k.IntN(6)
	limit := k.threads * k.blocks * rounds
	sum := k.kept(float)
	first := k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads*rounds, k.tid)
	k.loop("0", k.number(rounds), "1", func(r string) {
		at := k.u32("mad.lo.u32 $, %s, %d, %s;", r, k.threads, first)
		x := k.value(at, limit, float)
		i := k.u32("and.b32 $, %s, %d;", k.u32("add.u32 $, %s, %s;", k.tid, r), 31)
		if k.IntN(2) == 0 {
			i = k.u32("and.b32 $, %s, 31;", k.value(at, limit, false))
		}
		t := k.u32("ld.shared.b32 $, [%s];", k.u32("mad.lo.u32 $, %s, 4, %s;", i, place))
		if float {
			t = k.f32("cvt.rn.f32.s32 $, %s;", k.u32("and.b32 $, %s, 127;", t))
		}
		k.keep(sum, k.mixed(x, t, float), float)
		if each {
			k.leave(at, sum, limit, float)
		}
	})
	if !each {
		k.leave(first, sum, limit, float)
	}
}

// saturated indices stop at the largest number, if a number from before the loop says that they could overflow: Eigen's loops.
func saturated(k *regular) {
	all := k.threads * k.blocks
	limit := all*(1+k.IntN(4)) - k.IntN(40)
	float := k.IntN(2) == 0
	n := k.u64("cvt.u64.u32 $, %s;", k.unknown(limit))
	step := k.u64("cvt.u64.u32 $, %s;", k.u32("mul.lo.u32 $, %s, %d;", k.u32("mov.u32 $, %%nctaid.x;"), k.threads*int(k.prog.Grid[1])))
	room := k.u64("xor.b64 $, %s, 0x7fffffffffffffff;", step)
	never := k.pred("setp.ge.u64 $, %s, %s;", room, n)
	i := k.u64("cvt.u64.u32 $, %s;", k.u32("mad.lo.u32 $, %s, %d, %s;", k.block, k.threads, k.tid))
	k.p("@%s bra DONE;", k.pred("setp.ge.s64 $, %s, %s;", i, n))
	k.p("ROUND:")
	off := k.u64("shl.b64 $, %s, 2;", i)
	v := k.u32("ld.global.b32 $, [%s];", k.u64("add.s64 $, a, %s;", off))
	other := k.u32("ld.global.b32 $, [%s+%d];", k.u64("add.s64 $, a, %s;", off), 4*k.IntN(9))
	to := k.u64("add.s64 $, c, %s;", off)
	if float {
		k.p("st.global.f32 [%s], %s;", to, k.mixed(k.f32("mov.b32 $, %s;", v), k.f32("mov.b32 $, %s;", other), true))
	} else {
		k.p("st.global.b32 [%s], %s;", to, k.mixed(v, other, false))
	}
	over := k.pred("setp.lt.u64 $, %s, %s;", room, i)
	k.p("add.s64 %s, %s, %s;", i, i, step)
	k.p("@%s bra NEXT;\n\tselp.b64 %s, 0x7fffffffffffffff, %s, %s;", never, i, i, over)
	k.p("NEXT:")
	k.p("@%s bra ROUND;", k.pred("setp.lt.s64 $, %s, %s;", i, n))
}
