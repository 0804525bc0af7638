package trace

import (
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/demangle"
)

// normal writes calls so that two runs of a program give the same text: handles and addresses are what they were when they were
// made, times are left out. Labels name threads, the same in both traces.
type normal struct {
	labels map[*Thread]string
	procs  map[*Process]*normalObjects
	noOuts bool
	coarse bool // handles and addresses by their kind only
	cpp    bool // kernels by the names that C++ gives them: for people
}

type normalObjects struct {
	names  map[handleKey]string
	allocs []alloc // by their address
	counts map[string]int
}

type alloc struct {
	at, size uint64
	name     string
}

func newNormal(labels map[*Thread]string) *normal {
	return &normal{labels: labels, procs: map[*Process]*normalObjects{}}
}

// allocates are the functions that give out memory: which parameter is the address, and which the size.
var allocates = map[string][2]int{
	"cuMemAlloc": {1, 2}, "cuMemAllocManaged": {1, 2}, "cuMemAllocAsync": {1, 2}, "cuMemAllocFromPoolAsync": {1, 2}, "cuMemAllocHost": {1, 2}, "cuMemHostAlloc": {1, 2},
	"cuMemAddressReserve": {1, 2}, "cuMemAllocPitch": {1, 0}, "cuModuleGetGlobal": {1, 2}, "cuLibraryGetGlobal": {1, 2}, "cuLibraryGetManaged": {1, 2},
	"cudaMalloc": {1, 2}, "cudaMallocManaged": {1, 2}, "cudaMallocHost": {1, 2}, "cudaHostAlloc": {1, 2}, "cudaMallocAsync": {1, 2}, "cudaMallocFromPoolAsync": {1, 2},
	"cudaMallocPitch": {1, 0}, "cudaGetSymbolAddress": {1, 0},
}

// changing are functions whose results are a matter of time or of the machine's state.
var changing = map[string]bool{
	"cuEventElapsedTime": true, "cudaEventElapsedTime": true, "cuMemGetInfo": true, "cudaMemGetInfo": true, "nvmlDeviceGetUtilizationRates": true, "nvmlDeviceGetMemoryInfo": true,
	"cuEventQuery": true, "cudaEventQuery": true, "cuStreamQuery": true, "cudaStreamQuery": true,
}

// call is the text of a call that was decoded.
func (n *normal) call(c *Call) string {
	o := n.procs[c.Thread.Process]
	if o == nil {
		o = &normalObjects{names: map[handleKey]string{}, counts: map[string]int{}}
		n.procs[c.Thread.Process] = o
	}
	base := Base(c.Name)
	t := &normalText{normalObjects: o, label: n.labels[c.Thread], coarse: n.coarse, cpp: n.cpp, getter: strings.Contains(base, "Get") || strings.Contains(base, "Query")}
	if a, ok := allocates[base]; ok && c.Returned() && !c.Failed {
		t.allocate(c, a)
	}
	t.buf = append(t.buf, base...)
	t.buf = append(t.buf, '(')
	if l := c.Launch; l != nil {
		t.launch(l)
	} else {
		for i := range c.Args {
			if i > 0 {
				t.buf = append(t.buf, ", "...)
			}
			t.arg(&c.Args[i], n.noOuts || changing[base])
		}
	}
	t.buf = append(t.buf, ')')
	switch {
	case !c.Returned():
		t.buf = append(t.buf, " ..."...)
	case c.Returns != nil && !changing[base]:
		t.buf = append(t.buf, " = "...)
		t.value(c.Returns, true)
	}
	if ends(base) && c.Returned() && !c.Failed {
		t.end(c)
	}
	return string(printable(t.buf))
}

// normalText is one call being written.
type normalText struct {
	*normalObjects
	label  string
	coarse bool
	getter bool // what it gives out may have been there before
	buf    []byte
	cpp    bool
}

// next is a new name: its class, and a count of those that this thread made.
func (t *normalText) next(class string) string {
	k := class + " " + t.label
	t.counts[k]++
	s := class + "#" + strconv.Itoa(t.counts[k])
	if t.label != "" {
		s += "@" + t.label
	}
	return s
}

func (t *normalText) allocate(c *Call, a [2]int) {
	at, size := given(c, a[0]), given(c, a[1])
	if at == 0 { // or a record without arguments
		return
	}
	if !c.Args[a[0]-1].Out { // what it wrote was not recorded
		return
	}
	i, found := slices.BinarySearchFunc(t.allocs, at, func(x alloc, at uint64) int {
		switch {
		case x.at < at:
			return -1
		case x.at > at:
			return 1
		}
		return 0
	})
	switch {
	case found && t.getter:
	case found:
		t.allocs[i] = alloc{at, size, t.next("mem")}
	default:
		t.allocs = slices.Insert(t.allocs, i, alloc{at, size, t.next("mem")})
	}
}

func (t *normalText) end(c *Call) {
	for i := range c.Args {
		switch v := &c.Args[i].Value; {
		case v.Kind == Handle && v.Class != "stream", v.Kind == Handle && strings.Contains(c.Name, "Stream"):
			delete(t.names, handleKey{v.Class, v.Bits})
			return
		case v.Kind == Device || v.Kind == Pointer && strings.Contains(c.Name, "Free"):
			t.allocs = slices.DeleteFunc(t.allocs, func(a alloc) bool { return a.at == v.Bits })
			return
		}
	}
}

