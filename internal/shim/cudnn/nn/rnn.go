package nn

import (
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

var rnnKernels = module("recurrent networks", "rnn")

// RNNCell is what a network is made of.
type RNNCell uint32

// The cells.
const (
	CellReLU RNNCell = iota
	CellTanh
	CellLSTM
	CellGRU
)

// Gates is how many products with an input a cell has.
func (c RNNCell) Gates() int64 { return [...]int64{1, 1, 4, 3}[c] }

// RNN is a recurrent network: layers one upon another, each in one direction or two.
type RNN struct {
	Cell         RNNCell
	Type         Elem
	Layers, Dirs int64
	In           int64 // the size of an input
	Hidden       int64
	Proj         int64 // the size of a state: Hidden, unless it is projected
	Skip         bool  // the first layer's input has no matrix
	Bias, BiasR  bool  // of the products with inputs, and with states

	Clip      bool // LSTM's cells are read as between Low and High
	Low, High float64
	Drop      float64 // of the inputs of all layers but the first
	State     uint64  // of dropout
}

// input is the size of the input of a layer.
func (n *RNN) input(layer int64) int64 {
	if layer == 0 {
		return n.In
	}
	return n.Dirs * n.Proj
}

// Piece is a matrix or a bias in the memory of the weights, in elements. One that has no rows is none.
type Piece struct{ At, Rows, Cols int64 }

// parts are those of one layer in one direction, whose gates lie one behind another.
type parts struct{ w, r, p, bias, biasR Piece }

func (n *RNN) gates() int64 { return n.Cell.Gates() * n.Hidden }

// parts finds those of a pseudo-layer: a layer and a direction. The matrices of all come before the biases of all.
func (n *RNN) parts(pseudo int64) parts {
	at := int64(0)
	var q parts
	for i := range n.Layers * n.Dirs {
		q = parts{w: Piece{at, n.gates(), n.input(i / n.Dirs)}}
		if n.Skip && i < n.Dirs {
			q.w.Rows = 0
		}
		q.r = Piece{q.w.end(), n.gates(), n.Proj}
		q.p = Piece{q.r.end(), n.Proj, n.Hidden}
		if n.Proj == n.Hidden {
			q.p.Rows = 0
		}
		at = q.p.end()
		if i == pseudo {
			break
		}
	}
	count := int64(0)
	for _, has := range []bool{n.Bias, n.BiasR} {
		if has {
			count++
		}
	}
	at = n.matrices() + pseudo*count*n.gates()
	if n.Bias {
		q.bias = Piece{at, n.gates(), 1}
		at = q.bias.end()
	}
	if n.BiasR {
		q.biasR = Piece{at, n.gates(), 1}
	}
	return q
}

func (p Piece) end() int64 { return p.At + p.Rows*p.Cols }

// matrices is how many elements all of them have.
func (n *RNN) matrices() int64 {
	sum := int64(0)
	for i := range n.Layers * n.Dirs {
		if !n.Skip || i >= n.Dirs {
			sum += n.gates() * n.input(i/n.Dirs)
		}
		sum += n.gates() * n.Proj
		if n.Proj != n.Hidden {
			sum += n.Proj * n.Hidden
		}
	}
	return sum
}

// Weights is how many elements the weights have.
func (n *RNN) Weights() int64 {
	count := n.matrices()
	for _, has := range []bool{n.Bias, n.BiasR} {
		if has {
			count += n.Layers * n.Dirs * n.gates()
		}
	}
	return count
}

// Weight is the matrix and the bias with a number in a pseudo-layer: those for inputs, those for states, the projection.
func (n *RNN) Weight(pseudo, number int64) (matrix, bias Piece) {
	q, g, h := n.parts(pseudo), n.Cell.Gates(), n.Hidden
	of := func(p Piece, i int64) Piece {
		if p.Rows == 0 {
			return Piece{}
		}
		return Piece{p.At + i*h*p.Cols, h, p.Cols}
	}
	switch {
	case number < g:
		return of(q.w, number), of(q.bias, number)
	case number < 2*g:
		return of(q.r, number-g), of(q.biasR, number-g)
	case number == 2*g && q.p.Rows > 0:
		return q.p, Piece{}
	}
	return Piece{}, Piece{}
}

// Sequences are those of a batch, and how they lie in memory.
type Sequences struct {
	Time, Batch int64
	Length      []int64
	Packed      bool // the vectors of one time behind each other, without gaps
	BatchFirst  bool
	Fill        *float64 // what stands after the end of a sequence of the result; nil: nothing is written
}

// rnnRun is one pass through a network.
type rnnRun struct {
	*Run
	*RNN
	seq    Sequences
	suffix string
	sum    Elem  // what is computed with
	size   int64 // of an element of it

	layers []rnnLayer
	passes []rnnPass

	weights       uint64 // in the type of the sums
	length, first uint64
	xg, hg        uint64
	dy, dx        uint64
	state, dc     uint64
	dh, total     uint64
	grads         uint64
}

// rnnLayer is what is kept of a layer: its input, and what of it was dropped.
type rnnLayer struct{ x, mask uint64 }

// rnnPass is what is kept of a layer in one direction.
type rnnPass struct {
	gates, hn, s, c, full uint64
	dx, dr, d             uint64
}

// region hands out memory.
type region struct{ at, begin uint64 }

func (g *region) take(n int64) uint64 {
	at := g.at
	g.at += uint64(round256(n))
	return at
}

func (g *region) used() int64 { return int64(g.at - g.begin) }

// rows is how many vectors there are, those after the end of their sequence too.
func (q *rnnRun) rows() int64 { return q.seq.Time * q.seq.Batch }

// kept lays out what the gradients need.
func (q *rnnRun) kept(g *region) {
	q.layers, q.passes = make([]rnnLayer, q.Layers), make([]rnnPass, q.Layers*q.Dirs)
	of := func(n int64) uint64 { return g.take(n * q.size) }
	rows, states := q.rows(), q.rows()+q.seq.Batch
	for l := range q.layers {
		q.layers[l].x = of(rows * q.input(int64(l)))
		if q.Drop > 0 && l > 0 {
			q.layers[l].mask = g.take(DropoutMask(rows * q.input(int64(l))))
		}
	}
	for i := range q.passes {
		p := &q.passes[i]
		p.gates, p.s = of(rows*q.RNN.gates()), of(states*q.Proj)
		p.dx = of(rows * q.RNN.gates())
		p.dr = p.dx
		switch q.Cell {
		case CellLSTM:
			p.c = of(states * q.Hidden)
		case CellGRU:
			p.hn, p.dr = of(rows*q.Hidden), of(rows*q.RNN.gates())
		case CellReLU, CellTanh:
		}
		if q.Proj != q.Hidden {
			p.full, p.d = of(rows*q.Hidden), of(rows*q.Proj)
		}
	}
}

// work lays out what is forgotten.
func (q *rnnRun) work(g *region) {
	of := func(n int64) uint64 { return g.take(n * q.size) }
	rows, b := q.rows(), q.seq.Batch
	q.length, q.first = g.take(4*b), g.take(4*(q.seq.Time+1))
	q.weights = of(q.Weights())
	q.grads = q.weights // of the weights: where they are computed, the weights are not read
	q.xg, q.hg = of(rows*q.RNN.gates()), of(b*q.RNN.gates())
	wide := max(q.In, q.Dirs*q.Proj)
	q.dy, q.dx = of(rows*wide), of(rows*wide)
	q.state, q.dc = of(b*q.Proj), of(b*q.Hidden)
	q.dh, q.total = of(b*q.Hidden), of(b*q.Proj)
}

func (n *RNN) start(r *Run, s Sequences) *rnnRun {
	q := &rnnRun{Run: r, RNN: n, seq: s, suffix: "F32", sum: F32, size: 4}
	if n.Type == F64 {
		q.suffix, q.sum, q.size = "F64", F64, 8
	}
	return q
}

// Memory is what passes take: what is forgotten after each, and what is kept from a training pass for the gradients.
func (n *RNN) Memory(s Sequences, train bool) (work, reserve int64) {
	q := n.start(nil, s)
	var w, k region
	q.work(&w)
	q.kept(&k)
	if train {
		return w.used(), k.used()
	}
	return w.used() + k.used(), 0
}

// begin lays memory out. Without a reserve, all of it is forgotten.
func (q *rnnRun) begin(reserve uint64) (done func(), err error) {
	work, _ := q.Memory(q.seq, reserve != 0)
	at, done, err := q.scratch(work)
	if err != nil {
		return nil, err
	}
	g := region{at, at}
	q.work(&g)
	if reserve != 0 {
		g = region{reserve, reserve}
	}
	q.kept(&g)
	if err := q.words(q.length, q.seq.Length); err != nil {
		done()
		return nil, err
	}
	if q.seq.Packed {
		first := make([]int64, q.seq.Time+1)
		for _, l := range q.seq.Length {
			for t := range l {
				first[t+1]++
			}
		}
		for t := range q.seq.Time {
			first[t+1] += first[t]
		}
		err = q.words(q.first, first)
	} else {
		q.first = 0
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// wordsAtOnce is how many numbers one launch brings: WORDS in kernels/rnn.cu.
const wordsAtOnce = 512

// words puts numbers on the device, in the order of the stream.
func (r *Run) words(at uint64, v []int64) error {
	for from := 0; from < len(v); from += wordsAtOnce {
		var p shim.Params
		part := v[from:min(from+wordsAtOnce, len(v))]
		for i := range wordsAtOnce {
			if i < len(part) {
				p.U32(uint32(part[i]))
			} else {
				p.U32(0)
			}
		}
		p.U64(at + uint64(4*from)).U32(uint32(len(part)))
		if err := r.launch(rnnKernels, "rnnWords", [3]uint32{1, 1, 1}, oneWarp, &p); err != nil {
			return err
		}
	}
	return nil
}

func (q *rnnRun) do(name string, n int64, p *shim.Params) error {
	return q.launch(rnnKernels, name+q.suffix, threads(n), oneWarp, p)
}

// putBatch appends a Batch of kernels/rnn.cu.
func (q *rnnRun) putBatch(p *shim.Params) {
	ofTime, ofBatch := q.seq.Batch, int64(1)
	if q.seq.BatchFirst {
		ofTime, ofBatch = 1, q.seq.Time
	}
	p.U64(q.length, q.first, uint64(q.seq.Time), uint64(q.seq.Batch), uint64(ofTime), uint64(ofBatch))
}

// table is a matrix in rows; turned, its transpose is meant.
type table struct {
	at     uint64
	width  int64 // elements from row to row
	turned bool
}

// multiply is c = a·b + beta·c with m rows, n columns and sums of k.
func (q *rnnRun) multiply(m, n, k int64, a, b table, beta float64, c table) error {
	if m == 0 || n == 0 {
		return nil
	}
	view := func(x table) cublas.View {
		v := cublas.View{Base: x.at, LD: max(x.width, 1), Op: blas.CUBLAS_OP_N}
		if x.turned {
			v.Op = blas.CUBLAS_OP_T
		}
		return v
	}
	e := cublas.F32
	if q.sum == F64 {
		e = cublas.F64
	}
	// A matrix in rows is the transpose of one in columns: c' = b'·a'.
	return q.product(&cublas.Product{M: n, N: m, K: k, Batch: 1, A: view(b), B: view(a), C: view(c), TA: e, TC: e, Sum: e,
		Alpha: cublas.Scalar{Re: 1}, Beta: cublas.Scalar{Re: beta}})
}
