package lower

import (
	"strings"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Calls are inlined while the kernel stays below inlineTotal PTX instructions. Beyond, functions of more than inlineSmall
// that are called from several places become functions of the IR, so that a kernel's code is at most a few times its text.
const (
	inlineTotal = 20_000
	inlineSmall = 200
)

// plan says how the functions that a kernel reaches are called. It is made before anything is lowered.
type plan struct {
	m        *ptx.Module
	aliases  map[string]string
	real     map[*ptx.Func]bool // called, not inlined: recursive, called through pointers, or large
	taken    []string           // functions and aliases whose addresses the module takes, in the module's order
	reserved bool               // something asks for the system's part of shared memory
	stack    bool               // there are real calls or dynamic allocations: frames know where the stack is free
	lazy     bool               // calls through pointers reach functions that are compiled by themselves (ptx.LazyPragma)
}

// all: functions whose addresses the module takes are there even if the kernel does not call them.
func newPlan(m *ptx.Module, kernel *ptx.Func, opts *Options) *plan {
	p := &plan{m: m, aliases: map[string]string{}, real: map[*ptx.Func]bool{}}
	for _, a := range m.Aliases {
		p.aliases[a.Name] = a.Of
	}
	p.lazy = isLazy(m)
	t := opts.Taken
	if t == nil {
		t = TakenIn(m)
	}
	p.taken = t.names
	g := &callGraph{p: p, callees: map[*ptx.Func][]*ptx.Func{}, sites: map[*ptx.Func]int{}}
	var others []string
	if opts.NVIDIA {
		others = p.taken
	}
	g.walk(kernel, others)
	g.recursive()
	g.large(kernel)
	p.stack = p.stack || len(p.real) > 0
	return p
}

// resolve follows aliases; a circle of them ends somewhere.
func (p *plan) resolve(name string) string {
	for range p.aliases {
		of, ok := p.aliases[name]
		if !ok {
			break
		}
		name = of
	}
	return name
}

// isLazy reports a slice whose functions are compiled one by one.
func isLazy(m *ptx.Module) bool {
	for _, d := range m.Pragmas {
		for _, text := range d.Strs {
			if text == ptx.LazyPragma {
				return true
			}
		}
	}
	return false
}

// Taken are the functions of a module whose addresses are taken.
type Taken struct{ names []string }

// TakenIn finds them: named by an operand that is not the callee of a call, or by an initialiser. The address may have come from
// another kernel: a slice lists those of the whole module.
func TakenIn(m *ptx.Module) *Taken {
	taken := map[string]bool{}
	for _, fn := range m.Funcs {
		if fn.Body != nil {
			addressesInBody(fn.Body, taken)
		}
	}
	addressesIn(m.Vars, taken)
	for _, d := range m.Pragmas {
		for _, text := range d.Strs {
			if list, ok := strings.CutPrefix(text, ptx.TakenPragma); ok {
				for _, name := range strings.Split(list, ",") {
					taken[name] = true
				}
			}
		}
	}
	t := &Taken{}
	for _, a := range m.Aliases {
		if taken[a.Name] {
			t.names = append(t.names, a.Name)
		}
	}
	seen := map[string]bool{}
	for _, fn := range m.Funcs {
		if taken[fn.Name] && fn.Kind != ptx.Entry && !seen[fn.Name] {
			seen[fn.Name] = true
			t.names = append(t.names, fn.Name)
		}
	}
	return t
}

// addressesInBody notes the functions that operands, tables and initialisers of a body name.
func addressesInBody(body *ptx.Body, taken map[string]bool) {
	for i := range body.Insts {
		in := &body.Insts[i]
		call := in.Op() == isa.Call
		for a := range in.Args {
			if in.Args[a].Kind == ptx.OpFunc && !(call && (a == 1 || a == 3)) {
				taken[in.Args[a].Name] = true
			}
		}
	}
	for _, t := range body.Tables {
		for _, name := range t.Funcs {
			taken[name] = true
		}
	}
	addressesIn(body.Vars, taken)
}

// addressesIn notes the symbols that initialisers name.
func addressesIn(vars []*ptx.Var, taken map[string]bool) {
	for _, v := range vars {
		if v.Init == nil {
			continue
		}
		for i := range v.Init.Relocs {
			taken[v.Init.Relocs[i].Target()] = true
		}
	}
}

// targets are the functions that a call through a pointer may reach, by the names that stand for their addresses.
func (p *plan) targets(body *ptx.Body, in *ptx.Inst) []string {
	o := &in.Args[3]
	var sig *ptx.Func
	list := p.taken
	switch o.Kind {
	case ptx.OpTable:
		list = body.Tables[o.Table].Funcs
	case ptx.OpProto:
		if o.Table >= 0 {
			sig = body.Protos[o.Table]
		}
	case ptx.OpFunc:
		sig = p.m.Func(o.Name)
	}
	var out []string
	for _, name := range list {
		fn := p.m.Func(p.resolve(name))
		if fn != nil && fn.Body != nil && (sig == nil || sameShape(fn.Params, sig.Params) && sameShape(fn.Results, sig.Results)) {
			out = append(out, name)
		}
	}
	return out
}

// sameShape compares parameter lists by what travels: the number and the sizes.
func sameShape(a, b []*ptx.Var) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Size != b[i].Size {
			return false
		}
	}
	return true
}

