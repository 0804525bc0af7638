package apinet

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kudzu/internal/spec"
)

// What an argument may be. The rules go from the exact to the general: a parameter of one function, a name, a type.

// sameKind are handles that two interfaces have two names for.
var sameKind = map[string]string{
	"cudaArray": "CUarray_st", "cudaMipmappedArray": "CUmipmappedArray_st", "cudaSurfaceObject_t": "CUsurfObject", "cudaTextureObject_t": "CUtexObject",
	"CUexternalMemory_st": "CUextMemory_st", "CUexternalSemaphore_st": "CUextSemaphore_st", "cudaAsyncCallbackEntry": "CUasyncCallbackEntry_st",
	"cudaGraphConditionalHandle": "CUgraphConditionalHandle", "cudaLogIterator": "CUlogIterator", "cudaExecutionContext_st": "CUctx_st",
}

// plainTypes are names for numbers; every other name for a number is a handle.
var plainTypes = []string{"cuuint32_t", "cuuint64_t", "CUdeviceptr", "CUdeviceptr_v1", "CUdeviceptr_v2", "CUdevice", "CUdevice_v1"}

// endsAll are calls after which what other threads have is gone, beside those that the table marks.
var endsAll = []string{"cuCtxDetach", "cudaThreadExit"}

// exact has what single parameters must be, with the reason.
var exact = map[string]string{
	// A wait that nothing ends hangs on a GPU, too: these are for a word that is 1.
	"cuStreamWaitValue32.addr": "(u64)t->net->one", "cuStreamWaitValue32.value": "1", "cuStreamWaitValue64.addr": "(u64)t->net->one", "cuStreamWaitValue64.value": "1",
	// A loop in a graph runs while its value is not 0.
	"cuGraphConditionalHandleCreate.defaultLaunchValue": "0",
	// What is called or written through is a function or a file.
	"cublasXtSetCpuRoutine.blasFunctor": "function(t)", "cublasLtLoggerSetFile.file": "(u64)t->net->null_file",
	// Locks that stop the process, or another one of this machine.
	"pid": "nobody(t)", "timeoutms": "small(t, 3)", "timeoutMs": "small(t, 3)", "timeout": "small(t, 3)",
	// A descriptor that is given away is closed.
	"fd": "(u64)-1",
	// Memory in pieces of what a device has it in.
	"cuMemCreate.size": "pieces(t)", "cuMemAddressReserve.size": "pieces(t)", "cuMemMap.size": "pieces(t)", "cuMemUnmap.size": "pieces(t)", "cuMemSetAccess.size": "pieces(t)", "cuMemAddressFree.size": "pieces(t)",
	"cuMemAddressReserve.alignment": "0", "cuMemAddressReserve.addr": "0", "cuMemMap.offset": "0",
	"cuMemMap.ptr": "freed(t)", "cuMemSetAccess.ptr": "freed(t)", "cuMemGetAccess.ptr": "freed(t)", "cuMemRetainAllocationHandle.addr": "freed(t)",
	"cuLinkAddData.size": "small(t, 4096)", "cuLinkAddData_v2.size": "small(t, 4096)",
	// Kernels take the same three parameters.
	"kernelParams": "arguments(t)", "args": "arguments(t)", "extra": "0", "cudaLaunch.func": "symbol(t)",
	"image": "image(t)", "fatCubin": "image(t)", "code": "image(t)", "cuLinkAddData.data": "image(t)", "cuLinkAddData_v2.data": "image(t)",
	"func": "symbol(t)", "symbol": "symbol(t)", "entry": "symbol(t)", "hostFun": "symbol(t)", "hostVar": "symbol(t)",
	"cuMemHostRegister.p": "loose(t)", "cuMemHostRegister_v2.p": "loose(t)", "cudaHostRegister.ptr": "loose(t)",
	"cuMemHostUnregister.p": "loose(t)", "cudaHostUnregister.ptr": "loose(t)", "cuMemHostGetFlags.p": "loose(t)",
	"cuMemHostRegister.bytesize": "4096 * small(t, 4)", "cuMemHostRegister_v2.bytesize": "4096 * small(t, 4)", "cudaHostRegister.size": "4096 * small(t, 4)",
	"version": "0", // of structures: fill writes it, with the size
}

// inner are rules for members of structures, which have no function's name.
var inner = map[string]string{"fn": "function(t)", "userData": "buffer(t)", "win32SecurityAttributes": "0", "nextResource": "0", "id": "ordinal(t)", "name": "(u64)text(t)"}

