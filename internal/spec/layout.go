package spec

import "fmt"

// Scope resolves the names of one interface in one major version, and lays types out
// as the 64-bit System V ABIs do.
type Scope struct {
	API   *API
	Major int

	enums    map[string]*Enum
	typedefs map[string]*Typedef
	structs  map[string]*Struct
}

// Scope returns the names of a major version; 0 means all. Names that only another version
// has are there too, after its own: a union may have grown by a newer type without
// changing its layout, and is written down once.
func (a *API) Scope(major int) *Scope {
	s := &Scope{API: a, Major: major, enums: map[string]*Enum{}, typedefs: map[string]*Typedef{}, structs: map[string]*Struct{}}
	for _, m := range []int{major, 0} {
		for _, e := range a.Enums {
			if e.In(m) && s.enums[e.Name] == nil {
				s.enums[e.Name] = e
			}
		}
		for _, t := range a.Typedefs {
			if t.In(m) && s.typedefs[t.Name] == nil {
				s.typedefs[t.Name] = t
			}
		}
		for _, st := range a.Structs {
			if st.In(m) && s.structs[st.Name] == nil {
				s.structs[st.Name] = st
			}
		}
	}
	for _, in := range a.Includes {
		s.adopt(in.Scope(major))
	}
	return s
}

// adopt takes the names of an included interface that the scope does not have itself.
func (s *Scope) adopt(o *Scope) {
	for n, e := range o.enums {
		if s.enums[n] == nil {
			s.enums[n] = e
		}
	}
	for n, t := range o.typedefs {
		if s.typedefs[n] == nil {
			s.typedefs[n] = t
		}
	}
	for n, st := range o.structs {
		if s.structs[n] == nil {
			s.structs[n] = st
		}
	}
}

// Prim is a C type that is not defined in terms of others.
type Prim struct {
	Size int
	Go   string
}

// Prims are the C types the tables may name without declaring them.
var Prims = map[string]Prim{
	"void": {0, ""}, "char": {1, "byte"}, "signed char": {1, "int8"}, "unsigned char": {1, "uint8"},
	"short": {2, "int16"}, "unsigned short": {2, "uint16"}, "int": {4, "int32"}, "unsigned int": {4, "uint32"},
	"long": {8, "int64"}, "unsigned long": {8, "uint64"}, "long long": {8, "int64"}, "unsigned long long": {8, "uint64"},
	"float": {4, "float32"}, "double": {8, "float64"}, "size_t": {8, "uint64"},
	"int32_t": {4, "int32"}, "uint32_t": {4, "uint32"}, "uint64_t": {8, "uint64"}, "int64_t": {8, "int64"},
}

// Underlying follows aliases until a type that is not one.
func (s *Scope) Underlying(t *Type) *Type {
	for range 16 {
		td := s.typedefs[t.Name]
		if t.Ptr || t.Len > 0 || td == nil || td.Kind != Alias {
			return t
		}
		t = td.Type
	}
	return t
}

// Struct returns the structure a type names through any aliases, or nil.
func (s *Scope) Struct(t *Type) *Struct { return s.structs[s.Underlying(t).Name] }

// Enum returns the enumeration a type names through any aliases, or nil.
func (s *Scope) Enum(t *Type) *Enum { return s.enums[s.Underlying(t).Name] }

// Pointer reports whether values of the type are addresses or handles.
func (s *Scope) Pointer(t *Type) bool {
	u := s.Underlying(t)
	return u.Ptr || s.typedefs[u.Name] != nil
}

// maxNesting is deeper than any structure in structures; one that holds itself gets there.
const maxNesting = 32

// Size returns the size and alignment of a type.
func (s *Scope) Size(t *Type) (size, align int, err error) { return s.size(t, 0) }

func (s *Scope) size(t *Type, depth int) (size, align int, err error) {
	u := s.Underlying(t)
	if s.Pointer(u) {
		return 8, 8, nil
	}
	if u.Len > 0 {
		size, align, err = s.size(u.Elem, depth)
		return size * u.Len, align, err
	}
	if s.enums[u.Name] != nil {
		return 4, 4, nil
	}
	if st := s.structs[u.Name]; st != nil {
		l, err := s.layout(st, depth+1)
		return l.Size, l.Align, err
	}
	if p, ok := Prims[u.Name]; ok && p.Size > 0 {
		return p.Size, p.Size, nil
	}
	return 0, 0, fmt.Errorf("type %s of %s.api is not declared", t, s.API.Name)
}

// Layout is where the members of a structure lie.
type Layout struct {
	Size, Align int
	Offsets     []int // one a field
}

// Layout lays a structure out.
func (s *Scope) Layout(st *Struct) (Layout, error) { return s.layout(st, 0) }

func (s *Scope) layout(st *Struct, depth int) (Layout, error) {
	l := Layout{Align: max(1, st.Align)}
	if depth > maxNesting {
		return l, fmt.Errorf("structure %s holds itself", st.Name)
	}
	end := 0
	for _, f := range st.Fields {
		size, align, err := s.fieldSize(f, depth)
		if err != nil {
			return l, fmt.Errorf("%s.%s: %w", st.Name, f.Name, err)
		}
		align = max(align, f.Align)
		off := 0
		if !st.Union {
			off = roundUp(end, align)
		}
		l.Offsets = append(l.Offsets, off)
		end = max(end, off+size)
		l.Align = max(l.Align, align)
	}
	l.Size = roundUp(end, l.Align)
	return l, nil
}

func (s *Scope) fieldSize(f *Field, depth int) (size, align int, err error) {
	if f.Inner == nil {
		return s.size(f.Type, depth)
	}
	l, err := s.layout(f.Inner, depth+1)
	return l.Size * max(1, f.Count), l.Align, err
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
