package interp

import (
	"testing"

	"kudzu/internal/ptx/isa"
)

// Every op is executed or is listed as unsupported with its reason; never both, never neither.
func TestNoHoles(t *testing.T) {
	for op := isa.NoOp + 1; op < isa.NumOps; op++ {
		_, listed := unsupportedOps[op]
		switch {
		case decoders[op] == nil && !listed:
			t.Errorf("no decoder for %v", op)
		case decoders[op] != nil && listed:
			t.Errorf("%v has a decoder and is listed as unsupported", op)
		}
	}
}

// Every special register reads.
func TestSpecialRegisters(t *testing.T) {
	for r := isa.NoSReg + 1; r < isa.SRegPm0; r++ {
		if (specials[r] == nil) == (specials3[r] == nil) {
			t.Errorf("%v", r)
		}
		if r.Vec() != (specials3[r] != nil) {
			t.Errorf("%v: vector %v", r, r.Vec())
		}
	}
}
