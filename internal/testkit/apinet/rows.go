// Package apinet writes a program that calls every exported function of our libraries at random: with live handles, with
// stale and made-up ones, with NULL, and with sizes of nothing and of far too much. The rows are the tables of
// internal/spec, so a new function is in the net at once. What the arguments must respect so that a call is not wrong on
// NVIDIA's side too (memory that is there, waits that end) is in classes.go; the program that makes the calls is
// testdata/apps/net.c.
package apinet

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kudzu/internal/spec"
)

// Tables are the interfaces of the net, with how often of a hundred calls one of its functions is taken.
var Tables = []struct {
	Name  string
	Share int
}{{"cuda", 42}, {"cudart", 26}, {"cublas", 14}, {"cublaslt", 8}, {"nvml", 10}}

// writer makes one header of one major version.
type writer struct {
	w     io.Writer
	major int
	api   *spec.API
	scope *spec.Scope
	kinds map[string]int // of handles, by the name that all interfaces have for them
	names []string       // of the kinds
	enums map[string]bool
	fills map[string]bool
	err   error
}

func (g *writer) put(format string, args ...any) {
	if g.err == nil {
		_, g.err = fmt.Fprintf(g.w, format, args...)
	}
}

// Write writes the rows of all interfaces of one major version as C.
func Write(w io.Writer, major int) error {
	g := &writer{w: w, major: major, kinds: map[string]int{}, enums: map[string]bool{}, fills: map[string]bool{}}
	var rows, libs strings.Builder
	n := 0
	for i, t := range Tables {
		api, err := spec.Load(t.Name)
		if err != nil {
			return err
		}
		g.api, g.scope = api, api.Scope(major)
		first := n
		lib := library(api, major)
		seen := map[*spec.Func]bool{}
		for _, s := range api.Symbols(lib) {
			if !seen[s.Func] {
				seen[s.Func] = true
				if err := g.function(s.Func); err != nil {
					return fmt.Errorf("%s: %w", s.Func.Name, err)
				}
			}
			fmt.Fprintf(&rows, "\t{%q, %d, %s, %d, %d},\n", s.Name, i, g.symbol(s.Func), flags(s.Func), cost(s.Func))
			n++
		}
		fmt.Fprintf(&libs, "\t{%q, %d, %d, %d},\n", lib.Soname, t.Share, first, n)
	}
	g.put("static const char *const kind_names[] = {\"none\"")
	for _, k := range g.names {
		g.put(", %q", k)
	}
	g.put("};\nenum { KINDS = %d };\n", len(g.names)+1)
	for _, k := range wellKnown {
		g.put("enum { KIND_%s = %d };\n", k, g.kind(k))
	}
	g.put("static const Row rows[] = {\n%s};\nstatic const Lib libs[] = {\n%s};\n", rows.String(), libs.String())
	return g.err
}

// wellKnown are the kinds that net.c itself makes handles of.
var wellKnown = []string{"CUctx_st", "CUmod_st", "CUfunc_st", "CUlib_st", "CUkern_st", "CUstream_st", "CUevent_st", "CUgraph_st", "nvmlDevice_st", "cublasContext", "cublasLtContext"}

// library is the shared object of a table in a major version.
func library(api *spec.API, major int) spec.Library {
	for _, l := range api.Libraries {
		if l.Major == major {
			return l
		}
	}
	return api.Libraries[len(api.Libraries)-1]
}

// Functions counts the names that a net of a major version calls.
func Functions(major int) (int, error) {
	n := 0
	for _, t := range Tables {
		api, err := spec.Load(t.Name)
		if err != nil {
			return 0, err
		}
		n += len(api.Symbols(library(api, major)))
	}
	return n, nil
}

func (g *writer) symbol(f *spec.Func) string { return fmt.Sprintf("call_%s_%d", g.api.Name, f.Line) }

