package nccl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/spec/ncclapi"
)

// Ranks of one host do collective operations on each other's memory (engine's meet.c). When a communicator does its first one, its ranks
// tell each other two files of memory: one that they all meet in, and for each process the one that its device memory lies in. They map
// them and close them, so that nothing is left when a process ends in whatever way. If one of the ranks cannot, all go on with messages.

// near is a rank's end of that.
type near struct {
	m      *engine.Meet
	seg    []byte
	peers  []*peerMap // by rank; nil: of this process
	killed atomic.Bool
}

// peerMap is the mapping of another process's arena of device memory. All communicators have it in common.
type peerMap struct {
	process secret
	mem     []byte
	refs    int // guarded by nearMu
}

var (
	nearMu lockrank.Mutex[lockrank.NCCLNear]
	mapped = map[secret]*peerMap{} // guarded by nearMu: by process
)

// nearOffer is what a rank tells the others.
type nearOffer struct {
	OK                   uint64 // 1: it wants to
	Segment              uint64 // descriptor of the file to meet in: the first rank's
	Base, Size, Dev, Ino uint64 // of its arena
	FD                   uint64
}

const nearSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// mayMeet reports whether the ranks are of one host, and not too many.
func (c *comm) mayMeet() bool {
	return !c.foreign && c.n > 1 && c.n <= engine.MaxMeet && len(c.layout.ranks) == 1
}

func sharingForbidden() bool { return setTo("NCCL_SHM_DISABLE", "1") || setTo("NCCL_P2P_DISABLE", "1") }

// prepareNear has memory that the program allocates from now on be one that other processes may map.
func (c *comm) prepareNear() {
	if !c.mayMeet() || sharingForbidden() || !slices.Contains(c.peers, nil) {
		return
	}
	if _, err := engine.ShareArena(); err != nil {
		logx.Infof("NCCL: device memory for other processes: %v", err)
	}
}

