package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// ordered keeps the compiler and, where the order asks for it, the processor from moving accesses over this one.
func (e *emitter) before(in *ir.Inst) {
	switch in.Order {
	case ir.Release, ir.AcqRel:
		e.Fence("release")
	case ir.SeqCst:
		e.Fence("seq_cst")
	default:
		if in.Volatile || in.Order != ir.Weak {
			e.Fence(`syncscope("singlethread") seq_cst`)
		}
	}
}

func (e *emitter) afterLoad(in *ir.Inst) {
	switch in.Order {
	case ir.Acquire, ir.AcqRel, ir.SeqCst:
		e.Fence("acquire")
	default:
		if in.Volatile || in.Order != ir.Weak {
			e.Fence(`syncscope("singlethread") seq_cst`)
		}
	}
}

func (e *emitter) afterStore(in *ir.Inst) {
	if in.Order == ir.SeqCst {
		e.Fence("seq_cst")
	}
}

// access is one load or store, all elements of a lane together.
type access struct {
	in    *ir.Inst
	types []ir.Type
	size  int // bytes of one lane
	elem  int // bytes of one element
	shape ir.Shape
	known bool // shape says where all lanes are
	mask  ll.Val
	all   bool
	ro    string // metadata of loads that nobody writes to
}

func (e *emitter) access(in *ir.Inst, vals []*ir.Value) *access {
	a := &access{in: in}
	a.elem = bytesOf(vals[0].Type)
	for _, v := range vals {
		if bytesOf(v.Type) != a.elem {
			panic("BUG: a vector of elements of different sizes")
		}
		a.types = append(a.types, v.Type)
		a.size += a.elem
	}
	a.shape, a.known = e.pattern(in)
	a.mask, a.all = e.mask(in)
	if !a.all && in.Op == ir.Load && e.inParams(in, a.size) { // any lane may read them
		a.all = true
	}
	if in.ReadOnly && !in.Volatile {
		a.ro = invariant
	}
	return a
}

// inParams reports a load of parameters at a place that is known and inside.
func (e *emitter) inParams(in *ir.Inst, size int) bool {
	if in.Space != ir.ParamSpace || in.Volatile {
		return false
	}
	off, v := uint64(0), in.Args[0]
	for v.Def != nil && v.Def.Op == ir.Add && v.Def.Args[1].Const {
		off, v = off+v.Def.Args[1].Bits, v.Def.Args[0]
	}
	if v.Def == nil || v.Def.Op != ir.ParamAddr || v.Def.Off < 0 {
		return false
	}
	off += uint64(v.Def.Off)
	return off < uint64(e.m.ParamBytes) && off+uint64(size) <= uint64(e.m.ParamBytes)
}

// same reports elements of one type, which can be shuffled together.
func (a *access) same() bool {
	for _, t := range a.types {
		if t != a.types[0] {
			return false
		}
	}
	return true
}

func (a *access) uniform() bool { return a.known && a.shape.Kind >= ir.WarpUniform }

// unit reports a contiguous access.
func (a *access) unit() bool {
	return a.known && a.shape.Seg == 0 && a.shape.Stride == int64(a.size) && a.shape.Kind < ir.WarpUniform
}

func emitLoad(e *emitter, in *ir.Inst) {
	e.before(in)
	a := e.access(in, in.Results)
	e.aligned(in, a.size, a.mask, a.all)
	e.bounded(in, a.size, a.mask, a.all)
	var out []ll.Val
	var plan *knownPlan
	switch {
	case a.in.Space == ir.Local && e.interleaved != 0:
		out = e.loadInterleaved(a)
	case a.uniform():
		out = e.loadUniform(a)
	case a.whole():
		out = e.loadPieces(a)
	case a.unit() && len(a.types) == 1:
		out = []ll.Val{e.loadUnit(a)}
	case a.same() && e.segmented(a):
		out = e.loadSegments(a)
	case a.unit() && a.same():
		out = e.loadWide(a)
	case e.segVectors(a):
		out = e.loadSegVectors(a)
	case e.segStrided(a):
		out = e.loadSegStrided(a)
	case a.known && a.same() && len(a.types) == 1 && a.shape.Seg == 0 && a.shape.Stride > 0 && a.shape.Stride%int64(a.size) == 0 && a.shape.Stride <= 4*int64(a.size):
		out = e.loadStrided(a, int(a.shape.Stride)/a.size)
	case e.planned(a, &plan):
		out = e.loadKnown(a, plan)
	case in.Quads && e.w == 32 && e.cpu.avx512:
		out = e.loadQuads(a)
	case e.mayBeUnit(a):
		out = e.choose(e.isUnit(a), "unit", func() []ll.Val { return []ll.Val{e.loadAtFirst(a)} }, func() []ll.Val { return e.loadScattered(a) })
	case e.mayBeWide(a):
		out = e.choose(e.isWide(a), "wide", func() []ll.Val { return e.loadVectors(a, e.firstPointer(a)) }, func() []ll.Val { return e.gather(a) })
	default:
		out = e.gather(a)
	}
	for i, r := range in.Results {
		x := out[i]
		if r.Type == ir.I1 {
			x = e.Trunc(x, "i1")
		}
		if n, _ := x.T.Split(); n == 1 && e.lanesOf(r) > 1 {
			x = e.splat(x)
		}
		e.set(r, x)
		if r.Shape.Guess {
			panic("BUG: a load is no guess")
		}
	}
	e.afterLoad(in)
}

