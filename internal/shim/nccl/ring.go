package nccl

import (
	"errors"
	"sync"

	"kudzu/internal/engine"
)

// Large operations between hosts: pipelined chains, NCCL_ALGO's ring without its closing link. Each rank of a host has a lane: a
// slice of the buffer that it passes on to the rank with the same place on the next host, in pieces, so that all hosts work at
// once. Within a host ranks reach each other's buffers through memory.
//
// A reduction begins on the first host and goes through all hosts in their order, as accumulators; the last host has the result, which
// goes the same way back while later pieces still come. So ranks are taken in their order, and a host sends each byte twice, as in a ring
// that is closed. Sums that travel around a closed ring would begin with another rank in each slice.

// lane is this rank's part of a ring.
type lane struct {
	o          *op
	lo, hi     uint64 // bytes of its slice
	here, last int    // hosts
	prev, next int    // ranks, -1: none
}

// slice is what a lane has of some bytes, at whole lines of the cache.
func (o *op) slice(all uint64, lane int) (lo, hi uint64) {
	const line = 64
	lines, n := (all+line-1)/line, uint64(o.c.layout.lanes)
	return min(all, lines*uint64(lane)/n*line), min(all, lines*uint64(lane+1)/n*line)
}

// place is a rank's number on its host.
func (c *comm) place() int {
	l := c.layout
	return c.rank - l.ranks[l.host[c.rank]][0] // ranks of a host follow each other
}

// neighbours are the ranks of this host.
func (c *comm) neighbours() []int { return c.layout.ranks[c.layout.host[c.rank]] }

// stream is a message to a rank of another host that is written as its bytes come.
func (c *comm) stream(to int, h header, size uint64) (conn, error) {
	if size == 0 {
		return nil, nil
	}
	o := c.outlets[collectives][to]
	if o.to == nil {
		if err := c.connect(o, collectives, to); err != nil {
			return nil, c.because(err)
		}
	}
	h.Size = size
	return o.to, c.because(o.to.write(h.append(make([]byte, 0, headerSize))))
}

func (o *op) ringAllReduce(send, recv []byte) error {
	c := o.c
	near, lanes := c.neighbours(), c.layout.lanes
	// Every lane of this host reads the others' slices of it.
	wait, err := o.toSome(near[:lanes], func(r int) []byte {
		lo, hi := o.slice(o.bytes(), r-near[0])
		return send[lo:hi]
	})
	if err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() { read <- wait() }()
	if c.place() < lanes {
		if err = o.newLane(o.bytes()).reduce(send, recv); err != nil {
			return o.giveUp(err, func() error { return <-read })
		}
	}
	if err = <-read; err != nil {
		return err
	}
	return o.share(recv, 0, o.bytes())
}

// share gives the other ranks of this host the slice that this lane has of a part of the buffer, and takes theirs.
func (o *op) share(recv []byte, from, n uint64) error {
	c := o.c
	near, lanes, place := c.neighbours(), c.layout.lanes, c.place()
	slice := func(lane int) []byte {
		lo, hi := o.slice(n, lane)
		return recv[from+lo : from+hi]
	}
	wait := func() error { return nil }
	if place < lanes {
		var err error
		if wait, err = o.toSome(near, func(int) []byte { return slice(place) }); err != nil {
			return err
		}
	}
	for i := range lanes {
		lane := (place + i) % lanes // not all from the same at once
		if near[lane] == c.rank {
			continue
		}
		if err := o.take(near[lane], slice(lane)); err != nil {
			return o.giveUp(err, wait)
		}
	}
	return wait()
}

// newLane is this rank's lane of a buffer of so many bytes.
func (o *op) newLane(total uint64) *lane {
	c := o.c
	l, place := c.layout, c.place()
	here := l.host[c.rank]
	a := &lane{o: o, here: here, last: len(l.ranks) - 1, prev: -1, next: -1}
	a.lo, a.hi = o.slice(total, place)
	if here > 0 {
		a.prev = l.ranks[here-1][place]
	}
	if here < a.last {
		a.next = l.ranks[here+1][place]
	}
	return a
}

