package nn

import (
	"sync/atomic"

	"kudzu/internal/driver"
)

// Library does operations in place of our kernels: one of this machine's. It works where the host may touch the memory of the device.
type Library interface {
	Name() string
	// Prepare makes ready for an operation, and returns what does it: on a thread of ours, when the earlier work of its stream is done.
	// nil: our kernels do it.
	Prepare(w *Work) func()
}

// Work is an operation whose tensors lie in memory that is there. Its result is written as it is, over what was there.
type Work struct {
	Kind    WorkKind
	X, W, Y Tensor // of a convolution: the input, the filter and the result, or their gradients; of a product: A, B and C; of a softmax: X and Y
	Conv    Conv
	Mode    SoftmaxMode
	Axis    int // of a softmax
}

// WorkKind is one of the operations that a library may do.
type WorkKind int

// The operations.
const (
	WorkForward WorkKind = iota
	WorkData
	WorkFilter
	WorkProduct
	WorkSoftmax
)

var library atomic.Pointer[Library]

// UseLibrary makes l do the operations it takes; nil: our kernels do all.
func UseLibrary(l Library) {
	if l == nil {
		library.Store(nil)
		return
	}
	library.Store(&l)
}

// elsewhere gives an operation to the library, if there is one that takes it. Tensors that are not whole in memory the driver knows, and
// streams in capture, are left to our kernels: those record, and end in an error of the context where a foreign library would end the
// process. A result that is scaled or added to is ours as well.
func (r *Run) elsewhere(s Scale, w *Work) (done bool, err error) {
	l := library.Load()
	if l == nil || s != Plain {
		return false, nil
	}
	for _, t := range []Tensor{w.X, w.W, w.Y} {
		if len(t.Dim) > 0 && (t.Empty() || !inMemory(r.D, t)) {
			return false, nil
		}
	}
	run := (*l).Prepare(w)
	if run == nil {
		return false, nil
	}
	return r.D.OnHost(r.Stream, run)
}

// inMemory reports that a tensor lies in one allocation.
func inMemory(d *driver.Thread, t Tensor) bool {
	n := int64(1)
	for i, size := range t.Dim {
		if t.Stride[i] < 0 || size > 1 && t.Stride[i] > (1<<48)/(size-1) {
			return false
		}
		n += (size - 1) * t.Stride[i]
	}
	base, size, err := d.MemGetAddressRange(driver.DevPtr(t.Addr))
	off := t.Addr - uint64(base)
	return err == nil && off <= size && uint64(n*t.Type.Size()) <= size-off
}
