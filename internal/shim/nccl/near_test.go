package nccl

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
)

// playNear tries what ranks of several processes do on each other's memory.
func playNear(a *actor, n int) error {
	before := a.buffer(make([]byte, 4<<20)) // that others cannot map
	kept := a.mem
	a.mem = nil
	if err := a.join(n); err != nil {
		return err
	}
	c, err := lookup(a.comm)
	if err != nil {
		return err
	}
	if err := a.isSum(a.comm, 1, int32(n)); err != nil {
		return err
	}
	for _, try := range []func(*actor, *comm, int) error{nearBits, nearAgain, nearGraph, nearMany} {
		if err := try(a, c, n); err != nil {
			return err
		}
	}
	a.mem = append(a.mem, kept...)
	if err := nearOther(a, c, n, before); err != nil {
		return err
	}
	if c.near == nil {
		return errors.New("the ranks did not meet in memory")
	}
	if err := a.CommDestroy(a.comm); err != nil {
		return err
	}
	nearMu.Lock()
	defer nearMu.Unlock()
	if maps, err := os.ReadFile("/proc/self/maps"); err != nil || len(mapped) != 0 || strings.Contains(string(maps), "kudzu-nccl") {
		return fmt.Errorf("%d processes are still mapped\n%s", len(mapped), maps)
	}
	return nil
}

// nearBits: every reduction of every type has the bits that it has through messages, in place and not.
func nearBits(a *actor, c *comm, n int) error {
	r := rand.New(rand.NewPCG(5, uint64(a.rank)))
	calls := []func(send, recv hostmem.Ptr, count uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t) error{
		func(send, recv hostmem.Ptr, count uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t) error {
			return a.AllReduce(send, recv, count, typ, red, a.comm, a.stream)
		},
		func(send, recv hostmem.Ptr, count uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t) error {
			return a.Reduce(send, recv, count, typ, red, 1, a.comm, a.stream)
		},
		func(send, recv hostmem.Ptr, count uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t) error {
			return a.ReduceScatter(send, recv, count/uint64(n), typ, red, a.comm, a.stream)
		},
	}
	for typ := range ncclapi.NcclDataType_t(ncclapi.NcclNumTypes) {
		factor := hostmem.Of(&values(r, typ, 8)[0])
		by, err := a.RedOpCreatePreMulSum(factor, typ, ncclapi.NcclScalarHostImmediate, a.comm)
		if err != nil {
			return err
		}
		for red := range ncclapi.NcclRedOp_t(scaled + 1) {
			if int(red) == scaled {
				red = by
			}
			for k, call := range calls {
				count := uint64(99 + 60_000*((int(typ)+int(red)+k)%2))
				data := tiled(r, typ, int(count))
				var got [3][]byte
				for way := range got { // messages, memory, memory in place
					send := a.buffer(data)
					recv := send
					if way < 2 {
						recv = a.buffer(make([]byte, len(data)))
					}
					saved := c.near
					if way == 0 && saved != nil {
						c.near = nil
					}
					err := errors.Join(call(send, recv, count, typ, red), a.done())
					if c.near = saved; err != nil {
						return err
					}
					got[way] = bytes.Clone(hostmem.Bytes(recv, uint64(len(data))))
					a.free()
				}
				if !bytes.Equal(got[0], got[1]) || k == 0 && !bytes.Equal(got[0], got[2]) {
					return fmt.Errorf("call %d, type %d, reduction %d of %d: not the same bits", k, typ, red, count)
				}
			}
		}
	}
	return nil
}

// nearAgain: memory that was freed and allocated again, of several sizes.
func nearAgain(a *actor, _ *comm, n int) error {
	for round := range 24 {
		count := []int{1 << 20, 300_000, 9_000_000, 2 << 20}[round%4]
		p := a.buffer(bytes.Repeat([]byte{byte(round + a.rank), 0, 0, 0}, count))
		if err := errors.Join(a.AllReduce(p, p, uint64(count), ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream), a.done()); err != nil {
			return err
		}
		want := int32(n*round + n*(n-1)/2)
		for _, v := range hostmem.Slice[int32](p, count) {
			if v != want {
				return fmt.Errorf("round %d: the sum is %d, not %d", round, v, want)
			}
		}
		a.free()
		if round%5 == 0 { // the pages go, too
			_ = a.driver().CtxSynchronize()
		}
	}
	return nil
}

// nearGraph: a graph that is launched several times.
func nearGraph(a *actor, _ *comm, n int) error {
	d, s, sum := a.driver(), cu.CUstream(a.stream), int32(1)
	p := a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, 50_000))
	defer a.free()
	var g cu.CUgraph
	err := errors.Join(d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
		a.AllReduce(p, p, 50_000, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream), d.StreamEndCapture(s, hostmem.Of(&g)))
	if err != nil {
		return err
	}
	x, err := d.GraphInstantiateWithFlags(g, 0)
	if err != nil {
		return err
	}
	for range 5 {
		sum *= int32(n)
		// What follows a graph in its stream takes its turn after it, though the graph's own has not run yet.
		if err := errors.Join(d.GraphLaunch(x, s), a.AllReduce(p, p, 50_000, ncclapi.NcclInt32, ncclapi.NcclMax, a.comm, a.stream)); err != nil {
			return err
		}
	}
	if err := a.sync(); err != nil {
		return err
	}
	if v := hostmem.Slice[int32](p, 50_000); v[0] != sum || v[49_999] != sum {
		return fmt.Errorf("graph: the sum is %d, not %d", v[0], sum)
	}
	return errors.Join(d.GraphExecDestroy(x), d.GraphDestroy(g))
}

