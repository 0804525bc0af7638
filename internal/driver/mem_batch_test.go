package driver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

func TestAdvice(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	p, err := th.MemAllocManaged(1<<20, 1)
	want(t, "alloc", err, 0)
	at := c.words(0, 0)
	ask := func(attr cu.CUmem_range_attribute, off DevPtr, n uint64) int32 {
		t.Helper()
		want(t, "ask", th.MemRangeGetAttribute(at, 4, attr, p+off, n), 0)
		return hostmem.Load[int32](at)
	}
	want(t, "mostly", th.MemAdvise(p+4096, 8192, cu.CU_MEM_ADVISE_SET_READ_MOSTLY, 0), 0)
	for _, r := range []struct {
		off  DevPtr
		n    uint64
		want int32
	}{{4096, 8192, 1}, {4096, 4096, 1}, {0, 8192, 0}, {8192, 8192, 0}, {0, 1 << 20, 0}} {
		if v := ask(cu.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, r.off, r.n); v != r.want {
			t.Errorf("%d+%d: %d", r.off, r.n, v)
		}
	}
	if v := ask(cu.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 0, 1<<20); v != cu.CU_DEVICE_INVALID {
		t.Errorf("preferred %d", v)
	}
	want(t, "preferred", th.MemAdvise(p, 1<<20, cu.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cu.CU_DEVICE_CPU), 0)
	if v := ask(cu.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 0, 1<<20); v != cu.CU_DEVICE_CPU {
		t.Errorf("preferred %d", v)
	}
	want(t, "used by the host", th.MemAdvise(p, 1<<20, cu.CU_MEM_ADVISE_SET_ACCESSED_BY, cu.CU_DEVICE_CPU), 0)
	want(t, "used by", th.MemAdvise(p, 1<<20, cu.CU_MEM_ADVISE_SET_ACCESSED_BY, 0), 0)
	want(t, "used by", th.MemRangeGetAttribute(at, 8, cu.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 1<<20), 0)
	if v := hostmem.Load[[2]int32](at); v != [2]int32{0, cu.CU_DEVICE_CPU} { // devices, then the host
		t.Errorf("users %v", v)
	}
	want(t, "not used by the host", th.MemAdvise(p, 1<<20, cu.CU_MEM_ADVISE_UNSET_ACCESSED_BY, cu.CU_DEVICE_CPU), 0)
	want(t, "used by", th.MemRangeGetAttribute(at, 8, cu.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 1<<20), 0)
	if v := hostmem.Load[[2]int32](at); v != [2]int32{0, cu.CU_DEVICE_INVALID} {
		t.Errorf("users %v", v)
	}
	for _, on := range []uint64{1, 0, 1} { // as it is at first, and as a program says
		want(t, "sync memops", th.PointerGetAttribute(at, cu.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), 0)
		if v := hostmem.Load[uint32](at); uint64(v) != on {
			t.Errorf("sync memops %d, want %d", v, on)
		}
		want(t, "set sync memops", th.PointerSetAttribute(c.words(on^1), cu.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), 0)
	}
	want(t, "prefetch", th.MemPrefetchAsync(p, 4096, 0, 0), 0)
	if v := ask(cu.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, 4096); v != 0 {
		t.Errorf("prefetched to %d", v)
	}
	want(t, "size", th.MemRangeGetAttribute(at, 8, cu.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096), 1)
	want(t, "device", th.MemAdvise(p, 4096, cu.CU_MEM_ADVISE_SET_ACCESSED_BY, 9), 101)
	q, _ := th.MemAlloc(4096)
	want(t, "not managed", th.MemRangeGetAttribute(at, 4, cu.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, q, 4096), 1)
}

