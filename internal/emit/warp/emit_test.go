package warp

import (
	"testing"

	"kudzu/internal/ir"
)

func TestNoHoles(t *testing.T) {
	for op, fn := range emitters {
		if fn == nil {
			t.Errorf("no emitter for %v", ir.Op(op))
		}
	}
}
