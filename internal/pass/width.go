package pass

import "kudzu/internal/ir"

// width decides how many lanes run together. After it Module.Width is set: 32.
func width(st *state) error {
	st.m.Width = 32
	return nil
}

var _ = ir.I1
