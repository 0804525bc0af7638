package cudnn

import (
	"maps"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// The parameters of fused operations. Both packs are maps. Which labels an operation has, and of what they are, is in fusedlabels.go.

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

// plan has the constants of its operation once it is made.
type plan struct {
	op   fusedOp
	has  map[constLabel]any
	need uint64 // bytes of workspace
}

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
func (t *Thread) CreateFusedOpsPlan(op fusedOp) (uint64, error) { return createFused(op, plan{op: op}) }

// DestroyFusedOpsPlan ends one.
func (t *Thread) DestroyFusedOpsPlan(h fusedPlan) error { return destroy[plan](h) }

// SetFusedOpsConstParamPackAttribute sets one; NULL takes it away.
func (t *Thread) SetFusedOpsConstParamPackAttribute(h constPack, l constLabel, p hostmem.Ptr) error {
	of, err := look[constants](h)
	if err != nil {
		return err
	}
	if !hasConstant(of.op, l) {
		return because(badParam, "parameter %d of operation %d", l, of.op)
	}
	var v any
	if p != hostmem.Nil {
		if v, err = constantOf(l, p); err != nil {
			return err
		}
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
	if !hasConstant(c.op, l) || p == hostmem.Nil {
		return 0, because(badParam, "parameter %d of operation %d at %#x", l, c.op, uint64(p))
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

// SetFusedOpsVariantParamPackAttribute sets one.
func (t *Thread) SetFusedOpsVariantParamPackAttribute(h variantPack, l variantLabel, p hostmem.Ptr) error {
	of, err := look[variants](h)
	if err != nil {
		return err
	}
	if !hasVariant(of.op, l) {
		return because(badParam, "parameter %d of operation %d", l, of.op)
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
	if !hasVariant(x.op, l) || p == hostmem.Nil {
		return because(badParam, "parameter %d of operation %d at %#x", l, x.op, uint64(p))
	}
	hostmem.Store(p, x.has[l])
	return nil
}
