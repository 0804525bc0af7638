package nn

import "kudzu/internal/shim"

// RNNStates are the states before the first step and after the last, of all layers and directions; 0: zeros, or not wanted.
type RNNStates struct{ H, C, HOut, COut uint64 }

// Forward runs sequences through the network. With a reserve, what the gradients need is left there.
func (n *RNN) Forward(r *Run, s Sequences, x, y uint64, states RNNStates, weights, reserve uint64) error {
	q := n.start(r, s)
	done, err := q.begin(reserve)
	if err != nil {
		return err
	}
	defer done()
	if err := q.bringWeights(weights); err != nil {
		return err
	}
	var p shim.Params
	q.putBatch(&p)
	p.U64(x, uint64(n.In), q.layers[0].x).U32(uint32(n.Type))
	if err := q.do("rnnGather", q.rows()*n.In, &p); err != nil {
		return err
	}
	for l := range n.Layers {
		for d := range n.Dirs {
			if err := q.forward(l, d, states); err != nil {
				return err
			}
		}
		if l+1 < n.Layers {
			if err := q.handOn(l, reserve != 0); err != nil {
				return err
			}
		}
	}
	for d := range n.Dirs {
		if err := q.scatter(q.output(n.Layers-1, d), n.Proj, y, n.Dirs*n.Proj, d*n.Proj, s.Fill); err != nil {
			return err
		}
	}
	return nil
}

// bringWeights takes a program's weights as they are, or a copy to compute with.
func (q *rnnRun) bringWeights(at uint64) error {
	if q.Type == q.sum {
		q.weights = at
		return nil
	}
	return q.widen(at, q.weights, q.Weights())
}

// widen makes numbers of a program ones to compute with. From nowhere come zeros.
func (q *rnnRun) widen(from, to uint64, n int64) error {
	return q.do("rnnWidened", n, new(shim.Params).U64(from, to, uint64(n)).U32(uint32(q.Type)))
}

// narrow is the other way round. What is not wanted goes nowhere.
func (q *rnnRun) narrow(from, to uint64, n int64, add bool) error {
	if to == 0 {
		return nil
	}
	return q.do("rnnNarrowed", n, new(shim.Params).U64(from, to, uint64(n)).U32(uint32(q.Type), flag(add)))
}

// scatter makes sequences of rows.
func (q *rnnRun) scatter(from uint64, width int64, to uint64, whole, part int64, fill *float64) error {
	var p shim.Params
	q.putBatch(&p)
	p.U64(from, uint64(width), to, uint64(whole), uint64(part))
	v := 0.0
	if fill != nil {
		v = *fill
	}
	p.F64(v).U32(flag(fill != nil), 0, uint32(q.Type))
	return q.do("rnnScatter", q.rows()*width, &p)
}

// output are the states after each time of a layer in a direction: those before and after a step lie one behind another in the order
// of times, with the first state at one end.
func (q *rnnRun) output(layer, dir int64) uint64 {
	s := q.passes[layer*q.Dirs+dir].s
	if dir == 0 {
		return s + uint64(q.seq.Batch*q.Proj*q.size)
	}
	return s
}

// around is where states of a width before and after the step at time t are.
func (q *rnnRun) around(states uint64, t, dir, width int64) (before, after uint64) {
	step := uint64(q.seq.Batch * width * q.size)
	before, after = states+uint64(t)*step, states+uint64(t+1)*step
	if dir == 1 {
		before, after = after, before
	}
	return before, after
}

