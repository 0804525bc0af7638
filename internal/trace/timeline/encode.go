package timeline

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
)

// What page/core.js reads: the length of a JSON header (u32, little endian), the header, then columns of unsigned LEB128
// numbers whose lengths the header has. Rows follow each other in every column.
type header struct {
	Title   string      `json:"title"`
	Notes   []string    `json:"notes"`
	Kinds   []string    `json:"kinds"`
	Rows    []rowHeader `json:"rows"`
	Names   []string    `json:"names"`
	Columns []int       `json:"columns"` // bytes of each, in the order of the constants below
}

type rowHeader struct {
	Label  string `json:"label"`
	Level  int    `json:"level"`
	Shape  Shape  `json:"shape"`
	Device bool   `json:"device,omitempty"`
	Unit   string `json:"unit,omitempty"`
	Spans  int    `json:"spans"`
	Points int    `json:"points"`
	Lanes  int    `json:"lanes"`
}

// The columns.
const (
	colStart = iota // since the span before
	colDur
	colName // index of Names
	colKind
	colLane
	colColor
	colDetail // index of the texts
	colCause  // number of a span + 1, or 0
	colTime   // of points, since the one before
	colValue
	colText // lengths of texts
	colTexts
	numCols
)

type strTable struct {
	index map[string]int
	list  []string
}

func (t *strTable) add(s string) uint64 {
	i, ok := t.index[s]
	if !ok {
		if t.index == nil {
			t.index = map[string]int{}
		}
		i = len(t.list)
		t.index[s] = i
		t.list = append(t.list, s)
	}
	return uint64(i)
}

// causes gives for every span, in the order of rows, the number of the span that its Cause names, plus 1. An enqueue names its call
// too, but is not what the work is found by: there is one call, and any number of enqueues.
func causes(t *Timeline) []uint64 {
	byID := map[uint64]uint64{}
	n := uint64(0)
	for i := range t.Rows {
		for j := range t.Rows[i].Spans {
			n++
			if id := t.Rows[i].Spans[j].ID; id != 0 {
				byID[id] = n
			}
		}
	}
	out := make([]uint64, 0, n)
	for i := range t.Rows {
		for j := range t.Rows[i].Spans {
			s := &t.Rows[i].Spans[j]
			c := uint64(0)
			if s.Cause != 0 && s.Cause != s.ID {
				c = byID[s.Cause]
			}
			out = append(out, c)
		}
	}
	return out
}

// encode is the page's data. t is finished.
func encode(t *Timeline) ([]byte, error) {
	var cols [numCols][]byte
	put := func(c int, v uint64) { cols[c] = binary.AppendUvarint(cols[c], v) }
	var names, texts strTable
	texts.add("")
	h := header{Title: t.Title, Notes: t.Notes, Kinds: kinds[:]}
	cause := causes(t)
	at := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		lane, used := lanes(r.Spans)
		h.Rows = append(h.Rows, rowHeader{Label: clean(r.Label), Level: r.Level, Shape: r.Shape, Device: r.Device, Unit: r.Unit, Spans: len(r.Spans), Points: len(r.Points), Lanes: used})
		before := int64(0)
		for j := range r.Spans {
			s := &r.Spans[j]
			put(colStart, uint64(s.Start-before))
			before = s.Start
			put(colDur, uint64(s.Dur))
			put(colName, names.add(clean(s.Name)))
			put(colKind, uint64(s.Kind))
			put(colLane, uint64(lane[j]))
			put(colColor, uint64(s.Color))
			put(colDetail, texts.add(clean(s.Detail)))
			put(colCause, cause[at])
			at++
		}
		before = 0
		for _, p := range r.Points {
			put(colTime, uint64(p.Time-before))
			before = p.Time
			put(colValue, uint64(max(p.Value, 0)))
		}
	}
	for _, s := range texts.list {
		put(colText, uint64(len(s)))
		cols[colTexts] = append(cols[colTexts], s...)
	}
	h.Names = names.list
	for _, c := range cols {
		h.Columns = append(h.Columns, len(c))
	}
	js, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(js))))
	out.Write(js)
	for _, c := range cols {
		out.Write(c)
	}
	return out.Bytes(), nil
}

// clean makes text of what a program called its kernels and ranges.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
