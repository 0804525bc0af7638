package nn

import "kudzu/internal/shim"

// BackwardData makes the gradients of queries, keys and values, and keeps in the reserve what BackwardWeights needs.
func (h *HeadsRun) BackwardData(dout uint64, x, dx [3]uint64) error {
	if err := h.begin(); err != nil {
		return err
	}
	if err := h.project(x); err != nil {
		return err
	}
	if err := h.attend(); err != nil {
		return err
	}
	rows, sum := h.Queries.count(), h.Type.Sum()
	if err := h.rows(dout, h.Type, h.result, sum, h.Out()); err != nil {
		return err
	}
	dz := h.result
	if h.Proj[headOut] > 0 {
		dz = h.dz
		if err := h.Matmul(Make(h.result, sum, rows, h.Out()), turnedMatrix(h.matrix(headOut, h.WeightsAt)), Make(dz, sum, rows, h.N*h.size(headValue)), Plain); err != nil {
			return err
		}
	}
	if err := h.parts(dz); err != nil {
		return err
	}
	for i := range dx {
		if err := h.unproject(i, dx[i]); err != nil {
			return err
		}
	}
	return nil
}

// parts makes the gradients of the parts of the heads.
func (h *HeadsRun) parts(dz uint64) error {
	err := h.kernel("headsBackQuery", h.Queries.count()*h.N, func(q *shim.Params) {
		h.input(q, headKey)
		h.input(q, headValue)
		q.U64(h.p, h.slope)
		h.of(q, dz, h.size(headValue), false)
		h.of(q, h.grad[headQuery], h.size(headQuery), false)
	})
	if err != nil {
		return err
	}
	return h.kernel("headsBackKey", h.Keys.count()*h.N, func(q *shim.Params) {
		h.input(q, headQuery)
		q.U64(h.p, h.slope)
		h.of(q, dz, h.size(headValue), false)
		h.of(q, h.grad[headKey], h.size(headKey), false)
		h.of(q, h.grad[headValue], h.size(headValue), false)
	})
}

// unproject makes the gradient of what was projected. Without a projection all heads had the same.
func (h *HeadsRun) unproject(i int, dx uint64) error {
	rows := h.inputRows(i)
	if h.Proj[i] == 0 {
		return h.sum(h.grad[i], rows, h.N, h.In[i], h.In[i], dx, h.Type, false)
	}
	from := Make(h.grad[i], h.Type.Sum(), rows, h.N*h.Proj[i])
	return h.Matmul(from, turnedMatrix(h.matrix(i, h.WeightsAt)), Make(dx, h.Type, rows, h.In[i]), Plain)
}

func (h *HeadsRun) inputRows(i int) int64 {
	if i == headQuery {
		return h.Queries.count()
	}
	return h.Keys.count()
}

// BackwardWeights makes the gradients of the weights of what BackwardData left in the reserve, or adds them to what is there.
func (h *HeadsRun) BackwardWeights(x [3]uint64, dw uint64, add bool) error {
	if err := h.begin(); err != nil {
		return err
	}
	s, sum := Plain, h.Type.Sum()
	if add {
		s.Beta = 1
	}
	for i := range h.Proj {
		if h.Proj[i] == 0 {
			continue
		}
		rows, width := h.Queries.count(), h.Out()
		from, grad := Make(h.z, sum, rows, h.N*h.size(headValue)), h.result
		if i != headOut {
			rows, width = h.inputRows(i), h.N*h.Proj[i]
			from, grad = Make(x[i], h.Type, rows, h.In[i]), h.grad[i]
		}
		if err := h.Matmul(turnedMatrix(from), Make(grad, sum, rows, width), h.matrix(i, dw), s); err != nil {
			return err
		}
		if !h.Bias {
			continue
		}
		at := dw + uint64(h.Weight(4+i).At*h.Type.Size())
		if err := h.sum(grad, 1, rows, width, width, at, h.Type, add); err != nil {
			return err
		}
	}
	return nil
}
