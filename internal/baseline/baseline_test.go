package baseline

import (
	"errors"
	"testing"
)

const (
	haswell = "+sse4.2,+popcnt,+lzcnt,+bmi,+bmi2,+avx,+avx2,+fma,+f16c,+movbe"
	skylake = haswell + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
)

// TestTargets: what a machine has decides the code; what needs more than it has is refused.
func TestTargets(t *testing.T) {
	const sum = `define i32 @k(ptr %p) {
  %a = load <32 x i32>, ptr %p, align 4
  %m = icmp ult <32 x i32> %a, splat (i32 7)
  %s = select <32 x i1> %m, <32 x i32> %a, <32 x i32> zeroinitializer
  store <32 x i32> %s, ptr %p, align 4
  ret i32 0
}
`
	const rounded = `define i32 @k(ptr %p) {
  %a = load <16 x float>, ptr %p, align 4
  %s = call <16 x float> @llvm.x86.avx512.add.ps.512(<16 x float> %a, <16 x float> %a, i32 9)
  store <16 x float> %s, ptr %p, align 4
  ret i32 0
}
`
	for _, c := range []struct {
		name, text, features string
		ok                   bool
	}{
		{"AVX-512", sum, skylake, true},
		{"AVX2", sum, haswell, true},
		{"neither", sum, "+sse4.2,+popcnt,+avx", false},
		{"rounding in the instruction", rounded, skylake, true},
		{"rounding in the instruction, AVX2", rounded, haswell, false},
	} {
		code, err := Compile(c.text, "k", TargetOf(c.features))
		var cannot *Unsupported
		switch {
		case c.ok && (err != nil || len(code.Bytes) == 0):
			t.Errorf("%s: %v", c.name, err)
		case !c.ok && !errors.As(err, &cannot):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
