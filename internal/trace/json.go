package trace

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"kudzu/internal/demangle"
)

// JSON writes records as objects, one a line; docs/tools.md has their fields.
type JSON struct {
	w   *bufio.Writer
	d   *Decoder
	buf []byte
}

// NewJSON writes JSON about what d decodes.
func NewJSON(w io.Writer, d *Decoder) *JSON { return &JSON{w: bufio.NewWriterSize(w, 1<<16), d: d} }

// Flush hands on what was written.
func (j *JSON) Flush() error { return j.w.Flush() }

// Close hands on what was written.
func (j *JSON) Close() error { return j.w.Flush() }

// Record writes one, whose call is decoded.
func (j *JSON) Record(r *Record) error {
	b := append(j.buf[:0], `{"kind":`...)
	kind := "module"
	switch {
	case r.Call != nil:
		kind = "call"
	case r.Event != nil:
		kind = "event"
	}
	b = appendString(b, kind)
	b = appendInt(b, "t", r.Time)
	b = appendInt(b, "pid", int64(r.Thread.Process.PID))
	b = appendInt(b, "tid", int64(r.Thread.TID))
	switch {
	case r.Call != nil:
		b = appendCallJSON(b, r.Call)
	case r.Event != nil:
		b = j.appendEventJSON(b, r.Event)
	default:
		b = appendModuleJSON(b, r.Module)
	}
	j.buf = append(b, '}', '\n')
	_, err := j.w.Write(j.buf)
	return err
}

func appendCallJSON(b []byte, c *Call) []byte {
	b = appendInt(b, "id", int64(c.ID))
	b = appendText(b, "library", c.Library)
	b = appendText(b, "name", c.Name)
	b = appendInt(b, "depth", int64(c.Depth))
	if c.Returned() {
		b = appendInt(b, "ns", c.Duration())
	}
	b = append(b, `,"args":[`...)
	for i := range c.Args {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.Args[i].appendJSON(b)
	}
	b = append(b, ']')
	if c.Returns != nil {
		b = append(b, `,"result":`...)
		b = c.Returns.appendJSON(b)
		if c.Returns.Kind == Enum {
			b = appendInt(b, "code", int64(int32(c.Returns.Bits)))
		}
	}
	if c.Failed {
		b = append(b, `,"failed":true`...)
	}
	if c.Launch != nil {
		b = c.Launch.appendJSON(b)
	}
	if c.Module != nil {
		b = appendText(b, "module", c.Module.File())
	}
	return b
}

// appendFunction adds the name that C++ gives a kernel, if that is another one.
func appendFunction(b []byte, kernel string) []byte {
	if name := demangle.Name(kernel); name != kernel {
		b = appendText(b, "function", name)
	}
	return b
}

func (l *Launch) appendJSON(b []byte) []byte {
	b = append(b, `,"launch":{"kernel":`...)
	b = appendString(b, l.Kernel)
	b = appendFunction(b, l.Kernel)
	b = appendDims(b, "grid", l.Grid)
	b = appendDims(b, "block", l.Block)
	b = appendInt(b, "shared", int64(l.Shared))
	b = append(b, `,"stream":`...)
	b = l.Stream.appendJSON(b)
	b = append(b, `,"params":[`...)
	for i := range l.Params {
		if i > 0 {
			b = append(b, ',')
		}
		b = l.Params[i].appendJSON(b)
	}
	b = append(b, ']')
	if l.Source != "" {
		b = appendText(b, "source", l.Source)
	}
	return append(b, '}')
}

func (a *Arg) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, a.Name)
	b = appendText(b, "type", a.Type)
	b = append(b, `,"value":`...)
	v := &a.Value
	if v.Kind == Pointer && v.To != nil {
		b = appendString(b, "0x"+strconv.FormatUint(v.Bits, 16))
		if a.Out {
			b = append(b, `,"out":`...)
		} else {
			b = append(b, `,"to":`...)
		}
		return append(v.To.appendJSON(b), '}')
	}
	b = v.appendJSON(b)
	if v.Kind == Handle && v.Text != "" {
		b = appendText(b, "bits", "0x"+strconv.FormatUint(v.Bits, 16))
	}
	return append(b, '}')
}

func (v *Value) appendJSON(b []byte) []byte {
	switch v.Kind {
	case Int, Uint:
		return v.appendNumber(b)
	case Float:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return appendString(b, strconv.FormatFloat(v.Float, 'g', -1, 64))
		}
		return v.appendNumber(b)
	case Text:
		return appendString(b, v.Text)
	case Enum:
		return appendString(b, v.Text)
	case Handle:
		if v.Bits == 0 {
			return append(b, "null"...)
		}
		if v.Text != "" {
			return appendString(b, v.Text)
		}
	case Pointer:
		if v.To != nil {
			return v.To.appendJSON(b)
		}
		if v.Bits == 0 {
			return append(b, "null"...)
		}
	case Fields:
		b = append(b, '{')
		for i := range v.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, v.Fields[i].Name)
			b = append(b, ':')
			b = v.Fields[i].Value.appendJSON(b)
		}
		return append(b, '}')
	case Elems:
		b = append(b, '[')
		for i := range v.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Fields[i].Value.appendJSON(b)
		}
		return append(b, ']')
	case Bytes:
		b = append(b, '"')
		for _, c := range v.Bytes {
			b = append(b, hex[c>>4], hex[c&15])
		}
		return append(b, '"')
	case Word, Device:
	}
	return appendString(b, "0x"+strconv.FormatUint(v.Bits, 16))
}

func (j *JSON) appendEventJSON(b []byte, e *Event) []byte {
	b = appendText(b, "event", e.Type.String())
	b = appendInt(b, "ns", e.End-e.Begin)
	if e.Call != 0 {
		b = appendInt(b, "call", int64(e.Call))
	}
	b = appendInt(b, "device", int64(e.Device))
	if s := j.d.Stream(e); s != "" {
		b = appendText(b, "stream", s)
	}
	if e.Text != "" {
		b = appendText(b, "text", e.Text)
	}
	if e.Type == Kernel || e.Type == Compile {
		b = appendFunction(b, e.Text)
	}
	if e.Type == Kernel {
		g, bl := e.Dims()
		b = appendDims(b, "grid", g)
		b = appendDims(b, "block", bl)
	}
	b = append(b, `,"values":[`...)
	for i, v := range e.Values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, v, 10)
	}
	return append(b, ']')
}

func appendModuleJSON(b []byte, m *Module) []byte {
	b = appendText(b, "module", m.File())
	b = appendInt(b, "bytes", int64(m.Bytes))
	return appendInt(b, "call", int64(m.Call))
}

func appendDims(b []byte, key string, d [3]uint32) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':', '[')
	for i, n := range d {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	return append(b, ']')
}

func appendInt(b []byte, key string, n int64) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return strconv.AppendInt(b, n, 10)
}

func appendText(b []byte, key, s string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return appendString(b, s)
}

// appendString quotes as JSON does; what is no UTF-8 is replaced.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			q, err := json.Marshal(s)
			if err != nil {
				panic("BUG: a string that is no JSON: " + err.Error())
			}
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
