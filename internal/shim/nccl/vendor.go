package nccl

import (
	"errors"
	"slices"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/shim"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
)

// Where all ranks of a communicator are on GPUs of one vendor, and every process has the vendor's library, that library does the
// operations: each rank makes a communicator of it, with an id that rank 0 tells the others. Ranks still meet in our hub, so that they
// hear of each other's end. The library's communicators do not block: one that waits for a rank that never comes can be aborted.

// reach is how operations get at the memory of a rank's device.
type reach uint32

const (
	byHost   reach = iota // the host may touch it
	byCopies              // it is copied to host memory and back (staged.go)
	byVendor              // the vendor's library, if all ranks have it; else by copies
)

// VendorID is what the ranks of a vendor's communicator have in common.
type VendorID [128]byte

// Vendor is a library that has NCCL's functions for GPUs of its maker. Communicators are numbers.
type Vendor interface {
	Name() string
	Ready() bool // the library is there
	NewID() (VendorID, error)
	// Begin makes a rank on the device that is current. It does not wait: State tells.
	Begin(n, rank int, id *VendorID) (uintptr, error)
	// State is nil, ErrBusy, or why the communicator has failed.
	State(comm uintptr) error
	Start() error // of a group, on this thread
	End() error
	Call(x *VendorCall) error
	Finalize(comm uintptr) error
	Destroy(comm uintptr) error
	Abort(comm uintptr) error
}

// VendorCall is one operation.
type VendorCall struct {
	Comm, Stream      uintptr
	Func              string // as NCCL names it
	Send, Recv, Count uint64
	Type              ncclapi.NcclDataType_t
	Op                ncclapi.NcclRedOp_t // NcclNumOps: PreMulSum by Factor
	Root              int                 // or the peer
	Factor            []byte              // nil: in device memory, at FactorAt
	FactorAt          uint64
}

// ErrBusy is the state of a communicator that is not there yet.
var ErrBusy = errors.New("in progress")

// Fail is an error with a code of NCCL's.
func Fail(code ncclapi.NcclResult_t, text string) error { return failf(code, "%s", text) }

// Vendors are the libraries there are; the first that is ready is used.
var Vendors shim.Providers[Vendor]

func vendor() Vendor {
	for _, v := range Vendors.All() {
		if v.Ready() {
			return v
		}
	}
	return nil
}

// vendorMu guards every comm.lent: it is not ended while it is used.
var vendorMu lockrank.Mutex[lockrank.NCCLVendor]

// reachOf finds out how operations get at the memory of the current device.
func reachOf(d *driver.Thread) (reach, error) {
	visible, abroad, err := d.MemoryReach()
	switch {
	case err != nil || visible:
		return byHost, err
	case abroad && vendor() != nil:
		return byVendor, nil
	}
	return byCopies, nil
}

// settleReach looks at the table of ranks, which is the same for all, and makes the vendor's communicator if they all have its library.
func (c *comm) settleReach() error {
	c.foreign = slices.ContainsFunc(c.members, func(m member) bool { return m.Reach != byHost })
	if slices.ContainsFunc(c.members, func(m member) bool { return m.Reach != byVendor }) {
		return nil
	}
	v := vendor()
	var id VendorID
	var err error
	if c.rank == 0 {
		if id, err = v.NewID(); err != nil {
			return err
		}
	}
	all, err := c.swap(id[:])
	if err != nil {
		return err
	}
	id = VendorID(all[0])
	d := new(driver.Thread)
	var begun error
	if err := c.inContext(d, func() error {
		_, err := d.Abroad(0, "ncclCommInitRank", func(backend.Where) error {
			vendorMu.Lock()
			defer vendorMu.Unlock()
			var made uintptr
			if made, begun = v.Begin(c.n, c.rank, &id); begun == nil {
				c.vendor, c.lent = v, made
			}
			return nil
		})
		return err
	}); err != nil {
		return err
	}
	if begun != nil {
		return begun
	}
	if err := c.awaitVendor(); err != nil { // whoever ended it may not have seen the vendor's
		c.endVendor()
		return err
	}
	if debugs("INFO") {
		logx.Warnf("NCCL: rank %d of %d: operations by %s", c.rank, c.n, v.Name())
	}
	return nil
}

// vendorState asks the vendor's communicator; one that is gone has no state.
func (c *comm) vendorState() error {
	vendorMu.Lock()
	defer vendorMu.Unlock()
	if c.lent == 0 {
		return nil
	}
	return c.vendor.State(c.lent)
}

// awaitVendor waits while the vendor's communicator is busy. One that ended meanwhile has failed.
func (c *comm) awaitVendor() error {
	for pause := 10 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		err := c.vendorState()
		if err == nil {
			err = c.err() // set before the vendor's was ended
		}
		if err != ErrBusy {
			return err
		}
		select {
		case <-c.dead:
			return c.err()
		case <-time.After(pause):
		}
	}
}

