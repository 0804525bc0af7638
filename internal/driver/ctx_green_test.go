package driver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// TestGreen makes contexts with parts of a device, and checks what they have, what their streams do and how they end.
func TestGreen(t *testing.T) {
	th, b, c := newThread(t, 2)
	want(t, "Init", th.Init(0), 0)
	s := current.Load()
	for _, d := range s.devices {
		d.info.Processors = 2
	}
	if r, err := th.DeviceGetDevResource(0, cu.CU_DEV_RESOURCE_TYPE_SM); err != nil || r.Sm().MinSmPartitionSize != 2 || r.Sm().SmCoscheduledAlignment != 2 {
		t.Errorf("of 2 processors: parts of %d, aligned at %d (%v)", r.Sm().MinSmPartitionSize, r.Sm().SmCoscheduledAlignment, err)
	}
	for _, d := range s.devices {
		d.info.Processors = 20
	}
	all, err := th.DeviceGetDevResource(0, cu.CU_DEV_RESOURCE_TYPE_SM)
	want(t, "resource", err, 0)
	room := func(n int) hostmem.Ptr { return c.words(make([]uint64, (n+7)/8)...) }
	in, parts, rest, groups := room(sizeOfResource), room(4*sizeOfResource), room(sizeOfResource), room(4)
	hostmem.Store(in, all)
	hostmem.Store(groups, uint32(4))
	want(t, "split", th.DevSmResourceSplitByCount(parts, groups, in, rest, 0, 5), 0)
	at := func(p hostmem.Ptr, i int) cu.CUdevResource {
		return hostmem.Load[cu.CUdevResource](p.Index(i, sizeOfResource))
	}
	first, second, left := at(parts, 0), at(parts, 1), at(rest, 0)
	if n := hostmem.Load[uint32](groups); n != 2 || first.Sm().SmCount != 8 || second.Sm().SmCount != 8 || left.Sm().SmCount != 4 {
		t.Fatalf("%d groups of %d, %d, rest %d", n, first.Sm().SmCount, second.Sm().SmCount, left.Sm().SmCount)
	}

	// Groups of given sizes: 8, then what is left in whole units, then too much.
	sizes := room(2 * sizeOfGroup)
	hostmem.Store(sizes, cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 8})
	hostmem.Store(sizes.Index(1, sizeOfGroup), cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS{CoscheduledSmCount: 4})
	want(t, "sizes only", th.DevSmResourceSplit(0, 2, in, 0, 0, sizes), 0)
	if g := hostmem.Load[cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS](sizes.Index(1, sizeOfGroup)); g.SmCount != 12 {
		t.Errorf("the second group gets %d", g.SmCount)
	}
	hostmem.Store(sizes, cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 24})
	want(t, "too many", th.DevSmResourceSplit(parts, 1, in, rest, 0, sizes), 915)
	hostmem.Store(sizes, cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 7})
	want(t, "no multiple", th.DevSmResourceSplit(parts, 1, in, rest, 0, sizes), 915)

	_, err = th.DevResourceGenerateDesc(0, 1)
	want(t, "no resources", err, 1)
	hostmem.Store(parts.Index(1, sizeOfResource), first)
	_, err = th.DevResourceGenerateDesc(parts, 2)
	want(t, "a part twice", err, 915)
	hostmem.Store(parts.Index(1, sizeOfResource), second)
	forged := first
	forged.Sm().SmCount = 1 << 30
	hostmem.Store(in, forged)
	_, err = th.DevResourceGenerateDesc(in, 1)
	want(t, "a forged resource", err, 915)
	both, err := th.DevResourceGenerateDesc(parts, 2)
	want(t, "both parts", err, 0)
	one, err := th.DevResourceGenerateDesc(parts, 1)
	want(t, "one part", err, 0)

	_, err = th.GreenCtxCreate(one, 0, 2)
	want(t, "an unknown flag", err, 1)
	plain, err := th.GreenCtxCreate(one, 0, 0)
	want(t, "as the runtime of 13.1 does", err, 0)
	want(t, "and its end", th.GreenCtxDestroy(plain), 0)
	_, err = th.GreenCtxCreate(one, 1, 1)
	want(t, "of another device", err, 101)
	_, err = th.GreenCtxCreate(12345, 0, 1)
	want(t, "of nothing", err, 1)
	g, err := th.GreenCtxCreate(both, 0, 1)
	want(t, "create", err, 0)
	if r, err := th.GreenCtxGetDevResource(g, cu.CU_DEV_RESOURCE_TYPE_SM); err != nil || r.Sm().SmCount != 16 {
		t.Errorf("it has %d %v", r.Sm().SmCount, err)
	}
	if _, active, _ := th.DevicePrimaryCtxGetState(0); active != 1 {
		t.Error("the primary context is not alive")
	}
	cx, err := th.CtxFromGreenCtx(g)
	want(t, "context", err, 0)
	want(t, "its context is not to be destroyed", th.CtxDestroy(cx), 201)
	want(t, "push", th.CtxPushCurrent(cx), 0)
	if r, err := th.CtxGetDevResource(cx, cu.CU_DEV_RESOURCE_TYPE_SM); err != nil || r.Sm().SmCount != 16 {
		t.Errorf("its context has %d %v", r.Sm().SmCount, err)
	}
	p, err := th.MemAlloc(64)
	want(t, "MemAlloc", err, 0)
	_, err = th.GreenCtxStreamCreate(g, 0, 0)
	want(t, "a blocking stream", err, 1)
	st, err := th.GreenCtxStreamCreate(g, 1, 0)
	want(t, "stream", err, 0)
	if h, err := th.StreamGetGreenCtx(st); h != g || err != nil {
		t.Errorf("its stream has %x %v", h, err)
	}
	want(t, "work", th.MemsetD8Async(p, 7, 64, st), 0)
	e, err := th.EventCreate(0)
	want(t, "event", err, 0)
	want(t, "record", th.GreenCtxRecordEvent(g, e), 0)
	want(t, "wait", th.GreenCtxWaitEvent(g, e), 0)
	want(t, "sync", th.EventSynchronize(e), 0)
	if id, err := th.GreenCtxGetId(g); id == 0 || err != nil {
		t.Errorf("id %d %v", id, err)
	}

	want(t, "destroy", th.GreenCtxDestroy(g), 0)
	want(t, "destroy twice", th.GreenCtxDestroy(g), 201)
	want(t, "its stream", th.StreamQuery(st), 917)
	want(t, "its stream goes", th.StreamDestroy(st), 0)
	want(t, "its stream is gone", th.StreamQuery(st), 400)
	if h, _ := th.CtxGetCurrent(); h != 0 {
		t.Errorf("%x is current", h)
	}
	if _, active, _ := th.DevicePrimaryCtxGetState(0); active != 0 {
		t.Error("the primary context is alive")
	}
	if open := b.devs[0].(*fakeDevice).open.Load(); open != 0 {
		t.Errorf("%d queues open", open)
	}
}
