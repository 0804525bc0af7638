package check

import (
	"strings"

	"kudzu/internal/ptx"
)

// videoRule checks selectors: .b0 to .b3 and .h0, .h1 on scalar forms; a descending mask on the destination of SIMD forms, and
// as many parts on their sources as the form has lanes.
func videoRule(c *checker, in *ptx.Inst) {
	lanes := 1
	switch name := in.Op().String(); {
	case strings.HasSuffix(name, "2"):
		lanes = 2
	case strings.HasSuffix(name, "4"):
		lanes = 4
	}
	for i, o := range in.Form.Operands() {
		a := &in.Args[i]
		if a.Elem != ptx.ElemSel || o.Sel == "" {
			continue
		}
		kind, parts := a.Selector()
		if !goodSelector(kind, parts, lanes, o.Sel == "mask") {
			c.errorf(a.Pos, "Incorrect video selector for operand %d", i)
		}
	}
}

func goodSelector(kind byte, parts []int, lanes int, mask bool) bool {
	width, limit := 1, 4
	switch {
	case lanes == 1 && kind == 'h':
		limit = 2
	case lanes == 1:
	case (kind == 'h') != (lanes == 2):
		return false
	case mask:
		limit = lanes
		for i := 1; i < len(parts); i++ {
			if parts[i] >= parts[i-1] {
				return false
			}
		}
		return len(parts) <= lanes && parts[0] < limit
	default:
		width, limit = lanes, 2*lanes
	}
	for _, p := range parts {
		if p >= limit {
			return false
		}
	}
	return len(parts) == width
}
