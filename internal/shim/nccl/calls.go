package nccl

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
	"kudzu/internal/spec/rt"
)

// enqueue checks an operation and puts it into its stream, or the thread's group. red is nil where nothing is reduced.
func (t *Thread) enqueue(o *op, h ncclapi.NcclComm_t, red *ncclapi.NcclRedOp_t, s rt.CudaStream_t) error {
	if t.group() == nil {
		o.gen, o.handle = driver.Generation(), uint64(h) // before anything is checked
	}
	return t.perform(func(g *group) error {
		var err error
		if o.c, err = find(h); err != nil {
			return err
		}
		o.c.mu.Lock()
		gone := o.c.isGone
		o.c.mu.Unlock()
		if gone || o.c.suspended.Load() {
			return badUsage("%s on a communicator that was finalized or suspended", kindNames[o.kind])
		}
		if o.c.foreign && (o.kind == putSignal || o.kind == waitSignal) {
			return badUsage("%s: the host cannot touch the memory of every rank", kindNames[o.kind])
		}
		if err := o.check(t.driver()); err != nil {
			return err
		}
		if red != nil {
			if err := o.reduction(*red); err != nil {
				return err
			}
		}
		if o.count > 0 || o.kind == putSignal || o.kind == waitSignal {
			g.add(o, cu.CUstream(s))
		}
		return nil
	})
}

// AllReduce reduces all ranks' buffers, for all ranks.
func (t *Thread) AllReduce(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: allReduce, send: uint64(send), recv: uint64(recv), count: n, typ: typ}, c, &red, s)
}

// ReduceScatter reduces all ranks' buffers, a part for each rank.
func (t *Thread) ReduceScatter(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: reduceScatter, send: uint64(send), recv: uint64(recv), count: n, typ: typ}, c, &red, s)
}

// Reduce reduces all ranks' buffers, for one rank.
func (t *Thread) Reduce(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: reduce, send: uint64(send), recv: uint64(recv), count: n, typ: typ, root: int(root)}, c, &red, s)
}

// Broadcast gives all ranks what one has.
func (t *Thread) Broadcast(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: broadcast, send: uint64(send), recv: uint64(recv), count: n, typ: typ, root: int(root)}, c, nil, s)
}

// Bcast is Broadcast in place.
func (t *Thread) Bcast(buf hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.Broadcast(buf, buf, n, typ, root, c, s)
}

// AllGather gives all ranks what each has.
func (t *Thread) AllGather(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: allGather, send: uint64(send), recv: uint64(recv), count: n, typ: typ}, c, nil, s)
}

// AlltoAll gives every rank its part of what each has.
func (t *Thread) AlltoAll(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: allToAll, send: uint64(send), recv: uint64(recv), count: n, typ: typ}, c, nil, s)
}

// Gather gives one rank what each has.
func (t *Thread) Gather(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: gather, send: uint64(send), recv: uint64(recv), count: n, typ: typ, root: int(root)}, c, nil, s)
}

// Scatter gives every rank its part of what one has.
func (t *Thread) Scatter(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: scatter, send: uint64(send), recv: uint64(recv), count: n, typ: typ, root: int(root)}, c, nil, s)
}

// Send gives a rank something that it receives.
func (t *Thread) Send(buf hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, peer int32, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: sendTo, send: uint64(buf), count: n, typ: typ, root: int(peer)}, c, nil, s)
}

// Recv takes what a rank sends.
func (t *Thread) Recv(buf hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, peer int32, c ncclapi.NcclComm_t, s rt.CudaStream_t) error {
	return t.enqueue(&op{kind: recvFrom, recv: uint64(buf), count: n, typ: typ, root: int(peer)}, c, nil, s)
}
