package analysis

import "kudzu/internal/ir"

// NoSign reports floats that are never negative, nor -0: magnitudes, the larger and smaller of such, and what lanes hand
// each other of them. A NaN may have any sign. The largest magnitude of a row is what quantisation begins with.
func NoSign(v *ir.Value) bool { return noSign(v, map[*ir.Value]bool{}) }

// noSign takes for granted what is being looked at, as the phis of loops need: what they begin with and what a turn makes of it decide.
func noSign(v *ir.Value, seen map[*ir.Value]bool) bool {
	const most = 64
	switch {
	case v.Const:
		return v.Type.IsFloat() && v.Bits>>(v.Type.Bits()-1) == 0
	case v.Def == nil || len(v.Def.Results) != 1 || len(seen) > most:
		return false
	case seen[v]:
		return true
	}
	seen[v] = true
	d := v.Def
	switch d.Op {
	case ir.FAbs:
		return true
	case ir.FMin, ir.FMax:
		return !d.XorSign && noSign(d.Args[0], seen) && noSign(d.Args[1], seen)
	case ir.Select:
		return noSign(d.Args[1], seen) && noSign(d.Args[2], seen)
	case ir.Phi:
		for _, a := range d.Args {
			if !noSign(a, seen) {
				return false
			}
		}
		return true
	case ir.Shfl, ir.Copy:
		return noSign(d.Args[0], seen)
	case ir.Bitcast:
		from := d.Args[0].Def // floats that go through a shuffle as integers
		if from == nil || from.Op != ir.Shfl || from.Args[0].Def == nil || from.Args[0].Def.Op != ir.Bitcast {
			return false
		}
		x := from.Args[0].Def.Args[0]
		return x.Type == v.Type && noSign(x, seen)
	}
	return false
}
