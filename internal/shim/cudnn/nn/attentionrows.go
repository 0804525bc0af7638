package nn

import (
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// headLines are the rows of heads of keys in f32: where the first is, how far rows and heads are apart, in elements.
type headLines struct {
	at       uint64
	ld, next int64
}

func (l headLines) head(n int64) headLines { l.at += uint64(n * l.next * 4); return l }

// from is a matrix of all rows from a row on.
func (l headLines) from(row int64, op blas.CublasOperation_t) cublas.View {
	return cublas.View{Base: l.at + uint64(row*l.ld*4), LD: l.ld, Stride: l.next, Op: op}
}

// inPlace are a tensor's rows where they are: f32, every head whole, with the heads that share keys one behind another.
func (c *attention) inPlace(s side) (headLines, bool) {
	t, share := s.t, s.t.Dim[1]/c.headsK
	st := t.Stride
	whole := t.Type == F32 && s.ragged.At == 0 && s.lengths == 0 && (st[3] == 1 || t.Dim[3] == 1)
	if !whole || st[2] < t.Dim[3] || share > 1 && st[1] != t.Dim[2]*st[2] || c.batch > 1 && st[0] != t.Dim[1]*st[1] {
		return headLines{}, false
	}
	return headLines{t.Addr, max(st[2], 1), share * st[1]}, true
}

// side is a tensor of heads with what belongs to it, and its copy.
type side struct {
	t       Tensor
	ragged  Ragged
	lengths uint64
	at      uint64
}

// bring is where rows of a part are to be read: in the tensor, or in a copy.
func (c *attention) bring(s side, to headLines, p some) (headLines, error) {
	if l, ok := c.inPlace(s); ok {
		return l.head(p.first), nil
	}
	s.at = to.at
	share := s.t.Dim[1] / c.headsK
	return to, c.move("take_", s, p.first*share, p.n*share)
}

// target is where rows of a part are to be written: in the tensor, or beside it; then putBack takes them there.
func (c *attention) target(s side, beside headLines, p some) headLines {
	if l, ok := c.inPlace(s); ok {
		return l.head(p.first)
	}
	return beside
}

func (c *attention) putBack(s side, from headLines, p some) error {
	if _, ok := c.inPlace(s); ok {
		return nil
	}
	s.at = from.at
	share := s.t.Dim[1] / c.headsK
	return c.move("give_", s, p.first*share, p.n*share)
}

// move copies heads to f32 without gaps, or back: n heads from the first.
func (c *attention) move(name string, s side, first, n int64) error {
	var q shim.Params
	putHeads(&q, s.t, s.ragged)
	q.U32(uint32(s.t.Dim[1]), uint32(s.t.Dim[2]), uint32(s.t.Dim[3]), uint32(first)).U64(s.lengths, s.at).U32(uint32(n))
	return c.r.launch(attentionKernels, name+s.t.Type.String(), spread(over(n*s.t.Dim[2], rowsABlock)), oneWarp, &q)
}

// rowsABlock is how many rows a warp copies or makes probabilities of: a block for each would cost more than a short row.
const rowsABlock = 8
