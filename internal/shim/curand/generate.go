package curand

import (
	"math"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/rand"
)

// kind is what is made of random bits.
type kind int

const (
	integers kind = iota
	uniform32
	uniform64
	normal32
	normal64
	cells    // a discrete distribution by its histogram
	rounded  // Poisson's, for large expected values: a rounded normal number
	quantile // a discrete distribution by its inverse, which keeps the order of quasirandom points
)

// kinds say what a kernel's name ends in, and the size of a number.
var kinds = [...]struct {
	suffix string
	size   uint64
}{
	integers: {"u32", 4}, uniform32: {"f32", 4}, uniform64: {"f64", 8}, normal32: {"normal32", 4}, normal64: {"normal64", 8},
	cells: {"cells", 4}, rounded: {"rounded", 4}, quantile: {"quantile", 4},
}

// request is one call: n numbers of a kind.
type request struct {
	kind   kind
	n      uint64
	out    driver.DevPtr
	size   uint64 // of a number
	params func(*shim.Params)
}

func (r *request) paired() bool { return r.kind == normal32 || r.kind == normal64 }

// threads is the size of a block of every kernel here.
const threads = 256

// grid covers n threads, up to a number of blocks that keeps every processor busy.
func grid(n uint64) [3]uint32 {
	return [3]uint32{uint32(max(1, min((n+threads-1)/threads, 1024))), 1, 1}
}

// run makes the numbers of a request. Preconditions: g.mu is held.
func (g *generator) run(d *driver.Thread, r *request) error {
	if err := cudart.Ready(d); err != nil {
		return err
	}
	if g.source == nil {
		g.source = g.family.open(g)
	}
	if err := g.source.generate(d, g, r); err != nil {
		return err
	}
	steps := r.n
	switch {
	case g.family.quasi:
		steps /= uint64(g.dims)
	case g.family.pairs && r.paired():
		steps /= 2
	}
	g.offset += steps
	return nil
}

// make checks a request and runs it; a generator of the host makes its numbers in device memory and copies them.
func (t *Thread) make(h rand.CurandGenerator_t, out hostmem.Ptr, r *request) error {
	return change(h, func(g *generator) error {
		d := t.driver()
		if err := g.check(r); err != nil || r.n == 0 {
			return err
		}
		if !g.host {
			r.out = driver.DevPtr(out)
			return g.run(d, r)
		}
		if err := cudart.Ready(d); err != nil {
			return err
		}
		at, err := d.TakeMemory(r.n * r.size)
		if err != nil {
			return err
		}
		defer func() { _ = d.GiveMemory(at) }()
		r.out = at
		if err := g.run(d, r); err != nil {
			return err
		}
		if err := d.StreamSynchronize(g.stream); err != nil {
			return err
		}
		return d.MemcpyDtoH(out, at, r.n*r.size)
	})
}

func (g *generator) check(r *request) error {
	if g.family.quasi && r.n%uint64(g.dims) != 0 || g.family.pairs && r.paired() && r.n%2 != 0 {
		return notMultiple
	}
	if r.n > math.MaxInt64/8 {
		return outOfRange
	}
	return nil
}

func (t *Thread) numbers(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64, k kind, params func(*shim.Params)) error {
	return t.make(h, out, &request{kind: k, n: n, size: kinds[k].size, params: params})
}

// words are a generator's own bits; a generator of the other width refuses.
func (t *Thread) words(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64, width uint32) error {
	err := change(h, func(g *generator) error {
		if g.family.bits != width {
			return typeError
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.make(h, out, &request{kind: integers, n: n, size: uint64(width / 8)})
}

// Generate makes 32-bit integers.
func (t *Thread) Generate(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64) error {
	return t.words(h, out, n, 32)
}

// GenerateLongLong makes 64-bit integers.
func (t *Thread) GenerateLongLong(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64) error {
	return t.words(h, out, n, 64)
}

// GenerateUniform makes numbers in (0, 1].
func (t *Thread) GenerateUniform(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64) error {
	return t.numbers(h, out, n, uniform32, nil)
}

// GenerateUniformDouble makes numbers in (0, 1].
func (t *Thread) GenerateUniformDouble(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64) error {
	return t.numbers(h, out, n, uniform64, nil)
}

// scale32 and scale64 are the parameters of normal numbers.
func scale32(mean, deviation float32, log uint32) func(*shim.Params) {
	return func(p *shim.Params) { p.U32(math.Float32bits(mean), math.Float32bits(deviation), log) }
}

func scale64(mean, deviation float64, log uint32) func(*shim.Params) {
	return func(p *shim.Params) { p.F64(mean, deviation).U32(log) }
}

// GenerateNormal makes normal numbers.
func (t *Thread) GenerateNormal(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64, mean, deviation float32) error {
	return t.numbers(h, out, n, normal32, scale32(mean, deviation, 0))
}

// GenerateNormalDouble makes normal numbers.
func (t *Thread) GenerateNormalDouble(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64, mean, deviation float64) error {
	return t.numbers(h, out, n, normal64, scale64(mean, deviation, 0))
}

// GenerateLogNormal makes numbers whose logarithms are normal.
func (t *Thread) GenerateLogNormal(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64, mean, deviation float32) error {
	return t.numbers(h, out, n, normal32, scale32(mean, deviation, 1))
}

// GenerateLogNormalDouble makes numbers whose logarithms are normal.
func (t *Thread) GenerateLogNormalDouble(h rand.CurandGenerator_t, out hostmem.Ptr, n uint64, mean, deviation float64) error {
	return t.numbers(h, out, n, normal64, scale64(mean, deviation, 1))
}