// loadUniform is one scalar load, if any lane wants it.
func (e *emitter) loadUniform(a *access) []ll.Val {
	run := func() []ll.Val {
		p := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
		if a.whole() {
			return e.elements(a, e.loadPiece(a, p))
		}
		var out []ll.Val
		off := 0
		for _, t := range a.types {
			out = append(out, e.LoadAs(memType(t), e.at(p, off), ll.Access{Align: bytesOf(t), Volatile: watched(a.in), Meta: a.ro}))
			off += bytesOf(t)
		}
		return out
	}
	if o := e.onces[a.in]; o != nil {
		run = e.onceOnly(o, run)
	}
	if a.all {
		return run()
	}
	some := e.ICmp("ne", e.number(a.mask), ll.Int("i32", 0))
	return e.choose(some, "one", run, func() []ll.Val {
		var zero []ll.Val
		for _, t := range a.types {
			zero = append(zero, ll.Zero(memType(t)))
		}
		return zero
	})
}

// maskedLoad loads n contiguous elements; lanes that do not act give zero and touch nothing.
func (e *emitter) maskedLoad(t ll.Type, n, align int, p, mask ll.Val, all bool, ro string) ll.Val {
	vt := ll.Vec(n, t)
	if all {
		return e.LoadAs(vt, p, ll.Access{Align: align, Meta: ro})
	}
	return e.IntrOf(vt, "masked.load", []ll.Type{vt, p.T}, p, ll.Int("i32", int64(align)), mask, ll.Zero(vt))
}

func (e *emitter) loadUnit(a *access) ll.Val {
	p := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
	return e.maskedLoad(memType(a.types[0]), e.w, a.elem, p, a.mask, a.all, a.ro)
}

// loadVectors loads the vectors of all lanes, which lie behind each other from p on, and takes them apart.
func (e *emitter) loadVectors(a *access, p ll.Val) []ll.Val {
	n, t := len(a.types), memType(a.types[0])
	var raw, out []ll.Val
	for i := range n {
		raw = append(raw, e.maskedLoad(t, e.w, a.elem, e.at(p, i*e.w*a.elem), ll.Val{}, true, a.ro))
	}
	e.raw = raw
	for i := range n {
		out = append(out, e.pick(raw, n, i))
	}
	return out
}

// pairMasks are a mask with every lane twice, in two halves: those of pairs that lie behind each other.
func (e *emitter) pairMasks(mask ll.Val) [2]ll.Val {
	x := e.ZExt(e.number(mask), "i64")
	for _, step := range []struct{ by, keep int64 }{
		{16, 0x0000ffff0000ffff}, {8, 0x00ff00ff00ff00ff}, {4, 0x0f0f0f0f0f0f0f0f}, {2, 0x3333333333333333}, {1, 0x5555555555555555},
	} {
		x = e.And(e.Or(x, e.Shl(x, x.Int(step.by))), x.Int(step.keep))
	}
	all := e.Bitcast(e.Or(x, e.Shl(x, x.Int(1))), ll.Vec(64, "i1"))
	half := func(from int) ll.Val {
		return e.Shuffle(all, all, rangeInts(0, 32, func(i int) int { return from + i }))
	}
	return [2]ll.Val{half(0), half(32)}
}

