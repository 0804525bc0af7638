package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Graphs are the driver's: the same handles, flags and structures, except for the parameters of nodes (graphnode.go).

// GraphCreate makes an empty graph.
func (t *Thread) GraphCreate(flags uint32) (rt.CudaGraph_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphCreate(flags)
	return rt.CudaGraph_t(r), err
}

// GraphDestroy gives a graph back.
func (t *Thread) GraphDestroy(g rt.CudaGraph_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphDestroy(cu.CUgraph(g))
}

// GraphDestroyNode takes a node out of its graph.
func (t *Thread) GraphDestroyNode(n rt.CudaGraphNode_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphDestroyNode(cu.CUgraphNode(n))
}

// GraphClone copies a graph.
func (t *Thread) GraphClone(g rt.CudaGraph_t) (rt.CudaGraph_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphClone(cu.CUgraph(g))
	return rt.CudaGraph_t(r), err
}

// GraphNodeFindInClone finds a node's copy.
func (t *Thread) GraphNodeFindInClone(n rt.CudaGraphNode_t, clone rt.CudaGraph_t) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphNodeFindInClone(cu.CUgraphNode(n), cu.CUgraph(clone))
	return rt.CudaGraphNode_t(r), err
}

// GraphNodeGetType is what a node does.
func (t *Thread) GraphNodeGetType(n rt.CudaGraphNode_t) (rt.CudaGraphNodeType, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphNodeGetType(cu.CUgraphNode(n))
	return rt.CudaGraphNodeType(r), err
}

// GraphNodeGetContainingGraph is the graph of a node.
func (t *Thread) GraphNodeGetContainingGraph(n rt.CudaGraphNode_t) (rt.CudaGraph_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphNodeGetContainingGraph(cu.CUgraphNode(n))
	return rt.CudaGraph_t(r), err
}

// GraphNodeGetLocalId is unique in the graph.
func (t *Thread) GraphNodeGetLocalId(n rt.CudaGraphNode_t) (uint32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.GraphNodeGetLocalId(cu.CUgraphNode(n))
}

// GraphNodeGetToolsId is unique in the process.
func (t *Thread) GraphNodeGetToolsId(n rt.CudaGraphNode_t) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.GraphNodeGetToolsId(cu.CUgraphNode(n))
}

// GraphGetId is unique in the process.
func (t *Thread) GraphGetId(g rt.CudaGraph_t) (uint32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.GraphGetId(cu.CUgraph(g))
}

// GraphGetNodes lists nodes.
func (t *Thread) GraphGetNodes(g rt.CudaGraph_t, out hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphGetNodes(cu.CUgraph(g), out, num)
}

// GraphGetRootNodes lists nodes that follow nothing.
func (t *Thread) GraphGetRootNodes(g rt.CudaGraph_t, out hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphGetRootNodes(cu.CUgraph(g), out, num)
}

// GraphGetEdges12 lists edges, in CUDA 12.
func (t *Thread) GraphGetEdges12(g rt.CudaGraph_t, from hostmem.Ptr, to hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphGetEdges(cu.CUgraph(g), from, to, num)
}

// GraphGetEdges lists edges with their data.
func (t *Thread) GraphGetEdges(g rt.CudaGraph_t, from hostmem.Ptr, to hostmem.Ptr, data hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphGetEdgesV2(cu.CUgraph(g), from, to, data, num)
}

// GraphNodeGetDependencies12 lists what a node follows, in CUDA 12.
func (t *Thread) GraphNodeGetDependencies12(n rt.CudaGraphNode_t, out hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphNodeGetDependencies(cu.CUgraphNode(n), out, num)
}

// GraphNodeGetDependencies lists what a node follows.
func (t *Thread) GraphNodeGetDependencies(n rt.CudaGraphNode_t, out hostmem.Ptr, data hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphNodeGetDependenciesV2(cu.CUgraphNode(n), out, data, num)
}

// GraphNodeGetDependentNodes12 lists what follows a node, in CUDA 12.
func (t *Thread) GraphNodeGetDependentNodes12(n rt.CudaGraphNode_t, out hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphNodeGetDependentNodes(cu.CUgraphNode(n), out, num)
}

// GraphNodeGetDependentNodes lists what follows a node.
func (t *Thread) GraphNodeGetDependentNodes(n rt.CudaGraphNode_t, out hostmem.Ptr, data hostmem.Ptr, num hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphNodeGetDependentNodesV2(cu.CUgraphNode(n), out, data, num)
}

// GraphAddDependencies12 adds edges, in CUDA 12.
func (t *Thread) GraphAddDependencies12(g rt.CudaGraph_t, from hostmem.Ptr, to hostmem.Ptr, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphAddDependencies(cu.CUgraph(g), from, to, n)
}

// GraphAddDependencies adds edges.
func (t *Thread) GraphAddDependencies(g rt.CudaGraph_t, from hostmem.Ptr, to hostmem.Ptr, data hostmem.Ptr, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphAddDependenciesV2(cu.CUgraph(g), from, to, data, n)
}

