package trace

import (
	"strconv"
	"strings"
)

// objects is what is known of one process: which handles there are and what they stand for.
type objects struct {
	numbers map[handleKey]int
	gone    map[handleKey]int // of handles that were destroyed: events may still come
	next    map[string]int
	things  map[uint64]*thing // modules and kernels, by handle or by the address of a kernel's stub
	// launching is the last launch of each thread.
	launching map[*Thread]launching
}

type launching struct {
	depth    int
	returned bool
	end      int64
	of       *thing // nil: not known
}

// within is the kernel of the launch that a call is directly inside of: NVIDIA's runtime launches through the driver, with handles
// that it got from tables of its own.
func (o *objects) within(c *Call) *thing {
	l := o.launching[c.Thread]
	if c.Depth != l.depth+1 || l.returned && c.Begin > l.end {
		return nil
	}
	return l.of
}

type handleKey struct {
	class string
	bits  uint64
}

// thing is a module, or a kernel in one.
type thing struct {
	kernel string // empty: a module
	module *Module
}

func (d *Decoder) objects(t *Thread) *objects {
	var p *Process
	if t != nil {
		p = t.Process
	}
	o := d.procs[p]
	if o == nil {
		o = &objects{numbers: map[handleKey]int{}, gone: map[handleKey]int{}, next: map[string]int{}, things: map[uint64]*thing{}, launching: map[*Thread]launching{}}
		d.procs[p] = o
	}
	return o
}

// act is what a function does to handles. Numbers count parameters from 1; 0 is none, result the function's own.
type act struct {
	makes int // what it gives out, or, where that is no result, names
	loads bool
	owner int // the module of the kernel
	name  int // the name of the kernel
	same  int // what it gives out stands for the same
}

const result = -1

var (
	loadsModule = act{makes: 1, loads: true}
	findsKernel = act{makes: 1, owner: 2, name: 3}
	sameThing   = act{makes: 1, same: 2}
)

// acts are by the names without versions.
var acts = map[string]act{
	"cuModuleLoad": loadsModule, "cuModuleLoadData": loadsModule, "cuModuleLoadDataEx": loadsModule, "cuModuleLoadFatBinary": loadsModule,
	"cuLibraryLoadData": loadsModule, "cuLibraryLoadFromFile": loadsModule, "cudaLibraryLoadData": loadsModule, "cudaLibraryLoadFromFile": loadsModule,
	"cuModuleGetFunction": findsKernel, "cuLibraryGetKernel": findsKernel, "cudaLibraryGetKernel": findsKernel,
	"cuKernelGetFunction": sameThing, "cuLibraryGetModule": sameThing, "cudaGetFuncBySymbol": sameThing, "cudaGetKernel": sameThing, "__cudaGetKernel": sameThing,
	"__cudaRegisterFatBinary": {makes: result, loads: true},
	"__cudaRegisterFunction":  {makes: 2, owner: 1, name: 4},
}

// ends reports functions after which a handle may be given to something else.
func ends(base string) bool {
	for _, word := range []string{"Destroy", "Unload", "Free", "__cudaUnregisterFatBinary"} {
		if strings.Contains(base, word) {
			return true
		}
	}
	return false
}

// learn takes from a call what handles stand for, then gives those in it their names.
func (d *Decoder) learn(o *objects, f *function, c *Call) {
	if f.act.makes != 0 && c.Returned() && !c.Failed {
		o.made(f.act, c)
	}
	if f.launch != nil {
		d.launch(o, f.launch, c)
	}
	for i := range c.Args {
		o.call(&c.Args[i].Value)
	}
	if c.Returns != nil {
		o.call(c.Returns)
	}
	if f.ends && c.Returned() && !c.Failed {
		for i := range c.Args {
			if v := &c.Args[i].Value; v.Kind == Handle && v.Class != "stream" || v.Kind == Handle && strings.Contains(f.base, "Stream") {
				k := handleKey{v.Class, v.Bits}
				o.gone[k] = o.numbers[k]
				delete(o.numbers, k)
				delete(o.things, v.Bits)
				break
			}
		}
	}
}

func (o *objects) made(a act, c *Call) {
	bits := c.Result
	if a.makes != result {
		if bits = given(c, a.makes); bits == 0 {
			return
		}
	}
	t := &thing{}
	switch {
	case a.loads:
		if t.module = c.Module; t.module == nil {
			return
		}
	case a.same != 0:
		if t = o.things[given(c, a.same)]; t == nil {
			return
		}
	default:
		if a.name > len(c.Args) || c.Args[a.name-1].Value.To == nil {
			return
		}
		t.kernel = c.Args[a.name-1].Value.To.Text
		if of := o.things[given(c, a.owner)]; of != nil {
			t.module = of.module
		}
	}
	o.things[bits] = t
}

// given is the value of a parameter, or what the call wrote there; 0: not known.
func given(c *Call, n int) uint64 {
	if n <= 0 || n > len(c.Args) {
		return 0
	}
	a := &c.Args[n-1]
	if a.Out {
		if a.Value.To == nil {
			return 0
		}
		return a.Value.To.Bits
	}
	return a.Value.Bits
}

// usual are handles that no call makes.
var usual = map[handleKey]string{{"stream", 1}: "legacy", {"stream", 2}: "per-thread"}

// call gives the handles in a value their names.
func (o *objects) call(v *Value) {
	switch v.Kind {
	case Handle:
		if v.Bits != 0 {
			v.Text = o.name(v.Class, v.Bits)
		}
	case Pointer:
		if v.To != nil {
			o.call(v.To)
		} else if t := o.things[v.Bits]; t != nil && t.kernel != "" && v.Bits != 0 {
			v.Text = t.kernel
		}
	case Fields, Elems:
		for i := range v.Fields {
			o.call(&v.Fields[i].Value)
		}
	case Word, Int, Uint, Float, Enum, Device, Text, Bytes:
	}
}

// name is what a handle is called: its kernel's name, or its class and a number by first appearance.
func (o *objects) name(class string, bits uint64) string {
	if t := o.things[bits]; t != nil && t.kernel != "" {
		return t.kernel
	}
	k := handleKey{class, bits}
	if s := usual[k]; s != "" {
		return s
	}
	n := o.numbers[k]
	if n == 0 {
		o.next[class]++
		n = o.next[class]
		o.numbers[k] = n
	}
	return class + "#" + strconv.Itoa(n)
}

// Stream is what a stream of an event is called; empty for none.
func (d *Decoder) Stream(e *Event) string {
	if e.Stream == 0 {
		return ""
	}
	o, k := d.objects(e.Thread), handleKey{"stream", e.Stream}
	if n := o.gone[k]; n != 0 && o.numbers[k] == 0 {
		return "stream#" + strconv.Itoa(n)
	}
	return o.name("stream", e.Stream)
}
