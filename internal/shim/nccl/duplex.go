package nccl

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"kudzu/internal/engine"
	"kudzu/internal/spec/ncclapi"
)

// A stream (stream.go) of a middle size on one thread: it sends and receives what the sockets take and have, and sleeps
// only when none of them has anything for it. With a thread for each direction the threads of a rank wake each other
// for every piece.

const (
	duplexMost  = 8 << 20   // above that, sending on another processor gains more than waking costs
	duplexRanks = 8         // with more, looking at all of them costs more than a thread for each
	duplexPiece = 256 << 10 // of all other ranks together
)

// duplex is one such operation.
type duplex struct {
	o       *op
	own     []byte // the elements that this rank reduces
	dst     []byte // where to
	ready   int    // so many bytes of dst are there
	step    int    // bytes of a piece
	flows   []*flow
	sources [][]byte // by rank, for a piece
	scale   []uint64 // by rank
}

// flow is what goes to one other rank and comes from it: two messages each. The first is what its receiver is to
// reduce, the second what its sender has reduced. Places in it count the bytes of headers too.
type flow struct {
	rank    int
	out, in *sock

	head [2][]byte // the messages' headers
	give []byte    // the first message
	sent int
	full bool // the socket takes no more

	came  [2][headerSize]byte
	piece []byte // of the first message
	take  []byte // the second message
	got   int
	empty bool // the socket has no more
}

// flows are the connections with the other ranks, or none: where one is not of TCP, or has not come yet.
func (c *comm) flows() []*flow {
	if c.n > duplexRanks {
		return nil
	}
	var list []*flow
	for i := 1; i < c.n; i++ {
		r := (c.rank + i) % c.n
		b := c.boxes[collectives][r]
		if b.from == nil {
			select {
			case b.from = <-b.arrived:
			default:
				return nil
			}
		}
		in, here := b.from.(*sock)
		out, there := c.outlets[collectives][r].to.(*sock)
		if !here || !there {
			return nil
		}
		list = append(list, &flow{rank: r, in: in, out: out})
	}
	return list
}

// duplexAllReduce is streamAllReduce on one thread.
func (o *op) duplexAllReduce(flows []*flow, send, recv []byte) error {
	c := o.c
	part := o.cuts()
	lo, hi := part(c.rank)
	d := &duplex{o: o, own: send[lo:hi], dst: recv[lo:hi], flows: flows, sources: make([][]byte, c.n), scale: make([]uint64, c.n)}
	d.step = min(len(d.own), max(4<<10, duplexPiece/len(flows)/64*64))
	d.scale[c.rank] = o.by.value()
	c.scratch = grow(c.scratch, uint64(d.step*len(flows)))
	h := header{Call: o.call(), Scale: d.scale[c.rank]}
	for i, f := range flows {
		lo, hi := part(f.rank)
		f.give, f.take = send[lo:hi], recv[lo:hi]
		f.piece = c.scratch[i*d.step : (i+1)*d.step]
		for k, m := range [...][]byte{f.give, d.dst} {
			h.Size = uint64(len(m))
			f.head[k] = h.append(make([]byte, 0, headerSize))
		}
		for _, s := range [...]*sock{f.in, f.out} {
			if err := s.enter(); err != nil {
				return c.because(err)
			}
			defer s.leave()
		}
	}
	return d.run()
}

