package nn

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"kudzu/internal/hostmem"
)

// attentionCase is an attention of a test. Values of the host have their whole shape; what is past a sequence's end is nobody's.
type attentionCase struct {
	Attention
	batch, heads, headsK, queries, keys, d, dv int64
	lenQ, lenK                                 []int64
	bias, mask                                 array
	q, k, v, do                                array
}

// numbers are 32-bit numbers on the device.
func (r *rig) numbers(v []int64) uint64 {
	t := r.empty(S32, []int64{int64(len(v))}, []int64{1})
	for i, x := range v {
		copy(bytesAt(t, []int64{int64(i)}), binary.LittleEndian.AppendUint32(nil, uint32(x)))
	}
	return t.Addr
}

func (r *rig) attentionCase(e Elem, i int) *attentionCase {
	c := &attentionCase{batch: r.pick(1, 2, 3), headsK: r.pick(1, 2), queries: r.pick(1, 5, 9, 40, 70), keys: r.pick(2, 7, 33, 64, 90), d: r.pick(4, 8, 16, 64, 40), dv: r.pick(3, 8, 32)}
	c.heads = c.headsK * r.pick(1, 2, 1, 3)
	c.Scale = 1 / math.Sqrt(float64(c.d))
	for range c.batch {
		c.lenQ, c.lenK = append(c.lenQ, c.queries), append(c.lenK, c.keys)
	}
	if i%3 == 1 {
		for b := range c.lenQ {
			c.lenQ[b], c.lenK[b] = 1+r.rng.Int64N(c.queries), r.rng.Int64N(c.keys+1)
		}
		c.SeqQ, c.SeqKV = r.numbers(c.lenQ), r.numbers(c.lenK)
	}
	if c.HasRight = r.coin(); c.HasRight {
		c.Right = r.pick(0, 0, 2)
	}
	if c.HasLeft = i%4 == 2; c.HasLeft {
		c.Left = r.pick(1, 3, 20)
	}
	c.BottomRight, c.ALiBi = r.coin(), i%5 == 3
	if i%4 == 1 {
		b, h := []int64{1, c.batch}[i/4%2], []int64{1, c.heads}[i/8%2]
		c.bias = r.random(e, b, h, c.queries, c.keys)
		c.Bias = r.put(e, c.bias, Packed(c.bias.dim...))
	}
	if i%5 == 2 {
		c.mask = newArray(c.batch, c.heads, c.queries, c.keys)
		for j := range c.mask.v {
			c.mask.v[j] = float64(flag(r.rng.IntN(4) > 0))
		}
		c.Dropout = Dropping{On: true, Keep: 0.75, Mask: r.put(Bool, c.mask, Packed(c.mask.dim...))}
	}
	c.q, c.k = r.random(e, c.batch, c.heads, c.queries, c.d), r.random(e, c.batch, c.headsK, c.keys, c.d)
	c.v, c.do = r.random(e, c.batch, c.headsK, c.keys, c.dv), r.random(e, c.batch, c.heads, c.queries, c.dv)
	return c
}

func (c *attentionCase) String() string {
	return fmt.Sprintf("batch %d heads %d/%d queries %d keys %d elements %d/%d lengths %v %v %+v", c.batch, c.heads, c.headsK, c.queries, c.keys, c.d, c.dv, c.lenQ, c.lenK, c.Attention)
}

// value reads an element of an array whose sides of 1 serve all.
func value(a array, at ...int64) float64 {
	for i := range at {
		if a.dim[i] == 1 {
			at[i] = 0
		}
	}
	return *a.at(at...)
}

// results are those of a case in f64.
type results struct{ o, stats, dq, dk, dv, dbias array }

