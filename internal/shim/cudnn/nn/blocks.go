package nn

import (
	"slices"

	"kudzu/internal/shim"
)

var blockKernels = module("block scales", "blocks")

// Blocks are a tensor of few bits, of which blocks share a factor, and the wide one that it stands for.
type Blocks struct {
	Wide, Few, Scale Tensor
	Block            []int64 // sizes of a block along each axis
	Tiled            bool    // the factors lie in tiles of 128 × 4
	Axis             int     // along which a block has its elements, and a matrix of factors its columns
}

// counts are how many blocks there are along each axis.
func (b *Blocks) counts() []int64 {
	n := make([]int64, len(b.Wide.Dim))
	for d := range n {
		n[d] = over(b.Wide.Dim[d], b.Block[d])
	}
	return n
}

// row is the axis of the rows of a matrix of factors: the one that lies closest beside that of the blocks.
func (b *Blocks) row() int {
	row := -1
	for d, n := range b.Few.Dim {
		if d != b.Axis && n > 1 && (row < 0 || b.Few.Stride[d] < b.Few.Stride[row]) {
			row = d
		}
	}
	if row < 0 {
		row = (b.Axis + 1) % len(b.Few.Dim)
	}
	return row
}

// matrix are the tiles of a matrix of factors: down and across.
func (b *Blocks) matrix() (down, across int64) {
	n := b.counts()
	return over(n[b.row()], 128), over(n[b.Axis], 4)
}

// Fits reports a tensor of factors that has one for every block. Tiles may be counted in its sizes or not.
func (b *Blocks) Fits() bool {
	n := b.counts()
	if slices.Equal(b.Scale.Dim, n) {
		return true
	}
	if !b.Tiled || len(n) < 2 {
		return false
	}
	down, across := b.matrix()
	n[b.row()], n[b.Axis] = 128*down, 4*across
	return slices.Equal(b.Scale.Dim, n)
}

// put lays out a Blocks of kernels/blocks.cu over some sizes.
func (b *Blocks) put(q *shim.Params, sizes []int64) {
	scale := b.Scale
	var row, across, tiles int64
	if b.Tiled {
		row = int64(b.row())
		down, a := b.matrix()
		across, tiles = a, down*a
		// Matrices lie one after another.
		scale.Stride = make([]int64, len(sizes))
		n, by := b.counts(), int64(1)
		for d := len(n) - 1; d >= 0; d-- {
			if d != b.Axis && d != int(row) {
				scale.Stride[d] = by
				by *= n[d]
			}
		}
	}
	putSizes(q, sizes)
	for _, t := range []Tensor{b.Wide, b.Few, scale} {
		putStrided(q, t)
	}
	putSides(q, b.Block)
	q.U32(uint32(b.Wide.Type), uint32(b.Few.Type), uint32(scale.Type), uint32(b.Axis), flag(b.Tiled), uint32(row), uint32(b.Axis), uint32(across))
	q.U64(uint64(tiles), uint64(b.Wide.Dim[b.Axis]), uint64(product64(sizes)))
}

// Takes says why blocks cannot be taken apart.
func (b *Blocks) Takes() error {
	n := len(b.Wide.Dim)
	if !SameShape(b.Wide, b.Few) || len(b.Block) != n || b.Axis < 0 || b.Axis >= n || b.Tiled && n < 2 || slices.ContainsFunc(b.Block, func(s int64) bool { return s < 1 }) || !b.Fits() {
		return ErrShape
	}
	for _, t := range []Tensor{b.Wide, b.Few, b.Scale} {
		if err := t.Check(); err != nil {
			return err
		}
	}
	if !b.Wide.Type.Float() || b.Wide.Type.Size() < 2 || !b.Scale.Type.Float() || b.Scale.Type == E2M1 {
		return ErrUnsupported
	}
	return nil
}

// Dequantise computes the wide tensor.
func (r *Run) Dequantise(b Blocks) error {
	if err := b.Takes(); err != nil || b.Wide.Empty() {
		return err
	}
	var q shim.Params
	b.put(&q, b.Wide.Dim)
	return r.launch(blockKernels, "dequantise", spread(over(b.Wide.Count(), 8*warp)), oneWarp, &q)
}

// Quantise computes the tensor of few bits and the factors.
func (r *Run) Quantise(b Blocks) error {
	if err := b.Quantises(); err != nil || b.Wide.Empty() {
		return err
	}
	var q shim.Params
	sizes := b.counts()
	b.put(&q, sizes)
	return r.launch(blockKernels, "quantise", threads(product64(sizes)), oneWarp, &q)
}

// Quantises says why blocks cannot be made. Those of four bits lie without gaps, and begin at whole bytes.
func (b *Blocks) Quantises() error {
	if err := b.Takes(); err != nil {
		return err
	}
	if b.Scale.Type != E8M0 && b.Scale.Type != E4M3 || !slices.Contains([]Elem{E4M3, E5M2, E2M1}, b.Few.Type) {
		return ErrUnsupported
	}
	for d, n := range b.Block {
		if n != 1 && d != b.Axis {
			return ErrUnsupported
		}
	}
	if b.Few.Type != E2M1 || b.Few.Empty() {
		return nil
	}
	for d, s := range b.Few.Stride {
		if b.Few.Dim[d] > 1 && (d == b.Axis && s != 1 || d != b.Axis && s%2 != 0) {
			return ErrUnsupported
		}
	}
	if b.Block[b.Axis]%2 != 0 {
		return ErrUnsupported
	}
	return nil
}
