package trace

import (
	"math"
	"strconv"
	"strings"

	"kudzu/internal/ptx"
)

// Launch is a kernel launch, whichever function made it.
type Launch struct {
	Kernel      string // its name, or its handle's where that is not known
	Function    string // the same as C++ has it
	Grid, Block [3]uint32
	Shared      uint64
	Stream      Value
	Params      []Arg
	Source      string // file:line of its first line, where the module says
	Module      *Module
}

// launchArgs are the places of a launch's arguments, counted from 1.
type launchArgs struct{ kernel, grid, block, shared, stream, params, config int }

var (
	driverLaunch  = &launchArgs{kernel: 1, grid: 2, block: 5, shared: 8, stream: 9, params: 10}
	runtimeLaunch = &launchArgs{kernel: 1, grid: 2, block: 3, params: 4, shared: 5, stream: 6}
	configLaunch  = &launchArgs{config: 1, kernel: 2, params: 3}
)

var launches = map[string]*launchArgs{
	"cuLaunchKernel": driverLaunch, "cuLaunchCooperativeKernel": driverLaunch, "cuLaunchKernelEx": configLaunch,
	"cudaLaunchKernel": runtimeLaunch, "cudaLaunchCooperativeKernel": runtimeLaunch, "__cudaLaunchKernel": runtimeLaunch, "cudaLaunchKernelExC": configLaunch,
}

func (d *Decoder) launch(o *objects, at *launchArgs, c *Call) {
	if len(c.Args) < max(at.kernel, at.stream) {
		return
	}
	l := &Launch{}
	handle := c.Args[at.kernel-1].Value
	t := o.things[handle.Bits]
	if t == nil {
		if t = o.within(c); t != nil {
			o.things[handle.Bits] = t
		}
	}
	o.launching[c.Thread] = launching{depth: c.Depth, returned: c.Returned(), end: c.End, of: t}
	switch {
	case t != nil && t.kernel != "":
		l.Kernel, l.Module = t.kernel, t.module
	case handle.Kind == Handle:
		l.Kernel = o.name(handle.Class, handle.Bits)
	default:
		l.Kernel = "0x" + strconv.FormatUint(handle.Bits, 16)
	}
	l.Function = d.Function(l.Kernel)
	if at.config != 0 {
		config := c.Args[at.config-1].Value.To
		if config == nil || !l.configured(config.Fields) {
			return
		}
	} else {
		l.Grid, l.Block = dim(c.Args[at.grid-1:]), dim(c.Args[at.block-1:])
		l.Shared, l.Stream = c.Args[at.shared-1].Value.Bits, c.Args[at.stream-1].Value
	}
	o.call(&l.Stream)
	k := d.kernel(t)
	if k != nil {
		l.Source = k.source
	}
	for i := range c.Blobs {
		if b := &c.Blobs[i]; b.What == Params {
			l.Params = k.params(b)
		}
	}
	c.Launch = l
}

// configured takes what CUlaunchConfig and cudaLaunchConfig_t have.
func (l *Launch) configured(fields []Arg) bool {
	for i := range fields {
		switch f := &fields[i]; strings.ToLower(f.Name) {
		case "griddimx", "griddim":
			l.Grid = dim(fields[i:])
		case "blockdimx", "blockdim":
			l.Block = dim(fields[i:])
		case "sharedmembytes", "dynamicsmembytes":
			l.Shared = f.Value.Bits
		case "hstream", "stream":
			l.Stream = f.Value
		}
	}
	return len(fields) > 6 || len(fields) > 3 && fields[0].Value.Kind == Fields
}

// dim reads a dim3, or three numbers in a row.
func dim(args []Arg) (d [3]uint32) {
	if args[0].Value.Kind == Fields {
		args = args[0].Value.Fields
	}
	for i := range min(3, len(args)) {
		d[i] = uint32(args[i].Value.Bits)
	}
	return d
}

