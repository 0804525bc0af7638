package nccl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/lockrank"
	"kudzu/internal/spec/ncclapi"
)

// The connection between a rank and a hub in another process. The rank says who it is, and gets the table of all; afterwards either side
// sends news. A connection that ends without news is a rank, or a hub, that was lost.

// everyRank stands for a rank in news: from the hub, the table follows; to it, why not all ranks will come.
const everyRank = -1

const (
	introSize = 16 + 8 + memberSize
	newsSize  = 4 + 4 + 4
	whySize   = 400
)

// open lets ranks of other processes come.
func (h *hub) open(at endpoint) (endpoint, error) {
	s, at, err := listen(at)
	if err != nil {
		h.forget()
		return at, failf(ncclapi.NcclSystemError, "address %s: %v", at.String(), err)
	}
	h.mu.Lock()
	h.stop = s.close
	h.mu.Unlock()
	go func() {
		for {
			conn, err := s.accept()
			if err != nil {
				return
			}
			go h.serve(conn)
		}
	}()
	return at, nil
}

// serve is one rank of another process, from its coming to its end.
func (h *hub) serve(s *sock) {
	defer s.close()
	var b [introSize]byte
	s.patience(10 * time.Second)
	if s.read(b[:]) != nil || secret(b[:16]) != h.key {
		return
	}
	s.patience(0)
	s.watch()
	rank, n := word(b[16:]), word(b[20:])
	var m member
	if m.decode(b[24:]) != nil || n < 1 || n > maxRanks || rank < 0 || rank >= n {
		return
	}
	var sending lockrank.Mutex[lockrank.NCCLNews]
	tell := func(x news) {
		sending.Lock()
		defer sending.Unlock()
		_ = s.write(x.bytes()) // what the rank itself said last, before it closed the connection, is still to be read
	}
	sending.Lock() // the table comes first
	if err := h.claim(rank, n, &m, tell); err != nil {
		_ = s.write(news{rank, true, err.Error()}.bytes())
		sending.Unlock()
		return
	}
	end := make(chan news, 1)
	go func() {
		x := readNews(s, rank)
		for x.rank == everyRank && x.why != "" {
			h.give(failf(ncclapi.NcclRemoteError, "%s", x.why))
			x = readNews(s, rank)
		}
		end <- x
	}()
	var last news
	select {
	case <-h.full:
		h.sendTable(s)
		sending.Unlock()
		last = <-end
	case last = <-end:
		sending.Unlock()
	}
	last.rank = rank
	h.over(last)
}

func (h *hub) sendTable(s *sock) {
	list, err := h.table(nil, nil)
	if err != nil {
		_ = s.write(news{0, true, err.Error()}.bytes()) // the rank is about to be over
		return
	}
	me, err := self()
	if err != nil {
		return // then this process has no ranks either
	}
	b := append(news{rank: everyRank}.bytes(), me.Process[:]...)
	for i := range list {
		b = list[i].append(b)
	}
	_ = s.write(b)
}

func (n news) bytes() []byte {
	why := n.why[:min(len(n.why), whySize)]
	b := appendWords(nil, n.rank, int(flag(n.lost)), len(why))
	return append(b, why...)
}

// readNews is the next news of a connection; its end is a loss.
func readNews(s *sock, rank int) news {
	var b [newsSize]byte
	if err := s.read(b[:]); err != nil {
		return news{rank, true, whyEnded(err)}
	}
	size := binary.LittleEndian.Uint32(b[8:])
	if size > whySize {
		return news{rank, true, "its connection sent what it should not"}
	}
	why := make([]byte, size)
	if size > 0 && s.read(why) != nil {
		return news{rank, true, "its process ended"}
	}
	return news{word(b[:]), b[4] != 0, string(why)}
}

const ended = "its process ended or its connection was closed"

// whyEnded tells a host that gives no sign from a process that ended.
func whyEnded(err error) string {
	for _, e := range []error{unix.ETIMEDOUT, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.ENETDOWN} {
		if errors.Is(err, e) {
			return fmt.Sprintf("its host gives no sign: %v", err)
		}
	}
	return ended
}

