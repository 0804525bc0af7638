// Package spec is the table of the C interfaces Kudzu answers: one declaration a
// line in the *.api files, and this Go view of them. Everything else that knows a
// CUDA name (fronts, stubs, bindings, headers) is generated from these rows.
package spec

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.api
var files embed.FS

// InC are the sonames of our libraries that have no table: programs in C on those that have (c/cufftw, c/cufile, c/nvshmem, c/nvtx), because
// their functions answer with more than a code.
var InC = []string{"libcufftw.so.11", "libcufftw.so.12", "libcufile.so.0", "libnvToolsExt.so.1", "libnvshmem_host.so.3"}

// Version is a CUDA release as the vendor counts it: 12.8 is 12080.
type Version int

// Span says in which releases a row exists.
type Span struct {
	Since Version // 0: from the beginning
	Until Version // 0: to this day; else the first release without it
	Only  int     // 0, or the one major version whose meaning this row has
}

// In reports whether a row exists in the given major version; 0 stands for all.
func (s Span) In(major int) bool {
	switch {
	case major == 0:
		return true
	case s.Only != 0: // what 12 changed no more it took from 11, unless it is since 12
		return s.Only == major || s.Only == 12 && major == 11 && s.Since < 12000
	case s.Until != 0 && major*1000 >= int(s.Until):
		return false
	}
	return int(s.Since)/1000 <= major
}

// Library is one shared object the interface is offered by.
type Library struct {
	Soname      string
	Key         string   // name in generated files
	Node        string   // version node of every symbol; empty for none
	Major       int      // which rows it has; 0 for all
	Unsupported int      // what an unimplemented function answers
	Child       int      // what everything answers in a forked child of an initialised process
	Exit        int      // what everything answers once the process is ending
	Parts       []string // other shared objects with the same names, each under a version node of its own
}

// Const is a named number that is a macro in C.
type Const struct {
	Name  string
	Type  *Type // nil for a plain number
	Value string
	Span
}

// Rename is a plain name that the header leads to a newer function.
type Rename struct {
	Name, To string
	Span
}

// Enum is a C enumeration.
type Enum struct {
	Name, Tag string
	For       string // of a library that we call: the enumeration of CUDA that it stands in for
	Values    []EnumValue
	Span
}

// EnumValue is one enumerator. Text is the description a program can ask for.
type EnumValue struct {
	Name  string
	Value int64
	Text  string
	For   string // of a library that we call: the enumerator of CUDA that it stands in for
	Span
}

// Typedef gives a type another name. A handle is a pointer to a tag that is never defined.
type Typedef struct {
	Name string
	Kind TypedefKind
	Tag  string  // of a handle
	Type *Type   // of an alias; the result of a callback
	Args []*Type // of a callback
	Span
}

// TypedefKind tells the three kinds of typedef apart.
type TypedefKind int

// The kinds of typedef.
const (
	Alias TypedefKind = iota
	Handle
	Callback
)

// Struct is a C structure or union, at top level or inside another.
type Struct struct {
	Name, Tag string
	Union     bool
	Align     int // demanded alignment, 0 for the natural one
	Fields    []*Field
	Span
}

// Field is a member. Exactly one of Type and Inner is set; an Inner without a name is
// C's anonymous member.
type Field struct {
	Name  string
	Type  *Type
	Inner *Struct
	Count int // array length of Inner, 0 for none
	Align int
}

// Mode says how a parameter travels.
type Mode int

// The modes of a parameter. Host is memory whose meaning only the callee knows.
const (
	In Mode = iota
	InOpt
	Out
	OutOpt
	OutAny // may be null, but not all of a function's
	Host
)

// IsOut reports whether the parameter receives a result.
func (m Mode) IsOut() bool { return m == Out || m == OutOpt || m == OutAny }

// Param is one parameter of a function.
type Param struct {
	Mode Mode
	Name string
	Type *Type
}

// Func is one exported function. PTSZ and PTDS are the first release with the variant
// for the per-thread default stream, 0 when there is none.
type Func struct {
	Name       string
	Params     []Param
	Result     *Type
	Opaque     bool // signature not public
	PTSZ, PTDS Version
	Go         string   // method that implements it, when not the usual name
	With       []string // constants of its package that the method takes after the row's parameters
	Ends       bool     // it may end a context
	Door       string   // kz_door_DOOR of internal/abi is its way into Go, when not the usual one
	Narrow     bool     // of the first releases: numbers of 32 bits go to a method that takes 64
	Driver     string   // of the runtime API: the driver's method that does it, when nothing else is to be done
	NoContext  bool     // of these: it needs the driver, and no context
	For        string   // of a function that we call: the function of CUDA that it stands in for
	Group      string
	Line       int
	Span
}

