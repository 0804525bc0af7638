package driver

import (
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// The codes in these tests are those of a real driver (580, H200), recorded with the same calls.

func TestBeforeInit(t *testing.T) {
	Start([]backend.Backend{newFake(1)})
	th := &Thread{}
	_, err := th.DeviceGetCount()
	want(t, "DeviceGetCount", err, 3)
	_, err = th.CtxGetCurrent()
	want(t, "CtxGetCurrent", err, 3)
	_, err = th.MemAlloc(4)
	want(t, "MemAlloc", err, 3)
	want(t, "CtxSetCurrent", th.CtxSetCurrent(0), 3)
	want(t, "MemFree 0", th.MemFree(0), 3)
	want(t, "StreamSynchronize", th.StreamSynchronize(0), 3)
	want(t, "LaunchKernel", th.LaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), 3)
	want(t, "ProfilerStart", th.ProfilerStart(), 3)
	if v, err := th.DriverGetVersion(); v != 13040 || err != nil {
		t.Error(v, err)
	}
	want(t, "Init 1", th.Init(1), 1)
	want(t, "Init", th.Init(0), 0)
	want(t, "Init again", th.Init(0), 0)
}

func TestNoContext(t *testing.T) {
	th, _, c := newThread(t, 1)
	_, err := th.CtxPopCurrent()
	want(t, "pop", err, 201)
	want(t, "sync", th.CtxSynchronize(), 201)
	_, err = th.StreamCreate(0)
	want(t, "StreamCreate", err, 201)
	want(t, "StreamQuery", th.StreamQuery(0), 201)
	_, err = th.MemAlloc(4)
	want(t, "MemAlloc", err, 201)
	want(t, "MemFree 0", th.MemFree(0), 0)
	want(t, "MemFree junk", th.MemFree(0x1234), 1)
	_, err = th.CtxGetDevice()
	want(t, "CtxGetDevice", err, 201)
	_, err = th.ModuleLoadData(c.str(fakePTX))
	want(t, "ModuleLoadData", err, 201)
	_, err = th.ModuleLoad("/nope")
	want(t, "ModuleLoad", err, 201)
	want(t, "ptr attribute", th.PointerGetAttribute(c.words(), 2, 0x1234), 1)
	want(t, "launch NULL", th.LaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), 201)
	_, err = th.FuncGetAttribute(0, 0)
	want(t, "FuncGetAttribute NULL", err, 400)
	_, err = th.ModuleGetFunction(0, "k")
	want(t, "ModuleGetFunction NULL", err, 400)
	want(t, "ModuleUnload NULL", th.ModuleUnload(0), 400)
	want(t, "StreamDestroy 0", th.StreamDestroy(0), 400)
	want(t, "EventDestroy NULL", th.EventDestroy(0), 400)
	want(t, "EventRecord NULL", th.EventRecord(0, 0), 201)
	want(t, "EventQuery NULL", th.EventQuery(0), 400)
	want(t, "CtxDestroy NULL", th.CtxDestroy(0), 1)
	want(t, "CtxPush NULL", th.CtxPushCurrent(0), 1)
	want(t, "CtxSet NULL", th.CtxSetCurrent(0), 0)
	want(t, "MemFreeHost NULL", th.MemFreeHost(0), 0)
	_, err = th.CtxGetApiVersion(0)
	want(t, "CtxGetApiVersion", err, 201)
}

func TestDevices(t *testing.T) {
	th, _, c := newThread(t, 2)
	if n, err := th.DeviceGetCount(); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	for _, d := range []int32{-1, 2, 5} {
		_, err := th.DeviceGet(d)
		want(t, "DeviceGet", err, 101)
		_, err = th.DeviceGetAttribute(1, d)
		want(t, "DeviceGetAttribute", err, 101)
	}
	buf := c.words(0, 0, 0, 0)
	want(t, "name", th.DeviceGetName(buf, 5, 1), 0)
	if s := hostmem.String(buf); s != "Fake" {
		t.Errorf("name cut to %q", s)
	}
	want(t, "name 0", th.DeviceGetName(buf, 0, 1), 1)
	want(t, "pci", th.DeviceGetPCIBusId(buf, 13, 1), 0)
	if s := hostmem.String(buf); s != "0000:07:00.0" {
		t.Errorf("PCI id %q", s)
	}
	want(t, "pci short", th.DeviceGetPCIBusId(buf, 12, 1), 1)
	for id, codes := range map[string]int{"0000:07:00.0": 0, "07:00.0": 0, "00000000:00:00.0": 101, "junk": 1, "": 1, "0:5:0.0": 101, "05:00": 1} {
		d, err := th.DeviceGetByPCIBusId(id)
		want(t, id, err, codes)
		if err == nil && d != 1 {
			t.Errorf("%s is device %d", id, d)
		}
	}
	for a := range deviceAttrs {
		_, err := th.DeviceGetAttribute(cu.CUdevice_attribute(a), 0)
		want(t, "attribute", err, map[bool]int{true: 1}[a == 0 || unnamed[a]])
	}
	_, err := th.DeviceGetAttribute(cu.CUdevice_attribute(len(deviceAttrs)), 0)
	want(t, "attribute past the end", err, 1)
	_, err = th.DeviceGetLuid(buf, 0)
	want(t, "luid", err, 801)
	if p, err := th.DeviceGetProperties(0); err != nil || p.MaxThreadsDim != [3]int32{1024, 1024, 64} || p.MemPitch != 1<<31-1 {
		t.Error(p, err)
	}
}

