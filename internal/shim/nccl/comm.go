package nccl

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/engine"
	"kudzu/internal/handle"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
)

// comm is one rank of a communicator.
type comm struct {
	rank, n int
	key     secret
	device  int32
	ctx     cu.CUcontext
	reach   reach // of this rank's memory
	config  settings
	boot    bootstrap // guarded by mu until ready is closed, as key is

	ready chan struct{} // closed when it is made, or could not be
	dead  chan struct{} // closed when it is of no more use; cause says why
	stop  chan struct{} // closed when its program aborts it, whatever became of it before
	told  chan struct{} // closed when its failure has been told of
	gone  chan struct{} // closed when it has left
	cause atomic.Pointer[failure]

	seq *engine.Sequence // of its units

	revoked   atomic.Bool // by its program: not an error
	suspended atomic.Bool

	origin *origin // of one that is made from another; nil: of none

	members []member // those that follow: set before ready is closed
	peers   []*comm  // those of this process
	layout  *layout
	boxes   [classes][]*box
	outlets [classes][]*outlet
	away    []chan struct{} // by rank: closed when it has left
	foreign bool            // the host cannot touch some rank's memory
	vendor  Vendor          // does the operations; nil: we do

	lent uintptr // the vendor's communicator, guarded by vendorMu; 0: there is none

	nearTried bool          // by the collective that runs
	near      *near         // set then, under mu
	scratch   []byte        // of the collective that runs
	rung      chan struct{} // one that waits for signals looks again

	mu                     lockrank.Mutex[lockrank.NCCLComm]
	isAway                 []bool // guarded by mu, as all that follows
	isGone                 bool
	isTold                 bool // of its failure
	socks                  map[*sock]struct{}
	scalars                map[int32]*scalar
	nextOp                 int32
	windows                map[uint64]window
	nextBuffer, nextWindow uint64            // their numbers: odd and even
	signals                map[signal]uint64 // that came and were not waited for
	derived                map[string]int    // how many communicators were derived of these ranks
	named                  bool              // there is an id for a larger one
}

// maxRanks bounds a communicator: every rank has a little memory for each other.
const maxRanks = 1 << 16

var comms = handle.NewTable[comm](handle.NCCLCommunicator, "NCCL communicators")

// place is a rank of a communicator.
type place struct {
	key  secret
	rank int
}

var (
	liveMu lockrank.Mutex[lockrank.NCCLLive]
	live   = map[place]*comm{} // guarded by liveMu: the ranks of this process, for its other ranks and for connections
)

func findLive(key secret, rank int) *comm {
	liveMu.Lock()
	defer liveMu.Unlock()
	return live[place{key, rank}]
}

// newComm is a rank on the device that is current.
func (t *Thread) newComm(rank, n int32, cfg settings) (*comm, error) {
	if n < 1 || n > maxRanks || rank < 0 || rank >= n {
		return nil, badArgument("rank %d of %d", rank, n)
	}
	d := t.driver()
	if err := cudart.Ready(d); err != nil {
		return nil, err
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return nil, err
	}
	device, err := d.CtxGetDevice()
	if err != nil {
		return nil, err
	}
	how, err := reachOf(d)
	if err != nil {
		return nil, err
	}
	c := &comm{device: int32(device), ctx: ctx, reach: how, config: cfg,
		ready: make(chan struct{}), dead: make(chan struct{}), stop: make(chan struct{}), told: make(chan struct{}), gone: make(chan struct{}),
		socks: map[*sock]struct{}{}, scalars: map[int32]*scalar{}, nextOp: int32(ncclapi.NcclNumOps), windows: map[uint64]window{}, derived: map[string]int{}, signals: map[signal]uint64{}, rung: make(chan struct{}, 1), nextBuffer: 1}
	c.resize(int(rank), int(n))
	if c.seq, err = engine.NewSequence(c.goOn); err != nil {
		return nil, err
	}
	return c, nil
}

// resize makes it a rank of n, before anybody sees it.
func (c *comm) resize(rank, n int) {
	c.rank, c.n = rank, n
	c.isAway, c.away = make([]bool, n), make([]chan struct{}, n)
	for i := range c.away {
		c.away[i] = make(chan struct{})
	}
	for class := range classes {
		c.boxes[class], c.outlets[class] = make([]*box, n), make([]*outlet, n)
		for i := range n {
			c.boxes[class][i] = newBox()
			c.outlets[class][i] = &outlet{}
		}
	}
}

// join meets the other ranks. It ends with ready closed, and a cause if it failed.
func (c *comm) join(id *uniqueID) {
	defer close(c.ready)
	c.mu.Lock()
	c.key = id.key
	c.mu.Unlock()
	defer c.followOrigin()()
	if err := c.meet(id); err != nil {
		c.fail(err)
		c.settle() // another goroutine may be telling of it, and the cause comes last
	}
}

