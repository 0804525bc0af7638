package nccl

import (
	"errors"

	"kudzu/internal/engine"
)

// Within a host, and between hosts where that costs least (topology.go), every rank has the same share of each operation: it sends each
// other rank what that one needs, and takes what it needs itself. Of reductions a rank computes its part, from the parts of all ranks in
// their order. That is two steps however many ranks there are, and moves no more bytes than a ring of ranks does.

// few is the size up to which every rank gets everything and reduces for itself: one step instead of two.
const few = eager

// run does the operation of this rank. It returns when the buffers are not needed any more.
func (o *op) run() error {
	if o.kind <= scatter {
		if done, err := o.meet(); done || err != nil {
			return err
		}
	}
	send, recv := o.views()
	switch o.way() {
	case byRing:
		return o.ringOf(send, recv)
	case byTree:
		return o.treeOf(send, recv)
	case byParts:
		return o.partsAllReduce(send, recv)
	}
	switch o.kind {
	case allReduce:
		return o.allReduce(send, recv)
	case reduceScatter:
		b := o.bytes()
		return o.reduceParts(send, recv, func(r int) (lo, hi uint64) { return uint64(r) * b, uint64(r+1) * b })
	case reduce:
		return o.reduce(send, recv)
	case broadcast:
		return o.broadcast(send, recv)
	case allGather:
		return o.exchange(func(int) []byte { return send }, o.parts(recv))
	case allToAll:
		if len(send) > 0 && &send[0] == &recv[0] { // others read it while it is written
			send = append([]byte(nil), send...)
		}
		return o.exchange(o.parts(send), o.parts(recv))
	case gather:
		return o.exchange(o.only(send), o.parts(recv))
	case scatter:
		return o.exchange(o.parts(send), o.only(recv))
	case putSignal:
		return o.putSignal(send)
	case waitSignal:
		return o.c.awaitSignals(o.waits)
	case sendTo:
		p, err := o.c.post(sends, o.root, header{Call: o.call()}, send)
		return errors.Join(err, p.wait())
	}
	m, err := o.c.next(sends, o.root, o.call())
	if err != nil {
		return err
	}
	return errors.Join(m.into(recv), m.end())
}

func (o *op) ringOf(send, recv []byte) error {
	switch o.kind {
	case allReduce:
		return o.ringAllReduce(send, recv)
	case broadcast:
		return o.ringBroadcast(send, recv)
	case reduce, reduceScatter:
		return o.ringReduce(send, recv)
	}
	return o.ringAllGather(send, recv)
}

func (o *op) treeOf(send, recv []byte) error {
	switch o.kind {
	case allReduce:
		return o.treeAllReduce(send, recv)
	case broadcast:
		return o.treeBroadcast(send, recv)
	}
	return o.treeAllGather(send, recv)
}

// parts cuts a buffer into one part for each rank; there are none of a buffer that only the root has.
func (o *op) parts(all []byte) func(int) []byte {
	if all == nil {
		return func(int) []byte { return nil }
	}
	b := o.bytes()
	return func(r int) []byte { return all[uint64(r)*b : uint64(r+1)*b] }
}

// only is a buffer that goes to the root, or comes from it.
func (o *op) only(b []byte) func(int) []byte {
	return func(r int) []byte {
		if r != o.root {
			return nil
		}
		return b
	}
}

// exchange sends to each rank what out has for it, and takes what in has room for; nil: nothing.
func (o *op) exchange(out, in func(rank int) []byte) error {
	c := o.c
	wait, err := o.toOthers(out)
	if err != nil {
		return err
	}
	if from, to := out(c.rank), in(c.rank); len(to) > 0 && len(from) > 0 && &from[0] != &to[0] {
		copy(to, from)
	}
	for i := 1; i < c.n; i++ {
		r := (c.rank + i) % c.n // not all from the same at once
		to := in(r)
		if to == nil {
			continue
		}
		if err := o.take(r, to); err != nil {
			return o.giveUp(err, wait)
		}
	}
	return wait()
}

// take reads a message of a rank.
func (o *op) take(from int, to []byte) error {
	m, err := o.c.next(collectives, from, o.call())
	if err != nil {
		return err
	}
	return errors.Join(m.into(to), m.end())
}

// giveUp ends the communicator before it waits for messages that others may be reading: they may never come to it otherwise.
func (o *op) giveUp(err error, wait func() error) error {
	o.c.fail(err)
	_ = wait() // for the same reason
	return err
}

// toOthers sends each other rank something; the answer waits until all have it.
func (o *op) toOthers(what func(rank int) []byte) (wait func() error, err error) {
	c := o.c
	list := make([]int, 0, c.n)
	for i := 1; i < c.n; i++ {
		list = append(list, (c.rank+c.n-i)%c.n)
	}
	return o.toSome(list, what)
}

