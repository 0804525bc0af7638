package compare

import (
	"fmt"

	"kudzu/internal/backend"
)

type callbacks interface {
	backend.Queue
	backend.Callbacks
}

var _ backend.Traced = (*queue)(nil)

// Tag passes on whose queue it is.
func (q *queue) Tag(device uint32, stream uint64) {
	if t, ok := q.callbacks.(backend.Traced); ok {
		t.Tag(device, stream)
	}
}

func (q *queue) Place() (device uint32, stream uint64) {
	if t, ok := q.callbacks.(backend.Traced); ok {
		return t.Place()
	}
	return 0, 0
}

// queue passes everything on, but not while a launch is compared.
type queue struct {
	callbacks
	d *device
}

func (q *queue) put(do func() error) error {
	q.d.b.quiet.RLock()
	defer q.d.b.quiet.RUnlock()
	return do()
}

// Launch compares the launch if it is chosen.
func (q *queue) Launch(k backend.Kernel, l *backend.Launch) error {
	kk, ok := k.(*kernel)
	if !ok {
		return fmt.Errorf("kernel %s: not of this backend", k.Name())
	}
	chosen, why := kk.chosen(l, &q.d.b.cfg.Limits)
	if chosen {
		return q.compare(kk, l)
	}
	if why != "" {
		q.d.b.skip(kk.line(l), why)
	}
	return q.put(func() error { return q.callbacks.Launch(kk.started, l) })
}

func (q *queue) Copy(dst, src backend.Addr, n uint64) error {
	return q.put(func() error { return q.callbacks.Copy(dst, src, n) })
}

func (q *queue) Copy2D(dst backend.Addr, dstPitch uint64, src backend.Addr, srcPitch, width, height uint64) error {
	return q.put(func() error { return q.callbacks.Copy2D(dst, dstPitch, src, srcPitch, width, height) })
}

func (q *queue) Fill(dst backend.Addr, value uint32, size int, count, pitch, rows uint64) error {
	return q.put(func() error { return q.callbacks.Fill(dst, value, size, count, pitch, rows) })
}

func (q *queue) Host(fn func()) error {
	return q.put(func() error { return q.callbacks.Host(fn) })
}

func (q *queue) Callback(fn func(error)) error {
	return q.put(func() error { return q.callbacks.Callback(fn) })
}

func (q *queue) Close() error {
	q.d.b.mu.Lock()
	delete(q.d.b.queues, q)
	q.d.b.mu.Unlock()
	return q.callbacks.Close()
}
