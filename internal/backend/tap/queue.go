package tap

import (
	"fmt"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/logx"
)

// Queue passes everything on, but not while a taker has the device to itself.
type Queue struct {
	backend.Queue
	d *Device
}

var _ backend.Traced = (*Queue)(nil)

// Tag passes on whose queue it is.
func (q *Queue) Tag(device uint32, stream uint64) {
	if t, ok := q.Queue.(backend.Traced); ok {
		t.Tag(device, stream)
	}
}

// Place repeats it.
func (q *Queue) Place() (device uint32, stream uint64) {
	if t, ok := q.Queue.(backend.Traced); ok {
		return t.Place()
	}
	return 0, 0
}

// Device is whose queue it is.
func (q *Queue) Device() *Device { return q.d }

// Put puts work in, when the device is not kept quiet.
func (q *Queue) Put(do func() error) error {
	q.d.b.quiet.RLock()
	defer q.d.b.quiet.RUnlock()
	return do()
}

// Direct launches on the device itself.
func (q *Queue) Direct(k *Kernel, l *backend.Launch) error { return q.Queue.Launch(k.Kernel, l) }

// Quiet has do called with the device to itself: all queues are empty, and nothing is put in meanwhile. If other work does not end,
// busy is called instead, and work may be under way.
func (q *Queue) Quiet(do, busy func() error) error {
	b := q.d.b
	b.quiet.Lock()
	defer b.quiet.Unlock()
	if !b.drained() {
		return busy()
	}
	return do()
}

// Launch hands the launch to the taker.
func (q *Queue) Launch(k backend.Kernel, l *backend.Launch) error {
	own, ok := k.(interface{ itself() *Kernel })
	if !ok {
		return fmt.Errorf("kernel %s: not of this backend", k.Name())
	}
	return q.d.b.taker.Launch(q, own.itself(), l)
}

// Copy moves memory.
func (q *Queue) Copy(dst, src backend.Addr, n uint64) error {
	return q.Put(func() error { return q.Queue.Copy(dst, src, n) })
}

// Copy2D moves rows.
func (q *Queue) Copy2D(dst backend.Addr, dstPitch uint64, src backend.Addr, srcPitch, width, height uint64) error {
	return q.Put(func() error { return q.Queue.Copy2D(dst, dstPitch, src, srcPitch, width, height) })
}

// Fill writes a value.
func (q *Queue) Fill(dst backend.Addr, value uint32, size int, count, pitch, rows uint64) error {
	return q.Put(func() error { return q.Queue.Fill(dst, value, size, count, pitch, rows) })
}

// Host calls fn in its turn.
func (q *Queue) Host(fn func()) error { return q.Put(func() error { return q.Queue.Host(fn) }) }

// Close ends the queue.
func (q *Queue) Close() error {
	q.d.b.mu.Lock()
	delete(q.d.b.queues, q)
	q.d.b.mu.Unlock()
	return q.Queue.Close()
}

// patience is how long a launch waits for other work before it goes on without being taken: a queue may wait for something
// that the program does only after this launch. Once it was not enough, a kernel runs for good: launches wait no more.
const patience = 30 * time.Second

// drained waits until every queue is empty. Preconditions: b.quiet is held.
func (b *Backend) drained() bool {
	b.mu.Lock()
	var all []*Queue
	for q := range b.queues {
		all = append(all, q)
	}
	b.mu.Unlock()
	end := time.Now().Add(b.patience)
	for _, q := range all {
		for pause := 10 * time.Microsecond; ; pause = min(2*pause, time.Millisecond) {
			if done, err := q.Done(); done || err != nil { // with a fault there is nothing under way either
				break
			}
			if time.Now().After(end) {
				if b.patience > 0 {
					logx.Warnf("other work has not ended for %v: from now on only launches are looked at that find no other work under way", b.patience)
					b.patience = 0
				}
				return false
			}
			time.Sleep(pause)
		}
	}
	return true
}
