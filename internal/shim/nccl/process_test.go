package nccl

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// TestMain is also one rank in a process of its own.
func TestMain(m *testing.M) {
	if part := os.Getenv("NCCL_TEST_PART"); part != "" {
		os.Exit(play(part))
	}
	os.Exit(m.Run())
}

// play does a rank's part, and says what went wrong.
func play(part string) int {
	rank, _ := strconv.Atoi(os.Getenv("NCCL_TEST_RANK"))
	n, _ := strconv.Atoi(os.Getenv("NCCL_TEST_RANKS"))
	turn, _ := strconv.Atoi(os.Getenv("NCCL_TEST_TURN")) // so that the last process may be any rank
	rank = (rank + turn) % n
	if layout := os.Getenv("NCCL_TEST_HOSTS"); layout != "" { // by rank
		_ = os.Setenv("NCCL_HOSTID", layout[rank:rank+1])
	}
	if os.Getenv("KUDZU_NCCL_TRANSPORT") == "ucx" {
		useUCX()
	}
	t := &testing.T{}
	a := newActor(t, rank, 0, 0)
	if os.Getenv("NCCL_TEST_CLOSED") != "" { // a process that changed its user is closed to others
		if err := errors.Join(syscall.Setuid(65534), unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)); err != nil {
			fmt.Printf("rank %d: %v\n", rank, err)
			return 1
		}
	}
	if err := parts[part](a, n); err != nil {
		fmt.Printf("rank %d: %v\n", rank, err)
		return 1
	}
	return 0
}

// join makes the rank's communicator of the id that the test gave.
func (a *actor) join(n int) error {
	var id ncclapi.NcclUniqueId
	var err error
	if text := os.Getenv("NCCL_TEST_ID"); text != "" {
		id, err = idOf(text)
	} else {
		id, err = a.GetUniqueId()
	}
	if err != nil {
		return err
	}
	var h uint64
	err = a.CommInitRank(hostmem.Of(&h), int32(n), id, int32(a.rank))
	a.comm = ncclapi.NcclComm_t(h)
	return err
}

func idOf(text string) (id ncclapi.NcclUniqueId, err error) {
	_, err = hex.Decode(id.Internal[:], []byte(text))
	return id, err
}

var parts = map[string]func(a *actor, n int) error{
	"all":       playAll,
	"kill":      playKill,
	"time":      playTime,
	"shrink":    playShrink,
	"stress":    playStress,
	"cut":       playCut,
	"near":      playNear,
	"kill near": playKillNear,
	"differ":    playDiffer,
	"making":    playMaking,
	"early":     playEarly,
	"chains":    playChains,
	"stream":    playStream,
	"exit":      func(a *actor, n int) error { return errors.Join(a.join(n), a.CommDestroy(a.comm)) },
}

// playAll tries everything that one process is tried with.
func playAll(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	if err := tryMoves(a, n, []int{4, 8 << 10, 300_004}); err != nil {
		return err
	}
	for round := range 5 {
		if err := sendsOf(a, n, round); err != nil {
			return err
		}
	}
	r := rand.New(rand.NewPCG(3, 4)) // the same on all ranks
	for typ := range ncclapi.NcclNumTypes {
		for red := range scaled {
			if err := a.reduceOnce(r, n, ncclapi.NcclDataType_t(typ), red, []int{700, 9_001}[red%2]); err != nil {
				return err
			}
		}
	}
	for root := range n {
		for _, typ := range []ncclapi.NcclDataType_t{ncclapi.NcclFloat32, ncclapi.NcclBfloat16, ncclapi.NcclFloat8e4m3} {
			if err := a.reduceSome(r, n, typ, root, []int{33, 70_001}[root%2]); err != nil {
				return err
			}
		}
	}
	return errors.Join(a.splitOnce(n), a.CommFinalize(a.comm), a.CommDestroy(a.comm))
}

