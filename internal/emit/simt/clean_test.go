package simt

import (
	"testing"

	"kudzu/internal/ir"
)

// TestFlushSensitive: a conversion from f16 does not keep a kernel out of the machine's flush mode; one whose result tells a
// subnormal number from zero does.
func TestFlushSensitive(t *testing.T) {
	for _, c := range []struct {
		op       ir.Op
		from, to ir.Type
		rnd      ir.Rnd
		want     bool
	}{
		{ir.FExt, ir.F16, ir.F32, ir.RN, false}, {ir.FExt, ir.BF16, ir.F32, ir.RN, false}, {ir.FExt, ir.F32, ir.F64, ir.RN, true},
		{ir.FTrunc, ir.F32, ir.F16, ir.RN, false}, {ir.FTrunc, ir.F32, ir.F16, ir.RZ, false}, {ir.FTrunc, ir.F32, ir.F16, ir.RP, true},
		{ir.FTrunc, ir.F64, ir.F32, ir.RN, true}, {ir.FTrunc, ir.F32, ir.BF16, ir.RN, false},
		{ir.FToS, ir.F32, ir.I32, ir.RZ, false}, {ir.FToS, ir.F32, ir.I32, ir.RP, true}, {ir.FRound, ir.F32, ir.F32, ir.RM, true},
		{ir.FAdd, ir.F32, ir.F32, ir.RN, true}, {ir.FAdd, ir.F16, ir.F16, ir.RN, false}, {ir.FMul, ir.BF16x2, ir.BF16x2, ir.RN, true},
		{ir.Add, ir.I32, ir.I32, ir.RN, false},
	} {
		in := &ir.Inst{Op: c.op, Args: []*ir.Value{{Type: c.from}}, Results: []*ir.Value{{Type: c.to}}, Attr: ir.Attr{Rnd: c.rnd}}
		if got := flushSensitive(in); got != c.want {
			t.Errorf("%s of %s to %s, %s: %v", c.op, c.from, c.to, c.rnd, got)
		}
	}
}