func TestBatches(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	s, _ := th.StreamCreate(1)
	p, _ := th.MemAlloc(64)
	src := c.words(11, 22, 33)
	dsts, srcs := c.words(uint64(p), uint64(p)+16, uint64(p)+32), c.words(uint64(src), uint64(src)+8, uint64(src)+16)
	sizes, begins := c.words(8, 8, 8), c.words(0)
	attrs := c.words(make([]uint64, 4)...)
	hostmem.Store(attrs, cu.CUmemcpyAttributes{SrcAccessOrder: cu.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM})
	_, err := th.MemcpyBatchAsync(dsts, srcs, sizes, 3, attrs, begins, 1, s)
	want(t, "batch", err, 0)
	want(t, "sync", th.StreamSynchronize(s), 0)
	if v := hostmem.Load[uint64](hostmem.Ptr(p) + 32); v != 33 {
		t.Errorf("third %d", v)
	}
	want(t, "default stream", th.MemcpyBatchAsyncV2(dsts, srcs, sizes, 3, attrs, begins, 1, 0), 1)
	want(t, "no attributes", th.MemcpyBatchAsyncV2(dsts, srcs, sizes, 3, attrs, begins, 0, s), 1)
	hostmem.Store(begins, uint64(1))
	want(t, "first begins late", th.MemcpyBatchAsyncV2(dsts, srcs, sizes, 3, attrs, begins, 1, s), 1)
	hostmem.Store(begins, uint64(0))
	hostmem.Store(dsts.Add(8), uint64(0x1000000))
	hostmem.Store(sizes.Add(8), ^uint64(0))
	at, err := th.MemcpyBatchAsync(dsts, srcs, sizes, 3, attrs, begins, 1, s)
	want(t, "second bad", err, 1)
	if at != 1 {
		t.Errorf("failed at %d", at)
	}
	// A box of a batch: 2 rows of 4 elements of an array.
	a, _ := th.ArrayCreate(&cu.CUDA_ARRAY_DESCRIPTOR{Width: 4, Height: 2, Format: cu.CU_AD_FORMAT_UNSIGNED_INT16, NumChannels: 1})
	op := cu.CUDA_MEMCPY3D_BATCH_OP{Extent: cu.CUextent3D{Width: 4, Height: 2, Depth: 1}, SrcAccessOrder: cu.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}
	op.Src.Type, op.Dst.Type = cu.CU_MEMCPY_OPERAND_TYPE_POINTER, cu.CU_MEMCPY_OPERAND_TYPE_ARRAY
	op.Src.Op.Ptr().Ptr, op.Src.Op.Ptr().RowLength = p+32, 4
	op.Dst.Op.Array().Array = a
	where := c.words(make([]uint64, 20)...)
	hostmem.Store(where, op)
	want(t, "box", th.Memcpy3DBatchAsyncV2(1, where, 0, s), 0)
	want(t, "sync", th.StreamSynchronize(s), 0)
	out := c.words(0)
	want(t, "out", th.MemcpyAtoH(out, a, 0, 8), 0)
	if v := hostmem.Load[uint64](out); v != 33 {
		t.Errorf("box %d", v)
	}
	peer := cu.CUDA_MEMCPY3D_PEER{SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: p + 32, DstMemoryType: cu.CU_MEMORYTYPE_DEVICE, DstDevice: p + 48, WidthInBytes: 8, Height: 1, Depth: 1}
	want(t, "peer box", th.Memcpy3DPeer(&peer), 0)
	want(t, "sync", th.CtxSynchronize(), 0)
	if v := hostmem.Load[uint64](hostmem.Ptr(p) + 48); v != 33 {
		t.Errorf("peer %d", v)
	}
}

func TestOldLaunch(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	want(t, "no shape yet", th.Launch(d.f), 1)
	want(t, "shape", th.FuncSetBlockShape(d.f, 1, 1, 1), 0)
	want(t, "bad shape", th.FuncSetBlockShape(d.f, 1, 0, 1), 1)
	want(t, "shared", th.FuncSetSharedSize(d.f, 16), 0)
	want(t, "address", th.ParamSetv(d.f, 0, c.words(uint64(d.at)), 8), 0)
	want(t, "number", th.ParamSeti(d.f, 8, 6), 0)
	want(t, "past the end", th.ParamSeti(d.f, 12, 6), 1)
	want(t, "no size yet", th.Launch(d.f), 1)
	want(t, "size", th.ParamSetSize(d.f, 12), 0)
	want(t, "launch", th.LaunchGrid(d.f, 1, 1), 0)
	want(t, "number", th.ParamSeti(d.f, 8, 7), 0)
	want(t, "launch", th.Launch(d.f), 0)
	if v := d.take(); v != 67 {
		t.Errorf("digits %d", v)
	}
}
