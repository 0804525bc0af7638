package nvrtc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/nvrtcapi"
)

// program is what a client has handed over, and what came of it.
type program struct {
	release cudacc.Release
	name    string
	bytes   int // of the source in texts
	headers []compile.CUDAHeader
	texts   string // the source, then the headers

	mu       lockrank.Mutex[lockrank.NVRTCProgram]
	exprs    []string          // guarded by mu, as all that follows
	names    map[string]string // of exprs, once it is compiled
	compiled bool
	log      string
	ptx      string // with the NUL behind it
	cubin    []byte
	lto      string
	pch      bool // a precompiled header was asked for
	flow     nvrtcapi.NvrtcFlowCallback
	payload  hostmem.Ptr
}

var programs = handle.NewTable[program](handle.NVRTCProgram, "NVRTC programs")

const (
	none       = "\x00"  // a text that is not there
	maxOptions = 1 << 16 // bounds what a false count can make us read
	maxText    = 1 << 30 // of a source or header
)

// find is a live program, locked.
func find(h nvrtcapi.NvrtcProgram) (*program, error) {
	p := programs.Get(handle.Value(h))
	if p == nil {
		return nil, invalidProgram
	}
	p.mu.Lock()
	return p, nil
}

// CreateProgram takes a source and the headers that go with it.
func (t *Thread) CreateProgram(out, src, name hostmem.Ptr, n int32, headers, names hostmem.Ptr, r cudacc.Release) error {
	switch {
	case out == hostmem.Nil:
		return invalidProgram
	case src == hostmem.Nil || n < 0 || n > maxOptions || n > 0 && (headers == hostmem.Nil || names == hostmem.Nil):
		return invalidInput
	}
	p := &program{release: r, name: cudacc.DefaultName, ptx: none}
	if name != hostmem.Nil {
		if s := hostmem.String(name); s != "" {
			p.name = s
		}
	}
	var texts strings.Builder
	texts.WriteString(hostmem.StringN(src, maxText))
	p.bytes = texts.Len()
	for i := range int(n) {
		text, called := hostmem.Load[hostmem.Ptr](headers.Index(i, 8)), hostmem.Load[hostmem.Ptr](names.Index(i, 8))
		if text == hostmem.Nil || called == hostmem.Nil {
			return invalidInput
		}
		at := texts.Len()
		texts.WriteString(hostmem.StringN(text, maxText))
		p.headers = append(p.headers, compile.CUDAHeader{Name: hostmem.String(called), Bytes: texts.Len() - at})
	}
	p.texts = texts.String()
	h := programs.New(p)
	if h == 0 {
		return noMemory
	}
	hostmem.Store(out, uint64(h))
	return nil
}

// DestroyProgram forgets a program, and clears the client's handle.
func (t *Thread) DestroyProgram(at hostmem.Ptr) error {
	if at == hostmem.Nil || programs.Delete(handle.Value(hostmem.Load[uint64](at))) == nil {
		return invalidProgram
	}
	hostmem.Store[uint64](at, 0)
	return nil
}

// AddNameExpression asks for the mangled name of a function or variable.
func (t *Thread) AddNameExpression(h nvrtcapi.NvrtcProgram, at hostmem.Ptr) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	switch {
	case at == hostmem.Nil:
		return invalidInput
	case p.compiled:
		return tooLate
	}
	if e := hostmem.String(at); !slices.Contains(p.exprs, e) {
		p.exprs = append(p.exprs, e)
	}
	return nil
}

// GetLoweredName is what an expression's function or variable is called in the code.
func (t *Thread) GetLoweredName(h nvrtcapi.NvrtcProgram, at, out hostmem.Ptr) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	switch {
	case at == hostmem.Nil || out == hostmem.Nil:
		return invalidInput
	case !p.compiled:
		return tooEarly
	}
	name, ok := p.names[hostmem.String(at)]
	if !ok {
		return unknownName
	}
	return driver.PutName(out, name)
}

