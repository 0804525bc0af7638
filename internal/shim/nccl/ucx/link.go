package ucx

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/dl"
	"kudzu/internal/hostmem"
)

// Link is one end of a connection. One goroutine at a time uses it. A TCP connection between the same two processes is beside it, whose end
// tells that the other process is gone.
type Link struct {
	a          *api
	worker, ep uintptr
	efd, fd    int
	beside     func() (closed bool, err error) // whether this process closed the connection beside it, or it has ended
	address    []byte
	send, recv *dl.Buffer // ucp_request_param_t
	length     *dl.Buffer // of what was received
	wrote      bool
	broken     error // once it is of no more use
}

const (
	spin  = 10 * time.Microsecond // an answer that is about to come is not worth a sleep
	sleep = 50 * time.Millisecond // then the connection beside it is looked at
	grace = 500 * time.Millisecond
)

// Open makes one end. fd is the connection beside it.
func Open(fd int, beside func() (closed bool, err error)) (*Link, error) {
	a, err := load()
	if err != nil {
		return nil, err
	}
	l := &Link{a: a, fd: fd, beside: beside}
	out, p := dl.Alloc(workerAttrSize), dl.Alloc(workerParamsSize)
	defer out.Free()
	defer p.Free()
	put64(p, 0, 1) // thread_mode
	put32(p, 8, modeSerialized)
	if st := status(a.create.Call(a.context, p.Addr(), out.Addr())); st != ok {
		return nil, a.text("ucp_worker_create", st)
	}
	l.worker = get64(out, 0)
	l.send, l.recv, l.length = dl.Alloc(requestParamsSize), dl.Alloc(requestParamsSize), dl.Alloc(8)
	put32(l.send, 0, 1<<6) // memory_type, which is 0: host
	put32(l.recv, 0, 1<<6|1<<4)
	put32(l.recv, 4, waitAll)
	if st := status(a.efd.Call(l.worker, out.Addr())); st != ok {
		l.Close()
		return nil, a.text("ucp_worker_get_efd", st)
	}
	l.efd = int(int32(get64(out, 0)))
	clear(out.Bytes())
	put64(out, 0, 1<<1|1<<2) // address, of networks only
	put32(out, 12, netOnly)
	if st := status(a.query.Call(l.worker, out.Addr())); st != ok {
		l.Close()
		return nil, a.text("ucp_worker_query", st)
	}
	at := get64(out, 16)
	l.address = append([]byte(nil), hostmem.Bytes(hostmem.Ptr(at), uint64(get64(out, 24)))...)
	a.release.Call(l.worker, at)
	return l, nil
}

// Address is what the other end needs.
func (l *Link) Address() []byte { return l.address }

// Connect goes to the other end.
func (l *Link) Connect(peer []byte) error {
	a := l.a
	p, at, out := dl.Alloc(endpointParamsSize), dl.Alloc(len(peer)), dl.Alloc(8)
	defer p.Free()
	defer at.Free()
	defer out.Free()
	copy(at.Bytes(), peer)
	put64(p, 0, 1<<0|1<<1|1<<2) // address, err_mode, err_handler
	put64(p, 8, uint64(at.Addr()))
	put32(p, 16, errorsOfPeer)
	put64(p, 24, uint64(dl.Ignore())) // requests tell of errors
	if st := status(a.connect.Call(l.worker, p.Addr(), out.Addr())); st != ok {
		return a.text("ucp_ep_create", st)
	}
	l.ep = get64(out, 0)
	return nil
}

// Write sends all of p; 0 waits as long as it takes.
func (l *Link) Write(p []byte, limit time.Duration) error {
	if l.broken != nil || len(p) == 0 {
		return l.broken
	}
	l.wrote = true
	return l.finish("send", l.a.send.Call(l.ep, uintptr(hostmem.Of(&p[0])), uintptr(len(p)), l.send.Addr()), limit)
}

