package driver

import "kudzu/internal/backend"

// Describe reads and checks PTX text as a module load does and gives what a backend loads, for tools and tests that talk
// to a backend without a context.
func Describe(name, text string, sm int) (*backend.Module, error) {
	return describe(name, text, claim{sm: sm}, &jit{opts: backend.Options{OptLevel: -1}})
}