// CompileProgram compiles a program.
func (t *Thread) CompileProgram(h nvrtcapi.NvrtcProgram, n int32, list hostmem.Ptr) error {
	if t.Compiler != 0 {
		compiler.Adopt(int(uint32(t.Compiler))-1, int(t.Compiler>>32))
		t.Compiler = 0
	}
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	switch {
	case n < 0 || n > maxOptions:
		return invalidInput
	case n > 0 && list == hostmem.Nil:
		return invalidOption
	}
	var words []string
	for i := range int(n) {
		o := hostmem.Load[hostmem.Ptr](list.Index(i, 8))
		if o == hostmem.Nil {
			return invalidOption
		}
		words = append(words, hostmem.String(o))
	}
	p.log, p.ptx, p.cubin, p.lto, p.names = "", none, nil, "", nil
	o, warnings, err := cudacc.Parse(p.release, words)
	var bad *cudacc.OptionError
	switch {
	case errors.As(err, &bad) && bad.Compiler:
		p.log = bad.Log
		return notCompiled
	case err != nil:
		p.log = err.Error()
		return invalidOption
	}
	p.log, p.pch = warnings, p.pch || o.MakePCH
	if int32(driver.Ask(uint64(p.flow), uint64(p.payload), 0)) != 0 {
		return cancelled
	}
	key, ok := t.key()
	return p.compile(o, key, ok && !asked(o) && p.flow == 0)
}

// compile has the work done, and its answer kept under key. mu is held.
func (p *program) compile(o *cudacc.Options, key [32]byte, keep bool) error {
	for i, dir := range o.Includes {
		if abs, err := filepath.Abs(dir); err == nil {
			o.Includes[i] = abs
		}
	}
	c := &compile.CUDA{Name: p.name, Bytes: p.bytes, Headers: p.headers, Exprs: p.exprs, Options: *o}
	code, err := compiler.CUDA(c, p.texts)
	var bad *compile.CUDAError
	switch {
	case errors.As(err, &bad) && bad.Missing:
		p.log += bad.Log
		return noBuiltins
	case errors.As(err, &bad):
		p.log += bad.Log
		if keep && len(bad.Files) > 0 {
			compiler.Keep(key, p.answer(notCompiled, slices.Concat(compiler.Tools(), bad.Files)))
		}
		return notCompiled
	case err != nil:
		p.log += "nvrtc: error: " + err.Error() + "\n"
		return internal
	}
	p.log += code.Log
	if err := p.keep(o, code); err != nil {
		return err
	}
	p.compiled = true
	p.names = map[string]string{}
	for i, name := range code.Names {
		if name != "" {
			p.names[p.exprs[i]] = name
		}
	}
	if keep {
		compiler.Keep(key, p.answer(success, slices.Concat(compiler.Tools(), code.Files)))
	}
	return timed(o, &p.log)
}

// timed writes the files of times that were asked for, empty: nobody measures here.
func timed(o *cudacc.Options, log *string) error {
	for _, f := range []struct {
		name string
		code Result
	}{{o.TimeFile, noTimeFile}, {o.TraceFile, noTraceFile}} {
		if f.name == "" {
			continue
		}
		if err := os.WriteFile(f.name, nil, 0o600); err != nil {
			*log += "nvrtc: error: failed to open file " + strings.Trim(f.name, cudacc.NoFile) + " for writing!"
			return f.code
		}
	}
	return nil
}

// SetFlowCallback names a function that is asked whether to go on.
func (t *Thread) SetFlowCallback(h nvrtcapi.NvrtcProgram, fn nvrtcapi.NvrtcFlowCallback, payload hostmem.Ptr) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	p.flow, p.payload = fn, payload
	return nil
}

// heap is the size that a program set for precompiled headers, which here need none.
var heap atomic.Uint64

const defaultHeap = 256 << 20

// GetPCHHeapSize is what was set.
func (t *Thread) GetPCHHeapSize(out hostmem.Ptr) error {
	if out == hostmem.Nil {
		return invalidInput
	}
	n := heap.Load()
	if n == 0 {
		n = defaultHeap
	}
	hostmem.Store(out, n)
	return nil
}

// SetPCHHeapSize keeps the size.
func (t *Thread) SetPCHHeapSize(n uint64) error {
	heap.Store(n)
	return nil
}

// GetPCHCreateStatus tells how making a precompiled header went. Ours is made for all programs, so what was asked for is there.
func (t *Thread) GetPCHCreateStatus(h nvrtcapi.NvrtcProgram) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	if !p.pch {
		return noPCH
	}
	return nil
}

// GetPCHHeapSizeRequired is 0: nothing is kept in the heap.
func (t *Thread) GetPCHHeapSizeRequired(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	if out == hostmem.Nil {
		return invalidInput
	}
	hostmem.Store[uint64](out, 0)
	return nil
}
