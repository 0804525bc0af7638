package nccl

import (
	"kudzu/internal/cudart"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// CommInitRank makes this thread's device a rank of a communicator.
func (t *Thread) CommInitRank(out hostmem.Ptr, n int32, id ncclapi.NcclUniqueId, rank int32) error {
	return t.CommInitRankConfig(out, n, id, rank, hostmem.Nil)
}

// CommInitRankConfig is the same with settings.
func (t *Thread) CommInitRankConfig(out hostmem.Ptr, n int32, id ncclapi.NcclUniqueId, rank int32, at hostmem.Ptr) error {
	if out == hostmem.Nil {
		return badArgument("no place for the communicator")
	}
	hostmem.Store(out, uint64(0))
	cfg, err := readConfig(at)
	if err != nil {
		return err
	}
	u, err := readID(&id)
	if err != nil {
		return err
	}
	c, err := t.newComm(rank, n, cfg)
	if err != nil {
		return err
	}
	return t.make(out, c, func() { c.join(u) })
}

// CommInitRankScalable takes several ids, so that not all ranks come to one process. One of them is enough here.
func (t *Thread) CommInitRankScalable(out hostmem.Ptr, n, rank, ids int32, list, config hostmem.Ptr) error {
	if ids < 1 || list == hostmem.Nil {
		return badArgument("%d unique ids", ids)
	}
	return t.CommInitRankConfig(out, n, hostmem.Load[ncclapi.NcclUniqueId](list), rank, config)
}

// make gives a communicator its handle and starts it: in a group all of the group at once. One that does not block goes on behind the
// call.
func (t *Thread) make(out hostmem.Ptr, c *comm, join func()) error {
	h := comms.New(c)
	if h == 0 {
		return failf(ncclapi.NcclInternalError, "too many communicators")
	}
	hostmem.Store(out, uint64(h))
	return t.initialize(func() error {
		if c.config.nonblocking {
			go join()
			return inProgress
		}
		join()
		err := c.err()
		if err != nil {
			comms.Delete(h)
			hostmem.Store(out, uint64(0))
		}
		return err
	})
}

// CommInitAll makes a communicator of devices of this process, one rank each.
func (t *Thread) CommInitAll(out hostmem.Ptr, n int32, list hostmem.Ptr) error {
	if out == hostmem.Nil || n < 1 || n > maxRanks {
		return badArgument("%d devices", n)
	}
	for i := range n { // a bad address shows now, and not in the middle
		hostmem.Store(out.Index(int(i), 8), uint64(0))
	}
	key, err := newSecret()
	if err != nil {
		return err
	}
	u := &uniqueID{key: key}
	r := (*cudart.Thread)(t)
	before, err := r.GetDevice()
	if err != nil {
		return err
	}
	defer func() { _ = r.SetDevice(before) }()
	all := make([]*comm, n)
	for i := range n {
		device := i
		if list != hostmem.Nil {
			device = hostmem.Load[int32](list.Index(int(i), 4))
		}
		if err := r.SetDevice(device); err != nil {
			return badArgument("device %d: %v", device, err)
		}
		if all[i], err = t.newComm(i, n, settings{}); err != nil {
			return err
		}
	}
	someHub(key)
	if err := t.GroupStart(); err != nil {
		return err
	}
	for i, c := range all {
		if err := t.make(out.Index(i, 8), c, func() { c.join(u) }); err != nil {
			t.group().err = err
		}
	}
	return t.GroupEnd()
}
