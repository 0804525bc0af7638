package cudnn

import (
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// Algorithms as objects, of cuDNN 8 only: a number, and how long it took. Networks have one.

type (
	algoDesc = dnn.CudnnAlgorithmDescriptor_t
	perfDesc = dnn.CudnnAlgorithmPerformance_t
	algo     = dnn.CudnnAlgorithm_t
)

// performance is what an algorithm takes. It has a descriptor of its own for what Find… found.
type performance struct {
	algo   algoDesc
	own    algoDesc
	status dnn.CudnnStatus_t
	time   float32
	memory uint64
}

// algoSize is the size of an algorithm, saved.
const algoSize = 4

// CreateAlgorithmDescriptor makes one.
func (t *Thread) CreateAlgorithmDescriptor() (uint64, error) { return create(algo{}) }

// DestroyAlgorithmDescriptor ends one.
func (t *Thread) DestroyAlgorithmDescriptor(h algoDesc) error { return destroy[algo](h) }

// SetAlgorithmDescriptor sets the number.
func (t *Thread) SetAlgorithmDescriptor(h algoDesc, a algo) error { return set(h, a) }

// GetAlgorithmDescriptor tells the number.
func (t *Thread) GetAlgorithmDescriptor(h algoDesc, to hostmem.Ptr) error {
	a, err := look[algo](h)
	if err == nil && to == hostmem.Nil {
		err = nullPointer
	}
	if err != nil {
		return err
	}
	hostmem.Store(to, a)
	return nil
}

// CopyAlgorithmDescriptor copies the number.
func (t *Thread) CopyAlgorithmDescriptor(from, to algoDesc) error {
	return setNew[algo](to)(look[algo](from))
}

// GetAlgorithmSpaceSize is what SaveAlgorithm writes.
func (t *Thread) GetAlgorithmSpaceSize(h Handle, desc algoDesc) (uint64, error) {
	c := t.on(h)
	take[algo](c, desc)
	return algoSize, c.err
}

// SaveAlgorithm writes an algorithm to the host's memory.
func (t *Thread) SaveAlgorithm(h Handle, desc algoDesc, to hostmem.Ptr, size uint64) error {
	c := t.on(h)
	a := take[algo](c, desc)
	c.need(to != hostmem.Nil && size >= algoSize, badParam, "%d bytes", size)
	return c.run(func() error { hostmem.Store(to, a); return nil })
}

// RestoreAlgorithm reads what SaveAlgorithm wrote.
func (t *Thread) RestoreAlgorithm(h Handle, from hostmem.Ptr, size uint64, desc algoDesc) error {
	c := t.on(h)
	c.need(from != hostmem.Nil && size >= algoSize, badParam, "%d bytes", size)
	return c.run(func() error { return set(desc, hostmem.Load[algo](from)) })
}

// CreateAlgorithmPerformance fills an array.
func (t *Thread) CreateAlgorithmPerformance(to hostmem.Ptr, n int32) error {
	if to == hostmem.Nil || n < 0 {
		return because(badParam, "%d performances", n)
	}
	for i := range int(n) {
		own, err := create(algo{})
		if err != nil {
			return err
		}
		p, err := create(performance{own: algoDesc(own)})
		if err != nil {
			return err
		}
		hostmem.Store(to.Index(i, 8), p)
	}
	return nil
}

// DestroyAlgorithmPerformance ends those of an array.
func (t *Thread) DestroyAlgorithmPerformance(of hostmem.Ptr, n int32) error {
	if of == hostmem.Nil || n < 0 {
		return because(badParam, "%d performances", n)
	}
	for _, h := range hostmem.Slice[perfDesc](of, int(n)) {
		v, err := look[performance](h)
		if err != nil {
			return err
		}
		if err := destroy[algo](v.own); err != nil {
			return err
		}
		if err := destroy[performance](h); err != nil {
			return err
		}
	}
	return nil
}

// SetAlgorithmPerformance notes what an algorithm takes.
func (t *Thread) SetAlgorithmPerformance(h perfDesc, desc algoDesc, status dnn.CudnnStatus_t, took float32, memory uint64) error {
	if _, err := look[algo](desc); err != nil {
		return err
	}
	return alter(h, func(v *performance) { v.algo, v.status, v.time, v.memory = desc, status, took, memory })
}

// GetAlgorithmPerformance tells it.
func (t *Thread) GetAlgorithmPerformance(h perfDesc) (algoDesc, dnn.CudnnStatus_t, float32, uint64, error) {
	v, err := look[performance](h)
	return v.algo, v.status, v.time, v.memory, err
}

// SetRNNAlgorithmDescriptor chooses the algorithm of a network.
func (t *Thread) SetRNNAlgorithmDescriptor(h Handle, desc rnnDesc, a algoDesc) error {
	c := t.on(h)
	v, chosen := take[network](c, desc), take[algo](c, a)
	v.algo = *chosen.Algo.RNNAlgo()
	c.fail(v.check())
	return c.run(func() error { return set(desc, v) })
}

// one is how many algorithms a network has: the names of the others stand for the same.
func (t *Thread) one(h Handle, desc rnnDesc) (int32, error) {
	c := t.on(h)
	take[network](c, desc)
	return 1, c.err
}

// GetRNNForwardInferenceAlgorithmMaxCount is how many there are.
func (t *Thread) GetRNNForwardInferenceAlgorithmMaxCount(h Handle, desc rnnDesc) (int32, error) {
	return t.one(h, desc)
}

// GetRNNForwardTrainingAlgorithmMaxCount is how many there are.
func (t *Thread) GetRNNForwardTrainingAlgorithmMaxCount(h Handle, desc rnnDesc) (int32, error) {
	return t.one(h, desc)
}

// GetRNNBackwardDataAlgorithmMaxCount is how many there are.
func (t *Thread) GetRNNBackwardDataAlgorithmMaxCount(h Handle, desc rnnDesc) (int32, error) {
	return t.one(h, desc)
}

// GetRNNBackwardWeightsAlgorithmMaxCount is how many there are.
func (t *Thread) GetRNNBackwardWeightsAlgorithmMaxCount(h Handle, desc rnnDesc) (int32, error) {
	return t.one(h, desc)
}

// timed makes a pass and notes its time in the first of the performances.
func (c *rnnCall) timed(want int32, count, to hostmem.Ptr, memory uint64, pass func() error) error {
	c.need(want > 0 && count != hostmem.Nil && to != hostmem.Nil, badParam, "%d algorithms wanted", want)
	if c.err != nil {
		return c.err
	}
	h := hostmem.Load[perfDesc](to)
	v, err := look[performance](h)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := pass(); err != nil {
		return err
	}
	if err := c.D.StreamSynchronize(c.Stream); err != nil {
		return err
	}
	took := float32(time.Since(begin).Seconds() * 1e3)
	v.algo, v.status, v.time, v.memory = v.own, dnn.CUDNN_STATUS_SUCCESS, took, memory
	hostmem.Store(count, int32(1))
	if err := set(v.own, algo{}); err != nil {
		return err
	}
	return set(h, v)
}

// FindRNNForwardInferenceAlgorithmEx measures.
func (t *Thread) FindRNNForwardInferenceAlgorithmEx(h Handle, desc rnnDesc, time int32, xDesc, x hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx hostmem.Ptr, wDesc filterDesc, w, yDesc, y hostmem.Ptr, hyDesc tensorDesc, hy hostmem.Ptr, cyDesc tensorDesc, cy hostmem.Ptr, intensity float32, want int32, count, to, work hostmem.Ptr, size uint64) error {
	c := t.stepped(h, desc, time, xDesc, yDesc).weighed(wDesc, w)
	return c.timed(want, count, to, size, func() error { return c.forward(x, y, statesOf(hx, cx, hy, cy), w, space{work, size}, space{}, false) })
}

// FindRNNForwardTrainingAlgorithmEx measures.
func (t *Thread) FindRNNForwardTrainingAlgorithmEx(h Handle, desc rnnDesc, time int32, xDesc, x hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx hostmem.Ptr, wDesc filterDesc, w, yDesc, y hostmem.Ptr, hyDesc tensorDesc, hy hostmem.Ptr, cyDesc tensorDesc, cy hostmem.Ptr, intensity float32, want int32, count, to, work hostmem.Ptr, size uint64, reserve hostmem.Ptr, kept uint64) error {
	c := t.stepped(h, desc, time, xDesc, yDesc).weighed(wDesc, w)
	return c.timed(want, count, to, size, func() error {
		return c.forward(x, y, statesOf(hx, cx, hy, cy), w, space{work, size}, space{reserve, kept}, true)
	})
}

// FindRNNBackwardDataAlgorithmEx measures.
func (t *Thread) FindRNNBackwardDataAlgorithmEx(h Handle, desc rnnDesc, time int32, yDesc, y, dyDesc, dy hostmem.Ptr, dhyDesc tensorDesc, dhy hostmem.Ptr, dcyDesc tensorDesc, dcy hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, hxDesc tensorDesc, hx hostmem.Ptr, cxDesc tensorDesc, cx, dxDesc, dx hostmem.Ptr, dhxDesc tensorDesc, dhx hostmem.Ptr, dcxDesc tensorDesc, dcx hostmem.Ptr, intensity float32, want int32, count, to, work hostmem.Ptr, size uint64, reserve hostmem.Ptr, kept uint64) error {
	c := t.stepped(h, desc, time, dxDesc, dyDesc).weighed(wDesc, w)
	return c.timed(want, count, to, size, func() error {
		return c.backward(dy, dx, slopesOf(dhy, dcy, dhx, dcx), w, space{work, size}, space{reserve, kept})
	})
}

// FindRNNBackwardWeightsAlgorithmEx measures. It adds to the gradients, as the call does.
func (t *Thread) FindRNNBackwardWeightsAlgorithmEx(h Handle, desc rnnDesc, time int32, xDesc, x hostmem.Ptr, hxDesc tensorDesc, hx, yDesc, y hostmem.Ptr, intensity float32, want int32, count, to, work hostmem.Ptr, size uint64, dwDesc filterDesc, dw, reserve hostmem.Ptr, kept uint64) error {
	c := t.stepped(h, desc, time, xDesc, yDesc).weighed(dwDesc, dw)
	return c.timed(want, count, to, size, func() error { return c.gather(dw, space{work, size}, space{reserve, kept}) })
}
