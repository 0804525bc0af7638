package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// once is where the first warp of a block leaves what a load read (pass/load_once.go).
type once struct {
	done  ll.Val
	slots []ll.Val
	types []ll.Type
}

// oncePlaces reserves memory, of which LLVM makes registers, for the loads that a block does once. Where several blocks go together each
// warp loads for itself: it waits for nobody.
func (e *emitter) oncePlaces() {
	if e.inRows() {
		return
	}
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.Load || !in.Once || in.Results[0].Shape.Kind != ir.BlockUniform {
				continue
			}
			o := &once{done: e.Alloca("i32", 4)}
			for _, r := range in.Results {
				o.types = append(o.types, memType(r.Type))
				o.slots = append(o.slots, e.Alloca(memType(r.Type), 16))
			}
			e.onces[in] = o
		}
	}
}

// beginOnces forgets what another block has loaded.
func (e *emitter) beginOnces() {
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			if o := e.onces[in]; o != nil {
				e.Store(ll.Int("i32", 0), o.done, 4)
			}
		}
	}
}

// onceOnly is the load where no warp of the block has done it.
func (e *emitter) onceOnly(o *once, load func() []ll.Val) func() []ll.Val {
	return func() []ll.Val {
		return e.choose(e.ICmp("ne", e.Load("i32", o.done, 4), ll.Int("i32", 0)), "once.had", func() (had []ll.Val) {
			for i, s := range o.slots {
				had = append(had, e.Load(o.types[i], s, 16))
			}
			return had
		}, func() []ll.Val {
			out := load()
			for i, x := range out {
				e.Store(x, o.slots[i], 16)
			}
			e.Store(ll.Int("i32", 1), o.done, 4)
			return out
		})
	}
}
