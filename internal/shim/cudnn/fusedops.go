package cudnn

import (
	"maps"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// The parameters of fused operations. Both packs are maps; no plan is made of them, as on GPUs for which there are no such kernels.

type (
	constPack    = dnn.CudnnFusedOpsConstParamPack_t
	variantPack  = dnn.CudnnFusedOpsVariantParamPack_t
	constLabel   = dnn.CudnnFusedOpsConstParamLabel_t
	variantLabel = dnn.CudnnFusedOpsVariantParamLabel_t
	fusedPlan    = dnn.CudnnFusedOpsPlan_t
	fusedOp      = dnn.CudnnFusedOps_t
)

// constants are the parameters that a plan is made of: values of descriptors, or numbers.
type constants struct {
	op  fusedOp
	has map[constLabel]any
}

// variants are those of one execution: addresses, or the bits of numbers.
type variants struct {
	op  fusedOp
	has map[variantLabel]uint64
}

type plan struct{ op fusedOp }

func createFused[T any](op fusedOp, v T) (uint64, error) {
	if !known(op, dnn.CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM) {
		return 0, because(badParam, "operation %d", op)
	}
	return create(v)
}

// CreateFusedOpsConstParamPack makes one.
func (t *Thread) CreateFusedOpsConstParamPack(op fusedOp) (uint64, error) {
	return createFused(op, constants{op: op})
}

// DestroyFusedOpsConstParamPack ends one.
func (t *Thread) DestroyFusedOpsConstParamPack(h constPack) error { return destroy[constants](h) }

// CreateFusedOpsVariantParamPack makes one.
func (t *Thread) CreateFusedOpsVariantParamPack(op fusedOp) (uint64, error) {
	return createFused(op, variants{op: op})
}

// DestroyFusedOpsVariantParamPack ends one.
func (t *Thread) DestroyFusedOpsVariantParamPack(h variantPack) error { return destroy[variants](h) }

// CreateFusedOpsPlan makes one.
func (t *Thread) CreateFusedOpsPlan(op fusedOp) (uint64, error) { return createFused(op, plan{op}) }

// DestroyFusedOpsPlan ends one.
func (t *Thread) DestroyFusedOpsPlan(h fusedPlan) error { return destroy[plan](h) }

// describes says whether a constant is the value of a descriptor: programs pass the descriptor itself.
func describes(l constLabel) bool {
	switch l {
	case dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_BN_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_ACTIVATION_DESC, dnn.CUDNN_PARAM_CONV_DESC,
		dnn.CUDNN_PARAM_WDESC, dnn.CUDNN_PARAM_DWDESC, dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_DYDESC, dnn.CUDNN_PARAM_YSTATS_DESC,
		dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, dnn.CUDNN_PARAM_ZDESC, dnn.CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC,
		dnn.CUDNN_PARAM_ACTIVATION_BITMASK_DESC, dnn.CUDNN_PARAM_DXDESC, dnn.CUDNN_PARAM_DZDESC:
		return true
	}
	return false
}

// SetFusedOpsConstParamPackAttribute sets one; NULL takes it away.
func (t *Thread) SetFusedOpsConstParamPackAttribute(h constPack, l constLabel, p hostmem.Ptr) error {
	if !known(l, dnn.CUDNN_PARAM_BN_DBIAS_PLACEHOLDER) {
		return because(badParam, "parameter %d", l)
	}
	var v any
	switch {
	case p == hostmem.Nil:
	case describes(l):
		d := descriptors.Get(handle.Value(p))
		if d == nil {
			return because(badParam, "%#x is no descriptor", uint64(p))
		}
		v = d.now.Load()
	default:
		v = hostmem.Load[int32](p)
	}
	return alter(h, func(c *constants) {
		c.has = maps.Clone(c.has)
		if c.has == nil {
			c.has = map[constLabel]any{}
		}
		if c.has[l] = v; v == nil {
			delete(c.has, l)
		}
	})
}

// GetFusedOpsConstParamPackAttribute copies one, into a descriptor of the program where it is the value of one.
func (t *Thread) GetFusedOpsConstParamPackAttribute(h constPack, l constLabel, p hostmem.Ptr) (isNull int32, err error) {
	c, err := look[constants](h)
	if err != nil {
		return 0, err
	}
	if !known(l, dnn.CUDNN_PARAM_BN_DBIAS_PLACEHOLDER) || p == hostmem.Nil {
		return 0, because(badParam, "parameter %d at %#x", l, uint64(p))
	}
	v, ok := c.has[l]
	if !ok {
		return 1, nil
	}
	if n, ok := v.(int32); ok {
		hostmem.Store(p, n)
		return 0, nil
	}
	switch v := v.(type) {
	case tensor:
		err = set(tensorDesc(p), v)
	case filter:
		err = set(filterDesc(p), v)
	case convolution:
		err = set(convDesc(p), v)
	case activation:
		err = set(activationDesc(p), v)
	}
	return 0, err
}

// firstScalar is where the labels of numbers begin: programs pass their addresses.
const firstScalar = dnn.CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES

func variantKnown(l variantLabel) bool {
	return known(l, dnn.CUDNN_PTR_BN_DBIAS) || l >= firstScalar && l <= dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON
}

// SetFusedOpsVariantParamPackAttribute sets one.
func (t *Thread) SetFusedOpsVariantParamPackAttribute(h variantPack, l variantLabel, p hostmem.Ptr) error {
	if !variantKnown(l) {
		return because(badParam, "parameter %d", l)
	}
	v := uint64(p)
	if l >= firstScalar {
		if p == hostmem.Nil {
			return because(badParam, "no value of parameter %d", l)
		}
		v = hostmem.Load[uint64](p)
	}
	return alter(h, func(x *variants) {
		x.has = maps.Clone(x.has)
		if x.has == nil {
			x.has = map[variantLabel]uint64{}
		}
		x.has[l] = v
	})
}

// GetFusedOpsVariantParamPackAttribute tells one.
func (t *Thread) GetFusedOpsVariantParamPackAttribute(h variantPack, l variantLabel, p hostmem.Ptr) error {
	x, err := look[variants](h)
	if err != nil {
		return err
	}
	if !variantKnown(l) || p == hostmem.Nil {
		return because(badParam, "parameter %d at %#x", l, uint64(p))
	}
	hostmem.Store(p, x.has[l])
	return nil
}
