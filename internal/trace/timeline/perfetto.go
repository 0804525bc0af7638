package timeline

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// Perfetto writes the timeline in the trace event format, which Perfetto's and Chrome's pages load: X for spans, i for marks,
// C for curves, M for names, and arrows (s, f) from a call to the work that it put on a queue.
func (t *Timeline) Perfetto(w io.Writer) error {
	t.finish()
	out := bufio.NewWriterSize(w, 1<<20)
	p := perfetto{out: out}
	p.text(`{"displayTimeUnit":"ns","otherData":`)
	p.json(map[string]string{"title": clean(t.Title), "notes": clean(strings.Join(t.Notes, "\n"))})
	p.text(`,"traceEvents":[`)
	p.names(t)
	cause, n := causes(t), 0
	type place struct{ row, span int }
	var places []place
	for i := range t.Rows {
		for j := range t.Rows[i].Spans {
			places = append(places, place{i, j})
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		lane, _ := lanes(r.Spans)
		for j := range r.Spans {
			s := &r.Spans[j]
			p.lane = 0
			if r.Shape == Queue { // what overlaps there is not nested, which a track of theirs would have to be
				p.lane = int(lane[j])
			}
			p.span(r, i, s)
			if c := cause[n]; c != 0 && s.Kind != Enqueue {
				from := places[c-1]
				p.arrow(n+1, t, from.row, from.span, i, s)
			}
			n++
		}
		for _, pt := range r.Points {
			p.begin("C", r, i, clean(r.Label), pt.Time)
			p.text(`,"args":{"value":` + strconv.FormatInt(pt.Value, 10) + `}}`)
		}
	}
	p.text("]}\n")
	if p.err != nil {
		return p.err
	}
	return out.Flush()
}

type perfetto struct {
	out  *bufio.Writer
	some bool
	lane int // of the row
	err  error
}

func (p *perfetto) text(s string) {
	if p.err == nil {
		_, p.err = p.out.WriteString(s)
	}
}

func (p *perfetto) json(v any) {
	b, err := json.Marshal(v)
	if p.err == nil {
		p.err = err
	}
	p.text(string(b))
}

// begin opens an event. Times are microseconds; three digits keep nanoseconds.
func (p *perfetto) begin(ph string, r *Row, row int, name string, at int64) {
	if p.some {
		p.text(",\n")
	}
	p.some = true
	p.text(`{"ph":"` + ph + `","pid":` + strconv.Itoa(r.PID) + `,"tid":` + strconv.Itoa(p.tid(r, row)) + `,"ts":` + micros(at) + `,"name":`)
	p.json(name)
}

// tid of a row: threads keep their own, rows of devices get numbers that no thread has.
func (p *perfetto) tid(r *Row, row int) int {
	if r.TID != 0 {
		return r.TID
	}
	return 1<<30 + row<<8 + p.lane
}

func micros(ns int64) string {
	frac := strconv.FormatInt(1000+ns%1000, 10)
	return strconv.FormatInt(ns/1000, 10) + "." + frac[1:]
}

func (p *perfetto) span(r *Row, row int, s *Span) {
	if s.Kind == Mark || s.Kind == Fault {
		p.begin("i", r, row, clean(s.Name), s.Start)
		p.text(`,"s":"t"`)
	} else {
		p.begin("X", r, row, clean(s.Name), s.Start)
		p.text(`,"dur":` + micros(s.Dur))
	}
	p.text(`,"cat":"` + s.Kind.String() + `","args":`)
	args := map[string]string{}
	for line := range strings.Lines(clean(s.Detail)) {
		if k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			args[k] = v
		}
	}
	p.json(args)
	p.text("}")
}

func (p *perfetto) arrow(id int, t *Timeline, fromRow, fromSpan, row int, s *Span) {
	r, lane := &t.Rows[fromRow], p.lane
	p.lane = 0 // a thread's
	p.begin("s", r, fromRow, "enqueue", r.Spans[fromSpan].Start)
	p.text(`,"cat":"enqueue","id":` + strconv.Itoa(id) + `}`)
	p.lane = lane
	p.begin("f", &t.Rows[row], row, "enqueue", s.Start)
	p.text(`,"cat":"enqueue","bp":"e","id":` + strconv.Itoa(id) + `}`)
}

// names tells what processes and rows are called, and their order.
func (p *perfetto) names(t *Timeline) {
	seen := map[int]bool{}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Level == 0 && !seen[r.PID] {
			seen[r.PID] = true
			p.begin("M", r, i, "process_name", 0)
			p.text(`,"args":`)
			p.json(map[string]string{"name": clean(r.Label)})
			p.text("}")
			continue
		}
		if r.Shape == Thread || r.Shape == Queue {
			p.begin("M", r, i, "thread_name", 0)
			p.text(`,"args":`)
			p.json(map[string]string{"name": clean(r.Label)})
			p.text("}")
			p.begin("M", r, i, "thread_sort_index", 0)
			p.text(`,"args":{"sort_index":` + strconv.Itoa(i<<8) + `}}`)
			_, used := lanes(r.Spans)
			for p.lane = 1; r.Shape == Queue && p.lane < used; p.lane++ {
				p.begin("M", r, i, "thread_name", 0)
				p.text(`,"args":`)
				p.json(map[string]string{"name": clean(r.Label) + " " + strconv.Itoa(p.lane+1)})
				p.text("}")
				p.begin("M", r, i, "thread_sort_index", 0)
				p.text(`,"args":{"sort_index":` + strconv.Itoa(i<<8+p.lane) + `}}`)
			}
			p.lane = 0
		}
	}
}
