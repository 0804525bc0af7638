package nn

import (
	"iter"

	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

var attentionKernels = module("attention", "attention")

// Ragged says where the sequences of a batch begin in a tensor, in elements: a device address of a number for each, and one more.
type Ragged struct {
	At   uint64 // 0: at the batch's stride
	Wide bool   // numbers of 64 bits, not 32
}

// Attention is O = dropout(softmax(scale Q Kᵀ + bias)) V for each head. Tensors are [batch, heads, positions, elements]; there may be
// fewer heads of keys and values: then several of Q's share one.
type Attention struct {
	Scale float64

	SeqQ, SeqKV uint64 // device addresses of 32-bit lengths, one a sequence; 0: all are whole

	RaggedQ, RaggedK, RaggedV, RaggedO, RaggedStats Ragged

	// Query i sees key j where i + d − Left < j ≤ i + d + Right; d is 0, or with BottomRight what the keys are more than the queries.
	HasLeft, HasRight bool
	Left, Right       int64
	BottomRight       bool

	Bias  Tensor // added to the scores; sides of 1 serve all. Without address: none
	ALiBi bool   // the distance of key and query times a slope of the head is added

	Dropout Dropping

	Delta Tensor // of gradients: the sums of each row of dO O, f32. Without address they are computed
}

// Dropping is which probabilities are dropped: each with 1 − Keep, by Philox with a key and a first counter, or where a mask is zero.
type Dropping struct {
	On           bool
	Keep         float64
	Seed, Offset uint64 // numbers, or with Device where the numbers lie
	Device       bool
	Mask         Tensor
	Dump         Tensor // takes the mask that was used
}

// scoreBytes is how much of the scores is there at a time. A variable for tests.
var scoreBytes int64 = 8 << 20

// attention is one call.
type attention struct {
	Attention
	r                    *Run
	batch, heads, headsK int64
	queries, keys, d, dv int64
	group                int64
	chunk, rows          int64 // heads of keys, and rows of their scores, at a time
	narrow               bool  // rows are of neighbouring queries, which see some of the keys: only these are computed
	stats                Tensor
}

func (r *Run) attention(a Attention, q, k, v Tensor, stats Tensor) (*attention, error) {
	for _, t := range []Tensor{q, k, v} {
		if t.Check() != nil || len(t.Dim) != 4 {
			return nil, ErrShape
		}
		if t.Type != F32 && t.Type != F16 && t.Type != BF16 {
			return nil, ErrUnsupported
		}
	}
	c := &attention{Attention: a, r: r, batch: q.Dim[0], heads: q.Dim[1], headsK: k.Dim[1], queries: q.Dim[2], keys: k.Dim[2], d: q.Dim[3], dv: v.Dim[3], stats: stats}
	if k.Dim[0] != c.batch || v.Dim[0] != c.batch || k.Dim[3] != c.d || v.Dim[2] != c.keys || c.headsK == 0 || c.heads%c.headsK != 0 {
		return nil, ErrShape
	}
	if v.Dim[1] != c.headsK {
		return nil, ErrUnsupported // keys and values of different numbers of heads
	}
	for _, t := range []Tensor{a.Bias, a.Dropout.Mask, a.Dropout.Dump, stats, a.Delta} {
		if t.Addr != 0 && (t.Check() != nil || len(t.Dim) != 4) {
			return nil, ErrShape
		}
	}
	if a.Delta.Addr != 0 && a.Delta.Type != F32 {
		return nil, ErrUnsupported
	}
	c.group = c.heads / c.headsK
	c.rows = c.group * c.queries
	row := max(1, c.keys*4)
	c.chunk = max(1, min(c.batch*c.headsK, scoreBytes/max(1, row*c.rows)))
	if c.chunk == 1 {
		c.rows = max(1, min(c.rows, scoreBytes/row))
	}
	c.narrow = (a.HasLeft || a.HasRight) && (!a.BottomRight || a.SeqQ == 0 && a.SeqKV == 0) && a.Dropout.Dump.Addr == 0
	if c.narrow {
		c.rows = max(1, min(c.rows, c.queries, narrowRows))
		c.chunk = max(1, min(c.batch*c.headsK, scoreBytes/(row*c.rows)))
	}
	return c, nil
}

// narrowRows is how many queries are computed together where each sees other keys: fewer compute less that is masked, in smaller
// products.
const narrowRows = 64

// pieces are the rows of the scores of a part, and of each the keys that they see. Keys begin at a multiple of a warp's lanes.
func (c *attention) pieces(p some) iter.Seq[some] {
	return func(yield func(some) bool) {
		for all := c.group * c.queries; p.from < all; p.from += p.rows {
			p.rows, p.key, p.keys = min(c.rows, all-p.from), 0, c.keys
			if c.narrow {
				first := p.from % c.queries
				p.rows = min(p.rows, c.queries-first)
				low, high := c.sees(first, first+p.rows)
				p.key, p.keys = low, high-low
			}
			if !yield(p) {
				return
			}
		}
	}
}

// sees are the keys that queries see between them, at least one.
func (c *attention) sees(from, to int64) (low, high int64) {
	diagonal := int64(0)
	if c.BottomRight {
		diagonal = c.keys - c.queries
	}
	high = c.keys
	if c.HasRight {
		high = min(high, to+diagonal+c.Right)
	}
	high = max(high, min(1, c.keys))
	if c.HasLeft {
		low = min(max(from+diagonal-c.Left+1, 0), high-1) / warp * warp
	}
	return max(low, 0), high
}

// heads lays a tensor out as kernels/attention.cu has it; where its side is 1 it is the same for all.
func putHeads(q *shim.Params, t Tensor, g Ragged) {
	if t.Addr == 0 {
		t = Make(0, F32, 1, 1, 1, 1)
	}
	q.U64(t.Addr, g.At)
	for i, s := range t.Stride {
		if t.Dim[i] == 1 {
			s = 0
		}
		q.U64(uint64(s))
	}
	q.U32(flag(g.Wide), 0)
}

// some is a part of the scores: of n heads of keys from the first, rows from a row of each, and of those keys from a key.
type some struct{ first, n, from, rows, key, keys int64 }

// put lays Scores out.
func (c *attention) put(q *shim.Params, scores, other uint64, p some) {
	q.U64(scores, other).U32(uint32(c.batch), uint32(c.heads), uint32(c.queries), uint32(c.keys), uint32(c.group))
	q.U32(uint32(p.first), uint32(p.from), uint32(p.rows), uint32(p.key), uint32(p.keys)).U64(c.SeqQ, c.SeqKV).F64(c.Scale)
	banded := flag(c.HasLeft) | flag(c.HasRight)<<1 | flag(c.BottomRight)<<2
	q.U32(uint32(clamp32(c.Left)), uint32(clamp32(c.Right)), banded, flag(c.ALiBi))
	putHeads(q, c.Bias, Ragged{})
	q.U32(uint32(c.Bias.Type), uint32(c.stats.Type))
	putHeads(q, c.stats, c.RaggedStats)
	putHeads(q, c.Delta, Ragged{})
	d := &c.Dropout
	q.U64(d.Seed, d.Offset).U32(flag(!d.Device), flag(d.On)).F64(d.Keep)
	putHeads(q, d.Mask, Ragged{})
	putHeads(q, d.Dump, Ragged{})
	q.U32(uint32(d.Mask.Type), uint32(d.Dump.Type))
}

func clamp32(v int64) int32 { return int32(min(max(v, -1<<30), 1<<30)) }

// matrix is a batch of rows without gaps, or some columns of it turned.
func matrix(at uint64, columns, next int64, op blas.CublasOperation_t) cublas.View {
	return cublas.View{Base: at, LD: max(columns, 1), Stride: next, Op: op}
}

// times enqueues C = alpha A B + beta C in f32.
func (c *attention) times(p cublas.Product, s Scale) error {
	p.TA, p.TC, p.Sum = cublas.F32, cublas.F32, cublas.F32
	p.Alpha, p.Beta = cublas.Scalar{Re: s.Alpha}, cublas.Scalar{Re: s.Beta}
	return c.r.product(&p)
}

const (
	asIs   = blas.CUBLAS_OP_N
	turned = blas.CUBLAS_OP_T
)

// space is where a call's copies lie: of n heads of keys.
type space struct {
	at   uint64
	used int64
}

func (s *space) take(floats int64) uint64 {
	here := s.at + uint64(s.used)
	s.used += round256(floats * 4)
	return here
}

// room places what both directions have.
type room struct {
	q, k, v, o         headLines
	dq, dk, dv, do     headLines
	scores, grad, bias uint64
}

func (c *attention) room(base uint64, back bool) (w room, size int64) {
	s := space{at: base}
	take := func(rows, d int64) headLines { return headLines{s.take(c.chunk * rows * d), max(d, 1), rows * d} }
	all := c.group * c.queries
	w.q, w.k, w.v = take(all, c.d), take(c.keys, c.d), take(c.keys, c.dv)
	w.scores = s.take(c.chunk * c.rows * c.keys)
	if !back {
		w.o = take(all, c.dv)
		return w, s.used
	}
	w.do, w.dq, w.dk, w.dv = take(all, c.dv), take(all, c.d), take(c.keys, c.d), take(c.keys, c.dv)
	w.grad = s.take(c.chunk * c.rows * c.keys)
	if c.Bias.Addr != 0 {
		w.bias = s.take(c.Bias.Dim[0] * c.Bias.Dim[1] * c.Bias.Dim[2] * c.keys)
	}
	return w, s.used
}

// AttentionWorkspace is the memory that an attention would like to have, or its gradients.
func (r *Run) AttentionWorkspace(a Attention, q, k, v Tensor, back bool) (int64, error) {
	c, err := r.attention(a, q, k, v, Tensor{})
	if err != nil {
		return 0, err
	}
	_, size := c.room(0, back)
	return size, nil
}

// Attention computes o, and the logarithms of the sums of each row's exponentials in stats, [batch, heads, positions, 1], if it has an
// address.
func (r *Run) Attention(a Attention, q, k, v, o, stats Tensor) error {
	c, err := r.attention(a, q, k, v, stats)
	if err != nil {
		return err
	}
	if len(o.Dim) != 4 || o.Dim[0] != c.batch || o.Dim[1] != c.heads || o.Dim[2] != c.queries || o.Dim[3] != c.dv {
		return ErrShape
	}
	if o.Empty() {
		return nil
	}
	_, size := c.room(0, false)
	base, done, err := r.scratch(size)
	if err != nil {
		return err
	}
	defer done()
	beside, _ := c.room(base, false)
	for p := range c.parts() {
		w := beside
		if err := c.load(&w, q, k, v, p); err != nil {
			return err
		}
		out := side{o, a.RaggedO, a.SeqQ, 0}
		w.o = c.target(out, beside.o, p)
		for p := range c.pieces(p) {
			if err := c.forward(w, p); err != nil {
				return err
			}
		}
		if err := c.putBack(out, w.o, p); err != nil {
			return err
		}
	}
	return nil
}

// parts are the heads of keys, as many at a time as there is room for.
func (c *attention) parts() iter.Seq[some] {
	return func(yield func(some) bool) {
		for first := int64(0); first < c.batch*c.headsK; first += c.chunk {
			if !yield(some{first: first, n: min(c.chunk, c.batch*c.headsK-first)}) {
				return
			}
		}
	}
}

func (c *attention) load(w *room, q, k, v Tensor, p some) (err error) {
	if w.q, err = c.bring(side{q, c.RaggedQ, c.SeqQ, 0}, w.q, p); err != nil {
		return err
	}
	if w.k, err = c.bring(side{k, c.RaggedK, c.SeqKV, 0}, w.k, p); err != nil {
		return err
	}
	w.v, err = c.bring(side{v, c.RaggedV, c.SeqKV, 0}, w.v, p)
	return err
}

// forward computes some rows.
func (c *attention) forward(w room, p some) error {
	if err := c.scores(w.q, w.k, w.scores, c.d, p); err != nil {
		return err
	}
	var q shim.Params
	c.put(&q, w.scores, 0, p)
	q.U32(uint32(p.n * p.rows))
	if err := c.r.launch(attentionKernels, "softmax", spread(over(p.n*p.rows, rowsABlock)), oneWarp, &q); err != nil {
		return err
	}
	return c.times(cublas.Product{M: c.dv, N: p.rows, K: p.keys, Batch: p.n, A: w.v.from(p.key, asIs),
		B: matrix(w.scores, p.keys, p.rows*p.keys, asIs), C: w.o.from(p.from, asIs)}, Plain)
}

// scores are rows of x times those of y that they see, each of d elements: Q Kᵀ, or dO Vᵀ.
func (c *attention) scores(x, y headLines, to uint64, d int64, p some) error {
	return c.times(cublas.Product{M: p.keys, N: p.rows, K: d, Batch: p.n, A: y.from(p.key, turned),
		B: x.from(p.from, asIs), C: matrix(to, p.keys, p.rows*p.keys, asIs)}, Plain)
}

// Gradients are where those of an attention go. Bias may be without address.
type Gradients struct{ Q, K, V, Bias Tensor }

// AttentionBackward computes the gradients for the gradient do of o. stats are those of the forward call; o itself is not needed.
func (r *Run) AttentionBackward(a Attention, q, k, v, do, stats Tensor, to Gradients) error {
	c, err := r.attention(a, q, k, v, stats)
	if err != nil {
		return err
	}
	if len(do.Dim) != 4 || do.Dim[2] != c.queries || do.Dim[3] != c.dv || stats.Addr == 0 || !SameShape(q, to.Q) || !SameShape(k, to.K) || !SameShape(v, to.V) {
		return ErrShape
	}
	if to.Bias.Addr != 0 && (a.Bias.Addr == 0 || !SameShape(to.Bias, a.Bias) || a.Bias.Dim[3] != c.keys) {
		return ErrShape
	}
	_, size := c.room(0, true)
	base, done, err := r.scratch(size)
	if err != nil {
		return err
	}
	defer done()
	beside, _ := c.room(base, true)
	bias := Tensor{}
	if to.Bias.Addr != 0 {
		bias = Make(beside.bias, F32, to.Bias.Dim...)
		if err := r.zero(beside.bias, bias.Count()*4); err != nil {
			return err
		}
	}
	for p := range c.parts() {
		w := beside
		if err := c.load(&w, q, k, v, p); err != nil {
			return err
		}
		if w.do, err = c.bring(side{do, a.RaggedO, a.SeqQ, 0}, w.do, p); err != nil {
			return err
		}
		w.dq = c.target(side{to.Q, c.RaggedQ, c.SeqQ, 0}, w.dq, p)
		if c.narrow { // no part of the scores is of all keys: all add
			if err := c.r.zero(w.dk.at, p.n*c.keys*c.d*4); err != nil {
				return err
			}
			if err := c.r.zero(w.dv.at, p.n*c.keys*c.dv*4); err != nil {
				return err
			}
		}
		for p := range c.pieces(p) {
			if err := c.backward(w, bias, p); err != nil {
				return err
			}
		}
		if err := c.leave(w, to, p); err != nil {
			return err
		}
	}
	if bias.Addr != 0 {
		return r.Move(bias, to.Bias)
	}
	return nil
}

// backward adds what some rows give.
func (c *attention) backward(w room, bias Tensor, p some) error {
	if err := c.scores(w.q, w.k, w.scores, c.d, p); err != nil {
		return err
	}
	if err := c.scores(w.do, w.v, w.grad, c.dv, p); err != nil {
		return err
	}
	var q shim.Params
	c.put(&q, w.scores, w.grad, p)
	q.U32(uint32(p.n * p.rows))
	if err := c.r.launch(attentionKernels, "softmaxBack", spread(over(p.n*p.rows, rowsABlock)), oneWarp, &q); err != nil {
		return err
	}
	if bias.Addr != 0 {
		q.U64(bias.Addr).U32(uint32(bias.Dim[0]), uint32(bias.Dim[1]), uint32(bias.Dim[2]))
		if err := c.r.launch(attentionKernels, "biasBack", spread(bias.Dim[0]*bias.Dim[1]*bias.Dim[2]), oneWarp, &q); err != nil {
			return err
		}
	}
	return c.gradients(w, p)
}

// gradients are dV += Pᵀ dO, dQ = scale dS K, dK += scale dSᵀ Q.
func (c *attention) gradients(w room, p some) error {
	more := Scale{Alpha: 1, Beta: 1}
	if p.from == 0 && !c.narrow {
		more.Beta = 0
	}
	rows := func(x uint64, op blas.CublasOperation_t) cublas.View { return matrix(x, p.keys, p.rows*p.keys, op) }
	if err := c.times(cublas.Product{M: c.dv, N: p.keys, K: p.rows, Batch: p.n, A: w.do.from(p.from, asIs), B: rows(w.scores, turned), C: w.dv.from(p.key, asIs)}, more); err != nil {
		return err
	}
	if err := c.times(cublas.Product{M: c.d, N: p.rows, K: p.keys, Batch: p.n, A: w.k.from(p.key, asIs), B: rows(w.grad, asIs), C: w.dq.from(p.from, asIs)}, Scale{Alpha: c.Scale}); err != nil {
		return err
	}
	more.Alpha = c.Scale
	return c.times(cublas.Product{M: c.d, N: p.keys, K: p.rows, Batch: p.n, A: w.q.from(p.from, asIs), B: rows(w.grad, turned), C: w.dk.from(p.key, asIs)}, more)
}

func (c *attention) leave(w room, to Gradients, p some) error {
	if err := c.putBack(side{to.Q, c.RaggedQ, c.SeqQ, 0}, w.dq, p); err != nil {
		return err
	}
	if err := c.move("give_", side{to.K, c.RaggedK, c.SeqKV, w.dk.at}, p.first, p.n); err != nil {
		return err
	}
	return c.move("give_", side{to.V, c.RaggedV, c.SeqKV, w.dv.at}, p.first, p.n)
}
