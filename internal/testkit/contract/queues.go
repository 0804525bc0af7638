package contract

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/testkit"
)

// patience is how long a row waits for what must come, and pause how long it looks for what must not.
const (
	patience = 30 * time.Second
	pause    = 20 * time.Millisecond
)

// gate is a host function that holds its queue until it is opened.
type gate struct {
	entered, open chan struct{}
	opened        atomic.Bool
}

func (b *bench) gate(q backend.Queue) *gate {
	b.t.Helper()
	g := &gate{entered: make(chan struct{}), open: make(chan struct{})}
	b.ok(q.Host(func() { close(g.entered); <-g.open }))
	b.t.Cleanup(g.let)
	return g
}

func (g *gate) let() {
	if !g.opened.Swap(true) {
		close(g.open)
	}
}

func (b *bench) soon(c <-chan struct{}, what string) {
	b.t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		b.t.Fatalf("%s did not come", what)
	}
}

func order(t *testing.T, b *bench) {
	q := b.queue()
	x := b.memory(4096)
	dst := testkit.NewHostPage(t, 4096)
	for i := range uint32(100) {
		b.ok(q.Fill(x, i, 4, 1024, 0, 1))
		b.ok(q.Copy(dst.Addr()+backend.Addr(4*i), x+backend.Addr(4*i), 4))
	}
	b.ok(q.Sync())
	for i := range 100 {
		if n := binary.LittleEndian.Uint32(dst[4*i:]); n != uint32(i) {
			t.Fatalf("word %d is %d", i, n)
		}
	}
}

// hostOrder reads with a second queue what a first one, held up in a host function, has done: a real driver waits for a copy to
// ordinary host memory, so nothing may be copied behind the gate.
func hostOrder(t *testing.T, b *bench) {
	q, reader := b.queue(), b.queue()
	dst := testkit.NewHostPage(t, 8)
	x := b.memory(8)
	b.ok(q.Fill(x, 7, 4, 2, 0, 1))
	b.ok(q.Copy(dst.Addr(), x, 4))
	g := b.gate(q)
	b.ok(q.Fill(x+4, 9, 4, 1, 0, 1))
	var second atomic.Bool
	b.ok(q.Host(func() { second.Store(true) }))
	b.soon(g.entered, "the host function")
	if n := binary.LittleEndian.Uint32(dst); n != 7 {
		t.Errorf("work before the host function: %d", n)
	}
	behind := func() uint32 {
		b.ok(reader.Copy(dst.Addr()+4, x+4, 4))
		b.ok(reader.Sync())
		return binary.LittleEndian.Uint32(dst[4:])
	}
	time.Sleep(pause)
	if n := behind(); n != 7 || second.Load() {
		t.Errorf("work behind the host function ran while it did: %d, %v", n, second.Load())
	}
	g.let()
	b.ok(q.Sync())
	if n := behind(); n != 9 || !second.Load() {
		t.Errorf("work behind the host function: %d, %v", n, second.Load())
	}
}

func queueDone(t *testing.T, b *bench) {
	q := b.queue()
	if done, err := q.Done(); !done || err != nil {
		t.Errorf("a fresh queue: %v, %v", done, err)
	}
	g := b.gate(q)
	b.soon(g.entered, "the host function")
	if done, err := q.Done(); done || err != nil {
		t.Errorf("a queue that waits: %v, %v", done, err)
	}
	g.let()
	b.ok(q.Sync())
	if done, err := q.Done(); !done || err != nil {
		t.Errorf("after Sync: %v, %v", done, err)
	}
}

func fenceDone(t *testing.T, b *bench) {
	q := b.queue()
	g := b.gate(q)
	f, err := q.Mark()
	b.ok(err)
	if done, err := f.Done(); done || err != nil || f.Nanos() != 0 {
		t.Errorf("before: %v, %v, %d ns", done, err, f.Nanos())
	}
	g.let()
	b.ok(f.Sync())
	if done, err := f.Done(); !done || err != nil || f.Nanos() == 0 {
		t.Errorf("after: %v, %v, %d ns", done, err, f.Nanos())
	}
	if r, ok := f.(backend.Releaser); ok {
		r.Release()
	}
}

func fenceTimes(t *testing.T, b *bench) {
	q := b.queue()
	var last int64
	for i := range 5 {
		f, err := q.Mark()
		b.ok(err)
		b.ok(f.Sync())
		n := f.Nanos()
		if n < last || i > 0 && n-last > int64(patience) {
			t.Errorf("fence %d at %d ns, the one before at %d", i, n, last)
		}
		if i > 0 && n-last < int64(pause)/2 {
			t.Errorf("fence %d is %d ns behind the one before, %v passed", i, n-last, pause)
		}
		last = n
		time.Sleep(pause)
	}
}

func waits(t *testing.T, b *bench) {
	p, q := b.queue(), b.queue()
	g := b.gate(p)
	f, err := p.Mark()
	b.ok(err)
	b.ok(q.Wait(f))
	ran := make(chan struct{})
	b.ok(q.Host(func() { close(ran) }))
	b.soon(g.entered, "the host function")
	select {
	case <-ran:
		t.Error("the queue did not wait")
	case <-time.After(pause):
	}
	g.let()
	b.soon(ran, "the queue that waited")
	b.ok(q.Sync())
	b.ok(q.Wait(f)) // a fence that is reached holds nobody
	b.ok(q.Sync())
}

func closing(t *testing.T, b *bench) {
	q, err := b.d.NewQueue(1)
	b.ok(err)
	x := b.memory(64)
	ran := false
	b.ok(q.Host(func() { time.Sleep(pause); ran = true }))
	b.ok(q.Fill(x, 1, 4, 16, 0, 1))
	b.ok(q.Close())
	if !ran {
		t.Error("Close did not wait")
	}
	if err := q.Fill(x, 1, 4, 16, 0, 1); err == nil {
		t.Error("a closed queue takes work")
	}
	if err := q.Close(); !errors.Is(err, backend.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
