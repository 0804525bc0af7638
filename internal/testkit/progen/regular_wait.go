package progen

// lookedBack are prefix sums over all tiles: who has a tile's sum tells the tiles behind it, and looks at those before it until one knows
// the sum of all up to there. The words, one a tile, have the sum below and above whether it is of the tile alone (1) or of all (2).
func lookedBack(k *regular) {
	tile := k.block
	k.p(".shared .align 16 .b8 known[16];")
	known := k.u32("mov.u32 $, known;")
	one := k.pred("setp.eq.u32 $, %s, 0;", k.tid)
	if k.IntN(2) == 0 { // in the order in which blocks begin
		ticket := k.u64("ld.param.u64 $, [cells];")
		k.when(one, func() {
			k.p("st.shared.b32 [%s], %s;", known, k.u32("atom.global.add.u32 $, [%s], 1;", ticket))
		})
		k.p("bar.sync 0;")
		tile = k.u32("ld.shared.b32 $, [%s];", known)
		k.p("bar.sync 0;")
	}
	limit := k.threads * k.blocks
	i := k.u32("mad.lo.u32 $, %s, %d, %s;", tile, k.threads, k.tid)
	v := k.u32("and.b32 $, %s, 1023;", k.value(i, limit, false))
	sum := k.all(v, false)
	words := k.u64("add.s64 $, c, %d;", 8*k.words()/2)
	own := k.u64("mad.wide.u32 $, %s, 8, %s;", tile, words)
	tell := func(state int, sum string) {
		k.p("st.release.gpu.global.u64 [%s], %s;", own, k.u64("mov.b64 $, {%s, %s};", sum, k.u32("mov.u32 $, %d;", state)))
	}
	if k.threads == 32 || k.IntN(2) == 0 {
		k.when(one, func() { k.lookAlone(tile, words, sum, known, tell) })
	} else {
		k.when(k.pred("setp.lt.u32 $, %s, 32;", k.tid), func() { k.lookTogether(one, tile, words, sum, known, tell) })
	}
	k.p("bar.sync 0;")
	before := k.u32("ld.shared.b32 $, [%s+8];", known)
	k.leave(i, k.mixed(before, v, false), limit, false)
}

// lookAlone is one thread's way back.
func (k *regular) lookAlone(tile, words, sum, known string, tell func(int, string)) {
	before := k.u32("mov.u32 $, 0;")
	first := k.pred("setp.eq.u32 $, %s, 0;", tile)
	k.p("@%s bra ALL;", first)
	tell(1, sum)
	at := k.u64("mad.wide.u32 $, %s, 8, %s;", tile, words)
	k.p("BACK:\n\tadd.s64 %s, %s, -8;", at, at)
	lo, state := k.register("x"), k.register("x")
	k.p("WAIT:")
	k.p("mov.b64 {%s, %s}, %s;", lo, state, k.u64("ld.acquire.gpu.global.u64 $, [%s];", at))
	k.p("@%s bra WAIT;", k.pred("setp.eq.u32 $, %s, 0;", state))
	k.p("add.u32 %s, %s, %s;", before, before, lo)
	k.p("@%s bra BACK;", k.pred("setp.eq.u32 $, %s, 1;", state))
	k.p("ALL:")
	tell(2, k.u32("add.u32 $, %s, %s;", before, sum))
	k.p("st.shared.b32 [%s+8], %s;", known, before)
}

// lookTogether is a warp's way back, 32 tiles at a time.
func (k *regular) lookTogether(one, tile, words, sum, known string, tell func(int, string)) {
	before := k.u32("mov.u32 $, 0;")
	lo, state, total := k.register("x"), k.register("x"), k.register("x")
	k.when(one, func() {
		k.p("@%s bra FIRST;", k.pred("setp.eq.u32 $, %s, 0;", tile))
		tell(1, sum)
		k.p("FIRST:")
	})
	k.p("bar.warp.sync -1;")
	at := k.u32("sub.u32 $, %s, 1;", k.u32("sub.u32 $, %s, %s;", tile, k.tid))
	k.p("BACK:\n\tmov.u32 %s, 0;\n\tmov.u32 %s, 2;", lo, state)
	there := k.pred("setp.ge.s32 $, %s, 0;", at)
	from := k.u64("mad.wide.s32 $, %s, 8, %s;", at, words)
	word := k.register("y")
	k.p("WAIT:\n\t@%s ld.acquire.gpu.global.u64 %s, [%s];\n\t@%s mov.b64 {%s, %s}, %s;", there, word, from, there, lo, state, word)
	more := k.pred("vote.sync.any.pred $, %s, -1;", k.pred("setp.eq.u32 $, %s, 0;", state))
	k.p("@%s bra WAIT;", more)
	// Lanes up to the first that knows the sum of all.
	all := k.u32("vote.sync.ballot.b32 $, %s, -1;", k.pred("setp.eq.u32 $, %s, 2;", state))
	upTo := k.u32("xor.b32 $, %s, %s;", all, k.u32("sub.u32 $, %s, 1;", all))
	lane := k.u32("shl.b32 $, 1, %s;", k.tid)
	k.p("selp.b32 %s, %s, 0, %s;", total, lo, k.pred("setp.ne.u32 $, %s, 0;", k.u32("and.b32 $, %s, %s;", upTo, lane)))
	for s := 16; s > 0; s /= 2 {
		other := k.register("x")
		k.p("shfl.sync.bfly.b32 %s, %s, %d, 31, -1;\n\tadd.u32 %s, %s, %s;", other, total, s, total, total, other)
	}
	k.p("add.u32 %s, %s, %s;\n\tsub.u32 %s, %s, 32;", before, before, total, at, at)
	k.p("@%s bra BACK;", k.pred("setp.eq.u32 $, %s, 0;", all))
	k.when(one, func() {
		tell(2, k.u32("add.u32 $, %s, %s;", before, sum))
		k.p("st.shared.b32 [%s+8], %s;", known, before)
	})
}