// Read fills p.
func (l *Link) Read(p []byte, limit time.Duration) error {
	if l.broken != nil || len(p) == 0 {
		return l.broken
	}
	return l.finish("receive", l.a.recv.Call(l.ep, uintptr(hostmem.Of(&p[0])), uintptr(len(p)), l.length.Addr(), l.recv.Addr()), limit)
}

// failed reports whether a ucs_status_ptr_t is an error.
func failed(r uintptr) bool { return int64(r) < 0 && int64(r) >= lastError }

// finish waits for a request. When it returns the library does not need the memory any more.
func (l *Link) finish(what string, req uintptr, limit time.Duration) error {
	a := l.a
	switch {
	case req == 0:
		return nil
	case failed(req):
		l.broken = a.text(what, status(req))
		return l.broken
	}
	start := time.Now()
	idle := start // since when nothing has happened
	for turns := 1; ; turns++ {
		moved := a.progress.Call(l.worker) != 0
		if st := status(a.check.Call(req)); st != inProgress {
			a.free.Call(req)
			if st != ok {
				l.broken = a.text(what, st)
			}
			return l.broken
		}
		now := idle
		if moved || turns%8 == 0 {
			now = time.Now()
		}
		if moved {
			idle = now
			continue
		}
		if now.Sub(idle) < spin || status(a.arm.Call(l.worker)) == busy {
			continue
		}
		if err := l.pause(idle); err != nil {
			return l.abandon(req, err)
		}
		if limit > 0 && time.Since(start) > limit {
			return l.abandon(req, errLate)
		}
	}
}

// pause sleeps until something happens. What was sent before the other process ended is still to be had for a while.
func (l *Link) pause(idle time.Time) error {
	list := []unix.PollFd{{Fd: int32(l.efd), Events: unix.POLLIN}, {Fd: int32(l.fd), Events: unix.POLLIN}}
	if closed, err := l.beside(); err != nil && !closed {
		list = list[:1] // it would wake us at once
	}
	if _, err := unix.Poll(list, int(sleep/time.Millisecond)); err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	closed, err := l.beside()
	if err != nil && (closed || time.Since(idle) > grace) {
		return err
	}
	return nil
}

// abandon ends the connection with a request under way.
func (l *Link) abandon(req uintptr, err error) error {
	l.broken = err
	closing := l.shut(closeForce)
	for start := time.Now(); time.Since(start) < 2*time.Second; {
		l.a.progress.Call(l.worker)
		if status(l.a.check.Call(req)) != inProgress {
			l.a.free.Call(req)
			l.drain(closing, time.Second)
			return err
		}
	}
	return fmt.Errorf("%w, and UCX keeps the memory", err)
}

// shut closes the endpoint; the answer is a request, or none.
func (l *Link) shut(flags uint32) uintptr {
	if l.ep == 0 {
		return 0
	}
	p := dl.Alloc(requestParamsSize)
	defer p.Free()
	put32(p, 0, 1<<4)
	put32(p, 4, flags)
	req := l.a.close.Call(l.ep, p.Addr())
	l.ep = 0
	if failed(req) {
		return 0
	}
	return req
}

func (l *Link) drain(req uintptr, limit time.Duration) {
	if req == 0 {
		return
	}
	for start := time.Now(); time.Since(start) < limit; {
		if l.a.progress.Call(l.worker) == 0 {
			time.Sleep(20 * time.Microsecond)
		}
		if status(l.a.check.Call(req)) != inProgress {
			break
		}
	}
	l.a.free.Call(req)
}

// Close gives everything back. What was written still arrives.
func (l *Link) Close() {
	if l.worker == 0 {
		return
	}
	if l.ep != 0 && l.wrote {
		l.drain(l.shut(0), 200*time.Millisecond)
	} else if l.ep != 0 {
		l.drain(l.shut(closeForce), 200*time.Millisecond)
	}
	l.a.destroy.Call(l.worker)
	l.worker = 0
	for _, b := range []*dl.Buffer{l.send, l.recv, l.length} {
		b.Free()
	}
	if l.broken == nil {
		l.broken = errors.New("UCX: the connection was closed")
	}
}
