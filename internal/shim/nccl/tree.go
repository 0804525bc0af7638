package nccl

import (
	"encoding/binary"
	"errors"

	"kudzu/internal/engine"
)

// Small operations between hosts. One rank of each host, its first, has what the ranks of its host bring, and in steps all that the other
// hosts have: in step k it gets from the host 2^k further what that one has got so far. So it takes as many steps as the number of
// hosts has bits, whatever that number is, and every part travels a binomial tree. Reductions are done where all parts are: in rank order.

// gathered are the parts of all ranks, each behind a factor, in the order of hosts.
type gathered struct {
	o     *op
	part  int   // bytes of a rank's
	start []int // where a host's parts begin, and the end
	data  []byte
}

const factorSize = 8

func (o *op) gathering() *gathered {
	l := o.c.layout
	g := &gathered{o: o, part: int(o.bytes()) + factorSize, start: make([]int, len(l.ranks)+1)}
	for h, list := range l.ranks {
		g.start[h+1] = g.start[h] + len(list)*g.part
	}
	g.data = make([]byte, g.start[len(l.ranks)])
	return g
}

// of is the part of a rank, and its factor.
func (g *gathered) of(rank int) (data []byte, factor uint64) {
	l := g.o.c.layout
	h := l.host[rank]
	for i, r := range l.ranks[h] {
		if r == rank {
			p := g.data[g.start[h]+i*g.part:][:g.part]
			return p[factorSize:], binary.LittleEndian.Uint64(p)
		}
	}
	panic("BUG: a rank of no host")
}

// leads is the rank that speaks for a host.
func (c *comm) leads(host int) int { return c.layout.ranks[host][0] }

// gather brings all parts to the first rank of each host; other ranks get nil.
func (o *op) gather(send []byte) (*gathered, error) {
	c, l := o.c, o.c.layout
	here := l.host[c.rank]
	if lead := c.leads(here); lead != c.rank {
		p, err := c.post(collectives, lead, header{Call: o.call(), Scale: o.by.value()}, send)
		return nil, errors.Join(err, p.wait())
	}
	g := o.gathering()
	for i, r := range l.ranks[here] {
		p := g.data[g.start[here]+i*g.part:][:g.part]
		if r == c.rank {
			binary.LittleEndian.PutUint64(p, o.by.value())
			copy(p[factorSize:], send)
			continue
		}
		m, err := c.next(collectives, r, o.call())
		if err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint64(p, m.Scale)
		if err := errors.Join(m.into(p[factorSize:]), m.end()); err != nil {
			return nil, err
		}
	}
	return g, g.double(here)
}

// double gets what all hosts have, twice as much in each step.
func (g *gathered) double(here int) error {
	c, hosts := g.o.c, len(g.start)-1
	for dist := 1; dist < hosts; dist *= 2 {
		n := min(dist, hosts-dist)
		if err := g.step(c.leads((here+hosts-dist)%hosts), c.leads((here+dist)%hosts), g.hosts(here, n), g.hosts((here+dist)%hosts, n)); err != nil {
			return err
		}
	}
	return nil
}

// hosts are the parts of n hosts from one on, in one or two pieces.
func (g *gathered) hosts(first, n int) [][]byte {
	all := len(g.start) - 1
	if first+n <= all {
		return [][]byte{g.data[g.start[first]:g.start[first+n]]}
	}
	return [][]byte{g.data[g.start[first]:], g.data[:g.start[first+n-all]]}
}

// step sends and takes at once.
func (g *gathered) step(to, from int, out, in [][]byte) error {
	sent := make(chan error, 1)
	go func() {
		for _, b := range out {
			p, err := g.o.c.post(collectives, to, header{Call: g.o.call()}, b)
			if err = errors.Join(err, p.wait()); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for _, b := range in {
		if err := g.o.take(from, b); err != nil {
			return g.o.giveUp(err, func() error { return <-sent })
		}
	}
	return <-sent
}

// spread gives what the first rank of this host has to the others of it.
func (o *op) spread(data []byte, from int) error {
	c := o.c
	if c.rank != from {
		return o.take(from, data)
	}
	wait, err := o.toSome(c.layout.ranks[c.layout.host[c.rank]], func(int) []byte { return data })
	if err != nil {
		return err
	}
	return wait()
}

func (o *op) treeAllReduce(send, recv []byte) error {
	c := o.c
	g, err := o.gather(send)
	if err != nil {
		return err
	}
	if g != nil {
		sources, scale := make([][]byte, c.n), make([]uint64, c.n)
		for r := range c.n {
			sources[r], scale[r] = g.of(r)
		}
		engine.Collect(recv, sources, scale, o.count, int(o.typ), o.red, engine.Part{})
	}
	return o.spread(recv, c.leads(c.layout.host[c.rank]))
}

func (o *op) treeAllGather(send, recv []byte) error {
	c := o.c
	g, err := o.gather(send)
	if err != nil {
		return err
	}
	if g != nil {
		part := o.parts(recv)
		for r := range c.n {
			data, _ := g.of(r)
			copy(part(r), data)
		}
	}
	return o.spread(recv, c.leads(c.layout.host[c.rank]))
}

// treeBroadcast: who has it gives it to the host half of what is left further, and so on.
func (o *op) treeBroadcast(send, recv []byte) error {
	c, l := o.c, o.c.layout
	hosts, first := len(l.ranks), l.host[o.root]
	here := (l.host[c.rank] + hosts - first) % hosts // from the root's
	lead := func(i int) int {
		if i == 0 {
			return o.root
		}
		return c.leads((i + first) % hosts)
	}
	if lead(here) == c.rank {
		if err := o.passDown(here, hosts, lead, send, recv); err != nil {
			return err
		}
	}
	return o.spread(recv, lead(here))
}

func (o *op) passDown(here, hosts int, lead func(int) int, send, recv []byte) error {
	c := o.c
	step := 1
	for ; step < hosts && here&step == 0; step *= 2 {
	}
	if here != 0 {
		if err := o.take(lead(here-step), recv); err != nil {
			return err
		}
	} else if len(send) > 0 && &send[0] != &recv[0] {
		copy(recv, send)
	}
	for step /= 2; step > 0; step /= 2 {
		if here+step >= hosts {
			continue
		}
		p, err := c.post(collectives, lead(here+step), header{Call: o.call()}, recv)
		if err = errors.Join(err, p.wait()); err != nil {
			return err
		}
	}
	return nil
}
