package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// Descriptors of CTC loss and of spatial transformers.

type (
	ctcDesc     = dnn.CudnnCTCLossDescriptor_t
	spatialDesc = dnn.CudnnSpatialTransformerDescriptor_t
	normalizing = dnn.CudnnLossNormalizationMode_t
)

type ctcLoss struct {
	compute   dataType
	normalize normalizing
	outside   int32 // what becomes of gradients outside: cudnnNanPropagation_t once, cudnnCTCGradMode_t since 9
	longest   int32 // label
}

// CreateCTCLossDescriptor makes one.
func (t *Thread) CreateCTCLossDescriptor() (uint64, error) { return create(ctcLoss{}) }

// DestroyCTCLossDescriptor ends one.
func (t *Thread) DestroyCTCLossDescriptor(h ctcDesc) error { return destroy[ctcLoss](h) }

func setCTC(h ctcDesc, v ctcLoss) error {
	if v.compute != dnn.CUDNN_DATA_FLOAT && v.compute != dnn.CUDNN_DATA_DOUBLE {
		return because(notSupported, "type %d", v.compute)
	}
	return set(h, v)
}

// SetCTCLossDescriptor takes probabilities.
func (t *Thread) SetCTCLossDescriptor(h ctcDesc, compute dataType) error {
	return setCTC(h, ctcLoss{compute: compute})
}

// SetCTCLossDescriptorEx says whether probabilities are made with softmax first.
func (t *Thread) SetCTCLossDescriptorEx(h ctcDesc, compute dataType, n normalizing, nan nanOpt) error {
	return setCTC(h, ctcLoss{compute: compute, normalize: n, outside: int32(nan)})
}

// SetCTCLossDescriptorV8 says how long labels are at most.
func (t *Thread) SetCTCLossDescriptorV8(h ctcDesc, compute dataType, n normalizing, nan nanOpt, longest int32) error {
	return setCTC(h, ctcLoss{compute, n, int32(nan), longest})
}

// SetCTCLossDescriptorV9 says what becomes of gradients outside of the sequences.
func (t *Thread) SetCTCLossDescriptorV9(h ctcDesc, compute dataType, n normalizing, g dnn.CudnnCTCGradMode_t, longest int32) error {
	return setCTC(h, ctcLoss{compute, n, int32(g), longest})
}

// GetCTCLossDescriptor tells the type.
func (t *Thread) GetCTCLossDescriptor(h ctcDesc) (dataType, error) {
	v, err := look[ctcLoss](h)
	return v.compute, err
}

// GetCTCLossDescriptorEx tells what was set.
func (t *Thread) GetCTCLossDescriptorEx(h ctcDesc) (dataType, normalizing, nanOpt, error) {
	v, err := look[ctcLoss](h)
	return v.compute, v.normalize, nanOpt(v.outside), err
}

// GetCTCLossDescriptorV8 tells what was set.
func (t *Thread) GetCTCLossDescriptorV8(h ctcDesc) (dataType, normalizing, nanOpt, int32, error) {
	v, err := look[ctcLoss](h)
	return v.compute, v.normalize, nanOpt(v.outside), v.longest, err
}

// GetCTCLossDescriptorV9 tells what was set.
func (t *Thread) GetCTCLossDescriptorV9(h ctcDesc) (dataType, normalizing, dnn.CudnnCTCGradMode_t, int32, error) {
	v, err := look[ctcLoss](h)
	return v.compute, v.normalize, dnn.CudnnCTCGradMode_t(v.outside), v.longest, err
}

type spatialTransformer struct {
	kind dataType
	dim  []int64 // of the result
}

// CreateSpatialTransformerDescriptor makes one.
func (t *Thread) CreateSpatialTransformerDescriptor() (uint64, error) {
	return create(spatialTransformer{})
}

// DestroySpatialTransformerDescriptor ends one.
func (t *Thread) DestroySpatialTransformerDescriptor(h spatialDesc) error {
	return destroy[spatialTransformer](h)
}

// SetSpatialTransformerNdDescriptor says what the result is.
func (t *Thread) SetSpatialTransformerNdDescriptor(h spatialDesc, s dnn.CudnnSamplerType_t, kind dataType, n int32, dims hostmem.Ptr) error {
	if s != dnn.CUDNN_SAMPLER_BILINEAR {
		return because(badParam, "sampler %d", s)
	}
	if !computes(kind) && kind != dnn.CUDNN_DATA_BFLOAT16 || n > maxDims {
		return because(notSupported, "type %d, %d dimensions", kind, n)
	}
	dim, err := ints(dims, n)
	if err != nil {
		return err
	}
	return set(h, spatialTransformer{kind, dim})
}
