package cublas

import (
	"fmt"
	"math"
	"math/cmplx"
	"runtime"
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Checked is a product that was done twice: by our kernels, and by another multiplier into memory of its own.
type Checked struct {
	With    string // who did it again
	What    string // f32 128x64x32
	Off     float64
	Bound   float64 // how far the two may be apart
	At      [3]int64
	Product complex128 // the kernels' element that is farthest off, at matrix, row, column
	Other   complex128
	Skipped string // why it was not done again
}

// Differs reports sums that are farther apart than their order explains.
func (c *Checked) Differs() bool { return c.Skipped == "" && !(c.Off <= c.Bound) }

type checker struct {
	with Multiplier
	tell func(*Checked)
}

var checks atomic.Pointer[checker]

// UseChecker has m do the products that it takes a second time, and tell hear what came out; nil: nobody. Programs get what our kernels
// computed.
func UseChecker(m Multiplier, tell func(*Checked)) {
	if m == nil {
		checks.Store(nil)
		return
	}
	checks.Store(&checker{m, tell})
}

const (
	checkBytes = 256 << 20 // of C that are kept for a second product
	checkSteps = 1 << 31   // multiplications of one
)

// checked runs a product, and has it done again where somebody asked for that.
func (p *Product) checked(d *driver.Thread, stream cu.CUstream, run func() error) error {
	c := checks.Load()
	if c == nil || p.K == 0 || p.Alpha.IsZero() || !c.with.Takes(p) {
		return run()
	}
	q := *p
	h := &HostProduct{Product: &q}
	out := &Checked{With: c.with.Name(), What: fmt.Sprintf("%s %dx%dx%d", p.TC, p.M, p.N, p.K)}
	size := float64(p.M) * float64(p.N) * float64(p.Batch)
	switch {
	case !h.find(d):
		out.Skipped = "its matrices are not whole in memory"
	case size*float64(p.TC.Size()) > checkBytes || size*float64(p.K) > checkSteps:
		out.Skipped = "too large"
	}
	if out.Skipped != "" {
		c.tell(out)
		return run()
	}
	var before [][]byte // C, its columns one after another
	done, err := d.OnHost(stream, func() {
		h.Alpha, h.Beta = q.Alpha.now(), q.Beta.now()
		for _, at := range h.At {
			before = append(before, p.column(at[2]))
		}
	})
	if err != nil || !done {
		return run()
	}
	if err := run(); err != nil {
		return err
	}
	_, err = d.OnHost(stream, func() { c.again(p, h, before, out) })
	return err
}

// column is a copy of C without what lies between its columns.
func (p *Product) column(at uint64) []byte {
	size := uint64(p.TC.Size())
	b := make([]byte, 0, uint64(p.M*p.N)*size)
	for j := range p.N {
		b = append(b, hostmem.Bytes(hostmem.Ptr(at).Index(int(j*p.C.LD), int(size)), uint64(p.M)*size)...)
	}
	return b
}

// again does the product on the copies of C and compares.
func (c *checker) again(p *Product, h *HostProduct, before [][]byte, out *Checked) {
	if h.Alpha == 0 {
		return
	}
	now := make([][]byte, len(h.At))
	for i, at := range h.At {
		now[i] = p.column(at[2])
		h.At[i][2] = uint64(hostmem.Of(&before[i][0]))
	}
	h.C.LD, h.C.Stride = p.M, p.M*p.N
	rowsA, colsA, rowsB, colsB := p.sides()
	largest := func(at uint64, rows, cols, ld int64) (m float64) {
		for _, v := range readMatrix(at, rows, cols, ld, p.TA) {
			if x := cmplx.Abs(v); !math.IsNaN(x) && !math.IsInf(x, 0) { // those come out the same in any order
				m = max(m, x)
			}
		}
		return m
	}
	c.with.Multiply(h)
	size := p.TC.Size()
	worst := math.Inf(-1)
	for i, at := range h.At {
		bound := cmplx.Abs(h.Alpha) * largest(at[0], rowsA, colsA, p.A.LD) * largest(at[1], rowsB, colsB, p.B.LD) * float64(p.K) * unitOf(p.Sum)
		for k := range p.M * p.N {
			a, b := Decode(p.TC, now[i][int(k)*size:]), Decode(p.TC, before[i][int(k)*size:])
			off, allowed := apart(a, b, bound, 4*unitOf(p.TC))
			if off > 0 && off-allowed > worst {
				worst = off - allowed
				out.Off, out.Bound, out.Product, out.Other, out.At = off, allowed, a, b, [3]int64{int64(i), k % p.M, k / p.M}
			}
		}
	}
	runtime.KeepAlive(before)
	c.tell(out)
}

// apart is how far a product's element is from another multiplier's, and how far it may be: bound, and rel of the other's value. No order
// of sums explains an infinity or a NaN on one side only.
func apart(a, b complex128, bound, rel float64) (off, allowed float64) {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	if same(real(a), real(b)) && same(imag(a), imag(b)) || cmplx.IsNaN(a) && cmplx.IsNaN(b) {
		return 0, 0
	}
	off, allowed = cmplx.Abs(a-b), bound+rel*cmplx.Abs(b)
	if math.IsNaN(off) || math.IsInf(off, 0) {
		return math.Inf(1), 0
	}
	if math.IsInf(allowed, 0) || math.IsNaN(allowed) { // finite matrices whose product could overflow
		allowed = math.MaxFloat64
	}
	return off, allowed
}

// unitOf is the distance of 1 and the next number.
func unitOf(e Elem) float64 {
	switch e {
	case F32, C32:
		return 0x1p-23
	case F64, C64:
		return 0x1p-52
	case F16:
		return 0x1p-10
	case BF16:
		return 0x1p-7
	}
	return 0 // integers
}
