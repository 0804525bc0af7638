package nccl

import (
	"kudzu/internal/engine"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
	"kudzu/internal/spec/rt"
)

// collConfig is the least size of an ncclCollConfig_t.
const collConfig = 72

// configured makes a call with settings of its own. They say how a GPU should work, but for an event that is recorded where it starts.
func (t *Thread) configured(at hostmem.Ptr, s rt.CudaStream_t, call func() error) error {
	if at == hostmem.Nil {
		return call()
	}
	if size := hostmem.Load[uint64](at); size < collConfig || size > 1<<16 {
		return badArgument("ncclCollConfig_t has a size of %d", size)
	}
	c := hostmem.Load[ncclapi.NcclCollConfig_t](at)
	if c.Magic != ncclapi.NCCL_API_MAGIC {
		return badArgument("ncclCollConfig_t was not initialised: NCCL_COLLCONFIG_INITIALIZER")
	}
	if c.LaunchCompletionEvent != 0 {
		if err := t.driver().EventRecord(cu.CUevent(c.LaunchCompletionEvent), cu.CUstream(s)); err != nil {
			return err
		}
	}
	return call()
}

// AllReduceConfig is AllReduce with settings.
func (t *Thread) AllReduceConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.AllReduce(send, recv, n, typ, red, c, s) })
}

// ReduceScatterConfig is ReduceScatter with settings.
func (t *Thread) ReduceScatterConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.ReduceScatter(send, recv, n, typ, red, c, s) })
}

// ReduceConfig is Reduce with settings.
func (t *Thread) ReduceConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, red ncclapi.NcclRedOp_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.Reduce(send, recv, n, typ, red, root, c, s) })
}

// BroadcastConfig is Broadcast with settings.
func (t *Thread) BroadcastConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.Broadcast(send, recv, n, typ, root, c, s) })
}

// AllGatherConfig is AllGather with settings.
func (t *Thread) AllGatherConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.AllGather(send, recv, n, typ, c, s) })
}

// AlltoAllConfig is AlltoAll with settings.
func (t *Thread) AlltoAllConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.AlltoAll(send, recv, n, typ, c, s) })
}

// GatherConfig is Gather with settings.
func (t *Thread) GatherConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.Gather(send, recv, n, typ, root, c, s) })
}

// ScatterConfig is Scatter with settings.
func (t *Thread) ScatterConfig(send, recv hostmem.Ptr, n uint64, typ ncclapi.NcclDataType_t, root int32, c ncclapi.NcclComm_t, s rt.CudaStream_t, at hostmem.Ptr) error {
	return t.configured(at, s, func() error { return t.Scatter(send, recv, n, typ, root, c, s) })
}

// simMagic marks an ncclSimInfo_t.
const simMagic = 0x74685283

// GroupSimulateEnd ends a group without doing it, and says how long it might take, in microseconds.
func (t *Thread) GroupSimulateEnd(at hostmem.Ptr) error {
	g := t.group()
	if g == nil {
		return badUsage("ncclGroupSimulateEnd without ncclGroupStart")
	}
	if at != hostmem.Nil {
		info := hostmem.At[ncclapi.NcclSimInfo_t](at)
		if info.Magic != simMagic {
			return badArgument("ncclSimInfo_t was not initialised: NCCL_SIM_INFO_INITIALIZER")
		}
		info.EstimatedTime = g.estimate()
	}
	if g.depth--; g.depth > 0 {
		return nil
	}
	groups.Delete(t.ID)
	engine.TicketGroup(&t.Tickets, false)
	return g.err
}

// What two processes of one host were measured at: microseconds for an operation, bytes in one more.
const (
	simLatency   = 25
	simBandwidth = 2500
)

// estimate is the time of the communicator that has most to do.
func (g *group) estimate() (most float32) {
	for _, u := range g.units {
		var sum float32
		for _, o := range u.ops {
			send, recv := o.needs()
			sum += simLatency + float32(max(send, recv))/simBandwidth
		}
		most = max(most, sum)
	}
	return most
}