func (c *comm) meet(id *uniqueID) error {
	me, err := self()
	if err != nil {
		return err
	}
	me.Device, me.Reach = c.device, c.reach
	boot, err := id.bootstrap(c, &me)
	if err != nil {
		return err
	}
	if err := c.begin(boot); err != nil {
		return err
	}
	members, err := boot.enter(c.rank, c.n, &me, c.hear, c.dead, c.origin)
	if err != nil {
		return err
	}
	c.members = members
	c.layout = layoutOf(c.members)
	c.peers = make([]*comm, c.n)
	for r := range c.members {
		if c.members[r].sameProcess(&me) {
			c.peers[r] = findLive(c.key, r)
		}
	}
	if c.cause.Load() != nil { // by one who did not know that it had come; it may still be shrunk
		boot.over(news{c.rank, true, c.cause.Load().text})
		return c.err()
	}
	c.describe()
	if err := c.settleReach(); err != nil {
		return err
	}
	c.prepareNear()
	return nil
}

// begin lets other ranks find this one. Its program may have aborted it before.
func (c *comm) begin(boot bootstrap) error {
	c.mu.Lock()
	c.boot = boot
	c.mu.Unlock()
	liveMu.Lock()
	live[place{c.key, c.rank}] = c
	liveMu.Unlock()
	if c.cause.Load() != nil { // whoever ended it may have seen neither
		c.drop()
		return c.err()
	}
	return nil
}

// hear takes news of another rank.
func (c *comm) hear(n news) {
	if n.lost {
		why := n.why
		if !strings.HasPrefix(why, "rank ") { // else it heard it of another rank itself
			why = fmt.Sprintf("rank %d was lost: %s", n.rank, why)
		}
		c.fail(failf(ncclapi.NcclRemoteError, "%s", why))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isAway[n.rank] {
		c.isAway[n.rank] = true
		close(c.away[n.rank])
		c.look()
	}
}

// fail ends the communicator: whoever waits for another rank stops waiting, and the others hear of it.
func (c *comm) fail(err error) {
	f := asFailure(err)
	c.mu.Lock()
	first := !c.isGone && !c.isTold && c.cause.Load() == nil
	c.isTold = c.isTold || first
	c.mu.Unlock()
	if !first {
		return
	}
	defer close(c.told)
	// First the line: a program that sees the code may end before it is written.
	logx.Warnf("NCCL: rank %d of %d: %s", c.rank, c.n, f.text)
	if say := said.Load(); say != nil {
		(*say)(f.text)
	}
	c.end(f)
}

// settle waits until a failure that is being told has its code: an operation does not end before the program can ask why.
func (c *comm) settle() {
	c.mu.Lock()
	told := c.isTold
	c.mu.Unlock()
	if told {
		<-c.told
	}
}

// end is fail without a word about it.
func (c *comm) end(f *failure) {
	c.mu.Lock()
	gone := c.isGone
	c.mu.Unlock()
	if gone || !c.cause.CompareAndSwap(nil, f) {
		return
	}
	close(c.dead)
	c.retire()
	c.endVendor()
	c.mu.Lock()
	boot := c.boot
	c.mu.Unlock()
	if boot != nil { // through a connection that drop closes
		boot.over(news{c.rank, true, f.text})
	}
	c.drop()
}

// retire ends what C may do for the communicator. Its last operations may be a while in coming.
func (c *comm) retire() {
	engine.Changed()
	if c.cause.Load() != nil {
		c.seq.Kill()
	}
	if c.seq.Drained(0) {
		c.seq.Forget()
		return
	}
	go func() {
		// A task of a context that failed is never called. What has begun ends sooner than that.
		for end := time.Now().Add(time.Minute); !c.seq.Drained(0) && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		c.seq.Forget()
	}()
}

// drop closes all connections, and lets nobody find this rank any more.
func (c *comm) drop() {
	c.mu.Lock()
	at := place{c.key, c.rank}
	c.mu.Unlock()
	liveMu.Lock()
	if live[at] == c {
		delete(live, at)
	}
	liveMu.Unlock()
	c.mu.Lock()
	socks, n := c.socks, c.near
	c.socks = nil
	c.mu.Unlock()
	if n != nil {
		n.kill()
	}
	for s := range socks {
		s.close()
	}
}

// keep notes a connection, to be closed with the communicator. It reports whether that is still to come.
func (c *comm) keep(s *sock) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.socks == nil {
		return false
	}
	c.socks[s] = struct{}{}
	return true
}

