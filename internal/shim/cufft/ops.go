package cufft

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/spec/cu"
)

// buffer is memory that is known when a plan is executed.
type buffer int

const (
	input buffer = iota
	output
	work
)

// place is an address in it.
type place struct {
	buffer buffer
	offset uint64
}

// direction is that of an operation.
type direction int

const (
	asAsked direction = iota // the direction of the call
	onward                   // e^-
	back
)

// op is one launch of a plan.
type op struct {
	kernels  *shim.Kernels
	name     string
	src, dst place
	dir      direction
	grid     uint32
	shared   uint32
	params   func(c *call, inverse bool) *shim.Params
}

// call is one execution: where everything is.
type call struct {
	at       [3]uint64
	tables   uint64
	inverse  bool
	src, dst uint64 // of the op
}

func (o *op) launch(d *driver.Thread, stream cu.CUstream, c *call) error {
	c.src, c.dst = c.at[o.src.buffer]+o.src.offset, c.at[o.dst.buffer]+o.dst.offset
	inverse := o.dir == back || o.dir == asAsked && c.inverse
	return o.kernels.LaunchShared(d, stream, o.name, [3]uint32{o.grid, 1, 1}, [3]uint32{32, 1, 1}, o.shared, o.params(c, inverse))
}

// maxBlocks is enough for every processor; blocks go on with what is left.
const maxBlocks = 1 << 16

// dim is one of the indices that number transforms or rows.
type dim struct {
	count   uint64
	in, out int64
}

func appendDims(p *shim.Params, dims []dim, n int) {
	for i := range n {
		d := dim{count: 1}
		if i < len(dims) {
			d = dims[i]
		}
		p.U64(d.count, uint64(d.in), uint64(d.out))
	}
}

func product(dims []dim) uint64 {
	n := uint64(1)
	for _, d := range dims {
		n *= d.count
	}
	return n
}

// The flags of a step, as kernels/step.h has them.
const (
	flagSwap = 1 << iota
	flagUnitIn
	flagUnitOut
	flagRowsIn
	flagRowsOut
	flagFromHalf
	flagToHalf
)

const (
	stepDims = 6
	noAxis   = 255
)

// step is a launch of fft_step: transforms of length n, numbered by dims; the first of them are the lanes.
type step struct {
	n       uint64
	in, out int64
	dims    []dim
	flags   uint32
	axis    int    // the dimension whose index goes into the factors, noAxis if there are none
	modulus uint64 // of the factors' exponents
}

func (b *builder) step(s step, src, dst place, dir direction) {
	list := passes(s.n)
	packedRadices := uint64(0)
	for i, r := range list {
		packedRadices |= r << (8 * i)
	}
	mixed := 0
	if s.n&(s.n-1) != 0 {
		mixed = 1
	}
	switch {
	case s.dims[0].in == 1:
		s.flags |= flagUnitIn
	case s.in == 1 && s.turns(b.precision):
		s.flags |= flagRowsIn
	}
	switch {
	case s.dims[0].out == 1:
		s.flags |= flagUnitOut
	case s.out == 1 && s.axis == noAxis:
		s.flags |= flagRowsOut
	}
	p := b.precision
	twiddles, places := b.tables.twiddles(p, s.n, list), b.tables.places(s.n, list)
	var turns, low, high, halves uint64
	shift := uint32(0)
	if s.axis != noAxis {
		m := s.modulus
		for 1<<(2*shift) < m {
			shift++
		}
		if s.axis == 0 {
			turns = b.tables.numbers("turns "+itoa(m), p, s.n*32, func(i uint64) complex128 { return root(i/32*(i%32), m) })
		}
		low = b.tables.numbers("low "+itoa(m), p, 1<<shift, func(i uint64) complex128 { return root(i, m) })
		high = b.tables.numbers("high "+itoa(m), p, m>>shift+1, func(i uint64) complex128 { return root(i<<shift, m) })
	}
	if s.flags&(flagFromHalf|flagToHalf) != 0 {
		halves = b.halves(s.n)
	}
	chunks := (s.dims[0].count + 31) / 32 * product(s.dims[1:])
	if chunks == 0 {
		return
	}
	params := func(c *call, inverse bool) *shim.Params {
		flags := s.flags
		if inverse {
			flags |= flagSwap
		}
		q := (&shim.Params{}).U64(c.src, c.dst, c.tables+twiddles, c.tables+places, c.tables+turns, c.tables+low, c.tables+high,
			c.tables+halves, uint64(s.in), uint64(s.out))
		appendDims(q, s.dims, stepDims)
		return q.U64(chunks, packedRadices).U32(uint32(s.n), uint32(len(list)), flags, shift, uint32(s.axis), 0)
	}
	b.ops = append(b.ops, &op{kernels: stepKernels[p][mixed], name: "fft_step", src: src, dst: dst, dir: dir,
		grid: uint32(min(chunks, maxBlocks)), shared: uint32(scratch(s.n, p)), params: params})
}

// turns says that a step reads its contiguous transforms side by side and turns them, which is quicker than that every lane walks down
// its own. Measured: not where much of the tiles would be empty, and not for long rows of double precision, whose numbers are turned
// four words at a time.
func (s *step) turns(p precision) bool {
	filled := func(n uint64) uint64 { return 100 * n / ((n + 31) &^ 31) }
	return filled(s.n)*filled(s.dims[0].count) >= 60*100 && (p == single || s.n <= 128)
}

// scratch is the shared memory of a step of length n: a tile of 32 numbers in 32 lanes, and the numbers of 32 transforms, one more for
// half a spectrum.
func scratch(n uint64, p precision) uint64 { return (32 + n + 1) * 64 * uint64(p) }

// halves are the factors between the spectrum of 2n real numbers and that of n complex ones.
func (b *builder) halves(n uint64) uint64 {
	return b.tables.numbers("halves", b.precision, n+1, func(i uint64) complex128 { return root(i, 2*n) })
}

// What is done to rows, as kernels/rows.h has it.
const (
	mirror = iota
	times
	toHalf
	fromHalf
)

const rowDims = 4

// row is a launch over rows of numbers.
type row struct {
	kernel   string
	kind     uint32
	count, n uint64 // numbers that are written and read
	in, out  int64
	dims     []dim
	factors  uint64
	swapIn   bool // if the direction is inverse
	swapOut  bool
}

func (b *builder) row(r row, src, dst place, dir direction) {
	rows := product(r.dims)
	chunks := (r.count + 31) / 32 * rows
	if chunks == 0 {
		return
	}
	params := func(c *call, inverse bool) *shim.Params {
		swap := uint32(0)
		if inverse && r.swapIn {
			swap |= 1
		}
		if inverse && r.swapOut {
			swap |= 2
		}
		q := (&shim.Params{}).U64(c.src, c.dst, c.tables+r.factors, uint64(r.in), uint64(r.out))
		appendDims(q, r.dims, rowDims)
		return q.U64(r.count, r.n, rows).U32(r.kind, swap)
	}
	b.ops = append(b.ops, &op{kernels: rowKernels, name: r.kernel, src: src, dst: dst, dir: dir, grid: uint32(min(chunks, maxBlocks)), params: params})
}
