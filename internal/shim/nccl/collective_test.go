package nccl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
)

// pattern is bytes that tell rank and purpose.
func pattern(rank, salt, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(rank), uint64(salt)))
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b[:n]
}

// moves are the operations that do not compute: what a rank gives, and what it must have afterwards.
var moves = []struct {
	name string
	give func(rank, n, b int) []byte // nil: nothing
	want func(rank, n, b int) []byte // nil: nothing
	call func(a *actor, send, recv hostmem.Ptr, count uint64) error
}{
	{"broadcast",
		func(rank, n, b int) []byte { return pattern(rank, 1, b) },
		func(rank, n, b int) []byte { return pattern(1, 1, b) },
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			return a.Broadcast(send, recv, count, ncclapi.NcclFloat32, 1, a.comm, a.stream)
		}},
	{"allgather",
		func(rank, n, b int) []byte { return pattern(rank, 2, b) },
		func(rank, n, b int) []byte { return joined(n, func(r int) []byte { return pattern(r, 2, b) }) },
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			return a.AllGather(send, recv, count, ncclapi.NcclFloat32, a.comm, a.stream)
		}},
	{"alltoall",
		func(rank, n, b int) []byte {
			return joined(n, func(r int) []byte { return pattern(rank*n+r, 3, b) })
		},
		func(rank, n, b int) []byte {
			return joined(n, func(r int) []byte { return pattern(r*n+rank, 3, b) })
		},
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			return a.AlltoAll(send, recv, count, ncclapi.NcclFloat32, a.comm, a.stream)
		}},
	{"gather",
		func(rank, n, b int) []byte { return pattern(rank, 4, b) },
		func(rank, n, b int) []byte {
			if rank != 0 {
				return nil
			}
			return joined(n, func(r int) []byte { return pattern(r, 4, b) })
		},
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			return a.Gather(send, recv, count, ncclapi.NcclFloat32, 0, a.comm, a.stream)
		}},
	{"scatter",
		func(rank, n, b int) []byte {
			if rank != 1 {
				return nil
			}
			return joined(n, func(r int) []byte { return pattern(r, 5, b) })
		},
		func(rank, n, b int) []byte { return pattern(rank, 5, b) },
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			return a.Scatter(send, recv, count, ncclapi.NcclFloat32, 1, a.comm, a.stream)
		}},
	{"reducescatter", // of one rank's numbers and zeros
		func(rank, n, b int) []byte {
			if rank != 1 {
				return make([]byte, n*b)
			}
			return joined(n, func(r int) []byte { return pattern(r, 6, b) })
		},
		func(rank, n, b int) []byte { return pattern(rank, 6, b) },
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			return a.ReduceScatter(send, recv, count, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream)
		}},
	{"reduce",
		func(rank, n, b int) []byte {
			if rank != 1 {
				return make([]byte, b)
			}
			return pattern(7, 7, b)
		},
		func(rank, n, b int) []byte {
			if rank != 0 {
				return nil
			}
			return pattern(7, 7, b)
		},
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			return a.Reduce(send, recv, count, ncclapi.NcclInt32, ncclapi.NcclSum, 0, a.comm, a.stream)
		}},
	{"ring of sends",
		func(rank, n, b int) []byte { return pattern(rank, 8, b) },
		func(rank, n, b int) []byte { return pattern((rank+n-1)%n, 8, b) },
		func(a *actor, send, recv hostmem.Ptr, count uint64) error {
			n, err := a.CommCount(a.comm)
			return errors.Join(err, a.GroupStart(),
				a.Send(send, count, ncclapi.NcclFloat32, int32(a.rank+1)%n, a.comm, a.stream),
				a.Recv(recv, count, ncclapi.NcclFloat32, (int32(a.rank)+n-1)%n, a.comm, a.stream),
				a.GroupEnd())
		}},
}

func joined(n int, part func(int) []byte) []byte {
	var all []byte
	for r := range n {
		all = append(all, part(r)...)
	}
	return all
}

