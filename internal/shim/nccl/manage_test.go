package nccl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// sumOf is a communicator's sum of one number, small and large.
func (a *actor) sumOf(c ncclapi.NcclComm_t, x int32) (int32, error) {
	const n = 9000
	p := a.buffer(bytes.Repeat([]byte{byte(x), 0, 0, 0}, n))
	for _, count := range []uint64{1, n - 1} {
		if err := errors.Join(a.AllReduce(p, p, count, ncclapi.NcclInt32, ncclapi.NcclSum, c, a.stream), a.sync()); err != nil {
			return 0, err
		}
		if code, err := a.CommGetAsyncError(c); err != nil || code != 0 {
			return 0, fmt.Errorf("code %d, %w", code, err)
		}
		p = p.Add(4)
	}
	return hostmem.Load[int32](p), nil
}

// isSum compares it.
func (a *actor) isSum(c ncclapi.NcclComm_t, x, want int32) error {
	got, err := a.sumOf(c, x)
	if err == nil && got != want {
		err = fmt.Errorf("sum %d, not %d", got, want)
	}
	return err
}

// shrink makes a communicator without some ranks.
func (a *actor) shrink(flags int32, exclude ...int32) (ncclapi.NcclComm_t, error) {
	var h uint64
	err := a.CommShrink(a.comm, hostmem.Of(&exclude[0]), int32(len(exclude)), hostmem.Of(&h), hostmem.Nil, flags)
	return ncclapi.NcclComm_t(h), err
}

// TestShrink: the ranks that stay, in their order; again; and also when the old communicator is ended.
func TestShrink(t *testing.T) {
	list := actors(t, 5)
	stay := append(list[:1:1], list[2:4]...)
	if _, err := list[1].shrink(0, 1, 4); Code(err) != int32(ncclapi.NcclInvalidArgument) {
		t.Errorf("on a rank that is excluded: %v", err)
	}
	for _, flags := range []int32{ncclapi.NCCL_SHRINK_DEFAULT, ncclapi.NCCL_SHRINK_DEFAULT, ncclapi.NCCL_SHRINK_ABORT} {
		all(t, stay, func(a *actor) error {
			c, err := a.shrink(flags, 4, 1)
			if err != nil {
				return err
			}
			rank, _ := a.CommUserRank(c)
			n, _ := a.CommCount(c)
			if want := int32(max(0, a.rank-1)); rank != want || n != 3 {
				return fmt.Errorf("rank %d of %d", rank, n)
			}
			return errors.Join(a.isSum(c, 1<<rank, 7), a.CommDestroy(c))
		})
	}
	if _, err := stay[0].shrink(0, 4, 1); err == nil {
		t.Error("a communicator that was ended is shrunk")
	}
}

// TestRevoke: a revoked communicator does nothing more, is no error, and can be split.
func TestRevoke(t *testing.T) {
	list := actors(t, 3)
	waits := list[0] // for the others
	p := waits.buffer(make([]byte, 40_000))
	if err := waits.AllReduce(p, p, 10_000, ncclapi.NcclInt32, ncclapi.NcclSum, waits.comm, waits.stream); err != nil {
		t.Fatal(err)
	}
	all(t, list, func(a *actor) error {
		if err := errors.Join(a.CommRevoke(a.comm, 0), a.sync()); err != nil {
			return err
		}
		if err := a.CommRevoke(a.comm, 0); Code(err) != int32(ncclapi.NcclInvalidArgument) {
			return fmt.Errorf("again: %w", err)
		}
		if code, err := a.CommGetAsyncError(a.comm); err != nil || code != ncclapi.NcclSuccess {
			return fmt.Errorf("code %d, %w", code, err)
		}
		q := a.buffer(make([]byte, 4))
		if err := a.AllReduce(q, q, 1, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream); err == nil {
			return errors.New("a call after it")
		}
		var h uint64
		if err := a.CommSplit(a.comm, 0, int32(-a.rank), hostmem.Of(&h), hostmem.Nil); err != nil {
			return err
		}
		c := ncclapi.NcclComm_t(h)
		return errors.Join(a.isSum(c, 1<<a.rank, 7), a.CommDestroy(c))
	})
}

