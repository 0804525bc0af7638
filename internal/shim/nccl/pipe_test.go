package nccl

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pipePair is both ends of a pipe, in this process.
func pipePair(t *testing.T) (a, b *pipe) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	left, right := &sock{fd: fds[0]}, &sock{fd: fds[1]}
	t.Cleanup(func() { left.close(); right.close() })
	a, fd, err := newPipe(left, secret{1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if _, err := openPipe(right, secret{2}, os.Getpid(), fd); err == nil {
		t.Error("a pipe of another communicator opens")
	}
	if _, err := openPipe(right, secret{1}, os.Getpid(), fds[0]); err == nil {
		t.Error("a socket opens as a pipe")
	}
	if b, err = openPipe(right, secret{1}, os.Getpid(), fd); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// TestPipe: bytes come as they were sent, in pieces of all sizes, in both directions at once.
func TestPipe(t *testing.T) {
	a, b := pipePair(t)
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	failed := make(chan error, 4)
	send := func(p *pipe) {
		var err error
		for at, n := 0, 1; at < len(data) && err == nil; at, n = at+n, min(n*5%9973+1, len(data)-at-n) {
			err = p.write(data[at : at+n])
		}
		failed <- err
	}
	receive := func(p *pipe) {
		got := make([]byte, len(data))
		var err error
		for at, n := 0, 1; at < len(data) && err == nil; at, n = at+n, min(n*7%8191+1, len(data)-at-n) {
			err = p.read(got[at : at+n])
		}
		if err == nil && !bytes.Equal(got, data) {
			err = errors.New("other bytes came than were sent")
		}
		failed <- err
	}
	go send(a)
	go send(b)
	go receive(a)
	go receive(b)
	for range 4 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// TestPipeEnd: what was written before the other end closed is read, and then the end is seen; so is one's own close, by who sleeps.
func TestPipeEnd(t *testing.T) {
	a, b := pipePair(t)
	if err := a.write([]byte("last")); err != nil {
		t.Fatal(err)
	}
	a.s.close()
	got := make([]byte, 4)
	if err := b.read(got); err != nil || string(got) != "last" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := b.read(got); err == nil {
		t.Error("reads past the end")
	}
	a, b = pipePair(t)
	ended := make(chan error)
	go func() { ended <- b.read(got) }()
	time.Sleep(5 * time.Millisecond)
	b.s.close()
	if err := <-ended; !errors.Is(err, errClosed) {
		t.Errorf("a read whose end was closed: %v", err)
	}
	if err := a.write(got); err == nil {
		if err = a.read(got); err == nil {
			t.Error("the other end does not see it")
		}
	}
}

// TestPipeSpoilt: counts that cannot be are an error.
func TestPipeSpoilt(t *testing.T) {
	a, b := pipePair(t)
	a.out.head.Store(ringBytes + 1)
	if err := b.read(make([]byte, 1)); err == nil {
		t.Error("reads more than there can be")
	}
}
