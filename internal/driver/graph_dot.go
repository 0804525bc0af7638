package driver

import (
	"fmt"
	"os"
	"strings"

	"kudzu/internal/spec/cu"
)

// dotNames is indexed by CUgraphNodeType.
var dotNames = [...]string{
	cu.CU_GRAPH_NODE_TYPE_KERNEL: "KERNEL", cu.CU_GRAPH_NODE_TYPE_MEMCPY: "MEMCPY", cu.CU_GRAPH_NODE_TYPE_MEMSET: "MEMSET",
	cu.CU_GRAPH_NODE_TYPE_HOST: "HOST", cu.CU_GRAPH_NODE_TYPE_GRAPH: "GRAPH", cu.CU_GRAPH_NODE_TYPE_EMPTY: "EMPTY",
	cu.CU_GRAPH_NODE_TYPE_WAIT_EVENT: "WAIT_EVENT", cu.CU_GRAPH_NODE_TYPE_EVENT_RECORD: "EVENT_RECORD",
	cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: "EXT_SEMAS_SIGNAL", cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: "EXT_SEMAS_WAIT",
	cu.CU_GRAPH_NODE_TYPE_MEM_ALLOC: "MEM_ALLOC", cu.CU_GRAPH_NODE_TYPE_MEM_FREE: "MEM_FREE", cu.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: "BATCH_MEM_OP",
	cu.CU_GRAPH_NODE_TYPE_CONDITIONAL: "CONDITIONAL",
}

// details is what the flags ask for about a task, a line each.
func details(k task, flags cu.CUgraphDebugDot_flags) (lines []string) {
	on := func(f cu.CUgraphDebugDot_flags) bool { return flags&(f|cu.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE) != 0 }
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch k := k.(type) {
	case *kernelTask:
		add("%s", k.f.decl.Name)
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS) {
			add("grid %v block %v shared %d", k.launch.Grid, k.launch.Block, k.launch.DynamicShared)
		}
	case *copyTask:
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS) {
			add("%#x to %#x", k.src.addr, k.dst.addr)
			add("%d x %d x %d", k.params.WidthInBytes, k.params.Height, k.params.Depth)
		}
	case *setTask:
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS) {
			add("%#x = %#x", uint64(k.params.Dst), k.params.Value)
			add("%d x %d of %d bytes", k.params.Width, k.params.Height, k.params.ElementSize)
		}
	case *hostTask:
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS) {
			add("fn %#x(%#x)", uint64(k.params.Fn), k.params.UserData)
		}
	case *recordTask:
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS) {
			add("event %#x", uint64(k.e.handle))
		}
	case *waitTask:
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS) {
			add("event %#x", uint64(k.e.handle))
		}
	case *allocTask:
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS) {
			add("%d bytes at %#x", k.mem.params.Bytesize, uint64(k.mem.params.Dptr))
		}
	case *freeTask:
		if on(cu.CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS) {
			add("%#x", uint64(k.ptr))
		}
	}
	return lines
}

// dot writes a graph as a cluster, its child graphs after it.
//
// Preconditions: graphMu is held.
func (g *Graph) dot(b *strings.Builder, flags cu.CUgraphDebugDot_flags) {
	name := func(n *GraphNode) string { return fmt.Sprintf("\"graph_%d_node_%d\"", n.graph.id, n.id) }
	fmt.Fprintf(b, "subgraph cluster_%d {\nlabel=\"graph_%d\" graph[style=\"dashed\"];\n", g.id, g.id)
	for _, n := range g.nodes {
		label := append([]string{fmt.Sprintf("%d %s", n.id, dotNames[n.task.kind()])}, details(n.task, flags)...)
		if flags&(cu.CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES|cu.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE) != 0 {
			label = append(label, fmt.Sprintf("handle %#x", uint64(n.handle)))
		}
		fmt.Fprintf(b, "%s[style=\"solid\" shape=\"rectangle\" label=%q];\n", name(n), strings.Join(label, "\n"))
	}
	for _, n := range g.nodes {
		for _, d := range n.deps {
			fmt.Fprintf(b, "%s -> %s;\n", name(d.from), name(n))
		}
	}
	b.WriteString("}\n")
	for _, n := range g.nodes {
		if c, ok := n.task.(*childTask); ok {
			c.graph.dot(b, flags)
		}
	}
}

// GraphDebugDotPrint writes a picture of a graph to a file, in the language of graphviz.
func (t *Thread) GraphDebugDotPrint(h cu.CUgraph, path string, flags uint32) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("digraph dot {\n")
	err = g.state.locked(func(*cleanup) error {
		if g.dead {
			return errInvalidValue
		}
		g.dot(&b, cu.CUgraphDebugDot_flags(flags))
		return nil
	})
	if err != nil {
		return err
	}
	b.WriteString("}\n")
	if os.WriteFile(path, []byte(b.String()), 0o666) != nil {
		return Result(cu.CUDA_ERROR_OPERATING_SYSTEM)
	}
	return nil
}
