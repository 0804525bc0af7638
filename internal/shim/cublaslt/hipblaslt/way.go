package hipblaslt

import (
	"encoding/binary"
	"errors"

	"kudzu/internal/dl"
	"kudzu/internal/shim/cublaslt"
	"kudzu/internal/spec/hipblaslt"
)

// way is how products of one shape are done: the library's descriptors and the algorithm it chose. One that has none is kept,
// too: the question is answered.
type way struct {
	desc      uintptr
	layouts   [4]uintptr
	algorithm *dl.Buffer // nil: there is none
}

// maxWays bounds what is kept for a device.
const maxWays = 512

// way finds or makes the way. Preconditions: dev.mu is held, the device is current.
func (p *Provider) way(dev *device, m *cublaslt.Matmul) (*way, error) {
	s := &m.Shape
	w := dev.ways[*s]
	if w == nil {
		if len(dev.order) == maxWays {
			p.forget(dev.ways[dev.order[0]])
			delete(dev.ways, dev.order[0])
			dev.order = dev.order[1:]
		}
		w = &way{}
		if err := p.describe(dev, w, m); err != nil {
			p.forget(w)
			if !errors.Is(err, errRefused) {
				return nil, err
			}
			w = &way{}
		}
		dev.ways[*s] = w
		dev.order = append(dev.order, *s)
	}
	if w.algorithm == nil {
		return nil, errRefused
	}
	return w, nil
}

// forget gives a way's descriptors back.
func (p *Provider) forget(w *way) {
	if w.desc != 0 {
		_ = p.call(hipblaslt.HipblasLtMatmulDescDestroy, w.desc) // it is ours alone: nothing is left to do
	}
	for _, l := range w.layouts {
		if l != 0 {
			_ = p.call(hipblaslt.HipblasLtMatrixLayoutDestroy, l) // as above
		}
	}
	if w.algorithm != nil {
		w.algorithm.Free()
	}
}

// numbers turns values of CUDA's into the library's; bad once one has none.
type numbers struct{ bad bool }

func (n *numbers) of(v int64, ok bool) uint64 {
	n.bad = n.bad || !ok
	return uint64(v)
}

// set writes an attribute of n bytes with one of the Set functions.
func (p *Provider) set(f hipblaslt.Func, at uintptr, attribute int, v uint64, n int) error {
	buf := dl.Alloc(8)
	defer buf.Free()
	binary.LittleEndian.PutUint64(buf.Bytes(), v)
	return p.call(f, at, uintptr(attribute), buf.Addr(), uintptr(n))
}

// describe makes the descriptors and asks for an algorithm.
func (p *Provider) describe(dev *device, w *way, m *cublaslt.Matmul) (err error) {
	s := &m.Shape
	var n numbers
	compute, scale := n.of(hipblaslt.FromCublasComputeType_t(int64(s.Compute))), n.of(hipblaslt.FromCudaDataType(int64(s.Scale)))
	attributes := []struct {
		attribute int
		v         uint64
		size      int
		not       bool
	}{
		{hipblaslt.HIPBLASLT_MATMUL_DESC_TRANSA, n.of(hipblaslt.FromCublasOperation_t(int64(s.TransA))), 4, false},
		{hipblaslt.HIPBLASLT_MATMUL_DESC_TRANSB, n.of(hipblaslt.FromCublasOperation_t(int64(s.TransB))), 4, false},
		{hipblaslt.HIPBLASLT_MATMUL_DESC_EPILOGUE, n.of(hipblaslt.FromCublasLtEpilogue_t(int64(s.Epilogue))), 4, false},
		{hipblaslt.HIPBLASLT_MATMUL_DESC_POINTER_MODE, n.of(hipblaslt.FromCublasLtPointerMode_t(int64(s.PointerMode))), 4, false},
		{hipblaslt.HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, n.of(hipblaslt.FromCudaDataType(int64(s.BiasType))), 4, !s.Has[cublaslt.PointerBias]},
		{hipblaslt.HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, s.AuxLD, 8, !s.Has[cublaslt.PointerAux]},
		{hipblaslt.HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, s.AuxStride, 8, !s.Has[cublaslt.PointerAux]},
	}
	if n.bad {
		return errRefused
	}
	if w.desc, err = p.make(hipblaslt.HipblasLtMatmulDescCreate, uintptr(compute), uintptr(scale)); err != nil {
		return err
	}
	for _, a := range attributes {
		if a.not {
			continue
		}
		if err := p.set(hipblaslt.HipblasLtMatmulDescSetAttribute, w.desc, a.attribute, a.v, a.size); err != nil {
			return err
		}
	}
	for i := range s.Layouts {
		if w.layouts[i], err = p.layout(&s.Layouts[i]); err != nil {
			return err
		}
	}
	if err := p.point(w, m); err != nil { // the choice may look whether they are there
		return err
	}
	return p.choose(dev, w)
}

