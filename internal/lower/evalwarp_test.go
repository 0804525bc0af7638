package lower

import (
	"fmt"
	"math/bits"

	"kudzu/internal/ir"
)

// warpOp evaluates a convergent operation for the threads of one warp that reached it together.
func warpOp(in *ir.Inst, group, warp []*thread) error {
	switch in.Op {
	case ir.Mma, ir.LdMatrix, ir.StMatrix, ir.MovMatrix:
		return matrixOp(in, group)
	}
	lane := func(t *thread) int { return int(t.linear % 32) }
	at := map[int]*thread{}
	active := uint64(0)
	for _, t := range group {
		at[lane(t)] = t
		active |= 1 << lane(t)
	}
	set := func(t *thread, i int, v uint64) {
		if i < len(in.Results) {
			t.vals[in.Results[i].ID] = maskBits(v, in.Results[i].Type.Bits())
		}
	}
	for _, t := range group {
		mask := active
		if n := len(in.Args); n > 0 && in.Op != ir.WarpSync {
			mask &= t.arg(in, n-1)
		}
		// who of the members has what
		each := func(f func(l int, u *thread)) {
			for l := range 32 {
				if mask>>l&1 != 0 && at[l] != nil {
					f(l, at[l])
				}
			}
		}
		switch in.Op {
		case ir.ActiveMask:
			set(t, 0, active)
		case ir.WarpSync:
		case ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot:
			var yes uint64
			each(func(l int, u *thread) { yes |= u.arg(in, 0) << l })
			set(t, 0, voted(in.Op, yes, mask))
		case ir.MatchAny, ir.MatchAll:
			var same uint64
			each(func(l int, u *thread) { same |= flagOf(u.arg(in, 0) == t.arg(in, 0)) << l })
			if in.Op == ir.MatchAll {
				set(t, 1, flagOf(same == mask))
				if same != mask {
					same = 0
				}
			}
			set(t, 0, same)
		case ir.Redux:
			var v uint64
			first := true
			each(func(l int, u *thread) {
				if first {
					v, first = u.arg(in, 0), false
				} else {
					v = combine(in.AtomOp, in.Args[0].Type, v, u.arg(in, 0))
				}
			})
			set(t, 0, v)
		case ir.Elect:
			l := bits.TrailingZeros64(mask)
			set(t, 0, uint64(l))
			set(t, 1, flagOf(l == lane(t)))
		case ir.Shfl:
			src, ok := shflLane(in.Shuf, lane(t), int(t.arg(in, 1)), int(t.arg(in, 2)))
			v := t.arg(in, 0)
			if u := at[src]; u != nil {
				v = u.arg(in, 0)
			}
			set(t, 0, v)
			set(t, 1, flagOf(ok))
		default:
			return fmt.Errorf("no evaluation of %v", in.Op)
		}
	}
	return nil
}

// voted is what members are told of whom of them said yes.
func voted(op ir.Op, yes, mask uint64) uint64 {
	switch op {
	case ir.VoteAny:
		return flagOf(yes != 0)
	case ir.VoteAll:
		return flagOf(yes == mask)
	case ir.VoteUni:
		return flagOf(yes == mask || yes == 0)
	}
	return yes
}

// shflLane is the lane shfl reads and whether it is in range. PTX ISA, "shfl.sync".
func shflLane(m ir.ShufMode, lane, b, c int) (int, bool) {
	b &= 31
	cval, seg := c&31, c>>8&31
	maxLane := lane&seg | cval&^seg
	minLane := lane & seg
	j, ok := 0, false
	switch m {
	case ir.ShufUp:
		j = lane - b
		ok = j >= maxLane
	case ir.ShufDown:
		j = lane + b
		ok = j <= maxLane
	case ir.ShufBfly:
		j = lane ^ b
		ok = j <= maxLane
	case ir.ShufIdx:
		j = minLane | b&^seg
		ok = j <= maxLane
	}
	if !ok {
		j = lane
	}
	return j, ok
}