// callGraph is who calls whom, among what the kernel reaches.
type callGraph struct {
	p       *plan
	order   []*ptx.Func // as found
	callees map[*ptx.Func][]*ptx.Func
	sites   map[*ptx.Func]int // call sites of a function
}

// walk goes from the kernel, and from others, functions that are called through pointers if at all.
func (g *callGraph) walk(kernel *ptx.Func, others []string) {
	work := []*ptx.Func{kernel}
	seen := map[*ptx.Func]bool{kernel: true}
	for _, name := range others {
		if c := g.p.m.Func(g.p.resolve(name)); c != nil && c.Kind == ptx.DeviceFunc && c.Body != nil && !seen[c] {
			seen[c], g.p.real[c] = true, true
			work = append(work, c)
		}
	}
	for len(work) > 0 {
		fn := work[0]
		work = work[1:]
		g.order = append(g.order, fn)
		add := func(name string, real bool) {
			c := g.p.m.Func(g.p.resolve(name))
			if c == nil || c.Body == nil {
				return
			}
			if real {
				g.p.real[c] = true
			}
			g.sites[c]++
			g.callees[fn] = append(g.callees[fn], c)
			if !seen[c] {
				seen[c] = true
				work = append(work, c)
			}
		}
		for i := range fn.Body.Insts {
			in := &fn.Body.Insts[i]
			switch in.Op() {
			case isa.Mov:
				g.p.reserved = g.p.reserved || inReserved(in.Args[1].SReg)
			case isa.Alloca, isa.Stacksave, isa.Stackrestore:
				g.p.stack = true
			case isa.Call:
				if o := &in.Args[1]; o.Kind == ptx.OpFunc {
					add(o.Name, false)
					continue
				}
				if g.p.lazy {
					continue
				}
				for _, name := range g.p.targets(fn.Body, in) {
					add(name, true)
				}
			}
		}
	}
}

// recursive marks the functions that may be under way twice: those in a cycle of the graph.
func (g *callGraph) recursive() {
	index, low, on := map[*ptx.Func]int{}, map[*ptx.Func]int{}, map[*ptx.Func]bool{}
	var stack []*ptx.Func
	type visit struct {
		fn   *ptx.Func
		next int
	}
	for _, root := range g.order {
		if index[root] != 0 {
			continue
		}
		var calls []visit
		enter := func(fn *ptx.Func) {
			index[fn] = len(index) + 1
			low[fn] = index[fn]
			on[fn] = true
			stack = append(stack, fn)
			calls = append(calls, visit{fn, 0})
		}
		enter(root)
		for len(calls) > 0 {
			c := &calls[len(calls)-1]
			if c.next < len(g.callees[c.fn]) {
				s := g.callees[c.fn][c.next]
				c.next++
				if index[s] == 0 {
					enter(s)
				} else if on[s] {
					low[c.fn] = min(low[c.fn], index[s])
				}
				continue
			}
			fn := c.fn
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].fn
				low[up] = min(low[up], low[fn])
			}
			if low[fn] != index[fn] {
				continue
			}
			first := len(stack) - 1
			for stack[first] != fn {
				first--
			}
			for _, x := range stack[first:] {
				on[x] = false
				if first < len(stack)-1 || contains(g.callees[fn], fn) {
					g.p.real[x] = true
				}
			}
			stack = stack[:first]
		}
	}
}

func contains(list []*ptx.Func, fn *ptx.Func) bool {
	for _, x := range list {
		if x == fn {
			return true
		}
	}
	return false
}

// large marks functions that would make the kernel too large, if it would be.
func (g *callGraph) large(kernel *ptx.Func) {
	const most = 1 << 40
	size := map[*ptx.Func]int{}
	var measure func(fn *ptx.Func, depth int) int
	measure = func(fn *ptx.Func, depth int) int {
		if n, ok := size[fn]; ok {
			return n
		}
		n := len(fn.Body.Insts)
		size[fn] = n // a cycle's functions are real, and count once
		if depth > 150 {
			g.p.real[fn] = true // inlining nests no deeper
			depth = 0
		}
		for _, c := range g.callees[fn] {
			if m := measure(c, depth+1); !g.p.real[c] {
				n = min(n+m, most)
			}
		}
		size[fn] = n
		return n
	}
	if measure(kernel, 0) <= inlineTotal {
		return
	}
	for _, fn := range g.order {
		if fn != kernel && g.sites[fn] > 1 && size[fn] > inlineSmall {
			g.p.real[fn] = true
		}
	}
}

// pointerList is how CallInd names its targets: name, or alias=name.
func (p *plan) pointerList(names []string) string {
	var parts []string
	for _, n := range names {
		if of := p.resolve(n); of != n {
			n += "=" + of
		}
		parts = append(parts, n)
	}
	return strings.Join(parts, ",")
}