// row is the probabilities of a query, and the logarithm of the sum.
func (c *attentionCase) row(b, h, i int64) (p []float64, stat float64) {
	p = make([]float64, c.keys)
	if i >= c.lenQ[b] {
		return p, math.Inf(-1)
	}
	diagonal := i
	if c.BottomRight {
		diagonal += c.lenK[b] - c.lenQ[b]
	}
	n := int64(1)
	for n*2 <= c.heads {
		n *= 2
	}
	slope := math.Exp2(-8 * float64(h+1) / float64(n))
	if h >= n {
		slope = math.Exp2(-8 * float64(2*(h-n)+1) / float64(2*n))
	}
	most, sum := math.Inf(-1), 0.0
	for j := range p {
		s := math.Inf(-1)
		k := int64(j)
		if k < c.lenK[b] && !(c.HasLeft && k <= diagonal-c.Left) && !(c.HasRight && k > diagonal+c.Right) {
			s = 0
			for x := range c.d {
				s += *c.q.at(b, h, i, x) * *c.k.at(b, h*c.headsK/c.heads, k, x)
			}
			s *= c.Scale
			if c.Bias.Addr != 0 {
				s += value(c.bias, b, h, i, k)
			}
			if c.ALiBi {
				s += slope * float64(k-i)
			}
		}
		p[j], most = s, max(most, s)
	}
	if math.IsInf(most, -1) {
		clear(p)
		return p, most
	}
	for j := range p {
		p[j] = math.Exp(p[j] - most)
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return p, most + math.Log(sum)
}

func (c *attentionCase) kept(b, h, i, j int64) float64 {
	if !c.Dropout.On {
		return 1
	}
	return *c.mask.at(b, h, i, j) / c.Dropout.Keep
}

func (c *attentionCase) want() results {
	w := results{newArray(c.do.dim...), newArray(c.batch, c.heads, c.queries, 1), newArray(c.q.dim...), newArray(c.k.dim...), newArray(c.v.dim...), array{}}
	if c.Bias.Addr != 0 {
		w.dbias = newArray(c.bias.dim...)
	}
	w.stats.each(func(at []int64, stat *float64) {
		b, h, i := at[0], at[1], at[2]
		g := h * c.headsK / c.heads
		p, s := c.row(b, h, i)
		*stat = s
		dp, delta := make([]float64, c.keys), 0.0
		for j := range c.keys {
			kept := c.kept(b, h, i, j)
			for x := range c.dv {
				v, do := *c.v.at(b, g, j, x), *c.do.at(b, h, i, x)
				*w.o.at(b, h, i, x) += p[j] * kept * v
				*w.dv.at(b, g, j, x) += p[j] * kept * do
				dp[j] += do * v * kept
			}
			delta += p[j] * dp[j]
		}
		for j := range c.keys {
			ds := p[j] * (dp[j] - delta)
			if c.Bias.Addr != 0 {
				d := []int64{b, h, i, j}
				for n := range d {
					if c.bias.dim[n] == 1 {
						d[n] = 0
					}
				}
				*w.dbias.at(d...) += ds
			}
			for x := range c.d {
				*w.dq.at(b, h, i, x) += c.Scale * ds * *c.k.at(b, g, j, x)
				*w.dk.at(b, g, j, x) += c.Scale * ds * *c.q.at(b, h, i, x)
			}
		}
	})
	return w
}

// close compares arrays: the largest difference by the largest number.
func (r *rig) close(what string, got Tensor, want array) {
	r.t.Helper()
	have := r.get(got)
	most := 1e-3
	for _, v := range want.v {
		if !math.IsInf(v, 0) {
			most = max(most, math.Abs(v))
		}
	}
	limit := most * (1e-5 + 2*eps[got.Type])
	for i, w := range want.v {
		if g := have.v[i]; g != w && !(math.Abs(g-w) <= limit) {
			r.t.Fatalf("%s: element %d of %v is %v, want %v: allowed %.3g", what, i, want.dim, g, w, limit)
		}
	}
}

// heads is a tensor whose positions and heads lie in either order.
func (r *rig) heads(dim []int64) []int64 {
	if r.coin() {
		return Packed(dim...)
	}
	return []int64{dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1}
}

func TestAttention(t *testing.T) {
	r := onDevice(t)
	defer func(n int64) { scoreBytes = n }(scoreBytes)
	for i := range r.times(60) {
		e := []Elem{F32, F16, BF16}[i%3]
		scoreBytes = []int64{8 << 20, 1, 3000}[i/3%3]
		c := r.attentionCase(e, i)
		want := c.want()
		put := func(a array) Tensor { return r.put(e, a, r.heads(a.dim)) }
		q, k, v, do := put(c.q), put(c.k), put(c.v), put(c.do)
		o, stats := r.empty(e, c.do.dim, r.heads(c.do.dim)), r.empty(F32, want.stats.dim, Packed(want.stats.dim...))
		r.ok(r.Run.Attention(c.Attention, q, k, v, o, stats))
		r.close(fmt.Sprint(i, " o ", c), o, want.o)
		r.close(fmt.Sprint(i, " stats ", c), stats, want.stats)
		to := Gradients{r.empty(e, c.q.dim, r.heads(c.q.dim)), r.empty(e, c.k.dim, r.heads(c.k.dim)), r.empty(e, c.v.dim, r.heads(c.v.dim)), Tensor{}}
		if c.Bias.Addr != 0 {
			to.Bias = r.empty(F32, c.bias.dim, Packed(c.bias.dim...))
		}
		r.ok(r.AttentionBackward(c.Attention, q, k, v, do, stats, to))
		r.close(fmt.Sprint(i, " dq ", c), to.Q, want.dq)
		r.close(fmt.Sprint(i, " dk ", c), to.K, want.dk)
		r.close(fmt.Sprint(i, " dv ", c), to.V, want.dv)
		if c.Bias.Addr != 0 {
			r.close(fmt.Sprint(i, " dbias ", c), to.Bias, want.dbias)
		}
	}
}

// TestAttentionRagged: sequences that lie one behind another give what they give alone.
func TestAttentionRagged(t *testing.T) {
	r := onDevice(t)
	c := &attentionCase{batch: 3, heads: 2, headsK: 2, queries: 6, keys: 6, d: 4, dv: 4, lenQ: []int64{4, 6, 1}, lenK: []int64{4, 6, 1}}
	c.Scale, c.HasRight = 0.5, true
	c.SeqQ, c.SeqKV = r.numbers(c.lenQ), r.numbers(c.lenK)
	dim := []int64{c.batch, c.heads, c.queries, c.d}
	c.q, c.k, c.v, c.do = r.random(F32, dim...), r.random(F32, dim...), r.random(F32, dim...), r.random(F32, dim...)
	want := c.want()
	// [position of all, heads, elements]: the positions of a sequence behind those of the one before
	starts := []int64{0, 4, 10, 11}
	row := c.heads * c.d
	offsets := []int64{0, 4 * row, 10 * row, 11 * row}
	at := r.numbers(offsets)
	ragged := Ragged{At: at}
	c.RaggedQ, c.RaggedK, c.RaggedV, c.RaggedO = ragged, ragged, ragged, ragged
	flat := func(a array) array {
		f := newArray(11, c.heads, c.d)
		f.each(func(i []int64, v *float64) {
			b := int64(0)
			for i[0] >= starts[b+1] {
				b++
			}
			*v = *a.at(b, i[1], i[0]-starts[b], i[2])
		})
		return f
	}
	view := func(f Tensor) Tensor {
		return Tensor{Addr: f.Addr, Type: F32, Dim: dim, Stride: []int64{c.queries * row, c.d, row, 1}}
	}
	put := func(a array) Tensor { return view(r.put(F32, flat(a), Packed(11, c.heads, c.d))) }
	empty := func() Tensor { return r.empty(F32, []int64{11, c.heads, c.d}, Packed(11, c.heads, c.d)) }
	o, stats := empty(), r.empty(F32, want.stats.dim, Packed(want.stats.dim...))
	q, k, v := put(c.q), put(c.k), put(c.v)
	r.ok(r.Run.Attention(c.Attention, q, k, v, view(o), stats))
	r.close("o", o, flat(want.o))
	dq, dk, dv := empty(), empty(), empty()
	r.ok(r.AttentionBackward(c.Attention, q, k, v, put(c.do), stats, Gradients{Q: view(dq), K: view(dk), V: view(dv)}))
	r.close("dq", dq, flat(want.dq))
	r.close("dk", dk, flat(want.dk))
	r.close("dv", dv, flat(want.dv))
}

// TestAttentionDropout: the mask that is told is the one that was used, both ways; it keeps about as many as it should, and other
// offsets give others.
func TestAttentionDropout(t *testing.T) {
	r := onDevice(t)
	c := &attentionCase{batch: 1, heads: 2, headsK: 1, queries: 16, keys: 40, d: 4, dv: 5, lenQ: []int64{16}, lenK: []int64{40}}
	c.Scale = 0.5
	c.q, c.k, c.v, c.do = r.random(F32, 1, 2, 16, 4), r.random(F32, 1, 1, 40, 4), r.random(F32, 1, 1, 40, 5), r.random(F32, 1, 2, 16, 5)
	seed := r.empty(S64, []int64{2}, []int64{1})
	masks := map[string]bool{}
	for round := range 3 {
		b := hostmem.Bytes(hostmem.Ptr(seed.Addr), 16)
		binary.LittleEndian.PutUint64(b, 77)
		binary.LittleEndian.PutUint64(b[8:], uint64(round*1000))
		mask := r.empty(U8, []int64{1, 2, 16, 40}, Packed(1, 2, 16, 40))
		c.Dropout = Dropping{On: true, Keep: 0.7, Seed: seed.Addr, Offset: seed.Addr + 8, Device: true, Dump: mask}
		q, k, v, do := r.put(F32, c.q, Packed(c.q.dim...)), r.put(F32, c.k, Packed(c.k.dim...)), r.put(F32, c.v, Packed(c.v.dim...)), r.put(F32, c.do, Packed(c.do.dim...))
		o, stats := r.empty(F32, c.do.dim, Packed(c.do.dim...)), r.empty(F32, []int64{1, 2, 16, 1}, Packed(1, 2, 16, 1))
		r.ok(r.Run.Attention(c.Attention, q, k, v, o, stats))
		c.mask = r.get(mask)
		kept := 0.0
		for _, m := range c.mask.v {
			kept += m
		}
		if masks[fmt.Sprint(c.mask.v)] = true; math.Abs(kept/1280-0.7) > 0.05 || len(masks) != round+1 {
			t.Errorf("%v of 1280 kept, %d masks", kept, len(masks))
		}
		want := c.want()
		r.close("o", o, want.o)
		to := Gradients{Q: r.empty(F32, c.q.dim, Packed(c.q.dim...)), K: r.empty(F32, c.k.dim, Packed(c.k.dim...)), V: r.empty(F32, c.v.dim, Packed(c.v.dim...))}
		r.ok(r.AttentionBackward(c.Attention, q, k, v, do, stats, to))
		r.close("dq", to.Q, want.dq)
		r.close("dk", to.K, want.dk)
		r.close("dv", to.V, want.dv)
	}
}
