package nn

import "kudzu/internal/shim"

var headsKernels = module("attention of several heads", "heads")

// The four matrices of Heads, and their places in its lists.
const (
	headQuery = iota
	headKey
	headValue
	headOut
)

// Heads is attention of N heads: queries, keys and values are projected for each, and what the heads give is projected together.
type Heads struct {
	Type  Elem
	N     int64
	Scale float64
	In    [3]int64 // sizes of queries, keys, values
	Proj  [4]int64 // the same in a head, and that of the result; 0 is no projection: all heads have the whole vector
	Bias  bool
}

// size is that of queries, keys or values in a head.
func (h *Heads) size(i int) int64 {
	if h.Proj[i] > 0 {
		return h.Proj[i]
	}
	return h.In[i]
}

// Out is the size of the result.
func (h *Heads) Out() int64 {
	if h.Proj[headOut] > 0 {
		return h.Proj[headOut]
	}
	return h.N * h.size(headValue)
}

// HeadWeight is a part of the weights, at an element: [heads, to, from] of a matrix, [heads, to, 1] of a bias.
type HeadWeight struct {
	At          int64
	Dim, Stride [3]int64
}

func (w HeadWeight) count() int64 { return w.Dim[0] * w.Dim[1] * w.Dim[2] }

// Weight is matrix i, or the bias i-4; it has no elements where there is none.
func (h *Heads) Weight(i int) (w HeadWeight) {
	for k := range i + 1 {
		w.At += w.count()
		to, n := h.Proj[k%4], h.N
		bias := k >= 4
		switch {
		case to == 0 || bias && !h.Bias:
			w = HeadWeight{At: w.At}
		case k == headOut: // a head's part is a matrix of rows
			w.Dim, w.Stride = [3]int64{n, to, h.size(headValue)}, [3]int64{to * h.size(headValue), 1, to}
		case k%4 == headOut:
			w.Dim, w.Stride = [3]int64{1, to, 1}, [3]int64{to, 1, 1}
		case bias:
			w.Dim, w.Stride = [3]int64{n, to, 1}, [3]int64{to, 1, 1}
		default:
			w.Dim, w.Stride = [3]int64{n, to, h.In[k]}, [3]int64{to, 1, n * to}
		}
	}
	return w
}

// Weights is how many elements all weights have.
func (h *Heads) Weights() int64 {
	last := h.Weight(7)
	return last.At + last.count()
}

// HeadRows are sequences of vectors: how many, and how many vectors a step of time, batch and beam is.
type HeadRows struct{ Time, Batch, Beams, StepTime, StepBatch, StepBeam int64 }

func (s HeadRows) count() int64 { return s.Time * s.Batch * s.Beams }

// HeadsRun is a call. Lengths are on the device, by batch and beam; windows are on the host, by the time of queries.
type HeadsRun struct {
	Heads
	*Run
	Queries, Keys           HeadRows
	Only                    int64 // the one step of time to compute, or -1
	From, To                []int64
	QueryLength, KeyLength  uint64
	WeightsAt               uint64
	WorkSpace, ReserveSpace uint64 // without a reserve nothing is kept for gradients

	part, grad      [3]uint64 // projected queries, keys, values, and their gradients
	p, slope, z, dz uint64
	result, words   uint64
}

// HeadsMemory is what calls need at most, for sequences of these sizes.
func (h *Heads) HeadsMemory(queries, keys HeadRows) (work, reserve int64) {
	r := HeadsRun{Heads: *h, Queries: queries, Keys: keys}
	var w, k region
	r.lay(&w, &k)
	return w.used() + k.used(), k.used()
}

// lay places what one kernel leaves for the next, and what the gradients need of the forward pass and of each other.
func (h *HeadsRun) lay(work, kept *region) {
	size := h.Type.Sum().Size()
	rows := [3]int64{h.Queries.count(), h.Keys.count(), h.Keys.count()}
	pairs := rows[0] * h.N * h.Keys.Time
	for i := range h.part {
		h.part[i] = work.take(rows[i] * h.N * h.size(i) * size)
	}
	h.p, h.slope = work.take(pairs*size), work.take(pairs*size)
	h.dz = work.take(rows[0] * h.N * h.size(headValue) * size)
	h.words = work.take(8 * h.Queries.Time)
	h.z = kept.take(rows[0] * h.N * h.size(headValue) * size)
	h.result = kept.take(rows[0] * h.Out() * size)
	for i := range h.grad {
		h.grad[i] = kept.take(rows[i] * h.N * h.size(i) * size)
	}
}

// begin lays memory out and brings the windows.
func (h *HeadsRun) begin() error {
	run := *h.Run
	run.Work, run.WorkSize = 0, 0 // products take the handle's: the program's is in use
	h.Run = &run
	work := region{h.WorkSpace, h.WorkSpace}
	if h.ReserveSpace != 0 {
		h.lay(&work, &region{h.ReserveSpace, h.ReserveSpace})
	} else {
		size, reserve := h.HeadsMemory(h.Queries, h.Keys)
		at := h.WorkSpace + uint64(size-reserve)
		h.lay(&work, &region{at, at})
	}
	return h.Run.words(h.words, append(append([]int64{}, h.From...), h.To...))
}

func (h *HeadsRun) suffix() string {
	if h.Type == F64 {
		return "F64"
	}
	return "F32"
}

