package driver

import (
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/spec/cu"
)

// memOp is one operation on a word of memory in a stream's order.
type memOp struct {
	op    cu.CUstreamBatchMemOpType
	addr  uint64
	value uint64
	flags uint32
}

// memOpTask is a list of them.
type memOpTask struct {
	ctx    *Context
	params []cu.CUstreamBatchMemOpParams // as the program gave them
	ops    []memOp
	flags  uint32
}

func (*memOpTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP }

// run has a thread of ours do the operations: a wait may take as long as it likes without keeping a worker.
func (m *memOpTask) run(q backend.Queue) error {
	return q.Host(func() {
		defer func() {
			if r := recover(); r != nil { // the memory was freed under the operation
				logx.Errorf("stream memory operation: %v", r)
			}
		}()
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for i := range m.ops {
			m.ops[i].do(m.ctx)
		}
	})
}

func (o *memOp) do(c *Context) {
	p := hostmem.Ptr(o.addr)
	switch o.op {
	case cu.CU_STREAM_MEM_OP_WRITE_VALUE_32:
		atomic.StoreUint32(hostmem.At[uint32](p), uint32(o.value))
	case cu.CU_STREAM_MEM_OP_WRITE_VALUE_64:
		atomic.StoreUint64(hostmem.At[uint64](p), o.value)
	case cu.CU_STREAM_MEM_OP_WAIT_VALUE_32:
		word := hostmem.At[uint32](p)
		o.wait(c, func() bool {
			return o.holds(uint64(atomic.LoadUint32(word)), int64(int32(atomic.LoadUint32(word)-uint32(o.value))), 1<<32-1)
		})
	case cu.CU_STREAM_MEM_OP_WAIT_VALUE_64:
		word := hostmem.At[uint64](p)
		o.wait(c, func() bool {
			return o.holds(atomic.LoadUint64(word), int64(atomic.LoadUint64(word)-o.value), ^uint64(0))
		})
	}
}

// holds is the condition of a wait. GEQ is cyclic: the difference as a signed number.
func (o *memOp) holds(v uint64, diff int64, mask uint64) bool {
	switch cu.CUstreamWaitValue_flags(o.flags) & 3 {
	case cu.CU_STREAM_WAIT_VALUE_GEQ:
		return diff >= 0
	case cu.CU_STREAM_WAIT_VALUE_EQ:
		return v == o.value
	case cu.CU_STREAM_WAIT_VALUE_AND:
		return v&o.value != 0
	}
	return ^(v|o.value)&mask != 0 // NOR
}

// wait looks often at first and less often later; it gives up when the context ends or fails.
func (o *memOp) wait(c *Context, holds func() bool) {
	for pause := time.Microsecond; !holds() && c.usable() == nil; pause = min(2*pause, 200*time.Microsecond) {
		time.Sleep(pause)
	}
}

// maxMemOps bounds one list; the real driver's bound is 256.
const maxMemOps = 256

// newMemOps checks a list.
func (c *Context) newMemOps(list []cu.CUstreamBatchMemOpParams, flags uint32) (*memOpTask, error) {
	if !oneMemory(c.dev.info) {
		return nil, errNotSupported
	}
	if len(list) == 0 || len(list) > maxMemOps || flags != 0 {
		return nil, errInvalidValue
	}
	k := &memOpTask{ctx: c, params: slices.Clone(list), flags: flags}
	for i := range list {
		o, err := c.newMemOp(&list[i])
		if err != nil {
			return nil, err
		}
		k.ops = append(k.ops, o)
	}
	return k, nil
}

func (c *Context) newMemOp(p *cu.CUstreamBatchMemOpParams) (memOp, error) {
	w := p.WaitValue() // writes are laid out alike
	o := memOp{op: *p.Operation(), addr: uint64(w.Address), flags: w.Flags, value: uint64(*w.Value64())}
	size := uint64(8)
	switch o.op {
	case cu.CU_STREAM_MEM_OP_WAIT_VALUE_32, cu.CU_STREAM_MEM_OP_WRITE_VALUE_32:
		size, o.value = 4, uint64(*w.Value())
	case cu.CU_STREAM_MEM_OP_WAIT_VALUE_64, cu.CU_STREAM_MEM_OP_WRITE_VALUE_64:
	case cu.CU_STREAM_MEM_OP_BARRIER: // a queue's work is ordered anyway
		return memOp{op: o.op}, nil
	case cu.CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, cu.CU_STREAM_MEM_OP_ATOMIC_REDUCTION:
		return o, errNotSupported
	default:
		return o, errInvalidValue
	}
	wait := o.op == cu.CU_STREAM_MEM_OP_WAIT_VALUE_32 || o.op == cu.CU_STREAM_MEM_OP_WAIT_VALUE_64
	switch {
	case wait && o.flags&uint32(cu.CU_STREAM_WAIT_VALUE_FLUSH) != 0:
		return o, errNotSupported
	case wait && o.flags > uint32(cu.CU_STREAM_WAIT_VALUE_NOR), !wait && o.flags > uint32(cu.CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER), o.addr%size != 0:
		return o, errInvalidValue
	}
	_, err := c.state.known1D(o.addr, size)
	return o, err
}

