package trace

import (
	"strings"

	"kudzu/internal/spec"
)

// ValueKind tells what a value is.
type ValueKind uint8

// The kinds of value.
const (
	Word    ValueKind = iota // bits whose type is not known
	Int                      // signed
	Uint                     // unsigned
	Float                    // of 32 or 64 bits, in Float
	Enum                     // Text has its name, or several of them joined by |
	Handle                   // Class says of what; 0 is none
	Device                   // an address of device memory
	Pointer                  // an address of the program; To is what was recorded of what it leads to
	Text                     // a string
	Fields                   // of a structure
	Elems                    // of an array
	Bytes                    // memory without a type
)

// codec reads the values of one C type.
type codec struct {
	kind   ValueKind
	name   string // of the type, as C spells it
	size   int
	class  string // of handles
	enum   *enumNames
	elem   *codec // of pointers and arrays
	count  int
	fields []field
	union  bool
	char   bool // one of a string
}

type field struct {
	name string
	at   int
	codec
}

// enumNames are the enumerators of an enumeration, or the constants that a word of flags is made of.
type enumNames struct {
	names  map[int64]string
	bits   []spec.EnumValue // single bits, for values that join some
	status bool             // 0 is success
}

func namesOf(e *spec.Enum, major int) *enumNames {
	n := &enumNames{names: map[int64]string{}}
	for pass := range 2 { // names of this version first
		for _, v := range e.Values {
			if (pass == 0) != v.In(major) || n.names[v.Value] != "" {
				continue
			}
			n.names[v.Value] = v.Name
			if v.Value > 0 && v.Value&(v.Value-1) == 0 {
				n.bits = append(n.bits, v)
			}
		}
	}
	n.status = strings.HasSuffix(strings.ToLower(n.names[0]), "success")
	return n
}

// text is the name of a value: an enumerator, or bits joined by |.
func (n *enumNames) text(v int64) string {
	if s := n.names[v]; s != "" {
		return s
	}
	if n.status || v <= 0 {
		return ""
	}
	var parts []string
	for _, b := range n.bits {
		if v&b.Value != 0 {
			parts = append(parts, b.Name)
			v &^= b.Value
		}
	}
	if v != 0 {
		return ""
	}
	return strings.Join(parts, "|")
}

// types makes codecs of one interface in one major version.
type types struct {
	scope     *spec.Scope
	made      map[string]*codec
	callbacks map[string]bool // names of pointers to functions
}

func newTypes(api *spec.API, major int) types {
	t := types{scope: api.Scope(major), made: map[string]*codec{}, callbacks: map[string]bool{}}
	t.addCallbacks(api)
	return t
}

func (t *types) addCallbacks(api *spec.API) {
	for _, td := range api.Typedefs {
		if td.Kind == spec.Callback {
			t.callbacks[td.Name] = true
		}
	}
	for _, in := range api.Includes {
		t.addCallbacks(in)
	}
}

// maxNested is deeper than any structure of the tables.
const maxNested = 16

func (t *types) codec(ty *spec.Type, depth int) *codec {
	key := ty.String()
	if c := t.made[key]; c != nil {
		return c
	}
	c := t.make(ty, depth)
	c.name = strings.TrimPrefix(ty.C(""), "const ")
	t.made[key] = c
	return c
}

