package llvm

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// diagnostics gathers what LLVM reports while one context is alive.
type diagnostics struct {
	lib    *Lib
	errors []string
}

// The handler is one C function for all contexts, because purego never frees a callback; live maps the number that
// a context carries to its collector.
var (
	diagOnce    sync.Once
	diagHandler uintptr
	diagMu      sync.Mutex
	diagLive    = map[uintptr]*diagnostics{} // guarded by diagMu
	diagNext    uintptr                      // guarded by diagMu
)

// watch collects ctx's diagnostics until the returned function is called. Without a handler of our own LLVM prints
// them and ends the process at the first error.
func (l *Lib) watch(ctx uintptr) (*diagnostics, func()) {
	diagOnce.Do(func() { diagHandler = purego.NewCallback(onDiagnostic) })
	d := &diagnostics{lib: l}
	diagMu.Lock()
	diagNext++
	id := diagNext
	diagLive[id] = d
	diagMu.Unlock()
	l.fn.ContextSetDiagnostic(ctx, diagHandler, id)
	return d, func() {
		diagMu.Lock()
		delete(diagLive, id)
		diagMu.Unlock()
	}
}

func onDiagnostic(info, id uintptr) uintptr {
	diagMu.Lock()
	d := diagLive[id]
	diagMu.Unlock()
	if d == nil || d.lib.fn.GetDiagInfoSeverity(info) != severityError {
		return 0
	}
	msg := d.lib.take(d.lib.fn.GetDiagInfoDescription(info))
	if len(d.errors) < maxDiagnostics {
		d.errors = append(d.errors, clean(msg))
	}
	return 0
}

// generate is the whole life of one module: parse, verify, passes, and the output that is asked for.
func (l *Lib) generate(ir string, opts Options, kind int32) ([]byte, error) {
	opts = l.withHost(opts)
	if err := l.initTarget(opts.Triple); err != nil {
		return nil, &Error{Stage: "target", Messages: []string{err.Error()}}
	}
	if strings.IndexByte(ir, 0) >= 0 {
		return nil, &Error{Stage: "parse", Messages: []string{"a NUL byte in the text"}}
	}
	ctx := l.fn.ContextCreate()
	defer l.fn.ContextDispose(ctx)
	diag, stop := l.watch(ctx)
	defer stop()

	tm, err := l.machine(opts)
	if err != nil {
		return nil, err
	}
	defer l.fn.DisposeTargetMachine(tm)
	mod, err := l.parse(ctx, ir, diag)
	if err != nil {
		return nil, err
	}
	defer l.fn.DisposeModule(mod)
	l.fn.SetTarget(mod, opts.Triple)
	layout := l.fn.CreateTargetDataLayout(tm)
	l.fn.SetModuleDataLayout(mod, layout)
	l.fn.DisposeTargetData(layout)

	if err := l.runPasses(mod, tm, opts.Passes, diag); err != nil {
		return nil, err
	}
	if kind == fileText {
		return []byte(l.take(l.fn.PrintModuleToString(mod))), nil
	}
	return l.emit(mod, tm, kind, diag)
}

func (l *Lib) machine(opts Options) (uintptr, error) {
	var target uintptr
	var msg *byte
	if l.fn.GetTargetFromTriple(opts.Triple, &target, &msg) != 0 {
		return 0, &Error{Stage: "target", Messages: []string{clean(l.take(msg))}}
	}
	tm := l.fn.CreateTargetMachine(target, opts.Triple, opts.CPU, opts.Features, int32(min(max(opts.OptLevel, 0), 3)), relocPIC, modelSmall)
	if tm == 0 {
		return 0, &Error{Stage: "target", Messages: []string{"no target machine for " + opts.Triple + " " + opts.CPU}}
	}
	return tm, nil
}

// parse reads and verifies the text.
func (l *Lib) parse(ctx uintptr, ir string, diag *diagnostics) (uintptr, error) {
	if ir == "" {
		return 0, &Error{Stage: "parse", Messages: []string{"no text"}}
	}
	buf := l.fn.MemoryBufferCopy(unsafe.StringData(ir), uintptr(len(ir)), "kernel")
	var mod uintptr
	var msg *byte
	if l.fn.ParseIRInContext(ctx, buf, &mod, &msg) != 0 { // buf belongs to LLVM from here on
		return 0, &Error{Stage: "parse", Messages: append(split(l.take(msg)), diag.errors...)}
	}
	msg = nil
	bad := l.fn.VerifyModule(mod, verifyReturns, &msg) != 0
	text := l.take(msg)
	if bad {
		l.fn.DisposeModule(mod)
		return 0, &Error{Stage: "verify", Messages: split(text)}
	}
	return mod, nil
}

func (l *Lib) runPasses(mod, tm uintptr, passes string, diag *diagnostics) error {
	if passes == "" {
		return nil
	}
	opts := l.fn.CreatePassBuilderOption()
	defer l.fn.DisposePassBuilder(opts)
	if e := l.fn.RunPasses(mod, passes, tm, opts); e != 0 {
		p := l.fn.GetErrorMessage(e)
		text := goString(p)
		l.fn.DisposeErrorMessage(p)
		return &Error{Stage: "passes", Messages: split(text)}
	}
	if len(diag.errors) > 0 {
		return &Error{Stage: "passes", Messages: diag.errors}
	}
	return nil
}

func (l *Lib) emit(mod, tm uintptr, kind int32, diag *diagnostics) ([]byte, error) {
	var msg *byte
	var buf uintptr
	failed := l.fn.EmitToMemoryBuffer(tm, mod, kind, &msg, &buf) != 0
	var text string
	if failed {
		text = l.take(msg)
	} else {
		defer l.fn.DisposeMemoryBuffer(buf)
	}
	if failed || len(diag.errors) > 0 {
		return nil, &Error{Stage: "codegen", Messages: append(split(text), diag.errors...)}
	}
	return l.bytesOf(buf), nil
}

// split makes LLVM's text a list of messages.
func split(s string) []string {
	if s = clean(s); s == "" {
		return nil
	}
	return strings.SplitN(s, "\n", maxDiagnostics)
}

// clean drops the buffer's name before a position and the white space around.
func clean(s string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), "kernel:"))
}
