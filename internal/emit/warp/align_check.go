package warp

import (
	"kudzu/internal/analysis"
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// The hardware stops a kernel that accesses memory at an address that is no multiple of the access's size. The CPU would
// not, so the low bits of addresses are tested where nothing proves them zero: those of lane 0 where the lanes differ by
// multiples of the size, which is mostly a test of a pointer that does not change, else those of every lane.

const misalignedLabel = "misaligned"

// aligned leaves the kernel if a lane of mask is about to access size bytes at a misaligned address.
func (e *emitter) aligned(in *ir.Inst, size int, mask ll.Val, all bool) {
	addr, low := in.Args[0], int64(size-1)
	if size == 1 || size&(size-1) != 0 || in.Space == ir.ParamSpace || addr.Const && addr.Bits&uint64(low) == 0 {
		return
	}
	shape, known := e.pattern(in)
	if known && multiples(shape, low) {
		if int64(addr.Shape.Align) >= int64(size) {
			return
		}
		root := addr
		if r, ok := alignRoot(addr, size); ok && !addr.Shape.Guess {
			if r == nil {
				return
			}
			if e.reachable(r, in) {
				root = r
			}
		}
		if !e.tested(in, root, size) {
			e.testAlign(in, e.scalar(root), low, mask, all)
		}
		return
	}
	if !known && in.Space != ir.Local {
		root, ok := alignRoot(addr, size)
		if ok && root == nil {
			return
		}
		if ok && e.reachable(root, in) {
			if !e.passed(in, alignment{root, size}) {
				e.testAlign(in, e.scalar(root), low, mask, all)
			}
			return
		}
		if p, ok := e.takeApart(addr, in); ok && p.scale&low == 0 {
			e.testAlign(in, e.Add(p.base, ll.Int("i64", p.off)), low, mask, all)
			return
		}
	}
	s, far := e.strideForm(in)
	lanes := func() ll.Val {
		var v ll.Val
		if far {
			v = s.addresses(e)
		} else {
			v = e.vector(addr)
		}
		bad := e.ICmp("ne", e.And(v, v.Int(low)), v.Int(0))
		if !all {
			bad = e.And(bad, mask)
		}
		return e.number(bad)
	}
	if far { // lanes are looked at only where the first one or the distance is no multiple
		maybe := e.And(e.Or(s.first(e), s.step(e)), ll.Int("i64", low))
		e.orMisaligned(in, e.ICmp("ne", maybe, ll.Int("i64", 0)), lanes)
		return
	}
	act := lanes()
	e.orMisaligned(in, e.ICmp("ne", act, ll.Int("i32", 0)), func() ll.Val { return act })
}

// multiples reports lanes that differ from lane 0 by nothing in the low bits.
func multiples(s ir.Shape, low int64) bool {
	if s.Table != nil {
		for _, t := range s.Table {
			if t&low != 0 {
				return false
			}
		}
	}
	return s.Stride&low == 0 && s.SegStride&low == 0
}

// alignment is what a test proved: the value is a multiple of size.
type alignment struct {
	root *ir.Value
	size int
}

// reachable reports a value that is there where in is: behind a barrier only what the passes kept is.
func (e *emitter) reachable(v *ir.Value, in *ir.Inst) bool {
	return e.f.Regions == nil || v.Def == nil || v.Def.Block == in.Block || analysis.Anywhere(v)
}

// tested reports that an earlier access has tested root, which in's address is made of, for all lanes of in, and notes that in does.
func (e *emitter) tested(in *ir.Inst, root *ir.Value, size int) bool {
	for d := root.Def; d != nil && d.Op == ir.Add; d = root.Def {
		x, y := d.Args[0], d.Args[1]
		if multiple(x, size) {
			x, y = y, x
		}
		if !multiple(y, size) {
			break
		}
		root = x
	}
	return e.passed(in, alignment{root, size})
}

// passed reports that an access before in has tested key for all lanes of in, and notes that in does.
func (e *emitter) passed(in *ir.Inst, key alignment) bool {
	if e.dom == nil {
		e.f.Rewire()
		e.dom, e.checked = ir.Dominators(e.f), map[alignment][]*ir.Inst{}
	}
	for _, o := range e.checked[key] {
		if o == in { // written again for another region, which may be the first to run
			return false
		}
		if within(in.Mask, o.Mask, 0) && e.dom.Dominates(o.Block, in.Block) {
			return true
		}
	}
	e.checked[key] = append(e.checked[key], in)
	return false
}

// assumed stands for the root of a phi while its ways are looked at.
var assumed = new(ir.Value)

// alignRoot finds the one number that decides whether an address is a multiple of size in every lane; nil: it always is. The number is
// there wherever the address is.
func alignRoot(v *ir.Value, size int) (root *ir.Value, ok bool) {
	s := &alignSearch{size: size, open: map[*ir.Value]bool{}, left: 200}
	return s.root(v, 0)
}

type alignSearch struct {
	size int
	open map[*ir.Value]bool // phis whose ways are being looked at
	left int                // so many more values are looked into
}

// root may always give v itself, if its lanes are alike: it decides for itself.
func (s *alignSearch) root(v *ir.Value, depth int) (root *ir.Value, ok bool) {
	if v.Const && v.Bits&uint64(s.size-1) == 0 {
		return nil, true
	}
	if int64(v.Shape.Align) >= int64(s.size) && alike(v, s.size) {
		return nil, true
	}
	d := v.Def
	if s.left--; d == nil || depth > 12 || s.left < 0 {
		return v, alike(v, s.size)
	}
	switch d.Op {
	case ir.Shl:
		if c := d.Args[1]; c.Const && c.Bits < 32 && s.size <= 1<<c.Bits {
			return nil, true
		}
	case ir.Mul:
		if c := d.Args[1]; c.Const && c.Bits&uint64(s.size-1) == 0 {
			return nil, true
		}
	case ir.Add:
		x, okx := s.root(d.Args[0], depth+1)
		y, oky := s.root(d.Args[1], depth+1)
		switch {
		case okx && oky && x == nil:
			return y, true
		case okx && oky && y == nil:
			return x, true
		}
	case ir.Phi:
		if s.open[v] {
			return assumed, true
		}
		if r, good := s.phi(d, depth); good || len(s.open) > 0 {
			return r, good
		}
	}
	return v, alike(v, s.size)
}

// phi is the root of all ways into a phi, if they have one. It is open only while they are looked at: one that has two roots, and is met
// again on another way, has none there either.
func (s *alignSearch) phi(d *ir.Inst, depth int) (root *ir.Value, ok bool) {
	s.open[d.Results[0]] = true
	defer delete(s.open, d.Results[0])
	root = assumed
	for _, a := range d.Args {
		r, good := s.root(a, depth+1)
		switch {
		case !good || root != assumed && r != assumed && r != root:
			return nil, false
		case r != assumed:
			root = r
		}
	}
	return root, root != assumed
}

// alike reports a value whose lanes differ by multiples of size, so that lane 0 decides for all.
func alike(v *ir.Value, size int) bool {
	low := int64(size - 1)
	return uniform(v) || v.Shape.Kind == ir.Affine && v.Shape.Stride&low == 0 && v.Shape.SegStride&low == 0
}

// within reports that the lanes of mask a are all in b.
func within(a, b *ir.Value, depth int) bool {
	if b == nil || a == b {
		return true
	}
	if a == nil || a.Def == nil || a.Def.Op != ir.And || depth > 6 {
		return false
	}
	return within(a.Def.Args[0], b, depth+1) || within(a.Def.Args[1], b, depth+1)
}

// multiple reports a value whose lane 0 is a multiple of size.
func multiple(v *ir.Value, size int) bool {
	if v.Const {
		return v.Bits&uint64(size-1) == 0
	}
	return int64(v.Shape.Align) >= int64(size)
}

// testAlign tests one address for all lanes, which counts only if some lane acts.
func (e *emitter) testAlign(in *ir.Inst, addr ll.Val, low int64, mask ll.Val, all bool) {
	bad := e.ICmp("ne", e.And(addr, ll.Int("i64", low)), ll.Int("i64", 0))
	e.orMisaligned(in, bad, func() ll.Val {
		if all {
			return e.active(in)
		}
		return e.number(mask)
	})
}

// orMisaligned goes on if bad is false or no lane does it.
func (e *emitter) orMisaligned(in *ir.Inst, bad ll.Val, lanes func() ll.Val) {
	e.orStop(in, bad, lanes, func() { e.Br(misalignedLabel) })
	e.ctx.misaligned = true
}

// orStop goes on if bad is false or no lane does it, and else stops where leave leads. What was known of vectors stays
// known: this block leads there.
func (e *emitter) orStop(in *ir.Inst, bad ll.Val, lanes func() ll.Val, leave func()) {
	o := e.Func
	fresh := e.where == o.Cur()
	trap, stop, on := o.NewLabel("odd"), o.NewLabel("odd.stop"), o.NewLabel("even")
	o.Do("br %s, label %%%s, label %%%s, !prof !7", bad, trap, on)
	o.Label(trap)
	act := lanes()
	o.CondBr(e.ICmp("ne", act, ll.Int("i32", 0)), stop, on)
	o.Label(stop)
	o.Store(ll.Int("i32", int64(in.Line)), e.at(e.ctx.worker, image.WorkerStopLine), 0)
	o.Store(act, e.at(e.ctx.worker, image.WorkerStopLanes), 0)
	leave()
	o.Label(on)
	if fresh {
		e.where = on
	}
}

// misalignedEnd is where all of them stop.
func (e *emitter) misalignedEnd() {
	if e.ctx.misaligned {
		e.Label(misalignedLabel)
		e.Ret(ll.Int("i32", image.StopMisalign))
	}
}
