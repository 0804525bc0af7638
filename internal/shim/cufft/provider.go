package cufft

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/cu"
)

// Provider transforms with something other than our kernels: a library of the device's vendor.
type Provider interface {
	// Name is the library's.
	Name() string
	// Serves reports whether any call may be this provider's: where it says no, that is all it costs. It is asked at
	// every call.
	Serves(d *driver.Thread) bool
	// Transform does a transform in the order of its stream. Not done means that nothing has happened, and our
	// kernels do it.
	Transform(d *driver.Thread, t *Transform) (done bool, err error)
	// Drop ends what it kept for a plan, which is ending.
	Drop(d *driver.Thread, kept any)
}

// Transform is a call: what is transformed, as the plan has it, and where.
type Transform struct {
	Lengths  []uint64 // the last axis is the fastest
	Batch    uint64
	Real     bool   // one side is real numbers: the input, of an inverse the output
	Inverse  bool   //
	Type     string // of numbers: "f16", "bf16", "f32", "f64"
	In, Out  Layout
	From, To hostmem.Ptr // the same: in place
	Stream   cu.CUstream
	Area     driver.DevPtr // the plan's work area, if it has one, and its size
	Size     uint64
	Kept     *any // what the provider keeps with the plan, which is locked meanwhile
}

// Layout is where the numbers of a side are, in elements: strides of the axes, and from one transform to the next.
type Layout struct {
	Strides  []int64
	Distance int64
}

var providers shim.Providers[Provider]

// Use puts a provider behind those there are.
func Use(p Provider) { providers.Add(p) }

// Unuse forgets all providers. For tests: a process has one set of them.
func Unuse() { providers.Clear() }

// Answered is a provider's status, in cuFFT's numbers, as an error.
func Answered(status int64, known bool) error {
	switch {
	case !known:
		return internalError
	case status == 0:
		return nil
	}
	return Status(status)
}

// elsewhere offers a call to the providers. Preconditions: p.mu is held.
func (p *plan) elsewhere(d *driver.Thread, f form, in, out hostmem.Ptr, inverse bool) (done bool, err error) {
	for _, q := range providers.All() {
		if !q.Serves(d) || p.geometry.empty {
			continue
		}
		g := &p.geometry
		if f.inPlace {
			g = g.inPlace(p.types.kind == toRealKind)
		}
		if p.kept == nil {
			p.kept = map[Provider]*any{}
		}
		if p.kept[q] == nil {
			p.kept[q] = new(any)
		}
		done, err := q.Transform(d, &Transform{
			Lengths: g.n, Batch: g.batch, Real: p.types.kind != complexKind, Inverse: inverse, Type: p.types.storage,
			In: Layout{g.in.strides, g.in.dist}, Out: Layout{g.out.strides, g.out.dist},
			From: in, To: out, Stream: p.stream, Area: p.area, Size: p.size, Kept: p.kept[q],
		})
		if done {
			return true, err
		}
	}
	return false, nil
}

// dropKept ends what providers keep. Preconditions: p.mu is held.
func (p *plan) dropKept(d *driver.Thread) {
	for q, kept := range p.kept {
		if *kept != nil {
			q.Drop(d, *kept)
		}
	}
	p.kept = nil
}