// TestGrow: two ranks, and a third that had no communicator.
func TestGrow(t *testing.T) {
	list := actors(t, 2)
	id, err := list[1].CommGetUniqueId(list[1].comm)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list[1].CommGetUniqueId(list[1].comm); Code(err) != int32(ncclapi.NcclInvalidUsage) {
		t.Errorf("a second id: %v", err)
	}
	all(t, append(list, newActor(t, 2, 0, 2)), func(a *actor) error {
		var h uint64
		at, rank := hostmem.Nil, int32(-1)
		if a.rank > 0 {
			at = hostmem.Of(&id)
		}
		if a.comm == 0 {
			rank = 2
		}
		if err := a.CommGrow(a.comm, 3, at, rank, hostmem.Of(&h), hostmem.Nil); err != nil {
			return err
		}
		c := ncclapi.NcclComm_t(h)
		return errors.Join(a.isSum(c, 1<<a.rank, 7), a.CommDestroy(c))
	})
}

// TestSuspend: a suspended communicator is not used.
func TestSuspend(t *testing.T) {
	a := actors(t, 1)[0]
	p := a.buffer(make([]byte, 4))
	call := func() error { return a.AllReduce(p, p, 1, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream) }
	stat := func() uint64 {
		n, err := a.CommMemStats(a.comm, ncclapi.NcclStatGpuMemSuspended)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if err := errors.Join(call(), a.CommSuspend(a.comm, ncclapi.NCCL_SUSPEND_MEM)); err != nil || stat() != 1 {
		t.Error(err, stat())
	}
	if err := call(); Code(err) != int32(ncclapi.NcclInvalidUsage) {
		t.Errorf("a call: %v", err)
	}
	if err := errors.Join(a.CommResume(a.comm), call(), a.sync()); err != nil || stat() != 0 {
		t.Error(err, stat())
	}
	if err := a.CommResume(a.comm); err == nil {
		t.Error("resumed twice")
	}
}

// TestConfigured: calls with settings do what those without do; a group can be estimated instead of done.
func TestConfigured(t *testing.T) {
	a := actors(t, 1)[0]
	cfg := ncclapi.NcclCollConfig_t{Size: collConfig, Magic: ncclapi.NCCL_API_MAGIC}
	at, p, q := hostmem.Of(&cfg), a.buffer([]byte{1, 2, 3, 4}), a.buffer(make([]byte, 4))
	const typ, sum = ncclapi.NcclInt8, ncclapi.NcclSum
	for i, f := range []func() error{
		func() error { return a.AllReduceConfig(p, q, 4, typ, sum, a.comm, a.stream, at) },
		func() error { return a.ReduceConfig(p, q, 4, typ, sum, 0, a.comm, a.stream, at) },
		func() error { return a.ReduceScatterConfig(p, q, 4, typ, sum, a.comm, a.stream, at) },
		func() error { return a.BroadcastConfig(p, q, 4, typ, 0, a.comm, a.stream, at) },
		func() error { return a.AllGatherConfig(p, q, 4, typ, a.comm, a.stream, hostmem.Nil) },
		func() error { return a.AlltoAllConfig(p, q, 4, typ, a.comm, a.stream, at) },
		func() error { return a.GatherConfig(p, q, 4, typ, 0, a.comm, a.stream, at) },
		func() error { return a.ScatterConfig(p, q, 4, typ, 0, a.comm, a.stream, at) },
	} {
		clear(hostmem.Bytes(q, 4))
		if err := errors.Join(f(), a.sync()); err != nil || hostmem.Load[uint32](q) != 0x04030201 {
			t.Errorf("call %d: %v", i, err)
		}
	}
	cfg.Magic = 1
	if err := a.AllReduceConfig(p, q, 4, typ, sum, a.comm, a.stream, at); Code(err) != int32(ncclapi.NcclInvalidArgument) {
		t.Error(err)
	}
	clear(hostmem.Bytes(q, 4))
	info := ncclapi.NcclSimInfo_t{Size: 24, Magic: simMagic}
	err := errors.Join(a.GroupStart(), a.AllReduce(p, q, 4, typ, sum, a.comm, a.stream), a.GroupSimulateEnd(hostmem.Of(&info)), a.sync())
	if err != nil || info.EstimatedTime < simLatency || hostmem.Load[uint32](q) != 0 {
		t.Errorf("%v: %v", info, err)
	}
}

// TestDeviceSide: what kernels would use says that it is not there.
func TestDeviceSide(t *testing.T) {
	a := actors(t, 2)[1]
	var text string
	Say(func(s string) { text = s })
	defer said.Store(nil)
	if Code(a.DevCommCreate(a.comm, hostmem.Nil, hostmem.Nil)) != int32(ncclapi.NcclInvalidUsage) || !strings.Contains(text, "ncclDevCommCreate") {
		t.Errorf("%q", text)
	}
	p := ncclapi.NcclCommProperties_t{Size: 56, Magic: ncclapi.NCCL_API_MAGIC}
	if err := a.CommQueryProperties(a.comm, hostmem.Of(&p)); err != nil || p.Rank != 1 || p.NRanks != 2 || p.DeviceApiSupport != 0 || p.HostRmaSupport != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// putsAround: every rank writes into the windows of all, and waits for as much.
func putsAround(a *actor, n int) error {
	for _, size := range []int{24, 100_000} {
		mem := a.buffer(make([]byte, n*size))
		w, err := a.CommWindowRegister(a.comm, mem, uint64(n*size), ncclapi.NCCL_WIN_DEFAULT)
		if err != nil {
			return err
		}
		mine := a.buffer(pattern(a.rank, size, size))
		var waits []ncclapi.NcclWaitSignalDesc_t
		err = a.GroupStart()
		for r := range n {
			waits = append(waits, ncclapi.NcclWaitSignalDesc_t{OpCnt: 2, Peer: int32(r), SigIdx: 3, Ctx: 1})
			err = errors.Join(err,
				a.PutSignal(mine, uint64(size), ncclapi.NcclInt8, int32(r), w, uint64(a.rank*size), 3, 1, 0, a.comm, a.stream),
				a.Signal(int32(r), 3, 1, 0, a.comm, a.stream))
		}
		err = errors.Join(err, a.WaitSignal(int32(n), hostmem.Of(&waits[0]), a.comm, a.stream), a.GroupEnd(), a.sync())
		if code, _ := a.CommGetAsyncError(a.comm); err != nil || code != 0 {
			return errors.Join(err, fmt.Errorf("code %d", code))
		}
		if !bytes.Equal(hostmem.Bytes(mem, uint64(n*size)), joined(n, func(r int) []byte { return pattern(r, size, size) })) {
			return fmt.Errorf("puts of %d bytes are wrong", size)
		}
		if err := a.CommWindowDeregister(a.comm, w); err != nil {
			return err
		}
	}
	return nil
}

// TestPuts: one-sided operations.
func TestPuts(t *testing.T) {
	list := actors(t, 3)
	all(t, list, func(a *actor) error { return putsAround(a, 3) })
	a := list[0]
	p := a.buffer(make([]byte, 8))
	if err := errors.Join(a.PutSignal(p, 8, ncclapi.NcclInt8, 0, 77, 0, 0, 0, 0, a.comm, a.stream), a.sync()); err != nil {
		t.Error(err)
	}
	if code, _ := a.CommGetAsyncError(a.comm); code != ncclapi.NcclInvalidArgument {
		t.Errorf("into no window: code %d", code)
	}
}

// playShrink: the last rank kills itself; the others go on without it.
func playShrink(a *actor, n int) error {
	if err := errors.Join(a.join(n), putsAround(a, n)); err != nil {
		return err
	}
	p := a.buffer(make([]byte, 4)) // all have done that before one is lost
	if err := errors.Join(a.AllReduce(p, p, 1, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream), a.sync()); err != nil {
		return err
	}
	if a.rank == n-1 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err := a.isSum(a.comm, 1, int32(n)); err == nil {
		return errors.New("heard nothing of the rank that was killed")
	}
	c, err := a.shrink(ncclapi.NCCL_SHRINK_ABORT, int32(n-1))
	if err != nil {
		return err
	}
	return errors.Join(a.isSum(c, 1, int32(n-1)), a.CommDestroy(c), a.CommAbort(a.comm))
}

// TestShrinkKilled: processes put into each other's windows; one is killed, and the others shrink their communicator.
func TestShrinkKilled(t *testing.T) {
	for _, env := range []string{"NCCL_SHM_DISABLE=0", "NCCL_SHM_DISABLE=1"} {
		said, err := processes(t, "shrink", 4, freshID(t), env)
		if err == nil || strings.Count(said, "\n") != 3 || strings.Count(said, "rank 3") != 3 {
			t.Errorf("%s: %v\n%s", env, err, said)
		}
	}
}
