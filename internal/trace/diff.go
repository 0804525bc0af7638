package trace

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
)

// DiffOptions say what Diff leaves out.
type DiffOptions struct {
	Ignore  func(name string) bool // functions; nil: none
	Nested  bool                   // compare calls between libraries, too
	NoOuts  bool                   // not what calls wrote
	Context int                    // calls that are kept around a difference
	Mangled bool                   // names of kernels are shown as they are in modules; they are compared so in any case
}

// Polls are functions that programs call until something is over: how often is chance.
var Polls = map[string]bool{"cuEventQuery": true, "cuStreamQuery": true, "cudaEventQuery": true, "cudaStreamQuery": true}

// Divergence is where two threads part.
type Divergence struct {
	A, B         *Thread // one may be nil: the other trace has no such thread
	At           int     // the calls before it are the same
	Time         int64   // in A, or in B where A has ended
	Before       []string
	LeftA, LeftB []string // from there on; empty: that thread ends
}

// Diff compares two traces call by call and gives the places where threads part, the earliest first; calls is how many were
// compared. Handles, addresses and times do not count.
func Diff(a, b *Trace, o DiffOptions) (found []Divergence, calls int, err error) {
	sides := [2]*side{{t: a, o: o}, {t: b, o: o}}
	for _, s := range sides {
		if err := s.kinds(); err != nil {
			return nil, 0, err
		}
	}
	pairs := pair(sides[0].threads, sides[1].threads)
	for i, p := range pairs {
		for j, th := range p {
			if th != nil {
				sides[j].label(th, i)
			}
		}
	}
	for _, s := range sides {
		if err := s.hash(); err != nil {
			return nil, 0, err
		}
	}
	wanted := [2]map[*Thread]*Divergence{{}, {}}
	for _, p := range pairs {
		d, n := diverges(sides, p)
		calls += n
		if d != nil {
			found = append(found, *d)
		}
	}
	for i := range found {
		wanted[0][found[i].A], wanted[1][found[i].B] = &found[i], &found[i]
	}
	if len(found) > 0 {
		for i, s := range sides {
			if err := s.context(wanted[i], i == 1); err != nil {
				return nil, calls, err
			}
		}
	}
	slices.SortStableFunc(found, func(x, y Divergence) int { return cmp.Compare(x.Time, y.Time) })
	return found, calls, nil
}

// side is one of the two traces.
type side struct {
	t       *Trace
	o       DiffOptions
	threads []*lane
	lanes   map[*Thread]*lane
	labels  map[*Thread]string
}

// lane is a thread's calls in short.
type lane struct {
	thread *Thread
	kinds  uint64 // a hash of the calls in order, without what tells handles and addresses apart
	count  int
	hashes []uint64
	times  []int64
}

func (s *side) wants(r *Record) bool {
	c := r.Call
	return c != nil && (s.o.Nested || c.Depth == 0) && (s.o.Ignore == nil || !s.o.Ignore(c.Name))
}

// kinds finds the threads that make calls.
func (s *side) kinds() error {
	s.lanes, s.labels = map[*Thread]*lane{}, map[*Thread]string{}
	err := s.each(true, false, func(_ *lane, r *Record, text string) bool {
		l := s.lanes[r.Thread]
		if l == nil {
			l = &lane{thread: r.Thread}
			s.lanes[r.Thread] = l
			s.threads = append(s.threads, l)
		}
		l.count++
		l.kinds = l.kinds*1099511628211 ^ sum(text)
		return true
	})
	slices.SortStableFunc(s.threads, func(x, y *lane) int {
		return cmp.Or(cmp.Compare(x.thread.Process.place, y.thread.Process.place), cmp.Compare(x.thread.Number, y.thread.Number))
	})
	return err
}

