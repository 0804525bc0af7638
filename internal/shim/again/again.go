// Package again has calls of libraries done a second time, in plain Go and in f64, and says how far that is from what the kernels left.
//
// A library describes a call: the memory that it reads and writes, and how to check it. Before the call that memory is copied, when its
// stream has got there; after the call the check computes from the copies what must be there. Programs get what the kernels computed.
package again

import (
	"fmt"
	"math"
	"math/cmplx"
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Call is a call that can be done again.
type Call struct {
	Library string
	What    string // gemv f32 128x64: equal calls have equal words
	With    string // who does it again; "": ref
	Axes    string // what the numbers of a place are: matrix row column
	Steps   float64
	// Spans are the memory of the call. It is asked when the stream has got there, so that lists of addresses can be read.
	Spans func(l *Lists) []Span
	// Check compares what is there now with what the memory before must have led to.
	Check func(m *Memory)
}

// Span is a piece of memory.
type Span struct {
	At, Bytes uint64
	Unit      int  // bytes of a number
	Out       bool // the call writes it
	Host      bool // of the program: it lives as long as the call
}

// Lists reads lists of addresses on the device.
type Lists struct {
	holds func(at, n uint64) bool
	bad   bool
}

// At is the address at an address; 0 if there is none.
func (l *Lists) At(p uint64) uint64 {
	if !l.holds(p, 8) {
		l.bad = true
		return 0
	}
	return hostmem.Load[uint64](hostmem.Ptr(p))
}

// Result is what came out.
type Result struct {
	Library, What, With, Axes string

	Skipped   string // why it was not done again
	Compared  int    // numbers
	Off       float64
	Bound     float64 // how far the two may be apart
	At        [3]int64
	Got, Want complex128 // the number that is farthest beyond its bound
}

// Differs reports numbers that are farther apart than rounding and the order of sums explain.
func (r *Result) Differs() bool { return r.Skipped == "" && !(r.Off <= r.Bound) }

// Checker says who hears of calls.
type Checker struct {
	Tell func(*Result)
	Most int // calls with the same words that are done again; 0: all
	// Plant is for tests: it puts a fault into what a call wrote, and gives what takes it out again after the check.
	Plant func(c *Call, written []Span) (undo func())

	mu   lockrank.Mutex[lockrank.ShimAgain]
	seen map[[2]string]int // guarded by mu: calls by library and words
}

var current atomic.Pointer[Checker]

// Use has c hear of all calls from now on; nil: nobody.
func Use(c *Checker) { current.Store(c) }

// On reports that somebody listens.
func On() bool { return current.Load() != nil }

const (
	mostBytes = 128 << 20 // of copies for one call
	mostSteps = 1 << 30   // multiplications of one
)

func (k *Checker) wants(c *Call) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen == nil {
		k.seen = map[[2]string]int{}
	}
	key := [2]string{c.Library, c.What}
	k.seen[key]++
	return k.Most == 0 || k.seen[key] <= k.Most
}

// Do runs a call, and has it done again where somebody asked for that. Streams in capture and devices whose memory the host cannot read
// are left alone.
func Do(d *driver.Thread, stream cu.CUstream, c *Call, run func() error) error {
	k := current.Load()
	if k == nil || !k.wants(c) {
		return run()
	}
	m := &Memory{Result: Result{Library: c.Library, What: c.What, With: c.With, Axes: c.Axes}}
	if m.With == "" {
		m.With = "ref"
	}
	if c.Steps > mostSteps {
		m.Skipped = "too large"
		k.Tell(&m.Result)
		return run()
	}
	done, err := d.OnHost(stream, func() { m.keep(c, d) })
	if err != nil || !done {
		return run()
	}
	if err := run(); err != nil {
		return err
	}
	_, err = d.OnHost(stream, func() {
		if m.Skipped == "" {
			if k.Plant != nil {
				defer k.Plant(c, m.written())()
			}
			c.check(m)
		}
		k.Tell(&m.Result)
	})
	if err == nil && m.hosts.Load() { // its result on the host may be gone after the call
		err = d.StreamSynchronize(stream)
	}
	return err
}

