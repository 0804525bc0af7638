package cusolver

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/solver"
)

// chosen are the eigenvalues that a call wants: all, those from a number to another, or those of an interval open below.
type chosen struct {
	what        Range
	low, high   float64
	first, last int64
}

// check are the arguments that make no sense, for n values.
func (c *chosen) check(n int64) (kind, interval, first, last bool) {
	some, between := c.what == solver.CUSOLVER_EIG_RANGE_I, c.what == solver.CUSOLVER_EIG_RANGE_V
	kind = !some && !between && c.what != solver.CUSOLVER_EIG_RANGE_ALL
	interval = between && !(c.low < c.high) && n > 0
	first = some && n > 0 && (c.first < 1 || c.first > n)
	last = some && n > 0 && (c.last < min(n, c.first) || c.last > n)
	return kind, interval, first, last
}

// chosenSize are the elements that the number of values found needs.
const chosenSize = 4

// choose brings the values that are wanted to the front, and says how many there are; where only the device knows, it waits.
func (j *job) choose(p *eigen, c *chosen, at uint64) (int64, error) {
	if p.n == 0 || c.what == solver.CUSOLVER_EIG_RANGE_ALL {
		return p.n, nil
	}
	first, last := c.first, c.last
	if c.what == solver.CUSOLVER_EIG_RANGE_V {
		first, last = 0, 0
	}
	var q shim.Params
	q.U64(p.a.Base, uint64(p.a.LD)).U32(uint32(p.n)).U64(uint64(p.w)).U32(flag(p.vectors), uint32(first), uint32(last)).F64(c.low, c.high).U64(at)
	if err := j.one(eigenKernels, "choose_"+p.a.e.String(), 1, &q); err != nil {
		return 0, err
	}
	if first > 0 {
		return last - first + 1, nil
	}
	var n int32
	if err := j.d.MemcpyDtoHAsync(hostmem.Of(&n), driver.DevPtr(at), 4, j.stream); err != nil {
		return 0, err
	}
	return int64(n), j.d.StreamSynchronize(j.stream)
}

// syevdx is syev and a choice.
func (j *job) syevdx(p *eigen, mode Mode, c *chosen) (int64, error) {
	kind, interval, first, last := c.check(p.n)
	if err := j.judge(p.info, !validMode(mode), kind, !validFill(p.fill), p.n < 0, false, p.a.LD < max(1, p.n), false, interval, first, last); err != nil {
		return 0, err
	}
	if err := p.check(j, mode, 0); err != nil {
		return 0, err
	}
	if err := enough(p.work, p.lwork, p.size()+chosenSize); err != nil {
		return 0, err
	}
	if err := j.eigenvalues(p); err != nil {
		return 0, err
	}
	return j.choose(p, c, uint64(p.work)+uint64(p.size())*uint64(p.a.e.Size()))
}

// sygvdx is sygv and a choice.
func (j *job) sygvdx(p *general, mode Mode, c *chosen) (int64, error) {
	kind, interval, first, last := c.check(p.n)
	if err := j.judge(p.info, !validKind(p.kind), !validMode(mode), kind, !validFill(p.fill), p.n < 0, false, p.a.LD < max(1, p.n), false, p.b.LD < max(1, p.n), false, interval, first, last); err != nil {
		return 0, err
	}
	if err := enough(p.work, p.lwork, p.size()+chosenSize); err != nil {
		return 0, err
	}
	if err := j.sygvCall(p, mode); err != nil {
		return 0, err
	}
	return j.choose(&p.eigen, c, uint64(p.work)+uint64(p.size())*uint64(p.a.e.Size()))
}

// found writes the number of values, which is on the host.
func found[N int32 | int64](to hostmem.Ptr, n int64, err error) error {
	if err == nil && to != hostmem.Nil {
		hostmem.Store(to, N(n))
	}
	return err
}

// SyevdxBufferSize is what Syevdx needs.
func (t *Thread) SyevdxBufferSize(h Handle, mode Mode, what Range, fill Fill, n int64, a hostmem.Ptr, lda int64, low, high float64, first, last int64, meig, w hostmem.Ptr, e Elem) (int32, error) {
	size, err := t.syevSize(h, mode, fill, n, lda, 1)
	if err != nil {
		return 0, err
	}
	return count(size + chosenSize)
}