// maskedPairs reports pairs for which a mask costs nothing.
func (e *emitter) maskedPairs(a *access) bool {
	return e.cpu.avx512 && e.w == 32 && len(a.types) == 2 && a.elem >= 4
}

// loadWide loads vectors of n elements a lane as n contiguous vectors; with lanes missing it gathers, but for pairs.
func (e *emitter) loadWide(a *access) []ll.Val {
	if !a.all && e.maskedPairs(a) {
		p, t := e.pointer(a.in.Space, e.scalar(a.in.Args[0])), memType(a.types[0])
		var raw []ll.Val
		for i, mask := range e.pairMasks(a.mask) {
			raw = append(raw, e.maskedLoad(t, e.w, a.elem, e.at(p, i*e.w*a.elem), mask, false, a.ro))
		}
		return []ll.Val{e.pick(raw, 2, 0), e.pick(raw, 2, 1)}
	}
	fast := func() []ll.Val { return e.loadVectors(a, e.pointer(a.in.Space, e.scalar(a.in.Args[0]))) }
	if a.all {
		out := fast()
		if a.elem == 4 && !watched(a.in) {
			e.wides[a.in] = wideImage{a.in.Block, e.raw}
		}
		return out
	}
	full := e.ICmp("eq", e.number(a.mask), ll.Int("i32", -1))
	return e.choose(full, "wide", fast, func() []ll.Val { return e.gather(a) })
}

// pick takes elements i, i+n, i+2n, … of the vectors raw laid end to end; their number is a power of two, or three.
func (e *emitter) pick(raw []ll.Val, n, i int) ll.Val {
	// Pairs of vectors are reduced to the lanes wanted, then joined.
	var parts []ll.Val
	for j := 0; j < len(raw); j++ {
		var lanes []int
		for l := 0; l < e.w; l++ {
			if g := j*e.w + l; g%n == i {
				lanes = append(lanes, l)
			}
		}
		parts = append(parts, e.Shuffle(raw[j], raw[j], lanes))
	}
	if len(raw)&(len(raw)-1) == 0 && e.w%n == 0 {
		return e.concat(parts)
	}
	acc := parts[0]
	for _, p := range parts[1:] {
		acc = e.join(acc, p)
	}
	return acc
}

// joinAll puts vectors of one type behind each other.
func (e *emitter) joinAll(parts []ll.Val) ll.Val {
	if n := len(parts); n&(n-1) == 0 {
		return e.concat(parts)
	}
	x := parts[0]
	for _, y := range parts[1:] {
		x = e.join(x, y)
	}
	return x
}

// join puts b's lanes behind a's, whatever their numbers.
func (e *emitter) join(a, b ll.Val) ll.Val {
	na, _ := a.T.Split()
	nb, _ := b.T.Split()
	if na == nb {
		return e.Shuffle(a, b, rangeInts(0, na+nb, func(j int) int { return j }))
	}
	m := max(na, nb)
	grow := func(x ll.Val, n int) ll.Val {
		if n == m {
			return x
		}
		return e.Shuffle(x, x, rangeInts(0, m, func(j int) int {
			if j < n {
				return j
			}
			return -1
		}))
	}
	a, b = grow(a, na), grow(b, nb)
	return e.Shuffle(a, b, rangeInts(0, na+nb, func(j int) int {
		if j < na {
			return j
		}
		return m + j - na
	}))
}

// loadStrided reads every k-th element: whole vectors, then a shuffle. The last element wanted bounds what is read.
func (e *emitter) loadStrided(a *access, k int) []ll.Val {
	if k == 1 {
		return []ll.Val{e.loadUnit(a)}
	}
	fast := func() []ll.Val {
		t := memType(a.types[0])
		p := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
		var raw []ll.Val
		for i := 0; i < k; i++ {
			want := make([]int64, e.w)
			all := true
			for l := range want {
				if g := i*e.w + l; g <= (e.w-1)*k {
					want[l] = 1
				} else {
					all = false
				}
			}
			raw = append(raw, e.maskedLoad(t, e.w, a.elem, e.at(p, i*e.w*a.elem), ll.ConstVec("i1", want), all, ""))
		}
		return []ll.Val{e.pick(raw, k, 0)}
	}
	if a.all {
		return fast()
	}
	full := e.ICmp("eq", e.number(a.mask), ll.Int("i32", -1))
	return e.choose(full, "wide", fast, func() []ll.Val { return e.gather(a) })
}

