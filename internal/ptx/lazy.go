package ptx

import (
	"slices"
	"strings"
)

// Functions that only tables name. A kernel that calls through a pointer may reach every function whose address the module takes, and
// in libraries of many functions (NCCL) that is nearly all of their text. Where the calls have neither parameters nor results, the
// kernel and each function are slices of their own, which are compiled when they are first called.

// LazyPragma marks such a slice: calls through pointers reach functions that are not in it, and all of the slice's shared variables
// have a place in shared memory, in their order.
const LazyPragma = "kudzu lazy functions"

// LazyEntry begins the name of the kernel that calls a function in the function's slice.
const LazyEntry = "kudzu_lazy_"

// lazyBytes is the text of functions whose addresses are taken, from which on they are lazy. What is below is compiled as one.
const lazyBytes = 1 << 20

// Lazy lists the functions that a kernel's calls through pointers may reach, if they are slices of their own.
func (x *Index) Lazy(kernel string) []string {
	f := x.Func(kernel)
	if f == nil || f.Open < 0 || !x.callsPointers() {
		return nil
	}
	c := x.lazyCutter()
	c.visit(kernel)
	if !c.pointers() || !c.plainCalls() {
		return nil
	}
	total := 0
	for _, name := range x.addressTaken() {
		fn := x.Func(name)
		total += fn.End - fn.Start
	}
	if total < lazyBytes {
		return nil
	}
	var names []string
	for _, name := range x.addressTaken() {
		if fn := x.Func(name); len(fn.Params) == 0 && len(fn.Results) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// callsPointers reports a module large enough to have lazy functions, with a call through a pointer.
func (x *Index) callsPointers() bool {
	x.pointersOnce.Do(func() { x.pointers = len(x.Text) >= lazyBytes && strings.Contains(x.Text, ".callprototype") })
	return x.pointers
}

func (x *Index) lazyCutter() *cutter {
	return &cutter{x: x, state: make(map[string]uint8), proto: map[string]bool{}, lazy: true}
}

// plainCalls reports that every prototype of what was visited has neither parameters nor results.
func (c *cutter) plainCalls() bool {
	for _, name := range c.order {
		it := &c.x.items[c.x.byName[name]]
		if it.fn == nil || it.fn.Open < 0 {
			continue
		}
		text := withoutComments(c.x.Text[it.fn.Open:it.fn.End])
		for {
			_, rest, ok := strings.Cut(text, ".callprototype")
			if !ok {
				break
			}
			end := strings.IndexByte(rest, ';')
			if end < 0 {
				return false
			}
			proto := strings.Join(strings.Fields(rest[:end]), "")
			if proto = strings.TrimPrefix(proto, "()"); proto != "_" && proto != "_()" {
				return false
			}
			text = rest[end:]
		}
	}
	return true
}

// SliceLazy cuts out a kernel without the functions that its calls through pointers reach; with a function's name, that function as
// the kernel calls it: the slice's kernel is LazyEntry and the name. Both have the same shared variables.
func (x *Index) SliceLazy(kernel, function string) (*Slice, error) {
	c := x.lazyCutter()
	root := kernel
	if function != "" {
		root = function
	}
	if f := x.Func(root); f == nil || f.Open < 0 {
		return nil, errNoKernel(root)
	}
	c.visit(root)
	shared := x.lazyShared(kernel)
	var b sliceWriter
	b.x = x
	b.header(c.files)
	b.text(".pragma \"" + LazyPragma + "\";\n")
	for _, name := range c.declared {
		b.prototype(x.Func(name))
	}
	for _, name := range c.order {
		if c.proto[name] && !slices.Contains(c.declared, name) {
			b.prototype(x.Func(name))
		}
	}
	for _, name := range shared {
		b.variable(x.items[x.byName[name]].v)
	}
	b.rest(c, shared)
	if function != "" {
		b.text(".visible .entry " + LazyEntry + function + "()" + bounds(x, kernel) + "\n{\n\tcall.uni " + function + ";\n\tret;\n}\n")
	}
	return &Slice{Text: b.sb.String(), x: x, parts: b.parts}, nil
}

// bounds are the kernel's directives about its block, which a function called by it has too.
func bounds(x *Index, kernel string) string {
	f := x.Func(kernel)
	return " " + strings.TrimSpace(x.Text[f.Head:f.Open])
}

// lazyShared lists the shared variables that a kernel and the functions of tables reach, in the module's order.
func (x *Index) lazyShared(kernel string) []string {
	x.sharedOnce.Do(func() { // all of their text, which may be 100 MB: once, not for each kernel
		c := x.lazyCutter()
		for _, name := range x.addressTaken() {
			if c.state[name] == 0 {
				c.visit(name)
			}
		}
		x.shared = c.state
	})
	c := x.lazyCutter()
	c.visit(kernel)
	var names []string
	for i := range x.items {
		if v := x.items[i].v; v != nil && v.v.Space == SpaceShared && c.state[v.v.Name]+x.shared[v.v.Name] != 0 {
			names = append(names, v.v.Name)
		}
	}
	return names
}