// flags of a row for net.c: 1 makes a handle, 2 may end a context that others use.
func flags(f *spec.Func) int {
	n := 0
	for _, p := range f.Params {
		if p.Mode.IsOut() && strings.Contains(f.Name, "Create") {
			n |= 1
		}
	}
	if f.Ends && !strings.Contains(f.Name, "CtxDestroy") || slices.Contains(endsAll, f.Name) {
		n |= 2
	}
	return n
}

// function writes the C function that makes up arguments, calls, and keeps what came out.
func (g *writer) function(f *spec.Func) error {
	type arg struct{ ctype, init, name, after string }
	var args []arg
	for i, p := range f.Params {
		a := arg{name: fmt.Sprintf("a%d", i)}
		var err error
		a.ctype, a.init, a.after, err = g.argument(f, p, a.name)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		args = append(args, a)
	}
	var body strings.Builder
	var types, names, shown []string
	for _, a := range args {
		fmt.Fprintf(&body, "\t%s %s = %s;\n", a.ctype, a.name, a.init)
		types, names = append(types, a.ctype), append(names, a.name)
		shown = append(shown, "SHOW("+a.name+")")
	}
	if f.Opaque { // the signature is not public: the answer is the same whatever it is
		types, names = []string{"u64", "u64", "u64"}, []string{"0", "0", "0"}
	}
	result := g.result(f)
	g.put("static u64 %s(T *t, void *f) {\n%s\tBEFORE(t, %s);\n", g.symbol(f), body.String(), strings.Join(append([]string{fmt.Sprint(len(shown))}, shown...), ", "))
	call := fmt.Sprintf("((%s(*)(%s))f)(%s)", result, strings.Join(types, ", "), strings.Join(names, ", "))
	switch {
	case result == "void":
		g.put("\t%s;\n\tu64 r = 0;\n", call)
	case strings.HasPrefix(result, "V_") || result == "float" || result == "double":
		g.put("\t(void)%s;\n\tu64 r = 0;\n", call)
	default:
		g.put("\tu64 r = (u64)%s;\n", call)
	}
	g.put("\tAFTER(t, r);\n")
	for _, a := range args {
		if a.after != "" {
			g.put("\tif (!r) %s;\n", a.after)
		}
	}
	g.put("\treturn r;\n}\n")
	return nil
}

// result is the C type of what a function returns, as the calling convention sees it.
func (g *writer) result(f *spec.Func) string {
	if f.Result == nil || f.Opaque {
		return "u64"
	}
	u := g.scope.Underlying(f.Result)
	switch {
	case g.scope.Pointer(u), u.Name == "size_t", u.Name == "char":
		return "u64"
	case g.scope.Enum(u) != nil, u.Name == "int", u.Name == "unsigned int":
		return "unsigned"
	case u.Name == "void", u.Name == "float", u.Name == "double":
		return u.Name
	}
	return g.byValue(u)
}

// byValue is a C type that a structure passed by value has the size and the class of.
func (g *writer) byValue(t *spec.Type) string {
	size, align, err := g.scope.Size(t)
	if err != nil {
		g.err = err
	}
	word := "unsigned"
	switch st := g.scope.Struct(t); {
	case st != nil && st.Fields[0].Type != nil && st.Fields[0].Type.Name == "float":
		word = "float"
	case st != nil && st.Fields[0].Type != nil && st.Fields[0].Type.Name == "double":
		word = "double"
	case align == 8:
		word = "u64"
	}
	width := map[string]int{"unsigned": 4, "float": 4, "u64": 8, "double": 8}[word]
	if align < 4 {
		word, width = "unsigned char", 1
	}
	name := fmt.Sprintf("V_%s_%d", strings.ReplaceAll(word, " ", "_"), size/width)
	if !g.fills[name] {
		g.fills[name] = true
		g.put("typedef struct { %s w[%d]; } %s;\n", word, size/width, name)
	}
	return name
}

// kind numbers the handles by the name that all interfaces have for them; 0 is none.
func (g *writer) kind(name string) int {
	if same, ok := sameKind[name]; ok {
		name = same
	}
	k := g.kinds[name]
	if k == 0 {
		k = len(g.names) + 1
		g.kinds[name] = k
		g.names = append(g.names, name)
	}
	return k
}