// segStrided reports lanes a few elements apart inside segments of 16 lanes.
func (e *emitter) segStrided(a *access) bool {
	s := a.shape
	if !a.known || s.Kind >= ir.WarpUniform || e.w != 32 || a.in.Space == ir.Local || len(a.types) != 1 || s.Seg != 16 || !a.all {
		return false
	}
	k := s.Stride / int64(a.elem)
	return k >= 2 && k <= 4 && s.Stride%int64(a.elem) == 0
}

// loadSegStrided reads whole vectors of each segment and picks. Segments at one address are read once.
func (e *emitter) loadSegStrided(a *access) []ll.Val {
	s, t := a.shape, memType(a.types[0])
	n := int(s.Stride) / a.elem
	var got []ll.Val
	for seg := 0; seg < e.w/s.Seg; seg++ {
		if seg > 0 && s.SegStride == 0 {
			got = append(got, got[0])
			continue
		}
		p := e.segPointer(a, seg)
		var x ll.Val
		for i := 0; i < n; i++ {
			want, all := make([]int64, s.Seg), true
			var lanes []int
			for l := range want {
				g := i*s.Seg + l
				if g <= (s.Seg-1)*n {
					want[l] = 1
				} else {
					all = false
				}
				if g%n == 0 {
					lanes = append(lanes, l)
				}
			}
			raw := e.maskedLoad(t, s.Seg, a.elem, e.at(p, i*s.Seg*a.elem), ll.ConstVec("i1", want), all, "")
			part := e.Shuffle(raw, raw, lanes)
			if i == 0 {
				x = part
			} else {
				x = e.join(x, part)
			}
		}
		got = append(got, x)
	}
	return []ll.Val{e.concat(got)}
}

func emitStore(e *emitter, in *ir.Inst) {
	e.before(in)
	vals := in.Args[1:]
	a := e.access(in, vals)
	e.aligned(in, a.size, a.mask, a.all)
	e.bounded(in, a.size, a.mask, a.all)
	e.storeAt(a, vals)
	e.afterStore(in)
}

// storeAt stores to addresses that were tested.
func (e *emitter) storeAt(a *access, vals []*ir.Value) {
	in := a.in
	switch {
	case a.in.Space == ir.Local && e.interleaved != 0:
		e.storeInterleaved(a, vals)
	case a.uniform():
		e.storeUniform(a, vals)
	case a.whole():
		e.storePieces(a, vals)
	case a.unit() && len(vals) == 1:
		p := e.pointer(in.Space, e.scalar(in.Args[0]))
		e.maskedStore(e.stored(vals[0], e.w), a.elem, p, a.mask, a.all)
	case a.same() && e.segmented(a) && a.shape.Stride != 0 && a.known && a.shape.SegStride == 0:
		e.storeOver(a, e.stored(vals[0], e.w))
	case a.same() && e.segmented(a) && a.shape.Stride != 0:
		e.storeSegments(a, e.stored(vals[0], e.w))
	case a.unit() && a.same():
		e.storeWide(a, vals)
	case e.mayBeUnit(a):
		e.choose(e.isUnit(a), "unit", func() []ll.Val {
			e.maskedStore(e.stored(vals[0], e.w), a.elem, e.firstPointer(a), a.mask, a.all)
			return nil
		}, func() []ll.Val { e.scatter(a, vals); return nil })
	case e.mayBeWide(a):
		e.choose(e.isWide(a), "wide", func() []ll.Val { return e.storeVectors(a, e.firstPointer(a), vals) },
			func() []ll.Val { e.scatter(a, vals); return nil })
	default:
		e.scatter(a, vals)
	}
}

// stored is a value as it goes to memory.
func (e *emitter) stored(v *ir.Value, n int) ll.Val {
	x := e.clean(v, n)
	if v.Type == ir.I1 {
		x = e.ZExt(x, "i8")
	}
	return x
}

func (e *emitter) maskedStore(x ll.Val, align int, p, mask ll.Val, all bool) {
	if all {
		e.Store(x, p, align)
		return
	}
	e.IntrOf("void", "masked.store", []ll.Type{x.T, p.T}, x, p, ll.Int("i32", int64(align)), mask)
}

