package driver

import (
	"syscall"

	"kudzu/internal/backend"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// ExternalMemory is memory that came as a file descriptor: what cuMemExportToShareableHandle gives, here or in another
// process. Memory of graphics interfaces is never ours to map, and its descriptors are refused as the real driver refuses
// what it does not know.
type ExternalMemory struct {
	dev  *Device
	fd   int
	size uint64
}

// externals is the books; there are few of them.
type externals struct {
	table *handle.Table[ExternalMemory]
}

// ImportExternalMemory takes memory from outside.
func (t *Thread) ImportExternalMemory(d *cu.CUDA_EXTERNAL_MEMORY_HANDLE_DESC) (cu.CUexternalMemory, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	switch d.Type {
	case cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD:
	case cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT, cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP,
		cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE, cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE, cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT,
		cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF, cu.CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD:
		return 0, errNotSupported
	default:
		return 0, errInvalidValue
	}
	if d.Size == 0 || d.Flags&^cu.CUDA_EXTERNAL_MEMORY_DEDICATED != 0 {
		return 0, errInvalidValue
	}
	v := c.dev.files()
	if v == nil {
		return 0, errNotSupported
	}
	fd := int(*d.Handle.Fd())
	var st syscall.Stat_t
	if fd < 0 || syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size <= 0 || uint64(st.Size)%v.Unit() != 0 || d.Size > uint64(st.Size) {
		return 0, errUnknown
	}
	m := &ExternalMemory{dev: c.dev, fd: fd, size: uint64(st.Size)} // the descriptor is ours from here on
	h := c.state.externals.table.New(m)
	if h == 0 {
		return 0, errOutOfMemory
	}
	return cu.CUexternalMemory(h), nil
}

// external finds memory from outside.
func (t *Thread) external(h cu.CUexternalMemory) (*state, *ExternalMemory, error) {
	s, err := t.enter()
	if err != nil {
		return nil, nil, err
	}
	m := s.externals.table.Get(handleValue(h))
	if m == nil {
		return nil, nil, errInvalidValue
	}
	return s, m, nil
}

// ExternalMemoryGetMappedBuffer maps a part of it. The whole file is mapped for each buffer: its unit is the file's.
func (t *Thread) ExternalMemoryGetMappedBuffer(h cu.CUexternalMemory, d *cu.CUDA_EXTERNAL_MEMORY_BUFFER_DESC) (DevPtr, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	_, m, err := t.external(h)
	if err != nil {
		return 0, err
	}
	if d.Flags != 0 || d.Size == 0 || d.Offset > m.size || d.Size > m.size-d.Offset {
		return 0, errInvalidValue
	}
	v := m.dev.virtual()
	base, err := v.Reserve(m.size, 0)
	if err != nil {
		return 0, plain(err)
	}
	i := &imported{dev: m.dev, base: uint64(base), length: m.size, refs: 1}
	if err = v.Map(base, m.size, m.fd, 0); err == nil {
		err = v.SetAccess(base, m.size, true)
	}
	if err != nil {
		i.unmap()
		return 0, plain(err)
	}
	a := &alloc{base: uint64(base) + d.Offset, size: d.Size, kind: allocShared}
	s := c.state
	s.sharing.mu.Lock()
	i.at, i.key = a.base, ipcHandle{kind: ipcPoolPointer, size: a.base} // the program frees it with cuMemFree
	s.sharing.add(i)
	s.sharing.mu.Unlock()
	if err := c.newAlloc(a); err != nil {
		return 0, err
	}
	return DevPtr(a.base), nil
}

// DestroyExternalMemory gives the memory back; buffers that are mapped stay until they are freed.
func (t *Thread) DestroyExternalMemory(h cu.CUexternalMemory) error {
	s, m, err := t.external(h)
	if err != nil {
		return err
	}
	if s.externals.table.Delete(handleValue(h)) == nil {
		return errInvalidValue
	}
	_ = syscall.Close(m.fd)
	return nil
}

// ExternalMemoryGetMappedMipmappedArray would need a layout that only a graphics interface knows.
func (t *Thread) ExternalMemoryGetMappedMipmappedArray(h cu.CUexternalMemory, _ *cu.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) (cu.CUmipmappedArray, error) {
	if _, _, err := t.external(h); err != nil {
		return 0, err
	}
	return 0, errNotSupported
}

// ImportExternalSemaphore refuses: nothing on this machine makes semaphores that a device here can see.
func (t *Thread) ImportExternalSemaphore(d *cu.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) (cu.CUexternalSemaphore, error) {
	if _, err := t.context(); err != nil {
		return 0, err
	}
	switch d.Type {
	case cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD:
		return 0, errUnknown
	case cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32, cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT, cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE,
		cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_FENCE, cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC, cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX,
		cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT, cu.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32:
		return 0, errNotSupported
	}
	return 0, errInvalidValue
}

// DestroyExternalSemaphore has none to destroy.
func (t *Thread) DestroyExternalSemaphore(cu.CUexternalSemaphore) error { return t.noSemaphore() }

// noSemaphore is the answer about a semaphore: there are none.
func (t *Thread) noSemaphore() error {
	if _, err := t.enter(); err != nil {
		return err
	}
	return errInvalidValue
}

// SignalExternalSemaphoresAsync has no semaphore to signal.
func (t *Thread) SignalExternalSemaphoresAsync(_, _ hostmem.Ptr, _ uint32, stream cu.CUstream) error {
	if _, err := t.stream(stream); err != nil {
		return err
	}
	return errInvalidValue
}

// WaitExternalSemaphoresAsync has no semaphore to wait for.
func (t *Thread) WaitExternalSemaphoresAsync(list, params hostmem.Ptr, n uint32, stream cu.CUstream) error {
	return t.SignalExternalSemaphoresAsync(list, params, n, stream)
}

// semTask is a node that signals or waits for a list of semaphores, which can only be empty.
type semTask struct{ of cu.CUgraphNodeType }

func (s *semTask) kind() cu.CUgraphNodeType { return s.of }
func (*semTask) run(backend.Queue) error    { return nil }

func semNode(of cu.CUgraphNodeType, n uint32) (task, error) {
	if n != 0 {
		return nil, errInvalidValue
	}
	return &semTask{of}, nil
}

// semOf finds a node of that kind.
func (t *Thread) semOf(h cu.CUgraphNode, of cu.CUgraphNodeType) error {
	k, err := nodeTask[*semTask](t, h)
	if err == nil && k.of != of {
		err = errInvalidValue
	}
	return err
}

// GraphAddExternalSemaphoresSignalNode adds a node that signals.
func (t *Thread) GraphAddExternalSemaphoresSignalNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return semNode(cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, p.NumExtSems) })
}

