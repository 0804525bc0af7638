package trace

import (
	"cmp"
	"slices"
)

// Count is how often something happened and how long it took, in nanoseconds. Calls that have not returned count, and take no
// time.
type Count struct {
	Name            string
	Library         string // of functions
	Calls, Failed   int
	Total, Min, Max int64
	done            int
}

func (c *Count) add(ns int64, returned, failed bool) {
	c.Calls++
	if failed {
		c.Failed++
	}
	if !returned {
		return
	}
	if c.done == 0 || ns < c.Min {
		c.Min = ns
	}
	c.Max = max(c.Max, ns)
	c.Total += ns
	c.done++
}

// Timed reports whether any of them took a time that is known.
func (c *Count) Timed() bool { return c.done > 0 }

// Mean is the average time of those that took any.
func (c *Count) Mean() int64 {
	if c.done == 0 {
		return 0
	}
	return c.Total / int64(c.done)
}

// Stats is a trace in numbers. All lists begin with what took longest.
type Stats struct {
	Calls, Failed int
	Functions     []*Count
	Libraries     []*Count // calls of the program itself, not those between libraries
	Kernels       []*Count // launches; the time is that of the kernel where the trace has it
	Threads       []*Count
	Events        []*Count
	Span          int64 // from the first record to the last
}

type counts map[string]*Count

func (m counts) of(key, library, name string) *Count {
	c := m[key]
	if c == nil {
		c = &Count{Name: name, Library: library}
		m[key] = c
	}
	return c
}

func (m counts) sorted() []*Count {
	all := make([]*Count, 0, len(m))
	for _, c := range m {
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y *Count) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Library, y.Library))
	})
	return all
}

// Stats counts what wants lets through; nil is everything.
func (t *Trace) Stats(wants func(r *Record) bool) (*Stats, error) {
	s := &Stats{}
	functions, libraries, kernels, ran, threads, events := counts{}, counts{}, counts{}, counts{}, counts{}, counts{}
	d := NewDecoder(t.Dir)
	err := t.Each(func(r *Record) bool {
		if r.Call != nil {
			d.Decode(r.Call)
		}
		if wants != nil && !wants(r) {
			return true
		}
		switch {
		case r.Call != nil:
			c := r.Call
			ns, returned, failed := c.Duration(), c.Returned(), c.Failed && !c.Waiting
			s.Calls++
			s.Span = max(s.Span, r.Time+ns)
			if failed {
				s.Failed++
			}
			functions.of(c.Library+" "+c.label(), c.Library, c.label()).add(ns, returned, failed)
			if c.Depth == 0 {
				libraries.of(c.Library, "", c.Library).add(ns, returned, failed)
				name := threadName(r.Thread)
				threads.of(name, "", name).add(ns, returned, failed)
			}
			if c.Launch != nil && c.innermost() {
				kernels.of(c.Launch.Kernel, "", c.Launch.Kernel).add(0, false, failed)
			}
		case r.Event != nil:
			e := r.Event
			s.Span = max(s.Span, e.End)
			events.of(e.Type.String(), "", e.Type.String()).add(e.End-e.Begin, true, false)
			if e.Type == Kernel {
				ran.of(e.Text, "", e.Text).add(e.End-e.Begin, true, false)
			}
		}
		return true
	})
	for name, c := range ran { // the library's own kernels are launched by no call that is seen
		c.Failed, kernels[name] = failedOf(kernels[name]), c
	}
	s.Functions, s.Libraries, s.Kernels, s.Threads, s.Events = functions.sorted(), libraries.sorted(), kernels.sorted(), threads.sorted(), events.sorted()
	return s, err
}

func failedOf(c *Count) int {
	if c == nil {
		return 0
	}
	return c.Failed
}

// innermost leaves out launches of the runtime, which NVIDIA's passes on to the driver: that call is seen as well.
func (c *Call) innermost() bool {
	return !c.Thread.Process.Real || c.Library == "libcuda.so.1"
}

// threadName is how a thread is told apart from others.
func threadName(t *Thread) string {
	name := "thread " + itoa(t.Number)
	if t.Process.place > 0 {
		name = "process " + itoa(t.Process.place+1) + ", " + name
	}
	if t.Name != "" {
		name += " (" + t.Name + ")"
	}
	return name
}
