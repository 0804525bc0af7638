package trace

import (
	"math"
	"strconv"
	"strings"

	"kudzu/internal/demangle"
	"kudzu/internal/spec"
)

// Value is what a word or some memory means.
type Value struct {
	Kind   ValueKind
	Size   int    // bytes, of numbers
	Bits   uint64 // of everything that fits a word
	Float  float64
	Text   string // of enumerators and strings, and what a handle is called
	Class  string // of handles: stream, event, cublasHandle …
	Fields []Arg  // of structures and arrays
	To     *Value // what a pointer leads to; nil: not recorded
	Bytes  []byte // of memory without a type
	Cut    bool   // strings and memory: there was more
}

// Arg is an argument or a field: its name, its C type, its value.
type Arg struct {
	Name  string
	Type  string
	Out   bool // a result: Value.To is what the call wrote
	Value Value
}

// Decoder says what calls mean. It learns from each call what handles stand for, so calls are to be given in the order of time.
type Decoder struct {
	Mangled bool // names of kernels stay as they are in modules

	dir   string
	apis  map[string]*face // by soname
	funcs map[names]*function
	procs map[*Process]*objects
	code  map[string]*code // of modules, by file
	cpp   map[string]string
}

// Function is a kernel's name as lines have it: that of the C++ function, with arguments of its template, without its parameters.
func (d *Decoder) Function(kernel string) string {
	if d.Mangled {
		return kernel
	}
	s, ok := d.cpp[kernel]
	if !ok {
		s = demangle.Function(kernel)
		d.cpp[kernel] = s
	}
	return s
}

// NewDecoder makes a decoder for the trace in a folder, whose modules it may read.
func NewDecoder(dir string) *Decoder {
	return &Decoder{dir: dir, apis: map[string]*face{}, funcs: map[names]*function{}, procs: map[*Process]*objects{}, code: map[string]*code{}, cpp: map[string]string{}}
}

// face is an interface in the version of one library.
type face struct {
	types
	api   *spec.API
	major int
	funcs map[string]*spec.Func
	also  string
}

// function is how calls of one are read.
type function struct {
	known  bool   // a table has it
	base   string // its name without version and variant
	params []param
	result *codec // nil: nothing, or not known
	act    act
	launch *launchArgs
	ends   bool // its handle is gone afterwards
}

type param struct {
	name  string
	out   bool
	words int
	codec *codec
}

// face finds the table of a library; nil where there is none.
func (d *Decoder) face(soname string) *face {
	if f, ok := d.apis[soname]; ok {
		return f
	}
	d.apis[soname] = nil
	name, ok := spec.Offers(soname)
	if !ok {
		return nil
	}
	api, err := spec.Load(name)
	if err != nil {
		return nil
	}
	f := &face{api: api, funcs: map[string]*spec.Func{}}
	_, version, _ := strings.Cut(soname, ".so.")
	version, _, _ = strings.Cut(version, ".")
	if n, err := strconv.Atoi(version); err == nil {
		f.major = n
	}
	known := false
	for _, l := range api.Libraries {
		known = known || l.Major == f.major
	}
	if !known { // of a release that we do not know, or without versions
		f.major = api.Libraries[len(api.Libraries)-1].Major
	}
	if api.Answered != nil {
		f.also = api.Answered.Also
	}
	f.types = newTypes(api, f.major)
	for _, major := range []int{f.major, 0} { // names of another release last
		for _, fn := range api.Funcs {
			if !fn.In(major) {
				continue
			}
			for _, s := range fn.Symbols() {
				if f.funcs[s.Name] == nil {
					f.funcs[s.Name] = fn
				}
			}
		}
	}
	d.apis[soname] = f
	return f
}

// function finds how calls are read; for one that no table has, its words are shown as they are.
func (d *Decoder) function(library, name string) *function {
	k := names{library, name}
	if f := d.funcs[k]; f != nil {
		return f
	}
	f := &function{base: Base(name)}
	f.act, f.launch, f.ends = acts[f.base], launches[f.base], ends(f.base)
	d.funcs[k] = f
	of := d.face(library)
	if of == nil {
		return f
	}
	row := of.funcs[name]
	if row == nil && of.also != "" {
		row = of.funcs[strings.TrimPrefix(name, of.also)]
	}
	if row == nil || row.Opaque {
		return f
	}
	f.known = true
	for _, p := range row.Params {
		c := of.codec(p.Type, 0)
		if flags := flagsOf(of, f.base, p); flags != nil {
			c = &codec{kind: Enum, name: c.name, size: c.size, enum: flags}
		}
		f.params = append(f.params, param{p.Name, p.Mode.IsOut(), max(1, (c.size+7)/8), c})
	}
	if row.Result.Ptr || row.Result.Name != "void" {
		f.result = of.codec(row.Result, 0)
	}
	return f
}

// Base is the name of a function without what tells its versions and variants apart: cuMemAlloc for cuMemAlloc_v2.
func Base(name string) string {
	for _, v := range []string{"_ptsz", "_ptds"} {
		name = strings.TrimSuffix(name, v)
	}
	if n := len(name); n > 3 && name[n-3:n-1] == "_v" && name[n-1] >= '1' && name[n-1] <= '9' {
		name = name[:n-3]
	}
	return name
}

