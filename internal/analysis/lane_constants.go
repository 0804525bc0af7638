package analysis

import "kudzu/internal/ir"

// LaneConstants gives v in each lane of a warp, if it is made of nothing but the lane's number and constants: which lane another
// one reads from, as ldmatrix and its like ask.
func LaneConstants(v *ir.Value) (at [32]uint32, ok bool) {
	return laneConstants(v, 0)
}

func laneConstants(v *ir.Value, depth int) (at [32]uint32, ok bool) {
	d := v.Def
	switch {
	case v.Type != ir.I32 || depth > 8:
		return at, false
	case v.Const:
		for l := range at {
			at[l] = uint32(v.Bits)
		}
		return at, true
	case d == nil:
		return at, false
	case d.Op == ir.SReg:
		for l := range at {
			at[l] = uint32(l)
		}
		return at, d.Sreg == ir.LaneID
	}
	f := laneOps[d.Op]
	if f == nil {
		return at, false
	}
	x, okx := laneConstants(d.Args[0], depth+1)
	y, oky := laneConstants(d.Args[1], depth+1)
	if !okx || !oky {
		return at, false
	}
	for l := range at {
		at[l] = f(x[l], y[l])
	}
	return at, true
}

var laneOps = [ir.NumOps]func(x, y uint32) uint32{
	ir.Add:  func(x, y uint32) uint32 { return x + y },
	ir.Sub:  func(x, y uint32) uint32 { return x - y },
	ir.Mul:  func(x, y uint32) uint32 { return x * y },
	ir.And:  func(x, y uint32) uint32 { return x & y },
	ir.Or:   func(x, y uint32) uint32 { return x | y },
	ir.Xor:  func(x, y uint32) uint32 { return x ^ y },
	ir.Shl:  func(x, y uint32) uint32 { return x << y }, // 0 for counts past the width, in Go as in PTX
	ir.ShrU: func(x, y uint32) uint32 { return x >> y },
}

// ShuffleFrom gives the lane that each lane of a shuffle reads, and whether it is in range, if that is known: a lane that is not in
// range reads its own.
func ShuffleFrom(in *ir.Inst) (from [32]int, inside [32]bool, ok bool) {
	if !in.Args[2].Const {
		return from, inside, false
	}
	at, ok := LaneConstants(in.Args[1])
	if !ok {
		return from, inside, false
	}
	c := int(in.Args[2].Bits)
	seg, clamp := c>>8&31, c&31
	for l := range from {
		b := int(at[l] & 31)
		lowest := l & seg
		highest := lowest | clamp&^seg
		j := 0
		switch in.Shuf {
		case ir.ShufUp:
			j = l - b
			inside[l] = j >= highest
		case ir.ShufDown:
			j = l + b
			inside[l] = j <= highest
		case ir.ShufBfly:
			j = l ^ b
			inside[l] = j <= highest
		case ir.ShufIdx:
			j = lowest | b&^seg
			inside[l] = j <= highest
		}
		if !inside[l] {
			j = l
		}
		from[l] = j & 31
	}
	return from, inside, true
}
