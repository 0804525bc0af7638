package nn

import "kudzu/internal/shim"

var poolRowKernels = module("pooling by rows", "poolrows")

// poolAxes are those of poolrows.cu: the first has no window, lanes walk the last, and with it the one before where it is short.
const poolAxes = 5

// poolLimit is what indices stay below; the test of what is done elsewhere lowers it.
var poolLimit int64 = maxSide

// poolRows is a pooling whose indices fit 32 bits, with the axes in the order in which a kernel of poolrows.cu walks them.
type poolRows struct {
	p     Pool
	order [poolAxes]int // of the batch, the channels and three dimensions
	in    []int64
	out   []int64
}

// rows says how p goes by rows: lanes are to walk what is next to each other in by, which has the sizes that a kernel goes through. It is
// false where a number needs more than 32 bits.
func (p Pool) rows(x, y, by Tensor, others ...Tensor) (poolRows, bool) {
	r := poolRows{p: p, order: [...]int{0, 1, 2, 3, 4}, in: x.Dim, out: y.Dim}
	width := func(rows, n int64) int64 { // lanes in use
		if n >= warp {
			return warp
		}
		return min(rows, warp/max(n, 1)) * n
	}
	space, channels := width(by.Dim[3], by.Dim[4]), width(by.Dim[4], by.Dim[1])
	if by.Stride[1] == 1 && by.Stride[4] != 1 && 2*channels > space || space < warp/2 && channels > space {
		r.order = [...]int{0, 2, 3, 4, 1}
	}
	if planes := by.Dim[r.order[0]] * by.Dim[r.order[1]] * by.Dim[r.order[2]]; planes >= poolLimit {
		return r, false
	}
	if x.Dim[2]*x.Dim[3]*x.Dim[4] >= poolLimit {
		return r, false
	}
	for d := range poolDims { // what is added up in 32 bits
		if q := poolDims - len(p.Window); d >= q && 4*(p.Window[d-q]+p.Pad[d-q]+p.Stride[d-q])+2*p.Stride[d-q]*max(y.Dim[2+d], warp) >= poolLimit {
			return r, false
		}
	}
	for _, t := range append(others, x, y) {
		n := int64(0)
		for _, d := range r.order[3:] {
			// A lane may be a warp beyond the end, where it reads nothing; of the result's it is moved by a window's stride.
			n += (max(t.Dim[d], y.Dim[d]*r.stride(d)) + 2*warp*r.stride(d)) * max(t.Stride[d], -t.Stride[d])
		}
		if n >= poolLimit {
			return r, false
		}
	}
	return r, true
}

func (r poolRows) of(v []int64, axis int, missing int64) int64 {
	if d := axis - 2 - (poolDims - len(v)); axis >= 2 && d >= 0 {
		return v[d]
	}
	return missing
}

func (r poolRows) stride(axis int) int64 { return r.of(r.p.Stride, axis, 1) }

// put appends a Rows.
func (r poolRows) put(q *shim.Params) {
	place := [poolAxes]int64{0, 0, r.in[3] * r.in[4], r.in[4], 1}
	for _, f := range []func(axis int) int64{
		func(a int) int64 { return r.in[a] },
		func(a int) int64 { return r.out[a] },
		func(a int) int64 { return r.of(r.p.Window, a, 1) },
		func(a int) int64 { return r.of(r.p.Pad, a, 0) },
		r.stride,
		func(a int) int64 { return place[a] },
	} {
		for _, a := range r.order {
			q.U32(uint32(f(a)))
		}
	}
	nan := uint32(0)
	if r.p.NaN {
		nan = 1
	}
	q.U32(uint32(r.p.Mode), nan)
}

// tensor is t with its axes in the kernel's order.
func (r poolRows) tensor(t Tensor) Tensor {
	s := Tensor{Addr: t.Addr, Type: t.Type}
	for _, a := range r.order {
		s.Dim, s.Stride = append(s.Dim, t.Dim[a]), append(s.Stride, t.Stride[a])
	}
	return s
}

// grid has a block for each plane of t, and more where these are few.
func (r poolRows) grid(t Tensor) [3]uint32 {
	t = r.tensor(t)
	planes := t.Dim[0] * t.Dim[1] * t.Dim[2]
	rows := over(t.Dim[3], warp/min(max(t.Dim[4], 1), warp))
	return [3]uint32{uint32(planes), uint32(min(rows, over(256, max(planes, 1)))), 1}
}

// poolBackwardRows is PoolBackward for the largest of a window, by rows. It does nothing, and says so, where indices need more than 32 bits.
func (r *Run) poolBackwardRows(p Pool, s Scale, where uint64, x, dy, dx Tensor) (did bool, err error) {
	suffix, err := checked(x, dy, dx)
	if err != nil {
		return false, err
	}
	if err := p.check(x, dy); err != nil {
		return false, err
	}
	x, dy, dx = flat(x, poolDims+2), flat(dy, poolDims+2), flat(dx, poolDims+2)
	places := Make(where, S32, dy.Dim...)
	find, ok := p.rows(x, dy, dy, places)
	if !ok {
		return false, nil
	}
	give, ok := p.rows(dx, dy, dx, places)
	if !ok {
		return false, nil
	}
	var q shim.Params
	find.put(&q)
	putStrided(&q, find.tensor(x))
	putStrided(&q, find.tensor(places))
	q.U32(uint32(x.Type))
	if err := r.launch(poolRowKernels, "poolRowsLargest"+suffix, find.grid(dy), oneWarp, &q); err != nil {
		return true, err
	}
	return true, r.poolGradientRows(give, s, dy, dx, places, suffix)
}

// poolGradientRows adds up the gradient of dx; places are those of the largest elements.
func (r *Run) poolGradientRows(w poolRows, s Scale, dy, dx, places Tensor, suffix string) error {
	if places.Addr == 0 {
		places = dy // which is not read
	}
	var q shim.Params
	w.put(&q)
	putScale(&q, s)
	putStrided(&q, w.tensor(dy))
	putStrided(&q, w.tensor(dx))
	putStrided(&q, w.tensor(places))
	q.U32(uint32(dy.Type), uint32(dx.Type))
	return r.launch(poolRowKernels, "poolRowsBackward"+suffix, w.grid(dx), oneWarp, &q)
}