// remote is a hub of another process.
type remote struct {
	s    *sock
	key  secret
	once sync.Once
}

// dialHub connects to the hub of a unique id. It may not be there yet, where rank 0 opens it, or where it is that of a derived communicator.
func (c *comm) dialHub(u *uniqueID) (*remote, error) {
	for {
		s, err := newSock(&u.hub)
		if err != nil {
			return nil, err
		}
		if !c.keep(s) {
			s.close()
			return nil, c.err()
		}
		found := true
		if err = s.dial(&u.hub); err == nil && u.derived {
			found, err = s.askHub(u.key)
		}
		if err == nil && found {
			s.watch()
			return &remote{s: s, key: u.key}, nil
		}
		c.discard(s)
		if u.derived && found { // its first rank's process
			return nil, failf(ncclapi.NcclRemoteError, "rank 0 was lost before all ranks were there: %s", whyEnded(err))
		}
		if !u.fixed && found {
			return nil, failf(ncclapi.NcclRemoteError, "the process that made the unique id was lost, at %s: %v", u.hub.String(), err)
		}
		select {
		case <-c.dead:
			return nil, c.err()
		case <-c.origin.doubts():
			return nil, failf(ncclapi.NcclRemoteError, "%s", c.origin.why)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// askHub asks at a data port whether the hub of a derived communicator is there yet.
func (s *sock) askHub(key secret) (bool, error) {
	if err := s.write(append([]byte{toHub}, key[:]...)); err != nil {
		return true, err
	}
	var answer [1]byte
	err := s.read(answer[:])
	return err != nil || answer[0] != 0, err
}

func (r *remote) enter(rank, n int, m *member, tell func(news), cancel <-chan struct{}, from *origin) ([]member, error) {
	b := append(make([]byte, 0, introSize), r.key[:]...)
	b = m.append(appendWords(b, rank, n))
	if err := r.s.write(b); err != nil {
		return nil, failf(ncclapi.NcclRemoteError, "the process that made the unique id: %v", err)
	}
	came := make(chan struct{})
	go func() {
		select {
		case <-from.doubts():
			_ = r.s.write(news{everyRank, true, from.why}.bytes()) // without a hub the read below ends
		case <-came:
		case <-cancel:
		}
	}()
	first := readNews(r.s, -2)
	close(came)
	switch {
	case first.rank == -2:
		return nil, failf(ncclapi.NcclRemoteError, "the process that made the unique id: %s", first.why)
	case first.rank != everyRank:
		return nil, failf(ncclapi.NcclRemoteError, "%s", first.why)
	}
	list := make([]member, n)
	raw := make([]byte, len(secret{})+n*memberSize)
	if err := r.s.read(raw); err != nil {
		return nil, failf(ncclapi.NcclRemoteError, "the process that made the unique id: %v", err)
	}
	for i := range list {
		if err := list[i].decode(raw[len(secret{})+i*memberSize:]); err != nil {
			return nil, err
		}
	}
	go r.listen(m.Process, secret(raw), list, tell)
	return list, nil
}

// listen passes news on until the connection ends. Then the process of the hub is lost, with its ranks that did not say that they left;
// if its host gives no sign, all ranks of other hosts are.
func (r *remote) listen(me, home secret, list []member, tell func(news)) {
	left := make([]bool, len(list))
	var last news
	for {
		last = readNews(r.s, -1)
		if last.rank < 0 || last.rank >= len(list) {
			break
		}
		left[last.rank] = true
		tell(last)
	}
	host := list[slices.IndexFunc(list, func(m member) bool { return m.Process == me })].Host
	for rank := range list {
		m := &list[rank]
		if !left[rank] && (m.Process == home || last.why != ended && m.Host != host) {
			tell(news{rank, true, last.why})
		}
	}
}

func (r *remote) over(n news) {
	r.once.Do(func() {
		_ = r.s.write(n.bytes()) // the hub may be gone: then it hears nothing, and tells nobody
	})
}
