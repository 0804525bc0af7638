package warp

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Blocks of several rows, each as wide as a warp, walk an image tile by tile: eight rows of a line or two, then the next
// tile. Where warps have nothing to do with each other and run straight through, warp w of several neighbouring blocks can
// run before warp w+1 of any: then rows are walked as a native loop walks them, and prefetchers follow.

// rowBlocks is how many neighbouring blocks go together. Measured, native/kudzu of a 5-point stencil, a 27-point one and one with
// a border: 1: 1.2, 0.8, 0.5; 4: 1.2, 1.04, 0.62; 8: 1.03, 1.3, 0.72; 32: 0.9, 1.2. The first wants few streams from memory, the
// others long rows.
const rowBlocks = 8

// inRows reports a kernel that is better run row by row.
func (e *emitter) inRows() bool {
	n := e.cfg.Block
	if e.f.Regions != nil || e.w != 32 || e.jam > 1 || n[0] != 32 || n[1] < 2 {
		return false
	}
	side, other := 0, 0 // contiguous accesses, and others
	for i, b := range e.f.Blocks {
		for _, t := range b.Succs() {
			if indexOf(e.f.Blocks, t) <= i {
				return false // what a loop reads again is nearer in the same block
			}
		}
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Load, ir.Store:
				if in.Space != ir.Global {
					return false
				}
				if s, known := e.pattern(in); !known || s.Kind < ir.WarpUniform && (s.Seg != 0 || s.Stride > 16 || s.Table != nil) {
					other++
				} else {
					side++
				}
			case ir.Atomic, ir.AtomicCAS, ir.CopyAsync, ir.CallRt, ir.Call, ir.CallInd, ir.SharedAddr:
				return false
			}
		}
	}
	return side > 4*other
}

// rowLoop writes the loop over warps around the loop over a stretch of blocks, and gives the length of the stretch.
func (e *emitter) rowLoop(end ll.Val) ll.Val {
	c, o := &e.ctx, e.Func
	bid, x := c.bid, c.ctaid[0]
	left := e.Intr("umin", e.Sub(end, bid), ll.Int("i64", rowBlocks))
	run := e.Intr("umin", e.Trunc(left, "i32"), e.Sub(c.grid[0], x))
	o.Br("warp.head")
	o.Label("warp.head")
	warp := o.Phi("i32")
	warp.Add(ll.Int("i32", 0), "block.body")
	c.warp = warp.Val
	o.Br("row.head")
	o.Label("row.head")
	i := o.Phi("i32")
	i.Add(ll.Int("i32", 0), "warp.head")
	c.bid = e.Add(bid, e.ZExt(i.Val, "i64"))
	c.ctaid[0] = e.Add(x, i.Val)
	o.Store(c.bid, e.at(c.worker, image.WorkerBlock), 0)
	e.warpValues()
	o.Br("b0")
	c.warpNext = "row.next"
	e.body()

	o.Line = 0
	o.Label("row.next")
	up := o.Add(i.Val, i.Val.Int(1))
	i.Add(up, "row.next")
	o.CondBr(e.ICmp("ult", up, run), "row.head", "warp.next")
	o.Label("warp.next")
	next := o.Add(warp.Val, warp.Val.Int(1))
	warp.Add(next, "warp.next")
	o.CondBr(e.ICmp("ult", next, c.warps), "warp.head", "block.next")
	return run
}
