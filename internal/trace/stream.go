package trace

// Lines is where records go: a Printer or JSON.
type Lines interface {
	Record(r *Record) error
	Flush() error
	Close() error // nothing follows
}

// Stream writes records as they come from a Tail. A call that has not returned is held back for a moment, so that most lines
// are whole and in order; then it is written as it is, and again when it returns.
type Stream struct {
	Wants func(r *Record) bool // nil: every record; calls are decoded
	d     *Decoder
	to    Lines
	held  []Record
	age   map[callKey]int // how often a held call was looked at
}

type callKey struct {
	process *Process
	id      uint64
}

// patience is how many times a running call is looked at before it is written.
const patience = 3

// NewStream writes to lines what d decodes.
func NewStream(d *Decoder, to Lines) *Stream {
	return &Stream{d: d, to: to, age: map[callKey]int{}}
}

// Add takes what Poll gave. last says that nothing will follow.
func (s *Stream) Add(records []Record, last bool) error {
	for i := range records {
		if r := &records[i]; !r.Resumed || !s.replace(r) {
			s.held = append(s.held, *r)
		}
	}
	n := 0
	for ; n < len(s.held); n++ {
		r := &s.held[n]
		if c := r.Call; c != nil && !c.Returned() && !last {
			k := callKey{r.Thread.Process, c.ID}
			if s.age[k]++; s.age[k] < patience {
				break
			}
			delete(s.age, k)
		}
		if err := s.write(r); err != nil {
			return err
		}
	}
	s.held = append(s.held[:0], s.held[n:]...)
	if last {
		return s.to.Close()
	}
	return s.to.Flush()
}

// replace completes a call that is held back.
func (s *Stream) replace(r *Record) bool {
	for i := range s.held {
		if h := &s.held[i]; h.Call != nil && h.Call.ID == r.Call.ID && h.Thread.Process == r.Thread.Process && !h.Resumed {
			delete(s.age, callKey{h.Thread.Process, h.Call.ID})
			h.Call = r.Call
			return true
		}
	}
	return false
}

func (s *Stream) write(r *Record) error {
	if r.Call != nil {
		s.d.Decode(r.Call)
	}
	if s.Wants != nil && !s.Wants(r) {
		return nil
	}
	return s.to.Record(r)
}