// reduceSome: sums for one rank, and a part for each, out of place and in place, to the bits of rank order.
func (a *actor) reduceSome(r *rand.Rand, n int, typ ncclapi.NcclDataType_t, root, count int) error {
	defer a.free()
	sources := make([][]byte, n)
	for i := range sources {
		sources[i] = tiled(r, typ, n*count)
	}
	size := int(typeSizes[typ])
	tiles := make([][]byte, n)
	for i := range tiles {
		tiles[i] = sources[i][:min(tile, n*count)*size]
	}
	want := bytes.Repeat(reference(typ, 0, tiles, make([]uint64, n)), n*count/tile+1)[:n*count*size]
	for _, inPlace := range []bool{false, true} {
		send, whole := a.buffer(sources[a.rank]), a.buffer(make([]byte, n*count*size))
		again, part := a.buffer(sources[a.rank]), a.buffer(make([]byte, count*size))
		if inPlace {
			whole, part = send, again.Add(uint64(a.rank*count*size))
		}
		if err := errors.Join(a.Reduce(send, whole, uint64(n*count), typ, ncclapi.NcclSum, int32(root), a.comm, a.stream),
			a.ReduceScatter(again, part, uint64(count), typ, ncclapi.NcclSum, a.comm, a.stream), a.done()); err != nil {
			return err
		}
		err := sameNumbers(typ, hostmem.Bytes(part, uint64(count*size)), want[a.rank*count*size:(a.rank+1)*count*size])
		if a.rank == root {
			err = errors.Join(err, sameNumbers(typ, hostmem.Bytes(whole, uint64(n*count*size)), want))
		}
		if err != nil {
			return fmt.Errorf("sum of %d, root %d, in place %v: %w", count, root, inPlace, err)
		}
	}
	return nil
}

const tile = 101

// tiled are the same few values again and again.
func tiled(r *rand.Rand, typ ncclapi.NcclDataType_t, n int) []byte {
	return bytes.Repeat(values(r, typ, tile), n/tile+1)[:n*int(typeSizes[typ])]
}

func (a *actor) reduceOnce(r *rand.Rand, n int, typ ncclapi.NcclDataType_t, red, count int) error {
	sources := make([][]byte, n)
	for i := range sources {
		sources[i] = tiled(r, typ, count)
	}
	p := a.buffer(sources[a.rank])
	defer a.free()
	if err := errors.Join(a.AllReduce(p, p, uint64(count), typ, ncclapi.NcclRedOp_t(red), a.comm, a.stream), a.done()); err != nil {
		return err
	}
	const some = 200
	size := int(typeSizes[typ])
	for _, at := range []int{0, count/2 - 100, count - some} {
		cut := make([][]byte, n)
		for i := range cut {
			cut[i] = sources[i][at*size : (at+some)*size]
		}
		if err := sameNumbers(typ, hostmem.Bytes(p.Add(uint64(at*size)), uint64(some*size)), reference(typ, red, cut, make([]uint64, n))); err != nil {
			return fmt.Errorf("reduction %d of %d: from %d: %w", red, count, at, err)
		}
	}
	return nil
}

// splitOnce: a communicator of the ranks backwards, and one of this process alone.
func (a *actor) splitOnce(n int) error {
	for _, color := range []int32{0, int32(a.rank)} {
		var h uint64
		if err := a.CommSplit(a.comm, color, int32(-a.rank), hostmem.Of(&h), hostmem.Nil); err != nil {
			return err
		}
		c := ncclapi.NcclComm_t(h)
		p := a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, 10_000))
		if err := errors.Join(a.AllReduce(p, p, 10_000, ncclapi.NcclInt32, ncclapi.NcclSum, c, a.stream), a.sync(), a.CommDestroy(c)); err != nil {
			return err
		}
		want := int32(n)
		if color != 0 {
			want = 1
		}
		if got := hostmem.Load[int32](p); got != want && (color != 0 || a.rank != 0) {
			return fmt.Errorf("split: the sum is %d, not %d", got, want)
		}
	}
	return nil
}

// playKill: the last rank kills itself between operations; the others must hear of it.
func playKill(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	p := a.buffer(make([]byte, 1<<20))
	for i := range 1000 {
		if a.rank == n-1 && i == 5 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		err := a.AllReduce(p, p, 1<<18, ncclapi.NcclFloat32, ncclapi.NcclSum, a.comm, a.stream)
		if err != nil && Code(err) != int32(ncclapi.NcclRemoteError) {
			return err
		}
		if err := a.sync(); err != nil {
			return err
		}
		if code, err := a.CommGetAsyncError(a.comm); code == ncclapi.NcclRemoteError {
			return errors.Join(err, a.CommAbort(a.comm))
		}
	}
	return errors.New("heard nothing of the rank that was killed")
}