// toSome sends the ranks of a list something, but not itself.
func (o *op) toSome(ranks []int, what func(rank int) []byte) (wait func() error, err error) {
	c := o.c
	h := header{Call: o.call(), Scale: o.by.value()}
	var list []*pending
	wait = func() error {
		var err error
		for _, p := range list {
			err = errors.Join(err, p.wait())
		}
		return err
	}
	for _, r := range ranks {
		data := what(r)
		if data == nil || r == c.rank {
			continue
		}
		p, err := c.post(collectives, r, h, data)
		if err != nil {
			return nil, o.giveUp(err, wait)
		}
		if p != nil {
			list = append(list, p)
		}
	}
	return wait, nil
}

func (o *op) broadcast(send, recv []byte) error {
	c := o.c
	if c.rank != o.root {
		return o.take(o.root, recv)
	}
	wait, err := o.toOthers(func(int) []byte { return send })
	if err != nil {
		return err
	}
	if len(send) > 0 && &send[0] != &recv[0] {
		copy(recv, send)
	}
	return wait()
}

func (o *op) reduce(send, recv []byte) error {
	c := o.c
	if c.rank == o.root {
		return o.collect(send, recv)
	}
	p, err := c.post(collectives, o.root, header{Call: o.call(), Scale: o.by.value()}, send)
	return errors.Join(err, p.wait())
}

func (o *op) allReduce(send, recv []byte) error {
	if len(send) <= few {
		wait, err := o.toOthers(func(int) []byte { return send })
		if err != nil {
			return err
		}
		return o.collectThen(send, recv, wait)
	}
	if far, err := o.c.streams(); err != nil {
		return err
	} else if far {
		return o.streamAllReduce(send, recv)
	}
	part := o.cuts()
	mine, end := part(o.c.rank)
	if err := o.reduceParts(send, recv[mine:end], part); err != nil {
		return err
	}
	return o.exchange(func(int) []byte { return recv[mine:end] }, func(r int) []byte {
		lo, hi := part(r)
		return recv[lo:hi]
	})
}

// cuts divides the elements among the ranks, at whole lines of the cache.
func (o *op) cuts() func(r int) (lo, hi uint64) {
	const line = 64
	lines, n, all := (o.bytes()+line-1)/line, uint64(o.c.n), o.bytes()
	return func(r int) (lo, hi uint64) {
		return min(all, lines*uint64(r)/n*line), min(all, lines*uint64(r+1)/n*line)
	}
}

// reduceParts gives every rank its part of send to reduce, and reduces this rank's into recv.
func (o *op) reduceParts(send, recv []byte, part func(r int) (lo, hi uint64)) error {
	wait, err := o.toOthers(func(r int) []byte {
		lo, hi := part(r)
		return send[lo:hi]
	})
	if err != nil {
		return err
	}
	lo, hi := part(o.c.rank)
	return o.collectThen(send[lo:hi], recv, wait)
}

// collectThen is collect, and then waits for what was sent.
func (o *op) collectThen(own, dst []byte, wait func() error) error {
	if err := o.collect(own, dst); err != nil {
		return o.giveUp(err, wait)
	}
	return wait()
}

// collect reduces this rank's own and a message of every other rank into dst, in the order of ranks.
func (o *op) collect(own, dst []byte) error { return o.collectPieces(own, dst, 512<<10, nil) }

// collectPieces does the same in pieces of at most so many bytes of all ranks whose messages are copied: what is copied stays in the cache.
// each hears how much is done.
func (o *op) collectPieces(own, dst []byte, most uint64, each func(n int)) error {
	c := o.c
	from := make([]*message, c.n)
	scale := make([]uint64, c.n)
	far := 0
	for r := range c.n {
		if r == c.rank {
			scale[r] = o.by.value()
			continue
		}
		m, err := c.next(collectives, r, o.call())
		if err != nil {
			return errors.Join(err, release(from))
		}
		from[r], scale[r] = m, m.Scale
		if m.p == nil {
			far++
		}
	}
	step := uint64(len(own))
	if far > 0 {
		step = min(step, max(4<<10, most/uint64(far)/64*64))
	}
	c.scratch = grow(c.scratch, uint64(far)*step)
	sources := make([][]byte, c.n)
	for at := uint64(0); at < uint64(len(own)); at += step {
		n := min(step, uint64(len(own))-at)
		room := c.scratch
		for r, m := range from {
			if m == nil {
				sources[r] = own[at : at+n]
				continue
			}
			var err error
			if sources[r], err = m.bytes(n, room); err != nil {
				return errors.Join(err, release(from))
			}
			if m.p == nil {
				room = room[step:]
			}
		}
		engine.Collect(dst[at:at+n], sources, scale, n/o.size(), int(o.typ), o.red, engine.Part{})
		if each != nil {
			each(int(at + n))
		}
	}
	return release(from)
}

// release lets the senders of messages go on.
func release(list []*message) error {
	var err error
	for _, m := range list {
		if m != nil {
			err = errors.Join(err, m.end())
		}
	}
	return err
}

func grow(b []byte, n uint64) []byte {
	if uint64(len(b)) >= n {
		return b
	}
	return make([]byte, n)
}
