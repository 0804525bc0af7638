package nccl

import (
	"sync"

	"kudzu/internal/driver"
	"kudzu/internal/spec/cu"
)

// unit is what one group, or a call outside of one, gives one communicator: one task of a stream.
type unit struct {
	c    *comm
	ops  []*op
	late bool // captured: its place among the units is where the graph runs it
	prev <-chan struct{}
	done chan struct{}
}

// turn is a place behind the units that there are. Units of a communicator run one after another, whatever their streams.
func (c *comm) turn() (prev <-chan struct{}, done chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	prev, done = c.tail, make(chan struct{})
	c.tail = done
	return prev, done
}

// launch puts the unit into a stream; the other streams that its calls named wait for it, and it for them.
func (u *unit) launch(d *driver.Thread, streams []cu.CUstream) error {
	return u.c.inContext(d, func() error {
		if err := order(d, streams[:1], streams[1:]); err != nil {
			return err
		}
		status, err := d.StreamIsCapturing(streams[0])
		if err != nil {
			return err
		}
		if u.late = status == cu.CU_STREAM_CAPTURE_STATUS_ACTIVE; !u.late {
			u.prev, u.done = u.c.turn()
		}
		if err := d.InStream(streams[0], u.run); err != nil {
			if u.done != nil {
				go func() { u.after(u.prev); close(u.done) }()
			}
			return err
		}
		return order(d, streams[1:], streams[:1])
	})
}

// order makes the streams of one list wait for those of another.
func order(d *driver.Thread, later, earlier []cu.CUstream) error {
	for _, e := range earlier {
		if len(later) == 0 {
			return nil
		}
		event, err := d.EventCreate(uint32(cu.CU_EVENT_DISABLE_TIMING))
		if err != nil {
			return err
		}
		if err = d.EventRecord(event, e); err == nil {
			for _, l := range later {
				if err = d.StreamWaitEvent(l, event, 0); err != nil {
					break
				}
			}
		}
		_ = d.EventDestroy(event) // what waits for it keeps what it needs
		if err != nil {
			return err
		}
	}
	return nil
}

// after waits for an earlier unit, and reports whether the communicator is still of use.
func (u *unit) after(prev <-chan struct{}) bool {
	if prev != nil {
		select {
		case <-prev:
		case <-u.c.dead:
		}
	}
	return u.c.cause.Load() == nil
}

// run is the task: it meets the other ranks. A failure ends the communicator, and leaves the stream alone.
func (u *unit) run() {
	prev, done := u.prev, u.done
	if u.late {
		prev, done = u.c.turn()
	}
	defer close(done)
	if u.after(prev) {
		u.execute()
	}
}

// execute does collectives one after another, and beside them sends, receives, puts and waits: those with one peer in their order, all
// peers at once.
func (u *unit) execute() {
	if len(u.ops) == 1 {
		u.do(u.ops[0])
		return
	}
	type line struct {
		kind kind
		peer int
	}
	lines := map[line][]*op{}
	var rest []*op
	for _, o := range u.ops {
		if o.kind == sendTo || o.kind == recvFrom || o.kind == putSignal || o.kind == waitSignal {
			l := line{o.kind, o.root}
			lines[l] = append(lines[l], o)
		} else {
			rest = append(rest, o)
		}
	}
	var wg sync.WaitGroup
	for _, list := range lines {
		wg.Go(func() { u.do(list...) })
	}
	u.do(rest...)
	wg.Wait()
}

func (u *unit) do(list ...*op) {
	for _, o := range list {
		if u.c.cause.Load() != nil {
			return
		}
		if err := o.run(); err != nil {
			u.failed(err)
			return
		}
	}
}

// failed ends the communicator, before the unit's operation ends.
func (u *unit) failed(err error) {
	u.c.fail(err)
	u.c.settle() // another goroutine may be telling of it
}
