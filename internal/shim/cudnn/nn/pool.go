package nn

import "kudzu/internal/shim"

var poolKernels = module("pooling", "pool")

// PoolMode is what is made of a window.
type PoolMode uint32

// The modes. PoolAverage counts the elements of a window that are in the tensor, PoolAveragePadded all.
const (
	PoolMax PoolMode = iota
	PoolAveragePadded
	PoolAverage
)

// Pool is a pooling over the dimensions after the second, of which there are at most three.
type Pool struct {
	Mode                PoolMode
	NaN                 bool // a NaN is the largest of a window
	Window, Pad, Stride []int64
}

const poolDims = 3

func (p Pool) check(x, y Tensor) error {
	n := len(p.Window)
	if len(x.Dim) != n+2 || len(y.Dim) != n+2 || len(p.Pad) != n || len(p.Stride) != n || x.Dim[0] != y.Dim[0] || x.Dim[1] != y.Dim[1] {
		return ErrShape
	}
	if n > poolDims {
		return ErrUnsupported
	}
	return nil
}

// put appends a Pool of kernels/pool.cu; x and y have all dimensions.
func (p Pool) put(q *shim.Params, x, y Tensor) {
	q.U64(uint64(x.Dim[0]), uint64(x.Dim[1]))
	full := func(v []int64, missing int64) {
		for i := range poolDims {
			if i < poolDims-len(v) {
				q.U64(uint64(missing))
			} else {
				q.U64(uint64(v[i-(poolDims-len(v))]))
			}
		}
	}
	full(x.Dim[2:], 1)
	full(y.Dim[2:], 1)
	full(p.Window, 1)
	full(p.Pad, 0)
	full(p.Stride, 1)
	nan := uint32(0)
	if p.NaN {
		nan = 1
	}
	q.U32(uint32(p.Mode), nan)
}

// Pool makes y of x.
func (r *Run) Pool(p Pool, s Scale, x, y Tensor) error {
	suffix, err := checked(x, y)
	if err != nil {
		return err
	}
	if err := p.check(x, y); err != nil {
		return err
	}
	x, y = flat(x, poolDims+2), flat(y, poolDims+2)
	n := y.Count()
	var q shim.Params
	if w, ok := p.rows(x, y, y); ok {
		w.put(&q)
		putScale(&q, s)
		putStrided(&q, w.tensor(x))
		putStrided(&q, w.tensor(y))
		q.U32(uint32(x.Type), uint32(y.Type))
		return r.launch(poolRowKernels, "poolRowsForward"+suffix, w.grid(y), oneWarp, &q)
	}
	p.put(&q, x, y)
	putScale(&q, s)
	putStrided(&q, x)
	putStrided(&q, y)
	q.U32(uint32(x.Type), uint32(y.Type)).U64(uint64(n))
	return r.launch(poolKernels, "poolForward"+suffix, threads(n), oneWarp, &q)
}

// PoolBackward makes the gradient dx of that of the result. Of equal elements in a window the first gets it.
func (r *Run) PoolBackward(p Pool, s Scale, x, dy, dx Tensor) error {
	if !SameShape(x, dx) {
		return ErrShape
	}
	if p.Mode != PoolMax || dx.Empty() {
		return r.PoolGradient(p, s, 0, dy, dx)
	}
	where, done, err := r.scratch(8 * dy.Count())
	if err != nil {
		return err
	}
	defer done()
	if did, err := r.poolBackwardRows(p, s, where, x, dy, dx); did || err != nil {
		return err
	}
	if err := r.PoolLargest(p, x, dy, where); err != nil {
		return err
	}
	return r.PoolGradient(p, s, where, dy, dx)
}

// PoolLargest says which element of every window is its largest: its place among those of an image's channel, of 64 bits, or -1.
func (r *Run) PoolLargest(p Pool, x, y Tensor, where uint64) error {
	suffix, err := checked(x)
	if err != nil {
		return err
	}
	if err := p.check(x, y); err != nil {
		return err
	}
	x, y = flat(x, poolDims+2), flat(y, poolDims+2)
	var q shim.Params
	p.put(&q, x, y)
	putStrided(&q, x)
	q.U64(where, uint64(y.Count())).U32(uint32(x.Type))
	return r.launch(poolKernels, "poolLargest"+suffix, threads(y.Count()), oneWarp, &q)
}

// PoolGradient is PoolBackward where what PoolLargest gave is known; averages need none.
func (r *Run) PoolGradient(p Pool, s Scale, where uint64, dy, dx Tensor) error {
	suffix, err := checked(dy, dx)
	if err != nil {
		return err
	}
	if err := p.check(dx, dy); err != nil {
		return err
	}
	dy, dx = flat(dy, poolDims+2), flat(dx, poolDims+2)
	if where == 0 {
		if w, ok := p.rows(dx, dy, dx); ok {
			return r.poolGradientRows(w, s, dy, dx, Tensor{}, suffix)
		}
	}
	var q shim.Params
	p.put(&q, dx, dy)
	putScale(&q, s)
	putStrided(&q, dy)
	putStrided(&q, dx)
	q.U32(uint32(dy.Type), uint32(dx.Type)).U64(where, uint64(dx.Count()))
	return r.launch(poolKernels, "poolBackward"+suffix, threads(dx.Count()), oneWarp, &q)
}
