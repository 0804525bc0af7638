package spec

import (
	"slices"
	"strings"
	"testing"
)

func load(t *testing.T) map[string]*API {
	t.Helper()
	apis := map[string]*API{}
	for _, name := range Names() {
		api, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		apis[name] = api
	}
	if len(apis) < 2 {
		t.Fatalf("%d tables", len(apis))
	}
	return apis
}

// TestSymbolsAreUnique: a library cannot export a name twice.
func TestSymbolsAreUnique(t *testing.T) {
	for _, api := range load(t) {
		for _, lib := range api.Libraries {
			seen := map[string]bool{}
			for _, s := range api.Symbols(lib) {
				if seen[s.Name] {
					t.Errorf("%s has %s twice", lib.Soname, s.Name)
				}
				seen[s.Name] = true
			}
			if len(seen) == 0 {
				t.Errorf("%s has %d symbols", lib.Soname, len(seen))
			}
		}
	}
}

// TestTypesAreDeclared: every type a row names exists, in every version that has the row.
func TestTypesAreDeclared(t *testing.T) {
	for _, api := range load(t) {
		for _, major := range []int{12, 13} {
			scope := api.Scope(major)
			for _, s := range api.Structs {
				if s.In(major) && s.Only == major {
					if _, err := scope.Layout(s); err != nil {
						t.Errorf("CUDA %d: %v", major, err)
					}
				}
			}
			for _, f := range api.Funcs {
				if !f.In(major) || f.Opaque {
					continue
				}
				for _, p := range f.Params {
					if _, _, err := scope.Size(p.Type); err != nil {
						t.Errorf("%s, %s: %v", f.Name, p.Name, err)
					}
					if p.Mode.IsOut() {
						if _, _, err := scope.Size(p.Type.Elem); err != nil {
							t.Errorf("%s, %s: %v", f.Name, p.Name, err)
						}
					}
				}
			}
		}
	}
}

// TestErrorTexts: a program can print every error.
func TestErrorTexts(t *testing.T) {
	for name, enum := range map[string]string{"cuda": "CUresult", "cudart": "cudaError_t", "nvml": "nvmlReturn_t"} {
		found := false
		for _, e := range load(t)[name].Enums {
			if e.Name != enum {
				continue
			}
			found = true
			for _, v := range e.Values {
				if v.Text == "" {
					t.Errorf("%s has no text", v.Name)
				}
			}
		}
		if !found {
			t.Errorf("%s.api has no %s", name, enum)
		}
	}
}

// TestRenames lead to functions that exist.
func TestRenames(t *testing.T) {
	for _, api := range load(t) {
		names := map[string]bool{}
		for _, f := range api.Funcs {
			names[f.Name] = true
		}
		for _, r := range api.Renames {
			if !names[r.To] {
				t.Errorf("%s leads to %s, which is no row", r.Name, r.To)
			}
		}
	}
}