// check runs the check. A program's own numbers may lead it out of memory, such as indices of a sparse matrix.
func (c *Call) check(m *Memory) {
	defer func() {
		if r := recover(); r != nil {
			m.Skipped = fmt.Sprintf("its numbers make no sense: %v", r)
		}
	}()
	c.Check(m)
}

// Memory is what a call found, and what it left.
type Memory struct {
	Result
	spans  []Span
	before [][]byte
	hosts  atomic.Bool
	worst  float64
}

// keep copies the memory of a call.
func (m *Memory) keep(c *Call, d *driver.Thread) {
	l := &Lists{holds: func(at, n uint64) bool { return d.Holds(driver.DevPtr(at), n) }}
	m.spans = c.Spans(l)
	total := uint64(0)
	for _, s := range m.spans {
		switch total += s.Bytes; {
		case s.Host:
			m.hosts.Store(true)
		case s.Bytes > 0 && !l.holds(s.At, s.Bytes):
			l.bad = true
		}
	}
	switch {
	case l.bad:
		m.Skipped = "its memory is not all on the device"
	case total > mostBytes:
		m.Skipped = "too large"
	}
	if m.Skipped != "" {
		return
	}
	for _, s := range m.spans {
		var b []byte
		if s.Bytes > 0 && !(s.Host && s.Out) {
			b = append(b, hostmem.Bytes(hostmem.Ptr(s.At), s.Bytes)...)
		}
		m.before = append(m.before, b)
	}
}

func (m *Memory) written() []Span {
	var out []Span
	for _, s := range m.spans {
		if s.Out && s.Bytes > 0 {
			out = append(out, s)
		}
	}
	return out
}

// Before is what was in memory of the call before it. It must lie in one of its spans.
func (m *Memory) Before(at, n uint64) []byte {
	for i := range m.spans {
		if off := at - m.spans[i].At; off <= m.spans[i].Bytes && n <= m.spans[i].Bytes-off && len(m.before[i]) > 0 {
			return m.before[i][off : off+n]
		}
	}
	panic("BUG: a call is checked against memory that it did not name")
}

// Now is what is there.
func (m *Memory) Now(at, n uint64) []byte { return hostmem.Bytes(hostmem.Ptr(at), n) }

// Compare takes a number of the call and the one it should be, rounded as it is stored. They may be bound apart; beyond most the type has
// only infinities.
func (m *Memory) Compare(got, want complex128, bound, most float64, place ...int64) {
	m.Compared++
	off, allowed := apart(got, want, bound, most)
	if off == 0 || m.worst != 0 && off-allowed <= m.worst {
		return
	}
	m.worst = off - allowed
	m.Off, m.Bound, m.Got, m.Want = off, allowed, got, want
	m.At = [3]int64{}
	copy(m.At[:], place)
}

// apart is how far two numbers are apart, and how far they may be. No order of sums explains an infinity or a NaN on one side only, except
// near the largest number.
func apart(a, b complex128, bound, most float64) (off, allowed float64) {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	if same(real(a), real(b)) && same(imag(a), imag(b)) || cmplx.IsNaN(a) && cmplx.IsNaN(b) {
		return 0, 0
	}
	finite := func(v complex128) bool { return !cmplx.IsNaN(v) && !cmplx.IsInf(v) }
	switch {
	case finite(a) && finite(b):
		if math.IsNaN(bound) || math.IsInf(bound, 0) { // finite numbers whose sums could overflow
			bound = math.MaxFloat64
		}
		return cmplx.Abs(a - b), bound
	case finite(a) != finite(b): // one of them rounded up to an infinity
		f := a
		if finite(b) {
			f = b
		}
		if cmplx.Abs(f)+bound >= most {
			return 0, 0
		}
	case part(a, math.IsNaN) || part(b, math.IsNaN): // the parts of products with infinities are infinite or NaN as one multiplies
		if imag(a) != 0 || imag(b) != 0 {
			return 0, 0
		}
	}
	return math.Inf(1), 0
}

// part reports whether either part of a number is such a one.
func part(v complex128, is func(float64) bool) bool { return is(real(v)) || is(imag(v)) }