func sum(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// pair finds for each thread of one trace the thread of the other that does the same: threads begin in any order.
func pair(as, bs []*lane) [][2]*Thread {
	var pairs [][2]*Thread
	taken := map[*lane]bool{}
	match := func(like func(a, b *lane) bool) {
		for _, a := range as {
			if taken[a] {
				continue
			}
			for _, b := range bs {
				if !taken[b] && a.thread.Process.place == b.thread.Process.place && like(a, b) {
					taken[a], taken[b] = true, true
					pairs = append(pairs, [2]*Thread{a.thread, b.thread})
					break
				}
			}
		}
	}
	match(func(a, b *lane) bool {
		return a.kinds == b.kinds && a.count == b.count && a.thread.Number == b.thread.Number
	})
	match(func(a, b *lane) bool { return a.kinds == b.kinds && a.count == b.count })
	match(func(a, b *lane) bool { return a.thread.Number == b.thread.Number })
	match(func(_, _ *lane) bool { return true })
	slices.SortStableFunc(pairs, func(x, y [2]*Thread) int {
		return cmp.Or(cmp.Compare(x[0].Process.place, y[0].Process.place), cmp.Compare(x[0].Number, y[0].Number))
	})
	for _, a := range as {
		if !taken[a] {
			pairs = append(pairs, [2]*Thread{a.thread, nil})
		}
	}
	for _, b := range bs {
		if !taken[b] {
			pairs = append(pairs, [2]*Thread{nil, b.thread})
		}
	}
	return pairs
}

// label names a thread by its pair; the first has no label, since most programs have no other.
func (s *side) label(t *Thread, i int) {
	s.labels[t] = ""
	if i > 0 {
		s.labels[t] = strconv.Itoa(i + 1)
	}
}

// each gives the texts of the calls that are compared.
func (s *side) each(coarse, cpp bool, do func(l *lane, r *Record, text string) bool) error {
	d, n := NewDecoder(s.t.Dir), newNormal(s.labels)
	n.noOuts, n.coarse, n.cpp = s.o.NoOuts, coarse, cpp
	return s.t.Each(func(r *Record) bool {
		if r.Call == nil {
			return true
		}
		d.Decode(r.Call) // the others, too: they say what handles are
		if !s.wants(r) {
			return true
		}
		return do(s.lanes[r.Thread], r, n.call(r.Call))
	})
}

func (s *side) hash() error {
	return s.each(false, false, func(l *lane, r *Record, text string) bool {
		l.hashes, l.times = append(l.hashes, sum(text)), append(l.times, r.Time)
		return true
	})
}

// diverges compares two threads, and counts the calls that it looked at.
func diverges(sides [2]*side, p [2]*Thread) (*Divergence, int) {
	var ls [2]lane
	for i := range p {
		if p[i] != nil {
			ls[i] = *sides[i].lanes[p[i]]
		}
	}
	n := min(len(ls[0].hashes), len(ls[1].hashes))
	at := 0
	for at < n && ls[0].hashes[at] == ls[1].hashes[at] {
		at++
	}
	if at == len(ls[0].hashes) && at == len(ls[1].hashes) {
		return nil, at
	}
	d := &Divergence{A: p[0], B: p[1], At: at}
	if at < len(ls[0].times) {
		d.Time = ls[0].times[at]
	} else {
		d.Time = ls[1].times[at]
	}
	return d, n
}

// context reads the calls around the places again.
func (s *side) context(wanted map[*Thread]*Divergence, second bool) error {
	seen := map[*Thread]int{}
	return s.each(false, !s.o.Mangled, func(_ *lane, r *Record, text string) bool {
		i := seen[r.Thread]
		seen[r.Thread]++
		d := wanted[r.Thread]
		switch {
		case d == nil || i < d.At-s.o.Context || i > d.At+s.o.Context:
		case i < d.At && (!second || d.A == nil):
			d.Before = append(d.Before, text)
		case i < d.At:
		case second:
			d.LeftB = append(d.LeftB, text)
		default:
			d.LeftA = append(d.LeftA, text)
		}
		return true
	})
}
