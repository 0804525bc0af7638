package nn

import "kudzu/internal/shim"

// RNNGradients are those of the states after the last step and before the first; 0: zeros, or not wanted.
type RNNGradients struct{ H, C, HOut, COut uint64 }

// BackwardData makes the gradient dx of the inputs of that of the results, dy, and leaves what Weights needs in the reserve.
func (n *RNN) BackwardData(r *Run, s Sequences, dy, dx uint64, g RNNGradients, weights, reserve uint64) error {
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
	wide := n.Dirs * n.Proj
	p.U64(dy, uint64(wide), q.dy).U32(uint32(n.Type))
	if err := q.do("rnnGather", q.rows()*wide, &p); err != nil {
		return err
	}
	for l := n.Layers - 1; l >= 0; l-- {
		for d := range n.Dirs {
			if err := q.backward(l, d, g); err != nil {
				return err
			}
		}
		if mask := q.layers[l].mask; mask != 0 {
			x := Make(q.dx, q.sum, q.rows(), n.input(l))
			if err := q.Undrop(n.Drop, mask, x, x); err != nil {
				return err
			}
		}
		q.dy, q.dx = q.dx, q.dy
	}
	zero := 0.0
	return q.scatter(q.dy, n.In, dx, n.In, 0, &zero)
}

// backward is one layer in one direction.
func (q *rnnRun) backward(layer, dir int64, g RNNGradients) error {
	pseudo := layer*q.Dirs + dir
	p, w, in, wide, b := &q.passes[pseudo], q.parts(pseudo), q.input(layer), q.RNN.gates(), q.seq.Batch
	if err := q.widen(q.each(g.HOut, pseudo, q.Proj), q.state, b*q.Proj); err != nil {
		return err
	}
	if err := q.widen(q.each(g.COut, pseudo, q.Hidden), q.dc, b*q.Hidden); err != nil {
		return err
	}
	if err := q.times(1-dir, func(t int64) error { return q.stepBack(layer, dir, t) }); err != nil {
		return err
	}
	if err := q.narrow(q.state, q.each(g.H, pseudo, q.Proj), b*q.Proj, false); err != nil {
		return err
	}
	if err := q.narrow(q.dc, q.each(g.C, pseudo, q.Hidden), b*q.Hidden, false); err != nil {
		return err
	}
	beta := float64(dir) // the second direction adds to what the first gave
	if w.w.Rows > 0 {
		return q.multiply(q.rows(), in, wide, table{at: p.dx, width: wide}, table{at: q.weight(w.w), width: in}, beta, table{at: q.dx, width: in})
	}
	sums := new(shim.Params).U64(p.dx, uint64(q.rows()), uint64(q.Cell.Gates()), uint64(q.Hidden), q.xg)
	if err := q.do("rnnFolded", q.rows()*q.Hidden, sums); err != nil {
		return err
	}
	add := new(shim.Params).U64(q.xg, uint64(in), 0, q.dx, uint64(in), 0, uint64(in), uint64(q.rows())).U32(uint32(dir))
	return q.do("rnnJoin", q.rows()*in, add)
}

// stepBack is one time.
func (q *rnnRun) stepBack(layer, dir, t int64) error {
	p, w, g, b := &q.passes[layer*q.Dirs+dir], q.parts(layer*q.Dirs+dir), q.RNN.gates(), q.seq.Batch
	at := func(x uint64, width int64) uint64 { return x + uint64(t*b*width*q.size) }
	total, dh := q.total, q.total
	if p.full != 0 {
		total, dh = at(p.d, q.Proj), q.dh
	}
	var c shim.Params
	c.U64(q.dy, uint64(q.Dirs*q.Proj), uint64(dir*q.Proj), q.state, total, q.length, uint64(t), uint64(b), uint64(q.Proj))
	if err := q.do("rnnCarry", b*q.Proj, &c); err != nil {
		return err
	}
	if p.full != 0 {
		err := q.multiply(b, q.Hidden, q.Proj, table{at: total, width: q.Proj}, table{at: q.weight(w.p), width: q.Hidden}, 0, table{at: dh, width: q.Hidden})
		if err != nil {
			return err
		}
	}
	before, _ := q.around(p.s, t, dir, q.Proj)
	cBefore, cAfter := q.around(p.c, t, dir, q.Hidden)
	var k shim.Params
	k.U64(dh, at(p.gates, g), at(p.hn, q.Hidden), before, cBefore, cAfter, q.state, q.dc, at(p.dx, g), at(p.dr, g), q.length)
	k.U64(uint64(b), uint64(q.Hidden), uint64(t)).U32(uint32(q.Cell), flag(q.Clip)).F64(q.Low, q.High)
	if err := q.do("rnnBack", b*q.Hidden, &k); err != nil {
		return err
	}
	return q.multiply(b, q.Proj, g, table{at: at(p.dr, g), width: g}, table{at: q.weight(w.r), width: q.Proj}, 1, table{at: q.state, width: q.Proj})
}

// BackwardWeights adds the gradients of the weights to dw, or puts them there, of what BackwardData left in the reserve.
func (n *RNN) BackwardWeights(r *Run, s Sequences, dw, reserve uint64, add bool) error {
	q := n.start(r, s)
	done, err := q.begin(reserve)
	if err != nil {
		return err
	}
	defer done()
	own := n.Type != q.sum // gradients in a program's type are made of a copy
	if !own {
		q.grads = dw
	}
	for pseudo := range n.Layers * n.Dirs {
		if err := q.weightsOf(pseudo, add && !own); err != nil {
			return err
		}
	}
	if !own {
		return nil
	}
	return q.narrow(q.grads, dw, n.Weights(), add)
}

// weightsOf are the gradients of one layer in one direction, or with add their sums with what is there.
func (q *rnnRun) weightsOf(pseudo int64, add bool) error {
	beta := float64(flag(add))
	layer, dir := pseudo/q.Dirs, pseudo%q.Dirs
	p, w, in, g := &q.passes[pseudo], q.parts(pseudo), q.input(layer), q.RNN.gates()
	to := func(x Piece) table { return table{at: q.grads + uint64(x.At*q.size), width: x.Cols} }
	if w.w.Rows > 0 {
		if err := q.multiply(g, in, q.rows(), table{p.dx, g, true}, table{at: q.layers[layer].x, width: in}, beta, to(w.w)); err != nil {
			return err
		}
	}
	before, _ := q.around(p.s, 0, dir, q.Proj)
	if err := q.multiply(g, q.Proj, q.rows(), table{p.dr, g, true}, table{at: before, width: q.Proj}, beta, to(w.r)); err != nil {
		return err
	}
	if p.full != 0 {
		if err := q.multiply(q.Proj, q.Hidden, q.rows(), table{p.d, q.Proj, true}, table{at: p.full, width: q.Hidden}, beta, to(w.p)); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		bias Piece
		from uint64
	}{{w.bias, p.dx}, {w.biasR, p.dr}} {
		if x.bias.Rows == 0 {
			continue
		}
		if err := q.do("rnnColumns", g, new(shim.Params).U64(x.from, uint64(q.rows()), uint64(g), to(x.bias).at).U32(flag(add))); err != nil {
			return err
		}
	}
	return nil
}
