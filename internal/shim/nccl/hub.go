package nccl

import (
	"sync"
	"sync/atomic"
	"time"

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
	err     error  // why it will never be full
	refused int    // ranks that came after that
	stop    func() // ends the listener
	watched bool   // await has begun
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
	if hubs[h.key] == h {
		delete(hubs, h.key)
	}
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
		h.slots[rank] = slot{taken: true, over: true}
		h.refused++
		h.settle()
		return h.err
	}
	h.members[rank], h.slots[rank] = *m, slot{taken: true, tell: tell}
	h.joined++
	h.live++
	if h.joined == n {
		close(h.full)
		h.shut()
	}
	return nil
}

// shut ends the listener.
//
// Preconditions: mu is held.
func (h *hub) shut() {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

// settle forgets a hub that failed once every rank has heard of it. Until then it stays, so that a rank which comes late does not wait.
//
// Preconditions: mu is held.
func (h *hub) settle() {
	if h.err != nil && h.live == 0 && h.joined+h.refused == len(h.members) {
		h.shut()
		go h.forget() // whose lock comes before this one
	}
}

// lateRanks is how long a hub that failed keeps its listener; a rank that comes later finds it closed.
const lateRanks = 5 * time.Minute

// give says why the hub will never be full; if it is, that counts for nothing: then the ranks' connections tell what becomes of them.
func (h *hub) give(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || h.members != nil && h.joined == len(h.members) {
		return
	}
	h.err = err
	close(h.full)
	time.AfterFunc(lateRanks, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.shut()
	})
}

// came reports whether a rank is there.
func (h *hub) came(rank int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slots != nil && h.slots[rank].taken
}

// failed reports whether it will never be full.
func (h *hub) failed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err != nil
}

// table is all members, once they are there.
func (h *hub) table(cancel <-chan struct{}, from *origin) ([]member, error) {
	doubts := from.doubts()
	for full := false; !full; {
		select {
		case <-h.full:
			full = true
		case <-doubts:
			h.give(failf(ncclapi.NcclRemoteError, "%s", from.why))
			doubts = nil
		case <-cancel:
			return nil, failf(ncclapi.NcclInternalError, "aborted while ranks were missing")
		}
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
	var tell []func(news)
	for i := range h.slots {
		if o := &h.slots[i]; o.taken && !o.over && i != n.rank {
			tell = append(tell, o.tell)
		}
	}
	last := h.live == 0 && h.err == nil && h.joined == len(h.members)
	h.settle()
	h.mu.Unlock()
	h.give(n.early())
	for _, f := range tell {
		f(n)
	}
	if last {
		h.forget()
	}
}

// early is what the loss of a rank means before all ranks are there.
func (n *news) early() error {
	if !n.lost || n.why == "" {
		return failf(ncclapi.NcclRemoteError, "rank %d left before all ranks were there", n.rank)
	}
	return failf(ncclapi.NcclRemoteError, "rank %d was lost before all ranks were there: %s", n.rank, n.why)
}

// bootstrap is a communicator's way to its hub.
type bootstrap interface {
	// enter joins as a rank and waits for all, or for news that some will never come.
	enter(rank, n int, m *member, tell func(news), cancel <-chan struct{}, from *origin) ([]member, error)
	// over says that this rank left, or why it is lost.
	over(n news)
}

// local is a hub of this process.
type local struct {
	*hub
	claimed atomic.Bool
	once    sync.Once
}

func (l *local) enter(rank, n int, m *member, tell func(news), cancel <-chan struct{}, from *origin) ([]member, error) {
	if err := l.claim(rank, n, m, tell); err != nil {
		return nil, err
	}
	l.claimed.Store(true)
	if from != nil && from.members != nil {
		l.await(from.members)
	}
	list, err := l.table(cancel, from)
	if err != nil {
		l.over(news{rank, true, err.Error()})
	}
	return list, err
}

// over is the slot's end: a rank that got none has nothing to say of the one that did.
func (l *local) over(n news) {
	if l.claimed.Load() {
		l.once.Do(func() { l.hub.over(n) })
	}
}
