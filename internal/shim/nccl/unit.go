package nccl

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/engine"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
	"kudzu/internal/trace/emit"
)

// unit is what one group, or a call outside of one, gives one communicator: one task of a stream.
type unit struct {
	c    *comm
	ops  []*op
	turn uint32 // its place. Units of a communicator run one after another, whatever their streams
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
		if status != cu.CU_STREAM_CAPTURE_STATUS_ACTIVE {
			if done, err := u.direct(d, streams[0]); done || err != nil {
				return errors.Join(err, order(d, streams[1:], streams[:1]))
			}
		}
		if err := d.InStream(streams[0], u.begin); err != nil {
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

// direct puts the unit into the queue of a stream as an operation of the engine's. Not done: it is more than one operation, or its ranks
// have no memory in common.
func (u *unit) direct(d *driver.Thread, stream cu.CUstream) (done bool, err error) {
	c, o := u.c, u.ops[0]
	if len(u.ops) > 1 || o.kind > scatter || o.by != nil && o.by.at != 0 || emit.On() != nil { // a recorder wants to hear of tasks
		return false, nil
	}
	c.mu.Lock()
	n := c.near
	c.mu.Unlock()
	if n == nil || !n.enter() {
		return false, nil
	}
	defer n.leave()
	return d.InQueue(stream, o.gen, func(queue any, key backend.TicketKey, count *atomic.Uint64) error {
		q := queue.(*engine.Queue)
		err := q.Meet(c.seq, n.m, o.meeting())
		if err == nil && key.Generation != 0 && o.by == nil && o.kind <= allGather {
			q.TicketCollective(key.Thread, engine.TicketKey{Generation: key.Generation, Stream: key.Stream, Context: key.Context}, o.handle, c.n, c.rank, c.seq, n.m, count)
		}
		return err
	})
}

// goOn does the rest of such an operation, whose other ranks did not come at once, or failed, or do it with messages.
func (c *comm) goOn(b *engine.Begun) {
	u := &unit{c: c, turn: b.Turn}
	alive := u.after()
	m := b.Meeting()
	o := &op{c: c, kind: kind(m.Kind), send: m.Send, recv: m.Recv, count: m.Bytes / m.Size, typ: ncclapi.NcclDataType_t(m.Type), red: m.Op, root: m.Root, begun: b}
	if o.red == scaled {
		o.by = &scalar{typ: o.typ, bits: m.Scale}
	}
	if alive || b.Entered {
		if err := o.run(); err != nil {
			u.failed(err)
		}
	}
	b.End()
}

// after waits for the units before this one, and reports whether the communicator is still of use.
func (u *unit) after() bool {
	for u.c.cause.Load() == nil && !u.c.seq.Wait(u.turn, turnSleep) { // woken when the communicator ends
	}
	return u.c.cause.Load() == nil
}

const turnSleep = 50 * time.Millisecond

// begin gives the unit its place when it is put into a queue: a graph does that at each launch.
func (u *unit) begin() (run, cancel func()) {
	own := *u
	own.turn = u.c.seq.Take()
	return own.run, func() {
		go func() {
			own.after()
			own.c.seq.End()
		}()
	}
}

// run is the task: it meets the other ranks. A failure ends the communicator, and leaves the stream alone.
func (u *unit) run() {
	defer u.c.seq.End()
	if u.after() {
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
