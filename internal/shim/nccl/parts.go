package nccl

import (
	"encoding/binary"
	"errors"

	"kudzu/internal/engine"
)

// AllReduce of many hosts, between small and large: each host reduces one part (a reduce-scatter by Bruck's all-to-all, then a
// Bruck all-gather). What the ranks have of the part goes to that host in as many steps as the number of hosts has bits: in each, a
// host passes on everything whose way has that bit. A part travels half of the steps, so the bytes grow with half of their number,
// and not with the hosts. Then the results are gathered as in tree.go. Ranks are added in order.

// bag is what the first rank of a host has under way: blocks by how much further the host is that they go to, then by how much
// further back the one is that they came from. A block has a place for each rank of a host: a factor and a part.
type bag struct {
	part  uint64 // bytes
	block uint64
	data  []byte
}

func (o *op) newBag() *bag {
	const line = 64
	most, hosts := 0, uint64(len(o.c.layout.ranks))
	for _, list := range o.c.layout.ranks {
		most = max(most, len(list))
	}
	b := &bag{part: (o.bytes() + hosts*line - 1) / (hosts * line) * line}
	b.block = uint64(most) * (factorSize + b.part)
	b.data = make([]byte, hosts*b.block)
	return b
}

// at is the place of a rank, by its number on its host, in a block.
func (b *bag) at(block, place int) []byte {
	return b.data[uint64(block)*b.block+uint64(place)*(factorSize+b.part):][:factorSize+b.part]
}

// of are the bytes of a host's part in a buffer.
func (b *bag) of(host int, all uint64) (lo, hi uint64) {
	return min(all, uint64(host)*b.part), min(all, uint64(host+1)*b.part)
}

func (o *op) partsAllReduce(send, recv []byte) error {
	c, l := o.c, o.c.layout
	here := l.host[c.rank]
	lead := c.leads(here)
	if lead != c.rank {
		p, err := c.post(collectives, lead, header{Call: o.call(), Scale: o.by.value()}, send)
		if err = errors.Join(err, p.wait()); err != nil {
			return err
		}
		return o.spread(recv, lead)
	}
	b := o.newBag()
	if err := o.fill(b, send); err != nil {
		return err
	}
	if err := o.deal(b); err != nil {
		return err
	}
	lo, hi := b.of(here, o.bytes())
	hosts := len(l.ranks)
	sources, scale := make([][]byte, c.n), make([]uint64, c.n)
	for h, list := range l.ranks {
		for place, r := range list {
			p := b.at((here-h+hosts)%hosts, place)
			sources[r], scale[r] = p[factorSize:], binary.LittleEndian.Uint64(p)
		}
	}
	engine.Collect(recv[lo:hi], sources, scale, (hi-lo)/o.size(), int(o.typ), o.red, engine.Part{})
	g := &gathered{o: o, start: make([]int, hosts+1), data: recv}
	for h := range hosts {
		_, end := b.of(h, o.bytes())
		g.start[h+1] = int(end)
	}
	if err := g.double(here); err != nil {
		return err
	}
	return o.spread(recv, lead)
}

// fill puts what the ranks of this host have into the bag.
func (o *op) fill(b *bag, send []byte) error {
	c, l := o.c, o.c.layout
	here, hosts := l.host[c.rank], len(l.ranks)
	room := make([]byte, len(send))
	for place, r := range l.ranks[here] {
		data, factor := send, o.by.value()
		if r != c.rank {
			m, err := c.next(collectives, r, o.call())
			if err != nil {
				return err
			}
			data, factor = room, m.Scale
			if err := errors.Join(m.into(room), m.end()); err != nil {
				return err
			}
		}
		for further := range hosts {
			lo, hi := b.of((here+further)%hosts, o.bytes())
			p := b.at(further, place)
			binary.LittleEndian.PutUint64(p, factor)
			copy(p[factorSize:], data[lo:hi])
		}
	}
	return nil
}

// deal has every block get where it goes.
func (o *op) deal(b *bag) error {
	c, l := o.c, o.c.layout
	here, hosts := l.host[c.rank], len(l.ranks)
	g := &gathered{o: o}
	for dist := 1; dist < hosts; dist *= 2 {
		var out []byte
		for i := range hosts {
			if i&dist != 0 {
				out = append(out, b.data[uint64(i)*b.block:uint64(i+1)*b.block]...)
			}
		}
		in := make([]byte, len(out))
		if err := g.step(c.leads((here+dist)%hosts), c.leads((here+hosts-dist)%hosts), [][]byte{out}, [][]byte{in}); err != nil {
			return err
		}
		for i := range hosts {
			if i&dist != 0 {
				in = in[copy(b.data[uint64(i)*b.block:uint64(i+1)*b.block], in):]
			}
		}
	}
	return nil
}