func (d *duplex) run() error {
	for !d.done() {
		moved := false
		for _, f := range d.flows {
			out, err := d.push(f)
			if err != nil {
				return d.lost(f, err)
			}
			in, err := d.pull(f)
			if err != nil {
				return d.lost(f, err)
			}
			moved = moved || out || in
			if in {
				d.reduce()
			}
		}
		if !moved {
			if err := d.sleep(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost is what an error of a connection means; one of a wrong call says what it means.
func (d *duplex) lost(f *flow, err error) error {
	var said *failure
	if errors.As(err, &said) {
		return err
	}
	return d.o.c.because(failf(ncclapi.NcclRemoteError, "rank %d: %v", f.rank, err))
}

func (d *duplex) done() bool {
	for _, f := range d.flows {
		if f.sent < 2*headerSize+len(f.give)+len(d.dst) || f.got < 2*headerSize+len(d.own)+len(f.take) {
			return false
		}
	}
	return true
}

// push sends what there is, and reports whether any of it went. The second header waits for bytes to go with.
func (d *duplex) push(f *flow) (bool, error) {
	var list [][]byte
	second := headerSize + len(f.give)
	switch at := f.sent; {
	case at < headerSize:
		list = [][]byte{f.head[0][at:], f.give}
	case at < second:
		list = [][]byte{f.give[at-headerSize:]}
	case at == second && d.ready == 0 && len(d.dst) > 0:
	case at < second+headerSize:
		list = [][]byte{f.head[1][at-second:], d.dst[:d.ready]}
	case at < second+headerSize+d.ready:
		list = [][]byte{d.dst[at-second-headerSize : d.ready]}
	}
	if list == nil || f.full {
		return false, nil
	}
	n, err := unix.SendmsgBuffers(f.out.fd, list, nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	f.sent += max(n, 0)
	return passed(err, &f.full)
}

// pull takes what has come, as far as there is room for it, and reports whether anything has.
func (d *duplex) pull(f *flow) (bool, error) {
	var list [][]byte
	n, second := d.next(), headerSize+len(d.own)
	switch at := f.got; {
	case at < headerSize:
		list = [][]byte{f.came[0][at:], f.piece[:n]}
	case at < second:
		if at < headerSize+d.ready+n {
			list = [][]byte{f.piece[at-headerSize-d.ready : n]}
		}
	case at < second+headerSize:
		list = [][]byte{f.came[1][at-second:], f.take}
	case at < second+headerSize+len(f.take):
		list = [][]byte{f.take[at-second-headerSize:]}
	}
	if list == nil || f.empty {
		return false, nil
	}
	k, _, _, _, err := unix.RecvmsgBuffers(f.in.fd, list, nil, unix.MSG_DONTWAIT)
	if err == nil && k == 0 {
		return false, io.ErrUnexpectedEOF
	}
	was := f.got
	f.got += max(k, 0)
	for i, at := range [...]int{headerSize, second + headerSize} {
		if was < at && f.got >= at {
			if err := d.agree(f, i); err != nil {
				return false, err
			}
		}
	}
	return passed(err, &f.empty)
}

// passed tells a call that moved something from one that would have blocked.
func passed(err error, blocks *bool) (bool, error) {
	switch {
	case errors.Is(err, unix.EAGAIN):
		*blocks = true
		return false, nil
	case errors.Is(err, unix.EINTR):
		return true, nil // again
	}
	return err == nil, err
}

// agree looks at the header of a message that has come.
func (d *duplex) agree(f *flow, i int) error {
	var h header
	h.decode(f.came[i][:])
	size := len(d.own)
	if i == 1 {
		size = len(f.take)
	}
	if call := d.o.call(); h.Call != call {
		return differs(f.rank, h.Call, d.o.c.rank, call)
	}
	if h.Size != uint64(size) || h.At != 0 {
		return errors.New("it sent what it should not")
	}
	if i == 0 {
		d.scale[f.rank] = h.Scale
	}
	return nil
}

// next is the size of the piece that comes.
func (d *duplex) next() int { return min(d.step, len(d.own)-d.ready) }

// reduce takes a piece of all ranks, in their order, once it is there.
func (d *duplex) reduce() {
	n := d.next()
	if n == 0 {
		return
	}
	for _, f := range d.flows {
		if f.got < headerSize+d.ready+n {
			return
		}
		d.sources[f.rank] = f.piece[:n]
	}
	o := d.o
	d.sources[o.c.rank] = d.own[d.ready : d.ready+n]
	engine.Collect(d.dst[d.ready:d.ready+n], d.sources, d.scale, uint64(n)/o.size(), int(o.typ), o.red, engine.Part{})
	d.ready += n
}

// sleep waits until a socket takes or has something. One that is closed, here or there, has its end.
func (d *duplex) sleep() error {
	list := make([]unix.PollFd, 0, 2*duplexRanks)
	var blocks [2 * duplexRanks]*bool
	add := func(blocked *bool, s *sock, events int16) {
		if *blocked {
			blocks[len(list)] = blocked
			list = append(list, unix.PollFd{Fd: int32(s.fd), Events: events})
		}
	}
	for _, f := range d.flows {
		add(&f.empty, f.in, unix.POLLIN)
		add(&f.full, f.out, unix.POLLOUT)
	}
	if _, err := unix.Poll(list, -1); err != nil && !errors.Is(err, unix.EINTR) {
		return failf(ncclapi.NcclSystemError, "poll: %v", err)
	}
	for i := range list {
		*blocks[i] = list[i].Revents == 0
	}
	return nil
}