// kernel launches one; the parameters of all of them begin with the sizes.
func (h *HeadsRun) kernel(name string, n int64, f func(q *shim.Params)) error {
	var q shim.Params
	for _, v := range []int64{h.Queries.Batch, h.Queries.Beams, h.Keys.Beams, h.N, h.Queries.Time, h.Keys.Time, h.size(headQuery), h.size(headValue),
		h.Queries.StepTime, h.Queries.StepBatch, h.Queries.StepBeam, h.Keys.StepTime, h.Keys.StepBatch, h.Keys.StepBeam, h.Only} {
		q.U64(uint64(v))
	}
	q.U64(h.QueryLength, h.KeyLength, h.words, h.words+uint64(4*h.Queries.Time)).F64(h.Scale)
	f(&q)
	return h.launch(headsKernels, name+h.suffix(), spread(n), oneWarp, &q)
}

// of appends where a tensor has the vectors of a head.
func (h *HeadsRun) of(q *shim.Params, at uint64, width int64, shared bool) {
	if shared {
		q.U64(at, uint64(width), 0)
		return
	}
	q.U64(at, uint64(h.N*width), uint64(width))
}

func (h *HeadsRun) input(q *shim.Params, i int) { h.of(q, h.part[i], h.size(i), h.Proj[i] == 0) }

// matrix is one of the weights: rows of what goes in, columns of what comes out.
func (h *HeadsRun) matrix(i int, weights uint64) Tensor {
	w := h.Weight(i)
	at := weights + uint64(w.At*h.Type.Size())
	if i == headOut {
		return Make(at, h.Type, h.N*h.size(headValue), h.Proj[headOut])
	}
	return Make(at, h.Type, h.In[i], h.N*h.Proj[i])
}

func turnedMatrix(t Tensor) Tensor {
	return Tensor{t.Addr, t.Type, []int64{t.Dim[1], t.Dim[0]}, []int64{t.Stride[1], t.Stride[0]}}
}

// fill gives rows a bias, and more.
func (h *HeadsRun) fill(to uint64, bias, more uint64, rows, width int64) error {
	var q shim.Params
	q.U64(to, bias, more, uint64(rows), uint64(width)).U32(uint32(h.Type))
	return h.launch(headsKernels, "headsFill"+h.suffix(), threads(rows*width), oneWarp, &q)
}

// sum adds n numbers that are step apart, for every element of the result.
func (h *HeadsRun) sum(from uint64, outer, n, step, inner int64, to uint64, e Elem, add bool) error {
	var q shim.Params
	q.U64(from, uint64(outer), uint64(n), uint64(step), uint64(inner), to).U32(uint32(e), flag(add))
	return h.launch(headsKernels, "headsSum"+h.suffix(), threads(outer*inner), oneWarp, &q)
}

// rows copies vectors of results.
func (h *HeadsRun) rows(from uint64, fromType Elem, to uint64, toType Elem, width int64) error {
	return h.kernel("headsRows", over(h.Queries.count()*width, warp), func(q *shim.Params) {
		q.U64(from, to, uint64(width)).U32(uint32(fromType), uint32(toType))
	})
}

// project makes the parts of the heads.
func (h *HeadsRun) project(x [3]uint64) error {
	for i := range x {
		rows := h.inputRows(i)
		from := Make(x[i], h.Type, rows, h.In[i])
		if h.Proj[i] == 0 {
			if err := h.Move(from, Make(h.part[i], h.Type.Sum(), rows, h.In[i])); err != nil {
				return err
			}
			continue
		}
		to, s := Make(h.part[i], h.Type.Sum(), rows, h.N*h.Proj[i]), Plain
		if h.Bias {
			s.Beta = 1
			if err := h.fill(h.part[i], h.biasAt(i), 0, rows, h.N*h.Proj[i]); err != nil {
				return err
			}
		}
		if err := h.Matmul(from, h.matrix(i, h.WeightsAt), to, s); err != nil {
			return err
		}
	}
	return nil
}

// biasAt is where a bias lies, 0 for none.
func (h *HeadsRun) biasAt(i int) uint64 {
	if !h.Bias || h.Proj[i] == 0 {
		return 0
	}
	return h.WeightsAt + uint64(h.Weight(4+i).At*h.Type.Size())
}

func (h *HeadsRun) attend() error {
	return h.kernel("headsAttend", h.Queries.count()*h.N, func(q *shim.Params) {
		for i := range h.part {
			h.input(q, i)
		}
		q.U64(h.p)
		h.of(q, h.z, h.size(headValue), false)
	})
}

// Forward makes the result of queries, keys and values. Residuals are added to it, 0 are none.
func (h *HeadsRun) Forward(x [3]uint64, residual, out uint64) error {
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
	bias := h.biasAt(headOut)
	if err := h.fill(h.result, bias, residual, rows, h.Out()); err != nil {
		return err
	}
	var err error
	if h.Proj[headOut] > 0 {
		err = h.Matmul(Make(h.z, sum, rows, h.N*h.size(headValue)), h.matrix(headOut, h.WeightsAt), Make(h.result, sum, rows, h.Out()), Scale{Alpha: 1, Beta: 1})
	} else {
		err = h.sum(h.z, 1, 1, 0, rows*h.Out(), h.result, sum, true)
	}
	if err != nil {
		return err
	}
	return h.rows(h.result, sum, out, h.Type, h.Out())
}