// storeUniform: all lanes store to one address, the last one's value stays.
func (e *emitter) storeUniform(a *access, vals []*ir.Value) {
	run := func() {
		p := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
		var xs []ll.Val
		for _, v := range vals {
			if uniform(v) || e.w == 1 {
				xs = append(xs, e.stored(v, 1))
				continue
			}
			act := e.active(a.in)
			lane := e.Sub(ll.Int("i32", 31), emit.LeadingZeros(e.Func, act))
			all := e.stored(v, e.w)
			xs = append(xs, e.ExtractAt(all, lane))
		}
		switch {
		case len(xs) > 1 || a.whole():
			e.storePiece(a, e.piece(a, xs), p)
		case watched(a.in):
			e.StoreAs(xs[0], p, ll.Access{Align: a.elem, Volatile: true})
		default:
			e.Store(xs[0], p, a.elem)
		}
	}
	if a.all {
		run()
		return
	}
	e.ifAny(a.mask, run)
}

// storeVectors stores the vectors of all lanes behind each other from p on, by shuffling them together.
func (e *emitter) storeVectors(a *access, p ll.Val, vals []*ir.Value) []ll.Val {
	var xs []ll.Val
	for _, v := range vals {
		xs = append(xs, e.stored(v, e.w))
	}
	for i, part := range e.interleave(xs) {
		e.Store(part, e.at(p, i*e.w*a.elem), a.elem)
	}
	return nil
}

// storeWide stores contiguous vectors of several elements a lane; with lanes missing, one by one.
func (e *emitter) storeWide(a *access, vals []*ir.Value) {
	fast := func() []ll.Val { return e.storeVectors(a, e.pointer(a.in.Space, e.scalar(a.in.Args[0])), vals) }
	if a.all {
		if image := e.imageStored(a.in, vals); image != nil {
			p := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
			for i, part := range image {
				e.Store(part, e.at(p, i*e.w*a.elem), a.elem)
			}
			return
		}
		fast()
		return
	}
	full := e.ICmp("eq", e.number(a.mask), ll.Int("i32", -1))
	e.choose(full, "wide", fast, func() []ll.Val {
		if !e.maskedPairs(a) {
			e.scatter(a, vals)
			return nil
		}
		p, masks := e.pointer(a.in.Space, e.scalar(a.in.Args[0])), e.pairMasks(a.mask)
		for i, part := range e.interleave([]ll.Val{e.stored(vals[0], e.w), e.stored(vals[1], e.w)}) {
			e.maskedStore(part, a.elem, e.at(p, i*e.w*a.elem), masks[i], false)
		}
		return nil
	})
}

// scatter stores lane by lane in order: by the processor's scatter where the addresses are in vectors, which take as long to take
// apart, else unrolled where the distances are known, otherwise in a loop.
func (e *emitter) scatter(a *access, vals []*ir.Value) {
	e.askForLines(a.in, a.mask, a.all)
	if len(vals) > 1 {
		e.storePieces(a, vals)
		return
	}
	if e.cpu.avx512 && e.w == 32 && !a.known && a.elem == 4 && a.in.Space != ir.Local && !watched(a.in) {
		e.scatter32(a, e.stored(vals[0], e.w))
		return
	}
	x := e.stored(vals[0], e.w)
	var at func(l int) ll.Val
	if a.known && e.w > 1 || a.all && e.w == 1 {
		at = e.lanePointers(a)
	}
	known := func() []ll.Val {
		for l := range e.w {
			e.Store(e.Extract(x, l), at(l), a.elem)
		}
		return nil
	}
	if !a.all {
		masked := func() []ll.Val {
			return e.overLanes(a.mask, []ll.Val{e.pointers(a.in), x}, nil, func(l []ll.Val) []ll.Val {
				e.Store(l[1], l[0], a.elem)
				return nil
			})
		}
		// Mostly all lanes act. At known distances they need no addresses of their own, and wait for nothing that was put into memory.
		if a.known && e.w == 32 {
			e.choose(e.ICmp("eq", e.number(a.mask), ll.Int("i32", -1)), "every", known, masked)
		} else {
			masked()
		}
		return
	}
	if !a.known && e.w > 1 {
		if _, apart := e.takeApart(a.in.Args[0], a.in); a.in.Space == ir.Shared && !apart {
			e.scatterLoop(e.offset32(a.in.Args[0], a.in), x, a.elem)
		} else {
			e.scatterLoop(e.pointers(a.in), x, a.elem)
		}
		return
	}
	known()
}