// kernelCode is what a module says about a kernel.
type kernelCode struct {
	args   []kernelParam
	source string
}

type kernelParam struct {
	name, typ    string
	offset, size uint64
	align        uint64 // 0: not known
	kind         ValueKind
}

// banks are where the parameters of a kernel begin in its constant memory, by generation of hardware, and 0 for PTX's own layout.
// NVIDIA's driver aligns parameters there and tells their places from there: the first may be at 48.
var banks = []uint64{0, 0x140, 0x160, 0x210, 0x380}

// placed is where parameters lie in so many bytes.
func (k *kernelCode) placed(bytes int) []uint64 {
	for _, base := range banks {
		var all []uint64
		at := base
		for _, p := range k.args {
			if p.align == 0 {
				at = p.offset
			} else {
				at = (at + p.align - 1) &^ (p.align - 1)
			}
			all = append(all, at-base)
			at += p.size
		}
		if at-base == uint64(bytes) {
			return all
		}
	}
	var all []uint64
	for _, p := range k.args {
		all = append(all, p.offset)
	}
	return all
}

// params splits packed parameters by the layout; without one they are bytes.
func (k *kernelCode) params(b *Blob) []Arg {
	if k == nil || len(k.args) == 0 && len(b.Data) > 0 {
		return []Arg{{Value: Value{Kind: Bytes, Bytes: b.Data, Cut: b.Cut}}}
	}
	var all []Arg
	at := k.placed(len(b.Data))
	for i, p := range k.args {
		if at[i] > uint64(len(b.Data)) || p.size > uint64(len(b.Data))-at[i] {
			break
		}
		data := b.Data[at[i] : at[i]+p.size]
		v := Value{Kind: Bytes, Bytes: data}
		if p.size <= 8 && p.kind != Bytes {
			var w [8]byte
			copy(w[:], data)
			c := codec{kind: p.kind, size: int(p.size)}
			v = c.word(le.Uint64(w[:]))
		}
		all = append(all, Arg{Name: p.name, Type: p.typ, Value: v})
	}
	return all
}

// paramOf is a parameter of PTX. Compilers write .u32 for every integer and .u64 for every pointer.
func paramOf(kernel string, v *ptx.Var) kernelParam {
	p := kernelParam{name: strings.TrimPrefix(v.Name, kernel+"_"), typ: "." + strings.TrimPrefix(v.Type.String(), "."), offset: v.Offset, size: v.Size, align: uint64(max(v.Align, 1)), kind: Bytes}
	if len(v.Dims) > 0 || v.Vec > 1 {
		return p
	}
	switch t := strings.TrimPrefix(v.Type.String(), "."); {
	case v.PtrSpace != ptx.SpaceGeneric && v.PtrAlign > 0, t == "u64", t == "b64", t == "s64":
		p.kind = Device
	case t == "f32" || t == "f64":
		p.kind = Float
	case t == "pred" || strings.HasPrefix(t, "f"):
	default:
		p.kind = Int
	}
	return p
}

// sourceOf is the first line that a body of PTX says it comes from.
func sourceOf(x *ptx.Index, f *ptx.IndexFunc) string {
	if f.Open < 0 || f.End > len(x.Text) {
		return ""
	}
	body := x.Text[f.Open:f.End]
	for {
		i := strings.Index(body, ".loc")
		if i < 0 {
			return ""
		}
		body = body[i+len(".loc"):]
		words := strings.Fields(body[:min(len(body), 64)])
		if len(words) < 2 {
			return ""
		}
		file, err1 := strconv.Atoi(words[0])
		line, err2 := strconv.Atoi(strings.TrimRight(words[1], ";,"))
		if err1 != nil || err2 != nil || line <= 0 || line > math.MaxInt32 {
			continue
		}
		for _, src := range x.Files {
			if src.Index == file {
				return src.Name + ":" + strconv.Itoa(line)
			}
		}
	}
}