// reduce is both directions at once.
func (a *lane) reduce(send, recv []byte) error {
	if a.lo == a.hi {
		return a.o.idle()
	}
	var wg sync.WaitGroup
	var back error
	ready := make(chan uint64, (a.hi-a.lo)/chunkBytes+1) // ends of pieces that the last host has
	wg.Go(func() {
		if back = a.back(recv, ready); back != nil {
			a.o.c.fail(back)
		}
	})
	forth := a.forth(send, recv, func(at uint64, piece []byte) error {
		ready <- at + uint64(len(piece))
		return nil
	})
	if forth != nil {
		a.o.c.fail(forth) // what the other waits for may never come
	}
	close(ready)
	wg.Wait()
	return errors.Join(forth, back)
}

// idle reads the messages of this host that say nothing.
func (o *op) idle() error {
	for _, r := range o.c.neighbours() {
		if r != o.c.rank {
			if err := o.take(r, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// forth adds this host's ranks to what the hosts before have. On the last host ready gets each piece of the result, in recv where there is
// one.
func (a *lane) forth(send, recv []byte, ready func(at uint64, piece []byte) error) error {
	o, c := a.o, a.o.c
	near := c.neighbours()
	from, scale := make([]*message, len(near)), make([]uint64, len(near))
	for i, r := range near {
		if r == c.rank {
			scale[i] = o.by.value()
			continue
		}
		m, err := c.next(collectives, r, o.call())
		if err != nil {
			return errors.Join(err, release(from))
		}
		from[i], scale[i] = m, m.Scale
	}
	return errors.Join(a.pieces(from, scale, send, recv, ready), release(from))
}

func (a *lane) pieces(from []*message, scale []uint64, send, recv []byte, ready func(at uint64, piece []byte) error) error {
	o, c := a.o, a.o.c
	size, wide := o.size(), o.wide()
	total := (a.hi - a.lo) / size * wide
	var before *message
	var after conn
	var err error
	if a.prev >= 0 {
		if before, err = c.next(collectives, a.prev, o.call()); err != nil {
			return err
		}
	}
	if a.next >= 0 {
		if after, err = c.stream(a.next, header{Call: o.call()}, total); err != nil {
			return err
		}
	}
	step := uint64(chunkBytes)
	room := make([]byte, uint64(len(copied(from)))*step)
	partial := make([]byte, step/size*wide)
	sources := make([][]byte, len(from))
	var result []byte
	if a.next < 0 && recv == nil {
		result = make([]byte, step)
	}
	for at := a.lo; at < a.hi; at += step {
		n := min(step, a.hi-at)
		free := room
		for i, m := range from {
			if m == nil {
				sources[i] = send[at : at+n]
				continue
			}
			if sources[i], err = m.bytes(n, free); err != nil {
				return err
			}
			if m.p == nil {
				free = free[step:]
			}
		}
		part := engine.Part{Total: c.n, Open: a.next >= 0}
		acc := partial[:n/size*wide]
		if before != nil {
			if err := before.into(acc); err != nil {
				return err
			}
			part.From = acc
		}
		dst := acc
		switch {
		case part.Open:
		case recv != nil:
			dst = recv[at : at+n]
		default:
			dst = result[:n]
		}
		engine.Collect(dst, sources, scale, n/size, int(o.typ), o.red, part)
		if part.Open {
			if err := after.write(dst); err != nil {
				return c.because(err)
			}
		} else if err := ready(at, dst); err != nil {
			return err
		}
	}
	return nil
}

// copied are the messages whose bytes have to be copied.
func copied(from []*message) (list []*message) {
	for _, m := range from {
		if m != nil && m.p == nil {
			list = append(list, m)
		}
	}
	return list
}

// back passes the result on to the hosts before.
func (a *lane) back(recv []byte, ready <-chan uint64) error {
	o, c := a.o, a.o.c
	var in *message
	var out conn
	var err error
	if a.prev >= 0 {
		if out, err = c.stream(a.prev, header{Call: o.call()}, a.hi-a.lo); err != nil {
			return err
		}
	}
	if a.next >= 0 {
		if in, err = c.next(collectives, a.next, o.call()); err != nil {
			return err
		}
	}
	for at := a.lo; at < a.hi; at += chunkBytes {
		piece := recv[at:min(at+chunkBytes, a.hi)]
		if in != nil {
			if err := in.into(piece); err != nil {
				return err
			}
		} else if _, ok := <-ready; !ok {
			return nil // the other direction says why
		}
		if out != nil {
			if err := out.write(piece); err != nil {
				return c.because(err)
			}
		}
	}
	return nil
}

// ringBroadcast passes pieces on from the root's host, in the order of hosts from there.
func (o *op) ringBroadcast(send, recv []byte) error {
	c, l := o.c, o.c.layout
	hosts, first := len(l.ranks), l.host[o.root]
	here := (l.host[c.rank] + hosts - first) % hosts
	if c.rank == o.root && len(send) > 0 && &send[0] != &recv[0] {
		copy(recv, send)
	}
	if here == 0 { // all of it from the root, which is near
		if err := o.spread(recv, o.root); err != nil {
			return err
		}
	}
	if place := c.place(); place < l.lanes {
		lo, hi := o.slice(o.bytes(), place)
		prev, next := -1, -1
		if here > 0 {
			prev = l.ranks[(first+here-1)%hosts][place]
		}
		if here < hosts-1 {
			next = l.ranks[(first+here+1)%hosts][place]
		}
		if err := o.pass(prev, next, recv[lo:hi], recv[lo:hi]); err != nil {
			return err
		}
	}
	if here == 0 {
		return nil
	}
	return o.share(recv, 0, o.bytes())
}

// pass writes out to a rank, in pieces, while it reads in from another; where both are the same bytes, a piece is read before it is written.
func (o *op) pass(from, to int, in, out []byte) error {
	c := o.c
	if len(in) > 0 && len(out) > 0 && &in[0] == &out[0] {
		return o.passOn(from, to, in)
	}
	sent := make(chan error, 1)
	go func() {
		err := o.passOn(-1, to, out)
		if err != nil {
			c.fail(err)
		}
		sent <- err
	}()
	err := o.passOn(from, -1, in)
	if err != nil {
		c.fail(err)
	}
	return errors.Join(err, <-sent)
}

// passOn reads pieces from one rank and writes them to another; -1: there is none.
func (o *op) passOn(from, to int, data []byte) error {
	c := o.c
	if len(data) == 0 {
		return nil
	}
	var m *message
	var out conn
	var err error
	if from >= 0 {
		if m, err = c.next(collectives, from, o.call()); err != nil {
			return err
		}
	}
	if to >= 0 {
		if out, err = c.stream(to, header{Call: o.call()}, uint64(len(data))); err != nil {
			return err
		}
	}
	for at := 0; at < len(data); at += chunkBytes {
		piece := data[at:min(at+chunkBytes, len(data))]
		if m != nil {
			if err := m.into(piece); err != nil {
				return err
			}
		}
		if out != nil {
			if err := out.write(piece); err != nil {
				return c.because(err)
			}
		}
	}
	return nil
}

// ringAllGather: what a host has goes around; in each step a host passes on what it got in the one before.
func (o *op) ringAllGather(send, recv []byte) error {
	c, l := o.c, o.c.layout
	hosts, here, b := len(l.ranks), l.host[c.rank], o.bytes()
	part := o.parts(recv)
	if own := part(c.rank); len(send) > 0 && &own[0] != &send[0] {
		copy(own, send)
	}
	wait, err := o.toSome(c.neighbours(), func(int) []byte { return send })
	if err != nil {
		return err
	}
	for _, r := range c.neighbours() {
		if r == c.rank {
			continue
		}
		if err := o.take(r, part(r)); err != nil {
			return o.giveUp(err, wait)
		}
	}
	if err := wait(); err != nil {
		return err
	}
	of := func(host int) (from, n uint64) { return uint64(l.ranks[host][0]) * b, uint64(len(l.ranks[host])) * b }
	place := c.place()
	mine := func(host int) []byte {
		from, n := of(host)
		lo, hi := o.slice(n, place)
		return recv[from+lo : from+hi]
	}
	if place < l.lanes {
		prev, next := l.ranks[(here+hosts-1)%hosts][place], l.ranks[(here+1)%hosts][place]
		for step := range hosts - 1 {
			if err := o.pass(prev, next, mine((here+2*hosts-step-1)%hosts), mine((here+hosts-step)%hosts)); err != nil {
				return err
			}
		}
	}
	for i := 1; i < hosts; i++ {
		from, n := of((here + i) % hosts)
		if err := o.share(recv, from, n); err != nil {
			return err
		}
	}
	return nil
}