var (
	frees    = regexp.MustCompile(`Free|Unregister|CloseMem|Unmap$|AddressFree|FreeHost`)
	makes    = regexp.MustCompile(`Alloc|Malloc|Reserve|OpenMem|ImportPointer|GetMappedBuffer|^cudaMallocManaged`)
	ends     = regexp.MustCompile(`Destroy|Unload|Release|Free|Unregister|Deregister|Detach|Shutdown`)
	counts   = regexp.MustCompile(`^(num|nb|count|batch|group|n$|nodes)|[cC]ount$|Size$|numPackedComponents`)
	paths    = regexp.MustCompile(`^(fname|path|fileName|pathToFile|logFile|configFile|outputFile|logFileName)$`)
	grids    = regexp.MustCompile(`^(grid|block|cluster)?(Dim)?[XYZxyz]$|^(grid|block)_?(width|height)$`)
	flagged  = regexp.MustCompile(`[fF]lags?$|^mask$`)
	devices  = regexp.MustCompile(`^(dev|device|ordinal|srcDevice|dstDevice|peerDevice|peerDev|device1|device2)$`)
	amounts  = regexp.MustCompile(`^(bytesize|size|bytes|WidthInBytes|width|n)$`)
	elements = regexp.MustCompile(`^(elemSize|ElementSizeBytes|elementSize)$`)
)

// ruled is what the exact rules say about a parameter.
func ruled(function, name string) (string, bool) {
	base := strings.TrimSuffix(strings.TrimSuffix(function, "_v2"), "_v3")
	for _, key := range []string{function + "." + name, base + "." + name, name} {
		if e, ok := exact[key]; ok {
			return e, true
		}
	}
	return "", false
}

// argument gives a parameter's C type, what it begins as, and what is done with it after a call that succeeded.
func (g *writer) argument(f *spec.Func, p spec.Param, name string) (ctype, init, after string, err error) {
	if st := g.scope.Struct(p.Type); st != nil && !p.Type.Ptr {
		ctype = g.byValue(p.Type)
		fill := g.fill(st)
		return ctype, fmt.Sprintf("({ %s v_; %s(t, (u8 *)&v_); v_; })", ctype, fill), "", nil
	}
	u := g.scope.Underlying(p.Type)
	if !u.Ptr && (u.Name == "float" || u.Name == "double") {
		return u.Name, "real(t)", "", nil
	}
	if p.Mode.IsOut() && p.Type.Ptr && !g.isHandle(p.Type) {
		return g.result1(f, p, name)
	}
	init, err = g.value(f.Name, p.Name, p.Type)
	if k := g.handleKind(p.Type); k != 0 && ends.MatchString(f.Name) {
		after = fmt.Sprintf("drop(t, %d, (u64)%s)", k, name)
	}
	if frees.MatchString(f.Name) && init == "freed(t)" {
		after = fmt.Sprintf("dropped(t, (u64)%s)", name)
	}
	if makes.MatchString(f.Name) && p.Type.Ptr && p.Type.Elem.Ptr && g.scope.Underlying(p.Type.Elem.Elem).Name == "void" {
		after = fmt.Sprintf("allocated(t, (u64 *)%s)", name)
	}
	return "u64", init, after, err
}

// result1 is a parameter through which one result comes back.
func (g *writer) result1(f *spec.Func, p spec.Param, name string) (ctype, init, after string, err error) {
	elem := p.Type.Elem
	size, align, err := g.scope.Size(elem)
	if err != nil {
		return "", "", "", err
	}
	if g.api.Name == "nvml" && g.scope.Struct(elem) == nil { // its arrays are results, with their length beside
		size *= 72
	}
	init = fmt.Sprintf("result(t, %d, %d)", size, align)
	if st := g.scope.Struct(elem); st != nil {
		init = fmt.Sprintf("filled(t, %s, %d, 1)", g.fill(st), size)
	}
	switch k := g.handleKind(elem); {
	case k != 0 && size%8 == 0:
		after = fmt.Sprintf("keep(t, %d, (u64 *)%s)", k, name)
	case k != 0:
		after = fmt.Sprintf("keep4(t, %d, (unsigned *)%s)", k, name)
	case elem.Name == "CUdeviceptr" && makes.MatchString(f.Name):
		after = fmt.Sprintf("allocated(t, (u64 *)%s)", name)
	}
	return "u64", init, after, nil
}

// handleKind is the kind of handle that a type is, 0 for none.
func (g *writer) handleKind(t *spec.Type) int {
	if t.Ptr || t.Len > 0 || slices.Contains(plainTypes, t.Name) {
		return 0
	}
	td := g.typedef(t.Name)
	switch {
	case td == nil:
		return 0
	case td.Kind == spec.Handle:
		return g.kind(td.Tag)
	case td.Kind == spec.Callback:
		return 0
	}
	u := g.scope.Underlying(t)
	switch {
	case u.Ptr && !u.Elem.Ptr: // a handle by another name: cudaArray_const_t, cublasLtMatmulDesc_t
		return g.kind(u.Elem.Name)
	case g.scope.Struct(t) != nil, g.scope.Enum(t) != nil, u.Ptr:
		return 0
	}
	name := t.Name
	if deeper := g.typedef(name); deeper != nil && strings.HasSuffix(deeper.Type.Name, "_v1") && strings.HasPrefix(deeper.Type.Name, name) {
		name = t.Name
	}
	return g.kind(name)
}

func (g *writer) isHandle(t *spec.Type) bool { return g.handleKind(t) != 0 }

// typedef finds a name's declaration in the interface and those that it includes.
func (g *writer) typedef(name string) *spec.Typedef { return typedefIn(g.api, name, g.major) }

