package hip_test

import (
	"encoding/binary"
	"testing"

	"kudzu/internal/backend/interp"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/hipdouble"
)

// rig is a module on the current device of a double, driven as a program would.
type rig struct {
	t      *testing.T
	th     *driver.Thread
	kernel cu.CUfunction
	sum    cu.CUdeviceptr
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func newRig(t *testing.T, th *driver.Thread) *rig {
	t.Helper()
	r := &rig{t: t, th: th}
	text := testkit.NewHostPage(t, len(racing)+1)
	copy(text, racing)
	m, err := th.ModuleLoadData(hostmem.Ptr(text.Addr()))
	r.ok(err)
	r.kernel, err = th.ModuleGetFunction(m, "add")
	r.ok(err)
	r.sum, _, err = th.ModuleGetGlobal(m, "sum")
	r.ok(err)
	return r
}

// add launches: the sum grows by n.
func (r *rig) add(n uint64, s cu.CUstream) {
	r.t.Helper()
	h := testkit.NewHostPage(r.t, 16) // a list of one parameter, and it
	binary.LittleEndian.PutUint64(h, uint64(h.Addr())+8)
	binary.LittleEndian.PutUint64(h[8:], n)
	r.ok(r.th.LaunchKernel(r.kernel, 1, 1, 1, 1, 1, 1, 0, s, hostmem.Ptr(h.Addr()), 0))
}

func (r *rig) stream() cu.CUstream {
	r.t.Helper()
	s, err := r.th.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	r.ok(err)
	return s
}

func (r *rig) event() cu.CUevent {
	r.t.Helper()
	e, err := r.th.EventCreate(uint32(cu.CU_EVENT_DISABLE_TIMING))
	r.ok(err)
	return e
}

// recorded captures: the sum becomes 0, then grows in two streams that part and meet, and is copied out.
func (r *rig) recorded(one, two uint64, out hostmem.Ptr) cu.CUgraph {
	r.t.Helper()
	th, s, side, parts, meet := r.th, r.stream(), r.stream(), r.event(), r.event()
	r.ok(th.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_GLOBAL))
	r.ok(th.MemsetD8Async(r.sum, 0, 8, s))
	r.ok(th.EventRecord(parts, s))
	r.ok(th.StreamWaitEvent(side, parts, 0))
	r.add(one, side)
	r.add(two, s)
	r.ok(th.EventRecord(meet, side))
	r.ok(th.StreamWaitEvent(s, meet, 0))
	r.ok(th.MemcpyDtoHAsync(out, r.sum, 8, s))
	g := hostmem.Ptr(testkit.NewHostPage(r.t, 8).Addr())
	r.ok(th.StreamEndCapture(s, g))
	r.ok(th.StreamDestroy(side))
	r.ok(th.StreamDestroy(s))
	return hostmem.Load[cu.CUgraph](g)
}

// TestGraphs: what was captured runs again in HIP's streams, in its order, and with what it was updated to.
func TestGraphs(t *testing.T) {
	r := newRig(t, start(t, hipdouble.Build(t), "gfx1100"))
	out := testkit.NewHostPage(t, 16)
	at := hostmem.Ptr(out.Addr())
	g := r.recorded(5, 7, at)
	x, err := r.th.GraphInstantiateWithFlags(g, 0)
	r.ok(err)
	if n := binary.LittleEndian.Uint64(out); n != 0 {
		t.Errorf("capturing ran it: %d", n)
	}
	s := r.stream()
	for range 4 {
		clear(out)
		r.ok(r.th.GraphLaunch(x, s))
		r.ok(r.th.StreamSynchronize(s))
		if n := binary.LittleEndian.Uint64(out); n != 12 {
			t.Errorf("the sum is %d", n)
		}
	}
	r.ok(r.th.GraphExecUpdate(x, r.recorded(100, 1, at), hostmem.Ptr(testkit.NewHostPage(t, 64).Addr())))
	r.ok(r.th.GraphLaunch(x, s))
	r.ok(r.th.GraphLaunch(x, s))
	r.ok(r.th.StreamSynchronize(s))
	if n := binary.LittleEndian.Uint64(out); n != 101 {
		t.Errorf("after the update the sum is %d", n)
	}
	r.ok(r.th.GraphExecDestroy(x))
	r.ok(r.th.GraphDestroy(g))
}

