package apinet

import (
	"fmt"
	"strings"

	"kudzu/internal/spec"
)

// tagged are structures whose kind says which member of a union counts, and that have addresses in some: the member is
// made for the kind. The kinds are an enumeration's names after its prefix.
var tagged = map[string]map[string]string{
	"CUgraphNodeParams":   nodeMembers,
	"cudaGraphNodeParams": nodeMembers,
}

var nodeMembers = map[string]string{
	"KERNEL": "kernel", "MEMCPY": "memcpy", "MEMSET": "memset", "HOST": "host", "GRAPH": "graph", "EMPTY": "", "WAIT_EVENT": "eventWait", "EVENT_RECORD": "eventRecord",
	"MEM_ALLOC": "alloc", "MEM_FREE": "free", "CONDITIONAL": "conditional",
	"Kernel": "kernel", "Memcpy": "memcpy", "Memset": "memset", "Host": "host", "Graph": "graph", "Empty": "", "WaitEvent": "eventWait", "EventRecord": "eventRecord",
	"MemAlloc": "alloc", "MemFree": "free", "Conditional": "conditional",
}

// byHand are structures that net.c fills.
var byHand = map[string]string{
	"CUstreamBatchMemOpParams_v1": "fill_memop",
}

// fill writes the C function that makes up a structure, once, and gives its name.
func (g *writer) fill(st *spec.Struct) string {
	if name, ok := byHand[st.Name]; ok {
		return name
	}
	name := fmt.Sprintf("fill_%s_%s", g.api.Name, st.Name)
	if g.fills[name] {
		return name
	}
	g.fills[name] = true
	l, err := g.scope.Layout(st)
	if err != nil {
		g.err = err
		return name
	}
	var body strings.Builder
	if members := tagged[st.Name]; members != nil {
		g.taggedBody(&body, st, l, members)
	} else {
		g.body(&body, st, l, 0)
	}
	g.put("static void %s(T *t, u8 *p) {\n\tmemset(p, 0, %d);\n\t(void)t;\n%s}\n", name, l.Size, body.String())
	return name
}

// body stores every member; of a union the first that has addresses, else any.
func (g *writer) body(w *strings.Builder, st *spec.Struct, l spec.Layout, at int) {
	if st.Union {
		i := 0
		for k, f := range st.Fields {
			if g.addresses(f) {
				i = k
				break
			}
		}
		g.member(w, st.Fields[i], at+l.Offsets[i])
		return
	}
	for i, f := range st.Fields {
		if f.Name == "version" && f.Type != nil {
			fmt.Fprintf(w, "\t*(unsigned *)(p + %d) = version(t, %d);\n", at+l.Offsets[i], l.Size)
			continue
		}
		g.member(w, f, at+l.Offsets[i])
	}
}

// member stores one member; now and then it stays 0.
func (g *writer) member(w *strings.Builder, f *spec.Field, at int) {
	if f.Inner != nil {
		l, err := g.scope.Layout(f.Inner)
		if err != nil {
			g.err = err
			return
		}
		for k := range max(1, min(f.Count, 4)) {
			g.body(w, f.Inner, l, at+k*l.Size)
		}
		return
	}
	t, n := f.Type, 1
	if u := g.scope.Underlying(t); u.Len > 0 {
		t, n = u.Elem, u.Len
	}
	size, _, err := g.scope.Size(t)
	if err != nil {
		g.err = err
		return
	}
	if st := g.scope.Struct(t); st != nil {
		for k := range min(n, 4) {
			fmt.Fprintf(w, "\t%s(t, p + %d);\n", g.fill(st), at+k*size)
		}
		return
	}
	when := "member(t)"
	if g.isHandle(t) || g.scope.Enum(t) != nil || g.scope.Underlying(t).Ptr { // what nothing works without
		when = "!one_in(t, 16)"
	}
	for k := range min(n, 8) {
		e, ok := inner[f.Name]
		if !ok {
			if e, err = g.value("", f.Name, t); err != nil {
				g.err = err
			}
		}
		if u := g.scope.Underlying(t); u.Name == "float" || u.Name == "double" {
			fmt.Fprintf(w, "\t{ %s v_ = real(t); memcpy(p + %d, &v_, %d); }\n", u.Name, at+k*size, size)
			continue
		}
		fmt.Fprintf(w, "\tif (%s) { u64 v_ = %s; memcpy(p + %d, &v_, %d); }\n", when, e, at+k*size, size)
	}
}

// addresses reports whether a member has pointers of the host's in it.
func (g *writer) addresses(f *spec.Field) bool {
	if f.Inner != nil {
		for _, i := range f.Inner.Fields {
			if g.addresses(i) {
				return true
			}
		}
		return false
	}
	if st := g.scope.Struct(f.Type); st != nil {
		for _, i := range st.Fields {
			if g.addresses(i) {
				return true
			}
		}
		return false
	}
	return g.scope.Underlying(f.Type).Ptr && !g.isHandle(f.Type)
}

// taggedBody writes a structure whose kind and member belong together.
func (g *writer) taggedBody(w *strings.Builder, st *spec.Struct, l spec.Layout, members map[string]string) {
	kind, union := -1, -1
	for i, f := range st.Fields {
		switch {
		case f.Type != nil && f.Name == "type":
			kind = i
		case f.Inner != nil && f.Inner.Union:
			union = i
		}
	}
	if kind < 0 || union < 0 {
		g.err = fmt.Errorf("structure %s has no kind or no union", st.Name)
		return
	}
	u := st.Fields[union].Inner
	ul, err := g.scope.Layout(u)
	if err != nil {
		g.err = err
		return
	}
	n := 0
	for _, v := range g.scope.Enum(st.Fields[kind].Type).Values {
		_, suffix, ok := strings.Cut(v.Name, "NODE_TYPE_")
		if !ok {
			_, suffix, _ = strings.Cut(v.Name, "NodeType")
		}
		member, ok := members[suffix]
		if !ok {
			continue
		}
		var inside strings.Builder
		for i, f := range u.Fields {
			if f.Name == member {
				g.member(&inside, f, l.Offsets[union]+ul.Offsets[i])
			}
		}
		fmt.Fprintf(w, "\tif (small(t, %d) == 0) {\n\t*(int *)(p + %d) = %d;\n%s\treturn;\n\t}\n", 10-min(n, 9), l.Offsets[kind], v.Value, inside.String())
		n++
	}
}

// cost is how seldom a row is taken, as one in so many: what compiles or makes contexts would take all the time.
func cost(f *spec.Func) int {
	switch {
	case strings.Contains(f.Name, "CtxCreate"), strings.Contains(f.Name, "DeviceReset"), strings.Contains(f.Name, "PrimaryCtxReset"):
		return 8
	case strings.Contains(f.Name, "ModuleLoad"), strings.Contains(f.Name, "LibraryLoad"), strings.Contains(f.Name, "LinkComplete"):
		return 4
	}
	return 1
}
