package ptx

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Error is one fault of a module, with its place.
type Error struct {
	Pos  Pos
	Line int // from 1
	Col  int // from 1, in bytes
	Near string
	Msg  string
}

// Error is the message in the form of the driver's JIT log.
func (e *Error) Error() string {
	return "ptxas application ptx input, line " + strconv.Itoa(e.Line) + "; error   : " + e.Msg
}

// ErrorList is every fault found in a module, in the order of the text.
type ErrorList []*Error

// Error is the whole log.
func (l ErrorList) Error() string {
	var b strings.Builder
	for _, e := range l {
		b.WriteString(e.Error())
		b.WriteByte('\n')
	}
	b.WriteString("ptxas fatal   : Ptx assembly aborted due to errors")
	return b.String()
}

// Detail is the fault with column and text, for people: "7:12: Unknown symbol 'zz'".
func (e *Error) Detail() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Msg) }

// maxErrors bounds the log of a hostile text; the last entry then says so.
const maxErrors = 1000

// Reporter collects errors of one text.
type Reporter struct {
	text  string
	list  ErrorList
	lines []uint32 // offsets of line starts, made at the first error
	full  bool
}

// NewReporter collects errors of text.
func NewReporter(text string) *Reporter { return &Reporter{text: text} }

// Full reports whether no further error will be kept.
func (r *Reporter) Full() bool { return r.full }

// Report adds a fault at pos.
func (r *Reporter) Report(pos Pos, format string, args ...any) {
	if r.full {
		return
	}
	msg := format
	if len(args) > 0 {
		msg = fmt.Sprintf(format, args...)
	}
	if len(r.list) == maxErrors {
		r.full = true
		msg = "Too many errors"
	}
	line, col := r.Position(pos)
	r.list = append(r.list, &Error{Pos: pos, Line: line, Col: col, Near: nearText(r.text, pos), Msg: msg})
}

// Err is the list, sorted by place, or nil.
func (r *Reporter) Err() error {
	if len(r.list) == 0 {
		return nil
	}
	sort.SliceStable(r.list, func(i, j int) bool { return r.list[i].Pos < r.list[j].Pos })
	return r.list
}

// Position turns an offset into line and column.
func (r *Reporter) Position(pos Pos) (line, col int) {
	if r.lines == nil {
		r.lines = lineStarts(r.text)
	}
	i := sort.Search(len(r.lines), func(i int) bool { return r.lines[i] > uint32(pos) })
	return i, int(uint32(pos)-r.lines[i-1]) + 1
}

func lineStarts(text string) []uint32 {
	starts := append(make([]uint32, 0, strings.Count(text, "\n")+1), 0)
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			return starts
		}
		i += n + 1
		starts = append(starts, uint32(i))
	}
}

// nearText is the word at pos, cut short: what the log shows as the offending text.
func nearText(text string, pos Pos) string {
	if int(pos) >= len(text) {
		return ""
	}
	s := text[pos:]
	n := 0
	for n < len(s) && n < 40 && s[n] > ' ' && s[n] != ',' && s[n] != ';' {
		n++
	}
	if n == 0 {
		n = 1
	}
	return s[:n]
}

// Position turns an offset of the module's text into line and column, both from 1. It may be called by several goroutines.
func (m *Module) Position(pos Pos) (line, col int) {
	m.linesOnce.Do(func() { m.lines = lineStarts(m.Text) })
	i := sort.Search(len(m.lines), func(i int) bool { return m.lines[i] > uint32(pos) })
	return i, int(uint32(pos)-m.lines[i-1]) + 1
}