// playTime measures an AllReduce of several sizes, each with a wait for its stream, and all at once: the least of several turns.
func playTime(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	p := a.buffer(make([]byte, 64<<20))
	for _, c := range []struct{ size, times int }{{1 << 10, 1000}, {1 << 20, 50}, {64 << 20, 2}} {
		best := [2]time.Duration{time.Hour, time.Hour}
		for range 9 {
			for kind := range best {
				start := time.Now()
				for range c.times {
					if err := a.AllReduce(p, p, uint64(c.size/4), ncclapi.NcclFloat32, ncclapi.NcclMax, a.comm, a.stream); err != nil {
						return err
					}
					if kind == 0 {
						if err := a.sync(); err != nil {
							return err
						}
					}
				}
				if err := a.sync(); err != nil {
					return err
				}
				best[kind] = min(best[kind], time.Since(start)/time.Duration(c.times))
			}
		}
		if a.rank == 0 {
			fmt.Printf("%9d bytes: %v waited for, %v in a row, %.2f GB/s\n", c.size, best[0], best[1], float64(c.size)/float64(best[1].Nanoseconds()))
		}
	}
	return a.CommDestroy(a.comm)
}

// processes starts n ranks and gives what they said, and how the last ended.
func processes(t testing.TB, part string, n int, env ...string) (said string, last error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	list := make([]*exec.Cmd, n)
	for rank := range list {
		c := exec.Command(self)
		if slices.Contains(env, fullShm) {
			c = exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=4k none /dev/shm && head -c 4096 /dev/zero > /dev/shm/full && exec "$0"`, self)
		}
		c.Env = append(os.Environ(), "NCCL_TEST_PART="+part, fmt.Sprint("NCCL_TEST_RANK=", rank), fmt.Sprint("NCCL_TEST_RANKS=", n), "KUDZU_DEVICES=1", "KUDZU_THREADS=1")
		c.Env = append(c.Env, env...)
		c.Stdout, c.Stderr = &lines{b: &out, mu: lock}, &lines{b: &out, mu: lock}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(40*time.Second, func() { _ = c.Process.Kill() })
		defer late.Stop()
		list[rank] = c
	}
	for rank, c := range list {
		err := c.Wait()
		if rank == n-1 {
			last = err
		} else if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	return out.String(), last
}

// lines is one buffer for several processes.
type lines struct {
	mu chan struct{}
	b  *bytes.Buffer
}

var lock = make(chan struct{}, 1)

func (l *lines) Write(p []byte) (int, error) {
	l.mu <- struct{}{}
	defer func() { <-l.mu }()
	return l.b.Write(p)
}

// freshID is a unique id of this process, whose hub the ranks come to.
func freshID(t testing.TB) string {
	t.Helper()
	id, err := newThread(t, 0).GetUniqueId()
	if err != nil {
		t.Fatal(err)
	}
	return "NCCL_TEST_ID=" + hex.EncodeToString(id.Internal[:])
}

// TestProcesses: everything across processes: the kernel copies, or all goes through TCP.
func TestProcesses(t *testing.T) {
	for _, env := range []string{"NCCL_SHM_DISABLE=0", "NCCL_SHM_DISABLE=1"} {
		said, err := processes(t, "all", 3, freshID(t), env)
		if err != nil || said != "" {
			t.Errorf("%s: %v\n%s", env, err, said)
		}
	}
}

// TestClosed: processes whose memory the kernel does not let others read send their bytes.
func TestClosed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("changing the user takes root")
	}
	said, err := processes(t, "all", 3, freshID(t), "NCCL_TEST_CLOSED=1")
	if err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
}

// fullShm has each rank see a /dev/shm without room.
const fullShm = "NCCL_TEST_FULL_SHM=1"

// TestFullShm: ranks need no room in /dev/shm.
func TestFullShm(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting takes root")
	}
	if out, err := exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", "/dev/shm").CombinedOutput(); err != nil {
		t.Skipf("no mounts here: %s", out)
	}
	said, err := processes(t, "all", 3, freshID(t), fullShm)
	if err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
}

// BenchmarkProcesses says how long an AllReduce of 2 processes takes, through memory and through TCP.
func BenchmarkProcesses(b *testing.B) {
	for _, env := range []string{"NCCL_SHM_DISABLE=0", "NCCL_SHM_DISABLE=1"} {
		said, err := processes(b, "time", 2, freshID(b), env)
		if err != nil {
			b.Error(err)
		}
		b.Logf("%s\n%s", env, said)
	}
}

// TestKilled: a rank that is killed is told of by every other rank, in one line, and nobody waits for it.
func TestKilled(t *testing.T) {
	for _, env := range []string{"NCCL_SHM_DISABLE=0", "NCCL_SHM_DISABLE=1"} {
		said, err := processes(t, "kill", 3, freshID(t), env)
		if err == nil || strings.Count(said, "\n") != 2 || strings.Count(said, "rank 2") != 2 {
			t.Errorf("%s: %v\n%s", env, err, said)
		}
	}
}

// TestFixedID: NCCL_COMM_ID names the place where rank 0 opens the hub.
func TestFixedID(t *testing.T) {
	s, at, err := listen(endpoint{IP: [16]byte{127, 0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	s.close() // the port is free again
	said, err := processes(t, "exit", 2, "NCCL_COMM_ID="+at.String(), "NCCL_SOCKET_IFNAME=lo")
	if err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestStranger: a connection that does not know the secret is dropped, and hurts nobody.
func TestStranger(t *testing.T) {
	th := newThread(t, 0)
	id, err := th.GetUniqueId()
	if err != nil {
		t.Fatal(err)
	}
	u, err := readID(&id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSock(&u.hub)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := errors.Join(s.dial(&u.hub), s.write(make([]byte, introSize))); err != nil {
		t.Fatal(err)
	}
	if s.read(make([]byte, 1)) == nil {
		t.Error("the hub answers a stranger")
	}
	var h uint64
	if err := th.CommInitRank(hostmem.Of(&h), 1, id, 0); err != nil {
		t.Error(err)
	}
	if err := th.CommDestroy(ncclapi.NcclComm_t(h)); err != nil {
		t.Error(err)
	}
}

// TestLeavesAtOnce: a rank that says that it leaves and closes its connection was not lost, also if the hub finds that out while it tells it
// of another.
func TestLeavesAtOnce(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{key: secret{1}, full: make(chan struct{})}
	served := make(chan struct{})
	go func() { h.serve(&sock{fd: fds[0]}); close(served) }()
	var heard []news
	if err := h.claim(1, 2, &member{}, func(n news) { heard = append(heard, n) }); err != nil {
		t.Fatal(err)
	}
	s, m := &sock{fd: fds[1]}, &member{}
	if err := s.write(m.append(appendWords(h.key[:], 0, 2))); err != nil {
		t.Fatal(err)
	}
	<-h.full
	h.mu.Lock() // the hub does not hear it yet
	if err := s.write(news{rank: 0}.bytes()); err != nil {
		t.Fatal(err)
	}
	s.close()
	tell := h.slots[0].tell
	h.mu.Unlock()
	tell(news{rank: 1})
	<-served
	if len(heard) != 1 || heard[0].lost {
		t.Errorf("%+v", heard)
	}
}

// TestAdmitted: a connection is where the other rank looks for it before a rank goes on, which may leave then.
func TestAdmitted(t *testing.T) {
	list := actors(t, 2)
	from, err := lookup(list[0].comm)
	if err != nil {
		t.Fatal(err)
	}
	to, err := lookup(list[1].comm)
	if err != nil {
		t.Fatal(err)
	}
	at, err := dataPort()
	if err != nil {
		t.Fatal(err)
	}
	for k, near := range []bool{false, true} {
		s, err := newSock(&at)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if err := s.dial(&at); err != nil {
			t.Fatal(err)
		}
		if err := from.greet(&outlet{plain: !near}, s, class(k), 1, false); err != nil || len(to.boxes[k][0].arrived) != 1 {
			t.Errorf("near %v: %v, %d", near, err, len(to.boxes[k][0].arrived))
		}
	}
}