// Syevdx finds some eigenvalues, smallest first, and their vectors if they are wanted.
func (t *Thread) Syevdx(h Handle, mode Mode, what Range, fill Fill, n int64, a hostmem.Ptr, lda int64, low, high float64, first, last int64, meig, w, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	m, err := j.syevdx(&eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: lwork, info: info}, mode, &chosen{what, low, high, first, last})
	return found[int32](meig, m, err)
}

// SygvdxBufferSize is what Sygvdx needs.
func (t *Thread) SygvdxBufferSize(h Handle, kind solver.CusolverEigType_t, mode Mode, what Range, fill Fill, n int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, low, high float64, first, last int64, meig, w hostmem.Ptr, e Elem) (int32, error) {
	size, err := t.SygvdBufferSize(h, kind, mode, fill, n, a, lda, b, ldb, w, e)
	return size + chosenSize, err
}

// Sygvdx is Sygvd for some eigenvalues.
func (t *Thread) Sygvdx(h Handle, kind solver.CusolverEigType_t, mode Mode, what Range, fill Fill, n int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, low, high float64, first, last int64, meig, w, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	p := &general{eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: lwork, info: info}, matAt(b, ldb, e), kind}
	m, err := j.sygvdx(p, mode, &chosen{what, low, high, first, last})
	return found[int32](meig, m, err)
}

// bound is the end of an interval, on the host and of the values' type.
func bound(p hostmem.Ptr, e Elem) float64 {
	switch {
	case p == hostmem.Nil:
		return 0
	case realOf(e) == F32:
		return float64(hostmem.Load[float32](p))
	}
	return hostmem.Load[float64](p)
}

// typedValues is the type of A if that of the values belongs to it.
func typedValues(ta, tw, tc Type) (Elem, error) {
	e, err := typed(ta, tc)
	if err != nil {
		return 0, err
	}
	return e, typedReal(tw, e)
}

// DnXsyevdxBufferSize is what DnXsyevdx needs.
func (t *Thread) DnXsyevdxBufferSize(h Handle, p Params, mode Mode, what Range, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, low, high hostmem.Ptr, first, last int64, meig hostmem.Ptr, tw Type, w hostmem.Ptr, tc Type) (device, host uint64, err error) {
	e, err := typedValues(ta, tw, tc)
	if err != nil {
		return 0, 0, err
	}
	size, err := t.syevSize(h, mode, fill, n, lda, 1)
	return uint64(size+chosenSize) * uint64(e.Size()), 0, err
}

// DnXsyevdx is Syevdx.
func (t *Thread) DnXsyevdx(h Handle, p Params, mode Mode, what Range, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, low, high hostmem.Ptr, first, last int64, meig hostmem.Ptr, tw Type, w hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := typedValues(ta, tw, tc)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	c := &chosen{what: what, first: first, last: last}
	if what == solver.CUSOLVER_EIG_RANGE_V {
		c.low, c.high = bound(low, e), bound(high, e)
	}
	m, err := j.syevdx(&eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: int64(lwork) / int64(e.Size()), info: info}, mode, c)
	return found[int64](meig, m, err)
}

// DnXsygvdxBufferSize is what DnXsygvdx needs.
func (t *Thread) DnXsygvdxBufferSize(h Handle, p Params, kind solver.CusolverEigType_t, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tb Type, b hostmem.Ptr, ldb int64, low, high hostmem.Ptr, first, last int64, meig hostmem.Ptr, tw Type, w hostmem.Ptr, tc Type) (device, host uint64, err error) {
	e, err := typedValues(ta, tw, tc)
	if err != nil || tb != ta {
		return 0, 0, invalidValue
	}
	size, err := t.SygvdBufferSize(h, kind, mode, fill, n, a, lda, b, ldb, w, e)
	return uint64(size+chosenSize) * uint64(e.Size()), 0, err
}

// DnXsygvdx is Sygvdx.
func (t *Thread) DnXsygvdx(h Handle, p Params, kind solver.CusolverEigType_t, mode Mode, what Range, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tb Type, b hostmem.Ptr, ldb int64, low, high hostmem.Ptr, first, last int64, meig hostmem.Ptr, tw Type, w hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := typedValues(ta, tw, tc)
	if err != nil || tb != ta {
		return invalidValue
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	c := &chosen{what: what, first: first, last: last}
	if what == solver.CUSOLVER_EIG_RANGE_V {
		c.low, c.high = bound(low, e), bound(high, e)
	}
	g := &general{eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: int64(lwork) / int64(e.Size()), info: info}, matAt(b, ldb, e), kind}
	m, err := j.sygvdx(g, mode, c)
	return found[int64](meig, m, err)
}
