package curand

import (
	"math"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rand"
	"kudzu/internal/spec/rt"
)

// generator is what curandCreateGenerator gives.
type generator struct {
	mu     lockrank.Mutex[lockrank.RandGenerator]
	family *family
	host   bool        // its numbers go to the program's memory, before the call returns
	stream cu.CUstream // guarded by mu, as all that follows
	order  rand.CurandOrdering_t
	seed   uint64
	offset uint64 // of the next number
	source source // made at the first number
	dims   uint32
	tables histograms
}

// source makes a family's numbers with a seed and an ordering.
type source interface {
	// generate sends the kernel that makes n numbers, from offset on, to the generator's stream.
	generate(d *driver.Thread, g *generator, r *request) error
	// drop gives device memory back.
	drop(d *driver.Thread)
}

// seeding is what a new seed does once there are numbers, as an H200 showed.
type seeding int

const (
	goesOn  seeding = iota // the offset stays
	inFours                // only where it is in its four stays
	restart                // the sequence of the seed begins
	kept                   // nothing
)

// family is a kind of generators.
type family struct {
	quasi    bool
	bits     uint32 // of its integers
	noOffset bool
	setSeed  seeding
	orders   []rand.CurandOrdering_t
	hostOnly []rand.CurandOrdering_t // orderings that a generator of the host refuses
	pairs    bool                    // normal numbers are made two by two, and count as one
	large    float64                 // from here on Poisson's numbers are rounded normal ones
	small    float64                 // if not 0: below it Poisson's numbers come from the histogram, then from quantiles
	open     func(g *generator) source
}

// above8000 is the first number after 8000, which is the last that has quantiles.
var above8000 = math.Nextafter(8000, 9000)

// The orderings that all pseudorandom generators take.
var (
	allOrders = []rand.CurandOrdering_t{rand.CURAND_ORDERING_PSEUDO_BEST, rand.CURAND_ORDERING_PSEUDO_DEFAULT, rand.CURAND_ORDERING_PSEUDO_LEGACY, rand.CURAND_ORDERING_PSEUDO_DYNAMIC}
	seeded    = append(allOrders[:4:4], rand.CURAND_ORDERING_PSEUDO_SEEDED)
	best      = []rand.CurandOrdering_t{rand.CURAND_ORDERING_PSEUDO_BEST}
	dynamic   = []rand.CurandOrdering_t{rand.CURAND_ORDERING_PSEUDO_DYNAMIC}
	quasi     = []rand.CurandOrdering_t{rand.CURAND_ORDERING_QUASI_DEFAULT}
)

// families are all that there are.
var families = map[rand.CurandRngType_t]*family{
	rand.CURAND_RNG_PSEUDO_XORWOW:           {bits: 32, orders: seeded, hostOnly: dynamic, pairs: true, large: 2000, open: newXorwow},
	rand.CURAND_RNG_PSEUDO_MRG32K3A:         {bits: 32, orders: allOrders, hostOnly: dynamic, pairs: true, large: 2000, open: newMrg},
	rand.CURAND_RNG_PSEUDO_MTGP32:           {bits: 32, orders: allOrders, hostOnly: dynamic, noOffset: true, setSeed: kept, small: 32, large: above8000, open: newMtgp},
	rand.CURAND_RNG_PSEUDO_MT19937:          {bits: 32, orders: allOrders[:3:3], hostOnly: best, noOffset: true, setSeed: restart, large: 2000, open: newTwister},
	rand.CURAND_RNG_PSEUDO_PHILOX4_32_10:    {bits: 32, orders: allOrders, hostOnly: dynamic, setSeed: inFours, large: 2000, open: newPhilox},
	rand.CURAND_RNG_QUASI_SOBOL32:           {bits: 32, quasi: true, orders: quasi, small: 10, large: above8000, open: newSobol(32, false)},
	rand.CURAND_RNG_QUASI_SCRAMBLED_SOBOL32: {bits: 32, quasi: true, orders: quasi, small: 10, large: above8000, open: newSobol(32, true)},
	rand.CURAND_RNG_QUASI_SOBOL64:           {bits: 64, quasi: true, orders: quasi, large: 2000, open: newSobol(64, false)},
	rand.CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: {bits: 64, quasi: true, orders: quasi, large: 2000, open: newSobol(64, true)},
}

// aliases are types that stand for another.
var aliases = map[rand.CurandRngType_t]rand.CurandRngType_t{
	rand.CURAND_RNG_TEST:           rand.CURAND_RNG_PSEUDO_XORWOW,
	rand.CURAND_RNG_PSEUDO_DEFAULT: rand.CURAND_RNG_PSEUDO_XORWOW,
	rand.CURAND_RNG_QUASI_DEFAULT:  rand.CURAND_RNG_QUASI_SOBOL32,
}

