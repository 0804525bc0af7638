package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

const errLossy = Result(cu.CUDA_ERROR_LOSSY_QUERY)

// readNodes reads a list of node handles.
func (t *Thread) readNodes(list hostmem.Ptr, n uint64) ([]*GraphNode, error) {
	if n == 0 {
		return nil, nil
	}
	if list == hostmem.Nil || n > maxNodeList {
		return nil, errInvalidValue
	}
	nodes := make([]*GraphNode, n)
	for i := range nodes {
		var err error
		if nodes[i], err = t.node(hostmem.Load[cu.CUgraphNode](list.Index(i, 8))); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// readEdges reads a list of nodes to depend on, with or without data about each.
func (t *Thread) readEdges(list, data hostmem.Ptr, n uint64) ([]edge, error) {
	nodes, err := t.readNodes(list, n)
	if err != nil {
		return nil, err
	}
	edges := make([]edge, len(nodes))
	seen := make(map[*GraphNode]bool, len(nodes))
	for i, m := range nodes {
		edges[i].from = m
		if data != hostmem.Nil {
			edges[i].data = hostmem.Load[cu.CUgraphEdgeData](data.Index(i, 8))
		}
		if seen[m] || !plausibleEdge(m, edges[i].data) {
			return nil, errInvalidValue
		}
		seen[m] = true
	}
	return edges, nil
}

// plausibleEdge checks what a program says about an edge. Programmatic edges let a kernel start before the one before it
// ends; that one may be over is always allowed, so all edges order alike here.
func plausibleEdge(from *GraphNode, d cu.CUgraphEdgeData) bool {
	if d.Reserved != [5]uint8{} || d.To_port != 0 || d.Type > uint8(cu.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) {
		return false
	}
	return d.From_port <= cu.CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
}

// edgeList answers edges as CUDA does; without a buffer for data an edge with data cannot be told.
func edgeList(from, to []*GraphNode, info []cu.CUgraphEdgeData, outFrom, outTo, outData, num hostmem.Ptr, wantFrom, wantTo bool) error {
	if num == hostmem.Nil {
		return errInvalidValue
	}
	if wantFrom && outFrom == hostmem.Nil || wantTo && outTo == hostmem.Nil {
		if outFrom != hostmem.Nil || outTo != hostmem.Nil {
			return errInvalidValue
		}
		hostmem.Store(num, uint64(len(info)))
		return nil
	}
	room := hostmem.Load[uint64](num)
	for i := uint64(0); i < room && i < maxNodeList; i++ {
		var a, b cu.CUgraphNode
		var d cu.CUgraphEdgeData
		if i < uint64(len(info)) {
			a, b, d = from[i].handle, to[i].handle, info[i]
		}
		if wantFrom {
			hostmem.Store(outFrom.Index(int(i), 8), a)
		}
		if wantTo {
			hostmem.Store(outTo.Index(int(i), 8), b)
		}
		if outData != hostmem.Nil {
			hostmem.Store(outData.Index(int(i), 8), d)
		} else if d != (cu.CUgraphEdgeData{}) {
			return errLossy
		}
	}
	hostmem.Store(num, min(room, uint64(len(info))))
	return nil
}

// GraphGetEdges lists a graph's edges.
func (t *Thread) GraphGetEdges(h cu.CUgraph, from, to, num hostmem.Ptr) error {
	return t.GraphGetEdgesV2(h, from, to, hostmem.Nil, num)
}

// GraphGetEdgesV2 lists a graph's edges and what was said about each.
func (t *Thread) GraphGetEdgesV2(h cu.CUgraph, from, to, data, num hostmem.Ptr) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	var a, b []*GraphNode
	var info []cu.CUgraphEdgeData
	_ = g.state.locked(func(*cleanup) error {
		for _, n := range g.nodes {
			for _, d := range n.deps {
				a, b, info = append(a, d.from), append(b, n), append(info, d.data)
			}
		}
		return nil
	})
	return edgeList(a, b, info, from, to, data, num, true, true)
}

// GraphNodeGetDependencies lists what a node depends on.
func (t *Thread) GraphNodeGetDependencies(h cu.CUgraphNode, out, num hostmem.Ptr) error {
	return t.GraphNodeGetDependenciesV2(h, out, hostmem.Nil, num)
}

// GraphNodeGetDependenciesV2 lists what a node depends on, with what was said about each edge.
func (t *Thread) GraphNodeGetDependenciesV2(h cu.CUgraphNode, out, data, num hostmem.Ptr) error {
	n, err := t.node(h)
	if err != nil {
		return err
	}
	var list []*GraphNode
	var info []cu.CUgraphEdgeData
	_ = n.graph.state.locked(func(*cleanup) error {
		for _, d := range n.deps {
			list, info = append(list, d.from), append(info, d.data)
		}
		return nil
	})
	return edgeList(list, list, info, out, hostmem.Nil, data, num, true, false)
}

// GraphNodeGetDependentNodes lists what depends on a node.
func (t *Thread) GraphNodeGetDependentNodes(h cu.CUgraphNode, out, num hostmem.Ptr) error {
	return t.GraphNodeGetDependentNodesV2(h, out, hostmem.Nil, num)
}

// GraphNodeGetDependentNodesV2 lists what depends on a node, with what was said about each edge.
func (t *Thread) GraphNodeGetDependentNodesV2(h cu.CUgraphNode, out, data, num hostmem.Ptr) error {
	n, err := t.node(h)
	if err != nil {
		return err
	}
	var list []*GraphNode
	var info []cu.CUgraphEdgeData
	_ = n.graph.state.locked(func(*cleanup) error {
		for _, o := range n.outs {
			for _, d := range o.deps {
				if d.from == n {
					list, info = append(list, o), append(info, d.data)
				}
			}
		}
		return nil
	})
	return edgeList(list, list, info, out, hostmem.Nil, data, num, true, false)
}

// GraphAddDependencies adds edges.
func (t *Thread) GraphAddDependencies(h cu.CUgraph, from, to hostmem.Ptr, n uint64) error {
	return t.GraphAddDependenciesV2(h, from, to, hostmem.Nil, n)
}

// GraphAddDependenciesV2 adds edges with something said about each. An edge that is there is an error, and then none is added.
func (t *Thread) GraphAddDependenciesV2(h cu.CUgraph, from, to, data hostmem.Ptr, n uint64) error {
	return t.changeEdges(h, from, to, data, n, func(a, b *GraphNode, d cu.CUgraphEdgeData, have int) error {
		if have >= 0 || a == b || !plausibleEdge(a, d) {
			return errInvalidValue
		}
		return nil
	}, link)
}

// GraphRemoveDependencies takes edges out.
func (t *Thread) GraphRemoveDependencies(h cu.CUgraph, from, to hostmem.Ptr, n uint64) error {
	return t.changeEdges(h, from, to, hostmem.Nil, n, func(a, b *GraphNode, d cu.CUgraphEdgeData, have int) error {
		switch {
		case have < 0:
			return errInvalidValue
		case b.deps[have].data != d:
			return errLossy
		}
		return nil
	}, unlink)
}

// GraphRemoveDependenciesV2 takes edges out whose data is as given.
func (t *Thread) GraphRemoveDependenciesV2(h cu.CUgraph, from, to, data hostmem.Ptr, n uint64) error {
	return t.changeEdges(h, from, to, data, n, func(a, b *GraphNode, d cu.CUgraphEdgeData, have int) error {
		if have < 0 || b.deps[have].data != d {
			return errInvalidValue
		}
		return nil
	}, unlink)
}

func unlink(from, to *GraphNode, _ cu.CUgraphEdgeData) {
	to.deps = slices.DeleteFunc(to.deps, func(e edge) bool { return e.from == from })
	if i := slices.Index(from.outs, to); i >= 0 {
		from.outs = slices.Delete(from.outs, i, i+1)
	}
}

// changeEdges checks all pairs, then changes all.
func (t *Thread) changeEdges(h cu.CUgraph, from, to, data hostmem.Ptr, n uint64,
	check func(a, b *GraphNode, d cu.CUgraphEdgeData, have int) error, change func(a, b *GraphNode, d cu.CUgraphEdgeData)) error {
	g, err := t.graph(h)
	if err != nil || n == 0 {
		return err
	}
	a, err := t.readNodes(from, n)
	if err != nil {
		return err
	}
	b, err := t.readNodes(to, n)
	if err != nil {
		return err
	}
	info := make([]cu.CUgraphEdgeData, n)
	if data != hostmem.Nil {
		copy(info, hostmem.Slice[cu.CUgraphEdgeData](data, int(n)))
	}
	type pair struct{ a, b *GraphNode }
	seen := make(map[pair]bool, n)
	return g.state.locked(func(*cleanup) error {
		for i := range a {
			if a[i].graph != g || b[i].graph != g || g.dead || seen[pair{a[i], b[i]}] {
				return errInvalidValue
			}
			seen[pair{a[i], b[i]}] = true
			have := slices.IndexFunc(b[i].deps, func(e edge) bool { return e.from == a[i] })
			if err := check(a[i], b[i], info[i], have); err != nil {
				return err
			}
		}
		for i := range a {
			change(a[i], b[i], info[i])
		}
		return nil
	})
}