// TestMethodNames: two rows that share a method have the same parameters, or one is marked narrow.
func TestMethodNames(t *testing.T) {
	funcs := load(t)["cuda"].Funcs
	for _, f := range funcs {
		for _, g := range funcs {
			if f.Base() != g.Base() || f.Opaque || g.Opaque || f.Go != g.Go || f.Narrow || g.Narrow {
				continue
			}
			if len(f.Params) != len(g.Params) {
				t.Errorf("%s and %s share a method", f.Name, g.Name)
				continue
			}
			for i := range f.Params {
				if !f.Params[i].Type.Equal(g.Params[i].Type) {
					t.Errorf("%s and %s share a method, %s differs", f.Name, g.Name, f.Params[i].Name)
				}
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	rows := []struct{ text, want string }{
		{"nonsense", "x.api:1: row \"nonsense\" is no declaration"},
		{"\nf(in a int CUresult", "x.api:2: function f: parameter list is not closed"},
		{"f(into a int) int", "mode \"into\""},
		{"f(out a int) int", "only a pointer can be out"},
		{"f(in a) int", "parameter \"in a\""},
		{"f(in a *) int", "type missing"},
		{"f() ", "result of f: type missing"},
		{"f(in a [0]int) int", "array length \"0\""},
		{"f() int since x", "version \"x\""},
		{"f() int since", "since without a value"},
		{"f() int go=Axpy(F16", "function f: go=Axpy(F16"}, {"f() int go=Axpy()", "function f: go=Axpy()"},
		{"\tlost = 1", "outside an enum or struct"},
		{"enum E\n\tA", "enumerator \"A\""},
		{"enum E\n\tA = one", "value of A"},
		{"enum E\n\tA = 1 \"open", "text of A"},
		{"struct S\n\t}", "} without a member group"},
		{"struct S\n\tunion u {", "not closed"},
		{"struct S\n\ta in-t", "type name \"in-t\""},
		{"handle H", "handle H without a tag"},
		{"callback C", "callback row"},
		{"const C", "constant C without a value"},
		{"rename a", "rename row"},
		{"library", "library row"},
	}
	for _, r := range rows {
		_, err := Parse("x", r.text)
		if err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%q: error %v, want %q", r.text, err, r.want)
		}
	}
}

func TestLayout(t *testing.T) {
	api, err := Parse("x", "type size int\nstruct S\n\ta char\n\tb size\n\tunion {\n\t\tc double\n\t\td [3]int\n\t}\n\te *void\nstruct A align 64\n\tf [3]S\n")
	if err != nil {
		t.Fatal(err)
	}
	scope := api.Scope(13)
	l, err := scope.Layout(api.Structs[0])
	if err != nil || l.Size != 32 || l.Align != 8 || l.Offsets[1] != 4 || l.Offsets[2] != 8 || l.Offsets[3] != 24 {
		t.Errorf("S is laid out %+v, %v", l, err)
	}
	if l, err := scope.Layout(api.Structs[1]); err != nil || l.Size != 128 || l.Align != 64 {
		t.Errorf("A is laid out %+v, %v", l, err)
	}
	self := &Struct{Name: "S", Fields: []*Field{{Name: "x", Type: &Type{Name: "S"}}, {Name: "y", Type: &Type{Name: "S"}}}}
	loop := &API{Name: "x", Structs: []*Struct{self}}
	if _, err := loop.Scope(13).Layout(self); err == nil {
		t.Error("a structure that holds itself has a size")
	}
	if _, err := scope.Layout(&Struct{Name: "B", Fields: []*Field{{Name: "x", Type: &Type{Name: "nowhere"}}}}); err == nil {
		t.Error("an undeclared type has a size")
	}
}

func TestSpan(t *testing.T) {
	rows := []struct {
		s          Span
		in12, in13 bool
	}{
		{Span{}, true, true},
		{Span{Since: 13000}, false, true},
		{Span{Since: 12080}, true, true},
		{Span{Until: 13000}, true, false},
		{Span{Only: 12}, true, false},
	}
	for _, r := range rows {
		if r.s.In(12) != r.in12 || r.s.In(13) != r.in13 || !r.s.In(0) {
			t.Errorf("%+v: in 12 %v, in 13 %v", r.s, r.s.In(12), r.s.In(13))
		}
	}
}

// FuzzParse: no text makes the reader panic.
func FuzzParse(f *testing.F) {
	f.Add("f(in a *const char) int since 1.2 go=F")
	f.Add("struct S\n\tunion u[2] {\n\t\ta [3]*int align 8\n\t}")
	f.Fuzz(func(t *testing.T, text string) {
		api, _ := Parse("fuzz", text)
		for _, s := range api.Structs {
			_, _ = api.Scope(13).Layout(s)
		}
	})
}

// TestParts: a version has its parts and its codes.
func TestParts(t *testing.T) {
	api, err := Parse("cup", "library libcup.so versions 8,9 package p unsupported 9,3000 child 4 parts infer.8,graph.9,ops.9\n")
	if err != nil {
		t.Fatal(err)
	}
	eight, nine := api.Libraries[0], api.Libraries[1]
	if eight.Unsupported != 9 || nine.Unsupported != 3000 || eight.Child != 4 || nine.Child != 4 {
		t.Errorf("codes %+v, %+v", eight, nine)
	}
	if !slices.Equal(eight.Parts, []string{"libcup_infer.so.8"}) || !slices.Equal(nine.Parts, []string{"libcup_graph.so.9", "libcup_ops.so.9"}) {
		t.Errorf("parts %v, %v", eight.Parts, nine.Parts)
	}
}

func TestOffers(t *testing.T) {
	for soname, want := range map[string]string{
		"libcuda.so.1": "cuda", "libcudart.so.12": "cudart", "libcublas.so.13": "cublas", "libcublasLt.so.12": "cublaslt",
		"libcudnn_ops.so.9": "cudnn", "libnvidia-ml.so.1": "nvml", "libcusolverMg.so.11": "cusolvermg", "libcudadebugger.so.1": "", "x": "",
	} {
		if got, ok := Offers(soname); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", soname, got, ok)
		}
	}
}
