package driver

import "kudzu/internal/backend"

// Describe reads and checks PTX text as a module load does and gives what a backend loads, for tools and tests that talk
// to a backend without a context.
func Describe(name, text string, sm int) (*backend.Module, error) {
	var i backend.Info
	i.Claim(backend.Capability{Major: sm / 10, Minor: sm % 10})
	d := Device{info: &i}
	return describe(name, text, d.claim(), &jit{opts: backend.Options{OptLevel: -1}})
}