// layout describes a matrix.
func (p *Provider) layout(l *cublaslt.Layout) (uintptr, error) {
	var n numbers
	kind, order := n.of(hipblaslt.FromCudaDataType(int64(l.Type))), n.of(hipblaslt.FromCublasLtOrder_t(int64(l.Order)))
	if n.bad {
		return 0, errRefused
	}
	at, err := p.make(hipblaslt.HipblasLtMatrixLayoutCreate, uintptr(kind), uintptr(l.Rows), uintptr(l.Cols), uintptr(l.LD))
	if err != nil {
		return 0, err
	}
	for _, a := range []struct {
		attribute int
		v         uint64
		size      int
	}{
		{hipblaslt.HIPBLASLT_MATRIX_LAYOUT_ORDER, order, 4}, {hipblaslt.HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, uint64(uint32(l.Batch)), 4},
		{hipblaslt.HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, uint64(l.Stride), 8},
	} {
		if err := p.set(hipblaslt.HipblasLtMatrixLayoutSetAttribute, at, a.attribute, a.v, a.size); err != nil {
			return at, err
		}
	}
	return at, nil
}

// choose asks the library for its best algorithm that fits the workspace.
func (p *Provider) choose(dev *device, w *way) error {
	pref, err := p.make(hipblaslt.HipblasLtMatmulPreferenceCreate)
	if err != nil {
		return err
	}
	defer func() { _ = p.call(hipblaslt.HipblasLtMatmulPreferenceDestroy, pref) }()
	if err := p.set(hipblaslt.HipblasLtMatmulPreferenceSetAttribute, pref, hipblaslt.HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace, 8); err != nil {
		return err
	}
	result, count := dl.Alloc(hipblaslt.HIPBLASLTHEURISTICBYTES), dl.Alloc(8)
	defer count.Free()
	l := &w.layouts
	err = p.call(hipblaslt.HipblasLtMatmulAlgoGetHeuristic, dev.at, w.desc, l[0], l[1], l[2], l[3], pref, 1, result.Addr(), count.Addr())
	b := result.Bytes()
	if err != nil || int32(binary.LittleEndian.Uint32(count.Bytes())) < 1 || binary.LittleEndian.Uint32(b[hipblaslt.HIPBLASLTHEURISTICSTATEAT:]) != hipblaslt.HIPBLAS_STATUS_SUCCESS ||
		binary.LittleEndian.Uint64(b[hipblaslt.HIPBLASLTHEURISTICWORKSPACEAT:]) > workspace {
		result.Free()
		return errRefused // whatever it dislikes, our kernels may not
	}
	w.algorithm = result
	return nil
}

// pointers are the attributes that hold addresses, which change from call to call.
var pointers = map[int]int{
	cublaslt.PointerBias: hipblaslt.HIPBLASLT_MATMUL_DESC_BIAS_POINTER, cublaslt.PointerAux: hipblaslt.HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
	cublaslt.PointerScaleA: hipblaslt.HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, cublaslt.PointerScaleB: hipblaslt.HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER,
	cublaslt.PointerScaleC: hipblaslt.HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER, cublaslt.PointerScaleD: hipblaslt.HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER,
}

// point writes the addresses of one product into its descriptor.
func (p *Provider) point(w *way, m *cublaslt.Matmul) error {
	for i := cublaslt.PointerBias; i < cublaslt.NumPointers; i++ {
		if m.Shape.Has[i] {
			if err := p.set(hipblaslt.HipblasLtMatmulDescSetAttribute, w.desc, pointers[i], m.Pointers[i], 8); err != nil {
				return err
			}
		}
	}
	return nil
}
