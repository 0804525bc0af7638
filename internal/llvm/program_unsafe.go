package llvm

import (
	"strings"
	"sync"
	"unsafe"
)

// linker are the entry points that only programs of several modules need; they are looked up at the first.
type linker struct {
	LinkModules2                   func(dst, src uintptr) int32
	WriteBitcodeToMemoryBuffer     func(mod uintptr) uintptr
	GetTarget                      func(mod uintptr) *byte
	GetFirstFunction               func(mod uintptr) uintptr
	GetNextFunction                func(f uintptr) uintptr
	GetFirstGlobal                 func(mod uintptr) uintptr
	GetNextGlobal                  func(g uintptr) uintptr
	GetNamedFunction               func(mod uintptr, name string) uintptr
	GetValueName2                  func(v uintptr, n *uintptr) *byte
	SetValueName2                  func(v uintptr, name string, n uintptr)
	IsDeclaration                  func(v uintptr) int32
	GetLinkage                     func(v uintptr) int32
	SetLinkage                     func(v uintptr, linkage int32)
	GetFirstBasicBlock             func(f uintptr) uintptr
	GetNextBasicBlock              func(b uintptr) uintptr
	GetFirstInstruction            func(b uintptr) uintptr
	GetNextInstruction             func(i uintptr) uintptr
	GetInstructionOpcode           func(i uintptr) int32
	GetCalledValue                 func(i uintptr) uintptr
	GetOperand                     func(v uintptr, n uint32) uintptr
	TypeOf                         func(v uintptr) uintptr
	GetTypeKind                    func(t uintptr) int32
	GetFastMathFlags               func(i uintptr) uint32
	SetFastMathFlags               func(i uintptr, flags uint32)
	ReplaceAllUsesWith             func(old, new uintptr)
	InstructionEraseFromParent     func(i uintptr)
	CreateBuilderInContext         func(ctx uintptr) uintptr
	PositionBuilderBefore          func(b, i uintptr)
	DisposeBuilder                 func(b uintptr)
	FunctionType                   func(ret uintptr, params *uintptr, n uint32, variadic int32) uintptr
	GetInlineAsm                   func(t uintptr, text string, n uintptr, constraints string, m uintptr, effects, align, dialect, throws int32) uintptr
	BuildCall2                     func(b, t, f uintptr, args *uintptr, n uint32, name string) uintptr
	AddTargetDependentFunctionAttr func(f uintptr, key, value string)
	Int32TypeInContext             func(ctx uintptr) uintptr
	ConstInt                       func(t uintptr, n uint64, signed int32) uintptr
	ValueAsMetadata                func(v uintptr) uintptr
	AddModuleFlag                  func(mod uintptr, behaviour int32, key string, n uintptr, value uintptr)
	GetNamedMetadataNumOperands    func(mod uintptr, name string) uint32
	GetNamedMetadataOperands       func(mod uintptr, name string, out *uintptr)
	GetMDNodeNumOperands           func(v uintptr) uint32
	GetMDNodeOperands              func(v uintptr, out *uintptr)
	IsAConstantInt                 func(v uintptr) uintptr
	IsAFunction                    func(v uintptr) uintptr
	IsAInlineAsm                   func(v uintptr) uintptr
	GetInlineAsmHasSideEffects     func(v uintptr) int32
	GetIntrinsicID                 func(f uintptr) uint32
	GetEnumAttributeKindForName    func(name string, n uintptr) uint32
	CreateEnumAttribute            func(ctx uintptr, kind uint32, value uint64) uintptr
	AddAttributeAtIndex            func(f uintptr, index uint32, attr uintptr)
	AddCallSiteAttribute           func(call uintptr, index uint32, attr uintptr)
	ConstIntGetZExtValue           func(v uintptr) uint64
	IsAConstantExpr                func(v uintptr) uintptr
	IsAGlobalVariable              func(v uintptr) uintptr
	IsAConstantDataSequential      func(v uintptr) uintptr
	IsConstantString               func(v uintptr) int32
	GetInitializer                 func(v uintptr) uintptr
	GetAsString                    func(v uintptr, n *uintptr) *byte
}

