package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Provider does calls of cuBLAS with something other than our kernels: a library of the device's vendor, say.
type Provider interface {
	// Name is the library's.
	Name() string
	// Serves reports whether any call may be this provider's: where it says no, that is all it costs. It is asked at every call.
	Serves(d *driver.Thread) bool
	// Do makes one call, named as in cublas.api without _64; args are what the program passed, integers extended to 64 bits,
	// the handle first. Not done means that nothing has happened: the next provider is asked, our kernels in the end.
	Do(d *driver.Thread, x *Handle, name string, args []uint64) (done bool, err error)
	// Drop forgets what is kept for a handle, which is ending. Its work may still run.
	Drop(x *Handle)
}

var providers shim.Providers[Provider]

// Use puts a provider behind those there are.
func Use(p Provider) { providers.Add(p) }

// Elsewhere reports whether a provider may do a call.
func (t *Thread) Elsewhere() bool {
	for _, p := range providers.All() {
		if p.Serves(t.driver()) {
			return true
		}
	}
	return false
}

// Forward offers a call to the providers. A handle that is none is left to the function itself, which has the right answer.
func (t *Thread) Forward(name string, args ...uint64) (done bool, err error) {
	x := handles.Get(handle.Value(args[0]))
	if x == nil {
		return false, nil
	}
	for _, p := range providers.All() {
		if !p.Serves(t.driver()) {
			continue
		}
		if done, err := p.Do(t.driver(), x, name, args); done {
			return true, err
		}
	}
	return false, nil
}

// Modes are what a call needs to know of a handle.
type Modes struct {
	Stream   cu.CUstream
	Pointers blas.CublasPointerMode_t
	Atomics  blas.CublasAtomicsMode_t
	Math     blas.CublasMath_t
}

// Modes are those of the handle now.
func (x *Handle) Modes() Modes {
	x.mu.Lock()
	defer x.mu.Unlock()
	return Modes{x.stream, x.pointers, x.atomics, x.math}
}

// drop tells the providers that a handle ends.
func (x *Handle) drop() {
	for _, p := range providers.All() {
		p.Drop(x)
	}
}

// Unuse forgets all providers. For tests: a process has one set of them.
func Unuse() { providers.Clear() }
