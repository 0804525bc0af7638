package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Printer writes records as lines of text.
type Printer struct {
	NoTime bool // without times and durations: the same on every run
	All    bool // every call that found something not ready, not only the first in a row
	w      *bufio.Writer
	d      *Decoder
	buf    []byte
	waited struct { // calls that found something not ready, one after the other
		thread *Thread
		args   []byte // name and arguments
		more   int    // of them were not written
		begin  int64
		end    int64
	}
}

// NewPrinter writes text about what d decodes.
func NewPrinter(w io.Writer, d *Decoder) *Printer {
	return &Printer{w: bufio.NewWriterSize(w, 1<<16), d: d}
}

// Flush hands on what was written.
func (p *Printer) Flush() error { return p.w.Flush() }

// Close writes what was held back.
func (p *Printer) Close() error {
	if err := p.again(); err != nil {
		return err
	}
	return p.w.Flush()
}

// waits reports a call that is like the one before it, and no line of its own.
func (p *Printer) waits(r *Record) bool {
	c, w := r.Call, &p.waited
	if c == nil || !c.Waiting || p.All || r.Resumed {
		return false
	}
	b := appendArgs(append(p.buf[:0], c.Name...), c)
	p.buf = b
	if w.thread == r.Thread && bytes.Equal(w.args, b) {
		if w.more == 0 {
			w.begin = c.Begin
		}
		w.more++
		w.end = c.End
		return true
	}
	return false
}

// again says how often a call was made that was not written.
func (p *Printer) again() error {
	w := &p.waited
	if w.more == 0 {
		return nil
	}
	b := p.prefix(p.buf[:0], w.thread, w.begin)
	b = fmt.Appendf(b, "... %d times more", w.more)
	if !p.NoTime {
		b = append(b, " <"...)
		b = appendDuration(b, w.end-w.begin)
		b = append(b, '>')
	}
	w.more = 0
	p.buf = append(b, '\n')
	_, err := p.w.Write(p.buf)
	return err
}

// Record writes one, whose call is decoded.
func (p *Printer) Record(r *Record) error {
	if p.waits(r) {
		return nil
	}
	if err := p.again(); err != nil {
		return err
	}
	p.waited.thread = nil
	if c := r.Call; c != nil && c.Waiting && !p.All {
		p.waited.thread, p.waited.args = r.Thread, appendArgs(append(p.waited.args[:0], c.Name...), c)
	}
	switch {
	case r.Call != nil:
		return p.line(r, p.appendCall)
	case r.Event != nil:
		return p.line(r, p.appendEvent)
	case r.Module.Call != 0: // its call's line has it
		return nil
	}
	return p.line(r, p.appendModule)
}

func (p *Printer) line(r *Record, what func([]byte, *Record) []byte) error {
	b := what(p.prefix(p.buf[:0], r.Thread, r.Time), r)
	p.buf = append(printable(b), '\n')
	_, err := p.w.Write(p.buf)
	return err
}

// printable is a line with what a terminal would act on escaped: names and messages are the traced program's, and a newline in one
// would be a line that nobody recorded.
func printable(b []byte) []byte {
	if !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' }) { // nearly all
		return b
	}
	var out []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || !strconv.IsPrint(r) {
			q := strconv.AppendQuote(nil, string(b[:n]))
			out = append(out, q[1:len(q)-1]...)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out
}

// Printable is a name of the traced program for a terminal.
func Printable(s string) string { return string(printable([]byte(s))) }

// prefix is what every line begins with: the time, and the thread with its process if that is not the first.
func (p *Printer) prefix(b []byte, t *Thread, at int64) []byte {
	if !p.NoTime {
		b = appendTime(b, at)
	}
	b = append(b, '[')
	if t.Process.place > 0 {
		b = strconv.AppendInt(b, int64(t.Process.place)+1, 10)
		b = append(b, ':')
	}
	b = strconv.AppendInt(b, int64(t.Number), 10)
	return append(b, ']', ' ')
}

// appendTime writes seconds with six digits after the point, right-aligned.
func appendTime(b []byte, ns int64) []byte {
	s, us := ns/1e9, ns%1e9/1e3
	for w := int64(10_000); w > max(s, 1); w /= 10 {
		b = append(b, ' ')
	}
	b = strconv.AppendInt(b, s, 10)
	b = append(b, '.')
	for w := int64(100_000); w > max(us, 1); w /= 10 {
		b = append(b, '0')
	}
	b = strconv.AppendInt(b, us, 10)
	return append(b, ' ')
}

// maxIndent is how deep nesting is shown.
const maxIndent = 20

func (p *Printer) appendCall(b []byte, r *Record) []byte {
	c := r.Call
	for range min(c.Depth, maxIndent) {
		b = append(b, "  "...)
	}
	if r.Resumed {
		b = append(b, "... "...)
	}
	b = append(b, c.label()...)
	if r.Resumed {
		b = append(b, " resumed"...)
	}
	b = append(b, '(')
	b = appendArgs(b, c)
	b = append(b, ')')
	switch {
	case !c.Returned():
		return append(b, " ..."...)
	case c.Returns != nil:
		b = append(b, " = "...)
		b = c.Returns.append(b)
	}
	if !p.NoTime {
		b = append(b, " <"...)
		b = appendDuration(b, c.Duration())
		b = append(b, '>')
	}
	if c.Launch != nil && c.Launch.Source != "" {
		b = append(b, "  "...)
		b = append(b, c.Launch.Source...)
	}
	if c.Module != nil {
		b = append(b, "  modules/"...)
		b = append(b, c.Module.File()...)
	}
	return b
}