// unnamed are the numbers of attributes that no header names.
var unnamed = map[int]bool{159: true, 160: true}

func TestTablesHaveNoHoles(t *testing.T) {
	for a, f := range deviceAttrs {
		if f == nil && a != 0 && !unnamed[a] {
			t.Errorf("no device attribute %d", a)
		}
	}
	for a, f := range funcAttrs {
		if f == nil {
			t.Errorf("no function attribute %d", a)
		}
	}
	for a, r := range pointerAttrs {
		if a != 0 && (r.value == nil || r.size == 0) {
			t.Errorf("no pointer attribute %d", a)
		}
	}
}

func TestVisibleDevices(t *testing.T) {
	b := newFake(3)
	for _, c := range []struct {
		env   string
		names string
	}{
		{"0,1,2", "Fake 0,Fake 1,Fake 2"}, {"2,0", "Fake 2,Fake 0"}, {"", ""}, {"-1", ""}, {"1,9,0", "Fake 1"}, {"1,1", ""},
		{" 1 , 2", "Fake 1,Fake 2"}, {"GPU-01020302", "Fake 2"}, {"GPU-0102", ""}, {"x", ""},
	} {
		devs, _ := visible(b.devs, func(string) (string, bool) { return c.env, true })
		var names []string
		for _, d := range devs {
			names = append(names, d.Info().Name)
		}
		if got := strings.Join(names, ","); got != c.names {
			t.Errorf("%q shows %q, want %q", c.env, got, c.names)
		}
	}
}

func TestInitFails(t *testing.T) {
	t.Setenv("KUDZU_BACKEND", "warp-drive")
	Start([]backend.Backend{newFake(1)})
	th := &Thread{}
	want(t, "unknown backend", th.Init(0), 100)
	want(t, "again", th.Init(0), 100)
	t.Setenv("KUDZU_BACKEND", "")
	Start([]backend.Backend{&fakeBackend{err: backend.ErrClosed}, newFake(0)})
	want(t, "no devices", th.Init(0), 100)
	Start([]backend.Backend{&fakeBackend{err: fmt.Errorf("engine: %w", backend.ErrNoMemory)}, newFake(0)})
	want(t, "no memory", th.Init(0), 2)
}

// Several backends give the devices of all, in the order named; one that has none is passed over.
func TestSeveralBackends(t *testing.T) {
	one, two, none := newFake(1), newFake(2), &fakeBackend{err: backend.ErrClosed}
	for _, c := range []struct {
		list  string
		count int
	}{{"a,b", 3}, {"b, a", 3}, {"none,b", 2}, {"b,b", 2}, {"none", -1}, {"a,c", -1}, {"", 1}} {
		s := &state{backends: []backend.Backend{named{one, "a"}, named{two, "b"}, named{none, "none"}}}
		devs, err := s.open(c.list)
		if err != nil && c.count >= 0 || err == nil && len(devs) != c.count {
			t.Errorf("%q: %d devices, %v", c.list, len(devs), err)
		}
		if c.list == "b, a" && devs[0] != two.devs[0] {
			t.Errorf("%q: not in the order named", c.list)
		}
	}
}

type named struct {
	backend.Backend
	name string
}

func (n named) Name() string { return n.name }