// Values of LLVM's C enumerations.
const (
	opFAdd, opFSub, opFMul, opFDiv, opCall = 9, 11, 13, 16, 45

	linkageExternal, linkageOnceODR, linkageInternal = 0, 3, 8

	kindFloat     = 2
	allowContract = 1 << 5
	flagOverride  = 3
	ofFunction    = 1<<32 - 1 // the index of attributes that belong to no parameter
)

// linkers are the entry points of each library.
var linkers struct {
	sync.Mutex
	by map[uintptr]*linker // guarded by the mutex
}

func (l *Lib) linker() (*linker, error) {
	linkers.Lock()
	defer linkers.Unlock()
	if f := linkers.by[l.handle]; f != nil {
		return f, nil
	}
	f := &linker{}
	if err := bindAll(f, l.handle); err != nil {
		return nil, &Error{Stage: "link", Messages: []string{err.Error()}}
	}
	if linkers.by == nil {
		linkers.by = map[uintptr]*linker{}
	}
	linkers.by[l.handle] = f
	return f, nil
}

// linking is one program on its way.
type linking struct {
	*Lib
	f    *linker
	p    *Program
	ctx  uintptr
	mod  uintptr // all modules so far; 0: none
	diag *diagnostics
	lazy map[string]bool // names that libraries define

	convergent uintptr // the attribute
}

// link reads the modules, makes one of them, and generates its code.
func (l *Lib) link(p *Program) ([]byte, error) {
	f, err := l.linker()
	if err != nil {
		return nil, err
	}
	if err := l.initTarget(p.Triple); err != nil {
		return nil, &Error{Stage: "target", Messages: []string{err.Error()}}
	}
	x := &linking{Lib: l, f: f, p: p, ctx: l.fn.ContextCreate(), lazy: map[string]bool{}}
	defer l.fn.ContextDispose(x.ctx)
	defer func() {
		if x.mod != 0 {
			l.fn.DisposeModule(x.mod)
		}
	}()
	var stop func()
	x.diag, stop = l.watch(x.ctx)
	defer stop()
	tm, err := l.machine(p.Options)
	if err != nil {
		return nil, err
	}
	defer l.fn.DisposeTargetMachine(tm)
	layout := l.fn.CreateTargetDataLayout(tm)
	defer l.fn.DisposeTargetData(layout)
	for i := range p.Units {
		if err := x.add(&p.Units[i], layout); err != nil {
			return nil, err
		}
	}
	if p.Verify {
		return nil, nil
	}
	if err := x.supply(layout); err != nil {
		return nil, err
	}
	x.enclose()
	if p.Bitcode {
		buf := f.WriteBitcodeToMemoryBuffer(x.mod)
		defer l.fn.DisposeMemoryBuffer(buf)
		return l.bytesOf(buf), nil
	}
	x.prepare()
	if err := l.runPasses(x.mod, tm, p.Passes, x.diag); err != nil {
		return nil, err
	}
	return l.emit(x.mod, tm, fileAssembly, x.diag)
}

// add reads a module, checks it and links it to those before it.
func (x *linking) add(u *Unit, layout uintptr) error {
	mod, err := x.parse(x.ctx, u.IR, x.diag)
	if err != nil {
		return inUnit(u, err)
	}
	if err := x.p.Check(u, x.header(mod)); err != nil {
		x.fn.DisposeModule(mod)
		return err
	}
	x.fn.SetTarget(mod, x.p.Triple)
	x.fn.SetModuleDataLayout(mod, layout)
	for name, called := range x.p.Rename {
		if f := x.f.GetNamedFunction(mod, name); f != 0 {
			x.f.SetValueName2(f, called, uintptr(len(called)))
		}
	}
	if u.Lazy {
		x.borrow(mod)
	}
	if u.Ours && x.p.Common != nil {
		x.globals(mod, func(v uintptr) {
			if x.f.IsDeclaration(v) == 0 && x.f.GetLinkage(v) == linkageExternal && x.p.Common(x.name(v)) {
				x.f.SetLinkage(v, linkageOnceODR)
			}
		})
	}
	if x.mod == 0 {
		x.mod = mod
		return nil
	}
	if x.f.LinkModules2(x.mod, mod) != 0 { // mod belongs to LLVM from here on
		return &UnitError{u.Name, &Error{Stage: "link", Messages: x.diag.errors}}
	}
	return nil
}

