package timeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// traceEvent is one of the Trace Event Format, with every field that we write.
type traceEvent struct {
	Ph   string         `json:"ph"`
	Name string         `json:"name"`
	Cat  string         `json:"cat"`
	PID  *int64         `json:"pid"`
	TID  *int64         `json:"tid"`
	TS   json.Number    `json:"ts"`
	Dur  json.Number    `json:"dur"`
	S    string         `json:"s"`
	BP   string         `json:"bp"`
	ID   *int64         `json:"id"`
	Args map[string]any `json:"args"`
}

type track struct{ pid, tid int64 }

type slice struct{ begin, end int64 } // nanoseconds

// rules are those of the Trace Event Format, and of Perfetto where it drops what does not keep them.
type rules struct {
	processes map[int64]bool
	threads   map[track]bool
	slices    map[track][]slice
	starts    map[int64]traceEvent // of arrows, by id
	ends      map[int64]traceEvent
	bad       []string
}

// checkPerfetto tells in which places a file breaks them.
func checkPerfetto(b []byte) []string {
	var file struct {
		Unit   string            `json:"displayTimeUnit"`
		Other  map[string]string `json:"otherData"`
		Events []traceEvent      `json:"traceEvents"`
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(&file); err != nil {
		return []string{err.Error()}
	}
	r := &rules{processes: map[int64]bool{}, threads: map[track]bool{}, slices: map[track][]slice{}, starts: map[int64]traceEvent{}, ends: map[int64]traceEvent{}}
	if file.Unit != "ns" && file.Unit != "ms" {
		r.add("unit %q", file.Unit)
	}
	for _, e := range file.Events {
		r.event(e)
	}
	for at, list := range r.slices {
		if !r.processes[at.pid] || !r.threads[at] {
			r.add("%v has no name", at)
		}
		r.nest(at, list)
	}
	r.arrows()
	return r.bad
}

func (r *rules) add(format string, args ...any) { r.bad = append(r.bad, fmt.Sprintf(format, args...)) }

// nanos reads microseconds with three digits behind the point.
func nanos(n json.Number) (int64, bool) {
	var us, ns int64
	var digits string
	if k, _ := fmt.Sscanf(n.String(), "%d.%3s", &us, &digits); k != 2 || len(digits) != 3 {
		return 0, false
	}
	if k, _ := fmt.Sscanf(digits, "%d", &ns); k != 1 || us < 0 {
		return 0, false
	}
	return us*1000 + ns, fmt.Sprintf("%d.%03d", us, ns) == n.String()
}

func (r *rules) event(e traceEvent) {
	ts, ok := nanos(e.TS)
	if !ok || e.PID == nil || e.TID == nil || *e.TID < 0 || *e.TID >= 1<<31 || e.Name == "" {
		r.add("%+v: pid, tid, ts or name", e)
		return
	}
	at := track{*e.PID, *e.TID}
	switch e.Ph {
	case "X":
		dur, ok := nanos(e.Dur)
		if !ok || e.Cat == "" {
			r.add("%+v: dur or cat", e)
		}
		r.slices[at] = append(r.slices[at], slice{ts, ts + dur})
	case "i":
		if e.S != "t" && e.S != "p" && e.S != "g" {
			r.add("%+v: scope", e)
		}
	case "C":
		if len(e.Args) == 0 {
			r.add("%+v: no value", e)
		}
		for _, v := range e.Args {
			if _, ok := v.(json.Number); !ok {
				r.add("%+v: not a number", e)
			}
		}
	case "M":
		r.meta(e, at)
	case "s", "f":
		ends := map[string]map[int64]traceEvent{"s": r.starts, "f": r.ends}[e.Ph]
		if e.ID == nil || e.Cat == "" || e.Ph == "f" && e.BP != "e" {
			r.add("%+v: id, cat or bp", e)
			return
		}
		if _, again := ends[*e.ID]; again {
			r.add("%+v: again", e)
		}
		ends[*e.ID] = e
	default:
		r.add("%+v: phase", e)
	}
	if e.Ph != "X" && e.Dur != "" {
		r.add("%+v: has a length", e)
	}
}

func (r *rules) meta(e traceEvent, at track) {
	name, named := e.Args["name"].(string)
	_, sorted := e.Args["sort_index"].(json.Number)
	switch {
	case e.Name == "process_name" && named && name != "":
		r.processes[at.pid] = true
	case e.Name == "thread_name" && named && name != "":
		r.threads[at] = true
	case e.Name == "thread_sort_index" && sorted, e.Name == "process_sort_index" && sorted:
	default:
		r.add("%+v: metadata", e)
	}
}

// nest: slices of a track lie in each other or beside each other.
func (r *rules) nest(at track, list []slice) {
	slices.SortStableFunc(list, func(x, y slice) int { return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(y.end, x.end)) })
	var open []slice
	for _, s := range list {
		for len(open) > 0 && open[len(open)-1].end <= s.begin {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && s.end > open[len(open)-1].end {
			r.add("%v: %v begins in %v and ends after it", at, s, open[len(open)-1])
			return
		}
		open = append(open, s)
	}
}

// arrows: both ends are there, in the order of time, and each lies in a slice.
func (r *rules) arrows() {
	if len(r.starts) != len(r.ends) {
		r.add("%d arrows begin, %d end", len(r.starts), len(r.ends))
	}
	for id, s := range r.starts {
		f, ok := r.ends[id]
		if !ok || f.Name != s.Name || f.Cat != s.Cat {
			r.add("arrow %d: %+v and %+v", id, s, f)
			continue
		}
		from, _ := nanos(s.TS)
		to, _ := nanos(f.TS)
		if to < from {
			r.add("arrow %d goes back in time: %d to %d", id, from, to)
		}
		for _, e := range []traceEvent{s, f} {
			ts, _ := nanos(e.TS)
			if !slices.ContainsFunc(r.slices[track{*e.PID, *e.TID}], func(in slice) bool { return in.begin <= ts && ts <= in.end }) {
				r.add("arrow %d: nothing is there: %+v", id, e)
			}
		}
	}
}

func TestPerfettoRules(t *testing.T) {
	recorded, err := Build(recorded(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tl := range map[string]*Timeline{"empty": {}, "recorded": recorded, "synthetic": synthetic(2000)} {
		var out bytes.Buffer
		if err := tl.Perfetto(&out); err != nil {
			t.Fatal(err)
		}
		for i, s := range checkPerfetto(out.Bytes()) {
			if i < 5 {
				t.Errorf("%s: %s", name, s)
			}
		}
	}
}

// TestPerfettoRulesFail: what breaks a rule is found.
func TestPerfettoRulesFail(t *testing.T) {
	const names = `{"ph":"M","pid":1,"tid":1,"ts":0.000,"name":"process_name","args":{"name":"p"}},{"ph":"M","pid":1,"tid":1,"ts":0.000,"name":"thread_name","args":{"name":"t"}},`
	const call = `{"ph":"X","pid":1,"tid":1,"ts":1.000,"dur":5.000,"name":"f","cat":"c","args":{}}`
	for body, fine := range map[string]bool{
		names + call: true,
		call:         false,
		names + `{"ph":"X","pid":1,"tid":1,"ts":1.000,"name":"f","cat":"c"}`:                     false,
		names + `{"ph":"X","pid":1,"tid":1,"ts":-1.000,"dur":1.000,"name":"f","cat":"c"}`:        false,
		names + `{"ph":"X","pid":"1","tid":1,"ts":1.000,"dur":1.000,"name":"f","cat":"c"}`:       false,
		names + call + `,{"ph":"X","pid":1,"tid":1,"ts":3.000,"dur":5.000,"name":"g","cat":"c"}`: false,
		names + call + `,{"ph":"X","pid":1,"tid":1,"ts":3.000,"dur":3.000,"name":"g","cat":"c"}`: true,
		names + call + `,{"ph":"s","pid":1,"tid":1,"ts":2.000,"name":"e","cat":"c","id":1}`:      false,
		names + call + `,{"ph":"B","pid":1,"tid":1,"ts":2.000,"name":"e","cat":"c"}`:             false,
		names + call + `,{"ph":"C","pid":1,"tid":1,"ts":2.000,"name":"e","args":{"value":"1"}}`:  false,
		names + call + `,{"ph":"i","pid":1,"tid":1,"ts":2.000,"name":"e"}`:                       false,
		names + call + arrowJSON("2.000", "3.000"):                                               true,
		names + call + arrowJSON("3.000", "2.000"):                                               false,
		names + call + arrowJSON("3.000", "9.000"):                                               false,
	} {
		if bad := checkPerfetto([]byte(`{"displayTimeUnit":"ns","otherData":{},"traceEvents":[` + body + `]}`)); (len(bad) == 0) != fine {
			t.Errorf("%s: %v", body, bad)
		}
	}
}

func arrowJSON(from, to string) string {
	return `,{"ph":"s","pid":1,"tid":1,"ts":` + from + `,"name":"e","cat":"c","id":1},{"ph":"f","bp":"e","pid":1,"tid":1,"ts":` + to + `,"name":"e","cat":"c","id":1}`
}