// Answered is what the generator must know of an interface that we answer.
type Answered struct {
	Package   string    // of its Go types, below internal/spec
	Room      string    // of the package whose type Thread has the methods, below internal
	Header    string    // the C header
	Macro     string    // that chooses the version in it
	Prefix    string    // what a C name has before the method's name
	Status    string    // the enumeration of its result codes; empty where another interface has it
	Null      int       // what NULL is answered with where a result must go; -1: its room says (Refuse)
	LastError bool      // a failure is the thread's last error
	Plain     bool      // the newest library has a name without a version, too
	Also      string    // every function is exported again with this before its name
	Releases  []Version // the last one of each major version, for functions that are dated
}

// Called is what the generator must know of an interface that we call and do not answer: a library of another vendor.
type Called struct {
	For   []string // the tables of CUDA that its rows' `for` names rows of, the first of which it stands in for
	Alike bool     // calls are forwarded by the table: rows tell what their parameters are
	Named bool     // calls are made by the name of a row, which tells what its parameters are
}

// Macro is a macro of the C header that is no number: with parameters, or a list of values.
type Macro struct {
	Name string // with its parameters
	Text string
}

// API is one *.api file.
type API struct {
	Name      string
	About     string // what it is
	Answered  *Answered
	Called    *Called
	Includes  []*API // interfaces whose types these rows may name
	Libraries []Library
	Consts    []*Const
	Macros    []Macro
	Enums     []*Enum
	Typedefs  []*Typedef
	Structs   []*Struct
	Renames   []Rename
	Funcs     []*Func
}

// Symbol is one exported name of a library.
type Symbol struct {
	Name    string
	Func    *Func
	Variant string // "", "ptsz" or "ptds"
	Since   Version
}

// Load reads the table of one interface, "cuda" or "cudart".
func Load(name string) (*API, error) {
	text, err := files.ReadFile(name + ".api")
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", name, err)
	}
	return Parse(name, string(text))
}

// include loads an interface that another one names. Tables that include each other would never end.
func (p *parser) include(name string) error {
	if name == p.api.Name || len(p.api.Libraries) == 0 {
		return fmt.Errorf("include %s: only after the library rows, and never itself", name)
	}
	api, err := Load(name)
	if err != nil {
		return err
	}
	p.api.Includes = append(p.api.Includes, api)
	return nil
}

// Names lists the interfaces that have a table.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("BUG: embedded folder without entries: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".api"))
	}
	return names
}

// Offers is the interface that a shared object offers, by the library rows alone: nothing is parsed for it.
func Offers(soname string) (name string, ok bool) {
	best := 0
	for _, n := range Names() {
		text, err := files.ReadFile(n + ".api")
		if err != nil {
			continue
		}
		_, row, ok := strings.Cut(string(text), "\nlibrary ")
		if !ok {
			continue
		}
		stem, _, _ := strings.Cut(row, ".so") // libcudnn is for libcudnn.so.9 and libcudnn_ops.so.9, not for libcudnnX
		rest, ok := strings.CutPrefix(soname, stem)
		if ok && (strings.HasPrefix(rest, ".so") || strings.HasPrefix(rest, "_")) && len(stem) > best {
			name, best = n, len(stem)
		}
	}
	return name, best > 0
}

// Declares reports whether a row of this table itself declares a type.
func (a *API) Declares(name string) bool {
	for _, e := range a.Enums {
		if e.Name == name {
			return true
		}
	}
	for _, t := range a.Typedefs {
		if t.Name == name {
			return true
		}
	}
	for _, s := range a.Structs {
		if s.Name == name {
			return true
		}
	}
	return false
}

// Symbols lists what a library exports, in the order of the rows.
func (a *API) Symbols(lib Library) []Symbol {
	var syms []Symbol
	for _, f := range a.Funcs {
		if f.In(lib.Major) {
			syms = append(syms, f.Symbols()...)
		}
	}
	return syms
}

// Slots lists the places in the jump tables of an interface's libraries, which all have the same: every name that any of them
// exports, in the order of the rows.
func (a *API) Slots() []Symbol {
	var slots []Symbol
	for _, f := range a.Funcs {
		if slices.ContainsFunc(a.Libraries, func(l Library) bool { return f.In(l.Major) }) {
			slots = append(slots, f.Symbols()...)
		}
	}
	return slots
}

// Symbols lists the names a function is exported by.
func (f *Func) Symbols() []Symbol {
	syms := []Symbol{{f.Name, f, "", f.Since}}
	if f.PTSZ != 0 {
		syms = append(syms, Symbol{f.Name + "_ptsz", f, "ptsz", f.PTSZ})
	}
	if f.PTDS != 0 {
		syms = append(syms, Symbol{f.Name + "_ptds", f, "ptds", f.PTDS})
	}
	return syms
}

// Base is a function's name without its version suffix: what cuGetProcAddress is asked for.
func (f *Func) Base() string {
	n := len(f.Name)
	if n > 3 && f.Name[n-3:n-1] == "_v" && f.Name[n-1] >= '1' && f.Name[n-1] <= '9' {
		return f.Name[:n-3]
	}
	return f.Name
}

// Revision is the number in the version suffix, 1 without one.
func (f *Func) Revision() int {
	if b := f.Base(); b != f.Name {
		return int(f.Name[len(f.Name)-1] - '0')
	}
	return 1
}
