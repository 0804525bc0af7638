package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Warps that are jammed may store next to each other what each stores far apart, lane by lane: a transposition. Sixteen
// such stores are a tile of 16 by 32 elements, which is turned in registers; each lane's row of it is one vector in memory.

const tileRows = 16

// tile is how many of the instructions make up tiles: stores of 32 bits to addresses that nothing is known of; 0: none.
func (e *emitter) tile(list []*ir.Inst) int {
	if e.jam < 8 || e.w != 32 || !e.cpu.avx512 {
		return 0
	}
	n := 0
	for n < len(list) && list[n].Op == ir.Store && n < 4*tileRows {
		in := list[n]
		s, known := e.pattern(in)
		if known || s.Kind != ir.Varying || in.Space != ir.Global || len(in.Args) != 2 || bytesOf(in.Args[1].Type) != 4 || in.Mask != nil || in.Volatile || in.Order != ir.Weak {
			break
		}
		n++
	}
	return n / tileRows * tileRows
}

// storeTile stores the tiles by rows if the addresses turn out to allow it.
func (e *emitter) storeTile(list []*ir.Inst) {
	var at []ll.Val
	for _, in := range list {
		e.line, e.Line = in.Line, in.Line
		e.aligned(in, 4, ll.Val{}, true)
		at = append(at, e.vector(in.Args[0]))
	}
	same := ll.Val{}
	for i := range list {
		if i%tileRows == 0 {
			continue
		}
		first := at[i/tileRows*tileRows]
		c := e.ICmp("eq", at[i], e.Add(first, first.Int(int64(4*(i%tileRows)))))
		if same.IsZero() {
			same = c
		} else {
			same = e.And(same, c)
		}
	}
	e.choose(e.ICmp("eq", e.number(same), ll.Int("i32", -1)), "tile", func() []ll.Val { e.storeRows(list, at); return nil }, func() []ll.Val {
		for _, in := range list {
			e.line, e.Line = in.Line, in.Line
			ptrs, x := e.pointers(in), e.stored(in.Args[1], e.w)
			e.overLanes(ll.Splat(e.w, ll.Int("i1", 1)), []ll.Val{ptrs, x}, nil, func(l []ll.Val) []ll.Val {
				e.Store(l[1], l[0], 4) // in a loop: written out it would be a thousand stores
				return nil
			})
		}
		return nil
	})
}

// storeRows turns each half of the tiles and stores a lane's parts of all of them before the next lane's. The lines come while the
// tiles are turned (4096 by 4096 words on two cores: 18.0 ms without asking for them, 15.7 with).
func (e *emitter) storeRows(list []*ir.Inst, at []ll.Val) {
	for t := 0; t < len(list); t += tileRows {
		for l := range e.w {
			p := e.Extract(at[t], l)
			e.fetch(e.pointer(ir.Global, p), true)
		}
	}
	for half := 0; half < e.w; half += tileRows {
		var turned [][]ll.Val
		for t := 0; t < len(list); t += tileRows {
			rows := make([]ll.Val, tileRows)
			for i := range rows {
				in := list[t+i]
				rows[i] = e.slice(e.Recast(e.stored(in.Args[1], e.w), "i32"), half, tileRows)
			}
			turned = append(turned, e.turn(rows))
		}
		for l := range tileRows {
			for t, rows := range turned {
				p := e.Extract(at[t*tileRows], half+l)
				e.Store(rows[l], e.pointer(ir.Global, p), 4)
			}
		}
	}
}

// turn transposes a square of vectors: in step d elements whose numbers differ in bit d change places between two rows.
func (e *emitter) turn(rows []ll.Val) []ll.Val {
	n := len(rows)
	for d := n / 2; d >= 1; d /= 2 {
		for i := range rows {
			if i&d != 0 {
				continue
			}
			a, b := rows[i], rows[i+d]
			rows[i] = e.Shuffle(a, b, rangeInts(0, n, func(x int) int {
				if x&d == 0 {
					return x
				}
				return n + x - d
			}))
			rows[i+d] = e.Shuffle(a, b, rangeInts(0, n, func(x int) int {
				if x&d == 0 {
					return x + d
				}
				return n + x
			}))
		}
	}
	return rows
}
