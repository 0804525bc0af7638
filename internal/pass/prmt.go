package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// foldPrmt knows selectors that pick a word as it is, and bytes that are zero: signs of bytes that are never negative among them.
func foldPrmt(in *ir.Inst, t ir.Type) *ir.Value {
	sel := in.Args[2]
	if !sel.Const {
		return nil
	}
	switch sel.Bits & 0xffff {
	case 0x3210:
		return in.Args[0]
	case 0x7654:
		return in.Args[1]
	}
	for i := range 4 {
		s := sel.Bits >> (4 * i) & 15
		need := uint64(0xff)
		if s&8 != 0 {
			need = 0x80
		}
		if z := analysis.Zeros(in.Args[s>>2&1]); z>>(8*(s&3))&need != need {
			return nil
		}
	}
	return ir.ConstInt(t, 0)
}