// label is the name of a function, or what is known in its place.
func (c *Call) label() string {
	if c.Name == "" { // a torn file
		return fmt.Sprintf("function_%d", c.Slot)
	}
	return c.Name
}

func appendArgs(b []byte, c *Call) []byte {
	if l := c.Launch; l != nil {
		return l.append(b)
	}
	for i := range c.Args {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = c.Args[i].append(b)
	}
	return b
}

func (l *Launch) append(b []byte) []byte {
	b = append(b, l.Function...)
	b = append(b, ", grid="...)
	b = appendDim(b, l.Grid)
	b = append(b, ", block="...)
	b = appendDim(b, l.Block)
	b = append(b, ", shared="...)
	b = strconv.AppendUint(b, l.Shared, 10)
	b = append(b, ", stream="...)
	b = l.Stream.append(b)
	if l.Params != nil {
		b = append(b, ", params=("...)
		for i := range l.Params {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = l.Params[i].append(b)
		}
		b = append(b, ')')
	}
	return b
}

func appendDim(b []byte, d [3]uint32) []byte {
	for i, n := range d {
		if i > 0 {
			b = append(b, 'x')
		}
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	return b
}

func appendDuration(b []byte, ns int64) []byte {
	switch {
	case ns < 1_000:
		return fmt.Appendf(b, "%d ns", ns)
	case ns < 1_000_000:
		return fmt.Appendf(b, "%.1f us", float64(ns)/1e3)
	case ns < 1_000_000_000:
		return fmt.Appendf(b, "%.2f ms", float64(ns)/1e6)
	}
	return fmt.Appendf(b, "%.3f s", float64(ns)/1e9)
}

// Duration is a time as text shows it.
func Duration(ns int64) string { return string(appendDuration(nil, ns)) }

// eventNames are by EventType.
var eventNames = [...]string{Kernel: "kernel", Copy: "copy", Fill: "fill", HostFunction: "host function", Compile: "compile", Memory: "memory", Queue: "queue",
	Fault: "fault", RangeBegin: "range", RangeEnd: "range end", Mark: "mark", ThreadName: "thread name", Enqueue: "enqueue", Domain: "domain"}

// String names the type.
func (t EventType) String() string {
	if int(t) < len(eventNames) && eventNames[t] != "" {
		return eventNames[t]
	}
	return "event " + strconv.Itoa(int(t))
}

// about is an event's text; that of some is the name of a kernel.
func (d *Decoder) about(e *Event) string {
	switch e.Type {
	case Kernel, Enqueue, Compile:
		return d.Function(e.Text)
	case Copy, Fill, HostFunction, Memory, Queue, Fault, RangeBegin, RangeEnd, Mark, ThreadName, Domain:
	}
	return e.Text
}

func (p *Printer) appendEvent(b []byte, r *Record) []byte {
	e := r.Event
	b = append(b, "-- "...)
	b = append(b, e.Type.String()...)
	if text := p.d.about(e); text != "" && text != e.Type.String() {
		b = append(b, ' ')
		b = append(b, text...)
	}
	switch e.Type {
	case Kernel:
		g, bl := e.Dims()
		b = append(b, " grid="...)
		b = appendDim(b, g)
		b = append(b, " block="...)
		b = appendDim(b, bl)
		b = append(b, " shared="...)
		b = strconv.AppendUint(b, e.Values[3]&0xffffffff, 10)
	case Copy, Fill, Memory:
		b = fmt.Appendf(b, " %d bytes", e.Values[0])
	case Queue:
		b = append(b, map[bool]string{true: " created", false: " destroyed"}[e.Values[0] == 1]...)
	case HostFunction, Compile, Fault, RangeBegin, RangeEnd, Mark, ThreadName, Enqueue, Domain:
	}
	if s := p.d.Stream(e); s != "" {
		b = append(b, " on "...)
		b = append(b, s...)
	}
	if !p.NoTime && e.End > e.Begin {
		b = append(b, " <"...)
		b = appendDuration(b, e.End-e.Begin)
		b = append(b, '>')
	}
	return b
}

// Dims are the grid and the blocks of a kernel's event.
func (e *Event) Dims() (grid, block [3]uint32) {
	v := e.Values
	return [3]uint32{uint32(v[0]), uint32(v[0] >> 32), uint32(v[1])}, [3]uint32{uint32(v[1] >> 32), uint32(v[2]), uint32(v[2] >> 32)}
}

func (p *Printer) appendModule(b []byte, r *Record) []byte {
	return fmt.Appendf(b, "-- module modules/%s (%d bytes)", r.Module.File(), r.Module.Bytes)
}
