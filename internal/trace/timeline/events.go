package timeline

import (
	"fmt"
	"strings"

	"kudzu/internal/demangle"
	"kudzu/internal/trace"
)

// What made a kernel's code, by the numbers of trace/emit.
var codes = [...]string{"interpreter", "baseline", "optimised", "vendor's driver"}

func codeName(n uint64) string {
	if n < uint64(len(codes)) {
		return codes[n]
	}
	return fmt.Sprint("code ", n)
}

// Sides of a copy, by CUmemorytype.
var sides = map[uint64]string{1: "host", 2: "device", 3: "array", 4: "unified"}

// event puts one where it belongs; a type that a newer recorder writes is left out.
func (b *builder) event(e *trace.Event) {
	p := b.process(e.Thread.Process)
	b.last = max(b.last, e.End)
	s := Span{Start: e.Begin, Dur: max(e.End-e.Begin, 0), Cause: b.id(p, e.Call), Name: e.Text}
	on := func() {
		q := p.queue(e.Device, e.Stream)
		q.row.Spans = append(q.row.Spans, s)
	}
	switch e.Type {
	case trace.Kernel:
		s.Kind, s.Name, s.Detail = Kernel, b.kernel(e.Text), b.launchDetail(e)
		on()
	case trace.Copy:
		s.Kind = Copy
		s.Name = fmt.Sprintf("%s → %s", sides[e.Values[1]&0xffffffff], sides[e.Values[1]>>32])
		s.Detail = bytesDetail(e)
		on()
	case trace.Fill:
		s.Kind, s.Name, s.Detail = Fill, "fill", bytesDetail(e)
		on()
	case trace.HostFunction:
		s.Kind = Host
		on()
	case trace.Enqueue:
		s.Kind, s.Name = Enqueue, b.kernel(e.Text)
		th := p.thread(e.Thread)
		th.calls.Spans = append(th.calls.Spans, s)
	case trace.Compile:
		p.compile.Spans = append(p.compile.Spans, b.compiled(e, s))
	case trace.Memory:
		p.memory[e.Device] = append(p.memory[e.Device], Point{e.Begin, int64(min(e.Values[0], 1<<62))})
	case trace.Queue:
		switch {
		case e.Values[1] == 1: // the program's own name, which says nothing of a device
			p.named[e.Stream] = e.Text
		case e.Values[0] != 0:
			p.queue(e.Device, e.Stream).name = b.streamName(e)
		}
	case trace.Fault:
		s.Kind, s.Name, s.Detail = Fault, "fault", "message: "+strings.ReplaceAll(e.Text, "\n", " ")
		th := p.thread(e.Thread)
		th.calls.Spans = append(th.calls.Spans, s)
	case trace.ThreadName:
		if tid := e.Values[0]; tid != 0 && tid < 1<<31 {
			p.names[int(tid)] = e.Text
		}
	case trace.Domain:
		p.domains[e.Values[0]] = e.Text
	case trace.RangeBegin, trace.RangeEnd, trace.Mark:
		p.ranged(e, s)
	}
}

// streamName is the driver's name for a queue; streams with a handle go by the numbers that text and JSON have.
func (b *builder) streamName(e *trace.Event) string {
	number, ok := strings.CutPrefix(e.Text, "stream ")
	if !ok {
		return e.Text
	}
	_, rest, _ := strings.Cut(number, " ")
	return strings.TrimSpace(b.decoder.Stream(e) + " " + rest)
}

func (b *builder) launchDetail(e *trace.Event) string {
	var d detail
	grid, block := e.Dims()
	b.called(&d, e.Text)
	d.add("grid", dims(grid))
	d.add("block", dims(block))
	d.addf("dynamic shared memory", "%d", e.Values[3]&0xffffffff)
	d.add("code", codeName(e.Values[3]>>32))
	return d.String()
}

func bytesDetail(e *trace.Event) string {
	var d detail
	d.addf("bytes", "%d", e.Values[0])
	if ns := e.End - e.Begin; ns > 0 {
		d.addf("rate", "%.2f GB/s", float64(e.Values[0])/float64(ns))
	}
	return d.String()
}

func (b *builder) compiled(e *trace.Event, s Span) Span {
	var d detail
	s.Kind, s.Name = Compile, b.kernel(e.Text)
	b.called(&d, e.Text)
	d.add("code", codeName(e.Values[0]))
	if e.Values[1] != 0 {
		d.add("from", "cache")
	} else {
		d.add("from", "compiler")
	}
	if e.Values[2] != 0 {
		d.addf("PTX", "%d bytes", e.Values[2])
		d.addf("image", "%d bytes", e.Values[3])
	}
	s.Detail = d.String()
	return s
}

// maxRanges bounds ranges that a thread has begun and not ended: a program that only pushes is no reason to keep all of them open.
const maxRanges = 1000

// ranged is NVTX: ranges of a thread nest, those with an id may begin and end on any.
func (p *process) ranged(e *trace.Event, s Span) {
	domain, id := e.Values[0], e.Values[2]
	s.Kind, s.Cause = Range, 0
	if c := uint32(e.Values[1]); c != 0 {
		s.Color = 1<<24 | c&0xffffff
	}
	if n := p.domains[domain]; n != "" {
		s.Detail = "domain: " + n
	}
	t := p.thread(e.Thread)
	switch {
	case e.Type == trace.Mark:
		s.Kind = Mark
		t.domain(domain).Spans = append(t.domain(domain).Spans, s)
	case e.Type == trace.RangeBegin && id != 0:
		s.Dur = running
		p.started[id] = s
	case id != 0:
		if open, ok := p.started[id]; ok {
			delete(p.started, id)
			open.Dur = max(e.Begin-open.Start, 0)
			p.ranges.Spans = append(p.ranges.Spans, open)
		}
	case e.Type == trace.RangeBegin:
		s.Dur = running
		if open := t.open[domain]; len(open) >= maxRanges {
			t.domain(domain).Spans = append(t.domain(domain).Spans, open[0])
			t.open[domain] = open[1:]
		}
		t.open[domain] = append(t.open[domain], s)
	default:
		if open := t.open[domain]; len(open) > 0 {
			last := open[len(open)-1]
			last.Dur = max(e.Begin-last.Start, 0)
			t.open[domain] = open[:len(open)-1]
			t.domain(domain).Spans = append(t.domain(domain).Spans, last)
		}
	}
}

// most of a kernel's name is on a span; details have it whole.
const most = 80

// kernel is a name to read: that of the C++ function without parameters, with a number where several have the same.
func (b *builder) kernel(name string) string {
	if b.Mangled {
		return name
	}
	if s, ok := b.short[name]; ok {
		return s
	}
	s := demangle.Column(name, most)
	if s != name {
		b.taken[s]++
		if n := b.taken[s]; n > 1 {
			s = fmt.Sprintf("%s #%d", s, n)
		}
	}
	b.short[name] = s
	return s
}

// called adds what a kernel is called, where the span does not say it.
func (b *builder) called(d *detail, name string) {
	if b.kernel(name) != name {
		d.add("function", demangle.Name(name))
		d.add("symbol", name)
	}
}