// TestPools: memory in the order of streams. What one stream frees it may have again at once; another may not before the place of the
// free is reached. Synchronizing gives it back to HIP.
func TestPools(t *testing.T) {
	lib := hipdouble.Build(t)
	r := newRig(t, start(t, lib, "gfx1100"))
	th, one, two := r.th, r.stream(), r.stream()
	before := ask(t, lib, "kz_double_live", 0)
	const n = 1 << 16
	a, err := th.MemAllocAsync(n, one)
	r.ok(err)
	r.ok(th.MemsetD8Async(a, 1, n, one))
	r.ok(th.MemFreeAsync(a, one))
	b, err := th.MemAllocAsync(n, one)
	r.ok(err)
	if b != a {
		t.Errorf("freed at %#x, given again at %#x", a, b)
	}
	c, err := th.MemAllocAsync(n, two) // the first stream's is in use
	r.ok(err)
	if c == b {
		t.Error("two streams have one piece of memory")
	}
	r.ok(th.MemsetD8Async(b, 2, n, one))
	written := r.event()
	r.ok(th.EventRecord(written, one))
	r.ok(th.StreamWaitEvent(two, written, 0))
	out := testkit.NewHostPage(t, n)
	r.ok(th.MemcpyDtoHAsync(hostmem.Ptr(out.Addr()), b, n, two))
	r.ok(th.StreamSynchronize(two))
	if out[0] != 2 || out[n-1] != 2 {
		t.Errorf("%d, %d", out[0], out[n-1])
	}
	r.ok(th.MemFreeAsync(b, one))
	r.ok(th.MemFreeAsync(c, two))
	r.ok(th.CtxSynchronize())
	if now := ask(t, lib, "kz_double_live", 0); now != before {
		t.Errorf("%d pieces of memory, %d before", now, before)
	}
}

// TestCopiesBetween: memory of two GPUs, and of a GPU and another kind of device, through the calls for peers.
func TestCopiesBetween(t *testing.T) {
	th := start(t, hipdouble.Build(t), "gfx1100,gfx90a", interp.New(interp.Config{}))
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const n = 10_000
	var ctx [3]cu.CUcontext
	var at [3]cu.CUdeviceptr
	for d := range ctx { // start left them in this order, the first on top
		var err error
		ctx[d], err = th.CtxPopCurrent()
		ok(err)
		ok(th.CtxPushCurrent(ctx[d]))
		at[d], err = th.MemAlloc(n)
		ok(err)
		_, err = th.CtxPopCurrent()
		ok(err)
	}
	ok(th.CtxPushCurrent(ctx[0]))
	ok(th.MemsetD8(at[0], 0x42, n))
	for _, hop := range [][2]int{{1, 0}, {2, 1}, {0, 2}} {
		ok(th.MemcpyPeer(at[hop[0]], ctx[hop[0]], at[hop[1]], ctx[hop[1]], n))
		if hop[0] == 1 {
			ok(th.MemsetD8(at[0], 0, n))
		}
	}
	out := testkit.NewHostPage(t, n)
	ok(th.MemcpyDtoH(hostmem.Ptr(out.Addr()), at[0], n))
	if out[0] != 0x42 || out[n-1] != 0x42 {
		t.Errorf("%#x, %#x after three hops", out[0], out[n-1])
	}
}

// TestOccupancy: what HIP says of the code is what programs hear, also of a block that takes all shared memory.
func TestOccupancy(t *testing.T) {
	r := newRig(t, start(t, hipdouble.Build(t), "gfx1100"))
	r.ok(r.th.FuncSetAttribute(r.kernel, cu.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64<<10))
	for _, c := range []struct {
		threads int32
		shared  uint64
		want    int32
	}{{64, 0, 32}, {1024, 0, 2}, {64, 64 << 10, 1}, {64, 16 << 10, 4}, {64, 65 << 10, 0}, {2048, 0, 0}} {
		if n, err := r.th.OccupancyMaxActiveBlocksPerMultiprocessor(r.kernel, c.threads, c.shared); err != nil || n != c.want {
			t.Errorf("%d threads, %d bytes: %d blocks, %v, want %d", c.threads, c.shared, n, err, c.want)
		}
	}
}