// times are those of a direction, in its order.
func (q *rnnRun) times(dir int64, f func(t int64) error) error {
	for i := range q.seq.Time {
		t := i
		if dir == 1 {
			t = q.seq.Time - 1 - i
		}
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

// ends are where the first state and the last of a direction are.
func (q *rnnRun) ends(states uint64, dir, width int64) (first, last uint64) {
	end := states + uint64(q.rows()*width*q.size)
	if dir == 1 {
		return end, states
	}
	return states, end
}

// each is where the states of a pseudo-layer are in a program's memory.
func (q *rnnRun) each(at uint64, pseudo, width int64) uint64 {
	if at == 0 {
		return 0
	}
	return at + uint64(pseudo*q.seq.Batch*width*q.Type.Size())
}

// weight is where a piece of the weights is; 0: there is none.
func (q *rnnRun) weight(p Piece) uint64 {
	if p.Rows == 0 {
		return 0
	}
	return q.weights + uint64(p.At*q.size)
}

// forward is one layer in one direction.
func (q *rnnRun) forward(layer, dir int64, states RNNStates) error {
	pseudo := layer*q.Dirs + dir
	p, w, in, g, b := &q.passes[pseudo], q.parts(pseudo), q.input(layer), q.RNN.gates(), q.seq.Batch
	first, last := q.ends(p.s, dir, q.Proj)
	if err := q.widen(q.each(states.H, pseudo, q.Proj), first, b*q.Proj); err != nil {
		return err
	}
	if q.Cell == CellLSTM {
		at, _ := q.ends(p.c, dir, q.Hidden)
		if err := q.widen(q.each(states.C, pseudo, q.Hidden), at, b*q.Hidden); err != nil {
			return err
		}
	}
	if w.w.Rows > 0 {
		err := q.multiply(q.rows(), g, in, table{at: q.layers[layer].x, width: in}, table{q.weight(w.w), in, true}, 0, table{at: q.xg, width: g})
		if err != nil {
			return err
		}
	}
	if err := q.times(dir, func(t int64) error { return q.step(layer, dir, t) }); err != nil {
		return err
	}
	if err := q.narrow(last, q.each(states.HOut, pseudo, q.Proj), b*q.Proj, false); err != nil {
		return err
	}
	if q.Cell != CellLSTM {
		return nil
	}
	_, at := q.ends(p.c, dir, q.Hidden)
	return q.narrow(at, q.each(states.COut, pseudo, q.Hidden), b*q.Hidden, false)
}

// step is one time.
func (q *rnnRun) step(layer, dir, t int64) error {
	p, w, g, b := &q.passes[layer*q.Dirs+dir], q.parts(layer*q.Dirs+dir), q.RNN.gates(), q.seq.Batch
	before, after := q.around(p.s, t, dir, q.Proj)
	if err := q.multiply(b, g, q.Proj, table{at: before, width: q.Proj}, table{q.weight(w.r), q.Proj, true}, 0, table{at: q.hg, width: g}); err != nil {
		return err
	}
	at := func(x uint64, width int64) uint64 { return x + uint64(t*b*width*q.size) }
	x := at(q.xg, g)
	if w.w.Rows == 0 {
		x = at(q.layers[layer].x, q.Hidden)
	}
	h := after
	if p.full != 0 {
		h = at(p.full, q.Hidden)
	}
	var c shim.Params
	c.U64(x, q.hg, q.weight(w.bias), q.weight(w.biasR), before)
	cBefore, cAfter := q.around(p.c, t, dir, q.Hidden)
	c.U64(cBefore, h, cAfter, at(p.gates, g), at(p.hn, q.Hidden), q.length, uint64(b), uint64(q.Hidden), uint64(t))
	c.U32(uint32(q.Cell), flag(w.w.Rows == 0), flag(p.full != 0), flag(q.Clip)).F64(q.Low, q.High)
	if err := q.do("rnnStep", b*q.Hidden, &c); err != nil || p.full == 0 {
		return err
	}
	err := q.multiply(b, q.Proj, q.Hidden, table{at: h, width: q.Hidden}, table{q.weight(w.p), q.Hidden, true}, 0, table{at: after, width: q.Proj})
	if err != nil {
		return err
	}
	return q.do("rnnKeep", b*q.Proj, new(shim.Params).U64(before, after, q.length, uint64(t), uint64(b), uint64(q.Proj)))
}

// join copies parts of rows.
func (q *rnnRun) join(from uint64, fromWidth, fromAt int64, to uint64, toWidth, toAt, width int64) error {
	var p shim.Params
	p.U64(from, uint64(fromWidth), uint64(fromAt), to, uint64(toWidth), uint64(toAt), uint64(width), uint64(q.rows())).U32(0)
	return q.do("rnnJoin", q.rows()*width, &p)
}

// handOn makes the input of the next layer.
func (q *rnnRun) handOn(layer int64, train bool) error {
	next, wide := q.layers[layer+1], q.Dirs*q.Proj
	for d := range q.Dirs {
		if err := q.join(q.output(layer, d), q.Proj, 0, next.x, wide, d*q.Proj, q.Proj); err != nil {
			return err
		}
	}
	if next.mask == 0 || !train {
		return nil
	}
	x := Make(next.x, q.sum, q.rows(), wide)
	return q.Dropout(q.Drop, q.State, next.mask, x, x)
}
