package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// window cuts offsets in shared and local memory to 32 bits, as the hardware does with those in registers of 64, where nothing proves that
// they lie within what the engine keeps free around shared memory (ir.SharedReach). What compilers write, an index of 32 bits times
// the size of an element behind a variable, stays as it is; of a pointer that a loop counts up only the pointer is cut, once for all
// addresses around it.
func window(st *state) error {
	for _, f := range st.m.Funcs {
		for _, b := range f.Blocks {
			c := &cutter{f: f, b: b, block: st.cfg.Block, done: map[cutOf]*ir.Value{}}
			for c.at = 0; c.at < len(b.Insts); c.at++ {
				if in := b.Insts[c.at]; (in.Space == ir.Shared || in.Space == ir.Local) && accesses(in) {
					c.widen = ir.ZExt
					if st.m.Clusters && in.Space == ir.Shared { // a block before this one is below
						c.widen = ir.SExt
					}
					c.line = in.Line
					in.Args[0] = c.near(in.Args[0])
				}
			}
		}
	}
	return nil
}

// accesses reports an operation whose first operand is an address in its space.
func accesses(in *ir.Inst) bool {
	switch in.Op {
	case ir.Load, ir.Store, ir.StoreKept, ir.Atomic, ir.AtomicCAS, ir.CopyAsync:
		return true
	}
	return false
}

// cutter cuts the offsets of one block.
type cutter struct {
	f     *ir.Func
	b     *ir.Block
	at    int // the access: what is put in goes before it
	line  int32
	block [3]uint32
	widen ir.Op
	done  map[cutOf]*ir.Value
}

// cutOf is what stands for a value: its lower half widened, or the sum of its parts.
type cutOf struct {
	v         *ir.Value
	op, widen ir.Op
}

// near is the offset a, or one that is the same in its lower 32 bits and within reach.
func (c *cutter) near(a *ir.Value) *ir.Value {
	if c.within(a) {
		return a
	}
	if x := c.parts(a, 0); c.within(x) {
		return x
	}
	return c.cut(a)
}

func (c *cutter) within(v *ir.Value) bool {
	return reachOf(v, c.block, 0).Within(analysis.Range{Lo: -ir.SharedReach, Hi: ir.SharedReach})
}

// parts is a sum whose parts beyond reach are cut.
func (c *cutter) parts(v *ir.Value, depth int) *ir.Value {
	if c.within(v) {
		return v
	}
	d := v.Def
	if d == nil || d.Op != ir.Add || depth > 8 {
		return c.cut(v)
	}
	return c.once(v, ir.Add, func() *ir.Value {
		return c.put(ir.Add, ir.I64, c.parts(d.Args[0], depth+1), c.parts(d.Args[1], depth+1))
	})
}

func (c *cutter) cut(v *ir.Value) *ir.Value {
	return c.once(v, ir.Trunc, func() *ir.Value { return c.put(c.widen, ir.I64, c.put(ir.Trunc, ir.I32, v)) })
}

// once makes what stands for v in the block.
func (c *cutter) once(v *ir.Value, op ir.Op, make func() *ir.Value) *ir.Value {
	key := cutOf{v, op, c.widen}
	if c.done[key] == nil {
		c.done[key] = make()
	}
	return c.done[key]
}

func (c *cutter) put(op ir.Op, t ir.Type, args ...*ir.Value) *ir.Value {
	in := c.f.NewInst(op, []ir.Type{t}, args...)
	in.Line = c.line
	insertAt(c.b, c.at, in)
	c.at++
	return in.Results[0]
}

// variableEnd is above the offset of every variable.
const variableEnd = 1 << 24

// reachOf is where an address lies, as far as a few steps back tell.
func reachOf(v *ir.Value, block [3]uint32, depth int) analysis.Range {
	d := v.Def
	if v.Const || d == nil || depth > 12 || v.Type.Bits() <= 32 || v.Type.Bits() > 64 {
		return bounds64(v, block)
	}
	switch d.Op {
	case ir.SharedAddr, ir.LocalAddr:
		return analysis.Range{Lo: 0, Hi: variableEnd}.Add(analysis.Range{Lo: d.Off, Hi: d.Off})
	}
	return analysis.Transfer(v, func(i int) analysis.Range { return reachOf(d.Args[i], block, depth+1) })
}

// bounds64 is bounds, for constants and parameters of any width.
func bounds64(v *ir.Value, block [3]uint32) analysis.Range {
	switch {
	case v.Const && v.Type.Bits() <= 64:
		return analysis.Range{Lo: v.Int(), Hi: v.Int()}
	case v.Type.Bits() > 32:
		return analysis.RangeOf(ir.I64)
	}
	return bounds(v, block, 0)
}
