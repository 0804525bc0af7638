package nccl

import (
	"encoding/binary"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// plan is what a rank of the old communicator wants of a new one.
type plan struct {
	color, key int32
	rank       int
}

// together lets every rank know a few bytes of each, outside of any stream.
func (c *comm) together(mine []byte) ([][]byte, error) {
	u := &unit{c: c, turn: c.seq.Take()}
	defer c.seq.End()
	if !u.after() {
		return nil, c.err()
	}
	o := &op{c: c, kind: gatherBytes, count: uint64(len(mine))}
	all := make([]byte, len(mine)*c.n)
	err := o.exchange(func(int) []byte { return mine }, func(r int) []byte { return all[r*len(mine) : (r+1)*len(mine)] })
	if err != nil {
		c.fail(err)
		return nil, err
	}
	return slices.Collect(slices.Chunk(all, len(mine))), nil
}

// divide finds out who is in a new communicator with this rank, in their new order.
func (c *comm) divide(color, key int32) ([]plan, error) {
	mine := binary.LittleEndian.AppendUint32(nil, uint32(color))
	all, err := c.together(binary.LittleEndian.AppendUint32(mine, uint32(key)))
	if err != nil {
		return nil, err
	}
	var list []plan
	for r, b := range all {
		p := plan{int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:])), r}
		if p.color == color && color >= 0 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b plan) int { return int(a.key) - int(b.key) })
	return list, nil
}

// agree has the first rank of each new communicator make an id, and tells it to the others. Every rank of the old one takes part.
func (c *comm) agree(list []plan) (*uniqueID, error) {
	var id ncclapi.NcclUniqueId
	if len(list) > 0 && list[0].rank == c.rank {
		u, err := c.childID(list)
		if err != nil {
			c.fail(err)
			return nil, err
		}
		id = u.bytes()
	}
	all, err := c.together(id.Internal[:])
	if err != nil || len(list) == 0 {
		return nil, err
	}
	copy(id.Internal[:], all[list[0].rank])
	return readID(&id)
}

// childID is an id for some ranks: one of this process only if they are all here.
func (c *comm) childID(list []plan) (*uniqueID, error) {
	if slices.ContainsFunc(list, func(p plan) bool { return c.peers[p.rank] == nil }) {
		return newID()
	}
	key, err := newSecret()
	if err != nil {
		return nil, err
	}
	someHub(key)
	return &uniqueID{key: key}, nil
}

// CommSplit makes new communicators of the ranks that say the same color, in the order of their keys.
func (t *Thread) CommSplit(h ncclapi.NcclComm_t, color, key int32, out, at hostmem.Ptr) error {
	if color < 0 && color != ncclapi.NCCL_SPLIT_NOCOLOR {
		return badArgument("color %d", color)
	}
	return t.descend(h, color, key, out, at)
}

// descend makes this rank's communicator of its color; a negative one: none.
func (t *Thread) descend(h ncclapi.NcclComm_t, color, key int32, out, at hostmem.Ptr) error {
	parent, err := find(h)
	if err != nil && (parent == nil || !parent.revoked.Load()) {
		return err
	}
	if out == hostmem.Nil {
		return badArgument("no place for the communicator")
	}
	hostmem.Store(out, uint64(0))
	cfg, err := parent.childConfig(at)
	if err != nil {
		return err
	}
	var c *comm
	if color >= 0 {
		if c, err = t.child(parent, 0, 1, cfg); err != nil {
			return err
		}
	}
	return t.initialize(func() error {
		if parent.revoked.Load() {
			again, err := parent.rebuild(t)
			if err != nil {
				return err
			}
			defer again.leave()
			parent = again
		}
		list, err := parent.divide(color, key)
		if err != nil {
			return err
		}
		u, err := parent.agree(list)
		if err != nil || c == nil {
			return err
		}
		c.resize(slices.IndexFunc(list, func(p plan) bool { return p.rank == parent.rank }), len(list))
		c.madeFrom(parent, nil)
		v := comms.New(c)
		if v == 0 {
			return failf(ncclapi.NcclInternalError, "too many communicators")
		}
		if c.join(u); c.err() != nil {
			comms.Delete(v)
			return c.err()
		}
		hostmem.Store(out, uint64(v))
		return nil
	})
}
