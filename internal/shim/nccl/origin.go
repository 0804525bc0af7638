package nccl

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/spec/ncclapi"
)

// origin is what a communicator that is being made knows from the one it is made of. Ranks that were lost there do not come here; only the
// hub knows whether they are needed any more.
type origin struct {
	of      *comm
	members []member // by rank of the new one, of a hub that has to look after them itself; nil: of does

	doubt chan struct{} // closed when the old one has failed
	why   string        // set before
}

func (c *comm) madeFrom(old *comm, list []int) {
	c.origin = &origin{of: old, doubt: make(chan struct{})}
	for _, r := range list {
		c.origin.members = append(c.origin.members, old.members[r])
	}
}

// doubts is closed when ranks may be missing for ever; nil: nobody will say so.
func (o *origin) doubts() <-chan struct{} {
	if o == nil {
		return nil
	}
	return o.doubt
}

// followOrigin watches the old communicator while this one is made: its failure is a reason to doubt that all ranks come, and its abort
// ends this one too. The answer ends the watch.
func (c *comm) followOrigin() func() {
	if c.origin == nil {
		return func() {}
	}
	o, old := c.origin, c.origin.of
	dead := old.dead
	if old.cause.Load() != nil {
		dead = nil // it is known, and this one is made all the same
	}
	made := make(chan struct{})
	go func() {
		select {
		case <-made:
		case <-old.stop:
		case <-dead:
		}
		switch {
		case isClosed(made): // whatever becomes of the old one now
		case isClosed(old.stop):
			c.end(aborted())
		default:
			o.why = "the communicator it is made from: " + old.cause.Load().text
			close(o.doubt)
		}
	}()
	return func() { close(made) }
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// await looks, from the process of a hub, whether the processes of ranks that did not come yet still run. It is for communicators whose
// origin has failed: nobody else tells of them.
func (h *hub) await(members []member) {
	h.mu.Lock()
	before := h.watched
	h.watched = true
	h.mu.Unlock()
	me, err := self()
	if before || err != nil {
		return
	}
	pause := 200*time.Millisecond + time.Duration(len(members))*time.Millisecond
	for r := range members {
		if m := &members[r]; !m.sameProcess(&me) && m.Addr.Port != 0 {
			go h.awaitRank(r, m, pause)
		}
	}
}

func (h *hub) awaitRank(rank int, m *member, pause time.Duration) {
	for {
		select {
		case <-h.full:
			return
		case <-time.After(pause):
		}
		if h.came(rank) {
			return
		}
		if why := m.ended(); why != "" && !h.came(rank) {
			h.give(failf(ncclapi.NcclRemoteError, "rank %d was lost before all ranks were there: %s", rank, why))
			return
		}
	}
}

// ended asks a process whether it is there; the answer says why not. One that is slow to answer is.
func (m *member) ended() string {
	s, err := newSock(&m.Addr)
	if err != nil {
		return ""
	}
	defer s.close()
	s.patience(silence())
	if err = s.dial(&m.Addr); err == nil {
		if err = s.write(append([]byte{toProcess}, m.Process[:]...)); err == nil {
			err = s.read(make([]byte, 1))
		}
	}
	switch {
	case err == nil, errors.Is(err, errLate), errors.Is(err, unix.EADDRNOTAVAIL), errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.EINTR):
		return ""
	case errors.Is(err, unix.EINPROGRESS), errors.Is(err, unix.EAGAIN): // of a bounded connect
		err = unix.ETIMEDOUT
	}
	return whyEnded(err)
}

// isHere answers a hub that asks whether this process is the one it knows.
func isHere(s *sock) {
	defer s.close()
	var who secret
	if me, err := self(); err == nil && s.read(who[:]) == nil && who == me.Process {
		_ = s.write([]byte{1}) // who asked may be gone
	}
}