func TestContextStack(t *testing.T) {
	th, b, _ := newThread(t, 1)
	for flags, codes := range map[uint32]int{0: 0, 1: 0, 2: 0, 3: 1, 4: 0, 5: 1, 8: 0, 0x10: 0, 0x40: 0, 0x80: 0, 0x100: 1, 0x400: 1} {
		h, err := th.CtxCreate(flags, 0)
		want(t, "create", err, codes)
		if err == nil {
			got, _ := th.CtxGetFlags()
			if flags == 0x40 {
				flags = 0x20
			}
			if got != flags {
				t.Errorf("flags %#x read back as %#x", flags, got)
			}
			want(t, "destroy", th.CtxDestroy(h), 0)
		}
	}
	if th.Depth != 0 {
		t.Fatal("destroy does not pop")
	}
	var c [3]cu.CUcontext
	for i := range c {
		c[i], _ = th.CtxCreate(0, 0)
	}
	cur := func(what string, h cu.CUcontext) {
		t.Helper()
		if got, err := th.CtxGetCurrent(); got != h || err != nil {
			t.Errorf("%s: current %#x, want %#x (%v)", what, got, h, err)
		}
	}
	cur("three created", c[2])
	want(t, "set", th.CtxSetCurrent(c[0]), 0)
	cur("set replaces", c[0])
	if h, _ := th.CtxPopCurrent(); h != c[0] {
		t.Error("popped the wrong one")
	}
	cur("popped", c[1])
	want(t, "set NULL", th.CtxSetCurrent(0), 0)
	cur("set NULL pops", c[0])
	th.CtxSetCurrent(0)
	cur("empty", 0)
	th.CtxSetCurrent(c[1])
	th.CtxPushCurrent(c[1])
	th.CtxPushCurrent(c[2])
	th.CtxPushCurrent(c[1])
	want(t, "destroy current", th.CtxDestroy(c[1]), 0)
	cur("destroy pops", c[2])
	th.CtxPopCurrent()
	cur("a dead context stays below", c[1])
	_, err := th.MemAlloc(4)
	want(t, "MemAlloc in a dead context", err, 709)
	want(t, "sync in a dead context", th.CtxSynchronize(), 709)
	if d, err := th.CtxGetDevice(); d != 0 || err != nil {
		t.Errorf("device of a dead context: %d %v", d, err)
	}
	_, err = th.CtxGetFlags()
	want(t, "flags of a dead context", err, 0)
	want(t, "destroy twice", th.CtxDestroy(c[1]), 201)
	want(t, "set to a dead context", th.CtxSetCurrent(c[1]), 0)
	want(t, "set to junk", th.CtxSetCurrent(0x123450), 201)
	want(t, "push junk", th.CtxPushCurrent(0x4b00000000000010), 201)
	_, err = th.CtxGetApiVersion(c[1])
	want(t, "api version of a dead context", err, 201)
	th.CtxSetCurrent(c[0])
	const deep = 20*MaxContextStack + 7 // the lower part lies outside the thread's block
	for i := range deep {
		want(t, "push", th.CtxPushCurrent(c[i%2*2]), 0)
	}
	for i := deep - 1; i >= 0; i-- {
		if h, err := th.CtxPopCurrent(); h != c[i%2*2] || err != nil {
			t.Fatalf("pop %d: %x %v", i, h, err)
		}
	}
	if h, err := th.CtxGetCurrent(); h != c[0] || err != nil || th.Flags&ThreadSpilled != 0 {
		t.Errorf("after all pops %x %v, flags %x", h, err, th.Flags)
	}
	th.CtxDestroy(c[0])
	th.CtxDestroy(c[2])
	if open := b.devs[0].(*fakeDevice).open.Load(); open != 0 || Leaks() != "" {
		t.Errorf("%d queues open, leaks %q", open, Leaks())
	}
}

// TestGraveyard destroys more contexts than are remembered.
func TestGraveyard(t *testing.T) {
	th, _, _ := newThread(t, 2)
	var all []cu.CUcontext
	for range 200 {
		h, err := th.CtxCreate(4, 1)
		want(t, "create", err, 0)
		want(t, "destroy", th.CtxDestroy(h), 0)
		all = append(all, h)
	}
	_, err := th.CtxGetDeviceV2(all[0])
	want(t, "forgotten", err, 201)
	if d, err := th.CtxGetDeviceV2(all[199]); d != 1 || err != nil {
		t.Error(d, err)
	}
	if g := &current.Load().graves; len(g.of) != len(g.ring) {
		t.Errorf("%d remembered", len(g.of))
	}
}