// GraphRemoveDependencies12 takes edges away, in CUDA 12.
func (t *Thread) GraphRemoveDependencies12(g rt.CudaGraph_t, from hostmem.Ptr, to hostmem.Ptr, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphRemoveDependencies(cu.CUgraph(g), from, to, n)
}

// GraphRemoveDependencies takes edges away.
func (t *Thread) GraphRemoveDependencies(g rt.CudaGraph_t, from hostmem.Ptr, to hostmem.Ptr, data hostmem.Ptr, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphRemoveDependenciesV2(cu.CUgraph(g), from, to, data, n)
}

// GraphDebugDotPrint writes a picture of a graph.
func (t *Thread) GraphDebugDotPrint(g rt.CudaGraph_t, path string, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphDebugDotPrint(cu.CUgraph(g), path, flags)
}

// GraphInstantiate makes a graph ready to be launched.
func (t *Thread) GraphInstantiate(g rt.CudaGraph_t, flags uint64) (rt.CudaGraphExec_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphInstantiateWithFlags(cu.CUgraph(g), flags)
	return rt.CudaGraphExec_t(r), err
}

// GraphInstantiateWithFlags is GraphInstantiate.
func (t *Thread) GraphInstantiateWithFlags(g rt.CudaGraph_t, flags uint64) (rt.CudaGraphExec_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphInstantiateWithFlags(cu.CUgraph(g), flags)
	return rt.CudaGraphExec_t(r), err
}

// GraphInstantiateWithParams is GraphInstantiate and tells what went wrong.
func (t *Thread) GraphInstantiateWithParams(g rt.CudaGraph_t, params hostmem.Ptr) (rt.CudaGraphExec_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphInstantiateWithParams(cu.CUgraph(g), params)
	return rt.CudaGraphExec_t(r), err
}

// GraphExecGetFlags is the flags it was made with.
func (t *Thread) GraphExecGetFlags(x rt.CudaGraphExec_t) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.GraphExecGetFlags(cu.CUgraphExec(x))
}

// GraphExecGetId is unique in the process.
func (t *Thread) GraphExecGetId(x rt.CudaGraphExec_t) (uint32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.GraphExecGetId(cu.CUgraphExec(x))
}

// GraphExecDestroy gives it back.
func (t *Thread) GraphExecDestroy(x rt.CudaGraphExec_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphExecDestroy(cu.CUgraphExec(x))
}

// GraphLaunch runs a graph in the order of a stream.
func (t *Thread) GraphLaunch(x rt.CudaGraphExec_t, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphLaunch(cu.CUgraphExec(x), cu.CUstream(s))
}

// GraphUpload readies a graph for its first launch.
func (t *Thread) GraphUpload(x rt.CudaGraphExec_t, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphUpload(cu.CUgraphExec(x), cu.CUstream(s))
}

// GraphExecUpdate takes on the parameters of a graph of the same shape.
func (t *Thread) GraphExecUpdate(x rt.CudaGraphExec_t, g rt.CudaGraph_t, result hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphExecUpdate(cu.CUgraphExec(x), cu.CUgraph(g), result)
}

// GraphExecChildGraphNodeSetParams takes on the parameters of a child of the same shape.
func (t *Thread) GraphExecChildGraphNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, child rt.CudaGraph_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphExecChildGraphNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), cu.CUgraph(child))
}

// GraphNodeSetEnabled switches a node on or off.
func (t *Thread) GraphNodeSetEnabled(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, on uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphNodeSetEnabled(cu.CUgraphExec(x), cu.CUgraphNode(n), on)
}

// GraphNodeGetEnabled tells whether a node is on.
func (t *Thread) GraphNodeGetEnabled(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t) (uint32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.GraphNodeGetEnabled(cu.CUgraphExec(x), cu.CUgraphNode(n))
}

// GraphAddChildGraphNode adds a graph as a node.
func (t *Thread) GraphAddChildGraphNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, child rt.CudaGraph_t) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddChildGraphNode(cu.CUgraph(g), deps, n, cu.CUgraph(child))
	return rt.CudaGraphNode_t(r), err
}

// GraphChildGraphNodeGetGraph is the graph of such a node.
func (t *Thread) GraphChildGraphNodeGetGraph(n rt.CudaGraphNode_t) (rt.CudaGraph_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphChildGraphNodeGetGraph(cu.CUgraphNode(n))
	return rt.CudaGraph_t(r), err
}

// GraphAddEmptyNode adds a node that only orders others.
func (t *Thread) GraphAddEmptyNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddEmptyNode(cu.CUgraph(g), deps, n)
	return rt.CudaGraphNode_t(r), err
}

// GraphAddEventRecordNode adds the record of an event.
func (t *Thread) GraphAddEventRecordNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, e rt.CudaEvent_t) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddEventRecordNode(cu.CUgraph(g), deps, n, cu.CUevent(e))
	return rt.CudaGraphNode_t(r), err
}

