// Package codeobject reads, links and binds AMD GPU code objects: the ELF files that ROCm loads.
//
// LLVM's AMDGPU target writes a relocatable object; Link turns it into the shared object that hipModuleLoadData takes, with
// what ld.lld would put there: segments, dynamic symbols, hash table, notes. Read tells what is in one: the target, and for
// each kernel its metadata (the NT_AMDGPU_METADATA note, MessagePack) and its descriptor (the .kd symbol, 64 bytes).
//
// # The convention between emit/simt and backend/hip
//
//   - A kernel's explicit arguments are PTX's parameter block, byte for byte, at offset 0 of the kernarg segment: one
//     by-value argument of KernelDecl.ParamBytes bytes (a byref parameter in LLVM), or one argument a parameter at the same
//     offsets. A kernel without parameters may have none. One that asks for the workspace of a cooperative launch has its address
//     behind them, named devrt.Workspace, at the next multiple of 8; one that wants a wave for each warp the block's size, named devrt.Block,
//     as its last. Nothing else is explicit.
//   - Grid and block dimensions come from the hidden arguments or the dispatch packet, which every ROCm fills.
//   - Dynamic shared memory lies behind the static one (an external array in address space 3).
//   - Variables of the module are undefined symbols of default visibility in address space 1, named as in PTX. LLVM reaches
//     them through the global offset table; Link gives each a slot, and Bind writes the variable's address into it before the
//     code object is loaded. So one cached code object serves every process and every load.
//   - What a runtime lends kernels (printf buffer, heap) is such a symbol too; the names are the Symbol constants.
//
// Every function takes any bytes: what is not a code object is an error, never a panic.
package codeobject

import (
	"fmt"
)

// Symbols that are no variables of the module: addresses that the backend lends a kernel when it names them.
const (
	// SymbolRuntime is the runtime block of the device: what device printf, malloc and assert write to. See Runtime.
	SymbolRuntime = "kudzu.runtime"
)

// Object is a linked code object, or one that is not linked yet.
type Object struct {
	Target   Target // of the ELF header
	Version  int    // of the code object: 2 to 6
	Linked   bool   // a shared object, not a relocatable one
	Kernels  []*Kernel
	Bindings []Binding // addresses to fill in before it is loaded
	Metadata string    // the target that the metadata names

	data []byte
}

// Kernel is one kernel: what its metadata and its descriptor say.
type Kernel struct {
	Name   string
	Symbol string // of the descriptor: Name + ".kd"

	Args         []Arg
	KernargSize  int
	KernargAlign int
	GroupFixed   int // static LDS, bytes a block
	PrivateFixed int // scratch, bytes a thread
	Wave         int // 32 or 64
	SGPRs, VGPRs int
	AGPRs        int
	SGPRSpills   int
	VGPRSpills   int
	MaxFlat      int // threads a block at most
	Required     [3]int
	DynamicStack bool

	Descriptor Descriptor
	At         uint64 // address of the descriptor in the linked object
}

// Arg is one argument of a kernel.
type Arg struct {
	Name         string
	Offset, Size int
	Kind         string // by_value, global_buffer, hidden_block_count_x …
	AddressSpace string
}

// Hidden reports an argument that the runtime fills, not the program.
func (a *Arg) Hidden() bool { return len(a.Kind) > 7 && a.Kind[:7] == "hidden_" }

// Explicit is how many bytes of the kernarg segment the program gives.
func (k *Kernel) Explicit() int {
	n := 0
	for i := range k.Args {
		if a := &k.Args[i]; !a.Hidden() {
			n = max(n, a.Offset+a.Size)
		}
	}
	return n
}

// Kernel finds a kernel by name, nil if there is none.
func (o *Object) Kernel(name string) *Kernel {
	for _, k := range o.Kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// abiVersions are the code object versions by EI_ABIVERSION.
var abiVersions = map[byte]int{0: 2, 1: 3, 2: 4, 3: 5, 4: 6}

// Read reads a code object.
func Read(b []byte) (*Object, error) {
	f, err := parseELF(b)
	if err != nil {
		return nil, err
	}
	return read(f)
}

func read(f *file) (*Object, error) {
	o := &Object{Linked: f.kind == etDyn, data: f.data}
	var ok bool
	if o.Version, ok = abiVersions[f.abi]; !ok {
		return nil, fmt.Errorf("code object: ABI version %d", f.abi)
	}
	if o.Target, ok = targetOf(f.flags, o.Version); !ok {
		return nil, fmt.Errorf("code object: processor %#x", f.flags&machMask)
	}
	if err := o.readMetadata(f); err != nil {
		return nil, err
	}
	for _, k := range o.Kernels {
		if err := o.readDescriptor(f, k); err != nil {
			return nil, err
		}
	}
	var err error
	o.Bindings, err = readBindings(f)
	return o, err
}

// readDescriptor finds a kernel's descriptor through its symbol.
func (o *Object) readDescriptor(f *file, k *Kernel) error {
	s := f.symbol(k.Symbol)
	if s == nil || s.section == nil {
		return fmt.Errorf("kernel %s: no descriptor %s", k.Name, k.Symbol)
	}
	if s.size != DescriptorBytes {
		return fmt.Errorf("kernel %s: descriptor of %d bytes", k.Name, s.size)
	}
	b, err := s.bytes(f)
	if err != nil {
		return fmt.Errorf("kernel %s: descriptor: %w", k.Name, err)
	}
	k.Descriptor = decodeDescriptor(b)
	k.At = s.value
	return k.check(o.Target)
}

// check holds metadata and descriptor against each other: two accounts of the same kernel.
func (k *Kernel) check(t Target) error {
	d := &k.Descriptor
	switch {
	case int(d.GroupSegment) != k.GroupFixed:
		return fmt.Errorf("kernel %s: LDS %d in metadata, %d in descriptor", k.Name, k.GroupFixed, d.GroupSegment)
	case int(d.PrivateSegment) != k.PrivateFixed:
		return fmt.Errorf("kernel %s: scratch %d in metadata, %d in descriptor", k.Name, k.PrivateFixed, d.PrivateSegment)
	case int(d.Kernarg) != k.KernargSize:
		return fmt.Errorf("kernel %s: kernarg %d in metadata, %d in descriptor", k.Name, k.KernargSize, d.Kernarg)
	case k.Wave != 0 && (k.Wave == 32) != d.Wave32():
		return fmt.Errorf("kernel %s: wave size %d in metadata, wave32 %v in descriptor", k.Name, k.Wave, d.Wave32())
	case t.Wave == 64 && d.Wave32():
		return fmt.Errorf("kernel %s: wave32 on %s", k.Name, t)
	}
	for i := range k.Args {
		if a := &k.Args[i]; a.Offset < 0 || a.Size < 0 || a.Offset > k.KernargSize || a.Size > k.KernargSize-a.Offset {
			return fmt.Errorf("kernel %s: argument %d at %d of %d bytes, kernarg has %d", k.Name, i, a.Offset, a.Size, k.KernargSize)
		}
	}
	return nil
}