// kernel is a kernel's name: overloads have different ones, with the types of their parameters.
func (t *normalText) kernel(name string) string {
	if t.cpp {
		return demangle.Name(name)
	}
	return name
}

func (t *normalText) launch(l *Launch) {
	t.buf = append(t.buf, t.kernel(l.Kernel)...)
	t.buf = append(t.buf, ", grid="...)
	t.buf = appendDim(t.buf, l.Grid)
	t.buf = append(t.buf, ", block="...)
	t.buf = appendDim(t.buf, l.Block)
	t.buf = append(t.buf, ", shared="...)
	t.buf = strconv.AppendUint(t.buf, l.Shared, 10)
	t.buf = append(t.buf, ", stream="...)
	t.value(&l.Stream, false)
	for i := range l.Params {
		t.buf = append(t.buf, ", "...)
		a := l.Params[i]
		t.object(&a.Value)
		t.arg(&a, false)
	}
}

// object takes a kernel's parameter that is the number of a texture or surface for such.
func (t *normalText) object(v *Value) {
	for _, class := range []string{texture, surface} {
		if v.Kind == Device && t.names[handleKey{class, v.Bits}] != "" {
			v.Kind, v.Class = Handle, class
		}
	}
}

func (t *normalText) arg(a *Arg, noOuts bool) {
	if a.Name != "" {
		t.buf = append(t.buf, a.Name...)
		t.buf = append(t.buf, '=')
	}
	if a.Out && a.Value.To != nil {
		if noOuts && a.Value.To.Kind != Handle && a.Value.To.Kind != Device {
			t.buf = append(t.buf, '*')
			return
		}
		t.value(a.Value.To, true)
		return
	}
	t.value(&a.Value, false)
}

// value writes one; fresh: the call gave it out.
func (t *normalText) value(v *Value, fresh bool) {
	switch v.Kind {
	case Handle:
		t.handle(v, fresh)
	case Device, Pointer, Word:
		if v.To != nil {
			t.value(v.To, fresh)
			return
		}
		t.address(v.Bits)
	case Fields, Elems:
		t.buf = append(t.buf, '{')
		opaque := len(v.Fields) == 1 && v.Fields[0].Name == "opaque" // words that nobody names, such as a tensor map's
		for i := range v.Fields {
			if i > 0 {
				t.buf = append(t.buf, ", "...)
			}
			f := &v.Fields[i]
			t.buf = append(t.buf, f.Name...)
			t.buf = append(t.buf, '=')
			if opaque {
				t.words(&f.Value)
				continue
			}
			t.value(&f.Value, fresh)
		}
		t.buf = append(t.buf, '}')
	case Bytes:
		t.bytes(v.Bytes)
	case Int, Uint, Float, Enum, Text:
		t.buf = v.append(t.buf)
	}
}

func (t *normalText) handle(v *Value, fresh bool) {
	k := handleKey{v.Class, v.Bits}
	switch {
	case v.Bits == 0:
		t.buf = append(t.buf, "NULL"...)
		return
	case usual[k] != "":
		t.buf = append(t.buf, usual[k]...)
		return
	case v.Text != "" && !strings.HasPrefix(v.Text, v.Class+"#"): // a kernel's name
		t.buf = append(t.buf, t.kernel(v.Text)...)
		return
	}
	if t.coarse {
		t.buf = append(t.buf, v.Class...)
		return
	}
	name := t.names[k]
	if name == "" || fresh && !t.getter {
		name = t.next(v.Class)
		t.names[k] = name
	}
	t.buf = append(t.buf, name...)
}

// lowest is below every address that a program gets: smaller values are numbers, whatever their type.
const lowest = 1 << 32

func (t *normalText) address(at uint64) {
	switch {
	case at == 0:
		t.buf = append(t.buf, "NULL"...)
		return
	case t.coarse: // the number of a texture is a handle, too
		t.buf = append(t.buf, "word"...)
		return
	case at < lowest:
		t.buf = strconv.AppendUint(t.buf, at, 10)
		return
	}
	i, found := slices.BinarySearchFunc(t.allocs, at, func(a alloc, at uint64) int {
		switch {
		case a.at+max(a.size, 1) <= at:
			return -1
		case a.at > at:
			return 1
		}
		return 0
	})
	if !found {
		t.buf = append(t.buf, "address"...)
		return
	}
	a := &t.allocs[i]
	t.buf = append(t.buf, a.name...)
	if off := at - a.at; off > 0 {
		t.buf = append(t.buf, '+')
		t.buf = strconv.AppendUint(t.buf, off, 10)
	}
}

// word takes one that may be an address for such.
func (t *normalText) word(w uint64) {
	if w>>40 != 0 && w>>47 == 0 {
		t.address(w)
	} else {
		t.buf = strconv.AppendUint(t.buf, w, 16)
	}
	t.buf = append(t.buf, ' ')
}

// words writes an array of words as bytes are written.
func (t *normalText) words(v *Value) {
	t.buf = append(t.buf, '<')
	for i := range v.Fields {
		t.word(v.Fields[i].Value.Bits)
	}
	t.buf = append(t.buf, '>')
}

func (t *normalText) bytes(b []byte) {
	t.buf = append(t.buf, '<')
	for len(b) >= 8 {
		t.word(le.Uint64(b))
		b = b[8:]
	}
	for _, c := range b {
		t.buf = append(t.buf, hex[c>>4], hex[c&15])
	}
	t.buf = append(t.buf, '>')
}
