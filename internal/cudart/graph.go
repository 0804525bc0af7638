package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Graphs are the driver's: the same handles, flags and structures, except for the parameters of nodes (graphnode.go).

// GraphInstantiate makes a graph ready to be launched.
func (t *Thread) GraphInstantiate(g rt.CudaGraph_t, flags uint64) (rt.CudaGraphExec_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphInstantiateWithFlags(cu.CUgraph(g), flags)
	return rt.CudaGraphExec_t(r), err
}

// GraphExecUpdate takes on the parameters of a graph of the same shape.
func (t *Thread) GraphExecUpdate(x rt.CudaGraphExec_t, g rt.CudaGraph_t, result hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphExecUpdate(cu.CUgraphExec(x), cu.CUgraph(g), result)
}