var generators = handle.NewTable[generator](handle.CurandGenerator, "cuRAND generators")

func (t *Thread) create(kind rand.CurandRngType_t, host bool) (uint64, error) {
	if a, ok := aliases[kind]; ok {
		kind = a
	}
	f := families[kind]
	if f == nil {
		return 0, typeError
	}
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, noCUDA
	}
	v := generators.New(&generator{family: f, host: host, order: f.orders[0], dims: 1})
	if v == 0 {
		return 0, allocationFailed
	}
	return uint64(v), nil
}

// CreateGenerator makes a generator whose numbers go to device memory.
func (t *Thread) CreateGenerator(kind rand.CurandRngType_t) (uint64, error) {
	return t.create(kind, false)
}

// CreateGeneratorHost makes one whose numbers go to the program's memory.
func (t *Thread) CreateGeneratorHost(kind rand.CurandRngType_t) (uint64, error) {
	return t.create(kind, true)
}

// DestroyGenerator ends a generator, after the work that uses its memory.
func (t *Thread) DestroyGenerator(h rand.CurandGenerator_t) error {
	g := generators.Delete(handle.Value(h))
	if g == nil {
		return notInitialized
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(t.driver())
	g.tables.drop(t.driver())
	return nil
}

// forget drops the states: the next call begins with what the generator says then. Preconditions: g.mu is held.
func (g *generator) forget(d *driver.Thread) {
	if g.source != nil {
		g.source.drop(d)
		g.source = nil
	}
}

// change runs f on a live generator.
func change(h rand.CurandGenerator_t, f func(g *generator) error) error {
	g := generators.Get(handle.Value(h))
	if g == nil {
		return notInitialized
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return f(g)
}

// SetStream sends later work of the generator to a stream.
func (t *Thread) SetStream(h rand.CurandGenerator_t, s rt.CudaStream_t) error {
	return change(h, func(g *generator) error {
		g.stream = cu.CUstream(s)
		return nil
	})
}

// SetPseudoRandomGeneratorSeed chooses the sequence.
func (t *Thread) SetPseudoRandomGeneratorSeed(h rand.CurandGenerator_t, seed uint64) error {
	return change(h, func(g *generator) error {
		if g.family.quasi {
			return typeError
		}
		if seed == g.seed || g.family.setSeed == kept && g.offset > 0 {
			return nil
		}
		switch {
		case g.family.setSeed == restart:
			g.offset = 0
		case g.family.setSeed == inFours && g.source != nil:
			g.offset %= 4
		}
		g.forget(t.driver())
		g.seed = seed
		return nil
	})
}

// SetGeneratorOffset goes to a position of the sequence.
func (t *Thread) SetGeneratorOffset(h rand.CurandGenerator_t, offset uint64) error {
	return change(h, func(g *generator) error {
		if g.family.noOffset {
			return typeError
		}
		g.offset = offset
		return nil
	})
}

// SetGeneratorOrdering chooses how the numbers of many streams make one sequence. The dynamic one is a device's own choice: it is
// the default here. The twisters, whose states only go on, begin again if their order is another one.
func (t *Thread) SetGeneratorOrdering(h rand.CurandGenerator_t, order rand.CurandOrdering_t) error {
	return change(h, func(g *generator) error {
		if !has(g.family.orders, order) || g.host && has(g.family.hostOnly, order) {
			return outOfRange
		}
		from := g.order
		g.order = order
		switch {
		case !g.family.noOffset && order != from:
			g.forget(t.driver())
		case g.family.setSeed == kept && mtgpBlocks(order) != mtgpBlocks(from):
			g.forget(t.driver())
			g.offset = 0
		}
		return nil
	})
}

func has(list []rand.CurandOrdering_t, v rand.CurandOrdering_t) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// SetQuasiRandomGeneratorDimensions says how many dimensions points have.
func (t *Thread) SetQuasiRandomGeneratorDimensions(h rand.CurandGenerator_t, n uint32) error {
	return change(h, func(g *generator) error {
		if !g.family.quasi {
			return typeError
		}
		if n < 1 || n > maxDimensions {
			return outOfRange
		}
		if n != g.dims {
			g.forget(t.driver())
		}
		g.dims = n
		return nil
	})
}

// GenerateSeeds makes the states now instead of at the first number.
func (t *Thread) GenerateSeeds(h rand.CurandGenerator_t) error {
	return change(h, func(g *generator) error { return g.run(t.driver(), &request{kind: integers}) })
}
