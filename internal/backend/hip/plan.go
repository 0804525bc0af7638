package hip

import (
	"fmt"

	"kudzu/internal/codeobject"
	"kudzu/internal/compile"
)

// plan is what to compile for on a device.
type plan struct {
	target  codeobject.Target
	version int // of the code object
	// noMatrix: KUDZU_AMD_MATRIX=off, products without the matrix units.
	noMatrix bool
}

// HIP's version numbers: 5.3, from which on code objects of version 5 load; 6.0; 6.3, from which on version 6 and generic targets load.
const (
	hip53 = 50300000
	hip60 = 60000000
	hip63 = 60300000
)

// newest are the processors that LLVM 19 has no name for, so that only their generic target can be compiled for.
var newest = map[string]bool{"gfx950": true, "gfx1153": true}

// planFor chooses. Peers break here: a code object of a version that the installed runtime does not read, or for a processor
// that the compiler does not know, fails at the first launch with a number; so it is decided when the device is opened.
func planFor(t codeobject.Target, runtime int) (plan, error) {
	p := plan{target: t, version: 5}
	if runtime < hip53 {
		p.version = 4
	}
	if !newest[t.Name] {
		return p, nil
	}
	if t.Generic == "" || runtime < hip63 {
		return p, fmt.Errorf("%s: the compiler does not know this processor, and HIP %d.%d takes no generic code (6.3 and later do)", t.Name, runtime/10000000, runtime/100000%100)
	}
	g, ok := codeobject.FindProcessor(t.Generic)
	if !ok {
		return p, fmt.Errorf("BUG: hip: processor %s is not in the table", t.Generic)
	}
	p.target.Processor, p.version = g, 6
	return p, nil
}

// request fills in what the plan decides.
func (p *plan) request(r *compile.Request) {
	r.Target = compile.Target{Triple: "amdgcn-amd-amdhsa", CPU: p.target.Name, Features: p.target.Features()}
	r.Options.CodeObject, r.Options.NoMatrix = p.version, p.noMatrix
}

// check takes the code object of one kernel, or says why it is not for this device.
func (p *plan) check(d codeobject.Target, kernel string) func([]byte) error {
	return func(b []byte) error {
		o, err := codeobject.Read(b)
		if err != nil {
			return err
		}
		switch {
		case o.Kernel(kernel) == nil:
			return fmt.Errorf("code object without kernel %s", kernel)
		case !o.Target.Runs(d):
			return fmt.Errorf("code object for %s, the device is %s", o.Target, d)
		case o.Version > p.version:
			return fmt.Errorf("code object of version %d, this ROCm takes %d", o.Version, p.version)
		}
		return nil
	}
}
