package graph

import (
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// unpacking is a step that copies a tensor whose sequences lie packed to one without gaps, or back.
type unpacking struct {
	t    *tensor
	back bool
}

func (u *unpacking) run(x *exec) error {
	return x.Sequences(x.lying(u.t), x.tensor(u.t), x.lying(u.t.ragged), u.t.unit, u.back)
}

func checkPages(o *operation) error {
	g := o.g
	c, y, table := g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC)
	length := g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC)
	if len(c.dim) != 4 || len(y.dim) != 4 || len(table.dim) != 4 || c.elem != y.elem || table.elem != nn.S32 || length != nil && length.elem != nn.S32 {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "pages %v of %v, table %v of %v", c.dim, c.elem, table.dim, table.elem)
	}
	s := y.shape().SequenceAxis()
	if y.dim[5-s] != c.dim[3] || y.dim[1] != c.dim[1] || table.dim[0] != y.dim[0] || table.dim[2]*c.dim[2] < y.dim[s] {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "pages %v and table %v for %v", c.dim, table.dim, y.dim)
	}
	return nil
}

func runPages(x *exec, o *operation) error {
	g := o.g
	var lengths uint64
	if t := g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC); t != nil {
		lengths = x.tensor(t).Addr
	}
	return x.Pages(x.tensor(g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC)), x.tensor(g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC)),
		x.tensor(g.tensor(dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC)), lengths)
}