func TestPrimary(t *testing.T) {
	th, b, _ := newThread(t, 1)
	state := func(what string, flags uint32, active int32) {
		t.Helper()
		if f, a, err := th.DevicePrimaryCtxGetState(0); f != flags || a != active || err != nil {
			t.Errorf("%s: flags %d active %d (%v)", what, f, a, err)
		}
	}
	state("fresh", 0, 0)
	early, _ := th.PrimaryContext(0)
	state("handle asked for", 0, 0)
	want(t, "release unretained", th.DevicePrimaryCtxRelease(0), 201)
	want(t, "flags", th.DevicePrimaryCtxSetFlags(0, 4), 0)
	state("flags", 4, 0)
	want(t, "bad flags", th.DevicePrimaryCtxSetFlags(0, 7), 1)
	want(t, "bad flags", th.DevicePrimaryCtxSetFlags(0, 0x1000), 1)
	th.DevicePrimaryCtxSetFlags(0, 0)
	h, _ := th.DevicePrimaryCtxRetain(0)
	if h2, _ := th.DevicePrimaryCtxRetain(0); h2 != h || h != early {
		t.Error("primary context moved")
	}
	if cur, _ := th.CtxGetCurrent(); cur != 0 {
		t.Error("retain made it current")
	}
	th.CtxSetCurrent(h)
	th.DevicePrimaryCtxSetFlags(0, 4)
	state("retained", 4, 1)
	if f, _ := th.CtxGetFlags(); f != 12 {
		t.Errorf("context flags %d", f)
	}
	want(t, "destroy primary", th.CtxDestroy(h), 201)
	p, _ := th.MemAlloc(100)
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
	state("reset", 0, 0)
	_, err := th.MemAlloc(100)
	want(t, "MemAlloc after reset", err, 709)
	want(t, "MemFree after reset", th.MemFree(p), 709)
	want(t, "sync after reset", th.StreamSynchronize(0), 709)
	_, err = th.CtxGetDevice()
	want(t, "CtxGetDevice after reset", err, 0)
	_, err = th.CtxGetApiVersion(h)
	want(t, "api version after reset", err, 201)
	if used := b.devs[0].(*fakeDevice).mem.used; used != 0 {
		t.Errorf("%d bytes left after reset", used)
	}
	th.DevicePrimaryCtxRetain(0)
	_, err = th.MemAlloc(100)
	want(t, "MemAlloc after retain", err, 0)
	for i, codes := range []int{0, 0, 0, 201} {
		want(t, "release", th.DevicePrimaryCtxRelease(0), codes)
		if i < 2 {
			state("released", 0, 1)
		}
	}
	state("all released", 0, 0)
	want(t, "set inactive current", th.CtxSetCurrent(h), 0)
	_, err = th.DevicePrimaryCtxRetain(7)
	want(t, "retain device 7", err, 101)
}

func TestLimitsAndModes(t *testing.T) {
	th, _, _, _ := withPrimary(t)
	for l, v := range map[cu.CUlimit]uint64{0: 1024, 1: 8650752, 2: 8 << 20, 4: 2048, 5: 64, 7: 232448, 8: 0} {
		if got, err := th.CtxGetLimit(l); got != v || err != nil {
			t.Errorf("limit %d is %d, want %d (%v)", l, got, v, err)
		}
	}
	for l, codes := range map[cu.CUlimit]int{3: 215, 9: 215, 10: 1, 11: 1, -1: 1} {
		_, err := th.CtxGetLimit(l)
		want(t, "limit", err, codes)
	}
	for _, c := range []struct {
		l       cu.CUlimit
		v, then uint64
		code    int
	}{{0, 1 << 20, 1024, 1}, {0, 2048, 2048, 0}, {1, 65536, 524288, 0}, {2, 1 << 20, 4 << 20, 0}, {4, 10, 32, 0}, {5, 200, 64, 1}, {0, 0, 16, 0}, {7, 1, 227 << 10, 800}} {
		want(t, "set limit", th.CtxSetLimit(c.l, c.v), c.code)
		if got, _ := th.CtxGetLimit(c.l); got != c.then {
			t.Errorf("limit %d set to %d is %d, want %d", c.l, c.v, got, c.then)
		}
	}
	for _, v := range []cu.CUfunc_cache{0, 1, 2, 3} {
		want(t, "cache", th.CtxSetCacheConfig(v), 0)
	}
	want(t, "cache 4", th.CtxSetCacheConfig(4), 1)
	if v, _ := th.CtxGetCacheConfig(); v != 3 {
		t.Error(v)
	}
	if a, b, _ := th.CtxGetStreamPriorityRange(); a != 0 || b != -5 {
		t.Error(a, b)
	}
	want(t, "ctx flags", th.CtxSetFlags(7), 1)
	want(t, "peer", func() error { h, _ := th.CtxGetCurrent(); return th.CtxEnablePeerAccess(h, 0) }(), 217)
}
