package timeline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kudzu/internal/trace"
)

// Build makes the timeline of a trace.
func Build(t *trace.Trace, o Options) (*Timeline, error) {
	b := &builder{Options: o, decoder: trace.NewDecoder(t.Dir), procs: map[*trace.Process]*process{}, short: map[string]string{}, taken: map[string]int{}}
	err := t.Each(func(r *trace.Record) bool {
		b.last = max(b.last, r.Time)
		switch {
		case r.Call != nil:
			b.call(r.Call)
		case r.Event != nil:
			b.event(r.Event)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	out := &Timeline{Title: title(t), Notes: notes(t)}
	for _, p := range t.Processes {
		if have := b.procs[p]; have != nil {
			have.rows(out, b.last)
		}
	}
	return out, nil
}

func title(t *trace.Trace) string {
	args := t.Meta.Command
	if len(args) == 0 && len(t.Processes) > 0 {
		args = t.Processes[0].Args
	}
	if len(args) == 0 {
		return filepath.Base(t.Dir)
	}
	return strings.Join(append([]string{filepath.Base(args[0])}, args[1:]...), " ")
}

func notes(t *trace.Trace) []string {
	var out []string
	if !t.Start.IsZero() {
		out = append(out, t.Start.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if t.Meta.Backend != "" {
		out = append(out, "backend "+t.Meta.Backend)
	}
	if t.Meta.Machine != "" {
		out = append(out, t.Meta.Machine)
	}
	lost, real := 0, false
	for _, p := range t.Processes {
		lost += p.Lost
		real = real || p.Real
	}
	if real {
		out = append(out, "NVIDIA's own libraries")
	}
	if lost > 0 {
		out = append(out, fmt.Sprintf("%d records were lost", lost))
	}
	return out
}

// Options are what a timeline is to show.
type Options struct {
	Mangled bool // names of kernels as modules have them
}

type builder struct {
	Options
	decoder *trace.Decoder
	procs   map[*trace.Process]*process
	last    int64
	ids     uint64
	short   map[string]string // of kernels, by their names
	taken   map[string]int
}

// process is what was seen of one so far.
type process struct {
	p       *trace.Process
	threads []*thread // in the order of their first calls
	byTID   map[*trace.Thread]*thread
	queues  map[queueKey]*queue
	names   map[int]string    // of threads, by TID, as other threads gave them
	named   map[uint64]string // streams, by the program
	domains map[uint64]string // of NVTX
	compile Row
	ranges  Row // that are no thread's
	started map[uint64]Span
	memory  map[int][]Point
	ids     map[uint64]uint64 // of calls, as spans have them
}

type queueKey struct {
	device int
	stream uint64
}

type queue struct {
	name  string
	order int
	row   Row
}

// thread has a row of calls and one of ranges a domain.
type thread struct {
	t     *trace.Thread
	calls Row
	open  map[uint64][]Span // ranges pushed and not popped, by domain
	nvtx  map[uint64]*Row
}

func (b *builder) process(p *trace.Process) *process {
	have := b.procs[p]
	if have == nil {
		have = &process{
			p: p, byTID: map[*trace.Thread]*thread{}, queues: map[queueKey]*queue{}, names: map[int]string{}, named: map[uint64]string{}, domains: map[uint64]string{},
			started: map[uint64]Span{}, memory: map[int][]Point{}, ids: map[uint64]uint64{},
		}
		b.procs[p] = have
	}
	return have
}

func (p *process) thread(t *trace.Thread) *thread {
	have := p.byTID[t]
	if have == nil {
		have = &thread{t: t, open: map[uint64][]Span{}, nvtx: map[uint64]*Row{}}
		p.byTID[t] = have
		p.threads = append(p.threads, have)
	}
	return have
}

func (p *process) queue(device int, stream uint64) *queue {
	k := queueKey{device, stream}
	q := p.queues[k]
	if q == nil {
		q = &queue{order: len(p.queues)}
		p.queues[k] = q
	}
	return q
}

// id is a call's for spans: those of the file are unique in one process only.
func (b *builder) id(p *process, call uint64) uint64 {
	if call == 0 {
		return 0
	}
	id := p.ids[call]
	if id == 0 {
		b.ids++
		id = b.ids
		p.ids[call] = id
	}
	return id
}

// running marks a span that has no end yet; rows gives it the end of the trace.
const running = -1

func (b *builder) call(c *trace.Call) {
	b.decoder.Decode(c)
	p := b.process(c.Thread.Process)
	s := Span{Start: c.Begin, Dur: running, Kind: Call, Name: c.Name, ID: b.id(p, c.ID), Detail: callDetail(b, c)}
	if s.Name == "" {
		s.Name = fmt.Sprintf("function %d of %s", c.Slot, c.Library)
	}
	if c.Returned() {
		s.Dur = c.Duration()
		b.last = max(b.last, c.End)
	}
	th := p.thread(c.Thread)
	th.calls.Spans = append(th.calls.Spans, s)
}

func callDetail(b *builder, c *trace.Call) string {
	var d detail
	d.add("library", c.Library)
	if l := c.Launch; l != nil {
		d.add("kernel", b.kernel(l.Kernel))
		b.called(&d, l.Kernel)
		d.add("source", l.Source)
		d.add("grid", dims(l.Grid))
		d.add("block", dims(l.Block))
		d.addf("dynamic shared memory", "%d", l.Shared)
		d.add("stream", l.Stream.String())
		for i := range l.Params {
			d.add(cmp.Or(l.Params[i].Name, fmt.Sprint("parameter ", i)), l.Params[i].Value.String())
		}
	} else {
		for i := range c.Args {
			a, v := &c.Args[i], &c.Args[i].Value
			name := cmp.Or(a.Name, fmt.Sprint("argument ", i))
			if a.Out && v.To != nil {
				name, v = "*"+name, v.To
			}
			d.add(name, v.String())
		}
	}
	switch {
	case !c.Returned():
		d.add("result", "has not returned")
	case c.Returns != nil:
		d.add("result", c.Returns.String())
	}
	if c.Module != nil {
		d.add("module", c.Module.File())
	}
	return d.String()
}

// detail is lines of "name: value".
type detail struct{ strings.Builder }

func (d *detail) add(name, value string) {
	if value == "" {
		return
	}
	if d.Len() > 0 {
		d.WriteByte('\n')
	}
	d.WriteString(name + ": " + strings.ReplaceAll(value, "\n", " "))
}

func (d *detail) addf(name, format string, args ...any) { d.add(name, fmt.Sprintf(format, args...)) }

func dims(d [3]uint32) string { return fmt.Sprintf("%d × %d × %d", d[0], d[1], d[2]) }

// rows are the process's, in the order of the page: memory, threads with their ranges, devices with their queues, compiling.
func (p *process) rows(out *Timeline, last int64) {
	name := "process"
	if len(p.p.Args) > 0 {
		name = filepath.Base(p.p.Args[0])
	}
	add := func(r Row) {
		r.PID = p.p.PID
		for i := range r.Spans {
			if s := &r.Spans[i]; s.Dur == running {
				s.Dur = max(last-s.Start, 0)
			}
		}
		out.Rows = append(out.Rows, r)
	}
	add(Row{Label: fmt.Sprintf("%s (%d)", name, p.p.PID), Shape: Group})
	for _, device := range sortedKeys(p.memory) {
		add(Row{Label: fmt.Sprintf("memory in use, device %d", device), Level: 1, Shape: Curve, Unit: "bytes", Points: p.memory[device]})
	}
	if len(p.ranges.Spans) > 0 || len(p.started) > 0 {
		for _, s := range p.started {
			p.ranges.Spans = append(p.ranges.Spans, s)
		}
		p.ranges.Label, p.ranges.Level, p.ranges.Shape = "ranges of the process", 1, Queue // they need not nest
		add(p.ranges)
	}
	for _, t := range p.threads {
		p.threadRows(t, add)
	}
	p.queueRows(add)
	if len(p.compile.Spans) > 0 {
		p.compile.Label, p.compile.Level, p.compile.Shape = "compile", 1, Queue
		add(p.compile)
	}
}

func (p *process) threadRows(t *thread, add func(Row)) {
	name := cmp.Or(t.t.Name, p.names[t.t.TID])
	if name == "" && t.t.TID == p.p.PID {
		name = "main"
	}
	t.calls.Label, t.calls.Level, t.calls.Shape, t.calls.TID = strings.TrimSpace(fmt.Sprintf("thread %d %s", t.t.TID, name)), 1, Thread, t.t.TID
	level := 1
	if len(t.calls.Spans) > 0 {
		add(t.calls)
		level = 2
	}
	for domain, open := range t.open {
		t.domain(domain).Spans = append(t.domain(domain).Spans, open...)
	}
	for _, domain := range sortedKeys(t.nvtx) {
		r := t.nvtx[domain]
		r.Label, r.Level, r.Shape = "ranges", level, Thread
		if level == 1 {
			r.Label = "ranges of " + t.calls.Label
		}
		if n := p.domains[domain]; n != "" {
			r.Label += " (" + n + ")"
		}
		add(*r)
	}
}

func (p *process) queueRows(add func(Row)) {
	keys := make([]queueKey, 0, len(p.queues))
	for k, q := range p.queues {
		if len(q.row.Spans) > 0 { // one that nobody used is not shown
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y queueKey) int {
		return cmp.Or(cmp.Compare(x.device, y.device), cmp.Compare(p.queues[x].order, p.queues[y].order))
	})
	device := -1
	for _, k := range keys {
		if k.device != device {
			device = k.device
			add(Row{Label: fmt.Sprintf("device %d", device), Level: 1, Shape: Group})
		}
		q := p.queues[k]
		q.row.Label, q.row.Level, q.row.Shape, q.row.Device = cmp.Or(p.named[k.stream], q.name), 2, Queue, true
		if q.row.Label == "" {
			q.row.Label = fmt.Sprintf("stream %#x", k.stream)
			switch k.stream {
			case 0:
				q.row.Label = "other work"
			case 1: // CU_STREAM_LEGACY
				q.row.Label = "default stream"
			}
		}
		add(q.row)
	}
}

func (t *thread) domain(d uint64) *Row {
	r := t.nvtx[d]
	if r == nil {
		r = &Row{}
		t.nvtx[d] = r
	}
	return r
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
