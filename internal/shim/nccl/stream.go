package nccl

import (
	"errors"
)

// Between hosts with one rank each, an AllReduce that goes direct is one stream in each direction: behind what another rank is to reduce
// comes what this one has reduced, piece by piece while the rest still arrives. The messages are those of reduceParts and exchange.

// piece is how much is reduced before it is sent on: small enough to stay in a cache, large enough that the calls do not matter.
const piece = 64 << 10

// streams reports whether all other ranks are reached through connections that carry the bytes.
func (c *comm) streams() (bool, error) {
	if len(c.layout.ranks) != c.n {
		return false, nil
	}
	for r := range c.n {
		if r == c.rank {
			continue
		}
		o := c.outlets[collectives][r]
		if o.to == nil {
			if err := c.connect(o, collectives, r); err != nil {
				return false, c.because(err)
			}
		}
		if !o.plain {
			return false, nil
		}
	}
	return true, nil
}

// streamAllReduce sends and receives everything at once. A rank's result for a place comes after its own elements there were taken, so that
// it may work in place.
func (o *op) streamAllReduce(send, recv []byte) error {
	c := o.c
	if len(send) <= duplexMost {
		if flows := c.flows(); flows != nil {
			return o.duplexAllReduce(flows, send, recv)
		}
	}
	part := o.cuts()
	mine, end := part(c.rank)
	own := recv[mine:end]
	pieces := make([]chan int, c.n) // how much of own is there, for each other rank
	sent := make(chan error, c.n)
	for i := 1; i < c.n; i++ {
		r := (c.rank + c.n - i) % c.n
		lo, hi := part(r)
		ready := make(chan int, 1+len(own)/(4<<10)) // never full: pieces have that size at least
		pieces[r] = ready
		go func() { sent <- o.sendBoth(r, send[lo:hi], own, ready) }()
	}
	err := o.collectPieces(send[mine:end], own, piece, func(n int) {
		for _, p := range pieces {
			if p != nil {
				p <- n
			}
		}
	})
	for _, p := range pieces {
		if p != nil {
			close(p)
		}
	}
	for i := 1; i < c.n && err == nil; i++ {
		r := (c.rank + i) % c.n
		lo, hi := part(r)
		err = o.take(r, recv[lo:hi])
	}
	return o.collectSent(err, sent)
}

// collectSent waits for what was sent. An error comes first: others may never read what they are sent otherwise.
func (o *op) collectSent(err error, sent <-chan error) error {
	if err != nil {
		o.c.fail(err)
	}
	for range o.c.n - 1 {
		err = errors.Join(err, o.c.because(<-sent))
	}
	return err
}

// sendBoth sends a rank what it is to reduce, and then what this rank has reduced, as far as it is there.
func (o *op) sendBoth(to int, first, second []byte, ready <-chan int) error {
	out := o.c.outlets[collectives][to].to
	h := header{Call: o.call(), Scale: o.by.value()}
	if err := errors.Join(writeHeader(out, h, len(first)), out.write(first), writeHeader(out, h, len(second))); err != nil {
		return err
	}
	at := 0
	for n := range ready {
		if err := out.write(second[at:n]); err != nil {
			return err
		}
		at = n
	}
	if at < len(second) {
		return errClosed // by the receiving side, which says why
	}
	return nil
}

// writeHeader writes what comes before a message's bytes. Where that is possible it leaves with the first of them.
func writeHeader(out conn, h header, size int) error {
	h.Size = uint64(size)
	b := h.append(make([]byte, 0, headerSize))
	if s, ok := out.(*sock); ok && size > 0 {
		return s.send(b, msgMore)
	}
	return out.write(b)
}
