package cpu

import (
	"errors"
	"slices"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/engine"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// A kernel's first launches run on baseline code, which is there at once. Its optimised code is made in the background and takes
// over between two launches, or in one between two chunks of its blocks. If it cannot be made, the baseline code stays.

// promotion is a baseline variant that waits for its optimised code.
type promotion struct {
	k     *Kernel
	v     *variant
	at    *found
	since time.Time // when the baseline code was there
}

// promoter has optimised code made, as much at a time as there are processors, the most wanted first: what costs the most time now.
type promoter struct {
	turns int

	mu      lockrank.Mutex[lockrank.CPUPromoter]
	waiting []*promotion // guarded by mu
	running int          // guarded by mu
}

// add has a variant replaced when its turn comes. It must be where replace looks for it.
func (p *promoter) add(m *promotion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, m)
	m.count(1)
	if p.running < p.turns {
		p.running++
		go p.run()
	}
}

// promote has the variant replaced where that is the policy.
func (v *variant) promote() {
	if v.promotion != nil {
		v.kernel.p.dev.b.promoter.add(v.promotion)
	}
}

// run does what waits until nothing does.
func (p *promoter) run() {
	for {
		m := p.next()
		if m == nil {
			return
		}
		m.do()
		m.count(-1)
	}
}

// count adds to those that the report says wait.
func (m *promotion) count(n int) { m.k.p.dev.b.report.add(ReportWaiting, uint64(n)) }

// next takes the most wanted promotion; nil ends a run.
func (p *promoter) next() *promotion {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(m *promotion) bool {
		gone := m.k.gone.Load()
		if gone {
			m.count(-1)
		}
		return gone
	})
	if len(p.waiting) == 0 {
		p.running--
		return nil
	}
	best := 0
	for i, m := range p.waiting {
		if m.v.meter.nanos() > p.waiting[best].v.meter.nanos() {
			best = i
		}
	}
	m := p.waiting[best]
	p.waiting = slices.Delete(p.waiting, best, best+1)
	return m
}

// do compiles and replaces. An unloaded program waits for neither: its code is dropped, or in the cache for the next time.
func (m *promotion) do() {
	k, b := m.k, m.k.p.dev.b
	next, err := k.code(m.v.shape, m.at, compile.Optimised)
	if err != nil {
		if none := (*compile.NoCompiler)(nil); errors.As(err, &none) {
			logx.Once("no compiler", "kernels are not optimised, which costs most of their speed: %s", none)
		}
		logx.Debugf("kernel %s stays on baseline code: %v", k.decl.Name, err)
		b.report.line("kept\t%s\t%s", k.decl.Name, err)
		return
	}
	launches := m.v.meter.launches()
	if !k.replace(m.v, next) {
		next.free()
		return
	}
	b.report.line("replaced\t%s\t%s %d %.1f", k.decl.Name, m.v.shape, launches, float64(time.Since(m.since).Microseconds())/1e3)
	logx.Debugf("kernel %s: optimised code after %d launches", k.decl.Name, launches)
}

// replace puts next in the place of v, which launches under way may still have. Not if the program is gone.
func (k *Kernel) replace(v, next *variant) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone.Load() {
		return false
	}
	next.puts, v.puts = v.puts, nil
	for _, f := range next.puts {
		f.Put(next.code)
	}
	if v.clusters {
		if k.inClusters[v.block] == v {
			k.inClusters[v.block] = next
		}
		k.allClusters = append(k.allClusters, next)
		return true
	}
	var list []*variant
	for _, o := range *k.list.Load() {
		if o == v {
			o = next
		}
		list = append(list, o)
	}
	k.list.Store(&list)
	engine.Changed() // launches without Go take the new code, too
	k.superseded = append(k.superseded, v)
	if old, now := &v.image.Meta, &next.image.Meta; slices.Equal(old.Vars, now.Vars) && old.ParamBytes == now.ParamBytes {
		v.code.Supersede(next.code) // or only launches to come take it
	}
	return true
}