// tryMoves runs them all on one rank, out of place and, where a rank gives as much as it gets, in place.
func tryMoves(a *actor, n int, sizes []int) error {
	for _, m := range moves {
		for _, b := range sizes {
			give, want := m.give(a.rank, n, b), m.want(a.rank, n, b)
			for _, inPlace := range []bool{false, true} {
				if inPlace && (len(m.give(0, n, b)) != len(m.want(0, n, b)) || len(m.give(1, n, b)) != len(m.want(1, n, b)) || m.name == "ring of sends") {
					continue
				}
				send := a.buffer(give)
				recv := send
				if !inPlace {
					recv = a.buffer(make([]byte, len(want)))
				}
				if err := m.call(a, send, recv, uint64(b/4)); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
				if err := a.sync(); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
				if !bytes.Equal(hostmem.Bytes(recv, uint64(len(want))), want) {
					return fmt.Errorf("%s of %d bytes, in place %v: wrong", m.name, b, inPlace)
				}
			}
			a.free()
		}
	}
	return nil
}

func TestMoves(t *testing.T) {
	for _, n := range []int{2, 5} {
		list := actors(t, n)
		all(t, list, func(a *actor) error { return tryMoves(a, n, []int{4, 8 << 10, 100_004}) })
	}
}

// TestOneThread: one thread makes all calls, for two ranks on each of two devices, in a group; without it, too, because calls only put work into streams.
func TestOneThread(t *testing.T) {
	list := actorsOn(t, 4, 2)
	main := newThread(t, 0)
	for _, grouped := range []bool{true, false} {
		var bufs []hostmem.Ptr
		if grouped {
			_ = main.GroupStart()
			_ = main.GroupStart()
		}
		for _, a := range list {
			p := a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, 5000))
			bufs = append(bufs, p)
			if err := main.AllReduce(p, p, 5000, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream); err != nil {
				t.Fatal(err)
			}
		}
		if grouped {
			if err := errors.Join(main.GroupEnd(), main.GroupEnd()); err != nil {
				t.Fatal(err)
			}
		}
		for i, a := range list {
			if err := a.sync(); err != nil {
				t.Fatal(err)
			}
			if got := hostmem.Bytes(bufs[i], 20000); !bytes.Equal(got, bytes.Repeat([]byte{4, 0, 0, 0}, 5000)) {
				t.Errorf("rank %d: %v", i, got[:8])
			}
		}
	}
}

// TestGroupOfSends: random sends between all ranks, in groups, with several messages between two ranks.
func TestGroupOfSends(t *testing.T) {
	const n, rounds = 4, 20
	list := actors(t, n)
	all(t, list, func(a *actor) error {
		for round := range rounds {
			if err := sendsOf(a, n, round); err != nil {
				return err
			}
			a.free()
		}
		return nil
	})
}

func sendsOf(a *actor, n, round int) error {
	r := rand.New(rand.NewPCG(uint64(round), 9)) // the same on all ranks
	type letter struct{ from, to, size, salt int }
	var letters []letter
	for i := range 12 {
		letters = append(letters, letter{r.IntN(n), r.IntN(n), 1 + r.IntN(30000), round*100 + i})
	}
	var want [][]byte
	var got []hostmem.Ptr
	err := a.GroupStart()
	for _, l := range letters {
		if l.from == a.rank {
			err = errors.Join(err, a.Send(a.buffer(pattern(l.from, l.salt, l.size)), uint64(l.size), ncclapi.NcclInt8, int32(l.to), a.comm, a.stream))
		}
		if l.to == a.rank {
			p := a.buffer(make([]byte, l.size))
			want, got = append(want, pattern(l.from, l.salt, l.size)), append(got, p)
			err = errors.Join(err, a.Recv(p, uint64(l.size), ncclapi.NcclInt8, int32(l.from), a.comm, a.stream))
		}
	}
	if err = errors.Join(err, a.GroupEnd(), a.sync()); err != nil {
		return err
	}
	for i := range want {
		if !bytes.Equal(hostmem.Bytes(got[i], uint64(len(want[i]))), want[i]) {
			return fmt.Errorf("round %d: message %d is wrong", round, i)
		}
	}
	return nil
}

