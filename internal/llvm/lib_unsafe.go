package llvm

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"kudzu/internal/llvm/release"
)

// Lib is a loaded libLLVM. Its methods may be called from several goroutines: each call has its own LLVM context.
type Lib struct {
	path                string
	major, minor, patch uint32
	triple              string
	cpu, features       string
	fn                  functions
	targets             map[string]error // by LLVM's name of the architecture, guarded by mu
	mu                  sync.Mutex
	handle              uintptr
}

// functions are the entry points of LLVM's C API that we use; the tag is the name where it differs from "LLVM"+field.
// References are uintptr, and strings that LLVM gives away are *byte so that they can be disposed.
type functions struct {
	GetVersion              func(major, minor, patch *uint32)
	DisposeMessage          func(*byte)
	ContextCreate           func() uintptr
	ContextDispose          func(ctx uintptr)
	ContextSetDiagnostic    func(ctx, handler, data uintptr) `name:"LLVMContextSetDiagnosticHandler"`
	GetDiagInfoDescription  func(info uintptr) *byte
	GetDiagInfoSeverity     func(info uintptr) int32
	MemoryBufferCopy        func(data *byte, n uintptr, name string) uintptr `name:"LLVMCreateMemoryBufferWithMemoryRangeCopy"`
	GetBufferStart          func(buf uintptr) *byte
	GetBufferSize           func(buf uintptr) uintptr
	DisposeMemoryBuffer     func(buf uintptr)
	ParseIRInContext        func(ctx, buf uintptr, mod *uintptr, msg **byte) int32
	DisposeModule           func(mod uintptr)
	VerifyModule            func(mod uintptr, action int32, msg **byte) int32
	PrintModuleToString     func(mod uintptr) *byte
	SetTarget               func(mod uintptr, triple string)
	SetModuleDataLayout     func(mod, layout uintptr)
	GetTargetFromTriple     func(triple string, target *uintptr, msg **byte) int32
	CreateTargetMachine     func(target uintptr, triple, cpu, features string, level, reloc, model int32) uintptr
	DisposeTargetMachine    func(tm uintptr)
	CreateTargetDataLayout  func(tm uintptr) uintptr
	DisposeTargetData       func(layout uintptr)
	EmitToMemoryBuffer      func(tm, mod uintptr, kind int32, msg **byte, buf *uintptr) int32 `name:"LLVMTargetMachineEmitToMemoryBuffer"`
	RunPasses               func(mod uintptr, passes string, tm, opts uintptr) uintptr
	CreatePassBuilderOption func() uintptr      `name:"LLVMCreatePassBuilderOptions"`
	DisposePassBuilder      func(opts uintptr)  `name:"LLVMDisposePassBuilderOptions"`
	GetErrorMessage         func(uintptr) *byte // consumes the error
	DisposeErrorMessage     func(*byte)
	GetDefaultTargetTriple  func() *byte
	GetHostCPUName          func() *byte
	GetHostCPUFeatures      func() *byte
	ParseCommandLineOptions func(argc int32, argv **byte, overview *byte)
}

// Kinds of output; the first two are LLVMCodeGenFileType.
const (
	fileAssembly = 0
	fileObject   = 1
	fileText     = 2 // ours: the module after passes
)

// Values of LLVM's C enumerations.
const (
	relocPIC       = 2 // LLVMRelocPIC
	modelSmall     = 3 // LLVMCodeModelSmall
	verifyReturns  = 2 // LLVMReturnStatusAction
	severityError  = 0 // LLVMDSError
	maxDiagnostics = 20
)

// Open loads libLLVM: path, or the file or folder in KUDZU_LLVM, or the first that is found and new enough. It costs
// about 12 ms and 50 MB, so it is called at the first compile and not before.
func Open(path string) (*Lib, error) {
	var tried []string
	for _, name := range candidates(path) {
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			if path != "" || strings.Contains(name, "/") { // a soname that does not exist is not worth a line
				tried = append(tried, fmt.Sprintf("%s: %v", name, err))
			}
			continue
		}
		l, err := bind(name, h)
		if err != nil {
			// Not closed: LLVM registers exit handlers that would point into nothing.
			tried = append(tried, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		return l, nil
	}
	if len(tried) == 0 {
		tried = []string{fmt.Sprintf("libLLVM.so.%d.1 and others, /usr/lib/llvm-*/lib: nothing there", release.Tested[0])}
	}
	return nil, &NotFound{Tried: tried}
}

// bind finds the functions and asks for the version and the host.
func bind(name string, h uintptr) (*Lib, error) {
	l := &Lib{path: name, handle: h, targets: map[string]error{}}
	if err := bindAll(&l.fn, h); err != nil {
		return nil, err
	}
	l.fn.GetVersion(&l.major, &l.minor, &l.patch)
	if l.major < release.Oldest {
		return nil, fmt.Errorf("version %s is older than %d", l.Version(), release.Oldest)
	}
	l.triple = l.take(l.fn.GetDefaultTargetTriple())
	l.cpu = l.take(l.fn.GetHostCPUName())
	l.features = l.take(l.fn.GetHostCPUFeatures())
	return l, nil
}

// architectures maps the first part of a triple to LLVM's name of the target.
var architectures = map[string]string{
	"x86_64": "X86", "amd64": "X86", "aarch64": "AArch64", "arm64": "AArch64", "nvptx64": "NVPTX", "amdgcn": "AMDGPU",
}

// initTarget makes a target known to the library, once.
func (l *Lib) initTarget(triple string) error {
	arch, _, _ := strings.Cut(triple, "-")
	target := architectures[arch]
	if target == "" {
		return fmt.Errorf("triple %q: no such architecture here (%s runs on %s)", triple, l.path, runtime.GOARCH)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err, done := l.targets[target]; done {
		return err
	}
	var err error
	for _, part := range []string{"TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"} {
		sym, e := purego.Dlsym(l.handle, "LLVMInitialize"+target+part)
		if e != nil {
			if target == "NVPTX" && part == "AsmParser" { // NVPTX has none
				continue
			}
			err = fmt.Errorf("%s was built without the %s target", l.path, target)
			break
		}
		purego.SyscallN(sym)
	}
	if err == nil {
		l.setOptions(target)
	}
	l.targets[target] = err
	return err
}

// take copies a string that LLVM gives away, and frees it.
func (l *Lib) take(p *byte) string {
	if p == nil {
		return ""
	}
	s := goString(p)
	l.fn.DisposeMessage(p)
	return s
}

// goString copies a C string.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// bytesOf copies a memory buffer.
func (l *Lib) bytesOf(buf uintptr) []byte {
	n := l.fn.GetBufferSize(buf)
	return append([]byte(nil), unsafe.Slice(l.fn.GetBufferStart(buf), n)...)
}