func typedefIn(api *spec.API, name string, major int) *spec.Typedef {
	for _, m := range []int{major, 0} {
		for _, t := range api.Typedefs {
			if t.Name == name && t.In(m) {
				return t
			}
		}
	}
	for _, in := range api.Includes {
		if t := typedefIn(in, name, major); t != nil {
			return t
		}
	}
	return nil
}

// value is the C expression, of 64 bits, that makes up a value of a type.
func (g *writer) value(function, name string, t *spec.Type) (string, error) {
	if e, ok := ruled(function, name); ok && !(e == "symbol(t)" && t.Ptr && t.Elem.Name == "char" && !strings.HasPrefix(function, "__")) {
		return e, nil
	}
	if strings.HasSuffix(function, "Init_internal") && g.isHandle(t) { // memory of the caller's that becomes one
		return fmt.Sprintf("inplace(t, %d)", g.handleKind(t)), nil
	}
	if k := g.handleKind(t); k != 0 {
		if ends.MatchString(function) {
			return fmt.Sprintf("ended(t, %d)", k), nil
		}
		return fmt.Sprintf("handle(t, %d)", k), nil
	}
	u := g.scope.Underlying(t)
	switch {
	case g.callback(t):
		return "function(t)", nil
	case u.Ptr:
		return g.pointer(function, name, u)
	case g.scope.Enum(t) != nil:
		return g.enum(t), nil
	}
	return g.number(function, name, t, u), nil
}

func (g *writer) callback(t *spec.Type) bool {
	td := g.typedef(g.scope.Underlying(t).Name)
	return td != nil && td.Kind == spec.Callback
}

// pointer makes up memory for what a pointer says it points to.
func (g *writer) pointer(function, name string, t *spec.Type) (string, error) {
	e := g.scope.Underlying(t.Elem)
	switch {
	case e.Name == "char" && t.Elem.Const && paths.MatchString(name):
		return "path(t)", nil
	case e.Name == "char" && t.Elem.Const:
		return "(u64)text(t)", nil
	case frees.MatchString(function) && e.Name == "void":
		return "freed(t)", nil
	case g.isHandle(t.Elem):
		return fmt.Sprintf("handles(t, %d)", g.handleKind(t.Elem)), nil
	case g.scope.Struct(t.Elem) != nil:
		st := g.scope.Struct(t.Elem)
		if g.api.Name == "cublas" { // numbers of two words or of half a one, in arrays
			return "buffer(t)", nil
		}
		size, _, err := g.scope.Size(t.Elem)
		return fmt.Sprintf("filled(t, %s, %d, %d)", g.fill(st), size, max(1, min(16, 1<<16/max(1, size)))), err
	case g.api.Name == "cublas" && !e.Ptr && function != "":
		return "buffer(t)", nil
	case e.Ptr && g.api.Name == "cublas" && g.scope.Underlying(e.Elem).Name != "void":
		return "device_pointers(t)", nil
	case e.Ptr:
		return "pointers(t)", nil
	case g.scope.Enum(t.Elem) != nil:
		return fmt.Sprintf("enums(t, %s)", g.enumTable(t.Elem)), nil
	case e.Name == "CUdeviceptr_v2" || t.Elem.Name == "CUdeviceptr":
		return "pointers(t)", nil
	case slices.Contains([]string{"size_t", "unsigned int", "int", "unsigned long long", "uint64_t", "uint32_t"}, e.Name):
		size, _, err := g.scope.Size(e)
		return fmt.Sprintf("numbers(t, %d)", size), err
	}
	return "buffer(t)", nil
}

// number makes up a value of a plain type.
func (g *writer) number(function, name string, t, u *spec.Type) string {
	switch {
	case t.Name == "CUdeviceptr" || t.Name == "CUdeviceptr_v1":
		if frees.MatchString(function) {
			return "freed(t)"
		}
		return "address(t)"
	case t.Name == "CUdevice" || devices.MatchString(name) && u.Name == "int":
		return "ordinal(t)"
	case grids.MatchString(name):
		return "extent(t)"
	case flagged.MatchString(name):
		return "flag_bits(t)"
	case elements.MatchString(name):
		return "small(t, 17)"
	case amounts.MatchString(name) && makes.MatchString(function):
		return "amount(t)"
	case counts.MatchString(name):
		return "small(t, 16)"
	case u.Name == "float" || u.Name == "double":
		return "0"
	}
	return "length(t)"
}

// enum makes up one of an enumeration's values, or none of them.
func (g *writer) enum(t *spec.Type) string { return fmt.Sprintf("one_of(t, %s)", g.enumTable(t)) }

// enumTable writes an enumeration's values once and gives their table and its length.
func (g *writer) enumTable(t *spec.Type) string {
	e := g.scope.Enum(t)
	name := "enum_" + e.Name
	if !g.enums[name] {
		g.enums[name] = true
		g.put("static const int %s[] = {", name)
		for _, v := range e.Values {
			if v.In(g.major) {
				g.put("%d,", int32(v.Value))
			}
		}
		g.put("0};\n")
	}
	return fmt.Sprintf("%s, sizeof %s / sizeof *%s - 1", name, name, name)
}
