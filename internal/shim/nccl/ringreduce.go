package nccl

import (
	"errors"
	"sync"
)

// Reduce and ReduceScatter as pipelined chains. Pieces go through all hosts in their order as in AllReduce; but the last host's lanes send
// each result only to the rank that it is for, as its pieces come. A lane has the same slice of all ranks' send buffers.

// ringReduce does either.
func (o *op) ringReduce(send, recv []byte) error {
	c, l := o.c, o.c.layout
	near, lanes, total := c.neighbours(), l.lanes, uint64(len(send))
	wait, err := o.toSome(near[:lanes], func(r int) []byte {
		lo, hi := o.slice(total, r-near[0])
		return send[lo:hi]
	})
	if err != nil {
		return err
	}
	var unread error
	over := make(chan struct{})
	go func() {
		unread = wait()
		close(over)
	}()
	read := func() error {
		<-over
		return unread
	}
	took := make(chan error, 1)
	last := l.host[c.rank] == len(l.ranks)-1
	if last {
		took <- nil // the same ranks send what is still to be added: one after another
	} else {
		go func() {
			err := o.takeResults(total, recv)
			if err != nil {
				c.fail(err) // what the others wait for may never come
			}
			took <- err
		}()
	}
	both := func() error { return errors.Join(read(), <-took) }
	posted := func() error { return nil }
	if c.place() < lanes {
		a := o.newLane(total)
		s := &results{o: o, recv: recv}
		// Results go to the same ranks of this host as what they add, which may still be on its way through the connection.
		if err = a.chain(send, s); err == nil {
			err = read()
		}
		if err == nil {
			posted, err = s.post()
		}
		if err != nil {
			return o.giveUp(err, both)
		}
	}
	if err = both(); err == nil && last {
		err = o.takeResults(total, recv)
	}
	if err != nil {
		return o.giveUp(err, posted)
	}
	return posted()
}

// owner is the part of the whole that is a rank's; empty: none.
func (o *op) owner(rank int, total uint64) (lo, hi uint64) {
	switch b := o.bytes(); {
	case o.kind == reduceScatter:
		return uint64(rank) * b, uint64(rank+1) * b
	case rank == o.root:
		return 0, total
	}
	return 0, 0
}

// takeResults reads what the lanes of the last host have for this rank.
func (o *op) takeResults(total uint64, recv []byte) error {
	c, l := o.c, o.c.layout
	from, to := o.owner(c.rank, total)
	errs := make([]error, l.lanes)
	var wg sync.WaitGroup
	for i, r := range l.ranks[len(l.ranks)-1][:l.lanes] {
		lo, hi := o.slice(total, i)
		if lo, hi = max(lo, from), min(hi, to); lo < hi && r != c.rank {
			wg.Go(func() { errs[i] = o.take(r, recv[lo-from:hi-from]) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// results is what a lane of the last host has, piece after piece.
type results struct {
	o    *op
	recv []byte // this rank's own

	to   int     // the rank that is being written to
	out  conn    // nil: it is of this host
	upTo uint64  // where its part of the lane ends
	part []share // for ranks of this host, which read it at the end
}

// share is what a rank of this host reads.
type share struct {
	rank int
	data []byte
}

// put takes the next piece, which begins at a byte of the whole; end is the lane's.
func (s *results) put(at uint64, piece []byte, end, total uint64) error {
	o, c := s.o, s.o.c
	for len(piece) > 0 {
		if at >= s.upTo {
			if err := s.turn(at, end, total); err != nil {
				return err
			}
		}
		n := min(uint64(len(piece)), s.upTo-at)
		from, _ := o.owner(s.to, total)
		switch {
		case s.to == c.rank:
			copy(s.recv[at-from:], piece[:n])
		case s.out != nil:
			if err := s.out.write(piece[:n]); err != nil {
				return c.because(err)
			}
		default:
			p := &s.part[len(s.part)-1]
			p.data = append(p.data, piece[:n]...)
		}
		at, piece = at+n, piece[n:]
	}
	return nil
}

// turn goes to the rank whose part begins at a byte.
func (s *results) turn(at, end, total uint64) error {
	o, c := s.o, s.o.c
	s.to, s.out = o.root, nil
	if o.kind == reduceScatter {
		s.to = int(at / o.bytes())
	}
	_, hi := o.owner(s.to, total)
	s.upTo = min(hi, end)
	switch {
	case s.to == c.rank:
	case c.layout.host[s.to] == c.layout.host[c.rank]:
		s.part = append(s.part, share{s.to, make([]byte, 0, s.upTo-at)})
	default:
		var err error
		s.out, err = c.stream(s.to, header{Call: o.call()}, s.upTo-at)
		return err
	}
	return nil
}

// post lets the ranks of this host read theirs; the answer waits until they have.
func (s *results) post() (wait func() error, err error) {
	parts := map[int][]byte{}
	var ranks []int
	for _, p := range s.part {
		parts[p.rank] = p.data
		ranks = append(ranks, p.rank)
	}
	return s.o.toSome(ranks, func(r int) []byte { return parts[r] })
}

// chain adds this host's ranks; on the last host s has the results.
func (a *lane) chain(send []byte, s *results) error {
	if a.lo == a.hi {
		return a.o.idle()
	}
	total := uint64(len(send))
	return a.forth(send, nil, func(at uint64, piece []byte) error { return s.put(at, piece, a.hi, total) })
}