func (t *Thread) oneMemOp(stream cu.CUstream, op cu.CUstreamBatchMemOpType, addr DevPtr, value uint64, flags uint32) error {
	var p cu.CUstreamBatchMemOpParams
	w := p.WaitValue()
	w.Operation, w.Address, w.Flags = op, addr, flags
	*w.Value64() = cu.Cuuint64_t(value)
	return t.memOps(stream, []cu.CUstreamBatchMemOpParams{p}, 0)
}

func (t *Thread) memOps(stream cu.CUstream, list []cu.CUstreamBatchMemOpParams, flags uint32) error {
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	k, err := st.ctx.newMemOps(list, flags)
	if err != nil {
		return err
	}
	return t.submit(st, k)
}

// StreamWaitValue32 delays the stream until a word of memory is as asked.
func (t *Thread) StreamWaitValue32(stream cu.CUstream, addr DevPtr, value uint32, flags uint32) error {
	return t.oneMemOp(stream, cu.CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, uint64(value), flags)
}

// StreamWaitValue64 is the same for 64 bits.
func (t *Thread) StreamWaitValue64(stream cu.CUstream, addr DevPtr, value uint64, flags uint32) error {
	return t.oneMemOp(stream, cu.CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags)
}

// StreamWriteValue32 writes a word when the stream gets there.
func (t *Thread) StreamWriteValue32(stream cu.CUstream, addr DevPtr, value uint32, flags uint32) error {
	return t.oneMemOp(stream, cu.CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, uint64(value), flags)
}

// StreamWriteValue64 is the same for 64 bits.
func (t *Thread) StreamWriteValue64(stream cu.CUstream, addr DevPtr, value uint64, flags uint32) error {
	return t.oneMemOp(stream, cu.CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags)
}

// StreamBatchMemOp does several in order.
func (t *Thread) StreamBatchMemOp(stream cu.CUstream, n uint32, list hostmem.Ptr, flags uint32) error {
	if n == 0 {
		_, err := t.stream(stream)
		return err
	}
	if list == hostmem.Nil || n > maxMemOps {
		return errInvalidValue
	}
	return t.memOps(stream, slices.Clone(hostmem.Slice[cu.CUstreamBatchMemOpParams](list, int(n))), flags)
}

// memOpNode checks the parameters of a node.
func (t *Thread) memOpNode(p *cu.CUDA_BATCH_MEM_OP_NODE_PARAMS) (task, error) {
	c, err := t.contextOf(p.Ctx)
	if err != nil {
		return nil, err
	}
	if p.ParamArray == 0 || p.Count == 0 || p.Count > maxMemOps {
		return nil, errInvalidValue
	}
	k, err := c.newMemOps(hostmem.Slice[cu.CUstreamBatchMemOpParams](hostmem.Ptr(p.ParamArray), int(p.Count)), p.Flags)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// GraphAddBatchMemOpNode adds a list of memory operations.
func (t *Thread) GraphAddBatchMemOpNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_BATCH_MEM_OP_NODE_PARAMS) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.memOpNode(p) })
}

// GraphBatchMemOpNodeGetParams is the list, shown in memory of the node's.
func (t *Thread) GraphBatchMemOpNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_BATCH_MEM_OP_NODE_PARAMS, err error) {
	k, err := nodeTask[*memOpTask](t, h)
	if err != nil {
		return p, err
	}
	n, err := t.node(h)
	if err != nil {
		return p, err
	}
	err = n.graph.state.locked(func(*cleanup) error {
		if n.length == 0 { // one page holds the longest list
			if n.shown, n.length, err = mapHost(maxMemOps * 48); err != nil {
				return err
			}
		}
		copy(hostmem.Slice[cu.CUstreamBatchMemOpParams](hostmem.Ptr(n.shown), len(k.params)), k.params)
		p = cu.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: k.ctx.handle, Count: uint32(len(k.params)), ParamArray: n.shown, Flags: k.flags}
		return nil
	})
	return p, err
}

// GraphBatchMemOpNodeSetParams replaces the list.
func (t *Thread) GraphBatchMemOpNodeSetParams(h cu.CUgraphNode, p *cu.CUDA_BATCH_MEM_OP_NODE_PARAMS) error {
	return setNode(t, h, func(*memOpTask) (task, error) { return t.memOpNode(p) })
}

// GraphExecBatchMemOpNodeSetParams replaces the list in an executable.
func (t *Thread) GraphExecBatchMemOpNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_BATCH_MEM_OP_NODE_PARAMS) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, func(task) (task, error) { return t.memOpNode(p) })
}