// endVendor aborts the vendor's communicator, with what it has under way.
func (c *comm) endVendor() {
	vendorMu.Lock()
	defer vendorMu.Unlock()
	if c.lent != 0 {
		_ = c.vendor.Abort(c.lent) // nothing is left to do
		c.lent = 0
	}
}

// leaveVendor ends it when its work is done.
func (c *comm) leaveVendor() {
	vendorMu.Lock()
	lent := c.lent
	var err error
	if lent != 0 {
		err = c.vendor.Finalize(lent)
	}
	vendorMu.Unlock()
	if lent == 0 {
		return
	}
	if err == nil {
		err = c.awaitVendor()
	}
	if err != nil {
		c.endVendor()
		return
	}
	vendorMu.Lock()
	defer vendorMu.Unlock()
	if c.lent != 0 {
		_ = c.vendor.Destroy(c.lent) // its work is done
		c.lent = 0
	}
}

// isLent reports whether the vendor's library does an operation; all ranks come to the same answer. Its eight-bit floats may have another
// bias than ours, so those are reduced by us.
func (o *op) isLent() bool {
	return o.c.vendor != nil && (o.kind > reduce || o.typ != ncclapi.NcclFloat8e4m3 && o.typ != ncclapi.NcclFloat8e5m2)
}

func (o *op) lend(comm, stream uintptr) *VendorCall {
	x := &VendorCall{Comm: comm, Stream: stream, Func: kindNames[o.kind], Send: o.send, Recv: o.recv, Count: o.count, Type: o.typ, Op: ncclapi.NcclRedOp_t(o.red), Root: o.root}
	if o.kind > reduce && o.size() == 1 {
		x.Type = ncclapi.NcclUint8 // older releases have no such floats
	}
	if o.by != nil {
		if x.FactorAt = o.by.at; x.FactorAt == 0 {
			x.Factor = o.by.raw
		}
	}
	return x
}

// lent is the part of a unit that the vendor's library does.
type lent struct {
	*unit
	streams []cu.CUstream
	native  uintptr // the first stream, as the vendor knows it
	spare   driver.DevPtr
}

// launchLent gives the vendor's library the units of a group, as a group of its own.
func launchLent(d *driver.Thread, list []*lent) error {
	for _, u := range list {
		if err := u.c.inContext(d, func() error { return u.prepare(d) }); err != nil {
			return err
		}
	}
	first := list[0]
	var failed error
	err := first.c.inContext(d, func() error {
		_, err := d.Abroad(first.streams[0], "ncclGroupEnd", func(backend.Where) error {
			failed = callLent(list)
			return nil
		})
		return err
	})
	if err == nil {
		err = failed
	}
	for _, u := range list {
		err = errors.Join(err, u.c.inContext(d, func() error { return u.finish(d) }))
	}
	return err
}

// prepare orders the streams and learns the vendor's name of the first.
func (u *lent) prepare(d *driver.Thread) error {
	if err := order(d, u.streams[:1], u.streams[1:]); err != nil {
		return err
	}
	done, err := d.Abroad(u.streams[0], "ncclGroupStart", func(w backend.Where) error {
		u.native = w.Stream
		return nil
	})
	if err == nil && !done {
		err = badUsage("%s: AMD's library cannot be captured into a graph", kindNames[u.ops[0].kind])
	}
	if err != nil {
		return err
	}
	for i, o := range u.ops { // the library does not do this one in place
		if o.kind != allToAll || o.send != o.recv {
			continue
		}
		n, _ := o.needs()
		if u.spare, err = d.MemAllocAsync(n, u.streams[0]); err != nil {
			return err
		}
		if err := d.MemcpyDtoDAsync(u.spare, driver.DevPtr(o.send), n, u.streams[0]); err != nil {
			return err
		}
		from := *o
		from.send = uint64(u.spare)
		u.ops[i] = &from
	}
	return nil
}

// finish makes known what the streams have now.
func (u *lent) finish(d *driver.Thread) error {
	if _, err := d.Abroad(u.streams[0], "ncclGroupEnd", func(backend.Where) error { return nil }); err != nil {
		return err
	}
	if u.spare != 0 {
		if err := d.MemFreeAsync(u.spare, u.streams[0]); err != nil {
			return err
		}
	}
	return order(d, u.streams[1:], u.streams[:1])
}

// callLent makes the calls. It returns when they are in their streams.
func callLent(list []*lent) error {
	v := list[0].c.vendor
	if err := func() error {
		vendorMu.Lock()
		defer vendorMu.Unlock()
		if err := v.Start(); err != nil {
			return err
		}
		var err error
		for _, u := range list {
			for _, o := range u.ops {
				if u.c.lent == 0 {
					err = errors.Join(err, u.c.err())
				} else if err == nil {
					err = v.Call(o.lend(u.c.lent, u.native))
				}
			}
		}
		return errors.Join(err, v.End())
	}(); err != nil {
		return err
	}
	for _, u := range list {
		if err := u.c.awaitVendor(); err != nil {
			u.c.fail(err)
			return err
		}
	}
	return nil
}