// supply links what is called and not there from a library.
func (x *linking) supply(layout uintptr) error {
	if x.p.Supply == nil {
		return nil
	}
	var missing []string
	for v := x.f.GetFirstFunction(x.mod); v != 0; v = x.f.GetNextFunction(v) {
		if x.f.IsDeclaration(v) != 0 {
			missing = append(missing, x.name(v))
		}
	}
	text := x.p.Supply(missing)
	if text == "" {
		return nil
	}
	return x.add(&Unit{Name: "libdevice", IR: text, Lazy: true}, layout)
}

// bitcode reads a text and writes it.
func (l *Lib) bitcode(text string) ([]byte, error) {
	f, err := l.linker()
	if err != nil {
		return nil, err
	}
	ctx := l.fn.ContextCreate()
	defer l.fn.ContextDispose(ctx)
	diag, stop := l.watch(ctx)
	defer stop()
	mod, err := l.parse(ctx, text, diag)
	if err != nil {
		return nil, err
	}
	defer l.fn.DisposeModule(mod)
	buf := f.WriteBitcodeToMemoryBuffer(mod)
	defer l.fn.DisposeMemoryBuffer(buf)
	return l.bytesOf(buf), nil
}

func inUnit(u *Unit, err error) error {
	if e, ok := err.(*Error); ok {
		return &UnitError{u.Name, e}
	}
	return err
}

// header reads what a module says of itself.
func (x *linking) header(mod uintptr) *Header {
	h := &Header{Triple: goString(x.f.GetTarget(mod))}
	const name = "nvvmir.version"
	nodes := make([]uintptr, x.f.GetNamedMetadataNumOperands(mod, name))
	if len(nodes) == 0 {
		return h
	}
	x.f.GetNamedMetadataOperands(mod, name, unsafe.SliceData(nodes))
	ops := make([]uintptr, x.f.GetMDNodeNumOperands(nodes[0]))
	if len(ops) == 0 {
		return h
	}
	x.f.GetMDNodeOperands(nodes[0], unsafe.SliceData(ops))
	for _, v := range ops {
		if v == 0 || x.f.IsAConstantInt(v) == 0 {
			return h
		}
		h.Version = append(h.Version, x.f.ConstIntGetZExtValue(v))
	}
	return h
}

// globals calls fn with every function and variable of a module.
func (x *linking) globals(mod uintptr, fn func(v uintptr)) {
	for v := x.f.GetFirstFunction(mod); v != 0; v = x.f.GetNextFunction(v) {
		fn(v)
	}
	for v := x.f.GetFirstGlobal(mod); v != 0; v = x.f.GetNextGlobal(v) {
		fn(v)
	}
}

func (x *linking) name(v uintptr) string {
	var n uintptr
	p := x.f.GetValueName2(v, &n)
	return string(unsafe.Slice(p, n))
}

// borrow makes a library's definitions such that unused ones go, and the program's own win.
func (x *linking) borrow(mod uintptr) {
	x.globals(mod, func(v uintptr) {
		if x.f.IsDeclaration(v) == 0 && x.f.GetLinkage(v) == linkageExternal {
			x.lazy[x.name(v)] = true
			x.f.SetLinkage(v, linkageOnceODR)
		}
	})
}

// enclose hides the names of libraries.
func (x *linking) enclose() {
	x.globals(x.mod, func(v uintptr) {
		if x.f.GetLinkage(v) == linkageOnceODR && x.lazy[x.name(v)] {
			x.f.SetLinkage(v, linkageInternal)
		}
	})
}

