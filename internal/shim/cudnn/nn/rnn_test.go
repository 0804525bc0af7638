package nn

import (
	"math"
	"slices"
	"testing"
)

// rnnCase is a network with everything that it takes, on the host. Sequences are by time, without packing.
type rnnCase struct {
	n         RNN
	s         Sequences
	x, h, c   []float64
	w         []float64
	dy        []float64 // the gradients that come in
	dhy, dcy  []float64
	y, hy, cy []float64
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// vec are n numbers of a two-dimensional field.
func vec(v []float64, row, n int64) []float64 { return v[row*n : row*n+n] }

// products are those of a pseudo-layer's gates with an input, and of its state.
func (k *rnnCase) products(pseudo int64, x, h []float64) (xg, hg [][]float64) {
	g := k.n.Cell.Gates()
	of := func(from int64, v []float64) [][]float64 {
		out := make([][]float64, g)
		for i := range g {
			m, b := k.n.Weight(pseudo, from+i)
			out[i] = make([]float64, k.n.Hidden)
			for r := range k.n.Hidden {
				if m.Rows == 0 {
					out[i][r] = v[r]
				}
				for c := range m.Cols {
					out[i][r] += k.w[m.At+r*m.Cols+c] * v[c]
				}
				if b.Rows > 0 {
					out[i][r] += k.w[b.At+r]
				}
			}
		}
		return out
	}
	return of(0, x), of(g, h)
}

// cell is one step of a sequence.
func (k *rnnCase) cell(pseudo int64, x, h, c []float64) (nh, nc []float64) {
	a, b := k.products(pseudo, x, h)
	nh, nc = make([]float64, k.n.Hidden), slices.Clone(c)
	for j := range nh {
		switch k.n.Cell {
		case CellReLU:
			nh[j] = max(a[0][j]+b[0][j], 0)
		case CellTanh:
			nh[j] = math.Tanh(a[0][j] + b[0][j])
		case CellLSTM:
			i, f, o := sigmoid(a[0][j]+b[0][j]), sigmoid(a[1][j]+b[1][j]), sigmoid(a[3][j]+b[3][j])
			read := func(c float64) float64 {
				if k.n.Clip {
					return min(max(c, k.n.Low), k.n.High)
				}
				return c
			}
			nc[j] = f*read(c[j]) + i*math.Tanh(a[2][j]+b[2][j])
			nh[j] = o * math.Tanh(read(nc[j]))
		case CellGRU:
			r, z := sigmoid(a[0][j]+b[0][j]), sigmoid(a[1][j]+b[1][j])
			nh[j] = (1-z)*math.Tanh(a[2][j]+r*b[2][j]) + z*h[j]
		}
	}
	if m, _ := k.n.Weight(pseudo, 2*k.n.Cell.Gates()); m.Rows > 0 {
		r := make([]float64, m.Rows)
		for i := range r {
			for j := range m.Cols {
				r[i] += k.w[m.At+int64(i)*m.Cols+j] * nh[j]
			}
		}
		nh = r
	}
	return nh, nc
}

// run is the network in f64.
func (k *rnnCase) run() {
	n, s := &k.n, &k.s
	k.hy, k.cy = slices.Clone(k.h), slices.Clone(k.c)
	in, width := k.x, n.In
	for l := range n.Layers {
		out := make([]float64, s.Time*s.Batch*n.Dirs*n.Proj)
		for d := range n.Dirs {
			pseudo := l*n.Dirs + d
			for b := range s.Batch {
				h, c := slices.Clone(vec(k.h, pseudo*s.Batch+b, n.Proj)), slices.Clone(vec(k.c, pseudo*s.Batch+b, n.Hidden))
				for i := range s.Length[b] {
					t := i
					if d == 1 {
						t = s.Length[b] - 1 - i
					}
					h, c = k.cell(pseudo, vec(in, t*s.Batch+b, width), h, c)
					copy(out[((t*s.Batch+b)*n.Dirs+d)*n.Proj:], h)
				}
				copy(vec(k.hy, pseudo*s.Batch+b, n.Proj), h)
				copy(vec(k.cy, pseudo*s.Batch+b, n.Hidden), c)
			}
		}
		in, width = out, n.Dirs*n.Proj
	}
	k.y = in
}

func along(a, b []float64) (s float64) {
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// loss is what the gradients are of.
func (k *rnnCase) loss() float64 {
	k.run()
	s := along(k.y, k.dy) + along(k.hy, k.dhy)
	if k.n.Cell == CellLSTM {
		s += along(k.cy, k.dcy)
	}
	return s
}

// slopes are the gradients of the loss by finite differences.
func (k *rnnCase) slopes(v []float64) []float64 {
	d := make([]float64, len(v))
	const h = 1e-5
	for i, old := range v {
		v[i] = old + h
		up := k.loss()
		v[i] = old - h
		d[i] = (up - k.loss()) / (2 * h)
		v[i] = old
	}
	return d
}

// row is where the layout has a vector.
func (k *rnnCase) row(t, b int64) int64 {
	switch {
	case k.s.BatchFirst:
		return b*k.s.Time + t
	case !k.s.Packed:
		return t*k.s.Batch + b
	}
	row := b
	for _, l := range k.s.Length {
		row += min(l, t)
	}
	return row
}

// laid moves vectors from the order of times to that of the layout, or back.
func (k *rnnCase) laid(v []float64, width int64, back bool) []float64 {
	out := make([]float64, len(v))
	for b, l := range k.s.Length {
		for t := range l {
			from, to := t*k.s.Batch+int64(b), k.row(t, int64(b))
			if back {
				from, to = to, from
			}
			copy(vec(out, to, width), vec(v, from, width))
		}
	}
	return out
}

func (r *rig) network() *rnnCase {
	k := &rnnCase{n: RNN{Cell: RNNCell(r.rng.IntN(4)), Layers: r.pick(1, 2), Dirs: r.pick(1, 2), In: r.pick(2, 3), Hidden: r.pick(2, 3, 5), Bias: r.coin(), BiasR: r.coin()}}
	n := &k.n
	n.Proj = n.Hidden
	if n.Cell == CellLSTM && r.coin() {
		n.Proj = n.Hidden - 1
	}
	if n.Cell == CellLSTM && r.coin() {
		n.Clip, n.Low, n.High = true, -0.6, 0.7
	}
	if n.Proj == n.Hidden && r.coin() {
		n.Skip, n.In = true, n.Hidden
	}
	k.s = Sequences{Time: r.pick(1, 3, 4), Batch: r.pick(1, 2, 3)}
	for range k.s.Batch {
		k.s.Length = append(k.s.Length, r.rng.Int64N(k.s.Time+1))
	}
	k.s.Length[0] = k.s.Time
	switch r.rng.IntN(3) {
	case 0:
		k.s.Packed = true
		slices.SortFunc(k.s.Length, func(a, b int64) int { return int(b - a) })
	case 1:
		k.s.BatchFirst = true
	}
	random := func(n int64) []float64 { return r.random(F32, n).v }
	states := n.Layers * n.Dirs * k.s.Batch
	k.x, k.h, k.c, k.w = random(k.s.Time*k.s.Batch*n.In), random(states*n.Proj), random(states*n.Hidden), random(n.Weights())
	k.dy, k.dhy, k.dcy = random(k.s.Time*k.s.Batch*n.Dirs*n.Proj), random(states*n.Proj), random(states*n.Hidden)
	for i := range k.w {
		k.w[i] *= 0.5
	}
	for b, l := range k.s.Length { // what comes after the end has no gradient
		for t := l; t < k.s.Time; t++ {
			clear(vec(k.dy, t*k.s.Batch+int64(b), n.Dirs*n.Proj))
		}
	}
	return k
}

// beside compares numbers of a program with what they should be.
func (r *rig) beside(what string, k *rnnCase, got Tensor, want []float64, limit float64, back func([]float64) []float64) {
	r.t.Helper()
	have := r.get(got).v
	if back != nil {
		have = back(have)
	}
	for i, w := range want {
		if d := math.Abs(have[i] - w); !(d <= limit*(1+math.Abs(w))) {
			r.t.Fatalf("%s of %+v, %+v: element %d is %g, not %g", what, k.n, k.s, i, have[i], w)
		}
	}
}

func TestRNN(t *testing.T) {
	r := onDevice(t)
	limits := map[Elem]float64{F64: 1e-6, F32: 1e-3, F16: 0.05, BF16: 0.3}
	for range r.times(30) {
		k := r.network()
		e := floats[r.rng.IntN(4)]
		limit := limits[e]
		k.n.Type = e
		for _, v := range [][]float64{k.x, k.h, k.c, k.w, k.dy, k.dhy, k.dcy} {
			for i := range v {
				v[i] = e.Value(e.Bytes(v[i]))
			}
		}
		up := func(v []float64) Tensor {
			return r.put(e, array{[]int64{int64(len(v))}, v}, []int64{1})
		}
		space := func(v []float64) Tensor { return r.empty(e, []int64{int64(len(v))}, []int64{1}) }
		wide := k.n.Dirs * k.n.Proj
		k.run()
		zero := 0.0
		s := k.s
		s.Fill = &zero
		x, w := up(k.laid(k.x, k.n.In, false)), up(k.w)
		h, c, y, hy, cy := up(k.h), up(k.c), up(make([]float64, len(k.y))), space(k.h), space(k.c)
		states := RNNStates{H: h.Addr, C: c.Addr, HOut: hy.Addr, COut: cy.Addr}
		work, size := k.n.Memory(s, true)
		r.Work, r.WorkSize = r.empty(U8, []int64{work}, []int64{1}).Addr, uint64(work)
		reserve := r.empty(U8, []int64{size}, []int64{1}).Addr
		laid := func(width int64) func([]float64) []float64 {
			return func(v []float64) []float64 { return k.laid(v, width, true) }
		}
		for _, keep := range []uint64{0, reserve} {
			r.ok(k.n.Forward(r.Run, s, x.Addr, y.Addr, states, w.Addr, keep))
			r.beside("the result", k, y, k.y, limit, laid(wide))
			r.beside("the last state", k, hy, k.hy, limit, nil)
			if k.n.Cell == CellLSTM {
				r.beside("the last cell", k, cy, k.cy, limit, nil)
			}
			if keep == 0 {
				r.Work, r.WorkSize = r.empty(U8, []int64{work}, []int64{1}).Addr, uint64(work)
			}
		}
		dx, dh, dc, dw := up(make([]float64, len(k.x))), space(k.h), space(k.c), up(ones(1, int64(len(k.w))).v)
		grads := RNNGradients{H: dh.Addr, C: dc.Addr, HOut: up(k.dhy).Addr, COut: up(k.dcy).Addr}
		r.ok(k.n.BackwardData(r.Run, s, up(k.laid(k.dy, wide, false)).Addr, dx.Addr, grads, w.Addr, reserve))
		r.beside("the gradient of the input", k, dx, k.slopes(k.x), 4*limit, laid(k.n.In))
		r.beside("the gradient of the first state", k, dh, k.slopes(k.h), 4*limit, nil)
		if k.n.Cell == CellLSTM {
			r.beside("the gradient of the first cell", k, dc, k.slopes(k.c), 4*limit, nil)
		}
		want := k.slopes(k.w)
		for i := range want {
			want[i]++
		}
		r.ok(k.n.BackwardWeights(r.Run, s, dw.Addr, reserve, true))
		r.beside("the gradient of the weights", k, dw, want, 8*limit, nil)
	}
}
