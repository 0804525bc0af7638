package nn

import "slices"

// A convolution whose filter has one tap, of stride 1 and without padding, is a product of matrices: channels by positions.

// pixels is a tensor as a batch of matrices, channels by positions. Not ok: its positions are not one run with equal steps.
func pixels(t Tensor) (m Tensor, ok bool) {
	count, step := int64(1), int64(0)
	for d := len(t.Dim) - 1; d >= 2; d-- {
		switch {
		case t.Dim[d] == 1:
			continue
		case count == 1:
			step = t.Stride[d]
		case t.Stride[d] != count*step:
			return Tensor{}, false
		}
		count *= t.Dim[d]
	}
	m = Tensor{Addr: t.Addr, Type: t.Type, Dim: []int64{t.Dim[0], t.Dim[1], count}, Stride: []int64{t.Stride[0], t.Stride[1], max(step, 1)}}
	return m, m.denseMajor()
}

// denseMajor reports a matrix that is row-major or column-major: a product takes it without a copy.
func (t Tensor) denseMajor() bool { return rowMajor(t) || columns(t) }

// transposed is the transpose of matrices.
func transposed(m Tensor) Tensor {
	m.Dim, m.Stride = []int64{m.Dim[0], m.Dim[2], m.Dim[1]}, []int64{m.Stride[0], m.Stride[2], m.Stride[1]}
	return m
}

// mergeBatch makes one matrix of a batch whose images lie behind each other, or have one position each.
func mergeBatch(m Tensor) Tensor {
	if len(m.Dim) == 0 {
		return m
	}
	m.Dim, m.Stride = slices.Clone(m.Dim), slices.Clone(m.Stride)
	switch {
	case m.Dim[2] == 1:
		m.Stride[2] = m.Stride[0]
	case m.Stride[0] != m.Dim[2]*m.Stride[2]:
		return m
	}
	m.Dim[0], m.Dim[2] = 1, m.Dim[0]*m.Dim[2]
	return m
}

// convProduct is a convolution as a product.
type convProduct struct{ x, w, y Tensor }

// fewPositions of an image, and a filter of more elements than smallFilter, are no product for each of many images: it would be packed for
// every one.
const (
	fewPositions = 128
	smallFilter  = 256 << 10
)

// fast reports a product that is faster than the kernels of convolutions, which pack the filter once for all images.
func (p *convProduct) fast() bool {
	return p.x.Dim[0] == 1 || p.x.Dim[2] >= fewPositions || p.w.Count() <= smallFilter
}

// product is the matrices of a convolution that is one, of types that products take as they are.
func (s *convShape) product() (p convProduct, ok bool) {
	if s.groups != 1 || s.x.Type != s.w.Type || s.x.Type != s.y.Type || s.elem != F32 && s.elem != F64 || productTypes[s.x.Type].writes == nil {
		return p, false
	}
	for _, a := range s.axes {
		if a.filter != 1 || a.stride != 1 || a.pad != 0 {
			return p, false
		}
	}
	if p.x, ok = pixels(s.x); ok {
		p.y, ok = pixels(s.y)
	}
	if x, y := mergeBatch(p.x), mergeBatch(p.y); ok && x.Dim[0] == y.Dim[0] && x.denseMajor() && y.denseMajor() {
		p.x, p.y = x, y
	}
	p.w = Tensor{Addr: s.w.Addr, Type: s.w.Type, Dim: []int64{1, s.k, s.c}, Stride: []int64{s.k * s.w.Stride[0], s.w.Stride[0], s.w.Stride[1]}}
	return p, ok && p.w.denseMajor()
}

// productFilter adds the products of the images up: where they are several, in the type of the sums.
func (r *Run) productFilter(p convProduct, scale Scale) error {
	for n := range p.x.Dim[0] {
		if err := r.Matmul(p.y.At(0, n, 1), transposed(p.x.At(0, n, 1)), p.w, scale); err != nil {
			return err
		}
		scale.Beta = 1
	}
	return nil
}