// prepare puts what the options mean into the module. Calls are convergent unless LLVM finds that a function does nothing
// that depends on which threads come together; it is for GPUs, and the IR need not say so.
func (x *linking) prepare() {
	if x.p.FlushF32 {
		const key = "nvvm-reflect-ftz"
		one := x.f.ValueAsMetadata(x.f.ConstInt(x.f.Int32TypeInContext(x.ctx), 1, 0))
		x.f.AddModuleFlag(x.mod, flagOverride, key, uintptr(len(key)), one)
	}
	b := x.f.CreateBuilderInContext(x.ctx)
	defer x.f.DisposeBuilder(b)
	const convergent = "convergent"
	x.convergent = x.f.CreateEnumAttribute(x.ctx, x.f.GetEnumAttributeKindForName(convergent, uintptr(len(convergent))), 0)
	for v := x.f.GetFirstFunction(x.mod); v != 0; v = x.f.GetNextFunction(v) {
		if x.f.GetIntrinsicID(v) == 0 {
			x.f.AddAttributeAtIndex(v, ofFunction, x.convergent)
		}
		if x.f.IsDeclaration(v) != 0 {
			continue
		}
		if x.p.FlushF32 {
			x.f.AddTargetDependentFunctionAttr(v, "denormal-fp-math-f32", "preserve-sign,preserve-sign")
		}
		for block := x.f.GetFirstBasicBlock(v); block != 0; block = x.f.GetNextBasicBlock(block) {
			for i := x.f.GetFirstInstruction(block); i != 0; {
				next := x.f.GetNextInstruction(i)
				x.rewrite(b, i)
				i = next
			}
		}
	}
}

// together keeps calls of unknown functions, and assembly with effects, in their branches.
func (x *linking) together(call, called uintptr) {
	if x.f.IsAInlineAsm(called) != 0 && x.f.GetInlineAsmHasSideEffects(called) != 0 || x.f.IsAInlineAsm(called) == 0 && x.f.IsAFunction(called) == 0 {
		x.f.AddCallSiteAttribute(call, ofFunction, x.convergent)
	}
}

// reflect answers a call of __nvvm_reflect, where the program's options say what.
func (x *linking) reflect(call uintptr) {
	v := x.f.GetOperand(call, 0)
	for x.f.IsAConstantExpr(v) != 0 { // the string's address in another space, or that of its first byte
		v = x.f.GetOperand(v, 0)
	}
	if x.f.IsAGlobalVariable(v) == 0 {
		return
	}
	text := x.f.GetInitializer(v)
	if text == 0 || x.f.IsAConstantDataSequential(text) == 0 || x.f.IsConstantString(text) == 0 {
		return
	}
	var n uintptr
	p := x.f.GetAsString(text, &n)
	answer, ok := x.p.Reflect[strings.TrimRight(string(unsafe.Slice(p, n)), "\x00")]
	if !ok {
		return
	}
	x.f.ReplaceAllUsesWith(call, x.f.ConstInt(x.f.TypeOf(call), uint64(answer), 0))
	x.f.InstructionEraseFromParent(call)
}

// rewrite marks products and sums that may be fused, and replaces divisions and roots.
func (x *linking) rewrite(b, i uintptr) {
	what := ""
	switch x.f.GetInstructionOpcode(i) {
	case opFAdd, opFSub, opFMul:
		if x.p.Contract {
			x.f.SetFastMathFlags(i, x.f.GetFastMathFlags(i)|allowContract)
		}
		return
	case opFDiv:
		what = "fdiv"
	case opCall:
		called := x.f.GetCalledValue(i)
		x.together(i, called)
		switch x.name(called) {
		case "llvm.sqrt.f32", "llvm.nvvm.sqrt.f":
			what = "sqrt"
		case "__nvvm_reflect":
			x.reflect(i)
			return
		}
	}
	text := x.p.Replace[what]
	t := x.f.TypeOf(i)
	if text == "" || x.f.GetTypeKind(t) != kindFloat {
		return
	}
	args, constraints := []uintptr{x.f.GetOperand(i, 0)}, "=f,f"
	if what == "fdiv" {
		args, constraints = append(args, x.f.GetOperand(i, 1)), "=f,f,f"
	}
	types := []uintptr{t, t}[:len(args)]
	ft := x.f.FunctionType(t, unsafe.SliceData(types), uint32(len(types)), 0)
	asm := x.f.GetInlineAsm(ft, text, uintptr(len(text)), constraints, uintptr(len(constraints)), 0, 0, 0, 0)
	x.f.PositionBuilderBefore(b, i)
	x.f.ReplaceAllUsesWith(i, x.f.BuildCall2(b, ft, asm, unsafe.SliceData(args), uint32(len(args)), ""))
	x.f.InstructionEraseFromParent(i)
}
