package libdevice

import (
	"strings"
	"testing"
)

// A part of the library has what its functions need, and nothing else.
func TestFor(t *testing.T) {
	for _, c := range []struct{ names, has, not string }{
		{"__nv_sinf", "@__nv_sinf(|@far_anglef(float|@window.words =|@llvm.fma.f32|!nvvmir.version|attributes #0", "@__nv_cosf(|@__nv_sin(|@far_angle("},
		{"__nv_lgammaf", "define internal fastcc double @log_gamma(", "@__nv_tgamma("},
		{"__nv_fast_expf llvm.fma.f64", "@__nvvm_reflect|@.str =", "llvm.fma.f64"},
	} {
		text := For(strings.Fields(c.names))
		for s := range strings.SplitSeq(c.has, "|") {
			if !strings.Contains(text, s) {
				t.Errorf("%s: no %s in\n%s", c.names, s, text)
			}
		}
		for s := range strings.SplitSeq(c.not, "|") {
			if strings.Contains(text, s) {
				t.Errorf("%s: %s in\n%s", c.names, s, text)
			}
		}
	}
	if text := For([]string{"cosf", "far_angle", "__nv_nothing"}); text != "" {
		t.Errorf("of none of its functions: %s", text)
	}
}