// GraphExternalSemaphoresSignalNodeGetParams is its list.
func (t *Thread) GraphExternalSemaphoresSignalNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, err error) {
	return p, t.semOf(h, cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL)
}

// GraphExternalSemaphoresSignalNodeSetParams replaces its list.
func (t *Thread) GraphExternalSemaphoresSignalNodeSetParams(h cu.CUgraphNode, p *cu.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) error {
	if err := t.semOf(h, cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL); err != nil {
		return err
	}
	return setNode(t, h, func(*semTask) (task, error) { return semNode(cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, p.NumExtSems) })
}

// GraphAddExternalSemaphoresWaitNode adds a node that waits.
func (t *Thread) GraphAddExternalSemaphoresWaitNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_EXT_SEM_WAIT_NODE_PARAMS) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return semNode(cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, p.NumExtSems) })
}

// GraphExternalSemaphoresWaitNodeGetParams is its list.
func (t *Thread) GraphExternalSemaphoresWaitNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_EXT_SEM_WAIT_NODE_PARAMS, err error) {
	return p, t.semOf(h, cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT)
}

// GraphExternalSemaphoresWaitNodeSetParams replaces its list.
func (t *Thread) GraphExternalSemaphoresWaitNodeSetParams(h cu.CUgraphNode, p *cu.CUDA_EXT_SEM_WAIT_NODE_PARAMS) error {
	if err := t.semOf(h, cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT); err != nil {
		return err
	}
	return setNode(t, h, func(*semTask) (task, error) { return semNode(cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, p.NumExtSems) })
}

// GraphExecExternalSemaphoresSignalNodeSetParams replaces the list in an executable.
func (t *Thread) GraphExecExternalSemaphoresSignalNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, func(task) (task, error) { return semNode(cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, p.NumExtSems) })
}

// GraphExecExternalSemaphoresWaitNodeSetParams replaces the list in an executable.
func (t *Thread) GraphExecExternalSemaphoresWaitNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_EXT_SEM_WAIT_NODE_PARAMS) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, func(task) (task, error) { return semNode(cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, p.NumExtSems) })
}
