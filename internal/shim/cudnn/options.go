package cudnn

import "kudzu/internal/spec/dnn"

// Descriptors that hold a few options each: of activations, of operations on tensors, of reductions, of LRN.

type activation struct {
	mode  dnn.CudnnActivationMode_t
	nan   nanOpt
	coef  float64 // the upper bound of a clipped ReLU, the alpha of ELU
	swish float64
}

type (
	activationDesc = dnn.CudnnActivationDescriptor_t
	opTensorDesc   = dnn.CudnnOpTensorDescriptor_t
	reduceDesc     = dnn.CudnnReduceTensorDescriptor_t
	lrnDesc        = dnn.CudnnLRNDescriptor_t
)

// CreateActivationDescriptor makes one.
func (t *Thread) CreateActivationDescriptor() (uint64, error) { return create(activation{swish: 1}) }

// DestroyActivationDescriptor ends one.
func (t *Thread) DestroyActivationDescriptor(h activationDesc) error { return destroy[activation](h) }

// SetActivationDescriptor sets the function and its parameter.
func (t *Thread) SetActivationDescriptor(h activationDesc, mode dnn.CudnnActivationMode_t, nan nanOpt, coef float64) error {
	if !known(mode, dnn.CUDNN_ACTIVATION_SWISH) || !known(nan, dnn.CUDNN_PROPAGATE_NAN) {
		return because(badParam, "mode %d, NaN option %d", mode, nan)
	}
	return alter(h, func(v *activation) { v.mode, v.nan, v.coef = mode, nan, coef })
}

// GetActivationDescriptor tells the function and its parameter.
func (t *Thread) GetActivationDescriptor(h activationDesc) (dnn.CudnnActivationMode_t, nanOpt, float64, error) {
	v, err := look[activation](h)
	return v.mode, v.nan, v.coef, err
}

// SetActivationDescriptorSwishBeta sets the factor in Swish.
func (t *Thread) SetActivationDescriptorSwishBeta(h activationDesc, beta float64) error {
	return alter(h, func(v *activation) { v.swish = beta })
}

// GetActivationDescriptorSwishBeta tells the factor in Swish.
func (t *Thread) GetActivationDescriptorSwishBeta(h activationDesc) (float64, error) {
	v, err := look[activation](h)
	return v.swish, err
}

type opTensor struct {
	op      dnn.CudnnOpTensorOp_t
	compute dataType
	nan     nanOpt
}

// CreateOpTensorDescriptor makes one.
func (t *Thread) CreateOpTensorDescriptor() (uint64, error) { return create(opTensor{}) }

// DestroyOpTensorDescriptor ends one.
func (t *Thread) DestroyOpTensorDescriptor(h opTensorDesc) error { return destroy[opTensor](h) }

// SetOpTensorDescriptor sets the operation.
func (t *Thread) SetOpTensorDescriptor(h opTensorDesc, op dnn.CudnnOpTensorOp_t, compute dataType, nan nanOpt) error {
	if !known(op, dnn.CUDNN_OP_TENSOR_NOT) || !known(nan, dnn.CUDNN_PROPAGATE_NAN) || !computes(compute) && compute != dnn.CUDNN_DATA_BFLOAT16 {
		return because(badParam, "operation %d in type %d, NaN option %d", op, compute, nan)
	}
	return set(h, opTensor{op, compute, nan})
}

// computes says that arithmetic may be asked for in a type.
func computes(k dataType) bool {
	switch k {
	case dnn.CUDNN_DATA_FLOAT, dnn.CUDNN_DATA_DOUBLE, dnn.CUDNN_DATA_HALF:
		return true
	}
	return false
}

// GetOpTensorDescriptor tells the operation.
func (t *Thread) GetOpTensorDescriptor(h opTensorDesc) (dnn.CudnnOpTensorOp_t, dataType, nanOpt, error) {
	v, err := look[opTensor](h)
	return v.op, v.compute, v.nan, err
}

type reduction struct {
	op      dnn.CudnnReduceTensorOp_t
	compute dataType
	nan     nanOpt
	indices dnn.CudnnReduceTensorIndices_t
	index   dnn.CudnnIndicesType_t
}

// CreateReduceTensorDescriptor makes one.
func (t *Thread) CreateReduceTensorDescriptor() (uint64, error) { return create(reduction{}) }

// DestroyReduceTensorDescriptor ends one.
func (t *Thread) DestroyReduceTensorDescriptor(h reduceDesc) error { return destroy[reduction](h) }

// SetReduceTensorDescriptor sets the operation.
func (t *Thread) SetReduceTensorDescriptor(h reduceDesc, op dnn.CudnnReduceTensorOp_t, compute dataType, nan nanOpt, indices dnn.CudnnReduceTensorIndices_t, index dnn.CudnnIndicesType_t) error {
	if !known(op, dnn.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS) || !known(nan, dnn.CUDNN_PROPAGATE_NAN) || !computes(compute) {
		return because(badParam, "operation %d in type %d, NaN option %d", op, compute, nan)
	}
	if !known(indices, dnn.CUDNN_REDUCE_TENSOR_FLATTENED_INDICES) || !known(index, dnn.CUDNN_8BIT_INDICES) {
		return because(badParam, "indices %d of type %d", indices, index)
	}
	return set(h, reduction{op, compute, nan, indices, index})
}

// GetReduceTensorDescriptor tells the operation.
func (t *Thread) GetReduceTensorDescriptor(h reduceDesc) (dnn.CudnnReduceTensorOp_t, dataType, nanOpt, dnn.CudnnReduceTensorIndices_t, dnn.CudnnIndicesType_t, error) {
	v, err := look[reduction](h)
	return v.op, v.compute, v.nan, v.indices, v.index, err
}

type lrn struct {
	n              uint32
	alpha, beta, k float64
}

// The bounds of LRN's parameters that the header has with the type double.
const (
	minLRNK    = 1e-5
	minLRNBeta = 0.01
)

// CreateLRNDescriptor makes one.
func (t *Thread) CreateLRNDescriptor() (uint64, error) {
	return create(lrn{n: 5, alpha: 1e-4, beta: 0.75, k: 2})
}

// DestroyLRNDescriptor ends one.
func (t *Thread) DestroyLRNDescriptor(h lrnDesc) error { return destroy[lrn](h) }

// SetLRNDescriptor sets the window and the parameters.
func (t *Thread) SetLRNDescriptor(h lrnDesc, n uint32, alpha, beta, k float64) error {
	if n < dnn.CUDNN_LRN_MIN_N || n > dnn.CUDNN_LRN_MAX_N || !(k >= minLRNK) || !(beta >= minLRNBeta) {
		return because(badParam, "window %d, beta %g, k %g", n, beta, k)
	}
	return set(h, lrn{n, alpha, beta, k})
}

// GetLRNDescriptor tells the window and the parameters.
func (t *Thread) GetLRNDescriptor(h lrnDesc) (uint32, float64, float64, float64, error) {
	v, err := look[lrn](h)
	return v.n, v.alpha, v.beta, v.k, err
}