// TestSplit: ranks of a color, in the order of their keys; a rank without a color has none.
func TestSplit(t *testing.T) {
	list := actors(t, 5)
	all(t, list, func(a *actor) error {
		color, key := int32(a.rank%2), int32(-a.rank)
		if a.rank == 4 {
			color = ncclapi.NCCL_SPLIT_NOCOLOR
		}
		var h uint64
		if err := a.CommSplit(a.comm, color, key, hostmem.Of(&h), hostmem.Nil); err != nil {
			return err
		}
		if a.rank == 4 {
			if h != 0 {
				return errors.New("a communicator without a color")
			}
			return nil
		}
		c := ncclapi.NcclComm_t(h)
		rank, err := a.CommUserRank(c)
		if err != nil || int(rank) != 1-a.rank/2 {
			return fmt.Errorf("rank %d, %v", rank, err)
		}
		p := a.buffer([]byte{1 << a.rank, 0, 0, 0})
		if err := errors.Join(a.AllReduce(p, p, 1, ncclapi.NcclInt32, ncclapi.NcclSum, c, a.stream), a.sync()); err != nil {
			return err
		}
		if got := hostmem.Load[int32](p); got != []int32{0b101, 0b1010}[a.rank%2] {
			return fmt.Errorf("sum %d", got)
		}
		return a.CommDestroy(c)
	})
}

// TestCapture: a graph for each rank, launched again and again.
func TestCapture(t *testing.T) {
	list := actors(t, 3)
	all(t, list, func(a *actor) error {
		d, s := a.driver(), cu.CUstream(a.stream)
		p := a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, 4000))
		if err := d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); err != nil {
			return err
		}
		if err := a.AllReduce(p, p, 4000, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream); err != nil {
			return err
		}
		var g cu.CUgraph
		if err := d.StreamEndCapture(s, hostmem.Of(&g)); err != nil {
			return err
		}
		x, err := d.GraphInstantiateWithFlags(g, 0)
		if err != nil {
			return err
		}
		for range 5 {
			if err := d.GraphLaunch(x, s); err != nil {
				return err
			}
		}
		if err := a.sync(); err != nil {
			return err
		}
		if got := hostmem.Load[int32](p); got != 3*3*3*3*3 {
			return fmt.Errorf("sum %d", got)
		}
		return errors.Join(d.GraphExecDestroy(x), d.GraphDestroy(g))
	})
}

// TestCaptureTogether: all ranks in one graph, forked and joined again and again, also more of them than a graph has queues otherwise.
func TestCaptureTogether(t *testing.T) {
	for _, n := range []int{3, 12} {
		list := actorsOn(t, n, 1)
		first := list[0]
		d, s := first.driver(), cu.CUstream(first.stream)
		mem := make([]hostmem.Ptr, n)
		for i, a := range list {
			mem[i] = a.buffer(bytes.Repeat([]byte{1, 0, 0, 0}, 4000))
		}
		g, err := captureTogether(list, mem, 6)
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.GraphInstantiateWithFlags(g, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.GraphLaunch(x, s), first.sync()); err != nil {
			t.Fatal(err)
		}
		want := int32(1)
		for range 6 {
			want *= int32(n)
		}
		for i, p := range mem {
			if got := hostmem.Load[int32](p); got != want {
				t.Errorf("rank %d of %d: %d, not %d", i, n, got, want)
			}
		}
		if err := errors.Join(d.GraphExecDestroy(x), d.GraphDestroy(g)); err != nil {
			t.Error(err)
		}
	}
}

// captureTogether records rounds of an AllReduce of all ranks, whose streams come from that of the first and go back to it.
func captureTogether(list []*actor, mem []hostmem.Ptr, rounds int) (g cu.CUgraph, err error) {
	first, streams := list[0], make([]cu.CUstream, len(list))
	d := first.driver()
	for i, a := range list {
		streams[i] = cu.CUstream(a.stream)
	}
	if err := d.StreamBeginCapture(streams[0], cu.CU_STREAM_CAPTURE_MODE_RELAXED); err != nil {
		return g, err
	}
	for range rounds {
		err = errors.Join(err, order(d, streams[1:], streams[:1]), first.GroupStart())
		for i, a := range list {
			err = errors.Join(err, first.AllReduce(mem[i], mem[i], 4000, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream))
		}
		err = errors.Join(err, first.GroupEnd(), order(d, streams[:1], streams[1:]))
	}
	return g, errors.Join(err, d.StreamEndCapture(streams[0], hostmem.Of(&g)))
}