// GraphEventRecordNodeGetEvent is the event of such a node.
func (t *Thread) GraphEventRecordNodeGetEvent(n rt.CudaGraphNode_t) (rt.CudaEvent_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphEventRecordNodeGetEvent(cu.CUgraphNode(n))
	return rt.CudaEvent_t(r), err
}

// GraphEventRecordNodeSetEvent changes it.
func (t *Thread) GraphEventRecordNodeSetEvent(n rt.CudaGraphNode_t, e rt.CudaEvent_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphEventRecordNodeSetEvent(cu.CUgraphNode(n), cu.CUevent(e))
}

// GraphExecEventRecordNodeSetEvent changes it in what was instantiated.
func (t *Thread) GraphExecEventRecordNodeSetEvent(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, e rt.CudaEvent_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphExecEventRecordNodeSetEvent(cu.CUgraphExec(x), cu.CUgraphNode(n), cu.CUevent(e))
}

// GraphAddEventWaitNode adds the wait for an event.
func (t *Thread) GraphAddEventWaitNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, e rt.CudaEvent_t) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddEventWaitNode(cu.CUgraph(g), deps, n, cu.CUevent(e))
	return rt.CudaGraphNode_t(r), err
}

// GraphEventWaitNodeGetEvent is the event of such a node.
func (t *Thread) GraphEventWaitNodeGetEvent(n rt.CudaGraphNode_t) (rt.CudaEvent_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphEventWaitNodeGetEvent(cu.CUgraphNode(n))
	return rt.CudaEvent_t(r), err
}

// GraphEventWaitNodeSetEvent changes it.
func (t *Thread) GraphEventWaitNodeSetEvent(n rt.CudaGraphNode_t, e rt.CudaEvent_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphEventWaitNodeSetEvent(cu.CUgraphNode(n), cu.CUevent(e))
}

// GraphExecEventWaitNodeSetEvent changes it in what was instantiated.
func (t *Thread) GraphExecEventWaitNodeSetEvent(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, e rt.CudaEvent_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphExecEventWaitNodeSetEvent(cu.CUgraphExec(x), cu.CUgraphNode(n), cu.CUevent(e))
}

// GraphKernelNodeCopyAttributes copies the attributes of a kernel node.
func (t *Thread) GraphKernelNodeCopyAttributes(dst rt.CudaGraphNode_t, src rt.CudaGraphNode_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphKernelNodeCopyAttributes(cu.CUgraphNode(dst), cu.CUgraphNode(src))
}

// GraphAddMemAllocNode adds an allocation.
func (t *Thread) GraphAddMemAllocNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, params hostmem.Ptr) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddMemAllocNode(cu.CUgraph(g), deps, n, params)
	return rt.CudaGraphNode_t(r), err
}

// GraphAddMemFreeNode adds a free.
func (t *Thread) GraphAddMemFreeNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, p hostmem.Ptr) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddMemFreeNode(cu.CUgraph(g), deps, n, driver.DevPtr(p))
	return rt.CudaGraphNode_t(r), err
}

// DeviceGetGraphMemAttribute writes how much memory graphs have.
func (t *Thread) DeviceGetGraphMemAttribute(dev int32, attr rt.CudaGraphMemAttributeType, value hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.DeviceGetGraphMemAttribute(dev, cu.CUgraphMem_attribute(attr), value)
}

// DeviceSetGraphMemAttribute resets a high-water mark.
func (t *Thread) DeviceSetGraphMemAttribute(dev int32, attr rt.CudaGraphMemAttributeType, value hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.DeviceSetGraphMemAttribute(dev, cu.CUgraphMem_attribute(attr), value)
}

// DeviceGraphMemTrim gives unused memory of graphs back.
func (t *Thread) DeviceGraphMemTrim(dev int32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.DeviceGraphMemTrim(dev)
}

// UserObjectCreate makes an object that graphs keep alive.
func (t *Thread) UserObjectCreate(p hostmem.Ptr, destroy rt.CudaHostFn_t, refs uint32, flags uint32) (rt.CudaUserObject_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.UserObjectCreate(p, cu.CUhostFn(destroy), refs, flags)
	return rt.CudaUserObject_t(r), err
}

// UserObjectRetain adds references.
func (t *Thread) UserObjectRetain(o rt.CudaUserObject_t, n uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.UserObjectRetain(cu.CUuserObject(o), n)
}

// UserObjectRelease takes references away.
func (t *Thread) UserObjectRelease(o rt.CudaUserObject_t, n uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.UserObjectRelease(cu.CUuserObject(o), n)
}

// GraphRetainUserObject gives a graph references.
func (t *Thread) GraphRetainUserObject(g rt.CudaGraph_t, o rt.CudaUserObject_t, n uint32, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphRetainUserObject(cu.CUgraph(g), cu.CUuserObject(o), n, flags)
}

// GraphReleaseUserObject takes references of a graph away.
func (t *Thread) GraphReleaseUserObject(g rt.CudaGraph_t, o rt.CudaUserObject_t, n uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphReleaseUserObject(cu.CUgraph(g), cu.CUuserObject(o), n)
}
