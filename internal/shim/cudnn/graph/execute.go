package graph

import (
	"errors"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// number is the element of a tensor that is given by value.
func (x *exec) number(t *tensor) float64 {
	if t.known != nil {
		return *t.known
	}
	return t.elem.Value(hostmem.Bytes(hostmem.Ptr(x.pack.at[t.uid]), uint64(t.elem.Size())))
}

// prepared finds plan and pack, and says whether all tensors of the plan are there.
func prepared(planned, packed *Descriptor) (*plan, *pack, error) {
	if planned.kind != ExecutionPlan || packed.kind != VariantPack || !planned.Final() || !packed.Final() {
		return nil, nil, fail(dnn.CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a plan or variant pack that is not finalized")
	}
	p, k := planned.made.(*plan), packed.made.(*pack)
	for _, o := range p.graph.ops {
		for _, t := range slices.Concat(o.in, o.out) {
			if s, ok := k.other[t.uid]; ok && len(s.dim) != len(t.dim) {
				return nil, nil, fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "sizes %v for tensor %d of sizes %v", s.dim, t.uid, t.dim)
			}
		}
	}
	return p, k, nil
}

// Workspace is the memory that a plan needs for the sizes of a variant pack.
func Workspace(planned, packed *Descriptor) (int64, error) {
	p, k, err := prepared(planned, packed)
	if err != nil {
		return 0, err
	}
	return (&exec{gr: p.graph, pack: k}).layout(0), nil
}

// Execute enqueues a plan on the tensors of a variant pack.
func Execute(r *nn.Run, planned, packed *Descriptor) error {
	p, k, err := prepared(planned, packed)
	if err != nil {
		return err
	}
	for _, o := range p.graph.ops {
		for _, t := range slices.Concat(o.in, o.out) {
			if !k.has(t) || t.ragged != nil && !k.has(t.ragged) {
				return fail(dnn.CUDNN_STATUS_BAD_PARAM, "tensor %d has no address", t.uid)
			}
		}
	}
	x := &exec{Run: r, gr: p.graph, pack: k}
	if n := x.layout(k.workspace); n > 0 && k.workspace == 0 {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no workspace, where %d bytes are needed", n)
	}
	for _, s := range p.graph.steps {
		if err := s.run(x); err != nil {
			return translated(err)
		}
	}
	return nil
}

// has reports a tensor that has an address, or needs none.
func (k *pack) has(t *tensor) bool { return t.virtual || t.known != nil || k.at[t.uid] != 0 }

// translated gives errors of operations their codes.
func translated(err error) error {
	switch {
	case errors.Is(err, nn.ErrShape):
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "%v", err)
	case errors.Is(err, nn.ErrUnsupported):
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "%v", err)
	}
	return err
}