// scatter32 stores words, 16 lanes at a time; of lanes at one address the last one's stays. Of an index that LLVM sees is not negative it
// makes one of 64 bits, which is twice the scatters: where indices have 32 bits the processor's own instruction is named.
func (e *emitter) scatter32(a *access, x ll.Val) {
	p, ok := e.takeApartBiased(a.in.Args[0], a.in)
	var base ll.Val
	switch {
	case ok:
		base = e.at(e.pointer(a.in.Space, p.base), int(p.off))
	case a.in.Space == ir.Shared:
		base, p.index, p.scale = e.ctx.shared, e.offset32(a.in.Args[0], a.in), 1
	default:
		ptrs := e.pointers(a.in)
		for h := 0; h < e.w; h += 16 {
			part, to := e.slice(x, h, 16), e.slice(ptrs, h, 16)
			e.IntrOf("void", "masked.scatter", []ll.Type{part.T, to.T}, part, to, ll.Int("i32", 4), e.slice(a.mask, h, 16))
		}
		return
	}
	x = e.Recast(x, "i32")
	for h := 0; h < e.w; h += 16 {
		e.Call("void", "llvm.x86.avx512.mask.scatter.dpi.512", base, e.slice(a.mask, h, 16), e.slice(p.index, h, 16), e.slice(x, h, 16), ll.Int("i32", p.scale))
	}
}

// scatterLoop stores all lanes, four in a turn. A product's result is thirty such stores: taking 32 addresses and values out of their
// vectors one by one is as slow as reading them back from memory, and was half of the time to compile the kernel.
// The lanes' places are addresses, or offsets in shared memory.
func (e *emitter) scatterLoop(ptrs, x ll.Val, size int) {
	const each = 4
	o := e.Func
	_, elem := x.T.Split()
	_, place := ptrs.T.Split()
	at, vals := e.room(place, 0), e.room(elem, 1)
	o.Store(ptrs, at, 64)
	o.Store(x, vals, 64)
	fresh := e.where == o.Cur()
	pre, head, out := o.Cur(), o.NewLabel("scatter"), o.NewLabel("scatter.out")
	o.Br(head)
	o.Label(head)
	lane := o.Phi("i64")
	lane.Add(ll.Int("i64", 0), pre)
	p, q := o.GEP(place, at, lane.Val), o.GEP(elem, vals, lane.Val)
	for l := range each {
		v := o.Load(elem, e.at(q, l*size), size)
		if place == "ptr" {
			o.Store(v, o.Load("ptr", e.at(p, 8*l), 8), size)
		} else {
			off := e.SExt(o.Load(place, e.at(p, 4*l), 4), "i64")
			o.Store(v, e.pointer(ir.Shared, off), size)
		}
	}
	next := o.Add(lane.Val, ll.Int("i64", each))
	lane.Add(next, head)
	o.CondBr(o.ICmp("ult", next, ll.Int("i64", int64(e.w))), head, out)
	o.Label(out)
	if fresh { // nothing else leads here: what was known of vectors stays known
		e.where = out
	}
}

// emitPrefetch fetches what is worth it; for the rest the processor's own prefetching does as well.
func emitPrefetch(e *emitter, in *ir.Inst) {
	if in.Bytes == 0 {
		return
	}
	p := e.pointer(in.Space, e.laneZero(in.Args[0]))
	for off := 0; off < e.w*int(in.Bytes); off += 64 {
		e.fetch(e.at(p, off), in.Write)
	}
}

// fetch asks for the line at p, to be read or written.
func (e *emitter) fetch(p ll.Val, write bool) {
	w := int64(0)
	if write {
		w = 1
	}
	e.Call("void", "llvm.prefetch.p0", p, ll.Int("i32", w), ll.Int("i32", 3), ll.Int("i32", 1))
}

// emitFence orders memory. Within a block one thread runs everything in order.
func emitFence(e *emitter, in *ir.Inst) {
	if in.Scope == ir.ScopeCTA {
		e.Fence(`syncscope("singlethread") seq_cst`)
		return
	}
	if in.Order == ir.SeqCst {
		e.Fence("seq_cst")
		return
	}
	e.Fence("acq_rel")
}
