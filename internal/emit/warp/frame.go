package warp

import (
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// A value that lives across several barriers, such as the keys of a sort, has a place of its own in the warp's frame. It is stored there
// before the first of them and need not be stored before the others. Code between two barriers that only uses it somewhere loads it there:
// whatever lives across a barrier would be more than there are registers from one barrier to the next, and would go to the stack and back.

// framed says which values stand in the warp's frame as they are, by their numbers.
type framed struct {
	in      map[*ir.Block][]bool // at the beginning of a block
	far     map[*ir.Block]bool   // blocks that run often before a warp waits: what they use is in registers
	block   *ir.Block            // whose text is written
	now     []bool               // at this place of it
	at      string               // the block of text that scalars were loaded in
	scalars map[*ir.Value]ll.Val
}

// findFramed finds for each block what stands in the frame however the block is reached.
func (e *emitter) findFramed() {
	n := 0
	ends := map[*ir.Block][]bool{} // where a block ends
	for _, p := range e.f.Regions.Points {
		for _, v := range p.Live {
			if x := e.rep(v); x.number == 0 {
				n++
				x.number = n
			}
		}
	}
	for _, p := range e.f.Regions.Points {
		live := make([]bool, n+1)
		for _, v := range p.Live {
			live[e.rep(v).number] = true
		}
		ends[p.At.Block] = live
	}
	e.framed = framed{in: map[*ir.Block][]bool{}, far: map[*ir.Block]bool{}}
	order := e.f.RPO()
	for again := true; again; {
		again = false
		for _, b := range order {
			in := make([]bool, n+1)
			if b != e.f.Blocks[0] {
				in = common(b.Preds, ends)
			}
			if was := e.framed.in[b]; was != nil && slices.Equal(was, in) {
				continue
			}
			e.framed.in[b], again = in, true
			if e.pointOf(b) > 0 {
				continue
			}
			out := slices.Clone(in)
			for _, x := range b.Insts {
				for _, v := range x.Results {
					out[e.rep(v).number] = false
				}
			}
			ends[b] = out
		}
	}
	e.findFar(order)
}

// common is what all of these blocks end with, those apart of which nothing is known yet.
func common(blocks []*ir.Block, ends map[*ir.Block][]bool) (all []bool) {
	for _, p := range blocks {
		out := ends[p]
		switch {
		case out == nil:
		case all == nil:
			all = slices.Clone(out)
		default:
			for i := range all {
				all[i] = all[i] && out[i]
			}
		}
	}
	return all
}

// findFar finds the blocks of loops in which no warp waits.
func (e *emitter) findFar(order []*ir.Block) {
	li := ir.Loops(e.f, ir.Dominators(e.f))
	waits := map[*ir.Loop]bool{}
	for _, p := range e.f.Regions.Points {
		for l := li.Innermost(p.At.Block); l != nil; l = l.Parent {
			waits[l] = true
		}
	}
	for _, b := range order {
		l := li.Innermost(b)
		e.framed.far[b] = l != nil && !waits[l]
	}
}

// enter begins a block's text.
func (e *emitter) enter(b *ir.Block) {
	if e.f.Regions == nil {
		return
	}
	e.framed.now = slices.Clone(e.framed.in[b])
	e.framed.block = b
}

// inFrame reports a value whose place in the frame has it.
func (e *emitter) inFrame(r *rep) bool {
	return r.number > 0 && len(e.framed.now) > 0 && e.framed.now[r.number]
}

// fromFrame reports a value that is loaded from the frame where it is used.
func (e *emitter) fromFrame(r *rep) bool { return e.inFrame(r) && !e.framed.far[e.framed.block] }

// vectorInFrame is a value of all lanes that is loaded where it is used.
func (e *emitter) vectorInFrame(v *ir.Value, r *rep) ll.Val {
	x := e.fromMemory(ll.Vec(e.w, typ(v.Type)), e.at(e.ctx.warpFrame, r.offset), v.Type == ir.I1, 64)
	e.cache[v] = x
	return x
}

// scalarInFrame is a value of one lane that is loaded where it is used.
func (e *emitter) scalarInFrame(v *ir.Value, r *rep) ll.Val {
	if at := e.Cur(); e.framed.at != at {
		e.framed.at, e.framed.scalars = at, map[*ir.Value]ll.Val{}
	}
	x, ok := e.framed.scalars[v]
	if !ok {
		off := r.offset
		if !r.vecSlot.IsZero() {
			off = r.guessOffset
		}
		x = e.fromMemory(typ(v.Type), e.at(e.ctx.warpFrame, off), false, 1)
		e.framed.scalars[v] = x
	}
	return x
}