// Decode fills in a call's Args, Returns and Launch.
func (d *Decoder) Decode(c *Call) {
	f := d.function(c.Library, c.Name)
	o := d.objects(c.Thread)
	words := c.Words
	c.Args = make([]Arg, 0, max(len(f.params), len(words)))
	for i := range f.params {
		p := &f.params[i]
		n := min(p.words, len(words))
		a := Arg{Name: p.name, Type: p.codec.name, Out: p.out}
		if n == 0 {
			break // the recorder knew of fewer
		}
		if n == 1 {
			a.Value = p.codec.word(words[0])
		} else {
			a.Value = p.codec.value(bytesOf(words[:n]), 0)
		}
		words = words[n:]
		c.Args = append(c.Args, a)
	}
	for _, w := range words {
		c.Args = append(c.Args, Arg{Value: Value{Kind: Word, Size: 8, Bits: w}})
	}
	for i := range c.Blobs {
		d.blob(f, c, &c.Blobs[i])
	}
	c.Returns = nil
	if !f.known && c.Returned() {
		c.Returns = &Value{Kind: Word, Size: 8, Bits: c.Result}
	}
	if f.result != nil && c.Returned() && f.result.kind != Float {
		v := f.result.word(c.Result)
		c.Returns = &v
		c.Failed = f.result.kind == Enum && f.result.enum.status && uint32(c.Result) != 0
		c.Waiting = c.Failed && notReady[v.Text]
	}
	d.learn(o, f, c)
}

// notReady are results that only say that something is not over yet.
var notReady = map[string]bool{"CUDA_ERROR_NOT_READY": true, "cudaErrorNotReady": true, "ncclInProgress": true}

// blob puts what lies behind an argument where it belongs.
func (d *Decoder) blob(f *function, c *Call, b *Blob) {
	if b.Arg >= len(c.Args) {
		return
	}
	v := &c.Args[b.Arg].Value
	if b.What == Out && !b.Filled {
		return
	}
	if b.What == Params {
		return // the launch's
	}
	var elem *codec
	if b.Arg < len(f.params) && v.Kind == Pointer {
		elem = f.params[b.Arg].codec.elem
	}
	if v.Kind != Pointer {
		v.Kind = Pointer
	}
	if b.What == Out {
		c.Args[b.Arg].Out = true
	}
	v.To = readBlob(elem, b)
}

func readBlob(elem *codec, b *Blob) *Value {
	switch {
	case b.What == String:
		s, _ := cString(b.Data)
		return &Value{Kind: Text, Text: s, Cut: b.Cut}
	case elem == nil || elem.size == 0:
		if len(b.Data) == 8 {
			return &Value{Kind: Pointer, Size: 8, Bits: le.Uint64(b.Data)}
		}
		return &Value{Kind: Bytes, Bytes: b.Data, Cut: b.Cut}
	case b.What == Array && !elem.char:
		v := &Value{Kind: Elems, Cut: b.Cut}
		for at := 0; at+elem.size <= len(b.Data); at += elem.size {
			v.Fields = append(v.Fields, Arg{Type: elem.name, Value: elem.value(b.Data[at:at+elem.size], 0)})
		}
		return v
	case elem.char && len(b.Data) != 1:
		s, _ := cString(b.Data)
		return &Value{Kind: Text, Text: s, Cut: b.Cut}
	}
	v := elem.value(b.Data, 0)
	v.Cut = v.Cut || b.Cut
	return &v
}

func bytesOf(words []uint64) []byte {
	b := make([]byte, 0, 8*len(words))
	for _, w := range words {
		b = le.AppendUint64(b, w)
	}
	return b
}

// word reads a value that a register held.
func (c *codec) word(w uint64) Value {
	switch c.kind {
	case Fields, Elems:
		return c.value(le.AppendUint64(nil, w), 0)
	case Word, Int, Uint, Float, Enum, Handle, Device, Pointer, Text, Bytes:
	}
	v := Value{Kind: c.kind, Size: c.size, Bits: w, Class: c.class}
	if c.size < 8 && c.size > 0 {
		v.Bits &= 1<<(8*c.size) - 1
	}
	switch c.kind {
	case Int:
		shift := 64 - 8*c.size
		v.Bits = uint64(int64(v.Bits<<shift) >> shift)
	case Float:
		v.Float = math.Float64frombits(w)
		if c.size == 4 {
			v.Float = float64(math.Float32frombits(uint32(w)))
		}
	case Enum:
		n := int64(v.Bits)
		if c.size == 4 {
			n = int64(int32(n))
		}
		if v.Text = c.enum.text(n); v.Text == "" {
			v.Text = strconv.FormatInt(n, 10)
		}
	case Word, Uint, Handle, Device, Pointer, Text, Fields, Elems, Bytes:
	}
	return v
}

// value reads a value from memory, as far as there is any.
func (c *codec) value(b []byte, depth int) Value {
	switch {
	case depth > maxNested:
		return Value{Kind: Bytes, Bytes: b}
	case c.kind == Fields:
		v := Value{Kind: Fields}
		for i := range c.fields {
			f := &c.fields[i]
			if f.at+f.size > len(b) {
				v.Cut = true
				break
			}
			v.Fields = append(v.Fields, Arg{Name: f.name, Type: f.codec.name, Value: f.value(b[f.at:f.at+f.size], depth+1)})
			if c.union { // which member counts is not known: the first, and the bytes are in JSON
				break
			}
		}
		return v
	case c.kind == Elems && c.elem.char:
		s, _ := cString(b[:min(c.size, len(b))])
		return Value{Kind: Text, Text: s}
	case c.kind == Elems:
		v := Value{Kind: Elems}
		for i := 0; i < c.count && (i+1)*c.elem.size <= len(b) && c.elem.size > 0; i++ {
			v.Fields = append(v.Fields, Arg{Type: c.elem.name, Value: c.elem.value(b[i*c.elem.size:(i+1)*c.elem.size], depth+1)})
		}
		return v
	case len(b) < c.size || c.size > 8:
		return Value{Kind: Bytes, Bytes: b, Cut: true}
	}
	var w [8]byte
	copy(w[:], b[:c.size])
	return c.word(le.Uint64(w[:]))
}
