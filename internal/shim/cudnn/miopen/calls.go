package miopen

import (
	"encoding/binary"
	"math"

	"kudzu/internal/dl"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/miopen"
)

// functions by cuDNN's names.
var functions = map[string]func(*session) error{
	"ConvolutionForward": (*session).convForward, "ConvolutionBackwardData": (*session).convData, "ConvolutionBackwardFilter": (*session).convFilter,
	"PoolingForward": (*session).poolForward, "PoolingBackward": (*session).poolBackward,
	"SoftmaxForward": (*session).softmaxForward, "SoftmaxBackward": (*session).softmaxBackward,
}

// The tensors of a convolution.
const (
	input  = 0
	filter = 1
	output = 2
)

// direction is a direction of a convolution: its functions, and its tensors in the order they take them.
type direction struct {
	solutions, compile, run miopen.Func
	first, second, result   int
}

func (s *session) convForward() error {
	return s.convolve(direction{miopen.MiopenConvolutionForwardGetSolution, miopen.MiopenConvolutionForwardCompileSolution, miopen.MiopenConvolutionForwardImmediate, filter, input, output})
}

func (s *session) convData() error {
	return s.convolve(direction{miopen.MiopenConvolutionBackwardDataGetSolution, miopen.MiopenConvolutionBackwardDataCompileSolution, miopen.MiopenConvolutionBackwardDataImmediate, output, filter, input})
}

func (s *session) convFilter() error {
	return s.convolve(direction{miopen.MiopenConvolutionBackwardWeightsGetSolution, miopen.MiopenConvolutionBackwardWeightsCompileSolution, miopen.MiopenConvolutionBackwardWeightsImmediate, output, input, filter})
}

// A miopenConvSolution_t: how long it takes, its workspace, its number, and the algorithm.
const (
	solutionSize = 32
	solutionWork = 8
	solutionID   = 16
)

// mostSolutions are those that are looked at; the fastest come first.
const mostSolutions = 16

// convolve takes the fastest solution whose workspace the program's has room for. They scale nothing.
func (s *session) convolve(d direction) error {
	if s.c.Scale != nn.Plain {
		return errRefused
	}
	desc, err := s.descriptor(miopen.MiopenCreateConvolutionDescriptor, miopen.MiopenDestroyConvolutionDescriptor)
	if err != nil {
		return err
	}
	l, err := s.lists(s.c.Pad, s.c.Stride, s.c.Dilation)
	if err != nil {
		return err
	}
	if err := s.p.call(miopen.MiopenInitConvolutionNdDescriptor, desc, uintptr(len(s.c.Pad)), l[0], l[1], l[2], miopen.MiopenConvolution); err != nil {
		return err
	}
	if err := s.p.call(miopen.MiopenSetConvolutionGroupCount, desc, uintptr(s.c.Groups)); err != nil {
		return err
	}
	if err := s.p.call(miopen.MiopenSetConvolutionAttribute, desc, miopen.MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 1); err != nil {
		return err
	}
	first, second, result := s.descs[d.first], s.descs[d.second], s.descs[d.result]
	found := dl.Alloc(8 + mostSolutions*solutionSize)
	defer found.Free()
	if err := s.p.call(d.solutions, s.h, first, second, desc, result, mostSolutions, found.Addr(), found.Addr()+8); err != nil {
		return err
	}
	for i := range min(binary.LittleEndian.Uint64(found.Bytes()), mostSolutions) {
		x := found.Bytes()[8+i*solutionSize:]
		work, id := binary.LittleEndian.Uint64(x[solutionWork:]), uintptr(binary.LittleEndian.Uint64(x[solutionID:]))
		if work > s.c.Size || work > 0 && s.c.Space == 0 {
			continue
		}
		if err := s.p.call(d.compile, s.h, first, second, desc, result, id); err != nil {
			return err
		}
		return s.p.call(d.run, s.h, first, s.at(d.first), second, s.at(d.second), desc, result, s.at(d.result), uintptr(s.c.Space), uintptr(s.c.Size), id)
	}
	return errRefused
}

// at is where a tensor lies.
func (s *session) at(i int) uintptr { return uintptr(s.c.Tensors[i].At) }

// scale is alpha and beta as MIOpen reads them: floats, whatever the tensors are.
func (s *session) scale() (alpha, beta uintptr) {
	b := dl.Alloc(8)
	s.ends = append(s.ends, b.Free)
	binary.LittleEndian.PutUint32(b.Bytes(), math.Float32bits(float32(s.c.Scale.Alpha)))
	binary.LittleEndian.PutUint32(b.Bytes()[4:], math.Float32bits(float32(s.c.Scale.Beta)))
	return b.Addr(), b.Addr() + 4
}

// pooling describes the window.
func (s *session) pooling() (uintptr, error) {
	mode, ok := miopen.FromCudnnPoolingMode_t(int64(s.c.Pool))
	if !ok {
		return 0, errRefused
	}
	desc, err := s.descriptor(miopen.MiopenCreatePoolingDescriptor, miopen.MiopenDestroyPoolingDescriptor)
	if err != nil {
		return 0, err
	}
	l, err := s.lists(s.c.Window, s.c.Pad, s.c.Stride)
	if err != nil {
		return 0, err
	}
	return desc, s.p.call(miopen.MiopenSetNdPoolingDescriptor, desc, uintptr(mode), uintptr(len(s.c.Window)), l[0], l[1], l[2])
}

// poolForward keeps nothing for the way back: what was largest is looked up by our kernels.
func (s *session) poolForward() error {
	desc, err := s.pooling()
	if err != nil {
		return err
	}
	alpha, beta := s.scale()
	return s.p.call(miopen.MiopenPoolingForward, s.h, desc, alpha, s.descs[0], s.at(0), beta, s.descs[1], s.at(1), 0, 0, 0)
}

// poolBackward is of averages, which read neither the input nor the result: their gradients stand for them.
func (s *session) poolBackward() error {
	desc, err := s.pooling()
	if err != nil {
		return err
	}
	alpha, beta := s.scale()
	return s.p.call(miopen.MiopenPoolingBackward, s.h, desc, alpha, s.descs[0], s.at(0), s.descs[0], s.at(0), s.descs[1], s.at(1), beta, s.descs[1], s.at(1), 0)
}

// softmax is its algorithm and mode.
func (s *session) softmax() (algorithm, mode uintptr, err error) {
	a, ok1 := miopen.FromCudnnSoftmaxAlgorithm_t(int64(s.c.Algorithm))
	m, ok2 := miopen.FromCudnnSoftmaxMode_t(int64(s.c.Mode))
	if !ok1 || !ok2 {
		return 0, 0, errRefused
	}
	return uintptr(a), uintptr(m), nil
}

func (s *session) softmaxForward() error {
	algorithm, mode, err := s.softmax()
	if err != nil {
		return err
	}
	alpha, beta := s.scale()
	return s.p.call(miopen.MiopenSoftmaxForward_V2, s.h, alpha, s.descs[0], s.at(0), beta, s.descs[1], s.at(1), algorithm, mode)
}

func (s *session) softmaxBackward() error {
	algorithm, mode, err := s.softmax()
	if err != nil {
		return err
	}
	alpha, beta := s.scale()
	return s.p.call(miopen.MiopenSoftmaxBackward_V2, s.h, alpha, s.descs[0], s.at(0), s.descs[1], s.at(1), beta, s.descs[2], s.at(2), algorithm, mode)
}
