package driver

import (
	"testing"

	"kudzu/internal/cubin"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

const linkA = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice (.param .b32 x);
.global .align 4 .u32 step = 3;
.visible .entry run(.param .u64 out) {
	.reg .u64 %rd1; .reg .u32 %r<3>; .param .b32 a; .param .b32 b;
	ld.param.u64 %rd1, [out];
	ld.global.u32 %r1, [step];
	st.param.b32 [a], %r1;
	call (b), twice, (a);
	ld.param.b32 %r2, [b];
	st.global.u32 [%rd1], %r2;
	ret;
}
`
const linkB = `.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 step = 4;
.visible .func (.param .b32 r) twice (.param .b32 x) {
	.reg .u32 %r<4>;
	ld.param.b32 %r1, [x];
	ld.global.u32 %r2, [step];
	mad.lo.u32 %r3, %r1, 2, %r2;
	st.param.b32 [r], %r3;
	ret;
}
`

func TestLink(t *testing.T) {
	th, c, _ := onInterp(t)
	l, err := th.LinkCreate(0, 0, 0)
	want(t, "create", err, 0)
	add := func(text string) error {
		return th.LinkAddData(l, cu.CU_JIT_INPUT_PTX, c.str(text), uint64(len(text)), c.str("part"), 0, 0, 0)
	}
	want(t, "add", add(linkA), 0)
	want(t, "add", add(linkB), 0)
	want(t, "no file", th.LinkAddFile(l, cu.CU_JIT_INPUT_PTX, "/no/such/file", 0, 0, 0), 301)
	at := c.words(0)
	n, err := th.LinkComplete(l, at)
	want(t, "complete", err, 0)
	image := hostmem.Load[hostmem.Ptr](at)
	file, err := cubin.Decode(hostmem.Bytes(image, n))
	if err != nil || len(file.Kernels) != 1 || file.Kernels[0].Name != "run" || file.Text == "" {
		t.Errorf("the image is no file with the kernel: %+v, %v", file, err)
	}
	m, err := th.ModuleLoadData(image)
	want(t, "load", err, 0)
	want(t, "destroy", th.LinkDestroy(l), 0)
	want(t, "destroy twice", th.LinkDestroy(l), 400)
	out, _ := th.MemAlloc(4)
	want(t, "launch", th.LaunchKernel(mustFn(t, th, m, "run"), 1, 1, 1, 1, 1, 1, 0, 0, c.params(uint64(out)), 0), 0)
	want(t, "sync", th.CtxSynchronize(), 0)
	if v := hostmem.Load[uint32](hostmem.Ptr(out)); v != 10 {
		t.Errorf("linked code gives %d", v)
	}
	l, _ = th.LinkCreate(0, 0, 0)
	want(t, "add", add(linkB), 0)
	want(t, "defined twice", add(linkB), 999) // as recorded on the real driver, and the link is spoiled
	_, err = th.LinkComplete(l, at)
	want(t, "complete", err, 999)
	l, _ = th.LinkCreate(0, 0, 0)
	want(t, "no PTX", add("what"), 200)
	want(t, "after it", add(linkB), 200)
	l, _ = th.LinkCreate(0, 0, 0)
	_, err = th.LinkComplete(l, at)
	want(t, "nothing", err, 0)
	l, _ = th.LinkCreate(0, 0, 0)
	want(t, "add", add(linkA), 0)
	_, err = th.LinkComplete(l, at)
	want(t, "a name nobody defines", err, 300)
}

func TestStreamAttributesAndContextEvents(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	d := newDigits(t, th, c, m)
	s1, _ := th.StreamCreate(1)
	s2, _ := th.StreamCreate(1)
	var v cu.CUstreamAttrValue
	*v.SyncPolicy() = cu.CU_SYNC_POLICY_SPIN
	want(t, "set", th.StreamSetAttribute(s1, cu.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v), 0)
	want(t, "not of streams", th.StreamSetAttribute(s1, cu.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v), 1)
	want(t, "copy", th.StreamCopyAttributes(s2, s1), 0)
	if got, err := th.StreamGetAttribute(s2, cu.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY); err != nil || *got.SyncPolicy() != cu.CU_SYNC_POLICY_SPIN {
		t.Errorf("policy %d %v", *got.SyncPolicy(), err)
	}
	// The hint about NVLink, as a driver 13.0 takes it: launches and nodes, on or off.
	const links = cu.CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING
	*v.NvlinkUtilCentricScheduling() = 1
	want(t, "a hint, not of streams", th.StreamSetAttribute(s1, links, &v), 1)
	sc := &scratch{}
	want(t, "a hint of a launch", sc.attribute(&cu.CUlaunchAttribute{Id: links, Value: v}), 0)
	*v.NvlinkUtilCentricScheduling() = 2
	want(t, "neither on nor off, of a launch", sc.attribute(&cu.CUlaunchAttribute{Id: links, Value: v}), 1)
	spin := mustFn(t, th, m, "spin")
	e, _ := th.EventCreate(0)
	want(t, "spin", th.LaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s1, 0, 0), 0)
	want(t, "launch", d.launch(1, s1), 0)
	ctx, _ := th.CtxGetCurrent()
	want(t, "record", th.CtxRecordEvent(ctx, e), 0)
	want(t, "not reached", th.EventQuery(e), 600)
	want(t, "wait", th.CtxWaitEvent(ctx, e), 0)
	want(t, "launch", d.launch(2, s2), 0)
	close(*gate.Load())
	if v := d.take(); v != 12 {
		t.Errorf("order %d", v)
	}
}

// linkGrid is a unit of a program that synchronizes its grid through the device runtime: every thread adds what its neighbour of the
// next block had before.
const linkGrid = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);
.extern .func (.param .b32 r) cudaCGGetRank(.param .b64 t, .param .b64 g, .param .b64 h);
.extern .func (.param .b32 r) cudaCGGetSize(.param .b64 t, .param .b64 g, .param .b64 h);
.visible .entry run(.param .u64 out) {
	.local .align 4 .b8 two[8];
	.reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .pred %p;
	ld.param.u64 %rd1, [out];
	{ .param .b32 s; st.param.b32 [s], 1; .param .b64 r; call.uni (r), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %rd2, [r]; }
	cvta.local.u64 %rd3, two;
	add.u64 %rd4, %rd3, 4;
	{ .param .b64 t; st.param.b64 [t], %rd3; .param .b64 g; st.param.b64 [g], 0; .param .b64 h; st.param.b64 [h], %rd2; .param .b32 r; call.uni (r), cudaCGGetRank, (t, g, h); }
	{ .param .b64 t; st.param.b64 [t], %rd4; .param .b64 g; st.param.b64 [g], 0; .param .b64 h; st.param.b64 [h], %rd2; .param .b32 r; call.uni (r), cudaCGGetSize, (t, g, h); }
	ld.local.u32 %r1, [two];
	ld.local.u32 %r2, [two+4];
	mul.wide.u32 %rd5, %r1, 4;
	add.u64 %rd3, %rd1, %rd5;
	mul.lo.u32 %r3, %r1, 3;
	st.global.u32 [%rd3], %r3;
	{ .param .b64 h; st.param.b64 [h], %rd2; .param .b32 f; st.param.b32 [f], 0; .param .b32 r; call.uni (r), cudaCGSynchronize, (h, f); }
	add.u32 %r4, %r1, 4;
	setp.ge.u32 %p, %r4, %r2;
	@%p sub.u32 %r4, %r4, %r2;
	mul.wide.u32 %rd5, %r4, 4;
	add.u64 %rd4, %rd1, %rd5;
	ld.global.u32 %r5, [%rd4];
	{ .param .b64 h; st.param.b64 [h], %rd2; .param .b32 f; st.param.b32 [f], 0; .param .b32 r; call.uni (r), cudaCGSynchronize, (h, f); }
	add.u32 %r5, %r5, %r3;
	st.global.u32 [%rd3], %r5;
	ret;
}
`

func TestLinkGroups(t *testing.T) {
	th, c, _ := onInterp(t)
	l, err := th.LinkCreate(0, 0, 0)
	want(t, "create", err, 0)
	want(t, "add", th.LinkAddData(l, cu.CU_JIT_INPUT_PTX, c.str(linkGrid), uint64(len(linkGrid)), c.str("part"), 0, 0, 0), 0)
	at := c.words(0)
	_, err = th.LinkComplete(l, at)
	want(t, "complete", err, 0)
	m, err := th.ModuleLoadData(hostmem.Load[hostmem.Ptr](at))
	want(t, "load", err, 0)
	const n = 12 // three blocks of four
	out, _ := th.MemAlloc(4 * n)
	want(t, "launch", th.LaunchCooperativeKernel(mustFn(t, th, m, "run"), 3, 1, 1, 2, 2, 1, 0, 0, c.params(uint64(out))), 0)
	want(t, "sync", th.CtxSynchronize(), 0)
	for i := range n {
		if v, w := hostmem.Load[uint32](hostmem.Ptr(out).Index(i, 4)), uint32(3*i+3*((i+4)%n)); v != w {
			t.Errorf("thread %d: %d, want %d", i, v, w)
		}
	}
}