// launched is what launchers tell a process: how many of the job are on this host. torchrun, Open MPI, MPICH.
var launched = [...]string{"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}

// prepareJob does the same before there is a communicator, where a launcher has said that there will be one: programs ask for the version
// early, and make their communicators when they have allocated most of what they have.
var prepareJob = sync.OnceFunc(func() {
	for _, name := range launched {
		if n, err := strconv.Atoi(config.Get(name)); err == nil && n > 1 && n <= engine.MaxMeet && !sharingForbidden() {
			_, _ = engine.ShareArena() // prepareNear says why not
			return
		}
	}
})

// settleNear finds out whether the ranks may meet in memory. All ranks come to the same answer.
func (c *comm) settleNear() error {
	c.nearTried = true
	if !c.mayMeet() {
		return nil
	}
	var mine nearOffer
	segment := -1
	arena, err := engine.ShareArena()
	if err == nil && !sharingForbidden() {
		mine = nearOffer{OK: 1, Base: arena.Base, Size: arena.Size, Dev: arena.Dev, Ino: arena.Ino, FD: uint64(arena.FD)}
		if c.rank == 0 {
			segment, err = newSegment(c.key, engine.MeetBytes(c.n))
			mine.Segment, mine.OK = uint64(segment), uint64(flag(err == nil))
		}
	}
	if segment >= 0 {
		defer func() { _ = unix.Close(segment) }() // by then all have it, or do without
	}
	b, err := binary.Append(nil, binary.LittleEndian, &mine)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	all, err := c.swap(b)
	if err != nil {
		return err
	}
	n, why := c.openNear(all)
	if why != nil {
		logx.Infof("NCCL: rank %d of %d: no memory in common: %v", c.rank, c.n, why)
	}
	answers, err := c.swap([]byte{flag(n != nil)})
	for _, a := range answers {
		if a[0] == 0 && n != nil {
			n.release()
			n = nil
		}
	}
	if n == nil || err != nil {
		return err
	}
	c.mu.Lock()
	c.near = n
	c.mu.Unlock()
	if c.cause.Load() != nil {
		n.kill()
	}
	return nil
}

// swap lets every rank know a few bytes of each, in the middle of an operation.
func (c *comm) swap(mine []byte) ([][]byte, error) {
	o := &op{c: c, kind: gatherBytes, count: uint64(len(mine))}
	all := make([][]byte, c.n)
	for r := range all {
		all[r] = make([]byte, len(mine))
	}
	return all, o.exchange(func(int) []byte { return mine }, func(r int) []byte { return all[r] })
}

// newSegment is a file of zeros that begins with the communicator's secret.
func newSegment(key secret, n int) (int, error) {
	fd, err := unix.MemfdCreate("kudzu-nccl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, err
	}
	// All pages now: there may be no memory for them later, and then a store ends the process.
	if err = unix.Fallocate(fd, 0, 0, int64(n)+segmentHead); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, nearSeals)
	}
	if err == nil {
		_, err = unix.Pwrite(fd, key[:], 0)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

const segmentHead = 4096

// openNear maps what the ranks offer.
func (c *comm) openNear(all [][]byte) (*near, error) {
	offers := make([]nearOffer, c.n)
	for r, b := range all {
		if _, err := binary.Decode(b, binary.LittleEndian, &offers[r]); err != nil {
			return nil, err
		}
		if offers[r].OK == 0 {
			return nil, fmt.Errorf("rank %d has none", r)
		}
	}
	n := &near{peers: make([]*peerMap, c.n)}
	var err error
	if n.seg, err = c.openSegment(int(offers[0].Segment)); err != nil {
		return nil, err
	}
	own, here := offers[c.rank].Base, true
	bases := make([]uint64, c.n)
	for r := range offers {
		if c.peers[r] != nil || r == c.rank {
			bases[r] = own
			continue
		}
		here = false
		if n.peers[r], err = openPeer(&c.members[r], &offers[r]); err != nil {
			n.release()
			return nil, err
		}
		bases[r] = uint64(hostmem.Of(&n.peers[r].mem[0]))
	}
	if n.m, err = engine.NewMeet(n.seg[segmentHead:], c.rank, here, own, bases); err != nil {
		n.release()
		return nil, err
	}
	return n, nil
}

func (c *comm) openSegment(fd int) ([]byte, error) {
	f, err := openOf(&c.members[0], fd)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(f) }()
	var st unix.Stat_t
	var stamp secret
	size := engine.MeetBytes(c.n) + segmentHead
	seals, err := unix.FcntlInt(uintptr(f), unix.F_GET_SEALS, 0)
	if err != nil || seals&nearSeals != nearSeals || unix.Fstat(f, &st) != nil || st.Size != int64(size) {
		return nil, errors.New("not a file to meet in")
	}
	if n, err := unix.Pread(f, stamp[:], 0); err != nil || n != len(stamp) || stamp != c.key {
		return nil, errors.New("not the file of this communicator")
	}
	return unix.Mmap(f, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// openOf opens a file of another process.
func openOf(m *member, fd int) (int, error) {
	return unix.Open(fmt.Sprintf("/proc/%d/fd/%d", m.PID, fd), unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
}

// openPeer maps the arena of another process, once.
func openPeer(m *member, o *nearOffer) (*peerMap, error) {
	nearMu.Lock()
	defer nearMu.Unlock()
	if p := mapped[m.Process]; p != nil {
		p.refs++
		return p, nil
	}
	f, err := openOf(m, int(o.FD))
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(f) }()
	var st unix.Stat_t
	seals, err := unix.FcntlInt(uintptr(f), unix.F_GET_SEALS, 0)
	if err != nil || seals&nearSeals != nearSeals || unix.Fstat(f, &st) != nil || st.Dev != o.Dev || st.Ino != o.Ino || uint64(st.Size) != o.Size {
		return nil, errors.New("not a file of device memory")
	}
	mem, err := unix.Mmap(f, 0, int(o.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(mem, unix.MADV_DONTFORK) // a child may have it, and has no use for it
	p := &peerMap{process: m.Process, mem: mem, refs: 1}
	mapped[m.Process] = p
	return p, nil
}

// release unmaps everything.
func (n *near) release() {
	if n.m != nil {
		n.m.Close()
	}
	_ = unix.Munmap(n.seg)
	nearMu.Lock()
	defer nearMu.Unlock()
	for _, p := range n.peers {
		if p == nil {
			continue
		}
		if p.refs--; p.refs == 0 {
			delete(mapped, p.process)
			_ = unix.Munmap(p.mem)
		}
	}
}

// enter keeps everything where it is until leave; false: it was killed.
func (n *near) enter() bool { return n.m.Enter() }

func (n *near) leave() { n.m.Leave() }

// kill ends operations that are under way, and gives everything back when the last one is over.
func (n *near) kill() {
	if n.killed.Swap(true) {
		return
	}
	n.m.Kill()
	if n.m.Shut() {
		n.release()
		return
	}
	go func() {
		for !n.m.Idle() {
			time.Sleep(time.Millisecond)
		}
		n.release()
	}()
}

// farewell is how long a rank that fails waits for another one that may be writing to its buffers. That takes as long as one operation
// of that rank does, unless it has been stopped; one that has ended is not waited for.
const farewell = 10 * time.Second

// quit keeps the other ranks from this one's buffers.
func (c *comm) quit(n *near) {
	for end := time.Now().Add(farewell); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		r := n.m.Quit()
		if r < 0 || c.peers[r] == nil && !running(int(c.members[r].PID)) {
			return
		}
	}
}

// running reports whether a process has not ended.
func running(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return !errors.Is(err, unix.ESRCH)
	}
	defer func() { _ = unix.Close(fd) }()
	k, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err != nil || k == 0
}

// meet does a collective operation in memory, if the ranks have some in common.
func (o *op) meet() (done bool, err error) {
	c := o.c
	if !c.nearTried {
		if err := c.settleNear(); err != nil {
			return false, err
		}
	}
	n := c.near
	if n == nil {
		return false, nil
	}
	if o.begun == nil || !o.begun.Entered {
		if !n.enter() {
			return false, c.because(errClosed)
		}
		defer n.leave()
	}
	var how engine.Met
	var r int
	var theirs uint64
	if o.begun != nil {
		how, r, theirs = n.m.Resume(o.begun, c.patient)
	} else {
		how, r, theirs = n.m.Run(o.meeting(), c.patient)
	}
	switch how {
	case engine.MetDone:
		return true, nil
	case engine.MetOther:
		return false, nil
	case engine.MetDiffer:
		err = badUsage("rank %d does %s while rank %d does %s", r, describe(theirs), c.rank, describe(o.call()))
	case engine.MetLate:
		if err = c.err(); err == nil {
			err = failf(ncclapi.NcclRemoteError, "rank %d has left", r)
		}
	default:
		err = c.because(failf(ncclapi.NcclRemoteError, "another rank has failed"))
	}
	c.fail(err) // before it waits: the others may not know yet
	c.quit(n)
	return false, err
}

// patient reports whether there is a point in waiting for a rank.
func (c *comm) patient(r int) bool {
	select {
	case <-c.away[r]:
		return false
	case <-c.dead:
		return false
	default:
		return true
	}
}
