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

// Workspace is the memory that a plan needs from the program for the sizes of a variant pack: none. A program may run a plan without
// asking (XLA does, where it does not time plans), and then nothing says that its workspace is too small for what lies between
// operations.
func Workspace(planned, packed *Descriptor) (int64, error) {
	_, _, err := prepared(planned, packed)
	return 0, err
}

// Between is the memory that a finished plan takes from its handle, for what lies between its operations.
func Between(planned *Descriptor) int64 { return planned.made.(*plan).graph.between() }

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
	if n := x.layout(); n > 0 {
		at, done, err := r.Between(n)
		if err != nil {
			return err
		}
		defer done()
		x.base = at
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
