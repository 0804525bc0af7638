package driver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// countdown(p, h): *p -= 1; the condition h is whether anything is left. A condition's handle is the address of its value.
const countdownPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry countdown(.param .u64 p, .param .u64 h) {
	.reg .b32 %r<3>; .reg .b64 %a<2>;
	ld.param.u64 %a0, [p]; ld.param.u64 %a1, [h];
	ld.global.u32 %r0, [%a0]; sub.u32 %r0, %r0, 1; st.global.u32 [%a0], %r0; st.global.u32 [%a1], %r0; ret;
}
.visible .entry stop() { trap; }
`

// condNode adds a conditional node and gives its bodies.
func condNode(t *testing.T, th *Thread, c *cmem, g cu.CUgraph, h cu.CUgraphConditionalHandle, kind cu.CUgraphConditionalNodeType, n uint32) (cu.CUgraphNode, []cu.CUgraph) {
	t.Helper()
	var p cu.CUgraphNodeParams
	p.Type = cu.CU_GRAPH_NODE_TYPE_CONDITIONAL
	*p.Conditional() = cu.CUDA_CONDITIONAL_NODE_PARAMS{Handle: h, Type: kind, Size: n}
	at := c.words(make([]uint64, 40)...)
	hostmem.Store(at, p)
	node, err := th.GraphAddNodeV2(g, 0, 0, 0, at)
	want(t, "conditional node", err, 0)
	p = hostmem.Load[cu.CUgraphNodeParams](at)
	return node, hostmem.Slice[cu.CUgraph](hostmem.Ptr(p.Conditional().PhGraph_out), int(n))
}

// TestConditional: a loop that a kernel ends, inside a branch, launched again and again.
func TestConditional(t *testing.T) {
	th, c, _ := onInterp(t)
	mod, err := th.ModuleLoadData(c.str(countdownPTX))
	want(t, "load", err, 0)
	f := mustFn(t, th, mod, "countdown")
	p, err := th.MemAlloc(64)
	want(t, "alloc", err, 0)
	ctx, _ := th.CtxGetCurrent()
	g, _ := th.GraphCreate(0)
	yes, err := th.GraphConditionalHandleCreate(g, ctx, 1, cu.CU_GRAPH_COND_ASSIGN_DEFAULT)
	want(t, "handle", err, 0)
	loop, err := th.GraphConditionalHandleCreate(g, ctx, 1, cu.CU_GRAPH_COND_ASSIGN_DEFAULT)
	want(t, "handle", err, 0)
	_, outer := condNode(t, th, c, g, yes, cu.CU_GRAPH_COND_TYPE_IF, 2)
	_, inner := condNode(t, th, c, outer[0], loop, cu.CU_GRAPH_COND_TYPE_WHILE, 1)
	_, err = th.GraphAddKernelNode(inner[0], 0, 0, &cu.CUDA_KERNEL_NODE_PARAMS{Func: f, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1,
		KernelParams: uint64(c.params(uint64(p), uint64(loop)))})
	want(t, "body", err, 0)
	want(t, "a body is its node's", th.GraphDestroy(inner[0]), 1)
	x := mustInstantiate(t, th, g)
	for round := range 20 {
		want(t, "set", th.MemsetD32(p, uint32(round+1), 1), 0)
		want(t, "launch", th.GraphLaunch(x, 0), 0)
		want(t, "sync", th.CtxSynchronize(), 0)
		out := c.words(99)
		want(t, "read", th.MemcpyDtoH(out, p, 4), 0)
		if v := hostmem.Load[uint32](out); v != 0 {
			t.Fatalf("round %d leaves %d", round, v)
		}
	}
	_, err = th.GraphClone(g)
	want(t, "clone", err, 801)
	want(t, "destroy", th.GraphDestroy(g), 0)
	want(t, "set", th.MemsetD32(p, 3, 1), 0)
	want(t, "an executable lives on", th.GraphLaunch(x, 0), 0)
	want(t, "destroy", th.GraphExecDestroy(x), 0)
	// A fault in a body ends the context.
	g, _ = th.GraphCreate(0)
	yes, err = th.GraphConditionalHandleCreate(g, ctx, 7, cu.CU_GRAPH_COND_ASSIGN_DEFAULT)
	want(t, "handle", err, 0)
	_, outer = condNode(t, th, c, g, yes, cu.CU_GRAPH_COND_TYPE_IF, 1)
	_, err = th.GraphAddKernelNode(outer[0], 0, 0, &cu.CUDA_KERNEL_NODE_PARAMS{Func: mustFn(t, th, mod, "stop"), GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1})
	want(t, "body", err, 0)
	x = mustInstantiate(t, th, g)
	want(t, "launch", th.GraphLaunch(x, 0), 0)
	want(t, "fault", th.CtxSynchronize(), 719)
}