func (t *types) make(ty *spec.Type, depth int) *codec {
	if depth > maxNested {
		return &codec{kind: Word, size: 8}
	}
	if strings.HasPrefix(ty.Name, "CUdeviceptr") {
		size, _, err := t.scope.Size(ty)
		if err != nil {
			size = 8
		}
		return &codec{kind: Device, size: size}
	}
	if class := numbered[ty.Name]; class != "" {
		return &codec{kind: Handle, size: 8, class: class}
	}
	u := t.scope.Underlying(ty)
	switch {
	case u.Ptr:
		c := &codec{kind: Pointer, size: 8}
		if class := handleClass(u.Elem.Name); class != "" { // struct X *: a handle by another spelling
			return &codec{kind: Handle, size: 8, class: class}
		}
		if !(u.Elem.Name == "void" && !u.Elem.Ptr) {
			c.elem = t.codec(u.Elem, depth+1)
		}
		return c
	case u.Len > 0:
		e := t.codec(u.Elem, depth+1)
		return &codec{kind: Elems, size: e.size * u.Len, elem: e, count: u.Len}
	}
	if e := t.scope.Enum(u); e != nil {
		return &codec{kind: Enum, size: 4, enum: namesOf(e, t.scope.Major)}
	}
	if st := t.scope.Struct(u); st != nil {
		return t.structure(st, depth)
	}
	if p, ok := spec.Prims[u.Name]; ok {
		return primitive(u.Name, p)
	}
	if t.callbacks[u.Name] {
		return &codec{kind: Pointer, size: 8}
	}
	if t.scope.Pointer(u) {
		return &codec{kind: Handle, size: 8, class: className(u.Name)}
	}
	return &codec{kind: Word, size: 8}
}

func primitive(name string, p spec.Prim) *codec {
	switch {
	case strings.HasPrefix(p.Go, "float"):
		return &codec{kind: Float, size: p.Size}
	case name == "char":
		return &codec{kind: Int, size: 1, char: true}
	case strings.HasPrefix(p.Go, "int"):
		return &codec{kind: Int, size: p.Size}
	}
	return &codec{kind: Uint, size: p.Size}
}

func (t *types) structure(st *spec.Struct, depth int) *codec {
	l, err := t.scope.Layout(st)
	if err != nil {
		return &codec{kind: Word, size: 8}
	}
	c := &codec{kind: Fields, size: l.Size, union: st.Union}
	for i, f := range st.Fields {
		var of *codec
		if f.Inner != nil {
			of = t.structure(f.Inner, depth+1)
			if f.Count > 0 {
				of = &codec{kind: Elems, size: of.size * f.Count, elem: of, count: f.Count}
			}
		} else {
			of = t.codec(f.Type, depth+1)
		}
		if strings.HasPrefix(strings.ToLower(f.Name), "reserved") || strings.HasPrefix(f.Name, "__") {
			continue
		}
		if f.Name == "" && of.kind == Fields { // C's anonymous member: its fields are the structure's
			for _, in := range of.fields {
				c.fields = append(c.fields, field{in.name, l.Offsets[i] + in.at, in.codec})
				if of.union {
					break
				}
			}
			continue
		}
		c.fields = append(c.fields, field{f.Name, l.Offsets[i], *of})
	}
	return c
}

// className is the short name of a handle's type: stream for CUstream and cudaStream_t, cublasHandle for cublasHandle_t.
func className(name string) string {
	name = strings.TrimSuffix(name, "_t")
	if rest, ok := strings.CutPrefix(name, "cuda"); ok && rest != "" {
		name = rest
	} else if rest, ok := strings.CutPrefix(name, "CU"); ok && rest != "" {
		name = rest
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// handleClass knows the tags of structures that nobody sees.
func handleClass(tag string) string {
	switch {
	case strings.HasPrefix(tag, "CU") && strings.HasSuffix(tag, "_st"):
		return classOfTag[tag]
	case strings.HasSuffix(tag, "Context"):
		return className(tag)
	}
	return ""
}

// numbered are handles that are integers in C.
var numbered = map[string]string{
	"CUtexObject": texture, "CUtexObject_v1": texture, "cudaTextureObject_t": texture, "CUsurfObject": surface, "CUsurfObject_v1": surface, "cudaSurfaceObject_t": surface,
	"CUmemGenericAllocationHandle": "allocation", "CUmemGenericAllocationHandle_v1": "allocation", "CUgraphConditionalHandle": "conditional", "cudaGraphConditionalHandle": "conditional",
}

const texture, surface = "texture", "surface"

var classOfTag = map[string]string{
	"CUctx_st": "context", "CUmod_st": "module", "CUfunc_st": "function", "CUlib_st": "library", "CUkern_st": "kernel", "CUstream_st": "stream",
	"CUevent_st": "event", "CUgraph_st": "graph", "CUgraphExec_st": "graphExec", "CUgraphNode_st": "graphNode",
}