// discard closes a connection before its communicator ends.
func (c *comm) discard(s *sock) {
	c.mu.Lock()
	delete(c.socks, s)
	c.mu.Unlock()
	s.close()
}

// leave ends the communicator as its program wants: all its work is done.
func (c *comm) leave() {
	c.mu.Lock()
	before := c.isGone
	c.isGone = true
	c.mu.Unlock()
	if before || c.cause.Load() != nil {
		return
	}
	c.retire()
	c.leaveVendor()
	close(c.gone)
	c.boot.over(news{rank: c.rank})
	c.drop()
}

// find is a live communicator whose initialisation has ended well.
func find(h ncclapi.NcclComm_t) (*comm, error) {
	c, err := lookup(h)
	if err != nil {
		return nil, err
	}
	<-c.ready
	return c, c.err()
}

// lookup is a communicator, whatever its state.
func lookup(h ncclapi.NcclComm_t) (*comm, error) {
	c := comms.Get(handle.Value(h))
	if c == nil {
		return nil, badArgument("no such communicator")
	}
	return c, nil
}

func (c *comm) err() error {
	if f := c.cause.Load(); f != nil {
		return f
	}
	return nil
}

// flush waits for the work that was put in.
func (c *comm) flush(d *driver.Thread) {
	for c.cause.Load() == nil {
		done := c.seq.Drained(200 * time.Millisecond)
		if done && !c.seq.Skipped() {
			return
		}
		// A context that failed runs nothing any more.
		if err := c.inContext(d, func() error { return d.StreamQuery(0) }); err != nil && err != driver.Result(cu.CUDA_ERROR_NOT_READY) {
			c.fail(err)
			return
		}
		if done {
			return
		}
	}
}

// inContext runs f with the communicator's device current.
func (c *comm) inContext(d *driver.Thread, f func() error) error {
	if now, err := d.CtxGetCurrent(); err == nil && now == c.ctx {
		return f()
	}
	if err := d.CtxPushCurrent(c.ctx); err != nil {
		return err
	}
	defer func() { _, _ = d.CtxPopCurrent() }()
	return f()
}

// CommFinalize waits for the communicator's work and leaves the others.
func (t *Thread) CommFinalize(h ncclapi.NcclComm_t) error {
	c, err := find(h)
	if err != nil {
		return err
	}
	if t.group() != nil {
		return badUsage("ncclCommFinalize in a group")
	}
	c.flush(t.driver())
	c.leave()
	return c.err()
}

// CommDestroy does the same and ends the handle.
func (t *Thread) CommDestroy(h ncclapi.NcclComm_t) error {
	c, err := lookup(h)
	if err != nil {
		return err
	}
	<-c.ready
	if c.cause.Load() == nil {
		c.flush(t.driver())
		c.leave()
	}
	comms.Delete(handle.Value(h))
	return nil
}

// CommAbort ends a communicator with its work under way, and the handle. Ranks that wait for it stop waiting.
func (t *Thread) CommAbort(h ncclapi.NcclComm_t) error {
	c := comms.Delete(handle.Value(h))
	if c == nil {
		return badArgument("no such communicator")
	}
	close(c.stop) // once: nobody else finds the handle
	c.mu.Lock()
	gone := c.isGone
	c.mu.Unlock()
	if !gone {
		c.end(aborted())
	}
	return nil
}

func aborted() *failure { return failf(ncclapi.NcclInternalError, "aborted by its program") }

// CommGetAsyncError is what became of the communicator.
func (t *Thread) CommGetAsyncError(h ncclapi.NcclComm_t) (ncclapi.NcclResult_t, error) {
	c, err := lookup(h)
	if err != nil {
		return 0, err
	}
	if err := c.vendorState(); err != nil && err != ErrBusy {
		c.fail(err)
	}
	if f := c.cause.Load(); f != nil && !c.revoked.Load() {
		return f.code, nil
	}
	select {
	case <-c.ready:
		return ncclapi.NcclSuccess, nil
	default:
		return ncclapi.NcclInProgress, nil
	}
}

// CommCount is the number of ranks.
func (t *Thread) CommCount(h ncclapi.NcclComm_t) (int32, error) {
	c, err := lookup(h)
	if err != nil {
		return 0, err
	}
	return int32(c.n), nil
}

// CommUserRank is the rank.
func (t *Thread) CommUserRank(h ncclapi.NcclComm_t) (int32, error) {
	c, err := lookup(h)
	if err != nil {
		return 0, err
	}
	return int32(c.rank), nil
}

// CommCuDevice is the device.
func (t *Thread) CommCuDevice(h ncclapi.NcclComm_t) (int32, error) {
	c, err := lookup(h)
	if err != nil {
		return 0, err
	}
	return c.device, nil
}
