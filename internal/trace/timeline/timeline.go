// Package timeline is what a traced program did, as rows over time: calls by thread, the work of each stream, compiling,
// memory in use, and the program's own ranges. It writes them as one HTML page and as JSON for Perfetto and Chrome.
package timeline

import (
	"cmp"
	"slices"
)

// Kind says what a span is: its colour in the page and its place in the legend.
type Kind uint8

// The kinds of spans. The page gets them by number, with the names of kinds.
const (
	Call    Kind = iota // a call of an exported function
	Enqueue             // work put on a queue, inside a call
	Kernel
	Copy
	Fill
	Host    // a host function of a stream
	Compile // a kernel becomes machine code
	Range   // NVTX
	Mark    // NVTX; has no duration
	Fault
	numKinds
)

var kinds = [numKinds]string{"API call", "enqueue", "kernel", "copy", "fill", "host function", "compile", "range", "mark", "fault"}

func (k Kind) String() string { return kinds[k] }

// Shape says what a row shows.
type Shape uint8

// The shapes of rows.
const (
	Group  Shape = iota // nothing of its own: a heading that rows below hang on
	Thread              // calls and ranges of a thread, which nest
	Queue               // what ran, and overlaps if it is not one after the other
	Curve               // a value over time
	numShapes
)

// Span is something that took time, or a mark. Times are nanoseconds since the timeline's origin.
type Span struct {
	Start, Dur int64
	Kind       Kind
	Color      uint32 // 0xRRGGBB | 1<<24, or 0: by kind and name
	Name       string
	Detail     string // lines of "name: value"
	ID         uint64 // what Cause of others names; 0: nobody does
	Cause      uint64 // the call that it is the work of
}

// Point is a value of a curve from Time on.
type Point struct{ Time, Value int64 }

// Row is a line of the timeline. Rows come in the order of the page; Level counts the groups above.
type Row struct {
	Label  string
	Level  int
	Shape  Shape
	Device bool // work of a device: counts as busy time
	PID    int  // of the trace's process, for Perfetto
	TID    int
	Unit   string // of a curve: "bytes" or nothing
	Spans  []Span
	Points []Point
}

// Timeline is a whole page.
type Timeline struct {
	Title string
	Notes []string // command, machine, start, what was lost
	Rows  []Row
}

// Len is the number of spans and points.
func (t *Timeline) Len() int {
	n := 0
	for i := range t.Rows {
		n += len(t.Rows[i].Spans) + len(t.Rows[i].Points)
	}
	return n
}

// finish puts every row in order of time and moves the origin to the first thing that happened.
func (t *Timeline) finish() {
	first, any := int64(0), false
	note := func(at int64) {
		if !any || at < first {
			first, any = at, true
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		for j := range r.Spans {
			r.Spans[j].Dur = max(r.Spans[j].Dur, 0) // clocks of processors may disagree by a little
			note(r.Spans[j].Start)
		}
		for j := range r.Points {
			note(r.Points[j].Time)
		}
		// What contains another comes first, so that it gets the upper lane.
		slices.SortStableFunc(r.Spans, func(a, b Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur))
		})
		slices.SortStableFunc(r.Points, func(a, b Point) int { return cmp.Compare(a.Time, b.Time) })
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		for j := range r.Spans {
			r.Spans[j].Start -= first
		}
		for j := range r.Points {
			r.Points[j].Time -= first
		}
	}
}

// maxLanes bounds a row's height, and a lane's number to a byte.
const maxLanes = 250

// lanes gives each span of a sorted row the lowest lane that is free when it begins. Where spans nest, that is the one below those
// around it; where they do not (ranges of frames that overlap), as many lanes are used as there are spans at a time. Two spans of
// one lane do not overlap, which is what drawing and searching by time rely on, except in the last lane, where everything is that
// has more than maxLanes others around it.
func lanes(spans []Span) ([]uint8, int) {
	out := make([]uint8, len(spans))
	var ends []int64 // by lane
	used := 0
	for i, s := range spans {
		lane := slices.IndexFunc(ends, func(end int64) bool { return end <= s.Start })
		if lane < 0 {
			lane = len(ends)
		}
		if end := s.Start + max(s.Dur, 1); lane < len(ends) {
			ends[lane] = end
		} else if lane < maxLanes {
			ends = append(ends, end)
		}
		out[i] = uint8(lane)
		used = max(used, lane+1)
	}
	return out, used
}
