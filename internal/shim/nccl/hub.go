package nccl

import (
	"sync"

	"kudzu/internal/lockrank"
	"kudzu/internal/spec/ncclapi"
)

// hub is where the ranks of a communicator find each other, and later hear of those that leave or are lost. It is in the process that made
// the unique id; ranks of other processes come through a connection (control.go).
type hub struct {
	key  secret
	full chan struct{} // closed when all are there, or cannot be any more

	mu      lockrank.Mutex[lockrank.NCCLHub]
	members []member // guarded by mu, as all that follows; nil before the first rank
	slots   []slot
	joined  int
	live    int
	err     error
	stop    func() // ends the listener
}

// slot is one rank's place.
type slot struct {
	taken, over bool
	tell        func(news)
}

// news is what becomes of a rank.
type news struct {
	rank int
	lost bool   // it was not its own wish
	why  string // one line
}

var (
	hubs   = map[secret]*hub{} // guarded by hubsMu: those of this process that ranks may still come to
	hubsMu lockrank.Mutex[lockrank.NCCLHubs]
)

// someHub is the hub of a secret; the first who asks makes it.
func someHub(key secret) *hub {
	hubsMu.Lock()
	defer hubsMu.Unlock()
	if hubs[key] == nil {
		hubs[key] = &hub{key: key, full: make(chan struct{})}
	}
	return hubs[key]
}

func findHub(key secret) *hub {
	hubsMu.Lock()
	defer hubsMu.Unlock()
	return hubs[key]
}

func (h *hub) forget() {
	hubsMu.Lock()
	defer hubsMu.Unlock()
	delete(hubs, h.key)
}

// claim takes a rank's place. tell is called for what becomes of other ranks, from any goroutine.
func (h *hub) claim(rank, n int, m *member, tell func(news)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.members == nil {
		h.members, h.slots = make([]member, n), make([]slot, n)
	}
	switch {
	case len(h.members) != n:
		return badArgument("rank %d says that there are %d ranks, others said %d", rank, n, len(h.members))
	case h.slots[rank].taken:
		return badUsage("rank %d came twice", rank)
	case h.err != nil:
		return h.err
	}
	h.members[rank], h.slots[rank] = *m, slot{taken: true, tell: tell}
	h.joined++
	h.live++
	if h.joined == n {
		close(h.full)
		if h.stop != nil {
			h.stop()
		}
	}
	return nil
}

// table is all members, once they are there.
func (h *hub) table(cancel <-chan struct{}) ([]member, error) {
	select {
	case <-h.full:
	case <-cancel:
		return nil, failf(ncclapi.NcclInternalError, "aborted while ranks were missing")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members, h.err
}

// over says what became of a rank, once.
func (h *hub) over(n news) {
	h.mu.Lock()
	s := &h.slots[n.rank]
	if s.over {
		h.mu.Unlock()
		return
	}
	s.over = true
	h.live--
	if h.joined < len(h.members) && h.err == nil { // it will never be full
		h.err = failf(ncclapi.NcclRemoteError, "rank %d left before all ranks were there", n.rank)
		close(h.full)
		if h.stop != nil {
			h.stop()
		}
	}
	var tell []func(news)
	for i := range h.slots {
		if o := &h.slots[i]; o.taken && !o.over && i != n.rank {
			tell = append(tell, o.tell)
		}
	}
	last := h.live == 0
	h.mu.Unlock()
	for _, f := range tell {
		f(n)
	}
	if last {
		h.forget()
	}
}

// bootstrap is a communicator's way to its hub.
type bootstrap interface {
	// enter joins as a rank and waits for all.
	enter(rank, n int, m *member, tell func(news), cancel <-chan struct{}) ([]member, error)
	// over says that this rank left, or why it is lost.
	over(n news)
}

// local is a hub of this process.
type local struct {
	*hub
	claimed bool // set before anybody else sees it
	once    sync.Once
}

func (l *local) enter(rank, n int, m *member, tell func(news), cancel <-chan struct{}) ([]member, error) {
	if err := l.claim(rank, n, m, tell); err != nil {
		return nil, err
	}
	l.claimed = true
	list, err := l.table(cancel)
	if err != nil {
		l.over(news{rank, true, err.Error()})
	}
	return list, err
}

// over is the slot's end: a rank that got none has nothing to say of the one that did.
func (l *local) over(n news) {
	if l.claimed {
		l.once.Do(func() { l.hub.over(n) })
	}
}
