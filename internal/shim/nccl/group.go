package nccl

import (
	"slices"
	"sync"

	"kudzu/internal/driver"
	"kudzu/internal/engine"
	"kudzu/internal/spec/cu"
)

// group is what a thread calls between ncclGroupStart and ncclGroupEnd.
type group struct {
	depth int
	err   error
	units []*unit // in the order of their first calls
	where map[*comm][]cu.CUstream
	inits []func() error
}

var groups sync.Map // of *group, by Thread.ID

func (t *Thread) group() *group {
	g, _ := groups.Load(t.ID)
	if g == nil {
		return nil
	}
	return g.(*group)
}

// GroupStart begins a group, or one inside it.
func (t *Thread) GroupStart() error {
	g := t.group()
	if g == nil {
		g = newGroup()
		groups.Store(t.ID, g)
		engine.TicketGroup(&t.Tickets, true)
	}
	g.depth++
	return nil
}

func newGroup() *group { return &group{where: map[*comm][]cu.CUstream{}} }

// GroupEnd does what the outermost group has.
func (t *Thread) GroupEnd() error {
	g := t.group()
	if g == nil {
		return badUsage("ncclGroupEnd without ncclGroupStart")
	}
	if g.depth--; g.depth > 0 {
		return nil
	}
	groups.Delete(t.ID)
	engine.TicketGroup(&t.Tickets, false)
	if g.err != nil {
		return g.err
	}
	return g.flush(t)
}

// flush makes communicators, all at once, and sends operations to their streams.
func (g *group) flush(t *Thread) error {
	errs := make([]error, len(g.inits))
	var wg sync.WaitGroup
	for i, f := range g.inits {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	progress := false
	for _, err := range errs {
		if err == inProgress {
			progress = true
		} else if err != nil {
			return err
		}
	}
	if err := g.launch(t.driver()); err != nil {
		return err
	}
	if progress {
		return inProgress
	}
	return nil
}

// launch starts the units: those that wait in their streams first.
func (g *group) launch(d *driver.Thread) error {
	var lents []*lent
	var copies []*staged
	for _, u := range g.units {
		streams := g.where[u.c]
		if u.c.reach == byHost {
			if err := u.launch(d, streams); err != nil {
				return err
			}
			continue
		}
		own := slices.DeleteFunc(slices.Clone(u.ops), (*op).isLent)
		theirs := slices.DeleteFunc(slices.Clone(u.ops), func(o *op) bool { return !o.isLent() })
		if len(theirs) > 0 {
			lents = append(lents, &lent{unit: &unit{c: u.c, ops: theirs}, streams: streams})
		}
		if len(own) > 0 {
			copies = append(copies, &staged{unit: &unit{c: u.c, ops: own}, streams: streams})
		}
	}
	if len(lents) > 0 {
		if err := launchLent(d, lents); err != nil {
			return err
		}
	}
	if len(copies) > 0 {
		return runStaged(d, copies)
	}
	return nil
}

// add puts an operation into the group.
func (g *group) add(o *op, stream cu.CUstream) {
	i := slices.IndexFunc(g.units, func(u *unit) bool { return u.c == o.c })
	if i < 0 {
		i = len(g.units)
		g.units = append(g.units, &unit{c: o.c})
	}
	g.units[i].ops = append(g.units[i].ops, o)
	if !slices.Contains(g.where[o.c], stream) {
		g.where[o.c] = append(g.where[o.c], stream)
	}
}

// perform runs f, which looks at the arguments of a call and adds it to a group. Outside of one it has a group of its own.
func (t *Thread) perform(f func(g *group) error) error {
	if g := t.group(); g != nil {
		err := f(g)
		if err != nil && err != inProgress && g.err == nil {
			g.err = err
		}
		return err
	}
	g := newGroup()
	if err := f(g); err != nil {
		return err
	}
	return g.flush(t)
}

// initialize makes communicators, now or at the end of the group.
func (t *Thread) initialize(f func() error) error {
	return t.perform(func(g *group) error {
		g.inits = append(g.inits, f)
		return nil
	})
}
