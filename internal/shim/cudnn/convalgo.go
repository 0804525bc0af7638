package cudnn

import (
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// Lists of algorithms. All names stand for the same kernels; those that were good on GPUs come first.

// found is an algorithm in a list. The three structures of C are laid out alike.
type found = dnn.CudnnConvolutionFwdAlgoPerf_t

var (
	forwardAlgos = []int32{1, 0, 2, 6, 7, 4, 5, direct}
	dataAlgos    = []int32{1, 0, 4, 5, 2, 3}
	filterAlgos  = []int32{1, 0, 3, 5, 2, 6, 4}
)

// list fills an array with the first of the algorithms.
func (v *convolving) list(kind nn.ConvKind, algos []int32, took float32, want int32, to hostmem.Ptr) (int32, error) {
	v.need(want > 0 && to != hostmem.Nil, badParam, "%d algorithms wanted", want)
	size, err := v.space(kind)
	if err != nil {
		return 0, err
	}
	n := min(int(want), len(algos))
	for i, a := range algos[:n] {
		f := found{Algo: fwdAlgo(a), Time: took, Memory: size, Determinism: dnn.CUDNN_DETERMINISTIC, MathType: v.desc.math}
		if kind == nn.ConvKindForward && a == direct {
			f = found{Algo: fwdAlgo(a), Status: dnn.CudnnStatus_t(numbered(notSupported)), Time: -1, MathType: v.desc.math}
		}
		hostmem.Store(to.Index(i, perfSize), f)
	}
	return int32(n), nil
}

const perfSize = 48 // of a found

// once is one of the operations, with the results overwritten.
func (v *convolving) once(kind nn.ConvKind) error {
	switch kind {
	case nn.ConvKindForward:
		return v.ConvForward(v.conv, v.x, v.w, v.y, nn.Plain, nn.Epilogue{})
	case nn.ConvKindData:
		return v.ConvData(v.conv, v.w, v.y, v.x, nn.Plain)
	case nn.ConvKindFilter:
	}
	return v.ConvFilter(v.conv, v.x, v.y, v.w, nn.Plain)
}

// measured is list with a time, in milliseconds; the first run loads kernels.
func (v *convolving) measured(kind nn.ConvKind, algos []int32, want int32, count, to hostmem.Ptr) error {
	v.need(count != hostmem.Nil, badParam, "nowhere to put the number of algorithms")
	if v.err != nil {
		return v.err
	}
	var took time.Duration
	for range 2 {
		begin := time.Now()
		if err := v.once(kind); err != nil {
			return err
		}
		if err := v.D.StreamSynchronize(v.Stream); err != nil {
			return err
		}
		took = time.Since(begin)
	}
	n, err := v.list(kind, algos, float32(took.Seconds()*1e3), want, to)
	if err != nil {
		return err
	}
	hostmem.Store(count, n)
	return nil
}

// alone is measured on memory of its own.
func (v *convolving) alone(kind nn.ConvKind, algos []int32, want int32, count, to hostmem.Ptr) error {
	if v.err != nil {
		return v.err
	}
	for _, x := range []*nn.Tensor{&v.x, &v.w, &v.y} {
		p, err := v.D.TakeMemory(uint64(x.Span() * x.Type.Size()))
		if err != nil {
			return err
		}
		defer func() { _ = v.D.GiveMemory(p) }()
		x.Addr = uint64(p)
	}
	return v.measured(kind, algos, want, count, to)
}

// GetConvolutionForwardAlgorithmMaxCount is how many there are.
func (t *Thread) GetConvolutionForwardAlgorithmMaxCount(h Handle) (int32, error) {
	return int32(len(forwardAlgos)), t.on(h).err
}

// GetConvolutionBackwardDataAlgorithmMaxCount is how many there are.
func (t *Thread) GetConvolutionBackwardDataAlgorithmMaxCount(h Handle) (int32, error) {
	return int32(len(dataAlgos)), t.on(h).err
}

// GetConvolutionBackwardFilterAlgorithmMaxCount is how many there are.
func (t *Thread) GetConvolutionBackwardFilterAlgorithmMaxCount(h Handle) (int32, error) {
	return int32(len(filterAlgos)), t.on(h).err
}

// GetConvolutionForwardAlgorithmV7 lists algorithms.
func (t *Thread) GetConvolutionForwardAlgorithmV7(h Handle, x tensorDesc, w filterDesc, desc convDesc, y tensorDesc, want int32, to hostmem.Ptr) (int32, error) {
	return t.convolve(h, desc, x, nowhere, w, nowhere, y, nowhere).list(nn.ConvKindForward, forwardAlgos, 0, want, to)
}

// GetConvolutionBackwardDataAlgorithmV7 lists algorithms.
func (t *Thread) GetConvolutionBackwardDataAlgorithmV7(h Handle, w filterDesc, dy tensorDesc, desc convDesc, dx tensorDesc, want int32, to hostmem.Ptr) (int32, error) {
	return t.convolve(h, desc, dx, nowhere, w, nowhere, dy, nowhere).list(nn.ConvKindData, dataAlgos, 0, want, to)
}

// GetConvolutionBackwardFilterAlgorithmV7 lists algorithms.
func (t *Thread) GetConvolutionBackwardFilterAlgorithmV7(h Handle, x, dy tensorDesc, desc convDesc, dw filterDesc, want int32, to hostmem.Ptr) (int32, error) {
	return t.convolve(h, desc, x, nowhere, dw, nowhere, dy, nowhere).list(nn.ConvKindFilter, filterAlgos, 0, want, to)
}

// GetConvolutionForwardWorkspaceSize is the memory that makes it fast.
func (t *Thread) GetConvolutionForwardWorkspaceSize(h Handle, x tensorDesc, w filterDesc, desc convDesc, y tensorDesc, algo fwdAlgo) (uint64, error) {
	c := t.convolve(h, desc, x, nowhere, w, nowhere, y, nowhere)
	c.algorithm(int32(algo), int32(dnn.CUDNN_CONVOLUTION_FWD_ALGO_COUNT), true)
	return c.space(nn.ConvKindForward)
}

// GetConvolutionBackwardDataWorkspaceSize is the memory that makes it fast.
func (t *Thread) GetConvolutionBackwardDataWorkspaceSize(h Handle, w filterDesc, dy tensorDesc, desc convDesc, dx tensorDesc, algo dataAlgo) (uint64, error) {
	c := t.convolve(h, desc, dx, nowhere, w, nowhere, dy, nowhere)
	c.algorithm(int32(algo), int32(dnn.CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT), false)
	return c.space(nn.ConvKindData)
}

// GetConvolutionBackwardFilterWorkspaceSize is the memory that makes it fast.
func (t *Thread) GetConvolutionBackwardFilterWorkspaceSize(h Handle, x, dy tensorDesc, desc convDesc, dw filterDesc, algo filterAlgo) (uint64, error) {
	c := t.convolve(h, desc, x, nowhere, dw, nowhere, dy, nowhere)
	c.algorithm(int32(algo), int32(dnn.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT), false)
	return c.space(nn.ConvKindFilter)
}

// FindConvolutionForwardAlgorithm measures.
func (t *Thread) FindConvolutionForwardAlgorithm(h Handle, x tensorDesc, w filterDesc, desc convDesc, y tensorDesc, want int32, count, to hostmem.Ptr) error {
	return t.convolve(h, desc, x, nowhere, w, nowhere, y, nowhere).alone(nn.ConvKindForward, forwardAlgos, want, count, to)
}

// FindConvolutionBackwardDataAlgorithm measures.
func (t *Thread) FindConvolutionBackwardDataAlgorithm(h Handle, w filterDesc, dy tensorDesc, desc convDesc, dx tensorDesc, want int32, count, to hostmem.Ptr) error {
	return t.convolve(h, desc, dx, nowhere, w, nowhere, dy, nowhere).alone(nn.ConvKindData, dataAlgos, want, count, to)
}

// FindConvolutionBackwardFilterAlgorithm measures.
func (t *Thread) FindConvolutionBackwardFilterAlgorithm(h Handle, x, dy tensorDesc, desc convDesc, dw filterDesc, want int32, count, to hostmem.Ptr) error {
	return t.convolve(h, desc, x, nowhere, dw, nowhere, dy, nowhere).alone(nn.ConvKindFilter, filterAlgos, want, count, to)
}

// FindConvolutionForwardAlgorithmEx measures in memory of the program.
func (t *Thread) FindConvolutionForwardAlgorithmEx(h Handle, xDesc tensorDesc, x hostmem.Ptr, wDesc filterDesc, w hostmem.Ptr, desc convDesc, yDesc tensorDesc, y hostmem.Ptr, want int32, count, to, work hostmem.Ptr, size uint64) error {
	c := t.convolve(h, desc, xDesc, x, wDesc, w, yDesc, y)
	c.with(work, size)
	return c.measured(nn.ConvKindForward, forwardAlgos, want, count, to)
}

// FindConvolutionBackwardDataAlgorithmEx measures in memory of the program.
func (t *Thread) FindConvolutionBackwardDataAlgorithmEx(h Handle, wDesc filterDesc, w hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, desc convDesc, dxDesc tensorDesc, dx hostmem.Ptr, want int32, count, to, work hostmem.Ptr, size uint64) error {
	c := t.convolve(h, desc, dxDesc, dx, wDesc, w, dyDesc, dy)
	c.with(work, size)
	return c.measured(nn.ConvKindData, dataAlgos, want, count, to)
}

// FindConvolutionBackwardFilterAlgorithmEx measures in memory of the program.
func (t *Thread) FindConvolutionBackwardFilterAlgorithmEx(h Handle, xDesc tensorDesc, x hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, desc convDesc, dwDesc filterDesc, dw hostmem.Ptr, want int32, count, to, work hostmem.Ptr, size uint64) error {
	c := t.convolve(h, desc, xDesc, x, dwDesc, dw, dyDesc, dy)
	c.with(work, size)
	return c.measured(nn.ConvKindFilter, filterAlgos, want, count, to)
}
