package nccl

import (
	"sync"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// A rank whose device memory the host cannot touch takes part with copies of its buffers in host memory. The call waits for its streams,
// for the copies and for the other ranks: a task inside the stream would hold the one thread on which ROCm calls the tasks of all
// streams of a process, also that of the rank it waits for.

// staged is a unit that is done on copies.
type staged struct {
	*unit
	streams []cu.CUstream
	backs   []back
}

// back is a result that the device gets.
type back struct {
	to   uint64
	from []byte
}

// runStaged does the units of a group on copies: all at once, because they may wait for each other.
func runStaged(d *driver.Thread, list []*staged) error {
	for _, u := range list {
		u.turn = u.c.seq.Take()
	}
	var err error
	for _, u := range list {
		if err == nil {
			err = u.c.inContext(d, func() error { return u.fetch(d) })
		}
	}
	var wg sync.WaitGroup
	for _, u := range list {
		wg.Go(func() {
			defer u.c.seq.End()
			if u.after() && err == nil {
				u.execute()
			}
		})
	}
	wg.Wait()
	for _, u := range list {
		if err == nil && u.c.cause.Load() == nil {
			err = u.c.inContext(d, func() error { return u.store(d) })
		}
	}
	return err
}

// fetch waits for the streams and copies what the operations read.
func (u *staged) fetch(d *driver.Thread) error {
	for _, s := range u.streams {
		status, err := d.StreamIsCapturing(s)
		if err != nil {
			return err
		}
		if status != cu.CU_STREAM_CAPTURE_STATUS_NONE {
			return badUsage("%s: an operation through host memory cannot be captured into a graph", kindNames[u.ops[0].kind])
		}
		if err := d.StreamSynchronize(s); err != nil {
			return err
		}
	}
	copied := make([]*op, len(u.ops))
	for i, o := range u.ops {
		send, recv := o.needs()
		own := *o
		b, err := u.copyOf(d, o.send, send)
		if err != nil {
			return err
		}
		own.send = address(b)
		to := make([]byte, recv)
		own.recv, own.kept = address(to), [2][]byte{b, to}
		u.backs = append(u.backs, back{o.recv, to})
		if o.by != nil && o.by.at != 0 {
			b, err := u.copyOf(d, o.by.at, typeSizes[o.by.typ])
			if err != nil {
				return err
			}
			own.by = &scalar{typ: o.by.typ, bits: readScalar(hostmem.Of(&b[0]), o.by.typ)}
		}
		copied[i] = &own
	}
	u.ops = copied
	return nil
}

func address(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return uint64(hostmem.Of(&b[0]))
}

// copyOf is device memory, copied.
func (u *staged) copyOf(d *driver.Thread, at, n uint64) ([]byte, error) {
	b := make([]byte, n)
	if n == 0 {
		return b, nil
	}
	if err := d.MemcpyDtoHAsync(hostmem.Of(&b[0]), driver.DevPtr(at), n, u.streams[0]); err != nil {
		return nil, err
	}
	return b, d.StreamSynchronize(u.streams[0])
}

// store copies the results to the device.
func (u *staged) store(d *driver.Thread) error {
	for _, b := range u.backs {
		if len(b.from) == 0 {
			continue
		}
		if err := d.MemcpyHtoDAsync(driver.DevPtr(b.to), hostmem.Of(&b.from[0]), uint64(len(b.from)), u.streams[0]); err != nil {
			return err
		}
	}
	return d.StreamSynchronize(u.streams[0])
}
