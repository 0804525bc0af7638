package nccl

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// survivors are the ranks that an exclusion list leaves, in their order.
func (c *comm) survivors(exclude []int32) ([]int, error) {
	if len(exclude) == 0 {
		return nil, badArgument("ncclCommShrink without ranks to exclude")
	}
	for _, r := range exclude {
		if r < 0 || int(r) >= c.n {
			return nil, badArgument("ncclCommShrink: rank %d of %d", r, c.n)
		}
		if int(r) == c.rank {
			return nil, badArgument("ncclCommShrink on rank %d, which is excluded", r)
		}
	}
	var list []int
	for r := range c.n {
		if !slices.Contains(exclude, int32(r)) {
			list = append(list, r)
		}
	}
	return list, nil
}

// derive names the communicator of some ranks of this one without asking anybody, because ranks may be lost and connections closed: all of
// them compute the same secret, and the hub is in the process of the first.
func (c *comm) derive(list []int) *uniqueID {
	sum := fnv.New128a() // outsiders know the result as little as the old secret
	sum.Write(c.key[:])
	var ranks []byte
	for _, r := range list {
		ranks = binary.LittleEndian.AppendUint32(ranks, uint32(r))
	}
	c.mu.Lock()
	again := c.derived[string(ranks)]
	c.derived[string(ranks)]++
	c.mu.Unlock()
	sum.Write(ranks)
	sum.Write(binary.LittleEndian.AppendUint32(nil, uint32(again)))
	u := &uniqueID{key: secret(sum.Sum(nil)), hub: c.members[list[0]].Addr, derived: true}
	u.here = c.peers[list[0]] != nil
	return u
}

// CommShrink makes a communicator of all ranks but some, which do not take part: they may be lost.
func (t *Thread) CommShrink(h ncclapi.NcclComm_t, at hostmem.Ptr, count int32, out, config hostmem.Ptr, flags int32) error {
	parent, err := lookup(h)
	if err != nil {
		return err
	}
	if out == hostmem.Nil || at == hostmem.Nil || count < 1 || count > maxRanks || flags&^ncclapi.NCCL_SHRINK_ABORT != 0 {
		return badArgument("ncclCommShrink: %d ranks, flags %#x", count, flags)
	}
	hostmem.Store(out, uint64(0))
	<-parent.ready
	if parent.members == nil {
		return parent.err()
	}
	list, err := parent.survivors(hostmem.Slice[int32](at, int(count)))
	if err != nil {
		return err
	}
	if flags&ncclapi.NCCL_SHRINK_ABORT != 0 {
		parent.end(failf(ncclapi.NcclInvalidUsage, "ended by ncclCommShrink"))
	} else if err := parent.err(); err != nil && !parent.revoked.Load() {
		return err
	}
	cfg, err := parent.childConfig(config)
	if err != nil {
		return err
	}
	c, err := t.child(parent, slices.Index(list, parent.rank), len(list), cfg)
	if err != nil {
		return err
	}
	u := parent.derive(list)
	c.madeFrom(parent, list)
	return t.make(out, c, func() { c.join(u) })
}

// childConfig is what a program says of a new communicator, else what the old one has.
func (c *comm) childConfig(at hostmem.Ptr) (settings, error) {
	if at == hostmem.Nil {
		return c.config, nil
	}
	return readConfig(at)
}

// child is a rank on the device of another communicator's.
func (t *Thread) child(parent *comm, rank, n int, cfg settings) (c *comm, err error) {
	err = parent.inContext(t.driver(), func() (err error) { c, err = t.newComm(int32(rank), int32(n), cfg); return err })
	return c, err
}

// rebuild connects all ranks of a revoked communicator again.
func (c *comm) rebuild(t *Thread) (*comm, error) {
	all := make([]int, c.n)
	for r := range all {
		all[r] = r
	}
	again, err := t.child(c, c.rank, c.n, c.config)
	if err != nil {
		return nil, err
	}
	again.madeFrom(c, all)
	again.join(c.derive(all))
	return again, again.err()
}

// CommRevoke ends what is under way and refuses what comes later. The handle stays for splits and shrinks.
func (t *Thread) CommRevoke(h ncclapi.NcclComm_t, flags int32) error {
	c, err := lookup(h)
	if err != nil {
		return err
	}
	if flags != ncclapi.NCCL_REVOKE_DEFAULT {
		return badArgument("flags %#x of ncclCommRevoke", flags)
	}
	<-c.ready
	c.mu.Lock()
	gone := c.isGone
	c.mu.Unlock()
	if gone || c.members == nil || !c.revoked.CompareAndSwap(false, true) {
		return badArgument("ncclCommRevoke of a communicator that was finalized or revoked")
	}
	c.end(failf(ncclapi.NcclInvalidUsage, "revoked by its program"))
	return nil
}

// CommGetUniqueId names the larger communicator that ncclCommGrow is to make of this one.
func (t *Thread) CommGetUniqueId(h ncclapi.NcclComm_t) (id ncclapi.NcclUniqueId, err error) {
	c, err := find(h)
	if err != nil {
		return id, err
	}
	c.mu.Lock()
	named := c.named
	c.named = true
	c.mu.Unlock()
	if named {
		return id, badUsage("ncclCommGetUniqueId: the id before was not used yet")
	}
	u, err := newID()
	if err != nil {
		return id, err
	}
	return u.bytes(), nil
}

// CommGrow makes a communicator of this one's ranks, which keep their numbers, and new ones. One of the old ranks has the id and tells the
// others; new ranks have no communicator yet.
func (t *Thread) CommGrow(h ncclapi.NcclComm_t, n int32, at hostmem.Ptr, rank int32, out, config hostmem.Ptr) error {
	var id ncclapi.NcclUniqueId
	if at != hostmem.Nil {
		id = hostmem.Load[ncclapi.NcclUniqueId](at)
	}
	if h == 0 {
		if at == hostmem.Nil || rank < 0 {
			return badArgument("ncclCommGrow: a new rank needs a number and an id")
		}
		return t.CommInitRankConfig(out, n, id, rank, config)
	}
	parent, err := find(h)
	if err != nil {
		return err
	}
	if out == hostmem.Nil || rank != -1 || int(n) <= parent.n {
		return badArgument("ncclCommGrow: rank %d, %d ranks of %d", rank, n, parent.n)
	}
	hostmem.Store(out, uint64(0))
	cfg, err := parent.childConfig(config)
	if err != nil {
		return err
	}
	c, err := t.child(parent, parent.rank, int(n), cfg)
	if err != nil {
		return err
	}
	c.madeFrom(parent, nil)
	return t.make(out, c, func() {
		u, err := parent.grownID(id)
		if err != nil {
			if u, e := readID(&id); at != hostmem.Nil && e == nil {
				if h := findHub(u.key); h != nil { // new ranks may wait there
					h.give(err)
				}
			}
			c.fail(err)
			close(c.ready)
			return
		}
		c.join(u)
	})
}

// grownID is the id that one of the ranks has.
func (c *comm) grownID(id ncclapi.NcclUniqueId) (*uniqueID, error) {
	c.mu.Lock()
	c.named = false
	c.mu.Unlock()
	all, err := c.together(id.Internal[:])
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if !slices.ContainsFunc(b, func(x byte) bool { return x != 0 }) {
			continue
		}
		copy(id.Internal[:], b)
		return readID(&id)
	}
	return nil, badArgument("ncclCommGrow: no rank has the id")
}