// nearMany: several communicators, with work of all under way at once.
func nearMany(a *actor, _ *comm, n int) error {
	const many, count = 6, 40_000
	var list [many]ncclapi.NcclComm_t
	var bufs [many]hostmem.Ptr
	for i := range list {
		var h uint64
		if err := a.CommSplit(a.comm, 0, int32(a.rank), hostmem.Of(&h), hostmem.Nil); err != nil {
			return err
		}
		list[i], bufs[i] = ncclapi.NcclComm_t(h), a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, count))
	}
	defer a.free()
	for range 3 {
		for i := range list {
			if err := a.AllReduce(bufs[i], bufs[i], count, ncclapi.NcclInt32, ncclapi.NcclSum, list[i], a.stream); err != nil {
				return err
			}
		}
	}
	if err := a.sync(); err != nil {
		return err
	}
	for i := range list {
		if got := hostmem.Load[int32](bufs[i].Add(4 * (count - 1))); got != int32(n*n*n) {
			return fmt.Errorf("communicator %d: the sum is %d", i, got)
		}
		if err := a.CommDestroy(list[i]); err != nil {
			return err
		}
	}
	return nil
}

// nearOther: one rank has memory that others cannot map, so that all go another way, and back.
func nearOther(a *actor, c *comm, n int, before hostmem.Ptr) error {
	for round := range 4 {
		p := a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, 1<<20))
		if round%2 == 0 && a.rank == 1 {
			copy(hostmem.Bytes(before, 4<<20), hostmem.Bytes(p, 4<<20))
			p = before
		}
		if err := errors.Join(a.AllReduce(p, p, 1<<20, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream), a.done()); err != nil {
			return err
		}
		if v := hostmem.Slice[int32](p, 1<<20); v[0] != int32(n) || v[1<<20-1] != int32(n) {
			return fmt.Errorf("other memory, round %d: the sum is %d", round, v[0])
		}
	}
	return nil
}

func TestNear(t *testing.T) {
	said, err := processes(t, "near", 3, freshID(t))
	if err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
}

// playEarly: where a launcher says that there are several processes, memory from before the communicator is mapped, too.
func playEarly(a *actor, n int) error {
	if _, err := a.GetVersion(); err != nil {
		return err
	}
	p := a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, 1<<20))
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || !strings.Contains(string(maps), "kudzu-memory") {
		return fmt.Errorf("device memory is in no file: %w", err)
	}
	if err := a.join(n); err != nil {
		return err
	}
	err = errors.Join(a.AllReduce(p, p, 1<<20, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream), a.done())
	if got := hostmem.Load[int32](p.Add(4<<20 - 4)); err == nil && got != int32(n) {
		err = fmt.Errorf("the sum is %d", got)
	}
	return errors.Join(err, a.CommDestroy(a.comm))
}

func TestEarly(t *testing.T) {
	said, err := processes(t, "early", 2, freshID(t), "LOCAL_WORLD_SIZE=2")
	if err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
}

// playKillNear: the last rank is killed in the middle of something, the others hear of it and have nothing that is wrong.
func playKillNear(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	const count = 4 << 20
	p := a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, count))
	for i := 0; ; i++ {
		if i == 3 && a.rank == n-1 {
			time.AfterFunc(7*time.Millisecond, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}
		err := errors.Join(a.AllReduce(p, p, count, ncclapi.NcclInt32, ncclapi.NcclMax, a.comm, a.stream), a.done())
		if v := hostmem.Slice[int32](p, count); v[0] != 1 || v[count-1] != 1 {
			return fmt.Errorf("the largest of ones is %d", v[0])
		}
		if err == nil {
			continue
		}
		if Code(err) != int32(ncclapi.NcclRemoteError) {
			return err
		}
		return a.CommAbort(a.comm)
	}
}

func TestKilledNear(t *testing.T) {
	for range 3 {
		said, err := processes(t, "kill near", 3, freshID(t))
		if err == nil || strings.Count(said, "\n") != 2 || strings.Count(said, "rank 2") != 2 {
			t.Errorf("%v\n%s", err, said)
		}
	}
}

// playDiffer: other processes than the last one call with another size; all hear of it, and none waits.
func playDiffer(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	p := a.buffer(make([]byte, 1<<20))
	count := uint64(100_000)
	if a.rank == n-1 {
		count++
	}
	for range 2 {
		err := errors.Join(a.AllReduce(p, p, count, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream), a.done())
		if code := Code(err); code != int32(ncclapi.NcclInvalidUsage) && code != int32(ncclapi.NcclRemoteError) {
			return fmt.Errorf("%w: code %d", err, code)
		}
	}
	return a.CommAbort(a.comm)
}

func TestDifferNear(t *testing.T) {
	said, err := processes(t, "differ", 3, freshID(t))
	if err != nil || strings.Count(said, "100001 elements") == 0 || strings.Count(said, "\n") != 3 {
		t.Errorf("%v\n%s", err, said)
	}
}