// TestAbort: a rank that waits for one that never comes is woken by its own abort; the others by that of another rank.
func TestAbort(t *testing.T) {
	list := actors(t, 3)
	for _, a := range list[:2] {
		p := a.buffer(make([]byte, 40_000))
		if err := a.AllReduce(p, p, 10_000, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(10 * time.Millisecond)
	if err := list[0].CommAbort(list[0].comm); err != nil {
		t.Fatal(err)
	}
	for _, a := range list[:2] {
		if err := a.sync(); err != nil {
			t.Error(err)
		}
	}
	if code, err := list[1].CommGetAsyncError(list[1].comm); err != nil || code != ncclapi.NcclRemoteError {
		t.Errorf("the error of rank 1 is %d, %v", code, err)
	}
	p := list[2].buffer(make([]byte, 4))
	if err := list[2].AllReduce(p, p, 1, ncclapi.NcclInt32, ncclapi.NcclSum, list[2].comm, list[2].stream); Code(err) != int32(ncclapi.NcclRemoteError) {
		t.Errorf("a call after it: %v", err)
	}
}

// TestDisagree: ranks that call different things hear of it.
func TestDisagree(t *testing.T) {
	list := actors(t, 2)
	for i, a := range list {
		p := a.buffer(make([]byte, 40_000))
		if err := a.AllReduce(p, p, uint64(5000+i), ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream); err != nil {
			t.Fatal(err)
		}
	}
	codes := []ncclapi.NcclResult_t{ncclapi.NcclInvalidUsage, ncclapi.NcclRemoteError}
	for _, a := range list {
		if err := a.sync(); err != nil {
			t.Error(err)
		}
		if code, _ := a.CommGetAsyncError(a.comm); !slices.Contains(codes, code) {
			t.Errorf("rank %d: code %d", a.rank, code)
		}
	}
}

// TestSettled: an operation that ends because of a failure which another goroutine is telling of ends after its code can be asked for.
func TestSettled(t *testing.T) {
	a := actors(t, 1)[0]
	c, err := lookup(a.comm)
	if err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	Say(func(string) { close(begun); <-goOn })
	defer said.Store(nil)
	go c.fail(badUsage("the first"))
	<-begun
	time.AfterFunc(10*time.Millisecond, func() { close(goOn) })
	(&unit{c: c}).failed(badUsage("the second"))
	if code, _ := a.CommGetAsyncError(a.comm); code != ncclapi.NcclInvalidUsage {
		t.Errorf("code %d", code)
	}
}

// TestArguments: what calls refuse.
func TestArguments(t *testing.T) {
	a := actors(t, 2)[0]
	p := a.buffer(make([]byte, 64))
	host := make([]byte, 64)
	for _, x := range []struct {
		what string
		err  error
		code ncclapi.NcclResult_t
	}{
		{"a type", a.AllReduce(p, p, 1, 99, ncclapi.NcclSum, a.comm, a.stream), ncclapi.NcclInvalidArgument},
		{"a reduction", a.AllReduce(p, p, 1, ncclapi.NcclInt8, 77, a.comm, a.stream), ncclapi.NcclInvalidArgument},
		{"a communicator", a.AllReduce(p, p, 1, ncclapi.NcclInt8, ncclapi.NcclSum, 12345, a.stream), ncclapi.NcclInvalidArgument},
		{"a root", a.Bcast(p, 1, ncclapi.NcclInt8, 2, a.comm, a.stream), ncclapi.NcclInvalidArgument},
		{"a size", a.AllGather(p, p, 64, ncclapi.NcclInt8, a.comm, a.stream), ncclapi.NcclInvalidArgument},
		{"host memory", a.Bcast(hostmem.Of(&host[0]), 1, ncclapi.NcclInt8, 0, a.comm, a.stream), ncclapi.NcclInvalidArgument},
		{"very many devices", a.CommInitAll(hostmem.Of(&host[0]), 1<<30, hostmem.Nil), ncclapi.NcclInvalidArgument},
		{"an end of no group", a.GroupEnd(), ncclapi.NcclInvalidUsage},
		{"nothing to do", a.Bcast(p, 0, ncclapi.NcclInt8, 0, a.comm, a.stream), ncclapi.NcclSuccess},
	} {
		code := ncclapi.NcclSuccess
		if x.err != nil {
			code = ncclapi.NcclResult_t(Code(x.err))
		}
		if code != x.code {
			t.Errorf("%s: %v, not code %d", x.what, x.err, x.code)
		}
	}
}
