package nccl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/spec/ncclapi"
)

// duplexRing is n ranks of this process with a socket from each to each, of small buffers.
func duplexRing(t *testing.T, n int) []*comm {
	t.Helper()
	list := make([]*comm, n)
	for r := range list {
		c := &comm{n: n, rank: r, dead: make(chan struct{})}
		for range n {
			c.outlets[collectives] = append(c.outlets[collectives], &outlet{plain: true})
			c.boxes[collectives] = append(c.boxes[collectives], newBox())
		}
		list[r] = c
	}
	for from := range list {
		for to := range list {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			a, b := &sock{fd: fds[0]}, &sock{fd: fds[1]}
			t.Cleanup(func() { a.close(); b.close() })
			a.set(unix.SOL_SOCKET, unix.SO_SNDBUF, 4608)
			list[from].outlets[collectives][to].to = a
			list[to].boxes[collectives][from].arrived <- b
		}
	}
	return list
}

// duplexSum is an AllReduce of so many numbers, the rank's own in all places.
func (c *comm) duplexSum(count int) ([]byte, error) {
	b := bytes.Repeat(binary.LittleEndian.AppendUint32(nil, uint32(1)<<(8*c.rank)), count)
	o := &op{c: c, kind: allReduce, count: uint64(count), typ: ncclapi.NcclInt32, red: int(ncclapi.NcclSum)}
	flows := c.flows()
	if flows == nil {
		return b, errors.New("no connections")
	}
	return b, o.duplexAllReduce(flows, b, b)
}

// TestDuplex: in place, through sockets that take a part of what they are given, several operations in a row.
func TestDuplex(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		list := duplexRing(t, n)
		failed := make(chan error, n)
		for _, c := range list {
			go func() {
				for _, count := range []int{3, 5_000, 300_001, 17} {
					got, err := c.duplexSum(count)
					want := bytes.Repeat([]byte{1, 1, 1, 1}, count)
					for i := range want {
						if i%4 >= n {
							want[i] = 0
						}
					}
					if err == nil && !bytes.Equal(got, want) {
						err = errors.New("a wrong sum")
					}
					if err != nil {
						failed <- err
						return
					}
				}
				failed <- nil
			}()
		}
		for range list {
			if err := <-failed; err != nil {
				t.Errorf("%d ranks: %v", n, err)
			}
		}
	}
}

// TestDuplexEnds: a rank that waits for one that does not come is woken when its connections are closed, here or there,
// and hears of a rank that does something else.
func TestDuplexEnds(t *testing.T) {
	for k, end := range []func(list []*comm){
		func(list []*comm) { list[0].boxes[collectives][1].from.(*sock).close() },
		func(list []*comm) { list[1].outlets[collectives][0].to.(*sock).close() },
	} {
		list := duplexRing(t, 2)
		if list[0].flows() == nil {
			t.Fatal("no connections")
		}
		failed := make(chan error, 1)
		go func() {
			_, err := list[0].duplexSum(300_000)
			failed <- err
		}()
		time.Sleep(20 * time.Millisecond)
		end(list)
		select {
		case err := <-failed:
			if Code(err) != int32(ncclapi.NcclRemoteError) {
				t.Errorf("%d: %v", k, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%d: it still waits", k)
		}
	}
	list := duplexRing(t, 2)
	failed := make(chan error, 2)
	for r, c := range list {
		go func() {
			_, err := c.duplexSum(10_000 + r)
			for _, b := range c.outlets[collectives] {
				b.to.(*sock).close() // as the end of a communicator does
			}
			failed <- err
		}()
	}
	said := (<-failed).Error() + (<-failed).Error()
	if !strings.Contains(said, "ncclAllReduce of 10000 elements") || !strings.Contains(said, "ncclAllReduce of 10001 elements") {
		t.Error(said)
	}
}
