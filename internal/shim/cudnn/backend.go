package cudnn

import (
	"encoding/binary"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/graph"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/dnn"
	"kudzu/internal/spec/rt"
)

// backendDesc is a program's name for a descriptor of the backend API.
type backendDesc = dnn.CudnnBackendDescriptor_t

var backends = handle.NewTable[graph.Descriptor](handle.CudnnBackend, "cuDNN backend descriptors")

// lookBackend finds a descriptor.
func lookBackend(d backendDesc) (*graph.Descriptor, error) {
	if d == 0 {
		return nil, because(nullPointer, "no descriptor")
	}
	x := backends.Get(handle.Value(d))
	if x == nil {
		return nil, because(badParam, "%#x is no backend descriptor", d)
	}
	return x, nil
}

// BackendCreateDescriptor makes a descriptor without attributes.
func (t *Thread) BackendCreateDescriptor(k dnn.CudnnBackendDescriptorType_t) (uint64, error) {
	d, err := graph.New(k)
	if err != nil {
		return 0, err
	}
	return issued(backends.New(d))
}

// BackendDestroyDescriptor ends a descriptor; those that refer to it keep what it says.
func (t *Thread) BackendDestroyDescriptor(d backendDesc) error {
	if _, err := lookBackend(d); err != nil {
		return err
	}
	backends.Delete(handle.Value(d))
	return nil
}

// BackendInitialize takes all attributes from a descriptor.
func (t *Thread) BackendInitialize(d backendDesc) error {
	x, err := lookBackend(d)
	if err != nil {
		return err
	}
	x.Reset()
	return nil
}

// BackendFinalize checks the attributes of a descriptor and fixes them.
func (t *Thread) BackendFinalize(d backendDesc) error {
	x, err := lookBackend(d)
	if err != nil {
		return err
	}
	return x.Finalize()
}

// BackendSetAttribute sets an attribute.
func (t *Thread) BackendSetAttribute(d backendDesc, name dnn.CudnnBackendAttributeName_t, typ dnn.CudnnBackendAttributeType_t, count int64, array hostmem.Ptr) error {
	x, err := lookBackend(d)
	if err != nil {
		return err
	}
	if err := x.CheckSet(name, typ, count); err != nil {
		return err
	}
	if array == hostmem.Nil && count > 0 {
		return because(badParam, "no elements of attribute %d", name)
	}
	var e graph.Elements
	if count > 0 {
		e.Bytes = hostmem.Bytes(array, uint64(graph.ElementBytes(typ, count)))
	}
	switch typ {
	case dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR:
		if e.Refs, err = references(e.Bytes); err != nil {
			return err
		}
	case dnn.CUDNN_TYPE_HANDLE:
		if _, err := find(Handle(binary.LittleEndian.Uint64(e.Bytes))); err != nil {
			return err
		}
	}
	return x.Set(name, typ, e)
}

// references are the descriptors an array names, nil for those that are NULL.
func references(array []byte) ([]*graph.Descriptor, error) {
	refs := make([]*graph.Descriptor, len(array)/8)
	for i := range refs {
		d := binary.LittleEndian.Uint64(array[8*i:])
		if d == 0 {
			continue
		}
		r, err := lookBackend(d)
		if err != nil {
			return nil, err
		}
		refs[i] = r
	}
	return refs, nil
}

// BackendGetAttribute reads an attribute: as many of its elements as there is place for, and how many that were, or without a place how
// many it has. Descriptors are copied into those that the program has made for them.
func (t *Thread) BackendGetAttribute(d backendDesc, name dnn.CudnnBackendAttributeName_t, typ dnn.CudnnBackendAttributeType_t, asked int64, array hostmem.Ptr) (int64, error) {
	if d == 0 {
		return 0, because(badParam, "no descriptor")
	}
	x, err := lookBackend(d)
	if err != nil {
		return 0, err
	}
	if array == hostmem.Nil {
		asked = 0
	} else if asked < 0 {
		return 0, because(badParam, "%d elements of attribute %d", asked, name)
	}
	n, e, err := x.Get(name, typ, asked)
	if err != nil {
		return 0, err
	}
	if asked > 0 {
		n = min(n, asked)
	}
	if e.Refs == nil {
		if len(e.Bytes) > 0 {
			copy(hostmem.Bytes(array, uint64(len(e.Bytes))), e.Bytes)
		}
		return n, nil
	}
	if len(e.Refs) == 0 {
		return n, nil
	}
	into, err := references(hostmem.Bytes(array, uint64(8*len(e.Refs))))
	if err != nil {
		return 0, err
	}
	for i, r := range e.Refs {
		if into[i] == nil {
			return 0, because(nullPointer, "no descriptor for a result")
		}
		if err := into[i].Become(r); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// planned finds a plan and a variant pack.
func planned(plan, pack backendDesc) (p, k *graph.Descriptor, err error) {
	if plan == 0 || pack == 0 {
		return nil, nil, because(badParam, "no plan or no variant pack")
	}
	if p, err = lookBackend(plan); err != nil {
		return nil, nil, err
	}
	k, err = lookBackend(pack)
	return p, k, err
}

// BackendExecute enqueues a plan on the stream of a handle.
func (t *Thread) BackendExecute(h Handle, plan, pack backendDesc) error {
	r, err := t.work(h)
	if err != nil {
		return err
	}
	p, k, err := planned(plan, pack)
	if err != nil {
		return err
	}
	return graph.Execute(r, p, k)
}

// GetExecutionPlanWorkspaceSize is the memory that a plan needs for the sizes of a variant pack.
func (t *Thread) GetExecutionPlanWorkspaceSize(h Handle, plan, pack backendDesc) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	p, k, err := planned(plan, pack)
	if err != nil {
		return 0, err
	}
	n, err := graph.Workspace(p, k)
	return uint64(n), err
}

// BackendPopulateCudaGraph puts the kernels of a plan into an empty graph: they are captured.
func (t *Thread) BackendPopulateCudaGraph(h Handle, plan, pack backendDesc, g rt.CudaGraph_t) error {
	r, err := t.work(h)
	if err != nil {
		return err
	}
	p, k, err := planned(plan, pack)
	if err != nil {
		return err
	}
	d := t.driver()
	s, err := d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	if err != nil {
		return err
	}
	defer func() { _ = d.StreamDestroy(s) }()
	if err := d.StreamBeginCaptureToGraph(s, cu.CUgraph(g), hostmem.Nil, hostmem.Nil, 0, cu.CU_STREAM_CAPTURE_MODE_RELAXED); err != nil {
		return err
	}
	r.Stream = s
	failed := graph.Execute(r, p, k)
	var same cu.CUgraph
	if err := d.StreamEndCapture(s, hostmem.Of(&same)); failed == nil {
		failed = err
	}
	return failed
}

// BackendUpdateCudaGraph puts the kernels for another variant pack in the place of those of a graph.
func (t *Thread) BackendUpdateCudaGraph(h Handle, plan, pack backendDesc, g rt.CudaGraph_t) error {
	d := t.driver()
	var n uint64
	if err := d.GraphGetNodes(cu.CUgraph(g), hostmem.Nil, hostmem.Of(&n)); err != nil {
		return err
	}
	if n > 0 {
		nodes := make([]cu.CUgraphNode, n)
		if err := d.GraphGetNodes(cu.CUgraph(g), hostmem.Of(&nodes[0]), hostmem.Of(&n)); err != nil {
			return err
		}
		for _, node := range nodes {
			if err := d.GraphDestroyNode(node); err != nil {
				return err
			}
		}
	}
	return t.BackendPopulateCudaGraph(h, plan, pack, g)
}
